//! How long it takes to put many items in order, and to make one move among them.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use machine::check::catalog::{Effect, Reader};
use machine::command::{Present, Report, Start};
use machine::definition::FieldType::Strings;
use machine::items::{Node, cut, waves};
use machine::{
    Catalog, Command, Decision, Definition, Facts, Need, Prepared, Reading, RunState, decide,
};
use serde_json::{Map, Value, json};

const MANY: usize = 50_000;

const DEFINITION: &str = r"
tramline: 1
id: many
title: Many items
items:
  parts:
    key: id
    needs: needs
    fields: { id: string, title: string, description: string, needs: [string], note: string, kind: [plan, fix] }
initial: begin
states:
  begin: { expects: found, route: { load: { parts: =found.list }, to: parts } }
  parts:
    each: { items: parts, initial: work }
    on: { done: { to: end } }
    states:
      work: { work: {}, on: { report: { set: { item.note: seen }, to: done }, skip: { to: gone } } }
      done: { final: completed }
      gone: { final: failed }
  end: { route: [ { when: parts.failed > 0, to: bad }, { to: good } ] }
  good: { final: completed }
  bad: { final: failed }
";

/// What each item needs, by its number.
fn chain(at: usize) -> Vec<usize> {
    at.checked_sub(1).into_iter().collect()
}

fn wide(_: usize) -> Vec<usize> {
    Vec::new()
}

/// The last item comes first: what can be begun always stands at the end.
fn backward(at: usize) -> Vec<usize> {
    (at + 1 < MANY).then_some(at + 1).into_iter().collect()
}

/// Up to three earlier items, spread by a fixed rule.
fn mixed(at: usize) -> Vec<usize> {
    let spread = |step: usize| at.checked_sub(1 + (at.wrapping_mul(step) % 97));
    (0..at % 4).filter_map(|nth| spread(31 + 2 * nth)).collect()
}

type Shape = (&'static str, fn(usize) -> Vec<usize>);

const SHAPES: [Shape; 4] = [
    ("chain", chain),
    ("wide", wide),
    ("backward", backward),
    ("mixed", mixed),
];

fn ordering(c: &mut Criterion) {
    for (name, shape) in SHAPES {
        let keys: Vec<String> = (0..MANY).map(|at| format!("1.{at}")).collect();
        let needs: Vec<Vec<String>> = (0..MANY)
            .map(|at| {
                shape(at)
                    .into_iter()
                    .map(|need| keys[need].clone())
                    .collect()
            })
            .collect();
        let nodes: Vec<Node<'_>> = keys
            .iter()
            .zip(&needs)
            .map(|(key, needs)| Node { key, needs })
            .collect();
        c.bench_function(&format!("waves/{name}"), |b| {
            b.iter(|| waves(black_box(&nodes)));
        });
        // Every item has a file of its own and one in common with some others; a few must be alone.
        let paths: Vec<[String; 2]> = (0..MANY)
            .map(|at| {
                let shared = at.wrapping_mul(31) % 20_000;
                [
                    format!("src/part_{at}.rs"),
                    format!("src/shared_{shared}.rs"),
                ]
            })
            .collect();
        let touches: Vec<Vec<&str>> = paths
            .iter()
            .map(|paths| paths.iter().map(String::as_str).collect())
            .collect();
        let alone: Vec<bool> = (0..MANY).map(|at| at % 500 == 0).collect();
        c.bench_function(&format!("cut/{name}"), |b| {
            b.iter(|| cut(black_box(&nodes), &touches, &alone));
        });
    }
}

fn definition() -> Definition {
    let catalog = Catalog {
        readers: BTreeMap::from([(
            "found".to_owned(),
            Reader {
                facts: BTreeMap::from([("list".to_owned(), Strings)]),
                ..Reader::default()
            },
        )]),
        effects: BTreeMap::from([("soft".to_owned(), Effect::default())]),
        ..Catalog::default()
    };
    Definition::load(DEFINITION, &catalog).expect("the definition is sound")
}

/// Decides and folds; answers what is needed with nothing.
fn send(definition: &Definition, run: &mut RunState, command: &Command, found: Option<&Reading>) {
    let mut facts = Facts {
        now: "2026-01-01T00:00:00.000Z".to_owned(),
        ..Facts::default()
    };
    loop {
        match decide(definition, run, command, &facts) {
            Decision::Events(plan) => {
                for event in &plan.events {
                    run.apply(&facts.now, event);
                }
                return;
            }
            Decision::Refused(refusal) => panic!("{refusal:?}"),
            Decision::Need(need) => match *need {
                Need::Reading { .. } => facts.reading = found.cloned(),
                Need::Effect { effect, .. } => {
                    facts.prepared = Some(Prepared {
                        effect,
                        what: Value::Null,
                    });
                }
                Need::Present { .. } => facts.present = Some(Present::default()),
                Need::Subject { gate, .. } => {
                    facts.subjects.insert(gate, String::new());
                }
                Need::Past { .. } => panic!("nobody goes back"),
            },
        }
    }
}

/// A run with all these items, at the beginning.
fn begun(definition: &Definition, shape: fn(usize) -> Vec<usize>) -> RunState {
    let list: Vec<Value> = (0..MANY)
        .map(|at| {
            let needs: Vec<String> = shape(at)
                .into_iter()
                .map(|need| format!("1.{need}"))
                .collect();
            json!({
                "id": format!("1.{at}"), "title": format!("Part {at}"), "needs": needs,
                "description": "What is to be done here, in a sentence of the usual length.",
            })
        })
        .collect();
    let mut facts = Map::new();
    facts.insert("list".to_owned(), Value::Array(list));
    let found = Reading {
        facts,
        ..Reading::default()
    };
    let mut run = RunState::default();
    let start = Command::Start(Box::new(Start {
        run: "r".to_owned(),
        ..Start::default()
    }));
    send(definition, &mut run, &start, Some(&found));
    run
}

fn moves(c: &mut Criterion) {
    let definition = definition();
    let report = Command::Report(Report::default());
    for (name, shape) in SHAPES {
        let mut run = begun(&definition, shape);
        for _ in 0..50 {
            send(&definition, &mut run, &report, None);
        }
        let facts = Facts::default();
        c.bench_function(&format!("report/{name}"), |b| {
            b.iter(|| decide(&definition, black_box(&run), &report, &facts));
        });
        let skip = Command::Skip {
            item: None,
            reason: String::new(),
            keep: Map::new(),
            approval: None,
        };
        c.bench_function(&format!("skip/{name}"), |b| {
            b.iter(|| decide(&definition, black_box(&run), &skip, &facts));
        });
    }
    let mut group = c.benchmark_group("whole");
    group.sample_size(10);
    group.bench_function("start", |b| {
        b.iter_batched(|| (), |()| begun(&definition, chain), BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, ordering, moves);
criterion_main!(benches);
