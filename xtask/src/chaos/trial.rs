//! A fault at each place of a story, and the end that it comes to.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::story::{Act, Story};
use super::trace::{self, Call, Fault, Watched};
use crate::stage::{Ran, Stage};

/// Which places are tried.
pub struct Choice<'c> {
    /// So many, by chance; all if none.
    pub sample: Option<usize>,
    /// Only this one.
    pub only: Option<&'c str>,
    /// The chance.
    pub random: &'c mut fastrand::Rng,
}

impl Choice<'_> {
    /// The places that are tried, of all that there are.
    pub fn of<P: Clone>(&mut self, mut all: Vec<P>, name: impl Fn(&P) -> String) -> Vec<P> {
        if let Some(only) = self.only {
            all.retain(|place| name(place) == only);
        } else if let Some(sample) = self.sample
            && sample < all.len()
        {
            self.random.shuffle(&mut all);
            all.truncate(sample);
        }
        all
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many trials there were.
    pub trials: usize,
    /// The places with a bad end, and what was wrong there.
    pub bad: Vec<(String, String)>,
    /// Why nothing was tried.
    pub skipped: Option<String>,
}

/// A story as it goes when nothing happens.
pub struct Reference {
    /// Where everything stood before each command.
    pub before: Vec<Value>,
    /// Where it stood behind each.
    pub after: Vec<Value>,
    /// The answers.
    pub answers: Vec<Ran>,
}

/// Plays the story in peace; `before` is told each command, when everything is as it is before it.
pub fn play(
    story: &Story,
    stage: &Stage,
    before: &mut dyn FnMut(usize, &Act, &Reference) -> io::Result<()>,
) -> io::Result<Reference> {
    story.begin(stage)?;
    let mut reference = Reference {
        before: Vec::new(),
        after: Vec::new(),
        answers: Vec::new(),
    };
    let in_peace = |act: &Act| {
        let ran = stage.tm(act.words, act.input)?;
        if ran.status == Some(0) {
            return Ok(ran);
        }
        let what = format!("{} in peace came to {ran:?}", act.name);
        Err(io::Error::other(what))
    };
    for act in story.prelude {
        act.prepare(stage)?;
        in_peace(act)?;
    }
    for (number, act) in story.acts.iter().enumerate() {
        act.prepare(stage)?;
        reference.before.push(story.standing(stage)?);
        before(number, act, &reference)?;
        reference.answers.push(in_peace(act)?);
        reference.after.push(story.standing(stage)?);
    }
    Ok(reference)
}

/// A fault at each place.
pub fn run(
    program: &Path,
    story: &Story,
    faults: &[Fault],
    choice: &mut Choice<'_>,
) -> io::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(folder.path(), program)?;
    // First, where everything stands behind each command.
    let whole = play(story, &stage, &mut |_, _, _| Ok(()))?;
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(folder.path(), program)?;
    let places = places(story, &stage, faults, choice)?;
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(folder.path(), program)?;
    let mut tally = Tally::default();
    play(story, &stage, &mut |number, act, _| {
        let here: Vec<_> = places.iter().filter(|place| place.act == number).collect();
        if here.is_empty() {
            return Ok(());
        }
        stage.save("saved")?;
        for place in here {
            stage.restore("saved")?;
            tally.trials += 1;
            let struck = strike(&stage, act, place)?;
            if let Err(why) = ends_well(story, &stage, act, place, &whole, &struck) {
                tally.bad.push((place.name(act), why));
            }
        }
        stage.restore("saved")
    })?;
    Ok(tally)
}

/// A call of a command, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The number of the command.
    pub act: usize,
    /// The number of the call, from 1.
    pub call: usize,
    /// What happens there.
    pub fault: Fault,
}

impl Place {
    /// Its name, as it can be given again.
    pub fn name(self, act: &Act) -> String {
        format!("{}:{}:{}", act.name, self.call, self.fault.name())
    }
}

/// All places of a story that are to be tried.
pub fn places(
    story: &Story,
    stage: &Stage,
    faults: &[Fault],
    choice: &mut Choice<'_>,
) -> io::Result<Vec<Place>> {
    let mut all = Vec::new();
    play(story, stage, &mut |number, act, _| {
        stage.save("saved")?;
        let place = Place {
            act: number,
            call: 0,
            fault: Fault::None,
        };
        let calls = strike(stage, act, &place)?.calls.len();
        stage.restore("saved")?;
        for call in 1..=calls {
            all.extend(faults.iter().map(|&fault| Place {
                call,
                fault,
                ..place
            }));
        }
        Ok(())
    })?;
    Ok(choice.of(all, |place| place.name(&story.acts[place.act])))
}

/// Runs the command, with the fault at its place.
pub fn strike(stage: &Stage, act: &Act, place: &Place) -> io::Result<Watched> {
    let input = stage.input(act.input)?;
    let command = stage.program(act.words);
    trace::watch(&command, input, place.call, place.fault, &mut || Ok(()))
}

