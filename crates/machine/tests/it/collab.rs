//! The built-in `collab`, on the machine alone: its graph, every way through it, and completions that mean nothing.

use std::collections::BTreeSet;

use machine::definition::Kind;
use machine::trigger::Trigger;
use machine::{Definition, RunStatus};
use serde_json::{Value, json};

use crate::driver::{Driver, reading, stands, whole};
use crate::support::{COLLAB, load};

/// Every state in the order of the file: its phase, its name for people, the skill where it has one, and where it leads,
/// in the order in which that is tried.
const STATES: &str = "\
collab-start | gathering | Starting | collab-start | gather-goals
gather-goals | gathering | Gathering goals | gather-session-goals | clear-pre-item
clear-pre-item | gathering | Context check | collab-clear | work-item-router
work-item-router | brainstorming | Routing |  | brainstorm-exploring brainstorm-exploring systematic-debugging ready-to-implement
brainstorm-exploring | brainstorming | Exploring | brainstorming-exploring | clear-bs1
clear-bs1 | brainstorming | Context check | collab-clear | brainstorm-clarifying
brainstorm-clarifying | brainstorming | Clarifying | brainstorming-clarifying | clear-bs2
clear-bs2 | brainstorming | Context check | collab-clear | brainstorm-designing
brainstorm-designing | brainstorming | Designing | brainstorming-designing | clear-bs3
clear-bs3 | brainstorming | Context check | collab-clear | brainstorm-validating
brainstorm-validating | brainstorming | Validating | brainstorming-validating | item-type-router
item-type-router | brainstorming | Routing |  | clear-pre-rough task-planning
clear-pre-rough | rough-draft | Context check | collab-clear | rough-draft-interface
rough-draft-interface | rough-draft | Interface | rough-draft-interface | clear-rd1
clear-rd1 | rough-draft | Context check | collab-clear | rough-draft-pseudocode
rough-draft-pseudocode | rough-draft | Pseudocode | rough-draft-pseudocode | clear-rd2
clear-rd2 | rough-draft | Context check | collab-clear | rough-draft-skeleton
rough-draft-skeleton | rough-draft | Skeleton | rough-draft-skeleton | clear-rd3
clear-rd3 | rough-draft | Context check | collab-clear | build-task-graph
build-task-graph | rough-draft | Task graph | build-task-graph | clear-rd4
clear-rd4 | rough-draft | Context check | collab-clear | rough-draft-handoff
rough-draft-handoff | rough-draft | Handoff | rough-draft-handoff | clear-post-item
task-planning | rough-draft | Planning | task-planning | clear-post-item
systematic-debugging | brainstorming | Investigating | systematic-debugging | clear-post-item
clear-post-item | rough-draft | Context check | collab-clear | work-item-router
ready-to-implement | implementation | Ready | ready-to-implement | clear-pre-item clear-pre-execute
clear-pre-execute | implementation | Context check | collab-clear | batch-router
batch-router | implementation | Routing |  | clear-pre-item execute-batch workflow-complete
execute-batch | implementation | Executing | executing-plans | log-batch-complete
log-batch-complete | implementation | Logging |  | clear-post-batch
clear-post-batch | implementation | Context check | collab-clear | batch-router
workflow-complete | implementation | Finishing | finishing-a-development-branch | clear-pre-execute cleanup
cleanup | implementation | Cleaning up | collab-cleanup | clear-pre-execute done
done | done | Done |  |";

struct Row {
    name: &'static str,
    phase: &'static str,
    label: &'static str,
    skill: &'static str,
    to: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    STATES
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [name, phase, label, skill, to] = cells[..] else {
                panic!("{line}");
            };
            Row {
                name,
                phase,
                label,
                skill,
                to: to.split_whitespace().collect(),
            }
        })
        .collect()
}

const CODE: [&str; 18] = [
    "brainstorm-exploring",
    "clear-bs1",
    "brainstorm-clarifying",
    "clear-bs2",
    "brainstorm-designing",
    "clear-bs3",
    "brainstorm-validating",
    "clear-pre-rough",
    "rough-draft-interface",
    "clear-rd1",
    "rough-draft-pseudocode",
    "clear-rd2",
    "rough-draft-skeleton",
    "clear-rd3",
    "build-task-graph",
    "clear-rd4",
    "rough-draft-handoff",
    "clear-post-item",
];
const TASK: [&str; 9] = [
    "brainstorm-exploring",
    "clear-bs1",
    "brainstorm-clarifying",
    "clear-bs2",
    "brainstorm-designing",
    "clear-bs3",
    "brainstorm-validating",
    "task-planning",
    "clear-post-item",
];
const BUGFIX: [&str; 2] = ["systematic-debugging", "clear-post-item"];
const TYPES: [&str; 3] = ["code", "task", "bugfix"];

