//! What a session waits for, in one word each.

use std::path::Path;

use engine::view::session::answer::{SessionState, StepAhead};
use engine::{NextStep, Verb};
use serde::Serialize;
use workspace::profile::Phase;

/// Where a session stands, for whoever asks what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStanding<'s> {
    /// Somebody writes a response.
    Response {
        /// The prompt that asks for it, in the session's folder.
        prompt: Option<&'s str>,
        /// The file that it goes into, in the session's folder.
        response: &'s str,
    },
    /// A person decides at this gate.
    Gate(&'s str),
    /// As many iterations failed as it may have.
    Cap,
    /// Somebody paused it, for this reason.
    Paused(&'s str),
    /// Something keeps it from going on, by the code of its fault.
    Held(&'s str),
    /// The next step can be taken.
    Free,
    /// It broke down; a person can take it up again.
    Broken,
    /// It is over: called off.
    Cancelled,
    /// It is over: the review passed.
    Complete,
}

impl<'s> SessionStanding<'s> {
    /// Where this session stands.
    pub fn of(state: &'s SessionState) -> Self {
        // Not by the phase: workflows of users' own have other names for these.
        match state.status.as_str() {
            "ERROR" => return Self::Broken,
            "CANCELLED" => return Self::Cancelled,
            "SUCCESS" => return Self::Complete,
            _ => {}
        }
        let Some(waiting) = &state.waiting_for else {
            return Self::Free;
        };
        match (&waiting.reason, &waiting.gate, &waiting.path) {
            (reason, ..) if waiting.paused => Self::Paused(reason.as_deref().unwrap_or_default()),
            _ if waiting.needs_reopen => Self::Cap,
            (Some(reason), ..) => Self::Held(reason),
            (None, Some(gate), _) => Self::Gate(gate),
            (None, None, Some(response)) => Self::Response {
                prompt: waiting.prompt.as_deref(),
                response,
            },
            (None, None, None) => Self::Free,
        }
    }
}

/// The plan and the files of the code that somebody changed, where the session goes on or hands its code out: nothing is
/// made of them.
pub fn changed_work(state: &SessionState) -> Vec<&str> {
    if !matches!(state.status.as_str(), "IN_PROGRESS" | "SUCCESS") {
        return Vec::new();
    }
    let code = format!("iteration-{}/code", state.current_iteration);
    let all = state.tampered.iter().map(String::as_str);
    all.filter(|path| *path == "plan.md" || Path::new(path).starts_with(&code))
        .collect()
}

/// What a response is called.
pub fn what(asked: Option<Phase>) -> &'static str {
    match asked {
        Some(Phase::Planning) => "the plan",
        Some(Phase::Generation) => "the code",
        Some(Phase::Review) => "the review",
        Some(Phase::Revision) => "the revised code",
        None => "the response",
    }
}

/// What the next step of a session does that waits for nothing.
pub fn next_step(state: &SessionState) -> String {
    let does = |verb: &str, asked: Phase| format!("The next step {verb} {}.", what(Some(asked)));
    match state.work.ahead {
        StepAhead::TakesIn(asked) => format!("The next step takes {} in.", what(Some(asked))),
        StepAhead::AsksFor(asked) => does("asks for", asked),
        StepAhead::ActsOn(asked) => does("acts on", asked),
        StepAhead::GoesOnTo(asked) => does("goes on to", asked),
        StepAhead::Settles => {
            "A step was interrupted: the next one brings it to its end first.".to_owned()
        }
        StepAhead::Other => "The next step can be taken.".to_owned(),
    }
}

/// Whether the gate that a session waits at can be rejected.
pub fn can_reject(state: &SessionState) -> bool {
    state
        .waiting_for
        .as_ref()
        .is_some_and(|waits| waits.can_reject)
}

/// What can be done next of a session, the first thing first: by whoever answers, or at a gate by a person.
pub fn next_steps(state: &SessionState) -> Vec<NextStep> {
    let verbs: &[Verb] = match SessionStanding::of(state) {
        _ if !changed_work(state).is_empty() => &[Verb::Restore],
        SessionStanding::Held("tampered") => &[Verb::Restore],
        SessionStanding::Response { .. } => &[Verb::Respond],
        SessionStanding::Gate(_) if can_reject(state) => &[Verb::Approve, Verb::Reject],
        SessionStanding::Gate(_) => &[Verb::Approve],
        SessionStanding::Cap | SessionStanding::Broken => &[Verb::Reopen],
        SessionStanding::Paused(_) => &[Verb::Resume],
        SessionStanding::Held(_) | SessionStanding::Free => &[Verb::Step],
        SessionStanding::Cancelled => &[Verb::Start],
        SessionStanding::Complete => &[],
    };
    let steps = verbs.iter().map(|verb| match verb {
        Verb::Start => verb.step(),
        Verb::Respond => verb.step().of(&state.session_id).and("file"),
        _ => verb.step().of(&state.session_id),
    });
    steps.collect()
}

/// An answer about a session, with what can be done next.
#[derive(Debug, Serialize)]
pub struct WithNextSteps<'a, T> {
    /// What there is to answer.
    #[serde(flatten)]
    pub answer: &'a T,
    /// The steps, in the marks by which texts name them.
    #[serde(rename = "nextSteps", skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

impl<'a, T> WithNextSteps<'a, T> {
    /// That of a session in this state.
    pub fn of(answer: &'a T, state: &SessionState) -> Self {
        let next_steps = next_steps(state).into_iter().map(String::from).collect();
        Self { answer, next_steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::view::session::answer::WaitingFor;

    #[test]
    fn what_a_session_waits_for_has_one_name() {
        let some = |text: &str| Some(text.to_owned());
        let mut state = SessionState::default();
        assert_eq!(SessionStanding::of(&state), SessionStanding::Free);
        state.waiting_for = Some(WaitingFor {
            path: some("a"),
            prompt: some("b"),
            ..WaitingFor::default()
        });
        let response = SessionStanding::Response {
            prompt: Some("b"),
            response: "a",
        };
        assert_eq!(SessionStanding::of(&state), response);
        let waiting = state.waiting_for.as_mut().unwrap();
        waiting.gate = some("plan");
        assert_eq!(SessionStanding::of(&state), SessionStanding::Gate("plan"));
        state.waiting_for.as_mut().unwrap().reason = some("untrusted");
        assert_eq!(
            SessionStanding::of(&state),
            SessionStanding::Held("untrusted")
        );
        state.waiting_for.as_mut().unwrap().needs_reopen = true;
        assert_eq!(SessionStanding::of(&state), SessionStanding::Cap);
        let waiting = state.waiting_for.as_mut().unwrap();
        (waiting.paused, waiting.reason) = (true, some("lunch"));
        assert_eq!(
            SessionStanding::of(&state),
            SessionStanding::Paused("lunch")
        );
        state.status = "ERROR".to_owned();
        assert_eq!(SessionStanding::of(&state), SessionStanding::Broken);
    }

    #[test]
    fn what_was_changed_is_work_where_something_is_still_made_of_it() {
        let mut state = SessionState {
            status: "IN_PROGRESS".to_owned(),
            current_iteration: 2,
            tampered: [
                "plan.md",
                "planning-response.md",
                "iteration-2/code/a.sh",
                "iteration-2/code.changed-1/a.sh",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..SessionState::default()
        };
        assert_eq!(changed_work(&state), ["plan.md", "iteration-2/code/a.sh"]);
        state.status = "ERROR".to_owned();
        assert!(changed_work(&state).is_empty());
    }
}
