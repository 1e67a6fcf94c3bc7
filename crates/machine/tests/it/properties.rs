//! What holds for every definition, every list of items and every sequence of commands.

use std::collections::{BTreeMap, BTreeSet};

use machine::command::Choice;
use machine::definition::{Advance, Edge, EndStatus};
use machine::diagnostic::Located;
use machine::items::{Node, OrderFault, dependents_of, waves};
use machine::state::{ItemStatus, RunState};
use machine::trigger::Trigger;
use machine::{Command, Definition, Event, RunStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::commands;
use crate::driver::{Driver, ann, finding, reading};
use crate::machines::{Choices, GATES, catalog, definition};

/// Where each state may lead, by any edge or by the end of its `each`.
fn graph(definition: &Definition) -> BTreeMap<String, BTreeSet<String>> {
    let all = |edges: &[Located<Edge>]| -> Vec<String> {
        let to = edges.iter().filter_map(|edge| edge.to.as_ref());
        to.map(|to| to.value.clone()).collect()
    };
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (parent, name, state) in definition.all_states() {
        let to = graph.entry(name.value.clone()).or_default();
        to.extend(state.to.iter().map(|to| to.value.clone()));
        to.extend(state.lists().flat_map(|(_, edges)| all(&edges.0)));
        to.extend(all(definition.otherwise(state)));
        // What broke down is taken up again where it was left.
        let end = state.end.as_ref().map(|end| end.value);
        if end == Some(EndStatus::Error) {
            let states = definition.all_states();
            let back = states.filter_map(|(_, _, left)| left.on.get("reopen"));
            to.extend(back.flat_map(|edges| all(&edges.0)));
        }
        if parent.is_none() {
            to.extend(definition.on.iter().flat_map(|(_, edges)| all(&edges.0)));
        }
        // A retry verdict without a target stays.
        let mut reports = state.edges(Trigger::Report).iter();
        let stays = reports.any(|edge| edge.retry.is_some() && edge.to.is_none());
        if stays {
            to.insert(name.value.clone());
        }
    }
    graph
}

fn items(choices: &mut Choices<'_>) -> Value {
    let count = choices.below(6);
    let all = (0..count).map(|at| {
        let needs = (0..at).filter(|_| choices.below(4) == 3);
        let needs: Vec<String> = needs.map(|need| format!("i{need}")).collect();
        let kind = ["plan", "fix"][choices.below(2)];
        json!({ "id": format!("i{at}"), "needs": needs, "kind": kind })
    });
    Value::Array(all.collect())
}

fn command(driver: &mut Driver, (what, a, b): (u8, u8, u8)) -> Command {
    let report = |unit: Option<&str>| commands::report(unit, None, &format!("{a}"));
    let result = [json!({ "n": a }), json!({ "n": "no number" }), json!(null)];
    match what % 32 {
        0..=9 => {
            toss(driver, a, b);
            let waiting = driver.run.waiting().count().max(1);
            let unit = driver.run.waiting().nth(usize::from(b) % waiting);
            report(unit.map(|(_, unit)| unit.id.as_str()))
        }
        // Files come and go, and what stands before a gate is another thing.
        24..=29 => {
            toss(driver, a, b);
            let (prompt, response) = (driver.prompt(), driver.response());
            if !response.is_empty() && b % 3 != 0 {
                driver.files.insert(response);
            } else if b % 4 == 0 {
                driver.files.remove(&prompt);
                driver.files.remove(&response);
            }
            Command::Step
        }
        10..=11 | 20 | 30 => {
            let gate = driver.definition.state(driver.state());
            let gate = gate.and_then(|state| state.gate.as_ref());
            let gate = gate.map_or(GATES[usize::from(a) % 3].0, |gate| &gate.value);
            let gate = gate.to_owned();
            if a % 7 == 6 {
                driver.subjects.insert(gate.clone(), format!("h{b}"));
            }
            let choice = [Choice::Approve, Choice::Reject][usize::from(a) % 2];
            let mut ruling =
                driver.ruling(&gate, choice, ["no", " ", "not so"][usize::from(b) % 3]);
            if b % 9 == 8 {
                "another".clone_into(&mut ruling.hash);
            }
            Command::Decide(Box::new(ruling))
        }
        12 => report(None),
        13 => report(Some("gate")),
        14 | 31 => commands::reopen(None, json!({}), Some(ann().into())),
        15 => {
            let item = format!("i{}", b % 4);
            commands::skip((a % 2 == 0).then_some(item.as_str()), "enough")
        }
        16 => commands::allow(["strict", "lax", "other"][usize::from(a) % 3]),
        17 => commands::pause(),
        18..=19 => commands::resume(Some(ann().into())),
        21 if a % 4 == 0 => commands::abort(json!({ "cleanup": b % 2 == 0 })),
        23 if a % 2 == 0 => {
            let to = u64::from(b) * driver.events.len() as u64 / 255;
            commands::rewind(to, (a % 4 == 0).then(|| ann().into()))
        }
        22 => commands::effect_failed("broken"),
        _ => commands::effect_done(result[usize::from(b) % 8 % 3].clone()),
    }
}

/// What the reader finds from now on.
fn toss(driver: &mut Driver, a: u8, b: u8) {
    let coin = driver.readings.entry("coin".to_owned()).or_default();
    *coin = reading(json!({ "n": a % 10, "ok": b.is_multiple_of(2) }));
    if b % 5 == 4 {
        let policy = ["strict", "lax"][usize::from(a) % 2];
        coin.findings.push(finding(policy));
    }
}

/// Nothing was done that the graph does not allow, and no unit was issued twice.
fn events_are_lawful(driver: &Driver) -> Result<(), TestCaseError> {
    let definition = &driver.definition;
    let graph = graph(definition);
    let mut run = RunState::default();
    let mut issued = BTreeSet::new();
    for (at, event) in &driver.events {
        match event {
            Event::StateEntered {
                token,
                from,
                to,
                cause,
                ..
            } => {
                let stands = run.token(*token).map(|token| token.state.clone());
                prop_assert_eq!(stands.as_deref(), Some(from.as_str()));
                let state = definition.state(from);
                if let Some(gate) = state.and_then(|state| state.gate.as_ref())
                    && gate.value == "door"
                    && matches!(cause.name(), "report" | "route" | "do" | "otherwise")
                {
                    let round = definition.round(&run.vars);
                    let mut known = run.approvals.iter();
                    let approved = known.any(|of| of.gate == gate.value && of.iteration == round);
                    prop_assert!(approved, "{from} was left through a closed gate");
                }
                if from.is_empty() {
                    prop_assert_eq!(to, &definition.initial.value);
                } else {
                    prop_assert!(graph[from].contains(to), "{from} → {to}");
                }
            }
            Event::TokenOpened {
                parent,
                set,
                key,
                state,
                ..
            } => {
                let above = run.token(*parent).map_or("", |token| &token.state);
                let each = definition.state(above);
                let each = each.and_then(|state| state.each.as_ref());
                prop_assert_eq!(each.map(|each| &each.initial.value), Some(state));
                let parallel = each.and_then(|each| each.parallel.as_ref());
                let beside = run.tokens.iter();
                let beside = beside.filter(|token| token.parent == Some(*parent));
                prop_assert!(beside.count() < parallel.map_or(1, |n| n.value as usize));
                let items = &run.sets[set];
                let item = items.get(key).unwrap();
                prop_assert_eq!(item.status, ItemStatus::Open);
                for need in item.needs(Some("needs")) {
                    prop_assert_eq!(items.get(&need).unwrap().status, ItemStatus::Done);
                }
            }
            Event::UnitIssued { unit, .. } => {
                prop_assert!(issued.insert(unit.clone()), "{} twice", unit);
            }
            _ => {}
        }
        run.apply(at, event);
        if let Event::StateEntered { iteration, .. } = event {
            prop_assert_eq!(*iteration, definition.round(&run.vars));
        }
    }
    Ok(())
}

/// Somebody can always do something about a run that is not over.
fn goes_on(driver: &Driver) -> bool {
    let run = &driver.run;
    let state = driver.definition.state(driver.state());
    run.status.is_over()
        || run.status == RunStatus::Paused
        || run.pending.is_some()
        || run.waiting().next().is_some()
        || driver.definition.advances(driver.state()) == Advance::Manual
        || state.is_some_and(|state| state.gate.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_machine_keeps_its_promises(
        drawn in proptest::collection::vec(any::<u8>(), 0..160),
        commands in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..80),
    ) {
        let mut choices = Choices::new(&drawn);
        let items = items(&mut choices);
        let text = definition(&mut choices);
        let definition = Definition::load(&text, &catalog()).map_err(|faults| {
            TestCaseError::fail(faults[0].render("drawn.yaml", &text))
        })?;
        let mut driver = Driver::of(definition);
        driver.hold = true;
        driver.readings.insert("found".to_owned(), reading(json!({ "list": items })));
        let started = driver.start(json!({}), json!({}));
        prop_assert!(started.is_ok());
        for one in commands {
            let command = command(&mut driver, one);
            // The driver itself holds a refusal against the run as it was before.
            let begin = driver.events.len();
            let refused = driver.once(&command).is_err();
            prop_assert!(!refused || driver.events.len() == begin);
            if driver.definition.advance == Advance::Manual && !text.contains("advance: auto") {
                let moves = driver.moves(begin).len();
                prop_assert!(moves <= 1, "{:?} made {} moves:\n{}", command, moves, text);
            }
            prop_assert!(goes_on(&driver), "nobody can do anything:\n{}\n{:#?}", text, driver.run.tokens);
        }
        events_are_lawful(&driver)?;
        prop_assert_eq!(&driver.replayed(), &driver.run);
        let kept = serde_json::to_string(&driver.run).unwrap();
        prop_assert_eq!(&serde_json::from_str::<RunState>(&kept).unwrap(), &driver.run);
        // Whatever was done, a run can be brought to its end.
        for _ in 0..2000 {
            if driver.run.status.is_over() {
                break;
            }
            let next = if driver.run.pending.is_some() {
                commands::effect_done(json!({ "n": 1 }))
            } else {
                commands::abort(json!({}))
            };
            let done = driver.once(&next);
            prop_assert!(done.is_ok());
        }
        prop_assert!(driver.run.status.is_over());
    }

    #[test]
    fn waves_are_what_a_plain_reading_gives(
        edges in proptest::collection::vec((0_usize..12, 0_usize..12), 0..30),
        count in 0_usize..12,
        forward in any::<bool>(),
    ) {
        let keys: Vec<String> = (0..count).map(|at| format!("k{at}")).collect();
        let mut needs = vec![Vec::new(); count];
        for (a, b) in edges {
            // Half of the cases have no circle.
            let (a, b) = if forward { (a.max(b), a.min(b)) } else { (a, b) };
            if a < count && b < count && a != b {
                needs[a].push(keys[b].clone());
            }
        }
        let nodes: Vec<Node<'_>> =
            keys.iter().zip(&needs).map(|(key, needs)| Node { key, needs }).collect();
        match (waves(&nodes), naive(&needs)) {
            (Ok(found), Some(expected)) => prop_assert_eq!(found, expected),
            (Err(OrderFault::Cycle(path)), None) => {
                prop_assert!(path.len() > 2);
                prop_assert_eq!(path.first(), path.last());
                for pair in path.windows(2) {
                    let at = keys.iter().position(|key| *key == pair[0]).unwrap();
                    prop_assert!(needs[at].contains(&pair[1]), "{:?}", path);
                }
                let once: BTreeSet<&String> = path[1..].iter().collect();
                prop_assert_eq!(once.len(), path.len() - 1);
            }
            other => prop_assert!(false, "{:?}", other),
        }
        // What depends on the first item, directly or not.
        if count > 0 {
            let reached = dependents_of(&nodes, &[0]);
            let mut expected = vec![false; count];
            for _ in 0..count {
                for (at, needs) in needs.iter().enumerate() {
                    expected[at] |= needs.iter().any(|need| {
                        *need == keys[0] || keys.iter().position(|key| key == need).is_some_and(|need| expected[need])
                    });
                }
            }
            prop_assert_eq!(reached, expected);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in "[a-z0-9:{}\\[\\]&*!|>'\" \n\t-]{0,200}") {
        for text in [text.clone(), format!("tramline: 1\nid: x\ntitle: X\ninitial: a\n{text}")] {
            if let Err(faults) = Definition::load(&text, &catalog()) {
                prop_assert!(!faults.is_empty());
                for fault in faults {
                    prop_assert!(fault.at.line > 0 && fault.at.column > 0, "{:?}", fault);
                    fault.render("x.yaml", &text);
                }
            }
        }
    }

    #[test]
    fn any_expression_is_evaluated_or_refused(text in "[a-c0-9.()\\[\\]!&|+*/%<>=?:,'\" -]{0,80}") {
        use machine::guard::Expression;
        let Value::Object(scope) = json!({ "a": { "b": 1, "c": [1, 2] }, "b": true, "c": "x" }) else {
            unreachable!()
        };
        let expression = Expression::new(&text, machine::Place::default());
        let _ = expression.evaluate(&scope);
        let _ = expression.paths();
    }
}

/// Waves without any cleverness: again and again, all that needs nothing which is still open.
fn naive(needs: &[Vec<String>]) -> Option<Vec<Vec<usize>>> {
    let mut open: Vec<usize> = (0..needs.len()).collect();
    let mut all = Vec::new();
    while !open.is_empty() {
        let is_open = |need: &String| open.iter().any(|other| format!("k{other}") == *need);
        let wave = open.iter().filter(|at| !needs[**at].iter().any(is_open));
        let wave: Vec<usize> = wave.copied().collect();
        if wave.is_empty() {
            return None;
        }
        open.retain(|at| !wave.contains(at));
        all.push(wave);
    }
    Some(all)
}
