//! Projects with a package.json, and Deno.

use std::path::Path;

use serde_json::Value;

use super::{Note, RunnerMatch};
use crate::convention::paths::Language;
use crate::convention::{has_file, read_manifest};

const LANGUAGES: &[Language] = &[Language::JavaScript];

/// How far up lock files are looked for when the project is part of a larger repository.
const FOLDERS_UP: usize = 16;

/// What a script is known by, with the framework it means. The first that occurs in a script
/// wins, so wrappers stand before what they wrap.
const SCRIPTS: &[(&str, &str)] = &[
    ("vitest", "vitest"),
    ("react-scripts test", "jest"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("ava", "ava"),
    ("jasmine", "jasmine"),
    ("karma", "karma"),
    ("ng test", "karma"),
    ("playwright", "playwright"),
    ("cypress", "cypress"),
    ("wtr", "web-test-runner"),
    ("uvu", "uvu"),
    ("tap", "tap"),
    ("tape", "tape"),
    ("bun test", "bun"),
    ("deno test", "deno"),
    ("node --test", "node"),
    ("tsx --test", "node"),
    ("--test", "node"),
];

/// Packages that are a framework, most telling first.
const PACKAGES: &[(&str, &str)] = &[
    ("vitest", "vitest"),
    ("jest", "jest"),
    ("ts-jest", "jest"),
    ("mocha", "mocha"),
    ("ava", "ava"),
    ("jasmine", "jasmine"),
    ("uvu", "uvu"),
    ("tap", "tap"),
    ("tape", "tape"),
    ("karma", "karma"),
    ("@playwright/test", "playwright"),
    ("cypress", "cypress"),
];

/// npm's come last: the others are sometimes tried out beside them, hardly ever the reverse.
const LOCK_FILES: &[(&str, Manager)] = &[
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("yarn.lock", Manager::Yarn),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
];

#[derive(Clone, Copy)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

pub(super) fn node(root: &Path, notes: &mut Vec<Note>) -> Option<RunnerMatch> {
    let manifest = super::json_manifest(root, "package.json", notes)?;
    let manager = manager(root, &manifest);
    let script = manifest
        .pointer("/scripts/test")
        .and_then(Value::as_str)
        .map(str::trim);
    // What `npm init` writes where no tests are fails always, and so would prove RED.
    let script =
        script.filter(|script| !script.is_empty() && !script.contains("no test specified"));
    if let Some(script) = script {
        // `bun test` is Bun's own runner, not the script.
        let command = match manager {
            Manager::Npm => "npm test",
            Manager::Pnpm => "pnpm test",
            Manager::Yarn => "yarn test",
            Manager::Bun => "bun run test",
        };
        let framework = of_script(script)
            .or_else(|| of_packages(&manifest))
            .unwrap_or("unknown");
        let mut found = RunnerMatch::new(command, framework, LANGUAGES);
        found.definition = Some(script.to_owned());
        return Some(found);
    }
    let framework = of_packages(&manifest)?;
    let program = match framework {
        "vitest" => "vitest run",
        "jest" | "mocha" | "ava" | "jasmine" | "tap" | "uvu" => framework,
        // The others need more than their name to run.
        _ => return None,
    };
    let exec = match manager {
        Manager::Npm => "npx",
        Manager::Pnpm => "pnpm exec",
        Manager::Yarn => "yarn",
        Manager::Bun => "bunx",
    };
    Some(RunnerMatch::new(
        format!("{exec} {program}"),
        framework,
        LANGUAGES,
    ))
}

pub(super) fn deno(root: &Path, notes: &mut Vec<Note>) -> Option<RunnerMatch> {
    // With comments, as `deno.jsonc` may have them, the tasks stay unknown and the plain command does.
    let task = if has_file(root, "deno.json") {
        let manifest = super::json_manifest(root, "deno.json", notes)?;
        let task = manifest.pointer("/tasks/test");
        let written = task
            .and_then(Value::as_str)
            .or_else(|| task?.get("command")?.as_str());
        written.map(str::to_owned)
    } else if has_file(root, "deno.jsonc") {
        None
    } else {
        return None;
    };
    let command = if task.is_some() {
        "deno task test"
    } else {
        "deno test"
    };
    let mut found = RunnerMatch::new(command, "deno", LANGUAGES);
    found.definition = task;
    Some(found)
}

fn of_script(script: &str) -> Option<&'static str> {
    SCRIPTS
        .iter()
        .find(|(mark, _)| contains_words(script, mark))
        .map(|(_, framework)| *framework)
}

fn of_packages(manifest: &Value) -> Option<&'static str> {
    let has = |package: &str| {
        ["devDependencies", "dependencies"].iter().any(|list| {
            manifest
                .get(list)
                .and_then(|list| list.get(package))
                .is_some()
        })
    };
    PACKAGES
        .iter()
        .find(|(package, _)| has(package))
        .map(|(_, framework)| *framework)
}

/// Whether `words` occurs in `text` and is not part of a longer word there: `tap` is not in
/// `tape`, nor `ava` in `java`.
fn contains_words(text: &str, words: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(words)
        .any(|(at, _)| !text[..at].ends_with(joins) && !text[at + words.len()..].starts_with(joins))
}

/// The package manager: what package.json names, or the lock file beside it tells, else those of
/// the folders above up to the top of the repository; else npm.
fn manager(root: &Path, manifest: &Value) -> Manager {
    if let Some(named) = named_manager(manifest) {
        return named;
    }
    for folder in root.ancestors().take(FOLDERS_UP) {
        if folder != root
            && let Some(text) = read_manifest(&folder.join("package.json"))
            && let Ok(above) = serde_json::from_str(&text)
            && let Some(named) = named_manager(&above)
        {
            return named;
        }
        if let Some((_, manager)) = LOCK_FILES.iter().find(|(name, _)| has_file(folder, name)) {
            return *manager;
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Manager::Npm
}

fn named_manager(manifest: &Value) -> Option<Manager> {
    match manifest
        .get("packageManager")?
        .as_str()?
        .split('@')
        .next()?
    {
        "npm" => Some(Manager::Npm),
        "pnpm" => Some(Manager::Pnpm),
        "yarn" => Some(Manager::Yarn),
        "bun" => Some(Manager::Bun),
        _ => None,
    }
}
