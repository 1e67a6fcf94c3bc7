//! A folder of its own: a home, a repository, and the program in it with nothing else in its environment.

use std::fs;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Where a story is played.
pub struct Stage {
    /// The folder with `now`, in which it is played, and what was kept of it.
    folder: PathBuf,
    program: PathBuf,
}

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its exit status; none where it was killed.
    pub status: Option<i32>,
    /// The JSON that it printed; null where it printed none.
    pub json: Value,
}

impl Ran {
    /// What a process that was given `--json` came to.
    pub fn of(status: Option<i32>, out: &[u8]) -> Self {
        Self {
            status,
            json: serde_json::from_slice(out).unwrap_or_default(),
        }
    }

    /// The code of a refusal, whichever of the two shapes it has.
    pub fn code(&self) -> &str {
        let refusal = self.json.get("error").unwrap_or(&self.json);
        refusal["code"].as_str().unwrap_or_default()
    }
}

impl Stage {
    /// A stage in a folder, whose file system it may be that is tried.
    pub fn new(folder: &Path, program: &Path) -> io::Result<Self> {
        let stage = Self {
            folder: folder.to_owned(),
            program: program.to_owned(),
        };
        for name in ["home", "project", "scratch"] {
            fs::create_dir_all(stage.now().join(name))?;
        }
        Ok(stage)
    }

    fn now(&self) -> PathBuf {
        self.folder.join("now")
    }

    /// The repository.
    pub fn project(&self) -> PathBuf {
        self.now().join("project")
    }

    /// A folder outside of the repository.
    pub fn scratch(&self) -> PathBuf {
        self.now().join("scratch")
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.now().join("home")
    }

    /// What lies on other machines.
    pub fn elsewhere(&self) -> PathBuf {
        self.now().join("elsewhere")
    }

    /// Writes a program that is found before any other of its name.
    pub fn write_program(&self, name: &str, script: &str) -> io::Result<()> {
        let path = self.elsewhere().join("bin").join(name);
        fs::create_dir_all(self.elsewhere().join("bin"))?;
        fs::write(&path, script)?;
        fs::set_permissions(path, Permissions::from_mode(0o755))
    }

    /// Where runs are kept.
    pub fn store(&self) -> PathBuf {
        self.now().join("home/store")
    }

    /// The folders of all runs, the oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let mut runs = Vec::new();
        for project in folders(&self.store().join("projects")) {
            runs.extend(folders(&project.join("runs")));
        }
        runs.sort();
        runs
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.project().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)
    }

    /// A process with nothing but what is needed in its environment.
    pub fn process(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        let mut path = self.elsewhere().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.now().join("home"))
            .env("TMPDIR", self.now().join("scratch"))
            .env("TRAMLINE_HOME", self.store())
            .env("GIT_CONFIG_GLOBAL", self.now().join("home/gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }

    /// The program with these words, to answer in JSON.
    pub fn program(&self, words: &[&str]) -> Command {
        let mut command = self.process(&self.program);
        command.args(words).arg("--json");
        command
    }

    /// Runs it with a text on its standard input.
    pub fn tm(&self, words: &[&str], input: &str) -> io::Result<Ran> {
        let mut command = self.program(words);
        if let Some(file) = self.input(input)? {
            command.stdin(fs::File::open(file)?);
        }
        let output = command.output()?;
        Ok(Ran::of(output.status.code(), &output.stdout))
    }

    /// A file with what a command gets on its standard input, if it gets any: whoever dies leaves nobody waiting at a pipe.
    pub fn input(&self, text: &str) -> io::Result<Option<PathBuf>> {
        if text.is_empty() {
            return Ok(None);
        }
        let file = self.now().join("scratch/input");
        fs::write(&file, text)?;
        Ok(Some(file))
    }

    /// Runs git, which must succeed.
    pub fn git(&self, words: &[&str]) -> io::Result<String> {
        let Output { status, stdout, .. } = self.process("git").args(words).output()?;
        if status.success() {
            return Ok(String::from_utf8_lossy(&stdout).trim_end().to_owned());
        }
        Err(io::Error::other(format!("git {words:?} failed")))
    }

    /// Keeps everything as it is now, under a name.
    pub fn save(&self, name: &str) -> io::Result<()> {
        copy(&self.now(), &self.folder.join(name))
    }

    /// Makes everything as it was when it was kept under this name.
    pub fn restore(&self, name: &str) -> io::Result<()> {
        copy(&self.folder.join(name), &self.now())
    }

    /// All lock files that a git left.
    pub fn locks(&self) -> Vec<PathBuf> {
        let is_lock = |path: &Path| path.extension().is_some_and(|ending| ending == "lock");
        let mut locks = below(&self.project().join(".git"), &is_lock);
        // One of the program's own, which stays.
        locks.retain(|path| !path.ends_with("tramline-notes.lock"));
        locks
    }

    /// All temporary files and folders that the program left.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let is_left = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let begins = ["tramline-", ".tramline-", ".tmp"];
            name != "tramline-notes.lock" && begins.iter().any(|begin| name.starts_with(begin))
        };
        let places = [self.project(), self.home(), self.scratch()];
        let objects = self.project().join(".git/objects");
        let left = places.iter().flat_map(|place| below(place, &is_left));
        // Those are git's own, which it removes itself.
        left.filter(|path| !path.starts_with(&objects)).collect()
    }

    /// Whoever keeps what is elsewhere goes on working there: no lock of a process that died stays.
    pub fn unlock_elsewhere(&self) -> io::Result<()> {
        let is_lock = |path: &Path| path.extension().is_some_and(|ending| ending == "lock");
        let locks = below(&self.elsewhere(), &is_lock);
        locks.into_iter().try_for_each(fs::remove_file)
    }
}

/// All files and folders below a folder of which this holds.
fn below(folder: &Path, holds: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if holds(&path) {
                found.push(path);
            } else if path.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} cannot be copied",
        from.display()
    )))
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}
