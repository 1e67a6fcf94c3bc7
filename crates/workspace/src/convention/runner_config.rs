//! What decides about a run of tests beside the tests: files that configure their runner, or that it loads before them.

mod loaded;

pub use loaded::{LoadedFiles, may_be_loaded};
use serde_json::Value;

/// What of a file does.
#[derive(Clone, Copy)]
enum Part {
    /// All of it.
    Whole,
    /// These values of a JSON object.
    Json(&'static [&'static str]),
    /// These tables, by their dotted names.
    Toml(&'static [&'static str]),
    /// This section of an INI file.
    Section(&'static str),
    /// The object behind this key, in a script.
    Object(&'static str),
    /// All of it, if this stands in it.
    With(&'static str),
}

/// By the beginning and the end of a file's name.
const FILES: &[(&str, &str, Part)] = &[
    ("conftest.py", "", Part::Whole),
    ("sitecustomize.py", "", Part::Whole),
    ("usercustomize.py", "", Part::Whole),
    // Git makes other text of tests by it.
    (".gitattributes", "", Part::With("working-tree-encoding")),
    ("pytest.ini", "", Part::Whole),
    (".pytest.ini", "", Part::Whole),
    ("pytest.toml", "", Part::Whole),
    (".pytest.toml", "", Part::Whole),
    ("tox.ini", "", Part::Whole),
    ("tox.toml", "", Part::Whole),
    ("noxfile.py", "", Part::Whole),
    ("setup.cfg", "", Part::Section("tool:pytest")),
    (
        "pyproject.toml",
        "",
        Part::Toml(&[
            "tool.pytest",
            "tool.tox",
            "tool.hatch.envs",
            "project.entry-points.pytest11",
        ]),
    ),
    ("entry_points.txt", "", Part::With("[pytest11]")),
    ("jest.config.", "", Part::Whole),
    ("jest.setup.", "", Part::Whole),
    ("setupTests.", "", Part::Whole),
    ("vitest.config.", "", Part::Whole),
    ("vitest.setup.", "", Part::Whole),
    ("vitest.workspace.", "", Part::Whole),
    ("vite.config.", "", Part::Object("test")),
    ("ava.config.", "", Part::Whole),
    (".mocharc.", "", Part::Whole),
    (".taprc", "", Part::Whole),
    (".nycrc", "", Part::Whole),
    (".npmrc", "", Part::Whole),
    ("bunfig.toml", "", Part::Toml(&["test"])),
    ("deno.json", "", Part::Json(&["test", "imports"])),
    ("__init__.py", "", Part::With("def load_tests(")),
    (
        "package.json",
        "",
        Part::Json(&["ava", "c8", "jest", "mocha", "nyc", "tap", "vitest"]),
    ),
    ("", "_test.go", Part::With("func TestMain(")),
    ("nextest.toml", "", Part::Whole),
    ("rust-toolchain.toml", "", Part::Whole),
    ("rust-toolchain", "", Part::Whole),
    (
        "Cargo.toml",
        "",
        Part::Toml(&[
            "lib",
            "package.autotests",
            "profile.dev",
            "profile.test",
            "test",
        ]),
    ),
    (".rspec", "", Part::Whole),
    ("phpunit.xml", "", Part::Whole),
    ("phpunit.dist.xml", "", Part::Whole),
    ("", ".runsettings", Part::Whole),
];

/// What of a file configures or hosts a run of tests, apart from its form; none where nothing does. `name` is its path.
#[must_use]
pub fn runner_config(name: &str, text: &str) -> Option<String> {
    let own = match part_of(name)? {
        Part::Whole => text.to_owned(),
        Part::With(word) if text.contains(word) => text.to_owned(),
        Part::With(_) => return None,
        Part::Json(keys) => values(&serde_json::from_str(text).ok()?, keys)?,
        Part::Toml(keys) => {
            let table: toml::Table = toml::from_str(text).ok()?;
            values(&serde_json::to_value(table).ok()?, keys)?
        }
        Part::Section(name) => section(text, name)?,
        Part::Object(key) => object(text, key)?,
    };
    let lines = own
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty());
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|own| !own.is_empty())
}

/// Whether something of a file with this path may.
#[must_use]
pub fn may_configure_a_runner(name: &str) -> bool {
    part_of(name).is_some()
}

/// Whether a file with this path is a runner's alone, where anything of it is.
#[must_use]
pub fn is_all_of_a_runner(name: &str) -> bool {
    part_of(name).is_none_or(|part| matches!(part, Part::Whole | Part::With(_)))
}

