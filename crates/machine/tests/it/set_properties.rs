//! What holds for every list of jobs and every sequence of edits and completions.

use std::collections::{BTreeMap, BTreeSet};

use machine::command::Edit;
use machine::state::{ItemSet, ItemStatus, RunState};
use machine::{Command, Event, RunStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{
    Driver, added, ann, deferred, fields, reading, reopened, says, skipped, stands, var, whole,
};
use crate::sets::{SETS, gathered, gathering, in_hand};

/// Jobs that need only those before them; what they touch, and whether they must be alone.
type Drawn = Vec<(Vec<usize>, Vec<u8>, bool)>;

fn jobs() -> impl Strategy<Value = Drawn> {
    let one = (
        proptest::collection::vec(0_usize..12, 0..3),
        proptest::collection::vec(0_u8..5, 0..3),
        proptest::bool::weighted(0.2),
    );
    proptest::collection::vec(one, 0..12)
}

/// They are told in another order than the one in which they can be done.
fn told(drawn: &Drawn, turn: usize) -> Vec<Value> {
    let job = |(at, (needs, files, solo)): (usize, &(Vec<usize>, Vec<u8>, bool))| {
        let needs: BTreeSet<&usize> = needs.iter().filter(|need| **need < at).collect();
        let needs: Vec<String> = needs.iter().map(|need| format!("j{need}")).collect();
        let files: Vec<String> = files.iter().map(|file| format!("f{file}")).collect();
        json!({ "id": format!("j{at}"), "needs": needs, "files": files, "solo": solo })
    };
    let mut all: Vec<Value> = drawn.iter().enumerate().map(job).collect();
    let by = turn % all.len().max(1);
    all.rotate_left(by);
    all
}

/// What every cut keeps to. `still` are the waves that were cut before and stay.
fn waves_are_lawful(run: &RunState) -> Result<(), TestCaseError> {
    let (Some(jobs), Some(groups)) = (run.sets.get("jobs"), run.sets.get("groups")) else {
        return Ok(());
    };
    let definition = machine::Definition::parse(SETS).unwrap();
    let blocked = run.blocked(&definition, "jobs");
    let mut wave_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, (id, wave)) in groups.iter().enumerate() {
        // All of a wave that was begun may have left it.
        let is_over = wave.status != ItemStatus::Open;
        let is_empty = wave.texts("jobs").next().is_none();
        prop_assert!(is_over || !is_empty, "{id} is empty");
        for key in wave.texts("jobs") {
            let twice = wave_of.insert(key, number);
            prop_assert!(twice.is_none(), "{key} is in two waves");
            let job = jobs.get(key);
            prop_assert_eq!(job.map(|job| job.text("wave")), Some(id));
            // What can be run is never left behind in a wave that is over.
            let waits = job.is_some_and(|job| job.status == ItemStatus::Open)
                && wave.status == ItemStatus::Done;
            let at = jobs.position(key).unwrap();
            prop_assert!(!waits || blocked[at], "{} is left in {}", key, id);
        }
    }
    prop_assert_eq!(wave_of.len(), jobs.len());
    for (id, wave) in groups.iter() {
        if wave.status != ItemStatus::Open {
            continue;
        }
        let mut touched = BTreeSet::new();
        for key in wave.texts("jobs") {
            let job = jobs.get(key).unwrap();
            for need in job.texts("needs") {
                let is_behind = wave_of.get(need) < wave_of.get(key);
                prop_assert!(is_behind, "{key} before {need}");
            }
            for file in job.texts("files").collect::<BTreeSet<_>>() {
                prop_assert!(touched.insert(file), "two of {id} touch {file}");
            }
            if job.fields["solo"] == true {
                prop_assert_eq!(wave.texts("jobs").count(), 1);
            }
        }
    }
    Ok(())
}

