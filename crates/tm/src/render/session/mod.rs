//! The answers about sessions.

mod files;
mod lists;

use engine::view::session::answer::{HistoryEntry, SessionState, StepAhead, StepAnswer};
use engine::{Action, ActionKind};
use journal::layout::short_name;
use serde_json::Value;
use text::plain::one_line;

use self::files::changed;
use super::{BAD, EDITED, FAINT, GOOD, Look, NOTE, Page, STRONG, Sign, WARN};
use text::counted;

use crate::steps::typed;
pub use files::{diff, exported, not_as_recorded, put, responded};
pub use lists::{list, profiles, steps_with};
use workspace::profile::Phase;

/// The first digits of a hash that are shown where it is only to be recognised.
const DIGITS: usize = 12;

/// The words behind a command that name the session, where the caller named one.
pub fn option(session: Option<&str>) -> String {
    session.map_or_else(String::new, |session| {
        format!(" --session {}", typed(&short_name(session)))
    })
}

/// A command of this session; with its id where the caller named it, and where it is over: then another one may be meant
/// without.
fn command(state: &SessionState, named: Option<&str>, words: &str) -> String {
    let needed = named.is_some() || state.status != "IN_PROGRESS";
    let id = needed.then_some(state.session_id.as_str());
    format!("tm session {words}{}", option(id))
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

/// One step of several, in a line.
pub fn one_step(stepped: &StepAnswer, look: &Look) -> String {
    let mut page = Page::new(look);
    // That it paused is told at the end, where it is.
    if stepped.state.next_action.is_paused() {
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
        if last.advanced && !last.state.next_action.is_paused() {
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
    if state.next_action.is_paused() {
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
        _ if asked_in(&state.next_action).is_some() => {
            let prompt = format!("{} is asked for", asked());
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

/// The file that a response is waited for in, where one is.
fn asked_in(next: &Action) -> Option<&str> {
    let unit = next.unit.as_ref();
    let asked = unit.filter(|_| next.action == ActionKind::Work);
    asked?.response.as_deref()
}

/// What a response is called.
fn what(asked: Option<Phase>) -> &'static str {
    match asked {
        Some(Phase::Planning) => "the plan",
        Some(Phase::Generation) => "the code",
        Some(Phase::Review) => "the review",
        Some(Phase::Revision) => "the revised code",
        None => "the response",
    }
}

/// What keeps the session from its next step; how it ended, where it is over.
fn waits(page: &mut Page<'_>, state: &SessionState) {
    let next = &state.next_action;
    let text = match (next.action, &next.gate, &next.blocked_by) {
        (ActionKind::Restore, ..) => {
            "cannot go on with files that are not as they were recorded".to_owned()
        }
        (ActionKind::Complete, ..) => return headline(page, state),
        (ActionKind::Paused, ..) if next.needs_person => format!(
            "paused: the review failed in {}, and there may be no more",
            counted(state.current_iteration, "iteration")
        ),
        (ActionKind::Paused, ..) => {
            format!(
                "paused: {}",
                next.paused_reason.as_deref().unwrap_or_default()
            )
        }
        (_, Some(gate), _) => format!("waits for a person, at the gate {}", gate.gate),
        (_, _, Some(code)) => match &state.last_error {
            Some(why) => format!("cannot go on ({code}): {why}"),
            None => format!("cannot go on: {code}"),
        },
        _ if asked_in(next).is_some() => format!("waits for {}", what(state.work.asked)),
        _ => "nothing has changed".to_owned(),
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
    let next_action = &state.next_action;
    let file = |path: &str| state.folder.join(path).display().to_string();
    let mut commands = next_action.next_steps.clone();
    let text = match (next_action.action, &next_action.gate) {
        (ActionKind::Restore, _) => {
            "Put the files back as they were recorded; what is there is kept beside them."
                .to_owned()
        }
        (ActionKind::Decide, Some(gate)) => {
            for path in &gate.look_at {
                page.field("look at", &path.display().to_string());
            }
            let or = if gate.can_reject { " or sends it back" } else { "" };
            format!("A person looks at it, and approves it{or}.")
        }
        (ActionKind::Paused, _) if next_action.needs_person => {
            commands.push(command(state, named, "cancel"));
            "A person looks at what keeps failing, and gives it more iterations or ends it."
                .to_owned()
        }
        (ActionKind::Paused, _) => "Go on with it.".to_owned(),
        (ActionKind::Complete, _) if state.can_reopen => {
            "A person can take it up again: what broke it is set aside, and it waits for another response."
                .to_owned()
        }
        (ActionKind::Complete, _) if state.status == "SUCCESS" => {
            page.field("code", &file(&code_folder(state)));
            commands = vec![command(state, named, "export DIR")];
            "Write the code to where it belongs.".to_owned()
        }
        (ActionKind::Complete, _) => "See what it did.".to_owned(),
        _ => match (asked_in(next_action), &next_action.unit) {
            (Some(response), Some(unit)) => {
                let asked = what(state.work.asked);
                commands = vec![command(state, named, "respond FILE --run")];
                page.field("prompt", &unit.prompt.as_deref().map(file).unwrap_or_default());
                page.field("response", &file(response));
                if unit.prompt.is_some() {
                    commands.insert(0, command(state, named, "show prompt"));
                    format!(
                        "Write {asked} as the prompt says, and hand it in; or write it into the response file, and take a step."
                    )
                } else {
                    format!("Write {asked}, and hand it in.")
                }
            }
            _ if next_action.blocked_by.is_some() => {
                "A step says more of what stands in the way, and what to do.".to_owned()
            }
            _ => ahead(state),
        },
    };
    next(page, &text, &commands);
}

/// What the next step of a session does that waits for nothing.
fn ahead(state: &SessionState) -> String {
    let does = |verb: &str, asked: Phase| format!("The next step {verb} {}.", what(Some(asked)));
    match state.work.ahead {
        StepAhead::TakesIn(asked) => format!("The next step takes {} in.", what(Some(asked))),
        StepAhead::AsksFor(asked) => does("asks for", asked),
        StepAhead::ActsOn(asked) => does("acts on", asked),
        StepAhead::GoesOnTo(asked) => does("goes on to", asked),
        StepAhead::Settles => {
            "A step was interrupted: the next one brings it to its end first.".to_owned()
        }
        StepAhead::Other => "The next step can be taken.".to_owned(),
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
        look.paint(STRONG, &one_line(&short_name(&state.session_id))),
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
    if state
        .next_action
        .gate
        .as_ref()
        .is_some_and(|gate| gate.edited)
    {
        page.signed(Sign::Warn, EDITED);
    }
}

/// Why it broke down, or was called off.
fn why(page: &mut Page<'_>, state: &SessionState) {
    if let Some(why) = &state.last_error {
        let label = page.look().paint(FAINT, "why       ");
        page.wrapped(&format!("  {label}"), why);
    }
}

/// Whether something keeps a session that is not over from its next step.
fn is_held(state: &SessionState) -> bool {
    let next = &state.next_action;
    match next.action {
        ActionKind::Complete => false,
        ActionKind::Step => next.blocked_by.is_some(),
        _ => state.status == "IN_PROGRESS",
    }
}

/// Where a session stands.
pub fn status(state: &SessionState, named: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    block(&mut page, state);
    if is_held(state) {
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
    if is_held(state) {
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
