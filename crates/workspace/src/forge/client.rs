//! Speaking to a forge by the program that the user is logged in with: `gh api` and `glab api` take the same arguments, and
//! answer with JSON. They find the user's credentials by themselves; nothing of these passes through here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::address::{ForgeAddress, ForgeKind};
use crate::process::{self, How, Program, ProgramError};

/// How long one request may take.
const LIMIT: Duration = Duration::from_mins(1);
/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;
/// What is kept of the end of what a program complains of, in bytes.
const LONGEST_COMPLAINT: usize = 8 * 1024;

/// Of what kind the failure of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeTrouble {
    /// The program that speaks to the forge is not installed.
    ProgramMissing,
    /// It is not logged in there, or the login is no longer valid.
    LoggedOut,
    /// The user may not do that there.
    Forbidden,
    /// There is no such repository or pull request, or the user may not see it.
    NotFound,
    /// Too many requests for now.
    RateLimited,
    /// The forge does not take it as it is.
    Invalid,
    /// It cannot be reached now, or its answer was lost: what was asked may have been done.
    Unreachable,
    /// It answered in a form that is not known.
    Unexpected,
}

/// A request to a forge failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeError {
    /// Of what kind it is.
    pub trouble: ForgeTrouble,
    /// What the program or the forge said.
    pub said: String,
}

impl ForgeError {
    pub(super) fn new(trouble: ForgeTrouble, said: impl Into<String>) -> Self {
        Self {
            trouble,
            said: said.into(),
        }
    }

    /// An answer without something that it should have.
    pub(super) fn without(what: &str) -> Self {
        Self::new(
            ForgeTrouble::Unexpected,
            format!("the answer has no `{what}`"),
        )
    }

    /// Whether what was asked may have been done all the same.
    pub fn may_be_done(&self) -> bool {
        matches!(
            self.trouble,
            ForgeTrouble::Unreachable | ForgeTrouble::Unexpected
        )
    }
}

/// A request's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Patch,
    Put,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Put => "PUT",
        }
    }
}

/// A repository on a forge, spoken to by the user's own program.
#[derive(Debug, Clone)]
pub struct Forge {
    /// What kind of forge it is.
    pub kind: ForgeKind,
    /// Where the repository lies.
    pub address: ForgeAddress,
    folder: PathBuf,
}

impl Forge {
    /// One that is spoken to from `folder`.
    pub fn new(kind: ForgeKind, address: ForgeAddress, folder: &Path) -> Self {
        Self {
            kind,
            address,
            folder: folder.to_owned(),
        }
    }

    /// All pages of a list.
    pub(super) fn list(&self, path: &str) -> Result<Vec<Value>, ForgeError> {
        let mut all = Vec::new();
        for page in self.documents(path)? {
            match page {
                Value::Array(items) => all.extend(items),
                _ => {
                    return Err(ForgeError::new(
                        ForgeTrouble::Unexpected,
                        "the answer is no list",
                    ));
                }
            }
        }
        Ok(all)
    }

    /// All pages, which follow each other, each a document of its own.
    pub(super) fn documents(&self, path: &str) -> Result<Vec<Value>, ForgeError> {
        let answer = self.call(Method::Get, path, None, true)?;
        let pages = serde_json::Deserializer::from_slice(&answer).into_iter();
        pages
            .map(|page| page.map_err(|error| unreadable(&error)))
            .collect()
    }

    /// One object.
    pub(super) fn get(&self, path: &str) -> Result<Value, ForgeError> {
        let answer = self.call(Method::Get, path, None, false)?;
        serde_json::from_slice(&answer).map_err(|error| unreadable(&error))
    }

    /// Asks for a change.
    pub(super) fn send(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, ForgeError> {
        let answer = self.call(method, path, Some(body), false)?;
        if answer.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|error| unreadable(&error))
    }

    fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        all_pages: bool,
    ) -> Result<Vec<u8>, ForgeError> {
        let host = &self.address.host;
        let mut argv = vec![self.kind.program(), "api", "--hostname", host];
        argv.extend(["--method", method.name()]);
        if all_pages {
            argv.push("--paginate");
        }
        if body.is_some() {
            argv.extend(["--header", "Content-Type: application/json", "--input", "-"]);
        }
        argv.push(path);
        let env = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let ended = process::run(&Program {
            argv: argv.into_iter().map(OsString::from).collect(),
            cwd: self.folder.clone(),
            env: vec![
                env("GH_PROMPT_DISABLED", "1"),
                env("GH_NO_UPDATE_NOTIFIER", "1"),
                env("GLAB_CHECK_UPDATE", "0"),
                env("NO_PROMPT", "1"),
                env("NO_COLOR", "1"),
                env("LC_ALL", "C"),
            ],
            whole_environment: true,
            stdin: body.map_or_else(Vec::new, |body| body.to_string().into_bytes()),
            timeout: LIMIT,
            max_stdout: LONGEST_ANSWER,
            max_stderr: LONGEST_COMPLAINT,
        });
        let ended = match ended {
            Ok(ended) => ended,
            Err(error @ ProgramError::Missing { .. }) => {
                let said = error.to_string();
                return Err(ForgeError::new(ForgeTrouble::ProgramMissing, said));
            }
            Err(error) => {
                let said = error.to_string();
                return Err(ForgeError::new(ForgeTrouble::Unexpected, said));
            }
        };
        if ended.success() {
            return Ok(ended.stdout);
        }
        let program = self.kind.program();
        let stderr = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        Err(match ended.how {
            How::Exited(code) => failure(code, &stderr, &ended.stdout),
            How::Flooded => ForgeError::new(
                ForgeTrouble::Unexpected,
                format!("`{program}` printed more than {LONGEST_ANSWER} bytes"),
            ),
            How::TimedOut | How::Cancelled | How::Signalled(_) => ForgeError::new(
                ForgeTrouble::Unreachable,
                format!("`{program}` gave no answer within {} s", LIMIT.as_secs()),
            ),
        })
    }
}

