use super::*;
use engine::next_step::Argument;

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
    for (form, step, command) in [
        (Form::Autopilot, Verb::Next.step(), "tm autopilot next"),
        (
            Form::Run,
            Verb::Next.step().of("r1"),
            "tm run next --run-id r1",
        ),
        (
            Form::Session,
            Verb::Next.step().of("it's"),
            r"tm session status --session 'it'\''s'",
        ),
        (Form::Collab, Verb::Next.step(), "tm collab state"),
        (
            Form::Session,
            Verb::Skip.step().of("r").and("reason"),
            "tm run skip --reason … --run-id r",
        ),
        (Form::Run, Verb::Summary.step().of("r"), "tm runs report r"),
        (
            Form::Autopilot,
            Verb::Start.step().and("taskId"),
            "tm autopilot start <taskId>",
        ),
        (
            Form::Autopilot,
            report("red"),
            "tm autopilot complete red 1.2 --results failed:N,passed:N",
        ),
        (
            Form::Autopilot,
            report("finalize"),
            "tm autopilot finalize --results failed:N,passed:N",
        ),
        (
            Form::Autopilot,
            report("polish"),
            "tm run report --results failed:N,passed:N --unit u1",
        ),
        (
            Form::Run,
            report("red"),
            "tm run report --results failed:N,passed:N --unit u1",
        ),
        (
            Form::Run,
            Verb::Next.step().in_view("session"),
            "tm session status",
        ),
        (
            Form::Collab,
            Verb::Report.step().with("skill", "x").with("unit", "u"),
            "tm collab complete-skill x --unit-id u",
        ),
        (
            Form::Collab,
            Verb::Task
                .step()
                .and("id")
                .with("status", "failed")
                .and("skipped"),
            "tm collab task ID failed --skipped",
        ),
    ] {
        assert_eq!(shell(form).alone(&step), command);
    }
}

#[test]
fn a_run_that_the_caller_named_is_named_in_the_step() {
    let caller = Caller::at_a_shell(Form::Session, Some("a".to_owned()));
    assert_eq!(
        caller.alone(&Verb::Step.step()),
        "tm session step --session a"
    );
    assert_eq!(
        caller.alone(&Verb::Step.step().of("b")),
        "tm session step --session b"
    );
    assert_eq!(caller.alone(&Verb::List.step()), "tm session list");
    assert_eq!(caller.alone(&Verb::Start.step()), "tm session init");
}

#[test]
fn a_step_is_a_tool_of_the_form_that_was_called() {
    for (tool, step, told) in [
        ("autopilot_next", Verb::Next.step(), "`autopilot_next`"),
        (
            "autopilot_next",
            report("red"),
            "`autopilot_complete_phase` with results {\"failed\":N,\"passed\":N}, unitId u1",
        ),
        (
            "autopilot_next",
            Verb::Report.step().with("phase", "commit").and("sha"),
            "`autopilot_commit` with commitSha",
        ),
        (
            "autopilot_get_state",
            report("green"),
            "`autopilot_complete_work_unit` with result {\"success\":true,\"phase\":\"GREEN\",\"testsFailed\":N,\"testsPassed\":N}, workUnitId u1",
        ),
        (
            "run_next",
            report("green"),
            "`run_report` with results {\"failed\":N,\"passed\":N}, unitId u1",
        ),
        (
            "run_next",
            Verb::Summary.step().of("r"),
            "`tramline://runs/r/report`",
        ),
        (
            "session_step",
            Verb::Respond.step().and("replace"),
            "`session_step` with replaceResponse",
        ),
        (
            "session_step",
            Verb::Reopen.step().of("s").and("maxIterations"),
            "`tm session reopen --max-iterations N --session s`",
        ),
        ("session_step", Verb::Restore.step(), "`tm session restore`"),
        (
            "complete_skill",
            Verb::Report.step().with("skill", "x").with("unit", "u"),
            "`complete_skill` with skill x, unitId u",
        ),
        (
            "complete_skill",
            Verb::Task
                .step()
                .and("id")
                .with("status", "failed")
                .and("skipped"),
            "`update_task_status` with id, status failed, outcome failed",
        ),
    ] {
        assert_eq!(tools(tool).inline(&step), told);
    }
    let some = |tool: &str| tool.starts_with("run_").then_some(&ANY);
    let caller = Caller::of_tools("run_next", None, &some);
    assert_eq!(caller.alone(&Verb::Skip.step()), "run_skip");
    let step = Verb::Next.step().in_view("autopilot");
    assert_eq!(caller.alone(&step), "run_next");
    let step = Verb::Start.step().in_view("autopilot");
    assert_eq!(caller.alone(&step), "tm autopilot start <taskId>");
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
        shell(Form::Autopilot).text(&text),
        "Do it:\n\n```sh\ntm autopilot complete red 1.2 --results failed:N,passed:N\n```\n\nAdd `--coverage N`, or `tm autopilot skip 1.2 --reason …`.\n`git commit --message x`\n"
    );
    assert_eq!(
        tools("autopilot_next").text(&text),
        "Do it:\n\n   Call `autopilot_complete_phase` with results {\"failed\":N,\"passed\":N}, unitId u1\n\nAdd `coverage N`, or `autopilot_skip` with subtaskId 1.2, reason.\n`git commit --message x`\n"
    );
    for plain in ["", "`tm autopilot next`", "--force"] {
        assert_eq!(tools("autopilot_next").text(plain), plain);
    }
}

#[test]
fn what_is_advised_stands_beside_it_as_data() {
    let skip = Verb::Skip.step().and("reason");
    let refused = || {
        json!({
            "error": {
                "suggestion": format!("see {}, or {skip}, or {}", Verb::Next, Verb::Summary),
                "recovery": Verb::Next.to_string(),
            }
        })
    };
    let mut told = refused();
    shell(Form::Autopilot).value(&mut told);
    assert_eq!(told["error"]["recovery"], "tm autopilot next");
    assert_eq!(
        told["error"]["nextSteps"],
        json!([
            { "step": "next", "command": "tm autopilot next" },
            { "step": "skip", "command": "tm autopilot skip --reason …" },
            { "step": "summary", "command": "tm runs report" },
        ])
    );
    let mut told = refused();
    Caller::of_tools("autopilot_next", Some("r".to_owned()), &|_| Some(&ANY)).value(&mut told);
    assert_eq!(told["error"]["recovery"], "autopilot_next with runId r");
    assert_eq!(
        told["error"]["nextSteps"],
        json!([
            { "step": "next", "tool": "autopilot_next", "arguments": { "runId": "r" } },
            { "step": "skip", "tool": "autopilot_skip", "arguments": { "runId": "r" }, "fill": ["reason"] },
            { "step": "summary", "resource": "tramline://runs/r/report" },
        ])
    );
    let mut plain = json!({ "suggestion": "mend it", "n": [1] });
    shell(Form::Run).value(&mut plain);
    assert_eq!(plain, json!({ "suggestion": "mend it", "n": [1] }));
}
