use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use workspace::convention::paths::PathClasses;
use workspace::runner::{Note, RunnerError, TestSetup, detect, runner_names, tests_named};

use crate::folder;

/// The files of a project, each with what is in it; then the command found, the framework, and the detector.
const CASES: &[&str] = &[
    r#"package.json={"scripts":{"test":"vitest run"}} ⇒ npm test (vitest, node)"#,
    r#"package.json={"scripts":{"test":"node --test"},"packageManager":"pnpm@9.0.0"} ⇒ pnpm test (node, node)"#,
    r#"package.json={"scripts":{"test":"turbo run test"},"devDependencies":{"jest":"1"}} + yarn.lock ⇒ yarn test (jest, node)"#,
    r#"package.json={"scripts":{"test":"bun test"}} + bun.lock ⇒ bun run test (bun, node)"#,
    r#"package.json={"scripts":{"test":"react-scripts test"}} + package-lock.json={} ⇒ npm test (jest, node)"#,
    r#"package.json={"scripts":{"test":"./java-check.sh"}} ⇒ npm test (unknown, node)"#,
    r#"package.json={"devDependencies":{"vitest":"1"}} + pnpm-lock.yaml ⇒ pnpm exec vitest run (vitest, node)"#,
    "package.json={\"scripts\":{\"test\":\"echo \\\"Error: no test specified\\\" && exit 1\"},\"devDependencies\":{\"mocha\":\"1\"}} ⇒ npx mocha (mocha, node)",
    "Cargo.toml=[package]\nname='a' ⇒ cargo test --no-fail-fast (libtest, cargo)",
    "Cargo.toml=[workspace] + .config/nextest.toml ⇒ cargo nextest run --workspace --no-fail-fast (nextest, cargo)",
    "go.mod=module a ⇒ go test ./... (go test, go)",
    "go.work=go 1.24\nuse (\n\t./a // first\n\t\"./b/c\"\n\t./$(x)\n)\nuse ./d\n ⇒ go test ./a/... ./b/c/... ./d/... (go test, go)",
    "pyproject.toml=[tool.pytest.ini_options]\n ⇒ pytest (pytest, python)",
    "pyproject.toml=[dependency-groups]\ndev = ['pytest>=8']\n + uv.lock ⇒ uv run pytest (pytest, python)",
    "pyproject.toml=[tool.poetry.group.dev.dependencies]\npytest = '8'\n + poetry.lock ⇒ poetry run pytest (pytest, python)",
    "setup.cfg=[tool:pytest]\n ⇒ pytest (pytest, python)",
    "requirements.txt=flask\npytest==8\n ⇒ pytest (pytest, python)",
    "setup.py + tests/conftest.py ⇒ pytest (pytest, python)",
    "manage.py ⇒ python3 manage.py test (django, python)",
    "setup.py ⇒ python3 -m unittest (unittest, python)",
    "pom.xml=<project/> ⇒ mvn test (junit, maven)",
    "pom.xml=<artifactId>testng</artifactId> + mvnw ⇒ ./mvnw test (testng, maven)",
    r#"build.gradle.kts=testImplementation("io.kotest:x") + gradlew ⇒ ./gradlew test (kotest, gradle)"#,
    "settings.gradle ⇒ gradle test (junit, gradle)",
    "A.sln + x/A.csproj ⇒ dotnet test (unknown, dotnet)",
    r#"B.csproj=<PackageReference Include="xunit"/> + A.csproj ⇒ dotnet test A.csproj (xunit, dotnet)"#,
    "A b.sln + C.sln ⇒ dotnet test (unknown, dotnet)",
    "mix.exs ⇒ mix test (exunit, mix)",
    r#"composer.json={"scripts":{"test":["@lint","phpunit"]},"require-dev":{"phpunit/phpunit":"1"}} ⇒ composer test (phpunit, php)"#,
    "phpunit.xml.dist ⇒ vendor/bin/phpunit (phpunit, php)",
    r#"composer.json={"require-dev":{"pestphp/pest":"1"}} ⇒ vendor/bin/pest (pest, php)"#,
    "Gemfile=gem 'rspec' ⇒ bundle exec rspec (rspec, ruby)",
    ".rspec ⇒ rspec (rspec, ruby)",
    "Gemfile + Rakefile=Rake::TestTask.new ⇒ bundle exec rake test (minitest, ruby)",
    "Gemfile + bin/rails + test/a_test.rb ⇒ bin/rails test (minitest, ruby)",
    r#"deno.json={"tasks":{"test":"deno test -A"}} ⇒ deno task test (deno, deno)"#,
    "deno.json={} ⇒ deno test (deno, deno)",
    "deno.jsonc=// x\n{} ⇒ deno test (deno, deno)",
    "Package.swift ⇒ swift test (xctest, swift)",
    "pubspec.yaml=dependencies:\n  flutter:\n    sdk: flutter\n ⇒ flutter test (flutter test, dart)",
    "pubspec.yaml=name: a\n ⇒ dart test (dart test, dart)",
    "CMakeLists.txt=project(a)\nenable_testing()\nadd_test(NAME a COMMAND a)\n ⇒ sh -c 'cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure' (ctest, cmake)",
    "tests/test_a.py=import unittest\n ⇒ python3 -m unittest discover -s tests (unittest, python)",
    "tests/test_a.py=import unittest\n + tests/__init__.py ⇒ python3 -m unittest (unittest, python)",
    "tests/test_a.py=def test_a():\n    assert 1\n ⇒ pytest (pytest, python)",
    "tox.ini=[testenv]\ndeps = pytest\ncommands = pytest {posargs}\n ⇒ tox (pytest, python)",
    "Makefile=CC := gcc\nall: a\ntest: all\n\t./run\n ⇒ make test (unknown, make)",
    "Makefile=check test:\n\t./run\n ⇒ make test (unknown, make)",
    "justfile=build:\n  x\n\n@test arg='x': build\n  ./run\n ⇒ just test (unknown, just)",
];

