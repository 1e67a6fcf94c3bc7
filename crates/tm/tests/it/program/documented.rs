//! What the pages show of workflows works with the binary.

use super::environment::{TestEnvironment, has};
use super::generic::give;

const PAGE: &str = include_str!("../../../../../docs/definitions.md");

#[test]
fn every_whole_workflow_of_the_page_passes_its_check() {
    let project = TestEnvironment::bare();
    let until_end = |text: &'static str| text.split("```").next().unwrap();
    for after in PAGE.split("with `.taskmaster/templates/").skip(1) {
        let (name, after) = after.split_once('`').unwrap();
        let (_, template) = after.split_once("```\n").unwrap();
        let path = format!(".taskmaster/templates/{name}");
        project.write(&path, until_end(template));
    }
    let blocks = PAGE.split("```yaml\n").skip(1);
    let whole = blocks.filter(|text| text.starts_with("tramline: 1\n"));
    let checked = whole.map(|text| {
        project.write("whole.yaml", until_end(text));
        let checked = project.tm(&["workflow", "check", "whole.yaml"]);
        assert_eq!(checked.status, 0, "{text}\n{checked:?}");
    });
    assert_eq!(checked.count(), 4);
}

/// As the page on workflows says: what is printed can be changed, and takes the place of what it was.
#[test]
fn a_template_is_printed_and_a_changed_copy_is_used() {
    let project = TestEnvironment::new();
    let show = |name: &str| project.tm(&["workflow", "show", "tdd", "--template", name]);
    let red = show("red.md");
    let text = format!("Our own words.\n{}", red.text());
    project.write(".taskmaster/templates/red.md", text);
    project.commit_all("A template");
    // A shell that writes the copy has made the file before.
    assert_eq!(show("red.md").text(), red.text());
    project.does("autopilot start 1");
    let next = project.does("autopilot next");
    let told = next["instructions"].as_str().unwrap();
    assert!(told.starts_with("Our own words.\n"), "{told}");

    let missing = show("rd.md");
    assert_ne!(missing.status, 0);
    has(&missing.err, "commit.md, finalize.md, green.md");
}

#[test]
fn without_a_template_it_is_told_why_the_run_came_there() {
    let project = TestEnvironment::bare();
    let walk = "initial: out\nstates:\n  out: { work: {}, on: { report: { reason: It rains., to: home } } }\n  home: { label: Stay, work: {}, to: end }\n  end: { final: completed }\n";
    give(&project, "walk", walk);
    project.does("run start walk");
    project.does("run report");
    assert_eq!(
        project.does("run next")["instructions"],
        "Stay (A workflow of the test)\n\nIt came here because:\n\n```text\nIt rains.\n```\n"
    );
}
