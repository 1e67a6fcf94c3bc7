//! A branch and the working tree taken back: nothing is lost, and nobody's own is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use workspace::git::{FormerFile, GitError, Oid, RepoPath, TakenBack, WayBack};

use super::fixture::{Fixture, path, paths};

const KEPT_AS: &str = "refs/tramline/rewound/run/1";

type Files = BTreeMap<RepoPath, Option<FormerFile>>;

fn back(
    fixture: &Fixture,
    (from, to): (&Oid, &Oid),
    files: &Files,
    untouched: &[&str],
) -> Result<TakenBack, GitError> {
    back_with(fixture, (from, to), files, &BTreeMap::new(), untouched)
}

fn back_with(
    fixture: &Fixture,
    (from, to): (&Oid, &Oid),
    files: &Files,
    submodules: &BTreeMap<RepoPath, Oid>,
    untouched: &[&str],
) -> Result<TakenBack, GitError> {
    fixture.repository.take_back(
        &WayBack {
            branch: "topic",
            from,
            to,
            files,
            submodules,
            untouched: &paths(untouched),
            kept_as: KEPT_AS,
        },
        &|_| {},
    )
}

fn held(fixture: &Fixture, path: &str) -> Option<String> {
    fs::read_to_string(fixture.at(path)).ok()
}

/// Two commits upon the first; what is in none of them, known to git and not, and ignored.
fn two_commits() -> (Fixture, Oid, Oid) {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n");
    fixture.write("src/a", "one\n");
    let to = fixture.commit_all("one");
    fixture.write("src/a", "two\n");
    fixture.write("src/deep/er/b", "new\n");
    fs::remove_file(fixture.at("README.md")).unwrap();
    let from = fixture.commit_all("two");
    fixture.write("src/a", "three\n");
    fixture.write("notes", "mine\n");
    fixture.write("src/deep/x.log", "kept\n");
    (fixture, from, to)
}

#[test]
fn all_goes_back_and_all_is_kept() {
    let (fixture, from, to) = two_commits();
    let taken = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!(fixture.head(), to);
    assert_eq!(fixture.short_status(), "");
    assert_eq!(held(&fixture, "src/a").unwrap(), "one\n");
    assert_eq!(held(&fixture, "README.md").unwrap(), "hello\n");
    assert_eq!(held(&fixture, "notes"), None);
    // A folder that held nothing else is gone, and one with what git ignores is not.
    assert!(!fixture.at("src/deep/er").exists());
    assert_eq!(held(&fixture, "src/deep/x.log").unwrap(), "kept\n");
    assert_eq!(
        taken.files,
        paths(&["README.md", "notes", "src/a", "src/deep/er/b"])
    );

    let kept = |path: &str| fixture.git(&["show", &format!("{KEPT_AS}:{path}")]);
    assert_eq!(kept("src/a"), "three\n");
    assert_eq!(kept("notes"), "mine\n");
    assert_eq!(
        fixture.git(&["rev-parse", &format!("{KEPT_AS}^")]).trim(),
        from.as_str()
    );
    assert_eq!(
        taken.kept.as_str(),
        fixture.git(&["rev-parse", KEPT_AS]).trim()
    );
}

#[test]
fn where_all_is_committed_the_branch_is_kept_as_it_was() {
    let fixture = Fixture::new();
    let to = fixture.head();
    fixture.write("a", "a\n");
    let from = fixture.commit_all("a");
    let taken = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!((taken.kept, fixture.head()), (from.clone(), to.clone()));
    // To be done again does no harm, as after a kill.
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!(fixture.git(&["rev-parse", KEPT_AS]).trim(), from.as_str());
    assert!(!fixture.try_git(&["rev-parse", "--verify", &format!("{KEPT_AS}.2")]));
}

