//! What makes the runner behind a test command run every test, and name each.
//!
//! Most runners print how many tests passed, and which failed. Asked for it, nearly all of them write a report in which each
//! test has its name: with an argument, or with a variable of their environment, which also reaches one that a script
//! starts. The report goes into a folder of ours, and nothing of what is tested is changed by it. One that is told to end at the
//! first failure would say nothing of the tests behind one that failed before, so that it is told otherwise.

mod runners;

use std::path::{Path, PathBuf};

use crate::runner::definition::{
    leads_to, option_command, script_behind, within, without_wrappers,
};
use crate::suite::command_line::{CommandLine, one_word, simple_commands};
use runners::{Added, NAMING, OWN, REPORT, RUNNERS, Runner, Selects};

/// How many scripts are followed, one into another.
const LEVELS: usize = 3;

/// A test command with what makes its runner run all tests and name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdaptedCommand {
    /// The runner.
    pub runner: &'static str,
    /// The command, in words.
    pub line: CommandLine,
    /// Whether it is another one than was asked for.
    pub is_changed: bool,
    /// Files that have to lie in the folder of ours before it is run.
    pub files: Vec<(PathBuf, String)>,
    /// How it reports; none where the command says that, or who calls it.
    pub reporting: Option<Reporting>,
}

/// How a runner was told to report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reporting {
    /// The file that the runner writes its report to, or a folder of such files; none where it prints the report.
    pub report: Option<PathBuf>,
    /// Folders of the project, each by the names that its path ends with (`*` for any), in which the runner leaves reports in any
    /// case.
    pub leaves: &'static [&'static [&'static str]],
    /// The format of the report, by its name.
    pub format: &'static str,
    /// Whether it names a test with its file where there are several files, and without it where there is one.
    pub names_files_of_several: bool,
    /// Whether it leaves files out of its report that could not be loaded, and prints them.
    pub prints_unloaded: bool,
}

/// Some of the tests of a project.
#[derive(Debug, Clone, Copy)]
pub struct SomeTests<'a> {
    /// The files that they are in, from the project's root.
    pub files: &'a [String],
    /// Their ids.
    pub ids: &'a [String],
}

impl SomeTests<'_> {
    /// What is said to a runner to have it run these, and as few others as it can; none where there is no way to say it.
    fn arguments(&self, selects: Selects) -> Option<Vec<String>> {
        let mut names: Vec<&str> = match selects {
            Selects::Nothing => return None,
            Selects::Files => return (!self.files.is_empty()).then(|| self.files.to_vec()),
            // A package and a test in it, and what runs within that.
            Selects::Functions(_) => self.ids.iter().filter_map(|id| go_function(id)).collect(),
            // A program and the path of a function in it.
            Selects::Names => {
                let ids = self.ids.iter();
                ids.map(|id| id.split_once("::").map_or(&**id, |(_, path)| path))
                    .collect()
            }
            // A function, and what tells one of its runs from another.
            Selects::EachName(_) => {
                let ids = self.ids.iter();
                ids.filter_map(|id| id.split([' ', '(', '[']).next())
                    .filter(|name| !name.is_empty())
                    .collect()
            }
        };
        names.sort_unstable();
        names.dedup();
        match selects {
            _ if names.is_empty() => None,
            Selects::Functions(option) => Some(vec![format!("{option}=^({})$", names.join("|"))]),
            Selects::EachName(option) => {
                let each = names.into_iter();
                Some(
                    each.flat_map(|name| [option, name])
                        .map(str::to_owned)
                        .collect(),
                )
            }
            _ => Some(names.into_iter().map(str::to_owned).collect()),
        }
    }
}

/// The function that a test of Go is, or runs within.
fn go_function(id: &str) -> Option<&str> {
    let begins = ["Test", "Example", "Fuzz"];
    id.split('/')
        .find(|part| begins.iter().any(|begin| part.starts_with(begin)))
}

