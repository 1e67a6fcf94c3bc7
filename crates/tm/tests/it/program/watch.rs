//! `tm watch`: the events of all runs as they come, and from where somebody left off.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::environment::TestEnvironment;

const LETTER: &str = "tramline: 1
id: letter
title: A letter
initial: write
on: { abort: { to: off } }
states:
  write: { work: { by: anyone }, to: sent }
  sent: { final: completed }
  off: { final: aborted }
";

struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn begin(environment: &TestEnvironment, arguments: &[&str]) -> Self {
        let mut words = vec!["watch", "--json"];
        words.extend(arguments);
        let mut child = environment
            .program(&words)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it goes on").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Everything up to the first event of that name.
    fn until(&mut self, event: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let next = self.next();
            let found = next["event"] == event;
            seen.push(next);
            if found {
                return seen;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Which events of which runs these are.
fn places(events: &[Value]) -> Vec<(String, u64)> {
    let place = |event: &Value| {
        let run = event["runId"].as_str().unwrap().to_owned();
        (run, event["seq"].as_u64().unwrap())
    };
    events.iter().map(place).collect()
}

#[test]
fn all_runs_are_followed_from_where_somebody_left_off() {
    let environment = TestEnvironment::started();
    environment.write(".taskmaster/workflows/letter.yaml", LETTER);
    let begin = || {
        let started = environment
            .tm(&["run", "start", "letter", "--json"])
            .json_with(0);
        started["runId"].as_str().unwrap().to_owned()
    };
    let first = begin();
    // From the beginning of time on: what there is, whenever the process began.
    let mut watching = Watching::begin(&environment, &["--from", "1.0"]);
    let before = watching.until("run:created");
    let mut all = before;
    let second = begin();
    while !all.iter().any(|event| event["runId"] == second.as_str()) {
        all.push(watching.next());
    }
    environment
        .tm(&["run", "report", "--run-id", &first, "--json"])
        .json_with(0);
    all.extend(watching.until("run:ended"));
    drop(watching);
    let runs: std::collections::BTreeSet<_> =
        places(&all).into_iter().map(|(run, _)| run).collect();
    assert_eq!(
        runs.len(),
        3,
        "the run over the task, and both letters: {runs:?}"
    );
    let mut once = places(&all);
    once.sort();
    once.dedup();
    assert_eq!(once.len(), all.len(), "none comes twice");

    // Away in between, with one cursor after the other: what comes is what came behind it, and nothing else.
    environment
        .tm(&["run", "report", "--run-id", &second, "--json"])
        .json_with(0);
    let end = ("run:ended", second.as_str());
    let cursors = all.iter().enumerate().filter_map(|(at, event)| {
        assert_eq!(event["cursor"].is_string(), event["k"] == event["n"]);
        Some((at, event["cursor"].as_str()?))
    });
    for (at, cursor) in cursors.step_by(3) {
        let mut again = Watching::begin(&environment, &["--from", cursor]);
        let mut seen = Vec::new();
        while seen.last().is_none_or(|last: &Value| {
            (
                last["event"].as_str().unwrap(),
                last["runId"].as_str().unwrap(),
            ) != end
        }) {
            seen.push(again.next());
        }
        let mut known = places(&all[..=at]);
        let seen = places(&seen);
        assert!(seen.iter().all(|place| !known.contains(place)), "{cursor}");
        known.extend(seen);
        known.sort();
        known.dedup();
        for place in places(&all) {
            assert!(
                known.contains(&place),
                "{place:?} is missed behind {cursor}"
            );
        }
    }
}

#[test]
fn what_is_no_cursor_is_refused() {
    let environment = TestEnvironment::started();
    let refused = environment
        .tm(&["watch", "--from", "yesterday", "--json"])
        .json_with(2);
    assert_eq!(refused["error"]["code"], json!("bad_cursor"));
}

#[test]
fn a_damaged_run_does_not_keep_others_from_being_followed() {
    let environment = TestEnvironment::started();
    environment.write(".taskmaster/workflows/letter.yaml", LETTER);
    let path = environment.journal_path();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let mut watching = Watching::begin(&environment, &["--from", "1.0"]);
    let started = environment
        .tm(&["run", "start", "letter", "--json"])
        .json_with(0);
    let seen = watching.until("unit:issued");
    assert!(seen.iter().all(|event| event["runId"] == started["runId"]));
}
