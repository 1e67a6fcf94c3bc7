//! Workflows, settings, and what `doctor` found.

use engine::{DoctorCheck, WorkflowChecked, WorkflowSummary};
use text::plain::one_line;
use workspace::config::Settings;

use super::{FAINT, Look, Page, STRONG, Sign};

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
