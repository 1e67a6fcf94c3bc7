//! Python, Elixir, PHP and Ruby.

use std::path::Path;

use serde_json::Value;

use super::{Note, RunnerMatch};
use crate::convention::paths::Language;
use crate::convention::{has_file, read_manifest};

pub(super) fn python(root: &Path, notes: &mut Vec<Note>) -> Option<RunnerMatch> {
    const LANGUAGES: &[Language] = &[Language::Python];
    const MANIFESTS: &[&str] = &[
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "pytest.ini",
        "requirements.txt",
        "requirements-dev.txt",
        "Pipfile",
        "manage.py",
        "conftest.py",
    ];
    let tests = python_tests(root);
    if tests.is_none() && !MANIFESTS.iter().any(|name| has_file(root, name)) {
        return None;
    }
    let prefix = if has_file(root, "uv.lock") {
        "uv run "
    } else if has_file(root, "poetry.lock") {
        "poetry run "
    } else if has_file(root, "pdm.lock") {
        "pdm run "
    } else if has_file(root, "Pipfile.lock") {
        "pipenv run "
    } else {
        ""
    };
    // `python3`, since many systems have no `python`; an environment of its own has both.
    let (command, framework) = if uses_pytest(root, notes) {
        ("pytest", "pytest")
    } else if has_file(root, "manage.py") {
        ("python3 manage.py test", "django")
    } else if let Some(tox) = read_manifest(&root.join("tox.ini")).filter(|_| tests.is_none()) {
        // It has what it needs in an environment of its own.
        let framework = if tox.contains("pytest") {
            "pytest"
        } else {
            "unittest"
        };
        return Some(RunnerMatch::new("tox", framework, LANGUAGES));
    } else {
        match tests {
            Some(PythonTests { pytest: true, .. }) => ("pytest", "pytest"),
            // Without `__init__.py` it is no package, which is not looked into unless it is named.
            Some(PythonTests {
                folder: "tests", ..
            }) if !has_file(root, "tests/__init__.py") => {
                ("python3 -m unittest discover -s tests", "unittest")
            }
            Some(PythonTests { folder: "test", .. }) if !has_file(root, "test/__init__.py") => {
                ("python3 -m unittest discover -s test", "unittest")
            }
            _ => ("python3 -m unittest", "unittest"),
        }
    };
    Some(RunnerMatch::new(
        format!("{prefix}{command}"),
        framework,
        LANGUAGES,
    ))
}

/// Tests that lie there, whatever the project says of them.
struct PythonTests {
    /// Where; empty at the root.
    folder: &'static str,
    /// Whether they need pytest.
    pytest: bool,
}

/// Files that both runners take for tests, in the places where they are looked for.
fn python_tests(root: &Path) -> Option<PythonTests> {
    const MOST_READ: usize = 20;
    ["", "tests", "test"].into_iter().find_map(|folder| {
        let entries = root.join(folder).read_dir().ok()?;
        let names = entries.take(super::compiled::ENTRIES_READ).flatten();
        let files: Vec<_> = names
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| {
                    name.starts_with("test_") && Language::of(name) == Some(Language::Python)
                })
            })
            .collect();
        let mut texts = files
            .iter()
            .take(MOST_READ)
            .filter_map(|path| read_manifest(path));
        let pytest = texts.any(|text| text.contains("import pytest") || !text.contains("unittest"));
        (!files.is_empty()).then_some(PythonTests { folder, pytest })
    })
}

