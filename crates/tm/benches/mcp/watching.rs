//! Agents at work while people look: twenty agents report, each on a run of its own, and fifty listen to the events of all.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::http::Served;
use crate::stage::Stage;
use crate::stdio::Line;

const AGENTS: usize = 20;
const VIEWERS: usize = 50;
/// Reports of each agent in a round; rounds with and without viewers take turns.
const REPORTS: usize = 60;
const ROUNDS: usize = 15;
/// How long a page waits at least, and at most, until it asks for itself again.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How many events come at the end: memory must not grow with them.
const EVENTS: usize = 100_000;
/// How often: what was put into use once is not growth.
const EVENTS_TIMES: usize = 3;

/// A run without an end.
pub const ROUNDABOUT: &str = "tramline: 1
id: rounds
title: Round and round
vars: { left: { type: int, default: 1000000 } }
initial: one
on: { abort: { to: over } }
states:
  one:
    work: { by: anyone }
    on:
      report:
        - { when: vars.left <= 0, to: done }
        - { set: { left: =vars.left - 1 }, to: two }
  two: { work: { by: anyone }, to: one }
  done: { final: completed }
  over: { final: aborted }
";

/// What people look at.
#[derive(Debug, Clone, Copy)]
enum Sight {
    /// All events as they come.
    Stream,
    /// A page in a browser, which asks for itself anew when something has happened: one of five shows the list, the others a run each.
    Pages,
}

/// People who look, until they are dropped.
struct Viewers {
    stop: Arc<AtomicBool>,
    seen: Arc<AtomicU64>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Viewers {
    fn of(served: &Arc<Served>, agents: &[Agent], sight: Sight) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::new(AtomicU64::new(0));
        let threads = (0..VIEWERS).map(|viewer| {
            let run = &agents[viewer % agents.len()].run;
            let (events, page) = match sight {
                Sight::Stream => ("/events".to_owned(), None),
                Sight::Pages if viewer % 5 == 0 => ("/events".to_owned(), Some("/".to_owned())),
                Sight::Pages => (format!("/events?run={run}"), Some(format!("/runs/{run}"))),
            };
            let mut stream = served.get(&events);
            let patience = Some(Duration::from_millis(20));
            stream.set_read_timeout(patience).expect("a socket");
            let (served, stop, seen) = (Arc::clone(served), Arc::clone(&stop), Arc::clone(&seen));
            std::thread::spawn(move || {
                let mut bytes = vec![0; 64 * 1024];
                let (mut moved, mut next) = (false, Instant::now());
                while !stop.load(Ordering::Relaxed) {
                    let read = stream.read(&mut bytes).unwrap_or_default();
                    moved |= read > 0;
                    match &page {
                        Some(page) if moved && next <= Instant::now() => {
                            let (answer, took) = served.page(page);
                            // As the script of the page does it.
                            next = Instant::now() + (5 * took).clamp(PAUSE, LONGEST_PAUSE);
                            moved = false;
                            seen.fetch_add(answer.len() as u64, Ordering::Relaxed);
                        }
                        Some(_) => {}
                        None => _ = seen.fetch_add(read as u64, Ordering::Relaxed),
                    }
                }
            })
        });
        Self {
            threads: threads.collect(),
            stop,
            seen,
        }
    }
}

impl Drop for Viewers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// An agent, and its run.
struct Agent {
    line: Line,
    run: String,
}

impl Agent {
    fn begin(stage: &Stage) -> Self {
        let started = stage
            .tm(&["run", "start", "rounds", "--json"])
            .output()
            .expect("it runs");
        let started: serde_json::Value =
            serde_json::from_slice(&started.stdout).expect("a run begins");
        let run = started["runId"].as_str().expect("its id").to_owned();
        let mut line = Line::to(&mut stage.tm(&["mcp", "--tools", "run"]));
        line.initialize();
        Self { line, run }
    }

    fn report(&mut self, id: usize) {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_report","arguments":{{"runId":"{}"}}}}}}"#,
            self.run
        );
        let answer = self.line.exchange(&call);
        assert!(answer.contains("\"validated\":true"), "{answer}");
    }
}

/// How long a report takes in the middle, with all agents at work at once.
fn round(agents: &mut [Agent], reports: usize) -> Duration {
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let working: Vec<_> = agents
            .iter_mut()
            .map(|agent| {
                scope.spawn(move || {
                    let each = |number| {
                        let began = Instant::now();
                        agent.report(number);
                        began.elapsed()
                    };
                    (0..reports).map(each).collect::<Vec<_>>()
                })
            })
            .collect();
        let done = working
            .into_iter()
            .flat_map(|one| one.join().expect("it works"));
        done.collect()
    });
    times.sort();
    times[times.len() / 2]
}

/// Measures it, and prints what came out.
pub fn measure(stage: &Stage) {
    let folder = stage.root.join(".taskmaster/workflows");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("rounds.yaml"), ROUNDABOUT).expect("a file");
    let mut agents: Vec<Agent> = (0..AGENTS).map(|_| Agent::begin(stage)).collect();
    let served = Arc::new(Served::new(stage));
    round(&mut agents, REPORTS);
    println!();
    for sight in [Sight::Stream, Sight::Pages] {
        let (mut alone, mut watched) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(round(&mut agents, REPORTS));
            let viewers = Viewers::of(&served, &agents, sight);
            std::thread::sleep(Duration::from_millis(200));
            watched.push(round(&mut agents, REPORTS));
            std::thread::sleep(Duration::from_millis(200));
            assert!(viewers.seen.load(Ordering::Relaxed) > 0, "they see nothing");
        }
        alone.sort();
        watched.sort();
        let (alone, watched) = (alone[ROUNDS / 2], watched[ROUNDS / 2]);
        println!(
            "a report, {AGENTS} agents at once: {alone:.2?}; with {VIEWERS} who look ({sight:?}): {watched:.2?}, {:.2} times",
            watched.as_secs_f64() / alone.as_secs_f64()
        );
    }
    let viewers = Viewers::of(&served, &agents, Sight::Stream);
    let mut resident = vec![served.resident()];
    for _ in 0..EVENTS_TIMES {
        // A report is an event of its own, one for the state and one for the unit behind it, and every other one for the count.
        round(&mut agents, 2 * EVENTS / (7 * AGENTS));
        resident.push(served.resident());
    }
    let mib: Vec<String> = resident
        .iter()
        .map(|bytes| (bytes >> 20).to_string())
        .collect();
    println!(
        "resident, with {VIEWERS} who look, and after each {EVENTS} events more: {} MiB",
        mib.join(", ")
    );
    drop(viewers);
}
