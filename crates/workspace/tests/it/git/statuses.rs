//! The working tree as git tells it.

use std::fs;

use workspace::git::{Change, StatusCode};

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
    let mut changes = fixture.changes();
    assert_eq!(changes.len(), 1, "{changes:?}");
    changes.remove(0)
}

#[test]
fn kinds_of_change() {
    let fixture = Fixture::new();
    fixture.write("a", "one\ntwo\nthree\nfour\n");
    fixture.commit_all("a");
    assert_eq!(fixture.changes(), []);
    let state = || {
        let is = only(&fixture);
        let flags = [
            ("deleted", is.deleted),
            ("new", is.untracked),
            ("by name", is.intent_to_add),
        ];
        let flags = flags.map(|(flag, set)| if set { flag } else { "" });
        format!("{:?} {:?} {}", is.staged, is.unstaged, flags.concat())
    };
    let (none, by_name) = (|| (), "Unmodified Added by name");
    let write = || fixture.write("a", "changed\n");
    let (remove, new) = (|| fixture.remove("a"), || fixture.write("new", "x"));
    let link = || {
        remove();
        fixture.link("README.md", "a");
    };
    let steps: [(&dyn Fn(), &str, &str); 8] = [
        (&write, "status", "Unmodified Modified "),
        (&write, "add a", "Modified Unmodified "),
        (&remove, "status", "Unmodified Deleted deleted"),
        (&none, "mv a b", "Renamed Unmodified "),
        (&link, "status", "Unmodified TypeChanged "),
        (&none, "rm --quiet --cached a", "Deleted Added "),
        (&new, "status", "Unmodified Added new"),
        (&none, "add --intent-to-add new", by_name),
    ];
    for (change, git, expected) in steps {
        change();
        fixture.git(&git.split(' ').collect::<Vec<_>>());
        assert_eq!(state(), expected, "{git}");
        if git == "mv a b" {
            assert_eq!(only(&fixture).original, Some(path("a")));
            assert!(only(&fixture).paths().eq(&paths(&["b", "a"])));
        }
        fixture.git(&["reset", "--quiet", "--hard"]);
    }
}

#[test]
fn scope() {
    let fixture = Fixture::new();
    for name in ["sub/a", "top", "subway/x"] {
        fixture.write(name, &format!("{name}\n"));
    }
    fixture.commit_all("base");
    let scoped = fixture.repository.clone().with_scope(&fixture.at("sub"));
    let whole = fixture.repository.clone().with_scope(fixture.root());
    assert_eq!((&*scoped.scope(), &*whole.scope()), ("sub/", ""));
    for name in ["sub/a", "top", "subway/x", "sub/new", "new"] {
        fixture.write(name, "changed\n");
    }
    let changes = scoped.status().unwrap().changes.into_iter();
    let names: Vec<_> = changes.map(|change| change.path.to_string()).collect();
    assert_eq!(names, ["sub/a", "subway/x", "top", "new", "sub/new"]);
    assert!(scoped.in_scope(&path("sub/a")) && !scoped.in_scope(&path("subway/x")));
    for (name, expected) in [("sub/a", Some("sub/a")), ("", None), ("../x", None)] {
        let expected = expected.map(path);
        assert_eq!(scoped.relative(&fixture.at(name)), expected, "{name}");
    }
}

#[test]
fn ignored_files_and_nested_repositories() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\nbuild/\n");
    fixture.commit_all("ignore");
    fixture.write("a.log", "x");
    fixture.write("build/x", "x");
    let status = fixture.status().unwrap();
    // Folders stand for themselves.
    let expected = (vec![], paths(&["a.log"]));
    assert_eq!((status.changes, status.ignored), expected);
    for (name, ignored) in [("a.log", true), ("build/x", true), ("README.md", false)] {
        assert_eq!(fixture.is_ignored(&path(name)).unwrap(), ignored, "{name}");
    }
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
        let mut changes = fixture.changes().into_iter();
        let found = changes.find(|it| it.path == path("more"));
        let tree = super::fingerprints::fingerprint(&fixture, &[]);
        (found.unwrap(), tree)
    };
    assert!(find().0.nested);
    let modules = "[submodule \"x\"]\n\tpath = more\n\turl = ../x\n";
    fixture.write(".gitmodules", modules);
    let (without, bare) = find();
    assert!(without.nested, "no commit of it can be recorded yet");
    let inside = |arguments: &[&str]| _ = fixture.inside("more", arguments);
    inside(&["add", "--all"]);
    inside(&["commit", "--quiet", "--message", "inside"]);
    let (clean, tree) = find();
    assert!(clean.untracked && clean.submodule && !clean.nested && !clean.dirty_inside);
    assert_ne!(tree, bare);
    fixture.write("more/file", "y");
    assert!(find().0.dirty_inside);
    inside(&["checkout", "--quiet", "--", "."]);
    let made = fixture.commit(&[".gitmodules", "more"]).unwrap();
    assert_eq!((made.commit.tree, fixture.changes()), (tree, vec![]));

    // The folder that a renamed one had, once it was put back, leads to the other place, where git does not go.
    let (more, git) = (fixture.at("more"), fixture.at("more/.git"));
    inside(&["config", "core.worktree", more.to_str().unwrap()]);
    fixture.write("left/.git", &format!("gitdir: {}\n", git.display()));
    let left = path("left");
    assert!(fixture.repository_at(&left).is_err());
    assert_eq!(fixture.submodule_head(&left).unwrap(), None);
    assert_eq!(fixture.hash_files(&[left]).unwrap().len(), 1);
}

