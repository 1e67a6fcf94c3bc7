//! The project's own: templates, and a workflow in the place of the built-in one.

use engine::Kind;
use engine::trust::Subject;

use super::stage::Stage;

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

#[test]
fn a_template_of_the_project_takes_the_place_of_the_built_in_one() {
    let stage = Stage::bare();
    stage.write(
        ".taskmaster/templates/gather-session-goals.md",
        "Ask {{ session.name }} in {{ state.label }}: {{ skill }} ({{ unit.attempt }})\n\n",
    );
    let answer = stage.done("collab-start");
    assert_eq!(
        answer.instructions.as_deref(),
        Some("Ask default in Gathering goals: gather-session-goals (1)")
    );
    // What was told stays as it was told.
    stage.write(
        ".taskmaster/templates/gather-session-goals.md",
        "Otherwise.",
    );
    assert_eq!(stage.brief().instructions, answer.instructions);
    assert_eq!(stage.done("collab-start").instructions, answer.instructions);
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
        stage.set_items(&serde_json::json!([{"number": 1, "title": "One", "type": "code"}]));
        let mut all = Vec::new();
        while stage.state() != "execute-batch" {
            all.push(stage.brief().instructions.unwrap());
            stage.step();
        }
        all.push(stage.brief().instructions.unwrap());
        let folder = stage.dir().display().to_string();
        all.iter().map(|text| text.replace(&folder, "")).collect()
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
    for (name, holds_up) in [("other.yaml", false), ("collab.yaml", true)] {
        let pipe = folder.join(name);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let begun = stage.complete("collab-start", None);
        if holds_up {
            let fault = begun.unwrap_err();
            assert_eq!(fault.code, "workflow_unreadable", "{fault:?}");
            assert!(fault.message.contains("collab.yaml"), "{fault:?}");
        } else {
            assert!(begun.unwrap().validated);
            stage.engine().run_abort(None).unwrap();
        }
        std::fs::remove_file(pipe).unwrap();
    }
}

#[test]
fn a_broken_template_is_told_before_a_session_begins() {
    for (text, words) in [
        ("{{ skill", "collab-clear.md"),
        ("{{ skil }}", "skil"),
        ("{{ batch.taskz }}", "taskz"),
    ] {
        let stage = Stage::bare();
        stage.write(".taskmaster/templates/collab-clear.md", text);
        let fault = stage.complete("collab-start", None).unwrap_err();
        assert_eq!(fault.kind, Kind::Environment, "{fault:?}");
        let whole = format!("{fault:?}");
        assert!(whole.contains(words), "{whole}");
        assert_eq!(stage.runs(), 0);
    }
}

#[test]
fn a_template_that_breaks_later_stops_the_session_where_it_is() {
    let stage = Stage::of(&["bugfix"]);
    stage.write(".taskmaster/templates/collab-clear.md", "{{ skill");
    let before = stage.files();
    let fault = stage.complete("gather-session-goals", None).unwrap_err();
    assert_eq!(
        (fault.kind, fault.code.as_str()),
        (Kind::Environment, "bad_template")
    );
    assert!(
        format!("{fault:?}").contains("collab-clear.md"),
        "{fault:?}"
    );
    assert_eq!(stage.state(), "gather-goals");
    stage.is_as(&before);
    stage.write(".taskmaster/templates/collab-clear.md", "Forget.");
    let answer = stage.done("gather-session-goals");
    assert_eq!(answer.instructions.as_deref(), Some("Forget."));
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
    let text = format!("{}{}", &text[..start], &text[end..]);
    let stage = with_workflow(&text);
    stage.write(
        ".taskmaster/templates/dance.md",
        "Dance with {{ item.title }}.",
    );
    trusted(&stage);
    let answer = stage.done("collab-start");
    assert_eq!(answer.state, "gather-goals");
    stage.set_items(&serde_json::json!([{"number": 1, "title": "One", "type": "task"}]));
    stage.until("clear-bs1");
    assert_eq!(stage.done("collab-clear").state, "brainstorm-designing");
    let answer = stage.complete("brainstorming-clarifying", None).unwrap();
    assert_eq!(answer.code.as_deref(), Some("unknown_skill"));
    assert!(answer.valid_skills.contains(&"dance".to_owned()));
    stage.until("celebrate");
    let brief = stage.brief();
    assert_eq!(
        (brief.skill.as_deref(), brief.display_name.as_str()),
        (Some("dance"), "Celebrating")
    );
    assert_eq!(brief.instructions.as_deref(), Some("Dance with ."));
    assert_eq!(stage.done("Dance").state, "cleanup");
    // A run is pinned: what becomes of the file is nothing to it.
    stage.write(".taskmaster/workflows/collab.yaml", "nonsense");
    stage.until("done");
}

#[test]
fn a_workflow_that_does_not_say_that_it_shadows_is_refused() {
    let stage = with_workflow(BUILT_IN);
    let fault = stage.complete("collab-start", None).unwrap_err();
    assert_eq!(fault.code, "workflow_shadows", "{fault:?}");
    assert_eq!(stage.runs(), 0);
}

#[test]
fn a_workflow_that_reads_no_items_is_no_session_of_skills() {
    let stage = with_workflow(
        "tramline: 1\nid: collab\nshadows: true\ntitle: Other\ninitial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n",
    );
    let fault = stage.complete("a", None).unwrap_err();
    assert_eq!(fault.code, "other_workflow", "{fault:?}");
    assert_eq!(stage.runs(), 0);
}

#[test]
fn a_broken_workflow_begins_nothing() {
    let stage = with_workflow(&shadowing().replace("to: gather-goals", "to: nowhere"));
    let fault = stage.complete("collab-start", None).unwrap_err();
    assert_eq!(fault.kind, Kind::Environment, "{fault:?}");
    assert!(format!("{fault:?}").contains("nowhere"), "{fault:?}");
    assert_eq!(stage.runs(), 0);
}
