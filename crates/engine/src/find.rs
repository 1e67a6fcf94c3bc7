//! Which run a call means: the one that it names, or the one that goes without saying.

use std::path::Path;

use journal::layout::{LAST, LayoutError, ProjectDir, RunDir, is_number, short_name};
use machine::RunState;
use serde_json::Value;
use workspace::git::{in_other_worktrees, is_linked, worktree};
use workspace::tasks::TASKS_FILE;

use crate::capability::memory::Memory;
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::hook::place::{self, Head};
use crate::integrity::{has_begun, never_began};
use crate::next_step::{Argument, NextStep, Verb, argument};
use crate::open_run::{self, Loaded};
use crate::view::{GENERIC, View};

/// What a call has in mind that names no run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selector {
    /// A run that takes reports; a paused one only where there is none.
    Running,
    /// A run that somebody stopped; one that takes reports only where there is none.
    Stopped,
    /// Any that is not over: to choose one of several would be a guess that cannot be taken back.
    NotOver,
}

/// A run that was found, and what was loaded of it on the way.
#[derive(Debug)]
struct LoadedRun {
    dir: RunDir,
    loaded: Option<Loaded>,
}

impl LoadedRun {
    fn goes_on(&self) -> bool {
        self.loaded
            .as_ref()
            .is_some_and(|loaded| !loaded.run.status.is_over())
    }

    fn is_checked_out(&self) -> bool {
        self.loaded.as_ref().is_some_and(is_checked_out)
    }

    /// The run over a task in this folder, in the view of that name where one is meant. One that is damaged is found, too.
    fn in_folder(dir: RunDir, view: Option<&View>) -> Option<Self> {
        match open_run::load(dir.path()) {
            Ok(loaded) if loaded.head.seq > 0 => {
                let fits = is_over_a_task(&loaded.run)
                    && view.is_none_or(|view| View::of(&loaded.run) == view);
                fits.then_some(Self {
                    dir,
                    loaded: Some(loaded),
                })
            }
            Ok(_) => None,
            Err(_) => Some(Self { dir, loaded: None }),
        }
    }
}

impl Engine {
    /// The folder of the run that is meant, in a view; in the generic one any. One that is named is taken by its id, the
    /// beginning of it, or the name of a session. Else it is the only one that fits; else, where none goes on, the newest.
    pub(crate) fn meant(
        &self,
        view: &'static View,
        run: Option<&str>,
        meant: Selector,
    ) -> Result<(ProjectDir, RunDir), Fault> {
        let (project, found) = self.found(view, run, meant)?;
        Ok((project, found.dir))
    }

    /// The same with what it is, without a lock.
    pub(crate) fn load_meant(
        &self,
        view: &'static View,
        run: Option<&str>,
        meant: Selector,
    ) -> Result<(RunDir, Loaded), Fault> {
        let (_, dir, loaded) = self.load_in_project(view, run, meant)?;
        Ok((dir, loaded))
    }

    /// The same with its project.
    pub(crate) fn load_in_project(
        &self,
        view: &'static View,
        run: Option<&str>,
        meant: Selector,
    ) -> Result<(ProjectDir, RunDir, Loaded), Fault> {
        let (project, found) = self.found(view, run, meant)?;
        let loaded = match found.loaded {
            Some(loaded) => loaded,
            None => open_run::load(found.dir.path())?,
        };
        if loaded.head.seq == 0 {
            return Err(never_began(&found.dir));
        }
        Ok((project, found.dir, loaded))
    }

    fn found(
        &self,
        view: &'static View,
        run: Option<&str>,
        meant: Selector,
    ) -> Result<(ProjectDir, LoadedRun), Fault> {
        let Some(project) = self.stored()? else {
            return Err(self.none_of(view));
        };
        let of = view.only();
        if let Some(name) = run {
            let dir = named(&project, view, name)?;
            return Ok((project, in_view(dir, of)?));
        }
        if view.is_of_tasks || self.tag.is_some() {
            // Only runs over a task have a tag.
            let found = self.present_loaded(&project, view)?;
            return Ok((project, found));
        }
        let mut all = standing(&project, of)?;
        let chosen = one_of(&all, view, meant)?.ok_or_else(|| self.none_of(view))?;
        let RunHead { dir, loaded, .. } = all.swap_remove(chosen);
        Ok((project, LoadedRun { dir, loaded }))
    }