fn item(number: usize, kind: &str) -> Value {
    json!({ "number": number.to_string(), "title": format!("Item {number}"), "type": kind })
}

fn task(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "dependsOn": needs })
}

/// A session with items of these types and these tasks, at its first state.
fn session(types: &[&str], tasks: &[Value]) -> Driver {
    let items: Vec<Value> = types
        .iter()
        .enumerate()
        .map(|(at, kind)| item(at + 1, kind))
        .collect();
    let mut driver = Driver::new(COLLAB);
    driver.readings.insert(
        "design".to_owned(),
        reading(json!({ "items": items, "errors": [] })),
    );
    driver.readings.insert(
        "graph".to_owned(),
        reading(json!({ "present": true, "errors": [], "tasks": tasks })),
    );
    driver.start(json!({}), json!({})).unwrap();
    driver
}

/// The states that wait on the way of these items and as many batches.
fn way(types: &[&str], batches: usize) -> Vec<&'static str> {
    let mut way = vec!["collab-start", "gather-goals", "clear-pre-item"];
    for kind in types {
        way.extend::<&[&str]>(match *kind {
            "code" => &CODE,
            "task" => &TASK,
            _ => &BUGFIX,
        });
    }
    way.extend(["ready-to-implement", "clear-pre-execute"]);
    for _ in 0..batches {
        way.extend(["execute-batch", "clear-post-batch"]);
    }
    way.extend(["workflow-complete", "cleanup"]);
    way
}

/// Brings every task of the batch in hand to its end.
fn carry_out(driver: &mut Driver) {
    let batch = driver.run.vars["batch"].as_str().unwrap().to_owned();
    let tasks: Vec<String> = driver.run.sets["batches"]
        .get(&batch)
        .unwrap()
        .texts("tasks")
        .map(str::to_owned)
        .collect();
    let done = tasks.iter().map(|task| stands("tasks", task, "completed"));
    driver.edit(done.collect()).unwrap();
}

/// Goes on until `state` is reached.
fn go_to(driver: &mut Driver, state: &str) {
    for _ in 0..100 {
        if driver.state() == state {
            return;
        }
        if driver.state() == "execute-batch" {
            carry_out(driver);
        }
        let skill = driver.skill();
        driver.complete(&skill).unwrap();
    }
    panic!("{state} is never reached");
}

fn skills() -> BTreeSet<&'static str> {
    let skills = rows().into_iter().map(|row| row.skill);
    skills.filter(|skill| !skill.is_empty()).collect()
}

fn targets<'a>(definition: &'a Definition, name: &str) -> Vec<&'a str> {
    let state = definition.state(name).unwrap();
    let edges = state.route.iter().flat_map(|edges| &edges.value.0);
    let edges = edges.chain(state.edges(Trigger::Report));
    let own = state
        .to
        .iter()
        .chain(edges.filter_map(|edge| edge.to.as_ref()));
    own.map(|to| to.value.as_str()).collect()
}

#[test]
fn it_has_these_states_and_transitions() {
    let definition = load(COLLAB);
    let rows = rows();
    assert_eq!(rows.len(), 34);
    let names: Vec<&str> = definition.states.keys().collect();
    assert_eq!(names, rows.iter().map(|row| row.name).collect::<Vec<_>>());
    assert_eq!(definition.all_states().count(), 34, "none is nested");
    let mut transitions = 0;
    for row in rows {
        let state = definition.state(row.name).unwrap();
        let skill = match state.kind() {
            Kind::Work => definition.reported_as(row.name).unwrap_or(row.name),
            _ => "",
        };
        assert_eq!(skill, row.skill, "{}", row.name);
        assert_eq!(definition.phase(row.name), row.phase, "{}", row.name);
        assert_eq!(state.label.as_deref(), Some(row.label), "{}", row.name);
        let to = targets(&definition, row.name);
        transitions += to.len();
        assert_eq!(to, row.to, "{}", row.name);
    }
    assert_eq!(transitions, 38 + 4, "four are for what comes late");
    assert_eq!(skills().len(), 18);
}

