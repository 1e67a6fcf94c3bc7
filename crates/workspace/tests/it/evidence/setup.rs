//! Whether a fresh checkout has what tests need.

use std::fs;
use std::path::{Path, PathBuf};

use workspace::git::Repository;

use crate::git::fixture::{Fixture, run};

/// What a fresh checkout lacks, in one line.
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
    for manifest in [
        "Cargo.toml",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "shop.csproj",
        "pyproject.toml",
        "Gemfile",
    ] {
        fixture.write(manifest, "");
    }
    fixture.write(".gitignore", "target/\nvendor/bundle/\n");
    fixture.write("target/debug/a", "");
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
        let fixture = Fixture::new();
        fixture.write(manifest, "{}");
        fixture.write(&format!("{place}/a/b.txt"), "a");
        assert_eq!(needs(&fixture).as_deref(), Some(place), "{manifest}");
        fixture.write(".gitignore", &format!("/{place}\n"));
        assert_eq!(
            needs(&fixture).as_deref(),
            Some(place),
            "{manifest} ignored"
        );
        fixture.remove(".gitignore");
        fixture.commit_all("dependencies, too");
        assert_eq!(needs(&fixture), None, "{manifest} tracked");
    }
}

#[test]
fn what_a_manifest_asks_for_and_is_not_there_yet() {
    for (manifest, text, expected) in [
        (
            "package.json",
            r#"{"devDependencies": {"vitest": "3"}}"#,
            Some("node_modules"),
        ),
        (
            "package.json",
            r#"{"scripts": {"test": "node --test"}}"#,
            None,
        ),
        ("package.json", r#"{"dependencies": {}}"#, None),
        ("package.json", r#"{"dependencies": "#, None),
        (
            "composer.json",
            r#"{"require": {"php": ">=8", "ext-json": "*"}}"#,
            None,
        ),
        (
            "composer.json",
            r#"{"require-dev": {"phpunit/phpunit": "11"}}"#,
            Some("vendor"),
        ),
        (
            "fixtures/package.json",
            r#"{"dependencies": {"a": "1"}}"#,
            None,
        ),
    ] {
        let fixture = Fixture::new();
        fixture.write(manifest, text);
        assert_eq!(needs(&fixture).as_deref(), expected, "{manifest} {text}");
    }
}

#[test]
fn packages_of_a_workspace_and_folders_of_a_repository() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "node_modules/\n.venv/\n");
    fixture.write("package.json", r#"{"devDependencies": {"vitest": "3"}}"#);
    fixture.write("packages/a/package.json", r#"{"dependencies": {"b": "1"}}"#);
    fixture.write("packages/b/package.json", "{}");
    fixture.write("tools/pyproject.toml", "");
    fixture.write("node_modules/vitest/package.json", "{}");
    fixture.write("packages/a/node_modules/b/package.json", "{}");
    fixture.write("tools/.venv/pyvenv.cfg", "");
    fixture.commit_all("all");
    assert_eq!(
        needs(&fixture).as_deref(),
        Some("node_modules, packages/a/node_modules, tools/.venv")
    );
    // One of them alone still finds what lies above it.
    let scoped = |folder: &str| {
        let repository = fixture.repository.clone().with_scope(&fixture.at(folder));
        spoken(&repository)
    };
    assert_eq!(scoped("packages/b").as_deref(), Some("node_modules"));
    assert_eq!(
        scoped("packages/a").as_deref(),
        Some("node_modules, packages/a/node_modules")
    );
}

#[test]
fn a_checkout_has_the_submodules_of_its_commit() {
    let other = Fixture::new();
    let fixture = Fixture::new();
    let url = other.root().to_str().unwrap();
    fixture.add_submodule(url, "lib");
    fixture.commit_all("a submodule");
    let at = fixture.head();
    let held = || {
        let tree = fixture.throw_away_worktree(&at, &[]).unwrap();
        fixture.fill_submodules(tree.path(), &at).unwrap();
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
    run(
        fixture.root(),
        &fixture.environment(),
        &["submodule", "--quiet", "deinit", "--force", "lib"],
    );
    assert!(held().is_err());
}

#[test]
fn before_the_first_commit_nothing_is_tracked() {
    let fixture = Fixture::unborn(&[]);
    fixture.write("package.json", "{}");
    fixture.write("node_modules/a/b.js", "");
    assert_eq!(needs(&fixture).as_deref(), Some("node_modules"));
}

/// Where a symbolic link leads.
fn leads(link: &Path) -> PathBuf {
    fs::canonicalize(link).unwrap()
}

#[test]
fn what_is_installed_is_lent_and_packages_of_the_project_are_its_own() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "node_modules/\n.venv/\n");
    fixture.write("package.json", "{}");
    fixture.write("pyproject.toml", "");
    fixture.write("packages/a/index.js", "a\n");
    fixture.commit_all("all");
    fixture.write("node_modules/left/index.js", "left\n");
    fixture.write("node_modules/@of/right/index.js", "right\n");
    fixture.write("node_modules/.vite/results.json", "{}");
    fixture.write(".venv/pyvenv.cfg", "");
    fixture.link("../packages/a", "node_modules/a");
    fixture.link("../../packages/a", "node_modules/@of/a");
    let needed = fixture.dependencies().unwrap();
    assert_eq!(needed.installed, [".venv", "node_modules"]);
    let tree = fixture.throw_away_worktree(&fixture.head(), &[]).unwrap();
    fixture.lend(&tree, &needed.installed).unwrap();
    let root = fs::canonicalize(fixture.root()).unwrap();
    let modules = tree.path().join("node_modules");
    for lent in ["left", "@of/right"] {
        assert_eq!(
            leads(&modules.join(lent)),
            root.join("node_modules").join(lent)
        );
    }
    for own in ["a", "@of/a"] {
        assert_eq!(leads(&modules.join(own)), tree.path().join("packages/a"));
    }
    assert!(!modules.join(".vite").exists());
    assert_eq!(leads(&tree.path().join(".venv")), root.join(".venv"));
    // To throw the checkout away takes nothing of what is lent.
    drop(tree);
    assert!(fixture.at("node_modules/left/index.js").is_file());
    assert!(fixture.at(".venv/pyvenv.cfg").is_file());
}
