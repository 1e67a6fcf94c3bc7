//! Pushing a branch, and what a remote has.
//!
//! A push says what it expects to find (`--force-with-lease=<ref>:<oid>`), so it never writes over what somebody else pushed:
//! a lease without a value is none, since a fetch in the background renews it. Whether a push whose answer was lost was
//! taken is asked of the remote.

use std::time::Duration;

use super::bounded;
use super::error::GitError;
use super::oid::Oid;
use super::repository::Repository;
use crate::process::ProcessGroup;

/// How long a remote may take to say what it has.
const ASK_LIMIT: Duration = Duration::from_mins(1);

/// Where a remote is, as its settings have it and before any `insteadOf`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteUrls {
    /// Where it is fetched from.
    pub fetch: String,
    /// Where it is pushed to.
    pub push: String,
}

/// What a remote has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteTips {
    /// The branch that its HEAD points to, where it says so.
    pub default_branch: Option<String>,
    /// What the references that were asked about point to, as far as they are there: full name and object.
    pub references: Vec<(String, Oid)>,
}

impl RemoteTips {
    /// What a reference points to that was asked about, by its full name.
    pub fn of(&self, reference: &str) -> Option<&Oid> {
        let mut all = self.references.iter();
        all.find_map(|(name, oid)| (name == reference).then_some(oid))
    }
}

/// One reference that is to be pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedRef {
    /// What it is to point to.
    pub object: Oid,
    /// Its full name on the remote, such as `refs/heads/x`.
    pub name: String,
    /// What it has to point to until then; nothing may be there where that is none.
    pub expected: Option<Oid>,
}

/// Why a push came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushFailure {
    /// The remote has something else than was expected.
    Moved,
    /// The remote, or a hook here, does not take it: rights, protected branches, rules, its own hooks.
    Refused,
    /// No credentials, or none that open it.
    Denied,
    /// There is no such repository, or no such remote.
    Missing,
    /// It cannot be reached now; another time it may be.
    Unreachable,
    /// It took too long and was ended.
    TimedOut,
}

/// A push, or a question to a remote, that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFailure {
    /// Of what kind it is.
    pub why: PushFailure,
    /// What git, the remote and hooks said.
    pub said: String,
}

/// What came of a question to a remote, or of a push.
pub type RemoteResult<T> = Result<Result<T, RemoteFailure>, GitError>;

impl Repository {
    /// Where the remote is; nothing where there is no remote of that name.
    pub fn remote_urls(&self, remote: &str) -> Result<Option<RemoteUrls>, GitError> {
        let value = |name: &str| -> Result<Option<String>, GitError> {
            let text = self.setting(&format!("remote.{remote}.{name}"))?;
            Ok(text.filter(|text| !text.is_empty()))
        };
        if remote.is_empty() || remote.contains(['\0', '\n']) {
            return Ok(None);
        }
        let (fetch, push) = (value("url")?, value("pushurl")?);
        Ok(match (fetch, push) {
            (None, None) => None,
            (Some(url), None) | (None, Some(url)) => Some(RemoteUrls {
                fetch: url.clone(),
                push: url,
            }),
            (Some(fetch), Some(push)) => Some(RemoteUrls { fetch, push }),
        })
    }

    /// Whether any remote is known, as far as the repository's own settings tell at a glance.
    pub fn has_remotes(&self) -> bool {
        let config = std::fs::read_to_string(self.common_dir().join("config"));
        config.is_ok_and(|config| {
            config
                .lines()
                .any(|line| line.trim_start().starts_with("[remote "))
        })
    }

    /// The names of all remotes.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let names = self.git().arg("remote").run()?;
        let names = String::from_utf8_lossy(&names);
        Ok(names.lines().map(str::to_owned).collect())
    }

    /// Asks the remote where its HEAD and references, by their full names, are. A name that ends with `/*` stands for all below it.
    pub fn remote_tips(&self, remote: &str, references: &[&str]) -> RemoteResult<RemoteTips> {
        let git = self
            .git()
            .args(["ls-remote", "--symref", "--", remote, "HEAD"])
            .args(references);
        let ended = bounded::run(&git, &[], ASK_LIMIT, &|_| {})?;
        if !ended.success() {
            return Ok(Err(failure(&ended)));
        }
        let mut tips = RemoteTips::default();
        for line in ended.output.lines() {
            let Some((value, name)) = line.split_once('\t') else {
                continue;
            };
            if let Some(target) = value.strip_prefix("ref: refs/heads/") {
                if name == "HEAD" {
                    tips.default_branch = Some(target.to_owned());
                }
                continue;
            }
            let Ok(oid) = value.parse::<Oid>() else {
                continue;
            };
            // A pattern also finds what ends with it.
            let is_asked = |asked: &&str| {
                let folder = asked.strip_suffix('*');
                folder.map_or(name == *asked, |folder| name.starts_with(folder))
            };
            if references.iter().any(is_asked) {
                tips.references.push((name.to_owned(), oid));
            }
        }
        Ok(Ok(tips))
    }

    /// Pushes a reference where the remote has what is expected there, with the hooks of this repository. One that is as it
    /// should be already is done.
    pub fn push(
        &self,
        remote: &str,
        pushed: &PushedRef,
        limit: Duration,
        on_spawn: &dyn Fn(&ProcessGroup),
    ) -> RemoteResult<()> {
        let PushedRef {
            object,
            name,
            expected,
        } = pushed;
        let expected = expected.as_ref().map_or("", Oid::as_str);
        let git = self
            .git_write()
            .args(["push", "--porcelain", "--no-follow-tags"])
            .arg("--recurse-submodules=no")
            .arg(format!("--force-with-lease={name}:{expected}"))
            .args(["--", remote, &format!("{object}:{name}")]);
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        let ended = self.run_watched(&git, &[], limit, branch, on_spawn)?;
        if ended.success() {
            return Ok(Ok(()));
        }
        Ok(Err(failure(&ended)))
    }

    /// Fetches one reference into another one of this repository, whatever that had.
    pub fn fetch_ref(&self, remote: &str, from: &str, to: &str) -> RemoteResult<()> {
        let git = self
            .git_write()
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"])
            .args(["--recurse-submodules=no", "--", remote])
            .arg(format!("+{from}:{to}"));
        let ended = self.run_watched(&git, &[], ASK_LIMIT, to, &|_| {})?;
        if ended.success() {
            return Ok(Ok(()));
        }
        Ok(Err(failure(&ended)))
    }
}

