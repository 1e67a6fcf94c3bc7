//! What it costs to have tests run by the program: a verified RED and GREEN against the bare suite run twice, in real projects.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};

use crate::tools::{built, command, run};

/// So often is everything measured, in turns; the middle counts.
const ROUNDS: usize = 3;
/// What the new test asks for.
const PRODUCT: &str = "tramline-cost.dat";

/// `cargo xtask cost`.
#[derive(Debug, Args)]
pub struct Cost {
    /// Clones of projects whose tests pass: of pytest, Go, vitest or cargo. They are copied
    #[arg(required = true)]
    projects: Vec<PathBuf>,
    /// The program; that of this workspace if left out
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Measures each project.
pub fn measure(cost: &Cost) -> io::Result<bool> {
    let program = match &cost.program {
        Some(program) => fs::canonicalize(program)?,
        None => built("tm")?,
    };
    println!("suite twice | verified RED and GREEN | project");
    for project in &cost.projects {
        Measured::of(project, &program)?.print(project);
    }
    Ok(true)
}

/// Half of the times are no longer than these.
struct Measured {
    bare: Duration,
    verified: Duration,
}

impl Measured {
    fn of(project: &Path, program: &Path) -> io::Result<Self> {
        let work = tempfile::tempdir()?;
        let root = work.path().join("project");
        run(command("cp")
            .arg("-a")
            .arg(fs::canonicalize(project)?)
            .arg(&root))?;
        let stage = Stage {
            home: work.path().join("home"),
            program: program.to_owned(),
            root,
        };
        stage.prepare()?;
        let suite = stage.test_command()?;
        let (mut bare, mut verified) = (Vec::new(), Vec::new());
        // What is built or cached once is so for all.
        stage.suite(&suite)?;
        for _ in 0..ROUNDS {
            bare.push(stage.suite(&suite)? + stage.suite(&suite)?);
            verified.push(stage.red_and_green()?);
        }
        Ok(Self {
            bare: middle(bare),
            verified: middle(verified),
        })
    }

    fn print(&self, project: &Path) {
        println!(
            "{:.2} s | {:.2} s, {:.2} times | {}",
            self.bare.as_secs_f64(),
            self.verified.as_secs_f64(),
            self.verified.as_secs_f64() / self.bare.as_secs_f64(),
            project.file_name().unwrap_or_default().display()
        );
    }
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A copy of a project.
struct Stage {
    root: PathBuf,
    home: PathBuf,
    program: PathBuf,
}

impl Stage {
    fn process(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut process = command(program);
        process
            .current_dir(&self.root)
            .env("TRAMLINE_HOME", &self.home)
            .stdin(Stdio::null());
        process
    }

    fn git(&self, words: &[&str]) -> io::Result<Output> {
        self.process("git").args(words).output()
    }

    /// Calls the program with these words, and gives its answer.
    fn tm(&self, words: &[&str]) -> io::Result<Value> {
        let mut process = self.process(&self.program);
        let output = process
            .arg("autopilot")
            .args(words)
            .arg("--json")
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(io::Error::other(format!("{words:?}: {said}")));
        }
        serde_json::from_str(&said).map_err(io::Error::other)
    }

    fn prepare(&self) -> io::Result<()> {
        let subtask = json!({ "id": 1, "title": "Measure", "status": "pending" });
        let task =
            json!({ "id": 1, "title": "Measure", "status": "pending", "subtasks": [subtask] });
        let tasks = json!({ "master": { "tasks": [task], "metadata": {} } });
        let folder = self.root.join(".taskmaster/tasks");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("tasks.json"), tasks.to_string())?;
        self.git(&["checkout", "--quiet", "-B", "main"])?;
        self.git(&["config", "user.name", "Nobody"])?;
        self.git(&["config", "user.email", "nobody@localhost"])?;
        self.commit()
    }

    fn commit(&self) -> io::Result<()> {
        self.git(&["add", "--all", "--force", ".taskmaster"])?;
        self.git(&["commit", "--quiet", "--no-verify", "--message", "Measure"])?;
        Ok(())
    }

