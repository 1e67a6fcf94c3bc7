//! Commit messages.
//!
//! What comes from tasks is text that anyone may have written. In a message it stays text: the
//! subject is one line that begins with no hyphen; lines of the description that git would read
//! as a trailer, a comment, or the end of the message are indented; and the last paragraph is
//! always one of ours, so that git finds trailers nowhere else.

use std::path::Path;

use super::paths::{PathClass, PathClasses};
use super::placeholder::{self, PlaceholderError};
use super::scope::{self, Scopes};
use text::plain;

/// The subject's template when the settings give none.
pub const DEFAULT_TEMPLATE: &str = "{type}({scope}): {msg} (task {taskId})";

/// Longest subject, in visible characters.
pub const LONGEST_SUBJECT: usize = 72;

/// Where the description is wrapped.
const WIDTH: usize = 72;
/// The most of a description that goes into a message, in bytes.
const LONGEST_DESCRIPTION: usize = 4096;
/// An id in a subject up to this length is told whole, in visible characters.
const LONGEST_SUBJECT_ID: usize = 24;
/// The most of a title or tag that goes into a line of its own, in visible characters.
const LONGEST_FIELD: usize = 200;
const LONGEST_ID: usize = 40;
/// Words that a subject does not end with where it is cut.
const JOINING: [&str; 20] = [
    "a", "all", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or",
    "that", "the", "to", "when", "with", "which",
];
/// A message shorter than this in the subject says nothing: the scope gives way to it.
const SHORTEST_MSG: usize = 16;

/// Types of commits, after [Conventional Commits](https://www.conventionalcommits.org/en/v1.0.0/).
const TYPES: [&str; 10] = [
    "feat", "fix", "test", "refactor", "docs", "chore", "perf", "build", "ci", "style",
];

/// What a commit is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A subtask.
    Subtask {
        /// What kind of work it is, in the words of its workflow; may be empty.
        work: &'a str,
    },
    /// The repair of a suite that failed at the end: always `fix`.
    Fix,
    /// The task's new status, alone: always `chore(tasks)`.
    TaskStatus {
        /// The status as the tasks file now has it.
        status: &'a str,
    },
}

/// What a commit message is made from.
#[derive(Debug, Clone, Copy)]
pub struct MessageInput<'a> {
    /// The subject's template, with `{type}`, `{scope}`, `{msg}`, `{taskId}` and `{tag}`.
    pub template: &'a str,
    /// The type of a commit that nothing else is known of, such as `feat`.
    pub default_type: &'a str,
    /// The subtask's dotted id; of a [`Kind::TaskStatus`], the task's.
    pub subtask_id: &'a str,
    /// The subtask's title.
    pub subtask_title: &'a str,
    /// The subtask's description; may be empty.
    pub description: &'a str,
    /// The task's title.
    pub task_title: &'a str,
    /// The tag that the run is bound to.
    pub tag: &'a str,
    /// How many tests passed at GREEN, when known.
    pub tests_passing: Option<u64>,
    /// Line coverage in percent, when known.
    pub coverage_lines: Option<f64>,
    /// The commit's files, relative to the root, with `/`.
    pub files: &'a [String],
    /// Tells what the files are for.
    pub classes: &'a PathClasses,
    /// The scopes of the settings.
    pub scopes: &'a Scopes,
    /// What the commit is made for.
    pub kind: Kind<'a>,
    /// The project root, where manifests are looked for.
    pub root: &'a Path,
}

/// The whole message, with a line break at its end.
///
/// The same input gives the same message. Fails only on a template that cannot be filled in.
pub fn compose(input: &MessageInput<'_>) -> Result<String, PlaceholderError> {
    let subject = subject(input)?;
    let mut message = subject;
    let body = match input.kind {
        Kind::TaskStatus { .. } => String::new(),
        Kind::Subtask { .. } | Kind::Fix => description(input.description),
    };
    if !body.is_empty() {
        message.push_str("\n\n");
        message.push_str(&body);
    }
    message.push_str("\n\n");
    message.push_str(&about(input));
    if let Some(results) = results(input) {
        message.push_str("\n\n");
        message.push_str(&results);
    }
    message.push('\n');
    Ok(message)
}

