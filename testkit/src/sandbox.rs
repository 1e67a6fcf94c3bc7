//! A home, a project and the binary, with nothing else in its environment.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::files::{self, Everything};
use crate::kept::Place;
use crate::mcp::Server;
use crate::outcome::Outcome;
use crate::person::Person;
use crate::template::Template;

/// A folder of its own for each test: `home`, with the store of runs in it, `project`, and `temporary` for what processes
/// need for a moment.
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) place: Place,
    /// Where processes are run; the project unless a test says otherwise.
    pub cwd: PathBuf,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// A home, and an empty folder for the project.
    pub fn new() -> Self {
        let folder = crate::folder();
        for name in ["home", "project", "temporary"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self::in_place(Place::Own(folder))
    }

    pub(crate) fn in_place(place: Place) -> Self {
        let cwd = fs::canonicalize(place.folder()).unwrap().join("project");
        Self { place, cwd }
    }

    /// A repository with one commit on `main`, of these files.
    pub fn repository(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        Template::of(files).write_to(&sandbox.project());
        sandbox
    }

    /// Notes that the tests of the project were quick when they were run last, so that no process of their own is made for them.
    pub fn note_quick_tests(&self) {
        let calls = self.calls();
        fs::create_dir_all(&calls).unwrap();
        fs::write(calls.join("quick"), "").unwrap();
    }

    /// Where the calls are whose tests are run by a process of their own.
    pub fn calls(&self) -> PathBuf {
        let project = self.project();
        let name = project.to_str().unwrap().trim_start_matches('/');
        let projects = self.store().join("projects");
        projects.join(name.replace('/', "-")).join("calls")
    }

    /// Makes the project a repository with somebody's name in it.
    pub fn init(&self) {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        let config = self.project().join(".git/config");
        let mut text = fs::read_to_string(&config).unwrap();
        text.push_str(
            "[user]\n\tname = Somebody\n\temail = somebody@localhost\n[gc]\n\tauto = 0\n",
        );
        fs::write(config, text).unwrap();
    }

    /// The folder that holds all of it, as it really is.
    pub fn folder(&self) -> PathBuf {
        fs::canonicalize(self.place.folder()).unwrap()
    }

    /// The project.
    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// Where runs are kept.
    pub fn store(&self) -> PathBuf {
        self.folder().join("home/store")
    }

    /// Where processes put what they need for a moment.
    pub fn temporary(&self) -> PathBuf {
        self.folder().join("temporary")
    }

    /// The folders of all runs of every project, in order of their names.
    pub fn runs(&self) -> Vec<PathBuf> {
        let projects = files::list(&self.store().join("projects"));
        let mut all: Vec<PathBuf> = projects
            .iter()
            .flat_map(|project| files::list(&project.join("runs")))
            .filter(|path| path.is_dir())
            .collect();
        all.sort();
        all
    }

    /// The folder of the only run.
    pub fn run_folder(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The file of the journal of the only run.
    pub fn journal_path(&self) -> PathBuf {
        self.run_folder().join("activity.jsonl")
    }

    /// The journal of the only run.
    pub fn journal(&self) -> Vec<u8> {
        fs::read(self.journal_path()).unwrap()
    }

    /// The names of the events of the only run.
    pub fn events(&self) -> Vec<String> {
        let journal = String::from_utf8(self.journal()).unwrap();
        let name = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["event"].as_str().unwrap().to_owned()
        };
        journal.lines().map(name).collect()
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        files::write(&self.project().join(path), text);
    }

    /// Reads a file of the project.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Writes a script of the project that can be run.
    pub fn script(&self, path: &str, script: &str) {
        let script = format!("#!/bin/sh\n{script}\n");
        files::write_program(&self.project().join(path), script);
    }

    /// Puts a hook of git into the repository.
    pub fn hook(&self, name: &str, script: &str) {
        self.script(&format!(".git/hooks/{name}"), script);
    }

    /// A process with nothing but what is needed in its environment.
    pub fn process(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        let own = self.folder().join("bin");
        if own.is_dir() {
            let rest = std::env::split_paths(&path);
            path = std::env::join_paths(std::iter::once(own).chain(rest)).unwrap();
        }
        command
            .current_dir(&self.cwd)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home())
            .env("TMPDIR", self.temporary())
            .env("TRAMLINE_HOME", self.store())
            .env("GIT_CONFIG_GLOBAL", self.home().join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.folder())
            .env("NO_COLOR", "1")
            .env("TRAMLINE_CHECK_ADVICE", "1")
            .env("USER", "tester")
            .stdin(Stdio::null());
        command
    }

    /// Runs git, which must succeed, and gives what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Runs git, which must fail.
    pub fn git_fails(&self, arguments: &[&str]) {
        let output = self.process("git").args(arguments).output().unwrap();
        assert!(!output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// Commits everything there is, and gives the commit.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.head()
    }

    /// The commit that HEAD is at.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The binary, not yet started.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = self.process(binary());
        command.args(arguments);
        command
    }

    /// Runs the binary.
    pub fn tm(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.program(arguments).output().unwrap())
    }

    /// Runs the binary for JSON, which it must answer with.
    pub fn json(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&self.program(arguments).arg("--json").output().unwrap()).answered()
    }

    /// Starts the binary, with its output on pipes, and does not wait for it.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.program(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs the binary with something on its standard input.
    pub fn tm_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Outcome {
        with_input(&mut self.program(arguments), input)
    }

    /// Runs the binary at a terminal.
    pub fn person(&self, arguments: &[&str]) -> Person {
        Person::at(self.program(arguments))
    }

    /// Starts an MCP server that nobody has spoken to yet.
    pub fn server(&self, options: &[&str]) -> Server {
        let mut program = self.program(&["mcp"]);
        program.args(options);
        Server::spawn(program)
    }

    /// Trusts something of the repository as it is: `["config", "trust"]`, or another command that does.
    pub fn trust(&self, command: &[&str]) {
        let asked = self.json(&[command, &["--hash", "00"]].concat());
        assert_eq!(asked.code(), "changed_since", "{asked:?}");
        let answer = asked.json();
        let hash = answer["error"]["details"]["hash"].as_str().unwrap();
        self.json(&[command, &["--hash", hash]].concat()).ok();
    }

    /// Every file of the project and of the home as it is now.
    pub fn everything(&self) -> Everything {
        let (project, home) = (self.project(), self.home());
        Everything::below([project.as_path(), home.as_path()]).by_files()
    }
}

/// Runs a process with something on its standard input.
pub fn with_input(command: &mut Command, input: impl AsRef<[u8]>) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read everything closes the pipe: that is its right.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    Outcome::of(&child.wait_with_output().unwrap())
}

/// Where programs are found, the binary first.
pub fn path_with_binary() -> OsString {
    let mut path = binary().parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

/// The binary that was built with the tests: two folders above them.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    let binary = built.join("tm");
    assert!(binary.is_file(), "{} is not built", binary.display());
    binary
}
