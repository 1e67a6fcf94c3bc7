//! Scripts and tasks that have a name: npm, pnpm, yarn, bun, deno, composer, just.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{NamedPlace, Place};
use crate::convention::read_manifest;
use crate::runner::targets;

pub(super) fn found(place: Place<'_>, argv: &[&str]) -> Vec<NamedPlace> {
    match *argv {
        [manager @ ("npm" | "pnpm" | "yarn" | "bun"), ref rest @ ..] => {
            let named = node(place, manager, rest);
            let scripts = named.and_then(|(folder, name)| {
                let place = Place {
                    folder: &folder,
                    ..place
                };
                package_script(place, name)
            });
            scripts.into_iter().collect()
        }
        [
            "run-s" | "run-p" | "npm-run-all" | "npm-run-all2",
            ref names @ ..,
        ] => names
            .iter()
            .filter(|name| !name.starts_with('-'))
            .filter_map(|name| package_script(place, name))
            .collect(),
        ["concurrently", ref lines @ ..] => lines
            .iter()
            .filter_map(|line| package_script(place, line.strip_prefix("npm:")?))
            .collect(),
        ["deno", "task", ref rest @ ..] => {
            let name = rest.iter().find(|word| !word.starts_with('-'));
            name.and_then(|name| deno(place, name))
                .into_iter()
                .collect()
        }
        ["composer", ref rest @ ..] => {
            let mut words = rest
                .iter()
                .filter(|word| !word.starts_with('-') && !matches!(**word, "run" | "run-script"));
            words
                .next()
                .and_then(|name| composer(place, name))
                .into_iter()
                .collect()
        }
        ["just", ref rest @ ..] => just(place, rest).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The one script that such a command runs, with its folder; without those that are run before and after it.
pub(super) fn script(place: Place<'_>, argv: &[&str]) -> Option<(PathBuf, String)> {
    let [manager @ ("npm" | "pnpm" | "yarn" | "bun"), rest @ ..] = argv else {
        return None;
    };
    let (folder, name) = node(place, manager, rest)?;
    let place = Place {
        folder: &folder,
        ..place
    };
    let (path, manifest) = nearest(place, "package.json")?;
    let line = manifest.get("scripts")?.get(name)?.as_str()?;
    Some((path.parent()?.to_owned(), line.to_owned()))
}

/// The script that a package manager runs, and the folder in which its manifest is looked for.
fn node<'a>(place: Place<'_>, manager: &str, argv: &[&'a str]) -> Option<(PathBuf, &'a str)> {
    let mut folder = place.folder.to_owned();
    let mut words = Vec::new();
    let mut rest = argv.iter();
    while let Some(&word) = rest.next() {
        match word {
            "--" => break,
            "--prefix" | "--cwd" | "--dir" | "-C" => folder = place.moved(rest.next()?)?,
            // Then the script is another package's.
            "-w" | "--workspace" | "--workspaces" | "-ws" | "-r" | "--recursive" | "--filter"
            | "-F" | "workspace" | "workspaces" => return None,
            _ if word.starts_with("--workspace=") || word.starts_with("--filter=") => return None,
            _ if word.starts_with('-') => {
                for option in ["--prefix=", "--cwd=", "--dir="] {
                    if let Some(to) = word.strip_prefix(option) {
                        folder = place.moved(to)?;
                    }
                }
            }
            _ => words.push(word),
        }
        // What comes after the name is the script's own, except for npm, which wants a `--` before it.
        let named = words.len() == 2 || words.first().is_some_and(|word| !is_run(word));
        if named && manager != "npm" {
            break;
        }
    }
    let name = match (manager, *words.first()?) {
        (_, word) if is_run(word) => *words.get(1)?,
        // Its own runner.
        ("bun", "test") => return None,
        ("npm", "t" | "tst" | "cit" | "it" | "install-test" | "install-ci-test")
        | ("pnpm", "t") => "test",
        ("npm", word) if !matches!(word, "test" | "start" | "stop" | "restart") => return None,
        (_, word) => word,
    };
    Some((folder, name))
}

fn is_run(word: &str) -> bool {
    matches!(word, "run" | "run-script" | "rum" | "urn")
}

/// A script of the nearest package.json, with those that run before and after it.
fn package_script(place: Place<'_>, name: &str) -> Option<NamedPlace> {
    let (path, manifest) = nearest(place, "package.json")?;
    let scripts = manifest.get("scripts")?;
    scripts.get(name)?.as_str()?;
    let folder = path.parent()?;
    let mut text = String::new();
    let mut calls = Vec::new();
    for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
        if let Some(script) = scripts.get(&name).and_then(Value::as_str) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}: {script}");
            calls.push((folder.to_owned(), script.to_owned()));
        }
    }
    Some(NamedPlace {
        what: format!("scripts.{name} of {}", place.name(&path)),
        text,
        calls,
    })
}

