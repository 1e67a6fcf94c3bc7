//! The answers about sessions.

mod deciding;
mod files;
mod lists;
mod standing;

use std::path::Path;

use engine::Strength;
use engine::view::session::answer::{DecisionAnswer, HistoryEntry, SessionState, StepAnswer};
use serde_json::Value;
use text::plain::one_line;

use self::files::changed;
use super::{BAD, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN};
use text::counted;

use crate::steps::typed;
pub use deciding::{About, edited, gate, reopening, steps_with};
pub use files::{diff, exported, not_as_recorded, put, put_back, responded, restored};
pub use lists::{list, profiles};
pub use standing::{SessionStanding, WithNextSteps, can_reject, changed_work, next_step, what};

/// How many more iterations are proposed where those that a session may have are used up.
const MORE_ITERATIONS: i64 = 5;
/// The first digits of a hash that are shown where it is only to be recognised.
const DIGITS: usize = 12;

/// What is to be done first where plan or code were changed.
const PUT_BACK: &str =
    "Put the files back as they were recorded; what is there is kept beside them.";

/// The words behind a command that name the session, where the caller named one.
pub fn option(session: Option<&str>) -> String {
    session.map_or_else(String::new, |session| {
        format!(" --session {}", typed(session))
    })
}

/// A command of this session; with its id where the caller named it, and where it is over: then another one may be meant
/// without.
fn command(state: &SessionState, named: Option<&str>, words: &str) -> String {
    let needed = named.is_some() || state.status != "IN_PROGRESS";
    let id = needed.then_some(state.session_id.as_str());
    format!("tm session {words}{}", option(id))
}

/// What a decision at the gate of a session needs beside its command.
fn sign(state: &SessionState) -> &'static str {
    let strength = state.waiting_for.as_ref().and_then(|waits| waits.strength);
    signing(strength)
}

/// What a decision of this strength needs beside its command.
pub fn signing(strength: Option<Strength>) -> &'static str {
    match strength {
        Some(Strength::Signed) => " --sign KEY",
        _ => "",
    }
}

/// The command that gives a session more iterations.
pub fn raise(state: &SessionState, named: Option<&str>) -> String {
    let more = state.max_iterations.saturating_add(MORE_ITERATIONS);
    command(state, named, &format!("reopen --max-iterations {more}"))
}

/// What may help next after an id was printed.
pub fn begun(state: &SessionState) -> String {
    format!(
        "a session of the profile {} has begun; of its gates {}; its first step asks for the plan:\n`tm session step{}`",
        state.profile,
        gates(state),
        option(Some(&state.session_id))
    )
}

/// At which gates of a session a person is waited for.
fn gates(state: &SessionState) -> String {
    let closed: Vec<&str> = state
        .gates
        .iter()
        .filter(|(_, mode)| mode.as_str() != Some("auto"))
        .map(|(gate, _)| gate.as_str())
        .collect();
    match closed.split_last() {
        None => "none waits for a person".to_owned(),
        Some((one, [])) => format!("{one} waits for a person"),
        Some((last, others)) => format!("{} and {last} wait for a person", others.join(", ")),
    }
}

/// What a step came to, and what to do now. Warnings are told beside the answer.
pub fn stepped(stepped: &StepAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    if stepped.advanced {
        headline(&mut page, &stepped.state);
        messages(&mut page, &stepped.messages);
    } else {
        waits(&mut page, &stepped.state);
    }
    changed(&mut page, &stepped.state);
    what_now(&mut page, &stepped.state, named);
    page.finish()
}

/// A session that was taken up again.
pub fn reopened(stepped: &StepAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    page.signed(
        Sign::Good,
        &format!("the session goes on in {}", stepped.state.phase),
    );
    changed(&mut page, &stepped.state);
    what_now(&mut page, &stepped.state, named);
    page.finish()
}

/// One step of several, in a line.
pub fn one_step(stepped: &StepAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    // That it paused is told at the end, where it is.
    if SessionStanding::of(&stepped.state) == SessionStanding::Cap {
        return page.finish();
    }
    headline(&mut page, &stepped.state);
    messages(&mut page, &stepped.messages);
    page.finish()
}

/// Where several steps have led.
pub fn where_it_is(last: &StepAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    // How it ended was told as its last step.
    if last.state.status == "IN_PROGRESS" || !last.advanced {
        if last.advanced && SessionStanding::of(&last.state) != SessionStanding::Cap {
            page.blank();
        }
        waits(&mut page, &last.state);
    }
    changed(&mut page, &last.state);
    what_now(&mut page, &last.state, named);
    page.finish()
}

fn messages(page: &mut Page<'_>, messages: &[String]) {
    page.list(messages.iter().map(String::as_str));
}

