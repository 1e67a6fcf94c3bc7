//! The fingerprint: what was tested is what is committed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use testkit::files::contents;
use workspace::git::{FingerprintRequest, Oid, RepoPath};

use super::fixture::{Fixture, path, paths};
use super::statuses::HOSTILE;

fn with(fixture: &Fixture, request: &FingerprintRequest<'_>) -> Oid {
    let status = fixture.status().unwrap();
    fixture.fingerprint(&status, request).unwrap().tree
}

pub(super) fn fingerprint(fixture: &Fixture, exclude: &[RepoPath]) -> Oid {
    let request = FingerprintRequest {
        exclude,
        ..FingerprintRequest::default()
    };
    with(fixture, &request)
}

/// Takes the fingerprint, which must leave no trace.
fn traceless(fixture: &Fixture) -> Oid {
    let before = contents(fixture.git_dir());
    let tree = fingerprint(fixture, &[]);
    let now = contents(fixture.git_dir());
    let all = now.keys().chain(before.keys());
    let disturbed: Vec<&String> = all.filter(|at| now.get(*at) != before.get(*at)).collect();
    assert_eq!(disturbed, [""; 0]);
    tree
}

/// Takes the fingerprint, then commits all that is changed: both must be the same tree.
fn check(fixture: &Fixture) {
    let tree = traceless(fixture);
    let made = fixture.commit_paths(&fixture.all_changed()).unwrap();
    assert_eq!(made.commit.tree, tree);
    assert_eq!(fixture.short_status(), "");
}

