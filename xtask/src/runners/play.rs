//! One runner's project on a stage: the honest run, and the cheats, each from where the honest run and it part.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::elsewhere::Machine;
use super::installed::{Installed, link_packages};
use super::project::{Cheat, Edit, Level, Runner, Texts, honest_red};
use super::table::{HARMLESS, PASSES, TOLD, VERIFIED};
use crate::stage::{Ran, Stage};
use crate::tools::cache;

/// How many seconds a command of the program may take.
const PATIENCE: &str = "400";
/// The same for the project's test command, in milliseconds.
const TEST_PATIENCE: u32 = 120_000;
const START_FIRST: &[&str] = &["autopilot", "start", "1", "--verify"];
const START_SECOND: &[&str] = &["autopilot", "start", "2", "--verify"];
const COMPLETE_RED: &[&str] = &["autopilot", "complete", "red", "--verify"];
const COMPLETE_GREEN: &[&str] = &["autopilot", "complete", "green", "--verify"];
const COMMIT: &[&str] = &["autopilot", "commit"];
const FINALIZE: &[&str] = &["autopilot", "finalize", "--verify"];
/// What a machine is asked that was not there.
const PROOF: &[&str] = &["verify", "--replay", "--strict"];
/// What all but a commit are given, and a cheat may leave out.
const VERIFY: &str = "--verify";

/// Told of a RED in which nothing could be loaded: it says nothing of a cheat.
const SHAPE_OF_RED: &str = "red_only_errors";

/// What was there before a run, after its start, and after an honest RED.
const FRESH: &str = "fresh";
const BEGUN: &str = "begun";
const RED: &str = "red";

/// What became of a cheat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The run refused it, with this code.
    Refused(String),
    /// It came through the run, and another machine finds this wrong with its commits.
    Found(String),
    /// It came through, and the run tells these codes, which it does not of an honest run.
    Told(BTreeSet<String>),
    /// It came through, and what it was about is not in the commits.
    Harmless,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(code) => f.write_str(code),
            Self::Found(code) => write!(f, "{code}{VERIFIED}"),
            Self::Harmless => f.write_str(HARMLESS),
            Self::Told(codes) if codes.is_empty() => f.write_str(PASSES),
            Self::Told(codes) => {
                let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
                write!(f, "{}{TOLD}", codes.join(", "))
            }
        }
    }
}

/// How a command was refused.
pub struct Refusal {
    /// The code.
    pub code: String,
    /// The command, and what was answered.
    pub answer: String,
}

impl Refusal {
    fn of(words: &[&str], ran: &Ran) -> Option<Self> {
        if ran.status == Some(0) {
            return None;
        }
        let code = match ran.code() {
            "" => "no answer",
            code => code,
        };
        let mut answer = ran.json.clone();
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("nextAction");
        }
        Some(Self {
            code: code.to_owned(),
            answer: format!("{}: {answer}", words.join(" ")),
        })
    }
}

/// What edits changed around the project.
#[derive(Default)]
struct Surroundings {
    variables: Texts,
    /// Folders in front of the search path.
    folders: Vec<PathBuf>,
}

/// A project, and a run in it.
pub struct Play<'a> {
    runner: &'a Runner,
    stage: Stage,
    program: &'a Path,
    installed: &'a Installed,
    /// The machine that is asked in the end.
    machine: Machine,
    surroundings: Surroundings,
    /// Where a fake finds the runner that it takes the place of.
    real: String,
    /// What an honest run is told.
    usual: BTreeSet<String>,
    /// Whether every answer is printed.
    verbose: bool,
}

