use PathClass::{Build, Docs, Source, Test};
use workspace::convention::paths::{PathClass, PathClasses, may_hold_tests};

#[test]
fn classes() {
    let classes = PathClasses::new::<&str>(&[]).unwrap();
    for (path, expected) in [
        ("src/a.test.ts", Test),
        ("a.spec.js", Test),
        ("src/__tests__/a.js", Test),
        ("src/__snapshots__/a.test.ts.snap", Test),
        ("tests/it/main.rs", Test),
        ("crates/a/tests/b.rs", Test),
        ("crates/a/src/tests.rs", Test),
        ("crates/a/src/parser_tests.rs", Test),
        ("pkg/a_test.go", Test),
        ("pkg/testdata/x.json", Test),
        ("test_a.py", Test),
        ("pkg/a_test.py", Test),
        ("conftest.py", Test),
        ("spec/models/user_spec.rb", Test),
        ("spec/support/factory.rb", Test),
        ("src/test/java/com/a/FooTest.java", Test),
        ("src/test/resources/a.xml", Test),
        ("app/FooTests.cs", Test),
        ("App.Tests/Helper.cs", Test),
        ("test/a/b_test.exs", Test),
        ("tests/UserTest.php", Test),
        ("e2e/login.ts", Test),
        ("src/a.ts", Source),
        ("src/main.rs", Source),
        ("src/contest.py", Source),
        ("src/latest/a.go", Source),
        ("src/main/java/com/a/test/Helper.java", Source),
        ("src/Attest.java", Source),
        ("spec/tdd.md", Docs),
        ("README.md", Docs),
        ("LICENSE", Docs),
        ("LICENSE-MIT", Docs),
        ("docs/img/a.png", Docs),
        ("CHANGELOG.txt", Docs),
        ("Cargo.toml", Build),
        ("crates/a/Cargo.toml", Build),
        ("Cargo.lock", Build),
        ("package.json", Build),
        ("tsconfig.build.json", Build),
        ("vite.config.ts", Build),
        (".github/workflows/test.yml", Build),
        (".github/CONTRIBUTING.md", Build),
        ("requirements.txt", Build),
        ("requirements-dev.txt", Build),
        ("CMakeLists.txt", Build),
        ("Dockerfile", Build),
        ("Dockerfile.dev", Build),
        ("Makefile", Build),
        (".gitignore", Build),
        (".eslintrc.json", Build),
        ("src/config.ts", Source),
        ("src/data.json", Source),
        ("", Source),
    ] {
        assert_eq!(classes.of(path), expected, "{path}");
    }
}

#[test]
fn patterns_of_the_user_replace_the_defaults() {
    let classes = PathClasses::new(&[
        "checks/",
        "./src/**/*.check.ts",
        "*.proof.js",
        "src/main/self/*.java",
    ])
    .unwrap();
    for (path, expected) in [
        ("checks/a.ts", Test),
        ("pkg/checks/deep/a.ts", Test),
        ("src/a.check.ts", Test),
        ("src/b/a.check.ts", Test),
        ("lib/a.check.ts", Source),
        ("any/where/a.proof.js", Test),
        ("src/main/self/A.java", Test),
        ("a.test.ts", Source),
    ] {
        assert_eq!(classes.of(path), expected, "{path}");
    }
}

#[test]
fn a_wrong_pattern_is_named() {
    let error = PathClasses::new(&["ok/**", "a[b"]).unwrap_err();
    assert_eq!(error.to_string(), "`a[b` is not a usable file pattern");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn sources_that_may_hold_tests() {
    assert!(may_hold_tests("src/lib.rs") && may_hold_tests("a.zig"));
    assert!(!may_hold_tests("src/a.ts") && !may_hold_tests("rs"));
}