fn failure(ended: &bounded::Ended) -> RemoteFailure {
    let why = if ended.timed_out() {
        PushFailure::TimedOut
    } else {
        why(ended.exit_code(), &ended.output)
    };
    RemoteFailure {
        why,
        said: without_credentials(&in_short(&ended.output)),
    }
}

/// What a git that failed meant, by its exit status and by what it said in the C locale. `git push --porcelain` has a line
/// `!⇥from:to⇥[rejected] (cause)` for a reference that was not taken.
fn why(exit: Option<i32>, output: &str) -> PushFailure {
    let rejected = output.lines().find(|line| line.starts_with("!\t"));
    let has = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
    if let Some(line) = rejected {
        let is_moved = [
            "(stale info)",
            "(fetch first)",
            "(non-fast-forward)",
            "(remote ref updated since checkout)",
        ];
        if is_moved.iter().any(|cause| line.ends_with(cause)) {
            return PushFailure::Moved;
        }
        return PushFailure::Refused;
    }
    // The server's words come first: an address may hold any of the others.
    if has(&[
        "could not read Username",
        "could not read Password",
        "Authentication failed",
        "Permission denied",
        "Permission to ",
        "terminal prompts disabled",
        "error: 401",
        "error: 403",
        "Host key verification failed",
    ]) {
        return PushFailure::Denied;
    }
    if has(&[
        "does not appear to be a git repository",
        "Repository not found",
        "repository not found",
        "' not found",
        "No such remote",
        "does not exist",
    ]) {
        return PushFailure::Missing;
    }
    match exit {
        Some(128) | None => PushFailure::Unreachable,
        Some(_) => PushFailure::Refused,
    }
}

/// What git said, without what it says each time: of a reference that was not taken only why.
fn in_short(output: &str) -> String {
    let told = |line: &str| !matches!(line, "Done" | "") && !line.starts_with("To ");
    let lines = output.lines().filter(|line| told(line)).filter_map(|line| {
        match line.strip_prefix("!\t") {
            Some(rejected) => rejected.rsplit('\t').next(),
            None => (!line.starts_with("error: failed to push some refs")).then_some(line),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What git said, without what stands between `//` and `@` of an address: a token may be part of it.
fn without_credentials(output: &str) -> String {
    let mut clean = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '\'' || c == '"')
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(user) => &after[user + 1..],
            None => after,
        };
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        for case in [
            "1 !\tabc:refs/heads/b\t[rejected] (stale info) ⇒ Moved",
            "1 !\tabc:refs/heads/b\t[rejected] (fetch first) ⇒ Moved",
            "1 !\tabc:refs/heads/b\t[remote rejected] (pre-receive hook declined) ⇒ Refused",
            "1 !\tabc:refs/heads/b\t[remote rejected] (protected branch hook declined) ⇒ Refused",
            "1 error: failed to push some refs to 'x' ⇒ Refused",
            "128 fatal: could not read Username for 'https://x': terminal prompts disabled ⇒ Denied",
            "128 git@x: Permission denied (publickey).\nfatal: Could not read from remote repository. ⇒ Denied",
            "128 fatal: unable to access 'https://x/': The requested URL returned error: 403 ⇒ Denied",
            "128 remote: Repository not found.\nfatal: repository 'https://x/' not found ⇒ Missing",
            "128 fatal: unable to access 'https://x/': Could not resolve host: x ⇒ Unreachable",
            "128 fatal: the remote end hung up unexpectedly ⇒ Unreachable",
        ] {
            let (output, expected) = case.split_once(" ⇒ ").unwrap();
            let (exit, output) = output.split_once(' ').unwrap();
            let output = format!("To x\n{output}\nDone");
            let found = format!("{:?}", why(exit.parse().ok(), &output));
            assert_eq!(found, expected, "{output}");
        }
    }

    #[test]
    fn credentials_are_not_repeated() {
        assert_eq!(
            without_credentials("To https://me:s3cret@x.org/a.git\nfatal: 'ssh://git@y/b' @ z"),
            "To https://x.org/a.git\nfatal: 'ssh://y/b' @ z"
        );
    }
}
