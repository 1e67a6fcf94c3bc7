//! Runs over a task: how one begins, and its reports.

use engine::report::{Meaning, Report};
use engine::view::autopilot::request;
use engine::view::autopilot::work_unit::WorkUnitResult;
use engine::{Engine, NEEDS_CONFIRMATION, Turn, Verb};
use serde_json::Value;

use super::super::confirm::confirm;
use super::super::place::RunSelector;
use super::decision::by_hand;
use super::evidence::{once, placed};
use super::{Answer, Call, answer};
use crate::calls::{Arguments, read};
use crate::steps::Form;

impl Call<'_> {
    pub(super) fn start(self, mut arguments: Arguments) -> Answer {
        arguments.unfold("options");
        let (dry_run, force) = (arguments.is("dryRun"), arguments.is("force"));
        let mut request: request::Start = arguments.read()?;
        let engine = self.open_to_begin()?;
        for file in request.plan.iter_mut().chain(&mut request.reports) {
            *file = self.places.file(&engine, &file.to_string_lossy())?;
        }
        if dry_run {
            return answer(&engine.plan(&request)?);
        }
        // A run that is under way is superseded by a person's word alone.
        request.force = false;
        let fault = match engine.start(&request) {
            Err(fault) if fault.code == "run_active" && force => fault,
            started => return answer(&started?),
        };
        let by_hand = start_by_hand(&request, &self.meant, &engine);
        request.force = true;
        // Nobody is asked for a start that would be refused.
        let asking = match engine.asking().start(&request) {
            Err(asking) if asking.code == NEEDS_CONFIRMATION => asking,
            started => return answer(&started?),
        };
        let run = asking.details.get("runId").and_then(Value::as_str);
        let (statement, _) =
            engine.turn_statement(run.unwrap_or_default(), &Turn::new(Verb::Abort, ""))?;
        let question = format!(
            "{}. End it, and start this one in its place?",
            fault.message
        );
        // The yes is for this start in the place of that run as it stands.
        let about = format!("{}\n{by_hand}", statement.text());
        let asked = confirm(self.client, &question, &about, &by_hand)?;
        answer(&engine.asked(asked).start(&request)?)
    }

    /// Records a report.
    pub(super) fn record(self, arguments: Arguments, meaning: Meaning) -> Answer {
        let mut report: Report = arguments.read()?;
        once(&report.evidence)?;
        let engine = self.open()?;
        report.evidence = placed(self.places, &engine, report.evidence)?;
        let view = self.entry.family.form().view();
        answer(&engine.record_report(view, self.run(), &report, meaning)?)
    }

    pub(super) fn complete_work_unit(self, mut arguments: Arguments) -> Answer {
        let mut result: WorkUnitResult = read(arguments.take("result").unwrap_or_default())?;
        let unit = arguments.take_text("unit").unwrap_or_default();
        result.message = arguments.take_text("message");
        result.evidence = arguments.read()?;
        once(&result.evidence)?;
        let engine = self.open()?;
        result.evidence = placed(self.places, &engine, result.evidence)?;
        answer(&engine.complete_work_unit(self.run(), &unit, &result)?)
    }
}

/// The same start as a person would type it. A task whose id begins with a hyphen is left out: it would be an option itself.
fn start_by_hand(request: &request::Start, meant: &RunSelector, engine: &Engine) -> String {
    let mut step = Verb::Start.step();
    let task = request.task_id.as_ref();
    let plan = request.plan.as_ref().map(|plan| plan.display().to_string());
    let most = request.max_attempts.map(|count| count.to_string());
    let given = [
        (
            "taskId",
            task.filter(|task| !task.starts_with('-')).cloned(),
        ),
        ("workflow", request.workflow.clone()),
        ("title", request.title.clone()),
        ("plan", plan),
        ("branch", request.branch.clone()),
        ("maxAttempts", most),
        ("testCommand", request.test_command.clone()),
        ("format", request.format.clone()),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            step = step.with(name, value);
        }
    }
    for subtask in &request.subtasks {
        step = step.with("subtask", subtask);
    }
    for report in &request.reports {
        step = step.with("report", report.display().to_string());
    }
    let switches = [
        ("allowDirty", request.allow_dirty),
        ("verify", request.verify),
        ("force", true),
    ];
    for (name, is_on) in switches {
        if is_on {
            step = step.and(name);
        }
    }
    by_hand(Form::Autopilot, step, meant, engine)
}
