//! What differs from language to language: the files of the project and of each step, and the runner.

use super::counts::Counts;

/// A file: its path from the project's root, and its text.
pub type File = (&'static str, &'static str);

/// One subtask, as it is worked on.
pub struct Subtask {
    /// Its tests.
    pub tests: File,
    /// The code that makes them pass.
    pub code: &'static [File],
}

/// A project in one language.
pub struct Language {
    /// The program that must be there, or the story is not told.
    pub program: &'static str,
    /// The oldest major version of it that will do; 0 for any.
    pub oldest: u32,
    /// The arguments with which it runs the tests.
    pub runs_tests: &'static [&'static str],
    /// Reads what it prints then.
    pub counts: fn(&str) -> Counts,
    /// The test command that is found in the project.
    pub test_command: &'static str,
    /// What is there before the run.
    pub setup: &'static [File],
    /// Words, counted. Its code does not depend on anything.
    pub words: Subtask,
    /// Code for it that does not pass.
    pub words_wrong: &'static [File],
    /// Lines, counted. Its code fails where the variable `WORDS_LOCALE` is set.
    pub lines: Subtask,
    /// The same, tidied.
    pub lines_tidied: &'static [File],
    /// The same, without the fault.
    pub lines_mended: &'static [File],
    /// Words per line: it depends on the other two.
    pub average: Subtask,
    /// Its tests with one more.
    pub average_tests: File,
    /// What is left behind when the tests have run, and must never be committed.
    pub products: &'static [&'static str],
    /// Files that the runner makes and that do belong into the first commit.
    pub made: &'static [&'static str],
}
