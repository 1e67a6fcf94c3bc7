//! What a turn of a run came to.

use engine::Action;
use engine::turn::answer::{TurnAnswer, TurnDetails};
use engine::turn::rewind::PastSteps;
use engine::turn::submit::Submission;

use super::run::what_next;
use super::{Look, Page, Sign};
use journal::layout::short_name;

/// A turn was taken.
pub fn turned(turned: &TurnAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    let next = turned.next_action.as_ref();
    let is_paused = next.is_some_and(Action::is_paused);
    page.signed(
        if is_paused { Sign::Warn } else { Sign::Good },
        &turned.message,
    );
    match &turned.details {
        TurnDetails::Submitted(submission) => handed_over(&mut page, submission),
        TurnDetails::Restored { aside, .. } if !aside.is_empty() => {
            page.raw("What stood there is kept as:");
            page.list(aside.iter().map(String::as_str));
        }
        _ => {}
    }
    if let Some(next) = next {
        what_next(&mut page, next);
    }
    if let Some(report) = &turned.report {
        page.blank();
        page.body(report);
    }
    page.finish()
}

fn handed_over(page: &mut Page<'_>, submission: &Submission) {
    page.field("commit", &submission.commit_sha);
    if let Some(request) = &submission.pull_request {
        let draft = if request.draft { " (draft)" } else { "" };
        page.field("into", &request.base);
        page.field("page", &format!("{}{draft}", request.url));
    }
    if let Some(by_hand) = &submission.by_hand {
        page.field("why", &by_hand.why);
        if !by_hand.url.is_empty() {
            page.field("page", &by_hand.url);
        }
        page.field("fix", &by_hand.fix);
    }
}

/// The steps that a run can be taken back to.
pub fn past_steps(steps: &PastSteps, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title(&format!("Steps of {}", short_name(&steps.run_id)));
    let widest = steps.steps.iter().map(|step| step.unit_id.len()).max();
    for step in &steps.steps {
        let mark = if step.present {
            "  present"
        } else if step.undone {
            "  taken back"
        } else {
            ""
        };
        page.raw(&format!(
            "  {:width$}  {}  {}{mark}",
            step.unit_id,
            step.at,
            step.commit,
            width = widest.unwrap_or_default(),
        ));
    }
    page.finish()
}
