//! `tm session`.

mod files;

use std::path::Path;

use engine::Engine;
use engine::trust::Subject;
use engine::view::session::answer::SessionState;
use engine::view::session::request;
use serde_json::json;

use super::call::unknown;
use super::input::bytes_of;
use super::{DONE, Outcome};
use crate::calls::{Arguments, FamilyCall};
use crate::cli::setup::TrustChoice;
use crate::output::Output;
use crate::render::{page, session as render};

/// Carries out a call that only sessions have.
pub fn run(engine: &Engine, mut asked: FamilyCall, output: &mut Output) -> Outcome {
    let (session, arguments) = (asked.run.as_deref(), &asked.arguments);
    match asked.call.name.as_str() {
        "init" => begin(engine, asked.arguments, output),
        "step" => step(engine, session, output),
        "run" => many_steps(engine, session, output),
        "status" => {
            let state = engine.session_status(session)?;
            super::trust::warn(engine, output);
            if arguments.is("diff") {
                let mut answer = json!(state);
                answer["diff"] = json!(engine.session_diff(session, None, None)?);
                output.json(&answer)?;
                return Ok(DONE);
            }
            show(&state, "session_status", output)
        }
        "respond" => take_in(engine, &asked, output),
        "trust" => {
            let choice = TrustChoice {
                hash: asked.arguments.take_text("hash"),
                revoke: asked.arguments.is("revoke"),
            };
            let profile = asked.arguments.take_text("profile").unwrap_or_default();
            super::trust::run(engine, Subject::Profile, &profile, &choice, output)
        }
        "diff" => {
            let (from, to) = (arguments.number("from"), arguments.number("to"));
            let answer = engine.session_diff(session, from, to)?;
            let beside = json!({ "stat": arguments.is("stat") });
            output.page_with(&answer, "session_diff", &beside)?;
            Ok(DONE)
        }
        "list" => list(engine, arguments, output),
        "show" => look_at(engine, &asked, output),
        "profiles" => {
            output.page(&engine.session_profiles()?, "profiles")?;
            Ok(DONE)
        }
        "export" => {
            let folder = arguments.path("folder").unwrap_or(Path::new("."));
            let exported = engine.session_export(session, folder, arguments.is("force"))?;
            output.page(&exported, "session_exported")?;
            Ok(DONE)
        }
        other => Err(unknown(other)),
    }
}

fn list(engine: &Engine, arguments: &Arguments, output: &mut Output) -> Outcome {
    let status = arguments.text("status");
    let status = status.map(|status| status.to_ascii_uppercase().replace('-', "_"));
    let profile = arguments.text("profile");
    let mut sessions = engine.session_list()?;
    sessions.retain(|session| {
        status
            .as_ref()
            .is_none_or(|status| *status == session.status)
            && profile.is_none_or(|profile| profile == session.profile)
    });
    let most = arguments.number("limit");
    sessions.truncate(most.map_or(usize::MAX, |most| most as usize));
    let is_chosen = status.is_some() || profile.is_some();
    output.answer(&sessions, |sessions, look| {
        render::list(sessions, is_chosen, look)
    })?;
    Ok(DONE)
}

fn look_at(engine: &Engine, asked: &FamilyCall, output: &mut Output) -> Outcome {
    let session = asked.run.as_deref();
    if let Some(file) = asked.arguments.text("file") {
        return files::print(engine, session, file, output);
    }
    let state = engine.session_status(session)?;
    show(&state, "session_shown", output)
}

fn show(state: &SessionState, page: &str, output: &mut Output) -> Outcome {
    output.answer(state, |answer, look| {
        render::page(page, answer, state, look)
    })?;
    Ok(DONE)
}

fn begin(engine: &Engine, arguments: Arguments, output: &mut Output) -> Outcome {
    let state = engine.session_init(&arguments.session()?)?;
    super::trust::warn(engine, output);
    // A script takes the id, and a person is told the rest beside it.
    output.answer(&state, |state, _| {
        crate::render::plain(&format!("{}\n", state.session_id))
    })?;
    output.hint(&render::begun(&state));
    Ok(DONE)
}

fn step(engine: &Engine, session: Option<&str>, output: &mut Output) -> Outcome {
    let stepped = engine.session_step(session)?;
    for warning in &stepped.warnings {
        output.warning(warning);
    }
    output.answer(&stepped, |answer, look| {
        render::page("session_stepped", answer, &stepped.state, look)
    })?;
    Ok(stepped.exit_status())
}

/// Steps until there is none to take. As JSON there is one value, the last.
fn many_steps(engine: &Engine, session: Option<&str>, output: &mut Output) -> Outcome {
    let mut unsaid = None;
    let last = engine.session_run(session, &mut |stepped| {
        for warning in &stepped.warnings {
            output.warning(warning);
        }
        if !output.is_json() && unsaid.is_none() {
            let (state, look) = (&stepped.state, output.look());
            let line = render::page("session_one_step", stepped, state, &look);
            unsaid = output.text(&line).err();
        }
    })?;
    if let Some(fault) = unsaid {
        return Err(fault);
    }
    output.answer(&last, |answer, look| {
        render::page("session_many_steps", answer, &last.state, look)
    })?;
    // It goes on as long as it can: what is not over waits, however many steps were taken before.
    Ok(match last.state.status.as_str() {
        "IN_PROGRESS" => engine::Kind::Blocked.exit_status(),
        _ => last.exit_status(),
    })
}

fn take_in(engine: &Engine, asked: &FamilyCall, output: &mut Output) -> Outcome {
    let (session, arguments) = (asked.run.as_deref(), &asked.arguments);
    let file = arguments.path("response").unwrap_or(Path::new("-"));
    if file.as_os_str() == "-" && output.has_person() {
        output.hint("type the response, and end it with Ctrl-D on a line of its own");
    }
    let response = bytes_of(file)?;
    let response = request::Response {
        bytes: &response,
        replace: arguments.is("replace"),
        phase: None,
        unit: arguments.text("unit"),
    };
    let responded = engine.session_respond(session, &response)?;
    if arguments.is("steps") {
        if !output.is_json() {
            let put = page("response_put", &responded, &output.look());
            output.text(&put)?;
        }
        return many_steps(engine, Some(&responded.session_id), output);
    }
    // The response is in its place; what cannot be told besides is left out.
    let state = engine.session_brief(Some(&responded.session_id));
    output.answer(&responded, |responded, look| {
        render::responded(responded, &state.unwrap_or_default(), look)
    })?;
    Ok(DONE)
}
