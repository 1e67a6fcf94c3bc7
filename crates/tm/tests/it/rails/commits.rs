//! COMMIT: what goes in, what never does, and what happens when git or a hook says no.

use std::fs;

use serde_json::{Value, json};

use super::environment::{CONFIG, TASKS, TestEnvironment};

/// Paths of the commit at HEAD.
fn committed(env: &TestEnvironment) -> Vec<String> {
    env.git(&["show", "--format=", "--name-only", "-z", "HEAD"])
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn secrets_are_refused_by_name_and_never_left_out() {
    let env = TestEnvironment::started();
    env.red();
    let header = |kind: &str| format!("-----BEGIN {kind}-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n");
    let secrets = [
        ".ENV.Local",
        ".env",
        "a/.env.production",
        "a/ID_RSA",
        "a/cert.P12",
        "a/store.pfx",
        "id_dsa",
        "id_ecdsa",
        "id_ecdsa_sk",
        "id_ed25519",
        "id_ed25519.old",
        "id_rsa",
    ];
    for path in [
        ".env.example",
        ".env.sample",
        "a/.env.template",
        ".envrc",
        "id_rsa.pub",
        "env.ts",
        "my_id_rsa",
        "src/p12.rs",
    ] {
        env.write(path, "x\n");
    }
    env.write("cert.pem", header("CERTIFICATE"));
    env.green();
    for path in secrets {
        env.write(path, "x\n");
    }
    for (path, kind) in [
        ("z/key.pem", "RSA PRIVATE KEY"),
        ("z/notes.txt", "OPENSSH PRIVATE KEY"),
    ] {
        env.write(path, header(kind));
    }
    let answer = env.refused("commit", 3, "secret_file", "tm autopilot reopen");
    let mut expected: Vec<&str> = secrets
        .into_iter()
        .chain(["z/key.pem", "z/notes.txt"])
        .collect();
    expected.sort_unstable();
    let mut found: Vec<String> =
        serde_json::from_value(answer.json()["details"]["files"].clone()).unwrap();
    found.sort();
    assert_eq!(found, expected);
    assert!(answer.message().contains("z/key.pem"), "{answer:#?}");

    // Named explicitly they are refused all the same; the way out is to take them away and test again.
    env.refused(
        "commit --files .env,src/1.1.sh",
        3,
        "secret_file",
        "git.allowSecrets",
    );
    for path in expected {
        fs::remove_file(env.project().join(path)).unwrap();
    }
    env.auto("reopen --reason secrets").ok();
    env.green();
    env.auto("commit").ok();
    assert!(committed(&env).contains(&"a/.env.template".to_owned()));
}

#[test]
fn secrets_that_are_meant_to_be_there_are_listed() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "git": {"allowSecrets": ["fixtures/**", ".env.test"]}}"#,
    );
    env.red();
    env.write("fixtures/id_rsa", "x\n");
    env.write(".env.test", "x\n");
    env.green();
    env.auto("commit").ok();
    assert!(committed(&env).contains(&"fixtures/id_rsa".to_owned()));
}

#[test]
fn a_secret_that_git_knows_already_and_is_deleted_is_no_secret() {
    let env = TestEnvironment::new();
    env.write(".env", "x\n");
    env.commit_all("A mistake");
    env.auto("start 1").ok();
    env.red();
    fs::remove_file(env.project().join(".env")).unwrap();
    env.green();
    env.auto("commit").ok();
    assert!(committed(&env).contains(&".env".to_owned()));
}

#[test]
fn what_was_dirty_before_stays_out_until_it_is_named() {
    let env = TestEnvironment::new();
    env.write("README.md", "mine\n");
    env.write("mine.txt", "mine\n");
    env.write("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.auto("start 1 --allow-dirty").ok();
    env.subtask();
    assert_eq!(
        committed(&env),
        [".taskmaster/tasks/tasks.json", "src/1.1.sh", "tests/1.1.sh"]
    );
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        " M README.md\nA  staged.txt\n?? mine.txt".trim_start_matches('\n')
    );

    env.red();
    env.write("README.md", "mine, and the run's\n");
    env.write("mine.txt", "and this\n");
    env.green();
    let answer = env.refused("commit", 3, "was_dirty", "--files");
    assert_eq!(
        answer.json()["details"]["files"],
        json!(["README.md", "mine.txt"])
    );
    env.refused(
        "commit --files README.md,src/1.2.sh,tests/1.2.sh",
        3,
        "was_dirty",
        "--files",
    );
    env.auto("commit --files README.md,mine.txt,src/1.2.sh,tests/1.2.sh")
        .ok();
    assert_eq!(env.git(&["show", "HEAD:README.md"]), "mine, and the run's");
    assert_eq!(env.git(&["status", "--porcelain"]), "A  staged.txt");
    env.auto("finalize --results failed:0,passed:2").ok();
    assert_eq!(env.git(&["status", "--porcelain"]), "A  staged.txt");
}

