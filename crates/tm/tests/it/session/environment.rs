//! A home, a project and the binary, with nothing else in its environment; sessions in it, and proof that nothing was
//! touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Files of a session's folder that are the run's, and no part of what the session is about.
const OF_THE_RUN: [&str; 11] = [
    "activity.jsonl",
    "evidence",
    "lock",
    "manifest.json",
    "report.json",
    "report.md",
    "snapshot.json",
    "state.json",
    "steps.lock",
    "work-units.json",
    "workflow.yaml",
];

/// A folder of its own for each test: `home`, with the store in it, and `project`.
pub struct Env {
    folder: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct Answer {
    /// Its exit status.
    pub status: i32,
    /// The JSON value that it printed.
    pub json: Value,
}

impl Answer {
    /// Reads what a process that was given `--json` printed.
    pub fn of(output: &Output) -> Self {
        let out = String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8");
        let err = String::from_utf8_lossy(&output.stderr);
        let json = serde_json::from_str(&out)
            .unwrap_or_else(|error| panic!("{error}: {out:?} {err:?} {:?}", output.status));
        Self {
            status: output.status.code().expect("ended by itself"),
            json,
        }
    }

    /// The answer of a command that must succeed.
    pub fn ok(self) -> Value {
        self.with(0)
    }

    /// The answer of a command that must end with this status.
    pub fn with(self, status: i32) -> Value {
        assert_eq!(self.status, status, "{self:#?}");
        self.json
    }

    /// A refusal or fault with this code and exit status. What it says.
    pub fn fault(&self, status: i32, code: &str) -> String {
        let error = self.json.get("error").unwrap_or(&self.json);
        assert_eq!(
            (error["code"].as_str().unwrap_or_default(), self.status),
            (code, status),
            "{self:#?}"
        );
        for part in ["message", "suggestion"] {
            let said = error[part].as_str().unwrap_or_default();
            assert!(!said.is_empty(), "no {part}: {self:#?}");
        }
        error["message"].as_str().unwrap_or_default().to_owned()
    }

    /// A step that ended the session in ERROR, for this reason, on a history entry that says so.
    pub fn broke_down(&self, reason: &str) {
        assert_eq!(self.status, 0, "{self:#?}");
        let said = text(&self.json, "last_error");
        assert!(said.contains(reason), "{reason:?} is not in {said:?}");
        assert_eq!(text(&self.json, "phase"), "ERROR", "{self:#?}");
        assert_eq!(text(&self.json, "status"), "ERROR", "{self:#?}");
        let last = self.json["phase_history"]
            .as_array()
            .unwrap()
            .last()
            .unwrap();
        assert_eq!(last["outcome"], "ERROR", "{last}");
    }
}

impl Env {
    /// A home and an empty project.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// The folder that holds all of it, as it really is.
    pub fn folder(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.project().join(path), text);
    }

    /// The binary, with nothing but what is needed in its environment.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tm"));
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TMPDIR", self.temporary())
            .env("TRAMLINE_HOME", self.home().join("store"))
            .env("NO_COLOR", "1")
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    /// Where the binary puts what it needs for a moment.
    pub fn temporary(&self) -> PathBuf {
        let folder = self.folder().join("temporary");
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Runs `tm session` for JSON.
    pub fn tm(&self, arguments: &[&str]) -> Answer {
        Answer::of(&self.command(arguments).output().unwrap())
    }

    /// Runs `tm session` for JSON, with something on its standard input.
    pub fn tm_with_input(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A program that does not read everything closes the pipe: that is its right.
        let _ = stdin.write_all(input);
        drop(stdin);
        Answer::of(&child.wait_with_output().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut all = vec!["session"];
        all.extend(arguments);
        all.push("--json");
        self.program(&all)
    }

    /// Begins a session of the profile that comes with the program.
    pub fn begin(&self) -> Session<'_> {
        self.begin_with(&["-i", "request=Count words"])
    }

    /// Begins a session.
    pub fn begin_with(&self, arguments: &[&str]) -> Session<'_> {
        let mut all = vec!["init"];
        all.extend(arguments);
        let state = self.tm(&all).ok();
        Session {
            env: self,
            id: text(&state, "session_id").to_owned(),
            folder: PathBuf::from(text(&state, "folder")),
        }
    }
}

/// A session.
pub struct Session<'a> {
    /// Where it is.
    pub env: &'a Env,
    /// Its id.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
}