#[test]
fn the_executor_forgets_its_context_in_the_clear_states_alone() {
    let definition = load(COLLAB);
    for (_, name, state) in definition.all_states() {
        let work = state.work.as_ref().map(|work| &work.value);
        let clears = name.value.starts_with("clear-");
        assert_eq!(
            work.is_some_and(|work| work.fresh),
            clears,
            "{}",
            name.value
        );
        let asks = work.is_none_or(|work| work.instructions.is_some());
        assert!(asks, "{} gives no instructions", name.value);
    }
}

#[test]
fn three_items_and_two_batches_take_forty_completions() {
    let mut driver = session(&TYPES, &[task("a", &[]), task("b", &["a"])]);
    let way = way(&TYPES, 2);
    assert_eq!(way.len(), 40);
    for state in way {
        assert_eq!(driver.state(), state);
        if state == "execute-batch" {
            carry_out(&mut driver);
        }
        let skill = driver.skill();
        driver.complete(&skill).unwrap();
    }
    assert_eq!(driver.state(), "done");
    assert_eq!(driver.status(), RunStatus::Completed);
    let statuses = driver.facts_of("items");
    assert_eq!(
        statuses["count"],
        json!({ "pending": 0, "documented": 3, "complete": 0, "skipped": 0 })
    );
    assert_eq!(driver.facts_of("batches")["count"]["completed"], 2);
    let logged = driver
        .names(0)
        .iter()
        .filter(|name| *name == "batch:complete")
        .count();
    assert_eq!(logged, 2);
}

#[test]
fn every_mix_of_items_in_every_order_finds_its_way() {
    let mut mixes: Vec<Vec<&str>> = vec![Vec::new()];
    let mut begin = 0;
    for _ in 0..3 {
        let end = mixes.len();
        for at in begin..end {
            for kind in TYPES {
                let mut longer = mixes[at].clone();
                longer.push(kind);
                mixes.push(longer);
            }
        }
        begin = end;
    }
    assert_eq!(mixes.len(), 1 + 3 + 9 + 27);
    for (number, types) in mixes.iter().enumerate().skip(1) {
        let batches = number % 3;
        let tasks: Vec<Value> = (0..batches)
            .map(|at| task(&format!("t{at}"), &["t0"][..at.min(1)]))
            .collect();
        let mut driver = session(types, &tasks);
        for state in way(types, batches) {
            assert_eq!(driver.state(), state, "{types:?}");
            if state == "execute-batch" {
                carry_out(&mut driver);
            }
            let skill = driver.skill();
            driver.complete(&skill).unwrap();
        }
        assert_eq!(driver.state(), "done", "{types:?}");
    }
}

#[test]
fn a_wrong_name_is_refused_in_every_state_and_moves_nothing() {
    let mut driver = session(&TYPES, &[task("a", &[]), task("b", &["a"])]);
    let mut seen = BTreeSet::new();
    let mut last = "nothing yet".to_owned();
    for state in way(&TYPES, 2) {
        assert_eq!(driver.state(), state);
        let before = serde_json::to_string(&driver.run).unwrap();
        let expected = driver.skill();
        for skill in skills().into_iter().chain(["no-such-skill", ""]) {
            if skill == expected {
                continue;
            }
            let refusal = driver.complete(skill).unwrap_err();
            assert_eq!(refusal.code, "stale_unit", "{skill} in {state}");
            // The one that was just accepted is known again: its answer can be given once more.
            assert_eq!(
                refusal.details.contains_key("unit"),
                skill == last,
                "{skill} in {state}"
            );
            assert_eq!(serde_json::to_string(&driver.run).unwrap(), before);
        }
        seen.insert(state);
        if state == "execute-batch" {
            carry_out(&mut driver);
        }
        driver.complete(&expected).unwrap();
        last = expected;
    }
    // Those that wait for somebody; the others are gone through at once.
    assert_eq!(seen.len(), 34 - 4 - 1);
    for skill in skills() {
        let refusal = driver.complete(skill).unwrap_err();
        let known = ["run_over", "stale_unit"].contains(&refusal.code.as_str());
        assert!(known, "{}", refusal.code);
        assert_eq!(driver.state(), "done");
    }
}