fn edit((what, a, b): (u8, u8, u8), drawn: &Drawn) -> Edit {
    let job = format!("j{}", a % 13);
    let part = ["p", "q", "r", "s"][usize::from(a) % 4];
    let parts = |count: u8| {
        (0..count).map(|at| {
            let key = ["p", "q", "r", "s"][usize::from(at ^ (b & 3)) % 4];
            json!({ "id": key, "needs": if at % 2 == 1 { json!(["p"]) } else { json!([]) } })
        })
    };
    let of_jobs = ["pending", "active", "broken", "ok", "lost", "odd"];
    let of_parts = "new late begun ready shipped dropped ?".split(' ');
    let of_parts: Vec<&str> = of_parts.collect();
    match what % 20 {
        0..=4 => stands("jobs", &job, of_jobs[usize::from(b) % 6]),
        5..=6 => stands("parts", part, of_parts[usize::from(b) % 7]),
        7 => whole("parts", parts(a % 5)),
        8..=9 => {
            let mut all = told(drawn, usize::from(a));
            if b % 5 == 4 {
                all.truncate(usize::from(b) % 12);
            }
            if b % 7 == 6 {
                all.push(json!({ "id": "new", "needs": ["j0"], "files": ["f1"] }));
            }
            if b % 11 == 10 {
                all.retain(|job| job["needs"].as_array().is_some_and(Vec::is_empty));
            }
            whole("jobs", all)
        }
        10 => var(
            "part",
            [json!(part), json!(null), json!("nobody"), json!(7)][usize::from(b) % 4].clone(),
        ),
        11 => var(
            ["flag", "note", "closed", "group", "odd"][usize::from(a) % 5],
            [json!(true), json!("x"), json!(1), json!(null)][usize::from(b) % 4].clone(),
        ),
        12 => fields(
            "jobs",
            &job,
            json!({ ["text", "wave", "id", "files", "solo", "needs"][usize::from(b) % 6]: "x" }),
        ),
        13 => fields("parts", part, json!({ "note": "n", "weight": b })),
        14 => fields(
            "parts",
            part,
            json!({ ["id", "needs", "kind", "odd"][usize::from(b) % 4]: "odd" }),
        ),
        15 => added(
            "jobs",
            json!({ "id": format!("j{}", 13 + b % 4), "needs": [job], "files": ["f1"] }),
        ),
        16 => reopened("jobs", &job),
        17 => deferred("jobs", &job),
        18 => skipped("jobs", &job),
        _ => match b % 4 {
            0 => reopened("parts", part),
            1 => skipped("parts", part),
            2 => added("parts", json!({ "id": part })),
            _ => var("flag", b % 8 == 3),
        },
    }
}

/// Brings what is in hand to its end; one of it may be skipped.
fn ends_wave(driver: &Driver, a: u8, b: u8) -> Vec<Edit> {
    let blocked = driver.run.blocked(&driver.definition, "jobs");
    let keys = in_hand(driver).into_iter().filter(|key| {
        let at = driver.run.sets["jobs"].position(key);
        at.is_some_and(|at| !blocked[at])
    });
    keys.enumerate()
        .map(|(at, key)| {
            let lost = at == usize::from(a) && b.is_multiple_of(3);
            stands("jobs", &key, if lost { "lost" } else { "ok" })
        })
        .collect()
}

fn command(driver: &Driver, (what, a, b): (u8, u8, u8), drawn: &Drawn) -> Command {
    let report = |name: &str| commands::report(None, Some(name), &format!("digest of {name}"));
    match what % 24 {
        0..=4 => report(["gathering", "acting", "rest", "collect", "odd"][usize::from(a) % 5]),
        5 => report("acting"),
        6 => report("rest"),
        7 if a % 4 == 0 => commands::pause(),
        7..=8 => commands::resume(Some(ann().into())),
        9 if a == 0 => commands::abort(json!({})),
        10..=13 => commands::edit(ends_wave(driver, a % 4, b)),
        9 | 14..=16 => commands::edit(vec![edit((a, b, what), drawn)]),
        _ => {
            let of = |n| (a.wrapping_mul(n + 1), b.wrapping_add(n * 7), what ^ n);
            commands::edit((0..b % 5).map(|n| edit(of(n), drawn)).collect())
        }
    }
}

