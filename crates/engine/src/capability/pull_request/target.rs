//! Where a pull request goes: the forge, its repository, and the branch that it is to be merged into.

use machine::RunState;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workspace::forge::{
    Forge, ForgeAddress, ForgeError, ForgeTrouble, PullRequest, PullRequestState,
};
use workspace::git::{RemoteTips, Repository};

use crate::call::Call;
use crate::capability::git::effects::push::reference;
use crate::capability::memory::{Memory, PULL_REQUEST};
use crate::fault::Fault;
use crate::refusal;
use crate::support::refusal;
use machine::Refusal;

/// How a person opens or updates a pull request where this program cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ByHand {
    /// Why this program cannot.
    pub(crate) why: String,
    /// What to do about that, where something can be done.
    pub(crate) fix: String,
    /// The page on which it is opened; empty where that is not known.
    pub(crate) url: String,
}

/// The branch that it is to be merged into: as the command or the settings say, else the one that the run was begun from where
/// the remote has that, else the default one of the remote.
pub(crate) fn base(
    call: &Call<'_>,
    memory: &Memory,
    flags: &Map<String, Value>,
    tips: &RemoteTips,
) -> Result<String, Refusal> {
    let said = flags
        .get("base")
        .and_then(Value::as_str)
        .or(call.pinned.submit.base.as_deref());
    if let Some(said) = said {
        if tips.of(&reference(said)).is_none() {
            return Err(refusal!("not_found.base", said));
        }
        return Ok(said.to_owned());
    }
    let from = memory.start.from_branch.as_ref();
    if let Some(from) = from
        && *from != memory.start.branch
        && tips.of(&reference(from)).is_some()
    {
        return Ok(from.clone());
    }
    tips.default_branch.clone().ok_or_else(|| {
        let why = match from {
            Some(from) => format!("the remote has no branch `{from}`"),
            None => "the run began on no branch".to_owned(),
        };
        refusal!("not_found.default_branch", why)
    })
}

/// The issue that it closes, as a forge takes it: `#12`, `owner/name#12` or an address. Nothing else gets into its body by that way.
pub(crate) fn issue(flags: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let Some(said) = flags.get("issue").and_then(Value::as_str) else {
        return Ok(None);
    };
    let said = said.trim();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte))
    };
    if is_number(said) {
        return Ok(Some(format!("#{said}")));
    }
    let is_named = said
        .rsplit_once('#')
        .is_some_and(|(path, number)| is_number(number) && is_plain(path));
    let is_address = said
        .strip_prefix("https://")
        .is_some_and(|rest| is_plain(rest) && rest.rsplit('/').next().is_some_and(is_number));
    if is_named || is_address {
        return Ok(Some(said.to_owned()));
    }
    Err(refusal!("usage.issue", said = text::plain::one_line(said)))
}

/// The branches that may be the base, by their full names: they are asked about with the run's own.
pub(crate) fn bases(call: &Call<'_>, memory: &Memory, flags: &Map<String, Value>) -> Vec<String> {
    let said = flags.get("base").and_then(Value::as_str);
    [
        said,
        call.pinned.submit.base.as_deref(),
        memory.start.from_branch.as_deref(),
    ]
    .into_iter()
    .flatten()
    .map(reference)
    .collect()
}

/// The forge of a remote, or how a person does it.
pub(crate) fn forge(
    call: &Call<'_>,
    repository: &Repository,
    remote: &str,
    (base, head): (&str, &str),
) -> Result<Result<Forge, ByHand>, Fault> {
    let urls = repository.remote_urls(remote)?;
    let Some(address) = urls.and_then(|urls| ForgeAddress::of_remote(&urls.push)) else {
        return Ok(Err(ByHand {
            why: format!("{remote} is no place that pull requests are known of"),
            fix: "ask whoever keeps it to take the branch".to_owned(),
            url: String::new(),
        }));
    };
    Ok(match address.kind(call.pinned.submit.forge) {
        Some(kind) => Ok(Forge::new(kind, address, repository.top_level())),
        None => Err(ByHand {
            why: format!("it is not known what {} is", address.host),
            fix: "where it is GitHub or GitLab, say so with `submit.forge` in the settings"
                .to_owned(),
            url: address.compare_url(None, base, head),
        }),
    })
}

