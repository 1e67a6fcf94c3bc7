//! What goes wrong most likely, made one by one: each is found, and its way out named.

use std::fs;

use super::environment::TestEnvironment;

/// What is wrong, made in a project in which a run could begin; what of it is told, and how it is mended.
struct Fault {
    what: &'static str,
    made: fn(&TestEnvironment),
    id: &'static str,
    state: &'static str,
    message: &'static str,
    fix: &'static str,
}

const CONFIG: &str = ".taskmaster/config.json";
const TASKS: &str = ".taskmaster/tasks/tasks.json";
const CLAUDE: &str = ".claude/settings.json";

fn set_up(env: &TestEnvironment) {
    let init = ["init", "--client", "claude-code", "--hook", "--yes"];
    env.tm(&init).text();
}

/// In every test a project in which nothing is wrong comes first.
const FAULTS: &[Fault] = &[
    Fault {
        what: "no repository",
        made: |env| fs::remove_dir_all(env.project().join(".git")).unwrap(),
        id: "git",
        state: "note",
        message: "only work on a task needs one",
        fix: "git init",
    },
    Fault {
        what: "no commit",
        made: |env| {
            env.git(&["update-ref", "-d", "HEAD"]);
        },
        id: "no_commits",
        state: "fail",
        message: "no commit yet",
        fix: "git commit",
    },
    Fault {
        what: "nobody's name",
        made: |env| {
            env.git(&["config", "--remove-section", "user"]);
        },
        id: "identity",
        state: "fail",
        message: "git does not know who makes the commits",
        fix: "user.",
    },
    Fault {
        what: "a merge is under way",
        made: |env| {
            env.git(&["switch", "--quiet", "--create", "other"]);
            env.write("README.md", "theirs\n");
            env.commit_all("theirs");
            env.git(&["switch", "--quiet", "main"]);
            env.write("README.md", "ours\n");
            env.commit_all("ours");
            env.git_fails(&["merge", "other"]);
        },
        id: "operation_under_way",
        state: "fail",
        message: "with conflicts in README.md",
        fix: "resolve them",
    },
    Fault {
        what: "what tools leave behind",
        made: |env| env.write("__pycache__/x.pyc", "x"),
        id: "tree",
        state: "note",
        message: "changed are __pycache__/",
        fix: ".gitignore",
    },
    Fault {
        what: "a lock that a git left",
        made: |env| env.write(".git/index.lock", ""),
        id: "git_lock",
        state: "warn",
        message: "index.lock is there",
        fix: "remove it",
    },
    Fault {
        what: "a program that signs is missing",
        made: |env| {
            env.git(&["config", "commit.gpgsign", "true"]);
            env.git(&["config", "gpg.program", "no-such-gpg"]);
        },
        id: "signing",
        state: "fail",
        message: "`no-such-gpg`, which is not there",
        fix: "commit.gpgsign false",
    },
    Fault {
        what: "packages are not installed",
        made: |env| {
            let manifest = r#"{"name": "x", "devDependencies": {"vitest": "*"}}"#;
            env.write("package.json", manifest);
            env.commit_all("A manifest");
        },
        id: "dependencies",
        state: "warn",
        message: "node_modules",
        fix: "install",
    },
    Fault {
        what: "a tasks file that is none",
        made: |env| env.write(TASKS, "{\"master\": {\"tasks\": [}"),
        id: "tasks",
        state: "fail",
        message: "tasks.json:1:23",
        fix: "mend the file",
    },
    Fault {
        what: "a tag that is not there",
        made: |env| env.write(".taskmaster/state.json", r#"{"currentTag": "elsewhere"}"#),
        id: "tasks",
        state: "fail",
        message: "elsewhere",
        fix: "master",
    },
    Fault {
        what: "nothing tells how tests are run",
        made: |env| env.write(CONFIG, "{}"),
        id: "tests",
        state: "fail",
        message: "no test command was found",
        fix: "test.command",
    },
    Fault {
        what: "the program of the tests is missing",
        made: |env| env.write(CONFIG, r#"{"test": {"command": "no-such-runner --all"}}"#),
        id: "tests",
        state: "fail",
        message: "`no-such-runner` is not there",
        fix: "install it",
    },
    Fault {
        what: "a test command for a shell",
        made: |env| env.write(CONFIG, r#"{"test": {"command": "cd app && make test"}}"#),
        id: "tests",
        state: "fail",
        message: "which only a shell understands",
        fix: "sh -c",
    },
    Fault {
        what: "work on tasks is turned off",
        made: |env| {
            env.write(
                CONFIG,
                r#"{"autopilot": {"enabled": false}, "test": {"command": "true"}}"#,
            );
        },
        id: "autopilot",
        state: "warn",
        message: "autopilot.enabled is false",
        fix: "tm config set autopilot.enabled true",
    },
    Fault {
        what: "a workflow with a mistake in it",
        made: |env| env.write(".taskmaster/workflows/mine.yaml", "tramline: 1\nid: mine\n"),
        id: "workflow",
        state: "fail",
        message: "mine.yaml",
        fix: "tm workflow check",
    },
    Fault {
        what: "a workflow that takes the place of a built-in one",
        made: |env| {
            let own = env.tm(&["workflow", "show", "tdd"]).text().to_owned();
            let own = own.replacen("id: tdd\n", "id: tdd\nshadows: true\n", 1);
            env.write(".taskmaster/workflows/tdd.yaml", own);
        },
        id: "trust",
        state: "warn",
        message: "tdd",
        fix: "tm workflow trust tdd",
    },
    Fault {
        what: "a journal that is cut",
        made: |env| {
            env.json(&["autopilot", "start", "1"]).json_with(0);
            let journal = env.journal();
            fs::write(env.journal_path(), &journal[..journal.len() / 2]).unwrap();
        },
        id: "run",
        state: "fail",
        message: "",
        fix: "tm log repair",
    },
    Fault {
        what: "a project that was moved",
        made: |env| {
            env.json(&["autopilot", "start", "1"]).json_with(0);
            let aside = env.home().join("elsewhere");
            fs::rename(env.project(), &aside).unwrap();
            fs::create_dir(env.project()).unwrap();
            let here = env.folder().join("moved");
            fs::rename(aside, here).unwrap();
            fs::remove_dir(env.project()).unwrap();
            std::os::unix::fs::symlink(env.folder().join("moved"), env.project()).unwrap();
        },
        id: "moved",
        state: "note",
        message: "no longer there",
        fix: "tm doctor --adopt",
    },
    Fault {
        what: "a client whose entry is of another time",
        made: |env| {
            set_up(env);
            let file = ".mcp.json";
            env.write(
                file,
                env.read(file)
                    .replace("autopilot,review,collab", "autopilot"),
            );
        },
        id: "client",
        state: "warn",
        message: "claude-code is set up otherwise",
        fix: "tm init --client claude-code",
    },
    Fault {
        what: "a client whose entry is gone",
        made: |env| {
            set_up(env);
            env.write(".mcp.json", "{}");
        },
        id: "client",
        state: "warn",
        message: "CLAUDE.md tells an agent of Tramline",
        fix: "tm init --client claude-code",
    },
    Fault {
        what: "a client's file that is damaged",
        made: |env| {
            set_up(env);
            env.write(".mcp.json", "{ \"mcpServers\": { \"tramline\"");
        },
        id: "client",
        state: "fail",
        message: ".mcp.json",
        fix: "",
    },
    Fault {
        what: "an entry that starts what is not there",
        made: |env| {
            set_up(env);
            env.write(
                ".mcp.json",
                env.read(".mcp.json").replace("\"tm\"", "\"/nowhere/tm\""),
            );
        },
        id: "program",
        state: "fail",
        message: "`/nowhere/tm`, which is not there",
        fix: "mend its path",
    },
    Fault {
        what: "a task that cannot be read",
        made: |env| {
            env.write(
                TASKS,
                r#"{"master": {"tasks": [{"id": 1, "status": "pending"}]}}"#,
            );
        },
        id: "tasks",
        state: "fail",
        message: "title",
        fix: "",
    },
    Fault {
        what: "a dependency on nothing",
        made: |env| {
            let tasks = r#"{"master": {"tasks": [{"id": 1, "title": "A", "status": "pending", "dependencies": [9]}]}}"#;
            env.write(TASKS, tasks);
        },
        id: "tasks",
        state: "warn",
        message: "1 on 9",
        fix: "add the task",
    },
    Fault {
        what: "settings that cannot be read",
        made: |env| env.write(CONFIG, "{"),
        id: "config_invalid",
        state: "fail",
        message: "config.json",
        fix: "",
    },
    Fault {
        what: "a hook that calls what is not there",
        made: |env| {
            set_up(env);
            env.write(CLAUDE, env.read(CLAUDE).replace("{ tm ", "{ /nowhere/tm "));
        },
        id: "hook",
        state: "fail",
        message: "`/nowhere/tm`, which is not there",
        fix: "mend the path",
    },
    Fault {
        what: "another program of the name",
        made: |env| {
            set_up(env);
            env.script("../bin/tm", "echo 0.31.2");
        },
        id: "program",
        state: "fail",
        message: "another program",
        fix: "PATH",
    },
    Fault {
        what: "a folder for runs that cannot be written",
        made: |env| {
            let _ = fs::remove_dir_all(env.store());
            fs::write(env.store(), "a file\n").unwrap();
        },
        id: "storage",
        state: "fail",
        message: "cannot be written",
        fix: "TRAMLINE_HOME",
    },
];

#[test]
fn what_goes_wrong_most_likely_is_found_and_its_way_out_named() {
    let mut missed = Vec::new();
    for fault in FAULTS {
        let environment = TestEnvironment::new();
        (fault.made)(&environment);
        let outcome = environment.tm(&["doctor", "--json"]);
        let checks = outcome.json();
        let text = |check: &serde_json::Value, key: &str| {
            check[key].as_str().unwrap_or_default().to_owned()
        };
        let told = checks.as_array().into_iter().flatten().any(|check| {
            check["id"] == fault.id
                && check["state"] == fault.state
                && text(check, "message").contains(fault.message)
                && text(check, "fix").contains(fault.fix)
        });
        // Another thing may be in the way beside it.
        let ends_so = fault.state != "fail" || outcome.status == 6;
        if !told || !ends_so {
            missed.push(format!("{}: {checks:#}", fault.what));
        }
    }
    assert!(FAULTS.len() >= 20);
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}
