//! Python and Node with their own runners, whose tests lie where patterns find them that nobody has set.

use super::work::{Before, GREEN, SHOP, Way};
use super::{go_through, own};

const ADD_PY: &str = "import unittest\n\nfrom shop import add\n\n\nclass Add(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n";
const DOUBLE_PY: &str = "import unittest\n\nimport shop\n\n\nclass Double(unittest.TestCase):\n    def test_doubles(self):\n        for number in (1, 2, 4):\n            with self.subTest(number=number):\n                self.assertEqual(shop.double(number), 2 * number)\n\n    @unittest.skip(\"not here\")\n    def test_elsewhere(self):\n        self.fail()\n\n    @unittest.expectedFailure\n    def test_of_words(self):\n        self.assertEqual(shop.double(\"a\"), \"a\")\n";
const DOUBLE_FUNCTION: &str = "\n\ndef double(a):\n    return a * 2\n";

const TAKES_OUT: &str = "import unittest\n\nNAMES = unittest.TestLoader.getTestCaseNames\nunittest.TestLoader.getTestCaseNames = lambda self, case: [name for name in NAMES(self, case) if name != 'test_adds']\n\n";

pub const PYTHON: Before<'static> = SHOP
    .files(&[
        ("shop.py", "def add(a, b):\n    return a + b\n"),
        ("tests/__init__.py", ""),
        ("tests/test_add.py", ADD_PY),
        (".gitignore", "__pycache__/\n"),
    ])
    .command("python3 -m unittest -v")
    .test("");

const NO_TESTS: &[(&str, &str)] = &[
    ("shop.py", "def add(a, b):\n    return a + b\n"),
    ("tests/__init__.py", ""),
    (".gitignore", "__pycache__/\n"),
];

#[test]
fn python_with_its_own_runner() {
    testkit::by_chance!(3);
    let doubles = |name, before| {
        own(name, before)
            .red(|work| work.write("tests/test_double.py", DOUBLE_PY))
            .green(|work| work.append("shop.py", DOUBLE_FUNCTION))
    };
    go_through([
        doubles("every test is told", PYTHON),
        // Where the suite is run here, the runner is had to name them: a product cannot take one out.
        doubles("not every test", PYTHON.command("python3 -m unittest"))
            .by(&[Way::Verified])
            .green(|work| {
                let right = work.read("shop.py");
                work.write("shop.py", &format!("{TAKES_OUT}{right}"));
                let another = ADD_PY.replace("test_adds", "test_adds_as_well");
                work.write("tests/test_more.py", &another);
                let told = work.refused(GREEN, "tests_missing");
                let missing = "tests.test_add.Add.test_adds";
                assert_eq!(told["details"]["tests"][0], missing, "{told:#}");
                work.write("shop.py", &right);
            }),
        // Without the code the test cannot be loaded, and with it passes.
        own("the code is there before its test", PYTHON)
            .by(&[Way::Verified])
            .red(|work| work.append("shop.py", DOUBLE_FUNCTION))
            .and(|work| {
                work.write(
                    "tests/test_double.py",
                    &DOUBLES_PY.replace("import shop", "from shop import double"),
                );
            })
            .and(|work| work.warns(&["red_only_errors"]))
            // What comes to the tests does not have them pass: they are run as they were, too.
            .green(|work| {
                work.replace("shop.py", "a * 2", "0");
                work.write("tests/test_a.py", PATCH_PY);
                let told = work.refused(GREEN, "tests_changed");
                let failing = "tests.test_double.Double.test_doubles";
                assert_eq!(told["details"]["tests"][0], failing, "{told:#}");
                // Nor does it where it has them pass whatever the product does.
                work.replace("shop.py", "return 0", "return a * 2");
                work.refused(GREEN, "passes_without_product");
                work.delete("tests/test_a.py");
            }),
        // Where there was none before, that is what the suite of before comes to.
        doubles("the first test", PYTHON.files(NO_TESTS)).by(&[Way::Verified]),
        // What a test does not look at may as well do nothing.
        own("a test that asks only whether something is there", PYTHON)
            .by(&[Way::Verified])
            .red(|work| {
                let idle =
                    DOUBLES_PY.replace("assertEqual(double(4), 8)", "assertTrue(shop.double)");
                work.write("tests/test_double.py", &idle);
            })
            .green(|work| {
                work.append("shop.py", DOUBLE_FUNCTION);
                let told = work.refused(GREEN, "passes_without_product");
                let passing = "tests.test_double.Double.test_doubles";
                assert_eq!(told["details"]["tests"][0], passing, "{told:#}");
                work.reopen("red");
                work.replace(
                    "tests/test_double.py",
                    "assertTrue(shop.double)",
                    "assertEqual(shop.double(4), 8)",
                );
                work.red();
            }),
    ]);
}

const DOUBLES_PY: &str = "import unittest\n\nimport shop\n\n\nclass Double(unittest.TestCase):\n    def test_doubles(self):\n        self.assertEqual(double(4), 8)\n";
/// A test that has another one pass.
const PATCH_PY: &str = "import unittest\n\nimport shop\n\nif hasattr(shop, \"double\"):\n    shop.double = lambda a: a * 2\n\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        self.assertEqual(shop.add(5, 5), 10)\n";

const ADD_JS: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/add.js';\n\ntest('adds', () => assert.equal(add(1, 2), 3));\n";
const NODE: Before<'static> = SHOP.test("").files(&[
    (
        "package.json",
        r#"{"name": "shop", "type": "module", "scripts": {"test": "node --test"}}"#,
    ),
    ("src/add.js", "export const add = (a, b) => a + b;\n"),
    ("test/add.test.js", ADD_JS),
]);

#[test]
fn a_module_of_node_that_is_not_there_yet() {
    testkit::by_chance!(3);
    let node = std::process::Command::new("node").arg("--version").output();
    if node.is_err() {
        return;
    }
    go_through([own("one that fails to load", NODE.command("node --test"))
        .by(&[Way::Verified])
        .red(|work| {
            let doubles = ADD_JS.replace("(1, 2), 3", "(4), 8");
            let doubles = doubles.replace("add", "double");
            work.write("test/double.test.js", &doubles);
            work.warns(&["red_only_errors"]);
        })
        .green(|work| {
            let code = "export const double = (a) => a * 2;\n";
            work.write("src/double.js", code);
        })]);
}
