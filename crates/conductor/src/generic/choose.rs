//! Which run a call means that names none.

use journal::layout::{LayoutError, ProjectDir, RunDir};

use crate::conductor::{Conductor, Standing, is_named_for_a_task, is_over_a_task, standing};
use crate::engine;
use crate::fault::{Fault, Kind};

/// What a call has in mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// A run that takes reports; a paused one only where there is none.
    Running,
    /// A run that somebody stopped; one that takes reports only where there is none.
    Stopped,
    /// Any that is not over: to choose one of several would be a guess that cannot be taken back.
    NotOver,
}

impl Conductor {
    /// The run that is meant: the one that is named; else the only one that fits; else, where none goes
    /// on, the newest.
    pub(super) fn meant(
        &self,
        run: Option<&str>,
        meant: Meant,
    ) -> Result<(ProjectDir, RunDir), Fault> {
        let Some(project) = self.stored()? else {
            return Err(self.no_run_of_any());
        };
        if let Some(id) = run {
            let dir = named(&project, id)?;
            return Ok((project, dir));
        }
        if self.tag.is_some() {
            // Only runs over a task have a tag.
            let dir = self.present(&project)?;
            return Ok((project, dir));
        }
        let all = standing(&project)?;
        let of = |status: &str| -> Vec<&Standing> {
            all.iter().filter(|run| run.status == status).collect()
        };
        let (running, paused) = (of("running"), of("paused"));
        let candidates = match meant {
            Meant::Running if !running.is_empty() => running,
            Meant::Running => paused,
            Meant::Stopped if !paused.is_empty() => paused,
            Meant::Stopped => running,
            Meant::NotOver => [running, paused].concat(),
        };
        let dir = match candidates.as_slice() {
            [] => all.first().ok_or_else(|| self.no_run_of_any())?,
            [one] => one,
            several => return Err(several_runs(several)),
        }
        .dir
        .clone();
        Ok((project, dir))
    }

    fn no_run_of_any(&self) -> Fault {
        Fault::new(
            Kind::Missing,
            "no_run",
            format!("there is no run in {}", self.root().display()),
        )
        .suggest("begin one with `tm run start WORKFLOW`; `tm workflow list` shows the workflows")
        .recover("tm workflow list")
    }
}

/// The run of that id, or with an id that begins so; else the session of that name, where several had it the newest that
/// goes on.
pub(crate) fn named(project: &ProjectDir, named: &str) -> Result<RunDir, Fault> {
    let fault = match project.find_run(named) {
        Ok(dir) => return Ok(dir),
        Err(error @ (LayoutError::NoRun(_) | LayoutError::AmbiguousRun { .. })) => error,
        Err(error) => return Err(error.into()),
    };
    let (mut newest, mut damaged) = (None, None);
    for id in project.runs()? {
        if session_name(&id) != Some(named) {
            continue;
        }
        let dir = project.run(&id)?;
        // What cannot be read is no reason to pass another one over: whoever is meant by its id is told.
        let Ok(loaded) = engine::load(dir.path()) else {
            if !is_named_for_a_task(&id) {
                damaged.get_or_insert(dir);
            }
            continue;
        };
        if loaded.head.seq == 0 || is_over_a_task(&loaded.run) {
            continue;
        }
        if !loaded.run.status.is_over() {
            return Ok(dir);
        }
        newest.get_or_insert(dir);
    }
    newest.or(damaged).ok_or_else(|| {
        let is_none = matches!(fault, LayoutError::NoRun(_));
        let mut fault = Fault::from(fault);
        if is_none {
            fault.message.push_str(", and no session has that name");
        }
        fault
    })
}

/// What stands in a run's id between workflow and time: of a session, its name; of a run over a task, the task.
pub(crate) fn session_name(id: &str) -> Option<&str> {
    let (stem, _) = id.rsplit_once("__")?;
    Some(stem.split_once("__")?.1)
}

/// How many runs are named where several could be meant, the newest first.
const MOST_TOLD: usize = 8;

fn several_runs(several: &[&Standing]) -> Fault {
    let told: Vec<String> = several
        .iter()
        .take(MOST_TOLD)
        .map(|run| {
            let of = engine::load(run.dir.path()).map_or_else(
                |_| String::new(),
                |loaded| format!(" ({}, {})", loaded.run.workflow, run.status),
            );
            format!("{}{of}", run.dir.id())
        })
        .collect();
    Fault::new(
        Kind::Usage,
        "several_runs",
        format!(
            "several runs could be meant: {}{}",
            told.join(", "),
            match several.len().saturating_sub(MOST_TOLD) {
                0 => String::new(),
                more => format!(", and {more} more"),
            }
        ),
    )
    .suggest("name one with --run-id; the beginning of its id is enough")
    .detail(
        "runs",
        several
            .iter()
            .take(MOST_TOLD)
            .map(|run| run.dir.id())
            .collect::<Vec<_>>(),
    )
}
