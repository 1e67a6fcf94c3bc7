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

fn wave<'a>(id: &'a str, label: &'a str, tasks: Vec<TaskNode<'a>>) -> Wave<'a> {
    Wave { id, label, tasks }
}

#[test]
fn each_wave_is_a_frame_and_each_status_a_colour() {
    use TaskStatus::{Completed, Failed, InProgress, NotRun, Pending};
    let mut types = task("types", Completed, &[]);
    types.label = "The \"types\" <b>";
    let parser = task("parser", InProgress, &["types", "types", "gone"]);
    let drawn = tasks(&[
        wave("1", "First", vec![types, task("docs", Failed, &[])]),
        wave("2", "", vec![parser, task("guide", NotRun, &["docs"])]),
        wave("3", "Third", vec![task("1. end", Pending, &["types"])]),
    ]);
    well_formed::mermaid(&drawn).unwrap();
    insta::assert_snapshot!(drawn);
}

#[test]
fn nothing_and_empty_waves_are_drawn() {
    assert_eq!(tasks(&[]), "flowchart TD\n");
    let empty = wave("w", "  ", Vec::new());
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
        let mut labelled = task(name, TaskStatus::Pending, &[name]);
        labelled.label = "label";
        let plain = task(name, TaskStatus::Pending, &[]);
        let wave = wave(name, name, vec![labelled, plain]);
        let drawn = tasks(&[wave.clone(), wave]);
        well_formed::mermaid(&drawn).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(!drawn.contains("%%{") && !drawn.contains("://"), "{drawn}");
    }
}
