//! Workflows, settings, what `doctor` found, and this program itself.

use engine::{DoctorCheck, WorkflowChecked, WorkflowSummary};
use text::counted;
use text::plain::one_line;
use workspace::config::Settings;

use super::{FAINT, Look, Page, STRONG, Sign};
use crate::commands::own::SelfCheck;

/// The workflows there are.
pub fn workflows(workflows: &[WorkflowSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    for workflow in workflows {
        page.raw(&format!(
            "{}  {}  {}",
            look.paint(STRONG, &format!("{:<10}", one_line(&workflow.id))),
            one_line(&workflow.title),
            look.paint(FAINT, &format!("({})", one_line(&workflow.source))),
        ));
        if let Some(problem) = &workflow.problem {
            let sign = format!("  {}", look.sign(Sign::Bad));
            page.wrapped(&sign, problem);
        }
    }
    page.finish()
}

/// What was found in a definition.
pub fn workflow_checked(checked: &WorkflowChecked, look: &Look) -> String {
    let mut page = Page::new(look);
    if checked.valid {
        page.signed(Sign::Good, &format!("{} is a valid workflow", checked.file));
    }
    for fault in &checked.faults {
        if fault.rendered.is_empty() {
            let place = format!("{}:{}:{}", checked.file, fault.line, fault.column);
            page.signed(
                Sign::Bad,
                &format!("{place}: {}: {}", fault.rule, fault.message),
            );
            page.block(&fault.help);
        } else {
            page.body(&fault.rendered);
        }
        page.blank();
    }
    if !checked.valid {
        let faults = checked.faults.len();
        let noun = if faults == 1 { "fault" } else { "faults" };
        page.signed(Sign::Bad, &format!("{}: {faults} {noun}", checked.file));
    }
    page.finish()
}

/// Every setting, with its origin if asked for.
pub fn config(settings: &Settings, origin: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    let all = settings.config.to_json();
    for (key, from) in &settings.origins {
        let value = all
            .pointer(&format!("/{}", key.replace('.', "/")))
            .map_or_else(|| "null".to_owned(), ToString::to_string);
        let from = if origin {
            format!(
                "  {}",
                look.paint(FAINT, &format!("({})", one_line(&from.to_string())))
            )
        } else {
            String::new()
        };
        page.raw(&format!(
            "{} = {}{from}",
            look.paint(STRONG, key),
            one_line(&value)
        ));
    }
    page.finish()
}

/// What is wrong here, and how to mend it.
pub fn doctor(checks: &[DoctorCheck], look: &Look) -> String {
    let mut page = Page::new(look);
    for check in checks {
        let sign = match check.state.as_str() {
            "ok" => Sign::Good,
            "warn" => Sign::Warn,
            "fail" => Sign::Bad,
            _ => Sign::Bullet,
        };
        let lead = format!(
            "{} {}",
            look.sign(sign),
            look.paint(STRONG, &format!("{}:", one_line(&check.id)))
        );
        page.wrapped(&lead, &check.message);
        if let Some(fix) = &check.fix {
            page.block(fix);
        }
    }
    page.finish()
}

/// What is known of this program.
pub fn self_check(check: &SelfCheck, look: &Look) -> String {
    let mut page = Page::new(look);
    let kept = &check.kept;
    page.signed(Sign::Good, &format!("tm {}", check.version));
    if let Some(newest) = &check.newest {
        let is_newest = newest == check.version;
        page.field("newest", if is_newest { "this one" } else { newest });
    }
    if let Some(why) = &check.not_told {
        page.field("newest", &format!("not known: {why}"));
    }
    if let Some(program) = &check.program {
        page.field("program", program);
    }
    let formats = check.formats.iter();
    let formats = formats.map(|format| format!("{} {}", format.of, format.version));
    page.field("formats", &formats.collect::<Vec<_>>().join(", "));
    page.field("store", &kept.store);
    let mut told = vec![counted(kept.runs, "run")];
    if kept.earlier > 0 {
        told.push(format!(
            "{} in an earlier format, which is read",
            kept.earlier
        ));
    }
    page.field("kept", &told.join(", "));
    for run in &kept.newer {
        let format = run.format.unwrap_or_default();
        page.signed(
            Sign::Bad,
            &format!(
                "{} in {} was begun by a newer version: format {format}",
                run.run_id, run.project_root
            ),
        );
    }
    for run in &kept.unreadable {
        page.signed(
            Sign::Warn,
            &format!(
                "{} in {} does not tell its format: `tm doctor` there says more",
                run.run_id, run.project_root
            ),
        );
    }
    if !check.changes.is_empty() {
        page.blank();
        page.title(&format!("What changed in {}", check.version));
        page.blank();
        page.body(&check.changes);
    }
    page.finish()
}
