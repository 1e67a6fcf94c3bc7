//! What a process left behind.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;

use serde_json::Value;

/// Status and output of a process that is over.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit status; 128 and the signal's number where one ended it, as a shell tells it.
    pub status: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Outcome {
    /// Reads the output, which must be UTF-8 unless the process was killed.
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| match String::from_utf8(bytes.to_vec()) {
            Ok(text) => text,
            Err(error) if output.status.code().is_some() => {
                panic!("it prints what is no UTF-8: {error}")
            }
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        };
        let signal = output.status.signal();
        Self {
            status: output
                .status
                .code()
                .unwrap_or_else(|| 128 + signal.unwrap_or_default()),
            signal,
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.signal.is_some()
    }

    /// The JSON value that is all of standard output, in one line.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The same, of a command that must come to this exit status.
    pub fn json_with(&self, status: i32) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// The answer of a command that must succeed.
    pub fn ok(&self) -> Value {
        self.json_with(0)
    }

    /// Standard output of a command that must succeed.
    pub fn text(&self) -> &str {
        assert_eq!(self.status, 0, "{self:?}");
        &self.out
    }

    /// The code of a fault or of a refusal; empty where the answer is neither.
    pub fn code(&self) -> String {
        self.of_error("code")
    }

    /// The message of a fault or of a refusal.
    pub fn message(&self) -> String {
        self.of_error("message")
    }

    /// The suggestion of a fault or of a refusal.
    pub fn suggestion(&self) -> String {
        self.of_error("suggestion")
    }

    fn of_error(&self, field: &str) -> String {
        let answer: Value = serde_json::from_str(&self.out).unwrap_or_default();
        let error = answer.get("error").unwrap_or(&answer);
        error[field].as_str().unwrap_or_default().to_owned()
    }
}
