//! Sessions of the `collab` rails.

use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault};

use super::{Answer, Call, answer};
use crate::calls::{Arguments, read};
use crate::commands::collab::of_document;

impl Call<'_> {
    pub(super) fn on_skills(self, mut arguments: Arguments) -> Answer {
        match self.entry.call.name.as_str() {
            "complete-skill" => answer(&self.open()?.complete_skill(&SkillDone {
                session: self.meant.run,
                skill: arguments.take_text("skill").unwrap_or_default(),
                unit_id: arguments.take_text("unit"),
            })?),
            "state" if arguments.is("full") => answer(&self.open()?.collab_state(self.run())?),
            "state" => answer(&self.open()?.collab_brief(self.run())?),
            "update" => self.set_fields(arguments),
            "set-task" => self.set_tasks(vec![arguments.read()?]),
            "set-tasks" => {
                let tasks = arguments.take("tasks").unwrap_or_default();
                self.set_tasks(read(tasks)?)
            }
            "graph" => answer(&self.open()?.collab_graph(self.run())?),
            "sync" => self.set_graph(arguments),
            other => Err(Fault::bug(format!("no tool makes the call `{other}`")).into()),
        }
    }

    fn set_fields(self, arguments: Arguments) -> Answer {
        let mut engine = self.open()?;
        // A session that is not there begins.
        if engine.collab_brief(self.run()).is_err() {
            engine = self.open_to_begin()?;
        }
        let mut fields = arguments.into_map();
        // Some clients fill in what they leave out.
        fields.retain(|name, value| !value.is_null() || name == "currentItem");
        answer(&engine.collab_update(&SessionUpdate {
            session: self.meant.run,
            fields,
        })?)
    }

    fn set_tasks(self, tasks: Vec<TaskUpdate>) -> Answer {
        answer(&self.open()?.collab_tasks(self.run(), &tasks)?)
    }

    fn set_graph(self, mut arguments: Arguments) -> Answer {
        let document = arguments.take_text("document");
        let is_given = document.is_some();
        let engine = self.open()?;
        self.place_files(&engine, &mut arguments)?;
        let path = arguments.take_text("path");
        let path = path.map(|path| in_project(&engine, path));
        let mut synced = engine.collab_sync(&GraphSync {
            session: self.meant.run,
            item: arguments.take_text("item"),
            document,
            path: path.clone(),
        })?;
        match &path {
            Some(path) => of_document(&mut synced, path),
            None if is_given => of_document(&mut synced, "document"),
            None => {}
        }
        answer(&synced)
    }
}

/// A path as the engine takes it: from the project's root, also where it was named from the root of the disk.
fn in_project(engine: &Engine, path: String) -> String {
    let below = std::path::Path::new(&path).strip_prefix(engine.root());
    match below.ok().and_then(std::path::Path::to_str) {
        Some(below) => below.to_owned(),
        None => path,
    }
}
