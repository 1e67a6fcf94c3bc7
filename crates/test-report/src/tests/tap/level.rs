use std::collections::HashSet;

use super::line::{Directive, Point};
use super::stated;
use super::yaml::Details;
use crate::limits::LONGEST_MESSAGE;
use crate::tests::Outcome;
use crate::tests::builder::{cut, short_id};
use crate::tests::thrown::{is_script, without_checkout};
use crate::unreadable::{Kind, Unreadable};

/// A test, before it is known in which subtests it stands.
pub(super) struct Case {
    pub(super) id: Box<str>,
    pub(super) outcome: Outcome,
    pub(super) message: Option<Box<str>>,
    pub(super) file: Option<Box<str>>,
}

/// The results of one indentation.
#[derive(Default)]
pub(super) struct Level {
    plan: Option<u64>,
    /// Whether the plan stood behind the results.
    planned_last: bool,
    seen: u64,
    /// All numbers up to this one were seen.
    reached: u64,
    /// Numbers beyond that.
    ahead: HashSet<u64>,
    /// The first number that two results have.
    doubled: Option<u64>,
    /// Whether a result is of a file that node could not load.
    unloaded: bool,
    /// How many results are of what went wrong outside of the tests. Ava plans none for them, and plans tests that such an
    /// error kept from running.
    pub(super) outside: u64,
    pub(super) cases: Vec<Case>,
    pub(super) tally: Tally,
    /// The last result, of which details may follow.
    pub(super) waiting: Option<PendingResult>,
    /// The result that these are the subtests of, where it stands in front of them.
    pub(super) parent: Option<PendingResult>,
}

/// The numbers as node counts them.
#[derive(Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) tests: u64,
    pub(super) suites: u64,
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) todo: u64,
    /// Results that are not ok, of whatever kind.
    pub(super) all_failed: u64,
}

/// A level that is complete.
pub(super) struct Children {
    cases: Vec<Case>,
    tally: Tally,
    seen: u64,
}

impl Level {
    /// The level of the subtests in braces behind this result.
    pub(super) fn within(parent: PendingResult) -> Self {
        Self {
            parent: Some(parent),
            ..Self::default()
        }
    }

    /// Whether anything stood on it.
    pub(super) fn begun(&self) -> bool {
        self.plan.is_some() || self.seen > 0
    }

    pub(super) fn is_planned(&self) -> bool {
        self.plan.is_some()
    }

    pub(super) fn planned(&mut self, last: u64) -> Result<(), Unreadable> {
        if self.plan.is_some() {
            let message = "a second plan: give the report of one run";
            return Err(Unreadable::new(Kind::Mixed, message));
        }
        self.plan = Some(last);
        self.planned_last = self.seen > 0;
        Ok(())
    }

    /// Counts a result.
    pub(super) fn number(&mut self, point: &Point) -> Result<(), Unreadable> {
        if self.planned_last {
            let message = "a result follows the plan that ends the results";
            return Err(Unreadable::new(Kind::Mixed, message));
        }
        self.seen = self.seen.saturating_add(1);
        let number = point.number.unwrap_or(self.seen);
        let name = point.name.trim();
        self.unloaded |= !point.ok && name.starts_with('/') && is_script(name);
        if number == 0 || number <= self.reached || self.ahead.contains(&number) {
            // Node counts a file that it could not load apart from the tests. How many results there are decides then.
            self.doubled.get_or_insert(number);
            return Ok(());
        }
        if number == self.reached + 1 {
            self.reached = number;
            while !self.ahead.is_empty() && self.ahead.remove(&(self.reached + 1)) {
                self.reached += 1;
            }
        } else {
            self.ahead.insert(number);
        }
        Ok(())
    }

    /// Holds the results against the plan.
    pub(super) fn complete(self) -> Result<Children, Unreadable> {
        let Some(plan) = self.plan else {
            let message = "there is no plan (`1..N`), so whether results are missing is not known";
            return Err(Unreadable::new(Kind::Truncated, message));
        };
        if self.outside > 0 && self.seen - self.outside <= plan && self.reached == self.seen {
            return Ok(self.into_children());
        }
        if self.seen < plan {
            let message = format!("{plan} results are planned, and {} are in it", self.seen);
            return Err(Unreadable::new(Kind::Truncated, message));
        }
        if let Some(number) = self.doubled
            && (self.seen != plan || !self.unloaded)
        {
            let message = format!("there is more than one result with the number {number}");
            return Err(Unreadable::new(Kind::Contradiction, message));
        }
        if self.seen > plan || (self.reached != plan && self.doubled.is_none()) {
            let message = format!(
                "{plan} results are planned, and {} are in it, numbered otherwise",
                self.seen
            );
            return Err(Unreadable::new(Kind::Contradiction, message));
        }
        Ok(self.into_children())
    }

    fn into_children(self) -> Children {
        Children {
            cases: self.cases,
            tally: self.tally,
            seen: self.seen,
        }
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.tests, other.tests),
            (&mut self.suites, other.suites),
            (&mut self.passed, other.passed),
            (&mut self.failed, other.failed),
            (&mut self.skipped, other.skipped),
            (&mut self.todo, other.todo),
            (&mut self.all_failed, other.all_failed),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A result, of which details may follow.
pub(super) struct PendingResult {
    point: Point,
    pub(super) children: Option<Children>,
    pub(super) yaml: Details,
    comments: String,
}

impl PendingResult {
    pub(super) fn new(point: Point, children: Option<Children>) -> Self {
        Self {
            point,
            children,
            yaml: Details::default(),
            comments: String::new(),
        }
    }

