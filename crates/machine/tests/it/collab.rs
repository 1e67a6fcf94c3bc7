//! The built-in `collab`, on the machine alone: its graph, and the way of each kind of item through it.

use machine::definition::Kind;
use machine::trigger::Trigger;
use machine::{Definition, RunStatus};
use serde_json::json;

use crate::driver::{Driver, reading, stands};
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

/// The cells of each line.
fn rows() -> Vec<[&'static str; 5]> {
    let cells = |line: &'static str| -> Vec<_> { line.split('|').map(str::trim).collect() };
    let rows = STATES.lines().map(cells);
    rows.map(|cells| cells.try_into().unwrap()).collect()
}

/// Completes the present state; a batch when every task of it is done.
fn complete(driver: &mut Driver) {
    if driver.state() == "execute-batch" {
        let batch = driver.run.pointed_at("batch").unwrap();
        let batch = driver.run.sets["batches"].get(batch).unwrap();
        let done = batch
            .texts("tasks")
            .map(|task| stands("tasks", task, "completed"));
        driver.set(done.collect::<Vec<_>>());
    }
    driver.complete(&driver.skill()).unwrap();
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
fn a_session_goes_through_its_items_and_its_batches() {
    let mut driver = Driver::begun(COLLAB);
    let item = |number: &str, kind: &str| json!({ "number": number, "title": "x", "type": kind });
    let items = [item("1", "bugfix"), item("2", "task"), item("3", "code")];
    let tasks = [
        json!({ "id": "t0" }),
        json!({ "id": "t1", "dependsOn": ["t0"] }),
    ];
    let design = reading(json!({ "items": items, "errors": [] }));
    let graph = reading(json!({ "present": true, "errors": [], "tasks": tasks }));
    driver.readings = [("design", design), ("graph", graph)]
        .map(|(reader, found)| (reader.to_owned(), found))
        .into();
    let mut way = Vec::new();
    while driver.status() == RunStatus::Running {
        way.push(driver.state().to_owned());
        complete(&mut driver);
    }
    // What forgets the context stands between the others.
    way.retain(|state| !state.starts_with("clear-"));
    let item =
        "brainstorm-exploring brainstorm-clarifying brainstorm-designing brainstorm-validating";
    let draft = "rough-draft-interface rough-draft-pseudocode rough-draft-skeleton build-task-graph rough-draft-handoff";
    let expected = format!(
        "collab-start gather-goals systematic-debugging {item} task-planning {item} {draft} \
         ready-to-implement execute-batch execute-batch workflow-complete cleanup"
    );
    assert_eq!(way.join(" "), expected);
    let counts = json!({ "pending": 0, "documented": 3, "complete": 0, "skipped": 0 });
    assert_eq!(driver.facts_of("items")["count"], counts);
    let events = driver.names(0);
    let logged = events.iter().filter(|name| *name == "batch:complete");
    assert_eq!(logged.count(), 2);
}
