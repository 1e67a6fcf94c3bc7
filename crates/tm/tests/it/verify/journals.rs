//! Proofs by the journals of this machine.

use std::fs;

use super::environment::{TestEnvironment, earned, told};

#[test]
fn an_honest_run_is_earned_commit_by_commit() {
    let environment = TestEnvironment::finished(false);
    let answer = earned(&environment.verify("--require reported"), 3);
    let first = &answer["commits"][0];
    assert!(first["tree"].is_string());
    let numbers = [&first["red"]["failed"], &first["green"]["passed"]];
    assert_eq!(numbers, [1, 1]);
    let names = ["source", "subtask", "for", "level"].map(|name| &first[name]);
    assert_eq!(names, ["journal", "1.1", "subtask", "reported"]);
    assert_eq!(answer["commits"][2]["for"], "status");
    assert_eq!(answer["sources"].as_array().unwrap().len(), 1);
    // Also said as a range, and for one commit.
    for (range, commits) in [
        ("main..HEAD", 3),
        ("main...HEAD", 3),
        ("main..", 3),
        ("HEAD", 1),
        ("HEAD~2", 1),
    ] {
        earned(&environment.verify(range), commits);
    }
    let text = environment.tm("verify");
    assert_eq!(text.matches("by its journal").count(), 3, "{text}");

    let weak = environment.verify("--require verified");
    told(&weak, &["faulty"; 3], &["level_too_low"; 5]);
    assert_eq!(weak.code(), "unearned");
}

#[test]
fn what_was_only_claimed_counts_as_that() {
    let environment = TestEnvironment::new(false);
    environment.tm("autopilot start 1");
    environment.write("tests/words.sh", "false\n");
    environment.tm("autopilot complete red --results failed:1");
    environment.write("src/words.sh", "true\n");
    environment.tm("autopilot complete green --results passed:1,failed:0");
    environment.tm("autopilot commit");
    let answer = earned(&environment.verify(""), 1);
    assert_eq!(answer["commits"][0]["level"], "claimed");
    assert_eq!(environment.verify("--require reported").status, 3);
}

#[test]
fn commits_that_the_run_did_not_make_are_unearned() {
    let environment = TestEnvironment::finished(false);
    let add = ["switch", "--quiet", "--create", "other", "main"];
    environment.git(&add);
    environment.commit_all("Other");
    environment.git(&["switch", "--quiet", "-"]);
    environment.write("src/more.sh", "true\n");
    environment.commit_all("More");
    let standings = ["earned", "earned", "earned", "unearned"];
    let answer = told(&environment.verify(""), &standings, &["unearned"]);
    assert_eq!(answer["code"], "unearned");
    assert_eq!(answer["message"], "1 of 4 commits were not earned");
    // A merge is listed, and not looked at.
    environment.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    environment.git(&["merge", "--quiet", "--no-edit", "other"]);
    let proof = environment.verify("main..HEAD");
    let commits = proof.json()["commits"].as_array().unwrap();
    let mut all: Vec<&str> = commits
        .iter()
        .map(|commit| commit["standing"].as_str().unwrap())
        .collect();
    all.sort_unstable();
    assert_eq!(all, ["earned", "earned", "earned", "merge", "unearned"]);
}

#[test]
fn a_rewritten_commit_is_another_one_and_that_is_said() {
    let environment = TestEnvironment::finished(false);
    let amend = [
        "commit",
        "--quiet",
        "--all",
        "--amend",
        "--message",
        "Other",
    ];
    environment.git(&amend);
    // It has the change of what the run made, and so all that stands behind that.
    let answer = earned(&environment.verify(""), 3);
    let remark = answer["commits"][2]["remarks"][0].to_string();
    assert!(
        remark.contains("another commit with the change of"),
        "{remark}"
    );

    environment.write("src/words.sh", "false\n");
    environment.git(&amend);
    let standings = ["earned", "earned", "unearned"];
    told(&environment.verify(""), &standings, &["unearned"]);

    environment.git(&["reset", "--quiet", "--soft", "main"]);
    environment.git(&["checkout", "--quiet", "HEAD@{1}", "--", "."]);
    environment.git(&["commit", "--quiet", "--message", "Squashed"]);
    told(&environment.verify(""), &["unearned"], &["unearned"]);
}

