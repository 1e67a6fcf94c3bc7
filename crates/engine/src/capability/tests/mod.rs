//! `tests`: what a test runner said, held against what was there before.

pub(crate) mod as_before;
pub(crate) mod comparison;
mod covered;
pub mod difference;
pub mod evidence;
pub(crate) mod findings;
pub(crate) mod ignored;
pub(crate) mod known;
pub mod read;
pub(crate) mod report_files;
pub mod results;
pub mod rule;
pub(crate) mod snapshots;
pub(crate) mod stale;

use machine::check::catalog::{Finder, Reader, Resource};
use machine::definition::FieldType::{Bool, Int, String as Text, Strings};
use machine::{Reading, Role, RunState};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::capability::checks::findings::NEW_FINDINGS;
use crate::capability::payload;
use crate::capability::tests::covered::COVERAGE_FELL;
use crate::capability::{Capability, reader, reports};
use crate::codes;
use crate::find::is_over_a_task;
use crate::generic;
use crate::support::{Emitted, HandlerError};

/// The project's test command.
pub(super) const TESTS: &str = "tests";

pub(super) struct Tests;

impl Capability for Tests {
    fn name(&self) -> &'static str {
        "tests"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let role = [
            ("as", None),
            ("shows", Some("no_new_failure")),
            ("freezes", Some("red_without_tests")),
            ("against", Some("tests_missing")),
            ("frozen", Some("tests_changed")),
            ("suite", None),
            ("only", Some("other_files_changed")),
            ("checks", Some(NEW_FINDINGS)),
        ];
        let facts = [
            ("passed", Int),
            ("failed", Int),
            ("errors", Int),
            ("skipped", Int),
            ("failing", Int),
            ("ran", Int),
            ("total", Int),
            ("under", Strings),
            ("files", Strings),
            ("level", Text),
            ("compiled", Bool),
        ];
        let tests = Reader {
            role_needs: &[crate::capability::REPOSITORY, TESTS],
            takes: &[crate::capability::BRANCH],
            by_call_over: Some(crate::capability::TASKS),
            is_reported: true,
            ..reader(&role, &facts)
        };
        vec![("tests", tests)]
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        let command = Resource {
            needs: &[crate::capability::REPOSITORY],
            ..Resource::default()
        };
        vec![(TESTS, command)]
    }

    fn codes(&self) -> Vec<&'static str> {
        codes::all_said()
    }

    fn events(&self) -> Vec<(&'static str, Option<&'static str>)> {
        ["test:generated", "test:run", "code:modified"]
            .map(|name| (name, None))
            .into()
    }

    fn fields(&self, _: &Call<'_>, emitted: Emitted<'_>) -> Option<Map<String, Value>> {
        payload::of_tests(emitted)
    }

    fn policies(&self) -> Vec<(&'static str, Vec<Finder>)> {
        let new = || vec![reports("tests", Some("shows"), &[])];
        let passing = || vec![reports("tests", Some("against"), &["shows", "suite"])];
        let any = || vec![reports("tests", None, &[])];
        vec![
            ("red_without_tests", new()),
            ("no_new_failure", new()),
            (
                "tests_changed",
                vec![reports("tests", Some("frozen"), &["shows", "suite"])],
            ),
            (
                "runner_config_changed",
                vec![
                    reports("tests", Some("frozen"), &["shows", "suite"]),
                    reports("tests", Some("only"), &["shows", "suite"]),
                ],
            ),
            ("stuck", vec![reports("tests", None, &["shows", "suite"])]),
            ("green_without_change", passing()),
            (
                "other_files_changed",
                vec![
                    reports("tests", Some("only"), &[]),
                    reports("commit", Some("only"), &[]),
                ],
            ),
            (
                "passes_without_product",
                vec![
                    reports("tests", Some("only"), &["shows", "suite"]),
                    reports("tests", Some("against"), &["shows", "suite"]),
                ],
            ),
            (
                "no_test_written",
                vec![reports("tests", Some("only"), &["shows", "suite"])],
            ),
            ("tests_missing", any()),
            ("command_replaced", any()),
            ("stale_report", any()),
            ("flaky", any()),
            ("coverage_missing", any()),
            (
                COVERAGE_FELL,
                vec![reports("tests", None, &["shows", "suite"])],
            ),
        ]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        if is_over_a_task(run) {
            read::read(call, role, run, token)
        } else {
            generic::readers::read(call, &role.reader, run, token)
        }
    }
}
