//! What git's users do to a branch while a run works on it.

use super::walk;
use crate::honest::work::{Before, DOUBLE, DOUBLES, HALVE, HALVES, SHOP, WAYS, Way, Work};

/// Two subtasks, the first one done.
const TWO: Before<'static> = Before { task: "2", ..SHOP };

fn second(way: Way) -> Work {
    let work = Work::begin(&TWO, way);
    work.subtask(
        || work.write("tests/double.test", DOUBLES),
        || work.write("src/double.sh", DOUBLE),
    );
    work
}

/// Somebody commits to main, without this working tree.
fn main_moves(work: &Work) {
    let blob = work.outside().join("NOTES");
    std::fs::write(&blob, "notes\n").unwrap();
    let blob = work.git(&["hash-object", "-w", blob.to_str().unwrap()]);
    let index = work.outside().join("index");
    let index = index.to_str().unwrap();
    let git = |arguments: &[&str]| {
        let output = work
            .process("git")
            .env("GIT_INDEX_FILE", index)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", "main"]);
    git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{blob},NOTES"),
    ]);
    let tree = git(&["write-tree"]);
    let commit = git(&["commit-tree", &tree, "-p", "main", "-m", "Notes"]);
    git(&["update-ref", "refs/heads/main", &commit]);
}

fn to_commit(work: &Work) {
    work.write("tests/halve.test", HALVES);
    work.red();
    work.write("src/halve.sh", HALVE);
    work.green();
}

/// The rest of a run of two subtasks, from its second commit on.
fn ends(work: &Work) {
    work.commit();
    work.finalize();
}

/// What main brings is not in a commit of the run's.
fn has_only_its_own(work: &Work) {
    let own = work.git(&["log", "--format=", "--name-only", "main..HEAD"]);
    assert!(!own.contains("NOTES"), "{own}");
}

#[test]
fn a_rebase_onto_a_newer_main() {
    let way = Way::Reported;
    let work = second(way);
    main_moves(&work);
    work.git(&["rebase", "--quiet", "main"]);
    work.write("tests/halve.test", HALVES);
    work.warns(&["The branch was rebased"]);
    work.red();
    work.write("src/halve.sh", HALVE);
    work.green();
    ends(&work);
    has_only_its_own(&work);
    let (_, report) = work.runs("tm runs report");
    assert!(report.contains("`tm verify main.."), "{report}");
}

#[test]
fn a_rebase_in_each_phase() {
    for phase in ["green", "commit", "finalize"] {
        let work = second(Way::Reported);
        if phase == "green" {
            work.write("tests/halve.test", HALVES);
            work.red();
        } else {
            to_commit(&work);
        }
        if phase == "finalize" {
            work.commit();
        }
        main_moves(&work);
        work.git(&["rebase", "--quiet", "--autostash", "main"]);
        if phase == "green" {
            work.write("src/halve.sh", HALVE);
        }
        match phase {
            "commit" => {
                let answer = walk(
                    &work,
                    |work| work.report_commit(&[]),
                    "changed_after_green",
                    &[],
                );
                assert_eq!(answer["nextAction"]["action"], "commit", "{answer:#}");
            }
            "green" => {
                work.warns(&["The branch was rebased"]);
                work.green();
            }
            _ => work.warns(&["The branch was rebased"]),
        }
        if phase != "finalize" {
            work.commit();
        }
        work.finalize();
        has_only_its_own(&work);
    }
}

#[test]
fn a_rebase_of_a_branch_without_commits() {
    let way = Way::Reported;
    let work = Work::begin(&SHOP, way);
    main_moves(&work);
    work.git(&["merge", "--quiet", "--ff-only", "main"]);
    work.write("tests/double.test", DOUBLES);
    work.warns(&["Another branch came in"]);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    work.commit();
    work.finalize();
    has_only_its_own(&work);
}

