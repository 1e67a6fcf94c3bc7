//! The built-in `collab`, on the machine alone: its graph, every way through it, and completions that mean nothing.

use machine::definition::Kind;
use machine::trigger::Trigger;
use machine::{Definition, RunStatus};
use serde_json::{Value, json};

use crate::driver::{Driver, reading, stands, var, whole};
use crate::support::{COLLAB, load};
use crate::tdd::code;

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

/// The cells of each line.
fn rows() -> Vec<[&'static str; 5]> {
    let cells = |line: &'static str| -> Vec<_> { line.split('|').map(str::trim).collect() };
    let rows = STATES.lines().map(cells);
    rows.map(|cells| cells.try_into().unwrap()).collect()
}

const TYPES: [&str; 3] = ["code", "task", "bugfix"];

fn item(number: usize, kind: &str) -> Value {
    json!({ "number": number.to_string(), "title": format!("Item {number}"), "type": kind })
}

fn task(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "dependsOn": needs })
}

/// From now on the design is read so.
fn designed(driver: &mut Driver, items: &Value, errors: &[&str]) {
    let found = reading(json!({ "items": items, "errors": errors }));
    driver.readings.insert("design".to_owned(), found);
}

/// From now on the graph is read so.
fn graphed(driver: &mut Driver, present: bool, errors: &[&str], tasks: &[Value]) {
    let found = reading(json!({ "present": present, "errors": errors, "tasks": tasks }));
    driver.readings.insert("graph".to_owned(), found);
}

/// A session with items of these types and these tasks, at its first state.
fn session(types: &[&str], tasks: &[Value]) -> Driver {
    let numbered = types.iter().enumerate();
    let items: Vec<Value> = numbered.map(|(at, kind)| item(at + 1, kind)).collect();
    let mut driver = Driver::begun(COLLAB);
    designed(&mut driver, &json!(items), &[]);
    graphed(&mut driver, true, &[], tasks);
    driver
}

/// The states that wait on the way of an item, as the table leads.
fn way_of(kind: &str) -> Vec<&'static str> {
    let bug = kind == "bugfix";
    let mut at = ["brainstorm-exploring", "systematic-debugging"][usize::from(bug)];
    let mut way = Vec::new();
    while at != "work-item-router" {
        let row = rows().into_iter().find(|row| row[0] == at).unwrap();
        let [name, _, _, skill, to] = row;
        let mut to = to.split(' ');
        if skill.is_empty() && kind == "task" {
            to.next();
        }
        if !skill.is_empty() {
            way.push(name);
        }
        at = to.next().unwrap();
    }
    way
}

/// The states that wait on the way of these items and as many batches.
fn way(types: &[&str], batches: usize) -> Vec<&'static str> {
    let mut way = vec!["collab-start", "gather-goals", "clear-pre-item"];
    way.extend(types.iter().flat_map(|kind| way_of(kind)));
    way.extend(["ready-to-implement", "clear-pre-execute"]);
    for _ in 0..batches {
        way.extend(["execute-batch", "clear-post-batch"]);
    }
    way.extend(["workflow-complete", "cleanup"]);
    way
}

/// Completes the present state; a batch when every task of it is done.
fn complete(driver: &mut Driver) {
    if driver.state() == "execute-batch" {
        let batch = driver.run.pointed_at("batch").unwrap();
        let batch = driver.run.sets["batches"].get(batch).unwrap();
        let tasks = batch.texts("tasks");
        let done: Vec<_> = tasks
            .map(|task| stands("tasks", task, "completed"))
            .collect();
        driver.set(done);
    }
    driver.complete(&driver.skill()).unwrap();
}

/// Goes on until `state` is reached.
fn go_to(driver: &mut Driver, state: &str) {
    for _ in 0..100 {
        if driver.state() == state {
            return;
        }
        complete(driver);
    }
    panic!("{state} is never reached");
}

fn targets<'a>(definition: &'a Definition, name: &str) -> Vec<&'a str> {
    let state = definition.state(name).unwrap();
    let edges = state.route.iter().flat_map(|edges| &edges.value.0);
    let edges = edges.chain(state.edges(Trigger::Report));
    let edges = edges.filter_map(|edge| edge.to.as_ref());
    let own = state.to.iter().chain(edges);
    own.map(|to| to.value.as_str()).collect()
}

#[test]
fn it_has_these_states_and_transitions() {
    let definition = load(COLLAB);
    let names = definition.all_states().map(|(_, name, _)| &name.value);
    assert!(names.eq(rows().iter().map(|row| row[0])));
    for [name, phase, label, skill, to] in rows() {
        let state = definition.state(name).unwrap();
        let found = match state.kind() {
            Kind::Work => definition.reported_as(name).unwrap_or(name),
            _ => "",
        };
        let shown = [
            definition.phase(name),
            state.label.as_deref().unwrap(),
            found,
        ];
        assert_eq!(shown, [phase, label, skill]);
        assert_eq!(targets(&definition, name).join(" "), to, "{name}");
        // The executor forgets its context in the clear states alone, and each gives instructions.
        let work = state.work.as_ref().map(|work| &work.value);
        let fresh = work.is_some_and(|work| work.fresh);
        assert_eq!(fresh, name.starts_with("clear-"), "{name}");
        assert!(work.is_none_or(|work| work.instructions.is_some()));
    }
}

