//! The page on settings, `docs/settings.md`: every key with its type, its default and what it does, as the schema says it.

use std::fmt::Write as _;

use workspace::config::{Setting, sections};

const HEAD: &str = "\
# Settings

In `.taskmaster/config.json` of the project, and your own in `~/.taskmaster/config.json`; all optional. They are strict JSON: a comment is a key that begins with `//`. Of a rule the strictest counts that any of
them gives, and the environment (`TRAMLINE_EVIDENCE_REQUIRE` for `evidence.require`, and so on) weakens none: [whose settings count](profiles.md#whose-settings-count).

```console
$ tm config set evidence.require reported      # in the project; with --user in your own
$ tm config get evidence.require
$ tm config show --origin                      # all of them, and where each comes from
```

A run keeps the settings it was started with. An editor that knows JSON Schema completes and checks them by [config.schema.json](../schemas/config.schema.json). This page is made from it:
`UPDATE_SCHEMAS=1 cargo test -p workspace` writes it anew.
";

fn page() -> String {
    let mut text = HEAD.to_owned();
    for (name, section) in sections() {
        let what = section.description;
        let _ = write!(
            text,
            "\n## {name}\n\n{what}\n\n| setting | values | default | |\n|---|---|---|---|\n"
        );
        for setting in section.settings {
            let Setting {
                key,
                values,
                default,
                description,
            } = setting;
            let description = description.replace('|', "\\|");
            let _ = writeln!(text, "| `{key}` | {values} | `{default}` | {description} |");
        }
    }
    text
}

#[test]
fn the_page_says_what_the_schema_says() {
    crate::up_to_date("docs/settings.md", &page());
}
