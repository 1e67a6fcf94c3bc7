//! `pull_request`: the branch of a run as others look at it, and what they say. Merge requests, as GitLab calls them, are meant
//! as well.

mod body;
mod check;
pub(crate) mod feedback;
mod submit;
pub(crate) mod target;

use machine::check::catalog::Effect;
use machine::definition::FieldType::{Bool, Int, String as Text, Strings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::capability::memory::PULL_REQUEST;
use crate::capability::{
    BRANCH, Capability, EffectSteps, REPOSITORY, TASKS, lasting, passing, typed,
};
use crate::support::{Emitted, object};

/// The effect that looks whether there can be one.
const CHECK: &str = "pull_request.check";
/// The effect that opens one, or brings it up to date.
pub(crate) const SUBMIT: &str = "pull_request.submit";
/// The effect that takes in what is said of it.
pub(crate) const FEEDBACK: &str = "pull_request.feedback";
/// The effect that tells there what was done about it.
pub(crate) const ANSWER: &str = "pull_request.answer";
/// The event that one was opened, or brought up to date.
const SUBMITTED: &str = "pull_request:submitted";

/// The pull request of a run, as it was seen last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownPullRequest {
    /// The host of its repository.
    pub(crate) host: String,
    /// The path of its repository there.
    pub(crate) path: String,
    /// Its number.
    pub(crate) number: u64,
    /// Its page.
    pub(crate) url: String,
    /// The branch that it is to be merged into.
    pub(crate) base: String,
    /// Who was asked to look at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reviewers: Vec<String>,
    /// The issue that it closes, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) issue: Option<String>,
}

/// Where a run is submitted to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubmittedTo {
    /// The remote, by its name.
    pub(crate) remote: String,
    /// The branch that it is to be merged into.
    pub(crate) base: String,
}

pub(super) struct PullRequests;

impl Capability for PullRequests {
    fn name(&self) -> &'static str {
        "pull_request"
    }

    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
        let submitted = [
            ("number", Int),
            ("url", Text),
            ("created", Bool),
            ("byHand", Bool),
        ];
        let feedback = Effect {
            result: typed(&[("items", Strings), ("unheard", Strings)]),
            ..passing(&[REPOSITORY, TASKS])
        };
        let all = [
            (CHECK, passing(&[REPOSITORY]), check::STEPS),
            (SUBMIT, lasting(&[REPOSITORY], &submitted), submit::STEPS),
            (FEEDBACK, feedback, feedback::TAKE),
            (ANSWER, lasting(&[REPOSITORY, TASKS], &[]), feedback::ANSWER),
        ];
        let on_branch = |effect| Effect {
            takes: &[BRANCH],
            ..effect
        };
        all.map(|(name, effect, steps)| (name, on_branch(effect), steps))
            .into()
    }

    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        vec![(SUBMITTED, Some(REPOSITORY))]
    }

    fn fields(&self, _: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        // Where a person opens it by hand, nothing is known of it.
        let known = PULL_REQUEST.read(&emitted.after.kept).ok().flatten()?;
        Some(object(json!({
            "number": known.number,
            "url": known.url,
            "base": known.base,
        })))
    }
}
