//! The working tree as git tells it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use workspace::git::{Change, LineStat, RepoPath, StatusCode};

use super::fixture::{Fixture, path, paths};

/// Names that are mistaken for something else where care is lacking.
pub const HOSTILE: &[&[u8]] = &[
    b"two\nlines",
    b"tab\tand \"quotes\" 'single'",
    b"-n",
    b"--all",
    b":(glob)**",
    b":!x",
    b"*",
    b"[a]",
    b"back\\slash",
    b" leading and trailing ",
    "ünïcode/日本".as_bytes(),
    b"$(touch pwned)",
    b"-dir/--file",
    b"#comment",
];

fn only(fixture: &Fixture) -> Change {
    let mut changes = fixture.repository.status().unwrap().changes;
    assert_eq!(changes.len(), 1, "{changes:?}");
    changes.remove(0)
}

#[test]
fn kinds_of_change() {
    let fixture = Fixture::new();
    fixture.write("a", "one\ntwo\nthree\nfour\n");
    fixture.commit_all("a");
    assert!(fixture.repository.status().unwrap().changes.is_empty());

    fixture.write("a", "changed\n");
    let change = only(&fixture);
    assert_eq!(
        (change.staged, change.unstaged, change.untracked),
        (StatusCode::Unmodified, StatusCode::Modified, false)
    );
    fixture.git(&["add", "a"]);
    let change = only(&fixture);
    assert_eq!(
        (change.staged, change.unstaged),
        (StatusCode::Modified, StatusCode::Unmodified)
    );
    fixture.git(&["reset", "--quiet", "--hard"]);

    fs::remove_file(fixture.at("a")).unwrap();
    assert!(only(&fixture).deleted);
    fixture.git(&["reset", "--quiet", "--hard"]);

    fixture.git(&["mv", "a", "b"]);
    let change = only(&fixture);
    assert_eq!(
        (change.staged, change.original.clone()),
        (StatusCode::Renamed, Some(path("a")))
    );
    assert_eq!(
        change.paths().cloned().collect::<Vec<_>>(),
        paths(&["b", "a"])
    );
    fixture.git(&["reset", "--quiet", "--hard"]);

    fs::remove_file(fixture.at("a")).unwrap();
    symlink("README.md", fixture.at("a")).unwrap();
    assert_eq!(only(&fixture).unstaged, StatusCode::TypeChanged);
    fixture.git(&["reset", "--quiet", "--hard"]);

    fixture.write("new", "x");
    assert!(only(&fixture).untracked);
    fixture.git(&["add", "--intent-to-add", "new"]);
    let change = only(&fixture);
    assert!(change.intent_to_add && !change.untracked);
    fixture.git(&["reset", "--quiet", "--hard"]);

    fixture.git(&["rm", "--quiet", "--cached", "a"]);
    let change = only(&fixture);
    assert_eq!(
        (change.staged, change.deleted, change.untracked),
        (StatusCode::Deleted, false, false)
    );
}

#[test]
fn hostile_names() {
    let fixture = Fixture::new();
    let mut expected: Vec<RepoPath> = HOSTILE
        .iter()
        .map(|name| RepoPath::from_bytes(*name).unwrap())
        .collect();
    if cfg!(target_os = "linux") {
        expected.push(RepoPath::from_bytes(b"latin-\xe9".to_vec()).unwrap());
    }
    for path in &expected {
        fixture.write_bytes(path.as_bytes(), b"x\n");
    }
    let mut found = fixture.all_changed();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    for path in &expected {
        assert!(!fixture.repository.is_tracked(path).unwrap(), "{path}");
        assert!(!fixture.repository.is_ignored(path).unwrap(), "{path}");
    }
    fixture.git(&["add", "--all"]);
    for path in &expected {
        assert!(fixture.repository.is_tracked(path).unwrap(), "{path}");
    }
    fixture.commit_all("hostile");
    for path in &expected {
        fixture.write_bytes(path.as_bytes(), b"x\ny\n");
    }
    let stat = fixture
        .repository
        .diff_stat(
            &fixture.head(),
            &expected,
            &fixture.repository.status().unwrap(),
        )
        .unwrap();
    assert_eq!(
        stat,
        LineStat {
            added: expected.len() as u64,
            removed: 0
        }
    );
}

