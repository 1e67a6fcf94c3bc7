//! Which checks a project has, by its files.

use std::path::Path;

use indexmap::IndexMap;
use workspace::checks::{Check, found};
use workspace::config::{Checks, RunChecks};

fn checks(files: &[(&str, &str)], settings: &Checks) -> Vec<Check> {
    let project = tempfile::tempdir().unwrap();
    for (name, text) in files {
        testkit::files::write_program(&project.path().join(name), text);
    }
    let package = project.path().join("packages/one");
    let root = Some(&*package).filter(|package| package.is_dir());
    found(root.unwrap_or(project.path()), project.path(), settings).unwrap()
}

#[test]
fn what_a_project_has_settings_of_is_found() {
    let python = "pyproject.toml";
    for (file, text, expected) in [
        ("Cargo.toml", "[package]\n", "cargo fmt"),
        (
            "Cargo.toml",
            "[lints.clippy]\nall = \"warn\"\n",
            "cargo fmt, clippy",
        ),
        ("go.mod", "module a\n", "gofmt, go vet"),
        ("ruff.toml", "", "ruff check"),
        (python, "[tool.ruff.format]\n", "ruff check, ruff format"),
        (python, "[tool.black]\n[tool.mypy]\n", "black, mypy"),
        (python, "[project]\n", ""),
        ("setup.cfg", "[metadata]\n[flake8]\nx = 1\n", "flake8"),
        ("eslint.config.mjs", "", "eslint"),
        (
            "package.json",
            r#"{"prettier": {}, "eslintConfig": {}}"#,
            "eslint, prettier",
        ),
        (
            "package.json",
            r#"{"devDependencies": {"eslint": "9"}}"#,
            "",
        ),
        ("tsconfig.json", "{}", "tsc"),
        ("biome.jsonc", "{}", "biome"),
        (".rubocop.yml", "", "rubocop"),
        ("phpstan.neon", "", "phpstan"),
        (".markdownlint.json", "{}", "markdownlint-cli2"),
        (
            ".pre-commit-config.yaml",
            "repos:\n- hooks:\n  - id: ruff-format\n  - id: \"black\" # x\n",
            "ruff format",
        ),
        ("README.md", "", ""),
    ] {
        let found = checks(&[(file, text)], &Checks::default());
        let names: Vec<String> = found.into_iter().map(|check| check.name).collect();
        assert_eq!(names.join(", "), expected, "{file} {text}");
    }
}

#[test]
fn settings_win() {
    let files = [("go.mod", "module a\n")];
    let with = |settings: Checks| {
        let lines: Vec<String> = checks(&files, &settings).iter().map(Check::line).collect();
        lines.join("; ")
    };
    let own = |name: &str, line: &str| Checks {
        commands: IndexMap::from([(name.to_owned(), line.to_owned())]),
        ..Checks::default()
    };
    let lines = with(own("lint", "make 'lint all'"));
    assert!(lines.ends_with("; make 'lint all'"), "{lines}");
    let expected = "goimports -l .; go vet ./...";
    assert_eq!(with(own("gofmt", "goimports -l .")), expected);
    let without = Checks {
        without: vec!["go vet".to_owned()],
        ..Checks::default()
    };
    assert_eq!(with(without), "gofmt -l .");
    let off = Checks {
        run: RunChecks::Off,
        ..own("lint", "make")
    };
    assert_eq!(with(off), "");
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
}

/// As `npm run` has it: in a package, and at the top of its repository.
#[test]
fn a_command_of_ones_own_finds_the_programs_of_the_project() {
    let own = Checks {
        commands: IndexMap::from([("lint".to_owned(), "xo --quiet".to_owned())]),
        ..Checks::default()
    };
    for place in [
        "node_modules/.bin/xo",
        "packages/one/node_modules/.bin/xo",
        "packages/one/.venv/bin/xo",
    ] {
        let files = [(place, ""), ("packages/one/package.json", "{}")];
        let all = checks(&files, &own);
        let program = all[0].program.as_ref().unwrap();
        assert!(program.ends_with(place), "{program:?}");
    }
    assert_eq!(checks(&[], &own)[0].program, None);
}

/// What of a shared file is about something else does not set a check up.
#[test]
fn of_a_shared_file_only_its_part_counts() {
    let settings = |text: &str| {
        checks(&[("pyproject.toml", text)], &Checks::default())[0]
            .settings
            .clone()
    };
    let one = settings("[project]\nversion = \"1\"\n[tool.ruff]\nline-length = 80\n");
    let other = settings("[project]\nversion = \"2\"\n[tool.ruff]\nline-length = 80\n");
    assert_eq!(one, other);
    assert_ne!(one, settings("[tool.ruff]\nline-length = 90\n"));
}

#[test]
fn a_type_checker_that_knows_its_files_is_told_none() {
    let line = |text: &str| checks(&[("pyproject.toml", text)], &Checks::default())[0].line();
    assert!(line("[tool.mypy]\nstrict = true\n").ends_with(" ."));
    assert!(!line("[tool.mypy]\nfiles = [\"src\"]\n").ends_with(" ."));
    assert!(!line("[tool.mypy]\nstrict = true\npackages = \"a\"\n").ends_with(" ."));
}
