//! Every act of a session, killed at each place of its way; then the session goes on, and comes out the same.

use serde_json::Value;

use testkit::kill::{seed, times, tries_all};

use super::stage::Stage;
use super::story::{ANSWERED, Act, CALLED_OFF, STORY, done, now};
use super::whole::Whole;

/// After how many deaths one is followed by all the rest of the story.
const TO_THE_END: usize = 50;
/// The fail points that a session passes. Those of `io` stand before and after each change of the session's folder.
const POINTS: [&str; 10] = [
    "io",
    "before-append",
    "after-append",
    "before-perform",
    "after-perform",
    "prompt-before-file",
    "derived-before-state",
    "after-derived",
    "start-after-folder",
    "end-before-report",
];

/// Which times of coming to a point are tried within an act: the first append's for sure, then what chance chooses.
fn times_of(number: usize, act: Act, point: &str) -> impl Iterator<Item = u32> + use<> {
    let first = (point == "after-append").then_some(1);
    let chosen = times(&format!("{number} {act:?} {point}"));
    first
        .into_iter()
        .chain(chosen.filter(move |time| Some(*time) != first))
}

/// What the session is after each act, where nothing goes wrong.
struct Reference {
    stage: Stage,
    story: &'static [Act],
    gates: &'static str,
    shapes: Vec<Value>,
    wholes: Vec<Whole>,
}

impl Reference {
    fn new(story: &'static [Act], gates: &'static str) -> Self {
        let stage = Stage::new();
        let mut reference = Self {
            stage,
            story,
            gates,
            shapes: Vec::new(),
            wholes: Vec::new(),
        };
        for (number, act) in story.iter().enumerate() {
            reference.stage.save(number);
            let ran = act.on(&reference.stage, gates, None);
            assert!(matches!(ran.status, 0 | 8), "{number} {act:?}: {ran:?}");
            reference.shapes.push(now(&reference.stage));
            reference.wholes.push(Whole::of(&reference.stage));
        }
        reference
    }

    /// Has one act die in every way; how many those were.
    fn die(&self, number: usize, told: &mut Vec<String>) -> usize {
        let (stage, act) = (&self.stage, self.story[number]);
        let mut deaths = 0;
        for point in POINTS {
            for time in times_of(number, act, point) {
                stage.restore(number);
                let ran = act.on(stage, self.gates, Some((point, time)));
                if !ran.died() {
                    assert!(matches!(ran.status, 0 | 8), "{number} {act:?}: {ran:?}");
                    break;
                }
                deaths += 1;
                let last = match act {
                    _ if deaths % TO_THE_END == 0 => self.story.len() - 1,
                    _ => self.next(number),
                };
                if let Err(fault) = self.go_on(number, last) {
                    told.push(format!(
                        "{number} {act:?} killed at {point}:{time}: {fault}"
                    ));
                }
            }
        }
        deaths
    }

    /// The next act that is done by a process: that one makes good what was left.
    fn next(&self, number: usize) -> usize {
        let after = (number + 1..self.story.len()).find(|&next| self.story[next].can_die());
        after.unwrap_or(number)
    }

    fn go_on(&self, from: usize, to: usize) -> Result<(), String> {
        for number in from..=to {
            done(
                &self.stage,
                self.story[number],
                self.gates,
                &self.shapes[number],
            )
            .map_err(|fault| format!("act {number}: {fault}"))?;
        }
        if self.stage.state().status != "IN_PROGRESS" {
            // There is nothing to be done any more, and a step still clears up.
            let ran = Act::Step.on(&self.stage, self.gates, None);
            assert!(matches!(ran.status, 0 | 8), "{ran:?}");
        }
        let differs = Whole::of(&self.stage).differs_from(&self.wholes[to]);
        if differs.is_empty() {
            Ok(())
        } else {
            Err(format!("after act {to}:\n{differs}"))
        }
    }
}

/// Has these acts of a story die.
fn die_everywhere(
    story: &'static [Act],
    gates: &'static str,
    acts: impl Iterator<Item = usize>,
    at_least: usize,
) {
    if !cfg!(debug_assertions) {
        // A release build has no fail points.
        return;
    }
    let reference = Reference::new(story, gates);
    let mut deaths = 0;
    let mut told = Vec::new();
    for number in acts.filter(|&number| story[number].can_die()) {
        deaths += reference.die(number, &mut told);
    }
    assert!(
        told.is_empty(),
        "TRAMLINE_KILL_SEED={}: {} of {deaths} deaths are not got over:\n{}",
        seed(),
        told.len(),
        told.iter().take(12).cloned().collect::<Vec<_>>().join("\n")
    );
    let expected = if tries_all() { at_least } else { 1 };
    assert!(deaths >= expected, "only {deaths} deaths");
}

#[test]
fn a_whole_session_dies_at_every_place() {
    die_everywhere(STORY, "human", 0..STORY.len(), 120);
}

#[test]
fn a_session_that_is_called_off_dies_at_every_place() {
    die_everywhere(CALLED_OFF, "human", 3..CALLED_OFF.len(), 2);
}

#[test]
fn a_session_whose_answers_are_all_there_dies_at_every_place() {
    die_everywhere(ANSWERED, "auto", 6..ANSWERED.len(), 20);
}
