//! `tm config`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Fault;
use engine::fault;
use engine::trust::Subject;
use serde_json::{Map, Value, json};
use workspace::config::{self, Environment, edit};

use super::{DONE, Outcome, open};
use crate::cli::ProjectPlace;
use crate::cli::setup::{Config, ConfigCommand, Whose};
use crate::init::change::Change;
use crate::init::{disk, settings};
use crate::output::Output;
use crate::{person, render};

/// Carries out a command of `tm config`.
pub fn config(config: Config, output: &mut Output) -> Outcome {
    let place = &config.place;
    match config.command {
        ConfigCommand::Show { origin } => show(place, origin, output),
        ConfigCommand::Get { key } => get(place, &key, output),
        ConfigCommand::Set { key, value, whose } => {
            let value = edit::parse_value(&key, &value)?;
            write(place, whose, &key, Some(&value), output)
        }
        ConfigCommand::Unset { key, whose } => {
            edit::known(&key)?;
            write(place, whose, &key, None, output)
        }
        ConfigCommand::Edit { whose } => in_editor(place, whose, output),
        ConfigCommand::Trust { checks, choice } => {
            let engine = open(place.project_root.clone(), None, "tm config")?;
            let subject = if checks {
                Subject::Checks
            } else {
                Subject::Tests
            };
            super::trust::run(&engine, subject, "", &choice, output)
        }
    }
}

fn show(place: &ProjectPlace, origin: bool, output: &mut Output) -> Outcome {
    let engine = open(place.project_root.clone(), None, "tm config")?;
    let settings = engine.settings();
    for given in settings.not_in_force() {
        output.warning(&given);
    }
    if !output.is_json() {
        let all = settings.origins.iter().map(|(key, from)| {
            let value = settings.value(key).unwrap_or_default().to_string();
            json!({ "key": key, "value": value, "origin": origin.then(|| from.to_string()) })
        });
        let all: Vec<Value> = all.collect();
        output.text(&render::page("settings", &all, &output.look()))?;
    } else if origin {
        let values: Map<String, Value> = settings
            .origins
            .iter()
            .map(|(key, origin)| {
                let value = settings.value(key).unwrap_or_default();
                (key.clone(), json!({ "value": value, "origin": origin }))
            })
            .collect();
        output.json(&values)?;
    } else {
        output.json(&settings.config.to_json())?;
    }
    Ok(DONE)
}

