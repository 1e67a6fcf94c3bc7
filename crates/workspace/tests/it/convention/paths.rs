use PathClass::{Build, Docs, Source, Test};
use workspace::convention::paths::{PathClass, PathClasses, is_runner_written};

#[test]
fn classes() {
    let classes = PathClasses::new::<&str>(&[]).unwrap();
    for (expected, paths) in [
        (Test, "
            src/a.test.ts a.spec.js src/__tests__/a.js src/__snapshots__/a.test.ts.snap tests/it/main.rs
            crates/a/tests/b.rs crates/a/src/tests.rs crates/a/src/parser_tests.rs pkg/a_test.go
            pkg/testdata/x.json test_a.py pkg/a_test.py conftest.py spec/models/user_spec.rb
            spec/support/factory.rb src/test/java/com/a/FooTest.java src/test/resources/a.xml app/FooTests.cs
            App.Tests/Helper.cs test/a/b_test.exs tests/UserTest.php e2e/login.ts
        "),
        (Source, "
            src/a.ts src/main.rs src/contest.py src/latest/a.go src/main/java/com/a/test/Helper.java
            src/Attest.java src/config.ts src/data.json
        "),
        (Docs, "spec/tdd.md README.md LICENSE LICENSE-MIT docs/img/a.png CHANGELOG.txt"),
        (Build, "
            Cargo.toml crates/a/Cargo.toml Cargo.lock package.json tsconfig.build.json vite.config.ts
            .github/workflows/test.yml .github/CONTRIBUTING.md requirements.txt requirements-dev.txt
            CMakeLists.txt Dockerfile Dockerfile.dev Makefile .gitignore .eslintrc.json
        "),
    ] {
        for path in paths.split_whitespace() {
            assert_eq!(classes.of(path), expected, "{path}");
        }
    }
    assert_eq!(classes.of(""), Source);
}

#[test]
fn patterns_of_the_user_replace_the_defaults() {
    let patterns = [
        "checks/",
        "./src/**/*.check.ts",
        "*.proof.js",
        "src/main/self/*.java",
    ];
    let classes = PathClasses::new(&patterns).unwrap();
    let tests = "checks/a.ts pkg/checks/deep/a.ts src/a.check.ts src/b/a.check.ts any/where/a.proof.js src/main/self/A.java";
    for (expected, paths) in [(Test, tests), (Source, "lib/a.check.ts a.test.ts")] {
        for path in paths.split(' ') {
            assert_eq!(classes.of(path), expected, "{path}");
        }
    }
    let error = PathClasses::new(&["ok/**", "a[b"]).unwrap_err();
    assert_eq!(error.to_string(), "`a[b` is not a usable file pattern");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn files_that_runners_write() {
    let written = "
        tests/snapshots/a__b.snap src/__snapshots__/a.test.ts.snap a.snap.new __image_snapshots__/a.png
        ui/__snapshots__/deep/a.png tests/__snapshots__/test_a.ambr ApprovalTests/A.received.txt
        pkg/testdata/fuzz/FuzzA/771e938e4458e983 testdata/fuzz/FuzzA/1 proptest-regressions/a.txt
        src/a.proptest-regressions
    ";
    let own = "A.approved.txt tests/a.rs testdata/a.json testdata/fuzzy/a __snapshots__ src/snap src/received.ts snapshots/a.rs";
    for (paths, expected) in [(written, true), (own, false)] {
        for path in paths.split_whitespace() {
            assert_eq!(is_runner_written(path), expected, "{path}");
        }
    }
    assert!(!is_runner_written(""));
}
