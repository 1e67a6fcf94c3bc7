//! The reader `response`: what a session's profile makes of what somebody wrote.

use journal::EvidenceStore;
use machine::{Definition, Reading, RunState};
use serde_json::{Map, json};
use workspace::profile::processing::Request;
use workspace::profile::{Phase, Reader};

use crate::call::Call;
use crate::capability::files::candidate::candidate;
use crate::capability::files::code::carried;
use crate::capability::files::subject::{whole_code, whole_plan};
use crate::capability::profile::memory::{PROCESSED, Processed};
use crate::capability::profile::processing::{ResponseOutcome, process, read_by_ours};
use crate::capability::profile::session::{Session, code_path, iteration, values};
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;
use crate::support::{HandlerError, object};

/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 2000;

/// How many messages are kept of each response.
const MOST_MESSAGES: usize = 100;
/// How much of a profile's metadata is kept of each response, in bytes.
const MOST_METADATA: usize = 64 * 1024;
/// What there is to say of a revision that changes nothing.
const UNCHANGED: &str = "the revision changes nothing: the candidate is what the last one was";

/// The phase of a profile that is asked for in a state.
pub(crate) fn phase_of(definition: &Definition, state: &str) -> Option<Phase> {
    let asked = definition.asked(state)?;
    Phase::ALL
        .into_iter()
        .find(|phase| phase.to_string() == asked)
}

/// A proved definition says what is asked for wherever something is.
pub(crate) fn no_phase(state: &str) -> Fault {
    Fault::bug(format!("`{state}` asks for no phase of a profile"))
}

impl Session {
    /// Refuses a response that a reader of ours could not read: to say so before it stands in its place costs nothing, and
    /// after that it would cost the session. What a command of the profile's reads is not known before.
    pub(crate) fn check_beforehand(
        &self,
        call: &Call<'_>,
        run: &RunState,
        phase: Phase,
        path: &str,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        let profile = self.profile(call)?;
        let made = match read_by_ours(profile, phase, bytes)? {
            Some(made)
                if made.status == "SUCCESS"
                    && matches!(phase, Phase::Generation | Phase::Revision) =>
            {
                let before = carried(run, &EvidenceStore::new(&call.dir))?;
                candidate(&before, &made.changes)
                    .err()
                    .map(ResponseOutcome::error)
            }
            made => made,
        };
        match made {
            Some(made) if made.status == "ERROR" => {
                Err(fault!("response_unreadable", reason = made.reason).detail("path", path))
            }
            _ => Ok(()),
        }
    }

    /// Reads the response in hand: the file that the state waits for, or what was taken in when the state before was
    /// left.
    pub(crate) fn read(
        &self,
        call: &Call<'_>,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        let present = run
            .token(token)
            .ok_or_else(|| Fault::bug("a response for no token"))?;
        let waits = call.definition.response(&present.state, &run.vars);
        let (mut reading, bytes, from) = if waits.is_some() {
            let (reading, bytes) = files::take_in(call, run, token)?;
            (reading, bytes, present.state.as_str())
        } else {
            let from = present.came_from.as_deref().unwrap_or_default();
            let taken = files::taken(run, from)
                .ok_or_else(|| Fault::bug(format!("no response was taken in at `{from}`")))?;
            let (bytes, same) = files::taken_bytes(call, &taken)?;
            if !same {
                self.warn(format!(
                    "{} was changed after it was taken in; what counts is what it said then",
                    taken.path
                ));
            }
            let reading = Reading {
                evidence: vec![taken.sha256.clone()],
                level: "file".to_owned(),
                ..Reading::default()
            };
            (reading, bytes, from)
        };
        let phase = phase_of(&call.definition, from).ok_or_else(|| no_phase(from))?;
        let mut made = self.made(call, run, phase, &bytes)?;
        let staged = stage(call, run, phase, &mut made, &bytes)?;
        self.told
            .borrow_mut()
            .messages
            .extend(made.messages.iter().cloned());
        let processed = processed(&made);
        if processed != Processed::default() {
            PROCESSED.put(&mut reading.keep_run, &processed)?;
        }
        reading.facts = object(json!({
            "status": made.status,
            "reason": reason(&made),
            "files": made.changes.files.len(),
            "hash": reading.evidence.first().map_or("", String::as_str),
            "staged": staged,
        }));
        Ok(reading)
    }

