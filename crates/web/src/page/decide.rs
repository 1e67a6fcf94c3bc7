//! What a person can do with a run, as forms. Each says what it was shown on, so that nothing is decided on what was not seen.

use engine::board::{Choices, Outcome};
use engine::gate::ClosedGate;
use engine::{Action, ActionKind, Fault, Strength};
use maud::{Markup, html};

use super::{About, block, command, hidden, id_of, shown};
use crate::access::Right;

/// How much of what a rule found stands in a list of them, in characters.
const MOST_OF_REFUSAL: usize = 80;
/// The most files that are shown in front of a gate.
const MOST_FILES: usize = 40;

pub fn forms(about: &About<'_>, next: &Action) -> Result<Markup, Fault> {
    let decides = about.right == Right::Decide;
    let seen = about.engine.last_event(about.id())?;
    let is_over = next.action == ActionKind::Complete;
    let choices = about.engine.run_choices(Some(about.id()))?;
    let actor = Actor {
        about,
        decides,
        seen: &seen,
        signed: match (choices.least, next.needs_person) {
            (Strength::Signed, true) => &["allow", "resume", "reopen"],
            (Strength::Signed, false) => &["allow"],
            _ => &[],
        },
    };
    Ok(html! {
        section #decide data-live aria-labelledby="decide-title" hidden[is_over] {
            h2 #decide-title { "What you can do" }
            @if !decides {
                p { "This page was opened to look, and not from a terminal: what is decided here is decided with the commands beside it, or on a page that " code { "tm ui --web" } " opens." }
            }
            @if let Some(closed) = &next.gate { (gate(&actor, closed, &choices)?) }
            @if next.is_paused() {
                (actor.form("resume", "Continue", &html! {
                    p { "It goes on where it stopped." @if choices.reopen { " Where that cannot help, have it done again from a step before: see below." } }
                }, "tm run resume"))
            }
            @if let (Some(report), Some(unit)) = (&choices.answer, &next.unit) {
                @let label = if report.asks_outcome { "Answer" } else { "It is done" };
                (actor.form("answer", label, &html! {
                    p { (shown(unit.label.as_ref().unwrap_or(&unit.state))) }
                    (hidden("unit", &report.unit))
                    @if report.asks_outcome {
                        @if choices.outcomes.is_empty() {
                            label for="answer-outcome" { "Outcome" } input #answer-outcome name="outcome" required;
                        } @else {
                            fieldset {
                                legend { "Your answer" }
                                @for outcome in &choices.outcomes { (answer(outcome)) }
                            }
                        }
                        (reason(&actor, "answer", "What there is to say", false))
                    }
                }, if report.asks_outcome { "tm run report --outcome WORD" } else { "tm run report" }))
            }
            @if !is_over { (further(&actor, &choices)) }
            @if !is_over && next.gate.is_none() && !next.is_paused() {
                details #pausing {
                    summary { "Pause it" }
                    (actor.form("pause", "Pause", &html! {
                        p { "Reports of agents are refused until somebody has it continue." }
                        (reason(&actor, "pause", "Why it is paused", false))
                    }, "tm run pause"))
                }
            }
            @if decides && !is_over {
                details #worth {
                    summary { "What a decision here is worth" }
                    p {
                        "What only a person decides is journalled with your name and the strength " em { "terminal" } ": it keeps an agent out that calls tools and commands, and not a program that runs as you and plays a browser. Where that matters, the project asks for signed decisions ("
                        code { "approvals.require" } "): by an SSH key, or by " a href="/passkey" { "a passkey of this browser" } "."
                    }
                }
            }
        }
    })
}