    /// The present run over a task: the tag's, if it goes on; else, where no tag is named, another
    /// one that does; else the tag's newest.
    pub(crate) fn present(&self, project: &ProjectDir) -> Result<RunDir, Fault> {
        Ok(self.present_loaded(project, &GENERIC)?.dir)
    }

    fn present_loaded(
        &self,
        project: &ProjectDir,
        view: &'static View,
    ) -> Result<LoadedRun, Fault> {
        let of = view.only();
        if let Some(tag) = &self.tag {
            return newest_of(project, tag, of)?.ok_or_else(|| fault!("no_run.of_tag", tag));
        }
        let tag = workspace::tasks::resolve_tag(&self.root, None)
            .unwrap_or_else(|_| workspace::tasks::DEFAULT_TAG.to_owned());
        let own = match newest_of(project, &tag, of)? {
            Some(own) if own.goes_on() && own.is_checked_out() => return Ok(own),
            own => own,
        };
        let own_goes_on = own.as_ref().is_some_and(LoadedRun::goes_on);
        let mut all = standing(project, of)?;
        all.retain(|run| run.task.is_some());
        let going = || all.iter().enumerate().filter(|(_, run)| run.goes_on());
        // Whoever stands on a run's branch means that run.
        let here = going().find(|(_, run)| run.loaded.as_ref().is_some_and(is_checked_out));
        let meant = match (here, going().next()) {
            (Some((at, _)), _) => Some(at),
            (None, Some((at, _))) if !own_goes_on => Some(at),
            // Where nothing of this tag ever ran, the last of another one is meant.
            (None, None) if own.is_none() && !all.is_empty() => Some(0),
            _ => None,
        };
        if let Some(at) = meant {
            let RunHead { dir, loaded, .. } = all.swap_remove(at);
            return Ok(LoadedRun { dir, loaded });
        }
        own.ok_or_else(|| self.none_of(view))
    }

    /// A run that goes on in this project, whose view is no view of its own.
    fn going_in_another_view(&self) -> Option<RunHead> {
        let project = self.stored().ok().flatten()?;
        let all = standing(&project, Some(&GENERIC)).ok()?;
        all.into_iter().find(RunHead::goes_on)
    }

    /// That there is no run in the view at all.
    pub(crate) fn none_of(&self, view: &'static View) -> Fault {
        let (noun, project) = (view.noun, self.root().display());
        if let Some(other) = self.going_in_another_view() {
            let (run, workflow) = (other.dir.id(), other.workflow().unwrap_or_default());
            return fault!("no_run.but_another", noun, project, run, workflow);
        }
        let fault = fault!("no_run.at_all", noun, project);
        // Without a repository nothing says where a project begins.
        let of = view.only();
        let has_runs = |folder: &Path, fits: fn(&RunHead) -> bool| {
            let project = self.home.find_project(folder).ok().flatten();
            let runs = project.and_then(|project| standing(&project, of).ok());
            runs.is_some_and(|runs| runs.iter().any(fits))
        };
        // Around a linked worktree lies another checkout.
        let tree = worktree(self.root()).filter(|tree| is_linked(tree));
        let mut above = self.root().ancestors().skip(1);
        let above = above
            .find(|folder| {
                tree.is_none_or(|tree| folder.starts_with(tree)) && has_runs(folder, |_| true)
            })
            .map(|folder| (folder.to_owned(), String::new()));
        let beside = || {
            let mut others = in_other_worktrees(self.root()).into_iter();
            let other = others.find(|folder| has_runs(folder, RunHead::goes_on))?;
            Some((other, format!("; or begin one here: {}", view.begin.1)))
        };
        match above.or_else(beside) {
            Some((folder, or)) => fault
                .suggest(format!(
                    "there are some in {}: go there, or name it with {}{or}",
                    folder.display(),
                    Argument("projectRoot")
                ))
                .recover(
                    Verb::Next
                        .step()
                        .with("projectRoot", folder.display().to_string()),
                ),
            // A server that was started anywhere stands in no project.
            None if self.root().parent().is_none() => fault.suggest(concat!(
                "this is no project: name the folder of yours with ",
                argument!("projectRoot")
            )),
            None if self.home.moved_projects().is_ok_and(|moved| !moved.is_empty()) => fault
                .suggest(format!(
                    "{}; runs of a project that was moved are taken over with `tm doctor --adopt`, and `tm doctor` lists those",
                    view.begin.0
                ))
                .recover(view.begin.1),
            None if view.is_of_tasks && !self.root().join(TASKS_FILE).is_file() => fault
                .suggest("begin one; without a tasks file its task stands on the command line")
                .recover(NextStep::start_without_tasks()),
            None => fault.suggest(view.begin.0).recover(view.begin.1),
        }
    }
}

