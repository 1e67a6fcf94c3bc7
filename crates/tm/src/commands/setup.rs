//! `tm workflow`, `tm config`, `tm doctor`, `tm completions`, `tm man`.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use engine::links::not_led_out;
use engine::trust::Subject;
use engine::{DoctorCheck, Fault, Kind};
use workspace::config::{Environment, find_root};

use super::{DONE, Outcome, open};
use crate::cli::Cli;
use crate::cli::setup::{Completions, Doctor, Man, Workflow, WorkflowCommand};
use crate::output::Output;

/// Carries out a command of `tm workflow`.
pub fn workflow(workflow: Workflow, output: &mut Output) -> Outcome {
    let engine = open(workflow.place.project_root, None, "tm workflow")?;
    match workflow.command {
        WorkflowCommand::List => {
            let answer = engine.workflows()?;
            output.page(&answer, "workflows")?;
        }
        WorkflowCommand::Show { id, template } => {
            let answer = match template {
                Some(name) => engine.workflow_template(&id, &name)?,
                None => engine.workflow_text(&id)?,
            };
            if output.is_json() {
                output.json(&answer)?;
            } else {
                output.document(&answer.text)?;
            }
        }
        WorkflowCommand::New { id, from } => {
            let answer = engine.new_workflow(&id, &from)?;
            // What a person writes is trusted as they wrote it.
            let request = engine.trust_request(Subject::Workflow, &id).ok();
            if let Some(request) = request.filter(|_| output.has_person()) {
                engine.trust(&request)?;
            }
            output.page(&answer, "workflow_written")?;
        }
        WorkflowCommand::Check { file } => {
            let answer = engine.check_workflow(&file)?;
            output.page(&answer, "workflow_checked")?;
            if !answer.valid {
                return Ok(Kind::Refused.exit_status());
            }
        }
        WorkflowCommand::Trust { id, choice } => {
            return super::trust::run(&engine, Subject::Workflow, &id, &choice, output);
        }
        WorkflowCommand::Graph(graph) => super::workflow::graph(&graph, &engine, output)?,
    }
    Ok(DONE)
}

/// `tm doctor`.
pub fn doctor(doctor: &Doctor, output: &mut Output) -> Outcome {
    let root = doctor.place.project_root.clone();
    let checks = match open(root.clone(), None, "tm doctor") {
        Ok(engine) => {
            let mut checks = engine.doctor(doctor.adopt.as_deref())?;
            checks.extend(crate::init::doctor::checks(engine.root()));
            checks
        }
        // Without settings little can be looked at; what can is still worth it.
        Err(fault) if doctor.adopt.is_none() && fault.kind == Kind::Environment => {
            let here = match root {
                Some(root) => root,
                None => super::current_folder()?,
            };
            let folder = find_root(&here, &Environment::of_this_process()).path;
            let settings = DoctorCheck::fail(&fault.code, fault.message, fault.suggestion);
            let clients = crate::init::doctor::checks(&folder);
            [settings].into_iter().chain(clients).collect()
        }
        Err(fault) => return Err(fault),
    };
    output.page(&checks, "doctor")?;
    if checks.iter().any(|check| check.state == "fail") {
        return Ok(Kind::Environment.exit_status());
    }
    Ok(DONE)
}

/// `tm completions`.
pub fn completions(completions: &Completions, output: &mut Output) -> Outcome {
    let shell = completions.shell.to_string();
    let script = super::complete::script(&shell)
        .ok_or_else(|| Fault::bug(format!("there is no completion script for {shell}")))?;
    output.bytes(&script)?;
    Ok(DONE)
}

/// `tm man`.
pub fn man(man: &Man, output: &mut Output) -> Outcome {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    collect_pages(&command, &mut pages)
        .map_err(|error| Fault::bug(format!("a manual page could not be made: {error}")))?;
    let Some(folder) = &man.dir else {
        for (_, page) in &pages {
            output.bytes(page)?;
        }
        return Ok(DONE);
    };
    let failed = |path: &Path, error: &std::io::Error| {
        let what = format!(
            "the manual pages could not be written to {}",
            path.display()
        );
        Fault::environment("io_failed", what, error)
    };
    not_led_out(folder, &super::current_folder()?)?;
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    for (name, page) in &pages {
        let path = folder.join(name);
        fs::write(&path, page).map_err(|error| failed(&path, &error))?;
    }
    output.hint(&format!(
        "{} pages; try man -l {}/tm.1",
        pages.len(),
        folder.display()
    ));
    Ok(DONE)
}

/// The manual pages of a command and of those below it: file name and text.
fn collect_pages(
    command: &clap::Command,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    for below in command.get_subcommands() {
        if below.get_name() != "help" && !below.is_hide_set() {
            collect_pages(below, pages)?;
        }
    }
    Ok(())
}
