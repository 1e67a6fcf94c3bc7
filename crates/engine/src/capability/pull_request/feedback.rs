//! `pull_request.feedback` and `pull_request.answer`: what checks and people say of the pull request becomes work, and what was
//! done about it is told where it was said.
//!
//! Texts of others are data: they stand in the details of an item, which prompts quote. Commit messages are made of its title,
//! which is one plain sentence of theirs without anything that a forge acts on. Who may not change the repository is heard
//! only by name.

use std::collections::BTreeMap;

use machine::state::{ItemStatus, Pending};
use machine::{Refusal, RunState, Strength};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::forge::{Feedback, Place, PullRequest, Remark, answer_text};

use crate::call::Call;
use crate::capability::git::effects::push::agreed;
use crate::capability::memory::{self, FEEDBACK, Memory, PULL_REQUEST, PUSHED, SUBMITTED_TO};
use crate::capability::pull_request::target;
use crate::capability::{EffectSteps, NOT_DONE};
use crate::fault::Fault;
use crate::intent;
use crate::refusal;
use crate::summary;
use crate::support::{EffectRequest, HandlerError, Outcome, refusal};

/// The longest text of a remark that an item is given, in bytes.
const LONGEST: usize = 8 * 1024;
/// The longest title that is taken from a remark, in visible characters.
const LONGEST_TITLE: usize = 200;
/// How many remarks become items at once.
const MOST: usize = 50;
/// How many authors are named.
const MOST_NAMED: usize = 5;

/// A remark that an item was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenRemark {
    /// By which it is known again.
    key: String,
    /// Where it is answered.
    place: Place,
    /// Its page.
    url: String,
    /// Whether it was answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    answered: bool,
}

/// What becomes of feedback: items, and what the run remembers of each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Intent {
    items: Vec<Value>,
    taken: BTreeMap<String, TakenRemark>,
    /// Authors who were not heard.
    unheard: Vec<String>,
}

/// How what is said is taken in.
pub(super) const TAKE: EffectSteps = EffectSteps {
    prepare,
    perform: |_, run, pending| perform(run, pending),
    look: NOT_DONE,
};

/// How it is answered. Looks first what is there.
pub(super) const ANSWER: EffectSteps = EffectSteps {
    prepare: |call, _, run| prepare_answers(call, run),
    perform: perform_answers,
    look: NOT_DONE,
};

/// Fetches what is said of the pull request, and refuses where there is nothing to do about it.
fn prepare(
    call: &Call<'_>,
    asked: &EffectRequest<'_>,
    run: &RunState,
) -> Result<Value, HandlerError> {
    let flags = asked.flags;
    let heard: Vec<&str> = flags
        .get("authors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !heard.is_empty() {
        let what = format!("that {} is heard", heard.join(", "));
        agreed(run, flags, Strength::default(), ("feedback", &what))?;
    }
    let memory = Memory::of(run)?;
    let (to, pushed) = (SUBMITTED_TO.read(&run.kept)?, PUSHED.read(&run.kept)?);
    let (Some(to), Some(pushed)) = (to, pushed) else {
        return Err(not_submitted().into());
    };
    let repository = memory.repository();
    let (base, head) = (to.base.as_str(), memory.start.branch.as_str());
    let forge = match target::forge(call, &repository, &to.remote, (base, head))? {
        Ok(forge) => forge,
        Err(by_hand) => return Err(refusal("forge_refused", by_hand.why, by_hand.fix).into()),
    };
    let failed = |error| {
        let by_hand = target::by_hand(&forge, &error, base, head);
        refusal("forge_refused", by_hand.why, by_hand.fix)
    };
    let request = match target::present(&forge, run, base, head)? {
        Ok(Some(found)) => found,
        Ok(None) => return Err(not_submitted().into()),
        Err(error) => return Err(failed(error).into()),
    };
    target::is_open(&request)?;
    let sha = pushed.sha.to_string();
    let feedback = forge.feedback(&request, &sha).map_err(failed)?;
    let taken = FEEDBACK.read(&run.kept)?.unwrap_or_default();
    let mut intent = Intent {
        items: Vec::new(),
        taken: BTreeMap::new(),
        unheard: Vec::new(),
    };
    for remark in &feedback.remarks {
        let key = key_of(remark, &sha);
        let is_known =
            taken.values().any(|taken| taken.key == key) || feedback.answered.contains(&key);
        if is_known || intent.items.len() == MOST {
            continue;
        }
        if !remark.trusted && !heard.contains(&remark.author.as_str()) {
            if !intent.unheard.contains(&remark.author) {
                intent.unheard.push(remark.author.clone());
            }
            continue;
        }
        let number = taken.len() + intent.taken.len() + 1;
        let id = format!("{}.feedback-{number}", memory.start.task_id);
        intent.items.push(item(&id, remark, asked.with));
        intent.taken.insert(
            id,
            TakenRemark {
                key,
                place: remark.place.clone(),
                url: remark.url.clone(),
                answered: false,
            },
        );
    }
    if intent.items.is_empty() {
        return Err(nothing(&request, &feedback, &intent.unheard).into());
    }
    Ok(intent::write(&intent)?)
}

