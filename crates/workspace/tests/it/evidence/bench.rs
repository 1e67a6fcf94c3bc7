//! The bench, and the trees that are brought to it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use testkit::files::{Everything, write};
use workspace::git::{Bench, FingerprintRequest, Oid, Repository, TreeEntry, stored_benches};

use crate::git::fixture::{Fixture, path, run};

/// Everything below a folder but its `.git`: files with their content and mode, links with where they lead; folders are left out.
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

fn benches(fixture: &Fixture) -> PathBuf {
    fixture.outside().join("benches")
}

fn take(fixture: &Fixture) -> Bench {
    fixture.take_bench(&benches(fixture)).unwrap()
}

/// The tree of the work as it is now.
fn work(repository: &Repository) -> Oid {
    let status = repository.status().unwrap();
    let request = FingerprintRequest::default();
    let tree = repository.write_tree(&status, &request).unwrap();
    assert_eq!(
        repository.fingerprint(&status, &request).unwrap().tree,
        tree
    );
    tree
}

fn shop() -> Fixture {
    let fixture = Fixture::new();
    for (name, text) in [
        ("src/cart.js", "old\n"),
        ("test/cart.test.js", "old test\n"),
        ("test/gone.test.js", "gone\n"),
        ("run.sh", "#!/bin/sh\n"),
        (".gitignore", "/build\n/target\n*.log\n"),
    ] {
        fixture.write(name, text);
    }
    fixture.make_executable("run.sh");
    fixture.link("src/cart.js", "link");
    fixture.commit_all("shop");
    fixture
}

#[test]
fn it_holds_the_tree_and_nothing_else() {
    let fixture = shop();
    for (name, text) in [
        ("src/cart.js", "new\n"),
        ("test/deep/added.test.js", "added\n"),
        ("left.log", "ignored\n"),
    ] {
        fixture.write(name, text);
    }
    fixture.remove("test/gone.test.js");
    fixture.make_executable("test/cart.test.js");
    let (head, tree) = (fixture.head(), work(&fixture));
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &tree, &head, None).unwrap();
    insta::assert_snapshot!(content(bench.path()), @r"
    .gitignore: 0 /build
    /target
    *.log
    README.md: 0 hello
    link: link src/cart.js
    run.sh: 111 #!/bin/sh
    src/cart.js: 0 new
    test/cart.test.js: 111 old test
    test/deep/added.test.js: 0 added
    ");
    assert_eq!(bench.path().file_name(), fixture.root().file_name());
    assert_eq!(bench.project_root(), bench.path());
    // Whatever a suite does to it is undone, and what it locks away.
    let held = content(bench.path());
    let locked = bench.path().join("cache/module");
    write(&locked.join("a"), "a");
    for (folder, mode) in [(locked, 0o555), (bench.path().join("cache"), 0o000)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    for (name, text) in [("src/cart.js", "hers\n"), ("build/a", "b"), ("a.log", "")] {
        write(&bench.path().join(name), text);
    }
    fs::remove_file(bench.path().join("link")).unwrap();
    fs::remove_dir_all(bench.path().join("test")).unwrap();
    write(&bench.path().join("test"), "no folder\n");
    drop(bench);
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &tree, &head, None).unwrap();
    assert_eq!(content(bench.path()), held);
    // Back at the commit nothing of the work is left.
    fixture.bring_tree(&bench, &head, &head, None).unwrap();
    assert!(
        content(bench.path()).contains(
            "src/cart.js: 0 old\ntest/cart.test.js: 0 old test\ntest/gone.test.js: 0 gone"
        )
    );
}

