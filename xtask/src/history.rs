//! The rule of evidence, played over what people did: commits of real projects that change tests and product. For each of them a run
//! begins on its parent, RED has its tests, and GREEN is the commit. What is refused has its reason in `xtask/history.toml`, where
//! somebody looked at it; nobody cheats here, so any other refusal is a fault of the rule.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use crate::tools::{built, cache, command, output, root, run as succeed};

/// What is played.
#[derive(Debug, Args)]
pub struct History {
    /// The projects, by their names; all that are listed if left out
    projects: Vec<String>,
    /// So many commits of each, the newest first
    #[arg(long, default_value_t = 20)]
    last: usize,
    /// Where clones are, each in a folder `OWNER+NAME`; what is not there is fetched
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// The program; that of the tests if left out
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

impl History {
    /// All projects, as the nightly plays them.
    pub fn everything() -> Self {
        Self {
            projects: Vec::new(),
            last: 20,
            from: None,
            program: None,
        }
    }
}

/// What is played, and what is known of it.
#[derive(Debug, Deserialize)]
struct Listed {
    project: Vec<Project>,
    /// Why commits are refused, by the beginnings of their ids.
    #[serde(default)]
    refused: BTreeMap<String, Refused>,
}

/// A project.
#[derive(Debug, Deserialize)]
struct Project {
    /// `OWNER/NAME`.
    name: String,
    /// Its test command.
    command: String,
    /// What the paths of its tests have in them, one of these.
    tests: Vec<String>,
    /// What the paths of its product end with.
    product: Vec<String>,
    /// The newest commit that is played, by any name: what came later may need newer tools; the newest of all if left out.
    until: Option<String>,
    /// So many of its commits at most: older ones may need what is not there any more.
    most: Option<usize>,
    /// A command that makes a checkout ready, if it needs one.
    setup: Option<String>,
}

/// Why a commit is refused.
#[derive(Debug, Deserialize)]
struct Refused {
    /// The code.
    code: String,
    /// What somebody saw who looked at it.
    says: String,
}

/// A refusal of the program.
struct Refusal {
    code: String,
    message: String,
    /// The tests that it names.
    tests: Vec<String>,
}

/// Plays them; whether nothing was refused that has no reason.
pub fn run(history: &History) -> io::Result<bool> {
    let text = fs::read_to_string(root().join("xtask/history.toml"))?;
    let listed: Listed = toml::from_str(&text).map_err(io::Error::other)?;
    let program = match &history.program {
        Some(program) => program.clone(),
        None => built("tm")?,
    };
    let clones = match &history.from {
        Some(folder) => folder.clone(),
        None => cache("history")?,
    };
    let mut is_good = true;
    let wanted = |project: &&Project| {
        history.projects.is_empty() || history.projects.contains(&project.name)
    };
    for project in listed.project.iter().filter(wanted) {
        let stage = Stage::of(project, &clones, &program)?;
        let commits = stage.commits(
            project
                .most
                .map_or(history.last, |most| most.min(history.last)),
        )?;
        let (mut accepted, mut known) = (0, 0);
        for commit in &commits {
            let refusal = stage.play(commit)?;
            let reason = listed.refused.get(&commit[..12]);
            match (refusal, reason) {
                (None, None) => accepted += 1,
                (Some(refusal), Some(reason)) if refusal.code == reason.code => known += 1,
                (None, Some(reason)) => {
                    println!(
                        "{}: {} is accepted; was: {}",
                        project.name,
                        &commit[..12],
                        reason.says
                    );
                    is_good = false;
                }
                (Some(Refusal { code, message, .. }), _) => {
                    let id = &commit[..12];
                    println!("{}: {id} is refused: {code}: {message}", project.name);
                    is_good = false;
                }
            }
        }
        println!(
            "{}: {accepted} of {} commits went through, {known} were refused for a reason that is known",
            project.name,
            commits.len()
        );
    }
    Ok(is_good)
}

/// A clone of a project in which commits are played.
struct Stage<'a> {
    project: &'a Project,
    program: &'a Path,
    folder: tempfile::TempDir,
}

impl<'a> Stage<'a> {
    fn of(project: &'a Project, clones: &Path, program: &'a Path) -> io::Result<Self> {
        let clone = clones.join(project.name.replace('/', "+"));
        if !clone.exists() {
            let address = format!("https://github.com/{}", project.name);
            succeed(
                command("git")
                    .args(["clone", "--quiet", "--bare", &address])
                    .arg(&clone),
            )?;
        }
        let folder = tempfile::tempdir()?;
        let stage = Self {
            project,
            program,
            folder,
        };
        let to = stage.top_level();
        succeed(
            command("git")
                .args(["clone", "--quiet", "--shared"])
                .args([&clone, &to]),
        )?;
        for (name, value) in [
            ("user.name", "history"),
            ("user.email", "history@example.com"),
            ("core.hooksPath", "/dev/null"),
            ("commit.gpgSign", "false"),
        ] {
            succeed(&mut stage.git(&["config", name, value]))?;
        }
        if let Some(setup) = &project.setup {
            succeed(command("sh").args(["-c", setup]).current_dir(&to))?;
        }
        Ok(stage)
    }

