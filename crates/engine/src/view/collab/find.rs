//! Finding a session of skills, and beginning one.

use journal::layout::{Name, ProjectDir, RunDir, RunStem};
use machine::{RunState, Shared};
use serde_json::Map;

use crate::capability::documents::skills::{DEFAULT_SESSION, skill};
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::find::{self, RunHead, Selector, session_name, standing};
use crate::integrity::never_began;
use crate::library;
use crate::next_step::Verb;
use crate::open_run;
use crate::view::COLLAB;
use crate::view::collab::complete::same;

impl Engine {
    /// The session that is meant, with its run's folder: the one of that name or id; else the only one under way; else the
    /// newest. None where there is none of that name, or none at all.
    pub(crate) fn find_skills(&self, session: Option<&str>) -> Result<Option<RunDir>, Fault> {
        match (self.stored()?, session) {
            (Some(project), Some(named)) => find::called_in(&project, &COLLAB, named.trim()),
            (None, Some(named)) => Name::check(COLLAB.name_of, named.trim())
                .map(|_| None)
                .map_err(Fault::from),
            (_, None) => match self.meant(&COLLAB, None, Selector::NotOver) {
                Err(fault) if fault.code == "no_run" => Ok(None),
                found => found.map(|(_, dir)| Some(dir)),
            },
        }
    }

    /// The same, where there has to be one.
    pub(crate) fn skills_dir(&self, session: Option<&str>) -> Result<RunDir, Fault> {
        self.find_skills(session)?
            .ok_or_else(|| self.no_session_of_skills(session))
    }

    /// The session that is meant, as it is, without a lock.
    pub(crate) fn skills_seen(
        &self,
        session: Option<&str>,
    ) -> Result<(RunDir, Shared<RunState>), Fault> {
        let dir = self.skills_dir(session)?;
        let loaded = open_run::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(&dir));
        }
        Ok((dir, loaded.run))
    }

    /// Begins a session of that name, unless somebody else did meanwhile.
    pub(crate) fn begin_skills(&self, session: Option<&str>) -> Result<RunDir, Fault> {
        let name = session.map_or(DEFAULT_SESSION, str::trim);
        let workflow = self.startable_in(&COLLAB, None)?;
        RunStem::session(&workflow.0.id.value, name)?;
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        if let Some(dir) = find::called_in(&project, &COLLAB, name)? {
            return Ok(dir);
        }
        let begun = self.start_in(&project, workflow, Map::new(), Some(name))?;
        Ok(project.run(&begun.run_id)?)
    }

    /// The session in `dir`, or a new one under a free name, where that one is over and `named` is the skill to begin with.
    pub(crate) fn another_if_over(&self, dir: RunDir, named: &str) -> Result<RunDir, Fault> {
        let run = open_run::load(dir.path())?.run;
        if !run.status.is_over() {
            return Ok(dir);
        }
        // The last skill again is answered as it was; only the first one means another session.
        let pinned = open_run::pinned(dir.path(), &run)?;
        let first = skill(&pinned, &pinned.initial.value).unwrap_or(&pinned.initial.value);
        if !same(named, first) {
            return Ok(dir);
        }
        let workflow = self.startable_in(&COLLAB, None)?;
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        // Somebody else may have begun the next one meanwhile.
        if let Some(run) = standing(&project, Some(&COLLAB))?
            .into_iter()
            .find(RunHead::goes_on)
        {
            return Ok(run.dir);
        }
        let begun = self.start_in(&project, workflow, Map::new(), None)?;
        Ok(project.run(&begun.run_id)?)
    }

    /// The skill that a session begins with.
    pub(crate) fn first_skill(&self) -> Result<String, Fault> {
        let (definition, _) = library::load(&self.root, COLLAB.workflow)?;
        let initial = &definition.initial.value;
        Ok(skill(&definition, initial).unwrap_or(initial).to_owned())
    }

    fn no_session_of_skills(&self, session: Option<&str>) -> Fault {
        let message = match session {
            Some(name) => format!(
                "there is no session `{}` in {}",
                name.trim(),
                self.root.display()
            ),
            None => format!("there is no session of skills in {}", self.root.display()),
        };
        let first = self
            .first_skill()
            .unwrap_or_else(|_| "collab-start".to_owned());
        Fault::new(Kind::Missing, "no_run", message)
            .suggest(format!(
                "begin one by completing the skill `{first}`, or by setting its items"
            ))
            .recover(Verb::Report.step().with("skill", &first))
            .expected(first)
    }
}

/// A name that no session has yet.
pub(crate) fn free_name(project: &ProjectDir) -> Result<String, Fault> {
    let ids = project.runs()?;
    let mut number = 1;
    loop {
        let name = match number {
            1 => DEFAULT_SESSION.to_owned(),
            number => format!("{DEFAULT_SESSION}-{number}"),
        };
        let taken = |id: &String| session_name(id) == Some(name.as_str());
        if !ids.iter().any(taken) {
            return Ok(name);
        }
        number += 1;
    }
}
