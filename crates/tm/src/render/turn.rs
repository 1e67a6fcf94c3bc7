//! What a turn of a run came to.

use engine::turn::answer::TurnAnswer;
use engine::turn::rewind::PastSteps;

use super::run::what_next;
use super::{Look, Page, page};

/// A turn was taken.
pub fn turned(turned: &TurnAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    page.part("turned", turned);
    if let Some(next) = &turned.next_action {
        what_next(&mut page, next);
    }
    if let Some(report) = &turned.report {
        page.blank();
        page.body(report);
    }
    page.finish()
}

/// The steps that a run can be taken back to.
pub fn past_steps(steps: &PastSteps, look: &Look) -> String {
    page("past_steps", steps, look)
}
