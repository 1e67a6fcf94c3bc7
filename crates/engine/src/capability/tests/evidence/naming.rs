//! Tests under the names of another format.
//!
//! Runners call the same test otherwise in each format that they write: pytest `tests/test_cart.py::TestCart::test_adds` on a
//! terminal and `tests.test_cart.TestCart::test_adds` in XML, those of JavaScript with the file in front or without it. What is left
//! of a name without its punctuation and its file is the same in all of them.
//!
//! The name of a case may hold a parameter that differs in each run: a time, an address, a random number. A case that is gone then
//! has the name of one of the same function that was not there before.

use std::collections::{BTreeMap, HashMap};

use ::test_report::{Outcome, TestReport};

use super::ledger::Ledger;

/// What the id of a test has in common with its other names; none where it can have no other.
type Key<'k> = &'k dyn Fn(&str) -> Option<String>;

impl Ledger {
    /// The same tests as `other` calls them; none where the names of both have too little in common to be those of the same tests.
    /// Tests that are not in `other` keep their names.
    pub fn named_as(&self, other: &Self) -> Option<Self> {
        let named = self.in_format_of(other)?;
        let added = other.added_to([Some(&named), None]);
        Some(named.with_cases_of(other, &added))
    }

    /// The same tests as the format of `other` names them; none where both have too little in common.
    pub fn in_format_of(&self, other: &Self) -> Option<Self> {
        if self.names_alike(other) {
            return Some(self.clone());
        }
        let mut known: HashMap<String, Vec<&str>> = HashMap::new();
        for id in other.tests.keys() {
            known.entry(bare(id)).or_default().push(id);
        }
        let mut renamed = Self {
            format: other.format,
            every: self.every,
            tests: BTreeMap::new(),
        };
        let mut in_common = 0;
        for (id, outcome) in &self.tests {
            // Where the other format has one test of a name, these are that.
            let first = id.rsplit_once(" (").map_or("", |(first, _)| first);
            let first = Some(first).filter(|first| self.tests.contains_key(*first));
            let alike = |id: &str| known.get(&bare(id)).map(Vec::as_slice);
            let others = alike(id).or_else(|| alike(first?));
            in_common += usize::from(others.is_some());
            for id in others.unwrap_or(&[id]) {
                let known = renamed.tests.entry((*id).into()).or_insert(*outcome);
                *known = (*known).max(*outcome);
            }
        }
        // Of what could not be collected none of the others knows a test.
        let ran = |ledger: &Self| {
            ledger
                .those(|outcome| outcome != Outcome::NotCollected)
                .count()
        };
        let fewest = ran(self).min(ran(other));
        (in_common * 2 >= fewest).then_some(renamed)
    }

    /// The tests that none of the `others` has, with their outcomes.
    pub fn added_to(&self, others: [Option<&Self>; 2]) -> Vec<(Outcome, Box<str>)> {
        let others = others.into_iter().flatten();
        let is_known = |id: &str| others.clone().any(|other| other.tests.contains_key(id));
        let added = self.tests.iter().filter(|(id, _)| !is_known(id));
        added.map(|(id, outcome)| (*outcome, id.clone())).collect()
    }

    /// Renames the cases that are missing `now` to those that were `added` to their functions since.
    #[must_use]
    pub fn with_cases_of(self, now: &Self, added: &[(Outcome, Box<str>)]) -> Self {
        let pattern = |id: &str| Some(pattern(id));
        self.renamed(now, added, [&pattern, &pattern])
    }