#[test]
fn main_is_merged_in() {
    let way = Way::Reported;
    let work = second(way);
    main_moves(&work);
    work.git(&["merge", "--quiet", "--no-edit", "main"]);
    work.write("tests/halve.test", HALVES);
    work.warns(&["Another branch came in"]);
    work.red();
    work.write("src/halve.sh", HALVE);
    work.green();
    ends(&work);
}

#[test]
fn a_branch_is_renamed() {
    let work = second(Way::Reported);
    to_commit(&work);
    work.git(&["branch", "--move", "mine"]);
    walk(&work, |work| work.report_commit(&[]), "wrong_branch", &[]);
    work.finalize();
}

#[test]
fn another_branch_is_checked_out() {
    for (branch, code) in [("main", "on_default_branch"), ("other", "wrong_branch")] {
        let work = second(Way::Reported);
        work.git(&["branch", "other", "main"]);
        work.git(&["switch", "--quiet", branch]);
        work.write("tests/halve.test", HALVES);
        walk(&work, |work| work.report(&["complete", "red"]), code, &[]);
    }
}

#[test]
fn a_rebase_is_under_way() {
    let work = second(Way::Reported);
    main_moves(&work);
    let editor = work.outside().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i 's/^pick/edit/' \"$1\"\n").unwrap();
    let editor = format!("sh {}", editor.display());
    let (done, said) = work.runs(&format!(
        "GIT_SEQUENCE_EDITOR='{editor}' git rebase -i main"
    ));
    assert!(done, "{said}");
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "operation_under_way",
        &[("then report again", |work| {
            work.write("tests/halve.test", HALVES);
        })],
    );
    work.write("src/halve.sh", HALVE);
    work.green();
    ends(&work);
}

#[test]
fn a_test_is_committed_by_hand() {
    let way = Way::Reported;
    let work = second(way);
    work.write("tests/halve.test", HALVES);
    work.red();
    work.git(&["add", "tests"]);
    work.git(&["commit", "--quiet", "--message", "Halves"]);
    work.write("src/halve.sh", HALVE);
    work.green();
    walk(&work, |work| work.report_commit(&[]), "foreign_commit", &[]);
    assert_eq!(work.git(&["status", "--porcelain"]), "");
    work.finalize();
}

#[test]
fn everything_is_committed_by_hand() {
    let way = Way::Reported;
    let work = second(way);
    to_commit(&work);
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Halve"]);
    walk(&work, |work| work.report_commit(&[]), "foreign_commit", &[]);
    work.finalize();
}

/// A project with a hook that formats what is committed, and tells nobody. Git knows its tasks or not.
fn with_silent_formatter(way: Way, tasks: bool) -> Work {
    let work = Work::begin_with(&SHOP, way, |work| {
        work.write(
            ".git/hooks/pre-commit",
            "#!/bin/sh\nfor file in $(git diff --cached --name-only | grep -e src/ -e tests/); do\n  sed -i -e 's/ *$//' \"$file\"; git add \"$file\"\ndone\n",
        );
        work.runs("chmod +x .git/hooks/pre-commit");
        if !tasks {
            work.write(".git/info/exclude", ".taskmaster/tasks\n");
        }
    });
    work.write("tests/double.test", &DOUBLES.replace('\n', "  \n"));
    work.red();
    work.write("src/double.sh", &DOUBLE.replace('\n', "  \n"));
    work.green();
    work
}

#[test]
fn a_hook_formats_what_is_committed_by_hand() {
    for way in WAYS {
        let work = with_silent_formatter(way, true);
        work.git(&["add", "--all"]);
        work.git(&["commit", "--quiet", "--message", "Double"]);
        // Asked with or without its name, the answer is the same.
        let (way, code) = match way {
            Way::Claimed => (&["--sha", "HEAD"][..], "changed_after_green"),
            _ => (&[][..], "foreign_commit"),
        };
        // The tests, which the hook has formatted, are put back with the first steps.
        let (_, refused) = work.report_commit(way);
        let advised = refused["nextSteps"].to_string();
        assert!(advised.contains("cp -- "), "{refused:#}");
        walk(&work, |work| work.report_commit(way), code, &[]);
        work.warns(&["hooks changed what was tested"]);
        work.commit();
        assert_eq!(work.git(&["status", "--porcelain"]), "");
        assert_eq!(work.git(&["rev-list", "--count", "main..HEAD"]), "1");
        let (_, verified) = work.runs("tm verify main..HEAD");
        assert!(
            verified.contains("hooks changed what it holds"),
            "{verified}"
        );
        work.finalize();
    }
}

