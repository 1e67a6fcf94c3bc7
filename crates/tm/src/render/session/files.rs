//! Files that come into a session, go out of it, and were changed in it.

use std::path::Path;

use engine::view::session::answer::{ExportAnswer, RespondAnswer, RestoreAnswer, SessionState};

use super::{
    Look, Page, SessionStanding, Sign, changed_work, command, next, option, waits, what_now,
};
use text::counted;

/// The most changed files that are named.
const MOST_CHANGED: usize = 5;

/// The words on a file that is not what was recorded of it.
pub fn not_as_recorded(state: &SessionState, named: Option<&str>, path: &str) -> String {
    let told = format!("{path} was changed since it was recorded");
    if changed_work(state)
        .iter()
        .any(|changed| Path::new(path).starts_with(changed))
    {
        format!(
            "{told}; `{}` puts back what was",
            command(state, named, "restore")
        )
    } else {
        told
    }
}

/// The files that somebody changed, where there are any.
pub(super) fn changed(page: &mut Page<'_>, state: &SessionState) {
    if state.tampered.is_empty() {
        return;
    }
    let told = &state.tampered[..state.tampered.len().min(MOST_CHANGED)];
    let more = match state.tampered.len() - told.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let counts = if changed_work(state).is_empty() {
        "; what counts is what was taken in"
    } else {
        ""
    };
    let text = format!("changed since recorded: {}{more}{counts}", told.join(", "));
    page.signed(Sign::Warn, &text);
}

/// A response was put into its place; where that leaves the session.
pub fn responded(
    responded: &RespondAnswer,
    state: Option<&SessionState>,
    named: Option<&str>,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    page.signed(
        Sign::Good,
        &format!(
            "{} is in its place ({})",
            responded.path,
            counted(responded.bytes, "byte")
        ),
    );
    page.field(
        "replaced",
        responded.replaced.as_deref().unwrap_or_default(),
    );
    match state {
        // The response alone does not make it go on.
        Some(state)
            if SessionStanding::of(state) != SessionStanding::Free
                || !changed_work(state).is_empty() =>
        {
            if SessionStanding::of(state) != SessionStanding::Free {
                page.blank();
                waits(&mut page, state);
            }
            changed(&mut page, state);
            what_now(&mut page, state, named);
        }
        _ => {
            let id = named.map(|_| responded.session_id.as_str());
            next(
                &mut page,
                "The next step takes it in.",
                &[format!("tm session step{}", option(id))],
            );
        }
    }
    page.finish()
}

/// Code was written to a folder outside.
pub fn exported(exported: &ExportAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    let written = counted(exported.written.len(), "file");
    page.signed(
        Sign::Good,
        &format!("iteration {}: {written} written", exported.iteration),
    );
    page.field("to", &exported.folder.display().to_string());
    page.list(exported.written.iter().map(String::as_str));
    if !exported.unchanged.is_empty() {
        let unchanged = counted(exported.unchanged.len(), "file");
        page.field("unchanged", &format!("{unchanged}, there already"));
    }
    page.finish()
}

/// Files were put back.
pub fn restored(restored: &RestoreAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    put_back(&mut page, &restored.restored, &restored.aside);
    let id = named.map(|_| restored.session_id.as_str());
    next(
        &mut page,
        "See where the session stands.",
        &[format!("tm session status{}", option(id))],
    );
    page.finish()
}

/// What was put back, and what stood in its place.
pub fn put_back(page: &mut Page<'_>, restored: &[String], aside: &[String]) {
    if restored.is_empty() {
        page.signed(Sign::Good, "everything is as it was recorded");
    } else {
        page.signed(Sign::Good, "put back as recorded:");
        page.list(restored.iter().map(String::as_str));
    }
    if !aside.is_empty() {
        page.raw("What stood there is kept as:");
        page.list(aside.iter().map(String::as_str));
    }
}
