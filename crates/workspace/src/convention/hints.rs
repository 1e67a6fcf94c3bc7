//! What a work unit's context tells of the project: the files that a subtask's text names, the
//! tests near them, the file where new tests belong.
//!
//! Everything is a function of the texts and the list of files given; nothing is read. Paths are
//! relative to the project root, with `/`. Every list is bounded.

use std::collections::{BTreeSet, HashMap};

use super::criteria;
use super::paths::{self, Language, PathClass, PathClasses};
use super::{scope, test_place};
use text::plain;

/// The most files of a list.
pub const MOST_FILES: usize = 20;

/// Text beyond this is not looked at, in bytes.
const TEXT_READ: usize = 64 * 1024;
/// A name that fits more files than this means none of them in particular.
const MOST_MATCHES: usize = 4;
/// A path that is named but does not exist is taken for one up to this length, in bytes.
const LONGEST_PATH: usize = 200;

/// The text of a subtask, as the tasks file has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SubtaskText<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its details.
    pub details: &'a str,
    /// Its test strategy.
    pub test_strategy: &'a str,
}

/// What can be told of a subtask's place in the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextHints {
    /// Where the new tests belong, if the project or its language has a habit.
    pub test_file: Option<String>,
    /// Tests that exist already: those near the files that the text names first, then those
    /// whose names share a word with the title. At most [`MOST_FILES`].
    pub existing_tests: Vec<String>,
    /// When the subtask is done.
    pub acceptance_criteria: Vec<String>,
    /// How to go about it.
    pub implementation_hints: Vec<String>,
    /// Source files that will probably change or come to be. At most [`MOST_FILES`].
    pub expected_files: Vec<String>,
}

/// All hints for one subtask. `files` are those that the project knows (tracked ones and new
/// ones that are not ignored).
pub fn context_hints(
    text: &SubtaskText<'_>,
    files: &[String],
    classes: &PathClasses,
) -> ContextHints {
    let whole = [
        text.title,
        text.description,
        text.details,
        text.test_strategy,
    ]
    .join("\n");
    let named = files_named(&whole, files);
    let new = new_paths(&whole, files);
    let expected_files = expected_files(&named, &new, classes);
    ContextHints {
        test_file: test_file(&whole, &named, &new, files, classes),
        existing_tests: existing_tests(text.title, &named, files, classes),
        acceptance_criteria: criteria::acceptance_criteria(text.details, text.test_strategy),
        implementation_hints: criteria::implementation_hints(text.details),
        expected_files,
    }
}

/// The files of the project that the text names, in the order in which it does: by their path,
/// by the end of their path, by file name, or as an identifier that is a file's stem
/// (`AuthService` for `src/AuthService.ts`). A name that fits more than a few is not taken.
/// At most [`MOST_FILES`].
pub fn files_named(text: &str, files: &[String]) -> Vec<String> {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        by_name
            .entry(paths::file_name(file))
            .or_default()
            .push(index);
        by_stem
            .entry(test_place::stem(file))
            .or_default()
            .push(index);
    }
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for word in words(text) {
        let candidates = match by_name.get(paths::file_name(word)) {
            Some(candidates) if word.contains('.') || word.contains('/') => candidates,
            _ if is_identifier(word) => match by_stem.get(word) {
                Some(candidates) => candidates,
                None => continue,
            },
            _ => continue,
        };
        let fits = |file: &str| {
            let end = file.strip_suffix(word);
            !word.contains('/') || end.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let exact = candidates
            .iter()
            .copied()
            .find(|&index| files[index] == word);
        let matches: Vec<usize> = match exact {
            Some(index) => vec![index],
            None => candidates
                .iter()
                .copied()
                .filter(|&index| fits(&files[index]))
                .collect(),
        };
        if matches.len() > MOST_MATCHES {
            continue;
        }
        for index in matches {
            if taken.insert(index) {
                named.push(files[index].clone());
            }
            if named.len() == MOST_FILES {
                return named;
            }
        }
    }
    named
}

/// The paths that the text names and that are not there yet, such as a file to be made, in the
/// order of the text. Only relative paths with a file ending are taken for one, and without a folder those that
/// are plainly no name of anything else.
/// At most [`MOST_FILES`].
pub fn new_paths(text: &str, files: &[String]) -> Vec<String> {
    let mut new: Vec<String> = Vec::new();
    for word in words(text) {
        let is_path = (word.contains('/') || is_file_name(word))
            && word.len() <= LONGEST_PATH
            && Language::of(word).is_some()
            && scope::is_inside(word)
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "._-/@+[]()".contains(c));
        // `cli/main.rs` for a file that is there as `crates/cli/main.rs` is nothing new.
        let tail = format!("/{word}");
        let exists = |file: &String| file == word || file.ends_with(&tail);
        if is_path && !new.iter().any(|path| path == word) && !files.iter().any(exists) {
            new.push(word.to_owned());
        }
        if new.len() == MOST_FILES {
            break;
        }
    }
    new
}

/// The test files that belong to `file`: those named after it, nearest first, then those in its
/// folder or right below it. A test file is near itself. At most [`MOST_FILES`].
pub fn tests_near(file: &str, files: &[String], classes: &PathClasses) -> Vec<String> {
    let subject = test_place::subject_stem(file).to_lowercase();
    let folder = paths::folder(file);
    let mut near: Vec<(bool, usize, &String)> = Vec::new();
    for test in files
        .iter()
        .filter(|test| Language::of(test).is_some() && classes.is_test(test))
    {
        let is_namesake = test_place::subject_stem(test).to_lowercase() == subject;
        let is_beside = paths::folder(test) == folder
            || matches!(
                paths::folder(test).strip_prefix(folder),
                Some("/__tests__" | "/tests" | "/test")
            );
        if test == file || is_namesake || (is_beside && !folder.is_empty()) {
            near.push((test != file && !is_namesake, distance(test, file), test));
        }
    }
    near.sort();
    near.into_iter()
        .take(MOST_FILES)
        .map(|(_, _, test)| test.clone())
        .collect()
}

