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
    out.push_str("Page for your browser: ");
    out.push_str(text("page"));
    out.push_str("\nStop it with Ctrl-C\n");
    out
}

/// Where the token of the servers is, and whether it is a new one.
pub fn token(answer: &Value) -> String {
    let file = plain(answer["tokenFile"].as_str().unwrap_or_default());
    if answer["rotated"] == true {
        format!(
            "New token: in {file}\nThe old one is no longer valid: clients have to be started again with the new one\n"
        )
    } else {
        format!(
            "Token: in {file}; clients show it as `Authorization: Bearer TOKEN`\nhelp: tm serve token --rotate replaces it\n"
        )
    }
}

/// Where the page is.
pub fn page(said: &Value) -> String {
    let link = said["page"].as_str().unwrap_or_default();
    let opened = if said["opened"] == true {
        "It opens in your browser; if not, open the address yourself."
    } else {
        "Open it in your browser."
    };
    let decides = if said["decides"] == true {
        ""
    } else {
        "\nThis is no terminal, so there one can look, and not decide."
    };
    format!(
        "{link}\n{opened} The address is good once, for ten minutes; Enter gives another one.{decides}\nStop it with Ctrl-C\n"
    )
}