/// Whether all is well behind a command that a fault struck.
pub fn ends_well(
    story: &Story,
    stage: &Stage,
    act: &Act,
    place: &Place,
    whole: &Reference,
    struck: &Watched,
) -> Result<(), String> {
    let Place {
        act: number,
        fault: fault_of,
        ..
    } = *place;
    let fault = |error: io::Error| error.to_string();
    stage.unlock_elsewhere().map_err(fault)?;
    let (before, after) = (&whole.before[number], &whole.after[number]);
    let standing = story.standing(stage).map_err(fault)?;
    // What was answered is done. What was not may be done or not.
    let spared = |standing: &Value| match fault_of {
        Fault::Error(_) => without(standing, act.best_effort),
        _ => standing.clone(),
    };
    if struck.status == Some(0) && spared(&standing) == spared(after) {
        return Ok(());
    }
    if struck.status == Some(0) {
        let differs = differing(&standing, after);
        return Err(format!("it was acknowledged, and is not done: {differs}"));
    }
    let ran = stage.tm(act.words, act.input).map_err(fault)?;
    let mut answered = ran.status == Some(0) || act.done_already.contains(&ran.code());
    // It was taken in, and what came of it failed: the run says that it is paused.
    let paused = ran.json["nextAction"]["action"] == "paused" || ran.code() == "paused";
    if !story.resume.is_empty() && (act.done_already.contains(&ran.code()) || paused) {
        let resumed = stage.tm(story.resume, "").map_err(fault)?;
        answered = resumed.status == Some(0);
    }
    let mut now = story.standing(stage).map_err(fault)?;
    if now != *after && now == *before {
        // What was found undone is asked for once more.
        let again = stage.tm(act.words, act.input).map_err(fault)?;
        answered = again.status == Some(0);
        now = story.standing(stage).map_err(fault)?;
    }
    // A step that was done before the fault: its repetition finds nothing to do, or takes the next one.
    if now != *after && (act.once || standing != *after) {
        return Err(format!(
            "repeated, it came to {} {}, and what is not as it should be: {}",
            ran.status.unwrap_or(-1),
            ran.code(),
            differing(&now, after)
        ));
    }
    if !answered && standing != *after && now != *after {
        return Err(format!("its repetition was refused: {}", ran.json));
    }
    let locks = stage.locks();
    // What git cannot take away is there when it has ended.
    if !locks.is_empty() && !matches!(fault_of, Fault::Error(_)) {
        return Err(format!("git's locks are left: {locks:?}"));
    }
    let left = stage.leftovers();
    if !left.is_empty() {
        return Err(format!("temporary files are left: {left:?}"));
    }
    for run in stage.runs() {
        let report =
            journal::verify(&run.join("activity.jsonl")).map_err(|error| error.to_string())?;
        if let Some(damage) = report.damage {
            return Err(format!("the journal is damaged: {damage}"));
        }
    }
    Ok(())
}

/// How often each command flushes what, beside what it has to.
pub fn flushes(program: &Path, story: &Story) -> io::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let stage = Stage::new(folder.path(), program)?;
    let mut tally = Tally::default();
    play(story, &stage, &mut |number, act, _| {
        stage.save("saved")?;
        let place = Place {
            act: number,
            call: 0,
            fault: Fault::None,
        };
        let watched = strike(&stage, act, &place)?;
        let runs = stage.runs();
        let units = runs
            .last()
            .map_or(0, |run| units_of(&run.join("activity.jsonl")));
        stage.restore("saved")?;
        let before = stage
            .runs()
            .last()
            .map_or(0, |run| units_of(&run.join("activity.jsonl")));
        tally.trials += 1;
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for call in &watched.calls {
            if let ("fsync" | "fdatasync", Some(file)) = (call.name, &call.file) {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                *counted.entry(format!("{} {name}", call.name)).or_default() += 1;
            }
        }
        let total: usize = counted.values().sum();
        // Git's own are its affair, and other versions of it have others.
        let store = stage.store();
        let of_ours = |call: &&Call| {
            matches!(call.name, "fsync" | "fdatasync")
                && call
                    .file
                    .as_ref()
                    .is_some_and(|file| file.starts_with(&store))
        };
        let ours = watched.calls.iter().filter(of_ours).count();
        let journal = counted
            .get("fdatasync activity.jsonl")
            .copied()
            .unwrap_or(0);
        println!(
            "  {:<16} {total} flushes, {ours} in the store, {journal} of the journal",
            act.name
        );
        let least = story.flushes[number];
        if ours < least {
            let why = format!("{ours} flushes in the store, and {least} are needed");
            tally.bad.push((act.name.to_owned(), why));
        }
        // Each unit is flushed once, and nothing is journalled that is not.
        if journal != units - before {
            let why = format!(
                "{} units were journalled, and {journal} flushed",
                units - before
            );
            tally.bad.push((act.name.to_owned(), why));
        }
        Ok(())
    })?;
    Ok(tally)
}

/// How many units a journal has.
fn units_of(journal: &Path) -> usize {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["k"] == event["n"])
        .count()
}

/// A standing without some of its parts.
fn without(standing: &Value, parts: &[&str]) -> Value {
    let mut rest = standing.clone();
    if let Value::Object(rest) = &mut rest {
        rest.retain(|name, _| !parts.contains(&name.as_str()));
    }
    rest
}

/// The parts in which two standings differ.
fn differing(is: &Value, should: &Value) -> String {
    let (Value::Object(is), Value::Object(should)) = (is, should) else {
        return format!("{is} instead of {should}");
    };
    let parts: Vec<String> = should
        .iter()
        .filter(|(name, value)| is.get(*name) != Some(*value))
        .map(|(name, value)| {
            format!(
                "{name} is {} instead of {value}",
                is.get(name).unwrap_or(&Value::Null)
            )
        })
        .collect();
    parts.join(", ")
}
