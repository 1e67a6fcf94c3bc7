//! The fingerprint: what was tested is what is committed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use workspace::git::{FingerprintRequest, Oid, RepoPath};

use super::fixture::{Fixture, path, paths};
use super::statuses::HOSTILE;

/// Every file of a folder with its bytes.
fn picture(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The files that are not as they were.
fn disturbed(folder: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let now = picture(folder);
    now.keys()
        .chain(before.keys())
        .filter(|path| now.get(*path) != before.get(*path))
        .cloned()
        .collect()
}

pub(super) fn fingerprint(fixture: &Fixture, exclude: &[RepoPath]) -> Oid {
    let request = FingerprintRequest {
        exclude,
        ..FingerprintRequest::default()
    };
    fixture
        .repository
        .fingerprint(&fixture.repository.status().unwrap(), &request)
        .unwrap()
        .tree
}

/// Takes the fingerprint, then commits all that is changed: both must be the same tree, and the first must have
/// left no trace.
fn check(fixture: &Fixture) {
    let before = picture(fixture.repository.git_dir());
    let tree = fingerprint(fixture, &[]);
    assert_eq!(
        disturbed(fixture.repository.git_dir(), &before),
        Vec::<PathBuf>::new()
    );
    let changed = fixture.all_changed();
    let made = fixture.commit_paths(&changed).unwrap();
    assert_eq!(made.commit.tree, tree);
    assert_eq!(fixture.short_status(), "");
}

#[test]
fn nothing_changed() {
    let fixture = Fixture::new();
    assert_eq!(
        Some(fingerprint(&fixture, &[])),
        fixture.repository.resolve_tree("HEAD").unwrap()
    );
}

#[test]
fn changes_of_every_kind() {
    let fixture = Fixture::new();
    for name in [
        "modified",
        "deleted",
        "renamed",
        "staged",
        "both",
        "removed",
        "executable",
        "linked",
        "folder/x",
    ] {
        fixture.write(name, &format!("{name}\n1\n2\n3\n"));
    }
    fixture.commit_all("base");
    fixture.write("modified", "new\n");
    fs::remove_file(fixture.at("deleted")).unwrap();
    fixture.git(&["mv", "renamed", "moved"]);
    fixture.write("staged", "staged\n");
    fixture.write("both", "staged\n");
    fixture.git(&["add", "staged", "both"]);
    fixture.write("both", "and more\n");
    fixture.git(&["rm", "--quiet", "removed"]);
    fs::set_permissions(fixture.at("executable"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(fixture.at("linked")).unwrap();
    symlink("modified", fixture.at("linked")).unwrap();
    fs::remove_dir_all(fixture.at("folder")).unwrap();
    fixture.write("folder", "now a file\n");
    fixture.write("new/file", "new\n");
    fixture.write("empty", "");
    check(&fixture);
}

#[test]
fn a_file_becomes_a_folder() {
    let fixture = Fixture::new();
    fixture.write("thing", "file\n");
    fixture.commit_all("base");
    fs::remove_file(fixture.at("thing")).unwrap();
    fixture.write("thing/a", "a\n");
    fixture.write("thing/b", "b\n");
    check(&fixture);
}

#[test]
fn folders_within_folders() {
    let fixture = Fixture::new();
    for name in ["a", "a.b/x", "a-", "a0/y", "b/c/d/e", "b/c.d", "b/c0"] {
        fixture.write(name, "text\n");
    }
    fixture.write(&format!("{}end", "d/".repeat(600)), "text\n");
    check(&fixture);
}

#[test]
fn a_folder_becomes_a_link() {
    let fixture = Fixture::new();
    fixture.write("folder/a", "a\n");
    fixture.commit_all("base");
    fs::rename(fixture.at("folder"), fixture.at("moved")).unwrap();
    symlink("moved", fixture.at("folder")).unwrap();
    check(&fixture);
}

#[test]
fn hostile_names() {
    let fixture = Fixture::new();
    for name in HOSTILE {
        fixture.write_bytes(name, b"x\n");
    }
    if cfg!(target_os = "linux") {
        fixture.write_bytes(b"latin-\xe9", b"x\n");
    }
    check(&fixture);
    for name in HOSTILE {
        fs::remove_file(
            fixture
                .root()
                .join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name)),
        )
        .unwrap();
    }
    check(&fixture);
}

#[test]
fn line_endings() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt text\n");
    fixture.commit_all("attributes");
    fixture.git(&["config", "core.autocrlf", "true"]);
    fixture.write("a.txt", "one\r\ntwo\r\n");
    fixture.write("mixed.txt", "one\r\ntwo\n");
    check(&fixture);
}

#[test]
fn unsafe_line_endings_are_a_matter_of_the_commit() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    fixture.commit_all("attributes");
    fixture.git(&["config", "core.safecrlf", "true"]);
    fixture.write("a.txt", "one\ntwo\r\n");
    fingerprint(&fixture, &[]);
    let error = fixture.commit(&["a.txt"]).unwrap_err();
    assert_eq!(error.code(), "commit_refused");
    assert!(error.to_string().contains("a.txt"), "{error}");
    assert_eq!(fixture.short_status(), "?? a.txt\n");
}

#[test]
fn clean_filters() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.up filter=up\n");
    fixture.commit_all("attributes");
    fixture.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    fixture.write("a.up", "shout\n");
    check(&fixture);
    assert_eq!(fixture.git(&["show", "HEAD:a.up"]), "SHOUT\n");
}

