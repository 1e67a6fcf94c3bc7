//! A branch and the working tree taken back: nothing is lost, and nobody's own is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use workspace::git::{GitError, Oid, RepoPath, TakenBack, TreeEntry, WayBack};

use super::fixture::{Fixture, path, paths};

const KEPT_AS: &str = "refs/tramline/rewound/run/1";

/// A fixture, whose branch goes from one commit back to the other.
struct Back {
    fixture: Fixture,
    from: Oid,
    to: Oid,
    /// What the working tree is to hold that the commit does not.
    edits: Vec<(RepoPath, Option<TreeEntry>)>,
    kept_as: &'static str,
}

impl Back {
    fn new(fixture: Fixture, from: Oid, to: Oid) -> Self {
        Self {
            fixture,
            from,
            to,
            edits: Vec::new(),
            kept_as: KEPT_AS,
        }
    }

    /// Two commits upon the first; what is in none of them, known to git and not, and ignored.
    fn two_commits() -> Self {
        let fixture = Fixture::new();
        fixture.write(".gitignore", "*.log\n");
        fixture.write("src/a", "one\n");
        let to = fixture.commit_all("one");
        fixture.write("src/a", "two\n");
        fixture.write("src/deep/er/b", "new\n");
        fixture.remove("README.md");
        let from = fixture.commit_all("two");
        fixture.write("src/a", "three\n");
        fixture.write("notes", "mine\n");
        fixture.write("src/deep/x.log", "kept\n");
        Self::new(fixture, from, to)
    }

    fn go(&self, untouched: &[&str]) -> Result<TakenBack, GitError> {
        let tree = self.fixture.edit_tree(&self.to, &self.edits).unwrap();
        let way = WayBack {
            branch: "topic",
            from: &self.from,
            to: &self.to,
            tree: &tree,
            untouched: &paths(untouched),
            kept_as: self.kept_as,
        };
        self.fixture.take_back(&way, &|_| {})
    }

    fn held(&self, path: &str) -> String {
        fs::read_to_string(self.fixture.at(path)).unwrap_or_default()
    }

    /// What a reference is at, and with a path what is in it there.
    fn kept(&self, what: &str) -> String {
        let show = ["show", "--format=%H", "--no-patch", what];
        self.fixture.git(&show).trim_end().to_owned()
    }

    /// What is in these files, and what git says of the working tree.
    fn is(&self, files: &[(&str, &str)], status: &str) {
        for (name, text) in files {
            assert_eq!(self.held(name), *text, "{name}");
        }
        assert_eq!(self.fixture.short_status(), status);
    }
}

#[test]
fn all_goes_back_and_all_is_kept() {
    let back = Back::two_commits();
    // Whoever has told git no name can go back.
    fs::write(back.fixture.settings(), "").unwrap();
    let taken = back.go(&[]).unwrap();
    assert_eq!(back.fixture.head(), back.to);
    let files = [
        ("src/a", "one\n"),
        ("README.md", "hello\n"),
        ("src/deep/x.log", "kept\n"),
    ];
    back.is(&files, "");
    // A folder that held nothing else is gone, and one with what git ignores is not.
    for gone in ["notes", "src/deep/er"] {
        assert!(!back.fixture.at(gone).exists(), "{gone}");
    }
    let files = paths(&["README.md", "notes", "src/a", "src/deep/er/b"]);
    assert_eq!(taken.files, files);
    for (what, expected) in [
        (":src/a", "three"),
        (":notes", "mine"),
        ("^", back.from.as_str()),
        ("", taken.kept.as_str()),
    ] {
        assert_eq!(back.kept(&format!("{KEPT_AS}{what}")), expected);
    }
    let author = back.fixture.git(&["log", "-1", "--format=%an", KEPT_AS]);
    assert_eq!(author, "tm\n");
    // What is changed after a kill is kept beside it.
    back.fixture.write("src/a", "meanwhile\n");
    back.go(&[]).unwrap();
    assert_eq!(back.held("src/a"), "one\n");
    assert_eq!(back.kept(KEPT_AS), taken.kept.as_str());
    assert_eq!(back.kept(&format!("{KEPT_AS}.2:src/a")), "meanwhile");
}

#[test]
fn where_all_is_committed_the_branch_is_kept_as_it_was() {
    let fixture = Fixture::dirty();
    let to = fixture.head();
    let from = fixture.commit_all("new");
    let back = Back::new(fixture, from, to);
    let taken = back.go(&[]).unwrap();
    assert_eq!((&taken.kept, &back.fixture.head()), (&back.from, &back.to));
    // To be done again does no harm, as after a kill.
    back.go(&[]).unwrap();
    assert_eq!(back.kept(KEPT_AS), back.from.as_str());
    let second = format!("{KEPT_AS}.2");
    assert_eq!(back.fixture.resolve(&second).unwrap(), None);
}

#[test]
fn files_that_no_commit_had_come_back() {
    let mut back = Back::two_commits();
    let blobs = back.fixture.write_blobs(&["exit 1\n", "half\n"]).unwrap();
    let entry = |mode, oid: &Oid| {
        let oid = oid.clone();
        Some(TreeEntry { mode, oid })
    };
    back.edits = vec![
        (path("tests/t.sh"), entry(0o100_755, &blobs[0])),
        (path("src/a"), entry(0o100_644, &blobs[1])),
        (path("README.md"), None),
    ];
    back.go(&[]).unwrap();
    let files = [("src/a", "half\n"), ("tests/t.sh", "exit 1\n")];
    back.is(&files, " D README.md\n M src/a\n?? tests/t.sh\n");
    let mode = fs::metadata(back.fixture.at("tests/t.sh")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o111, 0o111);
}

