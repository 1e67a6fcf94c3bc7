//! Commit messages.
//!
//! What comes from tasks is text that anyone may have written. In a message it stays text: the
//! subject is one line that begins with no hyphen; lines of the description that git would read
//! as a trailer, a comment, or the end of the message are indented; and the last paragraph is
//! always one of ours, so that git finds trailers nowhere else.

use super::paths::{PathClass, PathClasses};
use super::placeholder::{self, PlaceholderError};
use super::scope;
use super::title::{self, TYPES, Title, marker_len};
use text::plain;

/// The subject's template when the settings give none.
pub const DEFAULT_TEMPLATE: &str = "{type}({scope}): {msg} (task {taskId})";

/// The part of a template that gives way to the title; the body has the id.
const ID_PART: &str = " (task {taskId})";

/// Longest subject, in visible characters.
pub const LONGEST_SUBJECT: usize = 72;

/// Where the description is wrapped.
const WIDTH: usize = 72;
/// The most of a description that goes into a message, in bytes.
const LONGEST_DESCRIPTION: usize = 4096;
/// The longest id that a subject has whole, in visible characters. Longer ones are slugs of titles.
const LONGEST_SUBJECT_ID: usize = 16;
/// The most of a title, tag or id that goes into a line of its own, in visible characters.
const LONGEST_FIELD: usize = 200;
/// The most of a type, tag or status that goes into a subject, in visible characters.
const LONGEST_WORD: usize = 40;

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
    /// The subject, where somebody says it.
    pub subject: Option<&'a str>,
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
    /// The scope, where there is one.
    pub scope: Option<&'a str>,
    /// What the commit is made for.
    pub kind: Kind<'a>,
}

/// The whole message, with a line break at its end.
///
/// The same input gives the same message. Fails only on a template that cannot be filled in.
pub fn compose(input: &MessageInput<'_>) -> Result<String, PlaceholderError> {
    let line = plain::one_line(input.subtask_title);
    let title = Title::read(&line);
    let is_noted = plain::many_lines(input.description)
        .split("\n\n")
        .any(|part| part.starts_with("BREAKING CHANGE: ") || part.starts_with("BREAKING-CHANGE: "));
    let subject = match input.subject {
        Some(said) => said.to_owned(),
        None => subject(input, &title, is_noted)?,
    };
    let mut parts = vec![subject, description(input.description)];
    if title.is_breaking && !is_noted {
        parts.push(description(&format!("BREAKING CHANGE: {}", title.text)));
    }
    parts.extend([about(input), results(input)]);
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n\n") + "\n")
}

/// Whether a title says by itself what its commit does: it asks for something or is of a known type, and fits into a subject.
/// `work` is the kind of work.
pub fn says_enough(title: &str, work: &str) -> bool {
    let line = plain::one_line(title);
    let title = Title::read(&line);
    let kind = type_of_work(work).or_else(|| type_by_title(&line));
    let subject = format!("{}: {}", kind.unwrap_or("feat"), title.message(""));
    (kind.is_some() || title.asks()) && plain::visible_len(&subject) <= LONGEST_SUBJECT
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
    let title = Title::read(title);
    if title.stated.is_some() {
        return title.stated;
    }
    let title = title.text.to_lowercase();
    let mut words = title
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|w| !w.is_empty());
    let first = words.next()?;
    match first {
        "fix" | "fixes" | "fixed" | "fixing" | "bugfix" | "hotfix" | "correct" | "repair" => {
            Some("fix")
        }
        "cleanup" | "clean-up" | "simplify" | "deduplicate" => Some("refactor"),
        "clean" => (words.next() == Some("up")).then_some("refactor"),
        _ => ["refactor", "restructur", "reorganis", "reorganiz"]
            .iter()
            .any(|stem| first.starts_with(stem))
            .then_some("refactor"),
    }
}