#[test]
fn what_was_built_stays_beside_its_manifest() {
    let fixture = shop();
    fixture.write("Cargo.toml", "");
    fixture.write("sub [1]/CMakeLists.txt", "");
    fixture.write("src/cart.rs", "one");
    let head = fixture.commit_all("built");
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &head, &head, None).unwrap();
    let at = |name: &str| bench.path().join(name);
    let modified = |name: &str| fs::metadata(at(name)).unwrap().modified().unwrap();
    for name in "target/debug/a sub/target/a build/a node_modules/a".split(' ') {
        write(&at(name), "");
    }
    write(&at("sub [1]/build/a"), "");
    let before = modified("src/cart.js");
    fixture.write("src/cart.rs", "two");
    fixture
        .bring_tree(&bench, &work(&fixture), &head, None)
        .unwrap();
    let there = [
        "target/debug/a",
        "sub [1]/build/a",
        "sub/target/a",
        "build",
        "node_modules",
    ]
    .map(|name| at(name).exists());
    assert_eq!(there, [true, true, false, false, false]);
    // What is the same is not written again.
    assert_eq!(modified("src/cart.js"), before);
    assert_eq!(fs::read_to_string(at("src/cart.rs")).unwrap(), "two");
}

#[test]
fn what_a_setup_made_stays_as_long_as_it_goes_by_the_same() {
    let fixture = shop();
    let head = fixture.head();
    let bench = take(&fixture);
    let brought = |key| fixture.bring_tree(&bench, &head, &head, key).unwrap();
    let at = |name: &str| bench.path().join(name);
    assert!(!brought(Some("one")));
    write(&at("sub/mod [1]/a"), "made");
    write(&at("lent"), "");
    let lent = ["lent".to_owned()];
    fixture.keep_made(&bench, "one", &lent).unwrap();
    write(&at("left"), "by a suite");
    write(&bench.home().join("left"), "by a suite");
    assert!(brought(Some("one")));
    assert!(at("sub/mod [1]/a").exists());
    assert!(!at("left").exists() && !at("lent").exists() && !bench.home().exists());
    // By another lock file it is made anew, and so it is where nobody says by what.
    for key in [Some("two"), None] {
        write(&at("sub/mod [1]/a"), "made");
        assert!(!brought(key));
        assert!(!at("sub").exists());
    }
    // A setup that failed since has left something, and what was made before is gone.
    write(&at("sub/mod [1]/a"), "half made");
    assert!(!brought(Some("one")));
    assert!(!at("sub").exists());
}

#[test]
fn a_copy_leads_to_what_is_beside_it() {
    let fixture = shop();
    let head = fixture.head();
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &head, &head, None).unwrap();
    fixture.write("build/a/made.txt", "made\n");
    symlink("made.txt", fixture.root().join("build/a/link")).unwrap();
    fixture.copy_to_bench(&bench, "build").unwrap();
    let copied = content(&bench.path().join("build"));
    assert_eq!(copied, "a/link: link made.txt\na/made.txt: 0 made");
    assert!(fixture.copy_to_bench(&bench, "none").is_err());
}

#[test]
fn benches_are_listed_and_removed_unless_they_are_in_use() {
    let fixture = shop();
    let head = fixture.head();
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &head, &head, None).unwrap();
    let list = || stored_benches(&benches(&fixture));
    let [stored] = &list()[..] else {
        panic!("{:#?}", list());
    };
    assert_eq!(stored.of, fixture.top_level());
    assert!(stored.is_in_use() && stored.size() > 0 && !stored.is_unused());
    assert!(!stored.remove().unwrap());
    drop(bench);
    assert!(stored.remove().unwrap());
    assert_eq!(list(), []);
}

