//! Tasks drawn wave by wave.

use draw::{TaskNode, TaskStatus, Wave, tasks};

use super::well_formed;

fn task<'a>(id: &'a str, status: TaskStatus, needs: &[&'a str]) -> TaskNode<'a> {
    TaskNode {
        id,
        label: "",
        status,
        needs: needs.to_vec(),
    }
}

#[test]
fn each_wave_is_a_frame_and_each_status_a_colour() {
    let waves = [
        Wave {
            id: "1",
            label: "First",
            tasks: vec![
                TaskNode {
                    label: "The \"types\" <b>",
                    ..task("types", TaskStatus::Completed, &[])
                },
                task("docs", TaskStatus::Failed, &[]),
            ],
        },
        Wave {
            id: "2",
            label: "",
            tasks: vec![
                task(
                    "parser",
                    TaskStatus::InProgress,
                    &["types", "types", "gone"],
                ),
                task("guide", TaskStatus::NotRun, &["docs"]),
            ],
        },
        Wave {
            id: "3",
            label: "Third",
            tasks: vec![task("1. end", TaskStatus::Pending, &["types"])],
        },
    ];
    let drawn = tasks(&waves);
    well_formed::mermaid(&drawn).unwrap();
    insta::assert_snapshot!(drawn);
}

#[test]
fn nothing_and_empty_waves_are_drawn() {
    assert_eq!(tasks(&[]), "flowchart TD\n");
    let empty = Wave {
        id: "w",
        label: "  ",
        tasks: Vec::new(),
    };
    let drawn = tasks(&[empty.clone(), empty]);
    well_formed::mermaid(&drawn).unwrap();
    assert_eq!(drawn.matches("subgraph").count(), 2);
}

#[test]
fn names_that_mean_something_in_the_format_stay_names() {
    for name in [
        "end",
        "\"]; click t0 href \"javascript:x",
        "a\nb --> c",
        "%%{init: {}}%%",
        "**bold** `code` ~~x~~ $$x$$",
        "https://example.org",
        "\u{202e}drow\u{0}",
        "- item",
        "#quot;",
        "subgraph x",
        "\\",
    ] {
        let wave = Wave {
            id: name,
            label: name,
            tasks: vec![
                TaskNode {
                    label: "label",
                    ..task(name, TaskStatus::Pending, &[name])
                },
                task(name, TaskStatus::Pending, &[]),
            ],
        };
        let drawn = tasks(&[wave.clone(), wave]);
        well_formed::mermaid(&drawn).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(!drawn.contains("%%{") && !drawn.contains("://"), "{drawn}");
    }
}
