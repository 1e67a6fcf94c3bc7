//! What a profile makes of a response.

use std::path::Path;

use markup::response::bundle;
use markup::response::bundle::{Bundle, File, Rules};
use markup::response::verdict::Verdict;
use markup::response::{plan, verdict};
use serde_json::{Map, Value, json};
use text::counted;
use workspace::profile::processing;
use workspace::profile::processing::{ProcessingResult, ProcessorFault, Request, Status};
use workspace::profile::{Phase, Profile, Reader};
use workspace::trust::TrustStore;

use crate::fault::{Fault, Kind, chain};
use crate::next_step::Verb;
use crate::support::object;

/// What came of a response.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseOutcome {
    /// `SUCCESS`, `FAILED`, `ERROR`, `CANCELLED` or `IN_PROGRESS`.
    pub(crate) status: &'static str,
    /// Why it did not go well.
    pub(crate) reason: String,
    /// What it makes of the code.
    pub(crate) changes: Bundle,
    /// What there is to say besides.
    pub(crate) messages: Vec<String>,
    /// What the profile keeps with it.
    pub(crate) metadata: Map<String, Value>,
}

impl ResponseOutcome {
    fn success(changes: Bundle) -> Self {
        Self {
            status: "SUCCESS",
            changes,
            ..Self::default()
        }
    }

    pub(crate) fn error(reason: impl Into<String>) -> Self {
        let mut made = Self::default();
        made.fails(reason);
        made
    }

    /// Has it be of no use, for this reason; what there is to say besides stays.
    pub(crate) fn fails(&mut self, reason: impl Into<String>) {
        self.status = "ERROR";
        self.reason = reason.into();
        self.changes = Bundle::default();
    }
}

/// Has the response of a phase read as the profile says.
pub(crate) fn process(
    profile: &Profile,
    phase: Phase,
    bytes: &[u8],
    request: &Request<'_>,
    store: &Path,
) -> Result<ResponseOutcome, Fault> {
    if let Some(made) = read_by_ours(profile, phase, bytes)? {
        return Ok(made);
    }
    let trust = TrustStore::in_folder(store);
    let result = processing::process(profile, phase, request, &trust)?;
    checked(phase, result)
}

/// Has it read by a reader of ours; none where the profile has a command for it.
pub(crate) fn read_by_ours(
    profile: &Profile,
    phase: Phase,
    bytes: &[u8],
) -> Result<Option<ResponseOutcome>, Fault> {
    let reader = profile.responses.get(phase);
    // Whoever carries a plan out may find as well that it cannot be.
    if !matches!(reader, Reader::Command { .. })
        && let Ok(plan::Plan::Invalid { reason }) = plan::read(bytes, &[])
    {
        return Ok(Some(ResponseOutcome {
            status: "CANCELLED",
            reason,
            ..ResponseOutcome::default()
        }));
    }
    Ok(Some(match reader {
        Reader::Plan { headings } => match plan::read(bytes, headings) {
            Ok(_) => ResponseOutcome::success(Bundle::default()),
            Err(error) => ResponseOutcome::error(error_text(&error, &error.suggestion())),
        },
        Reader::Bundle { allow } => match bundle::read(bytes, &rules(allow)?) {
            Ok(bundle) => ResponseOutcome::success(bundle),
            Err(error) => ResponseOutcome::error(error_text(&error, &error.suggestion())),
        },
        Reader::Verdict => match verdict::read(bytes) {
            Ok(verdict) => judged(&verdict),
            Err(error) => ResponseOutcome::error(error_text(&error, &error.suggestion())),
        },
        Reader::Command { .. } => return Ok(None),
    }))
}

/// What comes of a verdict, with what it counts under the keys of its block.
fn judged(verdict: &Verdict) -> ResponseOutcome {
    let (all, critical) = (verdict.issues_total, verdict.issues_critical);
    let (status, reason) = if verdict.pass {
        ("SUCCESS", String::new())
    } else {
        let found = counted(all, "issue");
        let reason = format!("the review found {found}, {critical} of them critical");
        ("FAILED", reason)
    };
    ResponseOutcome {
        status,
        reason,
        metadata: object(json!({
            "issues_total": all,
            "issues_critical": critical,
            "missing_inputs": verdict.missing_inputs,
        })),
        ..ResponseOutcome::default()
    }
}

/// A command's files are held to the same rules as those that a reader of ours finds; names it allows itself.
fn checked(phase: Phase, result: ProcessingResult) -> Result<ResponseOutcome, Fault> {
    let files: Vec<File> = result
        .files
        .into_iter()
        .map(|file| File {
            path: file.path,
            content: file.content,
        })
        .collect();
    let writes = matches!(phase, Phase::Generation | Phase::Revision);
    let mut made = ResponseOutcome {
        status: match result.status {
            Status::Success => "SUCCESS",
            Status::Failed => "FAILED",
            Status::Error => "ERROR",
            Status::Cancelled => "CANCELLED",
            Status::InProgress => "IN_PROGRESS",
        },
        reason: result.error_message.unwrap_or_default(),
        changes: Bundle {
            files,
            deleted: result.deleted,
            ..Bundle::default()
        },
        messages: result.messages,
        metadata: result.metadata,
    };
    if made.status == "SUCCESS"
        && writes
        && let Err(error) = bundle::check(&made.changes.files, &made.changes.deleted, &rules(&[])?)
    {
        made.fails(error_text(&error, &error.suggestion()));
    }
    Ok(made)
}

/// Whether the names that a profile allows can be told from others.
pub(crate) fn check(profile: &Profile) -> Result<(), Fault> {
    for (_, reader) in profile.responses.iter() {
        if let Reader::Bundle { allow } = reader {
            rules(allow)?;
        }
    }
    Ok(())
}

fn rules(allow: &[String]) -> Result<Rules, Fault> {
    Rules::new(allow).map_err(|error| {
        Fault::new(Kind::Environment, "profile_invalid", chain(&error))
            .suggest("mend `allow` in profile.yaml")
    })
}

fn error_text(error: &dyn std::error::Error, suggestion: &str) -> String {
    if suggestion.is_empty() {
        chain(error)
    } else {
        format!("{}. {suggestion}", chain(error))
    }
}

impl From<ProcessorFault> for Fault {
    fn from(error: ProcessorFault) -> Self {
        let kind = match error {
            ProcessorFault::Untrusted { .. } => Kind::Refused,
            ProcessorFault::NoCommand { .. } => Kind::Bug,
            _ => Kind::Environment,
        };
        let fault = Self::new(kind, error.code(), chain(&error)).suggest(error.suggestion());
        if let ProcessorFault::Untrusted { profile, .. } = &error {
            return fault.recover(format!("tm session trust {profile}"));
        }
        let suggestion = format!(
            "{}. Nothing moved: step again then. If the response is at fault, write another one: {}, or {} where it was taken in already",
            fault.suggestion,
            Verb::Respond.step().and("replace"),
            Verb::Reopen,
        );
        fault.suggest(suggestion)
    }
}

impl From<workspace::profile::ProfileError> for Fault {
    fn from(error: workspace::profile::ProfileError) -> Self {
        let kind = match error.code() {
            "bad_name" | "usage" => Kind::Usage,
            "not_found" => Kind::Missing,
            _ => Kind::Environment,
        };
        Self::new(kind, error.code(), chain(&error)).suggest(error.suggestion())
    }
}
