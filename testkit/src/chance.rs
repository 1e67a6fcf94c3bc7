//! What is tried each time of a long table: some of it, by chance. The nightly tries all.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether the environment asks for every case there is, which takes minutes, and not for some of each kind.
pub fn tries_all() -> bool {
    std::env::var_os("TRAMLINE_TEST_ALL").is_some()
}

/// What chance begins with: `TRAMLINE_TEST_SEED`, or another number each time. The same number draws the same cases.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let given = std::env::var("TRAMLINE_TEST_SEED").ok();
        given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.map_or(0, |now| now.as_secs())
        })
    })
}

/// A number below `sides` for something with this name.
pub fn throw(name: &str, sides: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed(), name).hash(&mut hasher);
    hasher.finish() % sides
}

/// Whether the case of this name is tried: all are, if the environment asks for that, else one of so many. A test that fails has
/// the seed in its output.
#[expect(clippy::print_stdout, reason = "shown where the test fails")]
pub fn draws(name: &str, one_of: u64) -> bool {
    let is_tried = tries_all() || throw(name, one_of) == 0;
    if is_tried {
        println!("TRAMLINE_TEST_SEED={} draws {name}", seed());
    }
    is_tried
}

/// Leaves a test whose turn it is not: it is told one time in so many, and always by the nightly.
#[macro_export]
macro_rules! by_chance {
    ($one_of:literal) => {
        if !$crate::chance::draws(concat!(module_path!(), " ", line!()), $one_of) {
            return;
        }
    };
}