/// A check that fails again at another commit says something new.
fn key_of(remark: &Remark, sha: &str) -> String {
    match remark.place {
        Place::Check => format!("{}@{sha}", remark.key),
        _ => remark.key.clone(),
    }
}

/// The fields of an item: those of the remark beside what the edge says of all of them.
fn item(id: &str, remark: &Remark, with: &Map<String, Value>) -> Value {
    let author = text::plain::one_line(&remark.author);
    let place = remark.path.as_deref().map(|path| {
        let path = text::plain::one_line(path);
        match remark.line {
            Some(line) => format!("{path}:{line}"),
            None => path,
        }
    });
    let title = match (&remark.place, request(&remark.text), &place) {
        (Place::Check, ..) => format!("Repair the failing check `{author}`"),
        (_, Some(word), Some(place)) if !word.contains(' ') => format!("{word} ({place})"),
        (_, Some(request), _) => request,
        (_, None, Some(place)) => format!("Apply the suggestion for {place}"),
        (_, None, None) => "Act on the review".to_owned(),
    };
    let said = text::plain::many_lines(&remark.text);
    let said = text::plain::cut_bytes(&said, LONGEST);
    let at = place.map_or_else(String::new, |place| format!("At {place}. "));
    let seen = match remark.url.as_str() {
        "" => String::new(),
        url => format!("Seen at {}. ", text::plain::one_line(url)),
    };
    let details = format!("{at}{seen}{author} says:\n\n{said}");
    let own = [
        ("id", id.to_owned()),
        ("title", title),
        ("details", details),
    ];
    let own = own.map(|(name, text)| (name.to_owned(), text.into()));
    let mut fields = with.clone();
    fields.extend(own);
    fields.into()
}

/// The first sentence of a remark, outside of code and quotations: as a line of plain text that mentions no user, names no
/// issue and has no link, which forges would act on in a commit message.
fn request(said: &str) -> Option<String> {
    let said = text::plain::many_lines(said);
    let is_prose = |line: &&str| !line.trim().is_empty() && !line.starts_with(['>', '<', '|', '!']);
    let lines = said.split("```").step_by(2).flat_map(str::lines);
    let lines = lines
        .skip_while(|line| !is_prose(line))
        .take_while(is_prose);
    let line = text::plain::one_line(&lines.collect::<Vec<_>>().join(" ").replace("**", ""));
    let line = line.trim_start_matches(['#', '-', '*', ' ']);
    let ends = |(at, _): &(usize, &str)| {
        let behind = line[at + 1..].strip_prefix(' ');
        behind.is_some_and(|behind| behind.starts_with(char::is_uppercase))
    };
    let end = line.match_indices(['.', '!', '?']).find(ends);
    let mut sentence = &line[..end.map_or(line.len(), |(at, _)| at + 1)];
    for courtesy in ["nit: ", "Nit: ", "please ", "Please "] {
        sentence = sentence.strip_prefix(courtesy).unwrap_or(sentence);
    }
    let words = sentence
        .split(' ')
        .filter(|word| !word.contains("://") && !word.starts_with("GH-"));
    let words = words.collect::<Vec<_>>().join(" ").replace('@', "");
    let (mut sentence, mut rest) = (String::new(), words.as_str());
    while let Some((before, behind)) = rest.split_once('#') {
        sentence.push_str(before);
        let number = behind.trim_start_matches('#');
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            sentence.push('#');
        }
        rest = behind;
    }
    sentence.push_str(rest);
    (!sentence.is_empty()).then(|| text::shortened(&sentence, LONGEST_TITLE))
}

