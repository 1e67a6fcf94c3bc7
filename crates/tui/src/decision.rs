//! What a person decides at the terminal: asked for in the line at the bottom, typed back, done.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use engine::view::session::request::Decide;
use engine::{Channel, Choice, Engine, Fault, Kind, Strength, Turn};

/// The keys, what each is for, and what is said of it.
pub const KEYS: [(char, Verb, &str); 7] = [
    ('a', Verb::Approve, "approve what stands before the gate"),
    ('r', Verb::Reject, "reject it, with feedback"),
    ('p', Verb::Pause, "pause"),
    ('c', Verb::Resume, "continue what is paused"),
    ('o', Verb::Reopen, "take it up again: one step back"),
    ('s', Verb::Skip, "give up what is in hand"),
    ('x', Verb::Allow, "let one refusal pass"),
];

/// What codes are made of: nothing in it looks like something else.
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A gate is opened.
    Approve,
    /// What stands before it is sent back.
    Reject,
    /// The run is put aside.
    Pause,
    /// It goes on.
    Resume,
    /// It goes one step back.
    Reopen,
    /// What is in hand is given up.
    Skip,
    /// A refusal is let pass.
    Allow,
}

/// A decision, as far as it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What is decided.
    pub verb: Verb,
    /// The hash of the run's last event when it was begun.
    seen: String,
    /// The hash of what stands before the gate.
    gate: String,
    /// The code of the refusal.
    code: Option<String>,
    /// Why.
    reason: Option<String>,
    /// What has to be typed back.
    letters: String,
}

/// What comes of an answer.
#[derive(Debug)]
pub enum Step {
    /// Something else is asked.
    Ask(Box<Asked>),
    /// It is done, and this is said of it.
    Done(String),
}

impl Asked {
    /// Begins a decision on a run as it is now.
    ///
    /// # Errors
    /// Where it cannot be made here: no gate is closed, or a signature is asked for.
    pub fn begin(engine: &Engine, run: &str, verb: Verb) -> Result<Self, Fault> {
        let (statement, least) = engine.turn_statement(run, &Turn::new("resume", ""))?;
        let mut asked = Self {
            verb,
            seen: statement.after,
            gate: String::new(),
            code: None,
            reason: None,
            letters: letters(),
        };
        let mut strength = Strength::Client;
        if matches!(verb, Verb::Approve | Verb::Reject) {
            let gate = engine.run_gate(Some(run))?;
            asked.gate = gate.hash;
            strength = gate.strength;
        } else if verb == Verb::Allow {
            strength = least;
        }
        if strength == Strength::Signed {
            return Err(Fault::new(
                Kind::Refused,
                "approval_too_weak",
                "this takes a signature, which is not made here",
            )
            .suggest("leave, and use the command with `--sign KEY`"));
        }
        if matches!(verb, Verb::Approve | Verb::Resume) {
            asked.reason = Some(String::new());
        }
        Ok(asked)
    }

    /// What is asked now.
    pub fn question(&self) -> String {
        if self.verb == Verb::Allow && self.code.is_none() {
            return "The code of the refusal that is to pass: ".to_owned();
        }
        if self.reason.is_none() {
            let what = if self.verb == Verb::Reject {
                "What is to be done otherwise"
            } else {
                "Why"
            };
            return format!("{what}: ");
        }
        let does = KEYS.iter().find(|(_, verb, _)| *verb == self.verb);
        let does = does.map_or("", |(_, _, does)| does);
        let on = match self.gate.get(..12) {
            Some(hash) => format!(" ({hash}…)"),
            None => String::new(),
        };
        format!("Type {} to {does}{on}: ", self.letters)
    }

    /// Takes an answer, and does what is decided once all is answered.
    ///
    /// # Errors
    /// Where the engine refuses it, or the run has moved since it was begun.
    pub fn answer(mut self, engine: &Engine, run: &str, text: &str) -> Result<Step, Fault> {
        let text = text.trim();
        if self.verb == Verb::Allow && self.code.is_none() {
            self.code = Some(text.to_owned());
            return Ok(Step::Ask(Box::new(self)));
        }
        if self.reason.is_none() {
            if text.is_empty() && self.verb != Verb::Pause {
                return Err(Fault::new(
                    Kind::Usage,
                    "bad_input",
                    "nothing was said, and nothing was done",
                ));
            }
            self.reason = Some(text.to_owned());
            return Ok(Step::Ask(Box::new(self)));
        }
        if !text.eq_ignore_ascii_case(&self.letters) {
            return Ok(Step::Done(
                "Something else was typed: nothing was done.".to_owned(),
            ));
        }
        self.done(engine, run).map(Step::Done)
    }

    fn done(&self, engine: &Engine, run: &str) -> Result<String, Fault> {
        let (statement, _) = engine.turn_statement(run, &Turn::new("resume", ""))?;
        if statement.after != self.seen {
            return Err(Fault::new(
                Kind::Conflict,
                "moved_since",
                "the run has moved since, and nothing was done: look at it again",
            ));
        }
        let person = engine.asked(Channel::Terminal);
        let id = Some(run);
        let reason = self.reason.as_deref().unwrap_or_default();
        let moved = match self.verb {
            Verb::Pause => {
                person.run_pause(id, if reason.is_empty() { "paused" } else { reason })?
            }
            Verb::Resume => person.run_resume(id)?,
            Verb::Reopen => person.run_reopen(id, &Turn::reopen(None, None, reason))?,
            Verb::Skip => person.run_skip(id, None, reason)?,
            Verb::Allow => {
                let code = self.code.as_deref().unwrap_or_default();
                person.run_allow(id, code, reason)?
            }
            Verb::Approve | Verb::Reject => {
                let gate = engine.run_gate(id)?;
                if gate.hash != self.gate {
                    return Err(Fault::new(
                        Kind::Conflict,
                        "moved_since",
                        "what stands before the gate has changed, and nothing was done: look at it again",
                    ));
                }
                let choice = if self.verb == Verb::Approve {
                    Choice::Approve
                } else {
                    Choice::Reject
                };
                person.run_decide(&Decide {
                    gate,
                    choice,
                    feedback: reason.to_owned(),
                })?
            }
        };
        Ok(moved.message)
    }
}

/// A few letters that nobody knows who has not read them.
fn letters() -> String {
    let mut number = RandomState::new().build_hasher().finish();
    let many = LETTERS.len() as u64;
    (0..4)
        .map(|_| {
            let at = usize::try_from(number % many).unwrap_or_default();
            number /= many;
            char::from(LETTERS[at])
        })
        .collect()
}
