//! A run gone through with a person: shows a work unit, waits until it is done, asks for the results, goes on.

use engine::report::{Meaning, Report};
use engine::turn::answer::TurnAnswer;
use engine::view::AUTOPILOT;
use engine::view::autopilot::request;
use engine::{Action, Engine, Fault, Kind, Turn, Verb, Verdict};
use workspace::config::Level;

use crate::commands::{DONE, Outcome};
use crate::output::Output;
use crate::person;
use crate::render;

/// What can be typed at every prompt.
const COMMANDS: &str = "status, reopen [REASON], skip REASON, pause [REASON], quit (or Ctrl-D)";

/// The form of results.
const FORM: &str = "failed:N,passed:N";

/// What else may be given instead of numbers.
const OTHER_FORMS: &str = "as report FILE, or verify to have the tests run";

/// Typed to have the tests run.
const VERIFY: &str = "verify";

/// What the person said at a prompt.
enum Reply {
    /// What was asked for.
    Go(String),
    /// Another command of the run was carried out instead; look again.
    Moved,
    /// To leave.
    Leave,
}

/// What is taken for an answer at a prompt, besides the commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerKind {
    /// An empty line.
    Enter,
    /// Results.
    Results,
    /// Either.
    EnterOrResults,
    /// An empty line, or coverage.
    Coverage,
}

impl AnswerKind {
    fn takes(self, answer: &str) -> bool {
        match self {
            _ if answer.is_empty() => self != Self::Results,
            Self::Enter => false,
            Self::Results | Self::EnterOrResults => {
                answer == VERIFY || report(answer).is_some() || are_numbers(answer)
            }
            Self::Coverage => {
                answer.starts_with(|c: char| c.is_ascii_digit())
                    || report(answer).is_some()
                    || are_numbers(answer)
            }
        }
    }

    /// What to answer to something else.
    fn help(self) -> String {
        let wanted = match self {
            Self::Enter => "Press Enter to go on".to_owned(),
            Self::Results => format!("Type the results as {FORM}, {OTHER_FORMS}"),
            Self::EnterOrResults => {
                format!("Press Enter to go on, or type the results as {FORM}, {OTHER_FORMS}")
            }
            Self::Coverage => {
                "Press Enter if it is not measured, or type it as 92, lines:92,branches:80, or report FILE"
                    .to_owned()
            }
        };
        format!("{wanted}. Commands: {COMMANDS}.\n")
    }
}

/// Whether this is meant as numbers with names. Whether it makes sense is told by who reads them.
fn are_numbers(answer: &str) -> bool {
    answer.contains(':') || answer.contains('=') || answer.starts_with('{')
}

/// The report that is named: `report build/tests.xml`.
fn report(answer: &str) -> Option<&str> {
    let path = answer.strip_prefix("report ")?.trim();
    (!path.is_empty()).then_some(path)
}

/// What was typed at the question for results.
fn evidence(answer: &str) -> request::Evidence {
    if answer == VERIFY {
        return request::Evidence {
            verify: true,
            ..request::Evidence::default()
        };
    }
    if let Some(path) = report(answer) {
        return request::Evidence {
            reports: vec![path.into()],
            ..request::Evidence::default()
        };
    }
    let (results, coverage) = with_coverage(answer);
    request::Evidence {
        coverage,
        ..request::Evidence::claimed(results)
    }
}

/// Results, and the coverage that was typed behind them: `failed:0,passed:3 coverage:92`.
fn with_coverage(answer: &str) -> (String, Option<String>) {
    const WORD: &str = "coverage";
    if let Some(at) = answer.find(WORD).filter(|_| !answer.starts_with('{')) {
        let (results, coverage) = (&answer[..at], &answer[at + WORD.len()..]);
        let coverage = coverage.trim_start_matches([':', '=', ' ']).trim();
        let results = results.trim_end_matches([',', ';', ' ']);
        return (results.to_owned(), Some(coverage.to_owned()));
    }
    (answer.to_owned(), None)
}

