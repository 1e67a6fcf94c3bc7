//! How a debug build is linked, the declared calls put together, and the pages listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Value, json};

fn main() {
    link();
    put_calls_together();
    list_pages();
    println!("cargo::rerun-if-changed=build.rs");
}

/// The tests start the program some twenty thousand times. At a fixed address it has nothing to relocate each time, which is a
/// quarter of what starting takes; a program that is given away is linked as ever.
fn link() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// The files of `src/calls` are YAML, which takes ten times as long to read as JSON, and every command needs them.
fn put_calls_together() {
    let mut files: BTreeMap<String, Value> = files_of("src/calls", "yaml")
        .map(|(name, path)| {
            let text = fs::read_to_string(&path).expect("a file of calls");
            let read = serde_saphyr::from_str(&text);
            let read = read.unwrap_or_else(|error| panic!("{name}.yaml: {error}"));
            (name, read)
        })
        .collect();
    let mut take = |name: &str| files.remove(name).expect("a file of calls");
    let (shared, turns) = (take("shared"), take("turns"));
    let turn = |name: &Value| {
        let turns = turns.as_array().expect("a list of turns");
        let found = turns.iter().find(|turn| turn["name"] == *name);
        found
            .unwrap_or_else(|| panic!("there is no turn {name}"))
            .clone()
    };
    // What else there is are families, by the names of their files.
    let families = files.into_values().map(|mut family| {
        let turns = family["turns"].as_array().into_iter().flatten();
        let turns: Vec<Value> = turns.map(turn).collect();
        family["calls"].as_array_mut().expect("calls").extend(turns);
        family
    });
    let declared = json!({ "shared": shared, "families": families.collect::<Vec<_>>() });
    write("calls.json", &declared.to_string());
}

/// The templates of `src/render/pages`, each under the name of its file.
fn list_pages() {
    let entries = files_of("src/render/pages", "txt").map(|(name, path)| {
        let source = path.to_str().expect("a plain path");
        format!("({name:?}, include_str!({source:?})),\n")
    });
    let entries: String = entries.collect();
    write("pages.rs", &format!("&[\n{entries}]\n"));
}

/// The files of a folder, by their names without the ending, in the order of those.
fn files_of(folder: &str, ending: &str) -> impl Iterator<Item = (String, PathBuf)> {
    println!("cargo::rerun-if-changed={folder}");
    let files = fs::read_dir(folder).expect("a folder of the sources");
    let mut paths: Vec<PathBuf> = files
        .map(|file| fs::canonicalize(file.expect("a file").path()).expect("a file"))
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| {
        let name = path.file_stem().and_then(|name| name.to_str());
        (name.expect("a plain name").to_owned(), path)
    })
}

fn write(name: &str, text: &str) {
    let to = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(to, text).expect("the folder of the build can be written to");
}
