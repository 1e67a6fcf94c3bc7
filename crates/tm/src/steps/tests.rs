use std::path::Path;
use std::sync::LazyLock;

use super::*;
use crate::mcp::Toolbox;
use engine::codes::{arguments, sections, spell};
use engine::next_step::Argument;
use machine::{Definition, Role};
use std::fmt::Display;
use workspace::config::Level;

fn shell(form: Form) -> Caller {
    Caller::at_a_shell(form, None)
}

static ANY: Value = Value::Null;

fn tools(tool: &str) -> Caller<Tools<'static>> {
    Caller::of_tools(tool, None, &|_| Some(&ANY))
}

fn report(phase: &str) -> NextStep {
    Verb::Report
        .step()
        .with("phase", phase)
        .with("item", "1.2")
        .with("results", "failed:N,passed:N")
        .with("unit", "u1")
}

#[test]
fn a_step_is_a_command_of_the_family_that_was_called() {
    let skill = Verb::Report.step().with("skill", "x").with("unit", "u");
    let failed = Verb::Task.step().and("id").with("status", "failed");
    let of_unit = "tm run report --results failed:N,passed:N --unit u1";
    let reported = |what: &str| format!("tm autopilot {what} --results failed:N,passed:N");
    let (red, finalized) = (reported("complete red 1.2"), reported("finalize"));
    for (form, rows) in [
        (
            Form::of_view("autopilot"),
            &[
                (Verb::Next.step(), "tm autopilot next"),
                (
                    Verb::Start.step().and("taskId"),
                    "tm autopilot start TASK_ID",
                ),
                (report("red"), &*red),
                (report("finalize"), &*finalized),
                (report("polish"), of_unit),
            ][..],
        ),
        (
            Form::RUN,
            &[
                (Verb::Next.step().of("r1"), "tm run next --run-id r1"),
                (Verb::Summary.step().of("r"), "tm runs report r"),
                (report("red"), of_unit),
                (Verb::Next.step().in_view("session"), "tm session status"),
            ],
        ),
        (
            Form::of_view("session"),
            &[
                (
                    Verb::Next.step().of("it's"),
                    r"tm session status --session 'it'\''s'",
                ),
                (
                    Verb::Skip.step().of("r").and("reason"),
                    "tm run skip --reason … --run-id r",
                ),
            ],
        ),
        (
            Form::of_view("collab"),
            &[
                (Verb::Next.step(), "tm collab state"),
                (skill, "tm collab complete-skill x --unit-id u"),
                (failed, "tm collab task ID failed"),
            ],
        ),
    ] {
        for (step, command) in rows {
            assert_eq!(shell(form).alone(step), *command);
        }
    }
    // A run that the caller named is named in the step.
    let caller = Caller::at_a_shell(Form::of_view("session"), Some("a".to_owned()));
    for (step, command) in [
        (Verb::Step.step(), "tm session step --session a"),
        (Verb::Step.step().of("b"), "tm session step --session b"),
        (Verb::List.step(), "tm session list"),
        (Verb::Start.step(), "tm session init"),
    ] {
        assert_eq!(caller.alone(&step), command);
    }
}