#[test]
fn a_commit_needs_a_change() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "evidence": {"policy": {"red_without_tests": "off", "green_without_change": "off"}}}"#,
    );
    env.auto("complete red --results failed:1,passed:0").ok();
    env.auto("complete green --results failed:0,passed:1").ok();
    env.refused("commit", 3, "nothing_changed", "tm autopilot skip");
    let moved = env.auto("skip --reason nothing-to-do").ok();
    assert_eq!(
        moved["nextAction"]["action"], "finalize",
        "what depends on it is not run"
    );
}

#[test]
fn what_was_tested_is_what_is_committed() {
    type Change = fn(&TestEnvironment);
    let cheats: [(&str, Change); 6] = [
        ("edit", |env| env.write("src/1.1.sh", "something else\n")),
        ("new file", |env| env.write("src/late.sh", "late\n")),
        ("deleted", |env| {
            fs::remove_file(env.project().join("src/1.1.sh")).unwrap();
        }),
        ("renamed", |env| {
            fs::rename(
                env.project().join("src/1.1.sh"),
                env.project().join("src/x.sh"),
            )
            .unwrap();
        }),
        ("executable", |env| {
            use std::os::unix::fs::PermissionsExt as _;
            let path = env.project().join("src/1.1.sh");
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("unignored", |env| env.write(".gitignore", "*.tmp\n*.log\n")),
    ];
    for (name, cheat) in cheats {
        let env = TestEnvironment::started();
        env.to_commit();
        cheat(&env);
        let answer = env.refused("commit", 3, "changed_after_green", "tm autopilot reopen");
        assert!(
            answer
                .suggestion()
                .contains("tm autopilot allow changed_after_green"),
            "{name}: {answer:#?}"
        );
        let moved = env.auto("reopen --reason mended").ok();
        assert_eq!(
            moved["nextAction"]["unitId"], "workUnit-1.1-GREEN-2",
            "{name}"
        );
        env.write("src/mended.sh", "mended\n");
        env.auto("complete green --results failed:0,passed:2").ok();
        env.auto("commit").ok();
        assert_eq!(env.git(&["status", "--porcelain"]), "", "{name}");
    }
}

#[test]
fn what_is_no_part_of_the_commit_may_change_after_green() {
    let env = TestEnvironment::new();
    env.write("mine.txt", "mine\n");
    env.auto("start 1 --allow-dirty").ok();
    env.to_commit();
    env.write("x.tmp", "ignored\n");
    env.write(".taskmaster/state.json", "{}\n");
    let tasks = env.read(".taskmaster/tasks/tasks.json");
    env.write(
        ".taskmaster/tasks/tasks.json",
        tasks.replace("Tabs too.", "Tabs."),
    );
    // The same bytes written anew are no change; nor is staging them.
    env.write("src/1.1.sh", "code 1.1\n");
    env.git(&["add", "src/1.1.sh"]);
    env.auto("commit").ok();
    assert!(env.read(".taskmaster/tasks/tasks.json").contains("Tabs."));
    assert_eq!(
        env.git(&["status", "--porcelain"]),
        "?? .taskmaster/state.json\n?? mine.txt"
    );
}

#[test]
fn a_commit_of_a_part_was_not_tested() {
    let env = TestEnvironment::started();
    env.to_commit();
    let answer = env.refused(
        "commit --files src/1.1.sh",
        3,
        "changed_after_green",
        "--files",
    );
    assert_eq!(answer.json()["details"]["files"], json!(["tests/1.1.sh"]));
    env.refused("commit --files README.md", 3, "file_not_changed", "differ");
    env.refused(
        "commit --files src/1.1.sh,x",
        3,
        "file_not_changed",
        "differ",
    );
    env.write("x.tmp", "ignored\n");
    env.refused(
        "commit --files src/1.1.sh,tests/1.1.sh,x.tmp",
        3,
        "file_not_changed",
        "ignored",
    );
    env.auto("commit --files src/1.1.sh,tests/1.1.sh").ok();
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hook_that_refuses_leaves_everything_as_it_was() {
    for tracked in [true, false] {
        let env = TestEnvironment::new();
        if !tracked {
            env.write(".git/info/exclude", ".taskmaster/\n");
            env.git(&["rm", "--quiet", "--cached", "-r", ".taskmaster"]);
            env.commit_all("Without the tasks");
        }
        env.write("staged.txt", "staged\n");
        env.git(&["add", "staged.txt"]);
        env.auto("start 1 --allow-dirty").ok();
        env.to_commit();
        env.hook(
            "pre-commit",
            "echo 'the linter says: line 3 is long' >&2\nexit 1",
        );
        let staged = env.git(&["ls-files", "--stage"]);
        let before = env.files_of_the_user();
        let head = env.head();
        let answer = env.auto("commit");
        assert_eq!(
            (answer.code(), answer.status),
            ("commit_refused", 3),
            "{answer:#?}"
        );
        assert!(answer.message().contains("line 3 is long"), "{answer:#?}");
        assert!(
            answer.suggestion().contains("tm autopilot reopen"),
            "{answer:#?}"
        );
        super::advice::check(&env, &answer);
        assert_eq!(env.head(), head);
        assert_eq!(
            env.git(&["ls-files", "--stage"]),
            staged,
            "the index is as before"
        );
        before.assert_same(&env.files_of_the_user(), "a refused commit");
        assert_eq!(answer.json()["nextAction"]["unitId"], "workUnit-1.1-COMMIT");
        assert_eq!(env.unit(), "workUnit-1.1-COMMIT");

        // Again, with the same report: it is tried again, not answered from the books.
        assert_eq!(env.auto("commit").code(), "commit_refused");
        env.auto("reopen --reason the-linter").ok();
        env.write("src/1.1.sh", "shorter\n");
        env.auto("complete green --results failed:0,passed:2").ok();
        env.hook("pre-commit", "exit 0");
        let made = env.auto("commit").ok();
        assert_eq!(made["commitSha"], env.head());
        assert_eq!(env.git(&["status", "--porcelain"]), "A  staged.txt");
    }
}

#[test]
fn what_hooks_change_is_taken_as_it_came_out() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.hook("commit-msg", "echo 'Reviewed-by: a hook' >> \"$1\"");
    env.hook(
        "pre-commit",
        "echo formatted > src/1.1.sh\ngit add src/1.1.sh",
    );
    let made = env.auto("commit").ok();
    assert!(
        made["message"]
            .as_str()
            .unwrap()
            .contains("Reviewed-by: a hook"),
        "{made}"
    );
    assert_eq!(env.git(&["show", "HEAD:src/1.1.sh"]), "formatted");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    env.subtask();
}

#[test]
fn the_lock_of_another_git_is_waited_for_by_whoever_commits() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.write(".git/index.lock", "");
    let tasks = env.read(".taskmaster/tasks/tasks.json");
    let head = env.head();
    let answer = env.auto("commit");
    assert_eq!(answer.code(), "git_busy", "{answer:#?}");
    super::advice::check(&env, &answer);
    assert!(answer.suggestion().contains("index.lock"), "{answer:#?}");
    assert_eq!(env.head(), head);
    assert_eq!(env.read(".taskmaster/tasks/tasks.json"), tasks);
    assert!(
        env.project().join(".git/index.lock").exists(),
        "it is not ours"
    );
    fs::remove_file(env.project().join(".git/index.lock")).unwrap();
    env.auto("commit").ok();
}

#[test]
fn a_message_of_ones_own_is_the_subject_or_all_of_it() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.refused_of(
        &["autopilot", "commit", "--message= \n "],
        2,
        "bad_commit",
        "in one line",
    );
    let message = "Count\n\n# a heading\n#42 is mended\n\n    indented\n--amend";
    let made = env.tm(&["autopilot", "commit", "--message", message]).ok();
    assert_eq!(env.git(&["log", "-1", "--format=%B"]), message);
    assert_eq!(made["message"].as_str().unwrap().trim_end(), message);

    env.to_commit();
    env.tm(&["autopilot", "commit", "--message=--amend"]).ok();
    assert_eq!(
        env.git(&["log", "-1", "--format=%B"]),
        "--amend\n\nTabs too.\n\nTask: #1.2 - Count by tabs\nPhase: Count the words\nTag: master\n\nTests: 2 passing"
    );
    assert_eq!(env.git(&["rev-list", "--count", "main..HEAD"]), "2");
}

