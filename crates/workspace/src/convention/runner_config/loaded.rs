//! Files that the settings of a runner name, for it to load before the tests.

use std::collections::BTreeSet;

/// Settings whose values are such files, by the names that runners give them: of Jest, Vitest, Mocha, AVA, Bun, `PHPUnit` and pytest.
const SETTINGS: &[&str] = &[
    "bootstrap",
    "extends",
    "globalSetup",
    "globalTeardown",
    "nodeArguments",
    "preload",
    "preset",
    "pytest_plugins",
    "reporters",
    "require",
    "resolver",
    "setupFiles",
    "setupFilesAfterEnv",
    "snapshotSerializers",
    "testEnvironment",
    "testRunner",
    "transform",
];

/// Options whose values are.
const OPTIONS: &[&str] = &["--import", "--require"];

/// Options of pytest and `RSpec` whose values are; other programs have some of these names.
const SHORT_OPTIONS: &[&str] = &["-p", "-r"];

/// The setting of pytest whose values are folders that modules are looked for in.
const MODULE_ROOTS: &str = "pythonpath";

/// Folders that runners or those who write packages have modules looked for in, beside that of the settings.
const USUAL_ROOTS: &[&str] = &["", "src", "lib", "spec"];

/// How the names of files end that runners load; others, such as lists of requirements, stand behind the same options.
const ENDINGS: &[&str] = &[
    "cjs", "cts", "js", "jsx", "mjs", "mts", "php", "py", "rb", "ts", "tsx",
];

/// What is asked for by these names alone when its folder is.
const OF_A_FOLDER: &[&str] = &["/index", "/jest-preset"];

/// No value of a setting is longer than this, in bytes.
const LONGEST: usize = 4096;
/// No setting stands more often in one file.
const MOST_VALUES: usize = 256;

/// Whether runners load files of such a name.
#[must_use]
pub fn may_be_loaded(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The files that settings name. All paths are below the same folder, with `/` between their parts.
#[derive(Debug, Clone, Default)]
pub struct LoadedFiles {
    /// By their paths, with or without their endings.
    paths: BTreeSet<String>,
    /// Modules of Python and Ruby, as the paths that they may have, without their endings.
    modules: BTreeSet<String>,
}

impl LoadedFiles {
    /// Adds what settings name that lie in a folder.
    pub fn add(&mut self, folder: &str, settings: &str) {
        let of_settings = SETTINGS.iter().flat_map(|name| values_of(settings, name));
        let of_options = OPTIONS
            .iter()
            .flat_map(|name| values_behind(settings, name));
        let is_of_runner = |line: &&str| {
            let line = line.trim_start();
            line.starts_with('-') || line.contains("addopts") || line.contains("pytest")
        };
        let lines = settings.lines().filter(is_of_runner);
        let of_short_options = lines.flat_map(|line| {
            let options = SHORT_OPTIONS.iter();
            options.flat_map(move |name| values_behind(line, name))
        });
        let roots: Vec<&str> = values_of(settings, MODULE_ROOTS)
            .flat_map(words_in)
            .chain(USUAL_ROOTS.iter().copied())
            .collect();
        let all = of_settings.chain(of_options).chain(of_short_options);
        for word in all.flat_map(words_in) {
            self.name(folder, &roots, word);
        }
    }

    fn name(&mut self, folder: &str, roots: &[&str], word: &str) {
        // What stands before the path is the folder of the settings, in some words of the runner: `<rootDir>/`, `--import=`.
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        let relative = word.trim_start_matches("rootDir").trim_start_matches('/');
        // A bare word is a package.
        if word.contains(['/', '.']) {
            self.paths.extend(joined(folder, relative));
        }
        let module = if word.contains('/') {
            word.to_owned()
        } else {
            word.replace('.', "/")
        };
        if !word.starts_with(['.', '/']) {
            let places = roots.iter().map(|root| format!("{root}/{module}"));
            self.modules
                .extend(places.filter_map(|place| joined(folder, &place)));
        }
    }

    /// Whether the file at this path is one of them.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let Some((stem, ending)) = path.rsplit_once('.').filter(|_| may_be_loaded(path)) else {
            return false;
        };
        let module = match ending {
            "py" => stem.strip_suffix("/__init__").unwrap_or(stem),
            _ => stem,
        };
        let is_of_folder = |name: &&str| {
            let folder = stem.strip_suffix(*name);
            folder.is_some_and(|folder| self.paths.contains(folder))
        };
        self.paths.contains(path)
            || self.paths.contains(stem)
            || (matches!(ending, "py" | "rb") && self.modules.contains(module))
            || OF_A_FOLDER.iter().any(is_of_folder)
    }
}

