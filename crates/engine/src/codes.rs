//! Codes: what each refusal, each fault and each warning says, as data.
//!
//! A file of `codes/` is a section of `docs/codes.md`. An entry has the texts of its code, or of several cases of it under `says`; a
//! key is a code, or a code, a dot and a case. Texts name arguments as `{name}`, steps as `{@verb argument}` or
//! `{@verb argument={name}}`, and arguments of commands as `{--name}`.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use indexmap::IndexMap;
use journal::layout::short_name;
use machine::Refusal;
use serde::Deserialize;
use serde_json::{Map, Value};
use text::{listed, shortened};

use crate::fault::Kind;
use crate::next_step::{NextStep, Verb, argument_mark};

/// The argument of texts that is the id of a run, which they name by its short name.
const RUN: &str = "run";

/// What texts name of a refusal is cut behind so many characters.
const LONGEST_FACT: usize = 200;

/// The sections, in the order of the documentation.
const SECTIONS: [&str; 12] = [
    include_str!("codes/before_a_run.yaml"),
    include_str!("codes/reports.yaml"),
    include_str!("codes/ways_out.yaml"),
    include_str!("codes/handing_over.yaml"),
    include_str!("codes/sessions.yaml"),
    include_str!("codes/sessions_of_skills.yaml"),
    include_str!("codes/looking.yaml"),
    include_str!("codes/over_mcp.yaml"),
    include_str!("codes/profiles.yaml"),
    include_str!("codes/verifying_commits.yaml"),
    include_str!("codes/the_guard_hook.yaml"),
    include_str!("codes/the_environment.yaml"),
];

/// What texts may name beside the details of a refusal: of any run, of sessions of skills, and of reports that were not accepted.
pub const FACTS: [&str; 17] = [
    "of", "run", "status", "reason", "state", "place", "waiting", "unit", "due", "first", "item",
    "open", "failed", "phase", "paused", "repair", "unknown",
];

/// The arguments of a text: names and values.
pub type Args<'a> = [(&'a str, &'a dyn Display)];

/// A fault of a key, with the arguments of its texts: `tag`, or `file = path.display()`.
#[macro_export]
macro_rules! fault {
    ($key:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::Fault::of($key, &[$($crate::text_argument!($name $(= $value)?)),*])
    };
}

/// A refusal of a key, likewise.
#[macro_export]
macro_rules! refusal {
    ($key:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::codes::refusal($key, &[$($crate::text_argument!($name $(= $value)?)),*])
    };
}

/// An argument of a text: its name, and its value where that is not the variable of its name.
#[doc(hidden)]
#[macro_export]
macro_rules! text_argument {
    ($name:ident) => {
        (stringify!($name), &$name as &dyn std::fmt::Display)
    };
    ($name:ident = $value:expr) => {
        (stringify!($name), &$value as &dyn std::fmt::Display)
    };
}

/// A refusal with the texts of a key.
pub(crate) fn refusal(key: &str, args: &Args<'_>) -> Refusal {
    let (_, text) = find(key).unwrap_or_default();
    let refusal = Refusal::new(code_of(key)).message(spell(&text.message, args));
    refusal.suggestion(spell(&text.help, args))
}

/// A code: what it means, what to do, and what is said with it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// What the documentation says of the exit status, where that is not the one of its kind.
    #[serde(default)]
    pub exit: String,
    /// The sort of trouble, and so the exit status; none of what is no fault.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// What it means, in general.
    pub means: String,
    /// What to do, in general.
    #[serde(default)]
    pub fix: String,
    /// Its texts, where it has one case.
    #[serde(flatten)]
    pub text: CodeText,
    /// Its cases, each with texts of its own.
    #[serde(default)]
    pub says: IndexMap<String, CodeText>,
}

/// The texts of a code, or of a case of it. Of the cases with `where`, the first one that fits says a refusal that has no words of
/// its own: each fact there has that value, and all that the texts name is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct CodeText {
    /// The sort of trouble, where that of a case is another than that of its code.
    #[serde(default, rename = "as")]
    pub kind: Option<Kind>,
    /// The facts of the refusals that it is said of; none where sources name the case.
    #[serde(default, rename = "where")]
    pub facts: Option<Map<String, Value>>,
    /// What happened, to what.
    #[serde(default)]
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub help: String,
    /// The step to take first.
    #[serde(default)]
    pub run: String,
}

