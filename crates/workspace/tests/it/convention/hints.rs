use proptest::prelude::*;
use workspace::convention::hints::{
    ContextHints, MOST_FILES, SubtaskText, context_hints, existing_tests, files_named, new_paths,
    tests_near,
};
use workspace::convention::paths::PathClasses;
use workspace::convention::test_place::test_file_for;

use super::{CLASSES, strings};

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn named_files() {
    let files = words(
        "src/cli/main.ts src/AuthService.ts src/parse_date.py src/index.ts a/index.ts b/index.ts c/index.ts d/index.ts src/auth.ts README.md Makefile",
    );
    for case in [
        "Change src/cli/main.ts. ⇒ src/cli/main.ts",
        "see `cli/main.ts:42`, (./src/auth.ts) ⇒ src/cli/main.ts src/auth.ts",
        r#"in main.ts and "README.md" ⇒ src/cli/main.ts README.md"#,
        "AuthService and parse_date() ⇒ src/AuthService.ts src/parse_date.py",
        "auth and main and Makefile ⇒ ",
        "index.ts ⇒ ",
        "src/index.ts ⇒ src/index.ts",
        "i/main.ts ⇒ ",
        "main.ts main.ts ⇒ src/cli/main.ts",
        " ⇒ ",
    ] {
        let (text, expected) = case.split_once(" ⇒ ").unwrap();
        assert_eq!(files_named(text, &files).join(" "), expected, "{text}");
    }
}

#[test]
fn paths_that_are_not_there_yet() {
    let files = strings(&["crates/cli/main.rs"]);
    let text = "Add src/schema.js, `./lib/new.py` and cli/main.rs; not /etc/x.py, ../up.ts, a/../b.ts, and/or, https://a.b/c.js";
    assert_eq!(new_paths(text, &files), ["src/schema.js", "lib/new.py"]);
}

#[test]
fn near_tests_come_first() {
    let files = words(
        "src/auth/login.ts src/auth/login.test.ts src/auth/logout.test.ts tests/login.spec.ts src/other.test.ts",
    );
    let near = tests_near("src/auth/login.ts", &files, &CLASSES).join(" ");
    let expected = "src/auth/login.test.ts tests/login.spec.ts src/auth/logout.test.ts";
    assert_eq!(near, expected);
    let named = strings(&["src/auth/login.ts"]);
    let all = existing_tests("Handle other things", &named, &files, &CLASSES);
    assert_eq!(all.last().unwrap(), "src/other.test.ts");
}

#[test]
fn lists_are_bounded() {
    let files = (0..200).map(|n| format!("tests/login/part{n}_test.py"));
    let files: Vec<String> = files.collect();
    let tests = existing_tests("", &files, &files, &CLASSES);
    assert_eq!(tests.len(), MOST_FILES);
    let text = files.join(" ");
    assert_eq!(files_named(&text, &files).len(), MOST_FILES);
    assert_eq!(new_paths(&text, &[]).len(), MOST_FILES);
}

#[test]
fn tests_go_where_the_project_puts_them() {
    for case in [
        "src/b.ts src/a.test.ts ⇒ src/b.test.ts",
        "src/b.ts src/a.spec.ts src/c.spec.ts src/d.test.ts ⇒ src/b.spec.ts",
        "src/x/b.ts src/__tests__/a.test.ts ⇒ src/x/__tests__/b.test.ts",
        "src/x/b.ts tests/a.test.ts ⇒ tests/b.test.ts",
        "src/x/b.ts tests/x/a.test.ts src/x/a.ts ⇒ tests/x/b.test.ts",
        "packages/p/src/b.ts packages/q/tests/a.test.ts packages/p/package.json ⇒ packages/p/tests/b.test.ts",
        "pkg/b.go ⇒ pkg/b_test.go",
        "pkg/b.py ⇒ tests/test_b.py",
        "pkg/b.py pkg/a_test.py ⇒ pkg/b_test.py",
        "pkg/sub/b.py tests/conftest.py tests/test_a.py ⇒ tests/test_b.py",
        "src/shop/b.py tests/conftest.py tests/test_shop/test_a.py tests/test_shop/test_c.py ⇒ tests/test_shop/test_b.py",
        "crates/c/src/b.rs crates/c/Cargo.toml ⇒ crates/c/tests/b.rs",
        "crates/c/src/b.rs crates/c/Cargo.toml crates/c/tests/it/main.rs crates/c/tests/it/a.rs ⇒ crates/c/tests/it/b.rs",
        "crates/c/src/lib.rs crates/c/Cargo.toml ⇒ crates/c/tests/c.rs",
        "crates/c/src/a/mod.rs crates/c/Cargo.toml ⇒ crates/c/tests/a.rs",
        "src/main/java/com/a/B.java ⇒ src/test/java/com/a/BTest.java",
        "m/src/main/kotlin/B.kt m/src/test/kotlin/ASpec.kt ⇒ m/src/test/kotlin/BSpec.kt",
        "lib/shop/b.ex ⇒ test/shop/b_test.exs",
        "lib/shop/b.rb ⇒ spec/shop/b_spec.rb",
        "app/models/b.rb test/models/a_test.rb app/models/a.rb ⇒ test/models/b_test.rb",
        "src/Shop/B.php ⇒ tests/Shop/BTest.php",
        "src/widget.vue ⇒ src/widget.test.ts",
    ] {
        let (files, expected) = case.split_once(" ⇒ ").unwrap();
        let mut files = words(files);
        files.rotate_left(1);
        let found = test_file_for(files.last().unwrap(), &files, &CLASSES);
        assert_eq!(found.as_deref(), Some(expected), "{case}");
    }
    assert_eq!(test_file_for("README.md", &[], &CLASSES), None);
}

