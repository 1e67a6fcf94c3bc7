//! What git's users do to a branch while a run works on it.

use super::{Story, at, at_of, story};
use crate::honest::work::{
    Before, COMMIT, DOUBLE, FINALIZE, GREEN, RED, SHOP, TWO, VERIFIED, Way, Work, code_of,
};
use crate::honest::{go_through, run};

/// The second one of two subtasks, in RED, in GREEN and to be committed.
fn second(before: &Before<'static>) -> Work {
    let work = before.task("2").committed();
    mark(&work);
    work.second_test();
    work
}

/// Marks the last commit.
fn mark(work: &Work) {
    work.git(&["update-ref", "refs/story/last", "HEAD"]);
}

fn is_marked(work: &Work, commit: &str) {
    let commits = ["refs/story/last", commit].map(|name| work.git(&["rev-parse", name]));
    assert_eq!(commits[0], commits[1]);
}

fn second_green(before: &Before<'static>) -> Work {
    let work = second(before);
    work.red();
    work.second_code();
    work
}

fn second_commit(before: &Before<'static>) -> Work {
    let work = second_green(before);
    work.green();
    work
}

/// Everything is committed, and the end is due.
fn end(before: &Before<'static>) -> Work {
    let work = before.committed();
    mark(&work);
    work
}

/// Somebody commits these files beside the run, and to main where it begins there.
fn commit_beside(work: &Work, onto: &str, files: &[(&str, &str)]) {
    let beside = work.outside().join("beside");
    let folder = beside.to_str().unwrap();
    work.git(&["worktree", "add", "--quiet", "-B", "beside", folder, onto]);
    for (path, text) in files {
        std::fs::write(beside.join(path), text).unwrap();
    }
    work.git(&["-C", folder, "add", "--all"]);
    let commit = ["commit", "--quiet", "--allow-empty", "--message", "Beside"];
    work.git(&[&["-C", folder][..], &commit].concat());
    work.git(&["worktree", "remove", folder]);
    if onto == "main" {
        work.git(&["branch", "--quiet", "--force", "main", "beside"]);
    }
}

fn main_moves(work: &Work) {
    commit_beside(work, "main", &[("NOTES", "notes\n")]);
}

fn rebase(work: &Work) {
    main_moves(work);
    work.git(&["rebase", "--quiet", "--autostash", "main"]);
}

/// What main brings is not in a commit of the run's.
fn has_its_own(work: &Work) {
    let own = work.git(&["log", "--format=", "--name-only", "main..HEAD"]);
    assert!(!own.contains("NOTES"), "{own}");
}

/// Such a commit is merged in.
fn merge(work: &Work, onto: &str, files: &[(&str, &str)]) {
    commit_beside(work, onto, files);
    let merge = ["merge", "--quiet", "--no-ff", "--no-edit", "--autostash"];
    work.git(&[&merge[..], &["beside"]].concat());
}

/// Another branch, which begins where main is.
fn another_is_merged(work: &Work, files: &[(&str, &str)]) {
    merge(work, &work.git(&["rev-parse", "main"]), files);
}

/// Another commit of main's, which changes the product, and comes in by a merge.
fn main_changes_the_product(work: &Work) {
    merge(work, "main", &[("src/add.sh", "echo $(($2 + $1))\n")]);
}

/// What was refused, because of it, goes on from the branch as it is.
fn adopts(work: &Work, phase: &[&str]) {
    let refused = work.refused(phase, "branch_moved");
    assert_eq!(refused["nextSteps"][0]["step"], "adopt", "{refused:#}");
    work.tm(&["adopt"]);
    // A second time there is nothing to do.
    work.tm(&["adopt"]);
}

fn rebased(work: &Work) {
    rebase(work);
    adopts(work, RED);
}

fn main_is_merged(work: &Work) {
    main_changes_the_product(work);
    adopts(work, RED);
}

#[test]
fn the_branch_moves_and_the_run_goes_on_from_there() {
    testkit::by_chance!(3);
    go_through([
        run("rebased in RED")
            .of(TWO)
            .red(|_| {})
            .red(rebased)
            .then(has_its_own)
            .then(|work| {
                let (_, report) = work.runs("tm runs report");
                assert!(report.contains("`tm verify main.."), "{report}");
                let (passes, told) = work.runs("tm verify main..HEAD");
                assert!(passes, "{told}");
            }),
        run("main is merged in, and the merge is taken out by a rebase")
            .of(TWO)
            .red(|_| {})
            .red(main_is_merged)
            .and(rebased)
            .then(has_its_own),
        run("before there is a commit")
            .red(main_moves)
            .and(|work| work.git(&["merge", "--quiet", "--ff-only", "main"]))
            .and(|work| adopts(work, RED))
            .then(has_its_own),
    ]);
    // What was accepted of the subtask in progress was accepted of something else.
    let work = TWO.at_green();
    rebase(&work);
    adopts(&work, GREEN);
    work.red();
    work.code();
    work.green();
    for moves in [rebase, main_changes_the_product] {
        let work = end(&SHOP);
        moves(&work);
        adopts(&work, FINALIZE);
        work.finalize();
    }
    // Right before a commit.
    let work = TWO.at_commit();
    merge(&work, "main", &[]);
    adopts(&work, COMMIT);
    let (status, answer) = work.report(COMMIT);
    assert_eq!((status, code_of(&answer)), (5, "stale_unit"), "{answer:#}");
}

