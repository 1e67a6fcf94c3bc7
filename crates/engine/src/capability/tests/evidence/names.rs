//! Names of tests: which of them may be another name of the same.

use std::collections::BTreeMap;

use ::test_report::{Outcome, TestReport};

/// What each test of a report did, by its id. Each of several tests of one id has its own: the second is `ID (2)`.
pub(crate) fn outcomes(report: &TestReport) -> BTreeMap<Box<str>, Outcome> {
    let mut by_id: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for test in &report.tests {
        by_id.entry(&test.id).or_default().push(test.outcome);
    }
    let mut tests: BTreeMap<Box<str>, Outcome> = BTreeMap::new();
    for (id, outcomes) in &mut by_id {
        if report.format.repeats_tests() {
            outcomes.sort_unstable();
            outcomes.drain(..outcomes.len() - 1);
        }
        // Nobody can tell which is which, so they are counted: those that pass first, skipped ones last, so that a new one
        // that fails is behind one that passes.
        outcomes.sort_unstable_by_key(|one| (!one.is_success(), !one.is_failure(), *one));
        tests.insert((*id).into(), outcomes[0]);
    }
    for (id, outcomes) in &by_id {
        let mut names = (2..).map(|number| format!("{id} ({number})"));
        for outcome in &outcomes[1..] {
            let free = names.find(|name| !tests.contains_key(name.as_str()));
            tests.extend(free.map(|name| (name.into(), *outcome)));
        }
    }
    tests
}

/// The function that a case with parameters belongs to: its id without them. None of a title, and where there are no parameters.
pub(crate) fn function(id: &str) -> Option<&str> {
    if let Some((function, _)) = id.split_once(" with data set ") {
        return Some(function);
    }
    let mut brackets = id.match_indices(['[', '(']).map(|(at, _)| &id[..at]);
    let function =
        brackets.find(|name| name.ends_with(|last: char| last.is_alphanumeric() || last == '_'))?;
    (!function.contains(char::is_whitespace)).then_some(function)
}

/// What the names of a case have in common from run to run: its function, or its title without the words that hold a digit.
pub(crate) fn pattern(id: &str) -> String {
    if let Some(function) = function(id) {
        return function.to_owned();
    }
    let (file, title) = first_part(id).unwrap_or(("", id));
    let is_title = |letter: char| letter.is_whitespace() || letter == '/';
    if !title.contains(is_title) {
        return id.to_owned();
    }
    let words = title.split(is_title).map(|word| {
        let is_stable = !word.contains(|letter: char| letter.is_ascii_digit());
        if is_stable { word } else { "#" }
    });
    format!("{file} {}", words.collect::<Vec<_>>().join(" "))
}

/// What stands between the parts of a test's name.
const BETWEEN: [&str; 3] = [" > ", " \u{203a} ", "::"];

/// The first part of a test's name, which may be its file, and the rest; none where it has one part.
pub(super) fn first_part(id: &str) -> Option<(&str, &str)> {
    let parts = BETWEEN.iter().filter_map(|between| id.split_once(between));
    parts.min_by_key(|(first, _)| first.len())
}

/// The last part of a test's name: what is left of it where its file, its module or its class has another name. None where it has one part.
pub(crate) fn last_part(id: &str) -> Option<&str> {
    let parts = BETWEEN.iter().filter_map(|between| id.rsplit_once(between));
    let last = parts.map(|(_, last)| last).min_by_key(|last| last.len());
    let is_dotted = |id: &&str| !id.contains(char::is_whitespace);
    last.or_else(|| Some(Some(id).filter(is_dotted)?.rsplit_once('.')?.1))
}

#[cfg(test)]
mod tests {
    use ::test_report::{Named, Test, TestFormat, Totals};

    use super::*;

    #[test]
    fn cases_of_one_function_have_one_pattern() {
        for (one, other) in [
            ("t.py::test_x[0a1]", "t.py::test_x[f > :: (b)]"),
            ("shop.CartTest::adds(int)[1]", "shop.CartTest::adds(int)[2]"),
            ("Shop.Cart.Adds(at: 17)", "Shop.Cart.Adds(at: 18)"),
            ("C::test with data set \"1\"", "C::test with data set \"2\""),
            ("cart.test.ts > adds 17ms", "cart.test.ts > adds 1.8e3ms"),
            ("c.test.ts::cart > at ::1", "c.test.ts::cart > at fe80::7"),
            ("shop/TestCart/took_17ms", "shop/TestCart/took_18ms"),
            ("src/a.rs - add (line 3)", "src/a.rs - add (line 30)"),
        ] {
            assert_eq!(pattern(one), pattern(other), "{one}");
        }
        for (one, other) in [
            ("t.py::test_v1", "t.py::test_v2"),
            ("v1.test.ts > adds it", "v2.test.ts > adds it"),
            ("app/[a]/p.test.ts > adds it", "app/[b]/p.test.ts > adds it"),
            ("cart.test.ts > adds one", "cart.test.ts > adds two"),
        ] {
            assert_ne!(pattern(one), pattern(other), "{one}");
        }
        assert_eq!(function("app/[id]/p.test.ts > adds (1)"), None);
        assert_eq!(function("t.py::test_v1"), None);
    }

    #[test]
    fn the_last_part_of_a_name() {
        for (id, expected) in [
            ("a::tests::adds", Some("adds")),
            ("t/a.py::C::test_x[a]", Some("test_x[a]")),
            ("a.test.ts > cart > adds one", Some("adds one")),
            ("test_cart.Cart.test_adds", Some("test_adds")),
            ("adds 1.5 to it", None),
            ("adds", None),
        ] {
            assert_eq!(last_part(id), expected, "{id}");
        }
    }

    #[test]
    fn tests_of_one_id_are_tests_of_their_own() {
        use Outcome::{Failed, Passed, Skipped};
        let of = |format: TestFormat, each: &[Outcome]| {
            let tests = each.iter().map(|outcome| Test {
                id: "twin".into(),
                outcome: *outcome,
                message: None,
                file: None,
            });
            let found = outcomes(&TestReport {
                format,
                tests: tests.collect(),
                totals: Totals::default(),
                named: Named::Every,
                notes: Vec::new(),
            });
            let told = found.iter().map(|(id, outcome)| (id.to_string(), *outcome));
            told.collect::<Vec<_>>()
        };
        let own = |id: &str, outcome| (id.to_owned(), outcome);
        // A new one that fails is behind one that passes, so that it is the new one.
        for (each, expected) in [
            (
                &[Passed, Failed][..],
                [own("twin", Passed), own("twin (2)", Failed)],
            ),
            (
                &[Failed, Skipped],
                [own("twin", Failed), own("twin (2)", Skipped)],
            ),
        ] {
            assert_eq!(of(TestFormat::UnittestText, each), expected);
        }
        // In these formats it is the same test once more.
        for format in [TestFormat::GoJson, TestFormat::PytestText] {
            assert_eq!(of(format, &[Passed, Failed]), [own("twin", Failed)]);
        }
    }
}
