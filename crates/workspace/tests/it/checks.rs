//! Which checks a project has, by its files.

use std::path::Path;

use indexmap::IndexMap;
use workspace::checks::{Check, found};
use workspace::config::{Checks, RunChecks};

fn checks(files: &[(&str, &str)], settings: &Checks) -> Vec<Check> {
    let project = testkit::folder();
    for (name, text) in files {
        testkit::files::write_program(&project.path().join(name), text);
    }
    let package = project.path().join("packages/one");
    let root = Some(&*package).filter(|package| package.is_dir());
    found(root.unwrap_or(project.path()), project.path(), settings).unwrap()
}

#[test]
fn what_a_project_has_settings_of_is_found() {
    for case in [
        "Cargo.toml: [package]\n ⇒ cargo fmt",
        "Cargo.toml: [lints.clippy]\nall = \"warn\"\n ⇒ cargo fmt, clippy",
        "go.mod: module a\n ⇒ gofmt, go vet",
        "ruff.toml:  ⇒ ruff check",
        "pyproject.toml: [tool.ruff.format]\n ⇒ ruff check, ruff format",
        "pyproject.toml: [tool.black]\n[tool.mypy]\n ⇒ black, mypy",
        "pyproject.toml: [project]\n ⇒ ",
        "setup.cfg: [metadata]\n[flake8]\nx = 1\n ⇒ flake8",
        "eslint.config.mjs:  ⇒ eslint",
        r#"package.json: {"prettier": {}, "eslintConfig": {}} ⇒ eslint, prettier"#,
        r#"package.json: {"devDependencies": {"eslint": "9"}} ⇒ "#,
        "tsconfig.json: {} ⇒ tsc",
        "biome.jsonc: {} ⇒ biome",
        ".rubocop.yml:  ⇒ rubocop",
        "phpstan.neon:  ⇒ phpstan",
        ".markdownlint.json: {} ⇒ markdownlint-cli2",
        ".pre-commit-config.yaml: repos:\n- hooks:\n  - id: ruff-format\n  - id: \"black\" # x\n ⇒ ruff format",
        "README.md:  ⇒ ",
    ] {
        let (file, expected) = case.split_once(" ⇒ ").unwrap();
        let found = checks(&[file.split_once(": ").unwrap()], &Checks::default());
        let names: Vec<String> = found.into_iter().map(|check| check.name).collect();
        assert_eq!(names.join(", "), expected, "{case}");
    }
}

#[test]
fn settings_win() {
    let own = |name: &str, line: &str| Checks {
        commands: IndexMap::from([(name.to_owned(), line.to_owned())]),
        ..Checks::default()
    };
    let without = Checks {
        without: vec!["go vet".to_owned()],
        ..Checks::default()
    };
    let off = Checks {
        run: RunChecks::Off,
        ..own("lint", "make")
    };
    let lint = own("lint", "make 'a b'");
    for (settings, expected) in [
        (lint, "gofmt -l .; go vet ./...; make 'a b'"),
        (own("gofmt", "goimports"), "goimports; go vet ./..."),
        (without, "gofmt -l ."),
        (off, ""),
    ] {
        let found = checks(&[("go.mod", "module a\n")], &settings);
        let lines: Vec<String> = found.iter().map(Check::line).collect();
        assert_eq!(lines.join("; "), expected);
    }
    let broken = own("lint", "make | tee log");
    assert!(found(Path::new("/"), Path::new("/"), &broken).is_err());
}

#[test]
fn a_program_of_the_project_comes_first() {
    let files = [("eslint.config.js", ""), ("node_modules/.bin/eslint", "")];
    let all = checks(&files, &Checks::default());
    let program = all[0].program.as_ref().unwrap();
    assert!(program.ends_with("node_modules/.bin/eslint"), "{program:?}");
    let argv = all[0].argv_for(&["a b.js".to_owned()]);
    assert_eq!(argv[1..], ["-f", "json", "a b.js"]);
    assert!(all[0].is_about("src/a.tsx") && !all[0].is_about("a.md") && !all[0].is_about("tsx"));
    let missing = checks(&[("biome.json", "{}")], &Checks::default());
    assert_eq!(missing[0].program, None);
    // As `npm run` has it, one's own command finds them, too: in a package, and at the top of its repository.
    let own = Checks {
        commands: IndexMap::from([("lint".to_owned(), "xo --quiet".to_owned())]),
        ..Checks::default()
    };
    let modules = "node_modules/.bin/xo";
    let package = "packages/one/.venv/bin/xo";
    for place in [modules, &format!("packages/one/{modules}"), package] {
        let files = [(place, ""), ("packages/one/package.json", "{}")];
        let program = checks(&files, &own)[0].program.clone().unwrap();
        assert!(program.ends_with(place), "{program:?}");
    }
    assert_eq!(checks(&[], &own)[0].program, None);
}

/// What of a shared file is about something else does not set a check up, and a type checker that knows its files is told none.
#[test]
fn of_a_shared_file_only_its_part_counts() {
    let check = |text: &str| checks(&[("pyproject.toml", text)], &Checks::default()).remove(0);
    let settings = |version: u32, length: u32| {
        let text =
            format!("[project]\nversion = \"{version}\"\n[tool.ruff]\nline-length = {length}\n");
        check(&text).settings
    };
    assert_eq!(settings(1, 80), settings(2, 80));
    assert_ne!(settings(1, 80), settings(1, 90));
    for (text, all) in [
        ("strict = true\n", true),
        ("files = [\"src\"]\n", false),
        ("strict = true\npackages = \"a\"\n", false),
    ] {
        let line = check(&format!("[tool.mypy]\n{text}")).line();
        assert_eq!(line.ends_with(" ."), all, "{text}");
    }
}
