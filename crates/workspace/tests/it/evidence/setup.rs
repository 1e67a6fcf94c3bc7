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
    let manifests = "Cargo.toml go.mod pom.xml build.gradle shop.csproj pyproject.toml Gemfile";
    for manifest in manifests.split(' ') {
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
        let fixture = Fixture::new();
        fixture.write(manifest, text);
        let needed = needs(&fixture).unwrap_or_default();
        assert_eq!(needed, expected, "{manifest} {text}");
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
    let all = "node_modules, packages/a/node_modules, tools/.venv";
    assert_eq!(needs(&fixture).as_deref(), Some(all));
    // One of them alone still finds what lies above it.
    let scoped = |folder: &str| {
        let repository = fixture.repository.clone().with_scope(&fixture.at(folder));
        spoken(&repository)
    };
    assert_eq!(scoped("packages/b").as_deref(), Some("node_modules"));
    let both = "node_modules, packages/a/node_modules";
    assert_eq!(scoped("packages/a").as_deref(), Some(both));
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
        let from = root.join("node_modules").join(lent);
        assert_eq!(leads(&modules.join(lent)), from);
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
