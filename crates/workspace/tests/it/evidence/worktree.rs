//! Checkouts that are thrown away.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::files::{Everything, write};
use workspace::git::{GitErrorKind, Repository, ThrowAwayWorktree};

use crate::git::fixture::{Fixture, path, paths, run};

/// Everything below a folder but its `.git`: files with their content and mode, links with where they lead; folders are left
/// out.
fn content(folder: &Path) -> String {
    let found = testkit::files::contents(folder).into_iter();
    let found = found.filter(|(at, _)| !at.ends_with('/') && !at.starts_with(".git/"));
    let told = found.map(|(at, bytes)| {
        let about = fs::symlink_metadata(folder.join(&at)).unwrap();
        let is = if about.is_symlink() {
            "link".to_owned()
        } else {
            format!("{:o}", about.permissions().mode() & 0o111)
        };
        let text = String::from_utf8(bytes).unwrap();
        format!("{at}: {is} {}", text.trim_end())
    });
    told.collect::<Vec<_>>().join("\n")
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
    for (name, text) in [
        ("src/cart.js", "new\n"),
        ("test/cart.test.js", "new test\n"),
        ("test/deep/added.test.js", "added\n"),
        ("left.txt", "not named\n"),
    ] {
        fixture.write(name, text);
    }
    fixture.make_executable("test/cart.test.js");
    fixture.link("/etc/hostname", "test/outward");
    fixture.remove("test/gone.test.js");
    fs::remove_dir_all(fixture.at("only")).unwrap();
    let named = "test/cart.test.js test/deep/added.test.js test/outward test/gone.test.js only/one.txt never/was.txt";
    let named: Vec<&str> = named.split(' ').collect();
    let tree = checkout(&fixture, &named);
    insta::assert_snapshot!(content(tree.path()), @r"
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
    // What tests lock away is removed, too.
    let place = tree.path().to_owned();
    let locked = place.join("cache/module");
    write(&locked.join("a"), "a");
    for (folder, mode) in [(locked, 0o555), (place.join("cache"), 0o000)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
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
    for hook in "post-checkout post-index-change reference-transaction".split(' ') {
        fixture.hook(hook, "echo ran >>\"$HOME/hooks\"");
    }
    fixture.write("run.sh", "staged\n");
    fixture.git(&["add", "run.sh"]);
    let hooks = fixture.outside().join("home/hooks");
    drop(fs::remove_file(&hooks));
    let before = everything(fixture.root());
    let named = paths(&["src/cart.js"]);
    let tree = fixture.throw_away_worktree(&head, &named).unwrap();
    assert!(!hooks.exists());
    let git = |arguments: &[&str]| run(tree.path(), &fixture.environment(), arguments);
    for (words, expected) in [
        ("rev-parse HEAD", head.as_str()),
        ("status --porcelain", " M src/cart.js"),
        ("describe --tags --match v1.1", "v1.1"),
        ("log --format=%s", "shop\nfirst"),
    ] {
        let told = git(&words.split(' ').collect::<Vec<_>>());
        assert!(told.trim_end().starts_with(expected), "{words}: {told}");
    }
    git(&["fsck", "--no-dangling"]);
    // What is done there is not done in the user's, and runs no hook.
    git(&["commit", "--quiet", "--all", "--message", "there"]);
    git(&["switch", "--quiet", "--create", "other"]);
    drop(tree);
    assert_eq!(everything(fixture.root()), before);
    assert!(!hooks.exists());
    let trees = fixture.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 1);
}

#[test]
fn links_on_the_way_are_not_gone_through() {
    let fixture = shop();
    let outside = fixture.outside().join("outside");
    write(&outside.join("a.txt"), "outside\n");
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
    let link = format!("was-folder: link {}", outside.display());
    let whole = format!("was-file: 0 file|{link}|was-link/a.txt: 0 inside now");
    let below = ["was-link/a.txt", "was-folder/a.txt", "was-file/a.txt"];
    for (named, expected) in [
        (
            &below[..],
            "was-file/a.txt: 0 deeper|was-link/a.txt: 0 inside now",
        ),
        (&["was-folder", "was-link"], &whole),
    ] {
        let found = content(checkout(&fixture, named).path());
        let found: Vec<&str> = found
            .lines()
            .filter(|line| line.starts_with("was-"))
            .collect();
        assert_eq!(found.join("|"), expected);
        assert_eq!(fs::read(outside.join("a.txt")).unwrap(), b"outside\n");
    }
}

#[test]
fn gits_own_files_are_refused() {
    let fixture = shop();
    let absent = "1".repeat(40).parse().unwrap();
    for (at, name) in [
        (fixture.head(), ".git/config"),
        (fixture.head(), "sub/.GIT/hooks/post-commit"),
        (absent, "src/cart.js"),
    ] {
        let made = fixture.throw_away_worktree(&at, &[path(name)]);
        let refused = made.map(drop).unwrap_err();
        let is_of_git = name.to_lowercase().contains(".git/");
        assert!(
            !is_of_git || *refused.kind() == GitErrorKind::Refused,
            "{refused}"
        );
    }
}

#[test]
fn files_come_as_a_checkout_of_the_user_would_write_them() {
    let fixture = Fixture::unborn(&["--object-format=sha256"]);
    fixture.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n");
    fixture.write("a.txt", "a\r\nb\r\n");
    fixture.write("a.up", "shout\n");
    fixture.config(&[
        ("filter.up.clean", "tr A-Z a-z"),
        ("filter.up.smudge", "tr a-z A-Z"),
    ]);
    let head = fixture.commit_all("attributes");
    let tree = checkout(&fixture, &[]);
    for (name, text) in [("a.txt", "a\r\nb\r\n"), ("a.up", "SHOUT\n")] {
        assert_eq!(fs::read_to_string(tree.path().join(name)).unwrap(), text);
    }
    let at = run(tree.path(), &fixture.environment(), &["rev-parse", "HEAD"]);
    assert_eq!(at.trim(), head.as_str());
}

#[test]
fn a_project_in_a_folder_a_linked_worktree_and_a_shallow_repository() {
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
    let shallow = fixture.outside().join("shallow \"copy");
    let url = format!("file://{}", fixture.root().display());
    let to = shallow.to_str().unwrap();
    fixture.git(&["clone", "--quiet", "--depth=1", &url, to]);
    for (folder, named, file, log) in [
        (linked, &["new.txt"][..], "new.txt", "sub\nshop\nfirst\n"),
        (shallow, &[], "sub/a.txt", "sub\n"),
    ] {
        let repository = fixture.discover(&folder).unwrap();
        let tree = repository.throw_away_worktree(&fixture.head(), &paths(named));
        let tree = tree.unwrap();
        assert!(tree.path().join(file).is_file() && tree.path().join("sub/a.txt").is_file());
        let told = run(tree.path(), &fixture.environment(), &["log", "--format=%s"]);
        assert_eq!(told, log);
    }
}

/// The leftovers are looked for among temporary files of this test's own, in a process that has them there.
#[test]
fn what_a_killed_process_left_is_cleared_and_what_is_in_use_stays() {
    const TEST: &str =
        "evidence::worktree::what_a_killed_process_left_is_cleared_and_what_is_in_use_stays";
    if let Some(role) = std::env::var_os("WORKTREE_ROLE") {
        let of = std::env::var_os("WORKTREE_OF").unwrap();
        let repository = Repository::discover(Path::new(&of)).unwrap();
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
    let itself = |role: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env("WORKTREE_ROLE", role)
            .env("WORKTREE_OF", fixture.root())
            .env("TMPDIR", &temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let hold = || {
        let mut child = itself("hold");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map(Result::unwrap).any(|line| line == "held"));
        child
    };
    let (mut killed, mut alive) = (hold(), hold());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(testkit::files::list(&temporary).len(), 2);
    assert!(itself("once").wait().unwrap().success());
    let left = testkit::files::list(&temporary);
    assert_eq!(left, [temporary.join("tramline-worktree-1")]);
    // It ends with its input.
    alive.wait().unwrap();
    assert_eq!(testkit::files::list(&temporary).len(), 0);
}

#[test]
fn nothing_is_written_or_taken_away_behind_a_link() {
    let fixture = shop();
    let outside = fixture.outside().join("theirs");
    write(&outside.join("kept.txt"), "theirs\n");
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
    for name in ["leads.txt", "never/was.txt"] {
        tree.remove(&path(name)).unwrap();
    }
    assert_eq!(theirs(), before);
    // What runs goes on running.
    tree.write(&path("run.sh"), b"#!/bin/sh\nexit\n").unwrap();
    let mode = fs::metadata(tree.path().join("run.sh")).unwrap();
    assert_ne!(mode.permissions().mode() & 0o111, 0);
}
