use crate::limits::LONGEST_MESSAGE;
use crate::tests::Outcome;
use crate::tests::thrown::{is_assertion, is_assertion_name};

/// What is understood of the details of a result: the few values that tell why it failed. It is no YAML parser: what some
/// runners write there is no YAML.
#[derive(Default)]
pub(super) struct Details {
    begun: bool,
    kind: Option<String>,
    failure: Option<String>,
    code: Option<String>,
    name: Option<String>,
    error: Option<String>,
    location: Option<String>,
    exit: Option<String>,
    timed: bool,
    compared: bool,
    /// The indentation of a key whose text stands in the lines that follow, and whether that text is the error.
    block: Option<(usize, bool)>,
}

impl Details {
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn line(&mut self, line: &str) {
        let indent = super::line::indent(line);
        let text = line.trim();
        if let Some((key, is_error)) = self.block {
            if text.is_empty() || indent > key {
                if let Some(error) = self.error.as_mut().filter(|_| is_error)
                    && error.len() + text.len() < LONGEST_MESSAGE
                {
                    error.push('\n');
                    error.push_str(text);
                }
                return;
            }
            self.block = None;
        }
        let Some((key, value)) = text.split_once(':') else {
            return;
        };
        let value = value.trim();
        let is_error = matches!(key, "error" | "message") && self.error.is_none();
        let style = value.rsplit(' ').next().unwrap_or(value);
        if matches!(style, "|" | "|-" | "|+" | ">" | ">-" | ">+") {
            self.block = Some((indent, is_error));
            if is_error {
                self.error = Some(String::new());
            }
            return;
        }
        if value.is_empty() {
            return;
        }
        let slot = match key {
            "type" => &mut self.kind,
            "failureType" => &mut self.failure,
            "code" => &mut self.code,
            "name" => &mut self.name,
            "error" | "message" => &mut self.error,
            "location" | "at" => &mut self.location,
            "exitCode" => &mut self.exit,
            "duration_ms" => {
                self.timed = true;
                return;
            }
            "operator" => {
                self.compared = true;
                return;
            }
            _ => return,
        };
        slot.get_or_insert_with(|| unquoted(value));
    }

    /// Whether it is a suite of node, which is no test itself.
    pub(super) fn is_suite(&self) -> bool {
        self.kind.as_deref() == Some("suite")
    }

    /// Whether node counts it as a test, even with subtests. Its older versions do not name the type of a test.
    pub(super) fn is_node_test(&self) -> bool {
        self.kind.as_deref() == Some("test") || (self.kind.is_none() && self.timed)
    }

    /// Whether a subtest failed, and nothing else.
    pub(super) fn only_subtests_failed(&self) -> bool {
        self.failure.as_deref() == Some("subtestsFailed")
    }

    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The name of an error that is no assertion.
    pub(super) fn thrown(&self) -> Option<&str> {
        let name = self.name.as_deref();
        name.filter(|name| !is_assertion_name(name) && !self.is_of_node())
    }

    /// Whether node says why it failed.
    pub(super) fn is_of_node(&self) -> bool {
        self.failure.is_some()
    }

    /// The file, without line and column, and without the function that some give in front of it.
    pub(super) fn file(&self) -> Option<&str> {
        let location = self.location.as_deref()?;
        let place = match location.rsplit_once(" (") {
            Some((_, place)) => place.trim_end_matches(')'),
            None => location,
        };
        let mut file = place.strip_prefix("file://").unwrap_or(place);
        for _ in 0..2 {
            if let Some((before, number)) = file.rsplit_once(':')
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
            {
                file = before;
            }
        }
        let of_project = !file.starts_with("node:") && !file.contains("node_modules/");
        of_project.then_some(file)
    }

    /// Why a result is not ok. Without details nothing speaks against an assertion.
    pub(super) fn outcome(&self) -> Outcome {
        // A file that ended its process, or could not be loaded.
        if self.exit.is_some() {
            return Outcome::NotCollected;
        }
        // The assertions of ava name a test that threw like one whose assertion did not hold.
        if self.error.as_deref() == Some("Error thrown in test") {
            return Outcome::Error;
        }
        let asserted = self.code.as_deref() == Some("ERR_ASSERTION")
            || self.compared
            || self.name.as_deref().is_some_and(is_assertion_name)
            || (self.name.as_deref().is_none_or(|name| name == "Error")
                && self.error.as_deref().is_some_and(is_assertion));
        match (&self.failure, &self.name) {
            _ if asserted => Outcome::Failed,
            (None, None) => Outcome::Failed,
            _ => Outcome::Error,
        }
    }
}

fn unquoted(value: &str) -> String {
    for quote in ['\'', '"'] {
        if let Some(inner) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
        {
            return match quote {
                '\'' => inner.replace("''", "'"),
                _ => inner.replace("\\\"", "\""),
            };
        }
    }
    value.trim_start_matches(['\'', '"']).to_owned()
}
