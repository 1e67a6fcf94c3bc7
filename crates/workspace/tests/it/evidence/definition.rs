//! What really runs behind a test command.

use std::fs;

use tempfile::TempDir;
use workspace::runner::definition::{Definition, command_definition};

/// A project with these files, each as its name, `=`, and what is in it.
fn project(files: &[&str]) -> TempDir {
    let folder = testkit::folder();
    for file in files {
        let (name, text) = file.split_once('=').unwrap_or((file, ""));
        write(&folder, name, text);
    }
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    testkit::files::write(&folder.path().join(name), text);
}

fn of(folder: &TempDir, command: &str) -> Option<Definition> {
    command_definition(folder.path(), command)
}

fn what(folder: &TempDir, command: &str) -> String {
    of(folder, command).map_or_else(String::new, |found| found.what)
}

const PACKAGE: &str = r#"package.json={"scripts": {"pretest": "tsc", "test": "vitest run", "unit": "node run.js", "lint": "eslint ."}}"#;

#[test]
fn commands_that_say_it_themselves_have_none() {
    let folder = project(&["Cargo.toml", PACKAGE, "test_a.py", "a.test.js"]);
    let commands = "true; pytest -q; cargo test --workspace; go test ./...; npx vitest run; python3 -m unittest; mvn test;
        bun test; node --test a.test.js; python test_a.py; npm ci; npm run none; npm test -w packages/a; ; '; sh -c true;
        /bin/true; ../outside.sh; make test; just test; composer test; python -c 'x'; /usr/bin/env true; /bin/ls";
    for command in commands.split(';').map(str::trim) {
        assert_eq!(of(&folder, command), None, "{command}");
    }
}

#[test]
fn what_is_written_to_is_no_script() {
    let folder = project(&["run.sh=", "log=", "other.sh="]);
    for command in [
        "sh run.sh >log",
        "sh run.sh >>./log 2>&1",
        ">log sh run.sh",
        "sh run.sh 2>./log",
        "sh -c 'echo >./log; sh run.sh'",
    ] {
        assert_eq!(what(&folder, command), "run.sh", "{command}");
    }
    assert_eq!(
        what(&folder, "sh run.sh >log; ./other.sh"),
        "run.sh, other.sh"
    );
    assert_eq!(what(&folder, "sh run.sh <other.sh"), "run.sh");
}

#[test]
fn scripts_of_a_package() {
    let folder = project(&[PACKAGE, "sub/a.txt"]);
    let commands = "npm test; npm t; npm run test; npm run-script test -- --coverage; npm --silent run test; pnpm test;
        pnpm run test; yarn test; yarn run test; bun run test; npm cit; CI=1 npm test; env CI=1 npm test;
        sh -c 'npm test'; bash -ec \"cd sub && npm test\"; npm --prefix . test; cross-env CI=1 npm test";
    for command in commands.split(';').map(str::trim) {
        let found = of(&folder, command).unwrap_or_else(|| panic!("{command}"));
        let text = "scripts.test of package.json:\npretest: tsc\ntest: vitest run\n";
        assert_eq!(
            (&*found.what, &*found.text),
            (&text[..28], text),
            "{command}"
        );
    }
    let both = "scripts.lint of package.json, scripts.test of package.json";
    for (command, expected) in [
        ("npm run lint && npm test", both),
        ("yarn lint", "scripts.lint of package.json"),
        ("run-s lint test", both),
    ] {
        assert_eq!(what(&folder, command), expected, "{command}");
    }
    // One that is replaced is seen, and another one is not.
    let package = PACKAGE.split_once('=').unwrap().1;
    let now = |text: String| {
        write(&folder, "package.json", &text);
        of(&folder, "npm test")
    };
    let before = now(package.to_owned());
    let other = package.replace("eslint .", "true");
    assert_eq!(now(other.replace(": {\"pre", ":\n{\"pre")), before);
    for (from, to) in [
        ("vitest run", "true"),
        ("tsc", "exit 0"),
        ("unit", "posttest"),
    ] {
        assert_ne!(now(package.replace(from, to)), before, "{to}");
    }
    fs::remove_file(folder.path().join("package.json")).unwrap();
    assert_eq!(of(&folder, "npm test"), None);
}

#[test]
fn what_a_script_calls_is_followed() {
    let folder = project(&[
        r#"package.json={"scripts": {"test": "npm run unit && make check", "unit": "./ci/unit.sh"}}"#,
        "ci/unit.sh=#!/bin/sh\nset -e\nif ./ci/deep.sh; then\n  exec ./ci/deeper.sh\nfi\n",
        "ci/deep.sh=#!/bin/sh\n./ci/too-deep.sh\n",
        "ci/deeper.sh=true\n",
        "ci/too-deep.sh=true\n",
        "Makefile=check:\n\tpython3 tools/check.py\n",
        "tools/check.py=pass\n",
    ]);
    // The first level is the script, the second what it calls, the third what that calls; there it ends.
    let all = "scripts.test of package.json, scripts.unit of package.json, ci/unit.sh, `check` in Makefile, tools/check.py";
    assert_eq!(what(&folder, "npm test"), all);
    let expected = "ci/unit.sh, ci/deep.sh, ci/too-deep.sh, ci/deeper.sh";
    assert_eq!(what(&folder, "./ci/unit.sh"), expected);
    let before = of(&folder, "npm test").unwrap();
    write(&folder, "tools/check.py", "import sys\nsys.exit(0)\n");
    let after = of(&folder, "npm test").unwrap();
    assert!(after.what == before.what && after.text != before.text);
}

