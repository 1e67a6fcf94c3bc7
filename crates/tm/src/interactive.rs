//! A run gone through with a person: shows a work unit, waits until it is done, asks for the results, goes on.

use conductor::tdd::answer::{CommitAnswer, NextAction};
use conductor::tdd::request;
use conductor::{Conductor, Fault, Kind};

use crate::commands::{DONE, Outcome};
use crate::output::Output;
use crate::person;
use crate::render;

/// What the person said at a prompt.
enum Said {
    /// To go on: an empty line, or the results that were asked for.
    Go(String),
    /// Another command of the run was carried out instead; look again.
    Moved,
    /// To leave.
    Leave,
}

/// Goes through the run until it is over, or the person leaves.
pub fn run(conductor: &Conductor, run: &str, output: &mut Output) -> Outcome {
    let mut session = Session {
        conductor,
        run,
        output,
        shown: String::new(),
    };
    session
        .output
        .text("\nAt every prompt you can also type: status, reopen, skip REASON, pause, quit (or Ctrl-D).\n\n")?;
    loop {
        let next = session.conductor.next(Some(run), false)?;
        let goes_on = match next.action.as_str() {
            "red" | "green" => session.phase(&next)?,
            "commit" => session.commit(&next)?,
            "finalize" => session.finalize(&next)?,
            "paused" => session.paused(&next)?,
            _ => {
                session.show(&next)?;
                return Ok(DONE);
            }
        };
        if !goes_on {
            session.farewell()?;
            return Ok(DONE);
        }
    }
}

struct Session<'s> {
    conductor: &'s Conductor,
    run: &'s str,
    output: &'s mut Output,
    /// The work unit that is on the screen.
    shown: String,
}

impl Session<'_> {
    /// Shows a work unit, unless it is on the screen already.
    fn show(&mut self, next: &NextAction) -> Result<(), Fault> {
        let unit = format!("{} {}", next.action, next.unit_id.as_deref().unwrap_or(""));
        if unit == self.shown {
            return Ok(());
        }
        self.shown = unit;
        let text = render::next(next, &self.output.look());
        self.output.text(&text)
    }

    /// RED or GREEN. Whether the dialogue goes on.
    fn phase(&mut self, next: &NextAction) -> Result<bool, Fault> {
        self.show(next)?;
        match self.prompt("\nPress Enter when it is done: ")? {
            Said::Go(_) => {}
            Said::Moved => return Ok(true),
            Said::Leave => return Ok(false),
        }
        let results = match self.results("Results (failed:N,passed:N): ")? {
            Said::Go(results) => results,
            Said::Moved => return Ok(true),
            Said::Leave => return Ok(false),
        };
        let report = request::Complete {
            phase: Some(next.action.clone()),
            results,
            unit: next.unit_id.clone(),
            ..request::Complete::default()
        };
        let answer = self.conductor.complete(Some(self.run), &report);
        if let Some(verdict) = self.told(answer)? {
            let text = render::verdict(&verdict, &self.output.look());
            self.output.text(&text)?;
        }
        Ok(true)
    }

    fn commit(&mut self, next: &NextAction) -> Result<bool, Fault> {
        self.show(next)?;
        match self.prompt("\nPress Enter to make the commit: ")? {
            Said::Go(_) => {}
            Said::Moved => return Ok(true),
            Said::Leave => return Ok(false),
        }
        let report = request::Commit {
            unit: next.unit_id.clone(),
            ..request::Commit::default()
        };
        let answer = self.conductor.commit(Some(self.run), &report);
        if let Some(answer) = self.told(answer)? {
            let text = render::commit_answer(&answer, &self.output.look());
            self.output.text(&text)?;
            if let CommitAnswer::Refused(_) = answer {
                self.output.text("Mend it, or type reopen.\n")?;
            }
        }
        Ok(true)
    }

    fn finalize(&mut self, next: &NextAction) -> Result<bool, Fault> {
        self.show(next)?;
        let results = match self.results("\nResults of the whole suite (passed:N,failed:N): ")? {
            Said::Go(results) => results,
            Said::Moved => return Ok(true),
            Said::Leave => return Ok(false),
        };
        let report = request::Complete {
            phase: Some("finalize".to_owned()),
            results,
            unit: next.unit_id.clone(),
            ..request::Complete::default()
        };
        let answer = self.conductor.finalize(Some(self.run), &report);
        if let Some(answer) = self.told(answer)? {
            let text = render::finalized(&answer, &self.output.look());
            self.output.text(&text)?;
        }
        Ok(true)
    }

    fn paused(&mut self, next: &NextAction) -> Result<bool, Fault> {
        self.show(next)?;
        match self.prompt("\nPress Enter to resume the run: ")? {
            Said::Go(_) => {}
            Said::Moved => return Ok(true),
            Said::Leave => return Ok(false),
        }
        let answer = self.conductor.resume(Some(self.run));
        if let Some(answer) = self.told(answer)? {
            let text = render::resumed(&answer, &self.output.look());
            self.output.text(&text)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Asks until there is an answer that is not empty.
    fn results(&mut self, question: &str) -> Result<Said, Fault> {
        loop {
            match self.prompt(question)? {
                Said::Go(answer) if answer.is_empty() => {}
                said => return Ok(said),
            }
        }
    }

    /// Asks, and carries out what is a command instead of an answer.
    fn prompt(&mut self, question: &str) -> Result<Said, Fault> {
        let Some(answer) = person::ask(self.output, question)? else {
            return Ok(Said::Leave);
        };
        let (word, rest) = answer.split_once(' ').unwrap_or((&answer, ""));
        let reason = rest.trim();
        let moved = match word {
            "quit" | "exit" => return Ok(Said::Leave),
            "status" => {
                let status = self.conductor.status(Some(self.run));
                if let Some(status) = self.told(status)? {
                    let text = render::status(&status, &self.output.look());
                    self.output.text(&text)?;
                }
                return Ok(Said::Moved);
            }
            "reopen" => self.conductor.reopen(Some(self.run), reason),
            "skip" if reason.is_empty() => {
                self.output.text("Say why: skip REASON\n")?;
                return Ok(Said::Moved);
            }
            "skip" => self.conductor.skip(Some(self.run), None, reason),
            "pause" => self.conductor.pause(Some(self.run), reason),
            _ => return Ok(Said::Go(answer)),
        };
        if let Some(moved) = self.told(moved)? {
            let text = render::moved(&moved, &self.output.look());
            self.output.text(&text)?;
            if word == "pause" {
                return Ok(Said::Leave);
            }
        }
        Ok(Said::Moved)
    }

    /// Tells a fault that the person can do something about here; any other ends the dialogue.
    fn told<T>(&mut self, answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(fault) if matches!(fault.kind, Kind::Bug | Kind::Missing) => Err(fault),
            Err(fault) => {
                let text = render::fault(&fault, &self.output.look());
                self.output.text(&text)?;
                Ok(None)
            }
        }
    }

    fn farewell(&mut self) -> Result<(), Fault> {
        let text = format!(
            "The run stays where it is. Go on with it at any time:\n  tm autopilot resume --interactive --run-id {}\n",
            self.run
        );
        self.output.text(&render::plain(&text))
    }
}