#[test]
fn a_hook_makes_of_a_commit_what_is_there_already() {
    let way = Way::Reported;
    let work = with_silent_formatter(way, false);
    let tested = work.read("src/double.sh");
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Double"]);
    let head = work.git(&["rev-parse", "HEAD"]);
    // What was tested lies on top of it.
    work.write("src/double.sh", &tested);
    work.write("tests/double.test", &DOUBLES.replace('\n', "  \n"));
    walk(
        &work,
        |work| work.report_commit(&["--sha", "HEAD"]),
        "nothing_to_commit",
        &[],
    );
    assert_eq!(work.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(work.git(&["status", "--porcelain"]), "");
}

#[test]
fn something_is_committed_behind_the_last_subtask() {
    let way = Way::Reported;
    let work = second(way);
    to_commit(&work);
    work.commit();
    work.write("README.md", "How to halve.\n");
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Tell"]);
    walk(
        &work,
        |work| work.report(&["finalize"]),
        "foreign_commit",
        &[],
    );
}

#[test]
fn what_is_committed_behind_the_last_subtask_is_set_aside() {
    let work = second(Way::Reported);
    to_commit(&work);
    work.commit();
    let last = work.git(&["rev-parse", "HEAD"]);
    work.write("README.md", "How to halve.\n");
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Tell"]);
    let tip = work.git(&["rev-parse", "HEAD"]);
    let (_, refused) = work.report(&["finalize"]);
    for step in refused["nextSteps"].as_array().unwrap() {
        if step["step"] == "shell" {
            work.runs_well(step["command"].as_str().unwrap());
        }
    }
    work.finalize();
    assert_eq!(work.git(&["rev-parse", "HEAD~1"]), last);
    let aside = work.git(&["branch", "--list", "--format=%(objectname)", "*aside*"]);
    assert_eq!(aside, tip);
}

#[test]
fn the_last_commit_is_taken_back() {
    for (how, keeps) in [("--soft", true), ("--mixed", true), ("--hard", false)] {
        let work = second(Way::Reported);
        let last = work.git(&["rev-parse", "HEAD"]);
        work.git(&["reset", "--quiet", how, "HEAD~1"]);
        work.write("tests/halve.test", HALVES);
        walk(
            &work,
            |work| work.report(&["complete", "red"]),
            "history_rewritten",
            &[],
        );
        assert_eq!(work.git(&["rev-parse", "HEAD"]), last, "{how} {keeps}");
        assert_eq!(work.git(&["status", "--porcelain"]), "?? tests/halve.test");
    }
}

#[test]
fn the_last_commit_is_amended() {
    let work = second(Way::Reported);
    let last = work.git(&["rev-parse", "HEAD"]);
    work.append("src/double.sh", "# better\n");
    work.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    let amended = work.git(&["rev-parse", "HEAD"]);
    work.write("tests/halve.test", HALVES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "history_rewritten",
        &[],
    );
    assert_eq!(work.git(&["rev-parse", "HEAD"]), last);
    let kept = work.git(&["branch", "--contains", &amended]);
    assert!(!kept.is_empty(), "what was amended is on no branch");
}

#[test]
fn the_last_commit_is_amended_and_changed_again() {
    let work = second(Way::Reported);
    let last = work.git(&["rev-parse", "HEAD"]);
    work.append("src/double.sh", "# better\n");
    work.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    work.append("src/double.sh", "# and better\n");
    let written = work.read("src/double.sh");
    work.write("tests/halve.test", HALVES);
    for _ in 0..2 {
        // The same way a second time, from where its first half has led.
        let (_, answer) = work.report(&["complete", "red"]);
        let first = answer["nextSteps"][0]["command"].as_str().unwrap();
        if first.starts_with("git branch") {
            work.runs_well(first);
        }
    }
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "history_rewritten",
        &[],
    );
    assert_eq!(work.git(&["rev-parse", "HEAD"]), last);
    assert_eq!(work.read("src/double.sh"), written);
}