#[test]
fn what_calls_itself_ends() {
    let folder = project(&[
        r#"package.json={"scripts": {"test": "npm test && npm run test"}}"#,
        "Makefile=a: b\n\t$(MAKE) a\nb: a\nX = $(Y)\nY = $(X)\nc:\n\t$(X)\ninclude Makefile\n",
        "loop.sh=./loop.sh\n",
        "justfile=a: b\nb: a\n",
        ".cargo/config.toml=[alias]\nt = \"t\"\n",
    ]);
    for command in "npm test,make a,make c,./loop.sh,just a,cargo t".split(',') {
        assert!(of(&folder, command).is_some(), "{command}");
    }
}

#[test]
fn targets_of_make() {
    let text = "FLAGS ?= -q\nPYTEST := pytest $(FLAGS)\nOTHER = x\n.PHONY: test lint\n\nall: test\n\ntest: build | dirs\n\t@$(PYTEST) \\\n\t  tests\n\nbuild:\n\tcc -o a a.c\ndirs: ; mkdir -p out\nlint:\n\truff .\n-include more.mk\n";
    let folder = project(&[
        &format!("Makefile={text}"),
        "more.mk=build: extra\nextra:\n\t./extra.sh\n",
        "extra.sh=true\n",
        "web/Makefile=check:\n\ttrue\n",
    ]);
    let found = of(&folder, "make test").unwrap();
    let parts =
        "@$(PYTEST), tests, cc -o a a.c, mkdir -p out, PYTEST := pytest, FLAGS ?= -q, ./extra.sh";
    for part in parts.split(", ") {
        assert!(found.text.contains(part), "{part} in {}", found.text);
    }
    for part in ["ruff", "OTHER"] {
        assert!(!found.text.contains(part), "{part} in {}", found.text);
    }
    for (command, expected) in [
        ("make test", "`test` in Makefile, extra.sh"),
        ("make", "`all` in Makefile, extra.sh"),
        ("make -C web -s check V=1", "`check` in web/Makefile"),
        ("make --directory=web", "`check` in web/Makefile"),
        ("make -f more.mk extra", "`extra` in more.mk, extra.sh"),
        ("make none", ""),
    ] {
        assert_eq!(what(&folder, command), expected, "{command}");
    }
    // What makes every recipe pass is seen, wherever it stands.
    for cheat in "SHELL = /bin/true|.IGNORE:|MAKEFLAGS += -i|FLAGS = --collect-only".split('|') {
        write(&folder, "Makefile", &format!("{text}{cheat}\n"));
        let now = of(&folder, "make test").unwrap();
        assert_ne!(now.text, found.text, "{cheat}");
    }
}

