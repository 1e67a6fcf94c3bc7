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
pub fn acting(jobs: Value) -> Driver {
    let mut driver = gathering();
    gathered(&mut driver, jobs).unwrap();
    driver
}

/// The jobs are told, and the run goes on.
pub fn gathered(driver: &mut Driver, jobs: Value) -> crate::driver::Outcome {
    let mut graph = json!({ "present": true, "errors": [] });
    graph["tasks"] = jobs;
    driver.readings.insert("graph".to_owned(), reading(graph));
    driver.complete("gathering")
}

pub fn job(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "needs": needs })
}

pub fn touching(id: &str, needs: &[&str], files: &[&str]) -> Value {
    json!({ "id": id, "needs": needs, "files": files })
}

pub fn solo(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "needs": needs, "solo": true })
}

/// The keys of each wave, in order.
pub fn waves(driver: &Driver) -> Vec<Vec<String>> {
    let groups = driver.run.sets.get("groups");
    let groups = groups.into_iter().flat_map(ItemSet::iter);
    groups
        .map(|(_, wave)| wave.texts("jobs").map(str::to_owned).collect())
        .collect()
}

/// One field of each wave, in order.
pub fn of_waves(driver: &Driver, field: &str) -> Vec<Value> {
    let groups = driver.run.sets["groups"].iter();
    groups.map(|(_, wave)| wave.fields[field].clone()).collect()
}

/// The keys of the wave in hand.
pub fn in_hand(driver: &Driver) -> Vec<String> {
    let Some(wave) = driver.run.pointed_at("group") else {
        return Vec::new();
    };
    let wave = driver.run.sets["groups"].get(wave);
    wave.map(|wave| wave.texts("jobs").map(str::to_owned).collect())
        .unwrap_or_default()
}

/// Ends the wave in hand, with these of its jobs skipped, and goes on to the next.
pub fn end_wave(driver: &mut Driver, lost: &[&str]) {
    let blocked = driver.run.blocked(&driver.definition, "jobs");
    let jobs = &driver.run.sets["jobs"];
    let edits = in_hand(driver)
        .iter()
        .filter(|key| !jobs.position(key).is_some_and(|at| blocked[at]))
        .map(|key| {
            let status = if lost.contains(&key.as_str()) {
                "lost"
            } else {
                "ok"
            };
            stands("jobs", key, status)
        })
        .collect();
    driver.edit(edits).unwrap();
    driver.complete("acting").unwrap();
    driver.complete("rest").unwrap();
}