/// The run that a name means.
pub(crate) fn named(
    project: &ProjectDir,
    view: &'static View,
    name: &str,
) -> Result<RunDir, Fault> {
    let name = name.trim();
    let found = match called(project, view, name)? {
        // One of another view is told to be that.
        None if view.only().is_some() => called(project, &GENERIC, name)?,
        own => own,
    };
    match found {
        Some(dir) => Ok(dir),
        None if is_number(name) => Err(fault!("no_run.numbered", name)),
        None => match project.find_run(name) {
            Err(LayoutError::NoRun(_)) => {
                let short = by_short_name(project, view, name)?;
                short.ok_or_else(|| fault!("no_run.named", name))
            }
            found => Ok(found?),
        },
    }
}

/// The run of the view's that began last, of all or of the task with this id.
fn by_short_name(
    project: &ProjectDir,
    view: &'static View,
    name: &str,
) -> Result<Option<RunDir>, Fault> {
    let is_meant = |run: &RunHead| name == LAST || run.task.as_deref() == Some(name);
    let found = standing(project, view.only())?.into_iter().find(is_meant);
    Ok(found.map(|run| run.dir))
}

/// The run of the view's that has this name or whole id, where there is one.
pub(crate) fn called_in(
    project: &ProjectDir,
    view: &'static View,
    name: &str,
) -> Result<Option<RunDir>, Fault> {
    let found = called(project, view, name)?;
    if let Some(dir) = &found {
        in_view(dir.clone(), Some(view))?;
    }
    Ok(found)
}

/// The run with that id, or the session of that name: of several the one that goes on, or else the newest.
fn called(project: &ProjectDir, view: &'static View, name: &str) -> Result<Option<RunDir>, Fault> {
    let name = journal::layout::Name::check(view.name_of, name)?;
    let name = name.as_str();
    if let Some(run) = project.run_of_id(name) {
        return Ok(Some(run));
    }
    if is_number(name) {
        return Ok(project.run_of_number(name)?);
    }
    let of = view.only();
    let mut of_name = Vec::new();
    let ids = project.runs()?;
    for id in ids.iter().filter(|id| session_name(id) == Some(name)) {
        let run = RunHead::of(project.run(id)?, of);
        of_name.extend(run.filter(|run| run.task.is_none()));
    }
    let chosen = one_of(&of_name, view, Selector::NotOver)?;
    Ok(chosen.map(|at| of_name.swap_remove(at).dir))
}

/// The run in this folder, unless it is made for another view.
fn in_view(dir: RunDir, view: Option<&View>) -> Result<LoadedRun, Fault> {
    // What cannot be read is complained of by whoever reads it.
    let loaded = open_run::load(dir.path()).ok();
    if let (Some(loaded), Some(view)) = (&loaded, view)
        && loaded.head.seq > 0
        && View::of(&loaded.run) != view
        // One that has all that is spoken of there can be told in its words.
        && !open_run::pinned(dir.path(), &loaded.run).is_ok_and(|known| view.can_tell(&known))
    {
        let run = &loaded.run;
        return Err(fault!(
            "other_workflow.in_view",
            run = dir.id(),
            workflow = run.workflow,
            own = View::of(run).name,
            view = view.name
        ));
    }
    Ok(LoadedRun { dir, loaded })
}

