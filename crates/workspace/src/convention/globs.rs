//! Many globs at once, each compiled when a path comes that it could match.
//!
//! To compile a glob takes longer than to match thousands of paths with it, and most processes look at a few paths only: a path
//! that has not even the plain text of a glob in it is not held against the glob.

use std::sync::OnceLock;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// A glob longer than this is compiled at once: it may be one that is too large to be used.
const LONGEST_LATER: usize = 1000;
/// A glob with more alternatives than this is held against every path.
const MOST_ALTERNATIVES: usize = 256;

/// Globs of which one has to match.
#[derive(Debug, Clone, Default)]
pub(super) struct Globs(Vec<One>);

#[derive(Debug, Clone)]
struct One {
    glob: Glob,
    /// What a path that it matches has in it, one of them.
    plain: Vec<Plain>,
    compiled: OnceLock<GlobSet>,
}

/// Plain text of one alternative of a glob.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Plain {
    /// The longest piece.
    piece: String,
    /// What it ends with.
    end: String,
}

impl Globs {
    /// Takes a glob in.
    ///
    /// # Errors
    /// Where it cannot be compiled.
    pub(super) fn add(&mut self, glob: Glob) -> Result<(), globset::Error> {
        let one = One {
            plain: plain(glob.glob()),
            compiled: OnceLock::new(),
            glob,
        };
        if one.glob.glob().len() > LONGEST_LATER {
            let _ = one.compiled.set(compile(&one.glob)?);
        }
        self.0.push(one);
        Ok(())
    }

    /// Whether one of them matches the path.
    pub(super) fn is_match(&self, path: &str) -> bool {
        self.0.iter().any(|one| {
            one.plain.iter().any(|plain| plain.is_in(path))
                && one
                    .compiled
                    .get_or_init(|| compile(&one.glob).unwrap_or_else(|_| GlobSet::empty()))
                    .is_match(path)
        })
    }
}

fn compile(glob: &Glob) -> Result<GlobSet, globset::Error> {
    GlobSetBuilder::new().add(glob.clone()).build()
}

impl Plain {
    fn is_in(&self, path: &str) -> bool {
        path.ends_with(&self.end) && path.contains(&self.piece)
    }

    /// That of a glob without alternatives.
    fn of(glob: &str) -> Self {
        let pieces = || glob.split(['*', '?', '/']);
        let longest = pieces().max_by_key(|piece| piece.len());
        Self {
            piece: longest.unwrap_or_default().to_owned(),
            end: pieces().next_back().unwrap_or_default().to_owned(),
        }
    }
}

/// The plain text of a glob. Of one that is not understood here it is empty, which every path has in it.
fn plain(glob: &str) -> Vec<Plain> {
    let mut all = Vec::new();
    if glob.contains(['[', ']', '\\']) || !alternatives(glob, &mut all) {
        return vec![Plain::default()];
    }
    all.iter().map(|one| Plain::of(one)).collect()
}

/// Writes a glob out once for each of its alternatives; `false` where there are too many, or its braces are odd.
fn alternatives(glob: &str, all: &mut Vec<String>) -> bool {
    let Some((before, rest)) = glob.split_once('{') else {
        all.push(glob.to_owned());
        return all.len() <= MOST_ALTERNATIVES && !glob.contains('}');
    };
    // Alternatives in one another are rare.
    let Some((within, behind)) = rest.split_once('}') else {
        return false;
    };
    !before.contains('}')
        && !within.contains('{')
        && within
            .split(',')
            .all(|one| alternatives(&format!("{before}{one}{behind}"), all))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::paths::glob;
    use super::*;

    /// The plain texts of a glob, and how a path must end that has one.
    fn told(glob: &str) -> String {
        let plain = plain(glob).into_iter();
        let told: Vec<String> = plain.map(|it| format!("{}|{}", it.piece, it.end)).collect();
        told.join(" ")
    }

    #[test]
    fn the_plain_text_of_a_glob() {
        let many = "{a,b}".repeat(20);
        for (glob, expected) in [
            ("**/*.rs", ".rs|.rs"),
            ("**/testdata/**", "testdata|"),
            ("src/*/mod?.c", "mod|.c"),
            ("**/test_*.py", "test_|.py"),
            ("**", "|"),
            ("**/{a,bc}{,.txt}", "a|a a.txt|a.txt bc|bc bc.txt|bc.txt"),
            (&many, "|"),
        ] {
            assert_eq!(told(glob), expected, "{glob}");
        }
        for odd in ["a[bc]", "a\\*", "a{b", "a}b", "a{b,{c,d}}"] {
            assert_eq!(told(odd), "|", "{odd}");
        }
    }

    /// Globs and paths of few letters, so that many match.
    fn part() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[ab.]{1,3}",
            2 => Just("*".to_owned()),
            1 => Just("?".to_owned()),
            2 => proptest::collection::vec("[ab.]{0,2}", 1..4)
                .prop_map(|all| format!("{{{}}}", all.join(","))),
            1 => Just("[ab]".to_owned()),
            1 => Just("**".to_owned()),
        ];
        proptest::collection::vec(piece, 1..4).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn they_match_what_each_of_them_matches(
            patterns in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![3 => part(), 1 => Just("**".to_owned())], 1..4)
                    .prop_map(|parts| parts.join("/")),
                1..4,
            ),
            paths in proptest::collection::vec("[ab.]{1,3}(/[ab.]{1,3}){0,2}", 1..12),
        ) {
            let mut globs = Globs::default();
            let mut set = GlobSetBuilder::new();
            for glob in patterns.iter().filter_map(|pattern| glob(pattern).ok()) {
                globs.add(glob.clone()).unwrap();
                set.add(glob);
            }
            let set = set.build().unwrap();
            for path in &paths {
                prop_assert_eq!(globs.is_match(path), set.is_match(path), "{:?} {}", patterns, path);
            }
        }
    }
}
