//! What the pages show of workflows works with the binary.

use super::environment::TestEnvironment;

const PAGE: &str = include_str!("../../../../../docs/definitions.md");

/// The text between a line that begins with `opening` and the end of the block.
fn block<'a>(after: &'a str, opening: &str) -> &'a str {
    let (_, inside) = after.split_once(opening).unwrap();
    inside.split("```\n").next().unwrap()
}

#[test]
fn every_whole_workflow_of_the_page_passes_its_check() {
    let project = TestEnvironment::bare();
    for after in PAGE.split("with `.taskmaster/templates/").skip(1) {
        let (name, after) = after.split_once('`').unwrap();
        let path = format!(".taskmaster/templates/{name}");
        project.write(&path, block(after, "```\n"));
    }
    let whole = PAGE
        .split("```yaml\n")
        .skip(1)
        .filter(|text| text.starts_with("tramline: 1\n"));
    let mut count = 0;
    for (number, text) in whole.enumerate() {
        let file = format!("{number}.yaml");
        project.write(&file, text.split("```").next().unwrap());
        let checked = project.tm(&["workflow", "check", &file]);
        assert_eq!(checked.status, 0, "{text}\n{checked:?}");
        count += 1;
    }
    assert_eq!(count, 4);
}

/// As the page on workflows says: what is printed can be changed, and takes the place of what it was.
#[test]
fn a_template_is_printed_and_a_changed_copy_is_used() {
    let project = TestEnvironment::new();
    let red = project.tm(&["workflow", "show", "tdd", "--template", "red.md"]);
    let path = ".taskmaster/templates/red.md";
    let text = format!("Our own words.\n{}", red.text());
    project.write(path, &text);
    project.commit_all("A template");
    // A shell that writes the copy has made the file before.
    let again = project.tm(&["workflow", "show", "tdd", "--template", "red.md"]);
    assert_eq!(again.text(), red.text());
    project.json(&["autopilot", "start", "1"]).json_with(0);
    let next = project.json(&["autopilot", "next"]).json_with(0);
    let told = next["instructions"].as_str().unwrap();
    assert!(told.starts_with("Our own words.\n"), "{told}");

    let missing = project.tm(&["workflow", "show", "tdd", "--template", "rd.md"]);
    assert_ne!(missing.status, 0);
    assert!(
        missing.err.contains("commit.md, finalize.md, green.md"),
        "{missing:?}"
    );
}

#[test]
fn without_a_template_it_is_told_why_the_run_came_there() {
    let project = TestEnvironment::bare();
    let workflow = "tramline: 1\nid: walk\ntitle: A walk\ninitial: out\nstates:\n  out:\n    work: {}\n    \
                    on: { report: { reason: It rains., to: home } }\n  home:\n    label: Stay\n    work: {}\n    \
                    to: end\n  end: { final: completed }\n";
    project.write(".taskmaster/workflows/walk.yaml", workflow);
    project.json(&["run", "start", "walk"]).json_with(0);
    project.json(&["run", "report"]).json_with(0);
    let next = project.json(&["run", "next"]).json_with(0);
    assert_eq!(
        next["instructions"],
        "Stay (A walk)\n\nIt came here because:\n\n```text\nIt rains.\n```\n"
    );
}
