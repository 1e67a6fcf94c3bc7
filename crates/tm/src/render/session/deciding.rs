//! What a person is shown before a decision.

use std::fs;
use std::path::{Path, PathBuf};

use engine::view::session::answer::{ClosedGate, SessionState, SessionSummary};

use super::{Look, Page, SessionStanding, Sign, option, shown, why};
use crate::steps::typed;
use text::counted;

/// The most files of a folder that are listed.
const LISTED: usize = 30;

/// What is said of a plan or code that somebody changed before a person decided on it.
pub fn edited(gate: &str) -> &'static str {
    match gate {
        "plan" => {
            "plan.md was changed since it was taken in: planning-response.md has what was written"
        }
        _ => "it was changed since it was taken in: what is approved is what is there now",
    }
}

/// The most sessions that are named where several could go on.
const MOST_NAMED: usize = 3;

/// What a decision is about, in the words of the command that it is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// A session.
    Session,
    /// A run of any workflow.
    Run,
}

impl About {
    /// What it is called.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Run => "run",
        }
    }

    /// What is decided on at a gate: those of a session are named after it.
    pub fn what(self, gate: &str) -> String {
        match self {
            Self::Session => format!("the {gate}"),
            Self::Run => format!("what stands before the gate {gate}"),
        }
    }

    /// The same at the beginning of a line.
    pub fn title(self) -> &'static str {
        match self {
            Self::Session => "Session",
            Self::Run => "Run",
        }
    }
}

/// What stands before a gate, all that a decision is bound to. With `feedback` it is to be sent back.
pub fn gate(gate: &ClosedGate, about: About, feedback: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    let verb = if feedback.is_some() {
        "Send back"
    } else {
        "Approve"
    };
    page.title(&format!("{verb} {}?", about.what(&gate.gate)));
    page.field(about.noun(), &gate.session_id);
    page.field("gate", &format!("{} ({})", gate.gate, gate.phase));
    match about {
        About::Session => page.field("iteration", &gate.iteration.to_string()),
        About::Run if gate.iteration > 0 => page.field("round", &gate.iteration.to_string()),
        About::Run => {}
    }
    page.field("sha256", &gate.hash);
    for path in &gate.look_at {
        page.field("look at", &shown(path));
        files_below(&mut page, path);
    }
    if gate.edited {
        page.signed(Sign::Warn, edited(&gate.gate));
    }
    let id = typed(&gate.session_id);
    match (about, gate.gate.as_str()) {
        (About::Session, "plan") => page.field("shown by", &format!("tm session show {id} plan")),
        (About::Session, "code") => page.field("shown by", &format!("tm session diff {id}")),
        (About::Session, "review") => {
            let file = format!("iteration-{}/review-response.md", gate.iteration);
            page.field("shown by", &format!("tm session show {id} {file}"));
        }
        _ => {}
    }
    match feedback {
        Some(feedback) => {
            page.block_wrapped(match about {
                About::Session => {
                    "It is made anew in the same iteration, with this in the next prompt:"
                }
                About::Run => "It goes back with this, which whoever does it again is told:",
            });
            page.block(feedback);
        }
        None => page
            .raw("The approval holds for exactly this; anything changed later needs another one."),
    }
    page.finish()
}

/// The files of a folder, where a path is one.
fn files_below(page: &mut Page<'_>, folder: &Path) {
    if !folder.is_dir() {
        return;
    }
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    // Links are listed and not followed, so this ends.
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files.sort();
    let names: Vec<String> = files
        .iter()
        .map(|file| shown(file.strip_prefix(folder).unwrap_or(file)))
        .collect();
    page.list(names.iter().take(LISTED).map(String::as_str));
    if let Some(more) = names.len().checked_sub(LISTED).filter(|&more| more > 0) {
        page.raw(&format!("    and {} more", counted(more, "file")));
    }
}

/// What taking a session up again does.
pub fn reopening(state: &SessionState, cap: Option<u32>, look: &Look) -> String {
    let mut page = Page::new(look);
    page.title("Take the session up again?");
    page.field("session", &state.session_id);
    page.field("phase", &state.phase);
    page.field("iteration", &state.current_iteration.to_string());
    why(&mut page, state);
    let text = match (SessionStanding::of(state), cap) {
        (SessionStanding::Cap, Some(cap)) => format!(
            "It paused after {} and may have {cap} from now on. Nothing is set aside: the next step acts on the same review.",
            counted(state.current_iteration, "iteration")
        ),
        (SessionStanding::Cap, None) => {
            "The review that failed is set aside, and the session waits for another one.".to_owned()
        }
        (SessionStanding::Broken, _) => {
            "The response that broke it is set aside, and the session waits for another one."
                .to_owned()
        }
        _ => "The response that was taken in is set aside, and the session waits for another one."
            .to_owned(),
    };
    page.block_wrapped(&text);
    page.finish()
}

/// The commands with which sessions of a profile go on, or the one that begins one.
pub fn steps_with(profile: &str, under_way: &[SessionSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    let of_it: Vec<&SessionSummary> = under_way
        .iter()
        .filter(|session| session.profile == profile)
        .collect();
    for session in of_it.iter().take(MOST_NAMED) {
        let named = (under_way.len() > 1).then_some(session.session_id.as_str());
        page.command(&format!("tm session step{}", option(named)));
    }
    if of_it.is_empty() {
        let profile = typed(profile);
        page.command(&format!("tm session init --profile {profile}"));
    }
    page.finish()
}