/// Where in the list, which has the newest first, the one stands that is meant; none where there are none.
fn one_of(all: &[RunHead], view: &'static View, meant: Selector) -> Result<Option<usize>, Fault> {
    let of = |status: &str| -> Vec<usize> {
        let fits = |(at, run): (usize, &RunHead)| (run.status == status).then_some(at);
        all.iter().enumerate().filter_map(fits).collect()
    };
    let (running, paused) = (of("running"), of("paused"));
    // Who names a session by its kind means any that is under way.
    let meant = if view.only().is_none() {
        meant
    } else {
        Selector::NotOver
    };
    let candidates = match meant {
        Selector::Running if !running.is_empty() => running,
        Selector::Running => paused,
        Selector::Stopped if !paused.is_empty() => paused,
        Selector::Stopped => running,
        Selector::NotOver => [running, paused].concat(),
    };
    match candidates.as_slice() {
        // What was done last was done to the run that ended last; of several the newest.
        [] => Ok((0..all.len()).rev().max_by_key(|at| &all[*at].ended)),
        [one] => Ok(Some(*one)),
        several => {
            let several: Vec<&RunHead> = several.iter().map(|at| &all[*at]).collect();
            Err(several_runs(&several, view))
        }
    }
}

/// How many runs are named where several could be meant, the newest first.
const MOST_NAMED: usize = 8;

/// That several runs could be meant.
pub(crate) fn several_runs(several: &[&RunHead], view: &View) -> Fault {
    let few = || several.iter().take(MOST_NAMED);
    let described: Vec<String> = few()
        .map(|run| match &run.loaded {
            Some(loaded) => {
                let (id, workflow) = (run.dir.id(), &loaded.run.workflow);
                let own = session_name(id).unwrap_or(workflow);
                format!("{} ({own}, {})", short_name(id), run.status)
            }
            None => short_name(run.dir.id()),
        })
        .collect();
    let more = match several.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let ids: Vec<&str> = few().map(|run| run.dir.id()).collect();
    let (noun, runs, first) = (view.noun, described.join(", "), ids[0]);
    fault!("several_runs", noun, runs, more, first).detail("runs", ids)
}

/// What stands in a run's id between workflow and time: of a session, its name; of a run over a task, the task.
pub fn session_name(id: &str) -> Option<&str> {
    let (stem, _) = id.rsplit_once("__")?;
    Some(stem.split_once("__")?.1)
}