#[test]
fn all_hints_of_a_subtask() {
    let files = words("src/schema.js src/__tests__/other.test.js package.json src/other.js");
    let text = SubtaskText {
        title: "Add metrics schema",
        description: "Extend src/schema.js and add src/metrics.js.",
        details: "- keep it small",
        test_strategy: "- rejects bad input",
    };
    let hints = context_hints(&text, &files, &CLASSES);
    let expected = ContextHints {
        test_file: Some("src/__tests__/schema.test.js".to_owned()),
        existing_tests: vec!["src/__tests__/other.test.js".to_owned()],
        acceptance_criteria: vec!["rejects bad input".to_owned()],
        implementation_hints: vec!["keep it small".to_owned()],
        expected_files: strings(&["src/schema.js", "src/metrics.js"]),
    };
    assert_eq!(hints, expected);
    let none = context_hints(&SubtaskText::default(), &[], &CLASSES);
    assert_eq!(none, ContextHints::default());
}

#[test]
fn tests_go_into_the_file_that_is_there() {
    for case in [
        "In src/itsdangerous/timed.py. ⇒ tests/test_itsdangerous/test_timed.py of src/itsdangerous/timed.py src/itsdangerous/signer.py tests/test_itsdangerous/test_timed.py tests/test_itsdangerous/test_signer.py",
        "In inflection/__init__.py. ⇒ test_inflection.py of inflection/__init__.py test_inflection.py",
        "In slugify/slugify.py. ⇒ tests/test.py of slugify/slugify.py slugify/special.py tests/test.py",
        "Add string_to_bool.go, modelled on string_to_int.go. ⇒ string_to_bool_test.go of string_to_int.go string_to_int_test.go bool.go bool_test.go",
        "In src/__tests__/schema.test.js. ⇒ src/__tests__/schema.test.js of src/schema.js src/__tests__/other.test.js",
    ] {
        let (description, files) = case.split_once(" ⇒ ").unwrap();
        let (expected, files) = files.split_once(" of ").unwrap();
        let text = SubtaskText {
            title: "Do it",
            description,
            ..SubtaskText::default()
        };
        let hints = context_hints(&text, &words(files), &CLASSES);
        assert_eq!(hints.test_file.as_deref(), Some(expected), "{description}");
    }
}

#[test]
fn tests_without_a_mark_are_a_habit_where_there_are_no_others() {
    let files =
        words("index.js session/memory.js test/cookie.js test/session.js test/support/env.js");
    let classes = PathClasses::new(&["test/**"]).unwrap();
    let file = test_file_for("session/memory.js", &files, &classes);
    assert_eq!(file.as_deref(), Some("test/memory.js"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_the_hints(
        text in "(\\PC|[-./:()`'\"\\\\a-c\n]|\\.rs|\\.test\\.ts|src/|tests/|\\.\\.){0,60}",
        files in proptest::collection::vec("(src/|tests/|a|b|\\.|/|mod|\\.rs|\\.ts|test_|\\.test){1,6}", 0..12),
    ) {
        let text = SubtaskText { title: &text, description: &text, details: &text, test_strategy: &text };
        let hints = context_hints(&text, &files, &CLASSES);
        prop_assert!(hints.existing_tests.iter().all(|test| files.contains(test)));
        if let Some(test) = hints.test_file.filter(|test| !files.contains(test)) {
            let known = files.iter().any(|file| file.contains("..") || file.contains("//") || file.starts_with('/'));
            prop_assert!(known || !(test.starts_with('/') || test.split('/').any(|part| part == "..")), "{}", test);
        }
    }
}
