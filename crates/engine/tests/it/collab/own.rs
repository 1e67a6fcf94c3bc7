//! The project's own: templates, and a workflow in the place of the built-in one.

use engine::Kind;
use engine::trust::Subject;

use super::stage::{Stage, items_of};

const BUILT_IN: &str = include_str!("../../../../workflows/collab/workflow.yaml");

/// The built-in workflow, that says it takes its own place.
fn shadowing() -> String {
    BUILT_IN.replacen("id: collab\n", "id: collab\nshadows: true\n", 1)
}

/// A project with this workflow of its own.
fn with_workflow(text: &str) -> Stage {
    let stage = Stage::bare();
    stage.write(".taskmaster/workflows/collab.yaml", text);
    trusted(&stage);
    stage
}

/// One that does not pass its checks is not trusted, and refused for that.
fn trusted(stage: &Stage) {
    let engine = stage.engine();
    if let Ok(request) = engine.trust_request(Subject::Workflow, "collab") {
        engine.trust(&request).unwrap();
    }
}

/// Writes a template of the project's own.
fn template(stage: &Stage, name: &str, text: &str) {
    stage.write(&format!(".taskmaster/templates/{name}.md"), text);
}

/// No session begins, for a reason of this code that names this.
#[track_caller]
fn begins_nothing(stage: &Stage, code: &str, named: &str) {
    let fault = stage.complete("collab-start", None).unwrap_err();
    let told = (fault.kind, fault.code.as_str(), stage.runs());
    assert_eq!(told, (Kind::Environment, code, 0), "{fault:?}");
    assert!(format!("{fault:?}").contains(named), "{fault:?}");
}

#[test]
fn a_template_of_the_project_takes_the_place_of_the_built_in_one() {
    let stage = Stage::bare();
    let text = "Ask {{ session.name }} in {{ state.label }}: {{ skill }} ({{ unit.attempt }})\n\n";
    template(&stage, "gather-session-goals", text);
    let told = stage.done("collab-start").instructions;
    let expected = "Ask default in Gathering goals: gather-session-goals (1)";
    assert_eq!(told.as_deref(), Some(expected));
    // What was told stays as it was told.
    template(&stage, "gather-session-goals", "Otherwise.");
    assert_eq!(stage.brief().instructions, told);
    assert_eq!(stage.done("collab-start").instructions, told);
    // One that breaks later stops the session where it is.
    stage.set_items(&items_of(&[("bugfix", &[])]));
    template(&stage, "collab-clear", "{{ skill");
    let complete = || stage.complete("gather-session-goals", None).unwrap_err();
    let fault = stage.unmoved("bad_template", complete);
    assert_eq!(fault.kind, Kind::Environment);
    assert!(format!("{fault:?}").contains("collab-clear.md"));
    template(&stage, "collab-clear", "Forget.");
    let answer = stage.done("gather-session-goals");
    assert_eq!(answer.instructions.as_deref(), Some("Forget."));
}

#[test]
fn a_copy_of_a_template_says_what_the_built_in_one_says() {
    let instructions = |copies: bool| -> Vec<String> {
        let stage = Stage::bare();
        let collab = workflows::builtin("collab").unwrap();
        for (name, text) in collab.templates.iter().filter(|_| copies) {
            stage.write(&format!(".taskmaster/templates/{name}"), text);
        }
        stage.done("collab-start");
        stage.set_items(&items_of(&[("code", &[])]));
        let folder = stage.dir().display().to_string();
        let mut all = Vec::new();
        while stage.state() != "clear-post-batch" {
            let told = stage.step().instructions.unwrap();
            all.push(told.replace(&folder, ""));
        }
        all
    };
    let built_in = instructions(false);
    assert!(built_in.len() > 12, "{built_in:?}");
    assert_eq!(instructions(true), built_in);
}

#[test]
fn a_definition_that_is_no_file_is_told() {
    let stage = Stage::bare();
    let folder = stage.project().join(".taskmaster/workflows");
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(folder.join(name))
            .status();
        assert!(made.unwrap().success());
    };
    pipe("collab.yaml");
    begins_nothing(&stage, "workflow_invalid", "collab.yaml");
    std::fs::remove_file(folder.join("collab.yaml")).unwrap();
    pipe("other.yaml");
    stage.done("collab-start");
}

#[test]
fn a_broken_template_or_workflow_is_told_before_a_session_begins() {
    let stage = Stage::bare();
    for (text, code, named) in [
        ("{{ skill", "workflow_invalid", "collab-clear.md"),
        ("{{ skil }}", "workflow_invalid", "skil"),
        ("{{ batch.taskz }}", "workflow_invalid", "taskz"),
    ] {
        template(&stage, "collab-clear", text);
        begins_nothing(&stage, code, named);
    }
    begins_nothing(&with_workflow(BUILT_IN), "workflow_invalid", "collab.yaml");
    let nowhere = shadowing().replace("to: gather-goals", "to: nowhere");
    begins_nothing(&with_workflow(&nowhere), "workflow_invalid", "nowhere");
    // One that reads no items is no session of skills.
    let other = "tramline: 1\nid: collab\nshadows: true\ntitle: Other\ninitial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n";
    let stage = with_workflow(other);
    let fault = stage.complete("a", None).unwrap_err();
    assert_eq!((fault.code.as_str(), stage.runs()), ("other_workflow", 0));
}

#[test]
fn a_project_may_have_a_graph_of_its_own() {
    // Nobody is asked to clarify, and a skill of the project's own comes before the end.
    let text = shadowing()
        .replace("    work: *clear\n    to: brainstorm-clarifying\n", "    work: *clear\n    to: brainstorm-designing\n")
        .replace("        - { to: cleanup }\n", "        - { to: celebrate }\n")
        .replace(
            "  done:\n",
            "  celebrate:\n    phase: implementation\n    label: Celebrating\n    work: { as: dance, instructions: dance.md }\n    to: cleanup\n  done:\n",
        );
    let start = text.find("  brainstorm-clarifying:\n").unwrap();
    let end = text.find("  brainstorm-designing:\n").unwrap();
    let stage = with_workflow(&format!("{}{}", &text[..start], &text[end..]));
    template(&stage, "dance", "Dance with {{ item.title }}.");
    trusted(&stage);
    assert_eq!(stage.done("collab-start").state, "gather-goals");
    stage.set_items(&items_of(&[("task", &[])]));
    stage.until("clear-bs1");
    assert_eq!(stage.done("collab-clear").state, "brainstorm-designing");
    let answer = stage.complete("brainstorming-clarifying", None).unwrap();
    assert_eq!(answer.verdict.code.as_deref(), Some("unknown_skill"));
    assert!(answer.valid_skills.contains(&"dance".to_owned()));
    let brief = stage.until("celebrate");
    let told = (brief.skill.as_deref(), brief.display_name.as_str());
    assert_eq!(told, (Some("dance"), "Celebrating"));
    assert_eq!(brief.instructions.as_deref(), Some("Dance with ."));
    assert_eq!(stage.done("Dance").state, "cleanup");
    // A run is pinned: what becomes of the file is nothing to it.
    stage.write(".taskmaster/workflows/collab.yaml", "nonsense");
    stage.until("done");
}
