//! Programs in other forms, and other programs in the same.

use proptest::prelude::*;
use syntax::Comparison::{self, Different, FilledIn, Same};
use syntax::compare;

const PYTHON: &str = include_str!("formatted/python.py");
const TYPESCRIPT: &str = include_str!("formatted/typescript.test.tsx");
const GO: &str = include_str!("formatted/go_test.go");

fn python(before: &str, now: &str) -> Option<Comparison> {
    compare(("tests/test_a.py", before), ("tests/test_a.py", now))
}

fn typescript(before: &str, now: &str) -> Option<Comparison> {
    compare(("a.test.ts", before), ("a.test.ts", now))
}

/// What real formatters have made of a text says the same.
#[test]
fn formatters_change_nothing() {
    for (path, before, now) in [
        ("a.py", PYTHON, include_str!("formatted/black.py")),
        ("a.py", PYTHON, include_str!("formatted/ruff.py")),
        ("a.py", PYTHON, include_str!("formatted/isort.py")),
        (
            "a.tsx",
            TYPESCRIPT,
            include_str!("formatted/prettier.test.tsx"),
        ),
        // With other settings.
        (
            "a.tsx",
            TYPESCRIPT,
            include_str!("formatted/semicolons.test.tsx"),
        ),
        (
            "a.tsx",
            TYPESCRIPT,
            include_str!("formatted/biome.test.tsx"),
        ),
        ("a_test.go", GO, include_str!("formatted/gofmt_test.go")),
    ] {
        assert_ne!(before, now);
        for (one, other) in [(before, now), (now, before)] {
            let compared = compare((path, one), (path, other));
            assert_eq!(compared, Some(Same), "{other}");
        }
    }
}

/// The programs of each row are not the same.
fn differ(path: &str, rows: &[(&str, &str)]) {
    for (before, now) in rows {
        let compared = compare((path, before), (path, now));
        assert_eq!(compared, Some(Different), "{before:?}, {now:?}");
    }
}

