//! `documents`: work items in a design document, and their task graphs.

pub(crate) mod bound;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod folder;
pub(crate) mod read;
pub mod skills;
pub(crate) mod to_read;
pub(crate) mod work;

use machine::check::catalog::{Finder, ParameterKind, Reader, Resource};
use machine::definition::FieldType::{Bool, Strings};
use machine::{Definition, Finding, Reading, Refusal, Role, RunState};
use serde_json::{Map, Value};

use crate::call::{Call, Form};
use crate::capability::{Capability, DOCUMENTS, parameter, reader};
use crate::support::{Emitted, HandlerError};
use crate::view::collab::frame::VARIABLES;

/// The fields of a work item.
const ITEM: [(&str, &str); 6] = [
    ("number", "string"),
    ("title", "string"),
    ("type", ""),
    ("dependsOn", "list of strings"),
    ("reason", "string"),
    ("status", ""),
];
/// The fields of a task.
const TASK: [(&str, &str); 11] = [
    ("id", "string"),
    ("item", "string"),
    ("name", "string"),
    ("description", "string"),
    ("files", "list of strings"),
    ("tests", "list of strings"),
    ("dependsOn", "list of strings"),
    ("parallel", "bool"),
    ("reason", "string"),
    ("status", ""),
    ("wave", ""),
];

/// A finding of the policy, and with the texts, that a refusal has.
fn finding_of(found: Refusal) -> Finding {
    Finding {
        policy: found.code,
        message: found.message.unwrap_or_default(),
        suggestion: found.suggestion,
        details: Map::new(),
    }
}

pub(super) struct Documents;

impl Capability for Documents {
    fn name(&self) -> &'static str {
        "documents"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let design = [("items", Strings), ("errors", Strings)];
        let graph = [("present", Bool), ("errors", Strings), ("tasks", Strings)];
        let of_documents = |facts| Reader {
            needs: &[DOCUMENTS],
            ..reader(&[], facts)
        };
        vec![
            ("design", of_documents(&design)),
            ("graph", of_documents(&graph)),
            (drafts::DRAFT, drafts::declared()),
            (work::WORK, work::declared()),
        ]
    }

    fn policies(&self) -> Vec<(&'static str, Vec<Finder>)> {
        let of_work = work::policies().into_iter();
        let of_drafts = (drafts::DRAFT_MISSING, drafts::finders());
        of_work.chain([of_drafts]).collect()
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        let documents = Resource {
            parameters: vec![
                parameter("items", ParameterKind::Items(&ITEM), "items"),
                parameter("tasks", ParameterKind::Waves(&TASK), "tasks"),
                parameter("present", ParameterKind::Cursor("items"), "item"),
                parameter("snapshot", ParameterKind::Var(Bool), "hasSnapshot"),
            ],
            ..Resource::default()
        };
        vec![(DOCUMENTS, documents)]
    }

    fn variables(&self, definition: &Definition) -> &'static [&'static str] {
        match Form::of_templates(definition) {
            Form::Frame => &VARIABLES,
            Form::Context | Form::Text => &[],
        }
    }

    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        ["batches:cut", "batch:complete"]
            .map(|name| (name, Some(DOCUMENTS)))
            .into()
    }

    fn fields(&self, call: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        let mut fields = emitted.plain();
        events::tell(&call.definition, emitted, &mut fields);
        Some(fields)
    }

    fn codes(&self) -> Vec<&'static str> {
        vec![
            "items_unreadable",
            "no_items",
            "item_has_no_route",
            "graph_missing",
            "graph_invalid",
            "tasks_unfinished",
            "task_failed",
        ]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        _: u32,
    ) -> Result<Reading, HandlerError> {
        match role.reader.as_str() {
            drafts::DRAFT => drafts::read(call, role, run),
            work::WORK => work::read(call, run),
            reader => read::read(call, reader, run),
        }
    }
}