#[test]
fn files_that_no_commit_had_come_back() {
    let (fixture, from, to) = two_commits();
    let file = |text: &str, is_executable| {
        Some(FormerFile {
            bytes: text.into(),
            is_executable,
        })
    };
    let files = Files::from([
        (path("tests/t.sh"), file("exit 1\n", true)),
        (path("src/a"), file("half\n", false)),
        (path("README.md"), None),
    ]);
    back(&fixture, (&from, &to), &files, &[]).unwrap();
    assert_eq!(held(&fixture, "src/a").unwrap(), "half\n");
    assert_eq!(held(&fixture, "README.md"), None);
    assert_eq!(held(&fixture, "tests/t.sh").unwrap(), "exit 1\n");
    let mode = fs::metadata(fixture.at("tests/t.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(
        fixture.short_status(),
        " D README.md\n M src/a\n?? tests/t.sh\n"
    );
}

#[test]
fn what_is_somebodys_own_stays() {
    let (fixture, from, to) = two_commits();
    back(&fixture, (&from, &to), &Files::new(), &["notes", "src/a"]).unwrap();
    assert_eq!(held(&fixture, "notes").unwrap(), "mine\n");
    assert_eq!(held(&fixture, "src/a").unwrap(), "three\n");
    assert_eq!(fixture.short_status(), " M src/a\n?? notes\n");
}

#[test]
fn what_is_changed_after_a_kill_is_kept_beside_it() {
    let (fixture, from, to) = two_commits();
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    let first = fixture.git(&["rev-parse", KEPT_AS]);
    fixture.write("src/a", "meanwhile\n");
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!(held(&fixture, "src/a").unwrap(), "one\n");
    assert_eq!(fixture.git(&["rev-parse", KEPT_AS]), first);
    let beside = fixture.git(&["show", &format!("{KEPT_AS}.2:src/a")]);
    assert_eq!(beside, "meanwhile\n");
}

#[test]
fn links_and_folders_give_way_and_nothing_is_written_through_them() {
    let fixture = Fixture::new();
    fixture.write("a/b", "file\n");
    symlink("README.md", fixture.at("link")).unwrap();
    let to = fixture.commit_all("one");
    fs::remove_dir_all(fixture.at("a")).unwrap();
    fixture.write("a", "now a file\n");
    fs::remove_file(fixture.at("link")).unwrap();
    fixture.write("link/x", "now a folder\n");
    let from = fixture.commit_all("two");
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!(fixture.short_status(), "");
    assert_eq!(held(&fixture, "a/b").unwrap(), "file\n");
    assert!(fixture.at("link").is_symlink());

    // A folder that is a link by now leads elsewhere, and what is there is nobody's to take away.
    fs::create_dir(fixture.outside().join("elsewhere")).unwrap();
    fs::write(fixture.outside().join("elsewhere/b"), "theirs\n").unwrap();
    fs::remove_dir_all(fixture.at("a")).unwrap();
    symlink(fixture.outside().join("elsewhere"), fixture.at("a")).unwrap();
    let base: Oid = fixture
        .git(&["rev-parse", "HEAD~1"])
        .trim()
        .parse()
        .unwrap();
    let kept_as = "refs/tramline/rewound/run/2";
    let way = WayBack {
        branch: "topic",
        from: &to,
        to: &base,
        submodules: &BTreeMap::new(),
        files: &Files::new(),
        untouched: &[],
        kept_as,
    };
    fixture.repository.take_back(&way, &|_| {}).unwrap();
    assert_eq!(fixture.short_status(), "");
    let theirs = fs::read_to_string(fixture.outside().join("elsewhere/b")).unwrap();
    assert_eq!(theirs, "theirs\n");
}

#[test]
fn from_anywhere_else_nothing_is_moved() {
    let (fixture, from, to) = two_commits();
    let before = fixture.short_status();
    let error = back(&fixture, (&to, &to), &Files::new(), &[]).unwrap_err();
    assert!(error.to_string().contains("HEAD is no longer"), "{error}");
    fixture.git(&["switch", "--quiet", "--create", "other"]);
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap_err();
    assert_eq!((fixture.head(), fixture.short_status()), (from, before));
    assert!(!fixture.try_git(&["rev-parse", "--verify", KEPT_AS]));
}

#[test]
fn whoever_has_told_git_no_name_can_go_back() {
    let (fixture, from, to) = two_commits();
    fs::write(fixture.settings(), "").unwrap();
    back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    let author = fixture.git(&["log", "-1", "--format=%an", KEPT_AS]);
    assert_eq!(author, "tm\n");
}

#[test]
fn what_cannot_be_written_is_named_and_written_the_next_time() {
    let (fixture, from, to) = two_commits();
    fixture.git(&["config", "filter.odd.clean", "cat"]);
    fixture.git(&["config", "filter.odd.smudge", "false"]);
    fixture.git(&["config", "filter.odd.required", "true"]);
    fixture.write(".git/info/attributes", "src/a filter=odd\n");
    let error = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap_err();
    assert!(error.to_string().contains("src/a"), "{error}");
    // One that does not come back to what it was given is no reason to stop.
    fixture.git(&["config", "filter.odd.smudge", "sed s/one/once/"]);
    let taken = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert!(taken.files.contains(&path("src/a")));
    assert_eq!(held(&fixture, "src/a").unwrap(), "once\n");
    let kept = fixture.git(&["show", &format!("{KEPT_AS}:src/a")]);
    assert_eq!(kept, "three\n");
}

#[test]
fn a_submodule_goes_back_where_nothing_of_its_own_is_lost() {
    let fixture = Fixture::new();
    let inside = |folder: &str, arguments: &[&str]| {
        super::fixture::run(&fixture.at(folder), &fixture.environment(), arguments)
    };
    let at = |folder: &str| inside(folder, &["rev-parse", "HEAD"]).trim().to_owned();
    for name in ["source", "other"] {
        let folder = fixture.outside().join(name);
        let folder = folder.to_str().unwrap();
        fixture.git(&["clone", "--quiet", ".", folder]);
        fixture.git(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            folder,
        ]);
    }
    let to = fixture.commit_all("modules");
    let commits = ["source", "other"].map(|folder| {
        let first = at(folder);
        fixture.write(&format!("{folder}/README.md"), "next\n");
        inside(folder, &["commit", "--quiet", "--all", "-m", "next"]);
        (first, at(folder))
    });
    let [(first, second), (old, new)] = commits;
    let from = fixture.commit_all("moved");

    // What no commit in it holds is not risked.
    fs::write(fixture.at("other/README.md"), "mine").unwrap();
    let taken = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!((at("source"), at("other")), (first.clone(), new));
    assert_eq!(taken.submodules, paths(&["other"]));
    assert_eq!(inside("source", &["rev-parse", KEPT_AS]).trim(), second);
    inside("other", &["checkout", "--quiet", "--force", &old]);
    assert_eq!(fixture.short_status(), "");

    // Where it was moved and not committed yet, it comes back so.
    fixture.git(&["update-ref", "-d", KEPT_AS]);
    let moved = BTreeMap::from([(path("source"), second.parse().unwrap())]);
    let taken = back_with(&fixture, (&to, &to), &Files::new(), &moved, &[]).unwrap();
    assert_eq!(at("source"), second);
    assert!(taken.submodules.is_empty());
    assert_eq!(fixture.short_status(), " M source\n");
    back(&fixture, (&to, &to), &Files::new(), &["source"]).unwrap();
    assert_eq!(at("source"), second);

    // One that was removed since is named.
    fixture.git(&["rm", "--quiet", "--force", "other"]);
    let from = fixture.commit_all("removed");
    fixture.git(&["update-ref", "-d", KEPT_AS]);
    let taken = back(&fixture, (&from, &to), &Files::new(), &[]).unwrap();
    assert_eq!(taken.submodules, paths(&["other"]));
    assert_eq!(at("source"), first);
    fixture.git(&["submodule", "--quiet", "update", "--init"]);
    assert_eq!(fixture.short_status(), "");
}