#[test]
fn it_has_a_repository_of_its_own() {
    let fixture = shop();
    fixture.git(&["tag", "v1.0"]);
    fixture.git(&["tag", "-m", "two", "v1.1"]);
    let head = fixture.head();
    fixture.write("src/cart.js", "later\n");
    for hook in "post-checkout post-index-change reference-transaction".split(' ') {
        fixture.hook(hook, "echo ran >>\"$HOME/hooks\"");
    }
    let hooks = fixture.outside().join("home/hooks");
    let tree = work(&fixture);
    drop(fs::remove_file(&hooks));
    let everything = || Everything::below([fixture.root()]).by_content();
    let before = everything();
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &tree, &head, None).unwrap();
    assert!(!hooks.exists());
    let git = |arguments: &[&str]| run(bench.path(), &fixture.environment(), arguments);
    for (words, expected) in [
        ("rev-parse HEAD", head.as_str()),
        ("status --porcelain", "M  src/cart.js"),
        ("describe --tags --match v1.1", "v1.1"),
        ("log --format=%s", "shop\nfirst"),
    ] {
        let told = git(&words.split(' ').collect::<Vec<_>>());
        assert!(told.trim_end().starts_with(expected), "{words}: {told}");
    }
    git(&["fsck", "--no-dangling"]);
    // What is done there is not done in the user's, runs no hook, and is forgotten.
    git(&["commit", "--quiet", "--all", "--message", "there"]);
    git(&["switch", "--quiet", "--create", "other"]);
    git(&["update-index", "--assume-unchanged", "run.sh"]);
    write(&bench.path().join("run.sh"), "other\n");
    fixture.bring_tree(&bench, &tree, &head, None).unwrap();
    assert_eq!(git(&["rev-parse", "HEAD"]).trim_end(), head.as_str());
    assert_eq!(git(&["status", "--porcelain"]), "M  src/cart.js\n");
    assert_eq!(everything(), before);
    assert!(!hooks.exists());
}

#[test]
fn suites_at_once_have_a_bench_each_and_links_are_not_followed() {
    let fixture = shop();
    let outside = fixture.outside().join("theirs");
    write(&outside.join("a.txt"), "theirs\n");
    let head = fixture.head();
    let (one, other) = (take(&fixture), take(&fixture));
    assert_ne!(one.path(), other.path());
    for bench in [&one, &other] {
        fixture.bring_tree(bench, &head, &head, None).unwrap();
    }
    let first = one.path().to_owned();
    fs::remove_dir_all(first.join("src")).unwrap();
    symlink(&outside, first.join("src")).unwrap();
    symlink(&outside, first.join("more")).unwrap();
    drop(one);
    let again = take(&fixture);
    assert_eq!(again.path(), first);
    fixture.bring_tree(&again, &head, &head, None).unwrap();
    assert!(!first.join("src").is_symlink() && !first.join("more").exists());
    // Neither where a suite puts a link in the place of the bench, or of what that lies in.
    let above = first.parent().unwrap();
    for place in [&*first, above] {
        let own = place.with_extension("moved");
        fs::rename(place, &own).unwrap();
        symlink(&outside, place).unwrap();
        write(&above.parent().unwrap().join("more"), "left\n");
        fixture.bring_tree(&again, &head, &head, None).unwrap();
        assert!(!place.is_symlink() && !own.exists());
        assert!(first.join("src/cart.js").is_file());
        assert_eq!(testkit::files::list(above).len(), 1);
        assert_eq!(testkit::files::list(above.parent().unwrap()).len(), 3);
    }
    assert_eq!(fs::read(outside.join("a.txt")).unwrap(), b"theirs\n");
    assert_eq!(testkit::files::list(&outside).len(), 1);
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
    let bench = take(&fixture);
    fixture.bring_tree(&bench, &head, &head, None).unwrap();
    for (name, text) in [("a.txt", "a\r\nb\r\n"), ("a.up", "SHOUT\n")] {
        assert_eq!(fs::read_to_string(bench.path().join(name)).unwrap(), text);
    }
    assert!(
        fixture
            .bring_tree(&bench, &"1".repeat(64).parse().unwrap(), &head, None)
            .is_err()
    );
}

