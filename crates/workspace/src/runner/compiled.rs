//! Cargo, Go, Maven, Gradle, .NET, Swift and Dart.

use std::path::Path;

use super::{Note, RunnerMatch};
use crate::convention::paths::Language;
use crate::convention::{has_file, read_manifest};

/// Folders are read to here; a project's root has its solution files among the first.
pub(super) const ENTRIES_READ: usize = 4096;

pub(super) fn cargo(root: &Path, notes: &mut Vec<Note>) -> Option<RunnerMatch> {
    let manifest = super::toml_manifest(root, "Cargo.toml", notes)?;
    // In a workspace with a package at its root, `cargo test` alone tests only that package.
    let whole = if manifest.contains_key("workspace") {
        " --workspace"
    } else {
        ""
    };
    let (program, framework) = if has_file(root, ".config/nextest.toml") {
        ("cargo nextest run", "nextest")
    } else {
        ("cargo test", "libtest")
    };
    // Otherwise cargo stops at the first test program that fails (nextest: at the first test), and the numbers are
    // those of a part.
    Some(RunnerMatch::new(
        format!("{program}{whole} --no-fail-fast"),
        framework,
        &[Language::Rust],
    ))
}

pub(super) fn go(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    const LANGUAGES: &[Language] = &[Language::Go];
    if has_file(root, "go.mod") {
        return Some(RunnerMatch::new("go test ./...", "go test", LANGUAGES));
    }
    // At the root of a workspace without a module of its own, `./...` matches nothing.
    let modules = go_modules(&read_manifest(&root.join("go.work"))?);
    if modules.is_empty() {
        return None;
    }
    let packages: Vec<String> = modules
        .iter()
        .map(|module| format!("{module}/..."))
        .collect();
    Some(RunnerMatch::new(
        format!("go test {}", packages.join(" ")),
        "go test",
        LANGUAGES,
    ))
}

/// The folders that a `go.work` uses, as far as they can stand in a command as they are.
fn go_modules(workspace: &str) -> Vec<String> {
    let mut modules = Vec::new();
    let mut in_block = false;
    for line in workspace.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let folder = match line.strip_prefix("use") {
            Some(rest) if rest.trim() == "(" => {
                in_block = true;
                continue;
            }
            Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim(),
            _ if line == ")" => {
                in_block = false;
                continue;
            }
            _ if in_block => line,
            _ => continue,
        };
        let folder = folder.trim_matches('"').trim_end_matches('/');
        if is_plain_word(folder) && folder.starts_with("./") {
            modules.push(folder.to_owned());
        }
    }
    modules
}

pub(super) fn cmake(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let text = read_manifest(&root.join("CMakeLists.txt"))?;
    let tests = ["enable_testing", "include(CTest", "add_test"];
    if !tests.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    // What was built before may be older than the code.
    Some(RunnerMatch::new(
        "sh -c 'cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure'",
        "ctest",
        &[],
    ))
}

pub(super) fn maven(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let manifest = read_manifest(&root.join("pom.xml"))?;
    let program = if has_file(root, "mvnw") {
        "./mvnw"
    } else {
        "mvn"
    };
    Some(RunnerMatch::new(
        format!("{program} test"),
        jvm_framework(&manifest),
        &[Language::Jvm],
    ))
}

pub(super) fn gradle(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let scripts = [
        "build.gradle.kts",
        "build.gradle",
        "settings.gradle.kts",
        "settings.gradle",
    ];
    let text: Vec<String> = scripts
        .iter()
        .filter_map(|script| read_manifest(&root.join(script)))
        .collect();
    if text.is_empty() {
        return None;
    }
    let program = if has_file(root, "gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    Some(RunnerMatch::new(
        format!("{program} test"),
        jvm_framework(&text.concat()),
        &[Language::Jvm],
    ))
}

fn jvm_framework(manifest: &str) -> &'static str {
    let named = [
        ("testng", "testng"),
        ("kotest", "kotest"),
        ("spock", "spock"),
        ("scalatest", "scalatest"),
    ];
    let manifest = manifest.to_lowercase();
    named
        .into_iter()
        .find(|(word, _)| manifest.contains(word))
        .map_or("junit", |(_, framework)| framework)
}

pub(super) fn dotnet(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let mut solutions = Vec::new();
    let mut projects = Vec::new();
    for entry in root.read_dir().ok()?.take(ENTRIES_READ).flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        match name.rsplit_once('.') {
            Some((_, "sln" | "slnx")) => solutions.push(name),
            Some((_, "csproj" | "fsproj" | "vbproj")) => projects.push(name),
            _ => {}
        }
    }
    solutions.sort();
    projects.sort();
    // With several to choose from, `dotnet test` refuses to choose.
    let candidates = if solutions.is_empty() {
        &projects
    } else {
        &solutions
    };
    let command = match candidates.as_slice() {
        [] => return None,
        [_] => "dotnet test".to_owned(),
        [first, ..] if is_plain_word(first) => format!("dotnet test {first}"),
        _ => "dotnet test".to_owned(),
    };
    let text: String = projects
        .iter()
        .filter_map(|name| read_manifest(&root.join(name)))
        .collect();
    let text = text.to_lowercase();
    let framework = ["xunit", "nunit", "mstest", "tunit"]
        .into_iter()
        .find(|name| text.contains(name));
    Some(RunnerMatch::new(
        command,
        framework.unwrap_or("unknown"),
        &[Language::DotNet],
    ))
}

pub(super) fn swift(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    has_file(root, "Package.swift")
        .then(|| RunnerMatch::new("swift test", "xctest", &[Language::Swift]))
}

pub(super) fn dart(root: &Path, _: &mut Vec<Note>) -> Option<RunnerMatch> {
    let manifest = read_manifest(&root.join("pubspec.yaml"))?;
    let is_flutter = manifest.lines().any(|line| {
        let line = line.trim();
        line.starts_with("flutter:") || line == "sdk: flutter"
    });
    Some(if is_flutter {
        RunnerMatch::new("flutter test", "flutter test", &[Language::Dart])
    } else {
        RunnerMatch::new("dart test", "dart test", &[Language::Dart])
    })
}

/// Whether `word` may stand in a command line as it is, for any way of splitting it.
fn is_plain_word(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
}