#[test]
fn what_is_somebodys_own_stays() {
    let back = Back::two_commits();
    back.go(&["notes", "src/a"]).unwrap();
    let files = [("notes", "mine\n"), ("src/a", "three\n")];
    back.is(&files, " M src/a\n?? notes\n");
}

#[test]
fn links_and_folders_give_way_and_nothing_is_written_through_them() {
    let fixture = Fixture::new();
    let base = fixture.head();
    fixture.write("a/b", "file\n");
    fixture.link("README.md", "link");
    let to = fixture.commit_all("one");
    fs::remove_dir_all(fixture.at("a")).unwrap();
    fixture.write("a", "now a file\n");
    fixture.remove("link");
    fixture.write("link/x", "now a folder\n");
    let from = fixture.commit_all("two");
    let mut back = Back::new(fixture, from, to);
    back.go(&[]).unwrap();
    back.is(&[("a/b", "file\n")], "");
    assert!(back.fixture.at("link").is_symlink());

    // A folder that is a link by now leads elsewhere, and what is there is nobody's to take away.
    let fixture = &back.fixture;
    fixture.write("../elsewhere/b", "theirs\n");
    fs::remove_dir_all(fixture.at("a")).unwrap();
    fixture.link("../elsewhere", "a");
    (back.from, back.to) = (back.to, base);
    back.kept_as = "refs/tramline/rewound/run/2";
    back.go(&[]).unwrap();
    back.is(&[("../elsewhere/b", "theirs\n")], "");
}

#[test]
fn from_anywhere_else_nothing_is_moved() {
    let mut back = Back::two_commits();
    let look = |back: &Back| (back.fixture.head(), back.fixture.short_status());
    let before = look(&back);
    back.fixture
        .git(&["switch", "--quiet", "--create", "other"]);
    back.go(&[]).unwrap_err();
    back.fixture.git(&["switch", "--quiet", "topic"]);
    back.from = back.to.clone();
    back.go(&[]).unwrap_err();
    assert_eq!(look(&back), before);
    assert_eq!(back.fixture.resolve(KEPT_AS).unwrap(), None);
}

#[test]
fn what_cannot_be_written_is_named_and_written_the_next_time() {
    let back = Back::two_commits();
    let fixture = &back.fixture;
    fixture.config(&[
        ("filter.odd.clean", "cat"),
        ("filter.odd.smudge", "false"),
        ("filter.odd.required", "true"),
    ]);
    fixture.write(".git/info/attributes", "src/a filter=odd\n");
    let error = back.go(&[]).unwrap_err();
    assert!(error.to_string().contains("src/a"), "{error}");
    // One that does not come back to what it was given is no reason to stop.
    fixture.config(&[("filter.odd.smudge", "sed s/one/once/")]);
    let taken = back.go(&[]).unwrap();
    assert!(taken.files.contains(&path("src/a")));
    assert_eq!(back.held("src/a"), "once\n");
    assert_eq!(back.kept(&format!("{KEPT_AS}:src/a")), "three");
}

#[test]
fn a_submodule_goes_back_where_nothing_of_its_own_is_lost() {
    let fixture = Fixture::new();
    for name in ["source", "other"] {
        let folder = fixture.outside().join(name);
        let folder = folder.to_str().unwrap();
        fixture.git(&["clone", "--quiet", ".", folder]);
        fixture.add_submodule(folder, name);
    }
    let to = fixture.commit_all("modules");
    let rev = |fixture: &Fixture, folder: &str, name| {
        let rev = fixture.inside(folder, &["rev-parse", name]);
        rev.trim().to_owned()
    };
    let [(first, second), (old, new)] = ["source", "other"].map(|folder| {
        let first = rev(&fixture, folder, "HEAD");
        fixture.write(&format!("{folder}/README.md"), "next\n");
        fixture.inside(folder, &["commit", "--quiet", "--all", "-m", "next"]);
        (first, rev(&fixture, folder, "HEAD"))
    });
    let from = fixture.commit_all("moved");
    let mut back = Back::new(fixture, from, to.clone());
    // Goes back; where the submodule is then, and which ones did not go.
    let go = |back: &Back, untouched: &[&str]| {
        let taken = back.go(untouched).unwrap();
        (rev(&back.fixture, "source", "HEAD"), taken.submodules)
    };

    // What no commit in it holds is not risked.
    back.fixture.write("other/README.md", "mine");
    let (at_first, left) = ((first.clone(), paths(&["other"])), vec![]);
    assert_eq!(go(&back, &[]), at_first);
    assert_eq!(rev(&back.fixture, "other", "HEAD"), new);
    assert_eq!(rev(&back.fixture, "source", KEPT_AS), second);
    let checkout = ["checkout", "--quiet", "--force", &old];
    back.fixture.inside("other", &checkout);
    assert_eq!(back.fixture.short_status(), "");

    // Where it was moved and not committed yet, it comes back so.
    back.fixture.git(&["update-ref", "-d", KEPT_AS]);
    let (mode, oid) = (0o160_000, second.parse().unwrap());
    back.edits = vec![(path("source"), Some(TreeEntry { mode, oid }))];
    back.from = to;
    let at_second = (second, left);
    assert_eq!(go(&back, &[]), at_second);
    assert_eq!(back.fixture.short_status(), " M source\n");
    back.edits.clear();
    assert_eq!(go(&back, &["source"]).0, at_second.0);

    // One that was removed since is named.
    back.fixture.git(&["rm", "--quiet", "--force", "other"]);
    back.from = back.fixture.commit_all("removed");
    back.fixture.git(&["update-ref", "-d", KEPT_AS]);
    assert_eq!(go(&back, &[]), at_first);
    let update = ["submodule", "--quiet", "update", "--init"];
    back.fixture.git(&update);
    assert_eq!(back.fixture.short_status(), "");
}