/// The test command of the project at `root` with what makes its runner run all tests, and name them in a report below the folder
/// `own`, if one is given. None where no known runner is seen behind it, where several are, or where nothing is to be done.
///
/// `inherited` gives the variables that the command is run with. With `only`, also none if the runner cannot run some tests alone.
pub fn adapted(
    root: &Path,
    command: &str,
    own: Option<&Path>,
    only: Option<&SomeTests<'_>>,
    inherited: impl Fn(&str) -> Option<String>,
) -> Option<AdaptedCommand> {
    let asked = CommandLine::parse(command).ok()?;
    let mut line = asked.clone();
    let behind = behind(root, command, &asked)?;
    let runner = behind.runner;
    let own = own.filter(|_| !behind.is_said);
    let reporting = own.map(|own| Reporting {
        report: runner
            .writes
            .map(|name| own.join(name.trim_end_matches('/'))),
        leaves: runner.leaves,
        format: runner.format,
        names_files_of_several: runner.names_files_of_several,
        prints_unloaded: runner.prints_unloaded,
    });
    let report = reporting.as_ref().and_then(|told| told.report.as_ref());
    let report = report.map(|path| path.display().to_string());
    let report = report.unwrap_or_default();
    let folder = own.map(Path::to_string_lossy).unwrap_or_default();
    let put_in = |text: &str| text.replace(REPORT, &report).replace(OWN, &folder);
    let added: Vec<Added> = [Some(runner.runs_all), own.map(|_| runner.reports)]
        .into_iter()
        .flatten()
        .collect();
    let mut selected = match only {
        Some(only) => only.arguments(runner.selects)?,
        None => Vec::new(),
    };
    let mut behind_dashes = Vec::new();
    if matches!(runner.selects, Selects::Names) {
        behind_dashes.append(&mut selected);
    }
    match &behind.end {
        Some(end) => {
            let arguments = added.iter().flat_map(|added| added.arguments);
            let arguments = arguments.filter(|word| !end.keeps(runner, option_of(word)));
            let arguments = arguments.map(|word| put_in(word)).chain(selected);
            end.add(runner, &mut line, arguments.collect());
        }
        None if only.is_some() => return None,
        None => {}
    }
    if !behind_dashes.is_empty() {
        let has_dashes = line.argv.iter().any(|word| word == "--");
        let dashes = (!has_dashes).then(|| "--".to_owned());
        line.argv.extend(dashes.into_iter().chain(behind_dashes));
    }
    for (name, value) in added.iter().flat_map(|added| added.variables) {
        let value = value.replace(REPORT, &quoted(&report));
        if let Some((_, before)) = line.env.iter_mut().find(|(own, _)| own == name) {
            add(before, &value);
        } else {
            let mut all = inherited(name).unwrap_or_default();
            add(&mut all, &value);
            line.env.push(((*name).to_owned(), all));
        }
    }
    let is_changed = line != asked;
    let files = own.into_iter().flat_map(|own| {
        let files = runner.files.iter();
        files.map(|(name, text)| (own.join(name), put_in(text)))
    });
    let files = files.collect();
    (is_changed || reporting.is_some()).then_some(AdaptedCommand {
        runner: runner.name,
        line,
        is_changed,
        files,
        reporting,
    })
}

/// The value as one word for what cuts variables into words: those that do know double quotes, and a backslash within.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    let escaped = value.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

fn add(all: &mut String, value: &str) {
    if !all.is_empty() {
        all.push(' ');
    }
    all.push_str(value);
}

/// The runner that a command comes to.
struct Behind {
    runner: &'static Runner,
    /// Whether its command says by itself how it is to be reported.
    is_said: bool,
    /// Where it gets arguments; none where only variables reach it.
    end: Option<End>,
}

/// The end of a command, where the runner behind it gets what is added.
struct End {
    place: AtEnd,
    /// How many `--` have to stand before it.
    dashes: usize,
    /// The words of the runner, as far as nothing can be taken out of them.
    kept: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    /// The command is the runner's own.
    Own,
    /// It is that of a script, which hands on what it is given.
    Script,
    /// The last word of the command is a text for a shell, which the runner's command ends.
    Shell,
}

impl End {
    /// Whether an option would have to be taken out of the runner's words, and cannot be.
    fn keeps(&self, runner: &Runner, option: &str) -> bool {
        let mut known = runner.taken_out.iter();
        known.any(|(name, _)| *name == option)
            && self.kept.iter().any(|word| option_of(word) == option)
    }