#[test]
fn sha256_repository() {
    let fixture = Fixture::unborn(&["--object-format=sha256"]);
    fixture.write("a", "a\n");
    fixture.commit_all("base");
    assert_eq!(fixture.head().as_str().len(), 64);
    fixture.write("a", "b\n");
    fixture.write("b", "b\n");
    check(&fixture);
}

#[test]
fn split_index_and_hooks_of_the_index() {
    let fixture = Fixture::new();
    fixture.git(&["config", "core.splitIndex", "true"]);
    fixture.write("a", "a\n");
    fixture.commit_all("base");
    fixture.hook(
        "post-index-change",
        "touch \"$(git rev-parse --git-dir)/pwned\"",
    );
    fixture.write("a", "b\n");
    let before = picture(fixture.repository.git_dir());
    fingerprint(&fixture, &[]);
    assert_eq!(
        disturbed(fixture.repository.git_dir(), &before),
        Vec::<PathBuf>::new()
    );
}

#[test]
fn a_colon_and_quotes_in_the_path_of_the_repository() {
    let fixture = Fixture::new();
    let odd = fixture.outside().join("a:b \"c\\d\nünï");
    fs::create_dir(&odd).unwrap();
    super::fixture::run(
        &odd,
        &fixture.environment(),
        &["clone", "--quiet", "../tree", "."],
    );
    let repository =
        workspace::git::Repository::discover_with_env(&odd, fixture.environment()).unwrap();
    fs::write(odd.join("new"), "x\n").unwrap();
    let tree = repository
        .fingerprint(
            &repository.status().unwrap(),
            &FingerprintRequest::default(),
        )
        .unwrap()
        .tree;
    assert_ne!(Some(tree), repository.resolve_tree("HEAD").unwrap());
}

#[test]
fn before_the_first_commit() {
    let fixture = Fixture::unborn(&[]);
    let empty = fingerprint(&fixture, &[]);
    fixture.write("a", "a\n");
    assert_ne!(fingerprint(&fixture, &[]), empty);
    fixture.git(&["add", "a"]);
    let tree = fingerprint(&fixture, &[]);
    fixture.git(&["commit", "--quiet", "--message", "first"]);
    assert_eq!(Some(tree), fixture.repository.resolve_tree("HEAD").unwrap());
}

#[test]
fn what_is_left_out_does_not_leak_in() {
    let fixture = Fixture::new();
    fixture.write("tasks/tasks.json", "{}\n");
    fixture.write("dirty", "1\n");
    fixture.write("code", "1\n");
    fixture.commit_all("base");
    fixture.write("code", "2\n");
    let exclude = paths(&["tasks", "dirty", "fresh"]);
    let tree = fingerprint(&fixture, &exclude);
    fixture.write("tasks/tasks.json", "{\"a\":1}\n");
    fixture.write("tasks/new", "new\n");
    fixture.write("dirty", "staged\n");
    fixture.write("fresh", "staged\n");
    fixture.git(&["add", "dirty", "fresh"]);
    fixture.write("dirty", "and more\n");
    assert_eq!(fingerprint(&fixture, &exclude), tree);
    let only = paths(&["code"]);
    let request = FingerprintRequest {
        only: Some(&only),
        ..FingerprintRequest::default()
    };
    assert_eq!(
        fixture
            .repository
            .fingerprint(&fixture.repository.status().unwrap(), &request)
            .unwrap()
            .tree,
        tree
    );

    let base = fixture.head();
    let made = fixture
        .commit(&["code", "tasks/tasks.json", "tasks/new"])
        .unwrap();
    assert_ne!(made.commit.tree, tree);
    let without = fixture
        .repository
        .tree_of_commit_without(&made.oid, &base, &exclude)
        .unwrap();
    assert_eq!(without.tree, tree);
    let nothing = fixture
        .repository
        .tree_of_commit_without(&made.oid, &base, &paths(&["elsewhere"]))
        .unwrap();
    assert_eq!(nothing.tree, made.commit.tree);
    assert_eq!(fixture.short_status(), "MM dirty\nA  fresh\n");
}

#[test]
fn a_moved_submodule_is_part_of_the_tree() {
    let fixture = Fixture::new();
    let inner = Fixture::new();
    let source = inner.root().to_str().unwrap().to_owned();
    fixture.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &source,
        "module",
    ]);
    fixture.commit_all("module");
    let (tree, module) = (fingerprint(&fixture, &[]), [path("module")]);
    let content = || fixture.repository.hash_files(&module).unwrap();
    let before = content();
    fixture.write("module/README.md", "dirty\n");
    let changes = fixture.repository.status().unwrap().changes;
    assert!(changes.len() == 1 && changes[0].submodule && changes[0].dirty_inside);
    assert_eq!(fingerprint(&fixture, &[]), tree);
    let dirty = content();
    assert_ne!(dirty, before);
    super::fixture::run(
        &fixture.at("module"),
        &fixture.environment(),
        &["commit", "--quiet", "--all", "--message", "inside"],
    );
    let changes = fixture.repository.status().unwrap().changes;
    assert!(changes.len() == 1 && changes[0].submodule && !changes[0].dirty_inside);
    assert!(content() != dirty && content() != before);
    let moved = fingerprint(&fixture, &[]);
    assert_ne!(moved, tree);
    assert_eq!(fixture.commit(&["module"]).unwrap().commit.tree, moved);
}
