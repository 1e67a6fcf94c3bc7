//! Processes that are killed, and the home and the project made as they were before, to be killed in another way.

use std::fs;
use std::process::Command;
use std::sync::Once;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::chance::{throw, tries_all};
use crate::files;
use crate::sandbox::Sandbox;

/// How often a place is come to within one command, at most.
const MOST_TIMES: u32 = 200;

/// Where a process dies: a fail point, and at which time of reaching it.
pub type Death = (&'static str, u32);

/// Has a debug build of the binary die there.
pub fn dies_at(command: &mut Command, (point, time): Death) -> &mut Command {
    command.env("TRAMLINE_FAIL_POINT", format!("{point}:{time}"))
}

/// Which times of coming to `place` are tried, in their order: all, if the environment asks for that; else chance chooses about
/// one of twelve, and of most other places none.
pub fn times(place: &str) -> impl Iterator<Item = u32> + use<> {
    let chance = usize::try_from(throw(place, 12)).unwrap_or_default();
    let (first, each, most) = match chance {
        _ if tries_all() => (0, 1, MOST_TIMES),
        0..3 => (chance, 3, MOST_TIMES),
        _ => (0, 1, 0),
    };
    (1..=most).skip(first).step_by(each)
}

/// A process that aborts would leave its memory behind, in a repository that would then not be clean.
pub fn no_core_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let maximum = getrlimit(Resource::Core).maximum;
        setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum,
            },
        )
        .unwrap();
    });
}

/// What processes change; the last three are those of a [`Forge`](crate::Forge).
const CHANGING: [&str; 5] = ["home", "project", "forge", "bin", "remote.git"];

impl Sandbox {
    /// Keeps home and project, and what is beside them, as they are now under a number.
    pub fn save(&self, number: usize) {
        for name in CHANGING
            .iter()
            .filter(|name| self.folder().join(name).is_dir())
        {
            let saved = self.folder().join(format!("saved-{number}/{name}"));
            files::copy(&self.folder().join(name), &saved);
        }
    }

    /// Makes all of it as it was when it was kept.
    pub fn restore(&self, number: usize) {
        for name in CHANGING {
            let now = self.folder().join(name);
            let saved = self.folder().join(format!("saved-{number}/{name}"));
            if !saved.is_dir() {
                continue;
            }
            fs::remove_dir_all(&now).unwrap();
            files::copy(&saved, &now);
        }
    }
}
