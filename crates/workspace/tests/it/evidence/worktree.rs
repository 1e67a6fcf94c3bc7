//! Checkouts that are thrown away.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::files::Everything;
use workspace::git::{GitErrorKind, Repository, ThrowAwayWorktree};

use crate::git::fixture::{Fixture, path, paths, run};

/// Everything below a folder but its `.git`: files with their content and mode, links with where they lead.
fn content(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in current.read_dir().unwrap() {
            let entry = entry.unwrap();
            let (at, kind) = (entry.path(), entry.file_type().unwrap());
            if entry.file_name() == ".git" {
                continue;
            }
            let is = if kind.is_dir() {
                folders.push(at.clone());
                "folder".to_owned()
            } else if kind.is_symlink() {
                format!("link {}", fs::read_link(&at).unwrap().display())
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o111;
                format!("{mode:o} {}", fs::read_to_string(&at).unwrap())
            };
            found.insert(at.strip_prefix(folder).unwrap().to_owned(), is);
        }
    }
    found
}

/// What of a commit is checked out, with these files as they are now.
fn checkout(fixture: &Fixture, named: &[&str]) -> ThrowAwayWorktree {
    let tree = fixture.throw_away_worktree(&fixture.head(), &paths(named));
    tree.unwrap()
}

fn everything(folder: &Path) -> Everything {
    Everything::below([folder]).by_content()
}

fn shop() -> Fixture {
    let fixture = Fixture::new();
    for (name, text) in [
        ("src/cart.js", "old\n"),
        ("test/cart.test.js", "old test\n"),
        ("test/gone.test.js", "gone\n"),
        ("only/one.txt", "one\n"),
        ("run.sh", "#!/bin/sh\n"),
    ] {
        fixture.write(name, text);
    }
    fixture.make_executable("run.sh");
    fixture.link("src/cart.js", "link");
    fixture.commit_all("shop");
    fixture
}

#[test]
fn it_is_the_commit_with_the_named_files_as_they_are_now() {
    let fixture = shop();
    fixture.write("src/cart.js", "new\n");
    fixture.write("test/cart.test.js", "new test\n");
    fixture.write("test/deep/added.test.js", "added\n");
    fixture.write("left.txt", "not named\n");
    fixture.make_executable("test/cart.test.js");
    fixture.link("/etc/hostname", "test/outward");
    fixture.remove("test/gone.test.js");
    fs::remove_dir_all(fixture.at("only")).unwrap();
    let named = "test/cart.test.js test/deep/added.test.js test/outward test/gone.test.js only/one.txt never/was.txt";
    let named: Vec<&str> = named.split(' ').collect();
    let tree = checkout(&fixture, &named);
    let found = content(tree.path());
    let found = found.iter().filter(|(_, is)| *is != "folder");
    let found = found.map(|(at, is)| format!("{}: {}", at.display(), is.trim_end()));
    let found: Vec<String> = found.collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    README.md: 0 hello
    link: link src/cart.js
    run.sh: 111 #!/bin/sh
    src/cart.js: 0 old
    test/cart.test.js: 111 new test
    test/deep/added.test.js: 0 added
    test/outward: link /etc/hostname
    ");
    assert!(!tree.path().join("only").exists() && !tree.path().join("never").exists());
    assert_eq!(tree.path().file_name(), fixture.root().file_name());
    assert_eq!(tree.project_root(), tree.path());
    assert!(!tree.path().starts_with(fixture.root()));
    let place = tree.path().to_owned();
    drop(tree);
    assert!(!place.exists() && !place.parent().unwrap().exists());
}

#[test]
fn it_has_a_repository_of_its_own() {
    let fixture = shop();
    fixture.git(&["tag", "v1.0"]);
    fixture.git(&["tag", "-m", "two", "v1.1"]);
    fixture.write("src/cart.js", "later\n");
    let head = fixture.head();
    fixture.commit_all("later");
    let tree = fixture.throw_away_worktree(&head, &paths(&["src/cart.js"]));
    let tree = tree.unwrap();
    let git = |arguments: &[&str]| run(tree.path(), &fixture.environment(), arguments);
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), head.as_str());
    assert_eq!(git(&["status", "--porcelain"]), " M src/cart.js\n");
    let described = git(&["describe", "--tags", "--match", "v1.1"]);
    assert_eq!(described.trim(), "v1.1");
    assert_eq!(git(&["log", "--format=%s"]), "shop\nfirst\n");
    git(&["fsck", "--no-dangling"]);
    // What is done there is not done in the user's.
    let before = everything(&fixture.at(".git"));
    git(&["commit", "--quiet", "--all", "--message", "there"]);
    git(&["switch", "--quiet", "--create", "other"]);
    assert_eq!(everything(&fixture.at(".git")), before);
}