/// The type of the commit: what all of its files are for, else what the title begins with,
/// else `default`.
pub fn commit_type<'a>(
    files: &[String],
    classes: &PathClasses,
    title: &str,
    default: &'a str,
) -> &'a str {
    let mut purposes = files
        .iter()
        .filter(|file| scope::is_inside(file))
        .map(|f| classes.of(f));
    if let Some(first) = purposes.next()
        && purposes.all(|purpose| purpose == first)
    {
        match first {
            PathClass::Test => return "test",
            PathClass::Docs => return "docs",
            PathClass::Build => return "chore",
            PathClass::Source => {}
        }
    }
    type_by_title(title).unwrap_or(default)
}

/// The type of commits of a kind of work that is called like one.
fn type_of_work(work: &str) -> Option<&'static str> {
    let word = match work {
        "tests" => "test",
        "config" => "chore",
        word => word,
    };
    TYPES.into_iter().find(|known| *known == word)
}

/// The type that a title states (`fix: …`) or whose words it begins with.
fn type_by_title(title: &str) -> Option<&'static str> {
    if let Some((stated, _)) = stated_type(title) {
        return Some(stated);
    }
    let title = title.to_lowercase();
    let mut words = title
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|w| !w.is_empty());
    let first = words.next()?;
    match first {
        "fix" | "fixes" | "fixed" | "fixing" | "bugfix" | "hotfix" | "bug" => Some("fix"),
        "cleanup" | "clean-up" | "simplify" | "deduplicate" => Some("refactor"),
        "clean" => (words.next() == Some("up")).then_some("refactor"),
        _ => ["refactor", "restructur", "reorganis", "reorganiz"]
            .iter()
            .any(|stem| first.starts_with(stem))
            .then_some("refactor"),
    }
}

/// A title that is itself written as a conventional subject, taken apart: `fix(core): x` is
/// `fix` and `x`.
fn stated_type(title: &str) -> Option<(&'static str, &str)> {
    let (head, rest) = title.split_once(": ")?;
    let head = head.trim().trim_end_matches('!');
    let word = match head.split_once('(') {
        Some((word, scope)) if scope.ends_with(')') => word,
        Some(_) => return None,
        None => head,
    };
    let known = TYPES
        .into_iter()
        .find(|known| word.eq_ignore_ascii_case(known))?;
    Some((known, rest.trim_start()))
}

fn subject(input: &MessageInput<'_>) -> Result<String, PlaceholderError> {
    let title = plain::one_line(input.subtask_title);
    let id = short_id(input.subtask_id);
    let tag = text::shortened(input.tag, LONGEST_ID);
    let (kind, scope, msg) = match input.kind {
        Kind::TaskStatus { status } => (
            "chore",
            Some("tasks".to_owned()),
            format!("set task {id} to {}", text::shortened(status, LONGEST_ID)),
        ),
        Kind::Fix => (
            "fix",
            input.scopes.of(input.files, input.root),
            message_of(&title),
        ),
        Kind::Subtask { work } => (
            type_of_work(work).unwrap_or_else(|| {
                commit_type(input.files, input.classes, &title, input.default_type)
            }),
            input.scopes.of(input.files, input.root),
            message_of(&title),
        ),
    };
    let kind = text::shortened(kind, LONGEST_ID);
    let mut scope = scope.as_deref();
    // Measured around a message of one letter: without any, the spaces beside it would be one.
    let around = |scope| fill(input.template, &kind, scope, "x", &id, &tag);
    let mut taken = plain::visible_len(&around(scope)?);
    if taken + SHORTEST_MSG.min(plain::visible_len(&msg)) > LONGEST_SUBJECT {
        scope = None;
        taken = plain::visible_len(&around(scope)?);
    }
    let room = (LONGEST_SUBJECT + 1).saturating_sub(taken).max(1);
    let cut = cut_between_words(&msg, room);
    let subject = fill(input.template, &kind, scope, cut, &id, &tag)?;
    // Only a template that leaves no room for the message comes to this.
    let subject = plain::cut_at_word(&subject, LONGEST_SUBJECT);
    let subject = subject.trim_start_matches(['-', ' ']);
    if subject.is_empty() {
        return Ok(format!("task {id}"));
    }
    Ok(subject.to_owned())
}

