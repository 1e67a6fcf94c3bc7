//! The pages that people read, as templates: `pages/`, one file a page, or a part of one.
//!
//! A template is given an answer under the names of its JSON; a list is `all`. Values lose whatever a terminal would act upon, and
//! their line breaks. A line begins with a mark that says what it is, and a blank; what it is about follows:
//!
//! | mark | line |
//! |---|---|
//! | `#` | a title |
//! | `@ label:` | a named value; left out where the value is empty |
//! | `$` | a command, not wrapped |
//! | `+` `x` `!` `>` `*` | a sentence behind the sign for good, bad, a warning, what comes next, one of several; may be indented |
//! | `~ lead \|` | a sentence behind a lead, wrapped |
//! | `=` | a sentence, wrapped and indented |
//! | `-` | an entry of a list |
//! | `:` | a line as it stands |
//!
//! What several pages have is a part, which they include.

use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, ValueKind, merge_maps};
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use text::counted;
use text::plain::{cut_at_word, many_lines, one_line, visible_len};

use crate::steps::StepSpelling as _;

use super::{BAD, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN, status_style};

/// The templates by their names: `build.rs` lists them.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Stands before the last column of a line, which is cut to what room there is.
const CUT: char = '\u{1f}';

/// A page made of an answer.
pub fn page(name: &str, answer: &impl Serialize, look: &Look) -> String {
    page_with(name, answer, &(), look)
}

/// The same; the template sees the fields of `beside` as well.
pub fn page_with(
    name: &str,
    answer: &impl Serialize,
    beside: &impl Serialize,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    page.part_with(name, answer, beside);
    page.finish()
}

impl Page<'_> {
    /// The lines that a template makes of an answer.
    pub fn part(&mut self, name: &str, answer: &impl Serialize) {
        self.part_with(name, answer, &());
    }

    /// The same; the template sees the fields of `beside` as well.
    pub fn part_with(&mut self, name: &str, answer: &impl Serialize, beside: &impl Serialize) {
        let look = self.look();
        let mut env = environment(*look);
        add_page(&mut env, name);
        let answer = Value::from(Serde(answer));
        let answer = match answer.kind() {
            ValueKind::Map => answer,
            _ => Value::from_pairs([("all", answer)]),
        };
        let mut values = vec![answer, Value::from(Serde(beside))];
        values.retain(|value| value.kind() == ValueKind::Map);
        let page = env.get_template(name);
        match page.and_then(|page| page.render(merge_maps(values))) {
            Ok(lines) => lines.lines().for_each(|line| self.line(line)),
            // The answer stands all the same: it is what `--json` says.
            Err(error) => {
                debug_assert!(false, "{name}: {error:#}");
                self.wrapped(name, &error.to_string());
            }
        }
    }

    /// A line of a template.
    fn line(&mut self, line: &str) {
        let marked = line.trim_start_matches(' ');
        let indent = &line[..line.len() - marked.len()];
        let (mark, text) = marked.split_once(' ').unwrap_or((marked, ""));
        let text = text.trim_end();
        let sign = match mark {
            "+" => Sign::Good,
            "x" => Sign::Bad,
            "!" => Sign::Warn,
            ">" => Sign::Next,
            "*" => Sign::Bullet,
            "#" => return self.title(text),
            "$" => return self.command(text),
            "=" => return self.block_wrapped(text),
            "-" => return self.list([text]),
            "@" => {
                let (label, value) = text.split_once(':').unwrap_or((text, ""));
                return self.field(label, value);
            }
            "~" => {
                let (lead, text) = text.split_once(" |").unwrap_or((text, ""));
                return self.wrapped(lead, text.trim_start());
            }
            _ => return self.raw(self.cut(text).trim_end()),
        };
        let lead = format!("{indent}{}", self.look().sign(sign));
        self.wrapped(&lead, text);
    }

    /// A line whose last column is cut to the room that it has.
    fn cut(&self, line: &str) -> String {
        let Some((before, last)) = line.split_once(CUT) else {
            return line.to_owned();
        };
        let room = self
            .look()
            .line
            .saturating_sub(visible_len(&many_lines(before)));
        format!("{before}{}", cut_at_word(last, room.max(20)))
    }
}

