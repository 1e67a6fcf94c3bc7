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

/// A file that declares tests which the last commit does not have.
pub(super) struct DeclaringFile {
    pub(super) path: String,
    /// Whether the report names one of them with a wanted outcome.
    pub(super) is_reported: bool,
}

impl Comparison<'_> {
    /// Notes what to do where nothing fails and files were written of which no test is in the report.
    pub(super) fn name_unreported(&mut self, written: &Written) -> Result<(), Fault> {
        if !written.tests || self.counts.failing() > 0 {
            return Ok(());
        }
        let mut files = self.declaring(written.frozen.0.keys(), |_| true)?;
        files.retain(|file| !file.is_reported);
        if !files.is_empty() {
            let paths: Vec<String> = files.into_iter().map(|file| file.path).collect();
            let way_out = format!(
                "no test of {} is in the report: have the test command run it, then report again: {}",
                few(&paths),
                Verb::Report
            );
            self.facts.insert(NO_TESTS.to_owned(), way_out.into());
        }
        Ok(())
    }

    /// The files that declare new tests, held against a report that names its tests.
    pub(super) fn declaring<'p>(
        &self,
        paths: impl Iterator<Item = &'p RepoPath>,
        wanted: impl Fn(Outcome) -> bool,
    ) -> Result<Vec<DeclaringFile>, Fault> {
        let mut files = Vec::new();
        let Some(now) = self.now.as_ref().filter(|now| names_tests(now)) else {
            return Ok(files);
        };
        for path in paths {
            let text = fs::read(self.repository.absolute(path)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let before = self.repository.file_at(self.last, path)?;
            let old = declared(before.as_deref().unwrap_or_default());
            let mut new = declared(&text);
            new.retain(|name| !old.contains(name));
            let is_new = |id: &str| new.iter().any(|name| has_name(id, name));
            if !new.is_empty() {
                files.push(DeclaringFile {
                    path: path.to_string(),
                    is_reported: now.those(&wanted).any(is_new),
                });
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
        names.extend(titled(line).or_else(|| function(line, is_marked)));
        let is_attribute = line.starts_with("#[");
        is_marked = is_attribute && (is_marked || line.contains("test"));
    }
    names
}

/// The title in `test("adds", …` and `it("adds", …`.
fn titled(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("test(")
        .or_else(|| line.strip_prefix("it("))?;
    let quote = rest
        .chars()
        .next()
        .filter(|quote| "'\"`".contains(*quote))?;
    let (title, _) = rest[1..].split_once(quote)?;
    let title = title.trim();
    (!title.is_empty() && !title.contains(['\\', '$', '%'])).then_some(title)
}

/// The name of a function that is a test by its name, or in Rust by the attribute in front of it.
fn function(line: &str, is_marked: bool) -> Option<&str> {
    let name_behind = |keyword: &str| {
        let (before, rest) = line.split_once(keyword)?;
        let is_plain = before.chars().all(|c| c.is_alphanumeric() || c == ' ');
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        (is_plain && end > 0).then(|| &rest[..end])
    };
    let is_test = |name: &&str| name.starts_with("test");
    name_behind("func ")
        .filter(|name| name.starts_with("Test") && *name != "TestMain")
        .or_else(|| name_behind("def ").filter(is_test))
        .or_else(|| name_behind("function ").filter(is_test))
        .or_else(|| name_behind("fn ").filter(|_| is_marked))
}

/// Whether a name stands in the id of a test, and in no longer word.
fn has_name(id: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
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
            (
                "func TestB(t *testing.T) {\nfunc TestMain(m *testing.M) {\nfunc helper() {",
                &["TestB"][..],
            ),
            (
                "class TestX:\n    async def test_b(self):\ndef helper():",
                &["test_b"],
            ),
            (
                "    #[tokio::test]\n    #[ignore]\n    async fn adds() {\n    fn helper() {",
                &["adds"],
            ),
            ("#[cfg(test)]\nmod tests {\n    fn helper() {", &[]),
            (
                "    public function testAdds(): void {\n    function helper() {",
                &["testAdds"],
            ),
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