    /// Renames tests that are missing `now` to those that were `added` with the same key, of these the ones with the same outcome
    /// first. The first function gives the key of a missing test, the second that of an added one.
    pub(super) fn renamed(
        mut self,
        now: &Self,
        added: &[(Outcome, Box<str>)],
        [of_missing, of_added]: [Key<'_>; 2],
    ) -> Self {
        let mut missing = self.added_to([Some(now), None]);
        missing.sort_unstable_by(|one, other| other.cmp(one));
        let mut by_key: HashMap<String, Vec<&(Outcome, Box<str>)>> = HashMap::new();
        let free = added
            .iter()
            .filter(|(_, id)| !missing.is_empty() && !self.tests.contains_key(id));
        for test in free {
            if let Some(key) = of_added(&test.1) {
                by_key.entry(key).or_default().push(test);
            }
        }
        for tests in by_key.values_mut() {
            tests.sort_unstable();
        }
        for (outcome, id) in missing {
            let tests = of_missing(&id).and_then(|key| by_key.get_mut(&key));
            if let Some((_, name)) = tests.and_then(Vec::pop) {
                self.tests.remove(&id);
                self.tests.insert(name.clone(), outcome);
            }
        }
        self
    }
}

/// What each test of a report did, by its id. Each of several tests of one id has its own: the second is `ID (2)`.
pub(super) fn outcomes(report: &TestReport) -> BTreeMap<Box<str>, Outcome> {
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
pub(super) fn function(id: &str) -> Option<&str> {
    if let Some((function, _)) = id.split_once(" with data set ") {
        return Some(function);
    }
    let mut brackets = id.match_indices(['[', '(']).map(|(at, _)| &id[..at]);
    let function =
        brackets.find(|name| name.ends_with(|last: char| last.is_alphanumeric() || last == '_'))?;
    (!function.contains(char::is_whitespace)).then_some(function)
}

/// What the names of a case have in common from run to run: its function, or its title without the words that hold a digit.
fn pattern(id: &str) -> String {
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
const BETWEEN: [&str; 4] = [" > ", " \u{203a} ", "::", " "];

/// The first part of a test's name, which may be its file, and the rest; none where it has one part.
fn first_part(id: &str) -> Option<(&str, &str)> {
    let parts = BETWEEN[..3]
        .iter()
        .filter_map(|between| id.split_once(between));
    parts.min_by_key(|(first, _)| first.len())
}

/// What is left of a test's name without its file and without what stands between its parts.
fn bare(id: &str) -> String {
    // Where the first part is a script, only some formats have it.
    let (first, rest) = first_part(id).unwrap_or((id, ""));
    let is_script = [".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx"]
        .iter()
        .any(|ending| first.ends_with(ending));
    let id = match rest {
        "" if is_script => first.rsplit('/').next().unwrap_or(first),
        rest if is_script => rest,
        _ => id,
    };
    let mut bare = id.replacen(".py::", ".", 1);
    if let Some(module) = bare.strip_suffix(".py") {
        bare = module.to_owned();
    }
    // What a parametrized test was given stands in brackets, and may hold anything.
    let given = bare
        .find('[')
        .map_or_else(String::new, |at| bare.split_off(at));
    for between in BETWEEN {
        bare = bare.replace(between, ".");
    }
    bare.replace('/', ".") + &given
}

#[cfg(test)]
mod tests {
    use ::test_report::{Named, Test, TestFormat, Totals};

    use super::super::ledger::Requirements;
    use super::*;

    #[test]
    fn names_of_one_test_have_one_rest() {
        for (one, other) in [
            ("t/s/c.py::C::adds[a/b::c]", "t.s.c.C::adds[a/b::c]"),
            ("broken/test_a.py", "broken.test_a"),
            ("test_cart.Cart.test_adds", "test_cart.Cart::test_adds"),
            ("src/c.test.ts > cart > adds", "src/c.test.ts::cart > adds"),
            ("cart.test.js > cart > adds", "cart > adds"),
            ("cart.test.js > cart > adds", "cart adds"),
            ("test/load.test.js", "load.test.js"),
            ("double \u{203a} doubles", "double > doubles"),
        ] {
            assert_eq!(bare(one), bare(other), "{one}");
        }
        assert_ne!(bare("cart > adds"), bare("cart > adds more"));
        assert_ne!(bare("a_test::x"), bare("b_test::x"));
    }

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

    /// A report in which all of these tests have one id.
    fn twins_of(format: TestFormat, outcomes: &[Outcome]) -> Ledger {
        let tests = outcomes.iter().map(|outcome| Test {
            id: "twin".into(),
            outcome: *outcome,
            message: None,
            file: None,
        });
        Ledger::of(&TestReport {
            format,
            tests: tests.collect(),
            totals: Totals::default(),
            named: Named::Every,
            notes: Vec::new(),
        })
    }

    #[test]
    fn tests_of_one_id_are_tests_of_their_own() {
        use Outcome::{Failed, Passed, Skipped};
        let unittest = |outcomes: &[Outcome]| twins_of(TestFormat::UnittestText, outcomes);
        let lacking = |before: &Ledger, red: &Ledger, now: &[Outcome]| {
            let now = unittest(now);
            let owed = Requirements {
                before: Some(before),
                red: Some(red),
                new: red.newly_failing(Some(before)),
                ..Requirements::default()
            };
            let still = now.failing().count() - owed.known(&now).count();
            let lacking = owed.lacking(&now, |_, _| false);
            (still, [lacking.missing, lacking.skipped].concat())
        };
        // One that is broken does not hide behind another that was.
        let old = unittest(&[Passed, Failed]);
        for now in [&[Failed, Failed][..], &[Failed]] {
            assert_eq!(lacking(&old, &old, now).0, 1);
        }
        for now in [&[Failed, Passed][..], &[Passed]] {
            assert_eq!(lacking(&old, &old, now), (0, Vec::new()));
        }
        // A new one is new, and owed.
        for (before, new) in [(Passed, "twin (2)"), (Skipped, "twin")] {
            let (old, red) = (unittest(&[before]), unittest(&[Failed, before]));
            assert_eq!(red.newly_failing(Some(&old)), [new]);
            assert_eq!(lacking(&old, &red, &[before, Passed]), (0, Vec::new()));
            assert_eq!(lacking(&old, &red, &[Skipped, before]).1, [new]);
            assert_eq!(lacking(&old, &red, &[before]).1, [new]);
        }
        let old = unittest(&[Passed, Passed]);
        assert_eq!(lacking(&old, &old, &[Passed]).1, ["twin (2)"]);
        // In these formats it is the same test once more.
        for format in [TestFormat::GoJson, TestFormat::PytestText] {
            let tried = twins_of(format, &[Passed, Failed]);
            assert_eq!(tried, twins_of(format, &[Failed]));
        }
    }

    #[test]
    fn tests_of_one_id_are_one_where_another_format_has_one() {
        use Outcome::{Failed, Passed};
        let twins = twins_of(TestFormat::UnittestText, &[Passed, Failed]);
        let one = |outcome| twins_of(TestFormat::Junit, &[outcome]);
        let named = twins.named_as(&one(Passed)).expect("the same tests");
        assert_eq!(named, one(Failed));
    }
}