/// How a person does what a forge could not be asked for.
pub(crate) fn by_hand(forge: &Forge, error: &ForgeError, base: &str, head: &str) -> ByHand {
    let program = forge.kind.program();
    let host = &forge.address.host;
    let (why, fix) = match error.trouble {
        ForgeTrouble::ProgramMissing => (
            format!("`{program}` is not installed"),
            format!(
                "install it and log in (`{program} auth login --hostname {host}`), then submit again"
            ),
        ),
        ForgeTrouble::LoggedOut => (
            format!("`{program}` is not logged in to {host}"),
            format!("log in (`{program} auth login --hostname {host}`), then submit again"),
        ),
        ForgeTrouble::Forbidden => (
            format!("{host} does not let `{program}` do that"),
            "give its login the rights to open pull requests, then submit again".to_owned(),
        ),
        ForgeTrouble::NotFound => (
            format!("`{program}` cannot see {} on {host}", forge.address.path),
            "see that its login may see the repository, then submit again".to_owned(),
        ),
        ForgeTrouble::RateLimited => (
            format!("{host} takes no more requests for now"),
            "submit again in an hour".to_owned(),
        ),
        ForgeTrouble::Unreachable => (
            format!("{host} cannot be reached, or does not answer"),
            "submit again when it can be: what was done is looked for first".to_owned(),
        ),
        ForgeTrouble::Invalid | ForgeTrouble::Unexpected => (
            format!("{host} did not take it"),
            "what it says tells why; settle that, then submit again".to_owned(),
        ),
    };
    ByHand {
        why: format!("{why}: {}", text::plain::one_line(&error.said)),
        fix,
        url: forge.address.compare_url(Some(forge.kind), base, head),
    }
}

/// What marks the body of a pull request as that of a run.
pub(crate) fn mark(run: &str) -> String {
    format!("<!-- tramline run {} -->", run.replace("--", "- -"))
}

/// The pull request of a run, if there is one: the one that is known, else an open one of the same branches, else one that was
/// opened for this very run.
pub(crate) fn present(
    forge: &Forge,
    run: &RunState,
    base: &str,
    head: &str,
) -> Result<Result<Option<PullRequest>, ForgeError>, Fault> {
    let known = PULL_REQUEST.read(&run.kept)?;
    let here = &forge.address;
    let known = known.filter(|known| known.host == here.host && known.path == here.path);
    if let Some(known) = known {
        return Ok(forge.pull_request(known.number).map(Some));
    }
    let all = match forge.find(head, base) {
        Ok(all) => all,
        Err(error) => return Ok(Err(error)),
    };
    let mark = mark(&run.run);
    let open = all.iter().find(|one| one.state == PullRequestState::Open);
    let ours = || all.iter().find(|one| one.body.contains(&mark));
    Ok(Ok(open.or_else(ours).cloned()))
}

/// Nothing is put on top of what somebody closed or merged.
pub(crate) fn is_open(found: &PullRequest) -> Result<(), Refusal> {
    let (code, is, fix) = match found.state {
        PullRequestState::Open => return Ok(()),
        PullRequestState::Closed => (
            "not_possible",
            "closed",
            "ask why; whoever may open it again there does, and then it is submitted again",
        ),
        PullRequestState::Merged => (
            "not_possible",
            "merged already",
            "what is left to do is another run, from the branch that it was merged into",
        ),
    };
    Err(
        refusal(code, format!("the pull request {} is {is}", found.url), fix)
            .detail("url", found.url.as_str())
            .detail("number", found.number),
    )
}
