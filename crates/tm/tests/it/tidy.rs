//! The repository holds itself to what its documents say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use engine::codes::{FACTS, arguments, code_of, sections};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the workspace")
        .to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn crates() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("crates")).expect("crates");
    folder.flatten().map(|krate| krate.path()).collect()
}

fn all_sources(of: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for krate in crates() {
        sources(&krate.join(of), &mut found);
    }
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            (path, text)
        })
        .collect()
}

/// Which of our crates a crate may use, outside its tests.
const ARROWS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("machine", &["text"]),
    ("draw", &["machine"]),
    ("workflows", &[]),
    ("journal", &[]),
    ("workspace", &["journal", "markup", "text"]),
    ("mcp", &[]),
    ("tui", &["engine", "text"]),
    ("web", &["engine", "mcp", "text"]),
    ("markup", &["text"]),
    ("syntax", &["text"]),
    ("test-report", &[]),
    (
        "engine",
        &[
            "draw",
            "journal",
            "machine",
            "markup",
            "syntax",
            "test-report",
            "text",
            "workflows",
            "workspace",
        ],
    ),
    (
        "tm",
        &[
            "engine",
            "journal",
            "machine",
            "markup",
            "mcp",
            "text",
            "tui",
            "web",
            "workflows",
            "workspace",
        ],
    ),
];

#[test]
fn dependencies_go_one_way() {
    let mut seen = BTreeSet::new();
    for krate in crates() {
        let name = krate.file_name().and_then(|name| name.to_str());
        let name = name.expect("a name").to_owned();
        let manifest = fs::read_to_string(krate.join("Cargo.toml")).expect("a manifest");
        let (_, allowed) = ARROWS
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("{name} has no place in the architecture"));
        let used: Vec<&str> = manifest
            .split("[dependencies]")
            .nth(1)
            .unwrap_or_default()
            .lines()
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|used| ARROWS.iter().any(|(ours, _)| ours == used))
            .collect();
        for used in used {
            assert!(allowed.contains(&used), "{name} may not use {used}");
        }
        seen.insert(name);
    }
    assert_eq!(
        seen.len(),
        ARROWS.len(),
        "a crate of the architecture is gone"
    );
}

#[test]
fn no_file_outgrows_a_screenful_of_concepts() {
    const MOST_LINES: usize = 650;
    for (path, text) in all_sources("src") {
        let lines = text.lines().count();
        assert!(
            lines <= MOST_LINES,
            "{} has {lines} lines: a concept in it has no name yet",
            path.display()
        );
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        assert!(
            !["utils", "util", "common", "helpers", "misc"].contains(&name),
            "{} says nothing of what is in it",
            path.display()
        );
    }
}

/// String literals that come right after `marker`, white space apart.
fn literals_after<'a>(text: &'a str, marker: &str, found: &mut BTreeSet<&'a str>) {
    let mut rest = text;
    while let Some(at) = rest.find(marker) {
        rest = &rest[at + marker.len()..];
        if let Some(quoted) = rest.trim_start().strip_prefix('"')
            && let Some(end) = quoted.find('"')
        {
            let literal = &quoted[..end];
            let is_code =
                !literal.is_empty() && literal.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            if is_code {
                found.insert(literal);
            }
        }
    }
}

