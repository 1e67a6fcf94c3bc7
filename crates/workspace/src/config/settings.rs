//! The settings in force, put together from every place.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::environment::Environment;
use super::error::{ConfigError, ValuePlace};
use super::keys::{WeakerBy, keys};
use super::layer::{self, Owner, Setting};
use super::values::{Config, Severity, Storage};

/// The settings of a project, below its root.
pub const PROJECT_FILE: &str = ".taskmaster/config.json";

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

impl Origin {
    fn is_file(&self) -> bool {
        matches!(self, Self::ProjectFile { .. } | Self::UserFile { .. })
    }
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
    /// Where runs are kept: `autopilot.storage.basePath` as an absolute path.
    pub store: PathBuf,
    /// What was given and does not count, since it would make the rails weaker than another place has them.
    pub overruled: Vec<OverriddenValue>,
    /// What was given in the environment and sets nothing.
    pub unread: Vec<UnreadVariable>,
}

impl Settings {
    /// All that was given and does not count, as a person is told.
    pub fn not_in_force(&self) -> impl Iterator<Item = String> {
        let overruled = self.overruled.iter().map(ToString::to_string);
        overruled.chain(self.unread.iter().map(ToString::to_string))
    }
}

/// A variable of the environment that is named as one of a setting would be, and sets none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadVariable {
    /// What it is called.
    pub name: String,
    /// The variable of a setting that is spelt most like it.
    pub nearest: Option<String>,
}

impl fmt::Display for UnreadVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the variable {} sets nothing", self.name)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; is {nearest} meant?"),
            None => Ok(()),
        }
    }
}

/// A value that was given and does not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverriddenValue {
    /// The dotted name of its key.
    pub key: String,
    /// What was given.
    pub value: Value,
    /// Who gave it.
    pub origin: Origin,
    /// Whose value counts instead.
    pub by: Origin,
}

impl fmt::Display for OverriddenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            key,
            value,
            origin,
            by,
        } = self;
        write!(
            f,
            "`{key}` stays as it is ({by}): {value} ({origin}) would be weaker"
        )
    }
}

/// A file of settings as it was read.
type ConfigFile = (PathBuf, String);

/// All that settings are made of.
#[derive(Debug, PartialEq)]
struct Sources {
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
    static LAST: Mutex<Option<(Sources, Arc<Settings>)>> = Mutex::new(None);
    let given = sources(root, flags, environment)?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, settings)) = &*last
        && *known == given
    {
        return Ok(Arc::clone(settings));
    }
    let settings = Arc::new(put_together(&given)?);
    *last = Some((given, Arc::clone(&settings)));
    Ok(settings)
}

/// The settings of a project whose file at `root` has this text, or that has none: without the person's own, and without the environment.
///
/// # Errors
/// The first thing that is wrong with them, with its place.
pub fn of_text(root: &Path, text: Option<String>) -> Result<Settings, ConfigError> {
    // Where runs lie belongs to a machine: of these settings it is not asked.
    let home = [("HOME".to_owned(), "/".to_owned())];
    put_together(&Sources {
        root: root.to_owned(),
        user: None,
        project: text.map(|text| (root.join(PROJECT_FILE), text)),
        environment: home.into_iter().collect(),
        flags: BTreeMap::new(),
    })
}

/// Checks the settings of the project at `root` as they would be if a file had this text: the project's, or the person's own.
///
/// # Errors
/// The first thing that is wrong with them, with its place.
pub fn check_file(
    root: &Path,
    environment: &Environment,
    (path, text): (&Path, &str),
    is_project: bool,
) -> Result<(), ConfigError> {
    let mut given = sources(root, &BTreeMap::new(), environment)?;
    let file = Some((path.to_owned(), text.to_owned()));
    if is_project {
        given.project = file;
    } else {
        given.user = file;
    }
    put_together(&given).map(drop)
}

/// Reads what settings are made of.
fn sources(
    root: &Path,
    flags: &BTreeMap<String, Value>,
    environment: &Environment,
) -> Result<Sources, ConfigError> {
    let project_file = root.join(PROJECT_FILE);
    let user_file = environment
        .store()
        .map(|store| root.join(store).join("config.json"));
    // Where the home is the project, its one file is the person's own.
    let project = match &user_file {
        Some(own) if same_file(own, &project_file) => None,
        _ => layer::read(&project_file)?,
    };
    let user = match user_file {
        Some(path) => layer::read(&path)?.map(|text| (path, text)),
        None => None,
    };
    Ok(Sources {
        root: root.to_owned(),
        user,
        project: project.map(|text| (project_file, text)),
        environment: environment.clone(),
        flags: flags.clone(),
    })
}