/// A section of the documentation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What stands before its table.
    #[serde(default)]
    pub about: String,
    /// What stands behind it.
    #[serde(default)]
    pub after: String,
    /// Its codes.
    pub codes: IndexMap<String, Code>,
}

/// All sections, for the documentation and for those who check them.
///
/// # Panics
/// Where a file of the program is not in its form.
pub fn sections() -> Vec<Section> {
    let read = |text: &&str| serde_saphyr::from_str(text).expect("a section of codes");
    SECTIONS.iter().map(read).collect()
}

/// The code that a key is of.
pub fn code_of(key: &str) -> &str {
    key.split_once('.').map_or(key, |(code, _)| code)
}

/// The texts of a key, and the sort of trouble that it is; none where nothing is said of it.
pub(crate) fn find(key: &str) -> Option<(Option<Kind>, CodeText)> {
    let (code, case) = key
        .split_once('.')
        .map_or((key, None), |(code, case)| (code, Some(case)));
    let mut entry = entry(code)?;
    let text = match case {
        Some(case) => entry.says.shift_remove(case)?,
        None => entry.text,
    };
    Some((text.kind.or(entry.kind), text))
}

/// The message of a key.
pub(crate) fn message(key: &str, args: &Args<'_>) -> String {
    find(key)
        .map(|(_, text)| spell(&text.message, args))
        .unwrap_or_default()
}

/// The texts of the first case of a code that fits these facts.
pub(crate) fn of_facts(code: &str, facts: &Map<String, Value>) -> Option<CodeText> {
    let cases = entry(code)?.says.into_values();
    let mut fitting = cases.filter(|case| case.fits(facts));
    let case = fitting.next()?;
    let words = |name: &str, most| in_words(facts, name, most);
    Some(CodeText {
        message: spell_with(&case.message, &words),
        help: spell_with(&case.help, &words),
        ..CodeText::default()
    })
}

impl CodeText {
    fn fits(&self, facts: &Map<String, Value>) -> bool {
        let is_so = |(name, value): (&String, &Value)| facts.get(name) == Some(value);
        let is_known = |name: String| in_words(facts, &name, LONGEST_FACT).is_some();
        let mut texts = [&self.message, &self.help].into_iter();
        self.facts.as_ref().is_some_and(|own| own.iter().all(is_so))
            && texts.all(|text| arguments(text).into_iter().all(is_known))
    }
}

/// A fact in words of at most so many characters: a text, a list with each of its words quoted, or the first of a list, whose name is
/// that of the list and `.first`. None where there is none.
fn in_words(facts: &Map<String, Value>, name: &str, most: usize) -> Option<String> {
    let list = name.strip_suffix(".first");
    match facts.get(list.unwrap_or(name))? {
        Value::Array(words) if list.is_some() => Some(words.first()?.as_str()?.to_owned()),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str);
            let quoted: Vec<String> = words
                .map(|word| format!("`{}`", shortened(word, most)))
                .collect();
            Some(listed(quoted.iter())).filter(|text| !text.is_empty())
        }
        Value::String(text) if text.len() <= most => Some(text.clone()),
        Value::String(text) => Some(shortened(text, most)),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// The advice of a code, whose message comes from elsewhere.
pub(crate) fn help(code: &str) -> String {
    find(code)
        .map(|(_, text)| spell(&text.help, &[]))
        .unwrap_or_default()
}

/// The texts of a code that say something without any argument; none where it has no such message.
pub(crate) fn said(code: &str) -> Option<CodeText> {
    let (_, text) = find(code)?;
    let plain = |template: &str| arguments(template).is_empty().then(|| spell(template, &[]));
    Some(CodeText {
        message: plain(&text.message).filter(|message| !message.is_empty())?,
        help: plain(&text.help).unwrap_or_default(),
        ..CodeText::default()
    })
}

/// The codes whose messages say something without any argument, for definitions that answer with them. Nothing is parsed for that.
pub(crate) fn all_said() -> Vec<&'static str> {
    let said = entries().filter_map(|(code, lines)| {
        let mut own = lines.lines().take_while(|line| line.starts_with("    "));
        let message = own.find_map(|line| line.strip_prefix("    message: "))?;
        arguments(message).is_empty().then_some(code)
    });
    said.collect()
}

/// The entry of a code. Its lines alone are read: a command that is refused waits for it.
fn entry(code: &str) -> Option<Code> {
    let (_, lines) = entries().find(|(known, _)| *known == code)?;
    serde_saphyr::from_str(lines).ok()
}

