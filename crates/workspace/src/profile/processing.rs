//! Responses that are read by a command of the profile's own.
//!
//! The command gets a [`Request`] as JSON on its standard input and prints a [`ProcessingResult`] on its standard
//! output. It runs in a copy of the profile's folder, made from the very bytes whose hash was trusted: what it writes
//! there is gone with the copy, and changes no hash.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folder::Files;
use super::{Phase, Profile, ProfileError, Reader, reading};
use crate::git::Scratch;
use crate::process::{self, Ended, How, Program, ProgramError};
use crate::trust::{Subject, TrustStore};
use text::plain;

/// More than this ends a command, in bytes.
const MOST_STDOUT: usize = 80 * 1024 * 1024;
/// How much of what it complains of is kept, in bytes.
const MOST_STDERR: usize = 4 * 1024;
/// How much of a line a message shows, in visible characters.
const SHOWN: usize = 120;

/// The version of [`Request`].
const VERSION: u32 = 1;

/// What a command is told.
#[derive(Debug, Clone, Serialize)]
pub struct Request<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The number of the candidate, from 1; 0 in planning.
    pub iteration: u32,
    /// The values of the declared inputs.
    pub inputs: &'a Map<String, Value>,
    /// The response, as it was taken in.
    pub response: &'a str,
    /// Where the response lies: an absolute path.
    pub response_path: &'a Path,
    /// The project's folder: an absolute path.
    pub project_root: &'a Path,
    /// The session's folder: an absolute path.
    pub session_dir: &'a Path,
    /// Where the code lies, or would: an absolute path.
    pub code_dir: &'a Path,
    /// The plan; empty in planning.
    pub plan: &'a str,
}

/// What is made of a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `status`")]
pub struct ProcessingResult {
    /// How it went.
    pub status: Status,
    /// The files that the response holds.
    #[serde(default)]
    pub files: Vec<ResultFile>,
    /// The files that go, by their paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<String>,
    /// Why it did not go well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// What there is to say besides.
    #[serde(default)]
    pub messages: Vec<String>,
    /// Anything else.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// How processing went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Well; of a review, that it passes the code.
    Success,
    /// Of a review, that it does not pass the code.
    Failed,
    /// The response cannot be processed.
    Error,
    /// The session is to end.
    Cancelled,
    /// Not over.
    InProgress,
}

/// A file of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a file, with `path` and `content`")]
pub struct ResultFile {
    /// Its path, as the command gave it: not checked here.
    pub path: String,
    /// Its content.
    pub content: String,
}

/// Why a command gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessorFault {
    /// No person trusted the folder as it is.
    #[error("{}", untrusted(profile, folder, *changed))]
    Untrusted {
        /// The profile.
        profile: String,
        /// Its folder.
        folder: PathBuf,
        /// Whether it was trusted as it was before.
        changed: bool,
    },
    /// The program is not there, or cannot be executed.
    #[error("`{command}` cannot be run: {reason}")]
    Missing {
        /// The command.
        command: String,
        /// Why not.
        reason: String,
    },
    /// It took too long.
    #[error("`{command}` took longer than {} s and was ended{}", limit.as_secs(), stderr_text(stderr))]
    TimedOut {
        /// The command.
        command: String,
        /// How long it may take.
        limit: Duration,
        /// The end of what it complained of.
        stderr: String,
    },
    /// It ended badly.
    #[error("`{command}` {}{}", ended(*how), stderr_text(stderr))]
    Died {
        /// The command.
        command: String,
        /// How it ended.
        how: How,
        /// The end of what it complained of.
        stderr: String,
    },
    /// It printed something else than a result.
    #[error(
        "`{command}` printed no result: {reason}{}{}",
        began(first_line),
        stderr_text(stderr)
    )]
    Garbage {
        /// The command.
        command: String,
        /// What is wrong with it.
        reason: String,
        /// The first line of what it printed, shortened; empty if it printed nothing.
        first_line: String,
        /// The end of what it complained of.
        stderr: String,
    },
    /// It printed too much.
    #[error("`{command}` printed more than {MOST_STDOUT} bytes and was ended")]
    Flooded {
        /// The command.
        command: String,
    },
    /// The system refused something else.
    #[error("`{command}` could not be run")]
    Io {
        /// The command.
        command: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The response of this phase is not read by a command.
    #[error("the profile `{profile}` has no command for the response of {phase}")]
    NoCommand {
        /// The profile.
        profile: String,
        /// The phase.
        phase: Phase,
    },
    /// The response of this phase was read by a command when the session began, and is not any more.
    #[error(
        "the profile `{profile}` has no command for the response of {phase} any more, and the session began with one"
    )]
    NoCommandAnyMore {
        /// The profile.
        profile: String,
        /// The phase.
        phase: Phase,
    },
    /// The folder, or the list of trusted ones, cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

