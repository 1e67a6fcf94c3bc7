//! Runs over a task: how one begins, and its reports.

use engine::report::{Meaning, Report};
use engine::view::autopilot::request;
use engine::view::autopilot::work_unit::WorkUnitResult;
use engine::{NEEDS_CONFIRMATION, Turn, Verb};
use serde_json::Value;

use super::super::confirm::confirm;
use super::decision::by_hand;
use super::{Answer, Call, answer};
use crate::calls::{Arguments, read};
use crate::steps::Form;

impl Call<'_> {
    pub(super) fn start(self, mut arguments: Arguments) -> Answer {
        arguments.unfold("options");
        let (dry_run, force) = (arguments.is("dryRun"), arguments.is("force"));
        let engine = self.open_to_begin()?;
        self.place_files(&engine, &mut arguments)?;
        let mut request: request::Start = arguments.clone().read()?;
        if dry_run {
            return answer(&engine.plan(&request)?);
        }
        // A run that is under way is superseded by a person's word alone.
        request.force = false;
        let fault = match engine.start(&request) {
            Err(fault) if fault.code == "run_active" && force => fault,
            started => return answer(&started?),
        };
        // An id that begins with a hyphen would be an option itself.
        if arguments
            .text("taskId")
            .is_some_and(|id| id.starts_with('-'))
        {
            arguments.take("taskId");
        }
        let step = arguments.step(self.entry.call, Verb::Start);
        let by_hand = by_hand(Form::Autopilot, step, &self.meant, &engine);
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
    pub(super) fn record(self, mut arguments: Arguments, meaning: Meaning) -> Answer {
        let engine = self.open()?;
        self.place_files(&engine, &mut arguments)?;
        let report: Report = arguments.read()?;
        let view = self.entry.family.form().view();
        answer(&engine.record_report(view, self.run(), &report, meaning)?)
    }

    pub(super) fn complete_work_unit(self, mut arguments: Arguments) -> Answer {
        let mut result: WorkUnitResult = read(arguments.take("result").unwrap_or_default())?;
        let unit = arguments.take_text("unit").unwrap_or_default();
        result.message = arguments.take_text("message");
        let engine = self.open()?;
        self.place_files(&engine, &mut arguments)?;
        result.evidence = arguments.read()?;
        answer(&engine.complete_work_unit(self.run(), &unit, &result)?)
    }
}