#[test]
fn the_same_completion_twice_moves_once() {
    let mut driver = session(&TYPES, &[task("a", &[]), task("b", &["a"])]);
    for state in way(&TYPES, 2) {
        assert_eq!(driver.state(), state);
        if state == "execute-batch" {
            carry_out(&mut driver);
        }
        let (unit, skill) = (driver.unit(), driver.skill());
        driver.complete(&skill).unwrap();
        let (after, events) = (driver.state().to_owned(), driver.events.len());
        let answer = driver.run.last.clone().unwrap();
        assert_eq!(
            (answer.unit.as_str(), answer.answer.validated),
            (unit.as_str(), true)
        );
        let refusal = driver.complete(&skill).unwrap_err();
        assert_eq!(refusal.details["unit"], unit.as_str());
        let refusal = driver.report_to(&unit, json!({})).unwrap_err();
        assert_eq!(refusal.details["unit"], unit.as_str());
        assert_eq!(
            (driver.state(), driver.events.len()),
            (after.as_str(), events)
        );
    }
}

#[test]
fn the_name_of_a_state_means_the_same_as_its_skill() {
    let mut driver = session(&["bugfix"], &[]);
    for state in way(&["bugfix"], 0) {
        assert_eq!(driver.state(), state);
        driver.complete(state).unwrap();
    }
    assert_eq!(driver.state(), "done");
}

#[test]
fn goals_are_gathered_before_anything_else() {
    let mut driver = session(&[], &[]);
    driver.complete("collab-start").unwrap();
    assert_eq!(
        driver.complete("gather-session-goals").unwrap_err().code,
        "no_items"
    );
    driver.readings.insert(
        "design".to_owned(),
        reading(json!({ "items": [], "errors": ["line 3"] })),
    );
    assert_eq!(
        driver.complete("gather-session-goals").unwrap_err().code,
        "items_unreadable"
    );
    let circle = json!([
        { "number": "1", "type": "code", "dependsOn": ["2"] },
        { "number": "2", "type": "task", "dependsOn": ["1"] },
    ]);
    for (items, about) in [
        (circle, json!(["1", "2", "1"])),
        (json!([{ "number": "1", "dependsOn": ["1"] }]), json!(["1"])),
        (json!([{ "number": "1", "dependsOn": ["7"] }]), json!(["1"])),
        (json!([{ "number": "1" }, { "number": "1" }]), json!(["1"])),
    ] {
        driver.readings.insert(
            "design".to_owned(),
            reading(json!({ "items": items, "errors": [] })),
        );
        let refusal = driver.complete("gather-session-goals").unwrap_err();
        assert_eq!(refusal.code, "bad_dependencies");
        assert_eq!(refusal.details["items"], about);
    }
    assert_eq!(driver.state(), "gather-goals");
}

#[test]
fn the_item_that_was_chosen_comes_first_while_it_is_ready() {
    let mut driver = session(&[], &[]);
    let mut items = [item(1, "code"), item(2, "bugfix"), item(3, "task")];
    items[2]["dependsOn"] = json!(["2"]);
    driver
        .edit(vec![
            whole("items", items.clone()),
            crate::driver::var("item", "2"),
        ])
        .unwrap();
    driver.readings.insert(
        "design".to_owned(),
        reading(json!({ "items": items, "errors": [] })),
    );
    go_to(&mut driver, "systematic-debugging");
    assert_eq!(driver.run.pointed_at("item"), Some("2"));
    let refusal = driver
        .edit(vec![crate::driver::var("item", "3")])
        .unwrap_err();
    assert_eq!(refusal.code, "not_now");
    assert_eq!(
        refusal.details["states"],
        json!(["collab-start", "gather-goals"])
    );
    // Documented, it is no more ready: the first one is.
    go_to(&mut driver, "brainstorm-exploring");
    assert_eq!(driver.run.pointed_at("item"), Some("1"));
    assert_eq!(driver.field("items", "2", "status"), "documented");
    go_to(&mut driver, "ready-to-implement");
    assert_eq!(driver.run.pointed_at("item"), None);
}

#[test]
fn one_that_cannot_begin_yet_is_passed_over_however_much_it_is_wanted() {
    let mut driver = session(&[], &[]);
    let mut items = [item(1, "code"), item(2, "bugfix")];
    items[0]["dependsOn"] = json!(["2"]);
    driver.readings.insert(
        "design".to_owned(),
        reading(json!({ "items": items, "errors": [] })),
    );
    driver
        .edit(vec![whole("items", items), crate::driver::var("item", "1")])
        .unwrap();
    go_to(&mut driver, "systematic-debugging");
    assert_eq!(driver.run.pointed_at("item"), Some("2"));
}

