//! `tm watch`: the events of all runs as they come, and from where somebody left off.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use super::environment::TestEnvironment;
use super::generic::give;
use super::whole_run::tm;

const LETTER: &str = "initial: write
states:
  write: { work: { by: anyone }, to: sent }
  sent: { final: completed }
";

struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn from(environment: &TestEnvironment, cursor: &str) -> Self {
        let mut watch = environment.program(&["watch", "--json", "--from", cursor]);
        let mut child = watch.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Everything up to the first event for which this says so.
    fn until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen: Vec<Value> = Vec::new();
        while !seen.last().is_some_and(&is_last) {
            let line = self.lines.next().expect("it goes on").unwrap();
            seen.push(serde_json::from_str(&line).unwrap());
        }
        seen
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Which event of which run this is.
fn place(event: &Value) -> (String, u64) {
    let run = event["runId"].as_str().unwrap().to_owned();
    (run, event["seq"].as_u64().unwrap())
}

#[test]
fn all_runs_are_followed_from_where_somebody_left_off() {
    let environment = TestEnvironment::started();
    give(&environment, "letter", LETTER);
    let begin = || {
        let started = tm(&environment, "run start letter").ok();
        started["runId"].as_str().unwrap().to_owned()
    };
    let report = |run: &str| tm(&environment, &format!("run report --run-id {run}")).ok();
    let first = begin();
    // From the beginning of time on: what there is, whenever the process began.
    let mut watching = Watching::from(&environment, "1.0");
    let mut all = watching.until(|event| event["event"] == "run:created");
    let second = begin();
    all.extend(watching.until(|event| event["runId"] == second.as_str()));
    report(&first);
    all.extend(watching.until(|event| event["event"] == "run:ended"));
    drop(watching);
    let once: BTreeSet<_> = all.iter().map(place).collect();
    let runs: BTreeSet<_> = once.iter().map(|(run, _)| run).collect();
    // The run over the task, and both letters; none comes twice.
    assert_eq!((runs.len(), once.len()), (3, all.len()), "{all:?}");

    // Away in between, with one cursor after the other: what comes is what came behind it, and nothing else.
    report(&second);
    let is_end = |event: &Value| event["event"] == "run:ended" && event["runId"] == second.as_str();
    for event in &all {
        assert_eq!(event["cursor"].is_string(), event["k"] == event["n"]);
    }
    let cursors = all
        .iter()
        .enumerate()
        .filter_map(|(at, event)| Some((at, event["cursor"].as_str()?)));
    for (at, cursor) in cursors.step_by(3) {
        let seen = Watching::from(&environment, cursor).until(is_end);
        let seen: BTreeSet<_> = seen.iter().map(place).collect();
        let known: BTreeSet<_> = all[..=at].iter().map(place).collect();
        assert!(seen.is_disjoint(&known), "{cursor}");
        let union: BTreeSet<_> = seen.union(&known).cloned().collect();
        assert!(once.is_subset(&union), "what is missed behind {cursor}");
    }
}

#[test]
fn a_damaged_run_does_not_keep_others_from_being_followed() {
    let environment = TestEnvironment::started();
    give(&environment, "letter", LETTER);
    let mut bytes = environment.journal();
    bytes[40] ^= 1;
    std::fs::write(environment.journal_path(), bytes).unwrap();
    let mut watching = Watching::from(&environment, "1.0");
    let started = tm(&environment, "run start letter").ok();
    let seen = watching.until(|event| event["event"] == "unit:issued");
    assert!(seen.iter().all(|event| event["runId"] == started["runId"]));
}