fn not_submitted() -> Refusal {
    refusal!("not_possible.not_submitted")
}

/// What there is to tell where nothing is to be done.
fn nothing(request: &PullRequest, feedback: &Feedback, unheard: &[String]) -> Refusal {
    let running = feedback.checks_running;
    if running > 0 {
        return refusal!(
            "blocked.checks_running",
            checks = text::counted(running, "check"),
            url = request.url,
            are = if running == 1 { "is" } else { "are" }
        )
        .detail("url", request.url.as_str());
    }
    let mut all = vec![
        format!("{} passed", text::counted(feedback.checks_passed, "check")),
        format!("{} approved it", feedback.approvals),
    ];
    if !unheard.is_empty() {
        let names: Vec<&str> = unheard
            .iter()
            .take(MOST_NAMED)
            .map(String::as_str)
            .collect();
        all.push(format!(
            "who may not change the repository is not heard: {}",
            text::plain::one_line(&names.join(", "))
        ));
    }
    refusal!(
        "not_possible.no_feedback",
        url = request.url,
        all = all.join("; ")
    )
    .detail("url", request.url.as_str())
}

/// Hands the items to the edge, and has the run remember where each was said.
fn perform(run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    let mut taken = FEEDBACK.read(&run.kept)?.unwrap_or_default();
    taken.extend(intent.taken);
    Ok(Outcome::Done {
        result: json!({ "items": intent.items, "unheard": intent.unheard }),
        keep: FEEDBACK.entry(&taken)?,
        artifacts: Vec::new(),
    })
}

/// What an answer is about to say, by the item.
#[derive(Debug, Serialize, Deserialize)]
struct Answers {
    answers: BTreeMap<String, String>,
}

/// Puts the answers together: to what was acted on or given up since it was taken in.
fn prepare_answers(call: &Call<'_>, run: &RunState) -> Result<Value, HandlerError> {
    let mut answers = BTreeMap::new();
    if call.pinned.submit.answer && PULL_REQUEST.is_in(&run.kept) {
        let taken = FEEDBACK.read(&run.kept)?.unwrap_or_default();
        let open = taken
            .iter()
            .filter(|(_, taken)| !taken.answered && taken.place != Place::Check);
        for (id, _) in open {
            let status = memory::subtask(run, id).map(|item| item.status);
            if !matches!(status, Some(ItemStatus::Done | ItemStatus::Failed)) {
                continue;
            }
            let text = match memory::commit_of(run, id) {
                "" => match summary::reason_of_skip(&call.dir, id)? {
                    Some(reason) => format!("Not acted on: {reason}"),
                    None => "Looked at: nothing had to be changed.".to_owned(),
                },
                sha => format!("Acted on in {sha}."),
            };
            answers.insert(id.clone(), text);
        }
    }
    Ok(intent::write(&Answers { answers })?)
}

