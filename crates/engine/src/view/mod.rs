//! Views: the words and shapes in which runs are shown and driven. A definition names the one that it is made for; the verbs of
//! a view find its runs, and those of the generic view find any.

pub mod autopilot;
pub mod collab;
pub mod session;

use std::collections::BTreeMap;

use machine::check::catalog;
use machine::check::catalog::Finder;
use machine::definition::GENERIC as GENERIC_NAME;
use machine::{Definition, RunState};
use serde::ser::{Error as _, Serialize as _, Serializer};
use serde_json::value::Serializer as ToValue;
use serde_json::{Map, Value};

use crate::capability::{DOCUMENTS, FOLDER, PROFILE, TASKS};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::library::Source;
use crate::next_step::{Verb, step};

/// Words and shapes for runs.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    /// Its name in definitions and manifests.
    pub(crate) name: &'static str,
    /// What a run is called in it.
    pub(crate) noun: &'static str,
    /// What names one.
    pub(crate) name_of: &'static str,
    /// The workflow that is begun where none is named.
    pub(crate) workflow: &'static str,
    /// How one is begun: in words, and what to do for it.
    pub(crate) begin: (&'static str, &'static str),
    /// Whether it speaks of runs over a task, phase by phase.
    pub(crate) is_of_tasks: bool,
    /// The verb by which a response is handed in, where there is one: else it is put into its file.
    pub(crate) hands_in: Option<Verb>,
    /// Whether the answer to a turn says what to do then, and not only where the run is.
    pub(crate) tells_what_to_do: bool,
    /// The command that hands out what a complete run made, but for its name.
    pub(crate) hands_out: Option<&'static [&'static str]>,
    /// The fields of answers that it leaves out.
    omits: &'static [&'static str],
    /// The fields that have another name in it.
    renames: &'static [(&'static str, &'static str)],
    /// The objects whose fields stand beside the others.
    hoists: &'static [&'static str],
    /// Whether it tells by its own calls all that is asked for, and nothing in files.
    tells_all: bool,
    /// The resources that it speaks of.
    needs: &'static [&'static str],
    /// The phases that it knows by name: for each the reader, and a key of the role that reports in it must have and one
    /// that they must not.
    phases: &'static [(
        &'static str,
        &'static str,
        Option<&'static str>,
        &'static [&'static str],
    )],
}

/// Any workflow in its own words.
pub static GENERIC: View = ANY;

/// The view that the others differ from.
const ANY: View = View {
    name: GENERIC_NAME,
    workflow: "",
    noun: "run",
    name_of: "run id",
    begin: (
        concat!(
            "begin one with ",
            step!("start", "workflow"),
            "; `tm workflow list` shows the workflows"
        ),
        "tm workflow list",
    ),
    is_of_tasks: false,
    hands_in: None,
    tells_what_to_do: false,
    hands_out: None,
    omits: &["phase"],
    renames: &[],
    hoists: &[],
    tells_all: false,
    needs: &[],
    phases: &[],
};

/// A task's branch, phase by phase.
pub static AUTOPILOT: View = View {
    name: "autopilot",
    workflow: "tdd",
    begin: (
        concat!(
            "begin one with ",
            step!("start", "view=autopilot", "taskId")
        ),
        step!("start", "view=autopilot", "taskId"),
    ),
    is_of_tasks: true,
    tells_what_to_do: true,
    omits: &[
        "workflow",
        "title",
        "state",
        "label",
        "by",
        "expects",
        "outcomes",
        "prompt",
        "response",
        "units",
        "unitsTotal",
        "states",
        "items",
        "inputs",
        "vars",
    ],
    // There the next action is the phase.
    renames: &[("phase", "action"), ("item", "subtask")],
    hoists: &["task", "result"],
    needs: &[TASKS],
    phases: &[
        ("red", "tests", Some("shows"), &[]),
        ("green", "tests", None, &["shows", "suite"]),
        ("commit", "commit", None, &[]),
        ("finalize", "tests", Some("suite"), &[]),
    ],
    ..ANY
};