fn untrusted(profile: &str, folder: &Path, changed: bool) -> String {
    let folder = folder.display();
    if changed {
        format!("the profile `{profile}` was changed since a person trusted its commands: {folder}")
    } else {
        format!("the profile `{profile}` brings commands that no person has trusted: {folder}")
    }
}

fn ended(how: How) -> String {
    match how {
        How::Exited(code) => format!("ended with exit status {code}"),
        How::Signalled(signal) => format!("was ended by signal {signal}"),
        How::TimedOut | How::Flooded | How::Cancelled => "was ended".to_owned(),
    }
}

fn stderr_text(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; it said: {stderr}")
    }
}

fn began(first_line: &str) -> String {
    if first_line.is_empty() {
        String::new()
    } else {
        format!("; it began with: {first_line}")
    }
}

impl ProcessorFault {
    /// A short, stable name of what went wrong.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Untrusted { .. } => "untrusted",
            Self::Missing { .. }
            | Self::TimedOut { .. }
            | Self::Died { .. }
            | Self::Garbage { .. }
            | Self::Flooded { .. }
            | Self::NoCommandAnyMore { .. } => "command_failed",
            Self::Io { .. } => "io_failed",
            Self::NoCommand { .. } => "internal",
            Self::Profile(error) => error.code(),
        }
    }

    /// What can be done about it.
    pub fn suggestion(&self) -> String {
        match self {
            Self::Untrusted {
                profile, folder, ..
            } => format!(
                "read what lies in {}, and if you trust it: tm session trust {profile}",
                folder.display()
            ),
            Self::Missing { .. } => "install the program, or mend `command` in profile.yaml; a file of the profile's folder is named with its interpreter or as `./NAME`".to_owned(),
            Self::TimedOut { .. } => "raise `timeout` in profile.yaml, or find out what it waits for".to_owned(),
            Self::Died { .. } => "mend the command; it gets the request as JSON on its standard input".to_owned(),
            Self::Garbage { .. } => "let it print one JSON object and nothing else, `{\"status\": \"SUCCESS\", \"files\": [{\"path\": …, \"content\": …}]}`; what it has to say besides goes to its standard error".to_owned(),
            Self::Flooded { .. } => "let it print the result and nothing else".to_owned(),
            Self::Io { .. } => "see to what the system says, then try again".to_owned(),
            Self::NoCommand { .. } => "this is a fault of tm; please report it".to_owned(),
            Self::NoCommandAnyMore { .. } => {
                "give it a command for that again, or begin another session".to_owned()
            }
            Self::Profile(error) => error.suggestion(),
        }
    }
}

impl ProcessingResult {
    /// Reads what a command printed: one JSON object, with these keys and no others.
    pub fn parse(printed: &[u8]) -> Result<Self, String> {
        if printed.iter().all(u8::is_ascii_whitespace) {
            return Err("it printed nothing".to_owned());
        }
        serde_json::from_slice(printed).map_err(|error| error.to_string())
    }
}

