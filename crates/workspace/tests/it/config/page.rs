//! The page on settings, `docs/settings.md`: every key with its type, its default and what it does, as the schema says it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use workspace::config::json_schema;

const HEAD: &str = "\
# Settings

In `.taskmaster/config.json` of the project, and your own in `~/.taskmaster/config.json`; all optional, comments allowed. Of a rule the strictest counts that any of
them gives, and the environment (`TRAMLINE_EVIDENCE_REQUIRE` for `evidence.require`, and so on) weakens none: [whose settings count](evidence.md#whose-settings-count).

```console
$ tm config set evidence.require reported      # in the project; with --user in your own
$ tm config get evidence.require
$ tm config show --origin                      # all of them, and where each comes from
```

A run keeps the settings it was started with. An editor that knows JSON Schema completes and checks them by [config.schema.json](../schemas/config.schema.json). This page is made from it:
`UPDATE_SCHEMAS=1 cargo test -p workspace` writes it anew.
";

/// What a reference stands for.
fn resolved<'s>(schema: &'s Value, of: &'s Value) -> &'s Value {
    let name = of["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(of, |name| &schema["$defs"][name])
}

/// The values that a key may have, as a reader takes them in.
fn values(schema: &Value, of: &Value) -> String {
    let whole = resolved(schema, of);
    let quoted = |value: &Value| {
        format!(
            "`{}`",
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        )
    };
    if let Some(values) = whole["enum"].as_array() {
        return values.iter().map(quoted).collect::<Vec<_>>().join(", ");
    }
    for kind in ["oneOf", "anyOf"] {
        if let Some(kinds) = whole[kind].as_array() {
            let kinds = kinds.iter().map(|kind| match &kind["const"] {
                Value::Null => values(schema, kind),
                value => quoted(value),
            });
            return kinds.collect::<Vec<_>>().join(", ");
        }
    }
    match &whole["type"] {
        Value::String(name) if name == "array" => {
            format!("list of {}", values(schema, &whole["items"]))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => String::new(),
    }
}

/// The rows of a section and of those in it.
fn add(schema: &Value, section: &Value, before: &str, default: &Value, text: &mut String) {
    for (key, of) in section["properties"].as_object().into_iter().flatten() {
        let key = format!("{before}{key}");
        let default = default.get(key.rsplit('.').next().unwrap_or_default());
        let default = default
            .or_else(|| of.get("default"))
            .unwrap_or(&Value::Null);
        let whole = resolved(schema, of);
        if whole["properties"].is_object() {
            add(schema, whole, &format!("{key}."), default, text);
            continue;
        }
        let what = of["description"]
            .as_str()
            .or_else(|| whole["description"].as_str());
        let what = what
            .unwrap_or_default()
            .replace('\n', " ")
            .replace('|', "\\|");
        let values = values(schema, of);
        let _ = writeln!(text, "| `{key}` | {values} | `{default}` | {what} |");
    }
}

fn page() -> String {
    let schema = json_schema();
    let mut text = HEAD.to_owned();
    for (name, of) in schema["properties"].as_object().unwrap() {
        let section = resolved(&schema, of);
        if !section["properties"].is_object() {
            continue;
        }
        let what = of["description"].as_str().unwrap_or_default();
        let _ = write!(
            text,
            "\n## {name}\n\n{what}\n\n| setting | values | default | |\n|---|---|---|---|\n"
        );
        add(
            &schema,
            section,
            &format!("{name}."),
            &of["default"],
            &mut text,
        );
    }
    text
}

#[test]
fn the_page_says_what_the_schema_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let now = page();
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "run the tests once with UPDATE_SCHEMAS=1 to write docs/settings.md"
    );
}