/// All entries: a code, and its lines.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    SECTIONS.into_iter().flat_map(|section| {
        let heads = section.match_indices("\n  ").map(|(at, _)| at + 3);
        let heads: Vec<usize> = heads
            .filter(|&at| !section[at..].starts_with(' '))
            .collect();
        let ends = heads.iter().skip(1).copied().chain([section.len()]);
        let all: Vec<&str> = heads
            .iter()
            .zip(ends)
            .map(|(&at, end)| &section[at..end])
            .collect();
        all.into_iter().filter_map(|entry| entry.split_once(":\n"))
    })
}

/// A text with its arguments and steps.
pub fn spell(template: &str, args: &Args<'_>) -> String {
    spell_with(template, &|name, _| {
        let found = args.iter().find(|(known, _)| *known == name);
        debug_assert!(found.is_some(), "`{template}` has no argument `{name}`");
        found.map(|(_, value)| value.to_string())
    })
}

/// A text with its steps and with what `value` has under a name, in at most so many characters. A step is to be taken as it stands,
/// so what it names is whole.
fn spell_with(template: &str, value: &dyn Fn(&str, usize) -> Option<String>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(said) => text.push_str(said),
            Piece::Named(inside) => match (inside.strip_prefix('@'), inside.strip_prefix("--")) {
                (Some(step), _) => {
                    let _ = write!(text, "{}", read_step(step, &|name| value(name, usize::MAX)));
                }
                (_, Some(name)) => text.push_str(&argument_mark(name)),
                _ => {
                    let said = value(inside, LONGEST_FACT).unwrap_or_default();
                    text.push_str(&match inside {
                        RUN => short_name(&said),
                        _ => said,
                    });
                }
            },
        }
    }
    text
}

/// A piece of a template.
enum Piece<'t> {
    /// It stands as it is.
    Text(&'t str),
    /// What stands in a pair of braces.
    Named(&'t str),
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), template);
    while let Some(at) = rest.find('{') {
        let Some((inside, behind)) = placeholder(&rest[at + 1..]) else {
            pieces.push(Piece::Text(&rest[..=at]));
            rest = &rest[at + 1..];
            continue;
        };
        pieces.extend([Piece::Text(&rest[..at]), Piece::Named(inside)]);
        rest = behind;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// What stands in a pair of braces, which may hold others, and what comes behind it; none where it is no placeholder.
fn placeholder(from: &str) -> Option<(&str, &str)> {
    let is_one = |c: char| c.is_ascii_lowercase() || "@-_".contains(c);
    if !from.starts_with(is_one) {
        return None;
    }
    let mut depth = 1;
    for (at, c) in from.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&from[..at], &from[at + 1..]));
        }
    }
    None
}

/// A step as texts name it: the verb, then `name`, `name=value` or `name={argument}`; `of` is the run, `in` the view.
fn read_step(text: &str, value: &dyn Fn(&str) -> Option<String>) -> NextStep {
    let mut words = text.split(' ');
    let verb = words.next().and_then(Verb::named);
    if verb == Some(Verb::Shell) {
        return NextStep::shell(words);
    }
    debug_assert!(verb.is_some(), "`{text}` names no step");
    let mut step = verb.unwrap_or(Verb::Next).step();
    for word in words {
        let Some((name, given)) = word.split_once('=') else {
            step.with.push((Cow::Owned(word.to_owned()), None));
            continue;
        };
        let inside = given
            .strip_prefix('{')
            .and_then(|given| given.strip_suffix('}'));
        let given = match inside {
            Some(argument) => value(argument).unwrap_or_default(),
            None => given.to_owned(),
        };
        match name {
            "of" => step = step.of(given),
            "in" => step = step.in_view(&given),
            _ => step.with.push((Cow::Owned(name.to_owned()), Some(given))),
        }
    }
    step
}

/// The names that a text has values for.
pub fn arguments(template: &str) -> Vec<String> {
    let mut names = Vec::new();
    for piece in pieces(template) {
        match piece {
            Piece::Named(inside) if inside.starts_with('@') => {
                let given = inside.split(' ').filter_map(|word| word.split_once("={"));
                names.extend(given.map(|(_, name)| name.trim_end_matches('}').to_owned()));
            }
            Piece::Named(inside) if !inside.starts_with("--") => names.push(inside.to_owned()),
            _ => {}
        }
    }
    names
}

