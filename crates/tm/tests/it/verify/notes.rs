//! Notes on commits: written with them, made good after a kill, and what they prove alone.

use std::fs;

use super::environment::{TestEnvironment, problems, standings};

const REFERENCE: &str = "refs/notes/tramline";

fn note(environment: &TestEnvironment, commit: &str) -> String {
    environment.git(&["notes", &format!("--ref={REFERENCE}"), "show", commit])
}

#[test]
fn notes_alone_prove_a_fresh_clone() {
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
    let ran = environment.tm_in(
        &clone,
        &[
            "verify",
            "origin/main..HEAD",
            "--json",
            "--require",
            "reported",
        ],
    );
    assert_eq!(ran.status, 0, "{ran:?}");
    let answer = ran.json();
    assert_eq!(standings(answer), ["earned"; 3]);
    assert!(
        answer["commits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|commit| commit["source"] == "note")
    );
    let ran = environment.tm_in(
        &clone,
        &["verify", "origin/main..HEAD", "--require", "verified"],
    );
    assert_eq!(ran.status, 3);
}

#[test]
fn a_note_counts_only_for_its_own_commit_and_tree() {
    let environment = TestEnvironment::finished(true);
    environment.write("src/words.sh", "false\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "By hand"]);
    // Copied from another commit.
    environment.git(&[
        "notes",
        &format!("--ref={REFERENCE}"),
        "copy",
        "HEAD~3",
        "HEAD",
    ]);
    let clone = environment.clone_of_it(true);
    let ran = environment.tm_in(&clone, &["verify", "HEAD", "--json"]);
    assert_eq!(ran.status, 3);
    assert_eq!(problems(ran.json()), ["not_provable"]);
    assert!(ran.out.contains("written for the commit"), "{ran:?}");
    // Made to name this one.
    let head = environment.git(&["rev-parse", "HEAD"]);
    let parent = environment.git(&["rev-parse", "HEAD~1"]);
    let forged: Vec<String> = note(&environment, "HEAD~3")
        .lines()
        .map(|line| match line.split_once(": ").unwrap().0 {
            "commit" => format!("commit: {}", head.trim()),
            "base" => format!("base: {}", parent.trim()),
            _ => line.to_owned(),
        })
        .collect();
    environment.git(&[
        "notes",
        &format!("--ref={REFERENCE}"),
        "add",
        "-f",
        "-m",
        &forged.join("\n"),
        "HEAD",
    ]);
    fs::remove_dir_all(&clone).unwrap();
    let clone = environment.clone_of_it(true);
    let ran = environment.tm_in(&clone, &["verify", "HEAD", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(problems(ran.json()), ["tree_differs"]);
}

#[test]
fn a_note_holds_a_journal_that_was_written_anew() {
    let environment = TestEnvironment::finished(true);
    assert_eq!(environment.verify(&[]).0, 0);
    let other = note(&environment, "HEAD~1").replace("journal: ", "journal: 0");
    environment.git(&[
        "notes",
        &format!("--ref={REFERENCE}"),
        "add",
        "-f",
        "-m",
        &other,
        "HEAD~1",
    ]);
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 3);
    assert_eq!(problems(&answer), ["note_differs"]);
}

#[test]
fn other_notes_and_the_settings_for_them_are_left_alone() {
    let environment = TestEnvironment::new(true);
    environment.git(&["notes", "add", "-m", "mine", "HEAD"]);
    environment.git(&["config", "core.notesRef", "refs/notes/mine"]);
    environment.tm(&["autopilot", "start", "1"]);
    environment.red_and_green("1.1", &["words"]);
    let ran = environment.try_tm(
        &["autopilot", "commit"],
        &[("GIT_NOTES_REF", "refs/notes/theirs")],
    );
    assert_eq!(ran.status, 0, "{ran:?}");
    let references = environment.git(&["for-each-ref", "--format=%(refname)", "refs/notes"]);
    assert_eq!(references, "refs/notes/commits\nrefs/notes/tramline");
    assert!(note(&environment, "HEAD").contains("subtask: 1.1"));
}

#[test]
fn a_commit_that_was_handed_in_gets_its_note() {
    for point in [None, Some("after-append"), Some("derived-before-state")] {
        let environment = TestEnvironment::new(true);
        environment.tm(&["autopilot", "start", "1"]);
        environment.red_and_green("1.1", &["words"]);
        environment.git(&["add", "tests"]);
        environment.git(&["commit", "--quiet", "--message", "The tests"]);
        environment.git(&["add", "src"]);
        environment.git(&["commit", "--quiet", "--message", "The code"]);
        let commit = ["autopilot", "commit", "1.1", "--sha", "HEAD"];
        if let Some(point) = point {
            let ran = environment.try_tm(&commit, &[("TRAMLINE_FAIL_POINT", point)]);
            assert!(ran.died(), "{ran:?}");
        }
        environment.tm(&commit);
        assert!(note(&environment, "HEAD").contains("handed-in: yes"));
        let clone = environment.clone_of_it(true);
        let ran = environment.tm_in(&clone, &["verify", "origin/main..HEAD", "--json"]);
        assert_eq!(ran.status, 0, "{point:?} {ran:?}");
        assert_eq!(standings(ran.json()), ["earned", "earned"]);
    }
}

#[test]
fn a_kill_between_commit_and_note_is_made_good() {
    let honest = {
        let environment = TestEnvironment::new(true);
        environment.tm(&["autopilot", "start", "1"]);
        environment.subtask("1.1", &["words"]);
        note(&environment, "HEAD").lines().count()
    };
    for point in [
        "commit-in-git",
        "commit-after-git",
        "after-perform",
        "after-append:2",
        "derived-before-state:2",
    ] {
        let environment = TestEnvironment::new(true);
        environment.tm(&["autopilot", "start", "1"]);
        environment.red_and_green("1.1", &["words"]);
        let ran = environment.try_tm(&["autopilot", "commit"], &[("TRAMLINE_FAIL_POINT", point)]);
        assert!(ran.died(), "{point}: {ran:?}");
        environment.try_tm(&["autopilot", "resume"], &[]);
        let _ = environment.try_tm(&["autopilot", "commit", "1.1"], &[]);
        let text = note(&environment, "HEAD");
        assert_eq!(text.lines().count(), honest, "{point}: {text}");
        let (status, answer) = environment.verify(&[]);
        assert_eq!(status, 0, "{point}: {answer:#}");
        assert_eq!(standings(&answer), ["earned"], "{point}");
    }
}

#[test]
fn a_note_that_cannot_be_written_does_not_keep_the_commit_from_being_made() {
    let environment = TestEnvironment::new(true);
    environment.tm(&["autopilot", "start", "1"]);
    environment.red_and_green("1.1", &["words"]);
    // A branch of notes of the name of the folder: the reference cannot be made.
    environment.git(&["update-ref", "refs/notes/tramline/x", "HEAD"]);
    environment.tm(&["autopilot", "commit"]);
    let journal = fs::read_to_string(environment.run_folder().join("activity.jsonl")).unwrap();
    assert!(journal.contains("\"noteFailed\""));
    let (status, answer) = environment.verify(&[]);
    assert_eq!(status, 0, "{answer:#}");
    environment.git(&["update-ref", "-d", "refs/notes/tramline/x"]);
    environment.subtask("1.2", &["words", "lines"]);
    for commit in ["HEAD", "HEAD~1"] {
        assert!(note(&environment, commit).starts_with("tramline: 1\n"));
    }
}

#[test]
fn without_the_setting_there_are_no_notes() {
    let environment = TestEnvironment::finished(false);
    let references = environment.git(&["for-each-ref", "--format=%(refname)", "refs/notes"]);
    assert_eq!(references, "");
}
