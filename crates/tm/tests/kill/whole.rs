//! All that a session is, without what may differ from one time to the next: to be compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::place::Place;

/// What there is to be told of a session, by its name: files with their content where it is the same every time, and more.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole(pub BTreeMap<String, String>);

impl Whole {
    /// Tells what of it is not as `other` is.
    pub fn same_as(&self, other: &Self) -> Result<(), String> {
        if self == other {
            return Ok(());
        }
        let names: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let pairs = names
            .into_iter()
            .map(|name| (name, self.0.get(name), other.0.get(name)));
        let differing = pairs.filter(|(_, here, there)| here != there);
        let told =
            differing.map(|(name, here, there)| format!("{name}: {here:?}\ninstead of {there:?}"));
        Err(told.collect::<Vec<_>>().join("\n"))
    }
}

/// Every file with the id of the session taken out of its name and its content.
pub fn files(place: &Place, id: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (path, bytes) in place.contents() {
        let text = String::from_utf8_lossy(&bytes).replace(id, "ID");
        let content = match path.rsplit('/').next().unwrap_or_default() {
            // They come to be at the first time that they are of use.
            "steps.lock" | "export.lock" => continue,
            // It comes when the tail has grown, which a line about what was cut off adds to.
            name if name.starts_with("snapshot") => continue,
            // They tell times, or are only of the moment.
            "activity.jsonl" | "lock" | "report.json" | "report.md" => String::new(),
            "state.json" | "manifest.json" | "project.json" => text
                .lines()
                .filter(|line| !line.contains("Time\"") && !line.contains("lastUpdated"))
                .collect(),
            _ => text,
        };
        all.insert(path.replace(id, "ID"), content);
    }
    all
}