fn unreadable(error: &serde_json::Error) -> ForgeError {
    ForgeError::new(
        ForgeTrouble::Unexpected,
        format!("the answer is no JSON that was expected: {error}"),
    )
}

/// What a program meant that failed. Both say `(HTTP 404)` on their standard error, and print the forge's own words.
fn failure(code: i32, stderr: &str, stdout: &[u8]) -> ForgeError {
    let words = words_of(stdout);
    let said = match (stderr.is_empty(), words.is_empty()) {
        (_, true) => stderr.to_owned(),
        (true, false) => words,
        (false, false) if stderr.contains(&words) => stderr.to_owned(),
        (false, false) => format!("{stderr}: {words}"),
    };
    let said = if said.is_empty() {
        format!("exit status {code}, without a word")
    } else {
        said
    };
    let lower = said.to_lowercase();
    let has = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    let status = said.split("HTTP ").skip(1).find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u16>().ok()
    });
    let trouble = match status {
        Some(401) => ForgeTrouble::LoggedOut,
        Some(429) => ForgeTrouble::RateLimited,
        Some(403) if has(&["rate limit", "abuse"]) => ForgeTrouble::RateLimited,
        Some(403) => ForgeTrouble::Forbidden,
        Some(404 | 410) => ForgeTrouble::NotFound,
        Some(400..=499) => ForgeTrouble::Invalid,
        Some(500..) => ForgeTrouble::Unreachable,
        // `gh` has an exit status of its own for that.
        None if code == 4 || has(&["auth login", "not logged in", "authentication"]) => {
            ForgeTrouble::LoggedOut
        }
        None if has(&[
            "error connecting",
            "dial tcp",
            "no such host",
            "timeout",
            "timed out",
            "connection re",
            "eof",
            "network is unreachable",
        ]) =>
        {
            ForgeTrouble::Unreachable
        }
        Some(_) | None => ForgeTrouble::Unexpected,
    };
    ForgeError::new(trouble, said)
}

/// What the forge itself said, in one line: GitHub has `message` and `errors`, GitLab `message` or `error`, of several forms.
fn words_of(stdout: &[u8]) -> String {
    let Ok(answer) = serde_json::from_slice::<Value>(stdout) else {
        return String::new();
    };
    let mut words = Vec::new();
    for name in ["message", "error", "error_description", "errors"] {
        gather(answer.get(name), &mut words);
    }
    words.dedup();
    words.join("; ")
}

fn gather(value: Option<&Value>, words: &mut Vec<String>) {
    match value {
        Some(Value::String(text)) => words.push(text.clone()),
        Some(Value::Array(all)) => all.iter().for_each(|one| gather(Some(one), words)),
        Some(Value::Object(map)) => match map.get("message") {
            Some(message) => gather(Some(message), words),
            None => {
                for (name, value) in map {
                    let mut of_one = Vec::new();
                    gather(Some(value), &mut of_one);
                    if !of_one.is_empty() {
                        words.push(format!("{name} {}", of_one.join(", ")));
                    }
                }
            }
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        for case in [
            "4 To get started with GitHub CLI, please run:  gh auth login |  ⇒ LoggedOut gh auth login",
            "1 gh: Bad credentials (HTTP 401) |  ⇒ LoggedOut Bad credentials",
            r#"1 gh: API rate limit exceeded (HTTP 403) | {"message":"API rate limit exceeded for user ID 1."} ⇒ RateLimited rate limit"#,
            "1 gh: HTTP 429 |  ⇒ RateLimited 429",
            "1 gh: Resource not accessible by integration (HTTP 403) |  ⇒ Forbidden integration",
            r#"1 gh: Not Found (HTTP 404) | {"message":"Not Found"} ⇒ NotFound Not Found"#,
            r#"1 gh: Validation Failed (HTTP 422) | {"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"A pull request already exists for o:b."}]} ⇒ Invalid already exists"#,
            "1 gh: Server Error (HTTP 502) |  ⇒ Unreachable 502",
            "1 error connecting to api.github.com\ncheck your internet connection |  ⇒ Unreachable connecting",
            "1 Get \"https://gitlab.com\": dial tcp: lookup gitlab.com: no such host |  ⇒ Unreachable dial",
            r#"1 glab: 409 Conflict (HTTP 409) | {"message":["Another open merge request already exists for this source branch: !7"]} ⇒ Invalid !7"#,
            r#"1 glab: 400 Bad Request (HTTP 400) | {"message":{"title":["can't be blank"]}} ⇒ Invalid title can't be blank"#,
            "2  |  ⇒ Unexpected exit status 2",
        ] {
            let (output, expected) = case.split_once(" ⇒ ").unwrap();
            let (trouble, said) = expected.split_once(' ').unwrap();
            let (stderr, stdout) = output.split_once(" | ").unwrap();
            let (code, stderr) = stderr.split_once(' ').unwrap();
            let error = failure(code.parse().unwrap(), stderr, stdout.as_bytes());
            assert_eq!(format!("{:?}", error.trouble), trouble, "{case}");
            assert!(error.said.contains(said), "{}", error.said);
        }
    }
}
