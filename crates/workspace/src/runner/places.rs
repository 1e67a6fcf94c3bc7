//! Where a runner looks for tests by itself, and where a project's settings have it look.

use std::path::Path;

use crate::convention::paths::{Language, SHARED_TESTS, file_name};
use crate::convention::read_manifest;
use crate::convention::scope::is_inside;

/// What the runner of each name takes for tests beside what its language does by convention: its own defaults, as its
/// documentation gives them.
const DEFAULTS: &[(&str, &[&str])] = &[
    // https://github.com/avajs/ava/blob/main/docs/05-command-line.md
    (
        "ava",
        &[
            "test.{js,cjs,mjs,ts,cts,mts}",
            "{src,source}/test.{js,cjs,mjs,ts,cts,mts}",
            "**/test-*.{js,cjs,mjs,ts,cts,mts}",
        ],
    ),
    // https://nodejs.org/api/test.html#running-tests-from-the-command-line
    (
        "node",
        &[
            "**/test.{js,cjs,mjs,ts,cts,mts}",
            "**/test-*.{js,cjs,mjs,ts,cts,mts}",
            "**/*_test.{js,cjs,mjs,ts,cts,mts}",
        ],
    ),
    // https://jestjs.io/docs/configuration#testmatch-arraystring
    ("jest", &["**/{test,spec}.{js,jsx,ts,tsx,mjs,cjs}"]),
    ("bun", &["**/*_{test,spec}.{js,jsx,ts,tsx,mjs,cjs}"]),
    (
        "deno",
        &[
            "**/*_test.{js,jsx,ts,tsx,mjs,mts}",
            "**/test.{js,jsx,ts,tsx,mjs,mts}",
        ],
    ),
    ("jasmine", &["spec/**", "**/*[sS]pec.{js,mjs,ts}"]),
    ("tap", &["**/{test,tests,spec}.{js,cjs,mjs,ts,cts,mts}"]),
    ("tape", &["test.js"]),
    ("uvu", &["**/{test,tests}.{js,cjs,mjs,ts}"]),
    // https://docs.python.org/3/library/unittest.html#test-discovery
    ("unittest", &["**/test*.py"]),
    ("django", &["**/test*.py"]),
    ("rspec", &["spec/**"]),
    ("minitest", &["test/**"]),
    ("pest", &["tests/**"]),
    (
        "ctest",
        &[
            "**/*{_test,_tests,Test,Tests}.{c,cc,cpp,cxx,h,hpp}",
            "**/test_*.{c,cc,cpp,cxx}",
        ],
    ),
];

/// The globs of the test files of a framework: those of its languages, its own, and those that no language has to itself.
pub(super) fn patterns(framework: &str, languages: &[Language]) -> Vec<String> {
    let own = DEFAULTS.iter().filter(|(name, _)| *name == framework);
    let own = own.flat_map(|(_, own)| own.iter());
    let of_languages = languages
        .iter()
        .flat_map(|language| language.test_patterns());
    let mut patterns: Vec<String> = Vec::new();
    for pattern in of_languages.chain(own).chain(SHARED_TESTS) {
        if !patterns.iter().any(|known| known == pattern) {
            patterns.push((*pattern).to_owned());
        }
    }
    patterns
}

/// What pytest is told of it: `testpaths` and `python_files` of its settings, as globs.
pub(super) fn of_pytest(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(manifest) = read_manifest(&root.join("pyproject.toml"))
        && let Ok(manifest) = manifest.parse::<toml::Table>()
        && let Some(pytest) = manifest.get("tool").and_then(|tool| tool.get("pytest"))
    {
        // Since version 9 the settings may stand in the table itself.
        for table in [pytest.get("ini_options"), Some(pytest)]
            .into_iter()
            .flatten()
        {
            for (key, make) in KEYS {
                let values = match table.get(key) {
                    Some(toml::Value::String(text)) => words(text),
                    Some(toml::Value::Array(all)) => all
                        .iter()
                        .filter_map(toml::Value::as_str)
                        .map(str::to_owned)
                        .collect(),
                    _ => Vec::new(),
                };
                found.extend(values.iter().filter_map(|value| make(value)));
            }
        }
    }
    for (file, section) in [
        ("pytest.ini", "[pytest]"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ] {
        let Some(text) = read_manifest(&root.join(file)) else {
            continue;
        };
        for (key, make) in KEYS {
            let values = ini_value(&text, section, key);
            found.extend(words(&values).iter().filter_map(|value| make(value)));
        }
    }
    found
}

type Glob = fn(&str) -> Option<String>;

/// The settings that say it, and the glob that a value of each stands for.
const KEYS: [(&str, Glob); 2] = [("testpaths", test_path), ("python_files", file_pattern)];

fn test_path(value: &str) -> Option<String> {
    let path = value.trim_start_matches("./").trim_end_matches('/');
    if path.is_empty() || path == "." || !is_inside(path) {
        return None;
    }
    Some(if Language::of(path) == Some(Language::Python) {
        path.to_owned()
    } else {
        format!("{path}/**")
    })
}

fn file_pattern(value: &str) -> Option<String> {
    // All of the code may lie there: then the place says more.
    (value != "*.py" && is_inside(value)).then(|| format!("**/{value}"))
}

/// The value of a key in a section of an INI file, with the lines that go on with it.
fn ini_value(text: &str, section: &str, key: &str) -> String {
    let mut lines = text.lines();
    if !lines.any(|line| line.trim() == section) {
        return String::new();
    }
    let mut value = String::new();
    let mut goes_on = false;
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        if goes_on && line.starts_with([' ', '\t']) {
            value.push(' ');
            value.push_str(line.trim());
            continue;
        }
        goes_on = false;
        if let Some((name, rest)) = line.split_once('=')
            && name.trim() == key
        {
            goes_on = true;
            value.push_str(rest.trim());
        }
    }
    value
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The files of the project that a test command names itself, or what the project has behind it: they are tests, whatever they
/// are called.
pub fn tests_named(root: &Path, command: &str, definition: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words = command
        .split_whitespace()
        .chain(definition.unwrap_or_default().split_whitespace());
    for word in words {
        let word = word.trim_matches(['"', '\'', ';', ',', '(', ')']);
        let word = word.trim_start_matches("./");
        let is_called_so = ["test", "spec"]
            .iter()
            .any(|mark| file_name(word).to_lowercase().contains(mark));
        if is_called_so
            && Language::of(word).is_some()
            && is_inside(word)
            && !found.iter().any(|known| known == word)
            && root.join(word).is_file()
        {
            found.push(word.to_owned());
        }
    }
    found
}