/// What is not done every day, as far as it can be done now.
fn further(actor: &Actor<'_>, choices: &Choices) -> Markup {
    let reopens = choices.reopen || !choices.kinds.is_empty();
    if !reopens && !choices.skip && choices.allow.is_empty() {
        return html! {};
    }
    html! {
        details #further {
            summary { "Further: " (ways(reopens, choices).join(", ")) }
            @if reopens {
                (actor.form("reopen", "Do it again", &html! {
                    p {
                        "It goes back" @if let Some(place) = &choices.reopens_at { " to " strong { (shown(place)) } }
                        ", and what was accepted there is done again, with what you write here before it."
                    }
                    @if !choices.kinds.is_empty() && actor.decides {
                        label for="reopen-kind" { "As which kind of work" }
                        select #reopen-kind name="kind" {
                            @if choices.reopen { option value="" { "As it is" } }
                            @for kind in &choices.kinds { option { (shown(kind)) } }
                        }
                    }
                    (reason(actor, "reopen", "Why it is done again", true))
                }, "tm run reopen --reason TEXT"))
            }
            @if choices.skip {
                (actor.form("skip", "Give it up", &html! {
                    p { "What is in hand is not done, and what needs it cannot be done either." }
                    (reason(actor, "skip", "Why it is given up", true))
                }, "tm run skip --reason TEXT"))
            }
            @if !choices.allow.is_empty() {
                (actor.form("allow", "Let it pass", &html! {
                    p { "One rule, for what is asked for now and nothing else. It is journalled, and stands in the report." }
                    @if actor.decides {
                        label for="allow-code" { "Rule" }
                        select #allow-code name="code" required {
                            option value="" { "Choose" }
                            @let (met, others) = choices.allow.split_at(choices.allow.partition_point(|rule| rule.refused.is_some()));
                            @if !met.is_empty() {
                                optgroup label="Refused what was reported" { @for rule in met { option value=(rule.code) { (shown(&rule.code)) ": " (shown(&text::shortened(rule.refused.as_deref().unwrap_or_default(), MOST_OF_REFUSAL))) } } }
                            }
                            @if !others.is_empty() {
                                optgroup label="Has refused nothing here" { @for rule in others { option value=(rule.code) { (shown(&rule.code)) @if !rule.meaning.is_empty() { ": " (shown(&text::shortened(&rule.meaning, MOST_OF_REFUSAL))) } } } }
                            }
                        }
                    }
                    (reason(actor, "allow", "Why it may pass", true))
                }, "tm run allow CODE --reason TEXT"))
            }
        }
    }
}

struct Actor<'a> {
    about: &'a About<'a>,
    decides: bool,
    /// The hash of the event that the page was made after.
    seen: &'a str,
    /// The forms that take a signature, but for that of a gate.
    signed: &'a [&'a str],
}

impl Actor<'_> {
    /// A form, or the command in its place where nothing is decided on the page.
    fn form(&self, what: &str, label: &str, inside: &Markup, line: &str) -> Markup {
        let line = format!("{line} --run-id {}", self.about.name());
        if !self.decides {
            return html! { p { (label) ": " (command(&line)) } };
        }
        html! {
            form.decision id={ "form-" (what) } method="post" action=(self.about.path("decide")) {
                (hidden("what", what))
                (hidden("seen", self.seen))
                (inside)
                (buttons(what, self.signed.contains(&what), &[("", label, "plain")]))
                details.quiet id={ (what) "-terminal" } { summary { "The same in a terminal" } (command(&line)) }
            }
        }
    }
}

/// An answer to choose, with what comes of it.
fn answer(outcome: &Outcome) -> Markup {
    let id = id_of("answer", &outcome.word);
    html! {
        p {
            input id=(id) type="radio" name="outcome" value=(outcome.word) required;
            " " label for=(id) {
                strong { (shown(&outcome.word)) }
                @if outcome.leads.is_some() { ": " (led(outcome)) }
            }
        }
    }
}

/// What comes of one of the two decisions at a gate, where that is known.
fn leads<'a>(choices: &'a Choices, word: &str) -> Option<&'a Outcome> {
    let known = |outcome: &&Outcome| outcome.word == word && outcome.leads.is_some();
    choices.gate.iter().find(known)
}

/// Where an outcome leads.
fn led(outcome: &Outcome) -> Markup {
    let leads = shown(outcome.leads.as_deref().unwrap_or_default());
    html! {
        @match outcome.ends {
            Some(ends) => { "the run ends at " strong { (leads) } ", " (ends) },
            None => { "the run goes to " strong { (leads) } },
        }
    }
}

/// What can be done besides, in a few words each.
fn ways(reopens: bool, choices: &Choices) -> Vec<&'static str> {
    let ways = [
        (reopens, "do it again"),
        (choices.skip, "give it up"),
        (!choices.allow.is_empty(), "let a rule pass"),
    ];
    ways.into_iter()
        .filter_map(|(is_there, way)| is_there.then_some(way))
        .collect()
}

