//! Proofs by the journals of this machine.

use std::fs;

use super::environment::{TestEnvironment, problems, standings};

#[test]
fn an_honest_run_is_earned_commit_by_commit() {
    let environment = TestEnvironment::finished(false);
    let (status, answer) = environment.verify(&["--require", "reported"]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(answer["verified"], true);
    assert_eq!(standings(&answer), ["earned"; 3]);
    let first = &answer["commits"][0];
    assert_eq!(first["source"], "journal");
    assert_eq!(first["subtask"], "1.1");
    assert_eq!(first["for"], "subtask");
    assert_eq!(first["level"], "reported");
    assert_eq!(first["red"]["failed"], 1);
    assert_eq!(first["green"]["passed"], 1);
    assert!(first["tree"].is_string());
    assert_eq!(answer["commits"][2]["for"], "status");
    assert_eq!(answer["sources"].as_array().unwrap().len(), 1);
    // Also said as a range, and for one commit.
    for range in ["main..HEAD", "main...HEAD", "main..", "HEAD", "HEAD~2"] {
        let (status, answer) = environment.verify(&[range]);
        assert_eq!(status, 0, "{range}: {answer:#}");
    }
    let text = environment.tm(&["verify"]);
    assert!(text.contains("all 3 commits were earned"), "{text}");
    assert_eq!(text.matches("by its journal").count(), 3, "{text}");
}

#[test]
fn a_level_that_is_not_reached_is_named() {
    let environment = TestEnvironment::finished(false);
    let (status, answer) = environment.verify(&["--require", "verified"]);
    assert_eq!(status, 3);
    assert_eq!(answer["code"], "unearned");
    assert_eq!(standings(&answer), ["faulty"; 3]);
    assert!(
        problems(&answer)
            .iter()
            .all(|code| *code == "level_too_low")
    );
    let text = environment.try_tm(&["verify", "--require", "verified"], &[]);
    assert!(
        text.out
            .contains("RED is reported, and verified is required"),
        "{}",
        text.out
    );
}

#[test]
fn what_was_only_claimed_counts_as_that() {
    let environment = TestEnvironment::new(false);
    environment.tm(&["autopilot", "start", "1"]);
    environment.write("tests/words.sh", "false\n");
    environment.tm(&[
        "autopilot",
        "complete",
        "red",
        "1.1",
        "--results",
        "failed:1",
    ]);
    environment.write("src/words.sh", "true\n");
    environment.tm(&[
        "autopilot",
        "complete",
        "green",
        "1.1",
        "--results",
        "passed:1,failed:0",
    ]);
    environment.tm(&["autopilot", "commit"]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(answer["commits"][0]["level"], "claimed");
    assert_eq!(environment.verify(&["--require", "reported"]).0, 3);
}

#[test]
fn a_commit_by_hand_is_unearned() {
    let environment = TestEnvironment::finished(false);
    environment.write("src/more.sh", "true\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "More"]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 3);
    assert_eq!(
        standings(&answer),
        ["earned", "earned", "earned", "unearned"]
    );
    assert_eq!(answer["code"], "unearned");
    assert_eq!(answer["message"], "1 of 4 commits were not earned");
}

#[test]
fn a_rewritten_commit_is_another_one_and_that_is_said() {
    let environment = TestEnvironment::finished(false);
    environment.git(&["commit", "--quiet", "--amend", "--message", "Better"]);
    let (status, answer) = environment.verify(&[]);
    // It has the change of what the run made, and so all that stands behind that.
    assert_eq!(status, 0, "{answer:#}");
    let message = answer["commits"][2]["remarks"][0].to_string();
    assert!(
        message.contains("another commit with the change of"),
        "{message}"
    );

    environment.write("src/words.sh", "false\n");
    environment.git(&[
        "commit",
        "--quiet",
        "--all",
        "--amend",
        "--message",
        "Worse",
    ]);
    let (_, answer) = environment.verify(&[]);
    let message = answer["commits"][2]["problems"][0]["message"].to_string();
    assert!(message.contains("it has the parent of"), "{message}");

    environment.git(&["reset", "--quiet", "--soft", "main"]);
    environment.git(&["checkout", "--quiet", "HEAD@{1}", "--", "."]);
    environment.git(&["commit", "--quiet", "--message", "Squashed"]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 3);
    assert_eq!(standings(&answer), ["unearned"]);
}

#[test]
fn an_edited_journal_is_named_and_proves_nothing() {
    let environment = TestEnvironment::finished(false);
    let journal = environment.run_folder().join("activity.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let at = text.find("\"level\":\"reported\"").unwrap();
    let edited = format!("{}\"level\":\"verified\"{}", &text[..at], &text[at + 18..]);
    fs::write(&journal, edited).unwrap();
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 3);
    assert_eq!(standings(&answer), ["faulty"; 3]);
    assert!(
        problems(&answer)
            .iter()
            .all(|code| *code == "journal_damaged")
    );
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1);

    // Whoever takes the id of a commit out of it does not get away with it, either.
    let sha = answer["commits"][0]["sha"].as_str().unwrap();
    fs::write(&journal, text.replace(sha, &"0".repeat(40))).unwrap();
    let (status, answer) = environment.verify(&["HEAD~2"]);
    assert_eq!(status, 3);
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1, "{answer:#}");
}

