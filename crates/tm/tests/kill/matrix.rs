//! Every act of a story, killed at each place of its way; then the story goes on, and comes out the same.

use std::fmt::Debug;

use testkit::Outcome;
use testkit::chance::{seed, tries_all};
use testkit::kill::{Death, times};

use crate::place::Place;

/// Which times of coming to a point are tried within an act: the first append's for sure, then what chance chooses.
fn times_of(act: &str, point: &str) -> impl Iterator<Item = u32> + use<> {
    let first = (point == "after-append").then_some(1);
    let chosen = times(&format!("{act} {point}"));
    let others = chosen.filter(move |time| Some(*time) != first);
    first.into_iter().chain(others)
}

/// How many die until all the rest of the story follows once.
const TO_THE_END: usize = 25;

/// Those of the acts that die: all, if the environment asks for that or they are few; else each third.
fn chosen(acts: &[usize]) -> impl Iterator<Item = usize> {
    let each = if tries_all() || acts.len() < 8 { 1 } else { 3 };
    let first = usize::try_from(seed() % 3).unwrap_or_default() % each;
    acts.iter().copied().skip(first).step_by(each)
}

/// One thing that somebody does in a story.
pub trait Act: Copy + Debug {
    /// Whether a process does it that can die.
    fn can_die(self) -> bool;
}

/// Plays a story at a place, and looks at it after each act; then has the acts from `from` on die at these fail points in every way,
/// in at least so many where all are tried. `on` does an act, and is to die if a death is given; `go_on` is told what was seen where
/// nothing went wrong, and goes on from one act to another, after so many deaths.
pub fn die_everywhere<A: Act, L>(
    place: &Place,
    story: &[A],
    points: &[&'static str],
    (from, at_least): (usize, usize),
    on: impl Fn(A, Option<Death>) -> Outcome,
    look: impl Fn(&Outcome) -> L,
    go_on: impl Fn(&[L], [usize; 3]) -> Result<(), String>,
) {
    if !cfg!(debug_assertions) {
        // A release build has no fail points.
        return;
    }
    let mut seen = Vec::new();
    for (number, act) in story.iter().enumerate() {
        place.save(number);
        let ran = on(*act, None);
        assert!(matches!(ran.status, 0 | 8), "{number} {act:?}: {ran:?}");
        seen.push(look(&ran));
    }
    let can_die = |number: &usize| story[*number].can_die();
    let dying: Vec<usize> = (from..story.len()).filter(can_die).collect();
    let mut deaths = 0;
    let mut told = Vec::new();
    for number in chosen(&dying) {
        // The next act that is done by a process makes good what was left.
        let next = dying.iter().find(|&&next| next > number);
        let act = format!("{number} {:?}", story[number]);
        for &point in points {
            for time in times_of(&act, point) {
                place.restore(number);
                let ran = on(story[number], Some((point, time)));
                if !ran.died() {
                    assert!(matches!(ran.status, 0 | 8), "{act}: {ran:?}");
                    break;
                }
                deaths += 1;
                let last = match next {
                    _ if deaths % TO_THE_END == 0 => story.len() - 1,
                    next => *next.unwrap_or(&number),
                };
                if let Err(fault) = go_on(&seen, [number, last, deaths]) {
                    told.push(format!("{act} killed at {point}:{time}: {fault}"));
                }
            }
        }
    }
    let (seed, failed) = (seed(), told.len());
    told.truncate(12);
    let told = told.join("\n");
    assert_eq!(failed, 0, "TRAMLINE_TEST_SEED={seed}: of {deaths}:\n{told}");
    let expected = if tries_all() { at_least } else { 1 };
    assert!(deaths >= expected, "only {deaths} deaths");
}