impl Session<'_> {
    /// Runs a command about this session.
    pub fn tm(&self, arguments: &[&str]) -> Answer {
        let mut all = arguments.to_vec();
        all.extend(["--session", &self.id]);
        self.env.tm(&all)
    }

    /// The session as it is.
    pub fn status(&self) -> Value {
        self.tm(&["status"]).ok()
    }

    /// Takes a step.
    pub fn step(&self) -> Answer {
        self.tm(&["step"])
    }

    /// The session as it is, of whose files nobody changed one.
    pub fn whole(&self) -> Value {
        let state = self.status();
        assert!(state.get("tampered").is_none(), "{state:#}");
        state
    }

    /// Takes a step that must lead there.
    pub fn step_to(&self, phase: &str) -> Value {
        let answer = self.step().ok();
        assert_eq!(text(&answer, "phase"), phase, "{answer:#}");
        assert_eq!(answer["advanced"], true, "{answer:#}");
        answer
    }

    /// Takes a step that must not be possible: the exit status is 7, and nothing at all is touched.
    pub fn blocked(&self) -> Value {
        let before = Everything::of(self.env);
        let answer = self.step().with(7);
        before.assert_same(&Everything::of(self.env), "a step that is blocked");
        assert_eq!(answer["advanced"], false, "{answer:#}");
        answer
    }

    /// Takes a step that must be refused with this code, after which no file of the session is another one.
    pub fn refused(&self, status: i32, code: &str) -> String {
        let before = (self.files(), self.status());
        let said = self.step().fault(status, code);
        assert_eq!(before, (self.files(), self.status()), "after {code}");
        said
    }

    /// Writes a file of the session.
    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.folder.join(path), text);
    }

    /// Reads a file of the session.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Whether anything stands there.
    pub fn has(&self, path: &str) -> bool {
        self.folder.join(path).symlink_metadata().is_ok()
    }

    /// The files that the session is about, and its folders (with `/` behind them).
    pub fn names(&self) -> BTreeSet<String> {
        self.files().into_keys().collect()
    }

    /// The same with what is in them.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        collect(&self.folder, "", &mut all);
        all.into_iter()
            .filter(|(path, _)| {
                let first = path.split('/').next().unwrap_or_default();
                !OF_THE_RUN.contains(&first)
            })
            .map(|(path, found)| (path, found.bytes))
            .collect()
    }

    /// The files below the folder `code` of an iteration, with what is in them.
    pub fn code(&self, iteration: u32) -> BTreeMap<String, String> {
        let prefix = format!("iteration-{iteration}/code/");
        self.files()
            .into_iter()
            .filter_map(|(path, bytes)| {
                let path = path.strip_prefix(&prefix)?.to_owned();
                let is_file = !path.is_empty() && !path.ends_with('/');
                is_file.then(|| (path, String::from_utf8_lossy(&bytes).into_owned()))
            })
            .collect()
    }

    /// Goes to PLANNED.
    pub fn to_planned(&self) {
        self.step_to("PLANNING");
        self.put("planning-response.md", PLAN);
        self.step_to("PLANNED");
    }

    /// Goes to GENERATING.
    pub fn to_generating(&self) {
        self.to_planned();
        self.step_to("GENERATING");
    }

    /// Goes from GENERATING to REVIEWING, with this bundle.
    pub fn generate(&self, bundle: &str) {
        self.put("iteration-1/generation-response.md", bundle);
        self.step_to("GENERATED");
        self.step_to("REVIEWING");
    }

    /// Goes to REVIEWING of the first iteration.
    pub fn to_reviewing(&self) {
        self.to_generating();
        self.generate(BUNDLE);
    }

    /// Goes from REVIEWING to REVIEWED, with this review.
    pub fn review(&self, iteration: u32, review: &str) {
        if !self.has(&format!("iteration-{iteration}/review-prompt.md")) {
            self.step_to("REVIEWING");
        }
        self.put(&format!("iteration-{iteration}/review-response.md"), review);
        self.step_to("REVIEWED");
    }

    /// Goes from REVISING to REVIEWING, with this bundle.
    pub fn revise(&self, iteration: u32, bundle: &str) {
        self.put(
            &format!("iteration-{iteration}/revision-response.md"),
            bundle,
        );
        self.step_to("REVISED");
        self.step_to("REVIEWING");
    }

    /// Goes to REVISING of the second iteration.
    pub fn to_revising(&self) {
        self.to_reviewing();
        self.review(1, FAIL);
        self.step_to("REVISING");
    }

    /// Goes to COMPLETE.
    pub fn to_complete(&self) {
        self.to_reviewing();
        self.review(1, PASS);
        self.step_to("COMPLETE");
    }
}

/// A plan.
pub const PLAN: &str = "# Plan\n\nCount by spaces.\n";
/// A bundle of two files.
pub const BUNDLE: &str = "<<<FILE: src/count.sh>>>\nwc -w\n<<<FILE: README>>>\nCounts words.\n";
/// A review that passes the code.
pub const PASS: &str = "Good.\n\n@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";
/// A review that does not.
pub const FAIL: &str = "Tabs are forgotten.\n\n@@@REVIEW_META\nverdict: FAIL\nissues_total: 2\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";

/// A text of an answer; empty where there is none.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Every file and folder of a test, with its bytes, mode, identity and the time of its last change.
pub struct Everything(BTreeMap<String, Found>);

#[derive(PartialEq, Eq)]
struct Found {
    bytes: Vec<u8>,
    mode: u32,
    inode: u64,
    changed: (i64, i64),
}

impl Everything {
    /// Reads all of it.
    pub fn of(env: &Env) -> Self {
        Self::below(&env.folder())
    }

    /// Reads all that is in a folder.
    pub fn below(folder: &Path) -> Self {
        let mut all = BTreeMap::new();
        collect(folder, "", &mut all);
        Self(all)
    }

    /// Compares, and names what differs.
    pub fn assert_same(&self, after: &Self, what: &str) {
        let differing: BTreeSet<&String> = self
            .0
            .iter()
            .filter(|(path, was)| after.0.get(*path) != Some(was))
            .map(|(path, _)| path)
            .chain(after.0.keys().filter(|path| !self.0.contains_key(*path)))
            .collect();
        assert!(differing.is_empty(), "{what} changed {differing:?}");
    }
}

fn collect(folder: &Path, below: &str, all: &mut BTreeMap<String, Found>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let about = fs::symlink_metadata(&path).unwrap();
        let mut key = format!("{below}{name}");
        let bytes = if about.is_dir() {
            key.push('/');
            collect(&path, &key, all);
            Vec::new()
        } else if about.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_vec()
        } else if about.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        let found = Found {
            bytes,
            mode: about.mode(),
            inode: about.ino(),
            changed: (about.mtime(), about.mtime_nsec()),
        };
        all.insert(key, found);
    }
}
