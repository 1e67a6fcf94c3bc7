//! Finding a session of skills, and beginning one.

use journal::layout::{Name, ProjectDir, RunDir, RunStem};
use rails::{Definition, RunState, Shared};
use serde_json::{Map, Value};

use super::complete::same;
use super::{DEFAULT_SESSION, Skills, WORKFLOW, name_of, skill};
use crate::capability::DOCUMENTS;
use crate::conductor::{self, Conductor, read_json};
use crate::engine;
use crate::fault::{Fault, Kind};
use crate::generic::answer::RunStarted;
use crate::generic::begin::Resources;
use crate::generic::session_name;
use crate::integrity::never_began;
use crate::library::{self, Source};
use crate::remembered;

/// How many sessions are named where several could be meant, the newest first.
const MOST_TOLD: usize = 8;

impl Conductor {
    /// The session that is meant, with its run's folder: the one of that name or id; else the only one under way; else the
    /// newest. None where there is none of that name, or none at all.
    pub(super) fn find_skills(&self, session: Option<&str>) -> Result<Option<RunDir>, Fault> {
        let Some(project) = self.stored()? else {
            if let Some(name) = session {
                Name::check("session name", name.trim())?;
            }
            return Ok(None);
        };
        match session {
            Some(named) => find_in(&project, named.trim()),
            None => one_of(&project),
        }
    }

    /// The same, where there has to be one.
    pub(super) fn skills_dir(&self, session: Option<&str>) -> Result<RunDir, Fault> {
        self.find_skills(session)?
            .ok_or_else(|| self.no_session_of_skills(session))
    }

    /// The session that is meant, as it is, without a lock.
    pub(super) fn skills_seen(
        &self,
        session: Option<&str>,
    ) -> Result<(RunDir, Shared<RunState>), Fault> {
        let dir = self.skills_dir(session)?;
        let loaded = engine::load(dir.path())?;
        if loaded.head.seq == 0 {
            return Err(never_began(&dir));
        }
        Ok((dir, loaded.run))
    }

    /// Begins a session of that name, unless somebody else did meanwhile.
    pub(super) fn begin_skills(&self, session: Option<&str>) -> Result<RunDir, Fault> {
        let name = session.map_or(DEFAULT_SESSION, str::trim);
        let (definition, source) = self.startable(WORKFLOW)?;
        RunStem::session(&definition.id.value, name)?;
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        if let Some(dir) = find_in(&project, name)? {
            return Ok(dir);
        }
        if !definition.works_with(DOCUMENTS) {
            return Err(Fault::new(
                Kind::Environment,
                "other_workflow",
                format!("the project's own `{WORKFLOW}` reads no documents of work items"),
            )
            .suggest("give it a state with `expects: design`, as `tm workflow show collab` does"));
        }
        let begun = self.start_skills(&project, name, definition, source, Map::new())?;
        Ok(project.run(&begun.run_id)?)
    }

    /// Begins a session of that name, by a caller who has the project's lock.
    fn start_skills(
        &self,
        project: &ProjectDir,
        name: &str,
        definition: Definition,
        source: Source,
        inputs: Map<String, Value>,
    ) -> Result<RunStarted, Fault> {
        let stem = RunStem::session(&definition.id.value, name)?;
        let resources = Resources {
            skills: Some(Skills::called(name)),
            ..Resources::default()
        };
        self.start_in(project, definition, source, inputs, &stem, resources)
    }

    /// The session in `dir`, or a new one under a free name, where that one is over and `named` is the skill to begin with.
    pub(super) fn another_if_over(&self, dir: RunDir, named: &str) -> Result<RunDir, Fault> {
        let run = engine::load(dir.path())?.run;
        if !run.status.is_over() {
            return Ok(dir);
        }
        // The last skill again is answered as it was; only the first one means another session.
        let pinned = engine::pinned(dir.path(), &run)?;
        let first = skill(&pinned, &pinned.initial.value).unwrap_or(&pinned.initial.value);
        if !same(named, first) {
            return Ok(dir);
        }
        let (definition, source) = self.startable(WORKFLOW)?;
        let project = self.home.project(&self.root)?;
        let _lock = project.lock(self.wait(), &self.command)?;
        // Somebody else may have begun the next one meanwhile.
        if let Some(dir) = one_of(&project)?.filter(goes_on) {
            return Ok(dir);
        }
        let name = free_name(&project)?;
        let begun = self.start_skills(&project, &name, definition, source, Map::new())?;
        Ok(project.run(&begun.run_id)?)
    }