/// The values that a setting has wherever it stands: what is in brackets, or the rest of a line and the items of a list below it.
fn values_of<'a>(settings: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let found = settings.match_indices(name);
    let values = found.filter_map(move |(at, _)| {
        if settings[..at].ends_with(is_of_a_name) {
            return None;
        }
        let behind = settings[at + name.len()..].trim_start_matches(['\'', '"']);
        let value = behind
            .trim_start_matches([' ', '\t'])
            .strip_prefix([':', '='])?;
        let start = value.trim_start();
        match start.chars().next()? {
            '[' => Some(within(start, '[', ']')),
            '{' => Some(within(start, '{', '}')),
            quote @ ('\'' | '"') => start[1..].split(quote).next(),
            _ => Some(line_and_items(value)),
        }
    });
    values.take(MOST_VALUES)
}

/// The words that come right behind an option.
fn values_behind<'a>(settings: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let found = settings.match_indices(name);
    let values = found.filter_map(move |(at, _)| {
        if settings[..at].ends_with(|before| is_of_a_name(before) || before == '-') {
            return None;
        }
        let behind = &settings[at + name.len()..];
        let value = behind.trim_start_matches([' ', '\t', '=', '\'', '"', ',', '\n']);
        (value.len() < behind.len()).then(|| {
            let value = &value[..value.floor_char_boundary(LONGEST)];
            let end = value.find(|sign: char| sign.is_whitespace() || "'\",]".contains(sign));
            &value[..end.unwrap_or(value.len())]
        })
    });
    values.take(MOST_VALUES)
}

fn is_of_a_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// What is between brackets; of one that is not closed, as much as a value may have.
fn within(text: &str, opens: char, closes: char) -> &str {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        if sign == opens {
            depth += 1;
        } else if sign == closes {
            depth -= 1;
            if depth == 0 {
                return &text[..at];
            }
        }
    }
    text
}