/// Prompts and responses, iteration by iteration.
pub static SESSION: View = View {
    name: "session",
    workflow: "review",
    noun: "session",
    name_of: "session name",
    begin: (
        concat!(
            "begin one with ",
            step!("start"),
            "; `tm session profiles` shows what can be given to it"
        ),
        step!("start"),
    ),
    hands_in: Some(Verb::Respond),
    hands_out: Some(&["tm", "session", "export", "DIR", "--session"]),
    // The session that it stands in has the other two.
    omits: &["runId", "workflow", "phase"],
    needs: &[FOLDER, PROFILE],
    ..ANY
};

/// Skill by skill.
pub static COLLAB: View = View {
    name: "collab",
    workflow: "collab",
    noun: "session",
    name_of: "session name",
    begin: (
        "begin one by completing its first skill, or by setting its items",
        step!("status"),
    ),
    tells_what_to_do: true,
    tells_all: true,
    needs: &[DOCUMENTS],
    ..ANY
};

/// Those with words of their own.
static OWN: [&View; 3] = [&AUTOPILOT, &SESSION, &COLLAB];

impl Default for &'static View {
    fn default() -> Self {
        &GENERIC
    }
}

impl View {
    /// The view of that name. One that is not known any more is shown as any other run is.
    pub fn named(name: &str) -> &'static Self {
        let found = OWN.into_iter().find(|view| view.name == name);
        found.unwrap_or(&GENERIC)
    }

    /// The view whose runs alone are meant in it; none in the generic one, which shows any.
    pub(crate) fn only(&'static self) -> Option<&'static Self> {
        (*self != GENERIC).then_some(self)
    }

    /// Whether runs of a workflow have all that is spoken of here.
    pub(crate) fn can_tell(&self, definition: &Definition) -> bool {
        let mut needs = self.needs.iter();
        needs.all(|resource| definition.works_with(resource))
    }

    /// Writes an answer with the fields that this view has, under its names.
    pub(crate) fn write<S: Serializer>(
        &self,
        fields: impl FnOnce(ToValue) -> Result<Value, serde_json::Error>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut answer = fields(ToValue).map_err(S::Error::custom)?;
        if let Value::Object(fields) = &mut answer {
            self.reshape(fields);
        }
        answer.serialize(serializer)
    }

    fn reshape(&self, fields: &mut Map<String, Value>) {
        let called = |name: String| {
            let mut renames = self.renames.iter();
            let renamed = renames.find(|(known, _)| *known == name);
            renamed.map_or(name, |(_, called)| (*called).to_owned())
        };
        let all = std::mem::take(fields).into_iter();
        let shown = all.filter(|(name, _)| !self.omits.contains(&name.as_str()));
        *fields = shown.map(|(name, value)| (called(name), value)).collect();
        for name in self.hoists {
            if let Some(Value::Object(inside)) = fields.shift_remove(*name) {
                fields.extend(inside);
            }
        }
    }

    /// The view that a run is made for.
    pub(crate) fn of(run: &RunState) -> &'static Self {
        Self::named(&run.view)
    }
}

/// The views that a definition may name, for its proof.
pub(crate) fn catalog() -> BTreeMap<&'static str, catalog::View> {
    let told = OWN.into_iter().map(|view| {
        let phases = view.phases.iter().map(|(phase, reader, with, without)| {
            let finder = Finder {
                reader: (*reader).to_owned(),
                with: *with,
                without: without.to_vec(),
                ..Finder::default()
            };
            (*phase, finder)
        });
        let told = catalog::View {
            needs: view.needs,
            tells_all: view.tells_all,
            phases: phases.collect(),
        };
        (view.name, told)
    });
    told.collect()
}

impl Engine {
    /// The workflow that is begun in a view: the one of that id, or the view's own. Refused where it is made for another.
    pub(crate) fn startable_in(
        &self,
        view: &View,
        id: Option<&str>,
    ) -> Result<(Definition, Source), Fault> {
        let id = id.unwrap_or(view.workflow);
        let (definition, source) = self.startable(id)?;
        if definition.view() == view.name {
            return Ok((definition, source));
        }
        let (origin, own, view) = (source.origin, definition.view(), view.name);
        Err(fault!("other_workflow.startable", id, origin, own, view))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_definitions_names_the_views() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../schemas/workflow.schema.json")).unwrap();
        let named: Vec<&str> = schema["properties"]["view"]["enum"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let own = OWN.map(|view| view.name);
        assert_eq!(named, [&[GENERIC_NAME][..], &own].concat());
    }
}