/// The keys that a source makes faults and refusals of, each with the names of its arguments.
fn keys(text: &str) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
    let calls = ["fault!(", "refusal!("]
        .into_iter()
        .flat_map(|marker| text.split(marker).skip(1));
    let calls = calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split_once('"'));
    calls.map(|(key, rest)| {
        let (mut depth, mut starts, mut end) = (0_u32, Vec::new(), rest.len());
        for (at, c) in rest.char_indices() {
            match c {
                ',' if depth == 0 => starts.push(at + 1),
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => {
                    end = at;
                    break;
                }
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = starts.into_iter().map(move |at| {
            let argument = rest[at..end].trim_start();
            argument.split(|c| !is_name(c)).next().unwrap_or_default()
        });
        (key, names.filter(|name| !name.is_empty()).collect())
    })
}

#[test]
fn every_text_of_a_code_is_used_with_its_arguments() {
    let sources = all_sources("src");
    let mut details = BTreeSet::from(FACTS);
    for (_, text) in &sources {
        literals_after(text, "detail(", &mut details);
    }
    let is_fact = |name: &str| details.contains(name.trim_end_matches(".first"));
    let mut by_facts = BTreeSet::new();
    let mut unused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in sections() {
        for (code, entry) in section.codes {
            let own = (None, entry.text);
            let cases = entry
                .says
                .into_iter()
                .map(|(case, text)| (Some(case), text));
            for (case, text) in cases.chain([own]) {
                let key = case.map_or_else(|| code.clone(), |case| format!("{code}.{case}"));
                let templates = [text.message, text.help, text.run];
                let names = templates.iter().flat_map(|template| arguments(template));
                let names: BTreeSet<String> = names.collect();
                if let Some(facts) = text.facts {
                    // Such a case is found by what refusals say, and not named.
                    let unknown = names.iter().chain(facts.keys()).find(|name| !is_fact(name));
                    assert_eq!(unknown, None, "{key}: no refusal says this");
                    by_facts.insert(key.clone());
                }
                unused.insert(key, names);
            }
        }
    }
    let known = unused.clone();
    for (path, text) in &sources {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (key, given) in keys(text) {
            let wanted = known
                .get(key)
                .unwrap_or_else(|| panic!("{}: nothing is said of {key}", path.display()));
            let given: BTreeSet<String> = given.into_iter().map(str::to_owned).collect();
            assert_eq!(&given, wanted, "{}: the arguments of {key}", path.display());
            unused.remove(key);
        }
    }
    // What is said of reports, of turns and by the hook is asked for by names that are put together.
    let cases = "named skipped several only_one flaky unknown_runner";
    let is_asked = |key: &String| match key.split_once('.') {
        Some((code, case)) => code == "denied" || cases.split(' ').any(|known| known == case),
        None => true,
    };
    unused.retain(|key, _| !by_facts.contains(key) && !is_asked(key));
    let unused: Vec<_> = unused.into_keys().collect();
    assert!(unused.is_empty(), "no source says {unused:?}");
}

#[test]
fn every_code_is_in_the_document_and_the_other_way_round() {
    let document = fs::read_to_string(root().join("docs/codes.md")).expect("docs/codes.md");
    let listed: BTreeSet<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .flat_map(|line| line.split(" | ").next().unwrap_or_default().split(", "))
        .map(|code| code.trim_matches(['`', ' ']))
        .collect();

    let sources = all_sources("src");
    let workflow = ["tdd", "review", "collab"].map(|id| {
        let path = root().join(format!("crates/workflows/{id}/workflow.yaml"));
        fs::read_to_string(path).expect("a workflow")
    });
    let workflow = workflow.concat();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for (path, text) in &sources {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for marker in [
            "refused(",
            "refusal(",
            "finding(",
            "Refusal::new(",
            "Fault::environment(",
        ] {
            literals_after(text, marker, &mut used);
        }
        used.extend(keys(text).map(|(key, _)| code_of(key)));
        for kind in [
            "Bug",
            "Usage",
            "Refused",
            "Missing",
            "Conflict",
            "Environment",
            "Blocked",
        ] {
            literals_after(text, &format!("Kind::{kind},"), &mut used);
        }
        if path.ends_with("error.rs") || path.ends_with("git/commit.rs") {
            literals_after(text, "=>", &mut used);
        }
    }
    for marker in ["refuse: ", "retry: ", "warn: "] {
        for part in workflow.split(marker).skip(1) {
            let code = part
                .split(|c: char| !(c.is_ascii_lowercase() || c == '_'))
                .next()
                .unwrap_or_default();
            used.insert(code);
        }
    }
    let missing: Vec<&&str> = used.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "docs/codes.md does not list {missing:?}"
    );
    let everywhere: String = sources
        .into_iter()
        .map(|(_, text)| text)
        .collect::<String>()
        + &workflow;
    let gone: Vec<&&str> = listed
        .iter()
        .filter(|code| {
            let named = [format!("\"{code}\""), format!("\"{code}.")];
            !named.iter().any(|named| everywhere.contains(named)) && !workflow.contains(**code)
        })
        .collect();
    assert!(
        gone.is_empty(),
        "docs/codes.md lists what no source names: {gone:?}"
    );
}

/// A module that nothing names would never be run.
#[test]
fn every_file_of_tests_is_named() {
    for krate in crates() {
        let tests = krate.join("tests");
        let mut files = Vec::new();
        sources(&tests, &mut files);
        assert!(!files.is_empty(), "{} has no tests", tests.display());
        files.retain(|file| !file.ends_with("main.rs"));
        for mut file in files {
            if file.ends_with("mod.rs") {
                file.pop();
            }
            let parents = ["mod.rs", "main.rs"].map(|name| file.with_file_name(name));
            let text: String = parents.iter().flat_map(fs::read_to_string).collect();
            let line = format!("mod {};", file.file_stem().expect("a name").display());
            let mut lines = text.lines();
            let is_named = lines.any(|at| at.strip_prefix("pub ").unwrap_or(at) == line);
            assert!(is_named, "no module names {}", file.display());
        }
    }
}

