//! Files that come into a session, go out of it, and were changed in it.

use std::path::Path;

use engine::view::session::answer::{
    DiffAnswer, ExportAnswer, FileChange, RespondAnswer, RestoreAnswer, SessionState,
};

use super::{Look, Page, Sign, command, is_held, next, option, waits, what_now};
use text::counted;
use text::plain::one_line;

/// The most changed files that are named.
const MOST_CHANGED: usize = 5;

/// The words on a file that is not what was recorded of it.
pub fn not_as_recorded(state: &SessionState, named: Option<&str>, path: &str) -> String {
    let told = format!("{path} was changed since it was recorded");
    let changed = state.next_action.changed.as_ref();
    if changed.is_some()
        && state
            .tampered
            .iter()
            .any(|changed| Path::new(path).starts_with(changed))
    {
        let restore = command(state, named, "restore");
        format!("{told}; `{restore}` puts back what was")
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
    let counts = if state.next_action.changed.is_none() {
        "; what counts is what was taken in"
    } else {
        ""
    };
    let text = format!("changed since recorded: {}{more}{counts}", told.join(", "));
    page.signed(Sign::Warn, &text);
}

/// A response was put into its place, in a line.
pub fn put(responded: &RespondAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    in_its_place(&mut page, responded);
    page.finish()
}

fn in_its_place(page: &mut Page<'_>, responded: &RespondAnswer) {
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
}

/// In which files the code of two iterations differs.
pub fn diff(diff: &DiffAnswer, only_names: bool, look: &Look) -> String {
    let mut page = Page::new(look);
    if diff.files.is_empty() {
        page.raw(&format!(
            "The code of iterations {} and {} is the same.",
            diff.from, diff.to
        ));
    }
    for file in &diff.files {
        let name = one_line(&file.path);
        if only_names {
            page.raw(&format!("{:<8}  {name}", file.change.name()));
            continue;
        }
        if file.diff.is_empty() {
            let what = match file.change {
                FileChange::Changed => "only whether it can be run",
                FileChange::Added | FileChange::Deleted => "empty",
            };
            page.raw(&format!("{} {name}: {what}", file.change.name()));
        }
        for line in file.diff.lines() {
            // Without anything that a terminal would act upon; its blanks stay.
            page.raw(&text::plain::many_lines(line));
        }
    }
    page.finish()
}

/// A response was put into its place; where that leaves the session.
pub fn responded(
    responded: &RespondAnswer,
    state: Option<&SessionState>,
    named: Option<&str>,
    look: &Look,
) -> String {
    let mut page = Page::new(look);
    in_its_place(&mut page, responded);
    match state {
        // The response alone does not make it go on.
        Some(state) if is_held(state) => {
            page.blank();
            waits(&mut page, state);
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