#[test]
fn every_mix_of_items_in_every_order_finds_its_way() {
    let mut mixes = vec![vec![]];
    for from in 0..13 {
        for kind in TYPES {
            mixes.push([&mixes[from][..], &[kind]].concat());
        }
    }
    assert_eq!(mixes.len(), 1 + 3 + 9 + 27);
    for (number, types) in mixes.iter().enumerate().skip(1) {
        let batches = number % 3;
        let tasks = [task("t0", &[]), task("t1", &["t0"])];
        let mut driver = session(types, &tasks[..batches]);
        for state in way(types, batches) {
            assert_eq!(driver.state(), state, "{types:?}");
            complete(&mut driver);
        }
        assert_eq!(driver.status(), RunStatus::Completed, "{types:?}");
        let items = &driver.facts_of("items")["count"];
        let counts =
            json!({ "pending": 0, "documented": types.len(), "complete": 0, "skipped": 0 });
        assert_eq!(*items, counts);
        let events = driver.names(0);
        let logged = events.iter().filter(|name| *name == "batch:complete");
        assert_eq!(logged.count(), batches);
    }
}

#[test]
fn goals_are_gathered_before_anything_else() {
    let mut driver = session(&[], &[]);
    driver.complete("collab-start").unwrap();
    let needs = |number: &str| json!([{ "number": "1", "dependsOn": [number] }]);
    for (items, errors, expected) in [
        (json!([]), &[][..], "no_items"),
        (json!([]), &["line 3"], "items_unreadable"),
        (needs("1"), &[], "bad_dependencies"),
        (needs("7"), &[], "bad_dependencies"),
    ] {
        designed(&mut driver, &items, errors);
        let refused = driver.complete("gather-session-goals");
        assert_eq!(code(refused), expected, "{items}");
    }
}

#[test]
fn the_item_that_was_chosen_comes_first_while_it_is_ready() {
    let mut items = [
        item(1, "code"),
        item(2, "bugfix"),
        item(3, "task"),
        item(4, "bugfix"),
    ];
    items[2]["dependsOn"] = json!(["2"]);
    items[3]["status"] = json!("documented");
    let chosen = |number: &str, state: &str| {
        let mut driver = session(&[], &[]);
        designed(&mut driver, &json!(items), &[]);
        driver.set([whole("items", items.clone()), var("item", number)]);
        go_to(&mut driver, state);
        driver
    };
    // One that cannot begin yet is passed over, however much it is wanted.
    let driver = chosen("3", "brainstorm-exploring");
    assert_eq!(driver.run.pointed_at("item"), Some("1"));
    let mut driver = chosen("2", "systematic-debugging");
    assert_eq!(driver.run.pointed_at("item"), Some("2"));
    let refusal = driver.edit(vec![var("item", "3")]).unwrap_err();
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
fn a_graph_is_needed_and_must_be_right() {
    let mut driver = session(&["code"], &[]);
    go_to(&mut driver, "build-task-graph");
    graphed(&mut driver, false, &[], &[]);
    assert_eq!(code(driver.complete("build-task-graph")), "graph_missing");
    graphed(&mut driver, true, &["line 4: no id"], &[]);
    let refusal = driver.complete("build-task-graph").unwrap_err();
    assert_eq!(refusal.code, "graph_invalid");
    assert_eq!(refusal.details["graph"]["errors"], json!(["line 4: no id"]));
    graphed(&mut driver, true, &[], &[]);
    go_to(&mut driver, "ready-to-implement");
    let circle = [task("a", &["b"]), task("b", &["a"])];
    graphed(&mut driver, true, &["line 9"], &[]);
    assert_eq!(code(driver.complete("ready-to-implement")), "graph_invalid");
    graphed(&mut driver, true, &[], &circle);
    assert_eq!(
        code(driver.complete("ready-to-implement")),
        "bad_dependencies"
    );
    // There is nothing to execute.
    graphed(&mut driver, true, &[], &[]);
    driver.complete("ready-to-implement").unwrap();
    driver.complete("collab-clear").unwrap();
    assert_eq!(driver.state(), "workflow-complete");
}

#[test]
fn a_batch_is_finished_when_all_its_tasks_are() {
    let tasks = [task("a", &[]), task("b", &[]), task("c", &["a"])];
    let mut driver = session(&["bugfix"], &tasks);
    go_to(&mut driver, "execute-batch");
    let finished = |driver: &mut Driver| driver.complete("executing-plans");
    assert_eq!(code(finished(&mut driver)), "tasks_unfinished");
    driver.set([
        stands("tasks", "a", "in_progress"),
        stands("tasks", "b", "completed"),
    ]);
    assert_eq!(code(finished(&mut driver)), "tasks_unfinished");
    driver.set([stands("tasks", "a", "failed")]);
    assert_eq!(code(finished(&mut driver)), "task_failed");
    driver.set([stands("tasks", "a", "skipped")]);
    finished(&mut driver).unwrap();
    let counted = driver.counted("tasks", ["failed", "blocked", "remaining"]);
    assert_eq!(counted, [1, 1, 0]);
    // Nothing but `c` is in the second batch, and it is not run.
    driver.complete("collab-clear").unwrap();
    assert_eq!(driver.state(), "workflow-complete");
    assert_eq!(driver.field("tasks", "c", "status"), "pending");
    assert_eq!(driver.field("batches", "batch-2", "status"), "pending");
}
