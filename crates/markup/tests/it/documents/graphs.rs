//! Graphs of several items, joined.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use markup::documents::task_graph::{self, Graph, Merged, Part, Task, check, lone, merge, read};

/// An item: its number, what it comes after, and its graph.
type Given = (String, Vec<String>, Graph);

fn joined_with(given: &[Given], named: &[(&str, &str, &str)]) -> Merged {
    let part = |(item, after, graph)| Part {
        item,
        document: "graph.md",
        graph,
        after,
    };
    let parts: Vec<Part<'_>> = given.iter().map(|(i, a, g)| part((i, a, g))).collect();
    let own = |text: &str| text.to_owned();
    let named = named
        .iter()
        .map(|(item, name, id)| ((own(item), own(name)), own(id)));
    merge(&parts, &named.collect())
}

/// The graphs, each of its item, none of which comes after another.
fn joined<const N: usize>(given: [(&str, Graph); N]) -> Merged {
    joined_with(
        &given.map(|(item, graph)| (item.to_owned(), Vec::new(), graph)),
        &[],
    )
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

fn graph(tasks: impl IntoIterator<Item = Task>) -> Graph {
    Graph {
        tasks: tasks.into_iter().collect(),
        ..Graph::default()
    }
}

/// As many tasks, each on a line of its own, with what it needs.
fn many(count: u32, needs: impl Fn(u32) -> Vec<String>) -> Graph {
    graph((0..count).map(|n| Task {
        line: n + 1,
        depends_on: needs(n),
        ..task(&format!("t{n}"), &[])
    }))
}

/// Items in short: `2 >1 = a, b <a` is the item 2, which comes after item 1; its task `b` needs `a`.
fn items(short: &str) -> Vec<Given> {
    let item = |one: &str| {
        let (head, tasks) = one.split_once(" =").unwrap();
        let mut head = head.split(" >").map(str::to_owned);
        let tasks = tasks
            .split(',')
            .map(str::trim)
            .filter(|task| !task.is_empty());
        let tasks = tasks.map(|one| {
            let mut words = one.split(" <");
            task(words.next().unwrap(), &words.collect::<Vec<_>>())
        });
        (head.next().unwrap(), head.collect(), graph(tasks))
    };
    short.split(" | ").map(item).collect()
}

/// Each task with what it needs, in short.
fn drawn(merged: &Merged) -> String {
    let tasks = merged.tasks.iter().map(|task| {
        let needs = task.depends_on.iter().map(|need| format!(" <{need}"));
        task.id.clone() + &needs.collect::<String>()
    });
    tasks.collect::<Vec<_>>().join(", ")
}

fn told(merged: &Merged) -> Vec<(&str, &str, u32)> {
    let told = merged.problems.iter();
    told.map(|found| (found.item.as_str(), found.problem.code, found.problem.line))
        .collect()
}

const TWO: &str = "1 = types, api <types | 2 = types, api <types";

#[test]
fn ids_are_qualified_where_two_items_have_them_and_order_is_added() {
    let known: &[(&str, &str, &str)] = &[("1", "types", "types"), ("1", "api", "api")];
    for (short, named, expected) in [
        (
            "1 = types, api <types | 2 = types, ui <types",
            &[][..],
            "item-1/types, api <item-1/types, item-2/types, ui <item-2/types",
        ),
        // What was known keeps its id.
        (
            TWO,
            known,
            "types, api <types, item-2/types, item-2/api <item-2/types",
        ),
        // An id that was given to a task that is gone is not given to another one.
        (
            "2 = types, api <types",
            &known[..1],
            "item-2/types, api <item-2/types",
        ),
        (
            "1 = types, api | 2a = types, ui | 3 = end <item-2A/types <item-1/types <ui <api",
            &[],
            "item-1/types, api, item-2a/types, ui, end <item-2a/types <item-1/types <ui <api",
        ),
        // First tasks come after last ones.
        (
            "1 = a, b, c <a | 2 >1 = x, y, z <y",
            &[],
            "a, b, c <a, x <b <c, y <b <c, z <y",
        ),
        // Order goes through an item without tasks.
        (
            "3 >2 >99 >3 = c | 2 >1 >2b = | 2b >2 >1 = | 1 = a",
            &[],
            "c <a, a",
        ),
        // What is named and follows is there once.
        ("1 = a, b | 2 >1 >1 = c <b", &[], "a, b, c <b <a"),
    ] {
        let merged = joined_with(&items(short), named);
        assert_eq!((drawn(&merged).as_str(), told(&merged)), (expected, vec![]));
    }
    assert_eq!(merge(&[], &BTreeMap::new()), Merged::default());
    let second = &joined_with(&items(TWO), &[]).tasks[2];
    assert_eq!((&*second.name, &*second.item), ("types", "2"));
}

#[test]
fn what_does_not_fit_together_is_told() {
    for (short, code, item, tasks, words) in [
        (
            "1 = types | 2 = types | 3 = end <types",
            "unknown_dependency",
            "3",
            "end types",
            "`item-1/types` and `item-2/types`",
        ),
        (
            "1 = a <Item-2/B",
            "unknown_dependency",
            "1",
            "a Item-2/B",
            "",
        ),
        (
            "1 = a <item-2/b | 2 >1 = b",
            "dependency_cycle",
            "1",
            "a b a",
            "item 2 comes after item 1",
        ),
        ("1 >2 = a | 2 >1 = b", "dependency_cycle", "1", "a b a", ""),
        (
            "1 = item-2/types, types | 2 = types",
            "duplicate_id",
            "2",
            "item-2/types",
            "",
        ),
    ] {
        let merged = joined_with(&items(short), &[]);
        assert_eq!(told(&merged), [(item, code, 1)], "{short}");
        let found = &merged.problems[0];
        assert_eq!(
            (found.problem.tasks.join(" "), &*found.document),
            (tasks.to_owned(), "graph.md")
        );
        let said = format!("{} {}", found.problem.message, found.problem.suggestion);
        assert!(said.contains(words), "{said}");
    }
    let knots = "1 = a <b, b <c, c <a <b, d <e, e <d, f <a";
    let merged = joined_with(&items(knots), &[]);
    let cycles = merged
        .problems
        .iter()
        .map(|found| found.problem.tasks.join(" "));
    assert_eq!(cycles.collect::<Vec<_>>(), ["a b c a", "d e d"]);
    let own = [task("a", &["a"]), task("a", &[]), task("b", &["zzz"])];
    let codes = check(&graph(own)).into_iter().map(|problem| problem.code);
    let expected = ["duplicate_id", "self_dependency", "unknown_dependency"];
    assert!(codes.eq(expected));
}

#[test]
fn every_problem_is_carried_along_in_order() {
    let first = "tasks:\n  - id: a\n    depends-on: nowhere\n  - files: [x]\n  - id: a\n";
    let second = "tasks:\n  - id: b\n    depends-on: [b]\n";
    let merged = joined([("1", read(first)), ("2", read(second))]);
    let expected = [
        ("1", "unknown_dependency", 2),
        ("1", "task_without_id", 4),
        ("1", "duplicate_id", 5),
        ("2", "self_dependency", 3),
    ];
    assert_eq!(
        (told(&merged).as_slice(), merged.tasks.len()),
        (&expected[..], 2)
    );
    // Beside a broken graph no dependency is called unknown.
    let broken = read("tasks:\n  - id: [\n");
    let merged = joined([("1", broken), ("2", graph([task("b", &["types"])]))]);
    assert_eq!(told(&merged), [("1", "bad_yaml", 2)]);
}

#[test]
fn an_item_without_a_graph_is_one_task_and_one_of_that_name_is_another() {
    let alone = || ("1", lone("1", "Deploy: to production"));
    let named = || ("2", graph([task("item-1", &[]), task("b", &["item-1"])]));
    let other = ("3", graph([task("c", &["item-1/item-1"])]));
    let first = &joined([alone()]).tasks[0];
    assert_eq!((&*first.id, first.parallel), ("item-1", true));
    assert_eq!(first.description, "Deploy: to production");
    let merged = joined([alone(), named(), other]);
    assert_eq!(told(&merged), []);
    assert_eq!(
        drawn(&merged),
        "item-1/item-1, item-2/item-1, b <item-2/item-1, c <item-1/item-1"
    );
    // One that was known keeps its id, and the other one gets one of its own.
    let given = [alone(), named()].map(|(item, graph)| (item.to_owned(), Vec::new(), graph));
    let merged = joined_with(&given, &[("1", "item-1", "item-1")]);
    assert_eq!(told(&merged), []);
    assert_eq!(drawn(&merged), "item-1, item-2/item-1, b <item-2/item-1");
}

#[test]
fn of_each_document_only_so_much_is_told() {
    let text = (0..150).fold("tasks:\n".to_owned(), |mut text, n| {
        let _ = writeln!(text, "  - files: [a{n}]\n    Depends: [b]");
        text
    });
    let read = read(&text);
    let last = |at: usize| (read.problems[at].code, read.problems[at].line);
    assert_eq!((read.problems.len(), read.more_problems), (101, 50));
    assert_eq!((last(100), read.notes.len()), (("more_problems", 202), 101));
    assert!(
        read.notes[100]
            .message
            .contains("50 more notes, the first of line 203")
    );
    let more = many(120, |_| vec!["nowhere".to_owned()]);
    let x = ("2", graph([task("x", &["nowhere"])]));
    let merged = joined([("1", more.clone()), x]);
    assert_eq!(merged.problems.len(), 102);
    assert_eq!(
        told(&merged)[100..],
        [("1", "more_problems", 101), ("2", "unknown_dependency", 1)]
    );
    // What reading counted is counted along.
    let merged = joined([("1", read), ("2", more)]);
    assert_eq!(told(&merged)[100], ("1", "more_problems", 202));
    let message = &merged.problems[100].problem.message;
    assert!(message.contains("50 more problems, the first of line 202"));
}

#[test]
fn what_is_large_is_told_fast() {
    // Names that many items have.
    let item = |n: u32| (n.to_string(), Vec::new(), graph([task("types", &[])]));
    let mut given: Vec<Given> = (0..1_000).map(item).collect();
    given.push((
        "end".to_owned(),
        Vec::new(),
        many(20_000, |_| vec!["types".to_owned()]),
    ));
    let merged = joined_with(&given, &[]);
    let suggestion = &merged.problems[0].problem.suggestion;
    assert!(suggestion.ends_with("and 992 more"), "{suggestion}");
    // Long unknown names.
    let long = "x".repeat(500_000);
    let mut long_name = many(5_000, |_| vec![]);
    long_name.tasks.push(task("end", &[&long]));
    let problems = check(&long_name);
    assert_eq!(problems[0].tasks[1].len(), long.len());
    assert!(problems[0].message.len() < 1_000);
    // A large knot, and many unknown names.
    let knot = many(20_000, |n| {
        vec![format!("t{}", (n + 1) % 20_000), format!("nowhere{n}")]
    });
    let problems = check(&knot);
    assert_eq!(
        (problems.len(), problems[1].code),
        (101, "dependency_cycle")
    );
    let last = (problems[100].code, problems[100].line);
    assert_eq!(last, ("more_problems", 100));
    assert!(problems[100].message.contains("19901 more problems"));
    // Two chains, one behind the other; and two items that are too wide for that.
    let twice = |graph: Graph| {
        let first = ("1".to_owned(), Vec::new(), graph.clone());
        let second = ("2".to_owned(), vec!["1".to_owned()], graph);
        joined_with(&[first, second], &[])
    };
    let before = |n: u32| n.checked_sub(1).map(|n| format!("t{n}"));
    let merged = twice(many(10_000, |n| before(n).into_iter().collect()));
    assert_eq!((told(&merged), merged.tasks.len()), (vec![], 20_000));
    assert_eq!(merged.tasks[10_000].depends_on, ["item-1/t9999"]);
    let merged = twice(many(2_000, |_| vec![]));
    assert_eq!(told(&merged), [("2", "too_large", 1)]);
}

#[test]
fn large_and_hostile_documents_end_soon() {
    let text = (0..3_000).fold("tasks:\n".to_owned(), |mut text, n| {
        let needs = n + 1;
        let _ = writeln!(
            text,
            "  - {{id: t{n}, files: [src/{n}.rs], depends-on: [t{needs}]}}"
        );
        text
    });
    assert_eq!(read(&text).tasks.len(), 3_000);
    let long = format!("tasks: []\n{}", "#".repeat(task_graph::MAX_BYTES));
    let deep = format!("tasks:\n  - id: a\n    files: {}", "[".repeat(20_000));
    for text in [long, deep] {
        assert_eq!(read(&text).problems[0].code, "too_large");
    }
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
        read(&text);
        markup::documents::design::read(&text);
    }
}
