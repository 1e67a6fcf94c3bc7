//! What really runs behind a test command: the script of that name in package.json, the recipe of a make target, the
//! content of a script.
//!
//! It is there to be compared with what it was, so that a test command that was made to pass always is seen. So it takes in
//! what decides what runs, as far as that is certain, and nothing that changes for other reasons: no test, no installed
//! package.

mod alias;
mod make;
mod script;
mod task;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::suite::command_line::commands_without_targets;

/// How many times a definition is followed into another one.
const LEVELS: usize = 3;
/// More definitions than this are not gathered.
const MOST: usize = 64;
/// No more commands than this are looked at: a script may be long, and its own content counts as a whole anyway.
const MOST_COMMANDS: usize = 500;
/// How many simple commands are looked at, those that only lead somewhere else among them.
const MOST_LOOKED_AT: usize = 5_000;

/// What a project has written behind a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Where it stands, such as `scripts.test of package.json`; several places are separated by commas, the one that the
    /// command names first.
    pub what: String,
    /// What stands there; of whole files their SHA-256.
    pub text: String,
}

/// What the project at `root` has written behind a command that is run there. `None` where the command says by itself what
/// runs, such as `pytest -q`.
///
/// Known are: scripts of npm, pnpm, yarn and bun, tasks of deno and composer, targets of make and just, aliases and runners
/// of cargo, and script files, also outside of the project where they did not come with the system. Where one calls another, that is followed, over three levels.
pub fn command_definition(root: &Path, command: &str) -> Option<Definition> {
    let mut search = Search::of(root);
    search.line(root, command, 0);
    if search.found.is_empty() {
        return None;
    }
    let places: Vec<&str> = search.found.iter().map(|found| &*found.what).collect();
    let texts: Vec<String> = search
        .found
        .iter()
        .map(|found| format!("{}:\n{}\n", found.what, found.text.trim_end()))
        .collect();
    Some(Definition {
        what: places.join(", "),
        text: texts.concat(),
    })
}

/// The commands in which a command of the project at `root` ends that lead nowhere further, without what runs them as they
/// are.
pub(crate) fn leads_to(root: &Path, command: &str) -> Vec<Vec<String>> {
    let mut search = Search::of(root);
    search.line(root, command, 0);
    search.ends
}

/// The script that such a command of a package manager runs in this folder, and where it runs; without those that are run before
/// and after it.
pub(crate) fn script_behind(
    root: &Path,
    folder: &Path,
    argv: &[&str],
) -> Option<(PathBuf, String)> {
    task::script(Place { root, folder }, argv)
}

/// One place where something is written, and what it calls.
struct NamedPlace {
    what: String,
    text: String,
    /// Lines of shell, each with the folder it is run in.
    calls: Vec<(PathBuf, String)>,
}

struct Search<'a> {
    root: &'a Path,
    /// The places that were found already.
    known: BTreeSet<String>,
    found: Vec<Definition>,
    /// What was looked at already: where, and in words.
    commands: BTreeSet<(PathBuf, Vec<String>)>,
    /// How many simple commands were looked at.
    looked_at: usize,
    /// The commands that lead nowhere further.
    ends: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    fn of(root: &'a Path) -> Self {
        Self {
            root,
            known: BTreeSet::new(),
            found: Vec::new(),
            commands: BTreeSet::new(),
            looked_at: 0,
            ends: Vec::new(),
        }
    }

    /// Looks at the commands of a line of shell.
    fn line(&mut self, folder: &Path, line: &str, level: usize) {
        let mut folder = Some(folder.to_owned());
        for command in commands_without_targets(line) {
            let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
            let argv = without_wrappers(&argv);
            let Some(here) = &folder else {
                return;
            };
            self.looked_at += 1;
            if self.looked_at > MOST_LOOKED_AT {
                return;
            }
            match *argv {
                ["cd", to, ..] => folder = within(self.root, here, to),
                [shell, option, line, ..] if is_shell(shell) && is_command_option(option) => {
                    // It is in the same text, shorter than the whole.
                    let (here, line) = (here.clone(), line.to_owned());
                    self.line(&here, &line, level);
                }
                _ => {
                    let here = here.clone();
                    self.command(&here, argv, level);
                }
            }
        }
    }

    fn command(&mut self, folder: &Path, argv: &[&str], level: usize) {
        let words: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        if level >= LEVELS
            || self.commands.len() >= MOST_COMMANDS
            || !self.commands.insert((folder.to_owned(), words.clone()))
        {
            return;
        }
        let place = Place {
            root: self.root,
            folder,
        };
        let founds = task::found(place, argv)
            .into_iter()
            .chain(make::found(place, argv))
            .chain(alias::found(place, argv))
            .chain(script::found(place, argv));
        let mut is_end = true;
        for found in founds {
            is_end &= found.calls.is_empty();
            if self.found.len() >= MOST || !self.known.insert(found.what.clone()) {
                continue;
            }
            self.found.push(Definition {
                what: found.what,
                text: found.text,
            });
            for (folder, line) in found.calls {
                self.line(&folder, &line, level + 1);
            }
        }
        if is_end {
            self.ends.push(words);
        }
    }
}

/// Where a command is run.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: &'a Path,
    folder: &'a Path,
}

impl Place<'_> {
    /// The folder and those above it, up to the project root.
    fn upward(&self) -> impl Iterator<Item = &Path> {
        self.folder
            .ancestors()
            .take_while(|folder| folder.starts_with(self.root))
    }

    /// The path as it is named in a project.
    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.root).unwrap_or(path);
        inside.display().to_string()
    }

    /// The same in the folder that an option names, if that is in the project.
    fn moved(&self, to: &str) -> Option<PathBuf> {
        within(self.root, self.folder, to)
    }
}

/// The path `to`, seen from `folder`, if it is in the project and nothing has to be put in for it.
pub(crate) fn within(root: &Path, folder: &Path, to: &str) -> Option<PathBuf> {
    if to.is_empty() || to.contains(['$', '`', '*', '?']) {
        return None;
    }
    let mut path = PathBuf::new();
    for part in folder.join(to).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.starts_with(root).then_some(path)
}

/// The command without what stands before it and runs it as it is.
pub(crate) fn without_wrappers<'a, 'b>(mut argv: &'a [&'b str]) -> &'a [&'b str] {
    loop {
        argv = match *argv {
            ["env" | "cross-env", ..] => {
                let skipped = argv[1..]
                    .iter()
                    .take_while(|word| word.starts_with('-') || word.contains('='))
                    .count();
                &argv[1 + skipped..]
            }
            [
                "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch",
                "run",
                ..,
            ]
            | ["bundle" | "pnpm", "exec", ..] => {
                let skipped = argv[2..]
                    .iter()
                    .take_while(|word| word.starts_with('-'))
                    .count();
                &argv[2 + skipped..]
            }
            [
                "!" | "{" | "builtin" | "command" | "do" | "elif" | "else" | "exec" | "if"
                | "nohup" | "then" | "time" | "until" | "while",
                ..,
            ] => &argv[1..],
            _ => return argv,
        };
    }
}

/// The text that a shell is given to run, where nothing stands behind it.
pub(crate) fn option_command<'a>(argv: &[&'a str]) -> Option<&'a str> {
    match *argv {
        [shell, option, text] if is_shell(shell) && is_command_option(option) => Some(text),
        _ => None,
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "ash" | "bash" | "dash" | "ksh" | "zsh")
}

/// `-c`, also with others: `-ec`.
fn is_command_option(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        letters.ends_with('c') && letters.bytes().all(|c| c.is_ascii_alphabetic())
    })
}