    fn top_level(&self) -> PathBuf {
        self.folder
            .path()
            .join(self.project.name.rsplit('/').next().unwrap_or_default())
    }

    fn git(&self, arguments: &[&str]) -> Command {
        let mut git = command("git");
        git.args(arguments).current_dir(self.top_level());
        git
    }

    fn told(&self, arguments: &[&str]) -> io::Result<String> {
        let failed =
            || io::Error::other(format!("git {arguments:?} failed in {}", self.project.name));
        output(&mut self.git(arguments)).ok_or_else(failed)
    }

    /// The paths that a commit changes, each with whether it is there then.
    fn changes(&self, commit: &str) -> io::Result<Vec<(bool, String)>> {
        let names = [
            "diff-tree",
            "-r",
            "--no-commit-id",
            "--no-renames",
            "--name-status",
        ];
        let told = self.told(&[&names[..], &[commit]].concat())?;
        let change = |line: &str| {
            let (status, path) = line.split_once('\t')?;
            Some((status != "D", path.to_owned()))
        };
        Ok(told.lines().filter_map(change).collect())
    }

    fn is_test(&self, path: &str) -> bool {
        self.project.tests.iter().any(|part| path.contains(part))
    }

    /// The newest commits that change tests and product.
    fn commits(&self, most: usize) -> io::Result<Vec<String>> {
        let until = self.project.until.as_deref().unwrap_or("HEAD");
        let all = self.told(&["log", "--no-merges", "--format=%H", "-n", "2000", until])?;
        let mut found = Vec::new();
        for commit in all.lines() {
            let changes = self.changes(commit)?;
            let is_product = |path: &str| {
                !self.is_test(path) && self.project.product.iter().any(|end| path.ends_with(end))
            };
            if changes
                .iter()
                .any(|(is_there, path)| *is_there && self.is_test(path))
                && changes.iter().any(|(_, path)| is_product(path))
                && passes_quietly(&mut self.git(&[
                    "rev-parse",
                    "--quiet",
                    "--verify",
                    &format!("{commit}^"),
                ]))?
            {
                found.push(commit.to_owned());
            }
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }

    /// Plays a commit; what was refused of it.
    fn play(&self, commit: &str) -> io::Result<Option<Refusal>> {
        succeed(&mut self.git(&[
            "checkout",
            "--quiet",
            "--force",
            "-B",
            "played",
            &format!("{commit}^"),
        ]))?;
        succeed(&mut self.git(&["clean", "-ffdq"]))?;
        let changes = self.changes(commit)?;
        let (tests, rest): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .partition(|(_, path)| self.is_test(path));
        let begin = [
            "start",
            "--title",
            "A commit",
            "--subtask",
            "What it does",
            "--no-confirm",
        ];
        let branch = format!("history/{}", &commit[..12]);
        let more = ["--branch", &branch, "--test-command", &self.project.command];
        let mut refusal = self.tm(&[&begin[..], &more].concat())?;
        for (report, changes) in [("red", tests), ("green", rest)] {
            if refusal.is_some() {
                break;
            }
            for (is_there, path) in changes {
                if is_there {
                    succeed(&mut self.git(&["checkout", "--quiet", commit, "--", &path]))?;
                } else {
                    drop(fs::remove_file(self.top_level().join(path)));
                }
            }
            let call = ["complete", report, "--verify"];
            refusal = self.tm(&call)?;
            // Tests that the commit takes out are said to be taken out, as the refusal asks for.
            if let Some(Refusal { code, tests, .. }) = &refusal
                && code == "tests_missing"
                && !tests.is_empty()
            {
                let removed = tests.iter().flat_map(|test| ["--removed", test]);
                let again: Vec<&str> = call.into_iter().chain(removed).collect();
                refusal = self.tm(&again)?;
            }
        }
        self.tm(&["abort"])?;
        Ok(refusal)
    }

    /// Asks the program; its refusal.
    fn tm(&self, arguments: &[&str]) -> io::Result<Option<Refusal>> {
        let store = self.folder.path().join("store");
        let asked = command(self.program)
            .args(["autopilot", "--json"])
            .args(arguments)
            .current_dir(self.top_level())
            .env("TRAMLINE_HOME", store)
            .output()?;
        if asked.status.success() {
            return Ok(None);
        }
        let answer: Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
        let answer = answer.get("error").unwrap_or(&answer);
        let told = |name: &str| answer[name].as_str().unwrap_or("?").to_owned();
        let tests = answer.pointer("/details/tests").and_then(Value::as_array);
        let tests = tests.into_iter().flatten().filter_map(Value::as_str);
        Ok(Some(Refusal {
            code: told("code"),
            message: told("message"),
            tests: tests.map(str::to_owned).collect(),
        }))
    }
}

/// Whether a command ends well, without a word of it.
fn passes_quietly(command: &mut Command) -> io::Result<bool> {
    Ok(command.output()?.status.success())
}