#[test]
fn a_step_is_a_tool_of_the_form_that_was_called() {
    let skill = Verb::Report.step().with("skill", "x").with("unit", "u");
    let failed = Verb::Task.step().and("id").with("status", "failed");
    let commit = Verb::Report.step().with("phase", "commit").and("sha");
    let results = "results: {\"failed\":N,\"passed\":N}, unitId: u1";
    let completed = format!("`autopilot_complete_phase({results})`");
    let reported = format!("`run_report({results})`");
    for (tool, rows) in [
        (
            "autopilot_next",
            &[
                (Verb::Next.step(), "`autopilot_next`"),
                (report("red"), &*completed),
                (commit, "`autopilot_commit(commitSha)`"),
            ][..],
        ),
        (
            "autopilot_get_state",
            &[(
                report("green"),
                "`autopilot_complete_work_unit(result: {\"success\":true,\"phase\":\"GREEN\",\"testsFailed\":N,\"testsPassed\":N}, workUnitId: u1)`",
            )],
        ),
        (
            "run_next",
            &[
                (report("green"), &*reported),
                (Verb::Summary.step().of("r"), "`tramline://runs/r/report`"),
            ],
        ),
        (
            "session_step",
            &[
                (
                    Verb::Respond.step().and("replace"),
                    "`session_step(replaceResponse: true)`",
                ),
                (
                    Verb::Reopen.step().of("s").and("maxIterations"),
                    "`tm session reopen --max-iterations N --session s`",
                ),
                (Verb::Restore.step(), "`tm session restore`"),
            ],
        ),
        (
            "complete_skill",
            &[
                (skill, "`complete_skill(skill: x, unitId: u)`"),
                (failed, "`update_task_status(id, status: failed)`"),
            ],
        ),
    ] {
        for (step, told) in rows {
            assert_eq!(tools(tool).inline(step), *told);
        }
    }
    let some = |tool: &str| tool.starts_with("run_").then_some(&ANY);
    let caller = Caller::of_tools("run_next", None, &some);
    for (step, told) in [
        (Verb::Skip.step(), "run_skip(reason)"),
        (Verb::Next.step().in_view("autopilot"), "run_next"),
        (
            Verb::Start.step().in_view("autopilot"),
            "tm autopilot start TASK_ID",
        ),
    ] {
        assert_eq!(caller.alone(&step), told);
    }
}

#[test]
fn a_text_is_told_in_the_words_of_its_reader() {
    let text = format!(
        "Do it:\n\n{}\n\nAdd `{} N`, or {}.\n`git commit --message x`\n",
        report("red"),
        Argument("coverage"),
        Verb::Skip.step().with("item", "1.2").and("reason")
    );
    assert_eq!(
        shell(Form::of_view("autopilot")).text(&text),
        "Do it:\n\n```sh\ntm autopilot complete red 1.2 --results failed:N,passed:N\n```\n\nAdd `--coverage N`, or `tm autopilot skip 1.2 --reason …`.\n`git commit --message x`\n"
    );
    assert_eq!(
        tools("autopilot_next").text(&text),
        "Do it:\n\n   Call `autopilot_complete_phase(results: {\"failed\":N,\"passed\":N}, unitId: u1)`\n\nAdd `coverage N`, or `autopilot_skip(item: 1.2, reason)`.\n`git commit --message x`\n"
    );
    for plain in ["", "`tm autopilot next`", "--force"] {
        assert_eq!(tools("autopilot_next").text(plain), plain);
    }
}

#[test]
fn what_is_advised_stands_beside_it_as_data() {
    let skip = Verb::Skip.step().and("reason");
    let suggestion = format!("see {}, or {skip}, or {}", Verb::Next, Verb::Summary);
    let recovery = Verb::Next.to_string();
    let refused = json!({ "error": { "suggestion": suggestion, "recovery": recovery } });
    let mut told = refused.clone();
    shell(Form::of_view("autopilot")).value(&mut told);
    assert_eq!(told["error"]["recovery"], "tm autopilot next");
    assert_eq!(
        told["error"]["nextSteps"],
        json!([
            { "step": "next", "command": "tm autopilot next" },
            { "step": "skip", "command": "tm autopilot skip --reason …" },
            { "step": "summary", "command": "tm runs report" },
        ])
    );
    let mut told = refused;
    Caller::of_tools("autopilot_next", Some("r".to_owned()), &|_| Some(&ANY)).value(&mut told);
    assert_eq!(told["error"]["recovery"], "autopilot_next(runId: r)");
    assert_eq!(
        told["error"]["nextSteps"],
        json!([
            { "step": "next", "tool": "autopilot_next", "arguments": { "runId": "r" } },
            { "step": "skip", "tool": "autopilot_skip", "arguments": { "runId": "r" }, "fill": ["reason"] },
            { "step": "summary", "resource": "tramline://runs/r/report" },
        ])
    );
    let plain = json!({ "suggestion": "mend it", "n": [1] });
    let mut told = plain.clone();
    shell(Form::RUN).value(&mut told);
    assert_eq!(told, plain);
}