#[test]
fn an_edited_journal_is_named_and_proves_nothing() {
    let environment = TestEnvironment::finished(false);
    let text = String::from_utf8(environment.journal()).unwrap();
    let edited = text.replacen("\"level\":\"reported\"", "\"level\":\"verified\"", 1);
    fs::write(environment.journal_path(), edited).unwrap();
    let proof = environment.verify("");
    let answer = told(&proof, &["faulty"; 3], &["journal_damaged"; 3]);
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1);

    // Whoever takes the id of a commit out of it does not get away with it, either.
    let sha = answer["commits"][0]["sha"].as_str().unwrap();
    fs::write(
        environment.journal_path(),
        text.replace(sha, &"0".repeat(40)),
    )
    .unwrap();
    let answer = environment.verify("HEAD~2").json_with(3);
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1, "{answer:#}");
}

#[test]
fn evidence_that_is_gone_or_changed_is_named() {
    let environment = TestEnvironment::finished(false);
    let answer = environment.verify("").ok();
    let evidence = |commit: usize| {
        let hash = answer["commits"][commit]["red"]["evidence"][0].as_str();
        environment
            .run_folder()
            .join("evidence")
            .join(hash.unwrap())
    };
    fs::remove_file(evidence(0)).unwrap();
    fs::write(evidence(1), "TAP version 13\n1..1\nnot ok 1 - fine\n").unwrap();
    let problems = ["evidence_missing", "evidence_changed"];
    told(
        &environment.verify(""),
        &["faulty", "faulty", "earned"],
        &problems,
    );
}

#[test]
fn commits_that_were_handed_in_count_with_all_before_them() {
    let environment = TestEnvironment::green(false);
    environment.commit_in_two();
    environment.tm("autopilot commit 1.1 --sha HEAD");
    let answer = earned(&environment.verify(""), 2);
    assert_eq!(answer["commits"][0]["partOf"], answer["commits"][1]["sha"]);
}

#[test]
fn what_hooks_change_is_told_and_no_fault() {
    let environment = TestEnvironment::green(false);
    let neat = "echo '# neat' >> src/words.sh\ngit add src/words.sh";
    environment.hook("pre-commit", neat);
    environment.tm("autopilot commit");
    let answer = earned(&environment.verify(""), 1);
    let remarks = answer["commits"][0]["remarks"].to_string();
    assert!(remarks.contains("hooks changed"), "{remarks}");
}

#[test]
fn another_worktree_knows_of_it() {
    let environment = TestEnvironment::finished(false);
    let tree = environment.beside("tree");
    let path = tree.to_str().unwrap();
    environment.git(&["worktree", "add", "--quiet", "--detach", path]);
    earned(&environment.verify_at(&tree, "home", "main..HEAD"), 3);
    fs::remove_file(environment.run_folder().join("commits.txt")).unwrap();
    earned(&environment.verify_at(&tree, "home", "main..HEAD"), 3);
}

#[test]
fn ranges_that_mean_nothing() {
    let environment = TestEnvironment::finished(false);
    for range in [
        "nowhere",
        "nowhere..HEAD",
        "--",
        "-x",
        "main..-x",
        "HEAD:README.md",
        "a\u{1b}[2Jb",
    ] {
        let ran = environment.verify(&format!("-- {range}"));
        assert_eq!((ran.code(), ran.status), ("unknown_revision", 4), "{range}");
    }
    earned(&environment.verify("HEAD..HEAD"), 0);
    // Where nothing ever ran, nobody can tell.
    let clone = environment.clone_of_it(false);
    let elsewhere = |words: &str| environment.verify_at(&clone, "elsewhere", words);
    let unknown = ["not_provable"; 3];
    let proof = elsewhere("origin/main..HEAD");
    assert_eq!(told(&proof, &unknown, &unknown)["code"], "not_provable");
    // A tag that somebody pushed goes before the branch that was meant, and would leave nothing to look at.
    let mut tag = environment.process("git", &clone, "home");
    assert!(
        tag.args(["tag", "origin/main", "HEAD"])
            .status()
            .unwrap()
            .success()
    );
    elsewhere("origin/main..HEAD").fault(2, "ambiguous_revision");
    told(
        &elsewhere("refs/remotes/origin/main..HEAD"),
        &unknown,
        &unknown,
    );
}