impl<'a> Play<'a> {
    /// Makes the project, in a folder of its own.
    pub fn new(
        runner: &'a Runner,
        installed: &'a Installed,
        program: &'a Path,
        folder: &Path,
        (debian, verbose): (Option<Machine>, bool),
    ) -> io::Result<Self> {
        let here = Machine::Here {
            path: installed.path.clone(),
            packages: installed.packages.clone(),
            toolchains: toolchains()?,
            environment: runner.needs.environment.clone(),
        };
        let play = Self {
            runner,
            stage: Stage::new(folder, program)?,
            program,
            installed,
            machine: debian.unwrap_or(here),
            surroundings: Surroundings::default(),
            real: real_program(runner, installed),
            usual: BTreeSet::new(),
            verbose,
        };
        for (path, text) in &runner.project {
            play.stage.write(path, &play.filled_in(text))?;
        }
        let settings = json!({
            "test": { "command": runner.command, "reports": runner.report.as_slice() },
            "autopilot": { "testTimeout": TEST_PATIENCE },
        });
        play.stage
            .write(".taskmaster/config.json", &settings.to_string())?;
        play.stage
            .write(".taskmaster/tasks/tasks.json", &tasks().to_string())?;
        let own = json!({ "evidence": { "notes": true } });
        fs::create_dir_all(play.stage.store())?;
        fs::write(play.stage.store().join("config.json"), own.to_string())?;
        if let Some(packages) = &installed.packages {
            link_packages(packages, &play.stage.project())?;
        }
        for (path, text) in &runner.programs {
            play.write_program(path, text)?;
        }
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "Tester"],
            &["config", "user.email", "tester@localhost"],
            &["add", "-A"],
            &["commit", "-q", "-m", "Begin"],
        ] {
            play.stage.git(words)?;
        }
        play.stage.save(FRESH)?;
        Ok(play)
    }

    /// Plays an honest run of two subtasks to its end. What was refused of it, if anything.
    pub fn honest(&mut self) -> io::Result<Option<Refusal>> {
        self.begin()?;
        let (test, product) = (&self.runner.edits["test"], &self.runner.edits["product"]);
        let (test, product) = (test.clone(), product.clone());
        let steps = [
            (Edit::default(), START_FIRST),
            (test, COMPLETE_RED),
            (product, COMPLETE_GREEN),
            (Edit::default(), COMMIT),
            (self.runner.tripled("test"), COMPLETE_RED),
            (self.runner.tripled("product"), COMPLETE_GREEN),
            (Edit::default(), COMMIT),
            (Edit::default(), FINALIZE),
        ];
        for (edit, words) in steps {
            self.apply(&edit)?;
            if let Some(refusal) = self.refusal(words)? {
                return Ok(Some(refusal));
            }
        }
        let proof = self.proof(Level::Verified)?;
        self.usual = told(&proof.json);
        Ok(found(&proof))
    }

    /// Begins a run and takes it behind an honest RED, from where most cheats go on. What was refused of it, if anything.
    pub fn go_to_red(&mut self) -> io::Result<Option<Refusal>> {
        self.begin()?;
        let started = self.refusal(START_SECOND)?;
        self.stage.save(BEGUN)?;
        if started.is_some() {
            return Ok(started);
        }
        self.apply_all(&honest_red())?;
        let refused = self.refusal(COMPLETE_RED)?;
        self.stage.save(RED)?;
        Ok(refused)
    }

    /// Plays a cheat to its end, or until it is refused.
    pub fn cheat(&mut self, cheat: &Cheat) -> io::Result<Outcome> {
        self.surroundings = Surroundings::default();
        let words = &cheat.words;
        let steps = [
            (&cheat.start, START_SECOND, &words.start),
            (&cheat.red, COMPLETE_RED, &words.red),
            (&cheat.green, COMPLETE_GREEN, &words.green),
            (&cheat.before_commit, COMMIT, &words.commit),
            (&cheat.before_end, FINALIZE, &words.end),
        ];
        // What it has in common with the honest run was played before.
        let (place, played) = if !cheat.start.is_empty() || words.start.is_some() {
            (FRESH, 0)
        } else if cheat.red != honest_red() || words.red.is_some() {
            (BEGUN, 1)
        } else {
            (RED, 2)
        };
        self.stage.restore(place)?;
        for (edits, command, said) in steps.into_iter().skip(played) {
            self.apply_all(edits)?;
            let words = self.worded(command, said.as_deref());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let Some(refusal) = self.refusal(&words)? {
                return Ok(Outcome::Refused(refusal.code));
            }
        }
        self.apply_all(&cheat.afterwards)?;
        let proof = self.proof(cheat.level)?;
        if let Some(refusal) = found(&proof) {
            return Ok(Outcome::Found(refusal.code));
        }
        if let Some(command) = &cheat.harms
            && self.run(&self.filled_in(command)).is_err()
        {
            return Ok(Outcome::Harmless);
        }
        let told = told(&proof.json);
        Ok(Outcome::Told(&told - &self.usual))
    }

    /// The words of a command, with what a cheat says in place of `--verify`.
    fn worded(&self, command: &[&str], said: Option<&str>) -> Vec<String> {
        let words = command.iter().map(|word| (*word).to_owned());
        let Some(said) = said else {
            return words.collect();
        };
        let said = self.filled_in(said);
        let said = said.split_whitespace().map(str::to_owned);
        words.filter(|word| word != VERIFY).chain(said).collect()
    }

    /// What an honest run is told, if anything, for whoever looks on.
    pub fn usual_warnings(&self) -> String {
        let usual: Vec<&str> = self.usual.iter().map(String::as_str).collect();
        if usual.is_empty() {
            return String::new();
        }
        format!("; the honest run is told {}", usual.join(", "))
    }

    /// Makes everything as it was before any run.
    fn begin(&mut self) -> io::Result<()> {
        self.surroundings = Surroundings::default();
        self.stage.restore(FRESH)
    }

    /// Runs the program.
    fn tm(&self, words: &[&str]) -> io::Result<Ran> {
        let mut process = self.process("timeout")?;
        process
            .args(["--kill-after=10", PATIENCE])
            .arg(self.program);
        process.args(words).arg("--json");
        let output = process.output()?;
        let ran = Ran::of(output.status.code(), &output.stdout);
        if self.verbose {
            let mut answer = ran.json.clone();
            for part in ["nextAction", "nextSteps"] {
                answer.as_object_mut().map(|answer| answer.remove(part));
            }
            println!("{} → {answer:#}", words.join(" "));
        }
        Ok(ran)
    }

    /// A process of the project, with all that was set around it.
    fn process(&self, program: &str) -> io::Result<Command> {
        let mut process = self.stage.process(program);
        let installed = std::env::split_paths(&self.installed.path);
        let folders = self.surroundings.folders.iter().cloned();
        let path = std::env::join_paths(folders.chain(installed));
        process.env("PATH", path.map_err(io::Error::other)?);
        for (name, value) in toolchains()? {
            process.env(name, value);
        }
        process.envs(&self.runner.needs.environment);
        process.envs(&self.surroundings.variables);
        Ok(process)
    }

    /// How a command was refused, if it was.
    fn refusal(&self, words: &[&str]) -> io::Result<Option<Refusal>> {
        Ok(Refusal::of(words, &self.tm(words)?))
    }

    /// What another machine makes of the commits of the run, which must be of this level.
    fn proof(&self, level: Level) -> io::Result<Ran> {
        let bundle = self.stage.scratch().join("bundle");
        let file = bundle.display().to_string();
        let exported = self.tm(&["runs", "export", "--output", &file])?;
        if exported.status != Some(0) {
            return Ok(exported);
        }
        let project = self.stage.project();
        let level = level.to_string();
        let proof = self
            .machine
            .verify(self.program, &project, &bundle, &level)?;
        if self.verbose {
            println!("{} → {:#}", PROOF.join(" "), proof.json);
        }
        Ok(proof)
    }

    fn apply_all(&mut self, names: &[String]) -> io::Result<()> {
        for name in names {
            let edit = self.runner.edits.get(name).cloned();
            let missing = || io::Error::other(format!("{}: no edit {name}", self.runner.key));
            self.apply(&edit.ok_or_else(missing)?).map_err(|error| {
                io::Error::other(format!("{}: {name}: {error}", self.runner.key))
            })?;
        }
        Ok(())
    }

    fn apply(&mut self, edit: &Edit) -> io::Result<()> {
        for (path, text) in &edit.write {
            self.write(path, &self.filled_in(text))?;
        }
        for (path, text) in &edit.program {
            self.write_program(path, text)?;
        }
        for (path, text) in &edit.append {
            let before = fs::read_to_string(self.place(path)).unwrap_or_default();
            self.write(path, &(before + &self.filled_in(text)))?;
        }
        for (path, [found, instead]) in &edit.replace {
            let before = fs::read_to_string(self.place(path))?;
            let found = self.filled_in(found);
            if before.matches(&found).count() != 1 {
                let message = format!("{found:?} is not there once:\n{before}");
                return Err(io::Error::other(message));
            }
            self.write(path, &before.replace(&found, &self.filled_in(instead)))?;
        }
        for path in &edit.delete {
            fs::remove_file(self.place(path))?;
        }
        for (path, name) in &edit.rename {
            fs::rename(self.place(path), self.place(name))?;
        }
        for path in &edit.restore {
            self.stage.git(&["checkout", "--", &self.filled_in(path)])?;
        }
        for (name, value) in &edit.set {
            let value = self.filled_in(value);
            self.surroundings.variables.insert(name.clone(), value);
        }
        let folders: Vec<PathBuf> = edit.path.iter().map(|path| self.place(path)).collect();
        self.surroundings.folders.extend(folders);
        for command in &edit.run {
            self.run(&self.filled_in(command))?;
        }
        Ok(())
    }

    /// Runs a command of the shell, which must succeed.
    fn run(&self, command: &str) -> io::Result<()> {
        let mut shell = self.process("sh")?;
        let output = shell.args(["-e", "-c", command]).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Err(io::Error::other(format!("{command} failed: {said}")))
    }

    fn write_program(&self, path: &str, text: &str) -> io::Result<()> {
        let place = self.write(path, &self.filled_in(text))?;
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))
    }

    /// Writes a file that is not what it was before, be it a link.
    fn write(&self, path: &str, text: &str) -> io::Result<PathBuf> {
        let place = self.place(path);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        if place.is_symlink() {
            fs::remove_file(&place)?;
        }
        fs::write(&place, text)?;
        Ok(place)
    }

    fn place(&self, path: &str) -> PathBuf {
        self.stage.project().join(self.filled_in(path))
    }

    /// A text with what its names between `@` stand for.
    fn filled_in(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in self.runner.names() {
            text = text.replace(name, &value);
        }
        let outside = self.stage.scratch().display().to_string();
        let project = self.stage.project().display().to_string();
        text.replace("@program@", &self.runner.program)
            .replace("@outside@", &outside)
            .replace("@project@", &project)
            .replace("@real@", &self.real)
            .replace("@tm@", &self.program.display().to_string())
    }
}

