//! What can be done next, as data: a verb, the run it is about, and its arguments.
//!
//! A text names a step, or an argument of one, by its [`Display`](fmt::Display): a mark between characters that Unicode leaves
//! for private use, so that no text of others is taken for one by chance. Whoever shows the text spells it ([`parts`]) in the
//! words of the caller: as a command with its options, or as a tool with its arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use machine::role::Role;
use serde_json::{Value, json};

use text::quote::MARKS;
use workspace::config::Level;

use crate::report::Meaning;
use crate::view::AUTOPILOT;

/// What stands before a mark, between its fields, and behind it.
const OPEN: char = MARKS[0];
const BETWEEN: char = MARKS[1];
const CLOSE: char = MARKS[2];
/// The fields that a mark begins with: the verb of a step, or that it is only an argument.
const ARGUMENT: &str = "argument";
/// The field of a step that says of which view it is.
const VIEW: &str = "view";
/// The field of a step that says of which run it is.
const RUN: &str = "run";
/// The argument that is a word of a command.
const WORD: &str = "word";

/// What can be done with runs, by whatever means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Begin a run.
    Start,
    /// Ask what is to be done.
    Next,
    /// Look where a run stands.
    Status,
    /// Report a work unit.
    Report,
    /// Hand a response in, or put it into the place of another.
    Respond,
    /// Go back to the state before, or have what is over go on.
    Reopen,
    /// Give up what is in hand.
    Skip,
    /// Put a run aside.
    Pause,
    /// Go on with a run that was put aside.
    Resume,
    /// End a run.
    Abort,
    /// Take the step that is due, where nothing is reported for it.
    Step,
    /// Let a rule pass, as a person.
    Allow,
    /// Put back what was recorded.
    Restore,
    /// Let what waits at a gate pass.
    Approve,
    /// Send back what waits at a gate.
    Reject,
    /// Set what is open to callers.
    Edit,
    /// Say what a task came to.
    Task,
    /// See the tasks, and how they depend on each other.
    Graph,
    /// Hand a task graph over.
    Sync,
    /// Read what a run did.
    Summary,
    /// See all that is known of a run.
    Show,
    /// Read a run's journal.
    Log,
    /// See the runs.
    List,
    /// Run a command that is not ours, such as one of git.
    Shell,
    /// Hand over what a run made.
    Submit,
    /// Take in what others say of it.
    Feedback,
    /// Take a run back to an earlier step.
    Rewind,
    /// Have a run go on from a branch that has moved.
    Adopt,
}

impl Verb {
    /// All of them in their order, and their names.
    pub const ALL: &[(Self, &'static str)] = &[
        (Self::Start, "start"),
        (Self::Next, "next"),
        (Self::Status, "status"),
        (Self::Report, "report"),
        (Self::Respond, "respond"),
        (Self::Reopen, "reopen"),
        (Self::Skip, "skip"),
        (Self::Pause, "pause"),
        (Self::Resume, "resume"),
        (Self::Abort, "abort"),
        (Self::Step, "step"),
        (Self::Allow, "allow"),
        (Self::Restore, "restore"),
        (Self::Approve, "approve"),
        (Self::Reject, "reject"),
        (Self::Edit, "edit"),
        (Self::Task, "task"),
        (Self::Graph, "graph"),
        (Self::Sync, "sync"),
        (Self::Summary, "summary"),
        (Self::Show, "show"),
        (Self::Log, "log"),
        (Self::List, "list"),
        (Self::Shell, "shell"),
        (Self::Submit, "submit"),
        (Self::Feedback, "feedback"),
        (Self::Rewind, "rewind"),
        (Self::Adopt, "adopt"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, known)| *known == name).map(|(verb, _)| *verb)
    }

    /// The step that does this, to the run that the caller means, in the caller's view.
    pub fn step(self) -> NextStep {
        NextStep {
            verb: self,
            view: None,
            run: None,
            with: Vec::new(),
        }
    }
}

/// A step that can be taken next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// What is to be done.
    pub verb: Verb,
    /// The view that it is done in, where that is not the caller's own.
    pub view: Option<String>,
    /// The run that it is done to; the one that the caller means if none.
    pub run: Option<String>,
    /// Its arguments: the name, and the value where it is known; else the caller has to fill it in.
    pub with: Vec<(Cow<'static, str>, Option<String>)>,
}

