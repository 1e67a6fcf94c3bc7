use std::fs;
use std::path::Path;

use journal::layout::{Home, LayoutError, ProjectDir, RunStem, short_name};
use journal::{Head, Journal, load_with_snapshot};
use tempfile::TempDir;

use crate::scene::{PATIENT, TS, mode, refused, unit};

fn project() -> (TempDir, ProjectDir) {
    let base = tempfile::tempdir().unwrap();
    let project = Home::new(base.path()).project(Path::new("/p")).unwrap();
    (base, project)
}

#[test]
fn a_new_run_has_an_id_of_stem_and_time_and_an_empty_journal() {
    let (_base, project) = project();
    let stem = RunStem::task("master", "1.2").unwrap();
    let run = project.create_run(&stem, TS).unwrap();
    assert_eq!(run.id(), "master__task-1.2__2025-10-07T14-30-00-123Z-1");
    assert_eq!(run.path(), project.runs_folder().join(run.id()));
    assert_eq!(load_with_snapshot(run.path()).unwrap().head, Head::empty());
    let report = journal::verify(&run.journal_path()).unwrap();
    assert_eq!((report.events, report.head), (0, Head::empty()));
    assert_eq!(mode(run.path()), 0o700);
    assert_eq!(mode(&run.journal_path()), 0o600);
    let mut journal = journal::FileJournal::lock(run.path(), PATIENT, "test").unwrap();
    journal.append(&Head::empty(), TS, &unit(0, 1)).unwrap();
    assert_eq!(mode(&run.file("lock")), 0o600);
}

#[test]
fn runs_are_listed_newest_first_whatever_their_name() {
    let (_base, project) = project();
    assert_eq!(project.runs().unwrap(), Vec::<String>::new());
    for (tag, ts) in [
        ("zebra", "2025-10-07T14:30:00.123Z"),
        ("alpha", "2025-10-07T14:30:00.124Z"),
        ("m__x", "2024-12-31T23:59:59.999Z"),
    ] {
        let stem = RunStem::task(tag, "1").unwrap();
        project.create_run(&stem, ts).unwrap();
    }
    let folder = project.runs_folder();
    for stray in ["notes", "x__y", "x__2025-10-07T14-30-00-123Z-b"] {
        fs::create_dir(folder.join(stray)).unwrap();
    }
    fs::create_dir(folder.join(".hidden__2025-10-07T14-30-00-123Z")).unwrap();
    fs::write(folder.join("f__2025-10-07T14-30-00-123Z"), "").unwrap();
    let expected = [
        "alpha__task-1__2025-10-07T14-30-00-124Z-2",
        "zebra__task-1__2025-10-07T14-30-00-123Z-1",
        "m__x__task-1__2024-12-31T23-59-59-999Z-3",
    ];
    assert_eq!(project.runs().unwrap(), expected);
}

#[test]
fn a_run_is_found_by_its_id_or_a_prefix_of_it_alone() {
    let (_base, project) = project();
    let stem = RunStem::task("master", "1").unwrap();
    let first = project.create_run(&stem, TS).unwrap();
    let second = project.create_run(&stem, TS).unwrap();
    let stem = RunStem::task("main", "1").unwrap();
    let other = project.create_run(&stem, TS).unwrap();
    assert_eq!(project.find_run(first.id()).unwrap(), first);
    assert_eq!(project.find_run(second.id()).unwrap(), second);
    assert_eq!(project.find_run("mai").unwrap(), other);
    let found = project.find_run("mas");
    let Err(LayoutError::AmbiguousRun { candidates, .. }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(candidates, [second.id(), first.id()]);
    assert!(first.id().ends_with("Z-1"), "{first:?}");
    assert_eq!(short_name(second.id()), "r2");
    assert_eq!(project.run_of_number("r3").unwrap(), Some(other));
    for none in ["r4", "r0", "r03", "r", "3", "R3", "mas"] {
        assert_eq!(project.run_of_number(none).unwrap(), None, "{none}");
    }
    assert_eq!(refused(project.find_run("zzz")), "NoRun");
    for hostile in ["", "../../etc", "a/b", "-x"] {
        assert_eq!(refused(project.find_run(hostile)), "Name");
        assert_eq!(refused(project.run(hostile)), "Name");
    }
}

#[test]
fn the_number_of_a_run_that_went_is_not_given_again() {
    let (_base, project) = project();
    let stem = RunStem::workflow("letter").unwrap();
    let begun = || project.create_run(&stem, TS).unwrap();
    let (first, second) = (begun(), begun());
    project.keep_number(&second).unwrap();
    fs::remove_dir_all(second.path()).unwrap();
    // What went before it takes nothing back.
    project.keep_number(&first).unwrap();
    fs::remove_dir_all(first.path()).unwrap();
    assert_eq!(short_name(begun().id()), "r3");
    // One of an earlier form of ids has no number, and its id for a name.
    let earlier = "letter__2025-10-07T14-30-01-234Z";
    assert_eq!(short_name(earlier), earlier);
    let taken = ["r7", "last"].map(|name| RunStem::session("review", name).is_err());
    assert_eq!(taken, [true; 2]);
}

#[test]
fn what_cannot_be_part_of_an_id_is_refused() {
    assert!(RunStem::task("a/b", "1").is_err());
    assert!(RunStem::task("a", "../1").is_err());
    assert!(RunStem::session("review", "-x").is_err());
    assert!(RunStem::session("review", &"x".repeat(190)).is_err());
    let (_base, project) = project();
    let longest = RunStem::task(&"t".repeat(158), "1").unwrap();
    let run = project.create_run(&longest, TS).unwrap();
    assert_eq!(project.find_run(run.id()).unwrap(), run);
    let timeless = project.create_run(&longest, "today");
    assert_eq!(refused(timeless), "Time");
}