/// Answers each remark once: what is there already is looked for. An answer that is not taken is told, and tried with the next
/// submission.
fn perform_answers(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let Answers { answers } = intent::read(&pending.what)?;
    let mut taken = FEEDBACK.read(&run.kept)?.unwrap_or_default();
    let known = PULL_REQUEST.read(&run.kept)?;
    let to = SUBMITTED_TO.read(&run.kept)?;
    let (Some(known), Some(to), false) = (known, to, answers.is_empty()) else {
        return Ok(Outcome::done());
    };
    let memory = Memory::of(run)?;
    let branches = (known.base.as_str(), memory.start.branch.as_str());
    let Ok(forge) = target::forge(call, &memory.repository(), &to.remote, branches)? else {
        return Ok(Outcome::done());
    };
    let answered = forge.answered(known.number);
    let mut warnings = Vec::new();
    let mut told = 0;
    for (id, text) in answers {
        let Some(remark) = taken.get_mut(&id) else {
            continue;
        };
        let posted = match &answered {
            Ok(answered) if answered.contains(&remark.key) => Ok(()),
            Ok(_) => {
                let about = match remark.url.as_str() {
                    url if remark.place == Place::Talk && !url.is_empty() => {
                        format!("To {url}:\n\n")
                    }
                    _ => String::new(),
                };
                let body = answer_text(&format!("{about}{text}"), &remark.key);
                forge.answer(known.number, &remark.place, &body)
            }
            Err(error) => Err(error.clone()),
        };
        match posted {
            Ok(()) => {
                remark.answered = true;
                told += 1;
            }
            Err(error) => warnings.push(format!(
                "what {id} came to is not told there yet: {}",
                text::plain::one_line(&error.said)
            )),
        }
    }
    Ok(Outcome::Done {
        result: json!({ "answered": told, "warnings": warnings }),
        keep: FEEDBACK.entry(&taken)?,
        artifacts: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_plain_sentence() {
        for (said, expected) in [
            ("Please use `add` here. It overflows.", "use `add` here."),
            ("nit: Could it be None? I think so.", "Could it be None?"),
            ("Lock, e.g. flock, v1.2", "Lock, e.g. flock, v1.2"),
            ("It must not\nbe called\n\nat all", "It must not be called"),
            ("> the old text\n\n**Never** do that!", "Never do that!"),
            ("```suggestion\nlet x = 1;\n```\nName it", "Name it"),
            ("<!-- bot -->\n## Summary\nof it", "Summary of it"),
            (
                "@ann Fixes #7, ##6, #@5, o/r#8, GH-9 and https://example.org/issues/1 in C#",
                "ann Fixes 7, 6, 5, o/r8, and in C#",
            ),
            ("a\u{202e}b\u{1b}[31mc\u{0}", "abc"),
        ] {
            assert_eq!(request(said).as_deref(), Some(expected), "{said}");
        }
        let suggestion = "```suggestion\nx\n```";
        for said in ["", " \n", suggestion, "> only this", "https://example.org"] {
            assert_eq!(request(said), None, "{said}");
        }
        let long = request(&"word ".repeat(100)).unwrap();
        assert!(text::plain::visible_len(&long) <= LONGEST_TITLE + 1);
    }

    #[test]
    fn a_title_says_what_is_to_be_done() {
        let title = |place: &Place, said: &str, path: Option<&str>| {
            let remark = Remark {
                key: "k".to_owned(),
                place: place.clone(),
                author: "li`nt\nx".to_owned(),
                trusted: true,
                text: said.to_owned(),
                url: String::new(),
                path: path.map(str::to_owned),
                line: Some(12),
            };
            let item = item("1.feedback-1", &remark, &Map::new());
            item["title"].as_str().unwrap().to_owned()
        };
        let check = title(&Place::Check, "2 problems", None);
        assert_eq!(check, "Repair the failing check `li`nt x`");
        for (said, path, expected) in [
            ("Use a lock.", Some("src/a.py"), "Use a lock."),
            ("Typo", Some("src/a.py"), "Typo (src/a.py:12)"),
            ("Typo", None, "Typo"),
            (
                "```suggestion\nx\n```",
                Some("src/a.py"),
                "Apply the suggestion for src/a.py:12",
            ),
            ("", None, "Act on the review"),
        ] {
            assert_eq!(title(&Place::Talk, said, path), expected);
        }
    }
}
