//! Tests by the names that files declare: what RED wrote and did not run has no other.

use std::collections::BTreeSet;
use std::fs;

use ::test_report::{Outcome, TestFormat};
use workspace::git::RepoPath;

use crate::capability::tests::evidence::frozen::Written;
use crate::capability::tests::evidence::ledger::Ledger;
use crate::capability::tests::read::{Comparison, NO_TESTS, few};
use crate::fault::Fault;
use crate::next_step::Verb;

impl Comparison<'_> {
    /// Notes what to do where nothing fails and files were written of which no test is in the report.
    pub(super) fn name_unreported(&mut self, written: &Written) -> Result<(), Fault> {
        if !written.tests || self.counts.failing() > 0 {
            return Ok(());
        }
        let files = self.declaring(written.frozen.0.keys(), |_| true)?;
        let unreported = files.into_iter().filter(|(_, is_reported)| !is_reported);
        let paths: Vec<String> = unreported.map(|(path, _)| path).collect();
        if !paths.is_empty() {
            let way_out = format!(
                "no test of {} is in the report: have the test command run it, then report again: {}",
                few(&paths),
                Verb::Report
            );
            self.facts.insert(NO_TESTS.to_owned(), way_out.into());
        }
        Ok(())
    }

    /// The files that declare tests which the last commit does not have, and whether the report names one of them with a wanted outcome;
    /// none where it names no tests.
    pub(super) fn declaring<'p>(
        &self,
        paths: impl Iterator<Item = &'p RepoPath>,
        wanted: impl Fn(Outcome) -> bool,
    ) -> Result<Vec<(String, bool)>, Fault> {
        let mut files = Vec::new();
        let Some(now) = self.now.as_ref().filter(|now| names_tests(now)) else {
            return Ok(files);
        };
        for path in paths {
            let text = fs::read(self.repository.absolute(path)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let before = self.repository.file_at(self.last, path)?;
            let old = declared(before.as_deref().unwrap_or_default());
            let names = declared(&text);
            let new: Vec<_> = names.difference(&old).collect();
            if !new.is_empty() {
                let is_new = |id: &str| new.iter().any(|name| has_name(id, name));
                files.push((path.to_string(), now.those(&wanted).any(is_new)));
            }
        }
        Ok(files)
    }
}

/// Whether a report names each test that ran: Go without `-v` names packages.
fn names_tests(now: &Ledger) -> bool {
    now.every
        || now.format == TestFormat::GoText && now.those(|_| true).any(|id| id.contains("/Test"))
}

/// The names of tests that a text declares, of languages in which one line tells them: Go, JavaScript, PHP, Python, Rust. A title
/// that is put together while the tests run is none.
fn declared(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut is_marked = false;
    for line in text.lines().map(str::trim) {
        let called = ["test(", "it("].iter().find_map(|call| {
            let mut parts = line.strip_prefix(call)?.split(['\'', '"', '`']);
            parts.next().filter(|before| before.is_empty())?;
            parts.next()
        });
        let function = ["func ", "def ", "function ", "fn "]
            .iter()
            .find_map(|word| {
                let (_, rest) = line.split_once(word)?;
                let name = rest.split(|c: char| !is_word(c)).next()?;
                let is_test = is_marked || name.starts_with("test") || name.starts_with("Test");
                is_test.then_some(name)
            });
        let name = called.or(function).map(str::trim);
        names.extend(name.filter(|name| !name.is_empty() && !name.contains(['\\', '$', '%'])));
        is_marked = line.starts_with("#[") && (is_marked || line.contains("test"));
    }
    names
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a name stands in the id of a test, and in no longer word.
fn has_name(id: &str, name: &str) -> bool {
    id.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&id[..at], &id[at + name.len()..]);
        !before.ends_with(is_word) && !behind.starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_declared_by_their_languages() {
        for (text, wanted) in [
            ("func TestB(t *T) {\nfunc f() {", &["TestB"][..]),
            ("class T:\n  async def test_b(self):\ndef f():", &["test_b"]),
            (
                "    #[tokio::test]\n    #[ignore]\n    async fn adds() {\n    fn helper() {",
                &["adds"],
            ),
            ("#[cfg(test)]\nmod tests {\n    fn helper() {", &[]),
            ("  public function testA() {\n  function f() {", &["testA"]),
            (
                "test('adds two', () => {\nit(`adds ${n}`, f)\nit(name, f)\nit.each(x)('adds %i', f)",
                &["adds two"],
            ),
        ] {
            let names: Vec<&str> = declared(text).into_iter().collect();
            assert_eq!(names, wanted, "{text}");
        }
    }

    #[test]
    fn a_name_stands_in_an_id_as_a_whole() {
        assert!(has_name("shop/TestB/one", "TestB"));
        assert!(has_name("tests.test_b::test_b[1-2]", "test_b"));
        assert!(has_name("b.test.js > sums > adds two", "adds two"));
        assert!(!has_name("shop/TestBoth", "TestB"));
    }
}