fn files(told: &str) -> TempDir {
    let files = told.split(" + ").filter(|file| !file.is_empty());
    let files = files.map(|file| file.split_once('=').unwrap_or((file, "")));
    let files: Vec<(&str, &str)> = files.collect();
    folder(&files)
}

#[test]
fn found_by_themselves_and_by_name() {
    let mut seen = BTreeSet::new();
    for case in CASES {
        let (told, expected) = case.split_once(" ⇒ ").unwrap();
        let root = files(told);
        let detector = expected.rsplit([' ', ')']).nth(1).unwrap();
        seen.insert(detector);
        for runner in ["auto", detector] {
            let detection = detect(root.path(), runner).unwrap();
            let setup = detection.setup.unwrap_or_else(|| panic!("nothing: {case}"));
            let found = format!(
                "{} ({}, {})",
                setup.command, setup.framework, setup.detector
            );
            assert_eq!(found, expected, "{told}");
            assert!(!setup.patterns.is_empty());
            assert!(detection.notes.is_empty(), "{:?}", detection.notes);
        }
    }
    assert_eq!(seen, runner_names().collect());
}

/// Where each runner looks by itself, by its documentation.
#[test]
fn what_a_runner_takes_for_a_test_is_one() {
    let all = [
        "package.json={\"scripts\":{\"test\":\"ava\"}} ⇒ test.js test/add.js source/test.ts test-add.js add.test.mjs",
        "package.json={\"scripts\":{\"test\":\"mocha\"}} ⇒ test/add.js test/unit/add.cjs src/add.spec.ts",
        "package.json={\"scripts\":{\"test\":\"node --test\"}} ⇒ test.js test/add.js add_test.mjs test-add.cjs add-test.js",
        "package.json={\"scripts\":{\"test\":\"jest\"}} ⇒ __tests__/add.js src/test.tsx spec.js a.spec.jsx",
        "package.json={\"scripts\":{\"test\":\"vitest run\"}} ⇒ src/a.test.ts a.spec.mts",
        "package.json={\"scripts\":{\"test\":\"jasmine\"}} ⇒ spec/add.js lib/addSpec.js",
        "package.json={\"scripts\":{\"test\":\"tap\"}} ⇒ test.js tests/a.js",
        "package.json={\"scripts\":{\"test\":\"node check/tests.js\"}} ⇒ check/tests.js",
        "pyproject.toml=[tool.pytest.ini_options]\ntestpaths = [\"checks\", \"test.py\"]\npython_files = \"check_*.py\"\n ⇒ checks/a.py test.py lib/check_a.py test_a.py a_test.py tests/data.json",
        "setup.cfg=[tool:pytest]\ntestpaths =\n    checks\n    more\n[other]\nx = 1\n ⇒ checks/a.py more/b.py",
        "manage.py= ⇒ app/tests.py app/test_views.py",
        "go.mod=module a\n ⇒ a_test.go testdata/a.json",
        "Cargo.toml=[package]\nname = \"a\"\n ⇒ tests/a.rs src/tests.rs",
        ".rspec= ⇒ spec/a_spec.rb spec/support/a.rb",
        "phpunit.xml= ⇒ tests/ATest.php tests/data.php",
        "CMakeLists.txt=enable_testing()\n ⇒ tests/a.cpp src/a_test.cc test/main.c",
    ];
    for case in all {
        let (manifest, tests) = case.split_once(" ⇒ ").unwrap();
        let mut files = vec![manifest.split_once('=').unwrap()];
        files.extend(tests.split(' ').map(|test| (test, "")));
        let root = folder(&files);
        let setup = found(root.path(), "auto").unwrap();
        let definition = setup.definition.as_deref();
        let named = tests_named(root.path(), &setup.command, definition);
        let patterns = [setup.patterns, named].concat();
        let classes = PathClasses::new(&patterns).unwrap();
        let products = "src/add.js lib/contest.py latest.rb src/lib.rs a.go";
        for (paths, are_tests) in [(tests, true), (products, false)] {
            for path in paths.split(' ') {
                let is_test = classes.is_test(path);
                assert_eq!(is_test, are_tests, "{case}: {path}: {patterns:?}");
            }
        }
    }
}

