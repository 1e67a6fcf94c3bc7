//! What holds for any text, and for any graph.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use markup::documents::task_graph::{Graph, Merged, Part, Task, check, merge, read};
use markup::documents::{design, task_graph};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

/// Lines that mean something to one of the readers, and some that do not.
fn document() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => prop::sample::select(vec![
            "tasks:", "  - id: a", "  - id: b", "    depends-on: [a]", "    depends: b, a", "    files: [x, ./y]",
            "    files: &f [x]", "    test: *f", "    <<: *f", "    parallel: no", "    description: |", "      text: here",
            "  a:", "    id: a", "```yaml", "```", "~~~", "````", "---", "...", "# Title", "<!--", "-->", "- ```", "1. x",
            "\t- id: c", "{tasks: [{id: a}]}", "\"tasks\": []", "### Item 1: One", "## Item 2a - Two", "Item 3: Three",
            "=====", "-----", "**Type:** code", "Status: done", "Depends on: 1, 2a", "| Type | code |", "|---|---|",
            "- Item 1", "", "   ", "### Item 2-a: Two", "### Item é: No", "### Item parser: No", "### Notes", "## End",
            "Status: 50% complete", "Depends on: 2-99,2-99", "### ~~Item 4: Out~~", "### Item: None", "#### Item 5, 6: Two",
            "> Status: done", "- Status: done", "- other", "Answers:", "| State | A | B |", "| done | a | b |",
        ])
        .prop_map(str::to_owned),
        1 => "\\PC{0,30}",
        1 => "[ -~\t]{0,30}",
    ];
    (
        vec(line, 0..30),
        prop::sample::select(vec!["\n", "\r\n", "\r"]),
    )
        .prop_map(|(lines, ending)| lines.join(ending))
}

fn lines(text: &str) -> u32 {
    let endings = text.replace("\r\n", "\n").replace('\r', "\n");
    u32::try_from(endings.lines().count().max(1)).unwrap()
}

fn judge(text: &str) -> Result<(), TestCaseError> {
    let last = lines(text);
    let graph = read(text);
    let mut ids = BTreeSet::new();
    for task in &graph.tasks {
        prop_assert!(!task.id.is_empty() && task.id.len() <= task_graph::MAX_ID_BYTES);
        prop_assert!(!task.id.chars().any(char::is_control));
        prop_assert!((1..=last).contains(&task.line), "{} of {last}", task.line);
        prop_assert!(ids.insert(&task.id), "{} twice", task.id);
        prop_assert!(!task.depends_on.contains(&task.id));
    }
    for problem in check(&graph) {
        prop_assert!((1..=last).contains(&problem.line), "{problem:?} of {last}");
        prop_assert!(!problem.message.contains(char::is_control), "{problem:?}");
        prop_assert!(problem.message.len() < 5_000 && !problem.suggestion.is_empty());
    }
    prop_assert!(graph.problems.is_sorted_by_key(|problem| problem.line));
    for note in &graph.notes {
        prop_assert!((1..=last).contains(&note.line), "{note:?}");
    }
    let design = design::read(text);
    let mut numbers = BTreeSet::new();
    let is_number = |number: &str| {
        number.starts_with(|c: char| c.is_ascii_alphanumeric())
            && number.len() <= design::MAX_NUMBER_BYTES
            && number.chars().all(|c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_')
            })
    };
    for item in &design.items {
        prop_assert!(numbers.insert(&item.number));
        prop_assert!(is_number(&item.number), "{item:?}");
        prop_assert!(item.depends_on.iter().all(|number| is_number(number)));
        prop_assert!(item.title.len() <= design::MAX_TITLE_BYTES);
        prop_assert!(!item.title.contains(char::is_control));
        prop_assert!((1..=last).contains(&item.line));
        prop_assert!(item.kind.is_some() || !design.problems.is_empty());
    }
    let problems = design.problems.iter();
    let problems = problems.map(|problem| (problem.line, &problem.message));
    let notes = design.notes.iter().map(|note| (note.line, &note.message));
    for (line, message) in problems.chain(notes) {
        prop_assert!((1..=last).contains(&line), "{message} in {line} of {last}");
        prop_assert!(!message.contains(char::is_control), "{message:?}");
    }
    Ok(())
}

/// Tasks of which each needs some of those before it.
fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let word = prop_oneof![
        "[a-z][a-z0-9-]{0,8}",
        "[0-9]{1,3}",
        "\\PC{1,12}",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("none".to_owned()),
        Just("a, b".to_owned()),
    ]
    .prop_map(|word| word.trim().to_owned())
    // What stands in angle brackets or braces is a place for an id, and none.
    .prop_filter("an id", |word| {
        let mut places = [('<', '>'), ('{', '}')].into_iter();
        let is_place = places.any(|(open, close)| word.starts_with(open) && word.ends_with(close));
        !word.is_empty() && !is_place
    });
    let path = "[a-zA-Z0-9_. -]{0,6}[a-z]/[a-z]{1,6}\\.rs".prop_map(|path| path.trim().to_owned());
    let task = (
        word,
        vec(path.clone(), 0..3),
        vec(path, 0..3),
        "\\PC{0,20}",
        any::<bool>(),
    );
    vec(task, 0..12).prop_flat_map(|drafts| {
        let mut seen = BTreeSet::new();
        let tasks: Vec<Task> = drafts
            .into_iter()
            .filter(|(id, ..)| seen.insert(id.clone()))
            .map(|(id, files, tests, description, parallel)| Task {
                id,
                files: once(files),
                tests: once(tests),
                description: description.trim().to_owned(),
                parallel,
                depends_on: Vec::new(),
                line: 0,
            })
            .collect();
        let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        let needs: Vec<_> = (0..tasks.len())
            .map(|at| subsequence(ids[..at].to_vec(), 0..=at))
            .collect();
        needs.prop_map(move |needs| {
            let mut tasks = tasks.clone();
            for (task, needs) in tasks.iter_mut().zip(needs) {
                task.depends_on = needs;
            }
            tasks
        })
    })
}

