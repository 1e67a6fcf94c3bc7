//! Functions that fail, in each language that has a parser.

use syntax::hollowed;

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
        assert_eq!(hollowed(path, text).as_deref(), Some(expected), "{path}");
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
        assert_eq!(hollowed(path, text), None, "{path}");
    }
}