impl NextStep {
    /// That a unit of this role, of this item, is reported, with evidence of that level where it is of tests.
    pub fn report(role: &Role, item: Option<&str>, level: Level) -> Self {
        let mut step = Verb::Report.step();
        let phase = match Meaning::of(role) {
            Some(Meaning::Commit) => Some("commit"),
            Some(Meaning::Suite) => Some("finalize"),
            Some(Meaning::Tests) => role.phase.as_deref(),
            _ => None,
        };
        if let Some(phase) = phase {
            step = step.with("phase", phase);
        }
        if let Some(item) = item {
            step = step.with("item", item);
        }
        let counts = match role.reader.as_str() {
            "tests" if level >= Level::Ran => return step.and("verify"),
            "tests" if level == Level::Reported => return step.and("report"),
            "tests" if role.shows.is_some() => "failed:N,passed:N",
            "tests" if role.suite.is_some() => "passed:N,failed:N",
            "tests" => "passed:N,failed:0",
            "outcome" => return step.and("outcome"),
            _ => return step,
        };
        step.with("results", counts)
    }

    /// The same report where nothing was changed since the one that it is held against.
    fn unchanged(mut self) -> Self {
        let evidence = ["results", "report", "verify"];
        self.with
            .retain(|(name, _)| !evidence.contains(&name.as_ref()));
        self.and(UNCHANGED)
    }

    /// That the unit of a phase is reported whose report says nothing else of it.
    pub fn in_phase(phase: &str) -> Self {
        let step = Verb::Report.step().in_view(AUTOPILOT.name);
        let step = step.with("phase", phase);
        match phase {
            "commit" => step,
            _ => step.with("results", "passed:N,failed:N"),
        }
    }

    /// That a run over a task is begun.
    pub(crate) fn start_on_task() -> Self {
        Verb::Start.step().in_view(AUTOPILOT.name).and("taskId")
    }

    /// That a run over a task is begun whose task stands in no file.
    pub(crate) fn start_without_tasks() -> Self {
        let step = Verb::Start.step().in_view(AUTOPILOT.name);
        step.and("title").and("subtask")
    }

    /// That a command of these words is run, which is none of ours.
    pub fn shell<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let words = words.into_iter();
        NextStep {
            with: words
                .map(|word| (WORD.into(), Some(word.to_owned())))
                .collect(),
            ..Verb::Shell.step()
        }
    }

    /// That git is given these words.
    pub(crate) fn git<const N: usize>(words: [&str; N]) -> Self {
        Self::shell(std::iter::once("git").chain(words))
    }

    /// The words of a command that is none of ours; none where the step is another one.
    pub fn words(&self) -> Option<impl Iterator<Item = &str>> {
        let words = self.with.iter().filter(|(name, _)| name == WORD);
        (self.verb == Verb::Shell).then(|| words.filter_map(|(_, word)| word.as_deref()))
    }

    /// The same, done to this run.
    #[must_use]
    pub fn of(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// The same, done in the view of that name.
    #[must_use]
    pub fn in_view(mut self, view: &str) -> Self {
        self.view = Some(view.to_owned());
        self
    }

    /// With an argument that the caller has to fill in, or that says something by being there.
    #[must_use]
    pub fn and(mut self, argument: &'static str) -> Self {
        self.with.push((argument.into(), None));
        self
    }

    /// With an argument of this value.
    #[must_use]
    pub fn with(mut self, argument: &'static str, value: impl Into<String>) -> Self {
        self.with.push((argument.into(), Some(value.into())));
        self
    }

    /// The value of an argument, if it is known.
    pub fn value(&self, argument: &str) -> Option<&str> {
        let mut with = self.with.iter();
        with.find(|(name, _)| name == argument)?.1.as_deref()
    }
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPEN}{}", self.verb.name())?;
        let about = [(VIEW, &self.view), (RUN, &self.run)];
        for (name, value) in about {
            if let Some(value) = value {
                field(f, name, Some(value))?;
            }
        }
        for (name, value) in &self.with {
            field(f, name, value.as_deref())?;
        }
        write!(f, "{CLOSE}")
    }
}

impl From<NextStep> for String {
    fn from(step: NextStep) -> Self {
        step.to_string()
    }
}

impl From<Verb> for String {
    fn from(verb: Verb) -> Self {
        verb.step().to_string()
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.step().fmt(f)
    }
}

/// The mark of an argument of that name.
pub(crate) fn argument_mark(name: &str) -> String {
    format!("{OPEN}{ARGUMENT}{BETWEEN}{name}{CLOSE}")
}

/// An argument that a text speaks of, apart from a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument(pub &'static str);

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&argument_mark(self.0))
    }
}

fn field(f: &mut fmt::Formatter<'_>, name: &str, value: Option<&str>) -> fmt::Result {
    write!(f, "{BETWEEN}{name}")?;
    match value {
        None => Ok(()),
        // A mark within a mark would end it.
        Some(value) => write!(f, "={}", value.replace([OPEN, BETWEEN, CLOSE], "")),
    }
}

