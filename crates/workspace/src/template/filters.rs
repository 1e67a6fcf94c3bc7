//! What a template may do to a value: filters and tests, all of which count what they make.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, tests};

use text::quote::{quote_inline, quote_untrusted, quote_whole};

/// The filters that there are.
pub(super) const NAMES: &[&str] = &[
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "indent",
    "inline",
    "join",
    "last",
    "length",
    "lines",
    "lower",
    "quoted",
    "replace",
    "tojson",
    "trim",
    "upper",
];

/// The tests that there are, after `is`.
pub(super) const TESTS: &[&str] = &[
    "defined",
    "endingwith",
    "even",
    "mapping",
    "none",
    "number",
    "odd",
    "sequence",
    "startingwith",
    "string",
    "undefined",
];

/// The most that all filters of one prompt may make together, in bytes.
const MOST_MADE: usize = 16 * 1024 * 1024;
/// The most visible characters of a text within a line.
const MOST_INLINE: usize = 10_000;
/// The most that a line is moved to the right.
const MOST_INDENT: usize = 100;

/// What one prompt may still use up.
#[derive(Debug)]
pub(super) struct Budget {
    left: AtomicUsize,
    stopped: AtomicBool,
}

impl Budget {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(MOST_MADE),
            stopped: AtomicBool::new(false),
        })
    }

    /// Nobody waits for the prompt any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Takes from what is left; whether there was enough.
    fn take(&self, bytes: usize) -> bool {
        !self.is_stopped()
            && self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(bytes)
                })
                .is_ok()
    }

    fn text(self: &Arc<Self>) -> Text {
        Text {
            written: String::new(),
            paid: 0,
            budget: Arc::clone(self),
        }
    }

    /// A value as text.
    fn text_of(self: &Arc<Self>, value: &Value) -> Result<String, Error> {
        let mut text = self.text();
        text.push(value)?;
        Ok(text.written)
    }
}

/// A text that grows no longer than there is a budget for.
struct Text {
    written: String,
    /// How long it may grow with what was taken from the budget so far.
    paid: usize,
    budget: Arc<Budget>,
}

impl Text {
    fn push(&mut self, value: &Value) -> Result<(), Error> {
        if value.is_undefined() {
            return Err(Error::from(ErrorKind::UndefinedError));
        }
        write!(self, "{value}").map_err(|_| too_much())
    }

    fn push_str(&mut self, text: &str) -> Result<(), Error> {
        self.write_str(text).map_err(|_| too_much())
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let length = self.written.len() + text.len();
        if length > self.paid {
            // In steps that grow with it: some texts come letter by letter.
            let step = (length - self.paid).max(self.paid / 2);
            if !self.budget.take(step) {
                return Err(fmt::Error);
            }
            self.paid += step;
        }
        self.written.push_str(text);
        Ok(())
    }
}

fn too_much() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        "the filters make too much text",
    )
}