#[test]
fn a_project_in_a_folder_a_linked_worktree_and_a_shallow_repository() {
    let fixture = shop();
    fixture.write("sub/a.txt", "a\n");
    fixture.commit_all("sub");
    let scoped = fixture.repository.clone().with_scope(&fixture.at("sub"));
    let bench = scoped.take_bench(&benches(&fixture)).unwrap();
    scoped
        .bring_tree(&bench, &fixture.head(), &fixture.head(), None)
        .unwrap();
    assert_eq!(bench.project_root(), bench.path().join("sub"));
    assert!(bench.project_root().join("a.txt").is_file());

    let linked = fixture.outside().join("linked");
    fixture.git(&["worktree", "add", "--quiet", "../linked", "-b", "side"]);
    fs::write(linked.join("new.txt"), "new\n").unwrap();
    let shallow = fixture.outside().join("shallow \"copy");
    let url = format!("file://{}", fixture.root().display());
    let to = shallow.to_str().unwrap();
    fixture.git(&["clone", "--quiet", "--depth=1", &url, to]);
    for (folder, file, log) in [
        (linked, "new.txt", "sub\nshop\nfirst\n"),
        (shallow, "sub/a.txt", "sub\n"),
    ] {
        let repository = fixture.discover(&folder).unwrap();
        let other = repository.take_bench(&benches(&fixture)).unwrap();
        assert_ne!(other.path(), bench.path());
        repository
            .bring_tree(&other, &work(&repository), &fixture.head(), None)
            .unwrap();
        assert!(other.path().join(file).is_file());
        let told = run(
            other.path(),
            &fixture.environment(),
            &["log", "--format=%s"],
        );
        assert_eq!(told, log);
    }
    // Where a working tree is gone, its bench goes with the next that is taken.
    fixture.git(&["worktree", "remove", "--force", "../linked"]);
    let count = || testkit::files::list(&benches(&fixture)).len();
    let before = count();
    drop(bench);
    drop(scoped.take_bench(&benches(&fixture)).unwrap());
    assert_eq!(count(), before - 1);
}

#[test]
fn trees_are_made_of_others_and_kept() {
    let fixture = shop();
    let head = fixture.head();
    let blobs = fixture.write_blobs(&["one\n", "two\n"]).unwrap();
    let file = |number: usize| {
        let oid = blobs[number].clone();
        Some(TreeEntry {
            mode: 0o100_644,
            oid,
        })
    };
    let edits = [
        (path("src/cart.js"), file(0)),
        (path("run.sh"), None),
        // A folder where a file was.
        (path("link"), None),
        (path("link/a.txt"), file(1)),
    ];
    let tree = fixture.edit_tree(&head, &edits).unwrap();
    let told = fixture.git(&["ls-tree", "-r", "--name-only", tree.as_str()]);
    assert_eq!(
        told,
        ".gitignore\nREADME.md\nlink/a.txt\nsrc/cart.js\ntest/cart.test.js\ntest/gone.test.js\n"
    );
    let changes = fixture.tree_changes(&head, &tree).unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| {
            (
                change.path.to_string(),
                change.before.is_some(),
                change.after.is_some(),
            )
        })
        .collect();
    let expected = [
        ("link", true, false),
        ("link/a.txt", false, true),
        ("run.sh", true, false),
        ("src/cart.js", true, true),
    ];
    assert_eq!(
        told,
        expected.map(|(path, before, after)| (path.to_owned(), before, after))
    );
    assert_eq!(fixture.edit_tree(&tree, &[]).unwrap(), tree);
    // A commit is what its id says, also where git is told to take another one for it.
    let first = fixture.resolve("HEAD^").unwrap().unwrap();
    fixture.git(&["replace", head.as_str(), first.as_str()]);
    assert_eq!(fixture.edit_tree(&head, &edits).unwrap(), tree);
    assert_eq!(fixture.tree_changes(&head, &tree).unwrap().len(), 4);
    let names = ["refs/tramline/trees/r/1", "refs/tramline/trees/r/2"];
    let names = [&names[..], &["refs/tramline/trees/other/1"]].concat();
    let kept: Vec<_> = names
        .iter()
        .map(|name| (&tree, (*name).to_owned()))
        .collect();
    fixture.keep_objects(&kept).unwrap();
    fixture.git(&["gc", "--quiet", "--prune=now"]);
    fixture.forget_references("refs/tramline/trees/r/").unwrap();
    let left = fixture.git(&["for-each-ref", "--format=%(refname)", "refs/tramline"]);
    assert_eq!(left, "refs/tramline/trees/other/1\n");
    assert_eq!(
        fixture
            .bytes_at(&tree, &path("link/a.txt"))
            .unwrap()
            .unwrap(),
        b"two\n"
    );
}