/// The newest run of a tag: by the tag's pointer, or by looking through the runs where the pointer is gone.
fn newest_of(
    project: &ProjectDir,
    tag: &str,
    view: Option<&View>,
) -> Result<Option<LoadedRun>, Fault> {
    if let Some(dir) = project.find_tag(tag)?
        && let Some(pointer) = read_json(&dir.current_run_path())
        && let Some(id) = pointer.get("runId").and_then(Value::as_str)
        && let Ok(run) = project.run(id)
        && (run.journal_path().exists() || has_begun(run.path()))
        && let Some(found) = LoadedRun::in_folder(run, view)
    {
        return Ok(Some(found));
    }
    let prefix = format!("{tag}__task-");
    for id in project.runs()? {
        if id.starts_with(&prefix)
            && let Some(found) = LoadedRun::in_folder(project.run(&id)?, view)
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A run that has begun, as far as it is known without reading more than is needed.
#[derive(Debug)]
pub(crate) struct RunHead {
    pub(crate) dir: RunDir,
    /// `damaged` where it cannot be read.
    pub(crate) status: String,
    /// None where nothing is left that says it.
    pub(crate) view: Option<&'static View>,
    /// Its task, where it is over one; empty if it cannot be read any more.
    pub(crate) task: Option<String>,
    /// When it ended, where it did.
    ended: Option<String>,
    /// What it is, where that had to be looked into.
    pub(crate) loaded: Option<Loaded>,
}

impl RunHead {
    /// The run in this folder, if it has begun and is of the view. What of it may be kept is looked for only where the manifest
    /// does not say that it is over.
    fn of(dir: RunDir, view: Option<&View>) -> Option<Self> {
        let manifest = read_json(&dir.file("manifest.json"));
        let part = |name: &str| {
            let manifest = manifest.as_ref()?;
            manifest.get(name)?.as_str().map(str::to_owned)
        };
        let own = part("view").map(|name| View::named(&name));
        let is_other =
            |own: Option<&View>| view.is_some_and(|view| own.is_some_and(|own| own != view));
        if is_other(own) {
            return None;
        }
        // What broke down may be taken up again. A run that reached any other end is over for good.
        let over = part("status")
            .filter(|status| !matches!(status.as_str(), "running" | "paused" | "error"));
        if let (Some(status), Some(task), Some(_)) = (over, part("taskId"), own) {
            return Some(Self {
                dir,
                status,
                view: own,
                task: Some(task).filter(|task| !task.is_empty()),
                ended: part("endTime"),
                loaded: None,
            });
        }
        match open_run::load(dir.path()) {
            Ok(loaded) if loaded.head.seq == 0 || is_other(Some(View::of(&loaded.run))) => None,
            Ok(loaded) => Some(Self {
                dir,
                status: loaded.run.status.name().to_owned(),
                view: Some(View::of(&loaded.run)),
                task: is_over_a_task(&loaded.run).then(|| task_of(&loaded.run)),
                ended: loaded.run.ended_at.clone(),
                loaded: Some(loaded),
            }),
            // The folder is there before its journal is: a start may be at it right now, or was killed there.
            Err(fault) if fault.code == "no_run" => None,
            Err(_) => {
                // Whose id it is tells what it was over.
                // Of a run that cannot be read its id is all there is.
                let of_a_task = dir.id().contains("__task-");
                let is_of_view =
                    own.is_some() || view.is_none_or(|view| view.is_of_tasks == of_a_task);
                is_of_view.then(|| Self {
                    status: "damaged".to_owned(),
                    view: own,
                    task: of_a_task.then(String::new),
                    ended: None,
                    loaded: None,
                    dir,
                })
            }
        }
    }

    /// The workflow it is of, where that was looked into.
    fn workflow(&self) -> Option<&str> {
        Some(self.loaded.as_ref()?.run.workflow.as_str())
    }

    /// Whether it runs or is paused.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(self.status.as_str(), "running" | "paused")
    }
}

/// All runs of a view that have begun, or of any, the newest first.
pub(crate) fn standing(project: &ProjectDir, view: Option<&View>) -> Result<Vec<RunHead>, Fault> {
    let mut all = Vec::new();
    for id in project.runs()? {
        all.extend(RunHead::of(project.run(&id)?, view));
    }
    Ok(all)
}

/// All runs over a task that have begun, the newest first.
pub(crate) fn over_tasks(project: &ProjectDir) -> Result<Vec<RunHead>, Fault> {
    let all = standing(project, None)?.into_iter();
    Ok(all.filter(|run| run.task.is_some()).collect())
}

/// Whether a run is over a task, on a branch.
pub(crate) fn is_over_a_task(run: &RunState) -> bool {
    crate::capability::memory::START.is_in(&run.kept)
}

/// Whether the branch of a run over a task is the one that stands in its working tree.
fn is_checked_out(loaded: &Loaded) -> bool {
    Memory::of(&loaded.run).is_ok_and(|memory| {
        let head = place::head(&memory.start.git_dir);
        head == Head::Branch(memory.start.branch)
    })
}

fn task_of(run: &RunState) -> String {
    crate::capability::memory::START
        .value(&run.kept)
        .and_then(|start| start.get("taskId")?.as_str())
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&journal::durable::read(path).ok()?).ok()
}
