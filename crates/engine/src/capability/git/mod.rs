//! `git`: the branch of a run, its commits, and where it is pushed.

pub mod changes;
pub mod effects;
pub mod products;
pub mod read;

use machine::check::catalog::{Effect, Finder, Reader, Resource};
use machine::definition::FieldType::{String as Text, Strings};
use machine::state::Pending;
use machine::{Reading, Role, RunState};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::checks::findings::NEW_FINDINGS;
use crate::capability::payload;
use crate::capability::{BRANCH, Capability, REPOSITORY, TASKS, lasting, reader, reports};
use crate::fault::Fault;
use crate::support::{EffectRequest, EffectState, Emitted, HandlerError, Outcome};

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

    fn effects(&self) -> Vec<(&'static str, Effect)> {
        let commit = [("sha", Text), ("message", Text), ("files", Strings)];
        vec![
            (
                "git.branch",
                Effect {
                    makes: &[BRANCH],
                    ..lasting(&[REPOSITORY], &[])
                },
            ),
            (
                "git.commit",
                Effect {
                    takes: &[BRANCH],
                    within: Some((TASKS, "into")),
                    ..lasting(&[REPOSITORY], &commit)
                },
            ),
            (
                effects::push::PUSH,
                Effect {
                    takes: &[BRANCH],
                    ..lasting(
                        &[REPOSITORY],
                        &[("remote", Text), ("branch", Text), ("sha", Text)],
                    )
                },
            ),
            (effects::rewind::REWIND, lasting(&[REPOSITORY], &[])),
            (
                "branch.delete",
                Effect {
                    asked_by: Some(["command", "cleanup"]),
                    ..lasting(&[REPOSITORY], &[])
                },
            ),
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

    fn prepare(
        &self,
        call: &Call<'_>,
        asked: &EffectRequest<'_>,
        run: &RunState,
    ) -> Result<Value, HandlerError> {
        match asked.effect {
            "git.branch" => effects::branch::prepare(call, run),
            "git.commit" => effects::commit::prepare(call, run, asked.token, asked.facts),
            effects::push::PUSH => effects::push::prepare(call, run, asked.flags),
            effects::rewind::REWIND => effects::rewind::prepare(call, run, asked.flags),
            "branch.delete" => effects::delete::prepare(call, run, asked.flags),
            other => Err(self.has_no("effect", other).into()),
        }
    }

    fn perform(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<Outcome, Fault> {
        match pending.name.as_str() {
            "git.branch" => effects::branch::perform(call, run, pending),
            "git.commit" => effects::commit::perform(call, run, pending),
            effects::push::PUSH => effects::push::perform(call, run, pending),
            effects::rewind::REWIND => effects::rewind::perform(call, run, pending),
            "branch.delete" => effects::delete::perform(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }

    fn look(
        &self,
        call: &Call<'_>,
        run: &RunState,
        pending: &Pending,
    ) -> Result<EffectState, Fault> {
        match pending.name.as_str() {
            "git.branch" => effects::branch::look(call, run, pending),
            "git.commit" => effects::commit::look(call, run, pending),
            effects::push::PUSH => effects::push::look(call, run, pending),
            effects::rewind::REWIND => effects::rewind::look(call, run, pending),
            "branch.delete" => effects::delete::look(call, run, pending),
            other => Err(self.has_no("effect", other)),
        }
    }
}