/// An interactive rebase that stops at each commit.
fn rebases_by_steps(work: &Work) {
    main_moves(work);
    work.runs_well("GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick/edit/'\" git rebase -i main");
}

/// Something is written into the last commit.
fn amends(work: &Work) {
    work.append("src/double.sh", "# better\n");
    work.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
}

fn taken_back(name: &'static str, how: &'static str) -> Story {
    story(name, "branch_moved")
        .done(move |work| work.git(&["reset", "--quiet", how, "HEAD~1"]))
        .then(|work| {
            is_marked(work, "HEAD");
            assert_eq!(work.git(&["status", "--porcelain"]), "?? tests/halve.test");
        })
}

#[test]
fn the_branch_is_another_one_or_its_history_is() {
    testkit::by_chance!(3);
    at_of(&SHOP, second, RED).tell([
        story("the default branch is checked out", "wrong_branch")
            .done(|work| work.git(&["switch", "--quiet", "main"])),
        story("another one is checked out", "wrong_branch")
            .done(|work| work.git(&["switch", "--quiet", "--create", "other", "main"])),
        story("it is gone", "wrong_branch")
            .done(|work| work.git(&["switch", "--quiet", "main"]))
            .done(|work| {
                let branches = work.git(&["branch", "--format=%(refname:short)"]);
                let own = branches.lines().find(|name| *name != "main").unwrap();
                work.git(&["branch", "--quiet", "-D", own])
            })
            .then(|work| is_marked(work, "HEAD")),
        story("a rebase is under way", "operation_under_way")
            .done(rebases_by_steps)
            .then(Work::second_code),
        story("a merge is under way", "operation_under_way")
            .done(main_moves)
            .done(|work| work.git(&["merge", "--quiet", "--no-commit", "--no-ff", "main"]))
            .then(|work| work.git(&["merge-base", "--is-ancestor", "main", "HEAD"])),
        taken_back("the last commit is taken back softly", "--soft"),
        taken_back("the last commit is taken back", "--mixed"),
        taken_back("the last commit and its files are taken back", "--hard"),
        story("the last commit is amended", "branch_moved")
            .done(amends)
            .then(|work| {
                is_marked(work, "HEAD");
                assert_eq!(work.read("src/double.sh"), format!("{DOUBLE}# better\n"));
                let kept = work.git(&[
                    "for-each-ref",
                    "--format=%(refname)",
                    "refs/tramline/rewound",
                ]);
                let before = work.git(&["show", &format!("{kept}:src/double.sh")]);
                assert!(before.ends_with("# better"), "{before}");
            }),
        story("it is amended and changed again", "branch_moved")
            .done(|work| {
                amends(work);
                work.append("src/double.sh", "# and better\n");
            })
            .then(|work| is_marked(work, "HEAD")),
        // Its change is there, and so the run's work is.
        story("the last commit gets another message", "branch_moved")
            .done(|work| work.git(&["commit", "--quiet", "--amend", "--message", "Doubles"]))
            .then(|work| assert_eq!(work.git(&["log", "-1", "--format=%s"]), "Doubles")),
    ]);
}

#[test]
fn what_is_not_committed_stays_where_the_branch_is_taken_back() {
    testkit::by_chance!(3);
    let work = second_green(&SHOP);
    main_changes_the_product(&work);
    let before = work.git(&["status", "--porcelain"]);
    let refused = work.refused(GREEN, "branch_moved");
    let unit = refused["nextAction"]["unitId"].as_str().unwrap();
    work.tm(&["rewind", unit]);
    is_marked(&work, "HEAD");
    assert_eq!(work.git(&["status", "--porcelain"]), before);
    work.goes_through();
}