#[test]
fn the_users_repository_is_not_touched_and_no_hook_runs() {
    let fixture = shop();
    for hook in "post-checkout post-index-change reference-transaction".split(' ') {
        fixture.hook(hook, "echo ran >>\"$HOME/hooks\"");
    }
    fixture.write("src/cart.js", "staged\n");
    fixture.git(&["add", "src/cart.js"]);
    drop(fs::remove_file(fixture.outside().join("home/hooks")));
    let before = everything(fixture.root());
    let tree = checkout(&fixture, &["src/cart.js"]);
    fs::write(tree.path().join("src/cart.js"), "other\n").unwrap();
    drop(tree);
    assert_eq!(everything(fixture.root()), before);
    assert!(!fixture.outside().join("home/hooks").exists());
    let trees = fixture.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 1);
}

#[test]
fn links_on_the_way_are_not_gone_through() {
    let fixture = shop();
    let outside = fixture.outside().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "outside\n").unwrap();
    // At the commit a link that leads outside, now a folder.
    symlink(&outside, fixture.at("was-link")).unwrap();
    fixture.write("was-folder/a.txt", "inside\n");
    fixture.write("was-file", "file\n");
    fixture.commit_all("links");
    fixture.remove("was-link");
    fixture.write("was-link/a.txt", "inside now\n");
    // At the commit a folder, now a link.
    fs::remove_dir_all(fixture.at("was-folder")).unwrap();
    symlink(&outside, fixture.at("was-folder")).unwrap();
    fixture.remove("was-file");
    fixture.write("was-file/a.txt", "deeper\n");
    let named = ["was-link/a.txt", "was-folder/a.txt", "was-file/a.txt"];
    let tree = checkout(&fixture, &named);
    assert_eq!(fs::read(outside.join("a.txt")).unwrap(), b"outside\n");
    let found = content(tree.path());
    assert_eq!(found[Path::new("was-link/a.txt")], "0 inside now\n");
    assert_eq!(found[Path::new("was-file/a.txt")], "0 deeper\n");
    assert!(!found.contains_key(Path::new("was-folder/a.txt")));

    let tree = checkout(&fixture, &["was-folder", "was-link"]);
    let found = content(tree.path());
    let link = format!("link {}", outside.display());
    assert_eq!(found[Path::new("was-folder")], link);
    assert_eq!(found[Path::new("was-link/a.txt")], "0 inside now\n");
}

#[test]
fn gits_own_files_are_refused() {
    let fixture = shop();
    for name in [".git/config", "sub/.GIT/hooks/post-commit"] {
        let Err(error) = fixture.throw_away_worktree(&fixture.head(), &[path(name)]) else {
            panic!("{name}");
        };
        assert_eq!(*error.kind(), GitErrorKind::Refused);
    }
    let absent = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(fixture.throw_away_worktree(&absent, &[]).is_err());
}

#[test]
fn files_come_as_a_checkout_of_the_user_would_write_them() {
    let fixture = shop();
    fixture.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n");
    fixture.write("a.txt", "a\r\nb\r\n");
    fixture.write("a.up", "shout\n");
    fixture.config(&[
        ("filter.up.clean", "tr A-Z a-z"),
        ("filter.up.smudge", "tr a-z A-Z"),
    ]);
    fixture.commit_all("attributes");
    let tree = checkout(&fixture, &[]);
    assert_eq!(fs::read(tree.path().join("a.txt")).unwrap(), b"a\r\nb\r\n");
    assert_eq!(fs::read(tree.path().join("a.up")).unwrap(), b"SHOUT\n");
}

