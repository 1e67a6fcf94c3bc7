//! What the calls of a session of skills take over stdio, beside a bare append with fdatasync of as many bytes.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::skills;
use crate::stage::Stage;
use crate::stdio::Line;

/// Two completions each.
const BUGS: usize = 1000;
/// So many completions are made one after the other, then as many bare appends.
const TURN: usize = 100;
/// Calls that are measured, of those that are no completions.
const CALLS: usize = 2000;

/// A file in the folder of a run, and the journal beside it.
struct Beside {
    journal: PathBuf,
    bare: File,
}

impl Beside {
    /// The only session of that name.
    fn of(stage: &Stage, session: &str) -> Self {
        let folders = |folder: PathBuf| {
            let entries = std::fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.expect("an entry").path())
        };
        let run = folders(stage.store.join("projects"))
            .flat_map(|project| folders(project.join("runs")))
            .find(|run| {
                let begins = format!("collab__{session}__");
                run.file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(&begins))
            })
            .expect("the session is there");
        let bare = OpenOptions::new()
            .create(true)
            .append(true)
            .open(run.join("bare"))
            .expect("a file");
        Self {
            journal: run.join("activity.jsonl"),
            bare,
        }
    }

    fn len(&self) -> usize {
        let about = std::fs::metadata(&self.journal).expect("a journal");
        usize::try_from(about.len()).expect("it fits")
    }

    fn append(&mut self, bytes: &[u8]) -> Duration {
        let began = Instant::now();
        self.bare.write_all(bytes).expect("written");
        self.bare.sync_data().expect("synced");
        began.elapsed()
    }
}

/// Measures all of it; `tell` prints what came out, in any order.
pub fn measure(stage: &Stage, tell: &dyn Fn(&str, Vec<Duration>)) {
    let tm = |words: &[&str]| stage.tm(words);
    skills::gathered(&tm, &stage.root, "bugs", BUGS);
    let mut server = Line::to(&mut stage.tm(&["mcp", "--tools", "collab"]));
    server.initialize();
    let mut beside = Beside::of(stage, "bugs");
    let (mut completions, mut bare) = (Vec::new(), Vec::new());
    let mut id = 0;
    // As a client does that means each completion for one unit only.
    let state = call(id, "get_session_state", r#""session":"bugs""#);
    let mut unit = unit_in(server.exchange(&state));
    for _ in 0..2 * BUGS / TURN {
        let before = beside.len();
        for _ in 0..TURN / 2 {
            for skill in ["collab-clear", "systematic-debugging"] {
                let request = call(
                    id,
                    "complete_skill",
                    &format!(r#""session":"bugs","skill":"{skill}","unitId":"{unit}""#),
                );
                let (answer, took) = timed(&mut server, &request);
                unit = unit_in(&answer);
                completions.push(took);
                id += 1;
            }
        }
        let bytes = vec![b'x'; (beside.len() - before) / TURN];
        bare.extend((0..TURN).map(|_| beside.append(&bytes)));
    }
    tell("a bare append and fdatasync of its bytes", bare);
    tell("complete_skill", completions);

    by_size(stage, &mut server, tell);
}

/// Measures what should cost the same however many tasks there are: in turns, since the disk gets slower the more was deleted on it
/// lately.
fn by_size(stage: &Stage, server: &mut Line, tell: &dyn Fn(&str, Vec<Duration>)) {
    let mut sessions = [10, 10_000].map(|tasks| {
        let session = format!("tasks-{tasks}");
        skills::executing(&|words| stage.tm(words), &stage.root, &session, tasks);
        (tasks, session, Vec::new(), Vec::new())
    });
    for first in (0..CALLS).step_by(TURN) {
        for (tasks, session, stored, told) in &mut sessions {
            for at in first..first + TURN {
                let status = ["in_progress", "pending"][at / *tasks % 2];
                let task = at % *tasks;
                let request = call(
                    at,
                    "update_task_status",
                    &format!(r#""session":"{session}","id":"t{task}","status":"{status}""#),
                );
                stored.push(timed(server, &request).1);
            }
            for at in first..first + TURN {
                let request = call(
                    at,
                    "get_session_state",
                    &format!(r#""session":"{session}""#),
                );
                told.push(timed(server, &request).1);
            }
        }
    }
    for (tasks, _, stored, told) in sessions {
        tell(&format!("update_task_status, {tasks} tasks"), stored);
        tell(&format!("get_session_state, {tasks} tasks"), told);
    }
}

fn call(id: usize, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{{arguments}}}}}}}"#
    )
}

/// The unit that an answer names.
fn unit_in(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).expect("an answer");
    let unit = &answer["result"]["structuredContent"]["unit_id"];
    unit.as_str().unwrap_or_default().to_owned()
}

fn timed(server: &mut Line, request: &str) -> (String, Duration) {
    let began = Instant::now();
    let answer = server.exchange(request);
    let took = began.elapsed();
    assert!(
        answer.contains(r#""result""#) && !answer.contains(r#""validated":false"#),
        "{request}: {answer}"
    );
    (answer.to_owned(), took)
}
