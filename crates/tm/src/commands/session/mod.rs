//! `tm session`.

mod files;
mod places;

use engine::trust::Subject;
use engine::view::SESSION;
use engine::view::session::request;
use engine::{Engine, Fault, Turn};

use super::{DONE, Outcome, approving, gate, open};
use crate::cli::session::{Init, Respond, Session, SessionCommand, Show, Trust};
use crate::cli::{Given, Signing};
use crate::output::Output;
use crate::render::session as render;

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
            output.answer(&state, |state, look| render::status(state, named, look))?;
            Ok(DONE)
        }
        SessionCommand::Respond(respond) => take_in(engine, &respond, output),
        SessionCommand::Approve(approve) => {
            let about = (approve.session.id(), approve.hash.as_deref());
            gate::decide(engine, &SESSION, about, None, &approve.signing, output)
        }
        SessionCommand::Reject(reject) => {
            let feedback = match (&reject.feedback, &reject.feedback_file) {
                (Some(feedback), _) => feedback.clone(),
                (None, Some(file)) => String::from_utf8_lossy(&files::response(file)?).into_owned(),
                (None, None) => String::new(),
            };
            let about = (reject.session.id(), reject.hash.as_deref());
            gate::decide(
                engine,
                &SESSION,
                about,
                Some(&feedback),
                &reject.signing,
                output,
            )
        }
        SessionCommand::Reopen(reopen) => take_turn(
            engine,
            reopen.session.id(),
            &reopen.turn(),
            &reopen.signing,
            output,
        ),
        SessionCommand::Trust(Trust { profile, choice }) => {
            super::trust::run(engine, Subject::Profile, &profile, &choice, output)
        }
        SessionCommand::Cancel(cancel) => {
            let turn = Turn {
                reason: &cancel.reason,
                ..Turn::abort(false, false)
            };
            take_turn(
                engine,
                cancel.session.id(),
                &turn,
                &Signing::default(),
                output,
            )
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
            let answer = engine.restore(&SESSION, chosen.session.id())?;
            output.answer(&answer, crate::render::turned)?;
            Ok(DONE)
        }
    }
}

fn take_turn(
    engine: &Engine,
    session: Option<&str>,
    turn: &Turn<'_>,
    signing: &Signing,
    output: &mut Output,
) -> Outcome {
    let answer = approving::turn(engine, turn, signing, output, |engine, asked| {
        engine.turn(&SESSION, asked.or(session), turn)
    })?;
    output.answer(&answer, crate::render::turned)?;
    Ok(DONE)
}

/// Whether a fault says that what stood for a session names none.
fn names_no_session(fault: &Fault) -> bool {
    matches!(fault.code.as_str(), "no_run" | "bad_name")
}

fn look_at(engine: &Engine, show: &Show, output: &mut Output) -> Outcome {
    let (session, file) = show.meant();
    if let Some(file) = file {
        return files::print(engine, session, file, output);
    }
    let state = match (engine.session_status(session), show.only_word()) {
        (Err(fault), Some(word)) if names_no_session(&fault) => {
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
    output.answer(&stepped, |stepped, look| {
        render::stepped(stepped, session, look)
    })?;
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
    output.answer(&last, |last, look| render::where_it_is(last, named, look))?;
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
    let response = files::response(&respond.file)?;
    let response = request::Response {
        bytes: &response,
        replace: respond.replace,
        phase: None,
        unit: respond.unit_id.as_deref(),
    };
    let responded = engine.session_respond(session, &response)?;
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