/// Has a response read by the profile's command for its phase. The folder is read anew: as it is now, a person must
/// have trusted it.
pub fn process(
    profile: &Profile,
    phase: Phase,
    request: &Request<'_>,
    trust: &TrustStore,
) -> Result<ProcessingResult, ProcessorFault> {
    let (Reader::Command { .. }, Some(folder)) =
        (profile.responses.get(phase), profile.source.folder())
    else {
        return Err(ProcessorFault::NoCommand {
            profile: profile.name.clone(),
            phase,
        });
    };
    let files = Files::read(folder)?;
    let trusted = trust.is_trusted(Subject::Profile, folder, &files.hash());
    if !trusted.map_err(ProfileError::from)? {
        return Err(ProcessorFault::Untrusted {
            profile: profile.name.clone(),
            folder: folder.to_owned(),
            changed: trust
                .last(Subject::Profile, folder)
                .map_err(ProfileError::from)?
                .is_some(),
        });
    }
    // What runs is what was trusted: the command of the very files that have this hash, whatever the session began with.
    let trusted = reading::profile(&profile.name, profile.source.clone(), &files)?;
    let Reader::Command { argv, timeout } = trusted.responses.get(phase) else {
        return Err(ProcessorFault::NoCommandAnyMore {
            profile: profile.name.clone(),
            phase,
        });
    };
    let command = command_line(argv);
    let io = |source| ProcessorFault::Io {
        command: command.clone(),
        source,
    };
    let copy = copy(&files).map_err(io)?;
    let input = input(profile, phase, request).map_err(|error| io(io::Error::other(error)))?;
    let ended = process::run(&Program {
        argv: argv.iter().map(Into::into).collect(),
        cwd: copy.path().to_owned(),
        env: Vec::new(),
        whole_environment: false,
        stdin: input,
        timeout: *timeout,
        max_stdout: MOST_STDOUT,
        max_stderr: MOST_STDERR,
    });
    // What cannot be taken away lies in a folder for temporary files.
    drop(copy);
    match ended {
        Ok(ended) => result(&command, *timeout, &ended),
        Err(ProgramError::Io { source, .. }) => Err(io(source)),
        Err(error) => {
            let mut reason = error.to_string();
            if let Some(cause) = std::error::Error::source(&error) {
                reason = format!("{reason}: {cause}");
            }
            Err(ProcessorFault::Missing { command, reason })
        }
    }
}

fn result(
    command: &str,
    limit: Duration,
    ended: &Ended,
) -> Result<ProcessingResult, ProcessorFault> {
    let command = command.to_owned();
    let stderr = plain::many_lines(&String::from_utf8_lossy(&ended.stderr))
        .trim()
        .to_owned();
    match ended.how {
        How::TimedOut => Err(ProcessorFault::TimedOut {
            command,
            limit,
            stderr,
        }),
        How::Flooded => Err(ProcessorFault::Flooded { command }),
        How::Exited(0) => {
            ProcessingResult::parse(&ended.stdout).map_err(|reason| ProcessorFault::Garbage {
                command,
                reason,
                first_line: first_line(&ended.stdout),
                stderr,
            })
        }
        how => Err(ProcessorFault::Died {
            command,
            how,
            stderr,
        }),
    }
}

/// The first line that is not blank, shortened, without anything that a terminal would act upon.
fn first_line(printed: &[u8]) -> String {
    let start = printed
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .unwrap_or(printed.len());
    let line = printed[start..]
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = &line[..line.len().min(16 * SHOWN)];
    text::shortened(&String::from_utf8_lossy(line), SHOWN)
}

/// A command as messages name it.
fn command_line(argv: &[String]) -> String {
    let line = plain::one_line(&argv.join(" "));
    plain::cut_at_word(&line, SHOWN).to_owned()
}

fn input(
    profile: &Profile,
    phase: Phase,
    request: &Request<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Whole<'a> {
        version: u32,
        profile: &'a str,
        phase: Phase,
        #[serde(flatten)]
        request: &'a Request<'a>,
    }
    serde_json::to_vec(&Whole {
        version: VERSION,
        profile: &profile.name,
        phase,
        request,
    })
}

/// A folder that nobody else can look into, with these files.
fn copy(files: &Files) -> io::Result<Scratch> {
    let copy = Scratch::temporary("tramline-profile-")?;
    for (path, file) in &files.all {
        let target = copy.path().join(path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(if file.executable { 0o700 } else { 0o600 })
            .open(target)?
            .write_all(&file.bytes)?;
    }
    Ok(copy)
}
