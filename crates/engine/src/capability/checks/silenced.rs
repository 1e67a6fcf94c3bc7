//! Whether checks are told to overlook something: by words in a file, or by what sets them up.

use std::collections::BTreeMap;

use workspace::checks::Check;
use workspace::convention::paths::PathClass;
use workspace::git::TreeChange;

use super::{Report, TrustedChecks};
use crate::capability::tests::read::few;
use crate::fault::Fault;

/// Words that have a linter, a formatter or a type checker overlook what stands beside or below.
const WORDS: [&str; 25] = [
    "noqa",
    "type: ignore",
    "pyright: ignore",
    "pylint: disable",
    "fmt: off",
    "fmt: skip",
    "mypy: ignore-errors",
    "eslint-disable",
    "@ts-ignore",
    "@ts-expect-error",
    "@ts-nocheck",
    "biome-ignore",
    "prettier-ignore",
    "#[allow(",
    "#![allow(",
    "#[expect(",
    "rustfmt::skip",
    "nolint",
    "NOLINT",
    "rubocop:disable",
    "rubocop:todo",
    "shellcheck disable",
    "phpstan-ignore",
    "@codingStandardsIgnore",
    "@SuppressWarnings",
];

fn number(text: &str) -> usize {
    WORDS.iter().map(|word| text.matches(word).count()).sum()
}

impl Report<'_> {
    /// What they are told to overlook since the last commit, each in words.
    pub(super) fn silenced(&self) -> Result<Vec<String>, Fault> {
        let mut told = Vec::new();
        for change in &self.changes {
            let (then, now) = self.numbers(change)?;
            if now > then {
                told.push(format!("{} ({then} → {now})", change.path));
            }
        }
        Ok(told)
    }

    /// The checks that were set up otherwise, or are gone, each with what is to be said of it.
    pub(super) fn altered(&self, checks: &TrustedChecks) -> BTreeMap<String, String> {
        let mut told = BTreeMap::new();
        for name in self.before.names() {
            let present = checks.trusted.iter().find(|check| check.name == name);
            let why = match present {
                // That it is not installed is told by its run.
                Some(check) if check.program.is_none() => None,
                Some(check) => match &self.before.other_parts(check, self.place.root)[..] {
                    [] => self.nested_settings(check).map(|file| {
                        format!("has settings of its own in a folder, or overlooks files: {file}")
                    }),
                    others => Some(format!("is set up or run otherwise: {}", few(others))),
                },
                None if checks.untrusted.iter().any(|other| other == name) => {
                    Some("runs something that no person trusted".to_owned())
                }
                None => Some("is set up no more".to_owned()),
            };
            told.extend(why.map(|why| (name.to_owned(), why)));
        }
        told
    }

    /// A changed file that sets a check up beside those that set it up for the whole.
    fn nested_settings(&self, check: &Check) -> Option<String> {
        let repository = self.place.repository;
        let changes = self.changes.iter();
        let mut names = changes.map(|change| repository.name_in_scope(&change.path));
        names.find(|name| {
            let own = name.rsplit('/').next().unwrap_or(name);
            let is_known = check.settings.iter().any(|settings| settings.file == *name);
            check.nested.contains(&own) && !is_known
        })
    }

    /// How many such words a changed file had at the last commit, and has now.
    fn numbers(&self, change: &TreeChange) -> Result<(usize, usize), Fault> {
        let repository = self.place.repository;
        let classes = self.memory.start.classes()?;
        let name = repository.name_in_scope(&change.path);
        if classes.of(&name) == PathClass::Docs || change.after.is_none() {
            return Ok((0, 0));
        }
        let former = self.former.get(&name);
        let former = former.and_then(|name| repository.relative(&self.place.root.join(name)));
        let path = former.filter(|_| change.before.is_none());
        let then = repository.file_at(&self.last, &path.unwrap_or_else(|| change.path.clone()))?;
        let now = std::fs::read(repository.absolute(&change.path)).unwrap_or_default();
        Ok((
            then.as_deref().map_or(0, number),
            number(&String::from_utf8_lossy(&now)),
        ))
    }
}
