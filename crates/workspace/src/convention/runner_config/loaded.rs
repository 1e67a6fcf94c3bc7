//! Files that the settings of a runner name, for it to load before the tests.

/// Settings whose values are such files, by the names that runners give them: of Jest, Vitest, Mocha, AVA, Bun, `PHPUnit` and pytest.
const SETTINGS: &[&str] = &[
    "bootstrap",
    "globalSetup",
    "globalTeardown",
    "nodeArguments",
    "preload",
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

/// The option of pytest whose value is a module; other programs have one of this name.
const PLUGIN: &str = "-p";

/// How the names of files end that runners load; others, such as lists of requirements, stand behind the same options.
const ENDINGS: &[&str] = &[
    "cjs", "cts", "js", "jsx", "mjs", "mts", "php", "py", "rb", "ts", "tsx",
];

/// Whether settings in a folder name the file at `path` as one that is loaded before the tests. Both are paths below the same
/// folder, `/` between their parts; the settings' folder is empty where it is that one.
#[must_use]
pub fn loads(folder: &str, settings: &str, path: &str) -> bool {
    let of_settings = SETTINGS.iter().flat_map(|name| values_of(settings, name));
    let of_options = OPTIONS
        .iter()
        .flat_map(|name| values_behind(settings, name));
    let is_of_pytest = |line: &&str| {
        let line = line.trim_start();
        line.starts_with('-') || line.contains("addopts") || line.contains("pytest")
    };
    let lines = settings.lines().filter(is_of_pytest);
    let of_plugins = lines.flat_map(|line| values_behind(line, PLUGIN));
    let all = of_settings.chain(of_options).chain(of_plugins);
    let mut named = all.flat_map(files_in);
    named.any(|name| is_named(folder, name, path))
}

/// The values that a setting has wherever it stands: what is in brackets, or the rest of a line and the items of a list below it.
fn values_of<'a>(settings: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let found = settings.match_indices(name);
    found.filter_map(move |(at, _)| {
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
    })
}

/// The words that come right behind an option.
fn values_behind<'a>(settings: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let found = settings.match_indices(name);
    found.filter_map(move |(at, _)| {
        if settings[..at].ends_with(|before| is_of_a_name(before) || before == '-') {
            return None;
        }
        let behind = &settings[at + name.len()..];
        let value = behind.trim_start_matches([' ', '\t', '=', '\'', '"', ',', '\n']);
        (value.len() < behind.len()).then(|| {
            let end = value.find(|sign: char| sign.is_whitespace() || "'\",]".contains(sign));
            &value[..end.unwrap_or(value.len())]
        })
    })
}

fn is_of_a_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn within(text: &str, opens: char, closes: char) -> &str {
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

fn files_in(value: &str) -> impl Iterator<Item = &str> {
    let words = value.split(|sign: char| sign.is_whitespace() || "'\"`,[]{}();<>".contains(sign));
    words.filter(|word| !word.is_empty())
}

/// Whether a word in a folder means this file: by its path, with or without its ending, or as a module of Python.
fn is_named(folder: &str, word: &str, path: &str) -> bool {
    let Some((stem, ending)) = path.rsplit_once('.') else {
        return false;
    };
    if !ENDINGS.contains(&ending) {
        return false;
    }
    // What stands before the path is the folder of the settings, in some words of the runner: `<rootDir>/`, `--import=`.
    let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
    let relative = word.trim_start_matches("rootDir").trim_start_matches('/');
    if ending == "py" && !word.contains('/') {
        let module = joined(folder, &word.replace('.', "/"));
        return module.is_some_and(|module| {
            stem == module || stem.strip_suffix("/__init__") == Some(&module)
        });
    }
    // A bare word is a package.
    if !word.contains(['/', '.']) {
        return false;
    }
    joined(folder, relative).is_some_and(|named| {
        named == path || named == stem || stem.strip_suffix("/index") == Some(&named)
    })
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

    #[test]
    fn files_that_are_loaded_are_found_in_what_runners_read() {
        for (folder, settings, path) in [
            (
                "",
                "export default { test: { setupFiles: ['./lib/setup.ts'] } }",
                "lib/setup.ts",
            ),
            ("", "setupFiles: './lib/setup',", "lib/setup.ts"),
            (
                "",
                "globalSetup: path.resolve(__dirname, 'lib/global.js')",
                "lib/global.js",
            ),
            (
                "packages/a",
                r#"jest = {"setupFilesAfterEnv":["<rootDir>/lib/setup.js"]}"#,
                "packages/a/lib/setup.js",
            ),
            (
                "packages/a",
                "setupFiles: ['../../lib/setup.js']",
                "lib/setup.js",
            ),
            (
                "",
                r#"{"transform": {"x": "./lib/transform.js"}}"#,
                "lib/transform.js",
            ),
            (
                "",
                "testEnvironment: './lib/environment'",
                "lib/environment/index.ts",
            ),
            ("", r#"{ "require": "./lib/setup.js" }"#, "lib/setup.js"),
            (
                "",
                "require:\n  - tsx\n  - ./lib/setup.js\nspec: x\n",
                "lib/setup.js",
            ),
            (
                "",
                r#"ava = {"nodeArguments":["--import=./lib/hooks.js"]}"#,
                "lib/hooks.js",
            ),
            ("", "preload = [\"./lib/setup.ts\"]", "lib/setup.ts"),
            (
                "",
                "[pytest]\naddopts = -q -p sums.plugin\n",
                "sums/plugin.py",
            ),
            (
                "",
                "pytest_plugins = [\n    \"helpers\",\n]\n",
                "helpers/__init__.py",
            ),
            ("", "pytest_plugins = 'a.b'\n", "a/b.py"),
            ("", "mocha --require ./lib/setup.js test", "lib/setup.js"),
            (
                "",
                "addopts =\n    -q\n    -p sums.plugin\n",
                "sums/plugin.py",
            ),
            (
                "",
                "<phpunit bootstrap=\"lib/bootstrap.php\"/>",
                "lib/bootstrap.php",
            ),
        ] {
            assert!(loads(folder, settings, path), "{settings}");
        }
    }

    #[test]
    fn what_settings_name_for_another_reason_is_not_loaded() {
        for (settings, path) in [
            ("coverage: { include: ['src/index.ts'] }", "src/index.ts"),
            ("alias: { '@': './src/index.ts' }", "src/index.ts"),
            ("environment: 'node'", "node.ts"),
            ("testRunner: 'jest-circus/runner'", "src/runner.ts"),
            (
                "setupFiles: ['./lib/setup.ts'],\nalias: ['./src/a.ts']",
                "src/a.ts",
            ),
            ("require: tsx\nspec:\n  - src/a.js\n", "src/a.js"),
            (
                "addopts = --cov sums.plugin -p no:cacheprovider\n",
                "sums/plugin.py",
            ),
            ("setupFiles: ['../lib/setup.ts']", "lib/setup.ts"),
            ("deps = -r requirements.txt", "requirements.txt"),
            (
                "commands =\n    bandit -r shop\n    mypy -p shop\n",
                "shop/__init__.py",
            ),
            (
                "jest = {\"testEnvironment\":\"node\",\"collectCoverageFrom\":[\"src/cart.js\"]}",
                "src/cart.js",
            ),
            (
                "{ test: { globalSetup: setup, include: ['src/cart.js'] } }",
                "src/cart.js",
            ),
            ("file = \"shop/app.py\"\n", "shop/app.py"),
            ("setupFiles: [", "a.ts"),
            ("-p", "a.py"),
        ] {
            assert!(!loads("", settings, path), "{settings}");
        }
    }
}
