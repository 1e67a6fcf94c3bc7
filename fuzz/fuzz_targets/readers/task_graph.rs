//! A task graph that is read has tasks with ids of their own and problems with a place; merged, it has no hidden cycle.
use std::collections::{BTreeMap, HashMap, HashSet};

use markup::documents::task_graph::{self, MAX_ID_BYTES, Part, merge, read};

/// Reads the text as a task graph, and merges it with itself.
pub fn check(text: &str) {
    let endings = text.replace("\r\n", "\n").replace('\r', "\n");
    let last = u32::try_from(endings.lines().count().max(1)).unwrap_or(u32::MAX);
    let graph = read(text);
    let mut ids = HashSet::new();
    for task in &graph.tasks {
        assert!(!task.id.is_empty() && task.id.len() <= MAX_ID_BYTES);
        assert!(!task.id.chars().any(char::is_control));
        assert!(ids.insert(&task.id));
        assert!((1..=last).contains(&task.line), "{task:?}");
        assert!(!task.depends_on.contains(&task.id));
        for path in task.files.iter().chain(&task.tests) {
            assert!(!path.is_empty() && !path.chars().any(char::is_control));
        }
    }
    for problem in task_graph::check(&graph) {
        assert!((1..=last).contains(&problem.line), "{problem:?}");
        assert!(!problem.message.is_empty() && !problem.suggestion.is_empty());
        assert!(
            !problem.message.chars().any(char::is_control),
            "{problem:?}"
        );
        assert!(
            !problem.suggestion.chars().any(char::is_control),
            "{problem:?}"
        );
        if problem.code == "dependency_cycle" {
            assert!(problem.tasks.len() > 2);
            assert_eq!(problem.tasks.first(), problem.tasks.last());
        }
    }
    for note in &graph.notes {
        assert!((1..=last).contains(&note.line), "{note:?}");
        assert!(!note.message.chars().any(char::is_control), "{note:?}");
    }

    // The same graph for two items, one after the other.
    let after = ["1".to_owned()];
    let part = |item, after| Part {
        item,
        document: "graph.md",
        graph: &graph,
        after,
    };
    let merged = merge(
        &[part("1", &[][..]), part("2", &after[..])],
        &BTreeMap::new(),
    );
    assert_eq!(merged.tasks.len(), 2 * graph.tasks.len());
    if merged.problems.is_empty() {
        let position: HashMap<&str, usize> = merged
            .tasks
            .iter()
            .enumerate()
            .map(|(at, task)| (task.id.as_str(), at))
            .collect();
        assert_eq!(position.len(), merged.tasks.len());
        let mut left: Vec<usize> = merged
            .tasks
            .iter()
            .map(|task| task.depends_on.len())
            .collect();
        let mut waiting = vec![Vec::new(); left.len()];
        for (at, task) in merged.tasks.iter().enumerate() {
            for needed in &task.depends_on {
                waiting[position[needed.as_str()]].push(at);
            }
        }
        let mut ready: Vec<usize> = (0..left.len()).filter(|at| left[*at] == 0).collect();
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            for &next in &waiting[at] {
                left[next] -= 1;
                if left[next] == 0 {
                    ready.push(next);
                }
            }
        }
        assert_eq!(done, left.len());
    }
}
