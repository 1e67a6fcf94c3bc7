//! `tm self`.

use std::time::Duration;

use engine::Kind;
use engine::formats::{Format, Kept, formats};
use serde::Serialize;
use workspace::git::remote_tags;

use super::{DONE, Outcome, open};
use crate::cli::setup::{Own, OwnCommand};
use crate::output::Output;

/// What the versions before and this one brought, for people.
const CHANGES: &str = include_str!("../../../../CHANGELOG.md");

/// Where released versions have their tags.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// How long it is waited for what the repository says.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What is known of this program.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SelfCheck {
    /// Its version.
    pub version: &'static str,
    /// The file that was started.
    pub program: Option<String>,
    /// What it reads and writes.
    pub formats: [Format; 4],
    /// What is kept.
    pub kept: Kept,
    /// The newest version there is, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
    /// Why that is not known, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_told: Option<String>,
    /// What changed in this version, as Markdown.
    pub changes: String,
}

/// Carries out a command of `tm self`.
pub fn run(own: Own, output: &mut Output) -> Outcome {
    let OwnCommand::Check { online } = own.command;
    let engine = open(own.place.project_root, None, "tm self check")?;
    let program = std::env::current_exe().ok();
    let (newest, not_told) = match online.then(newest) {
        None => (None, None),
        Some(Ok(newest)) => (Some(newest), None),
        Some(Err(why)) => (None, Some(format!("{REPOSITORY} did not tell: {why}"))),
    };
    let check = SelfCheck {
        version: env!("CARGO_PKG_VERSION"),
        program: program.map(|program| program.display().to_string()),
        formats: formats(),
        kept: engine.kept_by_format()?,
        newest,
        not_told,
        changes: changes(env!("CARGO_PKG_VERSION")),
    };
    output.page(&check, "self_check")?;
    if check.kept.newer.is_empty() {
        return Ok(DONE);
    }
    Ok(Kind::Environment.exit_status())
}

/// What the changelog says of a version, without the heading.
fn changes(version: &str) -> String {
    let heading = format!("## {version}");
    let sections = CHANGES.split("\n## ");
    let section = sections.skip(1).find(|section| {
        let title = section.lines().next().unwrap_or_default();
        format!("## {title}").starts_with(&heading)
    });
    let text = section.and_then(|section| section.split_once('\n'));
    text.map_or_else(String::new, |(_, text)| text.trim().to_owned())
}

/// The newest version that the project's repository has a tag of.
fn newest() -> Result<String, String> {
    let tags = remote_tags(REPOSITORY, "v*", TIMEOUT)?;
    let newest = tags
        .iter()
        .filter_map(|tag| numbers(tag.strip_prefix('v')?))
        .max();
    let newest = newest.ok_or("it has no version yet")?;
    Ok(newest.map(|number| number.to_string()).join("."))
}

/// The numbers of a version; none of one that is not released, such as `1.0.0-rc.1`.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_has_a_section_of_this_version() {
        let changes = changes(env!("CARGO_PKG_VERSION"));
        assert!(changes.contains("\n- "), "{changes}");
        assert!(!changes.contains("\n## "), "{changes}");
    }

    #[test]
    fn versions_come_by_their_numbers() {
        assert!(numbers("0.10.0") > numbers("0.9.12"));
        assert_eq!(numbers("1.0.0-rc.1"), None);
        assert_eq!(numbers("1.0"), None);
        assert_eq!(numbers("1.0.0.1"), None);
    }
}
