//! The answers about sessions: where one stands, what was told of a step, and what to do now.

use std::path::Path;

use engine::view::session::answer::{
    RespondAnswer, SessionState, SessionSummary, StepAhead, StepAnswer,
};
use engine::{Action, ActionKind};
use journal::layout::short_name;
use serde_json::{Value, json};
use workspace::profile::Phase;

use super::gate::EDITED;
use super::{Look, Page, Sign, page, page_with};
use crate::steps::typed;

/// The words behind a command that name the session, where the caller named one.
pub fn option(session: Option<&str>) -> String {
    session.map_or_else(String::new, |session| {
        format!(" --session {}", typed(&short_name(session)))
    })
}

/// What the commands of a session name it by. Where it is over, another one may be meant without.
fn named_by(state: &SessionState, named: Option<&str>) -> String {
    let needed = named.is_some() || state.status != "IN_PROGRESS";
    option(needed.then_some(&state.session_id))
}

/// What templates see beside a session: its words for what was asked for, and what its commands name it by.
fn beside(state: &SessionState, named: Option<&str>) -> Value {
    json!({
        "session": named_by(state, named),
        "asked": state.work.asked.map(response),
        "answered": state.work.answered.map(response),
        "ahead": ahead(state.work.ahead),
        "closed": gates(state),
    })
}

/// What a response is called.
fn response(asked: Phase) -> &'static str {
    match asked {
        Phase::Planning => "the plan",
        Phase::Generation => "the code",
        Phase::Review => "the review",
        Phase::Revision => "the revised code",
    }
}

/// What the next step of a session does that waits for nothing.
fn ahead(step: StepAhead) -> String {
    let does = |verb: &str, asked| format!("The next step {verb} {}.", response(asked));
    match step {
        StepAhead::TakesIn(asked) => format!("The next step takes {} in.", response(asked)),
        StepAhead::AsksFor(asked) => does("asks for", asked),
        StepAhead::ActsOn(asked) => does("acts on", asked),
        StepAhead::GoesOnTo(asked) => does("goes on to", asked),
        StepAhead::Settles => {
            "A step was interrupted: the next one brings it to its end first.".to_owned()
        }
        StepAhead::Other => "The next step can be taken.".to_owned(),
    }
}

/// At which gates of a session a person is waited for.
fn gates(state: &SessionState) -> String {
    let closed = state.gates.iter();
    let closed = closed.filter(|(_, mode)| mode.as_str() != Some("auto"));
    let closed: Vec<&String> = closed.map(|(gate, _)| gate).collect();
    match closed.len() {
        0 => "none waits for a person".to_owned(),
        1 => format!("{} waits for a person", closed[0]),
        _ => format!("{} wait for a person", text::listed(closed.iter())),
    }
}

/// What may help next after an id was printed.
pub fn begun(state: &SessionState) -> String {
    format!(
        "a session of the profile {} has begun; of its gates {}; its first step asks for the plan:\n`tm session step{}`",
        state.profile,
        gates(state),
        option(Some(&state.session_id))
    )
}

/// A session on a page.
struct Shown<'s, 'l> {
    page: Page<'l>,
    state: &'s SessionState,
    beside: Value,
}

impl<'s, 'l> Shown<'s, 'l> {
    fn new(state: &'s SessionState, named: Option<&str>, look: &'l Look) -> Self {
        Self {
            page: Page::new(look),
            state,
            beside: beside(state, named),
        }
    }

    fn part(&mut self, name: &str) {
        self.page.part_with(name, self.state, &self.beside);
    }

    /// What the last transition was.
    fn headline(&mut self) {
        self.part(if self.state.next_action.is_paused() {
            "session_waits"
        } else {
            "session_headline"
        });
    }

    /// What keeps the session from its next step; how it ended, where it is over.
    fn waits(&mut self) {
        self.part(if self.state.next_action.action == ActionKind::Complete {
            "session_headline"
        } else {
            "session_waits"
        });
    }

    /// The files that it is about, what to do with them, and the command for it.
    fn next(mut self) -> String {
        self.part("session_next");
        self.page.finish()
    }

    /// Where it stands.
    fn block(&mut self) {
        self.part("session");
        self.part("session_changed");
        if self
            .state
            .next_action
            .gate
            .as_ref()
            .is_some_and(|gate| gate.edited)
        {
            self.page.signed(Sign::Warn, EDITED);
        }
    }

    fn messages(&mut self, stepped: &StepAnswer) {
        self.page.list(stepped.messages.iter().map(String::as_str));
    }
}

