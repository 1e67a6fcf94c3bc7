//! A project with sessions of skills in it.

use engine::Turn;
use engine::view::GENERIC;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use engine::clock::Clock;
use engine::view::collab::answer::{
    SessionBrief, SessionState, SkillAnswer, SyncAnswer, TaskGraph, UpdateAnswer,
};
use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault};
use journal::Record;
use serde::Serialize;
use serde_json::{Value, json};

/// A task graph of two waves.
pub const TWO_WAVES: &str = "tasks:
  - id: types
    files: [src/types.rs]
  - id: machine
    files: [src/machine.rs]
    depends-on: [types]
";

/// A design with one item.
pub const DESIGN: &str = "### Item 1: One\n**Type:** code\n";

/// A clock that stands still until it is told to go on.
#[derive(Debug)]
struct Told(AtomicI64);

impl Clock for Told {
    fn millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A project in folders of its own.
pub struct Stage {
    folder: tempfile::TempDir,
    clock: Arc<Told>,
    pub session: Option<String>,
    /// Where runs are kept, below the folder.
    pub store: String,
    /// Folder of the run, once it was asked for.
    dir: OnceLock<PathBuf>,
}

impl Stage {
    /// A project without any session; calls name none.
    pub fn bare() -> Self {
        let folder = testkit::folder();
        fs::create_dir_all(folder.path().join("project/.taskmaster")).unwrap();
        Self {
            folder,
            clock: Arc::new(Told(AtomicI64::new(1_767_225_600_000))),
            session: None,
            store: "store".to_owned(),
            dir: OnceLock::new(),
        }
    }

    /// A session that has begun.
    pub fn begun() -> Self {
        let stage = Self::bare();
        stage.done("collab-start");
        stage
    }

    /// A session that was begun, and has these items.
    pub fn with(items: &Value) -> Self {
        let stage = Self::begun();
        stage.set_items(items);
        stage
    }

    /// A session with as many items, numbered from 1: their types, and what they depend on.
    pub fn needing(items: &[(&str, &[u64])]) -> Self {
        Self::with(&items_of(items))
    }

    /// A session with as many items of these types, numbered from 1.
    pub fn of(types: &[&str]) -> Self {
        let items: Vec<(&str, &[u64])> = types.iter().map(|kind| (*kind, &[][..])).collect();
        Self::needing(&items)
    }

    /// A session with items of these types, at the graph of the first one that has one.
    pub fn at_graph(types: &[&str]) -> Self {
        let stage = Self::of(types);
        stage.until("build-task-graph");
        stage
    }

    /// A session of one code item whose graph is `graph`, and which executes its first batch.
    pub fn executing(graph: &str) -> Self {
        let stage = Self::at_graph(&["code"]);
        stage.synced(graph);
        stage.until("execute-batch");
        stage
    }

    /// A session of one code item, which executes a batch of as many tasks, `task-0` and on.
    pub fn executing_many(count: usize) -> Self {
        let tasks = (0..count).map(|at| format!("  - id: task-{at}\n    files: [src/{at}.rs]\n"));
        Self::executing(&format!("tasks:\n{}", tasks.collect::<String>()))
    }

    /// The same project, where calls name this session.
    pub fn named(mut self, session: &str) -> Self {
        self.session = Some(session.to_owned());
        self.dir = OnceLock::new();
        self
    }

    /// Takes a turn of the session, which is the only one.
    pub fn turn(&self, turn: &Turn<'_>) {
        self.engine().turn(&GENERIC, None, turn).unwrap();
    }

    pub fn engine(&self) -> Engine {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        crate::engine(self.around(), &self.store).with_clock(clock)
    }

    /// Lets time pass.
    pub fn pass(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
    }

    /// Completes a skill, whatever comes of it.
    pub fn complete(&self, skill: &str, unit: Option<&str>) -> Result<SkillAnswer, Fault> {
        self.engine().complete_skill(&SkillDone {
            session: self.session.clone(),
            skill: skill.to_owned(),
            unit_id: unit.map(str::to_owned),
        })
    }

    /// Completes a skill that is accepted, with its draft written.
    #[track_caller]
    pub fn done(&self, skill: &str) -> SkillAnswer {
        let needs_none = ["collab-clear", "executing-plans"].contains(&skill);
        if !needs_none && let Ok(brief) = self.engine().collab_brief(self.session.as_deref()) {
            testkit::write_draft(&json!(brief));
        }
        let answer = self.complete(skill, None).unwrap();
        // Of two items in a row that take the same skill, the second one has to be named.
        if answer.verdict.code.as_deref() == Some("which_one") {
            return accepted(self.complete(skill, answer.unit_id.as_deref()).unwrap());
        }
        accepted(answer)
    }