/// Every cursor points at something that is there, and every item stands where its status says.
fn nothing_dangles(driver: &Driver) -> Result<(), TestCaseError> {
    for name in ["part", "group"] {
        if let (Some(key), Some((set, _))) =
            (driver.run.pointed_at(name), driver.definition.cursor(name))
        {
            let there = driver.run.sets.get(set).and_then(|set| set.get(key));
            prop_assert!(there.is_some(), "{} points at {}", name, key);
        }
    }
    for (name, set) in &driver.run.sets {
        let declared = driver.definition.items.get(name).unwrap();
        for (key, item) in set.iter() {
            prop_assert_eq!(item.text(&declared.key.value), key);
            let meaning = declared.meaning(item.text("status"));
            prop_assert_eq!(item.status, meaning, "{} of {}", key, name);
            for (field, kind) in declared.fields.iter() {
                let fits = kind.kind.admits(&item.fields[&field.value]);
                prop_assert!(fits, "{} of {key}", field.value);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_job_stands_in_one_wave_behind_all_it_needs(drawn in jobs(), turn in 0_usize..12) {
        let mut driver = gathering();
        gathered(&mut driver, json!(told(&drawn, turn))).unwrap();
        waves_are_lawful(&driver.run)?;
        // A level is no longer split than it must be: the first wave of each says nothing.
        let mut level = json!(0);
        for (_, wave) in driver.run.sets["groups"].iter() {
            prop_assert_eq!(wave.fields["level"] == level, !wave.text("split").is_empty());
            level = wave.fields["level"].clone();
        }
        // All of it can be done, in this order, each wave at once.
        for _ in 0..40 {
            if driver.state() == "over" {
                break;
            }
            crate::sets::end_wave(&mut driver, &[]);
        }
        prop_assert_eq!(driver.status(), RunStatus::Completed);
        prop_assert_eq!(&driver.facts_of("jobs")["done"], &json!(drawn.len()));
    }

    #[test]
    fn whatever_is_skipped_the_rest_is_done(drawn in jobs(), lost in proptest::collection::btree_set(0_usize..12, 0..4)) {
        let mut driver = gathering();
        gathered(&mut driver, json!(told(&drawn, 0))).unwrap();
        let lost: Vec<String> = lost.iter().map(|at| format!("j{at}")).collect();
        let lost: Vec<&str> = lost.iter().map(String::as_str).collect();
        for _ in 0..40 {
            if driver.state() == "over" {
                break;
            }
            crate::sets::end_wave(&mut driver, &lost);
        }
        prop_assert_eq!(driver.status(), RunStatus::Completed);
        let jobs = &driver.run.sets["jobs"];
        let blocked = driver.run.blocked(&driver.definition, "jobs");
        for (at, (key, job)) in jobs.iter().enumerate() {
            let needs_lost = job.texts("needs").any(|need| {
                let needed = jobs.position(need).unwrap();
                blocked[needed] || jobs.get(need).unwrap().status == ItemStatus::Failed
            });
            prop_assert_eq!(blocked[at], needs_lost, "{}", key);
            let expected = match (needs_lost, lost.contains(&key)) {
                (true, _) => ItemStatus::Open,
                (false, true) => ItemStatus::Failed,
                (false, false) => ItemStatus::Done,
            };
            prop_assert_eq!(job.status, expected, "{}", key);
        }
        // A wave that was passed over has nothing in it that could have been run.
        for (_, wave) in driver.run.sets["groups"].iter().filter(|(_, wave)| wave.status == ItemStatus::Open) {
            prop_assert!(wave.texts("jobs").all(|key| blocked[jobs.position(key).unwrap()]));
        }
    }

    #[test]
    fn edits_and_completions_in_any_order_keep_the_run_whole(
        drawn in jobs(),
        commands in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..60),
    ) {
        let mut driver = gathering();
        let graph = json!({ "present": true, "errors": [], "tasks": told(&drawn, 3) });
        driver.readings.insert("graph".to_owned(), reading(graph));
        for one in commands {
            let command = command(&driver, one, &drawn);
            let begin = driver.events.len();
            let ended = finished(&driver);
            // The driver itself holds a refusal against the run as it was before.
            let refused = driver.send(&command).err();
            prop_assert!(refused.is_none() || driver.events.len() == begin);
            if let Some(refusal) = refused {
                prop_assert!(refusal.code != "definition_fault", "{:?}: {}", command, says(&refusal));
            }
            nothing_dangles(&driver)?;
            waves_are_lawful(&driver.run)?;
            finished_stays(&driver, &ended)?;
            if matches!(command, Command::Edit { .. }) {
                let moved = driver.events[begin..].iter().any(|(_, event)| matches!(event, Event::StateEntered { .. } | Event::UnitIssued { .. }));
                prop_assert!(!moved);
            }
        }
        prop_assert_eq!(&driver.replayed(), &driver.run);
        let kept = serde_json::to_string(&driver.run).unwrap();
        let snapshot = serde_json::from_str::<RunState>(&kept).unwrap();
        prop_assert_eq!(&snapshot, &driver.run);
        prop_assert_eq!(serde_json::to_string(&snapshot).unwrap(), kept);
    }

    #[test]
    fn the_same_edit_twice_is_no_event_the_second_time(
        drawn in jobs(),
        before in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..30),
        last in any::<(u8, u8, u8)>(),
    ) {
        let mut driver = gathering();
        let graph = json!({ "present": true, "errors": [], "tasks": told(&drawn, 1) });
        driver.readings.insert("graph".to_owned(), reading(graph));
        for one in before {
            let _ = driver.send(&command(&driver, one, &drawn));
        }
        let twice = vec![edit(last, &drawn)];
        if driver.edit(twice.clone()).is_ok() {
            let events = driver.events.len();
            prop_assert!(driver.edit(twice.clone()).is_ok());
            prop_assert_eq!(driver.events.len(), events, "{:?}", twice);
        }
    }
}

/// The waves that are over, with what is in them.
fn finished(driver: &Driver) -> BTreeMap<String, BTreeSet<String>> {
    let groups = driver.run.sets.get("groups");
    let groups = groups.into_iter().flat_map(ItemSet::iter);
    let done = groups.filter(|(_, wave)| wave.status == ItemStatus::Done);
    let jobs = done.map(|(id, wave)| (id, wave.texts("jobs").map(str::to_owned)));
    jobs.map(|(id, jobs)| (id.to_owned(), jobs.collect()))
        .collect()
}

/// A wave that was finished stays so, and keeps its jobs but for those that were taken up again.
fn finished_stays(
    driver: &Driver,
    ended: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), TestCaseError> {
    let now = finished(driver);
    for (id, jobs) in ended {
        prop_assert!(now.contains_key(id), "{id} is gone");
        for job in jobs.difference(&now[id]) {
            let job = driver.run.sets["jobs"].get(job);
            let again = job.is_some_and(|job| job.status != ItemStatus::Done);
            prop_assert!(again, "{job:?} left {id}");
        }
    }
    Ok(())
}