fn put_together(given: &Sources) -> Result<Settings, ConfigError> {
    let Sources {
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
    let mut values = Config::default().to_json();
    let mut overruled = Vec::new();
    let mut project_store = None;
    for layer in &mut layers {
        flaky_as_policy(layer);
    }
    for setting in layers.into_iter().flatten() {
        let name = setting.key.name;
        if name == STORE && matches!(setting.origin, Origin::ProjectFile { .. }) {
            project_store = Some(setting);
            continue;
        }
        let before = values.pointer(&pointer(name)).unwrap_or(&Value::Null);
        let by = origins.get(name).unwrap_or(&Origin::Default);
        match setting.over(before, by) {
            Ok(value) => {
                put(&mut values, name, value);
                origins.insert(name.to_owned(), setting.origin);
            }
            Err(by) => overruled.push(OverriddenValue {
                key: name.to_owned(),
                value: setting.value,
                origin: setting.origin,
                by,
            }),
        }
    }
    let mut config: Config =
        serde_json::from_value(values).map_err(|source| ConfigError::Inconsistent { source })?;
    settle(&mut config, &mut origins);
    let store = store(&config, &origins, environment)?;
    if let Some(setting) = project_store {
        stays(&setting, &store, environment)?;
    }
    Ok(Settings {
        config,
        origins,
        files,
        root: root.clone(),
        store,
        overruled,
        unread: layer::unread_variables(environment),
    })
}

/// The key that says where runs are kept. The list of what a person trusts lies there, too.
const STORE: &str = "autopilot.storage.basePath";

/// Where runs are kept.
fn store(
    config: &Config,
    origins: &BTreeMap<String, Origin>,
    environment: &Environment,
) -> Result<PathBuf, ConfigError> {
    let written = &config.autopilot.storage.base_path;
    let path = environment.expand(written);
    if path.is_absolute() {
        return Ok(path);
    }
    if written.starts_with("~/") && environment.home().is_none() {
        return Err(ConfigError::NoStore);
    }
    let origin = match origins.get(STORE) {
        // `~` stands for what HOME says.
        None | Some(Origin::Default) => "environment HOME".to_owned(),
        Some(origin) => origin.to_string(),
    };
    Err(ConfigError::RelativeStore { path, origin })
}

/// A project may say where runs lie anyway, as files of other tools do, but nothing else: who decides over that place
/// decides what is trusted.
fn stays(setting: &Setting, store: &Path, environment: &Environment) -> Result<(), ConfigError> {
    let named = setting.value.as_str().map(|path| environment.expand(path));
    if named.as_deref() == Some(store) || setting.value == Storage::default().base_path {
        return Ok(());
    }
    let place = match &setting.origin {
        Origin::ProjectFile { path, line } => ValuePlace::File {
            path: path.clone(),
            line: *line,
            column: 1,
        },
        _ => ValuePlace::Flag(STORE.to_owned()),
    };
    Err(ConfigError::NotForProjects {
        place: Box::new(place),
        key: STORE.to_owned(),
        own: environment.store().map(|store| store.join("config.json")),
    })
}

impl Setting {
    /// The value that holds once this was given over `before`, which came from `by`. Where a key says how strict the
    /// rails are, the strictest of what anybody gave counts: a repository never has less than the person asked for, nor
    /// the person's shell, in which an agent types, less than the files. Fails with whose value stays.
    fn over(&self, before: &Value, by: &Origin) -> Result<Value, Origin> {
        let weaker = self.key.weaker;
        let (of_file, first) = (self.origin.is_file(), *by == Origin::Default);
        if !of_file && by.is_file() && OF_FILES.contains(&self.key.name) {
            return Err(by.clone());
        }
        // A file may set aside a default: it is kept, and can be read by others.
        if of_file && first || !weaker.is_weaker(before, &self.value) {
            return Ok(self.value.clone());
        }
        match weaker {
            // What a test is, is the project's to say.
            WeakerBy::ShrunkOrReplaced | WeakerBy::Replaced if of_file => Ok(self.value.clone()),
            // Two lists, each of which has something that the other has not.
            WeakerBy::Shrunk => changed(before, joined(before, &self.value), by),
            WeakerBy::Grown if !first => changed(before, common(before, &self.value), by),
            _ => Err(by.clone()),
        }
    }
}

/// What the shell cannot say otherwise once a file says it: what a run rests on, without being more or less strict.
const OF_FILES: [&str; 5] = [
    "autopilot.enabled",
    "bench.setup",
    "git.defaultRemote",
    "test.command",
    "test.runner",
];

/// The list that came of two, unless the second one added nothing.
fn changed(before: &Value, now: Value, by: &Origin) -> Result<Value, Origin> {
    if *before == now {
        return Err(by.clone());
    }
    Ok(now)
}

fn entries(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn joined(one: &Value, other: &Value) -> Value {
    let new = entries(other)
        .iter()
        .filter(|entry| !entries(one).contains(entry));
    entries(one).iter().chain(new).cloned().collect()
}

fn common(one: &Value, other: &Value) -> Value {
    let both = entries(one)
        .iter()
        .filter(|entry| entries(other).contains(entry));
    both.cloned().collect()
}

/// The JSON pointer to the value of a dotted name.
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('.', "/"))
}

/// A setting says the same as a policy does. After this the policies alone tell what holds.
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
}

/// `evidence.flaky` is another name of a policy, in each place that does not name the policy itself.
fn flaky_as_policy(layer: &mut Vec<Setting>) {
    let find = |name: &str| layer.iter().find(|setting| setting.key.name == name);
    let policy = "evidence.policy.flaky";
    if find(policy).is_none()
        && let Some(flaky) = find("evidence.flaky")
        && let Some(key) = super::keys::find(policy)
    {
        let as_policy = Setting {
            key,
            value: flaky.value.clone(),
            origin: flaky.origin.clone(),
        };
        layer.push(as_policy);
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