/// Makes a page known, and the parts that it names.
fn add_page(env: &mut Environment<'static>, name: &str) {
    const NAMES: &str = "{% include \"";
    let page = PAGES.iter().find(|(known, _)| *known == name);
    debug_assert!(page.is_some(), "there is no page {name}");
    let Some((name, source)) = page.filter(|(name, _)| env.get_template(name).is_err()) else {
        return;
    };
    let added = env.add_template(name, source);
    debug_assert!(added.is_ok(), "{name}: {added:?}");
    for part in source.split(NAMES).skip(1) {
        add_page(env, part.split('"').next().unwrap_or_default());
    }
}

/// What makes a text of another.
type OnText = fn(&str) -> String;

/// What templates can call.
fn environment(look: Look) -> Environment<'static> {
    let mut env = Environment::new();
    // A tag alone on its line leaves no line behind.
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    // A part that is included ends its last line.
    syntax.keep_trailing_newline(true);
    if let Ok(syntax) = syntax.build() {
        env.set_syntax(syntax);
    }
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_formatter(|out, _, value| Ok(out.write_str(&plain(value))?));
    let styles = [
        ("strong", STRONG),
        ("faint", FAINT),
        ("good", GOOD),
        ("bad", BAD),
        ("note", NOTE),
        ("caution", WARN),
        ("headline", NOTE.bold()),
    ];
    for (name, style) in styles {
        env.add_filter(name, move |value: &Value| {
            safe(look.paint(style, &plain(value)))
        });
    }
    env.add_filter("painted", move |value: &Value, style: &str| {
        let style = styles.iter().find(|(name, _)| *name == style);
        safe(look.paint(style.map_or(STRONG, |(_, style)| *style), &plain(value)))
    });
    // A word in the colour of the status that it is.
    env.add_filter("coloured", move |value: &Value| {
        let word = plain(value);
        safe(look.paint(status_style(word.trim()), &word))
    });
    env.add_filter("sign", move |name: &Value| {
        safe(look.sign(match plain(name).as_str() {
            "good" => Sign::Good,
            "bad" => Sign::Bad,
            "warn" => Sign::Warn,
            "next" => Sign::Next,
            _ => Sign::Bullet,
        }))
    });
    env.add_filter("pad", |value: &Value, width: usize| {
        let text = plain(value);
        let missing = width.saturating_sub(visible_len(&many_lines(&text)));
        safe(format!("{text}{}", " ".repeat(missing)))
    });
    env.add_filter("right", |value: &Value, width: usize| {
        safe(format!("{:>width$}", plain(value)))
    });
    env.add_filter("widest", |values: &Value, most: Option<usize>| -> usize {
        let values = values.try_iter().into_iter().flatten();
        let widest = values.map(|value| visible_len(&plain(&value))).max();
        widest.unwrap_or_default().min(most.unwrap_or(usize::MAX))
    });
    env.add_filter("text", plain);
    env.add_filter("bar", move |progress: &Value| {
        safe(progress_bar(progress, &look))
    });
    env.add_filter("percent", |number: f64| format!("{number}%"));
    env.add_filter("below", |path: &Value, folder: &Value| {
        Path::new(&plain(folder))
            .join(plain(path))
            .display()
            .to_string()
    });
    // The last column of a line: as much of it as there is room for.
    env.add_filter("rest", |value: &Value| {
        safe(format!("{CUT}{}", plain(value)))
    });
    env.add_filter("counted", |number: u64, one: &str, options: Kwargs| match (
        number,
        options.get::<Option<&str>>("many").ok().flatten(),
    ) {
        (0 | 2.., Some(many)) => format!("{number} {many}"),
        _ => counted(number, one),
    });
    let on_texts: [(&str, OnText); 6] = [
        ("run", journal::layout::short_name),
        ("typed", crate::steps::typed),
        ("words", |name| name.to_lowercase().replace('_', " ")),
        ("second", |time| until(time, 8)),
        ("minute", |time| until(time, 5)),
        ("size", size),
    ];
    for (name, made) in on_texts {
        env.add_filter(name, move |value: &Value| made(&plain(value)));
    }
    // The words behind a command that name a session: where the call named one, or always.
    env.add_filter("of_call", move |session: &Value, always: Option<bool>| {
        let is_named = always.unwrap_or_default() || look.caller.named.is_some();
        if is_named {
            super::session::option(&plain(session))
        } else {
            String::new()
        }
    });
    env.add_filter("short", |value: &Value, most: usize| {
        let text = plain(value);
        text.get(..most).unwrap_or(&text).to_owned()
    });
    // A text of several lines, each as it stands.
    env.add_filter("body", move |text: &str| {
        lines_of(&look.caller.text(text), "")
    });
    env.add_filter("block", move |text: &str| {
        lines_of(&look.caller.text(text), "  ")
    });
    env
}