#[test]
fn a_project_in_a_folder_a_linked_worktree_a_sha256_and_a_shallow_repository() {
    let fixture = shop();
    fixture.write("sub/a.txt", "a\n");
    fixture.commit_all("sub");
    let scoped = fixture.repository.clone().with_scope(&fixture.at("sub"));
    let tree = scoped.throw_away_worktree(&fixture.head(), &[]).unwrap();
    assert_eq!(tree.project_root(), tree.path().join("sub"));
    assert!(tree.project_root().join("a.txt").is_file());

    let linked = fixture.outside().join("linked");
    fixture.git(&["worktree", "add", "--quiet", "../linked", "-b", "side"]);
    fs::write(linked.join("new.txt"), "new\n").unwrap();
    let repository = fixture.discover(&linked).unwrap();
    let named = paths(&["new.txt"]);
    let tree = repository.throw_away_worktree(&fixture.head(), &named);
    let tree = tree.unwrap();
    assert!(tree.path().join("new.txt").is_file() && tree.path().join("sub/a.txt").is_file());

    let shallow = fixture.outside().join("shallow \"copy");
    let url = format!("file://{}", fixture.root().display());
    fixture.git(&[
        "clone",
        "--quiet",
        "--depth=1",
        &url,
        shallow.to_str().unwrap(),
    ]);
    let repository = fixture.discover(&shallow).unwrap();
    let tree = repository.throw_away_worktree(&fixture.head(), &[]);
    let tree = tree.unwrap();
    let log = run(tree.path(), &fixture.environment(), &["log", "--format=%s"]);
    assert_eq!(log, "sub\n");

    let other = Fixture::unborn(&["--object-format=sha256"]);
    other.write("a.txt", "a\n");
    let head = other.commit_all("first");
    let tree = checkout(&other, &[]);
    let at = run(tree.path(), &other.environment(), &["rev-parse", "HEAD"]);
    assert_eq!(at.trim(), head.as_str());
}

#[test]
fn what_tests_lock_away_is_removed_too() {
    let fixture = shop();
    let tree = checkout(&fixture, &[]);
    let place = tree.path().to_owned();
    let locked = place.join("cache/module");
    fs::create_dir_all(&locked).unwrap();
    fs::write(locked.join("a"), "a").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(place.join("cache"), fs::Permissions::from_mode(0o000)).unwrap();
    drop(tree);
    assert!(!place.exists());
}

/// The leftovers are looked for among temporary files of this test's own, in a process that has them there.
#[test]
fn what_a_killed_process_left_is_cleared_and_what_is_in_use_stays() {
    const TEST: &str =
        "evidence::worktree::what_a_killed_process_left_is_cleared_and_what_is_in_use_stays";
    let itself = |role: &str, tree: &Path, temporary: &Path| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env("WORKTREE_ROLE", role)
            .env("WORKTREE_OF", tree)
            .env("TMPDIR", temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    if let Some(role) = std::env::var_os("WORKTREE_ROLE") {
        let repository =
            Repository::discover(Path::new(&std::env::var_os("WORKTREE_OF").unwrap())).unwrap();
        let head = repository.resolve("HEAD").unwrap().unwrap();
        let _tree = repository.throw_away_worktree(&head, &[]).unwrap();
        if role == "hold" {
            std::io::stdout().write_all(b"\nheld\n").unwrap();
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        return;
    }
    let fixture = shop();
    let temporary = fixture.outside().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let folders = || {
        let entries = temporary.read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<String>>()
    };
    let hold = || {
        use std::io::{BufRead as _, BufReader};
        let mut child = itself("hold", fixture.root(), &temporary);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map(Result::unwrap).any(|line| line == "held"));
        child
    };
    let mut killed = hold();
    let mut alive = hold();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(folders().len(), 2);
    let once = itself("once", fixture.root(), &temporary).wait();
    assert!(once.unwrap().success());
    assert_eq!(folders(), ["tramline-worktree-1"]);
    drop(alive.stdin.take());
    alive.wait().unwrap();
    assert_eq!(folders(), [""; 0]);
}

#[test]
fn nothing_is_written_or_taken_away_behind_a_link() {
    let fixture = shop();
    let outside = fixture.outside().join("theirs");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("kept.txt"), "theirs\n").unwrap();
    symlink(&outside, fixture.at("leads")).unwrap();
    symlink(outside.join("kept.txt"), fixture.at("leads.txt")).unwrap();
    fixture.commit_all("links");
    let tree = checkout(&fixture, &[]);
    let theirs = || everything(&outside);
    let before = theirs();
    tree.remove(&path("leads/kept.txt")).unwrap();
    for name in ["leads.txt", "leads/kept.txt", "leads/new.txt"] {
        tree.write(&path(name), b"ours\n").unwrap();
        assert_eq!(fs::read(tree.path().join(name)).unwrap(), b"ours\n");
        assert_eq!(theirs(), before, "{name}");
    }
    tree.remove(&path("leads.txt")).unwrap();
    tree.remove(&path("never/was.txt")).unwrap();
    assert_eq!(theirs(), before);
    // What runs goes on running.
    tree.write(&path("run.sh"), b"#!/bin/sh\nexit\n").unwrap();
    let mode = fs::metadata(tree.path().join("run.sh")).unwrap();
    assert_ne!(mode.permissions().mode() & 0o111, 0);
}
