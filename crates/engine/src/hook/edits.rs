//! The rules for files: in RED tests, in GREEN all but the frozen tests, in COMMIT none.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use syntax::inside::may_hold_tests;
use workspace::convention::paths::{PathClass, PathClasses};

use crate::capability::memory::SHOWN;
use crate::capability::tests::difference::class_of;
use crate::clock::millis_of;
use crate::hook::Decision;
use crate::hook::messages;
use crate::hook::place;
use crate::hook::underway::ActiveRun;
use machine::role::{Edits, FileClass};

/// Folders whose files are there for tests, wherever they lie.
const SUPPORT_FOLDERS: [&str; 16] = [
    "fixtures",
    "__fixtures__",
    "fixture",
    "testdata",
    "test-data",
    "test_data",
    "__mocks__",
    "__snapshots__",
    "__image_snapshots__",
    "snapshots",
    "goldens",
    "golden",
    "cassettes",
    "testutil",
    "testutils",
    "test-utils",
];

/// Checks every path against the phase; the first that may not be edited decides.
pub fn judge(run: &ActiveRun, cwd: &Path, paths: &[PathBuf]) -> Decision {
    let relevant = match run.edits {
        _ if !run.only.is_empty() => true,
        Some(Edits::Tests | Edits::None) => true,
        Some(Edits::Unfrozen) => run.has_frozen_tests(),
        Some(Edits::All) | None => false,
    };
    if !relevant {
        return Decision::ALLOW;
    }
    if run.is_off_its_branch() {
        // What is edited on another branch is none of the run's files.
        return Decision::Allow {
            note: Some(messages::other_branch(run)),
        };
    }
    let mut classes = None;
    for path in paths {
        let real = place::real(cwd, path);
        let Some(file) = place::below(&run.root, &real) else {
            continue;
        };
        if is_exempt(run, &real) {
            continue;
        }
        if run.edits == Some(Edits::None) {
            return messages::not_edited(run, messages::EDIT_IN_COMMIT, file);
        }
        let may_be_either = [FileClass::Source, FileClass::Tests];
        let is_either =
            run.only.is_empty() || may_be_either.iter().any(|class| run.only.contains(class));
        if (may_hold_tests(file) && is_either) || is_written_by_a_runner(file) {
            continue;
        }
        if classes.is_none() {
            classes = run.classes();
        }
        let Some(classes) = &classes else {
            return Decision::ALLOW;
        };
        if !run.only.is_empty() {
            if !run.only.contains(&class_of(classes.of(file))) {
                return messages::not_edited(run, messages::OTHER_WORK, file);
            }
            continue;
        }
        match run.edits {
            Some(Edits::Tests) if !belongs_to_red(classes, file) => {
                return messages::not_edited(run, messages::SOURCE_IN_RED, file);
            }
            Some(Edits::Unfrozen) if classes.is_test(file) && is_frozen(run, &real) => {
                return messages::not_edited(run, messages::FROZEN_TEST, file);
            }
            _ => {}
        }
    }
    Decision::ALLOW
}

/// Files in which tasks and their statuses stand, which no check of the tree looks at either.
fn is_exempt(run: &ActiveRun, real: &Path) -> bool {
    let start = &run.memory.start;
    let tasks = start
        .tasks_path
        .as_ref()
        .map(|tasks| start.top_level.join(tasks.to_path_buf()));
    tasks.as_deref() == Some(real)
        || real.strip_prefix(&run.root).ok() == Some(Path::new(workspace::tasks::STATE_FILE))
}

/// Whether a file is a test, or one that an honest test may need: a dependency, a setting, a fixture.
fn belongs_to_red(classes: &PathClasses, file: &str) -> bool {
    classes.of(file) != PathClass::Source
        || PathClasses::default().is_test(file)
        || is_support(file)
        // Settings of tools, the agent's own among them.
        || file.split('/').any(|part| part.starts_with('.'))
}

/// Whether a file is there for tests without being one.
fn is_support(file: &str) -> bool {
    let mut folders = file.split('/');
    let name = folders.next_back().unwrap_or_default().to_ascii_lowercase();
    let is_setup = name.contains("setup")
        && ["test", "jest", "vitest", "cypress", "playwright"]
            .iter()
            .any(|word| name.contains(word));
    is_setup
        || name.starts_with(".env.test")
        || folders.any(|folder| SUPPORT_FOLDERS.contains(&folder))
}

/// Whether a test runner writes a file by itself, as it does snapshots.
fn is_written_by_a_runner(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".new")
        .unwrap_or(name)
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "snap")
        || file
            .split('/')
            .any(|part| matches!(part, "__snapshots__" | "__image_snapshots__"))
}

/// Whether a test file was there when RED was accepted. One that came later is new, and may be worked on.
fn is_frozen(run: &ActiveRun, real: &Path) -> bool {
    let Ok(metadata) = fs::metadata(real) else {
        return false;
    };
    if is_of_red(run, real) {
        return true;
    }
    let entered = run.token().and_then(|token| millis_of(&token.entered_at));
    match (metadata.created(), entered) {
        (Ok(created), Some(entered)) => {
            let entered = Duration::from_millis(u64::try_from(entered).unwrap_or(0));
            created <= SystemTime::UNIX_EPOCH + entered
        }
        // Not every file system knows when a file was made.
        _ => true,
    }
}

/// Whether RED reported the file as its own.
fn is_of_red(run: &ActiveRun, real: &Path) -> bool {
    let Some(token) = run.token() else {
        return false;
    };
    let top_level = &run.memory.start.top_level;
    match SHOWN.read(&token.kept, token.role.against.as_ref()) {
        Ok(None) => false,
        Ok(Some(shown)) => shown.files.iter().any(|file| top_level.join(file) == real),
        // Which files it reported cannot be told.
        Err(_) => true,
    }
}