/// The id as a subject has it: of a long one the beginning, and what tells it from its siblings. The body has the whole.
fn short_id(id: &str) -> String {
    let id = plain::one_line(id);
    let own = id.rfind('.').map_or("", |dot| &id[dot..]);
    if plain::visible_len(&id) <= LONGEST_SUBJECT_ID || own.is_empty() {
        return text::shortened(&id, LONGEST_ID);
    }
    let room = LONGEST_SUBJECT_ID.saturating_sub(plain::visible_len(own) + 1);
    format!(
        "{}…{own}",
        plain::cut_at_word(&id, room).trim_end_matches('-')
    )
}

/// The beginning of a message that has room, without half a word or half a bracket at its end.
fn cut_between_words(msg: &str, room: usize) -> &str {
    let mut cut = plain::cut_at_word(msg, room);
    if cut.len() == msg.len() {
        return msg;
    }
    let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    if msg[cut.len()..].starts_with(is_part_of_word) {
        let word = cut.trim_end_matches(is_part_of_word);
        if !word.is_empty() {
            cut = word;
        }
    }
    if cut.matches('(').count() > cut.matches(')').count()
        && let Some(open) = cut.rfind('(').filter(|open| *open > 0)
    {
        cut = &cut[..open];
    }
    let ends = [' ', ',', ';', ':', '-', '(', '.', '&', '–', '—'];
    cut = cut.trim_end_matches(ends);
    // What joins two words joins none here.
    while let Some((before, last)) = cut.rsplit_once(' ')
        && JOINING.contains(&last)
    {
        cut = before.trim_end_matches(ends);
    }
    cut
}

/// The placeholders that a template of subjects may have.
pub(crate) const PLACEHOLDERS: &[&str] = &["type", "scope", "msg", "summary", "taskId", "tag"];

fn fill(
    template: &str,
    kind: &str,
    scope: Option<&str>,
    msg: &str,
    id: &str,
    tag: &str,
) -> Result<String, PlaceholderError> {
    let without = template.replace("({scope})", "").replace("[{scope}]", "");
    let template = if scope.is_some() { template } else { &without };
    let scope = scope.unwrap_or_default();
    let values: Vec<_> = PLACEHOLDERS
        .iter()
        .copied()
        .zip([kind, scope, msg, msg, id, tag])
        .collect();
    Ok(plain::one_line(&placeholder::fill(template, &values)?))
}

/// The title as the message of a subject: no leading hyphen, no full stop, no capital that only
/// begins a sentence, no type of its own.
fn message_of(title: &str) -> String {
    let title = stated_type(title).map_or(title, |(_, rest)| rest);
    let title = title.trim_start_matches(['-', ' ']).trim_end();
    let title = match title.strip_suffix('.') {
        Some(sentence) if !sentence.ends_with('.') => sentence,
        _ => title,
    };
    let first = title.split(' ').next().unwrap_or_default();
    let mut letters = first.chars();
    let Some(initial) = letters.next() else {
        return "change".to_owned();
    };
    // A name out of code, such as `Version::bump` or `Vec<T>`, is spelled as it is.
    let is_word = |c: char| c.is_alphanumeric() || "-'’,:.".contains(c);
    let is_name =
        first.contains("::") || !first.trim_end_matches([':', ',', '.']).chars().all(is_word);
    let is_sentence_case = initial.is_uppercase() && !is_name && letters.all(|c| !c.is_uppercase());
    if is_sentence_case && (first.chars().count() > 1 || initial == 'A') {
        let rest = &title[initial.len_utf8()..];
        return initial.to_lowercase().chain(rest.chars()).collect();
    }
    title.to_owned()
}

fn about(input: &MessageInput<'_>) -> String {
    let id = text::shortened(input.subtask_id, LONGEST_ID);
    let title = match input.kind {
        Kind::TaskStatus { .. } => input.task_title,
        Kind::Subtask { .. } | Kind::Fix => input.subtask_title,
    };
    let mut lines = vec![format!(
        "Task: #{id} - {}",
        text::shortened(title, LONGEST_FIELD)
    )];
    if !matches!(input.kind, Kind::TaskStatus { .. }) {
        let phase = text::shortened(input.task_title, LONGEST_FIELD);
        if !phase.is_empty() {
            lines.push(format!("Phase: {phase}"));
        }
    }
    let tag = text::shortened(input.tag, LONGEST_FIELD);
    if !tag.is_empty() {
        lines.push(format!("Tag: {tag}"));
    }
    lines.join("\n")
}

