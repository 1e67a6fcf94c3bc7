//! Where languages keep their tests, by the patterns that are found and not set.

use super::work::{Before, DOUBLE, SHOP, Way, Work};

#[test]
fn typescript_beside_the_code() {
    let before = Before {
        files: &[
            (
                "package.json",
                r#"{"name": "shop", "devDependencies": {"vitest": "^3.0.0"}, "scripts": {"test": "vitest run"}}"#,
            ),
            ("tsconfig.json", "{}\n"),
            ("src/add.sh", "echo $(($1 + $2))\n"),
            ("src/add.test.ts", "adds: test $(sh src/add.sh 1 2) = 3\n"),
        ],
        test: "",
        ..SHOP
    };
    let way = Way::Reported;
    let work = Work::begin(&before, way);
    work.subtask(
        || {
            work.write(
                "src/double.test.ts",
                "doubles: test $(sh src/double.sh 4) = 8\n",
            );
        },
        || {
            work.write("src/double.sh", DOUBLE);
            work.write("src/index.ts", "export * from './double';\n");
        },
    );
    work.finalize();
}

#[test]
fn go_beside_the_code() {
    let before = Before {
        files: &[
            ("go.mod", "module shop\n\ngo 1.24\n"),
            ("add.sh", "echo $(($1 + $2))\n"),
            ("add.go", "package shop\n"),
            ("add_test.go", "adds: test $(sh add.sh 1 2) = 3\n"),
        ],
        test: "",
        ..SHOP
    };
    let way = Way::Reported;
    let work = Work::begin(&before, way);
    work.subtask(
        || {
            work.write("double_test.go", "doubles: test $(sh double.sh 4) = 8\n");
            work.write("testdata/double/four", "4\n");
        },
        || {
            work.write("double.sh", DOUBLE);
            work.write("double.go", "package shop\n");
            work.write(
                "go.mod",
                "module shop\n\ngo 1.24\n\nrequire example.com/left v1.0.0\n",
            );
            work.write("go.sum", "example.com/left v1.0.0 h1:x=\n");
        },
    );
    work.finalize();
}

const ADD_PY: &str = "import unittest\n\nfrom shop import add\n\n\nclass Add(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n";
const DOUBLE_PY: &str = "import unittest\n\nimport shop\n\n\nclass Double(unittest.TestCase):\n    def test_doubles(self):\n        for number in (1, 2, 4):\n            with self.subTest(number=number):\n                self.assertEqual(shop.double(number), 2 * number)\n\n    @unittest.skip(\"not here\")\n    def test_elsewhere(self):\n        self.fail()\n\n    @unittest.expectedFailure\n    def test_of_words(self):\n        self.assertEqual(shop.double(\"a\"), \"a\")\n";

pub const PYTHON: Before<'static> = Before {
    files: &[
        ("shop.py", "def add(a, b):\n    return a + b\n"),
        ("tests/__init__.py", ""),
        ("tests/test_add.py", ADD_PY),
        (".gitignore", "__pycache__/\n"),
    ],
    command: "python3 -m unittest -v",
    settings: "",
    test: "",
    folder: "",
    task: "1",
    baseline: true,
};

#[test]
fn python_with_its_own_runner() {
    let way = Way::Reported;
    let work = Work::begin(&PYTHON, way);
    work.subtask(
        || work.write("tests/test_double.py", DOUBLE_PY),
        || work.append("shop.py", "\n\ndef double(a):\n    return a * 2\n"),
    );
    work.finalize();
}

#[test]
fn python_that_does_not_tell_every_test() {
    let way = Way::Reported;
    let before = Before {
        command: "python3 -m unittest",
        ..PYTHON
    };
    let work = Work::begin(&before, way);
    work.subtask(
        || work.write("tests/test_double.py", DOUBLE_PY),
        || work.append("shop.py", "\n\ndef double(a):\n    return a * 2\n"),
    );
    work.finalize();
}

#[test]
fn a_python_module_that_is_not_there_yet() {
    let work = Work::begin(&PYTHON, Way::Verified);
    work.subtask(
        || {
            work.write(
                "tests/test_half.py",
                "import unittest\n\nfrom half import half\n\n\nclass Half(unittest.TestCase):\n    def test_halves(self):\n        self.assertEqual(half(8), 4)\n",
            );
            work.warns(&["No test failed, they only could not be compiled or collected"]);
        },
        || work.write("half.py", "def half(a):\n    return a // 2\n"),
    );
    work.finalize();
}

#[test]
fn python_by_numbers_alone() {
    let work = Work::begin(&PYTHON, Way::Claimed);
    let report = |phase: &[&str], results: &str, next: &str| {
        let call = [phase, &["--results", results]].concat();
        let answer = work.tm(&call);
        assert_eq!(answer["nextAction"]["action"], next, "{answer:#}");
        answer["warning"].clone()
    };
    work.write("tests/test_double.py", DOUBLE_PY);
    let warning = report(&["complete", "red"], "failed:3,passed:2,skipped:1", "green");
    assert!(
        warning
            .to_string()
            .contains("Tests pass, too: numbers do not tell"),
        "{warning}"
    );
    work.append("shop.py", "\n\ndef double(a):\n    return a * 2\n");
    let warning = report(
        &["complete", "green"],
        "failed:0,passed:5,skipped:1",
        "commit",
    );
    assert!(warning.is_null(), "{warning}");
    work.commit();
    let warning = report(&["finalize"], "failed:0,passed:5,skipped:1", "complete");
    assert!(warning.is_null(), "{warning}");
}

/// Whether a program is there, without which a story cannot be told.
fn is_there(program: &str) -> bool {
    let found = std::process::Command::new(program)
        .arg("--version")
        .output();
    found.is_ok_and(|output| output.status.success())
}

#[test]
fn a_module_of_node_that_is_not_there_yet() {
    if !is_there("node") {
        return;
    }
    let before = Before {
        files: &[
            (
                "package.json",
                r#"{"name": "shop", "type": "module", "scripts": {"test": "node --test"}}"#,
            ),
            ("src/add.js", "export const add = (a, b) => a + b;\n"),
            (
                "test/add.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/add.js';\n\ntest('adds', () => assert.equal(add(1, 2), 3));\n",
            ),
        ],
        command: "node --test",
        test: "",
        ..SHOP
    };
    for reporter in [
        "",
        " --test-reporter=tap",
        " --test-reporter=spec",
        " --test-reporter=junit",
    ] {
        let command = format!("node --test{reporter}");
        let before = Before {
            command: &command,
            ..before
        };
        let work = Work::begin(&before, Way::Verified);
        work.write(
            "test/double.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { double } from '../src/double.js';\n\ntest('doubles', () => assert.equal(double(4), 8));\n",
        );
        work.warns(&["No test failed, they only could not be compiled or collected"]);
        work.red();
        work.write("src/double.js", "export const double = (a) => a * 2;\n");
        work.green();
        work.commit();
        work.finalize();
    }
}
