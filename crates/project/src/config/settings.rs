//! The settings in force, put together from every place.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::environment::Environment;
use super::error::ConfigError;
use super::keys::keys;
use super::layer::{self, Owner, Setting};
use super::values::{Config, Flaky, Severity};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Origin {
    /// A flag of the command.
    Flag,
    /// An environment variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// The project's config.
    ProjectFile {
        /// The file.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
    },
    /// The user's own config.
    UserFile {
        /// The file.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
    },
    /// Nothing sets it.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment { name } => write!(f, "environment {name}"),
            Self::ProjectFile { path, line } => write!(f, "project {}:{line}", path.display()),
            Self::UserFile { path, line } => write!(f, "user {}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The settings in force in a project.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The values.
    pub config: Config,
    /// Where each came from, by dotted name of every key.
    pub origins: BTreeMap<String, Origin>,
    /// The files that were read, the strongest first.
    pub files: Vec<PathBuf>,
    /// The project.
    pub root: PathBuf,
    /// Where runs are kept: `autopilot.storage.basePath` as a path.
    pub store: PathBuf,
}

/// A file of settings as it was read.
type ConfigFile = (PathBuf, String);

/// All that settings are made of.
#[derive(Debug, PartialEq)]
struct Given {
    root: PathBuf,
    user: Option<ConfigFile>,
    project: Option<ConfigFile>,
    environment: Environment,
    flags: BTreeMap<String, Value>,
}

/// Reads the settings of the project at `root`. `flags` are values by dotted name, from the command line.
///
/// Both files are read each time; a process that asks again gets the same settings while they say the same.
pub fn load(
    root: &Path,
    flags: &BTreeMap<String, Value>,
    environment: &Environment,
) -> Result<Arc<Settings>, ConfigError> {
    /// The settings that were asked for last.
    static LAST: Mutex<Option<(Given, Arc<Settings>)>> = Mutex::new(None);
    let project_file = root.join(".taskmaster/config.json");
    let user_file = environment
        .store()
        .map(|store| root.join(store).join("config.json"));
    let project = layer::read(&project_file)?;
    let user = match user_file {
        Some(path) => layer::read(&path)?
            .filter(|_| project.is_none() || !same_file(&path, &project_file))
            .map(|text| (path, text)),
        None => None,
    };
    let project = project.map(|text| (project_file, text));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((given, settings)) = &*last
        && given.root == root
        && given.user == user
        && given.project == project
        && given.environment == *environment
        && given.flags == *flags
    {
        return Ok(Arc::clone(settings));
    }
    let given = Given {
        root: root.to_owned(),
        user,
        project,
        environment: environment.clone(),
        flags: flags.clone(),
    };
    let settings = Arc::new(put_together(&given)?);
    *last = Some((given, Arc::clone(&settings)));
    Ok(settings)
}

fn put_together(given: &Given) -> Result<Settings, ConfigError> {
    let Given {
        root,
        user,
        project,
        environment,
        flags,
    } = given;
    let mut files = Vec::new();
    // From the weakest to the strongest: a later value takes the place of an earlier one.
    let mut layers: Vec<Vec<Setting>> = Vec::new();
    for (file, owner) in [(user, Owner::User), (project, Owner::Project)] {
        if let Some((path, text)) = file {
            layers.push(layer::of_file(path, text, owner)?);
            files.insert(0, path.clone());
        }
    }
    layers.push(layer::of_environment(environment)?);
    layers.push(layer::of_flags(
        flags.iter().map(|(name, value)| (name.as_str(), value)),
    )?);

    let mut origins: BTreeMap<String, Origin> = keys()
        .map(|name| (name.to_owned(), Origin::Default))
        .collect();
    let mut values = Value::Object(serde_json::Map::new());
    for setting in layers.into_iter().flatten() {
        put(&mut values, setting.key.name, setting.value);
        origins.insert(setting.key.name.to_owned(), setting.origin);
    }
    let mut config: Config =
        serde_json::from_value(values).map_err(|source| ConfigError::Inconsistent { source })?;
    settle(&mut config, &mut origins);
    let store = root.join(environment.expand(&config.autopilot.storage.base_path));
    Ok(Settings {
        config,
        origins,
        files,
        root: root.clone(),
        store,
    })
}

/// Two settings say the same as a policy does. After this the policies alone tell what holds.
fn settle(config: &mut Config, origins: &mut BTreeMap<String, Origin>) {
    let evidence = &mut config.evidence;
    if evidence.require_coverage && evidence.policy.coverage_missing < Severity::Refuse {
        evidence.policy.coverage_missing = Severity::Refuse;
        inherit(
            origins,
            "evidence.requireCoverage",
            "evidence.policy.coverage_missing",
        );
    }
    if origins.get("evidence.policy.flaky") == Some(&Origin::Default) {
        evidence.policy.flaky = match evidence.flaky {
            Flaky::Warn => Severity::Warn,
            Flaky::Refuse => Severity::Refuse,
        };
        inherit(origins, "evidence.flaky", "evidence.policy.flaky");
    }
}

/// What one key has from another has the other's origin.
fn inherit(origins: &mut BTreeMap<String, Origin>, from: &str, to: &str) {
    if let Some(origin) = origins.get(from).cloned() {
        origins.insert(to.to_owned(), origin);
    }
}

/// Sets the value of a dotted name in nested objects.
fn put(values: &mut Value, name: &str, value: Value) {
    let mut at = values;
    for part in name.split('.') {
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = &mut at[part];
    }
    *at = value;
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

impl Settings {
    /// The value of a key by its dotted name, as JSON; `None` where there is no such key.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.origins
            .contains_key(key)
            .then(|| self.config.value(key))
            .flatten()
    }
}

impl Config {
    /// The config as JSON, every value present.
    pub fn to_json(&self) -> Value {
        // Maps with text keys, numbers that were checked to be finite: nothing in it can fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The value of a key or section by its dotted name, as JSON.
    pub fn value(&self, key: &str) -> Option<Value> {
        key.split('.')
            .try_fold(self.to_json(), |at, part| match at {
                Value::Object(mut map) => map.remove(part),
                _ => None,
            })
    }
}
