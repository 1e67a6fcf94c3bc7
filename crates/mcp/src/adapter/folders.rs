//! The folders that a client with a session works on.
//!
//! It is asked until it has told. Calls that need to know wait a little; an answer that comes too late for one is good
//! for the next.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::watch::Sender;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ask;
use crate::client::MissingRoots;
use crate::stop::Input;

/// How long a call waits for the answer: no person has to be waited for there.
const TIME: Duration = Duration::from_secs(5);

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Folders(Sender<State>);

#[derive(Debug, Default)]
struct State {
    told: RootsReply,
    /// The number of the last question.
    question: u64,
    /// When it was asked; nothing where its answer would not count any more.
    asked: Option<Instant>,
    /// What was asked before this one is out of date.
    counts_from: u64,
}

#[derive(Debug, Default)]
enum RootsReply {
    #[default]
    NotYet,
    These(Vec<PathBuf>),
    Not(String),
}

impl Folders {
    /// What the client says, asked where it has not told yet.
    pub(super) async fn told(
        &self,
        context: &RequestContext<RoleServer>,
        stopping: &CancellationToken,
    ) -> Result<Vec<PathBuf>, MissingRoots> {
        let mut state = self.0.subscribe();
        if let Some(question) = self.next_question() {
            self.ask(question, context).await;
        }
        let answered = state.wait_for(|state| !matches!(state.told, RootsReply::NotYet));
        let told = tokio::select! {
            told = tokio::time::timeout(TIME, answered) => told,
            () = context.ct.cancelled() => return Err(MissingRoots::because("the call was cancelled")),
            () = stopping.cancelled() => return Err(MissingRoots::because("the server is stopping")),
        };
        match told.as_ref().map(|state| state.as_deref()) {
            Ok(Ok(State {
                told: RootsReply::These(folders),
                ..
            })) => Ok(folders.clone()),
            Ok(Ok(State {
                told: RootsReply::Not(why),
                ..
            })) => Err(MissingRoots::because(why)),
            _ => Err(MissingRoots::because(format!(
                "no answer came within {} seconds",
                TIME.as_secs()
            ))),
        }
    }

    /// The client says that they changed.
    pub(super) fn changed(&self) {
        self.0.send_modify(|state| {
            state.told = RootsReply::NotYet;
            state.asked = None;
            state.counts_from = state.question + 1;
        });
    }

    /// The number of the question that is to be asked now, if one is.
    fn next_question(&self) -> Option<u64> {
        let mut question = None;
        self.0.send_if_modified(|state| {
            let is_due = match state.told {
                RootsReply::These(_) => false,
                RootsReply::Not(_) => true,
                // Several calls share one question, but not for longer than each of them waits.
                RootsReply::NotYet => state.asked.is_none_or(|asked| asked.elapsed() >= TIME),
            };
            if is_due {
                state.told = RootsReply::NotYet;
                state.asked = Some(Instant::now());
                state.question += 1;
                question = Some(state.question);
            }
            false
        });
        question
    }

    async fn ask(&self, question: u64, context: &RequestContext<RoleServer>) {
        match ask::begin(&Input::Roots, context).await {
            Ok(asked) => {
                let state = self.0.clone();
                tokio::spawn(async move {
                    let told = match ask::end(asked).await {
                        Ok(answer) => read(&answer),
                        Err(error) => RootsReply::Not(error.message.into_owned()),
                    };
                    hear(&state, question, told);
                });
            }
            Err(error) => hear(
                &self.0,
                question,
                RootsReply::Not(error.message.into_owned()),
            ),
        }
    }
}

/// Notes the answer to a question.
fn hear(state: &Sender<State>, question: u64, told: RootsReply) {
    state.send_if_modified(|state| {
        let counts = match (&state.told, &told) {
            _ if question < state.counts_from => false,
            (RootsReply::These(_), _) => false,
            (_, RootsReply::These(_)) => true,
            // A question that was asked after it may still be answered.
            _ => question == state.question,
        };
        if counts {
            state.told = told;
        }
        counts
    });
}

fn read(answer: &serde_json::Value) -> RootsReply {
    match answer.get("roots").and_then(|roots| roots.as_array()) {
        Some(roots) => RootsReply::These(
            roots
                .iter()
                .filter_map(|root| folder(root.get("uri")?.as_str()?))
                .collect(),
        ),
        None => RootsReply::Not("its answer to `roots/list` has no `roots`".to_owned()),
    }
}

/// The folder that a `file:` URI names; none where it is no such URI, or names another machine's.
pub fn folder(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut input = rest.bytes();
    while let Some(byte) = input.next() {
        if byte == b'%' {
            let digits = [input.next()?, input.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::folder;
    use std::path::PathBuf;

    #[test]
    fn a_file_uri_names_a_folder() {
        for (uri, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("https://a/b", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
        ] {
            assert_eq!(folder(uri), path.map(PathBuf::from), "{uri}");
        }
    }
}