/// What a step came to, and what to do now. Warnings are told beside the answer.
pub fn stepped(stepped: &StepAnswer, named: Option<&str>, look: &Look) -> String {
    let mut shown = Shown::new(&stepped.state, named, look);
    if stepped.advanced {
        shown.headline();
        shown.messages(stepped);
    } else {
        shown.waits();
    }
    shown.part("session_changed");
    shown.next()
}

/// One step of several, in a line.
pub fn one_step(stepped: &StepAnswer, look: &Look) -> String {
    let mut shown = Shown::new(&stepped.state, None, look);
    // That it paused is told at the end, where it is.
    if !stepped.state.next_action.is_paused() {
        shown.headline();
        shown.messages(stepped);
    }
    shown.page.finish()
}

/// Where several steps have led.
pub fn where_it_is(last: &StepAnswer, named: Option<&str>, look: &Look) -> String {
    let mut shown = Shown::new(&last.state, named, look);
    // How it ended was told as its last step.
    if last.state.status == "IN_PROGRESS" || !last.advanced {
        if last.advanced && !last.state.next_action.is_paused() {
            shown.page.blank();
        }
        shown.waits();
    }
    shown.part("session_changed");
    shown.next()
}

/// Whether something keeps a session that is not over from its next step.
fn is_held(state: &SessionState) -> bool {
    let next: &Action = &state.next_action;
    match next.action {
        ActionKind::Complete => false,
        ActionKind::Step => next.blocked_by.is_some(),
        _ => state.status == "IN_PROGRESS",
    }
}

/// Where a session stands.
pub fn status(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut shown = Shown::new(state, named, look);
    shown.block();
    if is_held(state) {
        shown.page.blank();
        shown.waits();
    }
    shown.next()
}

/// A session with all of its history and files.
pub fn show(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut shown = Shown::new(state, named, look);
    shown.block();
    // Of a file that was written several times the last is what it is.
    let files = state.artifacts.iter().enumerate();
    let files = files.filter(|(at, file)| {
        let mut later = state.artifacts[at + 1..].iter();
        !file.sha256.is_empty() && later.all(|other| other.path != file.path)
    });
    let files = files.map(|(_, file)| {
        let state = match file.problem.as_deref() {
            Some("changed") => "changed since",
            _ if state.folder.join(&file.path).is_file() => "",
            _ => "not there",
        };
        json!({ "sha256": file.sha256, "path": file.path, "state": state, "phase": file.phase })
    });
    let files = json!({ "files": files.collect::<Vec<_>>() });
    shown.page.part_with("session_history", state, &files);
    if is_held(state) {
        shown.page.blank();
        shown.waits();
    } else if state.status == "SUCCESS" {
        // The field of its code comes next.
        shown.page.blank();
    }
    shown.next()
}

/// A list of sessions, one a line: all that there are, or those of them that were asked for.
pub fn list(sessions: &[SessionSummary], is_chosen: bool, look: &Look) -> String {
    let ids = sessions.iter().map(|session| session.session_id.as_str());
    let names: Vec<&str> = ids
        .clone()
        .map(|id| engine::session_name(id).unwrap_or_default())
        .collect();
    let widths = ids
        .zip(&names)
        .map(|(id, name)| short_name(id).len() + 1 + name.len());
    let beside = json!({ "names": names, "widest": widths.max(), "chosen": is_chosen });
    page_with("sessions", &sessions, &beside, look)
}

/// The words on a file that is not what was recorded of it.
pub fn not_as_recorded(state: &SessionState, named: Option<&str>, path: &str) -> String {
    let told = format!("{path} was changed since it was recorded");
    let mut changed = state.tampered.iter();
    if state.next_action.changed.is_some()
        && changed.any(|changed| Path::new(path).starts_with(changed))
    {
        let session = named_by(state, named);
        format!("{told}; `tm session restore{session}` puts back what was")
    } else {
        told
    }
}

/// A response was put into its place; where that leaves the session.
pub fn responded(
    responded: &RespondAnswer,
    state: Option<&SessionState>,
    named: Option<&str>,
    look: &Look,
) -> String {
    let put = page("response_put", responded, look);
    let next = match state {
        // The response alone does not make it go on.
        Some(state) if is_held(state) => {
            let mut shown = Shown::new(state, named, look);
            shown.page.blank();
            shown.waits();
            shown.part("session_changed");
            shown.next()
        }
        _ => {
            let session = option(named.map(|_| responded.session_id.as_str()));
            page("response_next", &json!({ "session": session }), look)
        }
    };
    put + &next
}