    fn made(
        &self,
        call: &Call<'_>,
        run: &RunState,
        phase: Phase,
        bytes: &[u8],
    ) -> Result<ResponseOutcome, HandlerError> {
        let profile = self.profile(call)?;
        let plan = if phase == Phase::Planning {
            String::new()
        } else {
            whole_plan(call, run)?.unwrap_or_default()
        };
        if phase == Phase::Review {
            // What is judged is what was recorded.
            whole_code(call, run)?;
        }
        let response = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if matches!(profile.responses.get(phase), Reader::Command { .. }) => {
                let at = error.valid_up_to() + 1;
                return Ok(ResponseOutcome::error(format!(
                    "the response is no UTF-8, from byte {at} on"
                )));
            }
            // The readers of ours say that themselves.
            Err(_) => "",
        };
        let evidence = EvidenceStore::new(&call.dir);
        let taken_in = evidence.folder().join(journal::sha256_hex(bytes));
        let empty = Map::new();
        let request = Request {
            session_id: &run.run,
            iteration: u32::try_from(iteration(call, run)).unwrap_or(0),
            inputs: values(call, run).unwrap_or(&empty),
            response,
            // What was taken in, whatever stands in its place by now.
            response_path: &taken_in,
            project_root: call.root,
            session_dir: &call.dir,
            code_dir: &call.dir.join(code_path(iteration(call, run).max(1))),
            plan: &plan,
        };
        Ok(process(
            profile,
            phase,
            bytes,
            &request,
            &call.settings.store,
        )?)
    }
}

/// Keeps what an effect is going to write, so that it comes out the same however often it is done: its hash, empty where nothing is.
fn stage(
    call: &Call<'_>,
    run: &RunState,
    phase: Phase,
    made: &mut ResponseOutcome,
    bytes: &[u8],
) -> Result<String, Fault> {
    let store = &EvidenceStore::new(&call.dir);
    match phase {
        _ if made.status != "SUCCESS" => {}
        Phase::Review => {}
        Phase::Planning => {
            // A command may give the plan another form.
            let mut files = made.changes.files.iter();
            let plan = files.find(|file| file.path == "plan.md");
            let plan = plan.map_or(bytes, |file| file.content.as_bytes());
            if !plan.iter().all(u8::is_ascii_whitespace) {
                return files::keep(store, plan);
            }
            made.fails("the plan is empty");
        }
        Phase::Generation | Phase::Revision => {
            let before = carried(run, store)?;
            match candidate(&before, &made.changes) {
                Ok(tree) => {
                    if phase == Phase::Revision && tree == before {
                        made.messages.push(UNCHANGED.to_owned());
                    }
                    return tree.keep(store);
                }
                Err(reason) => made.fails(reason),
            }
        }
    }
    Ok(String::new())
}

/// What is journalled of what the profile said.
fn processed(made: &ResponseOutcome) -> Processed {
    let messages = made.messages.iter().take(MOST_MESSAGES);
    let cut = |text: &String| text.chars().take(LONGEST_REASON).collect();
    let mut metadata = made.metadata.clone();
    let length = serde_json::to_vec(&metadata).map_or(0, |bytes| bytes.len());
    if length > MOST_METADATA {
        metadata = Map::from_iter([("leftOut".to_owned(), length.into())]);
    }
    Processed {
        reason: if made.status == "SUCCESS" {
            String::new()
        } else {
            reason(made)
        },
        messages: messages.map(cut).collect(),
        metadata,
    }
}

fn reason(made: &ResponseOutcome) -> String {
    let known = made.reason.trim();
    if known.is_empty() && made.status != "SUCCESS" {
        return match made.status {
            "ERROR" => "the profile could not make anything of the response, and did not say why"
                .to_owned(),
            "CANCELLED" => "the profile called the session off, and did not say why".to_owned(),
            "FAILED" => "the review did not pass the code".to_owned(),
            other => format!("the profile answered {other}, which leads nowhere here"),
        };
    }
    if matches!(made.status, "IN_PROGRESS") {
        return format!("the profile answered {}: {known}", made.status);
    }
    known.chars().take(LONGEST_REASON).collect()
}