/// What is no other form.
#[test]
fn other_programs() {
    differ(
        "a.py",
        &[
            ("assert f(1) == 2\n", "assert f(1) == 3\n"),
            ("assert f(1) == 2\n", "assert f(1) != 2\n"),
            ("assert f('a b')\n", "assert f('a  b')\n"),
            ("assert f('a')\n", "assert f(b'a')\n"),
            ("assert f(r'\\'')\n", "assert f('\\'')\n"),
            ("assert f, 1\n", "assert (f, 1)\n"),
            ("assert f((1,))\n", "assert f((1))\n"),
            ("x[1,]\n", "x[1]\n"),
            ("def t():\n    a()\n    b()\n", "def t():\n    a()\nb()\n"),
            ("if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
            ("def test_a(): pass\n", "def xtest_a(): pass\n"),
            ("a()  # type: ignore\n", "a()  # pragma: no cover\n"),
            ("from a import b\n", "from b import a\n"),
            ("a(b=1, c=2)\n", "a(c=2, b=1)\n"),
            ("a - b - c\n", "a - (b - c)\n"),
            ("(x,) = f()\n", "(x) = f()\n"),
            ("for (x,) in f():\n    g()\n", "for (x) in f():\n    g()\n"),
            (
                "match a:\n    case (b,):\n        c()\n",
                "match a:\n    case (b):\n        c()\n",
            ),
            (
                "from a import x\nfrom b import x\n",
                "from b import x\nfrom a import x\n",
            ),
            ("from a import f, g as f\n", "from a import g as f, f\n"),
            (
                "a()  # doctest: +SKIP\nb()\n",
                "a()\nb()  # doctest: +SKIP\n",
            ),
            (
                "def f():\n    '''A.\n\n    >>> f(1)\n    2\n    '''\n",
                "def f():\n    '''A. >>> f(1) 2'''\n",
            ),
            ("not (a == b)\n", "(not a) == b\n"),
            ("x = '''a\n b'''\n", "x = '''a\nb'''\n"),
        ],
    );
    differ(
        "a.ts",
        &[
            ("import './a'\nimport './b'", "import './b'\nimport './a'"),
            ("f((x) => ({ a: g(x) }))", "f((x) => { a: g(x) })"),
            ("(a as any).b", "a as any.b"),
            ("'use strict'; a()", "('use strict'); a()"),
            ("// @ts-ignore\na()\nb()", "a()\n// @ts-ignore\nb()"),
            ("expect(a).toBe(b)", "expect(a).not.toBe(b)"),
            ("expect([1, , 2])", "expect([1, 2])"),
            ("expect([1, ,])", "expect([1,])"),
            ("expect(`${a} ${b}`)", "expect(`${a}  ${b}`)"),
            ("expect(`${a} ${b}`)", "expect(`${a}${b}`)"),
            ("expect(/a b/)", "expect(/a  b/)"),
            ("expect('a\\nb')", "expect('anb')"),
            ("return a\nb", "return a + b"),
            ("(a?.b).c", "a?.b.c"),
            ("a = { 'b': 1 }", "a = { 'c': 1 }"),
            ("f(x => y)", "f((x, z) => y)"),
            ("f(() => {})", "f(() => ({}))"),
            ("for (;a;b) c()", "for (a;;b) c()"),
            ("// @vitest-environment jsdom\na()", "a()"),
            ("if (a) b(); c()", "if (a) { b(); c() }"),
        ],
    );
    differ(
        "a.tsx",
        &[
            ("a = <b> c </b>", "a = <b>c</b>"),
            ("a = <b>{c} d</b>", "a = <b>{c}d</b>"),
            ("a = <b>c d</b>", "a = <b>cd</b>"),
        ],
    );
    differ("a.php", &[("<?php f((-1) ** 2);", "<?php f(-1 ** 2);")]);
    differ(
        "a_test.go",
        &[
            (
                "package a\n\nfunc ExampleA() {\n\ta()\n\t// Output: 1\n}\n",
                "package a\n\nfunc ExampleA() {\n\t// Output: 1\n\ta()\n}\n",
            ),
            ("package a\n", "//go:build later\n\npackage a\n"),
            (
                "package a\n\nvar b = `a\n b`\n",
                "package a\n\nvar b = `a\nb`\n",
            ),
            (
                "package a\n\nimport _ \"b\"\n",
                "package a\n\nimport \"b\"\n",
            ),
        ],
    );
    differ(
        "ATest.java",
        &[(
            "class A { @Test void a() { assertEquals(1, b()); } }",
            "class A { void a() { assertEquals(1, b()); } }",
        )],
    );
    differ(
        "a_spec.rb",
        &[
            ("it('a b') { }", "it('a  b') { }"),
            ("it(\"a\\n\") { }", "it('a\\n') { }"),
        ],
    );
    differ(
        "ATest.php",
        &[
            ("<?php f('$a');", "<?php f(\"$a\");"),
            ("<?php f(1);", "<?php f(2);"),
        ],
    );
}

#[test]
fn other_forms() {
    let same = [
        (
            "ATest.java",
            "import b.B;import a.A;\nclass C {\n@Test void a(){ int[] x = {1,2,}; } }",
            "import a.A;\nimport b.B;\n\nclass C {\n  @Test\n  void a() {\n    int[] x = {1, 2};\n  }\n}\n",
        ),
        (
            "a_spec.rb",
            "describe 'a' do\nit { expect( a( 1 ) ).to eq( [ 1,2 ] ) }\nend",
            "describe 'a' do\n  it { expect(a(1)).to eq([1, 2]) }\nend\n",
        ),
        (
            "ATest.php",
            "<?php\nuse B\\C;\nuse A;\nclass T { function test_a(){ $this->assertSame( [1,2,],f() ); } }",
            "<?php\n\nuse A;\nuse B\\C;\n\nclass T\n{\n    function test_a()\n    {\n        $this->assertSame([1, 2], f());\n    }\n}\n",
        ),
        ("a.test.js", "a(b=>b)", "a((b) => b);\n"),
        ("a.py", "a( 1 ,\\\n 2)\r\n", "a(1, 2)\n"),
        ("a.py", "#x\na()", "# x\na()\n"),
    ];
    for (path, before, now) in same {
        assert_eq!(compare((path, before), (path, now)), Some(Same), "{before}");
    }
}

/// A file that moves takes with it what it names from where it lies.
#[test]
fn moved() {
    let before = "import { a } from '../src/a'\nimport b from './b.json'\na('../c')";
    let now = "import { a } from '../../src/a'\nimport b from '../b.json'\na('../../c')";
    let moved = |now| compare(("tests/a.test.ts", before), ("tests/of/a.test.ts", now));
    assert_eq!(moved(now), Some(Same));
    assert_eq!(moved(before), Some(Different));
    assert_eq!(moved(&now.replace("../src/a", "../src/b")), Some(Different));
    // Out of the project no path leads.
    let out = "import '../../a'";
    assert_eq!(typescript(out, out), Some(Same));
}

#[test]
fn inline_snapshots_are_filled_in() {
    let empty = "it('a', () => { expect(f()).toMatchInlineSnapshot(); g().toBe(1) })";
    let filled = empty.replace("Snapshot()", "Snapshot(`\n  \"b\"\n`)");
    let with_shape = "expect(a).toMatchInlineSnapshot({ b: any(Date) })";
    let both = "expect(a).toMatchInlineSnapshot({ b: any(Date) }, `c`)";
    let run = "expect(a).toMatchInlineSnapshot()";
    for (before, now, expected) in [
        (empty, &*filled, FilledIn(1)),
        (&filled, &filled.replace("\n  ", "\n    "), Same),
        // What was there is not another one, and nothing else is filled in.
        (&filled, &filled.replace('b', "c"), Different),
        (&filled, empty, Different),
        (empty, &filled.replace("toBe(1)", "toBe(2)"), Different),
        (empty, &empty.replace("toBe(1)", "toBe(1, 'a')"), Different),
        (with_shape, both, FilledIn(1)),
        (&with_shape.replace("Date", "String"), both, Different),
        (run, "expect(a).toMatchInlineSnapshot(`${b()}`)", Different),
    ] {
        assert_eq!(typescript(before, now), Some(expected), "{now}");
    }
    let empty =
        "from inline_snapshot import snapshot\ndef test_a():\n    assert f() == snapshot()\n";
    let filled = empty.replace("snapshot()", "snapshot([1, 2])");
    let own = empty.replace("from inline_snapshot", "from own");
    for (before, now, expected) in [
        (empty, &*filled, FilledIn(1)),
        (&filled, &filled.replace('2', "3"), Different),
        // Only values that are written down, and only into what is a snapshot.
        (
            empty,
            &empty.replace("snapshot()", "snapshot(ANY)"),
            Different,
        ),
        (&own, &own.replace("snapshot()", "snapshot(1)"), Different),
    ] {
        assert_eq!(python(before, now), Some(expected), "{now}");
    }
}

#[test]
fn what_cannot_be_compared() {
    assert_eq!(python("def a(:\n", "def a(:\n"), None);
    assert_eq!(compare(("a.txt", "a"), ("a.txt", "a")), None);
    assert_eq!(compare(("a.py", ""), ("a.ts", "")), None);
    let deep = format!("x = {}{}", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(python(&deep, &deep), None);
    let long = format!("x = '{}'\n", "a".repeat(2 * 1024 * 1024));
    assert_eq!(python(&long, &long), None);
}

proptest! {
    /// Whatever text: it is either not compared, or it is itself; and to change a word of it is seen.
    #[test]
    fn every_text_is_itself(text in "[ -~\n]{0,200}", at in any::<prop::sample::Index>()) {
        for path in ["a.py", "a.ts", "a.tsx", "a.go", "a.java", "a.rb", "a.php"] {
            if let Some(compared) = compare((path, &text), (path, &text)) {
                prop_assert_eq!(compared, Same);
                let mut other: Vec<char> = text.chars().collect();
                if let Some(letter) = other.iter_mut().filter(|l| l.is_ascii_alphanumeric()).nth(at.index(text.len().max(1))) {
                    *letter = if *letter == 'x' { 'y' } else { 'x' };
                    let other: String = other.into_iter().collect();
                    let compared = compare((path, &text), (path, &other));
                    prop_assert_ne!(compared, Some(Same), "{} {:?}", path, other);
                }
            }
        }
    }
}
