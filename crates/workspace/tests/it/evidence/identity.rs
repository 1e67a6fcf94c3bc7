//! What a test command is run by.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::Path;

use testkit::files::{write, write_program};
use workspace::runner::identity::{RunnerIdentity, identity};

fn of(root: &Path, command: &str, path: &[&Path], variables: &[(&str, &str)]) -> RunnerIdentity {
    let path = std::env::join_paths(path).unwrap();
    let mut all = BTreeMap::from([(OsString::from("PATH"), path)]);
    let variables = variables.iter();
    all.extend(variables.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    identity(root, command, &all)
}

#[test]
fn a_program_further_ahead_and_one_that_was_written_over() {
    let folder = testkit::folder();
    let (root, bin, fake) = (
        folder.path().join("project"),
        folder.path().join("bin"),
        folder.path().join("fake"),
    );
    write_program(&bin.join("check"), "#!/bin/sh\nexit 1\n");
    write_program(&fake.join("other"), "#!/bin/sh\n");
    let before = of(&root, "check -q", &[&fake, &bin], &[]);
    assert_eq!(before.programs.len(), 1);
    assert_eq!(of(&root, "check -q", &[&fake, &bin], &[]), before);
    write_program(&fake.join("check"), "#!/bin/sh\nexit 0\n");
    let now = of(&root, "check -q", &[&fake, &bin], &[]);
    let at = |folder: &Path| format!("`{}`", folder.join("check").display());
    let (was, is) = (at(&bin), at(&fake));
    let moved = format!("the program check ({was} before, {is} now)");
    assert_eq!(now.changed_since(&before), [moved]);
    let gone = of(&root, "check -q", &[], &[]);
    let told = format!("the program check ({was} is not there any more)");
    assert_eq!(gone.changed_since(&before), [told]);
    let told = format!("the program check ({was} is there now)");
    assert_eq!(before.changed_since(&gone), [told]);
    // Runs from before places were kept.
    let mut old = before.clone();
    old.places.clear();
    let told = format!("the program check ({is}, or code that it loads, is not what it was)");
    assert_eq!(now.changed_since(&old), [told]);
    assert_eq!(of(&root, "check -q", &[&bin], &[]), before);
    write_program(&bin.join("check"), "#!/bin/sh\nexit 0\n");
    let now = of(&root, "check -q", &[&bin], &[]);
    let told = format!("the program check ({was}, or code that it loads, is not what it was)");
    assert_eq!(now.changed_since(&before), [told]);

    // What the project is made of may change; where it is looked for may not.
    let own = |path: &[&Path]| of(&root, "sh ./check", path, &[]);
    write_program(&root.join("check"), "#!/bin/sh\nexec build/tool\n");
    write_program(&root.join("build/tool"), "1\n");
    let before = own(&[&bin]);
    assert!(before.programs.contains_key("build/tool"), "{before:?}");
    write_program(&root.join("build/tool"), "2\n");
    assert_eq!(own(&[&bin]), before);
}

#[test]
fn the_package_behind_a_script_and_what_belongs_to_it() {
    let folder = testkit::folder();
    let root = folder.path();
    write(
        &root.join("package.json"),
        r#"{"scripts": {"test": "quick run"}}"#,
    );
    let modules = root.join("node_modules");
    write(&modules.join("quick/package.json"), "{}");
    write_program(&modules.join("quick/quick.mjs"), "#!/usr/bin/env node\n");
    write(&modules.join("quick/dist/inside.js"), "1\n");
    write(&modules.join("@quick/expect/index.js"), "1\n");
    write(&modules.join("left/index.js"), "1\n");
    std::fs::create_dir_all(modules.join(".bin")).unwrap();
    symlink("../quick/quick.mjs", modules.join(".bin/quick")).unwrap();
    let now = || of(root, "npm test", &[], &[]);
    let before = now();
    assert!(before.programs.contains_key("quick"), "{before:?}");
    write(&modules.join("left/index.js"), "2\n");
    assert_eq!(now(), before);
    for inside in ["quick/dist/inside.js", "@quick/expect/index.js"] {
        write(&modules.join(inside), "2\n");
        let told = now().changed_since(&before);
        assert!(told[0].starts_with("the program quick ("), "{told:?}");
        write(&modules.join(inside), "1\n");
    }
    std::fs::remove_file(modules.join(".bin/quick")).unwrap();
    write_program(&modules.join(".bin/quick"), "#!/bin/sh\n");
    assert_eq!(now().changed_since(&before).len(), 1);

    // Some package managers write small scripts there: the project is none of the runner.
    let before = now();
    write(&root.join("src/product.js"), "2\n");
    assert_eq!(now(), before);
    let by_name = of(root, "npx quick", &[], &[]);
    assert!(by_name.programs.contains_key("quick"), "{by_name:?}");
}

#[test]
fn the_packages_of_a_virtual_environment() {
    let folder = testkit::folder();
    let root = folder.path();
    let inside = root.join("own/lib/python3.11/site-packages");
    write_program(&root.join("base/python3.11"), "python\n");
    std::fs::create_dir_all(root.join("own/bin")).unwrap();
    symlink(root.join("base/python3.11"), root.join("own/bin/python")).unwrap();
    write_program(
        &root.join("own/bin/pytest"),
        format!("#!{}\n", root.join("own/bin/python").display()),
    );
    write(&inside.join("_pytest/runner.py"), "1\n");
    let bin = root.join("own/bin");
    for command in ["pytest -q", "python -m pytest"] {
        let now = || of(&root.join("project"), command, &[&bin], &[]);
        let before = now();
        write(&inside.join("sitecustomize.py"), "1\n");
        assert_eq!(now().changed_since(&before).len(), 1, "{command}");
        std::fs::remove_file(inside.join("sitecustomize.py")).unwrap();
        write(&inside.join("_pytest/runner.py"), "2\n");
        assert_eq!(now().changed_since(&before).len(), 1, "{command}");
        write(&inside.join("_pytest/runner.py"), "1\n");
        assert_eq!(now(), before);
    }
}

#[test]
fn variables_that_runners_obey() {
    let folder = testkit::folder();
    let of = |variables: &[(&str, &str)]| of(folder.path(), "check", &[], variables);
    let before = of(&[("NODE_OPTIONS", "--no-warnings"), ("HOME", "/a")]);
    assert_eq!(of(&[("NODE_OPTIONS", "--no-warnings")]), before);
    let runner = of(&[("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "true")]);
    assert_eq!(runner.variables.len(), 1);
    let now = of(&[("PYTEST_ADDOPTS", "-x"), ("ENV", "token")]);
    let before = of(&[("NODE_OPTIONS", "--no-warnings"), ("ENV", "other")]);
    assert_eq!(
        now.changed_since(&before),
        [
            "the variable ENV (has another value)",
            "the variable PYTEST_ADDOPTS (is set now)",
            "the variable NODE_OPTIONS (is not set any more)"
        ]
    );
    // What they hold may be nobody's business.
    let kept = serde_json::to_string(&before).unwrap();
    assert!(!kept.contains("no-warnings"), "{kept}");
}
