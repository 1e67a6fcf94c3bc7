//! The settings that runs began with, beside those that are committed: what was weaker, and stands nowhere.

use std::path::Path;
use std::str::FromStr as _;

use workspace::config::{Config, PROJECT_FILE, Settings, loosened, of_text};
use workspace::git::{Oid, Repository};

use crate::capability::tests::read::few;
use crate::fault::Fault;
use crate::proof::Verified;
use crate::proof::range::Range;
use crate::proof::source::SourceIndex;

/// The settings of the project at `root` as a commit has them, whatever is set here.
pub(super) fn committed(
    root: &Path,
    repository: &Repository,
    commit: &Oid,
) -> Result<Settings, Fault> {
    let path = repository.relative(&root.join(PROJECT_FILE));
    let text = path
        .map(|path| repository.file_at(commit, &path))
        .transpose()?;
    Ok(of_text(root, text.flatten())?)
}

/// What a run began with that is weaker than the settings of its first commit, or stands in none.
pub(super) fn of_run(
    root: &Path,
    repository: &Repository,
    known: &SourceIndex,
) -> Result<Option<String>, Fault> {
    let Some(beginning) = &known.beginning else {
        return Ok(None);
    };
    let Ok(head) = Oid::from_str(&beginning.head) else {
        return Ok(None);
    };
    if !repository.has_commit(&head)? {
        return Ok(None);
    }
    let committed = match read(root, repository, &head) {
        Ok(committed) => committed,
        Err(why) => return Ok(Some(why)),
    };
    let mut differ = weaker(&committed, &beginning.config);
    if beginning.config.test.command.is_some()
        && beginning.config.test.command != committed.test.command
    {
        differ.push(format!("the test command `{}`", beginning.command));
    }
    Ok((!differ.is_empty()).then(|| {
        format!(
            "{} began with settings that no commit has: {}",
            known.source.run,
            few(&differ)
        )
    }))
}

/// What the last commit of a range has weaker than the one before the range.
pub(super) fn of_range(root: &Path, repository: &Repository, range: &Range) -> Option<String> {
    let (base, tip) = (range.base.as_ref()?, range.commits.last()?);
    let of = |commit| read(root, repository, commit);
    let differ = match (of(base), of(&tip.oid)) {
        (Ok(base), Ok(tip)) => weaker(&base, &tip),
        (Err(why), _) | (_, Err(why)) => return Some(why),
    };
    (!differ.is_empty()).then(|| format!("settings are weaker behind the range: {}", few(&differ)))
}

/// The committed settings, or why they cannot be read: those of long ago may be of another version.
fn read(root: &Path, repository: &Repository, commit: &Oid) -> Result<Config, String> {
    let settings = committed(root, repository, commit);
    settings.map(|settings| settings.config).map_err(|fault| {
        format!(
            "the settings of {} cannot be read: {}",
            commit.short(),
            fault.message
        )
    })
}

fn weaker(was: &Config, is: &Config) -> Vec<String> {
    let weaker = loosened(was, is).into_iter();
    weaker
        .map(|one| format!("{} {}, for {}", one.key, one.is, one.was))
        .collect()
}

impl Verified {
    /// Adds what was set weaker than it is committed, which may be refused.
    pub(super) fn with_settings(mut self, settings: Vec<String>, is_strict: bool) -> Self {
        if is_strict && !settings.is_empty() && self.verified {
            self.verified = false;
            self.code = Some("config_loosened");
            self.message = String::from("the commits rest on settings that are not committed");
            self.suggestion = Some(
                "commit the settings before a run begins, on the branch that it begins from"
                    .to_owned(),
            );
        }
        self.settings = settings;
        self
    }
}
