//! Submodules: one that stands at another commit is part of the work, and none is left out in silence.

use std::fs;
use std::ops::Deref;

use serde_json::json;

use super::stage::{Stage, VERIFIED_GREEN, VERIFIED_RED};

const REPLAY: &[&str] = &["verify", "main..HEAD", "--replay"];
const IN_LIB: [&str; 2] = ["-C", "lib"];

/// A project with the submodule `lib`, whose file `version` holds 1. Its upstream has 2 and 3, too.
struct Project(Stage);

impl Deref for Project {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

impl Project {
    fn new() -> Self {
        let project = Self(Stage::new(""));
        let upstream = project.upstream();
        fs::create_dir(&upstream).unwrap();
        project.git(&["init", "--quiet", &upstream]);
        let write = |name: &str, text: &str| fs::write(format!("{upstream}/{name}"), text).unwrap();
        write("more_test.sh", "test_more() { true; }\n");
        for version in ["1", "2", "3"] {
            write("version", version);
            project.git(&["-C", &upstream, "add", "--all"]);
            project.commit_in(&upstream);
            project.git(&["-C", &upstream, "tag", &format!("v{version}")]);
        }
        project.add("lib");
        project.at("v1");
        project.commit_all("Begin");
        project
    }

    /// With a run in which everything is run here.
    fn started() -> Self {
        let project = Self::new();
        project.auto("start 1 --verify").ok();
        project
    }

    /// The submodule is moved for a test that wants it so.
    fn moved() -> Self {
        let project = Self::started();
        project.red("lib", 2);
        project.at("v2");
        let green = project.accepted(VERIFIED_GREEN);
        assert!(green["warning"].is_null(), "{green:#}");
        project
    }

    fn upstream(&self) -> String {
        self.outside("upstream").display().to_string()
    }

    fn add(&self, name: &str) {
        let file = ["-c", "protocol.file.allow=always"];
        let add = ["submodule", "--quiet", "add", &self.upstream(), name];
        self.git(&[&file[..], &add].concat());
    }

    fn commit_in(&self, folder: &str) {
        let who = ["-c", "user.name=Me", "-c", "user.email=me@localhost"];
        let commit = ["commit", "--quiet", "--all", "--message", "Another"];
        self.git(&[&["-C", folder][..], &who, &commit].concat());
    }

    fn in_lib(&self, words: &[&str]) {
        self.git(&[&IN_LIB, words].concat());
    }

    fn at(&self, version: &str) {
        self.in_lib(&["checkout", "--quiet", version]);
    }

    /// A test that wants a submodule to be there in this version.
    fn wants(&self, folder: &str, version: u32) {
        let test = format!("test \"$(cat {folder}/version)\" -ge {version}");
        let test = format!("test_{folder}() {{ {test}; }}\n");
        self.write(&format!("tests/{folder}_test.sh"), test);
    }

    fn red(&self, folder: &str, version: u32) {
        self.wants(folder, version);
        self.accepted(VERIFIED_RED);
    }

    /// GREEN, and a commit of these files.
    fn green(&self, files: &str) {
        self.accepted(VERIFIED_GREEN);
        self.commits(files);
    }

    fn commits(&self, files: &str) {
        self.auto("commit").ok();
        assert_eq!(self.committed(), files);
    }

    fn is_dirty(&self, words: &str) {
        let answer = self.0.refused(words, "unfit_files", &[]);
        let files = &answer.json()["details"]["files"];
        assert!(files.is_array(), "{answer:#?}");
    }

