//! Calls that are made at the wrong time, or in the wrong words.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use testkit::files::copy;

use super::{Story, at, story, walk};
use crate::honest::work::{Before, RED, SHOP, TWO, Way, Work};

/// A project that is kept as it stands there, for stories that all begin with it.
pub struct Kept {
    work: Work,
    phase: &'static [&'static str],
}

pub fn kept(
    before: &Before<'static>,
    begin: fn(&Before<'static>) -> Work,
    phase: &'static [&'static str],
) -> Kept {
    let work = begin(before);
    Kept { work, phase }
}

impl Kept {
    pub fn tell(&self, stories: impl IntoIterator<Item = Story>) {
        let work = &self.work;
        let now = work.outside().parent().unwrap().to_owned();
        let kept = now.join("kept");
        let copies = |from: &Path, to: &Path| {
            for name in ["home", "project"] {
                let _ = fs::remove_dir_all(to.join(name));
                copy(&from.join(name), &to.join(name));
            }
        };
        copies(&now, &kept);
        let report = |work: &Work| work.report(self.phase);
        let mut failed = Vec::new();
        for (at, story) in stories.into_iter().enumerate() {
            if at > 0 {
                copies(&kept, &now);
            }
            let told = catch_unwind(AssertUnwindSafe(|| {
                story.done.iter().for_each(|done| done(work));
                let call = story.call.as_deref().unwrap_or(&report);
                walk(work, call, story.code, &story.deeds);
                story.then.iter().for_each(|then| then(work));
            }));
            failed.extend(told.is_err().then_some(story.name));
        }
        assert!(failed.is_empty(), "{failed:?}");
    }
}

/// Calls at a stage, and the code that each comes to.
fn come_to<const N: usize>(
    stage: fn(&Before<'static>) -> Work,
    calls: [(&'static str, &'static str); N],
) {
    kept(&SHOP.by(Way::Claimed), stage, RED).tell(calls.map(|(call, code)| {
        story(call, code).call(move |work| work.ask(&call.split(' ').collect::<Vec<_>>()))
    }));
}

#[test]
fn a_report_is_of_no_sense() {
    come_to(
        Before::at_red,
        [
            ("complete red --results failed:many", "bad_results"),
            (
                "complete red --results failed:1,passed:1 --coverage much",
                "bad_coverage",
            ),
            ("complete red", "no_results"),
            (
                "complete red --results failed:1,passed:1 --files ../../x",
                "bad_path",
            ),
            ("complete green --results failed:0,passed:2", "stale_unit"),
            (
                "complete red 1.7 --results failed:1,passed:1",
                "unknown_item",
            ),
            ("commit", "stale_unit"),
            ("reopen --reason again", "cannot_reopen"),
            ("skip 1.7 --reason no", "not_present"),
            ("allow no_tests_ran --reason fine", "not_a_policy"),
        ],
    );
}

#[test]
fn a_commit_is_of_no_sense() {
    come_to(
        Before::at_commit,
        [
            ("complete red --results failed:0,passed:2", "stale_unit"),
            ("commit --files no.such", "file_not_changed"),
            ("commit --sha nothing", "foreign_commit"),
            ("commit --sha HEAD", "foreign_commit"),
            ("commit --files ../../x", "bad_path"),
            ("finalize --results failed:0,passed:2", "stale_unit"),
        ],
    );
}

#[test]
fn a_call_comes_too_late() {
    at(Before::at_red, RED).tell([
        story("the run is paused", "paused").done(|work| work.tm(&["pause", "--reason", "lunch"])),
        story("what failed before is known already", "baseline_known")
            .of(TWO)
            // Until something is committed it may be told anew.
            .done(|work| work.tm(&["baseline"]))
            .done(Work::red)
            .done(Work::code)
            .done(Work::green)
            .done(Work::commit)
            .done(Work::second_test)
            .call(|work| work.ask(&["baseline"])),
    ]);
}
