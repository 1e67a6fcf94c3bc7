//! Finding a session of skills, and beginning one.

use journal::layout::{Name, ProjectDir, RunDir, RunStem};
use machine::{RunState, Shared};
use serde_json::Map;

use crate::capability::documents::skills::{DEFAULT_SESSION, first_skill};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::find::{self, RunHead, Selector, session_name, standing};
use crate::integrity::never_began;
use crate::library;
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

    /// Begins a session of that name, or of a free one where none is named, unless somebody else did meanwhile.
    pub(crate) fn begin_skills(&self, session: Option<&str>) -> Result<RunDir, Fault> {
        let session = session.map(str::trim);
        let workflow = self.startable_in(&COLLAB, None)?;
        RunStem::session(&workflow.0.id.value, session.unwrap_or(DEFAULT_SESSION))?;
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        let begun = if let Some(name) = session {
            find::called_in(&project, &COLLAB, name)?
        } else {
            let mut runs = standing(&project, Some(&COLLAB))?.into_iter();
            runs.find(RunHead::goes_on).map(|run| run.dir)
        };
        if let Some(dir) = begun {
            return Ok(dir);
        }
        let begun = self.start_in(&project, workflow, Map::new(), session)?;
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
        match first_skill(&pinned) {
            Some(first) if same(named, first) => self.begin_skills(None),
            _ => Ok(dir),
        }
    }

    /// The skill that a session begins with.
    pub(crate) fn first_skill(&self) -> Result<String, Fault> {
        let (definition, _) = library::load(&self.root, COLLAB.workflow)?;
        Ok(first_skill(&definition).unwrap_or_default().to_owned())
    }

    fn no_session_of_skills(&self, session: Option<&str>) -> Fault {
        let named = session.map_or_else(String::new, |name| format!(" `{}`", name.trim()));
        let first = self.first_skill();
        let skill = first.unwrap_or_else(|_| "collab-start".to_owned());
        let project = self.root.display();
        fault!("no_run.session_of_skills", named, project, skill).expected(skill)
    }
}

/// A name that no session has yet.
pub(crate) fn free_name(project: &ProjectDir) -> Result<String, Fault> {
    let ids = project.runs()?;
    let names = (2..).map(|number| format!("{DEFAULT_SESSION}-{number}"));
    let mut names = std::iter::once(DEFAULT_SESSION.to_owned()).chain(names);
    let is_free = |name: &String| ids.iter().all(|id| session_name(id) != Some(name.as_str()));
    let free = names.find(is_free);
    free.ok_or_else(|| Fault::bug("every name of a session is taken"))
}
