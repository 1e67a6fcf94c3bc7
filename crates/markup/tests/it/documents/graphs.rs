//! Graphs of several items, joined.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use markup::documents::task_graph::{self, Graph, Merged, Part, Task, check, lone, merge, read};

/// An item: its number, its graph as text, and what it comes after.
type Given<'a> = (&'a str, &'a str, &'a [&'a str]);

fn joined_with(given: &[Given<'_>], named: &[(&str, &str, &str)]) -> Merged {
    let graphs: Vec<Graph> = given.iter().map(|(_, text, _)| read(text)).collect();
    let after: Vec<Vec<String>> = given
        .iter()
        .map(|(_, _, after)| after.iter().map(|&item| item.to_owned()).collect())
        .collect();
    let parts: Vec<Part<'_>> = given
        .iter()
        .zip(graphs.iter().zip(&after))
        .map(|((item, _, _), (graph, after))| Part {
            item,
            document: "graph.md",
            graph,
            after,
        })
        .collect();
    let named: BTreeMap<(String, String), String> = named
        .iter()
        .map(|&(item, name, id)| ((item.to_owned(), name.to_owned()), id.to_owned()))
        .collect();
    merge(&parts, &named)
}

fn joined(given: &[Given<'_>]) -> Merged {
    joined_with(given, &[])
}

fn task(id: &str, needs: &[&str]) -> Task {
    Task {
        id: id.to_owned(),
        depends_on: needs.iter().map(|&id| id.to_owned()).collect(),
        parallel: true,
        line: 1,
        ..Task::default()
    }
}

fn graph(tasks: Vec<Task>) -> Graph {
    Graph {
        tasks,
        ..Graph::default()
    }
}

/// The graphs, each of its item, none of which comes after another.
fn joined_graphs(given: &[(&str, &Graph)]) -> Merged {
    let parts: Vec<Part<'_>> = given
        .iter()
        .map(|&(item, graph)| Part {
            item,
            document: "graph.md",
            graph,
            after: &[],
        })
        .collect();
    merge(&parts, &BTreeMap::new())
}

/// Each task with what it needs, on a line.
fn drawn(merged: &Merged) -> Vec<String> {
    merged
        .tasks
        .iter()
        .map(|task| format!("{} < {}", task.id, task.depends_on.join(" ")))
        .collect()
}

fn told(merged: &Merged) -> Vec<(&str, &str, u32)> {
    merged
        .problems
        .iter()
        .map(|found| (found.item.as_str(), found.problem.code, found.problem.line))
        .collect()
}

const TWO: &str = "tasks:\n  - id: types\n  - id: api\n    depends-on: types\n";

#[test]
fn an_id_of_two_items_is_qualified_in_both() {
    let merged = joined(&[
        ("1", TWO, &[]),
        (
            "2",
            "tasks: [{id: types}, {id: ui, depends-on: types}]",
            &[],
        ),
    ]);
    assert!(merged.problems.is_empty());
    assert_eq!(
        drawn(&merged),
        [
            "item-1/types < ",
            "api < item-1/types",
            "item-2/types < ",
            "ui < item-2/types"
        ]
    );
    assert_eq!(merged.tasks[2].name, "types");
    assert_eq!(merged.tasks[2].item, "2");
}

#[test]
fn what_was_known_keeps_its_id() {
    let given: [Given<'_>; 2] = [("1", TWO, &[]), ("2", TWO, &[])];
    let merged = joined_with(&given, &[("1", "types", "types"), ("1", "api", "api")]);
    assert_eq!(
        drawn(&merged),
        [
            "types < ",
            "api < types",
            "item-2/types < ",
            "item-2/api < item-2/types"
        ]
    );
    // An id that was given to a task that is gone is not given to another one.
    let merged = joined_with(&given[1..], &[("1", "types", "types")]);
    assert_eq!(drawn(&merged), ["item-2/types < ", "api < item-2/types"]);
}

#[test]
fn a_task_may_need_one_of_another_item() {
    let merged = joined(&[
        ("1", TWO, &[]),
        ("2a", "tasks: [{id: types}, {id: ui}]", &[]),
        (
            "3",
            "tasks: [{id: end, depends-on: [item-2A/types, item-1/types, ui, api]}]",
            &[],
        ),
    ]);
    assert!(merged.problems.is_empty(), "{:?}", merged.problems);
    assert_eq!(drawn(&merged)[4], "end < item-2a/types item-1/types ui api");
}

#[test]
fn an_id_of_several_others_has_to_be_qualified() {
    let merged = joined(&[
        ("1", TWO, &[]),
        ("2", TWO, &[]),
        ("3", "tasks: [{id: end, depends-on: types}]", &[]),
    ]);
    assert_eq!(told(&merged), [("3", "unknown_dependency", 1)]);
    let problem = &merged.problems[0].problem;
    assert!(
        problem
            .suggestion
            .contains("`item-1/types` and `item-2/types`")
    );
    assert_eq!(problem.tasks, ["end", "types"]);
}

#[test]
fn first_tasks_come_after_last_ones() {
    let wide = "tasks: [{id: a}, {id: b}, {id: c, depends-on: a}]";
    let merged = joined(&[
        ("1", wide, &[]),
        (
            "2",
            "tasks: [{id: x}, {id: y}, {id: z, depends-on: y}]",
            &["1"],
        ),
    ]);
    assert!(merged.problems.is_empty());
    assert_eq!(drawn(&merged)[3..], ["x < b c", "y < b c", "z < y"]);
}

#[test]
fn order_goes_through_an_item_without_tasks() {
    let (none, a, c) = (
        graph(Vec::new()),
        graph(vec![task("a", &[])]),
        graph(vec![task("c", &[])]),
    );
    let after = |items: &[&str]| -> Vec<String> { items.iter().map(|&i| i.to_owned()).collect() };
    let after = [
        after(&["2", "99", "3"]),
        after(&["1", "2b"]),
        after(&["2", "1"]),
        Vec::new(),
    ];
    let given = [("3", &c), ("2", &none), ("2b", &none), ("1", &a)];
    let parts: Vec<Part<'_>> = given
        .iter()
        .zip(&after)
        .map(|(&(item, graph), after)| Part {
            item,
            document: "graph.md",
            graph,
            after,
        })
        .collect();
    let merged = merge(&parts, &BTreeMap::new());
    assert!(merged.problems.is_empty());
    assert_eq!(drawn(&merged), ["c < a", "a < "]);
}

#[test]
fn a_dependency_that_is_named_and_follows_is_there_once() {
    let merged = joined(&[
        ("1", "tasks: [{id: a}, {id: b}]", &[]),
        ("2", "tasks: [{id: c, depends-on: [b]}]", &["1", "1"]),
    ]);
    assert_eq!(drawn(&merged)[2], "c < b a");
}

#[test]
fn a_cycle_through_the_order_of_items_names_it() {
    let merged = joined(&[
        ("1", "tasks: [{id: a, depends-on: item-2/b}]", &[]),
        ("2", "tasks:\n  - id: b\n", &["1"]),
    ]);
    assert_eq!(told(&merged), [("1", "dependency_cycle", 1)]);
    let problem = &merged.problems[0].problem;
    assert_eq!(problem.tasks, ["a", "b", "a"]);
    assert!(
        problem.message.ends_with("item 2 comes after item 1"),
        "{}",
        problem.message
    );
}

#[test]
fn items_that_come_after_each_other_are_a_cycle() {
    let merged = joined(&[
        ("1", "tasks: [{id: a}]", &["2"]),
        ("2", "tasks: [{id: b}]", &["1"]),
    ]);
    assert_eq!(told(&merged), [("1", "dependency_cycle", 1)]);
}

#[test]
fn every_problem_is_carried_along_in_order() {
    let merged = joined(&[
        (
            "1",
            "tasks:\n  - id: a\n    depends-on: nowhere\n  - files: [x]\n  - id: a\n",
            &[],
        ),
        ("2", "tasks:\n  - id: b\n    depends-on: [b]\n", &[]),
    ]);
    assert_eq!(
        told(&merged),
        [
            ("1", "unknown_dependency", 2),
            ("1", "task_without_id", 4),
            ("1", "duplicate_id", 5),
            ("2", "self_dependency", 3),
        ]
    );
    assert_eq!(merged.problems[0].document, "graph.md");
    assert_eq!(merged.tasks.len(), 2);
}

#[test]
fn beside_a_broken_graph_no_dependency_is_called_unknown() {
    let merged = joined(&[
        ("1", "tasks:\n  - id: [\n", &[]),
        ("2", "tasks: [{id: b, depends-on: types}]", &[]),
    ]);
    assert_eq!(told(&merged), [("1", "bad_yaml", 2)]);
}

#[test]
fn ids_that_collide_all_the_same_are_told() {
    let merged = joined(&[
        ("1", "tasks: [{id: item-2/types}, {id: types}]", &[]),
        ("2", "tasks: [{id: types}]", &[]),
    ]);
    assert_eq!(told(&merged), [("2", "duplicate_id", 1)]);
}

#[test]
fn graphs_made_by_hand_are_judged_in_full() {
    let graph = Graph {
        tasks: vec![task("a", &["a"]), task("a", &[]), task("b", &["zzz"])],
        ..Graph::default()
    };
    let codes: Vec<&str> = check(&graph).iter().map(|problem| problem.code).collect();
    assert_eq!(
        codes,
        ["duplicate_id", "self_dependency", "unknown_dependency"]
    );
}

#[test]
fn an_item_without_a_graph_is_one_task() {
    let graph = lone("2", "Deploy: to production");
    assert!(check(&graph).is_empty());
    let none: [String; 0] = [];
    let part = Part {
        item: "2",
        document: "design.md",
        graph: &graph,
        after: &none,
    };
    let merged = merge(&[part], &BTreeMap::new());
    assert_eq!(merged.tasks[0].id, "item-2");
    assert_eq!(merged.tasks[0].description, "Deploy: to production");
    assert!(merged.tasks[0].parallel);
}

#[test]
fn the_task_of_an_item_and_one_of_that_name_are_two() {
    let alone = lone("1", "Deploy");
    let named = read("tasks: [{id: item-1}, {id: b, depends-on: item-1}]");
    let other = read("tasks: [{id: c, depends-on: item-1/item-1}]");
    let merged = joined_graphs(&[("1", &alone), ("2", &named), ("3", &other)]);
    assert!(merged.problems.is_empty(), "{:?}", merged.problems);
    assert_eq!(
        drawn(&merged),
        [
            "item-1/item-1 < ",
            "item-2/item-1 < ",
            "b < item-2/item-1",
            "c < item-1/item-1"
        ]
    );
    // One that was known keeps its id, and the other one gets one of its own.
    let parts = [("1", &alone), ("2", &named)].map(|(item, graph)| Part {
        item,
        document: "graph.md",
        graph,
        after: &[],
    });
    let known = [(("1".to_owned(), "item-1".to_owned()), "item-1".to_owned())];
    let merged = merge(&parts, &BTreeMap::from(known));
    assert!(merged.problems.is_empty(), "{:?}", merged.problems);
    assert_eq!(
        drawn(&merged),
        ["item-1 < ", "item-2/item-1 < ", "b < item-2/item-1"]
    );
}

#[test]
fn an_unknown_dependency_is_named_as_it_is_written() {
    let merged = joined(&[("1", "tasks: [{id: a, depends-on: [Item-2/B]}]", &[])]);
    assert_eq!(told(&merged), [("1", "unknown_dependency", 1)]);
    assert_eq!(merged.problems[0].problem.tasks, ["a", "Item-2/B"]);
}

#[test]
fn of_each_document_only_so_much_is_told() {
    let text = (0..150).fold("tasks:\n".to_owned(), |mut text, n| {
        let _ = writeln!(text, "  - files: [a{n}]\n    Depends: [b]");
        text
    });
    let read = read(&text);
    assert_eq!((read.problems.len(), read.more_problems), (101, 50));
    assert_eq!(read.problems[100].code, "more_problems");
    assert_eq!(read.problems[100].line, 202);
    assert_eq!(read.notes.len(), 101);
    assert_eq!(
        read.notes[100].message,
        "there are 50 more notes, the first of line 203"
    );
    let more = graph(
        (0..120)
            .map(|n| Task {
                line: n + 1,
                ..task(&format!("t{n}"), &["nowhere"])
            })
            .collect(),
    );
    let merged = joined_graphs(&[("1", &more), ("2", &graph(vec![task("x", &["nowhere"])]))]);
    assert_eq!(merged.problems.len(), 102);
    assert_eq!(merged.problems[100].problem.code, "more_problems");
    assert_eq!(merged.problems[101].item, "2");
    // What reading counted is counted along.
    let merged = joined_graphs(&[("1", &read), ("2", &more)]);
    assert_eq!(told(&merged)[100], ("1", "more_problems", 202));
    assert_eq!(
        merged.problems[100].problem.message,
        "there are 50 more problems, the first of line 202"
    );
    assert_eq!(merged.problems.len(), 101);
}

#[test]
fn names_that_many_items_have_are_told_fast() {
    let numbers: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let shared = graph(vec![task("types", &[])]);
    let asking = graph(
        (0..50_000)
            .map(|n| task(&format!("t{n}"), &["types"]))
            .collect(),
    );
    let mut given: Vec<(&str, &Graph)> = numbers
        .iter()
        .map(|number| (number.as_str(), &shared))
        .collect();
    given.push(("end", &asking));
    let merged = timed(|| joined_graphs(&given));
    assert_eq!(merged.problems.len(), 101);
    let suggestion = &merged.problems[0].problem.suggestion;
    assert!(suggestion.ends_with("and 992 more"), "{suggestion}");
}

#[test]
fn long_unknown_names_are_told_fast() {
    let long = "x".repeat(500_000);
    let mut tasks: Vec<Task> = (0..5_000).map(|n| task(&format!("t{n}"), &[])).collect();
    tasks.push(task("end", &[&long]));
    let problems = timed(|| check(&graph(tasks)));
    assert_eq!(problems[0].tasks[1].len(), long.len());
    assert!(problems[0].message.len() < 1_000);
}

#[test]
fn nothing_merges_to_nothing() {
    assert_eq!(merge(&[], &BTreeMap::new()), Merged::default());
}

/// Far more than it takes, for machines that have something else to do.
const SLOW: Duration = Duration::from_mins(1);

fn timed<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    assert!(took < SLOW, "{took:?}");
    done
}

#[test]
fn many_tasks_are_merged_fast() {
    let chain = Graph {
        tasks: (0..25_000)
            .map(|n| Task {
                id: format!("t{n}"),
                depends_on: (n > 0).then(|| format!("t{}", n - 1)).into_iter().collect(),
                parallel: true,
                line: n + 1,
                ..Task::default()
            })
            .collect(),
        ..Graph::default()
    };
    let after = ["1".to_owned()];
    let part = |item, after| Part {
        item,
        document: "graph.md",
        graph: &chain,
        after,
    };
    let parts = [part("1", &[][..]), part("2", &after[..])];
    let merged = timed(|| merge(&parts, &BTreeMap::new()));
    assert!(merged.problems.is_empty());
    assert_eq!(merged.tasks.len(), 50_000);
    assert_eq!(merged.tasks[25_000].depends_on, ["item-1/t24999"]);
}

#[test]
fn many_tasks_are_read_fast() {
    let text = (0..3_000).fold("tasks:\n".to_owned(), |mut text, n| {
        let _ = writeln!(
            text,
            "  - {{id: t{n}, files: [src/{n}.rs], depends-on: [t{}]}}",
            n + 1
        );
        text
    });
    assert_eq!(timed(|| read(&text)).tasks.len(), 3_000);
}

#[test]
fn a_large_knot_and_many_unknown_names_are_told_fast() {
    let graph = Graph {
        tasks: (0..50_000)
            .map(|n| Task {
                id: format!("t{n}"),
                depends_on: vec![format!("t{}", (n + 1) % 50_000), format!("nowhere{n}")],
                parallel: true,
                line: n + 1,
                ..Task::default()
            })
            .collect(),
        ..Graph::default()
    };
    let problems = timed(|| check(&graph));
    // The problems of the first lines, and one that counts the others.
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[1].code, "dependency_cycle");
    let last = &problems[100];
    assert_eq!((last.code, last.line), ("more_problems", 100));
    assert_eq!(
        last.message,
        "there are 49901 more problems, the first of line 100"
    );
}

#[test]
fn too_many_dependencies_that_would_follow_are_refused() {
    let wide = |prefix: &str| {
        let ids: Vec<String> = (0..2_000).map(|n| format!("{{id: {prefix}{n}}}")).collect();
        format!("tasks: [{}]", ids.join(", "))
    };
    let merged = timed(|| joined(&[("1", &wide("a"), &[]), ("2", &wide("b"), &["1"])]));
    assert_eq!(told(&merged), [("2", "too_large", 1)]);
}

#[test]
fn a_document_that_is_too_long_is_not_read() {
    let text = format!("tasks: []\n{}", "#".repeat(task_graph::MAX_BYTES));
    let graph = read(&text);
    assert_eq!(graph.problems[0].code, "too_large");
}

#[test]
fn hostile_documents_end_soon() {
    let deep = format!("tasks:\n  - id: a\n    files: {}", "[".repeat(20_000));
    assert_eq!(timed(|| read(&deep)).problems[0].code, "too_large");
    for text in [
        "- ".repeat(40_000),
        "```\n".repeat(20_000),
        "<!--\n".repeat(20_000),
        "> ".repeat(20_000),
        format!("{}tasks:", "```yaml\n~~~\n".repeat(10_000)),
        "{tasks: ".repeat(10_000),
        "tasks:\n".repeat(10_000),
        format!("tasks:\n{}", "  - id: a\n".repeat(4_000)),
        format!("tasks:\n  - id: {}", "x".repeat(300_000)),
        "# Item 1: **Type:** ".repeat(10_000),
        format!("### Item 1: x\n{}", "**Type:** code,|,*".repeat(20_000)),
        format!("### Item 1: x\nDepends on: {}", "1 ".repeat(20_000)),
        format!("### Item 1: x\nDepends on: {}", "(".repeat(40_000)),
        format!("### Item 1: x\nType: {}", "<!--".repeat(20_000)),
        "### Item 1: x\n".repeat(10_000),
    ] {
        timed(|| read(&text));
        timed(|| markup::documents::design::read(&text));
    }
}
