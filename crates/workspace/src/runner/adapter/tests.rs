use std::fs;

use tempfile::TempDir;

use super::*;

fn project(files: &[(&str, &str)]) -> TempDir {
    let project = testkit::folder();
    for (name, text) in files {
        fs::write(project.path().join(name), text).unwrap();
    }
    project
}

/// What a command becomes in a project with these files: its variables and words, with `OWN` for the folder of ours.
fn becomes(files: &[(&str, &str)], command: &str) -> Option<String> {
    told(files, command, Some("OWN"))
}

/// The same, with a folder of ours, if any.
fn told(files: &[(&str, &str)], command: &str, own: Option<&str>) -> Option<String> {
    let project = project(files);
    let inherited = |name: &str| (name == "NODE_OPTIONS").then(|| "--no-warnings".to_owned());
    let found = adapted(project.path(), command, own.map(Path::new), None, inherited)?;
    let env = found.line.env.iter();
    let env = env.map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = env.chain(found.line.argv.iter().cloned()).collect();
    Some(format!("{}: {}", found.runner, words.join(" ")))
}

fn scripts(scripts: &str) -> String {
    format!("{{\"scripts\": {scripts}}}")
}

#[test]
fn each_runner_is_told_in_its_own_way() {
    let commands = "pytest -q; uv run pytest; python3.12 -m pytest tests; tox -e py; python3 -m unittest discover -s tests; \
        python3 -B -X dev -m unittest; node --import tsx --test src; go test ./...; go test ./... -args -x; \
        npx --no jest --ci; node_modules/.bin/vitest run; pnpm vitest run; yarn mocha; npx ava; \
        node --test test/; bundle exec rspec; vendor/bin/phpunit; dotnet test src; \
        cargo test --workspace -- --test-threads 1; cargo +nightly t; cargo nextest run -- add; ./mvnw -q test; \
        gradle check; deno test -A; bun test";
    let told = commands
        .split("; ")
        .map(|command| becomes(&[], command).unwrap_or_else(|| command.to_owned()));
    let told: Vec<String> = told.collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_script_is_seen_through_to_its_last_command() {
    let told = |test: &str, command: &str| {
        let manifest = scripts(&format!(
            r#"{{"test": "{test}", "unit": "vitest run", "lint": "eslint ."}}"#
        ));
        becomes(&[("package.json", &manifest)], command)
            .unwrap_or_else(|| "nothing is known".to_owned())
    };
    let all = [
        ("jest", "npm test"),
        ("jest", "npm test -- --ci"),
        ("eslint . && CI=1 vitest run", "npm run test"),
        ("pnpm lint && pnpm vitest run", "pnpm test"),
        ("npm run lint && npm run unit", "npm test"),
        ("mocha", "yarn test"),
        ("node --test", "npm test"),
        ("vitest run | tee out.txt", "npm test"),
        ("vitest run || true", "npm test"),
        ("node --test a && node --test b", "npm test"),
        ("jest --json", "npm test"),
        ("node scripts/test.js", "npm test"),
    ]
    .map(|(test, command)| format!("{test} | {command}\n  {}", told(test, command)));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn no_runner_ends_at_the_first_failure() {
    let package = |test: &str| scripts(&format!(r#"{{"test": "{test}"}}"#));
    let commands = "pytest -x; sh -c 'cd sub && pytest -x'; pytest --maxfail 2 -- tests; pytest -x --junitxml=own.xml; \
        python -m unittest -f tests; python -m unittest --failfast -v; go test -failfast ./... -args -x; \
        npx jest --bail; jest --bail=1 | npm test; npx vitest run --bail 1 src; npx vitest --bail=1; \
        vitest run --bail 1 | npm test; vitest run | npm test -- --bail=1; mocha -b; npx ava --fail-fast; \
        npx ava --tap; ava --tap | npm test; rspec --fail-fast; rspec --fail-fast --format documentation; \
        phpunit --stop-on-failure --stop-on-error tests; cargo nextest run --fail-fast; \
        cargo nextest run --max-fail 1 --workspace; cargo nextest run --no-fail-fast; \
        cargo test -q --no-fail-fast; deno test --fail-fast=1 -A; bun test --bail; node --test";
    let lines = commands.split("; ").map(|line| {
        let (script, command) = line.split_once(" | ").unwrap_or(("", line));
        let files = [("package.json", &*package(script))];
        let [named, reported] = [Some("OWN"), None]
            .map(|own| told(&files, command, own).unwrap_or_else(|| "as it stands".to_owned()));
        format!("{script} | {command}\n  {named}\n  {reported}")
    });
    let lines: Vec<String> = lines.collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_ends_a_text_for_a_shell_gets_what_is_added() {
    let package = ("package.json", &*scripts(r#"{"test": "vitest run"}"#));
    let lines: Vec<String> = [
        "sh -c 'go build ./... && go test ./...'",
        "bash -ec 'go vet ./...; go test -run \"Adds|Gap\" ./...'",
        "sh -c 'cd sub && npm test'",
        "sh -c 'npm test'",
        "sh -c 'go test ./... | tee out.txt'",
        "sh -c 'go test ./... > out.txt'",
        "sh -c '(cd sub && go test ./...)'",
        "sh -c 'go test ./a && go test ./b'",
        "sh -c 'go test $0' ./...",
        "sh -c 'go test ./... -args -x'",
    ]
    .into_iter()
    .map(|command| {
        let told = becomes(&[package], command).unwrap_or_else(|| "as it stands".to_owned());
        format!("{command}\n  {told}")
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn variables_reach_a_runner_behind_any_script() {
    let makefile = ("Makefile", "test:\n\tcd sub && pytest -q\n");
    let added = "--maxfail=0 --junitxml=OWN/pytest.xml";
    for (command, expected) in [
        ("make test", format!("{added} make test")),
        (
            "sh -c 'cd sub && pytest'",
            format!("{added} sh -c cd sub && pytest --maxfail=0"),
        ),
        (
            "PYTEST_ADDOPTS=-q pytest",
            format!("-q {added} pytest --maxfail=0"),
        ),
    ] {
        let expected = format!("pytest: PYTEST_ADDOPTS={expected}");
        assert_eq!(becomes(&[makefile], command), Some(expected));
    }
    // Two would write over each other's report.
    let twice = ("Makefile", "test:\n\tpytest a\n\tpytest b\n");
    assert_eq!(becomes(&[twice], "make test"), None);
}

#[test]
fn a_folder_with_a_blank_stays_one_word() {
    let project = project(&[]);
    let own = Path::new("/a b/\"c");
    let found = adapted(project.path(), "pytest", Some(own), None, |_| None).unwrap();
    let told = &found.line.env[0].1;
    let expected = " --junitxml=\"/a b/\\\"c/pytest.xml\"";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn runners_that_name_their_tests_are_seen_behind_scripts() {
    let seen = |files: &[(&str, &str)], command: &str| {
        !runners_behind(project(files).path(), command).is_empty()
    };
    let package = scripts(r#"{"test": "tsc && vitest run"}"#);
    assert!(seen(&[("package.json", &package)], "npm test"));
    let makefile = "test:\n\tcargo test --workspace\n";
    assert!(seen(&[("Makefile", makefile)], "make test"));
    assert!(seen(&[], "cargo +nightly nextest run"));
    assert!(seen(&[], "pytest --junitxml=own.xml"));
    for command in ["make check", "sh run.sh", "cargo build", "npm test"] {
        assert!(!seen(&[("run.sh", "./check\n")], command), "{command}");
    }
}

#[test]
fn runners_are_told_which_tests_to_run() {
    let files = ["tests/test_cart.py".to_owned(), "tests/b.py".to_owned()];
    let ids = [
        "shop/TestCart/adds_one",
        "shop/TestCart/adds_two",
        "shop/ExampleCart",
        "till::tests::holds",
        "tests.test_cart.Cart.test_adds (n=1)",
    ];
    let ids = ids.map(str::to_owned);
    let only = SomeTests {
        files: &files,
        ids: &ids,
    };
    let manifest = scripts(r#"{"test": "tsc && vitest run --bail 1"}"#);
    let project = project(&[("package.json", &manifest)]);
    let told = |command: &str| {
        let found = adapted(project.path(), command, None, Some(&only), |_| None);
        found.map_or("not".to_owned(), |found| found.line.argv.join(" "))
    };
    let commands = "pytest -q; npm test; npx vitest run --bail 1; go test -v ./... -args -x; cargo test; \
        cargo test --workspace -- --nocapture; python3 -m unittest discover -s tests; make check; tox";
    let told: Vec<String> = commands.split("; ").map(told).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    pytest -q --maxfail=0 tests/test_cart.py tests/b.py
    npm test -- tests/test_cart.py tests/b.py
    npx vitest run --bail=0 tests/test_cart.py tests/b.py
    go test -v ./... -failfast=false -run=^(ExampleCart|TestCart)$ -args -x
    cargo test --no-fail-fast -- shop/ExampleCart shop/TestCart/adds_one shop/TestCart/adds_two tests.test_cart.Cart.test_adds (n=1) tests::holds
    cargo test --workspace --no-fail-fast -- --nocapture shop/ExampleCart shop/TestCart/adds_one shop/TestCart/adds_two tests.test_cart.Cart.test_adds (n=1) tests::holds
    python3 -m unittest discover -s tests -k shop/ExampleCart -k shop/TestCart/adds_one -k shop/TestCart/adds_two -k tests.test_cart.Cart.test_adds -k till::tests::holds
    not
    not
    ");
    let none = SomeTests {
        files: &[],
        ids: &[],
    };
    assert_eq!(
        adapted(project.path(), "pytest", None, Some(&none), |_| None),
        None
    );
}
