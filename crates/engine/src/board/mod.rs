//! What a person sees who looks at runs from outside: which there are, what waits for a decision, what is stuck and why; of one
//! run its items, its drawing, and what happened in it, a page at a time.
//!
//! Nothing is decided here, and nothing is said here that another answer says in other words: this puts together what is there.

mod attention;
mod choices;
mod decision;
mod files;
mod items;
mod patch;
mod timeline;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use journal::layout::{ProjectDir, RunDir};
use machine::RunState;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::action::Action;
use crate::action::status::CurrentState;
use crate::capability::messages::message_of;
use crate::capability::tests::evidence::OUTPUT;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::open_run;
use crate::refusals::{self, Refused};
use crate::revision;
use crate::runs::{self, RunSummary};
use crate::view::GENERIC;

pub use attention::{Attention, AttentionKind};
pub use choices::{Choices, Outcome, PassableRule, PersonReport};
pub use decision::{Deed, SeenDecision, code_to_type_back};
pub use files::FileText;
pub(crate) use items::sets;
pub use items::{BoardItem, BoardSet};
pub use patch::CommitPatch;
pub use timeline::{TimelineEntry, TimelinePage};

/// The projects that a person looks at.
pub trait Projects: Send + Sync + 'static {
    /// Opens those that are offered.
    ///
    /// # Errors
    /// If none can be opened.
    fn all(&self) -> Result<Vec<Engine>, Fault>;

    /// Opens the project in this folder, if it is one of them.
    ///
    /// # Errors
    /// If it is not, or cannot be opened.
    fn open(&self, root: &Path) -> Result<Engine, Fault>;

    /// A text of the engine about a run, with the steps that it names as commands.
    fn spelled(&self, text: &str, run: Option<&str>) -> String;
}

/// The runs of several projects, as a person looks at them: those that wait for one first, then those that are under way, then
/// the newest.
pub fn runs_of(projects: &[Engine]) -> Result<Vec<BoardRun>, Fault> {
    let mut all = Vec::new();
    for engine in projects {
        let Some(project) = engine.stored()? else {
            continue;
        };
        all.extend(engine.board_runs_in(&project)?);
    }
    all.sort_by(|a, b| {
        b.urgency()
            .cmp(&a.urgency())
            .then_with(|| b.run.start_time.cmp(&a.run.start_time))
            .then_with(|| b.run.run_id.cmp(&a.run.run_id))
    });
    Ok(all)
}

/// How runs stand together, in a few words.
pub fn stand_together(runs: &[BoardRun]) -> String {
    let (mut for_you, mut odd, mut going) = (0, 0, 0);
    for run in runs.iter().filter(|run| run.is_live()) {
        match &run.attention {
            Some(attention) if attention.kind.is_for_a_person() => for_you += 1,
            Some(_) => odd += 1,
            None => going += 1,
        }
    }
    let more = match odd {
        0 => String::new(),
        odd => format!(", {odd} paused, stuck or silent"),
    };
    format!("{for_you} for you, {going} under way{more}")
}

/// A run as a person looks at it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardRun {
    /// What every list says of it.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Where it stands: the labels of its states, each with its item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// When it last moved, UTC.
    pub last_updated: String,
    /// What a person should look at, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<Attention>,
    /// What was refused of what is asked for now, where that is not what a person should look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedWork>,
    /// What the command printed whose report was not accepted last, as far as it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What was refused of the work that a run waits for.
#[derive(Debug, Clone, Serialize)]
pub struct RefusedWork {
    /// How often, since the run last moved.
    pub times: usize,
    /// The code of the last refusal.
    pub code: String,
    /// What it said.
    pub message: String,
    /// When it was, UTC.
    pub at: String,
}

impl RefusedWork {
    /// How often it was refused, in words.
    pub fn times(&self) -> String {
        match self.times {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        }
    }

    fn of(refused: &[Refused]) -> Option<Self> {
        let last = refused.last()?;
        Some(Self {
            times: refused.len(),
            code: last.code.clone(),
            message: last.message.clone(),
            at: last.ts.clone(),
        })
    }
}

