//! `tm collab`.

mod fields;

use std::path::Path;

use engine::fault;
use engine::view::collab::answer::{DocumentProblem, SyncAnswer, Verdict};
use engine::view::collab::request::{GraphSync, SessionUpdate, SkillDone, TaskUpdate};
use engine::{Engine, Fault, Kind};
use serde_json::{Map, Value, json};
use text::plain::one_line;

use super::call::unknown;
use super::input::{shown_name, text_of};
use super::{DONE, Outcome};
use crate::calls::{Arguments, FamilyCall, read};
use crate::output::Output;

/// Puts what is typed on a command line as tools are given it.
pub fn read_words(asked: &mut FamilyCall, output: &Output) -> Result<(), Fault> {
    let arguments = &mut asked.arguments;
    match asked.call.name.as_str() {
        "update" => fields::read(arguments)?,
        "task" => {
            let tasks = fields::tasks(&arguments.texts("words"))?;
            arguments.set("tasks", json!(tasks));
        }
        "sync" => {
            if let Some(file) = arguments.path("document") {
                if file.as_os_str() == "-" && output.has_person() {
                    output.hint("type the task graph, and end it with Ctrl-D on a line of its own");
                }
                let (name, text) = (shown_name(file), text_of(file)?);
                arguments.set("file", name);
                arguments.set("document", text);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Carries out a call that only sessions of skills have.
pub fn run(engine: &Engine, mut asked: FamilyCall, output: &mut Output) -> Outcome {
    let session = asked.run.as_deref();
    let arguments = &mut asked.arguments;
    match asked.call.name.as_str() {
        "complete-skill" => {
            let answer = engine.complete_skill(&SkillDone {
                session: session.map(str::to_owned),
                skill: arguments.take_text("skill").unwrap_or_default(),
                unit_id: arguments.take_text("unit"),
            })?;
            output.page(&answer, "skill")?;
            Ok(exit_status(&answer.verdict))
        }
        "state" if arguments.is("full") => {
            let state = engine.collab_state(session)?;
            super::trust::warn(engine, output);
            output.page(&state, "skills_state")?;
            Ok(DONE)
        }
        "state" => {
            let brief = engine.collab_brief(session)?;
            // The one thing that a person needs then, and that an agent has no use for.
            let paused = brief.paused_reason.is_some() && !output.is_json();
            let run = if paused {
                Some(engine.collab_state(Some(&brief.session))?.run_id)
            } else {
                None
            };
            output.page_with(&brief, "skill_brief", &json!({ "run": run }))?;
            Ok(DONE)
        }
        "update" => {
            let mut fields = asked.arguments.into_map();
            // Some clients fill in what they leave out.
            fields.retain(|name, value| !value.is_null() || name == "currentItem");
            update(engine, session, fields, output)
        }
        "add" => {
            let item = Value::from(asked.arguments.into_map());
            let fields = Map::from_iter([("addItems".to_owned(), json!([item]))]);
            update(engine, session, fields, output)
        }
        "set-task" => store(engine, session, &[asked.arguments.read()?], output),
        "task" | "set-tasks" => {
            let tasks = arguments.take("tasks").unwrap_or_default();
            store(engine, session, &read::<Vec<_>>(tasks)?, output)
        }
        "graph" => draw(engine, session, output),
        "sync" => hand_over(engine, session, arguments, output),
        other => Err(unknown(other)),
    }
}

fn update(
    engine: &Engine,
    session: Option<&str>,
    fields: Map<String, Value>,
    output: &mut Output,
) -> Outcome {
    let session = session.map(str::to_owned);
    let updated = engine.collab_update(&SessionUpdate { session, fields })?;
    output.page(&updated, "skills_updated")?;
    Ok(exit_status(&updated.verdict))
}

fn store(
    engine: &Engine,
    session: Option<&str>,
    tasks: &[TaskUpdate],
    output: &mut Output,
) -> Outcome {
    let updated = engine.collab_tasks(session, tasks)?;
    // An agent knows which skill it carries out; a person is told.
    let ended = updated.remaining == Some(0) && !output.is_json();
    let skill = if ended {
        engine.collab_brief(Some(&updated.session))?.skill
    } else {
        None
    };
    output.page_with(&updated, "skills_updated", &json!({ "skill": skill }))?;
    Ok(exit_status(&updated.verdict))
}

/// The exit status of a verdict.
fn exit_status(verdict: &Verdict) -> u8 {
    match verdict.code.as_deref() {
        _ if verdict.validated => DONE,
        Some("stale_unit" | "which_one" | "paused") => Kind::Conflict.exit_status(),
        _ => Kind::Refused.exit_status(),
    }
}

/// The drawing goes to standard output by itself, so that it can go into a file.
fn draw(engine: &Engine, session: Option<&str>, output: &mut Output) -> Outcome {
    let graph = engine.collab_graph(session)?;
    let nothing = graph.batches.is_empty() && !graph.problems.is_empty();
    if output.is_json() {
        output.json(&graph)?;
        return Ok(if nothing {
            Kind::Refused.exit_status()
        } else {
            DONE
        });
    }
    for problem in &graph.problems {
        output.warning(&problem_line(problem));
    }
    if nothing {
        return Err(fault!("graph_invalid"));
    }
    if graph.batches.is_empty() {
        output.hint("there is no task yet: items have their task graphs when they are drafted");
    } else if !graph.cut {
        output
            .hint("the batches are not cut yet: these are the ones that the graphs would give now");
    }
    output.document(&format!("{}\n", graph.mermaid.trim_end()))?;
    Ok(DONE)
}

/// A problem of a document in a line, for those who are told it beside an answer.
fn problem_line(problem: &DocumentProblem) -> String {
    let document = one_line(&problem.document);
    match problem.line {
        0 => format!("{document}: {}", problem.message),
        line => format!("{document}:{line}: {}", problem.message),
    }
}

fn hand_over(
    engine: &Engine,
    session: Option<&str>,
    arguments: &mut Arguments,
    output: &mut Output,
) -> Outcome {
    // A path as the engine takes it: from the project's root.
    let path = arguments.take_text("path").map(|path| {
        let below = Path::new(&path).strip_prefix(engine.root()).ok();
        below.and_then(Path::to_str).unwrap_or(&path).to_owned()
    });
    let document = arguments.take_text("document");
    let named = arguments.take_text("file").or_else(|| path.clone());
    let named = named.or_else(|| document.as_ref().map(|_| "document".to_owned()));
    let mut synced = engine.collab_sync(&GraphSync {
        session: session.map(str::to_owned),
        item: arguments.take_text("item"),
        document,
        path,
    })?;
    if let Some(name) = named {
        of_document(&mut synced, &name);
    }
    output.page(&synced, "graph_synced")?;
    Ok(exit_status(&synced.verdict))
}

/// The errors of a task graph that was not taken, at the place where the caller has it: none of ours was written.
fn of_document(synced: &mut SyncAnswer, name: &str) {
    if synced.verdict.validated {
        return;
    }
    let item = synced.item.as_ref();
    for problem in &mut synced.problems {
        if problem.item.as_ref() == item {
            problem.document = one_line(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stand_where_the_caller_has_the_document() {
        let problem = |item: u64| DocumentProblem {
            document: format!("task-graph-item-{item}.md"),
            item: Some(json!(item)),
            ..DocumentProblem::default()
        };
        let mut synced = SyncAnswer {
            item: Some(json!(2)),
            problems: vec![problem(2), problem(1)],
            ..SyncAnswer::default()
        };
        let told = |synced: &mut SyncAnswer, document: &str| {
            of_document(synced, document);
            let places = synced.problems.iter();
            places.map(|problem| problem.document.clone()).collect()
        };
        let places: Vec<String> = told(&mut synced, "docs/graph.md");
        assert_eq!(places, ["docs/graph.md", "task-graph-item-1.md"]);
        // One that was taken has a place of its own.
        synced.verdict.validated = true;
        assert_eq!(told(&mut synced, "other.md"), places);
    }

    #[test]
    fn a_refusal_and_a_conflict_have_statuses_of_their_own() {
        for (validated, code, status) in [
            (true, None, 0),
            (false, Some("unexpected_skill"), 3),
            (false, None, 3),
            (false, Some("stale_unit"), 5),
            (false, Some("paused"), 5),
        ] {
            let verdict = Verdict {
                validated,
                code: code.map(str::to_owned),
                ..Verdict::default()
            };
            assert_eq!(exit_status(&verdict), status, "{code:?}");
        }
    }
}
