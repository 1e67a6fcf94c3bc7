//! Where the tests of a file go and what they are called, by what the project does already.

use std::collections::BTreeMap;

use super::paths::{self, Language, PathClasses};

/// How a test file's name tells that it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// `x.test.ts`
    Infix(&'static str),
    /// `x_test.go`, `XTest.java`
    Suffix(&'static str),
    /// `test_x.py`
    Prefix(&'static str),
    /// `x.rs`: only the place tells.
    Same,
}

/// Where a test file lies with respect to what it tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In the same folder.
    Beside,
    /// In a folder of this name next to the file.
    Below(&'static str),
    /// In `src/test` what is in `src/main` for the product.
    SrcTest,
    /// In a folder of this name of the package, all in one.
    Flat(&'static str),
    /// In a folder of this name of the package, in the same folders as the sources.
    Mirrored(&'static str),
}

type Habit = (Place, Name);

const INFIXES: &[&str] = &[".test", ".spec", ".e2e", ".cy"];
/// Longer ones first, since a name that ends with `Tests` does not end with `Test`.
const SUFFIXES: &[&str] = &[
    "_test", "_tests", "_spec", "-test", "-spec", "Tests", "Test", "Spec", "Specs", "IT",
];
const BELOW: &[&str] = &["__tests__", "__test__"];
const TEST_FOLDERS: &[&str] = &["tests", "test", "spec", "specs", "Tests"];
/// Folders of a package that hold its sources and do not come back among the tests.
const SOURCE_FOLDERS: &[&str] = &["src", "lib", "app", "Sources"];
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "mix.exs",
    "composer.json",
    "Gemfile",
    "pubspec.yaml",
    "Package.swift",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
];
/// Habits are counted over this many test files at most.
const TESTS_READ: usize = 5000;

/// The file in which the tests of `target` should be written, by the habit that most test files
/// of its language among `files` have; where there are none, by what the language does.
/// `None` for a target in no known language. All paths are relative to the project root.
pub fn test_file_for(target: &str, files: &[String], classes: &PathClasses) -> Option<String> {
    let language = Language::of(target)?;
    let habit = habit_of(language, files, classes);
    Some(place(target, language, habit, files))
}

/// The name that the file has without what makes it a test: `a` for `a.test.ts`, `test_a.py`
/// and `a_spec.rb`; its own stem where nothing does.
pub(crate) fn subject_stem(path: &str) -> &str {
    let stem = stem(path);
    match name_of(stem) {
        Name::Infix(mark) | Name::Suffix(mark) => stem.strip_suffix(mark).unwrap_or(stem),
        Name::Prefix(mark) => stem.strip_prefix(mark).unwrap_or(stem),
        Name::Same => stem,
    }
}

fn habit_of(language: Language, files: &[String], classes: &PathClasses) -> Habit {
    let mut counts: BTreeMap<Habit, usize> = BTreeMap::new();
    let mut unmarked: BTreeMap<Habit, usize> = BTreeMap::new();
    let tests = files
        .iter()
        .filter(|file| Language::of(file) == Some(language) && classes.is_test(file))
        .filter(|file| !is_test_support(file));
    for test in tests.take(TESTS_READ) {
        let name = name_of(stem(test));
        // In other languages than these a name without a mark means a helper, or data, where there are names with one.
        let may_be_helper = name == Name::Same
            && !matches!(language, Language::Rust | Language::Php | Language::Swift);
        let counts = if may_be_helper {
            &mut unmarked
        } else {
            &mut counts
        };
        if let Some(place) = place_of(test, language, files) {
            *counts.entry((place, name)).or_default() += 1;
        }
    }
    let counts = if counts.is_empty() { unmarked } else { counts };
    counts
        .into_iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .map_or_else(|| default_habit(language), |(habit, _)| habit)
}

/// Whether a test file may show how tests are written here: code, and none that only helps others.
pub fn is_example(path: &str) -> bool {
    let is_data = paths::file_name(path).starts_with('.');
    !is_data && path.contains('.') && !is_test_support(path)
}

pub(crate) fn is_test_support(path: &str) -> bool {
    [
        "fixtures",
        "fixture",
        "testdata",
        "__mocks__",
        "__snapshots__",
        "helpers",
        "support",
        "common",
        "snapshots",
    ]
    .iter()
    .any(|folder| path.split('/').any(|part| part == *folder))
        || matches!(
            stem(path),
            "conftest" | "__init__" | "spec_helper" | "test_helper" | "rails_helper"
        )
}

fn name_of(stem: &str) -> Name {
    if let Some(mark) = INFIXES.iter().find(|mark| stem.ends_with(**mark)) {
        return Name::Infix(mark);
    }
    if let Some(mark) = SUFFIXES
        .iter()
        .find(|mark| stem.len() > mark.len() && stem.ends_with(**mark))
    {
        return Name::Suffix(mark);
    }
    if stem.starts_with("test_") && stem.len() > 5 {
        return Name::Prefix("test_");
    }
    Name::Same
}

fn place_of(test: &str, language: Language, files: &[String]) -> Option<Place> {
    let folder = paths::folder(test);
    let parts: Vec<&str> = folder.split('/').collect();
    if let Some(below) = BELOW.iter().find(|below| parts.contains(below)) {
        return Some(Place::Below(below));
    }
    if format!("{folder}/").contains("src/test/") {
        return Some(Place::SrcTest);
    }
    let Some(at) = parts.iter().position(|part| TEST_FOLDERS.contains(part)) else {
        // A Rust file beside its sources holds the tests of its own module.
        return (language != Language::Rust).then_some(Place::Beside);
    };
    let test_folder = TEST_FOLDERS.iter().find(|known| **known == parts[at])?;
    let inner = &parts[at + 1..];
    if inner.is_empty() {
        return Some(Place::Flat(test_folder));
    }
    // `tests/it/main.rs` makes one program of all files beside it.
    if language == Language::Rust {
        return Some(Place::Flat(test_folder));
    }
    let base = parts[..at].join("/");
    let mirrors = SOURCE_FOLDERS
        .iter()
        .map(|source| join(&base, source))
        .chain([base.clone()]);
    let inner = inner.join("/");
    let is_mirror = mirrors
        .map(|root| format!("{}/", join(&root, &inner)))
        .any(|mirror| files.iter().any(|file| file.starts_with(&mirror)));
    Some(if is_mirror {
        Place::Mirrored(test_folder)
    } else {
        Place::Flat(test_folder)
    })
}

fn default_habit(language: Language) -> Habit {
    match language {
        Language::JavaScript => (Place::Beside, Name::Infix(".test")),
        Language::Rust => (Place::Flat("tests"), Name::Same),
        Language::Go => (Place::Beside, Name::Suffix("_test")),
        Language::Python => (Place::Flat("tests"), Name::Prefix("test_")),
        Language::Jvm => (Place::SrcTest, Name::Suffix("Test")),
        Language::DotNet => (Place::Flat("tests"), Name::Suffix("Tests")),
        Language::Elixir | Language::Dart => (Place::Mirrored("test"), Name::Suffix("_test")),
        Language::Php => (Place::Mirrored("tests"), Name::Suffix("Test")),
        Language::Ruby => (Place::Mirrored("spec"), Name::Suffix("_spec")),
        Language::Swift => (Place::Flat("Tests"), Name::Suffix("Tests")),
    }
}

fn place(target: &str, language: Language, (place, name): Habit, files: &[String]) -> String {
    let ending = match (language, ending(target)) {
        (Language::Elixir, _) => "exs",
        (Language::JavaScript, "vue" | "svelte") => "ts",
        (_, ending) => ending,
    };
    let is_placed_apart = !matches!(place, Place::Beside | Place::Below(_));
    let (stem, folder) = if is_placed_apart {
        telling_name(target)
    } else {
        (stem(target), paths::folder(target))
    };
    let folder = folder.to_owned();
    let file = match name {
        Name::Infix(mark) | Name::Suffix(mark) => format!("{stem}{mark}.{ending}"),
        Name::Prefix(mark) => format!("{mark}{stem}.{ending}"),
        Name::Same => format!("{stem}.{ending}"),
    };
    let folder = match place {
        Place::Beside => folder,
        Place::Below(below) => join(&folder, below),
        Place::SrcTest => {
            let twin = format!("{folder}/").replacen("src/main/", "src/test/", 1);
            let twin = twin.trim_end_matches('/');
            if twin == folder {
                join(&package_of(target, files), "src/test")
            } else {
                twin.to_owned()
            }
        }
        Place::Flat(test_folder) => {
            let own = join(&package_of(target, files), test_folder);
            let joint = join(&own, "it");
            let is_joint =
                language == Language::Rust && files.iter().any(|f| *f == join(&joint, "main.rs"));
            if is_joint {
                joint
            } else {
                inner_folder(&own, language, name, files).unwrap_or(own)
            }
        }
        Place::Mirrored(test_folder) => {
            let package = package_of(target, files);
            let inner = folder
                .strip_prefix(&package)
                .unwrap_or(&folder)
                .trim_start_matches('/');
            let (first, rest) = inner.split_once('/').unwrap_or((inner, ""));
            let inner = if SOURCE_FOLDERS.contains(&first) {
                rest
            } else {
                inner
            };
            join(&join(&package, test_folder), inner)
        }
    };
    join(&folder, &file)
}

/// The folder below `own` that holds most of the tests of such names, where none lies in that itself.
fn inner_folder(own: &str, language: Language, name: Name, files: &[String]) -> Option<String> {
    let below = format!("{own}/");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        if file.starts_with(&below)
            && Language::of(file) == Some(language)
            && name_of(stem(file)) == name
            && !is_test_support(file)
        {
            *counts.entry(paths::folder(file)).or_default() += 1;
        }
    }
    if language == Language::Rust || counts.contains_key(own) {
        return None;
    }
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(folder, _)| folder.to_owned())
}

/// The stem and the folder to go by: `mod.rs`, `index.ts` and the like are called what their
/// folder is, and lie where it lies.
pub(crate) fn telling_name(target: &str) -> (&str, &str) {
    let (stem, folder) = (stem(target), paths::folder(target));
    if !matches!(stem, "mod" | "lib" | "main" | "index" | "__init__") {
        return (stem, folder);
    }
    let is_telling = |part: &&str| !part.is_empty() && !SOURCE_FOLDERS.contains(part);
    match folder.split('/').rfind(is_telling) {
        Some(own) if paths::file_name(folder) == own => (own, paths::folder(folder)),
        Some(own) => (own, folder),
        None => (stem, folder),
    }
}

/// The folder of the nearest manifest above `path`; the root where there is none.
fn package_of(path: &str, files: &[String]) -> String {
    let mut folder = paths::folder(path);
    loop {
        if folder.is_empty() {
            return String::new();
        }
        if MANIFESTS.iter().any(|name| {
            let manifest = join(folder, name);
            files.contains(&manifest)
        }) {
            return folder.to_owned();
        }
        folder = paths::folder(folder);
    }
}

/// The file's name without its ending; `a.test` for `a.test.ts`.
pub(crate) fn stem(path: &str) -> &str {
    let name = paths::file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn ending(path: &str) -> &str {
    paths::file_name(path)
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending)
}

fn join(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => folder.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}
