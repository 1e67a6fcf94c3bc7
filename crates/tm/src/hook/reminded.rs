//! Who was reminded of which work unit: nobody is a second time, whatever a client says or leaves out.

use std::fs;

use workspace::config::Environment;

/// So many are remembered.
const MOST: usize = 64;

/// Whether this session is reminded of this unit for the first time; remembers it. Where that cannot be written down, it
/// counts as reminded.
pub fn first_time(environment: &Environment, session: &str, unit: &str) -> bool {
    let Some(store) = environment.store() else {
        return false;
    };
    let folder = store.join("hook");
    let file = folder.join("reminded");
    let key = journal::sha256_hex(format!("{session}\n{unit}").as_bytes());
    let known = fs::read_to_string(&file).unwrap_or_default();
    if known.lines().any(|line| line == key) {
        return false;
    }
    let lines: Vec<&str> = known.lines().collect();
    let kept = lines.len().saturating_sub(MOST - 1);
    let mut text = String::new();
    for line in lines[kept..].iter().chain([&key.as_str()]) {
        text.push_str(line);
        text.push('\n');
    }
    let written = fs::create_dir_all(&folder)
        .and_then(|()| journal::durable::replace_durably(&file, text.as_bytes()));
    written.is_ok()
}
