//! Processes that are killed, and the home and the project made as they were before, to be killed in another way.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::Command;
use std::sync::{Once, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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

/// Whether the environment asks for every death there is, which takes minutes, and not for some of each kind.
pub fn tries_all() -> bool {
    std::env::var_os("TRAMLINE_KILL_ALL").is_some()
}

/// What chance begins with: `TRAMLINE_KILL_SEED`, or another number each time. The same number chooses the same deaths.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let given = std::env::var("TRAMLINE_KILL_SEED").ok();
        given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.map_or(0, |now| now.as_secs())
        })
    })
}

/// Which times of coming to `place` are tried, in their order: all, if the environment asks for that; else chance chooses about
/// one of twelve, and of most other places none.
pub fn times(place: &str) -> impl Iterator<Item = u32> + use<> {
    let mut hasher = DefaultHasher::new();
    (seed(), place).hash(&mut hasher);
    let chance = usize::try_from(hasher.finish() % 12).unwrap_or_default();
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
