//! What is to be said of what checks have found.

use machine::role::FileClass;
use machine::{Finding, Role};
use serde_json::json;
use text::plain::cut_bytes;
use workspace::config::{Policy, Severity};

use super::{CheckEvidence, MOST_TOLD, NewFinding};
use crate::capability::git::read::finding;
use crate::next_step::Verb;

/// The policy of findings that were not there before.
pub(crate) const NEW_FINDINGS: &str = "new_findings";
/// The policy of checks that are told to overlook something.
pub(crate) const FINDINGS_SILENCED: &str = "findings_silenced";
/// The policy of checks that are set up in another way, or no more.
pub(crate) const CHECKS_CHANGED: &str = "checks_changed";
/// The policy of checks that could not be run.
pub(crate) const CHECKS_NOT_RUN: &str = "checks_not_run";

/// As many are told in a sentence.
const FEW: usize = 8;
/// So many bytes of what a check printed that names no place are told.
const LONGEST: usize = 400;

impl CheckEvidence {
    /// What is found of it by the policies, in this role.
    pub(crate) fn findings(&self, role: &Role, policy: &Policy) -> Vec<Finding> {
        let mut all = Vec::new();
        // Tests that are ahead of the product are held to nothing but that; what is found in them is told.
        if role.shows.is_some() {
            if !self.altered.is_empty() {
                all.push(self.altered());
            }
            return all;
        }
        if !self.new.is_empty() {
            all.push(self.new_findings(role));
        }
        if !self.silenced.is_empty() {
            all.push(finding(
                FINDINGS_SILENCED,
                format!(
                    "checks are told to overlook something since the last commit: {}",
                    self.silenced.join(", ")
                ),
                format!(
                    "mend what they find instead, and report again: {}; where it is meant, say why beside it",
                    Verb::Report
                ),
            ));
        }
        // Whoever is to change how the project is built and checked may do that.
        if !self.altered.is_empty() && !is_about_checks(role) {
            all.push(self.altered());
        }
        let broken = self.ran.iter().filter_map(|(ran, _)| {
            let why = ran.broken.as_deref()?;
            Some(format!("{} ({})", ran.name, first_line(why)))
        });
        let mut not_run: Vec<String> = broken.collect();
        // That nobody trusts them is told when a run begins; here where it has to be otherwise.
        if matches!(policy.checks_not_run, Severity::Refuse | Severity::Pause) {
            let untrusted = self.untrusted.iter();
            not_run.extend(untrusted.map(|name| format!("{name} (nobody has trusted it)")));
        }
        if !not_run.is_empty() {
            all.push(finding(
                CHECKS_NOT_RUN,
                format!("checks of the project could not be run: {}", not_run.join("; ")),
                format!(
                    "see to it that they can be run here, or have a person leave them out (checks.without), and report again: {}. Trust is a person's to give, at a terminal: tm config trust --checks",
                    Verb::Report
                ),
            ));
        }
        all
    }

    /// Codes of what is told of a report that is accepted all the same.
    pub(crate) fn warnings(&self, role: &Role) -> impl Iterator<Item = &'static str> {
        let in_tests = role.shows.is_some() && !self.new.is_empty();
        let altered = !self.altered.is_empty() && is_about_checks(role);
        let told = [
            in_tests.then_some("findings_in_tests"),
            altered.then_some("checks_altered"),
        ];
        told.into_iter().flatten()
    }

    fn altered(&self) -> Finding {
        let told: Vec<String> = self
            .altered
            .iter()
            .map(|(name, why)| format!("{name} {why}"))
            .collect();
        finding(
            CHECKS_CHANGED,
            format!(
                "the checks of the project are not what they were: {}",
                told.join("; ")
            ),
            format!(
                "put back what sets them up, and report again: {}; to change that is a subtask of its own, of a kind that is about it",
                Verb::Report
            ),
        )
    }

    fn new_findings(&self, role: &Role) -> Finding {
        let told: Vec<String> = self.new.iter().take(FEW).map(words).collect();
        let more = self.new.len().saturating_sub(FEW);
        let mut message = format!(
            "{} found that {} not there before: {}",
            text::counted(self.new.len(), "problem"),
            if self.new.len() == 1 { "was" } else { "were" },
            told.join("; ")
        );
        if more > 0 {
            message = format!("{message}; and {more} more");
        }
        let by_tool = if self.fixes.is_empty() {
            String::new()
        } else {
            let all: Vec<String> = self.fixes.iter().map(|fix| format!("`{fix}`")).collect();
            format!(" ({} mends what can be mended so)", all.join(", "))
        };
        let frozen = if self.in_frozen.is_empty() {
            String::new()
        } else {
            format!(
                "; what is in protected tests ({}) is mended where these are: go back with {}, which keeps your work, and report them again",
                self.in_frozen.join(", "),
                Verb::Reopen.step().and("reason")
            )
        };
        let suggestion = match role.suite {
            Some(_) => format!(
                "open a repair for them with {reopen}, mend them there{by_tool}, run the tests and report; no test has failed for its commit, which `tm verify` then calls one without tests",
                reopen = Verb::Reopen.step().and("reason")
            ),
            None if role.reader == "tests" => format!(
                "mend them{by_tool}, run the tests again, and report: {}{frozen}",
                Verb::Report
            ),
            None => format!("mend them{by_tool}, and report again: {}", Verb::Report),
        };
        let mut found = finding(NEW_FINDINGS, message, suggestion);
        let listed = &self.new[..self.new.len().min(MOST_TOLD)];
        found.details.insert("findings".to_owned(), json!(listed));
        found
    }
}

/// Whether work in a role is about how the project is built and checked.
fn is_about_checks(role: &Role) -> bool {
    role.only.contains(&FileClass::Build) && !role.only.contains(&FileClass::Source)
}

/// A finding in a few words.
fn words(new: &NewFinding) -> String {
    let finding = &new.finding;
    let place = match finding.line {
        _ if finding.path.is_empty() => String::new(),
        Some(line) => format!(" {}:{line}", finding.path),
        None => format!(" {}", finding.path),
    };
    let rule = match &*finding.rule {
        rule if rule.is_empty() || rule == new.check => String::new(),
        rule => format!(" {rule}"),
    };
    // What names no place is found somewhere in what was printed.
    let message = if finding.path.is_empty() {
        let words: Vec<&str> = finding.message.split_whitespace().collect();
        cut_bytes(&words.join(" "), LONGEST).to_owned()
    } else {
        first_line(&finding.message).to_owned()
    };
    let gap = if message.is_empty() { "" } else { " " };
    format!("{}:{place}{rule}{gap}{message}", new.check)
}

fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.next().unwrap_or_default()
}