#[test]
fn settings_of_the_user_do_not_change_the_answer() {
    let fixture = Fixture::new();
    let settings = "status.showUntrackedFiles=no,status.renames=false,status.relativePaths=true,status.short=true,\
                    core.fsmonitor=touch pwned; false,diff.external=touch pwned,color.ui=always,diff.noprefix=true,\
                    core.quotePath=true,log.showSignature=true,core.pager=touch pwned,status.showStash=true,\
                    diff.orderFile=/nowhere,log.date=relative,format.pretty=oneline";
    for setting in settings.split(',') {
        fixture.config(&[setting.split_once('=').unwrap()]);
    }
    fixture.write("README.md", "stash\n");
    fixture.git(&["stash", "--quiet"]);
    fixture.write("é", "x\n");
    fixture.git(&["mv", "README.md", "other"]);
    // What the user's own commands did just now with these settings.
    let _ = fs::remove_file(fixture.at("pwned"));
    let status = fixture.status().unwrap();
    let staged: Vec<StatusCode> = status.changes.iter().map(|change| change.staged).collect();
    assert_eq!(staged, [StatusCode::Renamed, StatusCode::Unmodified]);
    let (head, names) = (fixture.head(), paths(&["other", "README.md", "é"]));
    let stat = fixture.diff_stat(&head, &names, &status).unwrap();
    assert_eq!(stat.to_string(), "+2,-1");
    assert_eq!(fixture.commit_info(&head).unwrap().subject, "first");
    assert!(!fixture.at("pwned").exists());
}

#[test]
fn reading_leaves_the_index_alone() {
    let fixture = Fixture::new();
    let before = fixture.index();
    // The same content with another time: a status that may take locks would write that down.
    fixture.write("README.md", "hello\n");
    assert_eq!(fixture.changes(), []);
    assert_eq!(fixture.index(), before);
    fixture.write(".git/index.lock", "");
    fixture.status().unwrap();
}

#[test]
fn contents() {
    let fixture = Fixture::new();
    fixture.write("a", "x");
    fixture.link("a", "link");
    let names = paths(&["a", "link", "absent", "README.md/below"]);
    let look = || fixture.hash_files(&names).unwrap();
    let before = look();
    let starts = ["file:2d711642b726b04401627ca9fbac32f5", "link:"];
    for (start, (_, content)) in starts.into_iter().zip(&before) {
        let content = content.as_ref().unwrap().as_str();
        assert!(content.starts_with(start), "{content}");
    }
    assert_eq!((&before[2].1, &before[3].1), (&None, &None));
    assert_eq!(look(), before);
    fixture.make_executable("a");
    fixture.remove("link");
    fixture.link("b", "link");
    let after = look();
    assert!(after[0] != before[0] && after[1] != before[1]);
}

#[test]
fn line_counts() {
    let fixture = Fixture::new();
    fixture.write("README.md", "hello\nmore\nand more");
    fixture.write("new", "1\n2\n3");
    fixture.write("empty", "");
    fixture.write_bytes(b"binary", b"a\n\0\n");
    let stat = |names: &[&str]| {
        let status = fixture.status().unwrap();
        let stat = fixture.diff_stat(&fixture.head(), &paths(names), &status);
        stat.unwrap().to_string()
    };
    assert_eq!(stat(&["README.md"]), "+2,-0");
    assert_eq!(stat(&["new"]), "+3,-0");
    assert_eq!(stat(&["empty", "binary", "absent"]), "+0,-0");
    fixture.remove("README.md");
    assert_eq!(stat(&["README.md", "new"]), "+3,-1");
}

#[test]
fn secrets() {
    let fixture = Fixture::new();
    fixture.write(".env", "A=1");
    fixture.write("notes", &format!("-----BEGIN {} KEY-----\n", "PRIVATE"));
    fixture.write("fine", "nothing");
    let found = fixture.secret_files(&paths(&[".env", "notes", "fine", "id_rsa"]));
    assert_eq!(found.unwrap(), paths(&[".env", "notes"]));
}