    /// Adds arguments, after those were taken out that speak against them.
    fn add(&self, runner: &Runner, line: &mut CommandLine, mut arguments: Vec<String>) {
        if !arguments.is_empty() {
            let dashes = std::iter::repeat_n("--".to_owned(), self.dashes);
            arguments.splice(..0, dashes);
        }
        let argv = &mut line.argv;
        if self.place == AtEnd::Shell {
            if let Some(text) = argv.last_mut() {
                for word in arguments {
                    *text = format!("{} {}", text.trim_end(), one_word(&word));
                }
            }
            return;
        }
        let is_own = self.place == AtEnd::Own;
        let end = argv
            .iter()
            .position(|word| is_own && ends_options(word))
            .unwrap_or(argv.len());
        let after = argv.split_off(end);
        *argv = without_taken_out(runner, argv);
        argv.extend(arguments);
        argv.extend(after);
    }
}

/// Whether what comes behind a runner's word is for the tests.
fn ends_options(word: &str) -> bool {
    matches!(word, "--" | "-args")
}

/// The words without the options that are taken out of the runner's command, and without their values.
fn without_taken_out(runner: &Runner, words: &[String]) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let mut known = runner.taken_out.iter();
        match known.find(|(name, _)| *name == option_of(word)) {
            Some((name, true)) if name == word => {
                words.next_if(|value| !value.starts_with('-'));
            }
            Some(_) => {}
            None => left.push(word.clone()),
        }
    }
    left
}

/// An option without its value.
fn option_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// The runner behind the test command of a project.
fn behind(root: &Path, command: &str, line: &CommandLine) -> Option<Behind> {
    let argv: Vec<&str> = line.argv.iter().map(String::as_str).collect();
    let own = without_wrappers(&argv);
    let place = if option_command(own).is_some() {
        AtEnd::Shell
    } else if script_behind(root, root, own).is_some() {
        AtEnd::Script
    } else {
        AtEnd::Own
    };
    let only = only_runner(root, command);
    let found = match option_command(own) {
        Some(text) => last_of(root, Some(root), text, 0),
        None => at_the_end(root, Some(root), &argv, 0),
    };
    let found = found.filter(|(runner, argv, _)| {
        // The second would write over what the first has written, or print what nobody expects there.
        let is_shared = place == AtEnd::Shell || !runner.reports.variables.is_empty();
        let is_open = place == AtEnd::Own || !argv.iter().any(|word| ends_options(word));
        is_open && (!is_shared || only.is_some())
    });
    if let Some((runner, argv, dashes)) = found {
        return Some(Behind {
            runner,
            is_said: says_how(runner, &argv),
            end: Some(End {
                place,
                dashes,
                kept: if place == AtEnd::Own {
                    Vec::new()
                } else {
                    argv
                },
            }),
        });
    }
    let (runner, words) = only?;
    let is_told = |added: Added| !added.variables.is_empty();
    let is_reached =
        is_told(runner.runs_all) || is_told(runner.reports) || !runner.leaves.is_empty();
    is_reached.then(|| Behind {
        runner,
        is_said: says_how(runner, &words),
        end: None,
    })
}

/// The runner that gets the arguments which are added to the end of a command, its words, and how many `--` have to stand before
/// them.
fn at_the_end(
    root: &Path,
    folder: Option<&Path>,
    argv: &[&str],
    level: usize,
) -> Option<(&'static Runner, Vec<String>, usize)> {
    let argv = without_wrappers(argv);
    let script = folder.and_then(|folder| script_behind(root, folder, argv));
    let Some((folder, script)) = script else {
        let argv = without_packages(argv);
        let words = argv.iter().map(|word| (*word).to_owned()).collect();
        return any_runner_of(argv).map(|runner| (runner, words, 0));
    };
    if level >= LEVELS {
        return None;
    }
    let (runner, words, dashes) = last_of(root, Some(&folder), &script, level + 1)?;
    // The others hand everything on; and one may be there already.
    let own = usize::from(argv.first() == Some(&"npm") && !argv.contains(&"--"));
    Some((runner, words, dashes + own))
}