/// Where toolchains are that are looked for in the home, which is another one here.
fn toolchains() -> io::Result<Vec<(&'static str, OsString)>> {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let own = |name: &str, folder: &str| {
        let said = std::env::var_os(name);
        said.unwrap_or_else(|| home.join(folder).into_os_string())
    };
    let mut variables = vec![
        ("RUSTUP_HOME", own("RUSTUP_HOME", ".rustup")),
        ("CARGO_HOME", own("CARGO_HOME", ".cargo")),
        ("GOCACHE", fs::canonicalize(cache("runners/go")?)?.into()),
    ];
    let toolchain = std::env::var_os("RUSTUP_TOOLCHAIN");
    variables.extend(toolchain.map(|toolchain| ("RUSTUP_TOOLCHAIN", toolchain)));
    Ok(variables)
}

/// The program that a fake takes the place of.
fn real_program(runner: &Runner, installed: &Installed) -> String {
    let program = &runner.program;
    let found = match &installed.packages {
        Some(packages) if runner.fake.starts_with("node_modules/") => {
            Some(packages.join(".bin").join(program))
        }
        _ => std::env::split_paths(&installed.path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file()),
    };
    found.unwrap_or_default().display().to_string()
}

/// What is wrong with commits, if anything is: of the first that is, where one is.
fn found(proof: &Ran) -> Option<Refusal> {
    let mut refusal = Refusal::of(PROOF, proof)?;
    let commits = proof.json["commits"].as_array().into_iter().flatten();
    let problems = commits.filter_map(|commit| commit["problems"][0]["code"].as_str());
    if let Some(code) = problems.into_iter().next() {
        code.clone_into(&mut refusal.code);
    }
    Some(refusal)
}

/// What is told of these commits: the warnings of their runs, and what became of older tests.
fn told(proof: &Value) -> BTreeSet<String> {
    let commits = proof["commits"].as_array().into_iter().flatten();
    let old = commits
        .clone()
        .filter_map(|commit| commit["oldTests"].as_object());
    let old = old.flat_map(|old| old.keys().map(|key| format!("oldTests.{key}")));
    let reports = commits.flat_map(|commit| [&commit["red"], &commit["green"]]);
    let warnings = reports.filter_map(|report| report["warnings"].as_array());
    let codes = warnings.flatten().filter_map(Value::as_str);
    codes
        .filter(|code| *code != SHAPE_OF_RED)
        .map(str::to_owned)
        .chain(old)
        .collect()
}

/// Two tasks: one with two subtasks for the honest run, one with a single subtask for the cheats.
fn tasks() -> Value {
    let subtask = |id: u32, title: &str| json!({ "id": id, "title": title, "status": "pending" });
    json!({ "master": { "tasks": [
        { "id": 1, "title": "Sums", "subtasks": [subtask(1, "Double"), subtask(2, "Triple")] },
        { "id": 2, "title": "More sums", "subtasks": [subtask(1, "Double")] },
    ] } })
}