    fn not_replayed_without_it(&self) {
        self.git(&["submodule", "--quiet", "deinit", "--force", "lib"]);
        let answer = self.tm(REPLAY);
        let problems = answer.json()["commits"][0]["problems"].as_array();
        let [problem] = &problems.unwrap()[..] else {
            panic!("{answer:#?}");
        };
        assert_eq!(problem["code"], "not_replayed", "{answer:#?}");
        let message = problem["message"].as_str().unwrap();
        assert!(message.contains("`git submodule update --init`"));
    }
}

#[test]
fn a_moved_submodule_is_the_change() {
    testkit::by_chance!(3);
    let env = Project::moved();
    let made = env.auto("commit").ok();
    assert_eq!(env.committed(), "lib\ntests/lib_test.sh");
    assert!(made["warning"].is_null(), "{made:#}");

    // The same by hand, with a commit that nobody else has.
    env.red("lib", 4);
    env.write("lib/version", "4");
    env.commit_in("lib");
    env.accepted(VERIFIED_GREEN);
    env.commit_all("By hand");
    let made = env.auto("commit --sha HEAD").ok();
    assert!(made["warning"].as_str().unwrap().contains("pushed"));

    let proof = env.tm(REPLAY).ok();
    for commit in proof["commits"].as_array().unwrap() {
        assert_eq!(commit["standing"], "earned", "{commit:#}");
        // The submodule is that of before.
        assert_eq!(commit["replay"]["red"]["failed"], 1, "{commit:#}");
    }
    env.not_replayed_without_it();
    env.git(&["submodule", "--quiet", "update", "--init"]);
}

#[test]
fn what_no_commit_in_it_holds_is_refused_by_name() {
    testkit::by_chance!(3);
    let env = Project::new();
    env.write("lib/version", "changed");
    env.auto("start 1").fault(3, "dirty_tree");
    env.in_lib(&["checkout", "--quiet", "version"]);
    env.auto("start 1").ok();
    env.wants("lib", 2);
    env.write("lib/new", "");
    let red = "complete red --results failed:1,passed:1";
    let green = "complete green --results failed:0,passed:2";
    env.is_dirty(red);
    env.delete("lib/new");
    env.auto(red).ok();
    env.write("lib/version", "2");
    env.is_dirty(green);
    env.commit_in("lib");
    env.auto(green).ok();
    env.write("lib/version", "3");
    env.is_dirty("commit");
    env.in_lib(&["checkout", "--quiet", "version"]);
    // Another commit in it is not what was tested. Only what changed is told.
    let changed = |expected: &str| {
        let answer = env.refused("commit", "changed_after_green", &[]);
        assert_eq!(answer.json()["details"]["files"], json!([expected]));
    };
    env.at("v3");
    changed("lib");
    env.at("-");
    env.write("README.md", "other\n");
    changed("README.md");
    env.git(&["checkout", "--quiet", "README.md"]);
    env.commits("lib\ntests/lib_test.sh");
}

#[test]
fn what_was_changed_in_it_before_stays_out() {
    testkit::by_chance!(3);
    let env = Project::new();
    env.at("v3");
    env.write("lib/new", "");
    env.auto("start 1 --allow-dirty --verify").ok();
    env.subtask("spaces");
    assert!(!env.committed().contains("lib"));
    env.test("tabs");
    env.accepted("complete red --verify");
    env.write("lib/new", "other");
    env.code("tabs");
    env.is_dirty(VERIFIED_GREEN);
}

#[test]
fn a_new_one_a_renamed_one_and_a_removed_one_need_not_be_staged() {
    testkit::by_chance!(3);
    let env = Project::started();
    env.red("more", 1);
    env.add("more");
    env.git(&["reset", "--quiet"]);
    env.write("more/new", "");
    env.is_dirty(VERIFIED_GREEN);
    env.delete("more/new");
    env.green(".gitmodules\nmore\ntests/more_test.sh");

    // A bump is a chore.
    env.auto("reopen --kind chore --reason bump").ok();
    env.at("v2");
    env.accepted("complete chore --verify");
    env.commits("lib");
    env.auto("finalize --verify").ok();
    env.tm(REPLAY).ok();

    // Another repository in the tree is none.
    env.auto("start 4 --verify").ok();
    env.git(&["clone", "--quiet", &env.upstream(), "nested"]);
    env.wants("second", 1);
    env.delete("tests/more_test.sh");
    env.accepted("complete red --verify --removed more*");
    env.git(&["mv", "lib", "second"]);
    env.git(&["rm", "--quiet", "more"]);
    env.git(&["reset", "--quiet"]);
    let tests = "tests/more_test.sh\ntests/second_test.sh";
    env.green(&format!(".gitmodules\nlib\nmore\nsecond\n{tests}"));
    assert_eq!(env.git(&["status", "--porcelain"]), "?? nested/");
}

/// Like a lock file it comes with the tests that fail with it.
#[test]
fn what_red_failed_with_is_there_when_it_is_run() {
    testkit::by_chance!(3);
    let env = Project::new();
    env.write("src/known.sh", "known() { echo 1; }\n");
    env.commit_all("Known");
    env.auto("start 1 --verify").ok();
    let test = "test_known() { test \"$(cat lib/version)\" = \"$(known)\"; }\n";
    env.write("tests/lib_test.sh", test);
    env.at("v2");
    env.auto(VERIFIED_RED).ok();
    env.write("src/known.sh", "known() { echo 2; }\n");
    let green = env.accepted(VERIFIED_GREEN);
    assert!(green["warning"].is_null(), "{green:#}");
}