/// What the last transition was.
fn headline(page: &mut Page<'_>, state: &SessionState) {
    if SessionStanding::of(state) == SessionStanding::Cap {
        return waits(page, state);
    }
    let (sign, text) = match state.status.as_str() {
        "SUCCESS" => (
            Sign::Good,
            "the review passed, and the session is over".to_owned(),
        ),
        "CANCELLED" => (Sign::Warn, ending("the session was called off", state)),
        "ERROR" => (Sign::Bad, ending("the session broke down", state)),
        _ => entered(state),
    };
    let look = page.look();
    let lead = format!(
        "{} {}",
        look.sign(sign),
        look.paint(STRONG, &format!("{}:", one_line(&state.phase)))
    );
    page.wrapped(&lead, &text);
}

/// What the transition came to that led where a session stands.
fn entered(state: &SessionState) -> (Sign, String) {
    let asked = || what(state.work.asked);
    let text = match (state.work.asked, state.work.answered) {
        _ if asks(state) => {
            let prompt = format!("the prompt for {} is written", asked());
            let Some(failed) = iteration_began(state) else {
                return (Sign::Good, prompt);
            };
            let begins = format!("iteration {} begins", state.current_iteration);
            if failed {
                let text = format!("the review failed; {begins}, and {prompt}");
                return (Sign::Warn, text);
            }
            format!("{begins}; {prompt}")
        }
        (_, Some(answered)) => format!("{} is taken in", what(Some(answered))),
        (Some(_), None) => format!("{} comes next", asked()),
        (None, None) if state.phase_history_total <= 1 => "the session has begun".to_owned(),
        (None, None) => "a step was taken".to_owned(),
    };
    (Sign::Good, text)
}

/// Whether an iteration began with the last transition; and if so, whether because the one before it failed.
fn iteration_began(state: &SessionState) -> Option<bool> {
    let mut last = state.phase_history.iter().rev();
    let entry = last.next()?;
    let before = last.next().map_or(0, |before| before.iteration);
    (entry.iteration > before).then(|| entry.outcome.as_deref() == Some("FAILED"))
}

fn ending(what: &str, state: &SessionState) -> String {
    match &state.last_error {
        Some(why) => format!("{what}: {why}"),
        None => what.to_owned(),
    }
}

/// Whether the session waits for a response, whatever else there is to be seen to.
fn asks(state: &SessionState) -> bool {
    matches!(SessionStanding::of(state), SessionStanding::Response { .. })
}

/// What keeps the session from its next step; how it ended, where it is over.
fn waits(page: &mut Page<'_>, state: &SessionState) {
    let text = match SessionStanding::of(state) {
        SessionStanding::Response { .. } => format!("waits for {}", what(state.work.asked)),
        SessionStanding::Gate(gate) => format!("waits for a person, at the gate {gate}"),
        SessionStanding::Cap => format!(
            "paused: the review failed in {}, and there may be no more",
            counted(state.current_iteration, "iteration")
        ),
        SessionStanding::Paused(why) => format!("paused: {why}"),
        SessionStanding::Held("tampered") => {
            "cannot go on with files that are not as they were recorded".to_owned()
        }
        SessionStanding::Held(reason) => match &state.last_error {
            Some(why) => format!("cannot go on ({reason}): {why}"),
            None => format!("cannot go on: {reason}"),
        },
        SessionStanding::Free => "nothing has changed".to_owned(),
        SessionStanding::Broken | SessionStanding::Cancelled | SessionStanding::Complete => {
            return headline(page, state);
        }
    };
    let look = page.look();
    let lead = format!(
        "{} {}",
        look.sign(Sign::Warn),
        look.paint(STRONG, &format!("{}:", one_line(&state.phase)))
    );
    page.wrapped(&lead, &text);
}