#[test]
fn nothing_is_left_unfinished() {
    for (path, text) in all_sources("src") {
        for sign in ["todo!(", "unimplemented!(", "FIXME"] {
            assert!(!text.contains(sign), "{} has {sign}", path.display());
        }
    }
}

/// The names of states, item sets and workflows in the built-in definitions.
fn names_in_definitions() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for builtin in ::workflows::all() {
        let definition = ::machine::Definition::parse(builtin.workflow).expect("a definition");
        names.insert(definition.id.value.clone());
        let states = definition.all_states();
        names.extend(states.map(|(_, name, _)| name.value.clone()));
        names.extend(definition.items.iter().map(|(name, _)| name.value.clone()));
    }
    names
}

/// Words that definitions have for their own, and Rust for something else: readers, resources and their parameters, triggers, what files are for,
/// how something came out, and commands of git.
const OTHERWISE_KNOWN: [&str; 18] = [
    "aborted",
    "branch",
    "CANCELLED",
    "cleanup",
    "collab",
    "commit",
    "complete",
    "docs",
    "done",
    "ERROR",
    "failed",
    "items",
    "review",
    "skipped",
    "tasks",
    "tests",
    "tdd",
    "COMPLETE",
];

/// Where one of the others stands for something else as well: the form of a note of git, a field of an event or of what is
/// remembered, an example, the name of a shape.
const ELSEWHERE: [(&str, &str); 10] = [
    ("git/read/task_start.rs", "refactor"),
    ("proof/note.rs", "red"),
    ("proof/note.rs", "green"),
    ("capability/tasks/mod.rs", "subtasks"),
    ("capability/payload.rs", "preflight"),
    ("capability/documents/bound.rs", "batches"),
    ("capability/documents/events.rs", "batches"),
    ("graph/dot.rs", "begin"),
    ("graph/mermaid.rs", "begin"),
    ("svg/scene.rs", "begin"),
];

#[test]
fn machine_engine_hook_and_proof_know_no_name_of_a_definition() {
    const FREE_OF_NAMES: [&str; 15] = [
        "machine/src",
        "engine/src/capability",
        "engine/src/derived",
        "engine/src/open_run",
        "engine/src/hook",
        "engine/src/proof",
        "engine/src/audit.rs",
        "engine/src/call.rs",
        "engine/src/decisions.rs",
        "engine/src/open_run.rs",
        "engine/src/find.rs",
        "engine/src/integrity.rs",
        "engine/src/library.rs",
        "engine/src/report.rs",
        "engine/src/writer.rs",
    ];
    let mut names = names_in_definitions();
    assert!(names.len() > 50, "{names:?}");
    for known in OTHERWISE_KNOWN {
        assert!(names.remove(known), "`{known}` is no name any more");
    }
    let mut found = Vec::new();
    for (path, text) in all_sources("src") {
        let place = path.display().to_string();
        let is_free = FREE_OF_NAMES
            .iter()
            .any(|free| place.contains(&format!("crates/{free}")));
        if !is_free || place.ends_with("/tests.rs") {
            continue;
        }
        let production = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = production
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for (at, line) in code.enumerate() {
            for word in line
                .split('"')
                .skip(1)
                .step_by(2)
                .filter(|word| names.contains(*word))
            {
                let excused = |(end, name): &(&str, &str)| place.ends_with(end) && word == *name;
                if !ELSEWHERE.iter().any(excused) {
                    found.push(format!("{place}: {word}, near line {}", at + 1));
                }
            }
        }
    }
    assert!(
        found.is_empty(),
        "name these otherwise in the definition, or take them from it: {found:#?}"
    );
}

/// What differs between views is data of theirs: elsewhere in the engine nobody asks which one it is.
#[test]
fn no_view_is_told_from_another_by_its_name() {
    let views = ["AUTOPILOT", "SESSION", "COLLAB", "GENERIC"];
    let compared = |line: &&str| {
        let mut views = views.iter();
        views.any(|view| {
            ["= ", "= &"]
                .iter()
                .any(|is| line.contains(&format!("{is}{view}")))
        })
    };
    for (path, text) in all_sources("src") {
        let is_ours = path.components().any(|part| part.as_os_str() == "engine");
        if is_ours && !path.ends_with("view/mod.rs") {
            let found = text.lines().find(compared);
            assert_eq!(found, None, "{}", path.display());
        }
    }
}