#[test]
fn scope() {
    let fixture = Fixture::new();
    fixture.write("sub/a", "1\n2\n3\n");
    fixture.write("top", "9\n8\n7\n");
    fixture.write("subway/x", "x\n");
    fixture.commit_all("base");
    let scoped = fixture.repository.clone().with_scope(&fixture.at("sub"));
    assert_eq!(scoped.scope(), "sub/");
    assert_eq!(
        fixture
            .repository
            .clone()
            .with_scope(fixture.root())
            .scope(),
        ""
    );
    for name in ["sub/a", "top", "subway/x", "sub/new", "new"] {
        fixture.write(name, "changed\n");
    }
    let names: Vec<String> = scoped
        .status()
        .unwrap()
        .changes
        .iter()
        .map(|change| change.path.to_string())
        .collect();
    assert_eq!(names, ["sub/a", "subway/x", "top", "new", "sub/new"]);
    assert!(scoped.in_scope(&path("sub/a")) && !scoped.in_scope(&path("subway/x")));
    assert_eq!(scoped.relative(&fixture.at("sub/a")), Some(path("sub/a")));
    assert_eq!(scoped.relative(fixture.root()), None);
    assert_eq!(scoped.relative(&fixture.at("../elsewhere")), None);
}

#[test]
fn ignored_files_and_nested_repositories() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\nbuild/\n");
    fixture.commit_all("ignore");
    fixture.write("a.log", "x");
    fixture.write("build/x", "x");
    let status = fixture.repository.status().unwrap();
    assert!(status.changes.is_empty());
    assert_eq!(
        status.ignored,
        [path("a.log")],
        "folders stand for themselves"
    );
    assert!(fixture.repository.is_ignored(&path("a.log")).unwrap());
    assert!(fixture.repository.is_ignored(&path("build/x")).unwrap());
    assert!(!fixture.repository.is_ignored(&path("README.md")).unwrap());
    fixture.git(&["init", "--quiet", "nested"]);
    fixture.write("nested/file", "x");
    let change = only(&fixture);
    assert!(change.submodule && change.untracked);
    assert_eq!(change.path, path("nested"));
}