    fn test_command(&self) -> io::Result<String> {
        let plan = self.tm(&["start", "1", "--dry-run"])?;
        let found = plan["testCommand"].as_str();
        let found = found.ok_or_else(|| io::Error::other("no test command was found"))?;
        Ok(found.to_owned())
    }

    /// How long the suite takes by itself.
    fn suite(&self, suite: &str) -> io::Result<Duration> {
        let mut process = self.process("sh");
        // Go remembers what passed: a change in between has it run all again.
        process.args(["-c", suite]).env("GOFLAGS", "-count=1");
        let begun = Instant::now();
        let done = process.output()?;
        let lasted = begun.elapsed();
        if done.status.success() {
            return Ok(lasted);
        }
        let said = String::from_utf8_lossy(&done.stdout);
        Err(io::Error::other(format!("{suite} fails: {said}")))
    }

    /// How long a verified RED and GREEN take together.
    fn red_and_green(&self) -> io::Result<Duration> {
        self.tm(&["start", "1"])?;
        let (path, text) = self.new_test()?;
        fs::write(self.root.join(&path), text)?;
        let begun = Instant::now();
        self.tm(&["complete", "red", "--verify"])?;
        let red = begun.elapsed();
        fs::write(self.root.join(PRODUCT), "1\n")?;
        let begun = Instant::now();
        self.tm(&["complete", "green", "--verify"])?;
        let green = begun.elapsed();
        self.tm(&["abort"])?;
        fs::remove_file(self.root.join(PRODUCT))?;
        fs::remove_file(self.root.join(path))?;
        self.git(&["checkout", "--quiet", "--force", "main"])?;
        let branches = self.git(&["branch", "--list", "--format=%(refname:short)"])?;
        for branch in String::from_utf8_lossy(&branches.stdout).lines() {
            if branch != "main" {
                self.git(&["branch", "--quiet", "-D", branch])?;
            }
        }
        Ok(red + green)
    }

    /// A test in the project's language that asks for the file, and where it lies.
    fn new_test(&self) -> io::Result<(String, String)> {
        let has = |name: &str| self.root.join(name).exists();
        let (path, text) = if has("Cargo.toml") {
            fs::create_dir_all(self.root.join("tests"))?;
            let text = format!(
                "#[test]\nfn costs() {{\n    assert!(std::path::Path::new(\"{PRODUCT}\").is_file());\n}}\n"
            );
            ("tests/tramline_cost.rs", text)
        } else if has("go.mod") {
            let package = self.go_package()?;
            let text = format!(
                "package {package}\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestCosts(t *testing.T) {{\n\tif _, err := os.Stat(\"{PRODUCT}\"); err != nil {{\n\t\tt.Fatal(err)\n\t}}\n}}\n"
            );
            ("tramline_cost_test.go", text)
        } else if has("package.json") {
            let text = format!(
                "import {{ existsSync }} from \"node:fs\";\nimport {{ expect, it }} from \"vitest\";\n\nit(\"costs\", () => {{\n  expect(existsSync(\"{PRODUCT}\")).toBe(true);\n}});\n"
            );
            ("test/tramline-cost.test.ts", text)
        } else {
            let text = format!(
                "import pathlib\n\n\ndef test_costs():\n    assert pathlib.Path(\"{PRODUCT}\").is_file()\n"
            );
            ("tests/test_tramline_cost.py", text)
        };
        Ok((path.to_owned(), text))
    }

    fn go_package(&self) -> io::Result<String> {
        for entry in fs::read_dir(&self.root)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "go") {
                let text = fs::read_to_string(path)?;
                let mut lines = text.lines();
                if let Some(name) = lines.find_map(|line| line.strip_prefix("package ")) {
                    return Ok(name.trim_end_matches("_test").to_owned());
                }
            }
        }
        Err(io::Error::other("no package of Go lies at the top"))
    }
}
