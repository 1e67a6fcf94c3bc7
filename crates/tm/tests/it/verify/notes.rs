//! Notes on commits: written with them, made good after a kill, and what they prove alone.

use super::environment::{TestEnvironment, earned, told};

const NOTES: [&str; 2] = ["notes", "--ref=refs/notes/tramline"];

fn notes(environment: &TestEnvironment, words: &[&str]) -> String {
    environment.git(&[&NOTES, words].concat())
}

fn note(environment: &TestEnvironment, commit: &str) -> String {
    notes(environment, &["show", commit])
}

fn references(environment: &TestEnvironment) -> String {
    environment.git(&["for-each-ref", "--format=%(refname)", "refs/notes"])
}

#[test]
fn notes_alone_prove_a_fresh_clone_where_the_tests_show_it_again() {
    let environment = TestEnvironment::finished(true);
    let text = note(&environment, "HEAD~2");
    for line in [
        "unit: workUnit-1.1-COMMIT",
        "level: red=reported, green=reported",
        "for: subtask",
    ] {
        assert!(text.lines().any(|there| there == line), "{text}");
    }
    let clone = environment.clone_of_it(true);
    // Anybody can write a note: what it says has to be seen again.
    let standings = "not_provable not_provable not_provable";
    told(&environment.verify_in(&clone, ""), standings, standings);
    let replayed = "--require reported --replay --strict";
    let answer = earned(&environment.verify_in(&clone, replayed), 3);
    let commits = answer["commits"].as_array().unwrap();
    assert!(commits.iter().all(|commit| commit["source"] == "note"));
    let proof = environment.verify_in(&clone, "--require verified");
    assert_eq!(proof.status, 3);
}

#[test]
fn a_note_counts_only_for_its_own_commit_and_tree() {
    let environment = TestEnvironment::finished(true);
    environment.write("src/words.sh", "false\n");
    environment.commit_all("By hand");
    let fourth = |problem: &str| {
        let proof = environment.verify_in(&environment.clone_of_it(true), "");
        let commits = &proof.json()["commits"];
        assert_eq!(proof.status, 3, "{proof:?}");
        assert_eq!(commits[3]["problems"][0]["code"], problem, "{proof:?}");
    };
    // Copied from another commit.
    notes(&environment, &["copy", "HEAD~3", "HEAD"]);
    fourth("not_provable");
    // Made to name this one.
    let [head, parent] = ["HEAD", "HEAD~1"].map(|name| environment.git(&["rev-parse", name]));
    let forged = note(&environment, "HEAD~3")
        .lines()
        .fold(String::new(), |text, line| {
            let line = match line.split_once(": ").unwrap().0 {
                "commit" => format!("commit: {head}"),
                "base" => format!("base: {parent}"),
                _ => line.to_owned(),
            };
            format!("{text}{line}\n")
        });
    notes(&environment, &["add", "-f", "-m", &forged, "HEAD"]);
    fourth("unearned");
    // And as a repair, which needs no test.
    let tree = environment.git(&["rev-parse", "HEAD^{tree}"]);
    let forged = forged.lines().fold(String::new(), |text, line| {
        match line.split_once(": ").unwrap().0 {
            "change" | "whole" => text,
            "tree" => format!("{text}tree: {tree}\n"),
            "for" => format!("{text}for: repair\n"),
            _ => format!("{text}{line}\n"),
        }
    });
    notes(&environment, &["add", "-f", "-m", &forged, "HEAD"]);
    let clone = environment.clone_of_it(true);
    let proof = environment.verify_in(&clone, "--replay");
    let fourth = &proof.json()["commits"][3];
    assert_eq!(
        (proof.status, &fourth["standing"]),
        (3, &"faulty".into()),
        "{fourth:#}"
    );
}

#[test]
fn a_note_holds_a_journal_that_was_written_anew() {
    let environment = TestEnvironment::finished(true);
    earned(&environment.verify(""), 3);
    let other = note(&environment, "HEAD~1").replace("journal: ", "journal: 0");
    notes(&environment, &["add", "-f", "-m", &other, "HEAD~1"]);
    let proof = environment.verify("");
    told(&proof, "earned faulty earned", "unearned");
}

#[test]
fn other_notes_and_the_settings_for_them_are_left_alone() {
    let environment = TestEnvironment::in_commit(true);
    environment.git(&["notes", "add", "-m", "mine", "HEAD"]);
    environment.git(&["config", "core.notesRef", "refs/notes/mine"]);
    let theirs = ("GIT_NOTES_REF", "refs/notes/theirs");
    environment.try_tm("autopilot commit", Some(theirs)).text();
    let all = "refs/notes/commits\nrefs/notes/tramline";
    assert_eq!(references(&environment), all);
    assert!(note(&environment, "HEAD").contains("subtask: 1.1"));
}

/// Also behind a kill.
#[test]
fn a_commit_that_was_handed_in_gets_its_note() {
    for point in [None, Some("after-append"), Some("derived-before-state")] {
        let environment = TestEnvironment::in_commit(true);
        for folder in ["tests", "src"] {
            environment.git(&["add", folder]);
            environment.git(&["commit", "--quiet", "--message", folder]);
        }
        let commit = "autopilot commit 1.1 --sha HEAD";
        if let Some(point) = point {
            let ran = environment.try_tm(commit, Some(("TRAMLINE_FAIL_POINT", point)));
            assert!(ran.died(), "{ran:?}");
        }
        environment.does(commit);
        assert!(note(&environment, "HEAD").contains("handed-in: yes"));
        let clone = environment.clone_of_it(true);
        let answer = earned(&environment.verify_in(&clone, "--replay"), 2);
        assert_eq!(answer["commits"][0]["partOf"], answer["commits"][1]["sha"]);
    }
}

#[test]
fn a_kill_between_commit_and_note_is_made_good() {
    testkit::by_chance!(3);
    let mut lengths = Vec::new();
    for point in [
        "",
        "commit-in-git",
        "commit-after-git",
        "after-perform",
        "after-append:2",
        "derived-before-state:2",
    ] {
        let environment = TestEnvironment::in_commit(true);
        let fails = ("TRAMLINE_FAIL_POINT", point);
        let ran = environment.try_tm("autopilot commit", Some(fails));
        assert_eq!(ran.died(), !point.is_empty(), "{point}: {ran:?}");
        environment.try_tm("autopilot resume", None);
        environment.try_tm("autopilot commit 1.1", None);
        lengths.push(note(&environment, "HEAD").lines().count());
        earned(&environment.verify(""), 1);
    }
    assert_eq!(lengths, [lengths[0]; 6]);
}

#[test]
fn a_note_that_cannot_be_written_does_not_keep_the_commit_from_being_made() {
    let environment = TestEnvironment::in_commit(true);
    // A branch of notes of the name of the folder: the reference cannot be made.
    environment.git(&["update-ref", "refs/notes/tramline/x", "HEAD"]);
    environment.does("autopilot commit");
    let journal = String::from_utf8(environment.journal()).unwrap();
    assert!(journal.contains("\"noteFailed\""));
    earned(&environment.verify(""), 1);
    environment.git(&["update-ref", "-d", "refs/notes/tramline/x"]);
    environment.subtask(&["words", "lines"]);
    for commit in ["HEAD", "HEAD~1"] {
        assert!(note(&environment, commit).starts_with("tramline: 1\n"));
    }
}
