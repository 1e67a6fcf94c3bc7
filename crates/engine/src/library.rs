//! Where definitions and templates come from: built in, or the project's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use machine::check::catalog::Catalog;
use machine::{Definition, Diagnostic};
use workspace::config::Config;
use workspace::git::is_of_git;
use workspace::template::{self, Template};

use crate::capability::{REPOSITORY, registry};
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::generic::templates;
use crate::view;

/// What is said of the origin of what comes with the program.
pub const BUILT_IN: &str = "built in";

/// A definition and where it comes from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its text.
    pub text: String,
    /// `built in`, or the file.
    pub origin: String,
    /// The file, where it does not come with the program.
    pub path: Option<PathBuf>,
}

/// The project's own folder of workflows.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join(".taskmaster/workflows")
}

/// The files in the project's own folder of workflows, in order.
pub fn files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder(root))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "yaml" || ending == "yml")
        })
        .collect();
    files.sort();
    files
}

/// Reads a definition, bounded.
pub fn read(path: &Path) -> Result<String, Fault> {
    let metadata = fs::metadata(path);
    let too_large = metadata
        .as_ref()
        .is_ok_and(|metadata| metadata.len() > machine::definition::MAX_BYTES as u64);
    if too_large {
        return Err(fault!(
            "workflow_invalid.workflow_unreadable_read",
            path = path.display(),
            most = machine::definition::MAX_BYTES
        ));
    }
    // A pipe would hold up whoever opens it.
    if metadata.is_ok_and(|metadata| !metadata.is_file()) {
        return Err(fault!("workflow_invalid.not_a_file", path = path.display()));
    }
    fs::read_to_string(path).map_err(|error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            Kind::Missing
        } else {
            Kind::Environment
        };
        Fault::new(
            kind,
            "workflow_invalid",
            format!("{} cannot be read: {error}", path.display()),
        )
        .suggest("name a file that is there; `tm workflow list` shows those of the project")
    })
}

/// The project's file of that name with its text, where it is no definition at all.
pub fn unparsed(root: &Path, id: &str) -> Option<(PathBuf, String)> {
    let mut files = files(root).into_iter();
    let path = files.find(|path| path.file_stem().is_some_and(|stem| stem == id))?;
    let text = read(&path).ok()?;
    Definition::parse(&text).is_err().then_some((path, text))
}

/// The definition called `id`: the project's own where it says that it shadows, else the built-in.
pub fn find(root: &Path, id: &str) -> Result<Source, Fault> {
    let builtin = workflows::builtin(id);
    for path in files(root) {
        // By its name it is the one that is meant: to run another in its place would surprise.
        let is_meant = path.file_stem().is_some_and(|stem| stem == id);
        let text = match read(&path) {
            Ok(text) => text,
            Err(fault) if is_meant && fault.kind == Kind::Environment => return Err(fault),
            Err(_) => continue,
        };
        let definition = match Definition::parse(&text) {
            Ok(definition) => definition,
            Err(fault) if is_meant => {
                return Err(fault!(
                    "workflow_invalid.file",
                    path = path.display(),
                    message = fault.message
                ));
            }
            Err(_) => continue,
        };
        if definition.id.value != id {
            continue;
        }
        if builtin.is_some() && !definition.shadows {
            return Err(fault!(
                "workflow_invalid.workflow_shadows",
                path = path.display(),
                id
            ));
        }
        return Ok(Source {
            text,
            origin: path.display().to_string(),
            path: Some(path),
        });
    }
    builtin
        .map(|builtin| Source {
            text: builtin.workflow.to_owned(),
            origin: BUILT_IN.to_owned(),
            path: None,
        })
        .ok_or_else(|| {
            let mut known: Vec<String> = workflows::all()
                .iter()
                .map(|builtin| builtin.id.to_owned())
                .collect();
            known.extend(files(root).iter().filter_map(|path| {
                let definition = Definition::parse(&read(path).ok()?).ok()?;
                Some(definition.id.value)
            }));
            fault!("not_found.unknown_workflow", id, known = known.join(", ")).expected(known)
        })
}

/// The project's own definitions that can be begun by their ids, unproved: what [`find`] gives for each. What cannot be
/// read cannot be begun.
pub(crate) fn of_project(root: &Path) -> Vec<(Definition, Source)> {
    let mut ids = BTreeSet::new();
    let usable = |path: PathBuf| {
        let text = read(&path).ok()?;
        let definition = Definition::parse(&text).ok()?;
        let id = &definition.id.value;
        let is_first = ids.insert(id.clone());
        let is_found = is_first && (definition.shadows || workflows::builtin(id).is_none());
        let source = Source {
            text,
            origin: path.display().to_string(),
            path: Some(path),
        };
        is_found.then_some((definition, source))
    };
    files(root).into_iter().filter_map(usable).collect()
}

/// Loads and proves the definition called `id`.
pub fn load(root: &Path, id: &str) -> Result<(Definition, Source), Fault> {
    let source = find(root, id)?;
    match proved(root, id, &source.text) {
        Ok(definition) => Ok((definition, source)),
        Err(faults) => Err(fault!(
            "workflow_invalid.checks",
            id,
            origin = source.origin,
            message = faults
                .first()
                .map_or_else(String::new, |fault| fault.message.clone()),
            checked = if source.origin == BUILT_IN {
                id
            } else {
                &source.origin
            }
        )),
    }
}