/// What a script takes: a text as it is, anything else as JSON.
fn get(place: &ProjectPlace, key: &str, output: &mut Output) -> Outcome {
    edit::known(key)?;
    let engine = open(place.project_root.clone(), None, "tm config")?;
    let value = engine.settings().config.value(key).unwrap_or_default();
    let text = match &value {
        _ if output.is_json() => {
            output.json(&value)?;
            return Ok(DONE);
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    output.document(&format!("{text}\n"))?;
    Ok(DONE)
}

/// A file of settings.
struct SettingsFile {
    /// The folder that it is in, by its real path, and its name from there.
    root: PathBuf,
    name: String,
    is_project: bool,
    /// The project whose settings it has a part in.
    project: PathBuf,
}

impl SettingsFile {
    fn of(place: &ProjectPlace, whose: Whose) -> Result<Self, Fault> {
        let project = super::init::root(place);
        if !whose.user {
            let project = project?;
            return Ok(Self {
                root: project.clone(),
                name: settings::FILE.to_owned(),
                is_project: true,
                project,
            });
        }
        // A person's own may be changed where there is no project, too.
        let project = project.or_else(|_| super::current_folder())?;
        let store = Environment::of_this_process()
            .store()
            .ok_or(config::ConfigError::NoStore)?;
        std::fs::create_dir_all(&store)
            .and_then(|()| std::fs::canonicalize(&store))
            .map(|root| Self {
                root,
                name: "config.json".to_owned(),
                is_project: false,
                project,
            })
            .map_err(|error| {
                Fault::environment("io_failed", "your own settings cannot be kept", &error)
            })
    }

    /// The file as people are told of it.
    fn shown(&self) -> String {
        if self.is_project {
            self.name.clone()
        } else {
            self.root.join(&self.name).display().to_string()
        }
    }

    /// Refuses a text with which the settings would not hold.
    fn check(&self, text: &str) -> Result<(), Fault> {
        let (path, environment) = (self.root.join(&self.name), Environment::of_this_process());
        edit::check_file(&self.project, &environment, (&path, text), self.is_project)?;
        Ok(())
    }

    /// Writes it, where it is sound.
    fn replace(&self, before: disk::ProjectFile, text: String) -> Result<Option<Change>, Fault> {
        self.check(&text)?;
        if before.read_only {
            return Err(disk::read_only(&self.shown()));
        }
        let Some(change) = Change::between(&self.name, before.real, before.text, Some(text)) else {
            return Ok(None);
        };
        disk::write(&self.root, std::slice::from_ref(&change))?;
        Ok(Some(change))
    }
}

fn write(
    place: &ProjectPlace,
    whose: Whose,
    key: &str,
    value: Option<&Value>,
    output: &mut Output,
) -> Outcome {
    let file = SettingsFile::of(place, whose)?;
    let before = disk::read(&file.root, &file.name)?;
    let text = match value {
        Some(value) => settings::with_value(before.text.as_deref(), key, value),
        None => settings::without_value(before.text.as_deref().unwrap_or("{}"), key),
    }
    .map_err(|unusable| disk::invalid(&file.shown(), &unusable))?;
    let changed = match (value, &before.text) {
        (None, None) => None,
        _ => file.replace(before, text)?,
    };
    told(place, &file, key, changed.is_some(), output)
}

/// Says what is in force now: another place may have the last word.
fn told(
    place: &ProjectPlace,
    file: &SettingsFile,
    key: &str,
    changed: bool,
    output: &mut Output,
) -> Outcome {
    let engine = open(place.project_root.clone(), None, "tm config")?;
    let settings = engine.settings();
    let now = settings.config.value(key).unwrap_or_default();
    let origin = settings.origins.get(key);
    for given in &settings.overruled {
        if given.key == key {
            output.warning(&given.to_string());
        }
    }
    let answer = json!({
        "key": key,
        "value": now,
        "origin": origin,
        "file": file.shown(),
        "changed": changed,
    });
    let beside = json!({
        "file": file.shown(),
        "isOfProject": file.is_project,
        "key": key,
        "now": now.to_string(),
        "origin": origin.map(ToString::to_string),
    });
    output.page_with(&answer, "setting_written", &beside)?;
    Ok(DONE)
}

/// Has a person change a copy, and takes that over once it is sound: no command stumbles over what is half done.
fn in_editor(place: &ProjectPlace, whose: Whose, output: &mut Output) -> Outcome {
    let file = SettingsFile::of(place, whose)?;
    let before = disk::read(&file.root, &file.name)?;
    let text = before.text.as_deref().unwrap_or(settings::BEGINNING);
    let failed = |error: &std::io::Error| {
        Fault::environment("io_failed", "the settings cannot be edited", error)
    };
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let copy = folder.path().join("config.json");
    std::fs::write(&copy, text).map_err(|error| failed(&error))?;
    loop {
        run_editor(&copy, output)?;
        let text = std::fs::read_to_string(&copy).map_err(|error| failed(&error))?;
        match file.check(&text) {
            Ok(()) => {
                let changed = file.replace(before, text)?.is_some();
                let answer = json!({ "file": file.shown(), "changed": changed });
                output.page(&answer, "settings_edited")?;
                return Ok(DONE);
            }
            Err(fault) => {
                if output.has_person() {
                    let text = render::fault(&fault, &output.look());
                    output.text(&text)?;
                    let question = "Edit it again? Else nothing is written.";
                    if person::confirm(output, question, true)? {
                        continue;
                    }
                }
                // What somebody typed is theirs, whatever is wrong with it.
                let draft = folder.keep().join("config.json");
                let suggestion = format!(
                    "{}; nothing was written, and what was typed is in {}",
                    fault.suggestion,
                    draft.display()
                );
                return Err(fault.suggest(suggestion));
            }
        }
    }
}

/// Opens a file in the person's editor, which may be given with options, and waits for its end.
fn run_editor(file: &Path, output: &Output) -> Result<(), Fault> {
    let named = ["VISUAL", "EDITOR"].map(|name| env::var(name).unwrap_or_default());
    let editor = named.into_iter().find(|editor| !editor.trim().is_empty());
    // One that was named may need nobody; the usual one needs a terminal.
    let Some(editor) = editor.or_else(|| output.has_person().then(|| "vi".to_owned())) else {
        return Err(fault!("io_failed.no_editor"));
    };
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(fault!("io_failed.editor", editor)),
    }
}
