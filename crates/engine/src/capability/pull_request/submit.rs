//! `pull_request.submit`: one pull request for a run, opened or brought up to date.
//!
//! What is there is looked at before anything is asked for, and again where an answer was lost: none is opened twice.

use journal::EvidenceStore;
use machine::RunState;
use machine::state::Pending;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use workspace::forge::{Forge, ForgeError, ForgeTrouble, NewPullRequest, PullRequest};

use crate::call::Call;
use crate::capability::memory::{Memory, PULL_REQUEST, PUSHED, SUBMITTED_TO};
use crate::capability::pull_request::target::{self, ByHand};
use crate::capability::pull_request::{KnownPullRequest, body};
use crate::capability::{EffectSteps, NOT_DONE};
use crate::fail_point;
use crate::fault::Fault;
use crate::intent;
use crate::refusal;
use crate::support::{HandlerError, Outcome};

/// All that is needed to open one, or to bring it up to date.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Intent {
    remote: String,
    base: String,
    head: String,
    title: String,
    /// Whether a person said what the title is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    titled: bool,
    /// SHA-256 of the body of a new one, and of the part of the run, in the run's evidence.
    whole: String,
    own: String,
    draft: bool,
    /// Whether a person said whether it is one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    draft_said: bool,
    labels: Vec<String>,
    reviewers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    issue: Option<String>,
    /// How it is done by hand, where no program can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_hand: Option<ByHand>,
}

/// How it is carried out.
pub(crate) const STEPS: EffectSteps = EffectSteps {
    prepare: |call, asked, run| prepare(call, run, asked.flags),
    perform,
    look: NOT_DONE,
};

/// Puts together what it is going to say. Its evidence holds the text, and nothing else is changed.
fn prepare(
    call: &Call<'_>,
    run: &RunState,
    flags: &Map<String, Value>,
) -> Result<Value, HandlerError> {
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let (Some(to), Some(pushed)) = (SUBMITTED_TO.read(&run.kept)?, PUSHED.read(&run.kept)?) else {
        return Err(refusal!("not_possible.not_pushed").into());
    };
    let (base, head) = (to.base, memory.start.branch.clone());
    let text = |name: &str| flags.get(name).and_then(Value::as_str);
    let texts = |name: &str, more: &[String]| -> Vec<String> {
        let said = flags.get(name).and_then(Value::as_array);
        let said = said.into_iter().flatten().filter_map(Value::as_str);
        let said = more.iter().map(String::as_str).chain(said);
        let said = said.map(|one| text::plain::one_line(one).trim().to_owned());
        let mut all: Vec<String> = said.filter(|one| !one.is_empty()).collect();
        let mut seen = std::collections::HashSet::new();
        all.retain(|one| seen.insert(one.clone()));
        all
    };
    let settings = &call.pinned.submit;
    let title = match text("title") {
        Some(title) => text::plain::one_line(title),
        None => body::title(call, run, &memory)?,
    };
    let forge = target::forge(call, &repository, &to.remote, (&base, &head))?;
    let known = PULL_REQUEST.read(&run.kept)?;
    let issue = target::issue(flags)?.or_else(|| known?.issue);
    let (whole, own) = match &forge {
        Ok(forge) => (
            body::whole(
                call,
                run,
                &repository,
                &pushed.sha,
                forge.kind,
                issue.as_deref(),
            )?,
            body::of_run(call, run, issue.as_deref(), workspace::forge::LONGEST_BODY)?,
        ),
        Err(_) => (String::new(), String::new()),
    };
    let store = EvidenceStore::new(&call.dir);
    let draft = flags.get("draft").and_then(Value::as_bool);
    Ok(intent::write(&Intent {
        remote: to.remote,
        base,
        head,
        title,
        titled: text("title").is_some(),
        whole: store.put(whole.as_bytes()).map_err(Fault::from)?,
        own: store.put(own.as_bytes()).map_err(Fault::from)?,
        draft: draft.unwrap_or(settings.draft),
        draft_said: draft.is_some(),
        labels: texts("labels", &settings.labels),
        reviewers: texts("reviewers", &settings.reviewers),
        issue,
        by_hand: forge.err(),
    })?)
}

