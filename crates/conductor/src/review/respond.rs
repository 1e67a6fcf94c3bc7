//! Putting a response into its place.

use rails::RunStatus;

use super::about;
use super::answer::Responded;
use super::code::rename;
use super::effects::put_aside_as;
use crate::conductor::Conductor;
use crate::fault::{Fault, Kind};
use crate::generic::files;
use crate::generic::readers::Given;

impl Conductor {
    /// Puts a response into its place. `replace` allows another one to be there: it is kept beside.
    pub fn session_respond(
        &self,
        session: Option<&str>,
        response: &[u8],
        replace: bool,
    ) -> Result<Responded, Fault> {
        self.session_respond_in(session, response, replace, None)
    }

    /// The same, if the session stands in this phase: a response that comes late must not answer another prompt.
    pub fn session_respond_in(
        &self,
        session: Option<&str>,
        response: &[u8],
        replace: bool,
        phase: Option<&str>,
    ) -> Result<Responded, Fault> {
        let (_, dir) = self.session_dir(session)?;
        about::seen(&dir)?;
        if response.iter().all(u8::is_ascii_whitespace) {
            return Err(
                Fault::new(Kind::Usage, "response_empty", "the response is empty")
                    .suggest("write it first; the prompt says what belongs into it"),
            );
        }
        if response.len() as u64 > files::LARGEST_RESPONSE {
            return Err(Fault::new(
                Kind::Usage,
                "response_too_large",
                format!(
                    "the response has {} bytes, and {} are the most",
                    response.len(),
                    files::LARGEST_RESPONSE
                ),
            )
            .suggest("leave out what need not be in it"));
        }
        let hand = self.plain_hand(&dir, Given::default(), None)?;
        let run = &hand.open.run;
        let state = run.state();
        if let Some(phase) = phase.filter(|phase| !phase.eq_ignore_ascii_case(state)) {
            return Err(Fault::new(
                Kind::Conflict,
                "changed_since",
                format!(
                    "the session {} is in {state}, and not in {phase}: nothing was done",
                    run.run
                ),
            )
            .suggest("look at what it asks for now")
            .recover("tm session status"));
        }
        let path = hand
            .plain
            .definition
            .response(state, &run.vars)
            .filter(|_| run.status == RunStatus::Running)
            .ok_or_else(|| not_waiting(run.status, state))?;
        if let Some(session) = &hand.plain.session {
            session.check_beforehand(&path, response)?;
        }
        let place = files::place(&hand.plain.dir, &path)?;
        let sha256 = journal::sha256_hex(response);
        let mut replaced = None;
        if files::is_there(&place)? && !files::is_blank(&place) {
            let same = matches!(files::read(&place), Ok(Some(bytes)) if bytes == response);
            if !same && !replace {
                return Err(Fault::new(
                    Kind::Conflict,
                    "response_there",
                    format!("{path} is there already, and says something else"),
                )
                .suggest("go on with it by `tm session step`, or put this one in its place with --replace; the other is kept")
                .detail("path", path));
            }
            if !same {
                let aside = put_aside_as(&hand.plain.dir, &path, "replaced")?;
                rename(&place, &hand.plain.dir.join(&aside))
                    .map_err(|error| files::unwritable(&place, &error))?;
                replaced = Some(aside);
            }
        }
        files::put(&place, response)?;
        Ok(Responded {
            session_id: run.run.clone(),
            path,
            bytes: response.len() as u64,
            sha256,
            replaced,
        })
    }
}

fn not_waiting(status: RunStatus, state: &str) -> Fault {
    let fault = Fault::new(
        Kind::Refused,
        "not_waiting",
        match status {
            RunStatus::Running => format!("the session waits for no response in {state}"),
            RunStatus::Paused => "the session is paused".to_owned(),
            _ => format!("the session is over: it stands in {state}"),
        },
    );
    match status {
        RunStatus::Running => fault
            .suggest("take a step first: that asks for the next one")
            .recover("tm session step"),
        _ => fault
            .suggest("`tm session status` says what can be done")
            .recover("tm session status"),
    }
}