#[test]
fn evidence_that_is_gone_or_changed_is_named() {
    let environment = TestEnvironment::finished(false);
    let (_, answer) = environment.verify(&[]);
    let evidence = |commit: usize, phase: &str| {
        let hash = answer["commits"][commit][phase]["evidence"][0].as_str();
        environment
            .run_folder()
            .join("evidence")
            .join(hash.unwrap())
    };
    fs::remove_file(evidence(0, "red")).unwrap();
    fs::write(
        evidence(1, "red"),
        "TAP version 13\n1..1\nnot ok 1 - fine\n",
    )
    .unwrap();
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 3);
    assert_eq!(standings(&answer), ["faulty", "faulty", "earned"]);
    assert_eq!(problems(&answer), ["evidence_missing", "evidence_changed"]);
}

#[test]
fn commits_that_were_handed_in_count_with_all_before_them() {
    let environment = TestEnvironment::new(false);
    environment.tm(&["autopilot", "start", "1"]);
    environment.red_and_green("1.1", &["words"]);
    environment.git(&["add", "tests"]);
    environment.git(&["commit", "--quiet", "--message", "The tests"]);
    environment.git(&["add", "src"]);
    environment.git(&["commit", "--quiet", "--message", "The code"]);
    environment.tm(&["autopilot", "commit", "1.1", "--sha", "HEAD"]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 0, "{answer:#}");
    assert_eq!(standings(&answer), ["earned", "earned"]);
    assert_eq!(answer["commits"][0]["partOf"], answer["commits"][1]["sha"]);
}

#[test]
fn what_hooks_change_is_told_and_no_fault() {
    let environment = TestEnvironment::new(false);
    environment.tm(&["autopilot", "start", "1"]);
    environment.red_and_green("1.1", &["words"]);
    let hooks = environment.project().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let hook = hooks.join("pre-commit");
    fs::write(
        &hook,
        "#!/bin/sh\necho '# neat' >> src/words.sh\ngit add src/words.sh\n",
    )
    .unwrap();
    let mut permissions = fs::metadata(&hook).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&hook, permissions).unwrap();
    environment.tm(&["autopilot", "commit", "1.1"]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 0, "{answer:#}");
    let remarks = answer["commits"][0]["remarks"].to_string();
    assert!(remarks.contains("hooks changed"), "{remarks}");
}

#[test]
fn a_merge_is_listed_and_not_looked_at() {
    let environment = TestEnvironment::finished(false);
    environment.git(&["switch", "--quiet", "--create", "other", "main"]);
    environment.git(&["commit", "--quiet", "--allow-empty", "--message", "Other"]);
    environment.git(&["switch", "--quiet", "-"]);
    environment.git(&["merge", "--quiet", "--no-edit", "other"]);
    let (status, answer) = environment.verify(&["main..HEAD"]);
    assert_eq!(status, 3);
    let mut all = standings(&answer);
    all.sort_unstable();
    assert_eq!(all, ["earned", "earned", "earned", "merge", "unearned"]);
}

#[test]
fn another_worktree_knows_of_it() {
    let environment = TestEnvironment::finished(false);
    let tree = environment.beside("tree");
    environment.git(&[
        "worktree",
        "add",
        "--quiet",
        "--detach",
        tree.to_str().unwrap(),
    ]);
    for remove in [false, true] {
        if remove {
            fs::remove_file(environment.run_folder().join("commits.txt")).unwrap();
        }
        let mut command = environment.process(testkit::sandbox::binary(), &tree, "home");
        let ran = super::environment::ran(command.args(["verify", "main..HEAD"]));
        assert_eq!(ran.status, 0, "{ran:?}");
    }
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
        let ran = environment.try_tm(&["verify", "--json", "--", range], &[]);
        assert_eq!(ran.status, 4, "{range}: {ran:?}");
        assert_eq!(ran.json()["error"]["code"], "unknown_revision");
    }
    let (status, answer) = environment.verify(&["HEAD..HEAD"]);
    assert_eq!(status, 0);
    assert_eq!(answer["message"], "HEAD..HEAD has no commits");
    // Where nothing ever ran, nobody can tell.
    let clone = environment.clone_of_it(false);
    let ran = environment.tm_in(&clone, &["verify", "--json", "origin/main..HEAD"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(ran.json()["code"], "not_provable");
    assert_eq!(standings(ran.json()), ["not_provable"; 3]);
    // A tag that somebody pushed goes before the branch that was meant, and would leave nothing to look at.
    let tagged = environment
        .process("git", &clone, "home")
        .args(["tag", "origin/main", "HEAD"])
        .status()
        .unwrap();
    assert!(tagged.success());
    let verify = ["verify", "--json", "origin/main..HEAD"];
    let ran = environment.tm_in(&clone, &verify);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert_eq!(ran.json()["error"]["code"], "ambiguous_revision");
    let verify = ["verify", "--json", "refs/remotes/origin/main..HEAD"];
    let ran = environment.tm_in(&clone, &verify);
    assert_eq!(standings(ran.json()), ["not_provable"; 3]);
}