#[test]
fn recipes_of_just_and_tasks_of_others() {
    let folder = project(&[
        "justfile=set shell := [\"bash\", \"-c\"]\nx := \"1\"\n\ndefault: test\n\n@test arg='a': build (lint 'x')\n    pytest {{arg}}\nbuild:\n    ./build.sh\nlint what:\n    ruff\nother:\n    true\n",
        "build.sh=true\n",
        r#"deno.json={"tasks": {"test": "deno test -A", "ci": {"command": "deno task test"}}}"#,
        r#"composer.json={"scripts": {"test": ["@lint", "phpunit"], "lint": "@php lint.php"}}"#,
        "lint.php=<?php\n",
    ]);
    let text = of(&folder, "just test").unwrap().text;
    assert!(text.contains("ruff") && !text.contains("other"), "{text}");
    for case in [
        // What is built is no part of the project's own files, but this one is.
        "just test ⇒ `test` in justfile, build.sh",
        "just ⇒ `default` in justfile, build.sh",
        "deno task ci ⇒ tasks.ci of deno.json, tasks.test of deno.json",
        "composer test ⇒ scripts.test of composer.json, scripts.lint of composer.json, lint.php",
        "composer run-script lint ⇒ scripts.lint of composer.json, lint.php",
    ] {
        let (command, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(what(&folder, command), expected, "{command}");
    }
}

#[test]
fn script_files_of_the_project() {
    let others = "run_all.py tools/run.py tools/__main__.py gradlew node_modules/.bin/jest vendor/bin/phpunit tests/test_a.py";
    let files = others.split(' ').chain(["test.sh=#!/bin/sh\npytest\n"]);
    let folder = project(&files.collect::<Vec<_>>());
    for (command, expected) in [
        ("./test.sh", "test.sh"),
        ("sh test.sh -v", "test.sh"),
        ("/bin/bash ./test.sh", "test.sh"),
        ("python run_all.py", "run_all.py"),
        ("python3.12 -u ./tools/run.py a", "tools/run.py"),
        ("uv run --frozen python run_all.py", "run_all.py"),
        ("python -m tools.run", "tools/run.py"),
        ("python -m tools", "tools/__main__.py"),
        ("./gradlew test", "gradlew"),
        ("cd tools && python run.py", "tools/run.py"),
        ("node_modules/.bin/jest", ""),
        ("vendor/bin/phpunit", ""),
        ("python tests/test_a.py", ""),
        ("pytest tests/test_a.py", ""),
    ] {
        assert_eq!(what(&folder, command), expected, "{command}");
    }
    let absolute = folder.path().join("test.sh");
    assert_eq!(what(&folder, absolute.to_str().unwrap()), "test.sh");
    let before = of(&folder, "./test.sh").unwrap();
    assert!(before.text.starts_with("test.sh:\nsha256:"));
    write(&folder, "test.sh", "#!/bin/sh\ntrue\n");
    assert_ne!(of(&folder, "./test.sh").unwrap(), before);
}

#[test]
fn aliases_and_runners_of_cargo() {
    let folder = project(&[
        ".cargo/config.toml=[alias]\nci = \"test --workspace\"\nall = [\"ci\", \"--all-features\"]\n",
    ]);
    assert_eq!(of(&folder, "cargo test"), None);
    let found = of(&folder, "cargo +nightly --locked all").unwrap();
    let expected = "alias.all of .cargo/config.toml, alias.ci of .cargo/config.toml";
    assert_eq!(found.what, expected);
    assert!(found.text.contains("test --workspace") && found.text.contains("ci --all-features"));
    let runner = "[target.'cfg(all())']\nrunner = \"true\"\n";
    write(&folder, ".cargo/config.toml", runner);
    let found = of(&folder, "cargo test").unwrap();
    assert_eq!(found.what, "target.*.runner of .cargo/config.toml");
    assert!(found.text.contains("true"));
}

#[test]
fn odd_files_are_no_trouble() {
    let folder = project(&[
        "package.json={\"scripts\": [",
        "Makefile=\t\n:\n=\n:=\ndefine\ntest\\",
        "justfile=:\n@\n  x\n",
        "composer.json=[]",
        ".cargo/config.toml=alias = 3\ntarget = 1\n",
        "deno.json={\"tasks\": {\"test\": 3}}",
        "a.sh='\"$(\n\\",
    ]);
    fs::create_dir(folder.path().join("GNUmakefile")).unwrap();
    fs::write(folder.path().join("b.sh"), b"\xff\xfe#!/bin/sh\n").unwrap();
    let commands = "npm test,make test,make,just,just test,composer test,cargo test,deno task test,./a.sh,sh b.sh,sh -c,\
                    make -C,npm run,cd,cd $X && ./a.sh,npm --prefix";
    for command in commands.split(',') {
        let _ = of(&folder, command);
    }
}

#[test]
fn what_a_shell_puts_in_is_no_variable_of_make() {
    let text = "NAME = a\nREV = 1\nRUN = sh run.sh\ntest:\n\tfor NAME in a b; do echo $${NAME}; done\n\t$(RUN) \"$$(REV)\" $$$(KIND)\napp:\n\tcc -o $(NAME)-$(REV)\nKIND = x\n";
    // What is evaluated is read by make twice.
    let twice = "RUN = sh run.sh\ndefine T\ntest: ; $$(RUN)\nendef\n$(foreach t,a b,$(eval $(T)))\ntest:\n\t$(T)\n";
    let folder = project(&[]);
    let is = |text: &str| {
        write(&folder, "Makefile", text);
        of(&folder, "make test")
    };
    for (text, was, now, is_seen) in [
        (text, "NAME = a", "NAME = b", false),
        (text, "REV = 1", "REV = 2", false),
        (text, "RUN = sh run.sh", "RUN = true", true),
        (text, "KIND = x", "KIND = y", true),
        (twice, "sh run.sh", "true", true),
    ] {
        assert_eq!(is(text) != is(&text.replace(was, now)), is_seen, "{was}");
    }
}

/// A command that can be changed where nobody looks would be one that passes whenever that is wanted.
#[test]
fn a_script_outside_of_the_project_counts_as_one_within() {
    let (folder, outside) = (
        project(&[]),
        project(&["suite.sh=sh inner.sh\n", "run.py=1"]),
    );
    let at = |name: &str| outside.path().join(name).display().to_string();
    for (command, script) in [
        (format!("sh {}", at("suite.sh")), "suite.sh"),
        (format!("python3 {} -v", at("run.py")), "run.py"),
    ] {
        let before = command_definition(folder.path(), &command).unwrap();
        assert_eq!(before.what, at(script));
        fs::write(at(script), "exit 0\n").unwrap();
        assert_ne!(command_definition(folder.path(), &command).unwrap(), before);
    }
}
