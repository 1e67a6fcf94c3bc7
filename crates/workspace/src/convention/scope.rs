//! The scope of a commit: the package that its files belong to.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use globset::GlobMatcher;

use super::paths::{self, PatternError};
use super::{has_file, read_manifest};
use text::plain;

/// Longest scope, in characters; it shares the subject's line with the message.
const LONGEST_SCOPE: usize = 24;

/// Names for parts of the project, as `git.scopes` gives them: globs with the scope's name each.
#[derive(Debug, Clone, Default)]
pub struct Scopes {
    named: Vec<(GlobMatcher, String)>,
}

impl Scopes {
    /// The scopes of the settings, as pairs of glob and name; for a file that several globs
    /// match, the first one counts.
    pub fn new<G, N>(named: impl IntoIterator<Item = (G, N)>) -> Result<Self, PatternError>
    where
        G: AsRef<str>,
        N: AsRef<str>,
    {
        let named = named
            .into_iter()
            .map(|(glob, name)| {
                let matcher = paths::glob(glob.as_ref())?.compile_matcher();
                Ok((matcher, clean(name.as_ref(), false)))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { named })
    }

    /// The scope that all of `files` have that have one; `None` where they have several. A file's scope
    /// is the name that the settings give it, else its package: that of the nearest manifest
    /// at or above its folder, by the name in the manifest, else by the folder's.
    pub fn of(&self, files: &[String], root: &Path) -> Option<String> {
        let mut packages = Packages {
            root,
            known: HashMap::new(),
        };
        let mut scopes = BTreeSet::new();
        for file in files.iter().filter(|file| is_inside(file)) {
            let named = self.named.iter().find(|(glob, _)| glob.is_match(file));
            let scope = match named {
                Some((_, name)) => Some(name.clone()),
                None => packages.of(paths::folder(file)),
            };
            scopes.extend(scope.filter(|scope| !scope.is_empty()));
        }
        scopes.pop_first().filter(|_| scopes.is_empty())
    }
}

/// The package of each folder asked about so far.
struct Packages<'a> {
    root: &'a Path,
    known: HashMap<String, Option<String>>,
}

impl Packages<'_> {
    fn of(&mut self, folder: &str) -> Option<String> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let mut at = folder;
        let found = loop {
            if let Some(name) = package_in(self.root, at) {
                break Some(name);
            }
            if at.is_empty() {
                break None;
            }
            at = paths::folder(at);
        };
        self.known.insert(folder.to_owned(), found.clone());
        found
    }
}

/// The name of the package whose manifest lies in `folder`, if one does.
fn package_in(root: &Path, folder: &str) -> Option<String> {
    let place = root.join(folder);
    let read = |name: &str| read_manifest(&place.join(name));
    let named = read("Cargo.toml")
        .and_then(|text| toml_name(&text, &["package"]))
        .or_else(|| read("package.json").and_then(|text| json_name(&text)))
        .or_else(|| {
            let text = read("pyproject.toml")?;
            toml_name(&text, &["project"]).or_else(|| toml_name(&text, &["tool", "poetry"]))
        })
        .or_else(|| read("go.mod").and_then(|text| go_module(&text)))
        .or_else(|| read("composer.json").and_then(|text| json_name(&text)));
    if let Some(name) = named {
        return Some(clean(&name, true)).filter(|name| !name.is_empty());
    }
    // The root's own folder is named as each clone likes it: no name for a commit.
    let unnamed = [
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "mix.exs",
        "setup.py",
        "pubspec.yaml",
        "Package.swift",
        "pyproject.toml",
        "go.mod",
    ];
    if !folder.is_empty() && unnamed.iter().any(|name| has_file(&place, name)) {
        return Some(clean(paths::file_name(folder), true)).filter(|name| !name.is_empty());
    }
    None
}

fn toml_name(text: &str, table: &[&str]) -> Option<String> {
    let document: toml::Table = text.parse().ok()?;
    let mut at = &document;
    for key in table {
        at = at.get(*key)?.as_table()?;
    }
    Some(at.get("name")?.as_str()?.to_owned())
}

fn json_name(text: &str) -> Option<String> {
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    let name = document.get("name")?.as_str()?;
    // `@owner/name` and `vendor/name`: who publishes it is the same for the whole project.
    Some(paths::file_name(name).to_owned())
}

fn go_module(text: &str) -> Option<String> {
    let path = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "))?;
    let path = path.split("//").next()?.trim().trim_matches('"');
    let mut parts = path.rsplit('/');
    let last = parts.next()?;
    let is_major = last
        .strip_prefix('v')
        .is_some_and(|n| n.parse::<u32>().is_ok());
    let name = if is_major {
        parts.next().unwrap_or(last)
    } else {
        last
    };
    Some(name.to_owned())
}

/// A scope that cannot end the parentheses it stands in, nor the line.
fn clean(name: &str, lower: bool) -> String {
    let line = plain::one_line(name);
    let name: String = line
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_./+".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = plain::cut_at_word(name.trim_matches(['-', '.', '/']), LONGEST_SCOPE);
    if lower {
        name.to_lowercase()
    } else {
        name.to_owned()
    }
}

/// Whether the path stays below the project root. The tasks and settings are no package.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.starts_with('/')
        && !path.starts_with(".taskmaster/")
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
