//! `pull_request.feedback` and `pull_request.answer`: what checks and people say of the pull request becomes work, and what was
//! done about it is told where it was said.
//!
//! Texts of others are data: they stand in the details of an item, which prompts quote, and neither in its title nor in its
//! description, of which commit messages are made. Who may not change the repository is heard only by name.

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
use crate::fault::Fault;
use crate::intent;
use crate::summary;
use crate::support::{EffectRequest, HandlerError, Outcome, refusal};

/// The longest text of a remark that an item is given, in bytes.
const LONGEST: usize = 8 * 1024;
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

/// Fetches what is said of the pull request, and refuses where there is nothing to do about it.
pub(super) fn prepare(
    call: &Call<'_>,
    run: &RunState,
    asked: &EffectRequest<'_>,
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
        Err(by_hand) => return Err(refusal("forge_denied", by_hand.why, by_hand.fix).into()),
    };
    let failed = |error| {
        let by_hand = target::by_hand(&forge, &error, base, head);
        refusal("forge_denied", by_hand.why, by_hand.fix)
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
    let title = match (&remark.place, &place) {
        (Place::Check, _) => format!("Repair what the check {author} found"),
        (_, Some(place)) => format!("Act on what {author} says of {place}"),
        (_, None) => format!("Act on what {author} says"),
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

fn not_submitted() -> Refusal {
    refusal(
        "not_submitted",
        "the run has no pull request that anybody could have said something of",
        "submit it first",
    )
}

/// What there is to tell where nothing is to be done.
fn nothing(request: &PullRequest, feedback: &Feedback, unheard: &[String]) -> Refusal {
    let running = feedback.checks_running;
    if running > 0 {
        return refusal(
            "checks_running",
            format!(
                "{} of {} {} at no end yet, and nobody asks for anything",
                text::counted(running, "check"),
                request.url,
                if running == 1 { "is" } else { "are" }
            ),
            "ask again when they are",
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
    refusal(
        "no_feedback",
        format!("there is nothing to act on at {}: {}", request.url, all.join("; ")),
        "whoever is to merge it does; a person who is to be heard all the same is named with `--author`",
    )
    .detail("url", request.url.as_str())
}

/// Hands the items to the edge, and has the run remember where each was said.
pub(super) fn perform(run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
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
pub(super) fn prepare_answers(call: &Call<'_>, run: &RunState) -> Result<Value, HandlerError> {
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
pub(super) fn perform_answers(
    call: &Call<'_>,
    run: &RunState,
    pending: &Pending,
) -> Result<Outcome, Fault> {
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
