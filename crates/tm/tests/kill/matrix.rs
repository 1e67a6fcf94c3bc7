//! Every act of a story, killed at each place of its way; then the story goes on, and comes out the same.

use std::fmt::Debug;

use testkit::Outcome;
use testkit::kill::{Death, seed, times, tries_all};

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

/// A story whose acts die: where it is played, its acts, those of them that a process does, and the fail points that those pass.
pub struct Deaths<'a, A> {
    pub place: &'a Place,
    pub story: &'a [A],
    pub dying: &'a [usize],
    pub points: &'static [&'static str],
}

impl<A: Copy + Debug> Deaths<'_, A> {
    /// Has the acts from this one on die in every way. Before each act a copy of everything was kept under its number. `on` does an
    /// act, and is to die; `go_on` goes on from one act to another, after so many deaths.
    pub fn everywhere(
        &self,
        from: usize,
        at_least: usize,
        on: impl Fn(A, Death) -> Outcome,
        go_on: impl Fn(usize, usize, usize) -> Result<(), String>,
    ) {
        let mut deaths = 0;
        let mut told = Vec::new();
        let late = self.dying.partition_point(|&number| number < from);
        for number in chosen(&self.dying[late..]) {
            // The next act that is done by a process makes good what was left.
            let next = self.dying.iter().find(|&&next| next > number);
            let act = format!("{number} {:?}", self.story[number]);
            for &point in self.points {
                for time in times_of(&act, point) {
                    self.place.restore(number);
                    let ran = on(self.story[number], (point, time));
                    if !ran.died() {
                        assert!(matches!(ran.status, 0 | 8), "{act}: {ran:?}");
                        break;
                    }
                    deaths += 1;
                    let last = match next {
                        _ if deaths % TO_THE_END == 0 => self.story.len() - 1,
                        next => *next.unwrap_or(&number),
                    };
                    if let Err(fault) = go_on(number, last, deaths) {
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
}
