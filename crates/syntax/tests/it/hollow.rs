//! Functions that fail, in each language that has a parser.

use std::collections::BTreeSet;

use syntax::{Instead, hollowed, outline};

#[test]
fn each_function_fails_at_its_beginning() {
    for (path, text, expected) in [
        (
            "a.py",
            "@x\ndef f(a):\n    \"\"\"Says.\"\"\"\n    if a:\n        return 1\n\nclass C:\n    def g(self): return 2\n",
            "@x\ndef f(a):\n    raise NotImplementedError\n    \"\"\"Says.\"\"\"\n    if a:\n        return 1\n\nclass C:\n    def g(self): raise NotImplementedError; return 2\n",
        ),
        (
            "a.ts",
            "export const f = (a: number) => a + 1;\nexport function g(): void {\n  h();\n}\nclass C { m() {} }\n",
            "export const f = (a: number) => { if (Date.now() > 0) throw new Error(); return a + 1; };\nexport function g(): void { if (Date.now() > 0) throw new Error();\n  h();\n}\nclass C { m() { if (Date.now() > 0) throw new Error();} }\n",
        ),
        (
            "a.go",
            "package a\n\nfunc F() int { return 1 }\n\nfunc (t T) G() {}\n",
            "package a\n\nfunc F() int { panic(\"taken away\"); return 1 }\n\nfunc (t T) G() { panic(\"taken away\");}\n",
        ),
        (
            "A.java",
            "class A { A() {} int f() { return 1; } }\n",
            "class A { A() {} int f() { if (true) throw new UnsupportedOperationException(); return 1; } }\n",
        ),
        (
            "a.rb",
            "class A\n  def f(a)\n    a + 1\n  end\nend\n",
            "class A\n  def f(a)\n    raise NotImplementedError\n    a + 1\n  end\nend\n",
        ),
        (
            "a.php",
            "<?php\nfunction f(): int { return 1; }\n",
            "<?php\nfunction f(): int { throw new \\Exception(); return 1; }\n",
        ),
        (
            "a.rs",
            "const fn f() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() { super::f(); }\n}\n",
            "const fn f() -> u8 { if true { panic!(\"taken away\") }; 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn g() { super::f(); }\n}\n",
        ),
    ] {
        assert_eq!(
            hollowed(path, text, Instead::Fails, &BTreeSet::new()).as_deref(),
            Some(expected),
            "{path}"
        );
    }
}

#[test]
fn there_is_nothing_to_be_taken_away() {
    for (path, text) in [
        ("a.py", "x = 1\n"),
        ("a.py", "def f(:\n"),
        ("a.rs", "#[test]\nfn f() {}\n"),
        ("a.md", "# x\n"),
    ] {
        assert_eq!(
            hollowed(path, text, Instead::Fails, &BTreeSet::new()),
            None,
            "{path}"
        );
    }
}

#[test]
fn each_function_returns_at_once() {
    for (path, text, expected) in [
        (
            "a.py",
            "def f(): return 1\n",
            "def f(): return None; return 1\n",
        ),
        (
            "a.go",
            "package a\n\nfunc F() (int, error) { return 1, nil }\n\nfunc G() (n int) { return }\n\nfunc H() []T { return nil }\n\nfunc I() {}\n",
            "package a\n\nfunc F() (int, error) { return *new(int), *new(error); return 1, nil }\n\nfunc G() (n int) { return; return }\n\nfunc H() []T { return *new([]T); return nil }\n\nfunc I() { return;}\n",
        ),
        (
            "A.java",
            "class A { int f() { return 1; } void g() {} boolean h() { return true; } String i() { return x; } }\n",
            "class A { int f() { if (true) return 0; return 1; } void g() { if (true) return;} boolean h() { if (true) return false; return true; } String i() { if (true) return null; return x; } }\n",
        ),
    ] {
        let returning = hollowed(path, text, Instead::Returns, &BTreeSet::new());
        assert_eq!(returning.as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn functions_of_before_stay_as_they_are() {
    let before = "def f():\n    return 1\n\ndef g():\n    return 2\n";
    let after = "def f():\n    return 1\n\ndef g():\n    return 3\n";
    let unchanged = outline("a.py", before).unwrap().functions;
    assert_eq!(
        hollowed("a.py", after, Instead::Fails, &unchanged).as_deref(),
        Some("def f():\n    return 1\n\ndef g():\n    raise NotImplementedError\n    return 3\n")
    );
    assert_eq!(hollowed("a.py", before, Instead::Fails, &unchanged), None);
}

#[test]
fn values_are_what_stands_outside_of_functions() {
    for (path, text, expected) in [
        (
            "a.py",
            "from a import b\n__all__ = ['f']\nMOST = 3\n\nclass C:\n    x: int = 1\n\n    def f(self):\n        y = 2\n",
            &["MOST = 3", "x: int = 1"][..],
        ),
        (
            "a.js",
            "const a = require('a');\nconst f = () => { const y = 1; };\nconst N = 5;\nA.prototype.g = function () {};\nmodule.exports = { f };\n",
            &["N = 5"],
        ),
        (
            "a.rs",
            "#[must_use]\npub fn f() -> u8 { const Y: u8 = 1; Y }\nconst N: u8 = 2;\n#[derive(Debug)]\nstruct S;\n",
            &["const N: u8 = 2;", "#[derive(Debug)]"],
        ),
        (
            "a.rb",
            "require 'a'\nclass A\n  attr_reader :x\n  N = 1\n  def f\n    y = 2\n  end\nend\n",
            &["attr_reader :x", "N = 1"],
        ),
    ] {
        let values = outline(path, text).unwrap().values;
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(values, expected, "{path}");
    }
}