    /// What is refused with `code` moves nothing, and says what is wrong and what to do.
    #[track_caller]
    pub fn unmoved<A: Serialize>(&self, code: &str, call: impl FnOnce() -> A) -> A {
        let before = self.files();
        let answer = call();
        says_why(code, &answer);
        self.is_as(&before);
        answer
    }

    /// Completes a skill that is refused with `code`.
    #[track_caller]
    pub fn refused(&self, skill: &str, code: &str) -> SkillAnswer {
        self.unmoved(code, || self.complete(skill, None).unwrap())
    }

    /// Sets fields, whatever comes of it.
    pub fn update(&self, fields: &Value) -> Result<UpdateAnswer, Fault> {
        self.engine().collab_update(&SessionUpdate {
            session: self.session.clone(),
            fields: fields.as_object().unwrap().clone(),
        })
    }

    /// Sets fields.
    #[track_caller]
    pub fn set(&self, fields: &Value) -> UpdateAnswer {
        let updated = self.update(fields).unwrap();
        assert!(updated.verdict.validated, "{fields}: {updated:?}");
        updated
    }

    /// Sets the items.
    #[track_caller]
    pub fn set_items(&self, items: &Value) -> UpdateAnswer {
        self.set(&json!({ "workItems": items }))
    }

    /// Says of tasks what they came to: `failed!` is one that is skipped.
    pub fn tell(&self, tasks: &[(&str, &str)]) -> UpdateAnswer {
        let update = |(id, status): &(&str, &str)| TaskUpdate {
            id: (*id).to_owned(),
            status: status.trim_end_matches('!').to_owned(),
            outcome: status.ends_with('!').then(|| "failed".to_owned()),
        };
        let updates: Vec<TaskUpdate> = tasks.iter().map(update).collect();
        let told = self
            .engine()
            .collab_tasks(self.session.as_deref(), &updates);
        told.unwrap()
    }

    /// The same, which is accepted.
    #[track_caller]
    pub fn told(&self, tasks: &[(&str, &str)]) -> UpdateAnswer {
        let updated = self.tell(tasks);
        assert!(updated.verdict.validated, "{tasks:?}: {updated:?}");
        updated
    }

    /// The same, which is refused.
    #[track_caller]
    pub fn untold(&self, tasks: &[(&str, &str)], code: &str) -> UpdateAnswer {
        self.unmoved(code, || self.tell(tasks))
    }

    /// Hands a task graph over, whatever comes of it: its text, a path, or neither to have the documents read again.
    pub fn sync(
        &self,
        item: Option<&str>,
        text: Option<&str>,
        path: Option<&str>,
    ) -> Result<SyncAnswer, Fault> {
        self.engine().collab_sync(&GraphSync {
            session: self.session.clone(),
            item: item.map(str::to_owned),
            document: text.map(str::to_owned),
            path: path.map(str::to_owned),
        })
    }

    /// Hands the graph of the present item over.
    #[track_caller]
    pub fn synced(&self, graph: &str) -> SyncAnswer {
        self.synced_of(None, graph)
    }

    /// Hands the graph of an item over.
    #[track_caller]
    pub fn synced_of(&self, item: Option<&str>, graph: &str) -> SyncAnswer {
        let synced = self.sync(item, Some(graph), None).unwrap();
        assert!(synced.verdict.validated, "{synced:?}");
        synced
    }

    pub fn graph(&self) -> TaskGraph {
        self.engine().collab_graph(self.session.as_deref()).unwrap()
    }

    /// The ids of the tasks of each batch.
    pub fn ids(&self) -> Vec<Vec<String>> {
        let batches = self.graph().batches.into_iter();
        batches
            .map(|batch| batch.tasks.into_iter().map(|task| task.id).collect())
            .collect()
    }

    pub fn brief(&self) -> SessionBrief {
        self.engine().collab_brief(self.session.as_deref()).unwrap()
    }

    pub fn full(&self) -> SessionState {
        self.engine().collab_state(self.session.as_deref()).unwrap()
    }

    /// The state that the session is in.
    pub fn state(&self) -> String {
        self.brief().state
    }

    /// Does what the session waits for, and completes the skill: a graph of two waves for an item that has none, all tasks of
    /// the batch.
    #[track_caller]
    pub fn step(&self) -> SkillAnswer {
        self.step_from(&self.brief())
    }