fn reason(actor: &Actor<'_>, form: &str, label: &str, required: bool) -> Markup {
    let id = format!("{form}-reason");
    html! {
        @if actor.decides {
            label for=(id) { (label) @if required { " (needed)" } @else { " (may be left out)" } }
            textarea id=(id) name="reason" rows="2" required[required] data-draft {}
        }
    }
}

/// The buttons of a form, each with its value, its label and its class; where a signature is asked for, with the ways to sign.
fn buttons(form: &str, is_signed: bool, choices: &[(&str, &str, &str)]) -> Markup {
    let plain = html! {
        @for (value, label, class) in choices {
            button.(*class) type="submit" name="choice" value=(value) { (label) }
        }
    };
    if !is_signed {
        return plain;
    }
    html! {
        fieldset.signing {
            legend { "This takes a signature" }
            @for (value, label, class) in choices {
                button.(*class) type="submit" name="choice" value=(value) data-passkey { (label) " with a passkey" }
            }
            p.quiet { "None yet? " a href="/passkey" { "Make a passkey" } }
            details id={ (form) "-ssh" } {
                summary { "By an SSH key" }
                @for (value, label, _) in choices {
                    button type="submit" name="choice" value=(value) data-statement { "What there is to sign: " (label) }
                }
                label for={ (form) "-signature" } { "Signature" }
                textarea id={ (form) "-signature" } name="signature" rows="4" {}
                (plain)
            }
        }
    }
}

/// What stands before a closed gate, and the two ways on.
fn gate(actor: &Actor<'_>, gate: &ClosedGate, choices: &Choices) -> Result<Markup, Fault> {
    let about = actor.about;
    let paths = about.engine.gate_files(gate)?;
    let id = about.name();
    let lines = html! {
        (command(&format!("tm run approve --run-id {id}")))
        @if gate.can_reject { " or " (command(&format!("tm run reject --feedback TEXT --run-id {id}"))) }
    };
    let buttons_of_gate = [("approve", "Approve", "yes"), ("reject", "Reject", "no")];
    let offered = if gate.can_reject {
        &buttons_of_gate[..]
    } else {
        &buttons_of_gate[..1]
    };
    Ok(html! {
        div.gate {
            p {
                "You decide on the " strong { (shown(&gate.gate)) } ". Approved, "
                @match leads(choices, "approve") { Some(outcome) => (led(outcome)), None => "the run goes on with it" }
                @if gate.can_reject {
                    "; rejected, "
                    @match leads(choices, "reject") { Some(outcome) => { (led(outcome)) " with your feedback" }, None => "it is made anew with your feedback" }
                }
                "."
            }
            @if let Some(subject) = &about.run.run.subject { p { "It is for: " q { (shown(subject)) } } }
            @if gate.edited { p.attention { "Somebody changed it by hand since it was made." } }
            @if paths.is_empty() { p { "Nothing was recorded to look at. What led here is in the " a href=(about.path("timeline")) { "timeline" } "." } }
            @for path in paths.iter().take(MOST_FILES) { (file(about, path)) }
            @if paths.len() > MOST_FILES { p.quiet { "and " (paths.len() - MOST_FILES) " more files" } }
            @if !actor.decides {
                p { "To decide: " (lines) }
            } @else {
                form.decision #form-gate method="post" action=(about.path("decide")) {
                    (hidden("what", "gate"))
                    (hidden("hash", &gate.hash))
                    (hidden("seen", actor.seen))
                    @if gate.can_reject {
                        label for="gate-feedback" { "Feedback (a rejection needs it)" }
                        textarea #gate-feedback name="feedback" rows="4" data-draft {}
                    }
                    (buttons("gate", gate.strength == Strength::Signed, offered))
                    details.quiet id="gate-terminal" {
                        summary { "The same in a terminal" }
                        p { "What you decide on has the hash " code.hash { (gate.hash) } "." }
                        p { (lines) }
                    }
                }
            }
        }
    })
}

fn file(about: &About<'_>, path: &str) -> Markup {
    let text = about.engine.run_file(Some(about.id()), path);
    html! {
        details open id=(id_of("before", path)) {
            summary { code { (shown(path)) } }
            @match text {
                Ok(file) => {
                    @match &file.text {
                        Some(text) => (block(text, path)),
                        None => p.quiet { "It is no text, and has " (text::counted(file.bytes, "byte")) "." },
                    }
                    @if file.cut { p.attention { "It is longer than what is shown: look at the file itself." } }
                },
                Err(fault) => p { (shown(&fault.message)) },
            }
        }
    }
}