/// Runs as this process saw them last: of a thousand most are over, and of the others one moves at a time.
static SEEN: Mutex<Option<HashMap<PathBuf, Seen>>> = Mutex::new(None);
/// For how long a run that goes on is taken to be as it was, where nothing came of it: that it is silent, or a file of it was
/// changed, no event tells.
const FRESH: Duration = Duration::from_secs(30);
/// From so many runs on they are read side by side.
const MANY: usize = 32;

/// A run as it was seen.
#[derive(Debug)]
struct Seen {
    /// What its files looked like.
    revision: u64,
    at: Instant,
    run: BoardRun,
}

impl Engine {
    /// One run, as a person looks at it.
    pub fn board_run(&self, run: Option<&str>) -> Result<BoardRun, Fault> {
        let (project, dir) = self.looked_at(run)?;
        self.board_run_in(&project, dir.id())
    }

    /// What a run was started with.
    pub fn run_inputs(&self, run: Option<&str>) -> Result<Map<String, Value>, Fault> {
        let (_, loaded) = self.load_any(run)?;
        Ok(loaded.run.inputs.clone())
    }

    /// What is to be done now; where that cannot be told in full, as far as its status tells it.
    pub fn run_action(&self, run: Option<&str>) -> Result<Action, Fault> {
        self.next(&GENERIC, run, false)
            .or_else(|_| self.status(&GENERIC, run).map(|status| status.next_action))
    }

    /// The runs of a project, in no order.
    fn board_runs_in(&self, project: &ProjectDir) -> Result<Vec<BoardRun>, Fault> {
        let ids = project.runs()?;
        let read = |ids: &[String]| -> Result<Vec<BoardRun>, Fault> {
            ids.iter()
                .map(|id| self.board_run_in(project, id))
                .collect()
        };
        let readers = std::thread::available_parallelism().map_or(1, usize::from);
        if ids.len() < MANY || readers < 2 {
            return read(&ids);
        }
        std::thread::scope(|scope| {
            let parts = ids.chunks(ids.len().div_ceil(readers));
            let parts: Vec<_> = parts.map(|part| scope.spawn(|| read(part))).collect();
            let mut all = Vec::new();
            for part in parts {
                let part = part.join();
                all.extend(part.map_err(|_| Fault::bug("a list of runs was not read"))??);
            }
            Ok(all)
        })
    }

    fn board_run_in(&self, project: &ProjectDir, id: &str) -> Result<BoardRun, Fault> {
        let dir = project.run(id)?;
        let revision = revision::of_run(dir.path());
        if let Some(known) = seen(dir.path(), revision) {
            return Ok(known);
        }
        let run = self.board_run_now(project, &dir);
        remember(dir.path(), revision, &run);
        Ok(run)
    }

    fn board_run_now(&self, project: &ProjectDir, dir: &RunDir) -> BoardRun {
        let loaded = open_run::load(dir.path());
        let run = runs::summary_of(dir, project, loaded.as_ref());
        let state = loaded.as_ref().ok().map(|loaded| &*loaded.run);
        let mut seen = BoardRun {
            last_updated: run
                .end_time
                .clone()
                .unwrap_or_else(|| run.start_time.clone()),
            run,
            places: Vec::new(),
            attention: None,
            refused: None,
            output: None,
        };
        if seen.run.problem.is_some() {
            seen.attention = Some(Attention::of_problem(&seen.run));
            return seen;
        }
        if !seen.is_live() {
            seen.attention = Attention::of_end(&seen.run);
            return seen;
        }
        let status = loaded.as_ref().map_err(Fault::clone);
        let status = status.and_then(|loaded| self.status_of(&GENERIC, dir, &loaded.run));
        match status {
            Ok(status) => {
                seen.places = places(&status.states);
                seen.last_updated.clone_from(&status.last_updated);
                let now = self.clock.millis();
                let suite = status.suite.as_ref();
                seen.places.extend(suite.map(|suite| suite.told(now)));
                let last = state.and_then(last_found);
                let refused = state.map(|run| refusals::latest(dir.path(), run));
                let refused = refused.unwrap_or_default();
                seen.attention = Attention::of_live(&status, &refused, last.as_deref(), now);
                let is_told = |told: &Attention| told.kind == AttentionKind::Stuck;
                if status.next_action.unit.is_some()
                    && !seen.attention.as_ref().is_some_and(is_told)
                {
                    seen.refused = RefusedWork::of(&refused);
                }
                seen.output = state.and_then(last_output);
            }
            // It can be listed all the same, and says why no more can be said.
            // Nothing more can be said of it.
            Err(fault) => {
                seen.attention = Some(Attention::new(AttentionKind::Damaged, fault.message));
            }
        }
        seen
    }
}