/// The documentation of all codes.
pub fn page() -> String {
    let mut page = include_str!("codes/head.md").to_owned();
    for section in sections() {
        let _ = write!(page, "\n## {}\n\n", section.title);
        if !section.about.is_empty() {
            let _ = writeln!(page, "{}\n", section.about.trim_end());
        }
        page.push_str("| code | exit | meaning | what to do |\n|---|---|---|---|\n");
        let mut rows: Vec<(Vec<String>, [String; 3])> = Vec::new();
        for (code, entry) in section.codes {
            let exit = match (entry.exit.as_str(), entry.kind) {
                ("", Some(kind)) => kind.exit_status().to_string(),
                (exit, _) => exit.to_owned(),
            };
            let row = [exit, entry.means, entry.fix];
            match rows.last_mut() {
                Some((codes, same)) if *same == row => codes.push(code),
                _ => rows.push((vec![code], row)),
            }
        }
        for (codes, [exit, means, fix]) in rows {
            let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
            let row = ["", &codes.join(", "), &exit, &means, &fix, ""];
            let _ = writeln!(page, "{}", row.join(" | ").trim());
        }
        if !section.after.is_empty() {
            let _ = write!(page, "\n{}\n", section.after.trim_end());
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn an_entry_is_found_as_the_whole_file_has_it() {
        let mut all = 0;
        for section in sections() {
            for (code, entry) in &section.codes {
                all += 1;
                let (kind, text) = find(code).unwrap_or_else(|| panic!("{code}"));
                // Some stand in two sections; the first has the texts.
                if !entry.text.message.is_empty() {
                    assert_eq!(
                        (kind, text),
                        (entry.text.kind.or(entry.kind), entry.text.clone())
                    );
                }
                for (case, said) in &entry.says {
                    let found = find(&format!("{code}.{case}")).unwrap().1;
                    assert_eq!(found, *said, "{code}.{case}");
                }
                let said = said(code).is_some();
                assert_eq!(all_said().contains(&code.as_str()), said, "{code}");
            }
        }
        assert!(all > 100);
        assert!(find("nothing").is_none() && find("usage.nothing").is_none());
    }

    #[test]
    fn every_code_stands_once_with_the_status_of_each_case() {
        let mut seen = std::collections::BTreeSet::new();
        for (code, entry) in sections().into_iter().flat_map(|section| section.codes) {
            let kinds = entry.says.values().filter_map(|text| text.kind);
            for kind in kinds.filter(|_| !entry.exit.is_empty()) {
                let status = kind.exit_status().to_string();
                assert!(entry.exit.contains(&status), "{code}: {status}");
            }
            let is_alone = entry.exit.is_empty();
            let others = entry.says.values().any(|text| text.kind.is_some());
            assert!(!(is_alone && others), "{code} has cases of other kinds");
            assert!(seen.insert(code.clone()), "{code} stands twice");
        }
    }

    #[test]
    fn every_text_can_be_spelled() {
        for section in sections() {
            for (code, entry) in section.codes {
                let cases = entry.says.into_values().chain([entry.text]);
                for template in cases.flat_map(|text| [text.message, text.help, text.run]) {
                    let names = arguments(&template);
                    let args = names
                        .iter()
                        .map(|name| (name.as_str(), &"VALUE" as &dyn Display));
                    let text = spell(&template, &args.collect::<Vec<_>>());
                    for name in &names {
                        assert!(!text.contains(&format!("{{{name}}}")), "{code}: {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn texts_have_arguments_steps_and_braces_of_their_own() {
        let args: &Args<'_> = &[("run", &"r 1"), ("why", &"{why} not}")];
        let step = Verb::Skip.step().of("r 1").in_view("generic");
        let step = step.with("item", "2").and("reason");
        assert_eq!(
            spell(
                "{why}: {@skip of={run} in=generic item=2 reason} or {--files} `{ a: b }`",
                args
            ),
            format!(
                "{{why}} not}}: {step} or {} `{{ a: b }}`",
                argument_mark("files")
            )
        );
        assert_eq!(arguments("{a} {@next of={b}} {--c} {D}"), ["a", "b"]);
    }

    #[test]
    fn the_page_of_codes_is_made_of_them() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, page()).expect("docs/codes.md");
        }
        let written = fs::read_to_string(&file).expect("docs/codes.md");
        assert_eq!(written, page(), "run this with UPDATE_DOCS=1");
    }
}