fn deno(place: Place<'_>, name: &str) -> Option<NamedPlace> {
    let (path, manifest) = nearest(place, "deno.json")?;
    let task = manifest.get("tasks")?.get(name)?;
    let line = task
        .as_str()
        .or_else(|| task.get("command")?.as_str())
        .unwrap_or_default();
    Some(NamedPlace {
        what: format!("tasks.{name} of {}", place.name(&path)),
        text: task.to_string(),
        calls: vec![(path.parent()?.to_owned(), line.to_owned())],
    })
}

fn composer(place: Place<'_>, name: &str) -> Option<NamedPlace> {
    let (path, manifest) = nearest(place, "composer.json")?;
    let script = manifest.get("scripts")?.get(name)?;
    let folder = path.parent()?;
    let lines = script
        .as_array()
        .map_or_else(|| vec![script], |lines| lines.iter().collect());
    let calls = lines.into_iter().filter_map(Value::as_str).map(|line| {
        let line = match line.strip_prefix('@') {
            Some(own) if own.starts_with("php ") || own.starts_with("composer ") => own.to_owned(),
            Some(other) => format!("composer {other}"),
            None => line.to_owned(),
        };
        (folder.to_owned(), line)
    });
    Some(NamedPlace {
        what: format!("scripts.{name} of {}", place.name(&path)),
        text: script.to_string(),
        calls: calls.collect(),
    })
}

/// The JSON manifest of this name in the folder or the nearest one above it.
fn nearest(place: Place<'_>, name: &str) -> Option<(PathBuf, Value)> {
    let path = place
        .upward()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())?;
    let manifest = serde_json::from_str(&read_manifest(&path)?).ok()?;
    Some((path, manifest))
}

/// A recipe of just with those it depends on; without a name the first one.
fn just(place: Place<'_>, argv: &[&str]) -> Option<NamedPlace> {
    let (path, text) = targets::JUST_FILES.iter().find_map(|name| {
        let path = place.folder.join(name);
        Some((path.clone(), read_manifest(&path)?))
    })?;
    // One with an option of its own may mean another file.
    let name = match argv.first() {
        Some(word) if word.starts_with('-') => return None,
        Some(word) => (*word).to_owned(),
        None => text.lines().find_map(targets::just_recipe)?.to_owned(),
    };
    let mut wanted = vec![name.clone()];
    let mut gathered = String::new();
    let mut calls = Vec::new();
    let mut at = 0;
    while let Some(name) = wanted.get(at).cloned() {
        at += 1;
        let Some(block) = targets::block(&text, |line| targets::just_recipe(line) == Some(&*name))
        else {
            continue;
        };
        let mut lines = block.lines();
        let head = lines.next().unwrap_or_default();
        let depends = head.split_once(':').map_or("", |(_, depends)| depends);
        for word in depends.split([' ', '\t', '(', ')', '&']) {
            if !word.is_empty() && !wanted.iter().any(|known| known == word) {
                wanted.push(word.to_owned());
            }
        }
        for line in lines {
            let line = line.trim().trim_start_matches(['@', '-']);
            calls.push((folder_of(&path), line.to_owned()));
        }
        gathered.push_str(&block);
        gathered.push('\n');
    }
    (!gathered.is_empty()).then(|| NamedPlace {
        what: format!("`{name}` in {}", place.name(&path)),
        text: gathered,
        calls,
    })
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}
