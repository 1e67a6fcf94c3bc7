//! Looking at definitions.

use std::path::Path;

use machine::Definition;
use serde::Serialize;

use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::library;

/// A workflow in a list.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowSummary {
    /// Its id.
    pub id: String,
    /// One line on it.
    pub title: String,
    /// `built in`, or its file.
    pub source: String,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The text of a definition, or of a template.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowText {
    /// Its id, or the template's name.
    pub id: String,
    /// `built in`, or its file.
    pub source: String,
    /// The text.
    pub text: String,
}

/// What the proof of a definition found.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowChecked {
    /// The file.
    pub file: String,
    /// Whether it has no fault.
    pub valid: bool,
    /// Its faults, in the order of the file.
    pub faults: Vec<WorkflowFault>,
}

/// A fault of a definition.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowFault {
    /// Stable name of the rule.
    pub rule: String,
    /// Line, from 1; 0 if it is about the whole file.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// All of it, drawn under the line.
    pub rendered: String,
}

impl Engine {
    /// The workflows that this project could run.
    pub fn workflows(&self) -> Result<Vec<WorkflowSummary>, Fault> {
        let mut all: Vec<WorkflowSummary> = Vec::new();
        for builtin in workflows::all() {
            let title = Definition::parse(builtin.workflow)
                .map(|definition| definition.title)
                .unwrap_or_default();
            all.push(WorkflowSummary {
                id: builtin.id.to_owned(),
                title,
                source: "built in".to_owned(),
                problem: None,
            });
        }
        for path in library::files(&self.root) {
            let source = path.display().to_string();
            let text = match library::read(&path) {
                Ok(text) => text,
                Err(fault) => {
                    all.push(broken(&path, source, fault.message));
                    continue;
                }
            };
            let faults = library::faults(&self.root, &text);
            match Definition::parse(&text) {
                Ok(definition) => {
                    let id = definition.id.value.clone();
                    let builtin = workflows::builtin(&id).is_some();
                    let problem = if builtin && !definition.shadows {
                        Some(format!(
                            "`{id}` is built in; say `shadows: true` if this is meant to take its place"
                        ))
                    } else {
                        faults.first().map(|fault| fault.message.clone())
                    };
                    if builtin && definition.shadows {
                        all.retain(|summary| summary.id != id);
                    }
                    all.push(WorkflowSummary {
                        id,
                        title: definition.title,
                        source,
                        problem,
                    });
                }
                Err(fault) => all.push(broken(&path, source, fault.message)),
            }
        }
        Ok(all)
    }

    /// The text of a definition.
    pub fn workflow_text(&self, id: &str) -> Result<WorkflowText, Fault> {
        let source = library::find(&self.root, id)?;
        Ok(WorkflowText {
            id: id.to_owned(),
            source: source.origin,
            text: source.text,
        })
    }

    /// The text of a template of the workflow that comes with tm. A project's own does not hide it: who has the copy written
    /// to its place by a shell has an empty file there before this is asked.
    pub fn workflow_template(&self, id: &str, name: &str) -> Result<WorkflowText, Fault> {
        let workflow = library::find(&self.root, id)?;
        let text = library::built_in_template(id, name).ok_or_else(|| {
            let named = Definition::parse(&workflow.text)
                .map(|definition| library::named_templates(&definition))
                .unwrap_or_default();
            let built_in: Vec<&String> = named
                .iter()
                .filter(|name| library::built_in_template(id, name).is_some())
                .collect();
            let known = text::listed(built_in.into_iter());
            if known.is_empty() {
                fault!("not_found.any_template", name, id)
            } else {
                fault!("not_found.built_in_template", name, id, known)
            }
        })?;
        Ok(WorkflowText {
            id: name.to_owned(),
            source: library::BUILT_IN.to_owned(),
            text: text.to_owned(),
        })
    }

    /// Writes a definition of the project's own, as a copy of the workflow `from` under another id.
    pub fn new_workflow(&self, id: &str, from: &str) -> Result<WorkflowText, Fault> {
        let exists = |message: String| {
            Fault::new(Kind::Refused, "bad_name", message).suggest("choose another id")
        };
        if workflows::builtin(id).is_some() {
            return Err(exists(format!("`{id}` is built in")));
        }
        let source = library::find(&self.root, from)?;
        let own = |line: &&str| !line.starts_with("shadows:");
        let lines = source.text.lines().filter(own).map(|line| match line {
            line if line.starts_with("id:") => format!("id: {id}\n"),
            line => format!("{line}\n"),
        });
        let text: String = lines.collect();
        if let Some(fault) = library::faults(&self.root, &text).first() {
            return Err(fault!(
                "workflow_invalid.copy",
                id,
                from,
                message = fault.message
            ));
        }
        let folder = library::folder(&self.root);
        let file = folder.join(format!("{id}.yaml"));
        let unwritten = |error: &std::io::Error| {
            Fault::environment(
                "io_failed",
                format!("{} could not be written", file.display()),
                error,
            )
            .suggest("choose a file that can be written")
        };
        std::fs::create_dir_all(&folder).map_err(|error| unwritten(&error))?;
        let inside = std::fs::canonicalize(&folder).map_err(|error| unwritten(&error))?;
        if !inside.starts_with(&self.root) {
            return Err(exists(format!(
                "{} leads out of the project",
                folder.display()
            )));
        }
        let written = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&file)
            .and_then(|mut made| std::io::Write::write_all(&mut made, text.as_bytes()));
        match written {
            Ok(()) => Ok(WorkflowText {
                id: id.to_owned(),
                source: file.display().to_string(),
                text,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(exists(format!("{} is there already", file.display())))
            }
            Err(error) => Err(unwritten(&error)),
        }
    }

    /// Proves a definition. `file` is a path, or the id of a workflow.
    pub fn check_workflow(&self, file: &Path) -> Result<WorkflowChecked, Fault> {
        let name = file.display().to_string();
        // A place that cannot be looked at is the reader's to complain of.
        let (name, text) = if file.try_exists().unwrap_or(true) {
            let text = library::read(file)?;
            (name, text)
        } else {
            match library::find(&self.root, &name) {
                Ok(source) => (
                    source.path.map_or(name, |path| self.shown(&path)),
                    source.text,
                ),
                Err(fault) if fault.code == "not_found" => {
                    return Err(fault!("not_found.workflow_or_file", name));
                }
                // What is wrong with a file that cannot even be parsed is shown like all else.
                Err(fault) => {
                    let (path, text) = library::unparsed(&self.root, &name).ok_or(fault)?;
                    (self.shown(&path), text)
                }
            }
        };
        let faults: Vec<WorkflowFault> = library::faults(&self.root, &text)
            .into_iter()
            .map(|fault| WorkflowFault {
                rule: fault.rule.to_owned(),
                line: fault.at.line,
                column: fault.at.column,
                rendered: fault.render(&name, &text),
                message: fault.message,
                help: fault.help,
            })
            .collect();
        Ok(WorkflowChecked {
            valid: faults.is_empty(),
            file: name,
            faults,
        })
    }

    /// A file as it is called from the project's root.
    fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.display().to_string()
    }
}

fn broken(path: &Path, source: String, problem: String) -> WorkflowSummary {
    WorkflowSummary {
        id: path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
        title: String::new(),
        source,
        problem: Some(problem),
    }
}