/// Goes through the run until it is over, or the person leaves.
pub fn run(engine: &Engine, run: &str, output: &mut Output) -> Outcome {
    let mut session = Session {
        engine,
        run,
        output,
        shown: String::new(),
        end_told: false,
    };
    let hello = format!("\nAt every prompt you can also type: {COMMANDS}.\n\n");
    session.output.text(&hello)?;
    loop {
        let next = session.engine.next(&AUTOPILOT, Some(run), false)?;
        let goes_on = match next.report {
            Some(Meaning::Tests) => session.phase(&next)?,
            Some(Meaning::Commit) => session.commit(&next)?,
            Some(Meaning::Suite) => session.finalize(&next)?,
            _ if next.is_paused() => session.paused(&next)?,
            _ => {
                if !session.end_told {
                    session.show(&next)?;
                }
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
    engine: &'s Engine,
    run: &'s str,
    output: &'s mut Output,
    /// The work unit that is on the screen.
    shown: String,
    /// The run's report is on the screen, so that nothing is left to say of its end.
    end_told: bool,
}

impl Session<'_> {
    /// Shows a work unit, unless it is on the screen already.
    fn show(&mut self, next: &Action) -> Result<(), Fault> {
        let unit = format!("{:?} {}", next.action, next.unit_id().unwrap_or_default());
        if unit == self.shown {
            return Ok(());
        }
        self.shown = unit;
        let text = if next.is_paused() {
            let status = self.engine.status(&AUTOPILOT, Some(self.run))?;
            render::paused(&status, &self.output.look())
        } else {
            render::next(next, &self.output.look())
        };
        self.output.text(&text)
    }

    /// RED or GREEN. Whether the dialogue goes on.
    fn phase(&mut self, next: &Action) -> Result<bool, Fault> {
        self.show(next)?;
        let done = self.prompt(
            "\nPress Enter when it is done: ",
            AnswerKind::EnterOrResults,
        )?;
        let results = match done {
            Reply::Go(answer) if answer.is_empty() && self.always_verifies() => {
                Reply::Go(VERIFY.to_owned())
            }
            Reply::Go(answer) if answer.is_empty() => {
                self.prompt(&format!("Results ({FORM}): "), AnswerKind::Results)?
            }
            said => said,
        };
        let report = match self.report(next, results)? {
            Ok(report) => report,
            Err(goes_on) => return Ok(goes_on),
        };
        self.record(&report, Meaning::Tests)?;
        Ok(true)
    }

    fn commit(&mut self, next: &Action) -> Result<bool, Fault> {
        self.show(next)?;
        match self.prompt("\nPress Enter to make the commit: ", AnswerKind::Enter)? {
            Reply::Go(_) => {}
            Reply::Moved => return Ok(true),
            Reply::Leave => return Ok(false),
        }
        let report = Report {
            unit: next.unit_id().map(str::to_owned),
            ..Report::default()
        };
        let verdict = self.record(&report, Meaning::Commit)?;
        if verdict.is_some_and(|verdict| !verdict.validated) {
            self.output.text("Mend it, or type reopen.\n")?;
        }
        Ok(true)
    }

    fn finalize(&mut self, next: &Action) -> Result<bool, Fault> {
        self.show(next)?;
        let results = if self.always_verifies() {
            match self.prompt(
                "\nPress Enter to have the whole suite run: ",
                AnswerKind::Enter,
            )? {
                Reply::Go(_) => Reply::Go(VERIFY.to_owned()),
                said => said,
            }
        } else {
            let question = format!("\nResults of the whole suite ({FORM}): ");
            self.prompt(&question, AnswerKind::Results)?
        };
        let report = match self.report(next, results)? {
            Ok(report) => report,
            Err(goes_on) => return Ok(goes_on),
        };
        self.record(&report, Meaning::Suite)?;
        Ok(true)
    }

    /// Records a report and shows its verdict; none where there is a fault instead, which is shown too.
    fn record(&mut self, report: &Report, meaning: Meaning) -> Result<Option<Verdict>, Fault> {
        let engine = self.engine;
        let answer = engine.record_report(&AUTOPILOT, Some(self.run), report, meaning);
        let verdict = self.told(answer)?;
        if let Some(verdict) = &verdict {
            let text = render::verdict(verdict, &self.output.look());
            self.output.text(&text)?;
            self.end_told = verdict.report.is_some();
        }
        Ok(verdict)
    }

    fn paused(&mut self, next: &Action) -> Result<bool, Fault> {
        self.show(next)?;
        match self.prompt("\nPress Enter to resume the run: ", AnswerKind::Enter)? {
            Reply::Go(_) => {}
            Reply::Moved => return Ok(true),
            Reply::Leave => return Ok(false),
        }
        let answer = self.turn(&Turn::new(Verb::Resume, ""));
        if let Some(answer) = self.told(answer)? {
            let text = render::turned(&answer, &self.output.look());
            self.output.text(&text)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The report of a work unit with the results that were typed, or else whether the dialogue goes on.
    fn report(&mut self, next: &Action, results: Reply) -> Result<Result<Report, bool>, Fault> {
        let mut evidence = match results {
            Reply::Go(answer) => evidence(&answer),
            Reply::Moved => return Ok(Err(true)),
            Reply::Leave => return Ok(Err(false)),
        };
        if evidence.coverage.is_none()
            && next.phase.as_deref() != Some("red")
            && self.wants_coverage()
        {
            match self.prompt(
                "Coverage in percent (Enter if not measured): ",
                AnswerKind::Coverage,
            )? {
                Reply::Go(answer) => match report(&answer) {
                    Some(path) => evidence.coverage_report = Some(path.into()),
                    None => evidence.coverage = Some(answer).filter(|answer| !answer.is_empty()),
                },
                Reply::Moved => return Ok(Err(true)),
                Reply::Leave => return Ok(Err(false)),
            }
        }
        if evidence.verify || self.always_verifies() {
            self.output.text("The tests are being run.\n")?;
        }
        Ok(Ok(Report {
            state: next.phase.clone(),
            evidence,
            unit: next.unit_id().map(str::to_owned),
            ..Report::default()
        }))
    }

    /// Whether the tests are run whatever is said of them.
    fn always_verifies(&self) -> bool {
        self.engine.settings().config.evidence.require >= Level::Ran
    }

    /// Whether the settings ask for coverage.
    fn wants_coverage(&self) -> bool {
        let config = &self.engine.settings().config;
        let wanted = &config.test.coverage_thresholds;
        config.evidence.require_coverage
            || [
                wanted.lines,
                wanted.branches,
                wanted.functions,
                wanted.statements,
            ]
            .iter()
            .any(Option::is_some)
    }

    /// Asks until there is an answer to what was asked, and carries out what is a command instead.
    fn prompt(&mut self, question: &str, takes: AnswerKind) -> Result<Reply, Fault> {
        loop {
            let Some(answer) = person::ask(self.output, question)? else {
                return Ok(Reply::Leave);
            };
            if takes.takes(&answer) {
                return Ok(Reply::Go(answer));
            }
            if let Some(said) = self.command(&answer)? {
                return Ok(said);
            }
            if !answer.is_empty() {
                let said = format!("`{answer}` is no answer here, so nothing was done. ");
                self.output.text(&render::plain(&said))?;
                self.output.text(&takes.help())?;
            }
        }
    }

    fn turn(&self, turn: &Turn<'_>) -> Result<TurnAnswer, Fault> {
        self.engine.turn(&AUTOPILOT, Some(self.run), turn)
    }

    /// Carries out a command. `None` if it is none.
    fn command(&mut self, answer: &str) -> Result<Option<Reply>, Fault> {
        let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        let reason = rest.trim();
        let moved = match word {
            "quit" | "exit" if reason.is_empty() => return Ok(Some(Reply::Leave)),
            "status" if reason.is_empty() => {
                let status = self.engine.status(&AUTOPILOT, Some(self.run));
                if let Some(status) = self.told(status)? {
                    let text = render::status(&status, &self.output.look());
                    self.output.text(&text)?;
                }
                return Ok(Some(Reply::Moved));
            }
            "reopen" => self.turn(&Turn::reopen(None, None, reason)),
            "skip" if reason.is_empty() => {
                self.output.text("Say why: skip REASON\n")?;
                return Ok(Some(Reply::Moved));
            }
            "skip" => self.turn(&Turn::skip(None, reason)),
            "pause" => self.turn(&Turn::new(Verb::Pause, reason)),
            _ => return Ok(None),
        };
        if let Some(moved) = self.told(moved)? {
            let text = render::turned(&moved, &self.output.look());
            self.output.text(&text)?;
            self.end_told = moved.report.is_some();
            if word == "pause" {
                return Ok(Some(Reply::Leave));
            }
        }
        Ok(Some(Reply::Moved))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_an_answer() {
        use AnswerKind::{Coverage, Enter, EnterOrResults, Results};
        for (takes, good, bad) in [
            (
                Enter,
                &[""][..],
                &["n", "92", "passed:1,failed:0", "verify"][..],
            ),
            (
                Results,
                &[
                    "failed:0,passed:1",
                    "{\"failed\":0}",
                    "verify",
                    "report out/tests.xml",
                ],
                &["", "statsu", "report"],
            ),
            (
                EnterOrResults,
                &["", "failed=0, passed=1", "report out/a report.xml"],
                &["done"],
            ),
            (
                Coverage,
                &["", "92.5%", "lines:92", "report lcov.info"],
                &["high"],
            ),
        ] {
            for answer in good.iter().chain(bad) {
                let expected = good.contains(answer);
                assert_eq!(takes.takes(answer), expected, "{answer:?}");
            }
        }
    }

    #[test]
    fn a_report_or_a_run_may_stand_for_the_numbers() {
        assert!(evidence("verify").verify);
        let given = evidence("report out/coverage:1.xml ");
        let report = std::path::PathBuf::from("out/coverage:1.xml");
        assert_eq!(given.reports, [report]);
        assert_eq!((given.results, given.coverage), (None, None));
    }

    #[test]
    fn coverage_may_stand_behind_the_results() {
        for (answer, results, coverage) in [
            ("failed:0,passed:1", "failed:0,passed:1", None),
            ("passed:1 coverage:92", "passed:1", Some("92")),
            ("passed:1, coverage 92%", "passed:1", Some("92%")),
            (
                "passed:1 coverage lines:92,b:80",
                "passed:1",
                Some("lines:92,b:80"),
            ),
            ("{\"coverage\": 1}", "{\"coverage\": 1}", None),
        ] {
            let given = evidence(answer);
            let told = (given.results.as_deref(), given.coverage.as_deref());
            assert_eq!(told, (Some(results), coverage));
        }
    }
}