    #[track_caller]
    fn step_from(&self, brief: &SessionBrief) -> SkillAnswer {
        let complete = || {
            let skill = brief.skill.as_deref().unwrap();
            self.complete(skill, brief.unit_id.as_deref()).unwrap()
        };
        match brief.state.as_str() {
            "build-task-graph" => {
                let answer = complete();
                if answer.verdict.validated {
                    return answer;
                }
                assert_eq!(
                    answer.verdict.code.as_deref(),
                    Some("graph_missing"),
                    "{answer:?}"
                );
                let number = json!(answer.params.item_number).to_string();
                let folder = format!("src/{}/", number.replace('"', ""));
                self.synced(&TWO_WAVES.replace("src/", &folder));
            }
            "execute-batch" => self.finish_batch(),
            _ => testkit::write_draft(&json!(brief)),
        }
        accepted(complete())
    }

    /// Completes every task of the batch in hand that can be.
    #[track_caller]
    pub fn finish_batch(&self) {
        let full = self.full();
        let at = usize::try_from(full.current_batch.unwrap()).unwrap();
        let open: Vec<(&str, &str)> = full.batches[at]
            .tasks
            .iter()
            .filter(|task| task.outcome.is_none() && !task.not_run)
            .map(|task| (task.id.as_str(), "completed"))
            .collect();
        self.told(&open);
    }

    /// Completes the batch in hand, and clears behind it.
    #[track_caller]
    pub fn past_batch(&self) -> SkillAnswer {
        self.finish_batch();
        self.past_told()
    }

    /// The same, where all was told of its tasks.
    #[track_caller]
    pub fn past_told(&self) -> SkillAnswer {
        self.done("executing-plans");
        self.done("collab-clear")
    }

    /// Goes on until the session is in `state`.
    #[track_caller]
    pub fn until(&self, state: &str) -> SessionBrief {
        for _ in 0..400 {
            let brief = self.brief();
            if brief.state == state {
                return brief;
            }
            self.step_from(&brief);
        }
        panic!("{state} was not reached: {:?}", self.brief());
    }

    /// Folder of the project.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// Folder around everything.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Folder of the run.
    pub fn dir(&self) -> PathBuf {
        let parent = || Path::new(&self.full().documents).parent().unwrap().into();
        self.dir.get_or_init(parent).clone()
    }

    /// Runs git in the project, which must succeed.
    pub fn git(&self, arguments: &[&str]) {
        crate::git(self.around(), arguments);
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        testkit::files::write(&self.project().join(path), text);
    }

    /// Writes a document of the session.
    pub fn document(&self, name: &str, text: &str) {
        fs::write(self.dir().join("documents").join(name), text).unwrap();
    }

    /// Every file of the run, but for what was refused, and locks.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = testkit::files::contents(&self.dir());
        let left_out = ["refusals.jsonl", "lock", "/"];
        all.retain(|path, _| !left_out.iter().any(|end| path.ends_with(end)));
        all
    }

    /// Asserts that no file of the run has changed since. Documents that were looked at may be kept as evidence.
    #[track_caller]
    pub fn is_as(&self, before: &BTreeMap<String, Vec<u8>>) {
        let mut now = self.files();
        now.retain(|path, _| before.contains_key(path) || !path.starts_with("evidence/"));
        let differs = |path: &&String| now.get(*path) != before.get(*path);
        let changed: Vec<&String> = now.keys().chain(before.keys()).filter(differs).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }

    /// The events of that name.
    pub fn events(&self, name: &str) -> Vec<Record> {
        let mut all = crate::journal(&self.dir());
        all.retain(|record| record.event == name);
        all
    }

    /// How many runs are in the store.
    pub fn runs(&self) -> usize {
        let all = testkit::files::contents(&self.around().join(&self.store));
        let paths = all.keys();
        paths.filter(|path| path.ends_with("manifest.json")).count()
    }
}

/// As many items, numbered from 1: their types, and what they depend on.
pub fn items_of(items: &[(&str, &[u64])]) -> Value {
    let item = |(number, (kind, needs)): (u64, &(&str, &[u64]))| json!({ "number": number, "title": format!("Item {number}"), "type": kind, "dependsOn": needs });
    (1..).zip(items).map(item).collect()
}

/// A completion that was accepted, with nothing to say of it.
#[track_caller]
fn accepted(answer: SkillAnswer) -> SkillAnswer {
    let said = (
        answer.verdict.validated,
        &answer.verdict.code,
        &answer.verdict.message,
    );
    assert_eq!(said, (true, &None, &None), "{answer:?}");
    answer
}

/// Asserts that an answer or a fault has this code, and says what is wrong and what to do.
#[track_caller]
pub fn says_why(code: &str, answer: &impl Serialize) {
    let told = json!(answer);
    assert_eq!(told["code"], code, "{told}");
    assert_ne!(told["validated"], true, "{told}");
    for part in ["message", "suggestion"] {
        assert!(told[part].as_str().is_some_and(|text| !text.is_empty()));
    }
}

/// As it stands on the wire.
pub fn wire(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