    /// What the result is called. Node names a file that is a test by its whole path, or did.
    pub(super) fn name(&self) -> String {
        let name = self.point.name.trim();
        match (name, self.point.number) {
            ("", Some(number)) => format!("test {number}"),
            ("", None) => "test without a name".to_owned(),
            _ => without_checkout(name).to_owned(),
        }
    }

    /// A comment behind a result that is not ok, and has no other details, is about it.
    pub(super) fn comment(&mut self, comment: &str) {
        let about = !self.point.ok && !self.yaml.is_begun() && !comment.starts_with("Subtest: ");
        if about && self.comments.len() + comment.len() < LONGEST_MESSAGE {
            self.comments.push_str(comment);
            self.comments.push('\n');
        }
    }

    /// Gives its cases to `take`, which hands back those that the level keeps.
    pub(super) fn settle(
        self,
        level: &mut Level,
        mut take: impl FnMut(Case) -> Result<Option<Case>, Unreadable>,
    ) -> Result<(), Unreadable> {
        let name = self.name();
        let outcome = stated(self.point.ok, self.point.directive);
        let mut own = Tally::default();
        own.count(&self);
        let mut below_failed = false;
        let mut subtests = false;
        let (yaml, point) = (self.yaml, self.point);
        if let Some(children) = self.children {
            own.add(&children.tally);
            subtests = children.seen > 0;
            // A subtest that is still to do takes what fails in it with it; node counts those failures nevertheless.
            let expected = outcome == Some(Outcome::ExpectedFailure) && !yaml.is_begun();
            for mut case in within(&name, children.cases) {
                if expected && case.outcome.is_failure() {
                    case.outcome = Outcome::ExpectedFailure;
                }
                below_failed |= case.outcome.is_failure();
                level.cases.extend(take(case)?);
            }
        }
        level.tally.add(&own);
        let is_case = match outcome {
            _ if !subtests => !(yaml.is_suite() && outcome == Some(Outcome::Passed)),
            _ if yaml.is_node_test() => true,
            None => !(yaml.only_subtests_failed() || below_failed),
            Some(_) => false,
        };
        if !is_case {
            return Ok(());
        }
        let is_outside = is_outside_of_tests(&name, &yaml) && !subtests && outcome.is_none();
        level.outside += u64::from(is_outside);
        let outcome = outcome.unwrap_or_else(|| match yaml.outcome() {
            _ if is_outside => Outcome::NotCollected,
            // Subtests are well and the whole is not: that is no assertion, unless it says so.
            Outcome::Failed if subtests && !yaml.is_begun() => Outcome::Error,
            _ if yaml.only_subtests_failed() => Outcome::Failed,
            // Vitest gives a file that it could not load as a result without subtests.
            Outcome::Error if !subtests && is_script(&name) && !yaml.is_of_node() => {
                Outcome::NotCollected
            }
            outcome => outcome,
        });
        let comments = (!self.comments.is_empty()).then_some(&*self.comments);
        let message = match outcome {
            Outcome::Skipped => Some(&*point.reason),
            _ => yaml.error().or(comments),
        };
        let case = Case {
            id: short_id(&name),
            outcome,
            message: message.map(|text| cut(text, LONGEST_MESSAGE).into()),
            file: yaml.file().map(Into::into),
        };
        level.cases.extend(take(case)?);
        Ok(())
    }
}

/// Whether a result is of what ava tells of outside of the tests: an error that no test has caught, by its name and message,
/// and a file that ended with one or has no tests. (`lib/reporters/tap.js` of ava 7.0.0.)
fn is_outside_of_tests(name: &str, yaml: &Details) -> bool {
    let is_code = |rest: &str| !rest.is_empty() && rest.bytes().all(|c| c.is_ascii_digit());
    if !yaml.is_begun() {
        let ended = name.rsplit_once(" exited with a non-zero exit code: ");
        return ended.is_some_and(|(file, code)| is_script(file) && is_code(code))
            || name.contains(" exited due to SIG")
            || name.starts_with("No tests found in ");
    }
    yaml.thrown().is_some_and(|thrown| {
        let rest = name.strip_prefix(thrown);
        rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" ["))
    })
}

impl Tally {
    /// Counts a result as node does: suites apart, and a directive before the outcome.
    fn count(&mut self, of: &PendingResult) {
        self.all_failed += u64::from(!of.point.ok);
        if of.yaml.is_suite() {
            self.suites += 1;
            return;
        }
        self.tests += 1;
        match (of.point.directive, of.point.ok) {
            (Some(Directive::Skip), _) => self.skipped += 1,
            (Some(Directive::Todo), _) => self.todo += 1,
            (None, true) => self.passed += 1,
            (None, false) => self.failed += 1,
        }
    }
}

/// The cases as they are called within a subtest.
pub(super) fn within(name: &str, cases: Vec<Case>) -> Vec<Case> {
    let name = short_id(name);
    cases
        .into_iter()
        .map(|mut case| {
            case.id = short_id(&format!("{name} > {}", case.id));
            case
        })
        .collect()
}