/// The mark of an [`Argument`], for a text that is put together when it is compiled.
macro_rules! argument {
    ($name:literal) => {
        concat!("\u{10FFF0}argument\u{10FFF1}", $name, "\u{10FFF2}")
    };
}

/// The mark of a step with arguments that the caller fills in, for a text that is put together when it is compiled.
macro_rules! step {
    ($verb:literal $(, $argument:literal)*) => {
        concat!("\u{10FFF0}", $verb, $("\u{10FFF1}", $argument,)* "\u{10FFF2}")
    };
}

pub(crate) use {argument, step};

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// What is to be shown as it is.
    Text(&'a str),
    /// A step that is named there.
    Step(NextStep),
    /// The name of an argument.
    Argument(&'a str),
}

/// Whether a text names a step or an argument.
pub fn is_marked(text: &str) -> bool {
    text.contains(OPEN)
}

/// The pieces of a text. What only looks like a mark is text.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = text[at..].find(OPEN) {
        let open = at + open;
        let inside = open + OPEN.len_utf8();
        at = inside;
        let Some(close) = text[inside..].find(CLOSE) else {
            break;
        };
        if let Some(part) = read(&text[inside..inside + close]) {
            if from < open {
                parts.push(Part::Text(&text[from..open]));
            }
            parts.push(part);
            at = inside + close + CLOSE.len_utf8();
            from = at;
        }
    }
    if from < text.len() {
        parts.push(Part::Text(&text[from..]));
    }
    parts
}

/// A text for a file, whose reader nobody knows: its steps are commands of `tm run`, which any run takes.
pub(crate) fn in_a_file(text: &str, run: &str) -> String {
    in_commands(text, Some(run))
}

/// A text for a page or a record of what happened. Whatever shows a text of the engine to nobody in particular gives it through this:
/// no mark gets out.
pub fn on_a_page(text: &str) -> Cow<'_, str> {
    if is_marked(text) {
        Cow::Owned(in_commands(text, None))
    } else {
        Cow::Borrowed(text)
    }
}

/// A text with commands in the place of its steps, of this run where one is named.
fn in_commands(text: &str, run: Option<&str>) -> String {
    let told = parts(text).into_iter().map(|part| match part {
        Part::Text(text) => text.to_owned(),
        Part::Argument(name) => option_of(name),
        Part::Step(step) => {
            let tick = if run.is_some() { "`" } else { "" };
            if let Some(words) = step.words() {
                return format!("{tick}{}{tick}", command_line(words));
            }
            let command = match step.verb {
                // There the file that is waited for is the report.
                Verb::Report if run.is_some() => "tm run step".to_owned(),
                Verb::Edit => "tm collab update".to_owned(),
                Verb::Task | Verb::Graph | Verb::Sync => format!("tm collab {}", step.verb.name()),
                verb => format!("tm run {}", verb.name()),
            };
            let about = if command.starts_with("tm collab") {
                "--session"
            } else {
                "--run-id"
            };
            let asks = step.with.iter().any(|(name, _)| name == "reason");
            let reason = if asks { " --reason …" } else { "" };
            let about = run.map_or_else(String::new, |run| format!(" {about} {run}"));
            format!("{tick}{command}{reason}{about}{tick}")
        }
    });
    told.collect()
}

/// Words as a shell takes them.
pub fn command_line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(typed).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it: quoted where it has anything that a shell would act on.
pub fn typed(word: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    // What only stands for a value is read by a person.
    if !word.is_empty() && (word.chars().all(harmless) || word == "…") {
        word.to_owned()
    } else {
        text::quote::shell_word(word)
    }
}

/// The option of a command line for an argument of this name.
pub fn option_of(name: &str) -> String {
    let mut option = "--".to_owned();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            option.push('-');
        }
        option.push(letter.to_ascii_lowercase());
    }
    option
}

/// A text with the report that is due in the place of those that it leaves open.
pub(crate) fn with_report(text: &str, report: &NextStep) -> String {
    text.replace(&Verb::Report.to_string(), &report.to_string())
}

/// The steps that a text names.
pub fn steps(text: &str) -> Vec<NextStep> {
    let steps = parts(text).into_iter().filter_map(|part| match part {
        Part::Step(step) => Some(step),
        Part::Text(_) | Part::Argument(_) => None,
    });
    steps.collect()
}

