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
    let [root, bin, fake] = ["project", "bin", "fake"].map(|name| folder.path().join(name));
    write_program(&bin.join("check"), "#!/bin/sh\nexit 1\n");
    write_program(&fake.join("other"), "#!/bin/sh\n");
    let now = |path: &[&Path]| of(&root, "check -q", path, &[]);
    let before = now(&[&fake, &bin]);
    assert_eq!((before.programs.len(), &before), (1, &now(&[&fake, &bin])));
    write_program(&fake.join("check"), "#!/bin/sh\nexit 0\n");
    let (ahead, gone, same) = (now(&[&fake, &bin]), now(&[]), now(&[&bin]));
    assert_eq!(same, before);
    write_program(&bin.join("check"), "#!/bin/sh\nexit 0\n");
    let over = now(&[&bin]);
    // Runs from before places were kept.
    let mut old = before.clone();
    old.places.clear();
    let at = |folder: &Path| format!("`{}`", folder.join("check").display());
    let (was, is) = (at(&bin), at(&fake));
    let written_over = |at| format!("{at}, or code that it loads, is not what it was");
    for (now, before, expected) in [
        (&ahead, &before, format!("{was} before, {is} now")),
        (&gone, &before, format!("{was} is not there any more")),
        (&before, &gone, format!("{was} is there now")),
        (&ahead, &old, written_over(&is)),
        (&over, &before, written_over(&was)),
    ] {
        let expected = format!("the program check ({expected})");
        assert_eq!(now.changed_since(before), [expected]);
    }

    // What the project is made of may change; where it is looked for may not.
    let own = || of(&root, "sh ./check", &[&bin], &[]);
    write_program(&root.join("check"), "#!/bin/sh\nexec build/tool\n");
    write_program(&root.join("build/tool"), "1\n");
    let before = own();
    assert!(before.programs.contains_key("build/tool"), "{before:?}");
    write_program(&root.join("build/tool"), "2\n");
    assert_eq!(own(), before);
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
    let bin = root.join("own/bin");
    let inside = root.join("own/lib/python3.11/site-packages");
    write_program(&root.join("base/python3.11"), "python\n");
    let first = format!("#!{}\n", bin.join("python").display());
    write_program(&bin.join("pytest"), first);
    symlink(root.join("base/python3.11"), bin.join("python")).unwrap();
    let runner = inside.join("_pytest/runner.py");
    write(&runner, "1\n");
    for command in ["pytest -q", "python -m pytest"] {
        let now = || of(&root.join("project"), command, &[&bin], &[]);
        let before = now();
        write(&inside.join("sitecustomize.py"), "1\n");
        assert_eq!(now().changed_since(&before).len(), 1, "{command}");
        std::fs::remove_file(inside.join("sitecustomize.py")).unwrap();
        write(&runner, "2\n");
        assert_eq!(now().changed_since(&before).len(), 1, "{command}");
        write(&runner, "1\n");
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
    insta::assert_snapshot!(now.changed_since(&before).join("\n"), @r"
    the variable ENV (has another value)
    the variable PYTEST_ADDOPTS (is set now)
    the variable NODE_OPTIONS (is not set any more)
    ");
    // What they hold may be nobody's business.
    let kept = serde_json::to_string(&before).unwrap();
    assert!(!kept.contains("no-warnings"), "{kept}");
}
