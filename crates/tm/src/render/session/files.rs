//! Files that come into a session, go out of it, and were changed in it.

use std::path::Path;

use engine::view::session::answer::{
    DiffAnswer, ExportAnswer, FileChange, RespondAnswer, SessionState,
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
