//! What the calls on sessions answer. These types are the wire: names and shapes are stable, and those of
//! the requirement, which writes them with underscores.

use std::ops::Deref;
use std::path::PathBuf;

use machine::command::Artifact;
use serde::Serialize;
use serde_json::{Map, Value};
use workspace::profile::{FileChange, Input, Phase};

use crate::action::Action;
use crate::capability::profile::memory::Processed;
use crate::fault::Kind;

/// A session as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SessionState {
    /// What a list has of it.
    #[serde(flatten)]
    pub summary: SessionSummary,
    /// After how many a session pauses whose reviews fail.
    pub max_iterations: i64,
    /// The mode of each gate: `auto`, `human`, `terminal` or `signed`.
    pub gates: Map<String, Value>,
    /// The transitions, the oldest first; of a long history the last ones, where the call is about something else.
    pub phase_history: Vec<HistoryEntry>,
    /// How many there are.
    pub phase_history_total: u64,
    /// The files that were written and taken in, the oldest first; of many the last ones, where the call is about
    /// something else.
    pub artifacts: Vec<ArtifactEntry>,
    /// How many there are.
    pub artifacts_total: u64,
    /// The profile's inputs.
    pub inputs: Map<String, Value>,
    /// SHA-256 of the plan, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_hash: Option<String>,
    /// Whether a person may take it up again, with `reopen`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub can_reopen: bool,
    /// Why it stands in ERROR or CANCELLED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What comes next.
    #[serde(rename = "nextAction")]
    pub next_action: Action,
    /// Files that somebody changed since they were recorded: plan, code and responses of this iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tampered: Vec<String>,
    /// Its folder.
    pub folder: PathBuf,
    /// What of the profile it is at, for those who put it into words.
    #[serde(skip)]
    pub work: SessionWork,
}

impl Deref for SessionState {
    type Target = SessionSummary;

    fn deref(&self) -> &SessionSummary {
        &self.summary
    }
}

/// What a session is at, by what its states ask for: a workflow's names for them mean nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionWork {
    /// What is asked for where it stands.
    pub asked: Option<Phase>,
    /// What was asked for in the state before: its response led here.
    pub answered: Option<Phase>,
    /// What the next step does, where it waits for nothing.
    pub ahead: StepAhead,
}

/// What the next step of a session does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepAhead {
    /// A response is there, and is taken in.
    TakesIn(Phase),
    /// The prompt for this is written.
    AsksFor(Phase),
    /// What was taken in decides what follows.
    ActsOn(Phase),
    /// It goes on to where this is asked for, by a step of its own.
    GoesOnTo(Phase),
    /// What a step before began, and was interrupted in, is brought to its end.
    Settles,
    /// Something else.
    #[default]
    Other,
}

/// The exit status of a call that finds its session broken down or called off, or brings it there.
pub const UNSUCCESSFUL: u8 = 8;

/// One transition.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// The phase that was entered.
    pub phase: String,
    /// The session's status from then on.
    pub status: String,
    /// The iteration from then on.
    pub iteration: i64,
    /// When, UTC.
    pub timestamp: String,
    /// What came of the response that led there: `SUCCESS`, `FAILED`, `ERROR` or `CANCELLED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// `reject` where somebody sent it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// What the profile said of the response that led there.
    #[serde(flatten)]
    pub said: Option<Processed>,
}

/// One file of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArtifactEntry {
    /// Where it stands in the session's folder, with `/`.
    pub path: String,
    /// The phase that it belongs to.
    pub phase: String,
    /// The iteration that it belongs to.
    pub iteration: i64,
    /// SHA-256 of its content.
    pub sha256: String,
    /// When it was recorded, UTC.
    pub created_at: String,
    /// `missing` or `changed` where it is not in its place as it was recorded; told where all files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl ArtifactEntry {
    /// A file that was recorded at the time `ts`.
    pub(crate) fn of(recorded: Artifact, ts: &str) -> Self {
        Self {
            path: recorded.path,
            phase: recorded.state,
            iteration: recorded.iteration.unwrap_or(0),
            sha256: recorded.sha256,
            created_at: ts.to_owned(),
            problem: None,
        }
    }
}

/// What a step came to, or another call that may move the session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepAnswer {
    /// Whether anything happened: a transition, or a prompt that was issued.
    pub advanced: bool,
    /// The prompt that was issued, in the session's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<String>,
    /// What somebody should be told all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the profile had to say of the response.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// The session as it is now; of its lists the last entries.
    #[serde(flatten)]
    pub state: SessionState,
}

impl StepAnswer {
    /// The exit status of a process that answers so to `step`.
    pub fn exit_status(&self) -> u8 {
        match self.state.status.as_str() {
            "SUCCESS" => 0,
            "IN_PROGRESS" if self.advanced => 0,
            "IN_PROGRESS" => Kind::Blocked.exit_status(),
            _ => UNSUCCESSFUL,
        }
    }
}

/// In which files the code of two iterations differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DiffAnswer {
    /// The session.
    pub session_id: String,
    /// The iteration that is compared with; 0 for no code at all.
    pub from: i64,
    /// The iteration that is looked at.
    pub to: i64,
    /// The files, by their paths.
    pub files: Vec<FileChange>,
}

/// The answer of `respond`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RespondAnswer {
    /// The session.
    pub session_id: String,
    /// Where the response was put, in the session's folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of it.
    pub sha256: String,
    /// Whether another one was there, and stands aside now under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
}

/// One session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// The session, and the run that it is.
    pub session_id: String,
    /// Its profile.
    pub profile: String,
    /// Where it stands: `INITIALIZED` … `COMPLETE`, `ERROR` or `CANCELLED`; empty where it cannot be read.
    pub phase: String,
    /// `IN_PROGRESS`, `SUCCESS`, `ERROR` or `CANCELLED`; `damaged` where it cannot be read.
    pub status: String,
    /// The candidate in hand, from 1; 0 before the first.
    pub current_iteration: i64,
    /// When it began, UTC.
    pub created_at: String,
    /// When it last made a transition, UTC.
    pub updated_at: String,
}

/// One profile in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProfileSummary {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// `built in`, or its folder.
    pub origin: String,
    /// Whether it brings a processor: code that has to be trusted.
    pub processor: bool,
    /// Whether somebody trusted it as it is now; absent where nothing has to be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// What can be given with `-i`.
    pub inputs: Vec<ProfileInput>,
    /// What is wrong with it, if it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// One input of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileInput {
    /// Its name.
    pub name: String,
    /// What can be given.
    #[serde(flatten)]
    pub input: Input,
}

/// The answer of `export`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportAnswer {
    /// The session.
    pub session_id: String,
    /// The iteration whose code it is.
    pub iteration: i64,
    /// Where it was written.
    pub folder: PathBuf,
    /// The files that were written, with `/`.
    pub written: Vec<String>,
    /// The files that were there already, just so.
    pub unchanged: Vec<String>,
}