/// The files that it is about, what to do with them, and the command for it.
fn what_now(page: &mut Page<'_>, state: &SessionState, named: Option<&str>) {
    let file = |path: &str| state.folder.join(path).display().to_string();
    match SessionStanding::of(state) {
        // Nothing is made of such files, so whatever else was said next would be refused.
        _ if !changed_work(state).is_empty() => {
            next(page, PUT_BACK, &[command(state, named, "restore")]);
        }
        SessionStanding::Response { prompt, response } => {
            if let Some(prompt) = prompt {
                page.field("prompt", &file(prompt));
            }
            page.field("response", &file(response));
            let asked = what(state.work.asked);
            let hand_in = command(state, named, "respond FILE --run");
            match prompt {
                Some(_) => next(
                    page,
                    &format!(
                        "Write {asked} as the prompt says, and hand it in; or write it into the response file, and take a step."
                    ),
                    &[command(state, named, "show prompt"), hand_in],
                ),
                None => next(page, &format!("Write {asked}, and hand it in."), &[hand_in]),
            }
        }
        SessionStanding::Gate(gate) => {
            page.field("look at", &behind_gate(state, gate));
            let approve = command(state, named, &format!("approve{}", sign(state)));
            let reject = format!("reject --feedback TEXT{}", sign(state));
            if can_reject(state) {
                let commands = [approve, command(state, named, &reject)];
                let text = "A person looks at it, and approves it or sends it back.";
                next(page, text, &commands);
            } else {
                next(page, "A person looks at it, and approves it.", &[approve]);
            }
        }
        SessionStanding::Cap => next(
            page,
            "A person looks at what keeps failing, and gives it more iterations or ends it.",
            &[raise(state, named), command(state, named, "cancel")],
        ),
        SessionStanding::Paused(_) => next(
            page,
            "Go on with it.",
            &[format!(
                "tm run resume --run-id {}",
                typed(&state.session_id)
            )],
        ),
        SessionStanding::Held(reason) => {
            let (text, words) = way_out(reason);
            next(page, text, &[command(state, named, words)]);
        }
        SessionStanding::Free => next(page, &next_step(state), &[command(state, named, "step")]),
        SessionStanding::Broken => next(
            page,
            "A person can take it up again: what broke it is set aside, and it waits for another response.",
            &[command(state, named, "reopen")],
        ),
        SessionStanding::Complete => {
            page.field("code", &file(&code_folder(state)));
            next(
                page,
                "Write the code to where it belongs.",
                &[command(state, named, "export DIR")],
            );
        }
        SessionStanding::Cancelled => next(
            page,
            "Begin another session.",
            &["tm session init".to_owned()],
        ),
    }
}

/// The way out of what holds a session, by its code, and the words after `tm session`.
fn way_out(reason: &str) -> (&'static str, &'static str) {
    match reason {
        "tampered" => (PUT_BACK, "restore"),
        _ => (
            "A step says more of what stands in the way, and what to do.",
            "step",
        ),
    }
}

fn next(page: &mut Page<'_>, text: &str, commands: &[String]) {
    page.blank();
    let lead = page.look().paint(STRONG, "next:");
    page.wrapped(&lead, text);
    for command in commands {
        page.command(command);
    }
}

/// The folder of the present iteration's code, in the session's folder.
fn code_folder(state: &SessionState) -> String {
    format!("iteration-{}/code", state.current_iteration)
}

/// What stands behind a gate.
fn behind_gate(state: &SessionState, gate: &str) -> String {
    let path = match gate {
        "plan" => "plan.md".to_owned(),
        "review" => format!("iteration-{}/review-response.md", state.current_iteration),
        _ => code_folder(state),
    };
    state.folder.join(path).display().to_string()
}

fn status_word(state: &SessionState, look: &Look) -> String {
    look.paint(status_style(&state.status), &spelt(&state.status))
}

/// A status as a person reads it.
fn spelt(status: &str) -> String {
    one_line(&status.to_lowercase().replace('_', " "))
}

fn status_style(status: &str) -> anstyle::Style {
    match status {
        "IN_PROGRESS" => NOTE,
        "SUCCESS" => GOOD,
        "CANCELLED" => WARN,
        _ => BAD,
    }
}

/// A time in UTC without its fractions: `2025-10-07 14:33:02`.
fn second(time: &str) -> String {
    let (day, clock) = time.split_once('T').unwrap_or((time, ""));
    format!("{day} {}", clock.get(..8).unwrap_or(clock))
        .trim_end()
        .to_owned()
}

fn block(page: &mut Page<'_>, state: &SessionState) {
    let look = page.look();
    page.raw(&format!(
        "{}  {}  {}",
        look.paint(STRONG, &one_line(&state.session_id)),
        look.paint(STRONG, &one_line(&state.phase)),
        status_word(state, look)
    ));
    page.field("profile", &state.profile);
    if state.current_iteration > 0 {
        let text = format!("{} of {}", state.current_iteration, state.max_iterations);
        page.field("iteration", &text);
    }
    page.field("begun", &second(&state.created_at));
    page.field("changed", &second(&state.updated_at));
    page.field("folder", &state.folder.display().to_string());
    why(page, state);
    if state.status == "IN_PROGRESS" {
        page.field("gates", &gates(state));
    }
    changed(page, state);
    if plan_is_another(state) {
        page.signed(Sign::Warn, edited("plan"));
    }
}

/// Whether the plan that waits for a person is not the one that was taken in.
fn plan_is_another(state: &SessionState) -> bool {
    let waiting = state.waiting_for.as_ref();
    let before = waiting.filter(|waiting| waiting.gate.as_deref() == Some("plan"));
    let now = before.and_then(|waiting| waiting.hash.as_deref());
    now.is_some() && now != state.plan_hash.as_deref()
}