#[test]
fn the_commit_is_another_one() {
    testkit::by_chance!(3);
    let merged = |name, call: &'static [&'static str]| {
        story(name, "branch_moved")
            .done(|work| another_is_merged(work, &[]))
            .call(|work| work.report(call))
    };
    at_of(&SHOP, second_commit, COMMIT).tell([
        merged("another branch is merged", COMMIT),
        merged("a merge is handed in", &["commit", "--sha", "HEAD"]),
        story("the branch is renamed", "wrong_branch")
            .done(|work| work.git(&["branch", "--move", "mine"]))
            .then(Work::finalize),
        story("the work is in the stash", "nothing_changed")
            .done(|work| work.git(&["stash", "push", "--quiet", "--include-untracked"]))
            .then(Work::finalize),
    ]);
    // It is amended into the commit before: what that held is done again, or the way back keeps all of it.
    let amended = || {
        let work = second_commit(&SHOP);
        work.runs_well("git add --all && git commit --quiet --amend --no-edit");
        let refused = work.refused(COMMIT, "branch_moved");
        assert_eq!(refused["nextSteps"][0]["step"], "rewind", "{refused:#}");
        work
    };
    let work = amended();
    let answer = work.tm(&["adopt"]);
    assert_eq!(answer["nextAction"]["subtask"]["id"], "2.1", "{answer:#}");
    let work = amended();
    let unit = work.tm(&["next"])["unitId"].as_str().unwrap().to_owned();
    work.tm(&["rewind", &unit]);
    work.ends();
    // Whoever commits what was tested, in one commit or in several, has made the commit.
    let work = second_commit(&SHOP);
    work.commit_by_hand("Halve");
    work.accepted(COMMIT);
    work.finalize();
    let work = second(&SHOP);
    work.red();
    work.commit_by_hand("Halves");
    work.second_code();
    work.green();
    work.commit();
    work.finalize();
}

#[test]
fn something_is_committed_behind_the_last_subtask() {
    testkit::by_chance!(3);
    let by_hand = |work: &Work| {
        work.write("README.md", "How to halve.\n");
        work.commit_by_hand("Tell");
    };
    at_of(&SHOP, end, FINALIZE).tell([story("it is taken in", "branch_moved")
        .done(by_hand)
        .then(|work| assert_eq!(work.git(&["log", "-1", "--format=%s", "HEAD~1"]), "Tell"))]);
    // It is no part of what the run has earned.
    let work = end(&SHOP);
    by_hand(&work);
    adopts(&work, FINALIZE);
    work.finalize();
    let (passes, told) = work.runs("tm verify main..HEAD");
    assert!(!passes && told.contains("Tell"), "{told}");
    // Taken back, it is kept.
    let work = end(&SHOP);
    by_hand(&work);
    let refused = work.refused(FINALIZE, "branch_moved");
    let unit = refused["nextAction"]["unitId"].as_str().unwrap();
    work.tm(&["rewind", unit]);
    is_marked(&work, "HEAD");
    work.finalize();
}

/// A project with a hook that formats what is committed, and tells nobody.
const FORMATTED: Before<'static> = SHOP.prepared(format_what_is_committed);

fn format_what_is_committed(work: &Work) {
    let format = "#!/bin/sh\nfor file in $(git diff --cached --name-only | grep -e src/ -e tests/); do\n  sed -i -e 's/ *$//' \"$file\"; git add \"$file\"\ndone\n";
    work.hook("pre-commit", format);
}

fn spaced(text: &str) -> String {
    text.replace('\n', "  \n")
}

fn to_be_formatted(before: &Before<'static>) -> Work {
    let work = before.at_red();
    work.red();
    work.write("src/double.sh", &spaced(DOUBLE));
    work.green();
    work
}

#[test]
fn a_hook_formats_what_is_committed() {
    testkit::by_chance!(3);
    // What it made of the product is run before it stands; of tests the form alone is left to it.
    for way in [Way::Reported, Way::Verified] {
        let work = to_be_formatted(&FORMATTED.by(way));
        let committed = work.tm(COMMIT);
        assert!(!committed["warning"].is_null(), "{committed:#}");
        assert_eq!(work.git(&["status", "--porcelain"]), "");
        let (_, told) = work.runs("tm verify main..HEAD");
        assert!(told.contains("hooks changed what it holds"), "{told}");
        work.finalize();
    }
    let work = SHOP.by(Way::Verified).at_commit();
    work.hook(
        "pre-commit",
        "#!/bin/sh\necho 'echo 7' >src/double.sh; git add src\n",
    );
    let refused = work.refused(COMMIT, "commit_refused").to_string();
    assert!(refused.contains("doubles"), "{refused}");
    assert_eq!(work.git(&["rev-list", "--count", "main..HEAD"]), "0");
}

#[test]
fn a_submodule_is_changed_inside() {
    testkit::by_chance!(3);
    let prepare = |work: &Work| {
        work.runs_well(
            "git init --quiet ../home/upstream && cd ../home/upstream \
             && git -c user.name=Me -c user.email=me@localhost commit --quiet --allow-empty --message More",
        );
        work.runs_well(
            "git -c protocol.file.allow=always submodule --quiet add \"$PWD/../home/upstream\" lib",
        );
    };
    at(Before::with_code, GREEN).tell([story("a file comes", "unfit_files")
        .of(VERIFIED.prepared(prepare))
        .done(|work| work.write("lib/new.txt", "new\n"))
        .done(|work| work.git(&["-C", "lib", "config", "user.name", "Me"]))
        .done(|work| work.git(&["-C", "lib", "config", "user.email", "me@localhost"]))
        .then(|work| {
            work.warns(&["submodule_not_pushed"]);
            assert!(work.commit().contains(&"lib".to_owned()));
        })]);
}
