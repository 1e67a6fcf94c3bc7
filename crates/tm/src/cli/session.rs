//! `tm session`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use engine::view::session::request;
use engine::{Fault, Turn};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use text::plain::one_line;

use super::inputs::{Inputs, as_texts, pair};
use super::setup::TrustChoice;
use super::{ProjectPlace, Signing};

/// `tm session`.
#[derive(Debug, Args)]
pub struct Session {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: ProjectPlace,
    /// What to do.
    #[command(subcommand)]
    pub command: SessionCommand,
}

/// The commands of `tm session`, in the order in which a session needs them.
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Begin a session, and print its id; nothing of it runs yet
    ///
    /// Only the id goes to standard output, so that `id=$(tm session init …)` works. `tm session profiles` shows the
    /// profiles and what each takes with `-i`.
    Init(Init),
    /// Take exactly one step; a session that waits takes none, and says what it waits for
    ///
    /// The exit status is 0 if the step was taken or the session is complete, 7 if it waits: for a response, or at a
    /// closed gate; and 8 if it broke down or was called off.
    Step(SessionTarget),
    /// Take steps until the session waits or is over, telling each one
    ///
    /// The exit status is 0 if the session is complete, 7 if it waits, and 8 if it broke down or was called off.
    Run(SessionTarget),
    /// Show where a session stands, and what to do now
    Status(SessionTarget),
    /// Put a response into its place
    ///
    /// The same as writing the file that the session waits for, but whole or not at all, and never over another one.
    Respond(Respond),
    /// Open the gate that the session waits at; a person decides this, at a terminal
    Approve(Approve),
    /// Send back what stands before the gate, with what is to be done otherwise; a person decides this, at a terminal
    Reject(Reject),
    /// Take up again a session that broke down or paused; a person decides this, at a terminal
    ///
    /// The response that broke it is set aside, and the session waits for another. So does the last review of a session
    /// that paused after its last iteration; with `--max-iterations` it may have more of them instead, and nothing is set
    /// aside.
    Reopen(Reopen),
    /// Let a profile's own program run, as it is now; a person decides this, at a terminal
    Trust(Trust),
    /// End a session; its files stay
    Cancel(Cancel),
    /// List the sessions of this project, the newest first
    List(List),
    /// Show what changed in the code from one iteration to the next
    ///
    /// Without options it is the present iteration beside the one before it; the first one is all new.
    Diff(Diff),
    /// Show a session with its whole history and all of its files, or print one of them
    ///
    /// FILE is a path in the session's folder, or just `plan`, `prompt` or `response` for those in hand. A file of the
    /// present iteration needs no `iteration-N/`. SESSION may be left out before it.
    Show(Show),
    /// List the profiles, and what each takes
    Profiles,
    /// Write the code of a session to a folder outside of it
    ///
    /// Where a file is there already and differs, nothing at all is written, unless `--force` is given.
    Export(Export),
    /// Put plan and code back as they were recorded, where somebody changed them
    ///
    /// What stood in their places is kept beside them.
    Restore(SessionTarget),
}

/// The session that a command is about, which can be named in both ways.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionChoice {
    /// The session: its number as in `r7`, its name or its id; the present one if left out
    #[arg(value_name = "SESSION", conflicts_with = "named")]
    pub positional: Option<String>,
    /// The session.
    #[command(flatten)]
    pub option: SessionOption,
}

impl SessionChoice {
    /// The session, as the engine takes it.
    pub fn id(&self) -> Option<&str> {
        self.positional.as_deref().or(self.option.id())
    }
}

/// The session that a command is about, as every command takes it.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionOption {
    /// The same as an option
    #[arg(
        long = "session",
        short = 's',
        id = "named",
        value_name = "SESSION",
        alias = "run-id"
    )]
    pub named: Option<String>,
}

impl SessionOption {
    /// The session, as the engine takes it.
    pub fn id(&self) -> Option<&str> {
        self.named.as_deref()
    }
}

