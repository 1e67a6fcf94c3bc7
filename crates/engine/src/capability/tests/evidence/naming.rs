//! Tests under the names of another format.
//!
//! Runners call the same test otherwise in each format that they write: pytest `tests/test_cart.py::TestCart::test_adds` on a
//! terminal and `tests.test_cart.TestCart::test_adds` in XML, those of JavaScript with the file in front or without it. What is left
//! of a name without its punctuation and its file is the same in all of them.

use std::collections::{BTreeMap, HashMap};

use ::test_report::Outcome;

use super::ledger::Ledger;

impl Ledger {
    /// The same tests as `other` calls them; none where the names of both have too little in common to be those of the same tests.
    /// Tests that are not in `other` keep their names.
    pub fn named_as(&self, other: &Self) -> Option<Self> {
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
            let others = known.get(&bare(id)).map(Vec::as_slice);
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
}

/// What is left of a test's name without its file and without what stands between its parts.
fn bare(id: &str) -> String {
    const BETWEEN: [&str; 4] = [" > ", " \u{203a} ", "::", " "];
    // Where the first part is a script, only some formats have it.
    let (first, rest) = BETWEEN[..3]
        .iter()
        .filter_map(|between| id.split_once(between))
        .min_by_key(|(first, _)| first.len())
        .unwrap_or((id, ""));
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
    use super::*;

    #[test]
    fn names_of_one_test_have_one_rest() {
        for (one, other) in [
            (
                "tests/sub/test_cart.py::TestCart::test_adds[a/b::c]",
                "tests.sub.test_cart.TestCart::test_adds[a/b::c]",
            ),
            ("broken/test_a.py", "broken.test_a"),
            (
                "test_cart.TestCart.test_adds",
                "test_cart.TestCart::test_adds",
            ),
            (
                "src/cart.test.ts > cart > adds",
                "src/cart.test.ts::cart > adds",
            ),
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
}