/// Opens it, or brings it up to date.
fn perform(call: &Call<'_>, run: &RunState, pending: &Pending) -> Result<Outcome, Fault> {
    let intent: Intent = intent::read(&pending.what)?;
    if let Some(by_hand) = intent.by_hand {
        return Ok(done_by_hand(&by_hand));
    }
    let memory = Memory::of(run)?;
    let repository = memory.repository();
    let branches = (intent.base.as_str(), intent.head.as_str());
    let forge = match target::forge(call, &repository, &intent.remote, branches)? {
        Ok(forge) => forge,
        Err(by_hand) => return Ok(done_by_hand(&by_hand)),
    };
    let failed = |error: &ForgeError| target::by_hand(&forge, error, branches.0, branches.1);
    let found = match target::present(&forge, run, &intent.base, &intent.head)? {
        Ok(found) => found,
        Err(error) => return Ok(settled(&error, failed(&error))),
    };
    let created = found.is_none();
    let mut warnings = Vec::new();
    let request = match found {
        Some(found) => {
            if let Err(refusal) = target::is_open(&found) {
                return Ok(Outcome::of_refusal(refusal));
            }
            match updated(call, &forge, run, &intent, found, &mut warnings)? {
                Ok(found) => found,
                Err(error) => return Ok(settled(&error, failed(&error))),
            }
        }
        None => match opened(call, &forge, run, &intent)? {
            Ok(new) => new,
            Err(error) => return Ok(settled(&error, failed(&error))),
        },
    };
    fail_point::reach("request-after-create");
    let missing: Vec<String> = intent
        .labels
        .iter()
        .filter(|label| !request.labels.contains(label))
        .cloned()
        .collect();
    if !missing.is_empty()
        && let Err(error) = forge.add_labels(request.number, &missing)
    {
        warnings.push(format!("it was not given its labels: {}", error.said));
    }
    // Who was asked once is not asked again with every change.
    let mut asked = PULL_REQUEST
        .read(&run.kept)?
        .map_or_else(Vec::new, |known| known.reviewers);
    let new: Vec<String> = intent
        .reviewers
        .iter()
        .filter(|name| !asked.contains(name))
        .cloned()
        .collect();
    if !new.is_empty() {
        match forge.ask_to_review(request.number, &asked, &new) {
            Ok(()) => asked.extend(new),
            Err(error) => warnings.push(format!("nobody was asked to review it: {}", error.said)),
        }
    }
    fail_point::reach("request-after-labels");
    let keep = PULL_REQUEST.entry(&KnownPullRequest {
        host: forge.address.host.clone(),
        path: forge.address.path.clone(),
        number: request.number,
        url: request.url.clone(),
        base: intent.base.clone(),
        reviewers: asked,
        issue: intent.issue.clone(),
    })?;
    let warnings: Vec<String> = warnings
        .iter()
        .map(|text| text::plain::one_line(text))
        .collect();
    Ok(Outcome::Done {
        result: json!({
            "number": request.number,
            "url": request.url,
            "created": created,
            "template": created && intent.whole != intent.own,
            "draft": request.draft,
            "base": intent.base,
            "byHand": false,
            "warnings": warnings,
        }),
        keep,
        artifacts: Vec::new(),
    })
}

/// The push is done, and the rest is a person's: that is no failure.
fn done_by_hand(by_hand: &ByHand) -> Outcome {
    Outcome::Done {
        result: json!({
            "number": 0, "url": by_hand.url, "created": false, "byHand": true,
            "why": by_hand.why, "fix": by_hand.fix,
        }),
        keep: Map::new(),
        artifacts: Vec::new(),
    }
}

/// What could not be asked for because nobody may ask is left to a person. What failed on the way is a failure: it is tried again.
fn settled(error: &ForgeError, by_hand: ByHand) -> Outcome {
    let code = match error.trouble {
        ForgeTrouble::ProgramMissing | ForgeTrouble::LoggedOut => return done_by_hand(&by_hand),
        ForgeTrouble::RateLimited | ForgeTrouble::Unreachable => "unreachable",
        ForgeTrouble::Forbidden
        | ForgeTrouble::NotFound
        | ForgeTrouble::Invalid
        | ForgeTrouble::Unexpected => "forge_refused",
    };
    let ByHand { why, fix, url } = by_hand;
    let suggestion = if url.is_empty() {
        fix
    } else {
        format!("{fix}; the branch is pushed, and it can be opened by hand: {url}")
    };
    Outcome::Failed {
        code: code.to_owned(),
        message: why,
        suggestion: Some(suggestion),
        keep: Map::new(),
    }
}

/// Opens one. Where the answer is lost, or somebody was faster, the one that is there is it.
fn opened(
    call: &Call<'_>,
    forge: &Forge,
    run: &RunState,
    intent: &Intent,
) -> Result<Result<PullRequest, ForgeError>, Fault> {
    let body = text_of(call, &intent.whole)?;
    let new = NewPullRequest {
        head: &intent.head,
        base: &intent.base,
        title: &intent.title,
        body: &body,
        draft: intent.draft,
    };
    let error = match forge.create(&new) {
        Ok(new) => return Ok(Ok(new)),
        Err(error) => error,
    };
    let says_there_is = error.said.to_lowercase().contains("already exists");
    if !error.may_be_done() && !says_there_is {
        return Ok(Err(error));
    }
    Ok(
        match target::present(forge, run, &intent.base, &intent.head)? {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(error),
            Err(second) => Err(second),
        },
    )
}

/// Has one say what the run is now.
fn updated(
    call: &Call<'_>,
    forge: &Forge,
    run: &RunState,
    intent: &Intent,
    mut found: PullRequest,
    warnings: &mut Vec<String>,
) -> Result<Result<PullRequest, ForgeError>, Fault> {
    let own = text_of(call, &intent.own)?;
    let body = body::renewed(&found.body, run, &own);
    let body = if body.chars().count() > workspace::forge::LONGEST_BODY {
        warnings.push("what people wrote into it leaves no room for what the run did".to_owned());
        found.body.clone()
    } else {
        body
    };
    // A title that people gave it is theirs.
    let title = if intent.titled {
        &intent.title
    } else {
        &found.title
    };
    if body.trim_end() != found.body.trim_end() || *title != found.title {
        let title = title.clone();
        if let Err(error) = forge.rewrite(&found, &title, &body) {
            return Ok(Err(error));
        }
        found.title = title;
        found.body = body;
    }
    if !found.base.is_empty() && found.base != intent.base {
        if let Err(error) = forge.set_base(found.number, &intent.base) {
            return Ok(Err(error));
        }
        found.base.clone_from(&intent.base);
    }
    if intent.draft_said && intent.draft != found.draft {
        if let Err(error) = forge.set_draft(&found, intent.draft) {
            return Ok(Err(error));
        }
        found.draft = intent.draft;
    }
    Ok(Ok(found))
}

fn text_of(call: &Call<'_>, sha256: &str) -> Result<String, Fault> {
    let bytes = EvidenceStore::new(&call.dir).get(sha256)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
