//! `git`: the branch of a run, its commits, and where it is pushed.

pub mod changes;
pub mod effects;
pub mod products;
pub mod read;

use machine::check::catalog::{Effect, Finder, Reader, Resource};
use machine::definition::FieldType::{String as Text, Strings};
use machine::{Reading, Role, RunState};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::checks::findings::NEW_FINDINGS;
use crate::capability::payload;
use crate::capability::{
    BRANCH, Capability, EffectSteps, REPOSITORY, TASKS, lasting, reader, reports,
};
use crate::support::{Emitted, HandlerError};

pub(super) struct Git;

impl Capability for Git {
    fn name(&self) -> &'static str {
        "git"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let facts = [("sha", Text), ("message", Text), ("files", Strings)];
        let role = [
            ("of", Some("changed_after_green")),
            ("only", Some("other_files_changed")),
            ("checks", Some(NEW_FINDINGS)),
        ];
        let commit = Reader {
            needs: &[REPOSITORY],
            takes: &[BRANCH],
            by_call_over: Some(TASKS),
            within: Some((TASKS, "into")),
            is_reported: true,
            ..reader(&role, &facts)
        };
        vec![("commit", commit)]
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        // A branch is made for a task, and named after it.
        let branch = Resource {
            needs: &[TASKS],
            ..Resource::default()
        };
        vec![(REPOSITORY, branch)]
    }

    fn effects(&self) -> Vec<(&'static str, Effect, EffectSteps)> {
        let commit = [("sha", Text), ("message", Text), ("files", Strings)];
        let pushed = [("remote", Text), ("branch", Text), ("sha", Text)];
        let branch = Effect {
            makes: &[BRANCH],
            ..lasting(&[REPOSITORY], &[])
        };
        let commit = Effect {
            takes: &[BRANCH],
            within: Some((TASKS, "into")),
            ..lasting(&[REPOSITORY], &commit)
        };
        let push = Effect {
            takes: &[BRANCH],
            ..lasting(&[REPOSITORY], &pushed)
        };
        let delete = Effect {
            asked_by: Some(["command", "cleanup"]),
            ..lasting(&[REPOSITORY], &[])
        };
        vec![
            ("git.branch", branch, effects::branch::STEPS),
            ("git.commit", commit, effects::commit::STEPS),
            (effects::push::PUSH, push, effects::push::STEPS),
            (
                effects::rewind::REWIND,
                lasting(&[REPOSITORY], &[]),
                effects::rewind::STEPS,
            ),
            ("branch.delete", delete, effects::delete::STEPS),
        ]
    }

    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        ["branch:created", "commit:created"]
            .map(|name| (name, Some(REPOSITORY)))
            .into()
    }

    fn fields(&self, _: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        payload::of_git(emitted)
    }

    fn policies(&self) -> Vec<(&'static str, Vec<Finder>)> {
        let whole = || reports("tests", Some("suite"), &[]);
        let any = |needs| {
            vec![Finder {
                needs,
                ..Finder::default()
            }]
        };
        vec![
            ("changed_after_commit", vec![whole()]),
            (
                "changed_after_green",
                vec![reports("commit", Some("of"), &[])],
            ),
            ("changes_left", any(Some(REPOSITORY))),
            ("config_loosened", any(None)),
        ]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        read::commit::read(call, role, run, token)
    }
}