    /// The skill that a session begins with.
    pub(super) fn first_skill(&self) -> Result<String, Fault> {
        let (definition, _) = library::load(&self.root, WORKFLOW)?;
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
        Fault::new(Kind::Missing, "no_session", message)
            .suggest(format!(
                "begin one by completing the skill `{first}`, or by setting its items"
            ))
            .recover(format!("tm collab complete-skill {first}"))
            .expected(first)
    }
}

/// A name that no session has yet.
pub(crate) fn free_name(project: &ProjectDir) -> Result<String, Fault> {
    let mut number = 1;
    loop {
        let name = match number {
            1 => DEFAULT_SESSION.to_owned(),
            number => format!("{DEFAULT_SESSION}-{number}"),
        };
        if find_in(project, &name)?.is_none() {
            return Ok(name);
        }
        number += 1;
    }
}

/// The session of that name or id.
fn find_in(project: &ProjectDir, named: &str) -> Result<Option<RunDir>, Fault> {
    let name = Name::check("session name", named)?;
    let ids = project.runs()?;
    let of_name = |id: &&String| session_name(id) == Some(name.as_str());
    for id in ids.iter().filter(of_name) {
        let dir = project.run(id)?;
        if is_one(&dir)? {
            return Ok(Some(dir));
        }
    }
    if ids.iter().any(|id| id == name.as_str()) {
        let dir = project.run(name.as_str())?;
        if is_one(&dir)? {
            return Ok(Some(dir));
        }
    }
    Ok(None)
}

/// The only session under way, or the newest where none is. A run that cannot be read is passed over: whoever means it names
/// it.
fn one_of(project: &ProjectDir) -> Result<Option<RunDir>, Fault> {
    let mut all = Vec::new();
    for id in project.runs()? {
        let dir = project.run(&id)?;
        if is_one(&dir).unwrap_or(false) {
            all.push(dir);
        }
    }
    let under_way: Vec<&RunDir> = all.iter().filter(|dir| goes_on(dir)).collect();
    match under_way.as_slice() {
        [one] => Ok(Some((*one).clone())),
        [] => Ok(all.into_iter().next()),
        several => {
            let told: Vec<&str> = several
                .iter()
                .take(MOST_TOLD)
                .map(|dir| session_name(dir.id()).unwrap_or(dir.id()))
                .collect();
            let more = match several.len() - told.len() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let message = format!("several sessions are under way: {}{more}", told.join(", "));
            Err(Fault::new(Kind::Usage, "several_sessions", message)
                .suggest("name one with --session")
                .recover(format!("tm collab state --session {}", told[0]))
                .detail("sessions", told))
        }
    }
}

/// Whether a run is a session of skills. A folder whose start was interrupted is none.
fn is_one(dir: &RunDir) -> Result<bool, Fault> {
    if let Some(seen) = remembered::recall(dir.path()) {
        return Ok(name_of(&seen.run).is_some());
    }
    let manifest = read_json(&dir.file("manifest.json"));
    let rails = manifest
        .as_ref()
        .and_then(|manifest| manifest.get("rails")?.as_str());
    if let Some(rails) = rails {
        return Ok(rails == conductor::SKILLS);
    }
    match engine::load(dir.path()) {
        Ok(loaded) => Ok(loaded.head.seq > 0 && name_of(&loaded.run).is_some()),
        // The folder is there before its journal is: a start may be at it right now, or was killed there.
        Err(fault) if fault.code == "journal_missing" => Ok(false),
        Err(fault) => Err(fault),
    }
}

fn goes_on(dir: &RunDir) -> bool {
    let over = read_json(&dir.file("manifest.json"))
        .and_then(|manifest| {
            let status = manifest.get("status")?.as_str()?;
            Some(!matches!(status, "running" | "paused"))
        })
        .unwrap_or(false);
    !over && engine::load(dir.path()).is_ok_and(|loaded| !loaded.run.status.is_over())
}
