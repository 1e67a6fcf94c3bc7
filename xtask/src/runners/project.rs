//! What is played, as data: the runners, each with a small project, the cheats and the evasions (`xtask/runners`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::tools::root;

/// Texts by their paths.
pub type Texts = BTreeMap<String, String>;

/// A test runner, and a project whose tests it runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// The name of its file.
    #[serde(skip)]
    pub key: String,
    /// What it is called in the table.
    pub name: String,
    /// The project's test command.
    pub command: String,
    /// The report that the command writes, where what it prints does not tell every test.
    pub report: Option<String>,
    /// The program that a fake takes the place of.
    pub program: String,
    /// Where the fake is put; in front of the search path where nothing is said.
    #[serde(default = "in_front")]
    pub fake: String,
    /// What it prints when all pass.
    pub success: String,
    /// The file of the new test.
    pub test: String,
    /// The file of what it tests.
    pub product: String,
    /// A file of tests that is there before.
    pub old_test: String,
    /// The file of what those test.
    pub old_product: String,
    /// The expression in the product that gives what the test asks for.
    #[serde(default = "twice")]
    pub result: String,
    /// Other ways in which it is called, with which only the honest run is played.
    #[serde(default)]
    pub also: Vec<Also>,
    /// What has to be on the machine.
    pub needs: Needs,
    /// The project before the run: with a test that passes, one that fails and one that is skipped.
    pub project: Texts,
    /// Programs of the project that git does not know, in the place of those that were installed.
    #[serde(default)]
    pub programs: Texts,
    /// Changes that are its own.
    pub edits: BTreeMap<String, Edit>,
    /// A new test that passes under a condition; each makes an edit `test_if_…`.
    pub conditional: Conditional,
}

fn in_front() -> String {
    "@outside@/bin/@program@".to_owned()
}

fn twice() -> String {
    "x * 2".to_owned()
}

/// Another way in which a runner is called.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// The test command.
    pub command: String,
    /// What is different besides, if anything is.
    #[serde(default)]
    pub says: String,
    /// The report that it writes, where that is handed in.
    pub report: Option<String>,
    /// Files that the project does not have then.
    #[serde(default)]
    pub without: Vec<String>,
    /// Files that the project has then.
    #[serde(default)]
    pub with: Texts,
    /// Programs that it has then, in the place of those that were installed.
    #[serde(default)]
    pub programs: Texts,
}

/// What a runner needs on the machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Programs, each with the package of Debian that has it.
    pub programs: Texts,
    /// Files, each with the package of Debian that has it.
    pub files: Texts,
    /// Packages for Node, which is then needed too.
    pub npm: Option<Vec<String>>,
    /// Packages for Python, in an environment of its own.
    pub pip: Option<Vec<String>>,
    /// Folders of programs in what was installed.
    pub on_path: Vec<String>,
    /// Variables that the run has from its start.
    pub environment: Texts,
}

/// A test under a condition.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// The file, with `@condition@` where the condition stands.
    pub text: String,
    /// The conditions by their names.
    pub conditions: Texts,
}

/// A change of files or of the environment. Within, `@name@` stands for what a runner has of that name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Edit {
    /// Files that are written.
    pub write: Texts,
    /// Files that are written and can be executed.
    pub program: Texts,
    /// What is added at the end of files; one that is not there is made.
    pub append: Texts,
    /// What is found once in a file, and what takes its place.
    pub replace: BTreeMap<String, [String; 2]>,
    /// Files that are deleted.
    pub delete: Vec<String>,
    /// Files that get another name.
    pub rename: Texts,
    /// Files that become what git has of them.
    pub restore: Vec<String>,
    /// Variables that are set from here on.
    pub set: Texts,
    /// Folders that come first on the search path from here on.
    pub path: Vec<String>,
    /// Commands of the shell that are run in the project, after all else.
    pub run: Vec<String>,
}

/// All cheats, and the edits that are the same for every runner.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cheats {
    /// The columns of the table, each with the runners that share it.
    pub columns: Vec<Vec<String>>,
    /// Edits by their names.
    pub edits: BTreeMap<String, Edit>,
    /// The cheats, in the order of the table.
    #[serde(rename = "cheat")]
    pub all: Vec<Cheat>,
    /// Cheats that are particular to a few runners, in files of their own.
    #[serde(skip)]
    pub evasions: Vec<Evasions>,
    /// Honest work that looks like one of them.
    #[serde(skip)]
    pub neighbours: Vec<Evasions>,
}

