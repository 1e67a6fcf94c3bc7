//! What is expected of every cheat with every runner, and the tables of it in the documentation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::project::{Also, Cheat, Cheats, Runner, folder, read};
use crate::tools::root;

/// What stands before and behind each table in the documentation.
const CHEATS: [&str; 2] = ["<!-- cheats -->", "<!-- /cheats -->"];
const EVASIONS: [&str; 2] = ["<!-- evasions -->", "<!-- /evasions -->"];
const NEIGHBOURS: [&str; 2] = ["<!-- neighbours -->", "<!-- /neighbours -->"];
const COUNTS: [&str; 2] = ["<!-- counts -->", "<!-- /counts -->"];

/// How an answer is written that is no refusal: a cheat of which nothing is said, one that has no bad end, and the end of one of
/// which something is told.
pub const PASSES: &str = "passes";
pub const HARMLESS: &str = "harmless";
pub const TOLD: &str = " (told)";
/// How one is written that another machine finds.
pub const VERIFIED: &str = " (verify)";

/// Whether something is what an answer tells.
type Tells = fn(&str) -> bool;

/// What catches cheats, and whether that is what an answer tells. The first that does counts.
const STEPS: [(&str, Tells); 8] = [
    (
        "the run: the new tests pass where the functions of the product do nothing",
        |answer| answer == "passes_without_product",
    ),
    ("the run, by anything else", |answer| {
        ![TOLD, VERIFIED].iter().any(|mark| answer.ends_with(mark))
            && ![PASSES, HARMLESS].contains(&answer)
    }),
    (
        "`tm verify --replay`: tests fail, or need no product, where there is nothing but what was committed",
        |answer| answer.ends_with(VERIFIED) && answer.contains("replayed"),
    ),
    ("`tm verify` by what it reads", |answer| {
        answer.ends_with(VERIFIED)
    }),
    (
        "nothing; `tm verify --replay` tells of tests from before the range that are gone or fail",
        |answer| answer.ends_with(TOLD) && answer.contains("oldTests"),
    ),
    ("nothing; the run tells of it", |answer| {
        answer.ends_with(TOLD)
    }),
    ("nothing, and it does not get into the commits", |answer| {
        answer == HARMLESS
    }),
    ("nothing", |_| true),
];

/// Answers by the names of cheats.
pub type Answers = BTreeMap<String, String>;

/// Answers by the names of runners and of cheats.
pub struct Expected(BTreeMap<String, Answers>);

fn file() -> PathBuf {
    folder().join("expected.toml")
}

impl Expected {
    /// What is expected; nothing where nothing was written down yet.
    pub fn read() -> io::Result<Self> {
        if !file().exists() {
            return Ok(Self(BTreeMap::new()));
        }
        read(&file()).map(Self)
    }

    /// Takes these answers for what is expected of a runner, where they were played.
    pub fn replace(&mut self, runner: &str, answers: Answers) {
        let known = self.0.entry(runner.to_owned()).or_default();
        known.extend(answers);
    }

    /// Writes down what is expected of what there is to be played, and of nothing else.
    pub fn write(&mut self, runners: &[Runner], cheats: &Cheats) -> io::Result<()> {
        self.0.retain(|key, answers| {
            let runner = runners.iter().find(|runner| runner.key == *key);
            let Some(runner) = runner else {
                return false;
            };
            let played = cheats.of(runner);
            let mut names: Vec<String> = played.map(|cheat| cheat.name.clone()).collect();
            names.extend(runner.also.iter().map(honest));
            answers.retain(|name, _| names.contains(name));
            true
        });
        let text = toml::to_string(&self.0).map_err(io::Error::other)?;
        let head = "# What becomes of each cheat: the code of a refusal, codes that are told, or that it passes. Written by \
                    `UPDATE_EXPECTED=1 cargo xtask runners`.\n\n";
        fs::write(file(), format!("{head}{text}"))
    }