fn results(input: &MessageInput<'_>) -> Option<String> {
    let tests = input
        .tests_passing
        .map(|count| format!("Tests: {count} passing"));
    let coverage = input
        .coverage_lines
        .filter(|percent| (0.0..=100.0).contains(percent))
        .map(|percent| format!("Coverage: {}% lines", percentage(percent)));
    let lines: Vec<String> = tests.into_iter().chain(coverage).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// At most two decimals; never rounded up to a hundred that was not reached.
fn percentage(percent: f64) -> String {
    let text = format!(
        "{:.2}",
        if percent < 100.0 {
            percent.min(99.99)
        } else {
            percent
        }
    );
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The description, wrapped. Lines that are not plain prose keep their own line.
fn description(text: &str) -> String {
    let text = plain::many_lines(text);
    let kept = plain::cut_bytes(&text, LONGEST_DESCRIPTION);
    let mut lines: Vec<String> = Vec::new();
    let mut prose = String::new();
    let mut in_code = false;
    for line in kept.lines() {
        // Boxes to be ticked off are a plan's: of a commit all of it is done.
        let unticked = if in_code { None } else { without_box(line) };
        let line = unticked.as_deref().unwrap_or(line);
        let bare = line.trim_start();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        if !in_code && !fence && !bare.is_empty() && bare.len() == line.len() && !stands_alone(line)
        {
            if !prose.is_empty() {
                prose.push(' ');
            }
            prose.push_str(line);
            continue;
        }
        wrap_into(&mut lines, &prose, "", "");
        prose.clear();
        if in_code || fence {
            lines.push(guarded(line));
            in_code ^= fence;
        } else if bare.is_empty() {
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
        } else {
            let indent = &line[..line.len() - bare.len()];
            let indent = plain::cut_at_word(indent, 16);
            let hanging = format!("{indent}{}", " ".repeat(marker_len(bare)));
            wrap_into(&mut lines, bare, indent, &hanging);
        }
    }
    wrap_into(&mut lines, &prose, "", "");
    if kept.len() < text.len() {
        lines.push("…".to_owned());
    }
    lines.join("\n").trim_matches('\n').to_owned()
}

/// An item of a checklist as one of a list.
fn without_box(line: &str) -> Option<String> {
    let bare = line.trim_start();
    let (marker, rest) = bare.split_at_checked(2)?;
    if !matches!(marker, "- " | "* " | "+ ") {
        return None;
    }
    let text = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|ticked| rest.strip_prefix(ticked))?;
    let indent = &line[..line.len() - bare.len()];
    Some(format!("{indent}{marker}{text}"))
}

fn wrap_into(lines: &mut Vec<String>, text: &str, first: &str, next: &str) {
    if text.is_empty() {
        return;
    }
    let wrapped = wrap(text, first, next);
    if wrapped.iter().any(|line| needs_guard(line)) {
        lines.extend(wrap(text, "  ", "  "));
    } else {
        lines.extend(wrapped);
    }
}

fn wrap(text: &str, first: &str, next: &str) -> Vec<String> {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(next)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
        .into_iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

fn guarded(line: &str) -> String {
    if needs_guard(line) {
        format!("  {line}")
    } else {
        line.to_owned()
    }
}

/// Whether the line is an item, a quotation, a table row, or something that must not flow
/// together with its neighbours because it will be indented.
fn stands_alone(line: &str) -> bool {
    marker_len(line) > 0 || line.starts_with(['>', '|']) || needs_guard(line)
}

/// The length of a list item's marker with the space behind it; 0 without one.
fn marker_len(line: &str) -> usize {
    if ["- ", "* ", "+ "]
        .iter()
        .any(|marker| line.starts_with(marker))
    {
        return 2;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    if (1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return digits + 2;
    }
    0
}

/// Whether git, or a tool that reads messages, would take the line for more than text: a
/// trailer, a comment, or the mark where a message ends and a patch begins.
fn needs_guard(line: &str) -> bool {
    if line.starts_with('#')
        || ["---", "diff ", "From ", "(cherry picked from commit "]
            .iter()
            .any(|s| line.starts_with(s))
    {
        return true;
    }
    // As git finds the separator: letters, digits and hyphens, then spaces, then the colon.
    let token = line
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .unwrap_or(line.len());
    token > 0
        && line[token..]
            .trim_start_matches([' ', '\t'])
            .starts_with(':')
}