#[test]
fn documented_items_are_not_gone_through_again() {
    let mut driver = session(&[], &[]);
    let mut items = [item(1, "code"), item(2, "bugfix")];
    items[0]["status"] = json!("documented");
    driver.readings.insert(
        "design".to_owned(),
        reading(json!({ "items": items, "errors": [] })),
    );
    go_to(&mut driver, "systematic-debugging");
    go_to(&mut driver, "ready-to-implement");
}

#[test]
fn a_graph_is_needed_and_must_be_right() {
    let mut driver = session(&["code"], &[]);
    go_to(&mut driver, "build-task-graph");
    let graph = |present: bool, errors: &[&str], tasks: &[Value]| {
        reading(json!({ "present": present, "errors": errors, "tasks": tasks }))
    };
    driver
        .readings
        .insert("graph".to_owned(), graph(false, &[], &[]));
    assert_eq!(
        driver.complete("build-task-graph").unwrap_err().code,
        "graph_missing"
    );
    driver
        .readings
        .insert("graph".to_owned(), graph(true, &["line 4: no id"], &[]));
    let refusal = driver.complete("build-task-graph").unwrap_err();
    assert_eq!(refusal.code, "graph_invalid");
    assert_eq!(refusal.details["graph"]["errors"], json!(["line 4: no id"]));
    driver
        .readings
        .insert("graph".to_owned(), graph(true, &[], &[]));
    go_to(&mut driver, "ready-to-implement");
    driver
        .readings
        .insert("graph".to_owned(), graph(true, &["line 9"], &[]));
    assert_eq!(
        driver.complete("ready-to-implement").unwrap_err().code,
        "graph_invalid"
    );
    driver.readings.insert(
        "graph".to_owned(),
        graph(true, &[], &[task("a", &["b"]), task("b", &["a"])]),
    );
    let refusal = driver.complete("ready-to-implement").unwrap_err();
    assert_eq!(refusal.code, "bad_dependencies");
    assert_eq!(driver.state(), "ready-to-implement");
    driver
        .readings
        .insert("graph".to_owned(), graph(true, &[], &[]));
    driver.complete("ready-to-implement").unwrap();
    driver.complete("collab-clear").unwrap();
    assert_eq!(driver.state(), "workflow-complete", "nothing to execute");
}

#[test]
fn a_batch_is_finished_when_all_its_tasks_are() {
    let mut driver = session(
        &["bugfix"],
        &[task("a", &[]), task("b", &[]), task("c", &["a"])],
    );
    go_to(&mut driver, "execute-batch");
    let refusal = driver.complete("executing-plans").unwrap_err();
    assert_eq!(refusal.code, "tasks_unfinished");
    driver
        .edit(vec![
            stands("tasks", "a", "in_progress"),
            stands("tasks", "b", "completed"),
        ])
        .unwrap();
    assert_eq!(
        driver.complete("executing-plans").unwrap_err().code,
        "tasks_unfinished"
    );
    driver.edit(vec![stands("tasks", "a", "failed")]).unwrap();
    assert_eq!(
        driver.complete("executing-plans").unwrap_err().code,
        "task_failed"
    );
    driver.edit(vec![stands("tasks", "a", "skipped")]).unwrap();
    driver.complete("executing-plans").unwrap();
    let tasks = driver.facts_of("tasks");
    assert_eq!(
        (&tasks["failed"], &tasks["blocked"], &tasks["remaining"]),
        (&json!(1), &json!(1), &json!(0))
    );
    // Nothing but `c` is in the second batch, and it is not run.
    driver.complete("collab-clear").unwrap();
    assert_eq!(driver.state(), "workflow-complete");
    assert_eq!(driver.field("tasks", "c", "status"), "pending");
    assert_eq!(driver.field("batches", "batch-2", "status"), "pending");
}

#[test]
fn a_pause_takes_no_completion_and_keeps_the_place() {
    let mut driver = session(&["code"], &[]);
    go_to(&mut driver, "clear-bs2");
    driver.pause().unwrap();
    assert_eq!(driver.complete("collab-clear").unwrap_err().code, "paused");
    driver.resume().unwrap();
    driver.complete("collab-clear").unwrap();
    assert_eq!(driver.state(), "brainstorm-designing");
}