/// One line that shows how far a run over a task is.
fn progress_bar(progress: &Value, look: &Look) -> String {
    const LONGEST: usize = 30;
    let number = |value: Value| usize::try_from(value).unwrap_or_default();
    let length = |name| progress.get_attr(name).ok().and_then(|list| list.len());
    let total = number(progress.get_attr("total").unwrap_or_default());
    let percentage = number(progress.get_attr("percentage").unwrap_or_default());
    let completed = length("completed").unwrap_or_default();
    let cells = look.width.saturating_sub(30).clamp(5, LONGEST);
    let of_cells = |count: usize| count.min(total) * cells / total.max(1);
    let done = of_cells(completed);
    let failed = of_cells(length("failed").unwrap_or_default()).min(cells - done);
    let (full, bad, empty) = if look.rich {
        ("█", "▒", "░")
    } else {
        ("#", "x", ".")
    };
    format!(
        "[{}{}{}] {percentage}% ({completed} of {})",
        look.paint(GOOD, &full.repeat(done)),
        look.paint(BAD, &bad.repeat(failed)),
        look.paint(FAINT, &empty.repeat(cells - done - failed)),
        counted(total, "subtask"),
    )
}

/// A value as a line of text. What was painted stays so.
fn plain(value: &Value) -> String {
    match value.as_str() {
        _ if value.is_undefined() || value.is_none() => String::new(),
        Some(text) if value.is_safe() => text.to_owned(),
        Some(text) => harmless(text),
        None => harmless(&serde_json::to_string(value).unwrap_or_default()),
    }
}

/// A text on one line. The blanks around it stay.
fn harmless(text: &str) -> String {
    let inner = text.trim_matches(' ');
    let before = text.len() - text.trim_start_matches(' ').len();
    let after = (text.len() - inner.len()).saturating_sub(before);
    format!(
        "{}{}{}",
        " ".repeat(before),
        one_line(inner),
        " ".repeat(after)
    )
}

fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

/// The lines of a text, each with the mark of one that stands as it is.
fn lines_of(text: &str, indent: &str) -> Value {
    let lines = many_lines(text);
    let lines = lines.lines().map(|line| format!(": {indent}{line}"));
    safe(lines.collect::<Vec<_>>().join("\n"))
}

/// A size on the disk, in the larger of the units that it fills.
fn size(bytes: &str) -> String {
    let bytes: u64 = bytes.parse().unwrap_or_default();
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || counted(bytes, "byte"),
        |(unit, name)| format!("{} {name}", bytes / unit),
    )
}

/// A time in UTC as a person reads it, with so many characters of the clock: `2025-10-07 14:33:02`.
fn until(time: &str, clock: usize) -> String {
    let (day, rest) = time.split_once('T').unwrap_or((time, ""));
    let text = format!("{day} {}", rest.get(..clock).unwrap_or(rest));
    text.trim_end().to_owned()
}

#[cfg(test)]
mod skills;

#[cfg(test)]
mod tests {
    use super::super::page::tests::PLAIN;
    use super::*;