#[test]
fn changes_of_every_kind() {
    let fixture = Fixture::new();
    let names =
        "modified deleted renamed staged both removed executable linked folder/x thing moving/a";
    for name in names.split(' ') {
        fixture.write(name, &format!("{name}\n1\n2\n3\n"));
    }
    fixture.commit_all("base");
    fixture.write("modified", "new\n");
    fixture.remove("deleted");
    fixture.git(&["mv", "renamed", "moved"]);
    fixture.write("staged", "staged\n");
    fixture.write("both", "staged\n");
    fixture.git(&["add", "staged", "both"]);
    fixture.write("both", "and more\n");
    fixture.git(&["rm", "--quiet", "removed"]);
    fixture.make_executable("executable");
    fixture.remove("linked");
    fixture.link("modified", "linked");
    fs::remove_dir_all(fixture.at("folder")).unwrap();
    fixture.write("folder", "now a file\n");
    fixture.remove("thing");
    fixture.write("thing/a", "now a folder\n");
    fixture.write("thing/b", "b\n");
    fs::rename(fixture.at("moving"), fixture.at("elsewhere")).unwrap();
    fixture.link("elsewhere", "moving");
    fixture.write("new/file", "new\n");
    fixture.write("empty", "");
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
fn hostile_names() {
    let fixture = Fixture::new();
    let latin: &[&[u8]] = if cfg!(target_os = "linux") {
        &[b"latin-\xe9"]
    } else {
        &[]
    };
    let names = HOSTILE.iter().chain(latin);
    let names = names.map(|name| RepoPath::from_bytes(*name).unwrap());
    let names: BTreeSet<RepoPath> = names.collect();
    let is_tracked = |expected| {
        for path in &names {
            let is = (
                fixture.is_tracked(path).unwrap(),
                fixture.is_ignored(path).unwrap(),
            );
            assert_eq!(is, (expected, false), "{path}");
        }
    };
    let write = |content: &[u8]| {
        for path in &names {
            fixture.write_bytes(path.as_bytes(), content);
        }
    };
    write(b"x\n");
    assert_eq!(BTreeSet::from_iter(fixture.all_changed()), names);
    is_tracked(false);
    check(&fixture);
    is_tracked(true);
    write(b"x\ny\n");
    let all = Vec::from_iter(names.clone());
    let stat = fixture.diff_stat(&fixture.head(), &all, &fixture.status().unwrap());
    assert_eq!(stat.unwrap().to_string(), format!("+{},-0", all.len()));
    for path in &names {
        fs::remove_file(fixture.root().join(OsStr::from_bytes(path.as_bytes()))).unwrap();
    }
    check(&fixture);
}

#[test]
fn line_endings_and_clean_filters() {
    let fixture = Fixture::unborn(&["--object-format=sha256"]);
    fixture.write(
        ".gitattributes",
        "*.txt text\n*.up filter=up\n*.crlf text eol=crlf\n",
    );
    assert_eq!(fixture.commit_all("attributes").as_str().len(), 64);
    fixture.config(&[("core.autocrlf", "true"), ("filter.up.clean", "tr a-z A-Z")]);
    fixture.write("a.txt", "one\r\ntwo\r\n");
    fixture.write("mixed.txt", "one\r\ntwo\n");
    fixture.write("a.up", "shout\n");
    check(&fixture);
    assert_eq!(fixture.git(&["show", "HEAD:a.up"]), "SHOUT\n");
    // Unsafe ones are a matter of the commit.
    fixture.config(&[("core.safecrlf", "true")]);
    fixture.write("a.crlf", "one\ntwo\r\n");
    fingerprint(&fixture, &[]);
    assert_eq!(fixture.refused(&["a.crlf"]), "commit_refused");
    assert_eq!(fixture.short_status(), "?? a.crlf\n");
}

#[test]
fn split_index_and_hooks_of_the_index() {
    let fixture = Fixture::new();
    fixture.config(&[("core.splitIndex", "true")]);
    fixture.write("a", "a\n");
    fixture.commit_all("base");
    let hook = "touch \"$(git rev-parse --git-dir)/pwned\"";
    fixture.hook("post-index-change", hook);
    fixture.write("a", "b\n");
    traceless(&fixture);
}

#[test]
fn a_colon_and_quotes_in_the_path_of_the_repository() {
    let fixture = Fixture::new();
    let odd = fixture.outside().join("a:b \"c\\d\nünï");
    fixture.git(&["clone", "--quiet", ".", odd.to_str().unwrap()]);
    let repository = fixture.discover(&odd).unwrap();
    let fixture = fixture.with(repository);
    let head = fixture.resolve_tree("HEAD").unwrap();
    assert_eq!(Some(fingerprint(&fixture, &[])), head);
    fixture.write("new", "x\n");
    assert_ne!(Some(fingerprint(&fixture, &[])), head);
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
    assert_eq!(Some(tree), fixture.resolve_tree("HEAD").unwrap());
}

#[test]
fn what_is_left_out_does_not_leak_in() {
    let fixture = Fixture::new();
    for name in ["tasks/tasks.json", "dirty", "code"] {
        fixture.write(name, "1\n");
    }
    fixture.commit_all("base");
    fixture.write("code", "2\n");
    let exclude = paths(&["tasks", "dirty", "fresh"]);
    let tree = fingerprint(&fixture, &exclude);
    for name in ["tasks/tasks.json", "tasks/new", "dirty", "fresh"] {
        fixture.write(name, "staged\n");
    }
    fixture.git(&["add", "dirty", "fresh"]);
    fixture.write("dirty", "and more\n");
    assert_eq!(fingerprint(&fixture, &exclude), tree);
    let only = FingerprintRequest {
        only: Some(&paths(&["code"])),
        ..FingerprintRequest::default()
    };
    assert_eq!(with(&fixture, &only), tree);

    let base = fixture.head();
    let made = fixture.commit(&["code", "tasks/tasks.json", "tasks/new"]);
    let made = made.unwrap();
    assert_ne!(made.commit.tree, tree);
    for (names, expected) in [(exclude, &tree), (paths(&["x"]), &made.commit.tree)] {
        let without = fixture.tree_of_commit_without(&made.oid, &base, &names);
        assert_eq!(without.unwrap().tree, *expected);
    }
    assert_eq!(fixture.short_status(), "MM dirty\nA  fresh\n");
}

#[test]
fn a_moved_submodule_is_part_of_the_tree() {
    let (fixture, inner) = (Fixture::new(), Fixture::new());
    fixture.add_submodule(inner.root().to_str().unwrap(), "module");
    fixture.commit_all("module");
    // Its tree and content, and whether something is changed in it.
    let look = || {
        let changes = fixture.changes();
        assert!(changes.iter().all(|change| change.submodule));
        let content = fixture.hash_files(&[path("module")]).unwrap();
        let dirty: Vec<bool> = changes.iter().map(|change| change.dirty_inside).collect();
        (fingerprint(&fixture, &[]), content, dirty)
    };
    let before = look();
    fixture.write("module/README.md", "dirty\n");
    let dirty = look();
    assert_eq!((&dirty.0, &*dirty.2), (&before.0, &[true][..]));
    fixture.inside(
        "module",
        &["commit", "--quiet", "--all", "--message", "inside"],
    );
    let moved = look();
    assert_eq!(moved.2, [false]);
    assert_ne!(moved.0, before.0);
    assert!(dirty.1 != before.1 && moved.1 != dirty.1 && moved.1 != before.1);
    assert_eq!(fixture.commit(&["module"]).unwrap().commit.tree, moved.0);
}
