//! What the project's tests need and a fresh checkout lacks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::command::nul_separated;
use super::error::GitError;
use super::repository::Repository;
use crate::convention::paths::{file_name, folder};
use crate::convention::read_manifest;

/// Manifests, with the folders beside them into which their dependencies are installed. Cargo, Go, Maven, Gradle, .NET and
/// others keep theirs in the user's home, where every checkout finds them.
const INSTALLED: &[(&str, &[&str])] = &[
    ("package.json", &["node_modules", ".pnp.cjs"]),
    ("bower.json", &["bower_components"]),
    ("composer.json", &["vendor"]),
    ("Gemfile", &["vendor/bundle"]),
    ("mix.exs", &["deps"]),
    ("Podfile", &["Pods"]),
    ("Cartfile", &["Carthage"]),
    ("pyproject.toml", PYTHON),
    ("setup.py", PYTHON),
    ("Pipfile", PYTHON),
    ("requirements.txt", PYTHON),
    ("requirements-dev.txt", PYTHON),
];

const PYTHON: &[&str] = &[".venv", "venv", "__pypackages__"];

/// Folders of others' packages, whose manifests are not the project's.
const FOREIGN: &[&str] = &[
    "node_modules",
    "bower_components",
    "vendor",
    "Pods",
    "deps",
    "site-packages",
];

/// What tests may need and a fresh checkout of the last commit does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// What is installed here and not tracked: files and folders, relative to the top level.
    pub installed: Vec<String>,
    /// What the project's own manifest asks for, and is not there yet.
    pub missing: Vec<String>,
}

impl Repository {
    /// What the tests may need and a fresh checkout of the last commit does not have.
    pub fn dependencies(&self) -> Result<Dependencies, GitError> {
        let mut present = BTreeSet::new();
        let mut missing = BTreeSet::new();
        let scope = self.scope().into_owned();
        for manifest in self.manifests(&scope)? {
            let below = folder(&manifest);
            let join = |name: &str| {
                if below.is_empty() {
                    name.to_owned()
                } else {
                    format!("{below}/{name}")
                }
            };
            let Some((_, places)) = INSTALLED
                .iter()
                .find(|(name, _)| *name == file_name(&manifest))
            else {
                continue;
            };
            let mut found = false;
            for place in *places {
                let place = join(place);
                if self.top_level().join(&place).symlink_metadata().is_ok() {
                    found = true;
                    present.insert(place);
                }
            }
            // Manifests further down may be of examples that nobody installs.
            if !found
                && below == scope.trim_end_matches('/')
                && self.asks_for_packages(&manifest)
                && !self.is_above(&scope, places)
            {
                missing.insert(join(places[0]));
            }
        }
        let tracked = self.tracked(&present)?;
        Ok(Dependencies {
            installed: present.difference(&tracked).cloned().collect(),
            missing: missing.into_iter().collect(),
        })
    }

    /// The manifests of the project, and those of the folders above it in the repository.
    fn manifests(&self, scope: &str) -> Result<Vec<String>, GitError> {
        let is_manifest = |path: &str| INSTALLED.iter().any(|(name, _)| *name == file_name(path));
        let mut manifests: Vec<String> = self
            .files(None)?
            .into_iter()
            .filter(|path| is_manifest(path))
            .filter(|path| !folder(path).split('/').any(|part| FOREIGN.contains(&part)))
            .collect();
        let above = scope.trim_end_matches('/');
        let mut above = if above.is_empty() {
            None
        } else {
            Some(folder(above))
        };
        while let Some(place) = above {
            for (name, _) in INSTALLED {
                let path = if place.is_empty() {
                    (*name).to_owned()
                } else {
                    format!("{place}/{name}")
                };
                if self.top_level().join(&path).is_file() {
                    manifests.push(path);
                }
            }
            above = (!place.is_empty()).then(|| folder(place));
        }
        Ok(manifests)
    }

    /// Whether a manifest names packages that are installed beside it, as far as that can be told for certain.
    fn asks_for_packages(&self, manifest: &str) -> bool {
        let lists: &[&str] = match file_name(manifest) {
            "package.json" => &["dependencies", "devDependencies"],
            "composer.json" => &["require", "require-dev"],
            _ => return false,
        };
        let read = read_manifest(&self.top_level().join(manifest));
        let Some(Ok(text)) = read.map(|text| serde_json::from_str::<Value>(&text)) else {
            return false;
        };
        // `php` and `ext-…` are the platform; a package has its owner's name before it.
        let is_package = |name: &str| file_name(manifest) != "composer.json" || name.contains('/');
        lists
            .iter()
            .filter_map(|list| text.get(*list)?.as_object())
            .any(|list| list.keys().any(|name| is_package(name)))
    }

    /// Whether a folder above the project, in the repository, holds what would lie in the project.
    fn is_above(&self, scope: &str, places: &[&str]) -> bool {
        let project = self.top_level().join(scope);
        project
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(self.top_level()))
            .any(|folder| places.iter().any(|place| folder.join(place).exists()))
    }

    /// Which of the places the last commit holds.
    fn tracked(&self, places: &BTreeSet<String>) -> Result<BTreeSet<String>, GitError> {
        if places.is_empty() || self.resolve("HEAD")?.is_none() {
            return Ok(BTreeSet::new());
        }
        let output = self
            .git()
            .args(["ls-tree", "-z", "--full-tree", "--name-only", "HEAD", "--"])
            .args(places)
            .run()?;
        Ok(nul_separated(&output)
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }
}
