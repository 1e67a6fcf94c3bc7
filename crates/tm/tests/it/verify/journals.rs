//! Proofs by the journals of this machine.

use std::fs;

use super::environment::{TestEnvironment, earned, told};

#[test]
fn an_honest_run_is_earned_commit_by_commit() {
    let environment = TestEnvironment::finished(false);
    // Without the setting there are no notes.
    assert_eq!(environment.git(&["for-each-ref", "refs/notes"]), "");
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
    for range in ["main..HEAD", "main...HEAD", "main.."] {
        earned(&environment.verify(range), 3);
    }
    for commit in ["HEAD", "HEAD~2"] {
        earned(&environment.verify(commit), 1);
    }
    let text = environment.try_tm("verify", None).out;
    assert_eq!(text.matches("by its journal").count(), 3, "{text}");

    let weak = environment.verify("--require verified");
    let too_low =
        "evidence_too_weak evidence_too_weak evidence_too_weak evidence_too_weak evidence_too_weak";
    told(&weak, "faulty faulty faulty", too_low);
    assert_eq!(weak.code(), "unearned");
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
    let proof = environment.verify("");
    let answer = told(&proof, "earned earned earned unearned", "unearned");
    assert_eq!(answer["code"], "unearned");
    assert_eq!(answer["message"], "1 of 4 commits were not earned");
    // A merge is listed, and not looked at.
    environment.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    environment.git(&["merge", "--quiet", "--no-edit", "other"]);
    let proof = environment.verify("main..HEAD");
    for (standing, count) in [("earned", 3), ("unearned", 1), ("merge", 1)] {
        let told = format!("\"standing\":\"{standing}\"");
        assert_eq!(proof.out.matches(&told).count(), count, "{proof:?}");
    }
}

#[test]
fn a_rewritten_commit_is_another_one_and_that_is_said() {
    let environment = TestEnvironment::finished(false);
    let amend = ["commit", "--quiet", "-a", "--amend", "-m", "Other"];
    environment.git(&amend);
    // It has the change of what the run made, and so all that stands behind that.
    let answer = earned(&environment.verify(""), 3);
    let remark = answer["commits"][2]["remarks"][0].to_string();
    assert_ne!(remark, "null");

    environment.write("src/words.sh", "false\n");
    environment.git(&amend);
    let proof = environment.verify("");
    told(&proof, "earned earned unearned", "unearned");

    environment.git(&["reset", "--quiet", "--soft", "main"]);
    environment.git(&["checkout", "--quiet", "HEAD@{1}", "--", "."]);
    environment.git(&["commit", "--quiet", "--message", "Squashed"]);
    told(&environment.verify(""), "unearned", "unearned");
}

#[test]
fn an_edited_journal_is_named_and_proves_nothing() {
    let environment = TestEnvironment::finished(false);
    let text = String::from_utf8(environment.journal()).unwrap();
    let edited = text.replacen("\"level\":\"reported\"", "\"level\":\"verified\"", 1);
    fs::write(environment.journal_path(), edited).unwrap();
    let proof = environment.verify("");
    let damaged = "journal_damaged journal_damaged journal_damaged";
    let answer = told(&proof, "faulty faulty faulty", damaged);
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1);

    // Whoever takes the id of a commit out of it does not get away with it, either.
    let sha = answer["commits"][0]["sha"].as_str().unwrap();
    let without = text.replace(sha, &"0".repeat(40));
    fs::write(environment.journal_path(), without).unwrap();
    let answer = environment.verify("HEAD~2").json_with(3);
    assert_eq!(answer["damaged"].as_array().unwrap().len(), 1, "{answer:#}");
}

#[test]
fn evidence_that_is_gone_or_changed_is_named() {
    let environment = TestEnvironment::finished(false);
    let answer = environment.verify("").ok();
    let kept = environment.run_folder().join("evidence");
    let evidence = |commit: usize| {
        let hash = answer["commits"][commit]["red"]["evidence"][0].as_str();
        kept.join(hash.unwrap())
    };
    fs::remove_file(evidence(0)).unwrap();
    fs::write(evidence(1), "TAP version 13\n1..1\nnot ok 1 - fine\n").unwrap();
    let problems = "evidence_missing evidence_missing";
    told(&environment.verify(""), "faulty faulty earned", problems);
}

#[test]
fn ranges_that_mean_nothing_and_other_places() {
    let environment = TestEnvironment::finished(false);
    for range in ["nowhere..HEAD", "main..-x", "HEAD:README.md", "a\u{1b}[2Jb"] {
        let ran = environment.verify(&format!("-- {range}"));
        assert_eq!((ran.code(), ran.status), ("not_found", 4), "{range}");
    }
    earned(&environment.verify("HEAD..HEAD"), 0);
    // Another worktree knows of it.
    let tree = environment.beside("tree");
    let path = tree.to_str().unwrap();
    environment.git(&["worktree", "add", "--quiet", "--detach", path]);
    fs::remove_file(environment.run_folder().join("commits.txt")).unwrap();
    earned(&environment.verify_at(&tree, "home", "main..HEAD"), 3);
    // Where nothing ever ran, nobody can tell.
    let clone = environment.clone_of_it(false);
    let elsewhere = |words: &str| environment.verify_at(&clone, "elsewhere", words);
    let unknown = "not_provable not_provable not_provable";
    let proof = elsewhere("origin/main..HEAD");
    assert_eq!(told(&proof, unknown, unknown)["code"], "not_provable");
    // A tag that somebody pushed goes before the branch that was meant, and would leave nothing to look at.
    let clone_path = clone.to_str().unwrap();
    environment.git(&["-C", clone_path, "tag", "origin/main", "HEAD"]);
    elsewhere("origin/main..HEAD").fault(2, "which_one");
    let proof = elsewhere("refs/remotes/origin/main..HEAD");
    told(&proof, unknown, unknown);
}