/// A tool of each form.
const TOOLS_OF_FORMS: [&str; 5] = [
    "autopilot_next",
    "autopilot_get_state",
    "run_next",
    "session_step",
    "get_session_state",
];

/// Spells a step for everybody, which shows that it is taken.
fn is_taken(step: &NextStep) {
    static TOOLS: LazyLock<Toolbox> = LazyLock::new(|| Toolbox::new(&[]));
    let schemas = |tool: &str| TOOLS.schema(tool);
    for tool in TOOLS_OF_FORMS {
        shell(Form::of_tool(tool)).data(step);
        Caller::of_tools(tool, Some("r".to_owned()), &schemas).data(step);
    }
}

/// The roles in all workflows that come along or are examples.
fn roles() -> Vec<Role> {
    let builtin = workflows::all().iter();
    let mut texts: Vec<String> = builtin.map(|one| one.workflow.to_owned()).collect();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workflows");
    for file in std::fs::read_dir(examples).unwrap() {
        texts.push(std::fs::read_to_string(file.unwrap().path()).unwrap());
    }
    let definitions = texts.iter().map(|text| Definition::parse(text).unwrap());
    let roles = definitions.flat_map(|definition| {
        let states = definition.all_states();
        states.map(|(_, _, state)| state.role()).collect::<Vec<_>>()
    });
    roles.collect()
}

#[test]
fn the_report_of_each_state_is_one_that_is_taken() {
    let mut all = roles();
    assert!(all.len() > 60, "{}", all.len());
    // What users may write: each reader, shown as each phase.
    for reader in ["", "tests", "commit", "outcome", "command", "design"] {
        for phase in ["", "chore", "refactor", "polish", "spike"] {
            all.push(Role {
                phase: (!phase.is_empty()).then(|| phase.to_owned()),
                reader: reader.to_owned(),
                ..Role::default()
            });
        }
    }
    let mut steps = Vec::new();
    for role in all {
        for level in Level::ALL {
            for item in [None, Some("1.2")] {
                let step = NextStep::report(&role, item, level);
                if !steps.contains(&step) {
                    is_taken(&step);
                    is_taken(&step.clone().with("unit", "u1"));
                    steps.push(step);
                }
            }
        }
    }
}

#[test]
fn each_verb_is_one_that_is_taken() {
    for (verb, _) in Verb::ALL {
        is_taken(&verb.step());
        if !matches!(verb, Verb::Start | Verb::List) {
            is_taken(&verb.step().of("r1"));
        }
    }
}

#[test]
fn each_step_of_each_text_of_a_code_is_one_that_is_taken() {
    let mut taken = 0;
    for (_, entry) in sections().into_iter().flat_map(|section| section.codes) {
        let cases = entry.says.into_values().chain([entry.text]);
        for template in cases.flat_map(|text| [text.message, text.help, text.run]) {
            let names = arguments(&template);
            let args = names
                .iter()
                .map(|name| (name.as_str(), &"1.2" as &dyn Display));
            let text = spell(&template, &args.collect::<Vec<_>>());
            for step in next_step::steps(&text) {
                if step.verb != Verb::Shell {
                    is_taken(&step);
                }
                taken += 1;
            }
        }
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn each_argument_that_a_text_names_is_one_of_the_tool_that_reports() {
    let toolbox = Toolbox::new(&[]);
    let schema = toolbox.schema("autopilot_complete_work_unit").unwrap();
    let caller = tools("autopilot_get_state");
    let names = "results unchanged coverage coverageReport report format verify removed repairs files message sha";
    for name in names.split(' ') {
        let told = caller.argument(name);
        let mut parts = told.split('.');
        let mut at = schema;
        let all = parts.all(|part| {
            at = &at["properties"][part];
            at.is_object()
        });
        assert!(all, "`{name}` is told as `{told}`");
    }
}