/// Evasions that are played with the same runners.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evasions {
    /// The runners, by the names of their files.
    pub runners: Vec<String>,
    /// Edits that these runners have besides.
    #[serde(default)]
    pub edits: BTreeMap<String, Edit>,
    /// The evasions, or the honest neighbours of some, in the order of the table.
    #[serde(rename = "evasion", alias = "neighbour")]
    pub all: Vec<Cheat>,
}

/// A way to a commit that does not go through the work.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cheat {
    /// Its name.
    pub name: String,
    /// What is done, for the table.
    pub says: String,
    /// The runners with which it is played, where not every one will do that has its edits.
    #[serde(default)]
    pub runners: Vec<String>,
    /// What the reports rest on, and what is asked for in the end.
    #[serde(default)]
    pub level: Level,
    /// What the commands are given, where it is not what those of an honest run are given.
    #[serde(default)]
    pub words: Words,
    /// The edits before the run begins.
    #[serde(default)]
    pub start: Vec<String>,
    /// The edits before RED is reported.
    #[serde(default = "honest_red")]
    pub red: Vec<String>,
    /// The edits before GREEN is reported.
    #[serde(default = "honest_green")]
    pub green: Vec<String>,
    /// The edits before the commit.
    #[serde(default)]
    pub before_commit: Vec<String>,
    /// The edits before the run is brought to its end.
    #[serde(default)]
    pub before_end: Vec<String>,
    /// The edits when the run is at its end, before another machine looks at what came of it.
    #[serde(default)]
    pub afterwards: Vec<String>,
    /// A command of the shell that succeeds where what was committed is bad, if it may be good.
    pub harms: Option<String>,
    /// Why it may come through, where it may.
    pub passes: Option<String>,
}

/// What reports rest on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Numbers that somebody gives.
    Claimed,
    /// Reports that are handed in.
    Reported,
    /// Tests that were run by the program.
    #[default]
    Verified,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Claimed => "claimed",
            Self::Reported => "reported",
            Self::Verified => "verified",
        })
    }
}

/// What each command is given in place of `--verify`, in words with spaces between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Words {
    /// The start of the run.
    pub start: Option<String>,
    /// The report of RED.
    pub red: Option<String>,
    /// The report of GREEN.
    pub green: Option<String>,
    /// The commit, which an honest run gives nothing.
    pub commit: Option<String>,
    /// The end of the run.
    pub end: Option<String>,
}

/// What an honest run changes in RED.
pub fn honest_red() -> Vec<String> {
    vec!["test".to_owned()]
}

/// What an honest run changes in GREEN.
pub fn honest_green() -> Vec<String> {
    vec!["product".to_owned()]
}

impl Cheat {
    /// The names of all its edits.
    pub fn edits(&self) -> impl Iterator<Item = &String> {
        let parts = [
            &self.start,
            &self.red,
            &self.green,
            &self.before_commit,
            &self.before_end,
            &self.afterwards,
        ];
        parts.into_iter().flatten()
    }
}

impl Cheats {
    /// All that are played with a runner.
    pub fn of<'a>(&'a self, runner: &'a Runner) -> impl Iterator<Item = &'a Cheat> {
        let particular = self.evasions().chain(self.neighbours());
        let particular = particular.filter(|cheat| cheat.runners.contains(&runner.key));
        let general = self.all.iter().filter(|cheat| runner.has(cheat));
        general.chain(particular)
    }

    /// All evasions.
    pub fn evasions(&self) -> impl Iterator<Item = &Cheat> {
        self.evasions.iter().flat_map(|evasions| &evasions.all)
    }

    /// All honest neighbours.
    pub fn neighbours(&self) -> impl Iterator<Item = &Cheat> {
        self.neighbours.iter().flat_map(|honest| &honest.all)
    }

    /// Whether a cheat is none, but the honest neighbour of one.
    pub fn is_honest(&self, cheat: &Cheat) -> bool {
        self.neighbours().any(|honest| honest.name == cheat.name)
    }
}

impl Evasions {
    /// Has each of them say with which runners it is played.
    fn settle(&mut self) {
        for evasion in &mut self.all {
            if evasion.runners.is_empty() {
                evasion.runners.clone_from(&self.runners);
            }
        }
    }
}

impl Runner {
    /// Whether it has all edits of a cheat.
    pub fn has(&self, cheat: &Cheat) -> bool {
        cheat.edits().all(|name| self.edits.contains_key(name))
    }