fn found(root: &Path, runner: &str) -> Option<TestSetup> {
    detect(root, runner).unwrap().setup
}

#[test]
fn nothing_to_find() {
    for told in [
        "",
        r#"package.json={"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#,
        r#"package.json={"scripts":{"test":"  "}}"#,
        "package.json=[]",
        "Makefile=test := 1\ntests:\n\tx\n.PHONY: test\n",
        "justfile=test := 'x'\ntest-all:\n  x\n",
        "Gemfile",
        "composer.json={}",
    ] {
        assert_eq!(found(files(told).path(), "auto"), None, "{told}");
    }
    let root = files("Cargo.toml=[package]");
    assert_eq!(found(root.path(), "go"), None);
    assert_eq!(found(&root.path().join("missing"), "auto"), None);
}

#[test]
fn what_decides_is_kept() {
    for case in [
        r#"package.json={"scripts":{"test":" jest --ci "}} ⇒ jest --ci"#,
        "Makefile=test: a\n\tx\n\ty\nb:\n\tz\n ⇒ test: a\n\tx\n\ty",
        "go.mod ⇒ ",
    ] {
        let (told, expected) = case.split_once(" ⇒ ").unwrap();
        let definition = found(files(told).path(), "auto").unwrap().definition;
        assert_eq!(definition.unwrap_or_default(), expected);
    }
}

#[test]
fn what_cannot_be_read_is_passed_over_with_a_note_and_others_are_named() {
    let several = "package.json={\"scripts\":{\"test\":\"jest\"}} + Cargo.toml=[package] + go.mod + Makefile=test:\n\tx\n";
    let made = found(files(several).path(), "make").unwrap();
    assert_eq!(made.command, "make test");
    let damaged = "package.json={ + Cargo.toml=[package + pyproject.toml== = + go.mod=module a";
    let of_damaged = "package.json, Cargo.toml, pyproject.toml, go before python";
    let no_text = "package.json/x + Makefile=test:\n\tx\n";
    for (told, detector, notes) in [
        (several, "node", "node before cargo go"),
        (damaged, "go", of_damaged),
        (no_text, "make", "package.json, Cargo.toml"),
    ] {
        let root = files(told);
        if detector == "make" {
            fs::write(root.path().join("Cargo.toml"), [0xff, 0xfe, 0]).unwrap();
            fs::write(root.path().join("pom.xml"), vec![b' '; 2 * 1024 * 1024]).unwrap();
        }
        let detection = detect(root.path(), "auto").unwrap();
        assert_eq!(detection.setup.unwrap().detector, detector);
        let told = detection.notes.iter().map(|note| match note {
            Note::Unreadable { file, .. } => (*file).to_owned(),
            Note::AlsoFound { taken, others } => format!("{taken} before {}", others.join(" ")),
        });
        assert_eq!(told.collect::<Vec<_>>().join(", "), notes);
    }
}

#[test]
fn the_package_manager_of_a_workspace_is_found_above() {
    // Above the repository nobody's lock file counts.
    for (lock, repository, package, expected) in [
        ("pnpm-lock.yaml", "", "packages/a/", "pnpm test"),
        ("yarn.lock", "repo/", "repo/", "npm test"),
    ] {
        let scripts = r#"{"scripts":{"test":"jest"}}"#;
        let root = files(&format!(
            "{lock} + {repository}.git/HEAD + {package}package.json={scripts}"
        ));
        let setup = found(&root.path().join(package), "auto").unwrap();
        assert_eq!(setup.command, expected);
    }
}

#[test]
fn an_unknown_runner_is_refused_with_the_nearest() {
    for (name, meant) in [
        ("pytest", "python"),
        ("vitest", "node"),
        ("crago", "cargo"),
        ("Auto", "auto"),
        ("zzz", ""),
    ] {
        let error = detect(Path::new("/nowhere"), name).unwrap_err();
        let RunnerError::UnknownRunner { nearest, .. } = &error;
        assert_eq!(nearest.unwrap_or_default(), meant, "{name}");
        assert!(error.suggestion().contains(meant), "{name}");
    }
}
