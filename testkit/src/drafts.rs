//! What somebody writes in a session of skills before a skill is completed.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Writes the draft of the skill that is due, by what a session says of itself after a clear.
pub fn write_draft(brief: &Value) {
    let text = |name: &str| brief[name].as_str().unwrap_or_default();
    let number = brief["item"]["number"].to_string().replace('"', "");
    let clears = text("skill") == "collab-clear";
    if brief.get("item").is_none() || clears || text("unitId").is_empty() {
        return;
    }
    let name = match text("state").strip_prefix("rough-draft-") {
        Some("handoff") | None => "design.md".to_owned(),
        Some(kind) => format!("item-{number}-{kind}.md"),
    };
    let folder = Path::new(text("documents"));
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, format!("{before}\nOn {}.\n", text("unitId"))).unwrap();
}