#[test]
fn a_nested_repository_that_gitmodules_names_is_a_submodule() {
    let fixture = Fixture::new();
    fixture.git(&["init", "--quiet", "more"]);
    fixture.write("more/file", "x");
    let find = || {
        let changes = fixture.repository.status().unwrap().changes;
        let found = changes.into_iter().find(|it| it.path == path("more"));
        let tree = super::fingerprints::fingerprint(&fixture, &[]);
        (found.unwrap(), tree)
    };
    assert!(find().0.nested);
    fixture.write(
        ".gitmodules",
        "[submodule \"x\"]\n\tpath = more\n\turl = ../x\n",
    );
    let (without, bare) = find();
    assert!(without.nested, "no commit of it can be recorded yet");
    let inside = |arguments: &[&str]| {
        super::fixture::run(&fixture.at("more"), &fixture.environment(), arguments);
    };
    inside(&["add", "--all"]);
    inside(&["commit", "--quiet", "--message", "inside"]);
    let (clean, tree) = find();
    assert!(clean.untracked && clean.submodule && !clean.nested && !clean.dirty_inside);
    assert_ne!(tree, bare);
    fixture.write("more/file", "y");
    assert!(find().0.dirty_inside);
    inside(&["checkout", "--quiet", "--", "."]);
    let made = fixture.commit(&[".gitmodules", "more"]).unwrap();
    assert_eq!(made.commit.tree, tree);
    assert!(fixture.repository.status().unwrap().changes.is_empty());

    // The folder that a renamed one had, once it was put back, leads to the other place, where git does not go.
    let git = fixture.at("more/.git");
    inside(&[
        "config",
        "core.worktree",
        fixture.at("more").to_str().unwrap(),
    ]);
    fixture.write("left/.git", &format!("gitdir: {}\n", git.display()));
    assert!(fixture.repository.repository_at(&path("left")).is_err());
    assert_eq!(
        fixture.repository.submodule_head(&path("left")).unwrap(),
        None
    );
    assert_eq!(
        fixture
            .repository
            .hash_files(&[path("left")])
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn settings_of_the_user_do_not_change_the_answer() {
    let fixture = Fixture::new();
    for (name, value) in [
        ("status.showUntrackedFiles", "no"),
        ("status.renames", "false"),
        ("status.relativePaths", "true"),
        ("status.short", "true"),
        ("core.fsmonitor", "touch pwned; false"),
        ("diff.external", "touch pwned"),
        ("color.ui", "always"),
        ("diff.noprefix", "true"),
        ("core.quotePath", "true"),
        ("log.showSignature", "true"),
        ("core.pager", "touch pwned"),
        ("status.showStash", "true"),
        ("diff.orderFile", "/nowhere"),
        ("log.date", "relative"),
        ("format.pretty", "oneline"),
    ] {
        fixture.git(&["config", name, value]);
    }
    fixture.write("README.md", "stash\n");
    fixture.git(&["stash", "--quiet"]);
    fixture.write("é", "x\n");
    fixture.git(&["mv", "README.md", "other"]);
    // What the user's own commands did just now with these settings.
    let _ = fs::remove_file(fixture.at("pwned"));
    let status = fixture.repository.status().unwrap();
    assert_eq!(status.changes.len(), 2);
    assert!(
        status
            .changes
            .iter()
            .any(|change| change.staged == StatusCode::Renamed)
    );
    let head = fixture.head();
    assert_eq!(
        fixture
            .repository
            .diff_stat(
                &head,
                &paths(&["other", "README.md", "é"]),
                &fixture.repository.status().unwrap()
            )
            .unwrap(),
        LineStat {
            added: 2,
            removed: 1
        }
    );
    assert_eq!(
        fixture.repository.commit_info(&head).unwrap().subject,
        "first"
    );
    assert!(!fixture.at("pwned").exists());
}

#[test]
fn reading_leaves_the_index_alone() {
    let fixture = Fixture::new();
    let before = fs::read(fixture.at(".git/index")).unwrap();
    // The same content with another time: a status that may take locks would write that down.
    fixture.write("README.md", "hello\n");
    assert!(fixture.repository.status().unwrap().changes.is_empty());
    assert_eq!(fs::read(fixture.at(".git/index")).unwrap(), before);
    fs::write(fixture.at(".git/index.lock"), "").unwrap();
    fixture.repository.status().unwrap();
}

#[test]
fn contents() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    symlink("a", fixture.at("link")).unwrap();
    let names = paths(&["a", "link", "absent", "README.md/below"]);
    let before = fixture.repository.hash_files(&names).unwrap();
    assert!(
        before[0]
            .1
            .as_ref()
            .unwrap()
            .as_str()
            .starts_with("file:2d711642b726b04401627ca9fbac32f5")
    );
    assert!(before[1].1.as_ref().unwrap().as_str().starts_with("link:"));
    assert_eq!((&before[2].1, &before[3].1), (&None, &None));
    assert_eq!(fixture.repository.hash_files(&names).unwrap(), before);
    fs::set_permissions(fixture.at("a"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(fixture.at("link")).unwrap();
    symlink("b", fixture.at("link")).unwrap();
    let after = fixture.repository.hash_files(&names).unwrap();
    assert_ne!(after[0], before[0]);
    assert_ne!(after[1], before[1]);
}

#[test]
fn line_counts() {
    let fixture = Fixture::new();
    fixture.write("README.md", "hello\nmore\nand more");
    fixture.write("new", "1\n2\n3");
    fixture.write("empty", "");
    fixture.write_bytes(b"binary", b"a\n\0\n");
    let head = fixture.head();
    let stat = |names: &[&str]| {
        let status = fixture.repository.status().unwrap();
        fixture
            .repository
            .diff_stat(&head, &paths(names), &status)
            .unwrap()
    };
    assert_eq!(stat(&["README.md"]).to_string(), "+2,-0");
    assert_eq!(stat(&["new"]).to_string(), "+3,-0");
    assert_eq!(stat(&["empty", "binary", "absent"]), LineStat::default());
    fs::remove_file(fixture.at("README.md")).unwrap();
    assert_eq!(stat(&["README.md", "new"]).to_string(), "+3,-1");
}

#[test]
fn secrets() {
    let fixture = Fixture::new();
    fixture.write(".env", "A=1");
    fixture.write("notes", &format!("-----BEGIN {} KEY-----\n", "PRIVATE"));
    fixture.write("fine", "nothing");
    let names = paths(&[".env", "notes", "fine", "id_rsa"]);
    assert_eq!(
        fixture.repository.secret_files(&names).unwrap(),
        paths(&[".env", "notes"])
    );
}