/// What stands on the first line before another value, and of the lines that follow the items of a list.
fn line_and_items(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut depth = 0_usize;
    let ends = |(_, sign): &(usize, char)| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | '}' | ']' => return depth == 0,
            _ => {}
        }
        false
    };
    let line = text.lines().next().unwrap_or_default();
    if let Some((end, _)) = line.char_indices().find(ends) {
        return &line[..end];
    }
    let mut end = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if at > 0 && !line.trim_start().starts_with("- ") {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

fn words_in(value: &str) -> impl Iterator<Item = &str> {
    let words = value.split(|sign: char| sign.is_whitespace() || "'\"`,[]{}();<>".contains(sign));
    words.filter(|word| !word.is_empty())
}

/// A path from a folder; none where it leads out of all folders.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(folder: &str, settings: &str) -> LoadedFiles {
        let mut loaded = LoadedFiles::default();
        loaded.add(folder, settings);
        loaded
    }

    #[test]
    fn files_that_are_loaded_are_found_in_what_runners_read() {
        for case in [
            " | export default { test: { setupFiles: ['./lib/setup.ts'] } } ⇒ lib/setup.ts",
            " | setupFiles: './lib/setup', ⇒ lib/setup.ts",
            " | globalSetup: path.resolve(__dirname, 'lib/global.js') ⇒ lib/global.js",
            r#"packages/a | jest = {"setupFilesAfterEnv":["<rootDir>/lib/setup.js"]} ⇒ packages/a/lib/setup.js"#,
            "packages/a | setupFiles: ['../../lib/setup.js'] ⇒ lib/setup.js",
            r#" | {"transform": {"x": "./lib/transform.js"}} ⇒ lib/transform.js"#,
            " | testEnvironment: './lib/environment' ⇒ lib/environment/index.ts",
            r#" | { "require": "./lib/setup.js" } ⇒ lib/setup.js"#,
            " | require:\n  - tsx\n  - ./lib/setup.js\nspec: x\n ⇒ lib/setup.js",
            r#" | ava = {"nodeArguments":["--import=./lib/hooks.js"]} ⇒ lib/hooks.js"#,
            r#" | preload = ["./lib/setup.ts"] ⇒ lib/setup.ts"#,
            " | [pytest]\naddopts = -q -p sums.plugin\n ⇒ sums/plugin.py",
            " | pytest_plugins = [\n    \"helpers\",\n]\n ⇒ helpers/__init__.py",
            " | pytest_plugins = 'a.b'\n ⇒ a/b.py",
            " | mocha --require ./lib/setup.js test ⇒ lib/setup.js",
            " | addopts =\n    -q\n    -p sums.plugin\n ⇒ sums/plugin.py",
            " | [pytest]\naddopts = -p shop.plugin\n ⇒ src/shop/plugin.py",
            r#" | tool.pytest = {"ini_options":{"addopts":"-p shop.plugin","pythonpath":["python"]}} ⇒ python/shop/plugin.py"#,
            " | --require spec_helper\n--require shop/hooks\n ⇒ lib/shop/hooks.rb",
            " | --color\n-r hooks\n ⇒ spec/hooks.rb",
            "packages/a | extends: '../../vitest.shared' ⇒ vitest.shared.ts",
            r#" | jest = {"preset":"./config/jest"} ⇒ config/jest/jest-preset.js"#,
            r#" | <phpunit bootstrap="lib/bootstrap.php"/> ⇒ lib/bootstrap.php"#,
        ] {
            let (given, path) = case.split_once(" ⇒ ").unwrap();
            let (folder, settings) = given.split_once(" | ").unwrap();
            assert!(of(folder, settings).has(path), "{settings}");
        }
    }

    #[test]
    fn what_settings_name_for_another_reason_is_not_loaded() {
        for case in [
            "coverage: { include: ['src/index.ts'] } ⇒ src/index.ts",
            "alias: { '@': './src/index.ts' } ⇒ src/index.ts",
            "environment: 'node' ⇒ node.ts",
            "testRunner: 'jest-circus/runner' ⇒ src/runner.ts",
            "setupFiles: ['./lib/setup.ts'],\nalias: ['./src/a.ts'] ⇒ src/a.ts",
            "require: tsx\nspec:\n  - src/a.js\n ⇒ src/a.js",
            "addopts = --cov sums.plugin -p no:cacheprovider\n ⇒ sums/plugin.py",
            "setupFiles: ['../lib/setup.ts'] ⇒ lib/setup.ts",
            "deps = -r requirements.txt ⇒ requirements.txt",
            "commands =\n    bandit -r shop\n    mypy -p shop\n ⇒ shop/__init__.py",
            r#"jest = {"testEnvironment":"node","collectCoverageFrom":["src/cart.js"]} ⇒ src/cart.js"#,
            "{ test: { globalSetup: setup, include: ['src/cart.js'] } } ⇒ src/cart.js",
            "file = \"shop/app.py\"\n ⇒ shop/app.py",
            "setupFiles: [ ⇒ a.ts",
            "-p ⇒ a.py",
            "addopts = -rA -p shop.plugin\n ⇒ other/shop/plugin.py",
            "commands =\n    bandit -r shop\n ⇒ shop/__init__.py",
        ] {
            let (settings, path) = case.split_once(" ⇒ ").unwrap();
            assert!(!of("", settings).has(path), "{settings}");
        }
    }

    /// Of brackets that nobody closes, and of a value without an end, no more is read again and again than a value may have.
    #[test]
    fn brackets_that_are_not_closed_take_no_time() {
        for word in ["setupFiles: [", "--import=", "require: x,(", "bootstrap='"] {
            let loaded = of("", &word.repeat(200_000));
            assert!(!loaded.has("a.ts"), "{word}");
        }
    }
}