/// What a template may name: steps from the unit that it is for, and arguments that it speaks of.
pub(crate) fn in_templates(report: NextStep, item: Option<&str>, unit: &str) -> Value {
    let of_item = |verb: Verb| match item {
        Some(item) => verb.step().with("item", item),
        None => verb.step(),
    };
    let asks_subject = report.with.iter().any(|(name, _)| name == "message");
    let report = report.with("unit", unit);
    let steps = STEPS.map(|verb| {
        let step = match verb {
            Verb::Report => report.clone(),
            Verb::Skip => of_item(verb).and("reason"),
            Verb::Reopen => verb.step().and("reason"),
            _ => verb.step(),
        };
        (verb.name(), step.to_string())
    });
    let unchanged = report.clone().unchanged();
    let steps = steps
        .into_iter()
        .chain([(UNCHANGED, unchanged.to_string())]);
    let arguments = ARGUMENTS.map(|name| (name, Argument(name).to_string()));
    json!({
        "steps": steps.collect::<BTreeMap<_, _>>(),
        "asksSubject": asks_subject,
        "arguments": arguments.into_iter().collect::<BTreeMap<_, _>>(),
    })
}

/// The variables that there are in every template for steps and arguments.
pub(crate) fn variables() -> impl Iterator<Item = String> {
    let steps = STEPS.map(|verb| format!("steps.{}", verb.name()));
    let arguments = ARGUMENTS.map(|name| format!("arguments.{name}"));
    let further = [format!("steps.{UNCHANGED}"), "asksSubject".to_owned()];
    steps.into_iter().chain(further).chain(arguments)
}

/// A report that says so, as a step of templates and its argument.
const UNCHANGED: &str = "unchanged";

/// The steps that a template may name.
const STEPS: [Verb; 10] = [
    Verb::Next,
    Verb::Status,
    Verb::Report,
    Verb::Reopen,
    Verb::Skip,
    Verb::Pause,
    Verb::Edit,
    Verb::Task,
    Verb::Graph,
    Verb::Sync,
];

/// The arguments that a template may name.
const ARGUMENTS: [&str; 19] = [
    "results",
    "coverage",
    "coverageReport",
    "report",
    "format",
    "verify",
    "removed",
    "repairs",
    "unchanged",
    "files",
    "message",
    "sha",
    "outcome",
    "note",
    "kind",
    "item",
    "workItems",
    "skipped",
    "full",
];

fn read(mark: &str) -> Option<Part<'_>> {
    let mut fields = mark.split(BETWEEN);
    let first = fields.next()?;
    if first == ARGUMENT {
        return fields.next().map(Part::Argument);
    }
    let mut step = Verb::named(first)?.step();
    for field in fields {
        let (name, value) = match field.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (field, None),
        };
        match name {
            VIEW => step.view = value,
            RUN => step.run = value,
            _ => step.with.push((name.to_owned().into(), value)),
        }
    }
    Some(Part::Step(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_apart_into_what_it_was_made_of() {
        for &(verb, name) in Verb::ALL {
            assert_eq!(verb.name(), name);
            let text = format!("{verb}");
            assert_eq!(parts(&text), [Part::Step(verb.step())]);
        }
        let step = Verb::Report
            .step()
            .of("r 1")
            .in_view("autopilot")
            .with("results", "failed:N,passed:N")
            .and("coverage");
        let text = format!("do {step}, or add {}.", Argument("reason"));
        assert!(is_marked(&text));
        assert_eq!(
            parts(&text),
            [
                Part::Text("do "),
                Part::Step(step),
                Part::Text(", or add "),
                Part::Argument("reason"),
                Part::Text(".")
            ]
        );
        let skip = |reason: &str| Verb::Skip.step().with("reason", reason);
        let odd = skip("a=b\u{10FFF2}\u{10FFF0}c").to_string();
        assert_eq!(parts(&odd)[0], Part::Step(skip("a=bc")));
    }

    #[test]
    fn a_file_has_commands_that_any_run_takes() {
        let text = format!(
            "When done: {}; or {}, or `{} FILE`.",
            Verb::Report.step().with("unit", "write"),
            Verb::Skip.step().and("reason"),
            Argument("coverageReport")
        );
        assert_eq!(
            in_a_file(&text, "r1"),
            "When done: `tm run step --run-id r1`; or `tm run skip --reason … --run-id r1`, or `--coverage-report FILE`."
        );
    }

    #[test]
    fn what_only_looks_like_a_mark_is_text() {
        assert!(parts("").is_empty());
        for text in [
            "plain",
            "a\u{10FFF0}next",
            "a\u{10FFF0}nothing\u{10FFF2}b",
            "a\u{10FFF0}\u{10FFF2}b",
            "a\u{10FFF2}b",
        ] {
            assert_eq!(parts(text), [Part::Text(text)]);
        }
        let text = format!("\u{10FFF0}a{}b", Verb::Next);
        let next = Part::Step(Verb::Next.step());
        assert_eq!(
            parts(&text),
            [Part::Text("\u{10FFF0}a"), next, Part::Text("b")]
        );
        let text = text::quote::quote_inline(&text, 200);
        assert_eq!(parts(&text), [Part::Text(&text)]);
    }
}
