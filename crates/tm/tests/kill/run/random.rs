//! Whole runs whose processes are killed at random moments.
//!
//! `TRAMLINE_KILL_RUNS` says how many runs, `TRAMLINE_TEST_SEED` with which numbers; without them it is a few, and
//! other numbers each time.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use testkit::chance::{seed, tries_all};

use super::executor::{Executor, Recovery};
use super::stage::{Death, Stage};

/// How many runs there are if nobody says otherwise, and if every death is asked for.
const RUNS: u64 = 2;
const MANY_RUNS: u64 = 100;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        self.0 = hasher.finish();
        self.0 % limit
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// One run of two subtasks, in which about every other process is killed; how many were.
fn run(seed: u64) -> usize {
    let mut random = Random(seed);
    let stage = Stage::new(2);
    if random.below(4) == 0 {
        // With a hook a commit takes longer, and git lives on more often.
        stage.hook(
            "pre-commit",
            "git diff --cached --quiet -- src && exit\necho formatted >> src/all.sh\ngit add src/all.sh\n",
        );
    }
    let mut executor = Executor::new(&stage);
    executor.history = format!("  TRAMLINE_TEST_SEED={seed} TRAMLINE_KILL_RUNS=1\n");
    let random = std::cell::RefCell::new(random);
    executor.finish(
        |action| {
            let mut random = random.borrow_mut();
            // A commit takes longest, and has the most places to die at.
            let longest = match action {
                "commit" | "finalize" | "start" => 50_000,
                _ => 15_000,
            };
            (random.below(2) == 0)
                .then(|| Death::After(Duration::from_micros(random.below(longest))))
        },
        || Recovery::ALL[usize::try_from(random.borrow_mut().below(4)).unwrap_or_default()],
    );
    executor.check_completed();
    executor.deaths
}

#[test]
fn killed_at_random() {
    let first = seed();
    let most = if tries_all() { MANY_RUNS } else { RUNS };
    let most = number("TRAMLINE_KILL_RUNS").unwrap_or(most);
    let seeds = (first..).take(usize::try_from(most).unwrap_or(usize::MAX));
    let deaths: usize = seeds.map(run).sum();
    let few = most < 5 || deaths as u64 > most;
    assert!(few, "only {deaths} deaths in {most} runs");
}