/// `tm session init`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Init {
    /// The workflow, one whose view is `session`; `review` if left out
    #[arg(long, value_name = "WORKFLOW")]
    #[schemars(extend("x-brief" = "default: review"))]
    pub workflow: Option<String>,
    /// The profile; `generic` if left out
    #[arg(long, value_name = "PROFILE")]
    #[schemars(extend("x-brief" = "default: generic"))]
    pub profile: Option<String>,
    /// What it is given.
    #[command(flatten)]
    #[serde(flatten)]
    pub inputs: Inputs,
    /// Who opens a gate, such as `plan=human`; the gates are plan, code and review, each auto, human, terminal or signed; may be repeated
    #[arg(long = "gate", value_name = "GATE=MODE", value_parser = pair)]
    #[serde(default, deserialize_with = "modes")]
    #[schemars(with = "Map<String, Value>", extend("x-brief" = "plan, code, review: auto, human, terminal, signed"))]
    pub gates: Vec<(String, String)>,
    /// After how many iterations the session pauses whose reviews fail
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(extend("x-brief" = "failed reviews until it pauses"))]
    pub max_iterations: Option<u32>,
    /// A name for its id; the profile's if left out
    #[arg(long, value_name = "NAME")]
    #[schemars(extend("x-brief" = "part of its id"))]
    pub name: Option<String>,
}

impl Init {
    /// It as the engine takes it, which reads texts by the profile's types.
    pub fn request(self) -> Result<request::Init, Fault> {
        Ok(request::Init {
            workflow: self.workflow,
            profile: self.profile,
            inputs: self.inputs.all(as_texts)?,
            gates: self.gates,
            max_iterations: self.max_iterations,
            name: self.name,
        })
    }
}

/// Modes of gates by name, which a command line takes in pairs.
fn modes<'de, D: Deserializer<'de>>(given: D) -> Result<Vec<(String, String)>, D::Error> {
    Map::<String, Value>::deserialize(given)?
        .into_iter()
        .map(|(gate, mode)| match mode {
            Value::String(mode) => Ok((gate, mode)),
            other => Err(serde::de::Error::custom(format!(
                "the gate `{}` is {}, where auto, human, terminal or signed is expected",
                one_line(&gate),
                one_line(&other.to_string())
            ))),
        })
        .collect()
}

/// A command about one session.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionTarget {
    /// The session.
    #[command(flatten)]
    #[serde(skip)]
    pub session: SessionChoice,
}

/// `tm session respond`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct Respond {
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
    /// The file with the response; `-` for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Put it in the place of another one, which is kept beside it
    #[arg(long)]
    pub replace: bool,
    /// Then take steps until the session waits or is over, as `run` does, with its exit status
    #[arg(long)]
    pub run: bool,
    /// The work unit that it answers, as `nextAction.unitId` names it: refused if another one is asked for by now
    #[arg(long, value_name = "ID")]
    pub unit_id: Option<String>,
}

/// `tm session approve`.
#[derive(Debug, Args)]
pub struct Approve {
    /// What was looked at, by its SHA-256: anything else is refused
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
}

/// `tm session reject`.
#[derive(Debug, Args)]
pub struct Reject {
    /// What is to be done otherwise; it goes into the next prompt
    #[arg(long, value_name = "TEXT", required_unless_present = "feedback_file")]
    pub feedback: Option<String>,
    /// The same from a file; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "feedback")]
    pub feedback_file: Option<PathBuf>,
    /// What was looked at, by its SHA-256: anything else is refused
    #[arg(long, value_name = "HASH")]
    pub hash: Option<String>,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
}

/// `tm session reopen`.
#[derive(Debug, Args)]
pub struct Reopen {
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// After how many iterations it pauses from now on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
}

impl Reopen {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'_> {
        let most = self.max_iterations.map(Value::from);
        let most = most.map(|most| ("maxIterations".to_owned(), most));
        Turn {
            name: "reopen",
            reason: &self.reason,
            flags: most.into_iter().collect(),
        }
    }
}