    /// Takes in the edits of its evasions, which have to be there then.
    fn evades(&mut self, cheats: &Cheats) -> io::Result<()> {
        let wrong =
            |what: &str, name: &str| Err(io::Error::other(format!("{}: {what} {name}", self.key)));
        for evasions in cheats.evasions.iter().chain(&cheats.neighbours) {
            if !evasions.runners.contains(&self.key) {
                continue;
            }
            for (name, edit) in &evasions.edits {
                if self.edits.insert(name.clone(), edit.clone()).is_some() {
                    return wrong("two edits are called", name);
                }
            }
        }
        let particular = cheats.evasions().chain(cheats.neighbours());
        for cheat in particular.filter(|cheat| cheat.runners.contains(&self.key)) {
            if !self.has(cheat) {
                return wrong("an edit is missing for", &cheat.name);
            }
        }
        Ok(())
    }

    /// The same, called in another way.
    pub fn called(&self, also: &Also) -> Self {
        let mut other = self.clone();
        other.command.clone_from(&also.command);
        other.report.clone_from(&also.report);
        other.project.retain(|path, _| !also.without.contains(path));
        other.project.extend(also.with.clone());
        other.programs.clone_from(&also.programs);
        other
    }

    /// What stands for the names between `@` in its texts, but for places on the machine.
    pub fn names(&self) -> Vec<(&'static str, String)> {
        vec![
            ("@fake@", self.fake.clone()),
            ("@program@", self.program.clone()),
            ("@success@", self.success.clone()),
            ("@test@", self.test.clone()),
            ("@product@", self.product.clone()),
            ("@old_test@", self.old_test.clone()),
            ("@old_product@", self.old_product.clone()),
            ("@result@", self.result.clone()),
        ]
    }

    /// The edit of the second subtask that is like one of the first: what was doubled is tripled.
    pub fn tripled(&self, name: &str) -> Edit {
        let edit = self.edits.get(name).cloned().unwrap_or_default();
        let texts = |texts: Texts| {
            let both = texts.into_iter().map(|(path, text)| {
                let text = text.replace("* 2", "* 3").replace('6', "9");
                (triple(&path), triple(&text))
            });
            both.collect()
        };
        Edit {
            write: texts(edit.write),
            append: texts(edit.append),
            ..Edit::default()
        }
    }
}

fn triple(text: &str) -> String {
    text.replace("double", "triple").replace("Double", "Triple")
}

/// The folder with the data.
pub fn folder() -> PathBuf {
    root().join("xtask/runners")
}

/// The cheats, with the evasions.
pub fn cheats() -> io::Result<Cheats> {
    let mut cheats: Cheats = read(&folder().join("cheats.toml"))?;
    for (name, into) in [
        ("evasions", &mut cheats.evasions),
        ("neighbours", &mut cheats.neighbours),
    ] {
        for path in files(name)? {
            let mut evasions: Evasions = read(&path)?;
            evasions.settle();
            into.push(evasions);
        }
    }
    let names = cheats.all.iter().chain(cheats.evasions());
    let names = names.chain(cheats.neighbours());
    let mut known = BTreeSet::new();
    if let Some(twice) = names
        .map(|cheat| &cheat.name)
        .find(|name| !known.insert(*name))
    {
        return Err(io::Error::other(format!("two cheats are called {twice}")));
    }
    Ok(cheats)
}

/// The files of a folder with data, by their names.
fn files(name: &str) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder().join(name))? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// All runners, by the names of their files, each with the edits that are the same for all.
pub fn runners(cheats: &Cheats) -> io::Result<Vec<Runner>> {
    let runners = files("projects")?.into_iter().map(|path| {
        let mut runner: Runner = read(&path)?;
        let key = path.file_stem().unwrap_or_default();
        runner.key = key.to_string_lossy().into_owned();
        let Conditional { text, conditions } = &runner.conditional;
        for (name, condition) in conditions {
            let text = text.replace("@condition@", condition);
            let edit = Edit {
                write: BTreeMap::from([(runner.test.clone(), text)]),
                ..Edit::default()
            };
            runner.edits.insert(format!("test_if_{name}"), edit);
        }
        for (name, edit) in &cheats.edits {
            let edits = &mut runner.edits;
            edits.entry(name.clone()).or_insert_with(|| edit.clone());
        }
        runner.evades(cheats)?;
        Ok(runner)
    });
    runners.collect()
}

/// Reads a file of data.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let text = fs::read_to_string(path)?;
    toml::from_str(&text).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        io::Error::other(message)
    })
}