/// A report of a bug read as a feature: null is no amount from now on.
#[test]
fn a_title_that_says_too_little_asks_for_a_subject() {
    let env = TestEnvironment::new();
    let titles = ["Null is accepted as an amount", "Refuse null as a name"];
    let start = ["autopilot", "start", "--title", "Null", "--subtask"];
    env.tm(&[&start[..], &[titles[0], "--subtask", titles[1]]].concat())
        .ok();
    for asks in [true, false] {
        env.to_commit();
        let next = env.auto("next").ok();
        let step = next["nextSteps"][0]["command"].as_str().unwrap();
        assert_eq!(step.ends_with(" --message …"), asks, "{step}");
        let told = next["instructions"].as_str().unwrap();
        assert_eq!(told.contains("TYPE: what it does"), asks, "{told}");
        // What is to be filled in is no subject.
        env.refused_of(
            &["autopilot", "commit", "--message", "…"],
            2,
            "bad_commit",
            "in one line",
        );
        let said: &[&str] = if asks {
            &[
                "autopilot",
                "commit",
                "--message",
                "fix: refuse null as an amount",
            ]
        } else {
            &["autopilot", "commit"]
        };
        env.tm(said).ok();
    }
    assert_eq!(
        env.git(&["log", "--format=%s", "main..HEAD"]),
        "feat: refuse null as a name (task null.2)\nfix: refuse null as an amount"
    );
}