/// `tm session trust`.
#[derive(Debug, Args)]
pub struct Trust {
    /// The profile
    #[arg(value_name = "PROFILE")]
    pub profile: String,
    /// How.
    #[command(flatten)]
    pub choice: TrustChoice,
}

/// `tm session cancel`.
#[derive(Debug, Args)]
pub struct Cancel {
    /// Why; it is journalled and shown
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
}

/// `tm session list`.
#[derive(Debug, Args)]
pub struct List {
    /// Only the sessions with this status
    #[arg(long, value_name = "STATUS")]
    pub status: Option<SessionStatus>,
    /// Only the sessions of this profile
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

/// What a session can be.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SessionStatus {
    /// It goes on.
    InProgress,
    /// Its review passed.
    Success,
    /// It broke down.
    Error,
    /// It was called off.
    Cancelled,
}

impl SessionStatus {
    /// The status as answers have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Success => "SUCCESS",
            Self::Error => "ERROR",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// `tm session diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The iteration to compare with; 0 for no code at all
    #[arg(long, value_name = "N")]
    pub from: Option<u32>,
    /// The iteration to look at; the present one if left out
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
    /// Only the names of the files, and what became of them
    #[arg(long)]
    pub stat: bool,
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
}

/// `tm session show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The session: its number as in `r7`, its name or its id; the present one if left out
    #[arg(value_name = "SESSION")]
    pub first: Option<String>,
    /// The file to print
    #[arg(value_name = "FILE", conflicts_with = "named")]
    pub second: Option<String>,
    /// The session.
    #[command(flatten)]
    pub session: SessionOption,
}

impl Show {
    /// The word that was read as a session for want of anything that makes it look like a file.
    pub fn only_word(&self) -> Option<&str> {
        self.meant()
            .0
            .filter(|_| self.session.id().is_none() && self.second.is_none())
    }

    /// Session and file. A single word is a file where it looks like one, and where the session is named already.
    pub fn meant(&self) -> (Option<&str>, Option<&str>) {
        let (named, first, second) = (
            self.session.id(),
            self.first.as_deref(),
            self.second.as_deref(),
        );
        match (named, first, second) {
            (None, first, Some(file)) => (first, Some(file)),
            (None, Some(word), None) if is_file(word) => (None, Some(word)),
            (None, first, None) => (first, None),
            (named, first, second) => (named, second.or(first)),
        }
    }
}

/// Whether a word means a file. The id of a session has neither a dot nor a slash.
fn is_file(word: &str) -> bool {
    matches!(word, "plan" | "prompt" | "response") || word.contains(['.', '/'])
}

/// `tm session export`.
#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub struct Export {
    /// The session.
    #[command(flatten)]
    pub session: SessionChoice,
    /// The folder; it is made where it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Write over files that are there and differ
    #[arg(long)]
    pub force: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_word_after_show_is_a_session_or_a_file() {
        for (named, words, session, file) in [
            (None, &[][..], None, None),
            (None, &["review__generic"], Some("review__generic"), None),
            (None, &["plan"], None, Some("plan")),
            (None, &["plan.md"], None, Some("plan.md")),
            (None, &["code/a"], None, Some("code/a")),
            (None, &["iteration-1/a.md"], None, Some("iteration-1/a.md")),
            (None, &["rev", "plan"], Some("rev"), Some("plan")),
            (Some("rev"), &["odd"], Some("rev"), Some("odd")),
            (Some("rev"), &[], Some("rev"), None),
        ] {
            let word = |at: usize| words.get(at).map(|word| (*word).to_owned());
            let show = Show {
                first: word(0),
                second: word(1),
                session: SessionOption {
                    named: named.map(str::to_owned),
                },
            };
            assert_eq!(show.meant(), (session, file), "{named:?} {words:?}");
        }
    }
}
