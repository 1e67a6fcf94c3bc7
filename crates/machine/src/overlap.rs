//! What entries have in common: the same text, or, read as paths, a folder and what lies in it, a glob and what it matches.
//!
//! Each entry leaves marks, and looks for those of others: time and room are linear in the entries and the depth of their paths,
//! but for globs, each of which is held against the paths below its folder.

use std::collections::{BTreeSet, HashMap, HashSet};

use globset::{GlobBuilder, GlobMatcher};

/// So often globs are held against paths; behind that a glob stands for its whole folder.
const MOST_MATCHED: usize = 5_000_000;

/// A mark: what is there, and how.
type Mark<'a> = (How, &'a str);

/// How an entry is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum How {
    /// It is that place.
    At,
    /// It lies somewhere below it.
    Below,
    /// It lies somewhere below it, and is a folder, as far as its name tells.
    FolderBelow,
    /// It is a glob that matches there.
    Glob,
    /// It is a glob that matches somewhere below.
    GlobBelow,
    /// It is a glob that matches at any depth below.
    Anywhere,
}

/// What was touched before, by which wave last.
#[derive(Debug, Default)]
pub(crate) struct Touched<'a> {
    last: HashMap<Mark<'a>, usize>,
}

/// Entries that are going to be held against each other.
#[derive(Debug, Default)]
pub(crate) struct Entries<'a> {
    /// What each glob matches among the others.
    matched: HashMap<&'a str, Vec<&'a str>>,
}

/// An entry without what says where in a file it is: `src/a.rs:10-20`, `src/a.rs#L10`, `src/a.rs (new)`, `src/a.rs::name`.
fn place(entry: &str) -> &str {
    let entry = entry.trim();
    let entry = entry.split_once(" (").map_or(entry, |(place, _)| place);
    let entry = entry.split_once("#L").map_or(entry, |(place, _)| place);
    let entry = entry.split_once("::").map_or(entry, |(place, _)| place);
    let in_file = |(place, rest): &(&str, &str)| {
        let ends_in_name = place
            .rsplit('/')
            .next()
            .is_some_and(|name| name.contains('.'));
        ends_in_name && rest.starts_with(|c: char| c.is_ascii_digit())
    };
    let at = entry.split_once(':').filter(in_file);
    let entry = at.map_or(entry, |(place, _)| place).trim_end();
    let entry = entry.strip_prefix("./").unwrap_or(entry);
    match entry.trim_end_matches('/') {
        "" => entry,
        place => place,
    }
}

/// The folder that all lies in which a glob matches; none where it is no glob.
fn folder_of_glob(place: &str) -> Option<&str> {
    let wild = place.find(['*', '?', '[', '{'])?;
    Some(
        place[..wild]
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder),
    )
}

/// The folders above a place, and the root.
fn above(place: &str) -> impl Iterator<Item = &str> {
    let mut at = Some(place).filter(|place| !place.is_empty());
    std::iter::from_fn(move || {
        let folder = at?.rsplit_once('/').map_or("", |(folder, _)| folder);
        at = Some(folder).filter(|folder| !folder.is_empty());
        Some(folder)
    })
}

/// Which of these groups have an entry in common with one of `others`.
pub fn meeting<'a>(groups: &[Vec<&'a str>], others: &[&'a str]) -> Vec<bool> {
    let all = groups.iter().flatten().chain(others);
    let entries = Entries::new(all.copied());
    let mut touched = Touched::default();
    entries.touch(&mut touched, others, 0);
    let meets = |group: &Vec<&'a str>| entries.behind(&touched, group).is_some();
    groups.iter().map(meets).collect()
}

impl<'a> Entries<'a> {
    /// Reads all entries that may be held against each other.
    pub(crate) fn new(all: impl Iterator<Item = &'a str>) -> Self {
        let (globs, plain): (HashSet<&str>, HashSet<&str>) = all
            .map(place)
            .partition(|place| folder_of_glob(place).is_some());
        if globs.is_empty() {
            return Self::default();
        }
        let plain: BTreeSet<&str> = plain.into_iter().collect();
        let mut left = MOST_MATCHED;
        let mut matched = HashMap::new();
        for glob in globs {
            let folder = folder_of_glob(glob).unwrap_or_default();
            let Some(matcher) = matcher(glob) else {
                matched.insert(glob, vec![folder]);
                continue;
            };
            let below = plain
                .range(folder..)
                .take_while(|place| place.starts_with(folder));
            let mut found = Vec::new();
            for place in below {
                if left == 0 {
                    found = vec![folder];
                    break;
                }
                left -= 1;
                if matcher.is_match(place) {
                    found.push(*place);
                }
            }
            matched.insert(glob, found);
        }
        Self { matched }
    }

