//! `tm session`.

pub mod advice;
pub mod decision;
mod files;
mod places;

use engine::Engine;
use engine::trust::Subject;
use engine::view::session::request;

use super::{DONE, Outcome, open};
use crate::cli::Given;
use crate::cli::session::{Init, Respond, Session, SessionCommand, Show, Trust};
use crate::output::Output;
use crate::render::session::{self as render, WithNextSteps};

/// Carries out a command of `tm session`.
pub fn run(session: Session, given: &Given, output: &mut Output) -> Outcome {
    let Session { place, command } = session;
    let engine = open(place.project_root, None, &given.name)?;
    carry_out(&engine, command, output)
}

fn carry_out(engine: &Engine, command: SessionCommand, output: &mut Output) -> Outcome {
    match command {
        SessionCommand::Init(init) => begin(engine, init, output),
        SessionCommand::Step(chosen) => step(engine, chosen.session.id(), output),
        SessionCommand::Run(chosen) => {
            let session = chosen.session.id();
            many_steps(engine, session, session, output)
        }
        SessionCommand::Status(chosen) => {
            let named = chosen.session.id();
            let state = engine.session_status(named)?;
            super::trust::warn(engine, output);
            output.answer(&WithNextSteps::of(&state, &state), |told, look| {
                render::status(told.answer, named, look)
            })?;
            Ok(DONE)
        }
        SessionCommand::Respond(respond) => take_in(engine, &respond, output),
        SessionCommand::Approve(approve) => decision::approve(engine, &approve, output),
        SessionCommand::Reject(reject) => decision::reject(engine, &reject, output),
        SessionCommand::Reopen(reopen) => decision::reopen(engine, &reopen, output),
        SessionCommand::Trust(Trust { profile, choice }) => {
            super::trust::run(engine, Subject::Profile, &profile, &choice, output)
        }
        SessionCommand::Cancel(cancel) => {
            let stepped = engine.session_cancel(cancel.session.id(), &cancel.reason)?;
            output.answer(&stepped, |stepped, look| {
                render::stepped(stepped, cancel.session.id(), look)
            })?;
            Ok(DONE)
        }
        SessionCommand::Diff(diff) => {
            let answer = engine.session_diff(diff.session.id(), diff.from, diff.to)?;
            output.answer(&answer, |answer, look| {
                render::diff(answer, diff.stat, look)
            })?;
            Ok(DONE)
        }
        SessionCommand::List(list) => {
            let mut sessions = engine.session_list()?;
            sessions.retain(|session| {
                let status = list
                    .status
                    .is_none_or(|status| status.as_str() == session.status);
                let profile = list.profile.as_ref();
                status && profile.is_none_or(|profile| *profile == session.profile)
            });
            sessions.truncate(list.limit.map_or(usize::MAX, |limit| limit as usize));
            output.answer(&sessions, |sessions, look| render::list(sessions, look))?;
            Ok(DONE)
        }
        SessionCommand::Show(show) => look_at(engine, &show, output),
        SessionCommand::Profiles => {
            let profiles = engine.session_profiles()?;
            output.answer(&profiles, |profiles, look| render::profiles(profiles, look))?;
            Ok(DONE)
        }
        SessionCommand::Export(export) => places::hand_out(engine, &export, output),
        SessionCommand::Restore(chosen) => {
            let named = chosen.session.id();
            let restored = engine.session_restore(named)?;
            let state = engine.session_status(Some(&restored.session_id))?;
            output.answer(&WithNextSteps::of(&restored, &state), |told, look| {
                render::restored(told.answer, named, look)
            })?;
            Ok(DONE)
        }
    }
}

fn look_at(engine: &Engine, show: &Show, output: &mut Output) -> Outcome {
    let (session, file) = show.meant();
    if let Some(file) = file {
        return files::print(engine, session, file, output);
    }
    let state = match (engine.session_status(session), show.only_word()) {
        (Err(fault), Some(word)) if advice::names_no_session(&fault) => {
            return files::print_word(engine, word, fault, output);
        }
        (state, _) => state?,
    };
    output.answer(&state, |state, look| render::show(state, session, look))?;
    Ok(DONE)
}

fn begin(engine: &Engine, init: Init, output: &mut Output) -> Outcome {
    let request = init.request()?;
    let state = engine.session_init(&request)?;
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
    output.answer(
        &WithNextSteps::of(&stepped, &stepped.state),
        |told, look| render::stepped(told.answer, session, look),
    )?;
    Ok(stepped.exit_status())
}

/// Steps until there is none to take. As JSON there is one value, the last. `named` is the session as the caller named it.
fn many_steps(
    engine: &Engine,
    session: Option<&str>,
    named: Option<&str>,
    output: &mut Output,
) -> Outcome {
    let mut unsaid = None;
    let last = engine.session_run(session, &mut |stepped| {
        for warning in &stepped.warnings {
            output.warning(warning);
        }
        if !output.is_json() && unsaid.is_none() {
            let line = render::one_step(stepped, &output.look());
            unsaid = output.text(&line).err();
        }
    })?;
    if let Some(fault) = unsaid {
        return Err(fault);
    }
    output.answer(&WithNextSteps::of(&last, &last.state), |told, look| {
        render::where_it_is(told.answer, named, look)
    })?;
    // It goes on as long as it can: what is not over waits, however many steps were taken before.
    Ok(match last.state.status.as_str() {
        "IN_PROGRESS" => engine::Kind::Blocked.exit_status(),
        _ => last.exit_status(),
    })
}

fn take_in(engine: &Engine, respond: &Respond, output: &mut Output) -> Outcome {
    let from_terminal = respond.file.as_os_str() == "-" && output.has_person();
    if from_terminal {
        output.hint("type the response, and end it with Ctrl-D on a line of its own");
    }
    let session = respond.session.id();
    places::in_order(engine, &respond.session, "respond", &respond.file)?;
    let response = files::response(&respond.file)?;
    let responded = engine
        .session_respond(
            session,
            &request::Response {
                bytes: &response,
                replace: respond.replace,
                phase: None,
                unit: respond.unit_id.as_deref(),
            },
        )
        .map_err(|fault| advice::of_no_response(engine, session, fault))?;
    if respond.run {
        if !output.is_json() {
            output.text(&render::put(&responded, &output.look()))?;
        }
        return many_steps(engine, Some(&responded.session_id), session, output);
    }
    // The response is in its place; what cannot be told besides is left out.
    let state = engine.session_brief(Some(&responded.session_id)).ok();
    output.answer(&responded, |responded, look| {
        render::responded(responded, state.as_ref(), session, look)
    })?;
    Ok(DONE)
}