/// Gives an engine the filters and the tests.
pub(super) fn add(environment: &mut Environment<'_>, budget: &Arc<Budget>) {
    let own = Arc::clone(budget);
    environment.add_filter("quoted", move |value: Value, options: Kwargs| {
        let whole = options.get::<Option<bool>>("whole")?.unwrap_or(false);
        options.assert_all_used()?;
        let text = lines_of(&own, &value)?;
        let quote = if whole { quote_whole } else { quote_untrusted };
        charged(&own, quote(&text))
    });
    of_text(environment, budget, "inline", |text| {
        quote_inline(text, MOST_INLINE)
    });
    of_text(environment, budget, "trim", |text| text.trim().to_owned());
    of_text(environment, budget, "upper", str::to_uppercase);
    of_text(environment, budget, "lower", str::to_lowercase);
    of_text(environment, budget, "capitalize", |text| {
        let mut characters = text.chars();
        characters.next().map_or_else(String::new, |first| {
            first
                .to_uppercase()
                .chain(characters.flat_map(char::to_lowercase))
                .collect()
        })
    });
    let own = Arc::clone(budget);
    environment.add_filter(
        "indent",
        move |value: Value, width: usize, options: Kwargs| {
            let first = options.get::<Option<bool>>("first")?.unwrap_or(false);
            options.assert_all_used()?;
            let room = " ".repeat(width.min(MOST_INDENT));
            let from = own.text_of(&value)?;
            let mut text = own.text();
            for (number, line) in from.split('\n').enumerate() {
                if number > 0 {
                    text.push_str("\n")?;
                }
                if !line.is_empty() && (number > 0 || first) {
                    text.push_str(&room)?;
                }
                text.push_str(line)?;
            }
            Ok::<_, Error>(text.written)
        },
    );
    let own = Arc::clone(budget);
    environment.add_filter("replace", move |value: Value, from: Value, to: Value| {
        let (whole, from, to) = (own.text_of(&value)?, own.text_of(&from)?, own.text_of(&to)?);
        if from.is_empty() {
            return Ok(whole);
        }
        let mut text = own.text();
        for (number, part) in whole.split(from.as_str()).enumerate() {
            if number > 0 {
                text.push_str(&to)?;
            }
            text.push_str(part)?;
        }
        Ok::<_, Error>(text.written)
    });
    let own = Arc::clone(budget);
    environment.add_filter("lines", move |value: Value| {
        let text = own.text_of(&value)?;
        let lines: Vec<Value> = text.lines().map(Value::from).collect();
        charged(&own, lines)
    });
    let own = Arc::clone(budget);
    environment.add_filter("join", move |value: Value, between: Option<Value>| {
        let between = match between {
            Some(between) => own.text_of(&between)?,
            None => String::new(),
        };
        joined(&own, &value, &between)
    });
    let own = Arc::clone(budget);
    environment.add_filter("tojson", move |value: Value| {
        let mut text = own.text();
        let json = serde_json::to_value(&value)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
        write!(text, "{json}").map_err(|_| too_much())?;
        Ok::<_, Error>(text.written)
    });
    for name in ["length", "count"] {
        environment.add_filter(name, |value: Value| {
            value
                .len()
                .ok_or_else(|| wrong_kind("length is that of a text or a list", &value))
        });
    }
    environment.add_filter("first", |value: Value| end_of(&value, false));
    environment.add_filter("last", |value: Value| end_of(&value, true));
    for name in ["default", "d"] {
        environment.add_filter(name, |value: Value, other: Option<Value>| {
            if value.is_undefined() || value.is_none() {
                other.unwrap_or_else(|| Value::from(""))
            } else {
                value
            }
        });
    }
    add_tests(environment);
}

fn add_tests(environment: &mut Environment<'_>) {
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("number", tests::is_number);
    environment.add_test("string", tests::is_string);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
}

fn of_text(
    environment: &mut Environment<'_>,
    budget: &Arc<Budget>,
    name: &'static str,
    change: fn(&str) -> String,
) {
    let own = Arc::clone(budget);
    environment.add_filter(name, move |value: Value| {
        let text = own.text_of(&value)?;
        charged(&own, change(&text))
    });
}

/// What was made, if there is a budget for it.
fn charged<T: MemoryUse>(budget: &Budget, made: T) -> Result<T, Error> {
    if budget.take(made.bytes()) {
        Ok(made)
    } else {
        Err(too_much())
    }
}

/// What takes memory.
trait MemoryUse {
    fn bytes(&self) -> usize;
}

impl MemoryUse for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl MemoryUse for Vec<Value> {
    fn bytes(&self) -> usize {
        self.iter()
            .map(|value| 32 + value.len().unwrap_or_default())
            .sum()
    }
}

/// A text as it is, and a list as a line for each of its values.
fn lines_of(budget: &Arc<Budget>, value: &Value) -> Result<String, Error> {
    if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        joined(budget, value, "\n")
    } else {
        budget.text_of(value)
    }
}

fn joined(budget: &Arc<Budget>, value: &Value, between: &str) -> Result<String, Error> {
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Err(wrong_kind("a list can be joined", value));
    }
    let mut text = budget.text();
    for (number, item) in value.try_iter()?.enumerate() {
        if number > 0 {
            text.push_str(between)?;
        }
        text.push(&item)?;
    }
    Ok(text.written)
}

fn end_of(value: &Value, last: bool) -> Result<Value, Error> {
    if !matches!(value.kind(), ValueKind::Seq) {
        return Err(wrong_kind("a list has a first and a last", value));
    }
    let number = if last {
        value.len().unwrap_or_default().saturating_sub(1)
    } else {
        0
    };
    value.get_item(&Value::from(number))
}

fn wrong_kind(message: &str, value: &Value) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("{message}, and this is of kind {}", value.kind()),
    )
}