/// The first line. Where the whole title has no room beside them, the id gives way to it, then the scope.
fn subject(
    input: &MessageInput<'_>,
    title: &Title<'_>,
    is_noted: bool,
) -> Result<String, PlaceholderError> {
    let id = plain::one_line(input.subtask_id);
    let is_whole = plain::visible_len(&id) <= LONGEST_SUBJECT_ID;
    // Of a slug no more than what tells it from its siblings.
    let id = match id.rfind('.') {
        Some(dot) if !is_whole => format!("…{}", &id[dot..]),
        _ => id,
    };
    let id = text::shortened(&id, LONGEST_SUBJECT_ID);
    let tag = text::shortened(input.tag, LONGEST_WORD);
    let stated_or_found = title.scope.or(input.scope);
    let (kind, scope, msg) = match input.kind {
        Kind::TaskStatus { status } => {
            let task = is_whole.then(|| format!("task {id}"));
            let task = task.as_deref().unwrap_or("the task");
            let status = text::shortened(status, LONGEST_WORD);
            ("chore", Some("tasks"), format!("set {task} to {status}"))
        }
        Kind::Fix => ("fix", stated_or_found, title.message(input.description)),
        Kind::Subtask { work } => {
            let kind = type_of_work(work).unwrap_or_else(|| {
                commit_type(
                    input.files,
                    input.classes,
                    input.subtask_title,
                    input.default_type,
                )
            });
            (kind, stated_or_found, title.message(input.description))
        }
    };
    let kind = text::shortened(kind, LONGEST_WORD);
    let has_id = is_whole && !matches!(input.kind, Kind::TaskStatus { .. });
    let is_breaking = title.is_breaking || is_noted;
    let filled = |(has_id, scope): (bool, Option<&str>), msg: &str| {
        let template = pared(input.template, has_id, scope, is_breaking);
        let values = [&*kind, scope.unwrap_or_default(), msg, msg, &*id, &*tag];
        let values: Vec<_> = PLACEHOLDERS.iter().copied().zip(values).collect();
        Ok(plain::one_line(&placeholder::fill(&template, &values)?))
    };
    let mut subject = String::new();
    for form in [(has_id, scope), (false, scope), (false, None)] {
        subject = filled(form, &msg)?;
        if plain::visible_len(&subject) <= LONGEST_SUBJECT {
            break;
        }
        // Measured around a message of one letter: without any, the spaces beside it would be one.
        let taken = plain::visible_len(&filled(form, "x")?) - 1;
        let room = LONGEST_SUBJECT.saturating_sub(taken);
        subject = filled(form, &title::shorten(&msg, room))?;
    }
    // Only a template that leaves no room for the message is cut here.
    let subject = plain::cut_at_word(&subject, LONGEST_SUBJECT);
    let subject = subject.trim_start_matches(['-', ' ']);
    if subject.is_empty() {
        return Ok(format!("task {id}"));
    }
    Ok(subject.to_owned())
}

/// The template without the brackets of what the subject does not have, and with the mark of a change that breaks something.
fn pared(template: &str, has_id: bool, scope: Option<&str>, is_breaking: bool) -> String {
    let mut template = template.to_owned();
    if !has_id {
        template = template.replace(ID_PART, "");
    }
    if scope.is_none() {
        template = template.replace("({scope})", "").replace("[{scope}]", "");
    }
    let mut heads = ["{type}({scope})", "{type}[{scope}]", "{type}"].into_iter();
    match heads.find(|head| is_breaking && template.contains(head)) {
        Some(head) => template.replacen(head, &format!("{head}!"), 1),
        None => template,
    }
}

/// The placeholders that a template of subjects may have.
pub(crate) const PLACEHOLDERS: &[&str] = &["type", "scope", "msg", "summary", "taskId", "tag"];

fn about(input: &MessageInput<'_>) -> String {
    let id = text::shortened(input.subtask_id, LONGEST_FIELD);
    let title = match input.kind {
        Kind::TaskStatus { .. } => input.task_title,
        Kind::Subtask { .. } | Kind::Fix => input.subtask_title,
    };
    let mut lines = vec![format!(
        "Task: #{id} - {}",
        text::shortened(title, LONGEST_FIELD)
    )];
    let phase = text::shortened(input.task_title, LONGEST_FIELD);
    if !phase.is_empty() && !matches!(input.kind, Kind::TaskStatus { .. }) {
        lines.push(format!("Phase: {phase}"));
    }
    let tag = text::shortened(input.tag, LONGEST_FIELD);
    if !tag.is_empty() {
        lines.push(format!("Tag: {tag}"));
    }
    lines.join("\n")
}

fn results(input: &MessageInput<'_>) -> String {
    let tests = input
        .tests_passing
        .map(|count| format!("Tests: {count} passing"));
    let coverage = input
        .coverage_lines
        .filter(|percent| (0.0..=100.0).contains(percent))
        .map(|percent| format!("Coverage: {}% lines", percentage(percent)));
    let lines: Vec<String> = tests.into_iter().chain(coverage).collect();
    lines.join("\n")
}

/// At most two decimals; never rounded up to a hundred that was not reached.
fn percentage(percent: f64) -> String {
    let most = if percent < 100.0 { 99.99 } else { 100.0 };
    let text = format!("{:.2}", percent.min(most));
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
