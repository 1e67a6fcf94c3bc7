//! Every act of a session, killed at each place of its way; then the session goes on, and comes out the same.

use serde_json::Value;

use testkit::Outcome;
use testkit::kill::{seed, times, tries_all};

use super::stage::{Stage, answered};
use super::story::{Act, BY_CALL, BY_DOCUMENT};
use super::whole::{Whole, now, without};
use crate::place::answer;

/// After how many deaths one is followed by all the rest of the story.
const TO_THE_END: usize = 40;
/// The fail points that a session of skills passes. Those of `io` stand before and after each document that is kept or placed.
const POINTS: [&str; 7] = [
    "after-append",
    "io",
    "before-append",
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

/// What the session is after each act, and what was answered, where nothing goes wrong.
struct Reference {
    stage: Stage,
    story: &'static [Act],
    answers: Vec<Value>,
    shapes: Vec<Value>,
    wholes: Vec<Whole>,
}

impl Reference {
    fn new(story: &'static [Act]) -> Self {
        let mut reference = Self {
            stage: Stage::new(),
            story,
            answers: Vec::new(),
            shapes: Vec::new(),
            wholes: Vec::new(),
        };
        for (number, act) in story.iter().enumerate() {
            reference.stage.save(number);
            let ran = act.on(&reference.stage, None);
            assert_eq!(ran.status, 0, "{number} {act:?}: {ran:?}");
            reference.answers.push(reference.answer(&ran));
            reference.shapes.push(now(&reference.stage));
            reference.wholes.push(Whole::of(&reference.stage));
        }
        reference
    }

    fn answer(&self, ran: &Outcome) -> Value {
        let dir = self.stage.session();
        without(answer(ran), dir.file_name().unwrap().to_str().unwrap())
    }

    /// Has one act die in every way; how many those were.
    fn die(&self, number: usize, deaths: &mut usize, told: &mut Vec<String>) {
        let act = self.story[number];
        for point in POINTS {
            for time in times_of(number, act, point) {
                self.stage.restore(number);
                let ran = act.on(&self.stage, Some((point, time)));
                if !ran.died() {
                    assert_eq!(ran.status, 0, "{number} {act:?}: {ran:?}");
                    break;
                }
                *deaths += 1;
                let last = match self.story.len() - 1 {
                    last if (*deaths).is_multiple_of(TO_THE_END) => last,
                    _ => self.next(number),
                };
                if let Err(fault) = self.go_on(number, last, *deaths) {
                    told.push(format!(
                        "{number} {act:?} killed at {point}:{time}: {fault}"
                    ));
                }
            }
        }
    }

    /// The next act that is done by a process: that one makes good what was left.
    fn next(&self, number: usize) -> usize {
        let after = (number + 1..self.story.len()).find(|&next| self.story[next].can_die());
        after.unwrap_or(number)
    }

    /// Goes on after a death, as somebody does who was told nothing.
    fn go_on(&self, from: usize, to: usize, deaths: usize) -> Result<(), String> {
        let found = now(&self.stage);
        let before = match from {
            0 => &Value::Null,
            from => &self.shapes[from - 1],
        };
        let happened = found == self.shapes[from] && found != *before;
        // A session that an update begins is begun before anything is set.
        let begun = from == 0 && found["state"]["state"] == "collab-start";
        if !happened && !begun && found != *before {
            let after = &self.shapes[from];
            return Err(format!(
                "half of it happened: {found}\nwhich is neither {before}\nnor {after}"
            ));
        }
        // Who sees that it happened may leave it at that. A document that only lies there is one written by hand.
        let leave = happened
            && from < to
            && (!tries_all() || deaths.is_multiple_of(2))
            && Whole::of(&self.stage).events == self.wholes[from].events;
        let from = from + usize::from(leave);
        for number in from..=to {
            let ran = self.story[number].on(&self.stage, None);
            if ran.status != 0 {
                return Err(format!("act {number}: {ran:?}"));
            }
            let (answer, wanted) = (self.answer(&ran), &self.answers[number]);
            if answer != *wanted {
                return Err(format!("act {number} answers {answer} instead of {wanted}"));
            }
        }
        let differs = Whole::of(&self.stage).differs_from(&self.wholes[to]);
        if differs.is_empty() {
            Ok(())
        } else {
            Err(format!("after act {to}:\n{differs}"))
        }
    }
}

/// Has each act of a story die.
fn die_everywhere(story: &'static [Act], at_least: usize) {
    if !cfg!(debug_assertions) {
        // A release build has no fail points.
        return;
    }
    let reference = Reference::new(story);
    let mut deaths = 0;
    let mut told = Vec::new();
    for number in (0..story.len()).filter(|&number| story[number].can_die()) {
        reference.die(number, &mut deaths, &mut told);
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
fn a_session_by_document_dies_at_every_place() {
    die_everywhere(BY_DOCUMENT, 30);
}

#[test]
fn a_session_by_calls_dies_at_every_place() {
    die_everywhere(BY_CALL, 30);
}

/// What a start leaves behind that is killed before its first event is no session, and bars neither its name nor other calls.
#[test]
fn a_start_that_was_cut_short_is_no_session() {
    let begun = |stage: &Stage| answered(&BY_DOCUMENT[0].on(stage, None), 0);
    let stage = Stage::new();
    let wanted = begun(&stage)["next_skill"].clone();
    stage.save(0);
    for left in [&[][..], &["evidence"], &["evidence", "activity.jsonl"]] {
        stage.restore(0);
        let dir = stage.session();
        std::fs::remove_dir_all(&dir).unwrap();
        std::fs::create_dir(&dir).unwrap();
        for name in left {
            let path = dir.join(name);
            if path.extension().is_some() {
                std::fs::write(path, "").unwrap();
            } else {
                std::fs::create_dir(path).unwrap();
            }
        }
        let list = stage.program(&["runs", "list", "--json"]).spawn().unwrap();
        let list = answered(&Outcome::waited(list), 0);
        assert_eq!(list[0]["status"], "unstarted", "{left:?}: {list}");
        let none = stage.tm(4, &["state"]);
        assert_eq!(none["error"]["code"], "no_session", "{left:?}: {none}");
        assert_eq!(begun(&stage)["next_skill"], wanted, "{left:?}");
        assert_eq!(stage.runs().len(), 1, "{left:?}");
    }
}