/// Whether something of a file with this path may name files for a runner to load.
#[must_use]
pub fn may_name_loaded_files(name: &str) -> bool {
    part_of(name).is_some_and(|part| !matches!(part, Part::With(_)))
}

fn part_of(name: &str) -> Option<Part> {
    let of_cargo = [".cargo/config.toml", ".cargo/config"];
    if of_cargo
        .iter()
        .any(|own| name == *own || name.ends_with(&format!("/{own}")))
    {
        return Some(Part::Whole);
    }
    let last = name.rsplit('/').next().unwrap_or(name);
    let is_meant = |begins: &str, ends: &str| {
        last.starts_with(begins)
            && last.ends_with(ends)
            // A name that ends with a dot stands for all endings, another one for itself and copies such as `phpunit.xml.dist`.
            && (begins.is_empty() || begins.ends_with('.') || last == begins || last[begins.len()..].starts_with('.'))
    };
    let mut files = FILES.iter();
    files
        .find(|(begins, ends, _)| is_meant(begins, ends))
        .map(|(_, _, part)| *part)
}

/// The values behind dotted keys, as far as they are there.
fn values(of: &Value, keys: &[&str]) -> Option<String> {
    let found: Vec<String> = keys
        .iter()
        .filter_map(|key| {
            let value = key.split('.').try_fold(of, |at, part| at.get(part))?;
            Some(format!("{key} = {value}"))
        })
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// A section of an INI file.
fn section(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    let head = format!("[{name}]");
    lines.find(|line| line.trim() == head)?;
    let own: Vec<&str> = lines.take_while(|line| !line.starts_with('[')).collect();
    Some(own.join("\n"))
}

/// The object behind a key of a script, with its braces.
fn object(text: &str, key: &str) -> Option<String> {
    for (at, _) in text.match_indices(key) {
        let is_word = text[..at]
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '.');
        let behind = text[at + key.len()..]
            .trim_start_matches(['\'', '"'])
            .trim_start();
        let Some(value) = behind.strip_prefix(':').map(str::trim_start) else {
            continue;
        };
        if !is_word || !value.starts_with('{') {
            continue;
        }
        let mut depth = 0_usize;
        for (end, c) in value.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(value[..=end].to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::runner_config;

    #[test]
    fn files_of_runners_are_known_by_their_names_and_of_others_a_part_decides() {
        for case in [
            "tests/conftest.py | import x\n ⇒ import x",
            "my_conftest.py | import x\n ⇒ ",
            "vitest.config.ts | export default {}\n ⇒ export default {}",
            "a.egg-info/entry_points.txt | [pytest11]\na = b\n ⇒ [pytest11]\na = b",
            "a.egg-info/entry_points.txt | [console_scripts]\na = b\n ⇒ ",
            "packages/a/jest.setup.js | mock()  \n\n ⇒ mock()",
            "phpunit.xml.dist | <phpunit/> ⇒ <phpunit/>",
            "src/app.ts | test: { a: 1 } ⇒ ",
            "conftest.py |  ⇒ ",
            ".cargo/config.toml | [env]\nA = '1'\n ⇒ [env]\nA = '1'",
            "a/config.toml | [env]\nA = '1'\n ⇒ ",
            r#"package.json | {"dependencies": {"a": "1"}, "scripts": {}} ⇒ "#,
            r#"package.json | {"jest": {"bail": true}, "dependencies": {}} ⇒ jest = {"bail":true}"#,
            "pyproject.toml | [project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n ⇒ tool.pytest = {\"ini_options\":{\"addopts\":\"-q\"}}",
            "setup.cfg | [metadata]\nname = a\n[tool:pytest]\naddopts = -q\n[x]\ny = 1\n ⇒ addopts = -q",
            "vite.config.ts | export default defineConfig({ plugins: [latest({})], test: { include: ['a'], deps: {} } }) ⇒ { include: ['a'], deps: {} }",
            "a_test.go | package a\nfunc TestA(t *testing.T) {}\n ⇒ ",
            "Cargo.toml | [package]\nname = 'a'\n[dependencies]\n ⇒ ",
        ] {
            let (file, expected) = case.split_once(" ⇒ ").unwrap();
            let (name, text) = file.split_once(" | ").unwrap();
            let found = runner_config(name, text);
            assert_eq!(found.unwrap_or_default(), expected, "{case}");
        }
        let main = "package a\nfunc TestMain(m *testing.M) {}\n";
        assert!(runner_config("main_test.go", main).is_some());
    }
}
