//! Advice followed to the letter: from workflows of each shape to their ends.

use super::environment::{TestEnvironment, words};

/// What a view asks of a workflow, and what comes before the state at hand.
const ON_TASK: &str = "view: autopilot
config: autopilot
inputs: { taskId: string, maxAttempts: { type: int, default: =config.maxGreenAttempts } }
uses:
  repository: {}
  tasks: { id: =inputs.taskId, attempts: =inputs.maxAttempts, into: steps }
  tests: {}
items:
  steps:
    key: id
    needs: dependencies
    fields: { id: string, title: string, description: string, details: string, testStrategy: string, acceptanceCriteria: [string], dependencies: [string] }
initial: first
states:
  first: { do: [git.branch, tag.switch], to: NEXT }
";
const OF_ITEMS: &str = "items: { steps: { key: id, fields: { id: string } } }
initial: first
states:
  first: { route: { load: { steps: \"=['a', 'b'].map(x, {'id': x})\" }, to: NEXT } }
";
const OF_ITEMS_ALONE: &str = "  each:
    each: { items: steps, initial: here }
    on: { done: { to: end } }
    states:
      here: STATE
      there: { final: completed }
";

/// States that wait, each by a shape of its own; `TO` is where they lead.
const SHAPES: [&str; 10] = [
    "{ work: { by: BY }, to: TO }",
    "{ phase: build, work: { by: BY }, to: TO }",
    "{ work: { by: BY }, expects: outcome, on: { report: [ { when: \"outcome.outcome == 'good'\", to: TO }, { refuse: bad } ] } }",
    "{ work: { by: BY }, expects: outcome, on: { report: { to: TO } } }",
    "{ phase: refactor, work: { by: BY }, expects: outcome, on: { report: { to: TO } } }",
    "{ work: { by: BY }, expects: tests, on: { report: { to: TO } } }",
    "{ phase: chore, work: { by: BY }, expects: tests, on: { report: { to: TO } } }",
    "{ phase: polish, work: { by: BY }, expects: tests, on: { report: { to: TO } } }",
    "{ work: { by: BY, response: answer.md }, to: TO }",
    "{ gate: look, work: { by: BY }, to: TO }",
];

/// The shapes that stand among items, too.
const OF_AN_ITEM: usize = 8;

/// A project with a workflow of this shape.
fn project(on_task: bool, each: bool, shape: &str) -> TestEnvironment {
    let by = if each { "person" } else { "agent" };
    let to = if each { "there" } else { "end" };
    let state = shape.replace("BY", by).replace("TO", to);
    let head = if on_task { ON_TASK } else { OF_ITEMS };
    let head = head.replace("NEXT", if each { "each" } else { "here" });
    let alone = "  here: STATE\n";
    let body = if each { OF_ITEMS_ALONE } else { alone };
    let body = body.replace("STATE", &state);
    let own = match shape {
        _ if shape.contains("bad") => "messages: { bad: { message: No, fix: say `good` } }\n",
        _ if shape.contains("gate") => "gates: { look: human }\n",
        _ => "",
    };
    let environment = TestEnvironment::new();
    let own = format!("tramline: 1\nid: own\ntitle: Own\n{own}");
    let text = format!("{own}{head}{body}  end: {{ final: completed }}\n");
    environment.own_workflow("own", &text);
    environment
}

/// Follows what is advised from the start to the end.
fn follow(environment: &TestEnvironment, start: &str, shape: &str) {
    let mut page = environment.tm(&words(start)).text().to_owned();
    for _ in 0..20 {
        let lines = page.lines().map(str::trim);
        let commands = lines.filter_map(|line| line.strip_prefix("-> tm "));
        let commands: Vec<&str> = commands.collect();
        assert!(!commands.is_empty(), "{shape}: {page}");
        let command = commands[0].replace(":N,", ":0,").replace(":N", ":1");
        let command = command.replace("WORD", "good");
        if command.starts_with("runs report") {
            return;
        }
        // What is shown anywhere else is taken, too: the program itself holds that.
        environment.tm(&["run", "status"]).text();
        if let Some((_, file)) = page.split_once("waits for  ") {
            std::fs::write(file.lines().next().unwrap(), "Here it is.\n").unwrap();
        }
        if command.starts_with("run approve") {
            assert_eq!(commands.len(), 1, "nothing is rejected there: {commands:?}");
            page = environment.agrees(&command);
            continue;
        }
        let told = environment.tm(&words(&command));
        let taken = told.status == 0 || told.status == 3 && command.starts_with("autopilot next");
        assert!(taken, "{shape}: {command}: {told:?}");
        page = told.out + &told.err;
    }
    panic!("{shape}: it comes to no end: {page}");
}

#[test]
fn each_shape_is_led_to_its_end() {
    testkit::by_chance!(3);
    let alone = SHAPES.iter().map(|shape| (false, shape));
    let each = SHAPES[..OF_AN_ITEM].iter().map(|shape| (true, shape));
    for (at, (each, shape)) in alone.chain(each).enumerate() {
        let on_task = (at % 2 == 1) != each;
        let start = if on_task {
            "autopilot start 1 --workflow own"
        } else {
            "run start own"
        };
        follow(&project(on_task, each, shape), start, shape);
    }
}