#[test]
fn the_last_commit_gets_another_message() {
    let work = second(Way::Reported);
    let last = work.git(&["rev-parse", "HEAD"]);
    work.git(&["commit", "--quiet", "--amend", "--message", "Doubles"]);
    work.write("tests/halve.test", HALVES);
    walk(
        &work,
        |work| work.report(&["complete", "red"]),
        "history_rewritten",
        &[],
    );
    assert_eq!(work.git(&["rev-parse", "HEAD"]), last);
    assert_eq!(work.git(&["branch", "--list", "*aside*"]), "");
}

#[test]
fn the_work_is_in_the_stash() {
    let way = Way::Reported;
    let work = second(way);
    to_commit(&work);
    work.git(&["stash", "push", "--quiet", "--include-untracked"]);
    walk(
        &work,
        |work| work.report_commit(&[]),
        "nothing_changed",
        &[],
    );
    work.finalize();
}

/// A branch beside the run, with a commit of its own that changes these files, or none.
fn merge(work: &Work, onto: &str, files: &[(&str, &str)]) {
    let own = work.git(&["branch", "--show-current"]);
    let is_clean = work.git(&["status", "--porcelain"]).is_empty();
    if !is_clean {
        work.git(&["stash", "push", "--quiet", "--include-untracked"]);
    }
    work.git(&["switch", "--quiet", "--create", "beside", onto]);
    for (path, text) in files {
        work.write(path, text);
    }
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--allow-empty", "--message", "Beside"]);
    if onto == "main" {
        work.git(&["branch", "--quiet", "--force", "main", "beside"]);
    }
    work.git(&["switch", "--quiet", &own]);
    work.git(&["merge", "--quiet", "--no-ff", "--no-edit", "beside"]);
    if !is_clean {
        work.git(&["stash", "pop", "--quiet"]);
    }
}

#[test]
fn main_is_merged_in_before_a_commit() {
    let way = Way::Reported;
    let work = Work::begin(&TWO, way);
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.green();
    merge(&work, "main", &[]);
    let (status, answer) = work.report_commit(&[]);
    assert_eq!(status, 0, "{answer:#}");
    to_commit(&work);
    ends(&work);
}

#[test]
fn another_branch_is_merged_in() {
    let way = Way::Reported;
    let work = second(way);
    work.write("tests/halve.test", HALVES);
    work.red();
    work.write("src/halve.sh", HALVE);
    let base = work.git(&["rev-parse", "main~0"]);
    merge(&work, &base, &[("tests/add.test", "adds: test 1 = 1\n")]);
    walk(
        &work,
        |work| work.report(&["complete", "green"]),
        "tests_changed",
        &[],
    );
    work.commit();
    has_only_its_own(&work);
}

#[test]
fn another_branch_is_merged_in_before_a_commit() {
    for asked in [&[][..], &["--sha", "HEAD"]] {
        let work = second(Way::Reported);
        to_commit(&work);
        let base = work.git(&["rev-parse", "main~0"]);
        merge(&work, &base, &[]);
        walk(
            &work,
            |work| work.report_commit(asked),
            "foreign_commit",
            &[],
        );
    }
}

/// Another commit of main's, which changes the product, and comes in by a merge.
fn main_changes_the_product(work: &Work) {
    merge(work, "main", &[("src/add.sh", "echo $(($2 + $1))\n")]);
}