/// Reads a definition and proves it against all that there is.
fn proved(root: &Path, id: &str, text: &str) -> Result<Definition, Vec<Diagnostic>> {
    let parsed = Definition::parse(text).ok();
    Definition::load(text, &catalog(root, id, parsed.as_ref()))
}

/// The built-in workflows whose templates `workflow` may use: all of them, for it may be a copy of any; its own first.
fn templates_of(workflow: &str) -> impl Iterator<Item = &'static workflows::Builtin> {
    workflows::builtin(workflow)
        .into_iter()
        .chain(workflows::all())
}

/// A longer template is not read, in bytes.
const LONGEST_TEMPLATE: u64 = 1024 * 1024;

/// The template of this name that comes with tm, for a workflow with this id.
pub fn built_in_template(workflow: &str, name: &str) -> Option<&'static str> {
    templates_of(workflow).find_map(|builtin| builtin.template(name))
}

/// The templates that a definition names.
pub fn named_templates(definition: &Definition) -> BTreeSet<String> {
    let states = definition.all_states();
    let work = states.filter_map(|(_, _, state)| state.work.as_ref());
    work.filter_map(|work| Some(work.instructions.as_ref()?.value.clone()))
        .collect()
}

/// The text of a template: the project's own, else the built-in one.
pub fn template(root: &Path, workflow: &str, name: &str) -> Result<Template, Fault> {
    let missing = || fault!("bad_template.template", name, workflow);
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(missing());
    }
    let path = root.join(".taskmaster/templates").join(name);
    let unreadable = |why: &str| fault!("bad_template.unreadable", path = path.display(), why);
    // A link that came with a repository must not read what is none of its own into a prompt.
    let leads_out = || {
        let real = fs::canonicalize(&path).ok()?;
        let inside = real.strip_prefix(fs::canonicalize(root).ok()?).ok();
        // What git keeps for itself is none of the project's.
        Some(inside.is_none_or(is_of_git))
    };
    match fs::metadata(&path) {
        Ok(_) if leads_out() != Some(false) => Err(unreadable("it leads out of the project")),
        // A pipe would hold up whoever opens it.
        Ok(about) if !about.is_file() => Err(unreadable("it is no ordinary file")),
        Ok(about) if about.len() > LONGEST_TEMPLATE => Err(unreadable(&format!(
            "it has {} bytes, and {LONGEST_TEMPLATE} are the most",
            about.len()
        ))),
        Ok(_) => fs::read_to_string(&path)
            .map(Template::Own)
            .map_err(|error| unreadable(&error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            built_in_template(workflow, name)
                .map(Template::BuiltIn)
                .ok_or_else(missing)
        }
        Err(error) => Err(unreadable(&error.to_string())),
    }
}

/// Everything that a definition of this project may name. What its templates may name depends on what it
/// declares, as far as it can be read.
pub fn catalog(root: &Path, workflow: &str, definition: Option<&Definition>) -> Catalog {
    let config = Config::default().to_json();
    let mut templates: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
    let own = fs::read_dir(root.join(".taskmaster/templates"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let variables = definition.map(variables).unwrap_or_default();
    let wanted = definition.map(named_templates);
    let built_in = templates_of(workflow)
        .flat_map(|builtin| builtin.templates.iter().map(|(name, _)| (*name).to_owned()));
    for name in own.chain(built_in).collect::<BTreeSet<String>>() {
        // What nothing names may be as it likes.
        if wanted
            .as_ref()
            .is_some_and(|wanted| !wanted.contains(&name))
        {
            templates.insert(name, Vec::new());
            continue;
        }
        let faults = match template(root, workflow, &name) {
            Ok(text) => template::prove(&name, text.text(), &variables)
                .err()
                .into_iter()
                .collect(),
            Err(fault) => vec![(1, fault.message)],
        };
        templates.insert(name, faults);
    }
    let all = || registry().iter();
    Catalog {
        readers: named(all().flat_map(|capability| capability.readers())),
        effects: named(all().flat_map(|capability| {
            let effects = capability.effects().into_iter();
            effects.map(|(name, effect, _)| (name, effect))
        })),
        resources: all()
            .flat_map(|capability| capability.resources())
            .collect(),
        views: view::catalog(),
        subjects: all()
            .flat_map(|capability| capability.subjects().iter().copied())
            .collect(),
        asks: all().flat_map(|capability| capability.asks()).collect(),
        edits_need: Some(REPOSITORY),
        policies: named(all().flat_map(|capability| capability.policies())),
        codes: all().flat_map(|capability| capability.codes()).collect(),
        events: all().flat_map(|capability| capability.events()).collect(),
        sections: config
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, values)| (name.clone(), values.clone()))
            .collect(),
        templates,
    }
}

fn named<T>(all: impl Iterator<Item = (&'static str, T)>) -> BTreeMap<String, T> {
    all.map(|(name, what)| (name.to_owned(), what)).collect()
}

/// What the templates of a workflow may name: what every one may, and what its capabilities give.
fn variables(definition: &Definition) -> Vec<String> {
    let own = registry()
        .iter()
        .flat_map(|capability| capability.variables(definition));
    let mut all = templates::variables(definition);
    all.extend(own.map(|name| (*name).to_owned()));
    all
}

/// Every fault of a definition, for people and programs.
pub fn faults(root: &Path, text: &str) -> Vec<Diagnostic> {
    let id = Definition::parse(text)
        .map(|definition| definition.id.value)
        .unwrap_or_default();
    proved(root, &id, text).err().unwrap_or_default()
}