/// The same of the last command of a line of shell, which gets what is added to the end of the line.
fn last_of(
    root: &Path,
    folder: Option<&Path>,
    script: &str,
    level: usize,
) -> Option<(&'static Runner, Vec<String>, usize)> {
    // What is behind a pipe gets them instead.
    if script.trim_end().ends_with([';', '&', '|', ')']) {
        return None;
    }
    let mut commands = simple_commands(script);
    let last = commands.pop()?;
    let mut folder = folder.map(Path::to_owned);
    for command in commands {
        if let [program, to, ..] = &command.argv[..]
            && program == "cd"
        {
            folder = folder.and_then(|here| within(root, &here, to));
        }
    }
    let words: Vec<&str> = last.argv.iter().map(String::as_str).collect();
    at_the_end(root, folder.as_deref(), &words, level)
}

/// The runner that a command comes to with its words, if it comes to just one.
fn only_runner(root: &Path, command: &str) -> Option<(&'static Runner, Vec<String>)> {
    let ends = ends(root, command);
    let mut found = ends.into_iter().filter_map(|words| {
        let argv: Vec<&str> = words.iter().map(String::as_str).collect();
        any_runner_of(without_packages(&argv)).map(|runner| (runner, words))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The runners that the test command of the project at `root` leads to and that name every test, by themselves, made to or told to.
/// What else it leads to nobody knows before it is run.
pub fn runners_behind(root: &Path, command: &str) -> Vec<&'static str> {
    let ends = ends(root, command);
    let known = ends.iter().filter_map(|argv| {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let argv = without_packages(&argv);
        let mut naming = NAMING.iter().copied();
        any_runner_of(argv)
            .map(|runner| runner.name)
            .or_else(|| naming.find(|name| starts(argv, &[name])))
    });
    known.collect()
}

/// What the command comes to: itself, where it is a runner although it is a script of the project, as wrappers of build tools are.
fn ends(root: &Path, command: &str) -> Vec<Vec<String>> {
    let argv = CommandLine::parse(command).map_or(Vec::new(), |line| line.argv);
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let own = without_wrappers(&words);
    if any_runner_of(without_packages(own)).is_some() {
        return vec![own.iter().map(|word| (*word).to_owned()).collect()];
    }
    leads_to(root, command)
}

/// The runner that a command starts, however it is reported.
fn any_runner_of(argv: &[&str]) -> Option<&'static Runner> {
    let mut runners = RUNNERS.iter();
    runners.find(|runner| runner.called.iter().any(|words| starts(argv, words)))
}

/// Whether a command starts a program with these words.
fn starts(argv: &[&str], words: &[&str]) -> bool {
    let program = argv.first().map(|word| program_of(word));
    program == words.first().copied() && leads_with(&argv[1..], &words[1..])
}

/// Whether the words of a runner say how it is to be reported.
fn says_how(runner: &Runner, words: &[String]) -> bool {
    words.iter().any(|word| {
        let name = option_of(word);
        runner.not_with.contains(&name)
            || runner.not_with.iter().any(|not| {
                name.strip_prefix(not)
                    .is_some_and(|rest| rest.starts_with('.'))
            })
    })
}

/// Whether a program is called with these words first, but for options and their values before each.
fn leads_with(argv: &[&str], words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return true;
    };
    let mut is_option = false;
    for (at, word) in argv.iter().enumerate() {
        if word == first {
            return leads_with(&argv[at + 1..], rest);
        }
        let was_option = std::mem::replace(&mut is_option, word.starts_with(['-', '+']));
        if !is_option && !was_option {
            return false;
        }
    }
    false
}

/// The command without what only finds its program among installed packages.
pub(super) fn without_packages<'a, 'b>(argv: &'a [&'b str]) -> &'a [&'b str] {
    match *argv {
        ["npx" | "bunx", ..] => {
            let skipped = argv[1..]
                .iter()
                .take_while(|word| word.starts_with('-'))
                .count();
            &argv[1 + skipped..]
        }
        ["pnpm" | "yarn", ref rest @ ..] if !rest.is_empty() => rest,
        _ => argv,
    }
}

/// A program's name without its folder; of Python without its version.
fn program_of(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    match name.strip_prefix("python") {
        Some(version) if version.chars().all(|c| c.is_ascii_digit() || c == '.') => "python",
        _ => name,
    }
}

#[cfg(test)]
mod tests;