    /// Whether the answers are what is expected; else it says where they are not. On a machine that lacks more than this one
    /// (`elsewhere`) another code may stand for what is found there.
    pub fn holds(&self, runner: &str, answers: &Answers, elsewhere: bool) -> bool {
        let mut holds = true;
        let known = self.0.get(runner);
        for (cheat, answer) in answers {
            let expected = known.and_then(|known| known.get(cheat));
            let found = |answer: &String| elsewhere && answer.ends_with(VERIFIED);
            if expected != Some(answer) && !(expected.is_some_and(found) && found(answer)) {
                let expected = expected.map_or("nothing", String::as_str);
                println!("  {runner}: {cheat}: {expected} was expected, and it is: {answer}");
                holds = false;
            }
        }
        holds
    }

    /// Whether the documentation has the tables of what is expected. They are written with `UPDATE_DOCS=1`.
    pub fn is_in_the_docs(&self, runners: &[Runner], cheats: &Cheats) -> io::Result<bool> {
        if let Some(caught) = cheats
            .all
            .iter()
            .chain(cheats.evasions())
            .find(|cheat| cheat.passes.is_some() && !self.comes_through(cheat))
        {
            println!("{} says why it passes, and it does not", caught.name);
            return Ok(false);
        }
        let path = root().join("xtask/runners/results.md");
        let text = fs::read_to_string(&path)?;
        let wanted = between(&text, CHEATS, &self.in_words(runners, cheats))?;
        let evasions = self.listed("evasion", cheats.evasions(), runners);
        let evasions = evasions + &self.reasons(cheats.evasions());
        let wanted = between(&wanted, EVASIONS, &evasions)?;
        let neighbours = self.listed("honest work", cheats.neighbours(), runners);
        let wanted = between(&wanted, NEIGHBOURS, &neighbours)?;
        let wanted = between(&wanted, COUNTS, &self.counted(cheats))?;
        if wanted == text {
            return Ok(true);
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, wanted)?;
            return Ok(true);
        }
        println!("xtask/runners/results.md does not say what is expected: UPDATE_DOCS=1 writes it");
        Ok(false)
    }

    /// The table, and below it why some cheats come through.
    fn in_words(&self, runners: &[Runner], cheats: &Cheats) -> String {
        let named = |key: &String| runners.iter().find(|runner| runner.key == *key);
        let columns: Vec<Vec<&Runner>> = cheats
            .columns
            .iter()
            .map(|keys| keys.iter().filter_map(named).collect())
            .collect();
        let heads = columns.iter().map(|column| {
            let names: Vec<&str> = column.iter().map(|runner| &*runner.name).collect();
            names.join(", ")
        });
        let mut text = line(std::iter::once("cheat".to_owned()).chain(heads));
        text += &line(std::iter::repeat_n("---".to_owned(), columns.len() + 1)).replace(' ', "");
        for cheat in &cheats.all {
            let cells = columns.iter().map(|column| self.cell(column, cheat));
            text += &line(std::iter::once(cheat.says.clone()).chain(cells));
        }
        text += &self.reasons(cheats.all.iter());
        text + &self.refused_in_words(runners)
    }

    /// A table of what is particular to a few runners.
    fn listed<'a>(
        &self,
        what: &str,
        cheats: impl Iterator<Item = &'a Cheat>,
        runners: &[Runner],
    ) -> String {
        let heads = [what, "runner", "level", "what becomes of it"];
        let mut text = line(heads.map(str::to_owned).into_iter());
        text += &line(std::iter::repeat_n("---".to_owned(), heads.len())).replace(' ', "");
        for cheat in cheats {
            let played = runners
                .iter()
                .filter(|runner| cheat.runners.contains(&runner.key));
            let played: Vec<&Runner> = played.collect();
            let names: Vec<&str> = played.iter().map(|runner| &*runner.name).collect();
            let cells = [
                cheat.says.clone(),
                names.join(", "),
                cheat.level.to_string(),
                self.cell(&played, cheat),
            ];
            text += &line(cells.into_iter());
        }
        text
    }

    /// How many cheats and evasions each step catches, each with every runner that it is played with.
    fn counted(&self, cheats: &Cheats) -> String {
        let mut counts = [0_usize; STEPS.len()];
        for cheat in cheats.all.iter().chain(cheats.evasions()) {
            let answers = self.0.values().filter_map(|all| all.get(&cheat.name));
            for answer in answers {
                let caught = STEPS.iter().position(|(_, catches)| catches(answer));
                counts[caught.unwrap_or(STEPS.len() - 1)] += 1;
            }
        }
        let mut text = line(
            ["what catches it", "how many"]
                .map(str::to_owned)
                .into_iter(),
        );
        text += "|---|---|\n";
        for ((step, _), count) in STEPS.iter().zip(counts) {
            text += &line([(*step).to_owned(), count.to_string()].into_iter());
        }
        text
    }

    /// Why some of these come through, as far as they do.
    fn reasons<'a>(&self, cheats: impl Iterator<Item = &'a Cheat>) -> String {
        let mut text = "\nWhy some come through:\n\n".to_owned();
        for cheat in cheats {
            if let Some(why) = cheat.passes.as_ref().filter(|_| self.comes_through(cheat)) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "- {}: {why}", cheat.says);
            }
        }
        text
    }

    /// Whether some runner does not catch it.
    fn comes_through(&self, cheat: &Cheat) -> bool {
        let mut answers = self.0.values().filter_map(|all| all.get(&cheat.name));
        answers.any(|answer| came_through(answer))
    }

    /// The honest runs that are refused, if any are.
    fn refused_in_words(&self, runners: &[Runner]) -> String {
        let mut text = String::new();
        for runner in runners {
            let known = self.0.get(&runner.key);
            for also in &runner.also {
                let answer = known.and_then(|known| known.get(&honest(also)));
                if let Some(answer) = answer.filter(|answer| !came_through(answer)) {
                    // Writing to a string cannot fail.
                    let _ = writeln!(
                        text,
                        "- `{}`{}: {}",
                        also.command,
                        also.says,
                        marked(answer)
                    );
                }
            }
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "\nHonest runs that are refused, so that another command or a report of the runner's is needed:\n\n{text}"
        )
    }

    /// What becomes of a cheat with the runners of a column: what most of them have comes first, without their names.
    fn cell(&self, column: &[&Runner], cheat: &Cheat) -> String {
        let mut answers: Vec<(&str, Vec<&str>)> = Vec::new();
        for runner in column {
            let known = self.0.get(&runner.key);
            let Some(answer) = known.and_then(|known| known.get(&cheat.name)) else {
                continue;
            };
            match answers.iter_mut().find(|(other, _)| other == answer) {
                Some((_, names)) => names.push(&runner.name),
                None => answers.push((answer, vec![&runner.name])),
            }
        }
        answers.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        let parts = answers.iter().enumerate().map(|(at, (answer, names))| {
            let shown = marked(answer);
            if at == 0 {
                shown
            } else {
                format!("{}: {shown}", names.join(", "))
            }
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() {
            return "–".to_owned();
        }
        parts.join("; ")
    }
}

/// What the honest run with another command is called among the answers.
pub fn honest(also: &Also) -> String {
    format!("honest {}{}", also.command, also.says)
}

/// Whether a cheat with this answer was not refused.
pub fn came_through(answer: &str) -> bool {
    answer == PASSES || answer.ends_with(TOLD)
}

/// An answer with its codes marked as such.
fn marked(answer: &str) -> String {
    if [PASSES, HARMLESS].contains(&answer) {
        return answer.to_owned();
    }
    let marks = [TOLD, VERIFIED].into_iter();
    let mut marked = marks.filter_map(|mark| Some((answer.strip_suffix(mark)?, mark)));
    let (codes, told) = marked.next().unwrap_or((answer, ""));
    let codes: Vec<String> = codes.split(", ").map(|code| format!("`{code}`")).collect();
    format!("{}{told}", codes.join(", "))
}

/// A text of the documentation with this between two marks.
fn between(text: &str, [begin, end]: [&str; 2], what: &str) -> io::Result<String> {
    let places = text.find(begin).zip(text.find(end));
    let Some((from, to)) = places.filter(|(from, to)| from < to) else {
        let message = format!("xtask/runners/results.md has no {begin} … {end}");
        return Err(io::Error::other(message));
    };
    let (before, rest) = (&text[..from + begin.len()], &text[to..]);
    Ok(format!("{before}\n\n{what}\n{rest}"))
}

/// A line of a table.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}