fn once(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| !text.starts_with('.') && seen.insert(text.clone()));
    texts
}

fn yaml(tasks: &[Task], keys: &[&str; 4]) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let list = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        format!("[{}]", texts.join(", "))
    };
    let [files, tests, description, depends_on] = keys;
    let mut out = "tasks:\n".to_owned();
    for task in tasks {
        writeln!(out, "  - id: {}", quoted(&task.id)).unwrap();
        writeln!(out, "    {files}: {}", list(&task.files)).unwrap();
        writeln!(out, "    {tests}: {}", list(&task.tests)).unwrap();
        writeln!(out, "    {description}: {}", quoted(&task.description)).unwrap();
        writeln!(out, "    parallel: {}", task.parallel).unwrap();
        writeln!(out, "    {depends_on}: {}", list(&task.depends_on)).unwrap();
    }
    out
}

/// Whether the tasks can be done one after another.
fn is_acyclic(merged: &Merged) -> bool {
    let mut left: Vec<_> = merged.tasks.iter().collect();
    loop {
        let before = left.len();
        let open: BTreeSet<&String> = left.iter().map(|task| &task.id).collect();
        left.retain(|task| task.depends_on.iter().any(|need| open.contains(need)));
        if left.len() == before {
            return left.is_empty();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read(text in document()) {
        judge(&text)?;
    }

    #[test]
    fn any_characters_are_read(text in "\\PC{0,200}") {
        judge(&text)?;
        let _ = design::kind(&text);
        let _ = design::status(&text);
    }

    #[test]
    fn a_graph_that_is_written_is_read_back(
        tasks in tasks(),
        fenced in any::<bool>(),
        keys in prop::sample::select(vec![
            ["files", "tests", "description", "depends-on"],
            ["file", "test", "action", "depends_on"],
            ["files", "test", "desc", "dependsOn"],
            ["file", "tests", "description", "depends"],
        ]),
    ) {
        let mut text = yaml(&tasks, &keys);
        if tasks.is_empty() {
            text = "tasks: []\n".to_owned();
            prop_assert_eq!(read(&text).problems[0].code, "tasks_missing");
            return Ok(());
        }
        if fenced {
            text = format!("# Graph\n\n- item\n\n````yaml\n{text}````\n\nEnd.\n");
        }
        let graph = read(&text);
        prop_assert_eq!(&graph.problems, &[]);
        prop_assert_eq!(check(&graph), &[]);
        let read: Vec<Task> = graph.tasks.into_iter().map(|task| Task { line: 0, ..task }).collect();
        // Beside what it waits for, a task that may not share a batch only waits.
        let tasks: Vec<Task> = tasks
            .into_iter()
            .map(|task| Task { parallel: task.parallel || !task.depends_on.is_empty(), ..task })
            .collect();
        prop_assert_eq!(read, tasks);
    }

    #[test]
    fn what_is_merged_without_problems_is_whole_and_has_no_cycle(
        graphs in vec(tasks(), 1..5),
        after in vec(vec(0_usize..5, 0..3), 5),
        crossing in vec((0_usize..5, 0_usize..5), 0..3),
    ) {
        let mut graphs: Vec<Graph> = graphs
            .into_iter()
            .map(|tasks| Graph { tasks, ..Graph::default() })
            .collect();
        for (from, to) in crossing {
            let target = graphs.get(to).and_then(|graph| graph.tasks.first()).map(|task| task.id.clone());
            if let (Some(id), Some(task)) = (target, graphs.get_mut(from).and_then(|graph| graph.tasks.last_mut())) {
                task.depends_on.push(format!("item-{to}/{id}"));
            }
        }
        let after: Vec<Vec<String>> = after
            .iter()
            .map(|items| items.iter().map(usize::to_string).collect())
            .collect();
        let numbers: Vec<String> = (0..graphs.len()).map(|n| n.to_string()).collect();
        let parts: Vec<Part<'_>> = graphs
            .iter()
            .zip(&numbers)
            .zip(&after)
            .map(|((graph, item), after)| Part { item, document: "graph.md", graph, after })
            .collect();
        let merged = merge(&parts, &BTreeMap::new());
        let count: usize = graphs.iter().map(|graph| graph.tasks.len()).sum();
        prop_assert_eq!(merged.tasks.len(), count);
        let has_cycle = merged.problems.iter().any(|found| {
            ["dependency_cycle", "self_dependency"].contains(&found.problem.code)
        });
        let is_whole = merged.problems.iter().all(|found| found.problem.code != "duplicate_id");
        if is_whole {
            let ids: BTreeSet<&str> = merged.tasks.iter().map(|task| task.id.as_str()).collect();
            prop_assert_eq!(ids.len(), count);
            for task in &merged.tasks {
                for needed in &task.depends_on {
                    prop_assert!(ids.contains(needed.as_str()), "{}", needed);
                }
            }
            prop_assert!(has_cycle || is_acyclic(&merged), "{:?}", merged.problems);
        }
        for found in &merged.problems {
            if found.problem.code == "dependency_cycle" {
                let path = &found.problem.tasks;
                prop_assert!(path.len() > 2 && path.first() == path.last());
                for pair in path.windows(2) {
                    let from = merged.tasks.iter().find(|task| task.id == pair[0]).unwrap();
                    prop_assert!(from.depends_on.contains(&pair[1]));
                }
            }
        }
    }
}
