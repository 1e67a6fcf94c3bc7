//! What a turn of a run came to.

use engine::turn::answer::TurnAnswer;

use super::run::what_next;
use super::{Look, Page};

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