#[test]
fn the_message_says_what_the_commit_is() {
    let env = TestEnvironment::started();
    env.red();
    env.write("src/1.1.sh", "x\n");
    env.auto("complete green --results failed:0,passed:2 --coverage 92.5")
        .ok();
    env.auto("commit").ok();
    assert_eq!(
        env.git(&["log", "-1", "--format=%B"]),
        "feat: count by spaces (task 1.1)\n\nOne space apart.\n\nTask: #1.1 - Count by spaces\n\
         Phase: Count the words\nTag: master\n\nTests: 2 passing\nCoverage: 92.5% lines"
    );
}

#[test]
fn submodules_and_nested_repositories_are_not_swallowed() {
    let env = TestEnvironment::started();
    env.red();
    let inner = env.project().join("inner");
    fs::create_dir(&inner).unwrap();
    env.git(&["init", "--quiet", "--template=", "inner"]);
    env.green();
    let answer = env.auto("commit");
    // An empty repository inside has nothing that could be committed: it must not stop the run.
    assert_eq!(answer.status, 0, "{answer:#?}");
}

#[test]
fn nothing_is_committed_on_the_wrong_branch_whatever_the_flags() {
    let env = TestEnvironment::with(TASKS, CONFIG);
    env.auto("start 1").ok();
    env.to_commit();
    for (switch, code) in [
        (&["switch", "--quiet", "main"][..], "on_default_branch"),
        (&["switch", "--quiet", "--create", "other"], "wrong_branch"),
        (&["switch", "--quiet", "--detach"], "wrong_branch"),
    ] {
        env.git(switch);
        for words in [
            "commit",
            "commit --message x",
            "commit --files src/1.1.sh",
            "commit --sha HEAD",
        ] {
            env.refused(words, 3, code, "git switch master/task-1-count-the-words");
        }
    }
    env.git(&["switch", "--quiet", "master/task-1-count-the-words"]);
    let made: Value = env.auto("commit").ok();
    assert_eq!(made["nextAction"]["unitId"], "workUnit-1.2-RED");
}

#[test]
fn what_git_itself_refuses_is_shown_with_its_words() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.git(&["config", "commit.gpgSign", "true"]);
    env.git(&["config", "gpg.program", "/no/such/program"]);
    let (head, tasks) = (env.head(), env.read(".taskmaster/tasks/tasks.json"));
    let answer = env.auto("commit");
    assert_eq!(
        (answer.code(), answer.status),
        ("commit_refused", 3),
        "{answer:#?}"
    );
    assert!(answer.message().contains("/no/such/program"), "{answer:#?}");
    super::advice::check(&env, &answer);
    assert_eq!(
        (env.head(), env.read(".taskmaster/tasks/tasks.json")),
        (head, tasks)
    );
    env.git(&["config", "commit.gpgSign", "false"]);
    env.auto("commit").ok();
}

#[test]
fn a_hook_that_never_ends_is_ended() {
    let env = TestEnvironment::started_with(
        r#"{"test": {"command": "x"}, "git": {"commitTimeout": 300}}"#,
    );
    env.to_commit();
    env.hook("pre-commit", "exec sleep 600");
    let (head, tasks) = (env.head(), env.read(".taskmaster/tasks/tasks.json"));
    let answer = env.auto("commit");
    assert_eq!(answer.status, 3, "{answer:#?}");
    super::advice::check(&env, &answer);
    assert_eq!(
        (env.head(), env.read(".taskmaster/tasks/tasks.json")),
        (head, tasks)
    );
    assert!(!env.project().join(".git/index.lock").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "?? src/\n?? tests/");
    assert_eq!(env.unit(), "workUnit-1.1-COMMIT");
    env.hook("pre-commit", "exit 0");
    env.auto("commit").ok();
}

#[test]
fn a_hook_that_fails_after_the_commit_does_not_unmake_it() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.hook("post-commit", "exit 1");
    let made = env.auto("commit").ok();
    assert_eq!(made["commitSha"], env.head());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn what_a_hook_takes_out_of_a_commit_is_told() {
    let env = TestEnvironment::started();
    env.to_commit();
    env.hook("pre-commit", "git rm -q --cached -- src/1.1.sh");
    let made = env.auto("commit").ok();
    let warning = made["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("src/1.1.sh"), "{made}");
}