    /// The last wave that touched something which these entries have in common with it, and the entry.
    pub(crate) fn behind(
        &self,
        touched: &Touched<'a>,
        entries: &[&'a str],
    ) -> Option<(usize, &'a str)> {
        let mut behind: Option<(usize, &'a str)> = None;
        for entry in entries {
            let mut looks = Vec::new();
            self.looks(place(entry), &mut looks);
            for wave in looks.iter().filter_map(|look| touched.last.get(look)) {
                if behind.is_none_or(|(last, _)| *wave > last) {
                    behind = Some((*wave, entry));
                }
            }
        }
        behind
    }

    /// Has a wave touch these entries.
    pub(crate) fn touch(&self, touched: &mut Touched<'a>, entries: &[&'a str], wave: usize) {
        for entry in entries {
            let mut marks = Vec::new();
            self.marks(place(entry), &mut marks);
            for mark in marks {
                // Others touched the folder, too, and one of them later.
                let last = touched.last.entry(mark).or_insert(wave);
                *last = wave.max(*last);
            }
        }
    }

    fn marks(&self, place: &'a str, marks: &mut Vec<Mark<'a>>) {
        let Some(folder) = folder_of_glob(place) else {
            marks.push((How::At, place));
            marks.extend(above(place).map(|folder| (How::Below, folder)));
            if is_folder(place) {
                marks.extend(above(place).map(|folder| (How::FolderBelow, folder)));
            }
            return;
        };
        let matched = self.matched.get(place).into_iter().flatten();
        marks.extend(matched.map(|place| (How::At, *place)));
        marks.push((How::Glob, folder));
        marks.push((How::Below, folder));
        for above in above(folder) {
            marks.extend([(How::GlobBelow, above), (How::Below, above)]);
        }
        if place.contains("**") {
            marks.push((How::Anywhere, folder));
        }
    }

    fn looks(&self, place: &'a str, looks: &mut Vec<Mark<'a>>) {
        let Some(folder) = folder_of_glob(place) else {
            looks.extend([(How::At, place), (How::Below, place)]);
            looks.extend(above(place).map(|folder| (How::At, folder)));
            if is_folder(place) {
                looks.extend(above(place).map(|folder| (How::Anywhere, folder)));
            }
            return;
        };
        let matched = self.matched.get(place).into_iter().flatten();
        looks.extend(matched.map(|place| (How::At, *place)));
        looks.extend([
            (How::At, folder),
            (How::Glob, folder),
            (How::GlobBelow, folder),
        ]);
        for above in above(folder) {
            looks.extend([(How::At, above), (How::Glob, above)]);
        }
        if place.contains("**") {
            looks.push((How::FolderBelow, folder));
        }
    }
}

/// Whether a place is a folder, as far as its name tells: it has no ending.
fn is_folder(place: &str) -> bool {
    !place.rsplit('/').next().unwrap_or_default().contains('.')
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .ok()?;
    Some(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_common(one: &str, other: &str) -> bool {
        let meets = |first: &str, second: &str| {
            let entries = Entries::new([first, second].into_iter());
            let mut touched = Touched::default();
            entries.touch(&mut touched, &[first], 0);
            entries.behind(&touched, &[second]).is_some()
        };
        let found = meets(one, other);
        assert_eq!(found, meets(other, one), "{one} {other}: either way round");
        found
    }

    #[test]
    fn what_is_the_same_file_is_in_common() {
        for entry in [
            "src/x.rs",
            "./src/x.rs",
            "src/x.rs:10-20",
            "src/x.rs:5",
            "src/x.rs#L10-L20",
            "src/x.rs (new)",
            "src/x.rs (lines 10-20)",
            "src/x.rs::tests",
            "src/",
            "src",
            "src/*.rs",
            "src/**",
            "src/**/*.rs",
            "**/*.rs",
            "src/[wxyz].rs",
            "src/{x,y}.rs",
            "src/?.rs",
        ] {
            assert!(in_common(entry, "src/x.rs"), "{entry}");
        }
        for entry in [
            "src/y.rs",
            "src/x.rst",
            "sr",
            "lib/**",
            "src/*.ts",
            "src/x",
            "*.rs",
            "tests/x.rs",
        ] {
            assert!(!in_common(entry, "src/x.rs"), "{entry}");
        }
    }

    #[test]
    fn a_folder_comes_behind_all_that_lies_in_it() {
        let all = [["src/a"], ["src/a"], ["src/b"], ["src"]];
        let entries = Entries::new(all.iter().flatten().copied());
        let mut touched = Touched::default();
        let waves = all.each_ref().map(|own| {
            let behind = entries.behind(&touched, own);
            let wave = behind.map_or(0, |(wave, _)| wave + 1);
            entries.touch(&mut touched, own, wave);
            wave
        });
        assert_eq!(waves, [0, 1, 0, 2]);
    }

    #[test]
    fn globs_and_folders_meet_where_they_may_match_the_same() {
        for (one, other) in [
            ("src/*.rs", "src/*.ts"),
            ("src/**/*.rs", "src/a/*.rs"),
            ("src/*.rs", "src"),
            ("src/a/*.rs", "src"),
            ("src/**/*.rs", "src/a"),
            ("**/*.rs", "src"),
        ] {
            assert!(in_common(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("src/*.rs", "lib/*.rs"),
            ("src/a/*.rs", "src/b/*.rs"),
            ("src/a/*.rs", "src/b"),
            ("80", "81"),
        ] {
            assert!(!in_common(one, other), "{one} {other}");
        }
    }
}
