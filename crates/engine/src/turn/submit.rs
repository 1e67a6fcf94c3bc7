//! A run handed over: its branch is pushed, and becomes a pull request.

use journal::layout::ProjectDir;
use machine::trigger::Trigger;
use machine::{Command, Event, Refusal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::Input;
use crate::capability::git::effects::push::PUSH;
use crate::capability::memory::Memory;
use crate::capability::pull_request::{ANSWER, FEEDBACK, SUBMIT};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::is_over_a_task;
use crate::next_step::{self, Verb};
use crate::turn::answer::{TurnAnswer, TurnDetails};
use crate::turn::{Asked, TurnOutcome, refused, result_of};
use crate::writer::RunWriter;

/// How many files are named.
const MOST_NAMED: usize = 5;

/// What `submit` handed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Submission {
    /// The remote, by its name.
    pub remote: String,
    /// The branch there.
    pub branch: String,
    /// The commit that it is at.
    #[serde(alias = "sha")]
    pub commit_sha: String,
    /// Whether the remote had another one before.
    pub moved: bool,
    /// The pull request, where this program opened it or brought it up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<SubmittedPullRequest>,
    /// How a person does the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<ByHandAnswer>,
    /// What did not go along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A pull request that a run has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SubmittedPullRequest {
    /// Its number in its repository.
    pub number: u64,
    /// Its page.
    pub url: String,
    /// Whether it was opened now.
    pub created: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// The branch that it is to be merged into.
    pub base: String,
}

/// How a person opens a pull request, or brings it up to date.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ByHandAnswer {
    /// Why this program cannot.
    pub why: String,
    /// What to do about that.
    pub fix: String,
    /// The page on which it is done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
}

impl Engine {
    /// Takes in what checks and people say of the pull request of a run: each becomes a subtask, and the run goes on.
    pub(super) fn turn_to_feedback(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let writer = self.writer_alone(&asked.project, &asked.dir, Input::None)?;
        if is_over_a_task(&writer.open.run) {
            self.may_begin_again(&writer, &asked.project)?;
        }
        let (writer, events) = self.send(asked, writer, Trigger::Feedback)?;
        let unheard = result_of(&events, FEEDBACK).and_then(|result| result["unheard"].as_array());
        let names = unheard.into_iter().flatten().filter_map(Value::as_str);
        let unheard = match names.collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => names,
            names => format!(
                "; not heard, since they may not change the repository: {}",
                text::plain::one_line(&names)
            ),
        };
        let added = events.iter().filter_map(|event| match event {
            Event::ItemAdded { item, .. } => Some(item.key.as_str()),
            _ => None,
        });
        let added: Vec<&str> = added.collect();
        let message = format!(
            "Taken in: {} ({}){unheard}. What no test can fail for is another kind of work: {}; what is not to be done is declined: {}",
            text::counted(added.len(), "remark"),
            added.join(", "),
            Verb::Reopen.step().with("kind", "refactor").and("reason"),
            Verb::Skip.step().and("reason"),
        );
        TurnOutcome::new(writer, message).answer(asked.view)
    }

    /// Refuses to have a run go on that was over, beside another one or on top of what somebody else is changing.
    fn may_begin_again(&self, writer: &RunWriter<'_>, project: &ProjectDir) -> Result<(), Fault> {
        self.refuse_beside(project, &writer.open.run)?;
        if !writer.open.run.status.is_over() {
            return Ok(());
        }
        let memory = Memory::of(&writer.open.run)?;
        let repository = memory.repository();
        let changed = memory.uncommitted(&repository, &*writer.call.tree(&repository)?);
        if changed.is_empty() {
            return Ok(());
        }
        Err(fault!(
            "dirty_tree.at_rewind",
            value = text::listed(changed.iter().take(MOST_NAMED))
        ))
    }

    /// Pushes the branch of a run, and opens its pull request or brings that up to date.
    pub(super) fn turn_to_submit(&self, asked: &Asked<'_>) -> Result<TurnAnswer, Fault> {
        let writer = self.writer(&asked.dir, Input::None)?;
        let (writer, events) = self.send(asked, writer, Trigger::Submit)?;
        let (message, submission) = submitted(&events);
        let mut outcome = TurnOutcome::new(writer, message);
        outcome.details = TurnDetails::Submitted(Box::new(submission));
        outcome.answer(asked.view)
    }

    /// Sends a run what it has an edge for, also where it is over; with what came of that.
    fn send<'a>(
        &self,
        asked: &Asked<'_>,
        mut writer: RunWriter<'a>,
        trigger: Trigger,
    ) -> Result<(RunWriter<'a>, Vec<Event>), Fault> {
        let command = Command::Send {
            trigger,
            flags: asked.turn.flags.clone(),
            approval: self.approval_of_turn(&writer.open, asked.turn)?,
        };
        match writer.command(&command)? {
            Ok(events) => Ok((writer, events)),
            Err(refusal) => Err(not_sent(asked, &writer, &refusal)),
        }
    }
}

/// The refusal of what was sent to a run; where it is over, the same is asked for again once what stands against it is out of the
/// way.
fn not_sent(asked: &Asked<'_>, writer: &RunWriter<'_>, refusal: &Refusal) -> Fault {
    let (call, run) = (&writer.call, &writer.open.run);
    let fault = refused(asked.view, call, run, refusal);
    let says_how = ["needs_person", "approval_too_weak", "not_possible"];
    if run.status.is_over() && !says_how.contains(&refusal.code.as_str()) {
        // What is advised comes before it is asked for again.
        let first = next_step::steps(&fault.suggestion).into_iter().next();
        let again = || asked.turn.verb.step().of(&run.run);
        return fault.recover(first.unwrap_or_else(again));
    }
    fault
}

/// What was done, for people, and what was handed over.
fn submitted(events: &[Event]) -> (String, Submission) {
    let (pushed, request) = (result_of(events, PUSH), result_of(events, SUBMIT));
    let is_set = |name: &str| request.is_some_and(|request| request[name] == true);
    let mut submission: Submission = read(pushed);
    let warnings = [request, result_of(events, ANSWER)].into_iter().flatten();
    let warnings = warnings
        .filter_map(|of| of["warnings"].as_array())
        .flatten();
    let of_push = pushed.map(|pushed| &pushed["warning"]);
    let warnings = warnings.chain(of_push).filter_map(Value::as_str);
    let warnings = warnings.filter(|warning| !warning.is_empty());
    submission.warnings = warnings.map(str::to_owned).collect();
    let Submission { remote, branch, .. } = &submission;
    let push = if submission.moved {
        format!("`{branch}` is pushed to {remote}")
    } else {
        format!("{remote} has `{branch}` as it is already")
    };
    if is_set("byHand") {
        submission.by_hand = Some(read(request));
        let message = format!("{push}; the pull request is to be opened by hand");
        return (message, submission);
    }
    let Some(request) = request.map(|request| read::<SubmittedPullRequest>(Some(request))) else {
        return (push, submission);
    };
    let came_to = match (request.created, is_set("template")) {
        (true, true) => {
            "open; its description begins with the project's own template, which is to be filled in"
        }
        (true, false) => "open",
        (false, _) => "up to date",
    };
    let message = format!("{push}, and pull request #{} is {came_to}", request.number);
    submission.pull_request = Some(request);
    (message, submission)
}

/// The parts of an effect's result that an answer has.
fn read<T: DeserializeOwned + Default>(result: Option<&Value>) -> T {
    let read = result.and_then(|result| T::deserialize(result).ok());
    read.unwrap_or_default()
}
