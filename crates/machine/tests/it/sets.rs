//! A workflow that gathers parts and jobs, and goes through the jobs wave by wave; and what stands in the waves.

use machine::state::ItemSet;
use serde_json::{Value, json};

use crate::driver::{Driver, reading, stands};

pub const SETS: &str = r"
tramline: 1
id: sets
title: Parts, and jobs in waves
vars:
  part: { type: ref parts, open: [collect] }
  group: { type: ref groups }
  flag: { type: bool, open: always }
  note: { type: string, open: [collect, act] }
  closed: int
items:
  parts:
    key: id
    needs: needs
    prefer: part
    status: { open: [new, late], active: [begun], done: [ready, shipped], failed: [dropped] }
    open: { all: [collect], status: [collect, act], note: always, add: always, reopen: always, skip: always }
    fields: { id: string, needs: [string], kind: [plain, odd], weight: int, note: string }
  jobs:
    key: id
    needs: needs
    status: { open: [pending], active: [active, broken], done: [ok], failed: [lost] }
    open: { all: [collect, act, rest], status: [act], add: [act, rest], reopen: [act, rest], skip: [act, rest] }
    waves: { into: groups, named: wave, apart: [files, ports], alone: it.solo }
    fields: { id: string, needs: [string], files: [string], ports: [string], solo: bool, text: string }
initial: collect
on: { abort: { to: dropped } }
states:
  collect:
    expects: graph
    work: { as: gathering }
    on: { report: [ { load: { jobs: =graph.tasks }, to: choose } ] }
  choose:
    route:
      - { when: groups.remaining > 0, set: { group: =groups.next, group.status: in_progress }, to: act }
      - { to: over }
  act:
    work: { as: acting }
    on:
      report:
        - { when: group.count.pending + group.count.active + group.count.broken > 0, refuse: unfinished }
        - { set: { group.status: completed, group: =null }, to: rest }
  rest: { work: { fresh: true }, to: choose }
  over: { final: completed }
  dropped: { final: aborted }
";

/// A run that has begun and gathers.
pub fn gathering() -> Driver {
    Driver::begun(SETS)
}

/// A run that was given these jobs, and stands in their first wave.
pub fn acting(short: &str) -> Driver {
    let mut driver = gathering();
    gathered(&mut driver, json!(jobs(short))).unwrap();
    driver
}

/// The jobs are told, and the run goes on.
pub fn gathered(driver: &mut Driver, jobs: Value) -> crate::driver::Outcome {
    let mut graph = json!({ "present": true, "errors": [] });
    graph["tasks"] = jobs;
    driver.readings.insert("graph".to_owned(), reading(graph));
    driver.complete("gathering")
}

/// Jobs in short: `a <b @f !` is a job `a` that needs `b`, touches the file `f`, and must be alone.
pub fn jobs(short: &str) -> Vec<Value> {
    let all = short.split(", ").filter(|one| !one.is_empty());
    all.map(job).collect()
}

pub fn job(short: &str) -> Value {
    let mut words = short.split(' ');
    let mut job = json!({ "id": words.next(), "needs": [], "files": [], "solo": false });
    for word in words {
        let (kind, what) = word.split_at(1);
        match kind {
            "<" => job["needs"].as_array_mut().unwrap().push(what.into()),
            "@" => job["files"].as_array_mut().unwrap().push(what.into()),
            _ => job["solo"] = true.into(),
        }
    }
    job
}

/// The keys of each wave, in order.
pub fn waves(driver: &Driver) -> String {
    let groups = driver.run.sets.get("groups");
    let groups = groups.into_iter().flat_map(ItemSet::iter);
    let waves = groups.map(|(_, wave)| wave.texts("jobs").collect::<Vec<_>>().join(" "));
    waves.collect::<Vec<_>>().join(" | ")
}

/// One field of each wave, in order.
pub fn of_waves(driver: &Driver, field: &str) -> Vec<Value> {
    let groups = driver.run.sets["groups"].iter();
    groups.map(|(_, wave)| wave.fields[field].clone()).collect()
}

/// The keys of the wave in hand.
pub fn in_hand(driver: &Driver) -> Vec<String> {
    let wave = driver.run.pointed_at("group");
    let wave = wave.and_then(|wave| driver.run.sets["groups"].get(wave));
    let keys = wave.iter().flat_map(|wave| wave.texts("jobs"));
    keys.map(str::to_owned).collect()
}

/// Ends the wave in hand, with these of its jobs skipped, and goes on to the next.
pub fn end_wave(driver: &mut Driver, lost: &[&str]) {
    let blocked = driver.run.blocked(&driver.definition, "jobs");
    let jobs = &driver.run.sets["jobs"];
    let keys = in_hand(driver).into_iter();
    let keys = keys.filter(|key| !jobs.position(key).is_some_and(|at| blocked[at]));
    let edits = keys.map(|key| {
        let status = ["ok", "lost"][usize::from(lost.contains(&key.as_str()))];
        stands("jobs", &key, status)
    });
    driver.edit(edits.collect()).unwrap();
    driver.complete("acting").unwrap();
    driver.complete("rest").unwrap();
}
