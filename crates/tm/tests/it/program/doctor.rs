//! What goes wrong most likely, made one by one: each is found, and its way out named.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::environment::TestEnvironment;

const CONFIG: &str = ".taskmaster/config.json";
const TASKS: &str = ".taskmaster/tasks/tasks.json";
const SERVERS: &str = ".mcp.json";

/// Puts a text into the place of another one of a file.
fn replace(env: &TestEnvironment, file: &str, old: &str, new: &str) {
    env.write(file, env.read(file).replace(old, new));
}

/// Tests are run by this command.
fn tests(env: &TestEnvironment, command: &str) {
    let settings = json!({ "test": { "command": command } });
    env.write(CONFIG, settings.to_string());
}

/// A run has begun.
fn started(env: &TestEnvironment) {
    env.does("autopilot start 1");
}

type Fault = (&'static str, fn(&TestEnvironment));

/// What goes wrong in a project in which a run could begin; that of a client where one was set up.
const FAULTS: [Fault; 28] = [
    ("no repository", |env| {
        fs::remove_dir_all(env.project().join(".git")).unwrap();
    }),
    ("no commit", |env| {
        drop(env.git(&["update-ref", "-d", "HEAD"]));
    }),
    ("nobody's name", |env| {
        env.git(&["config", "--remove-section", "user"]);
    }),
    ("a merge is under way", |env| {
        env.git(&["switch", "--quiet", "--create", "other"]);
        env.write("README.md", "theirs\n");
        env.commit_all("theirs");
        env.git(&["switch", "--quiet", "main"]);
        env.write("README.md", "ours\n");
        env.commit_all("ours");
        env.git_fails(&["merge", "other"]);
    }),
    ("what tools leave behind", |env| {
        env.write("__pycache__/x.pyc", "x");
    }),
    ("a lock that a git left", |env| {
        env.write(".git/index.lock", "");
    }),
    ("a program that signs is missing", |env| {
        env.git(&["config", "commit.gpgsign", "true"]);
        env.git(&["config", "gpg.program", "no-such-gpg"]);
    }),
    ("packages are not installed", |env| {
        let manifest = r#"{"name": "x", "devDependencies": {"vitest": "*"}}"#;
        env.write("package.json", manifest);
        env.commit_all("A manifest");
    }),
    ("a tasks file that is none", |env| {
        env.write(TASKS, "{\"master\": {\"tasks\": [}");
    }),
    ("a tag that is not there", |env| {
        env.write(".taskmaster/state.json", r#"{"currentTag": "elsewhere"}"#);
    }),
    ("nothing tells how tests are run", |env| {
        env.write(CONFIG, "{}");
    }),
    ("the program of the tests is missing", |env| {
        tests(env, "no-such-runner --all");
    }),
    ("a test command for a shell", |env| {
        tests(env, "cd app && make test");
    }),
    ("work on tasks is turned off", |env| {
        env.does("config set autopilot.enabled false");
    }),
    ("a workflow with a mistake in it", |env| {
        env.write(".taskmaster/workflows/mine.yaml", "tramline: 1\nid: mine\n");
    }),
    ("a workflow that takes the place of a built-in one", |env| {
        let own = env.tm(&["workflow", "show", "tdd"]).text().to_owned();
        let own = own.replacen("id: tdd\n", "id: tdd\nshadows: true\n", 1);
        env.write(".taskmaster/workflows/tdd.yaml", own);
    }),
    ("a journal that is cut", |env| {
        started(env);
        let journal = env.journal();
        fs::write(env.journal_path(), &journal[..journal.len() / 2]).unwrap();
    }),
    ("a project that was moved", |env| {
        started(env);
        let here = env.folder().join("moved");
        fs::rename(env.project(), &here).unwrap();
        symlink(here, env.folder().join("project")).unwrap();
    }),
    ("a dependency on nothing", |env| {
        let needy = r#"{"id": 1, "title": "A", "status": "pending", "dependencies": [9]}"#;
        env.write(TASKS, format!(r#"{{"master": {{"tasks": [{needy}]}}}}"#));
    }),
    ("settings that cannot be read", |env| env.write(CONFIG, "{")),
    ("a folder for runs that cannot be written", |env| {
        let _ = fs::remove_dir_all(env.store());
        fs::write(env.store(), "a file\n").unwrap();
    }),
    ("nobody may sign what takes a signature", |env| {
        env.write(CONFIG, r#"{"approvals": {"require": "signed"}}"#);
    }),
    ("a client's entry of another time", |env| {
        replace(env, SERVERS, "autopilot,review,collab", "autopilot");
    }),
    ("a client's entry that is gone", |env| {
        env.write(SERVERS, "{}");
    }),
    ("a client's file that is damaged", |env| {
        env.write(SERVERS, "{ \"mcpServers\": { \"tramline\"");
    }),
    ("a client's entry that starts what is not there", |env| {
        replace(env, SERVERS, "\"tm\"", "\"/nowhere/tm\"");
    }),
    ("a client's hook that calls what is not there", |env| {
        replace(env, ".claude/settings.json", "{ tm ", "{ /nowhere/tm ");
    }),
    ("a client's program is another of the name", |env| {
        env.script("../bin/tm", "echo 0.31.2");
    }),
];

/// What is not as it should be, and its way out.
fn told(env: &TestEnvironment) -> Vec<String> {
    let folder = env.folder().display().to_string();
    let slug = folder[1..].replace('/', "-");
    let doctor = env.line("doctor");
    let checks = doctor.json().as_array().unwrap();
    let fails = checks.iter().any(|check| check["state"] == "fail");
    assert_eq!(doctor.status, if fails { 6 } else { 0 }, "{doctor:?}");
    let told = checks.iter().filter_map(|check| {
        let text = |key: &str| check[key].as_str().unwrap_or_default();
        let told = format!("{} {}: {}", text("id"), text("state"), text("fix"));
        // A run is named by the time of its start.
        let told = told.replace(&folder, "…").replace(&slug, "…");
        let told = told.replace(|c: char| c.is_ascii_digit(), "");
        (text("state") != "ok").then_some(told)
    });
    told.collect()
}

#[test]
fn what_goes_wrong_most_likely_is_found_and_its_way_out_named() {
    let with = |is_client: bool| {
        let env = TestEnvironment::new();
        if is_client {
            let init = ["init", "--client", "claude-code", "--hook", "--yes"];
            env.tm(&init).text();
        }
        env
    };
    let before = [false, true].map(|is_client| told(&with(is_client)));
    let mut all = Vec::new();
    for (fault, make) in FAULTS {
        let is_client = fault.starts_with("a client's");
        let env = with(is_client);
        make(&env);
        for told in told(&env) {
            // Whatever is written is not committed yet.
            let beside = told.starts_with("tree") && !fault.contains("tools");
            if !beside && !before[usize::from(is_client)].contains(&told) {
                all.push(format!("{fault}: {told}"));
            }
        }
    }
    insta::assert_snapshot!(all.join("\n"), @r#"
    no repository: git note: for `tm autopilot`: git init, and a first commit
    no commit: no_commits fail: make a first commit: `git add --all`, then `git commit --message 'Initial commit'`
    nobody's name: identity fail: run `git config --global user.name …` and `git config --global user.email …`
    a merge is under way: operation_under_way fail: resolve them and `git add` the files; then end it (`git -c core.editor=true merge --continue` or, to take it back, `git merge --abort`), then start again
    what tools leave behind: tree note: commit or stash them; what tools leave behind belongs into .gitignore
    a lock that a git left: git_lock warn: if no git is running, remove it
    a program that signs is missing: signing fail: install it, or turn it off: git config commit.gpgsign false
    packages are not installed: dependencies warn: install what the project needs, as its own documentation says, before a test is run
    a tasks file that is none: tasks fail: mend the file there; it was not changed
    a tag that is not there: tasks fail: name one of these tags: master
    nothing tells how tests are run: tests fail: name it for the project, such as `tm config set test.command 'npm test'`; or for one run: --test-command
    the program of the tests is missing: tests fail: install it, or name another one: `tm config set test.command …`
    a test command for a shell: tests fail: write `sh -c 'cd app && make test'`, or put the word between quotes if `&` is meant as it is
    work on tasks is turned off: autopilot warn: tm config set autopilot.enabled true
    a workflow with a mistake in it: workflow fail: tm workflow check …/project/.taskmaster/workflows/mine.yaml
    a workflow that takes the place of a built-in one: trust warn: tm workflow trust tdd
    a journal that is cut: run fail: tm log verify r; tm log repair r
    a project that was moved: moved note: if that project is now here: tm doctor --adopt …-project
    a dependency on nothing: tasks warn: take the dependency out, or add the task
    settings that cannot be read: config_invalid fail: mend the JSON at …/project/.taskmaster/config.json::
    a folder for runs that cannot be written: run fail: a file stands where a folder belongs: move it away, or name another folder for the runs with TRAMLINE_HOME
    a folder for runs that cannot be written: storage fail: set TRAMLINE_HOME, or autopilot.storage.basePath, to a folder that can
    nobody may sign what takes a signature: tests fail: name it for the project, such as `tm config set test.command 'npm test'`; or for one run: --test-command
    nobody may sign what takes a signature: signers fail: write a line there for each key that may decide, as in `ann namespaces="tramline.decision" ssh-ed AAAA…` (…/home/store/allowed_signers)
    a client's entry of another time: client warn: tm init --client claude-code
    a client's entry that is gone: client warn: tm init --client claude-code, or another one; or take the words out again: tm init --remove
    a client's file that is damaged: client fail: mend the file and run the command again; nothing was written
    a client's entry that starts what is not there: program fail: mend its path in the client's entry `tramline`, or call `tm` by its name there
    a client's hook that calls what is not there: hook fail: mend the path in .claude/settings.json, or call `tm` by its name there
    a client's program is another of the name: program fail: put the folder of this program before it on the PATH, or its whole path into the clients' entries and hooks
    "#);
}