#[test]
fn a_report_is_from_before_main_was_merged_in() {
    for finalizes in [false, true] {
        let work = second(Way::Reported);
        to_commit(&work);
        if finalizes {
            work.commit();
        } else {
            work.reopen("green");
        }
        let report = work.printed();
        main_changes_the_product(&work);
        let phase = if finalizes {
            &["finalize"][..]
        } else {
            &["complete", "green"]
        };
        let asked: Vec<&str> = phase.iter().copied().chain(["--report", &report]).collect();
        walk(&work, |work| work.ask(&asked), "stale_report", &[]);
    }
}

#[test]
fn a_merge_of_main_is_taken_out_by_a_rebase() {
    let work = second(Way::Reported);
    to_commit(&work);
    work.commit();
    main_changes_the_product(&work);
    work.warns(&["Another branch came in"]);
    work.finalize();
    let work = second(Way::Reported);
    main_changes_the_product(&work);
    work.write("tests/halve.test", HALVES);
    work.warns(&["Another branch came in"]);
    work.red();
    work.git(&["rebase", "--quiet", "--autostash", "main"]);
    work.write("src/halve.sh", HALVE);
    work.warns(&["The branch was rebased"]);
    work.green();
    work.commit();
    work.finalize();
}

/// What was tested is in the amended commit, and nothing is left to commit: to skip it would be to lose it.
#[test]
fn all_of_a_subtask_is_amended_into_the_commit_before() {
    let work = second(Way::Reported);
    to_commit(&work);
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    let answer = walk(
        &work,
        |work| work.report_commit(&[]),
        "history_rewritten",
        &[],
    );
    assert!(answer.get("commitSha").is_some(), "{answer:#}");
    work.finalize();
}

/// Main was merged into something that was committed by hand behind the last subtask.
#[test]
fn main_is_merged_behind_a_commit_of_ones_own() {
    let work = second(Way::Verified);
    to_commit(&work);
    work.commit();
    work.write("README.md", "How to halve.\n");
    work.git(&["add", "--all"]);
    work.git(&["commit", "--quiet", "--message", "Tell"]);
    main_moves(&work);
    work.git(&["merge", "--quiet", "--no-edit", "main"]);
    let tip = work.git(&["rev-parse", "HEAD"]);
    walk(
        &work,
        |work| work.report(&["finalize"]),
        "foreign_commit",
        &[],
    );
    let aside = work.git(&["branch", "--list", "--format=%(objectname)", "*aside*"]);
    assert_eq!(aside, tip);
}

#[test]
fn a_submodule_is_changed_inside() {
    let work = Work::begin_with(&TWO, Way::Verified, |work| {
        let upstream = work.outside().join("upstream");
        let upstream = upstream.to_str().unwrap();
        work.git(&["init", "--quiet", upstream]);
        commit_in(work, upstream);
        let file = ["-c", "protocol.file.allow=always"];
        work.git(&[&file[..], &["submodule", "--quiet", "add", upstream, "lib"]].concat());
    });
    work.write("tests/double.test", DOUBLES);
    work.red();
    work.write("src/double.sh", DOUBLE);
    work.write("lib/new.txt", "new\n");
    for (name, value) in [("user.name", "Me"), ("user.email", "me@localhost")] {
        work.git(&["-C", "lib", "config", name, value]);
    }
    let green = |work: &Work| work.report(&["complete", "green"]);
    walk(&work, green, "dirty_submodule", &[]);
    work.warns(&["A submodule is at a commit that no remote of it is known to have"]);
    assert!(work.commit().contains(&"lib".to_owned()));
}

fn commit_in(work: &Work, folder: &str) {
    work.git(&["-C", folder, "add", "--all"]);
    let who = ["-c", "user.name=Me", "-c", "user.email=me@localhost"];
    let commit = ["commit", "--quiet", "--allow-empty", "--message", "More"];
    work.git(&[&["-C", folder][..], &who, &commit].concat());
}
