//! How a debug build is linked, the declared calls put together, and the pages listed.

use std::path::Path;
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
    println!("cargo::rerun-if-changed=src/calls");
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(format!("src/calls/{name}.yaml")).expect("a file of calls");
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}.yaml: {error}"))
    };
    let turns = read("turns");
    let mut families = ["autopilot", "run", "session", "collab"].map(read);
    for family in &mut families {
        if family["ofTags"] == true {
            let calls = family["calls"].as_array_mut().expect("calls");
            calls.extend(turns.as_array().into_iter().flatten().cloned());
        }
    }
    let declared = json!({ "shared": read("shared"), "families": families });
    write("calls.json", &declared.to_string());
}

/// The templates of `src/render/pages`, each under the name of its file.
fn list_pages() {
    let folder = "src/render/pages";
    println!("cargo::rerun-if-changed={folder}");
    let files = fs::read_dir(folder).expect("the pages");
    let mut pages: Vec<_> = files
        .map(|file| file.expect("a page").path())
        .map(|path| fs::canonicalize(path).expect("a page"))
        .collect();
    pages.sort();
    let entries = pages.iter().map(|path| {
        let name = path.file_stem().and_then(|name| name.to_str());
        let (name, source) = name.zip(path.to_str()).expect("plain names");
        format!("({name:?}, include_str!({source:?})),\n")
    });
    let entries: String = entries.collect();
    write("pages.rs", &format!("&[\n{entries}]\n"));
}

fn write(name: &str, text: &str) {
    let to = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join(name);
    fs::write(to, text).expect("the folder of the build can be written to");
}
