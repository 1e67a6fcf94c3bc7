//! Whether a bench has what tests need.

use std::fs;

use workspace::git::Repository;

use crate::git::fixture::Fixture;

/// What a bench lacks, in one line.
fn spoken(repository: &Repository) -> Option<String> {
    let needed = repository.dependencies().unwrap();
    let mut all = [needed.installed, needed.missing].concat();
    all.sort();
    (!all.is_empty()).then(|| all.join(", "))
}

fn needs(fixture: &Fixture) -> Option<String> {
    spoken(&fixture.repository)
}

#[test]
fn dependencies_in_the_home_need_none() {
    let fixture = Fixture::new();
    let manifests =
        "Cargo.toml go.mod pom.xml build.gradle shop.csproj pyproject.toml Gemfile target/debug/a";
    for manifest in manifests.split(' ') {
        fixture.write(manifest, "");
    }
    fixture.write(".gitignore", "target/\nvendor/bundle/\n");
    assert_eq!(needs(&fixture), None);
    fixture.commit_all("all");
    assert_eq!(needs(&fixture), None);
}

#[test]
fn untracked_folders_are_named() {
    for (manifest, place) in [
        ("package.json", "node_modules"),
        ("composer.json", "vendor"),
        ("Gemfile", "vendor/bundle"),
        ("mix.exs", "deps"),
        ("pyproject.toml", ".venv"),
        ("requirements.txt", "venv"),
        ("Podfile", "Pods"),
    ] {
        // Before the first commit nothing is tracked.
        let fixture = Fixture::unborn(&[]);
        fixture.write(manifest, "{}");
        fixture.write(&format!("{place}/a/b.txt"), "a");
        let mut found = vec![needs(&fixture)];
        fixture.write(".gitignore", &format!("/{place}\n"));
        found.push(needs(&fixture));
        fixture.remove(".gitignore");
        fixture.commit_all("dependencies, too");
        found.push(needs(&fixture));
        let place = Some(place.to_owned());
        assert_eq!(found, [place.clone(), place, None], "{manifest}");
    }
}

#[test]
fn what_a_manifest_asks_for_and_is_not_there_yet() {
    let (npm, php) = ("package.json", "composer.json");
    for (manifest, text, expected) in [
        (npm, r#"{"devDependencies": {"a": "3"}}"#, "node_modules"),
        (npm, r#"{"scripts": {"test": "node --test"}}"#, ""),
        (npm, r#"{"dependencies": {}}"#, ""),
        (npm, r#"{"dependencies": "#, ""),
        (php, r#"{"require": {"php": "8", "ext-json": "*"}}"#, ""),
        (php, r#"{"require-dev": {"a/phpunit": "11"}}"#, "vendor"),
        ("x/package.json", r#"{"dependencies": {"a": "1"}}"#, ""),
    ] {
        let fixture = Fixture::unborn(&[]);
        fixture.write(manifest, text);
        let needed = needs(&fixture).unwrap_or_default();
        assert_eq!(needed, expected, "{manifest} {text}");
    }
}

#[test]
fn packages_of_a_workspace_and_folders_of_a_repository() {
    let fixture = Fixture::new();
    for (name, text) in [
        (".gitignore", "node_modules/\n.venv/\n"),
        ("package.json", r#"{"devDependencies": {"vitest": "3"}}"#),
        ("packages/a/package.json", r#"{"dependencies": {"b": "1"}}"#),
        ("packages/b/package.json", "{}"),
        ("tools/pyproject.toml", ""),
        ("node_modules/vitest/package.json", "{}"),
        ("packages/a/node_modules/b/package.json", "{}"),
        ("tools/.venv/pyvenv.cfg", ""),
    ] {
        fixture.write(name, text);
    }
    fixture.commit_all("all");
    // One of them alone still finds what lies above it.
    for (folder, expected) in [
        (".", "node_modules, packages/a/node_modules, tools/.venv"),
        ("packages/b", "node_modules"),
        ("packages/a", "node_modules, packages/a/node_modules"),
    ] {
        let repository = fixture.repository.clone();
        let scoped = repository.with_scope(&fixture.at(folder));
        assert_eq!(spoken(&scoped).as_deref(), Some(expected), "{folder}");
    }
}

#[test]
fn a_bench_has_the_submodules_of_its_tree() {
    let (other, fixture) = (Fixture::new(), Fixture::new());
    fixture.add_submodule(other.root().to_str().unwrap(), "lib");
    fixture.commit_all("a submodule");
    let at = fixture.head();
    let held = || {
        let tree = fixture
            .take_bench(&fixture.outside().join("benches"))
            .unwrap();
        fixture.bring_tree(&tree, &at, &at, None).unwrap();
        let lib = tree.path().join("lib");
        assert!(!lib.join("left").exists());
        fs::read_to_string(lib.join("README.md"))
    };
    fixture.write(".git/modules/lib/info/exclude", "left\n");
    fixture.write("lib/left", "");
    let before = held().unwrap();
    fixture.write("lib/README.md", "moved\n");
    // What is changed in it is in no commit, and then in another one.
    for words in [
        &["status"][..],
        &["commit", "--quiet", "--all", "--message", "moved"],
    ] {
        fixture.inside("lib", words);
        assert_eq!(held().unwrap(), before);
    }
    fixture.git(&["submodule", "--quiet", "deinit", "--force", "lib"]);
    assert!(held().is_err());
}

#[test]
fn what_is_installed_is_lent_and_packages_of_the_project_are_its_own() {
    let fixture = Fixture::new();
    for (name, text) in [
        (".gitignore", "node_modules/\n.venv/\n"),
        ("package.json", "{}"),
        ("pyproject.toml", ""),
        ("packages/a/index.js", "a\n"),
        ("node_modules/left/index.js", "left\n"),
        ("node_modules/@of/right/index.js", "right\n"),
        ("node_modules/.vite/results.json", "{}"),
        (".venv/pyvenv.cfg", ""),
    ] {
        fixture.write(name, text);
    }
    fixture.commit_all("all");
    fixture.link("../packages/a", "node_modules/a");
    fixture.link("../../packages/a", "node_modules/@of/a");
    let needed = fixture.dependencies().unwrap();
    assert_eq!(needed.installed, [".venv", "node_modules"]);
    let tree = fixture
        .take_bench(&fixture.outside().join("benches"))
        .unwrap();
    fixture
        .bring_tree(&tree, &fixture.head(), &fixture.head(), None)
        .unwrap();
    fixture.lend(&tree, &needed.installed).unwrap();
    let root = fs::canonicalize(fixture.root()).unwrap();
    let own = tree.path().join("packages/a");
    let lent = ["node_modules/left", "node_modules/@of/right", ".venv"];
    let lent = lent.map(|lent| (lent, root.join(lent)));
    let own = ["node_modules/a", "node_modules/@of/a"].map(|of| (of, own.clone()));
    for (lent, from) in lent.into_iter().chain(own) {
        // Where the link leads.
        assert_eq!(fs::canonicalize(tree.path().join(lent)).unwrap(), from);
    }
    assert!(!tree.path().join("node_modules/.vite").exists());
    // To clear the bench takes nothing of what is lent.
    fixture
        .bring_tree(&tree, &fixture.head(), &fixture.head(), None)
        .unwrap();
    assert!(!tree.path().join(".venv").exists());
    for kept in ["node_modules/left/index.js", ".venv/pyvenv.cfg"] {
        assert!(fixture.at(kept).is_file(), "{kept}");
    }
}