/// Tests that exist already and have to do with the subtask; see [`ContextHints`].
pub fn existing_tests(
    title: &str,
    named: &[String],
    files: &[String],
    classes: &PathClasses,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for file in named {
        for test in tests_near(file, files, classes) {
            if !found.contains(&test) {
                found.push(test);
            }
        }
    }
    let title = plain::one_line(plain::cut_bytes(title, TEXT_READ)).to_lowercase();
    let title: BTreeSet<&str> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3)
        .collect();
    let shares_word = |test: &String| {
        let subject = test_place::subject_stem(test).to_lowercase();
        subject
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| title.contains(word))
    };
    for test in files {
        if found.len() >= MOST_FILES {
            break;
        }
        let is_test = Language::of(test).is_some() && classes.is_test(test);
        if is_test && shares_word(test) && !found.contains(test) {
            found.push(test.clone());
        }
    }
    found.truncate(MOST_FILES);
    found
}

fn expected_files(named: &[String], new: &[String], classes: &PathClasses) -> Vec<String> {
    let is_expected =
        |path: &&String| matches!(classes.of(path), PathClass::Source | PathClass::Build);
    named
        .iter()
        .chain(new)
        .filter(is_expected)
        .take(MOST_FILES)
        .cloned()
        .collect()
}

/// The test file that the text names itself, else the one for the first source it names; none where it names none.
fn test_file(
    text: &str,
    named: &[String],
    new: &[String],
    files: &[String],
    classes: &PathClasses,
) -> Option<String> {
    let in_code = |path: &&String| Language::of(path).is_some();
    let mut mentioned = new.iter().chain(named).filter(in_code);
    if let Some(test) = mentioned.find(|path| classes.is_test(path)) {
        return Some(test.clone());
    }
    let is_source = |path: &&String| classes.of(path) == PathClass::Source;
    // What the text speaks of first is what it is about, also where that is still to be made.
    let place = |path: &&String| text.find(paths::file_name(path)).unwrap_or(usize::MAX);
    let mut targets: Vec<&String> = named.iter().chain(new).filter(is_source).collect();
    targets.sort_by_key(place);
    let first = targets.first();
    first
        .and_then(|target| namesake(target, files, classes))
        .or_else(|| only_test(files, classes))
        .or_else(|| {
            let mut targets = targets.iter();
            targets.find_map(|target| test_place::test_file_for(target, files, classes))
        })
}

/// The test file that is named after a file, the nearest where there are several.
fn namesake(target: &str, files: &[String], classes: &PathClasses) -> Option<String> {
    let (subject, _) = test_place::telling_name(target);
    let subject = subject.to_lowercase();
    let is_namesake = |test: &&String| {
        Language::of(test).is_some()
            && test_place::subject_stem(test).to_lowercase() == subject
            && classes.is_test(test)
    };
    let tests = files.iter().filter(is_namesake);
    tests.min_by_key(|test| distance(test, target)).cloned()
}

/// The file that holds all of a project's tests, where one does: it is named after no file of them.
fn only_test(files: &[String], classes: &PathClasses) -> Option<String> {
    let mut tests = files.iter().filter(|file| {
        Language::of(file).is_some() && classes.is_test(file) && !test_place::is_test_support(file)
    });
    let (Some(only), None) = (tests.next(), tests.next()) else {
        return None;
    };
    let subject = test_place::subject_stem(only);
    let is_subject = |file: &String| {
        file != only && Language::of(file).is_some() && test_place::stem(file) == subject
    };
    (!files.iter().any(is_subject)).then(|| only.clone())
}

/// The words of a text that may be a path or an identifier, without the punctuation around
/// them, a leading `./` and a line number behind.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let text = plain::cut_bytes(text, TEXT_READ);
    let apart = |c: char| c.is_whitespace() || "`'\"“”‘’<>|,;*!?{}=".contains(c);
    text.split(apart).filter_map(|word| {
        let word = word
            .trim_matches(|c| "()[]:".contains(c))
            .trim_end_matches('.');
        let word = word.strip_prefix("./").unwrap_or(word);
        let word = match word.split_once(':') {
            Some((path, line)) if line.starts_with(|c: char| c.is_ascii_digit()) => path,
            _ => word,
        };
        let word = word.split_once("()").map_or(word, |(name, _)| name);
        (!word.is_empty()).then_some(word)
    })
}

/// Whether the word is plainly the name of a file: `string_to_bool.go`, and not `Node.js`.
fn is_file_name(word: &str) -> bool {
    let stem = test_place::stem(word);
    word.contains('.') && (stem.contains('_') || Language::of(word) != Some(Language::JavaScript))
}

/// Whether the word looks like a name out of code, rather than like a word of the language:
/// `AuthService`, `parse_date`.
fn is_identifier(word: &str) -> bool {
    word.len() >= 4
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        && (word.contains('_') || word.chars().skip(1).any(char::is_uppercase))
}

/// How many folders lie between two files.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<&str> = paths::folder(a).split('/').collect();
    let b: Vec<&str> = paths::folder(b).split('/').collect();
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    a.len() + b.len() - 2 * shared
}
