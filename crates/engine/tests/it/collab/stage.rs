//! A project with sessions of skills in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use engine::clock::Clock;
use engine::view::collab::answer::{
    SessionBrief, SessionState, SkillAnswer, SyncAnswer, TaskGraph, UpdateAnswer,
};
use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault, OpenOptions};
use journal::{FileJournal, Journal as _, Position, Record};
use serde::Serialize;
use serde_json::{Map, Value, json};
use workspace::config::Environment;

/// A task graph of two waves.
pub const TWO_WAVES: &str = "tasks:
  - id: types
    files: [src/types.rs]
  - id: machine
    files: [src/machine.rs]
    depends-on: [types]
";

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
    session: Option<String>,
    /// Where runs are kept, below the folder.
    store: String,
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
        }
    }

    /// The same project, whose runs are kept in this folder.
    pub fn keeping_in(self, store: &str) -> Self {
        Self {
            store: store.to_owned(),
            ..self
        }
    }

    /// A session that was begun, and has these items.
    pub fn with(items: &Value) -> Self {
        let stage = Self::bare();
        stage.done("collab-start");
        stage.set_items(items);
        stage
    }

    /// A session with as many items of these types, numbered from 1.
    pub fn of(types: &[&str]) -> Self {
        let items: Vec<Value> = types
            .iter()
            .zip(1..)
            .map(|(kind, number)| json!({"number": number, "title": format!("Item {number}"), "type": kind}))
            .collect();
        Self::with(&items.into())
    }

    /// A session of one code item whose graph is `graph`, and which executes its first batch.
    pub fn executing(graph: &str) -> Self {
        let stage = Self::of(&["code"]);
        stage.until("build-task-graph");
        stage.synced(graph);
        stage.until("execute-batch");
        stage
    }

    /// The same project, where calls name this session.
    pub fn named(self, session: &str) -> Self {
        Self {
            session: Some(session.to_owned()),
            ..self
        }
    }

    /// A engine of its own, as each process has one.
    pub fn engine(&self) -> Engine {
        let at = |name: &str| self.folder.path().join(name);
        let environment: Environment = [("HOME", at("home")), ("TRAMLINE_HOME", at(&self.store))]
            .into_iter()
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
            .collect();
        Engine::open(OpenOptions {
            cwd: at("project"),
            project_root: Some(at("project")),
            tag: None,
            environment,
            command: "test".to_owned(),
            actor: "test".to_owned(),
            cancelled: None,
            waits_no_more: None,
        })
        .unwrap()
        .with_clock(Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    /// Lets time pass.
    pub fn pass(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Completes a skill, whatever comes of it.
    pub fn complete(&self, skill: &str, unit: Option<&str>) -> Result<SkillAnswer, Fault> {
        self.engine().complete_skill(&SkillDone {
            session: self.session.clone(),
            skill: skill.to_owned(),
            unit_id: unit.map(str::to_owned),
        })
    }

    /// Writes what the skill that is due is to write.
    pub fn write_draft(&self) {
        if let Ok(brief) = self.engine().collab_brief(self.session()) {
            testkit::write_draft(&serde_json::to_value(brief).unwrap());
        }
    }

    /// Completes a skill that is accepted, with its draft written.
    pub fn done(&self, skill: &str) -> SkillAnswer {
        self.write_draft();
        let mut answer = self.complete(skill, None).unwrap();
        // Of two items in a row that take the same skill, the second one has to be named.
        if answer.code.as_deref() == Some("which_unit") {
            let unit = answer.unit_id.clone();
            answer = self.complete(skill, unit.as_deref()).unwrap();
        }
        assert!(answer.validated, "{skill}: {answer:?}");
        assert_eq!(
            (answer.code.as_deref(), answer.message.as_deref()),
            (None, None)
        );
        answer
    }

    /// Completes a skill that is refused with `code`, and moves nothing.
    pub fn refused(&self, skill: &str, code: &str) -> SkillAnswer {
        let before = self.files();
        let answer = self.complete(skill, None).unwrap();
        assert!(!answer.validated, "{skill}: {answer:?}");
        assert_eq!(answer.code.as_deref(), Some(code), "{answer:?}");
        assert!(answer.message.as_ref().is_some_and(|text| !text.is_empty()));
        assert!(
            answer
                .suggestion
                .as_ref()
                .is_some_and(|text| !text.is_empty())
        );
        self.is_as(&before);
        answer
    }

    /// Sets fields, whatever comes of it.
    pub fn update(&self, fields: &Value) -> Result<UpdateAnswer, Fault> {
        let fields: Map<String, Value> = serde_json::from_value(fields.clone()).unwrap();
        self.engine().collab_update(&SessionUpdate {
            session: self.session.clone(),
            fields,
        })
    }

    /// Sets fields.
    pub fn set(&self, fields: &Value) -> UpdateAnswer {
        let updated = self.update(fields).unwrap();
        assert!(updated.validated, "{fields}: {updated:?}");
        updated
    }

    /// Sets the items.
    pub fn set_items(&self, items: &Value) -> UpdateAnswer {
        self.set(&json!({ "workItems": items }))
    }

    /// Says of tasks what they came to: `failed!` is one that is skipped.
    pub fn tell(&self, tasks: &[(&str, &str)]) -> UpdateAnswer {
        let updates: Vec<TaskUpdate> = tasks
            .iter()
            .map(|(id, status)| TaskUpdate {
                id: (*id).to_owned(),
                status: status.trim_end_matches('!').to_owned(),
                outcome: status.ends_with('!').then(|| "failed".to_owned()),
            })
            .collect();
        self.engine()
            .collab_tasks(self.session(), &updates)
            .unwrap()
    }

    /// The same, which is accepted.
    pub fn told(&self, tasks: &[(&str, &str)]) -> UpdateAnswer {
        let updated = self.tell(tasks);
        assert!(updated.validated, "{tasks:?}: {updated:?}");
        updated
    }

    /// The same, which is refused and changes nothing.
    pub fn untold(&self, tasks: &[(&str, &str)], code: &str) -> UpdateAnswer {
        let before = self.files();
        let updated = self.tell(tasks);
        assert!(!updated.validated, "{tasks:?}: {updated:?}");
        assert_eq!(updated.code.as_deref(), Some(code), "{updated:?}");
        assert!(
            updated
                .message
                .as_ref()
                .is_some_and(|text| !text.is_empty())
        );
        self.is_as(&before);
        updated
    }

    /// Hands a task graph over, whatever comes of it.
    pub fn sync(&self, item: Option<&str>, graph: &str) -> Result<SyncAnswer, Fault> {
        self.engine().collab_sync(&GraphSync {
            session: self.session.clone(),
            item: item.map(str::to_owned),
            document: Some(graph.to_owned()),
            path: None,
        })
    }

    /// The same by a path of the project.
    pub fn sync_path(&self, path: &str) -> Result<SyncAnswer, Fault> {
        self.engine().collab_sync(&GraphSync {
            session: self.session.clone(),
            path: Some(path.to_owned()),
            ..GraphSync::default()
        })
    }

    /// Hands the graph of the present item over.
    pub fn synced(&self, graph: &str) -> SyncAnswer {
        let synced = self.sync(None, graph).unwrap();
        assert!(synced.validated, "{synced:?}");
        synced
    }

    /// Hands the graph of an item over.
    /// Has those read again that lie among the documents.
    pub fn sync_again(&self, item: Option<&str>) -> SyncAnswer {
        let sync = GraphSync {
            session: self.session.clone(),
            item: item.map(str::to_owned),
            ..GraphSync::default()
        };
        self.engine().collab_sync(&sync).unwrap()
    }

    pub fn synced_of(&self, item: &str, graph: &str) -> SyncAnswer {
        let synced = self.sync(Some(item), graph).unwrap();
        assert!(synced.validated, "{synced:?}");
        synced
    }

    pub fn graph(&self) -> TaskGraph {
        self.engine().collab_graph(self.session()).unwrap()
    }

    pub fn brief(&self) -> SessionBrief {
        self.engine().collab_brief(self.session()).unwrap()
    }

    pub fn full(&self) -> SessionState {
        self.engine().collab_state(self.session()).unwrap()
    }

    /// The state that the session is in.
    pub fn state(&self) -> String {
        self.brief().state
    }

    /// Does what the session waits for, and completes the skill: a graph of two waves for an item that has none, all tasks of
    /// the batch.
    pub fn step(&self) -> SkillAnswer {
        let brief = self.brief();
        self.step_at(&brief.state, &brief.skill.unwrap())
    }

    /// The same, where it is known which state it is in.
    pub fn step_at(&self, state: &str, skill: &str) -> SkillAnswer {
        match state {
            "build-task-graph" => {
                let answer = self.complete(skill, None).unwrap();
                if answer.validated {
                    return answer;
                }
                assert_eq!(answer.code.as_deref(), Some("graph_missing"), "{answer:?}");
                let number = answer
                    .params
                    .item_number
                    .unwrap()
                    .to_string()
                    .replace('"', "");
                self.synced(&TWO_WAVES.replace("src/", &format!("src/{number}/")));
            }
            "execute-batch" => self.finish_batch(),
            _ => {}
        }
        self.done(skill)
    }

    /// Completes every task of the batch in hand that can be.
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

    /// Goes on until the session is in `state`.
    pub fn until(&self, state: &str) {
        for _ in 0..400 {
            if self.state() == state {
                return;
            }
            self.step();
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
        let documents = PathBuf::from(self.full().documents);
        documents.parent().unwrap().to_owned()
    }

    /// Runs git in the project, which must succeed.
    pub fn git(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
        let output = Command::new("git")
            .current_dir(self.project())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(who)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join("project").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a document of the session.
    pub fn document(&self, name: &str, text: &str) {
        fs::write(self.dir().join("documents").join(name), text).unwrap();
    }

    /// Every file of the run, but for what was refused, and locks.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dir = self.dir();
        let mut all = BTreeMap::new();
        gather(&dir, &mut all);
        all
    }

    /// Asserts that no file of the run has changed since. Documents that were looked at may be kept as evidence.
    pub fn is_as(&self, before: &BTreeMap<PathBuf, Vec<u8>>) {
        let now = self.files();
        let evidence = self.dir().join("evidence");
        let changed = |(path, bytes): &(&PathBuf, &Vec<u8>)| match before.get(*path) {
            Some(known) => known != *bytes,
            None => !path.starts_with(&evidence),
        };
        let new: Vec<_> = now.iter().filter(changed).map(|(path, _)| path).collect();
        let gone: Vec<_> = before
            .keys()
            .filter(|path| !now.contains_key(*path))
            .collect();
        assert!(new.is_empty() && gone.is_empty(), "{new:?} {gone:?}");
    }

    pub fn journal(&self) -> Vec<Record> {
        let journal = FileJournal::open(&self.dir()).unwrap();
        journal.read(&Position::start()).unwrap().records
    }

    /// The events of that name.
    pub fn events(&self, name: &str) -> Vec<Record> {
        let mut all = self.journal();
        all.retain(|record| record.event == name);
        all
    }

    /// The folders of runs in the store.
    pub fn runs(&self) -> usize {
        let mut all = BTreeMap::new();
        gather(&self.folder.path().join(&self.store), &mut all);
        all.keys()
            .filter(|path| path.ends_with("manifest.json"))
            .count()
    }
}

fn gather(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(listed) = fs::read_dir(folder) else {
        return;
    };
    for entry in listed.flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            gather(&path, all);
        } else if name != "refusals.jsonl" && !name.ends_with("lock") {
            let bytes = fs::read(&path).unwrap_or_default();
            all.insert(path, bytes);
        }
    }
}

/// As it stands on the wire.
pub fn wire(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// The ids of the tasks of each batch.
pub fn ids(graph: &TaskGraph) -> Vec<Vec<String>> {
    let of = |batch: &engine::view::collab::answer::BatchState| {
        batch.tasks.iter().map(|task| task.id.clone()).collect()
    };
    graph.batches.iter().map(of).collect()
}
