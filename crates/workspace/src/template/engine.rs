//! Making a prompt of a template, within bounds.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use minijinja::value::Value;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use super::filters::{self, Budget};

/// The longest prompt, in bytes.
pub(super) const MOST_BYTES: usize = 1024 * 1024;
/// How many steps a template may take.
const MOST_STEPS: u64 = 1_000_000;
/// How long it may take: a step over a long text takes longer than one over a number, and the machine may be busy.
const MOST_TIME: Duration = Duration::from_secs(20);
/// As much as the proof of a template has.
const STACK: usize = 32 * 1024 * 1024;
/// How deep includes may go; the proof has excluded circles.
const MOST_LEVELS: usize = 250;

/// Why no prompt was made.
#[derive(Debug)]
pub(crate) struct RenderFault {
    /// The template in which it stopped.
    pub(crate) file: String,
    /// The line, or 0.
    pub(crate) line: u32,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: String,
}

/// Makes the prompt of a template that was proved.
pub(crate) fn render(
    name: &str,
    templates: &BTreeMap<String, String>,
    view: Value,
) -> Result<String, RenderFault> {
    render_within(MOST_TIME, name, templates, view)
}

fn render_within(
    limit: Duration,
    name: &str,
    templates: &BTreeMap<String, String>,
    view: Value,
) -> Result<String, RenderFault> {
    let fault = |message: String, help: &str| RenderFault {
        file: name.to_owned(),
        line: 0,
        message,
        help: help.to_owned(),
    };
    let budget = Budget::new();
    let (told, outcome) = mpsc::sync_channel(1);
    let work = {
        let (name, templates, budget) = (name.to_owned(), templates.clone(), Arc::clone(&budget));
        move || drop(told.send(render_here(&name, templates, view, &budget)))
    };
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| {
            fault(
                format!("no thread for making the prompt: {error}"),
                "try again",
            )
        })?;
    match outcome.recv_timeout(limit) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            // What goes on without anybody waiting for it ends at its next word, or when its steps are used up.
            budget.stop();
            Err(fault(
                format!(
                    "making the prompt took longer than {} s",
                    limit.as_secs_f32()
                ),
                "let the template do less",
            ))
        }
        Err(RecvTimeoutError::Disconnected) => Err(fault(
            "the template engine gave up".to_owned(),
            "write the template more simply",
        )),
    }
}

pub(super) fn render_here(
    name: &str,
    templates: BTreeMap<String, String>,
    view: Value,
    budget: &Arc<Budget>,
) -> Result<String, RenderFault> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(MOST_STEPS));
    environment.set_recursion_limit(MOST_LEVELS);
    filters::add(&mut environment, budget);
    for (file, text) in templates {
        environment
            .add_template_owned(file, text)
            .map_err(|error| explained(name, &error))?;
    }
    let mut prompt = Bounded {
        bytes: Vec::new(),
        full: false,
        budget: Arc::clone(budget),
    };
    let outcome = environment
        .get_template(name)
        .and_then(|template| template.render_captured_to(view, &mut prompt).map(drop));
    if prompt.full {
        return Err(RenderFault {
            file: name.to_owned(),
            line: 0,
            message: format!("the prompt is longer than {MOST_BYTES} bytes"),
            help:
                "show less: `quoted` shortens long texts, and a file can be named instead of shown"
                    .to_owned(),
        });
    }
    outcome.map_err(|error| explained(name, &error))?;
    // The engine writes nothing but text.
    Ok(String::from_utf8_lossy(&prompt.bytes).into_owned())
}

fn explained(name: &str, error: &minijinja::Error) -> RenderFault {
    let mut innermost = error;
    while let Some(cause) = std::error::Error::source(innermost)
        .and_then(|cause| cause.downcast_ref::<minijinja::Error>())
    {
        innermost = cause;
    }
    let help = match innermost.kind() {
        ErrorKind::OutOfFuel => "let the template do less: it takes too many steps",
        ErrorKind::UndefinedError => "ask with `is defined`, or give it a `default`",
        _ => "mend the template",
    };
    RenderFault {
        file: innermost.name().unwrap_or(name).to_owned(),
        line: innermost
            .line()
            .and_then(|line| u32::try_from(line).ok())
            .unwrap_or_default(),
        message: match innermost.detail() {
            Some(detail) => format!("{}: {detail}", innermost.kind()),
            None => innermost.kind().to_string(),
        },
        help: help.to_owned(),
    }
}

/// A prompt that is not written any further than it may be.
struct Bounded {
    bytes: Vec<u8>,
    full: bool,
    budget: Arc<Budget>,
}

impl io::Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + piece.len() > MOST_BYTES {
            self.full = true;
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if self.budget.is_stopped() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use minijinja::value::Serde;
    use serde_json::json;

    use super::*;

    /// A step over a long text takes longer than one over a number, so steps alone bound nothing.
    #[test]
    fn work_over_long_texts_is_ended_by_the_clock() {
        let template = format!(
            "{}{{% if one == other %}}{{% endif %}}{}",
            "{% for a in twice %}".repeat(16),
            "{% endfor %}".repeat(16)
        );
        let templates = BTreeMap::from([("x.md".to_owned(), template)]);
        let long = "z".repeat(1 << 20);
        let view = json!({ "one": long, "other": long.clone(), "twice": [1, 2] });
        let view = Value::from(Serde(&view));
        let fault = render_within(Duration::from_millis(50), "x.md", &templates, view).unwrap_err();
        assert!(fault.message.contains("longer than 0.05 s"), "{fault:?}");
    }
}
