//! What a process left behind.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Output};

use serde_json::Value;

/// Status and output of a process that is over.
pub struct Outcome {
    /// Its exit status; 128 and the signal's number where one ended it, as a shell tells it.
    pub status: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// The JSON value that is all of standard output.
    answer: Option<Value>,
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = f.debug_struct("Outcome");
        parts.field("status", &self.status);
        match &self.answer {
            Some(answer) => parts.field("answer", &format_args!("{answer:#}")),
            None => parts.field("out", &self.out),
        };
        parts.field("err", &self.err).finish_non_exhaustive()
    }
}

/// Whether something stands there by which texts name steps for one another: it is for no reader.
pub(crate) fn has_marks(bytes: &[u8]) -> bool {
    bytes.windows(4).any(|four| four == "\u{10FFF0}".as_bytes())
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
        // A bundle has the bytes of a run's files, as they are.
        if !output.stdout.starts_with(b"{\"tramlineBundle\"") {
            assert!(
                !has_marks(&output.stdout),
                "a step was not spelled: {}",
                text(&output.stdout)
            );
        }
        assert!(
            !has_marks(&output.stderr),
            "a step was not spelled: {}",
            text(&output.stderr)
        );
        Self {
            err: text(&output.stderr),
            ..Self::shown(output.status, text(&output.stdout))
        }
    }

    /// The same of one whose outputs are both what somebody saw.
    pub fn shown(status: ExitStatus, out: String) -> Self {
        let signal = status.signal();
        let of_signal = 128 + signal.unwrap_or_default();
        Self {
            status: status.code().unwrap_or(of_signal),
            signal,
            answer: serde_json::from_str(&out).ok(),
            out,
            err: String::new(),
        }
    }

    /// Waits for the end of a process.
    pub fn waited(child: Child) -> Self {
        Self::of(&child.wait_with_output().unwrap())
    }

    /// Whether a signal ended it.
    pub fn died(&self) -> bool {
        self.signal.is_some()
    }

    /// The JSON value that is all of standard output, in one line.
    pub fn json(&self) -> &Value {
        assert_eq!(self.out.matches('\n').count(), 1, "one line: {self:?}");
        let answer = self.answer.as_ref();
        answer.unwrap_or_else(|| panic!("no JSON: {self:?}"))
    }

    /// Shows that it ended by itself and answered, whatever the answer is.
    #[must_use]
    pub fn answered(self) -> Self {
        assert!(!self.died(), "{self:?}");
        self.json();
        self
    }

    /// The same, of a command that must come to this exit status.
    pub fn json_with(&self, status: i32) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json().clone()
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
    pub fn code(&self) -> &str {
        self.of_error("code")
    }

    /// The message of a fault or of a refusal.
    pub fn message(&self) -> &str {
        self.of_error("message")
    }

    /// The suggestion of a fault or of a refusal.
    pub fn suggestion(&self) -> &str {
        self.of_error("suggestion")
    }

    /// A fault or refusal with this exit status and code, which says what is wrong and what to do. What it says is wrong.
    pub fn fault(&self, status: i32, code: &str) -> String {
        assert_eq!((self.code(), self.status), (code, status), "{self:?}");
        for (part, said) in [
            ("message", self.message()),
            ("suggestion", self.suggestion()),
        ] {
            assert!(!said.is_empty(), "no {part}: {self:?}");
        }
        self.message().to_owned()
    }

    fn of_error(&self, field: &str) -> &str {
        let Some(answer) = &self.answer else {
            return "";
        };
        let error = answer.get("error").unwrap_or(answer);
        error[field].as_str().unwrap_or_default()
    }
}