    #[test]
    fn a_run_as_it_was_is_a_page_of_words() {
        let page = page(
            "replay",
            &serde_json::json!({
                "at": {"seq": 9, "event": "unit:issued", "ts": "2025-10-07T14:33:00.000Z"},
                "state": {
                    "run": "r1", "workflow": "tdd", "status": "running",
                    "kept": {"start": {"taskId": "1", "taskTitle": "Count", "branch": "b"}, "commits": 1},
                    "tokens": [
                        {"state": "subtasks"},
                        {"state": "green", "item": ["subtasks", "1.2"], "unit": {"attempt": 2, "maxAttempts": 3}}
                    ],
                    "sets": {"subtasks": {"items": {
                        "1.1": {"status": "done", "fields": {"title": "Spaces"}},
                        "1.2": {"status": "active", "fields": {"title": "Tabs"}}
                    }}}
                },
                "nextAction": {
                    "action": "green", "attempt": 2, "maxAttempts": 3,
                    "subtask": {"id": "1.2", "title": "Tabs"}
                }
            }),
            &PLAIN,
        );
        let expected = "\
r1  running
  at         event 9, unit:issued, 2025-10-07T14:33:00.000Z
  workflow   tdd
  task       1: Count
  branch     b
  commits    1
  stood at   subtasks
  stood at   green of 1.2 (attempt 2 of 3)
subtasks
  ok 1.1  Spaces  done
  -> 1.2  Tabs  active
next then: GREEN 1.2: Tabs, attempt 2 of 3
";
        assert_eq!(page, expected);
    }

    #[test]
    fn a_person_is_asked_what_a_turn_does() {
        let asked = |page: &str, beside: serde_json::Value| {
            let shown = serde_json::json!({ "run": "r1", "stopped": "tests_failed" });
            page_with(page, &shown, &beside, &PLAIN)
        };
        let question = |beside| asked("turn_question", beside);
        assert_eq!(
            question(serde_json::json!({ "turn": "skip", "named": "1.2", "reason": "a\nb" })),
            "Give up 1.2 of the run r1 for good, and what depends on it?\nReason: a b\n"
        );
        let abort = |cleanup: bool, force: bool, branch: &str| {
            let flags = serde_json::json!({ "cleanup": cleanup, "force": force });
            question(serde_json::json!({ "turn": "abort", "flags": flags, "branch": branch }))
        };
        assert_eq!(
            abort(false, false, ""),
            "Abort the run r1? Its files stay.\n"
        );
        assert_eq!(
            abort(false, false, "b"),
            "Abort the run r1? Its branch b and its files stay.\n"
        );
        assert_eq!(
            abort(true, true, "b"),
            "Abort the run r1 and delete its branch b and its folder, also commits that are nowhere else?\n"
        );
        assert_eq!(
            question(serde_json::json!({ "turn": "rewind", "flags": { "to": "1.1" } })),
            "Take the run back, and have it go on from there?\nr1 stopped by a rule: tests_failed\nto: 1.1\n"
        );
        let decide = |beside| asked("turn_to_decide", beside);
        assert_eq!(
            decide(
                serde_json::json!({ "turn": "resume", "flags": { "maxIterations": 2 }, "reason": "" })
            ),
            "Have the run go on?
  run        r1
  stopped    tests_failed
  turn       resume
  maxIterations 2
Your word is journalled, and stands in the report.
"
        );
        let allow = decide(serde_json::json!({ "turn": "allow", "unit": "u1", "reason": "flaky" }));
        let lines: Vec<&str> = allow.lines().collect();
        assert_eq!(lines[1], "the refusal tests_failed will pass: flaky");
    }

    #[test]
    fn every_page_is_a_template_that_is_used() {
        let (mut folders, mut sources) = (
            vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")],
            String::new(),
        );
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    sources += &std::fs::read_to_string(path).unwrap();
                }
            }
        }
        let env = environment(PLAIN);
        for (name, source) in PAGES {
            let parsed = env.template_from_str(source);
            assert!(parsed.is_ok(), "{name}: {:?}", parsed.err());
            assert!(
                sources.contains(&format!("\"{name}\"")),
                "{name} is a page of nothing"
            );
        }
    }

    #[test]
    fn what_is_not_there_is_left_out_and_what_is_hostile_made_plain() {
        let told = |answer: &str| {
            let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
            page("replay", &answer, &PLAIN)
        };
        assert_eq!(told("{}"), "\n");
        // Between two steps nobody is asked.
        let between = r#"{"state": {"run": "r1", "status": "running", "pending": {"name": "git.commit"}},
            "nextAction": {"action": "paused", "pausedReason": "interrupted"}}"#;
        assert_eq!(told(between), "r1  running\n  under way  git.commit\n");
        let page = told(r#"{"state": {"run": "a\u001b[2Jb", "pause": {"reason": "x\u0007\ny"}}}"#);
        let bad = |c: char| c != '\n' && c.is_control();
        assert!(!page.contains(bad), "{page:?}");
    }
}