fn uses_pytest(root: &Path, notes: &mut Vec<Note>) -> bool {
    if [
        "pytest.ini",
        ".pytest.ini",
        "conftest.py",
        "tests/conftest.py",
        "test/conftest.py",
    ]
    .iter()
    .any(|name| has_file(root, name))
    {
        return true;
    }
    if let Some(manifest) = super::toml_manifest(root, "pyproject.toml", notes) {
        let configured = manifest
            .get("tool")
            .and_then(|tool| tool.get("pytest"))
            .is_some();
        let wanted = ["project", "dependency-groups", "tool"]
            .iter()
            .filter_map(|table| manifest.get(*table))
            .any(names_pytest);
        if configured || wanted {
            return true;
        }
    }
    let names = |file: &str, mark: &str| {
        read_manifest(&root.join(file))
            .is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with(mark)))
    };
    names("setup.cfg", "[tool:pytest]")
        || names("setup.cfg", "pytest")
        || names("tox.ini", "[pytest]")
        || names("tox.ini", "pytest")
        || names("Pipfile", "pytest")
        || [
            "requirements.txt",
            "requirements-dev.txt",
            "requirements_dev.txt",
            "dev-requirements.txt",
            "requirements-test.txt",
            "test-requirements.txt",
            "requirements/dev.txt",
            "requirements/test.txt",
        ]
        .iter()
        .any(|file| names(file, "pytest"))
}

/// Whether some list or table within names pytest among its dependencies.
fn names_pytest(value: &toml::Value) -> bool {
    match value {
        toml::Value::String(text) => text.trim_start().starts_with("pytest"),
        toml::Value::Array(items) => items.iter().any(names_pytest),
        toml::Value::Table(table) => table
            .iter()
            .any(|(key, value)| key == "pytest" || names_pytest(value)),
        _ => false,
    }
}

pub(super) fn mix(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    has_file(root, "mix.exs").then(|| RunnerMatch::new("mix test", "exunit", &[Language::Elixir]))
}

pub(super) fn php(root: &Path, notes: &mut Vec<Note>) -> Option<RunnerMatch> {
    const LANGUAGES: &[Language] = &[Language::Php];
    let manifest = super::json_manifest(root, "composer.json", notes);
    let requires = |package: &str| {
        manifest.as_ref().is_some_and(|manifest| {
            ["require-dev", "require"].iter().any(|list| {
                manifest
                    .get(list)
                    .and_then(|list| list.get(package))
                    .is_some()
            })
        })
    };
    let configured = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]
        .iter()
        .any(|name| has_file(root, name));
    let framework = if requires("pestphp/pest") {
        "pest"
    } else if configured || requires("phpunit/phpunit") {
        "phpunit"
    } else {
        "unknown"
    };
    if let Some(script) = manifest
        .as_ref()
        .and_then(|manifest| manifest.pointer("/scripts/test"))
    {
        let mut found = RunnerMatch::new("composer test", framework, LANGUAGES);
        found.definition = Some(match script {
            Value::String(line) => line.clone(),
            other => other.to_string(),
        });
        return Some(found);
    }
    match framework {
        "unknown" => None,
        name => Some(RunnerMatch::new(
            format!("vendor/bin/{name}"),
            name,
            LANGUAGES,
        )),
    }
}

pub(super) fn ruby(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    const LANGUAGES: &[Language] = &[Language::Ruby];
    let gems = read_manifest(&root.join("Gemfile"));
    let rakes = read_manifest(&root.join("Rakefile"));
    let is_rspec =
        has_file(root, ".rspec") || gems.as_ref().is_some_and(|text| text.contains("rspec"));
    if gems.is_none() && rakes.is_none() && !is_rspec {
        return None;
    }
    let prefix = if gems.is_some() { "bundle exec " } else { "" };
    if is_rspec {
        return Some(RunnerMatch::new(
            format!("{prefix}rspec"),
            "rspec",
            LANGUAGES,
        ));
    }
    if has_file(root, "bin/rails") && root.join("test").is_dir() {
        return Some(RunnerMatch::new("bin/rails test", "minitest", LANGUAGES));
    }
    let has_task = rakes.is_some_and(|text| text.contains("TestTask") || text.contains(":test"));
    has_task.then(|| RunnerMatch::new(format!("{prefix}rake test"), "minitest", LANGUAGES))
}