/// Why it broke down, or was called off.
fn why(page: &mut Page<'_>, state: &SessionState) {
    if let Some(why) = &state.last_error {
        let label = page.look().paint(FAINT, "why       ");
        page.wrapped(&format!("  {label}"), why);
    }
}

/// Where a session stands.
pub fn status(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    block(&mut page, state);
    if state.status == "IN_PROGRESS" && SessionStanding::of(state) != SessionStanding::Free {
        page.blank();
        waits(&mut page, state);
    }
    what_now(&mut page, state, named);
    page.finish()
}

/// A session with all of its history and files.
pub fn show(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    block(&mut page, state);
    if let Some(hash) = &state.plan_hash {
        page.field("plan", &format!("sha256 {hash}"));
    }
    if !state.inputs.is_empty() {
        page.blank();
        page.title("Inputs");
        let given = |value: &&Value| !value.as_array().is_some_and(Vec::is_empty);
        for (name, value) in state.inputs.iter().filter(|(_, value)| given(value)) {
            input(&mut page, name, value);
        }
    }
    page.blank();
    page.title("History");
    for entry in &state.phase_history {
        history(&mut page, entry);
    }
    if !state.artifacts.is_empty() {
        page.blank();
        page.title("Files");
        // Of a file that was written several times the last is what it is.
        let last = |at: usize, path: &str| {
            let mut later = state.artifacts[at + 1..].iter();
            later.all(|other| other.path != path)
        };
        for (at, artifact) in state.artifacts.iter().enumerate() {
            if !last(at, &artifact.path) || artifact.sha256.is_empty() {
                continue;
            }
            let here = state.folder.join(&artifact.path);
            let told = match artifact.problem.as_deref() {
                Some("changed") => "  (changed since)",
                _ if here.is_file() => "",
                _ => "  (not there)",
            };
            let hash = look.paint(FAINT, digits(&artifact.sha256));
            let phase = look.paint(FAINT, &one_line(&artifact.phase));
            page.raw(&format!(
                "  {hash}  {}{told}  {phase}",
                one_line(&artifact.path)
            ));
        }
    }
    if state.status == "IN_PROGRESS" && SessionStanding::of(state) != SessionStanding::Free {
        page.blank();
        waits(&mut page, state);
    } else if state.status != "IN_PROGRESS" {
        page.blank();
    }
    what_now(&mut page, state, named);
    page.finish()
}

/// The value of an input in a line of its own, or below its name where it has several.
fn input(page: &mut Page<'_>, name: &str, value: &Value) {
    match value {
        Value::String(text) if text.trim_end().contains('\n') => {
            let label = page.look().paint(FAINT, &one_line(name));
            page.raw(&format!("  {label}"));
            for line in text.trim_end().lines() {
                page.raw(format!("    {}", one_line(line)).trim_end());
            }
        }
        Value::String(text) => page.field(name, text.trim_end()),
        Value::Array(all) if all.is_empty() => {}
        Value::Array(all) if all.iter().all(Value::is_string) => {
            let label = page.look().paint(FAINT, &one_line(name));
            page.raw(&format!("  {label}"));
            page.list(all.iter().filter_map(Value::as_str));
        }
        other => page.field(name, &other.to_string()),
    }
}

fn history(page: &mut Page<'_>, entry: &HistoryEntry) {
    let look = page.look();
    let iteration = match entry.iteration {
        0 => String::new(),
        number => format!("iteration {number}"),
    };
    let came = [entry.outcome.as_deref(), entry.decision.as_deref()]
        .into_iter()
        .flatten()
        .map(|word| match word {
            "reject" => "rejected".to_owned(),
            word => word.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(", ");
    let time = look.paint(FAINT, &one_line(&second(&entry.timestamp)));
    let line = format!(
        "  {time}  {:<11}  {iteration:<12}  {}",
        one_line(&entry.phase),
        one_line(&came)
    );
    page.raw(line.trim_end());
    let Some(said) = &entry.said else { return };
    if !said.reason.is_empty() {
        page.wrapped("     ", &said.reason);
    }
    for message in &said.messages {
        page.wrapped("     ", message);
    }
}

/// The first digits of a hash.
fn digits(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}

/// A decision was made.
pub fn decided(decided: &DecisionAnswer, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    let text = match (decided.choice.as_str(), decided.recorded) {
        ("approve", true) => format!("the {} is approved", decided.gate),
        ("approve", false) => format!("the {} was approved before", decided.gate),
        _ => format!("the {} is sent back", decided.gate),
    };
    page.signed(Sign::Good, &text);
    if asks(&decided.state) {
        waits(&mut page, &decided.state);
    }
    changed(&mut page, &decided.state);
    what_now(&mut page, &decided.state, named);
    page.finish()
}

/// A path as a person reads it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
