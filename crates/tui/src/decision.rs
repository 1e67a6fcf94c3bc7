//! What a person decides at the terminal: asked for in the line at the bottom, typed back, done.

use engine::board::{Choices, Deed, SeenDecision, code_to_type_back};
use engine::fault;
use engine::view::GENERIC;
use engine::{Channel, Choice, Engine, Fault, Strength, Turn, Verb};

/// The keys, what each is for, and what is said of it.
pub const KEYS: [(char, Deed, &str); 8] = [
    ('a', Deed::Approve, "approve what stands before the gate"),
    ('r', Deed::Reject, "reject it, with feedback"),
    ('p', Deed::Pause, "pause"),
    ('c', Deed::Resume, "continue what is paused"),
    ('o', Deed::Reopen, "take it up again: one step back"),
    ('s', Deed::Skip, "give up what is in hand"),
    ('x', Deed::Allow, "let one refusal pass"),
    ('d', Deed::Answer, "report what is asked of a person"),
];

/// A decision, as far as it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What is decided.
    pub deed: Deed,
    /// The hash of the run's last event when it was begun.
    seen: String,
    /// The hash of what stands before the gate.
    gate: String,
    /// The work unit that is reported.
    unit: String,
    /// The code of the refusal that is to pass, or the outcome that is reported.
    word: Option<String>,
    /// How that is asked for; nothing where it is not.
    asks: String,
    /// Why.
    reason: Option<String>,
    /// What has to be typed back.
    letters: String,
    /// Whether something else was typed in their place.
    mistyped: bool,
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
    pub fn begin(engine: &Engine, run: &str, deed: Deed) -> Result<Self, Fault> {
        let (_, least) = engine.turn_statement(run, &Turn::new(Verb::Resume, ""))?;
        let mut asked = Self {
            deed,
            seen: engine.last_event(run)?,
            gate: String::new(),
            unit: String::new(),
            word: None,
            asks: String::new(),
            reason: None,
            letters: code_to_type_back(),
            mistyped: false,
        };
        let choices = can_be_done(engine, run, deed)?;
        let mut strength = Strength::Client;
        if matches!(deed, Deed::Approve | Deed::Reject) {
            let gate = engine.gate(&GENERIC, Some(run))?;
            if deed == Deed::Reject {
                gate.takes(Choice::Reject)?;
            }
            asked.gate = gate.hash;
            strength = gate.strength;
        } else if deed == Deed::Allow {
            strength = least;
        }
        if strength == Strength::Signed {
            return Err(fault!("approval_too_weak"));
        }
        let report = choices.answer.filter(|_| deed == Deed::Answer);
        let is_word = report.as_ref().is_some_and(|report| report.asks_outcome);
        let known = choices.outcomes.into_iter().map(|outcome| outcome.word);
        let known: Vec<String> = known.collect();
        asked.asks = match deed {
            Deed::Allow => "The code of the refusal that is to pass: ".to_owned(),
            Deed::Answer if is_word => format!("The outcome, in one word ({}): ", known.join(", ")),
            _ => String::new(),
        };
        asked.word = asked.asks.is_empty().then(String::new);
        if asked.word.is_some() && matches!(deed, Deed::Approve | Deed::Resume | Deed::Answer) {
            asked.reason = Some(String::new());
        }
        asked.unit = report.map(|report| report.unit).unwrap_or_default();
        Ok(asked)
    }

    /// What is asked now.
    pub fn question(&self) -> String {
        if self.word.is_none() {
            return self.asks.clone();
        }
        if self.reason.is_none() {
            let what = match self.deed {
                Deed::Reject => "What is to be done otherwise",
                Deed::Answer => "What there is to say (may be left out)",
                _ => "Why",
            };
            return format!("{what}: ");
        }
        let does = KEYS.iter().find(|(_, deed, _)| *deed == self.deed);
        let does = does.map_or("", |(_, _, does)| does);
        let on = match self.gate.get(..12) {
            Some(hash) => format!(" ({hash}…)"),
            None => String::new(),
        };
        let before = if self.mistyped {
            "That was something else. "
        } else {
            ""
        };
        format!("{before}Type {} to {does}{on}: ", self.letters)
    }

    /// Takes an answer, and does what is decided once all is answered.
    ///
    /// # Errors
    /// Where the engine refuses it, or the run has moved since it was begun.
    pub fn answer(mut self, engine: &Engine, run: &str, text: &str) -> Result<Step, Fault> {
        let text = text.trim();
        if self.word.is_none() {
            self.word = Some(text.to_owned());
            return Ok(Step::Ask(Box::new(self)));
        }
        if self.reason.is_none() {
            if text.is_empty() && !matches!(self.deed, Deed::Pause | Deed::Answer) {
                return Err(fault!("usage.empty_answer"));
            }
            self.reason = Some(text.to_owned());
            return Ok(Step::Ask(Box::new(self)));
        }
        if !text.eq_ignore_ascii_case(&self.letters) {
            self.mistyped = true;
            return Ok(Step::Ask(Box::new(self)));
        }
        self.done(engine, run).map(Step::Done)
    }

    fn done(self, engine: &Engine, run: &str) -> Result<String, Fault> {
        let word = self.word.unwrap_or_default();
        let decision = SeenDecision {
            seen: self.seen,
            gate: self.gate,
            reason: self.reason.unwrap_or_default(),
            code: word.clone(),
            unit: self.unit,
            outcome: word,
            ..SeenDecision::default()
        };
        let moved = engine.decide_as_seen(run, self.deed, &decision, Channel::Terminal)?;
        Ok(moved.message)
    }
}

/// That a run stands where such a decision means something: what is refused here is refused before anything is typed.
fn can_be_done(engine: &Engine, run: &str, deed: Deed) -> Result<Choices, Fault> {
    let refused = |what: &str| Err(fault!("usage.can_be_done", what));
    let seen = engine.board_run(Some(run))?;
    let is_paused = seen.run.status == "paused";
    if !seen.is_live() {
        return refused(&format!("the run is {}", seen.run.status));
    }
    let choices = engine.run_choices(Some(run))?;
    match deed {
        Deed::Resume if !is_paused => refused("the run is not paused"),
        Deed::Pause if is_paused => refused("the run is paused already"),
        Deed::Reopen if !choices.reopen && choices.kinds.is_empty() => {
            refused("nothing can be taken up again here")
        }
        Deed::Skip if !choices.skip => refused("there is nothing in hand that can be given up"),
        Deed::Allow if choices.allow.is_empty() => refused("there is no rule here that can pass"),
        Deed::Answer if choices.answer.is_none() => {
            refused("nothing is asked of a person that is reported in a word")
        }
        _ => Ok(choices),
    }
}
