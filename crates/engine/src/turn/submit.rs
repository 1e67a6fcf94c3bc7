//! A run handed over: its branch is pushed, and becomes a pull request.

use journal::layout::ProjectDir;
use machine::trigger::Trigger;
use machine::{Command, Event, Refusal};
use serde::Serialize;
use serde_json::Value;

use crate::approval::Turn;
use crate::call::Input;
use crate::capability::git::effects::push::PUSH;
use crate::capability::memory::Memory;
use crate::capability::pull_request::{ANSWER, FEEDBACK, SUBMIT};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::{Selector, is_over_a_task};
use crate::next_step::{self, Verb};
use crate::turn::answer::TurnDetails;
use crate::turn::{TurnOutcome, refused, result_of};
use crate::view::View;
use crate::writer::RunWriter;

/// How many files are named.
const MOST_NAMED: usize = 5;

/// What `submit` handed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submission {
    /// The remote, by its name.
    pub remote: String,
    /// The branch there.
    pub branch: String,
    /// The commit that it is at.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
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
    pub(super) fn turn_to_feedback(
        &self,
        view: &'static View,
        run: Option<&str>,
        turn: &Turn<'_>,
    ) -> Result<TurnOutcome<'_>, Fault> {
        let (project, dir) = self.meant(view, run, Selector::Running)?;
        let mut writer = self.writer_alone(&project, &dir, Input::None)?;
        if is_over_a_task(&writer.open.run) {
            self.may_begin_again(&writer, &project)?;
        }
        let approval = self.approval_of_turn(&writer.open, turn)?;
        let command = Command::Send {
            trigger: Trigger::Feedback,
            flags: turn.flags.clone(),
            approval,
        };
        let events = match writer.command(&command)? {
            Ok(events) => events,
            Err(refusal) => return Err(not_sent(view, &writer, turn, &refusal)),
        };
        let unheard = result_of(&events, FEEDBACK).and_then(|result| result["unheard"].as_array());
        let unheard: Vec<&str> = unheard
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let unheard = match unheard.as_slice() {
            [] => String::new(),
            names => format!(
                "; not heard, since they may not change the repository: {}",
                text::plain::one_line(&names.join(", "))
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
        Ok(TurnOutcome::new(writer, message))
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
    pub(super) fn turn_to_submit(
        &self,
        view: &'static View,
        run: Option<&str>,
        turn: &Turn<'_>,
    ) -> Result<TurnOutcome<'_>, Fault> {
        let (_, dir) = self.meant(view, run, Selector::Running)?;
        let mut writer = self.writer(&dir, Input::None)?;
        let approval = self.approval_of_turn(&writer.open, turn)?;
        let command = Command::Send {
            trigger: Trigger::Submit,
            flags: turn.flags.clone(),
            approval,
        };
        match writer.command(&command)? {
            Ok(events) => {
                let (message, submission) = submitted(&events);
                Ok(TurnOutcome {
                    details: TurnDetails::Submitted(Box::new(submission)),
                    ..TurnOutcome::new(writer, message)
                })
            }
            Err(refusal) => Err(not_sent(view, &writer, turn, &refusal)),
        }
    }
}

/// The refusal of what was sent to a run; where it is over, the same is asked for again once what stands against it is out of the
/// way.
fn not_sent(
    view: &'static View,
    writer: &RunWriter<'_>,
    turn: &Turn<'_>,
    refusal: &Refusal,
) -> Fault {
    let (call, run) = (&writer.call, &writer.open.run);
    let fault = refused(view, call, run, Some(run.state()), refusal);
    let says_how = ["needs_person", "approval_too_weak", "not_possible"];
    if run.status.is_over() && !says_how.contains(&refusal.code.as_str()) {
        // What is advised comes before it is asked for again.
        let first = next_step::steps(&fault.suggestion).into_iter().next();
        let again = || Turn::new(turn.name, "").step().of(&run.run);
        return fault.recover(first.unwrap_or_else(again));
    }
    fault
}

/// What was done, for people, and what was handed over.
fn submitted(events: &[Event]) -> (String, Submission) {
    let text = |of: Option<&Value>, name: &str| {
        let text = of.and_then(|of| of.get(name)?.as_str());
        text.unwrap_or_default().to_owned()
    };
    let flag = |of: Option<&Value>, name: &str| {
        of.and_then(|of| of.get(name)?.as_bool())
            .unwrap_or_default()
    };
    let (pushed, request) = (result_of(events, PUSH), result_of(events, SUBMIT));
    let by_hand = flag(request, "byHand").then(|| ByHandAnswer {
        why: text(request, "why"),
        fix: text(request, "fix"),
        url: text(request, "url"),
    });
    let pull_request = match (&by_hand, request) {
        (None, Some(result)) => Some(SubmittedPullRequest {
            number: result
                .get("number")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
            url: text(request, "url"),
            created: flag(request, "created"),
            draft: flag(request, "draft"),
            base: text(request, "base"),
        }),
        _ => None,
    };
    let warnings = [request, result_of(events, ANSWER)].into_iter().flatten();
    let warnings = warnings.filter_map(|of| of.get("warnings")?.as_array());
    let warnings = warnings.flatten().filter_map(Value::as_str);
    let mut warnings: Vec<String> = warnings.map(str::to_owned).collect();
    let of_push = text(pushed, "warning");
    if !of_push.is_empty() {
        warnings.push(of_push);
    }
    let (branch, remote) = (text(pushed, "branch"), text(pushed, "remote"));
    let moved = flag(pushed, "moved");
    let push = if moved {
        format!("`{branch}` is pushed to {remote}")
    } else {
        format!("{remote} has `{branch}` as it is already")
    };
    let message = match (&pull_request, &by_hand) {
        (Some(pull_request), _) if pull_request.created => {
            let fill_in = if flag(request, "template") {
                "; its description begins with the project's own template, which is to be filled in"
            } else {
                ""
            };
            format!(
                "{push}, and pull request #{} is open{fill_in}",
                pull_request.number
            )
        }
        (Some(request), _) => format!("{push}, and pull request #{} is up to date", request.number),
        (None, Some(_)) => format!("{push}; the pull request is to be opened by hand"),
        (None, None) => push,
    };
    let submission = Submission {
        remote,
        branch,
        commit_sha: text(pushed, "sha"),
        moved,
        pull_request,
        by_hand,
        warnings,
    };
    (message, submission)
}
