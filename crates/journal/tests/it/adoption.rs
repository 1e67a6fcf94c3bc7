use std::fs;
use std::path::{Path, PathBuf};

use journal::layout::{Home, LayoutError, MovedReason, RunStem};
use tempfile::TempDir;

use crate::scene::{PATIENT, TS, refused};

const LATER: &str = "2025-10-08T00:00:00.000Z";

struct Places {
    _base: TempDir,
    home: Home,
    old: PathBuf,
    new: PathBuf,
}

/// A project with a run and a tag, moved from `old` to `new`.
fn moved() -> Places {
    let base = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(base.path()).unwrap();
    let (old, new) = (root.join("old"), root.join("new"));
    fs::create_dir(&old).unwrap();
    let home = Home::new(root.join("home"));
    let project = home.project(&old).unwrap();
    project.create_run(&stem(), TS).unwrap();
    project.tag("main").unwrap();
    assert_eq!(home.moved_projects().unwrap(), []);
    fs::rename(&old, &new).unwrap();
    Places {
        _base: base,
        home,
        old,
        new,
    }
}

fn stem() -> RunStem {
    RunStem::task("main", "1").unwrap()
}

/// The folder that the moved project left behind.
fn left(places: &Places) -> PathBuf {
    places.home.moved_projects().unwrap().remove(0).folder
}

fn adopt(places: &Places, folder: &Path) -> Result<journal::layout::Adopted, LayoutError> {
    places.home.adopt(folder, &places.new, PATIENT, "test")
}

#[test]
fn a_moved_project_is_found_and_gets_its_runs_back() {
    let places = moved();
    let found = places.home.moved_projects().unwrap();
    let [found] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(found.recorded.as_ref(), Some(&places.old));
    assert_eq!((found.runs, found.reason), (1, MovedReason::Gone));
    let adopted = adopt(&places, &found.folder).unwrap();
    assert_eq!((adopted.runs, adopted.merged), (1, false));
    let here = places.home.find_project(&places.new).unwrap();
    assert_eq!(here.as_ref(), Some(&adopted.project));
    assert_eq!(adopted.project.runs().unwrap().len(), 1);
    assert!(adopted.project.find_tag("main").unwrap().is_some());
    assert_eq!(places.home.moved_projects().unwrap(), []);
    assert_eq!(places.home.find_project(&places.old).unwrap(), None);
}

#[test]
fn runs_are_put_beside_those_that_were_made_since() {
    let places = moved();
    let project = places.home.project(&places.new).unwrap();
    project.create_run(&stem(), LATER).unwrap();
    let current = project.tag("main").unwrap().current_run_path();
    fs::write(&current, "the newer one").unwrap();
    let folder = left(&places);

    let adopted = adopt(&places, &folder).unwrap();
    assert_eq!((adopted.runs, adopted.merged), (1, true));
    assert_eq!(adopted.project, project);
    assert_eq!(project.runs().unwrap().len(), 2);
    assert!(project.find_tag("main").unwrap().is_some());
    assert_eq!(fs::read(&current).unwrap(), b"the newer one");
    assert!(!folder.exists());
}

#[test]
fn a_run_that_is_in_both_folders_stops_the_adoption() {
    let places = moved();
    let project = places.home.project(&places.new).unwrap();
    project.create_run(&stem(), TS).unwrap();
    let folder = left(&places);
    let outcome = adopt(&places, &folder);
    assert_eq!(refused(outcome), "RunInBoth");
    assert_eq!(places.home.moved_projects().unwrap().remove(0).runs, 1);
}

#[test]
fn an_interrupted_adoption_is_found_and_finished() {
    let places = moved();
    let folder = left(&places);
    let json = serde_json::json!({ "path": places.new }).to_string();
    fs::write(folder.join("project.json"), json).unwrap();
    let found = places.home.moved_projects().unwrap();
    assert_eq!(found[0].reason, MovedReason::OtherName);
    let adopted = adopt(&places, &folder).unwrap();
    let here = places.home.find_project(&places.new).unwrap();
    assert_eq!(here, Some(adopted.project));
    assert_eq!(places.home.moved_projects().unwrap(), []);
}

#[test]
fn links_and_unreadable_folders_are_told_apart() {
    let places = moved();
    std::os::unix::fs::symlink(&places.new, &places.old).unwrap();
    let found = places.home.moved_projects().unwrap();
    assert_eq!(found[0].reason, MovedReason::LeadsElsewhere);
    fs::write(found[0].folder.join("project.json"), "").unwrap();
    let found = places.home.moved_projects().unwrap();
    assert_eq!(found[0].reason, MovedReason::Unreadable);
    assert_eq!(found[0].recorded, None);
    adopt(&places, &found[0].folder).unwrap();
    assert_eq!(places.home.moved_projects().unwrap(), []);
}

#[test]
fn only_the_folder_of_a_project_that_was_moved_is_given_away() {
    let places = moved();
    fs::create_dir(&places.old).unwrap();
    let kept = places.home.find_project(&places.old).unwrap().unwrap();
    let above = places.home.projects().join("..");
    for folder in [&places.new, &above, kept.path()] {
        assert_eq!(refused(adopt(&places, folder)), "ProjectPath");
    }
    let again = places
        .home
        .adopt(kept.path(), &places.old, PATIENT, "test")
        .unwrap();
    assert_eq!((again.project, again.runs), (kept, 1));
}
