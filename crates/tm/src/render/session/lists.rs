//! Many sessions, and the profiles there are.

use engine::view::session::answer::{ProfileInput, ProfileSummary, SessionSummary};
use journal::layout::short_name;
use serde_json::Value;
use text::plain::{one_line, visible_len};

use super::{FAINT, Look, NOTE, Page, STRONG, Sign, WARN, option, second, spelt, status_style};
use crate::steps::typed;

/// A list of sessions, one a line.
pub fn list(sessions: &[SessionSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    if sessions.is_empty() {
        page.raw("There are no sessions here.");
        page.command("tm session init");
        return page.finish();
    }
    let phases = sessions.iter().map(|session| session.phase.len());
    let widest = phases.max().unwrap_or_default();
    let ids = sessions.iter().map(|session| name_of(session).len());
    let longest = ids.max().unwrap_or_default();
    for session in sessions {
        let status = format!("{:<11}", spelt(&session.status));
        let phase = format!("{:<widest$}", one_line(&session.phase));
        let id = format!("{:<longest$}", name_of(session));
        let iteration = match session.current_iteration {
            0 => String::new(),
            number => format!("iteration {number}"),
        };
        let changed = one_line(&second(&session.updated_at));
        let changed = changed.get(..16).unwrap_or(&changed);
        let mut line = format!(
            "{}  {}  {phase}  {iteration:<12}",
            look.paint(status_style(&session.status), &status),
            look.paint(STRONG, &id),
        );
        // Where the terminal is narrow, the id still tells when it began.
        if visible_len(&line) + 2 + changed.len() <= look.line {
            line.push_str("  ");
            line.push_str(&look.paint(FAINT, changed));
        }
        page.raw(line.trim_end());
        if session.status == "damaged" {
            page.command(&format!(
                "tm log verify {}",
                typed(&short_name(&session.session_id))
            ));
        }
    }
    page.finish()
}

/// A session as a list names it: by its number, and the name that it was begun with.
fn name_of(session: &SessionSummary) -> String {
    let id = session.session_id.as_str();
    let name = engine::session_name(id).unwrap_or_default();
    one_line(&format!("{}  {name}", short_name(id)))
}

/// The profiles, with what each takes.
pub fn profiles(profiles: &[ProfileSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    if profiles.is_empty() {
        page.raw("There are no profiles here.");
    }
    for (at, profile) in profiles.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        let parts = [
            look.paint(STRONG, &one_line(&profile.name)),
            one_line(&profile.title),
            look.paint(FAINT, &format!("({})", one_line(&profile.origin))),
        ];
        let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        page.raw(&told.join("  "));
        if let Some(fault) = &profile.fault {
            page.wrapped(&format!("  {}", look.sign(Sign::Bad)), fault);
        }
        match (profile.processor, profile.trusted) {
            (true, Some(false)) => {
                let lead = format!("  {}", look.sign(Sign::Warn));
                page.wrapped(
                    &lead,
                    "brings a program of its own, which nobody has trusted as it is now",
                );
                page.command(&format!("tm session trust {}", profile.name));
            }
            (true, _) => {
                let lead = format!("  {}", look.sign(Sign::Good));
                page.wrapped(&lead, "brings a program of its own, which is trusted");
            }
            _ => {}
        }
        for input in &profile.inputs {
            self::input(&mut page, input);
        }
    }
    page.finish()
}

fn input(page: &mut Page<'_>, input: &ProfileInput) {
    let look = page.look();
    let name = look.paint(NOTE, &one_line(&input.name));
    let kind = look.paint(FAINT, &one_line(&input.kind));
    let needed = if input.required {
        format!(", {}", look.paint(WARN, "required"))
    } else {
        String::new()
    };
    let mut about = vec![input.description.clone()];
    if !input.choices.is_empty() {
        let choices: Vec<String> = input.choices.iter().map(value).collect();
        about.push(format!("one of {}", choices.join(", ")));
    }
    if let Some(default) = &input.default {
        about.push(match value(default) {
            text if text.is_empty() => "empty if left out".to_owned(),
            text => format!("{text} if left out"),
        });
    }
    about.retain(|part| !part.is_empty());
    page.wrapped(&format!("  -i {name} ({kind}{needed}):"), &about.join("; "));
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The most sessions that are named where several could go on.
const MOST_NAMED: usize = 3;

/// The commands with which sessions of a profile go on, or the one that begins one.
pub fn steps_with(profile: &str, under_way: &[SessionSummary], look: &Look) -> String {
    let mut page = Page::new(look);
    let of_it: Vec<&SessionSummary> = under_way
        .iter()
        .filter(|session| session.profile == profile)
        .collect();
    for session in of_it.iter().take(MOST_NAMED) {
        let named = (under_way.len() > 1).then_some(session.session_id.as_str());
        page.command(&format!("tm session step{}", option(named)));
    }
    if of_it.is_empty() {
        let profile = typed(profile);
        page.command(&format!("tm session init --profile {profile}"));
    }
    page.finish()
}
