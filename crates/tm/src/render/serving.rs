//! A server that listens, as a person reads it.

use serde_json::Value;

use super::plain;

/// Where it listens, and what a client needs.
pub fn serving(said: &Value) -> String {
    let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut out = format!(
        "Serving MCP on {}\nToken: in {}; clients show it as `Authorization: Bearer TOKEN`\n",
        text("url"),
        plain(text("tokenFile"))
    );
    for root in said
        .get("roots")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        out.push_str("Projects below ");
        out.push_str(&plain(root.as_str().unwrap_or_default()));
        out.push('\n');
    }
    out.push_str("Stop it with Ctrl-C\n");
    out
}
