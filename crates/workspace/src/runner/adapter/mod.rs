//! What makes the runner behind a test command name every test that it runs.
//!
//! Most runners print how many tests passed, and which failed. Asked for it, nearly all of them write a report in which each
//! test has its name: with an argument, or with a variable of their environment, which also reaches one that a script
//! starts. The report goes into a folder of ours, and nothing of what is tested is changed by it.

mod runners;

use std::path::{Path, PathBuf};

use crate::runner::definition::{leads_to, script_behind, without_wrappers};
use crate::suite::command_line::{CommandLine, simple_commands};
use runners::{NAMING, OWN, REPORT, RUNNERS, Runner};

/// How many scripts are followed, one into another.
const LEVELS: usize = 3;

/// A test command with what makes its runner name the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdaptedCommand {
    /// The runner.
    pub runner: &'static str,
    /// The command, in words.
    pub line: CommandLine,
    /// Files that have to lie in the folder of ours before it is run.
    pub files: Vec<(PathBuf, String)>,
    /// The file that the runner writes its report to, or a folder of such files; none where it prints the report.
    pub report: Option<PathBuf>,
    /// Folders of the project, each by the names that its path ends with (`*` for any), in which the runner leaves reports in any
    /// case: nothing is added to the command then.
    pub leaves: &'static [&'static [&'static str]],
    /// The format of the report, by its name.
    pub format: &'static str,
    /// Whether it names a test with its file where there are several files, and without it where there is one.
    pub names_files_of_several: bool,
}

/// The test command of the project at `root` with what makes its runner name the tests, in a report below the folder `own`. None
/// where no known runner is seen behind it, where several are, or where the command itself says how it reports.
///
/// `inherited` gives the variables that the command is run with.
pub fn adapted(
    root: &Path,
    command: &str,
    own: &Path,
    inherited: impl Fn(&str) -> Option<String>,
) -> Option<AdaptedCommand> {
    let mut line = CommandLine::parse(command).ok()?;
    let argv: Vec<&str> = line.argv.iter().map(String::as_str).collect();
    let is_script = script_behind(root, root, without_wrappers(&argv)).is_some();
    let (runner, arguments) = match at_the_end(root, root, &argv, 0) {
        Some((runner, dashes)) if !runner.arguments.is_empty() => {
            let dashes = std::iter::repeat_n("--".to_owned(), dashes);
            let own_arguments = runner.arguments.iter().map(|word| (*word).to_owned());
            (runner, dashes.chain(own_arguments).collect())
        }
        _ => (by_variables(root, command)?, Vec::new()),
    };
    let report = runner
        .writes
        .map(|name| own.join(name.trim_end_matches('/')));
    let place = report.as_ref().map(|path| path.display().to_string());
    let place = place.unwrap_or_default();
    // What comes behind such a word is for the tests; behind a script's, for the script.
    let is_end = |word: &String| !is_script && matches!(&**word, "--" | "-args");
    let end = line.argv.iter().position(is_end);
    let at = end.unwrap_or(line.argv.len());
    let arguments = arguments.into_iter().map(|word: String| {
        word.replace(REPORT, &place)
            .replace(OWN, &own.to_string_lossy())
    });
    let files = runner.files.iter();
    let files = files.map(|(name, text)| (own.join(name), text.replace(REPORT, &place)));
    let files = files.collect();
    line.argv.splice(at..at, arguments);
    for (name, value) in runner.variables {
        let value = value.replace(REPORT, &quoted(&place));
        if let Some((_, before)) = line.env.iter_mut().find(|(own, _)| own == name) {
            add(before, &value);
        } else {
            let mut all = inherited(name).unwrap_or_default();
            add(&mut all, &value);
            line.env.push(((*name).to_owned(), all));
        }
    }
    Some(AdaptedCommand {
        runner: runner.name,
        line,
        files,
        report,
        leaves: runner.leaves,
        format: runner.format,
        names_files_of_several: runner.names_files_of_several,
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

/// The runner that gets the arguments which are added to the end of a command, and how many `--` have to stand before them.
fn at_the_end(
    root: &Path,
    folder: &Path,
    argv: &[&str],
    level: usize,
) -> Option<(&'static Runner, usize)> {
    let argv = without_wrappers(argv);
    let (folder, script) = match script_behind(root, folder, argv) {
        Some(script) if level < LEVELS => script,
        Some(_) => return None,
        None => return runner_of(argv).map(|runner| (runner, 0)),
    };
    let last = simple_commands(&script).pop()?;
    let words: Vec<&str> = last.argv.iter().map(String::as_str).collect();
    // What is behind a pipe gets them instead.
    if script.trim_end().ends_with([';', '&', '|', ')']) {
        return None;
    }
    let (runner, dashes) = at_the_end(root, &folder, &words, level + 1)?;
    // The others hand everything on; and one may be there already.
    let own = usize::from(argv.first() == Some(&"npm") && !argv.contains(&"--"));
    Some((runner, dashes + own))
}

/// The runner that is told by variables, if the command leads to just one.
fn by_variables(root: &Path, command: &str) -> Option<&'static Runner> {
    let commands = ends(root, command);
    let mut found = commands.iter().filter_map(|argv| {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        runner_of(&argv)
    });
    let first = found.next()?;
    // The second would write over what the first has written.
    let is_told = !first.variables.is_empty() || !first.leaves.is_empty();
    (found.next().is_none() && is_told).then_some(first)
}

/// Whether the test command of the project at `root` leads to a runner that names every test, by itself, made to or told to: what
/// else it leads to nobody knows before it is run.
pub fn is_seen_through(root: &Path, command: &str) -> bool {
    ends(root, command).iter().any(|argv| {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        let argv = without_packages(&argv);
        any_runner_of(argv).is_some() || NAMING.iter().any(|words| starts(argv, words))
    })
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

/// The runner that a command starts, where the command does not say itself how it is reported.
fn runner_of(argv: &[&str]) -> Option<&'static Runner> {
    let argv = without_packages(argv);
    let runner = any_runner_of(argv)?;
    let is_said = argv.iter().any(|word| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        runner.not_with.contains(&name)
            || runner.not_with.iter().any(|not| {
                name.strip_prefix(not)
                    .is_some_and(|rest| rest.starts_with('.'))
            })
    });
    (!is_said).then_some(runner)
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
