//! Prompts: a run from start to end, and each of its phases; a session from start to end, of either kind.

use engine::view::AUTOPILOT;
use mcp::{Argument, Client, Content, Problem, Prompt, PromptText, Speaker, Stop};
use serde_json::{Map, Value};

use super::place::{Places, RunSelector};
use super::resources::problem;
use super::{Group, tools};
use crate::calls;
use crate::steps::StepSpelling;

/// The prompts that go with these groups of tools.
pub fn list(groups: &[Group]) -> Vec<Prompt> {
    let declared = tools::chosen(groups).flat_map(|family| &family.prompts);
    let prompt = |of: &'static calls::Prompt| {
        let arguments = of.takes.iter().map(|(name, description)| Argument {
            name,
            description,
            required: false,
        });
        Prompt {
            name: &of.name,
            title: &of.title,
            description: &of.says,
            arguments: arguments.collect(),
        }
    };
    declared.map(prompt).collect()
}

/// The prompt of a name.
fn declared(name: &str) -> Option<&'static calls::Prompt> {
    let mut all = calls::families().iter().flat_map(|family| &family.prompts);
    all.find(|prompt| prompt.name == name)
}

/// Fills a prompt in.
pub fn fill(
    places: &Places,
    name: &str,
    arguments: &Map<String, Value>,
    client: &Client,
    caller: &impl StepSpelling,
) -> Result<PromptText, Stop> {
    let text = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .filter(|text| !text.is_empty())
    };
    if let Some(prompt) = whole(name, text) {
        return prompt;
    }
    let prompt = declared(name).and_then(|prompt| Some((prompt, prompt.phase.as_deref()?)));
    let (prompt, phase) =
        prompt.ok_or_else(|| Problem::Invalid(format!("Unknown prompt: {name}")))?;
    let meant = RunSelector {
        run: text("runId"),
        project_root: text("projectRoot"),
        ..RunSelector::default()
    };
    let engine = places.open(&meant, name, client).map_err(problem)?;
    let next = engine
        .next(&AUTOPILOT, meant.run.as_deref(), false)
        .map_err(problem)?;
    match next.instructions() {
        Some(instructions) if next.name() == phase => {
            Ok(user_prompt(&prompt.says, caller.text(instructions)))
        }
        _ => Err(Problem::Invalid(format!(
            "the run {} is not in {phase}: its next action is {}",
            next.run_id,
            next.name()
        ))
        .into()),
    }
}

/// The prompts that lead from start to end; none where it is another.
pub fn whole(
    name: &str,
    argument: impl Fn(&str) -> Option<String>,
) -> Option<Result<PromptText, Stop>> {
    let prompt = declared(name)?;
    let text = prompt.text.as_ref()?;
    let begin = match name {
        "tdd" => begin_of_run(argument("taskId")),
        "review" => begin_of_session(argument("request"), argument("sessionId")),
        _ => begin_of_skills(argument("goals"), argument("session")),
    };
    Some(begin.map(|begin| user_prompt(&prompt.title, text.replace("{begin}", &begin))))
}

/// An id or a name: it goes into a sentence and a call, and nothing else may.
fn id(given: String, what: &str) -> Result<String, Stop> {
    let is_id = given
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if is_id {
        return Ok(given);
    }
    Err(Problem::Invalid(format!("`{given}` is no {what}")).into())
}

/// How a run begins: that of a task, or the one that is there.
fn begin_of_run(task: Option<String>) -> Result<String, Stop> {
    let Some(task) = task else {
        return Ok(
            "Call `autopilot_status`. If no run is under way, ask which task to start.".to_owned(),
        );
    };
    let task = id(task, "id of a task")?;
    Ok(format!(
        "Call `autopilot_start` with taskId \"{task}\". If a run of it is under way already, go on with that one."
    ))
}

/// How a session begins: a new one, or one that is there.
fn begin_of_session(request: Option<String>, session: Option<String>) -> Result<String, Stop> {
    if let Some(session) = session {
        let session = id(session, "id of a session")?;
        return Ok(format!(
            "Call `session_status` with sessionId \"{session}\", and go on from there; give that `sessionId` in every call."
        ));
    }
    let new = "Call `session_init`; if the profile takes an input `request`, it is what I want made, in my words. Keep its `session_id`, and give it as `sessionId` in every call.";
    Ok(match request {
        Some(request) => format!("{new} What I want made:\n\n{request}"),
        None => format!("{new} If I have not said what I want made, ask me first."),
    })
}

/// How a session of skills begins. One that is there goes on where it is, since a skill that counted already counts once.
fn begin_of_skills(goals: Option<String>, session: Option<String>) -> Result<String, Stop> {
    let call = "Call `get_session_state`";
    let begin = "`complete_skill` with skill \"collab-start\"";
    let begin = match session {
        Some(session) => {
            let session = id(session, "name of a session")?;
            format!(
                "{call} with session \"{session}\", and go on from there. If there is none of that name, begin it: {begin}. Give that `session` in every call."
            )
        }
        None => format!(
            "{call}. If a session is under way, go on with it; else begin one: {begin}, and a short `session` name of your choice. Give that `session` in every call."
        ),
    };
    Ok(match goals {
        Some(goals) => format!("{begin} What I want:\n\n{goals}"),
        None => format!(
            "{begin} If I have not said what I want, ask me in the skill that gathers the goals."
        ),
    })
}

/// The ids of the tasks of the present project.
pub fn task_ids(places: &Places, client: &Client) -> Result<Vec<String>, Stop> {
    let engine = places
        .open(&RunSelector::default(), "complete", client)
        .map_err(problem)?;
    engine.task_ids().map_err(problem)
}

fn user_prompt(description: &str, text: String) -> PromptText {
    PromptText {
        description: description.to_owned(),
        messages: vec![(Speaker::User, Content::Text(text))],
    }
}