impl BoardRun {
    /// What it is about, for people.
    pub fn title(&self) -> &str {
        self.run.title()
    }

    /// How it stands in a word, or two: what a person should look at says more than that it goes on.
    pub fn standing(&self) -> &str {
        match &self.attention {
            Some(attention) if self.is_live() => attention.kind.word(),
            _ => &self.run.status,
        }
    }

    /// How it stands, in a few words.
    pub fn stands(&self) -> String {
        match self.places.as_slice() {
            [] => self.standing().to_owned(),
            places => format!("{}: {}", self.standing(), places.join(", ")),
        }
    }

    /// Whether it goes on.
    pub fn is_live(&self) -> bool {
        matches!(self.run.status.as_str(), "running" | "paused")
    }

    /// Whether all these words are somewhere in what is said of it, in whatever case.
    pub fn has(&self, words: &str) -> bool {
        let run = &self.run;
        let said = [
            self.title(),
            &run.run_id,
            &run.task_title,
            &run.task_id,
            &run.workflow,
            &run.branch,
            &run.status,
            &run.project_root,
        ];
        let said = said.map(str::to_lowercase).join("\n");
        let mut words = words.split_whitespace();
        words.all(|word| said.contains(&word.to_lowercase()))
    }

    /// How soon a person should look at it.
    fn urgency(&self) -> u8 {
        let live = self.is_live();
        match &self.attention {
            Some(attention) if attention.kind.is_for_a_person() => 3,
            Some(_) if live => 2,
            _ if live => 1,
            _ => 0,
        }
    }
}

/// What was found in the last report, where it was not accepted.
fn last_found(state: &RunState) -> Option<String> {
    let report = state.last.as_ref()?;
    let code = report.code.as_deref()?;
    Some(message_of(report, code))
}

/// What was printed then.
fn last_output(state: &RunState) -> Option<String> {
    let report = state.last.as_ref().filter(|last| last.code.is_some())?;
    Some(report.facts.get(OUTPUT)?.as_str()?.to_owned())
}

/// Where a run stands, for people; nothing of the `each` around an item.
fn places(states: &[CurrentState]) -> Vec<String> {
    let of_items = states.iter().any(|state| state.item.is_some());
    states
        .iter()
        .filter(|state| !of_items || state.item.is_some())
        .map(|state| {
            let label = state.label.as_ref().unwrap_or(&state.state);
            match &state.item {
                Some(item) => format!("{label} of {item}"),
                None => label.clone(),
            }
        })
        .collect()
}

fn seen(dir: &Path, revision: u64) -> Option<BoardRun> {
    let all = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = all.as_ref()?.get(dir)?;
    // What a run is listed with as a problem may lie in other files, too, and is looked for anew.
    let is_readable = seen.run.run.problem.is_none();
    let is_so = seen.revision == revision
        && is_readable
        && (!seen.run.is_live() || seen.at.elapsed() < FRESH);
    is_so.then(|| seen.run.clone())
}

fn remember(dir: &Path, revision: u64, run: &BoardRun) {
    let seen = Seen {
        revision,
        at: Instant::now(),
        run: run.clone(),
    };
    let mut all = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().insert(dir.to_owned(), seen);
}
