use proptest::collection::vec;
use proptest::prelude::*;

use super::super::entry::Field;
use super::super::text::tests::change;
use super::*;

const SERVER: Entry = Entry(&[
    ("command", Field::Program),
    ("args", Field::Arguments(&["mcp", "--tools", "autopilot"])),
]);
const SECTION: &[&str] = &["mcpServers"];

/// A marked row, in which `ARGS` stands for the arguments, before and after.
fn row(marked: &str) -> (String, String) {
    change(&marked.replace("ARGS", r#""args": ["mcp", "--tools", "autopilot"]"#))
}

fn with(text: &str) -> String {
    with_entry(Some(text), SECTION, &SERVER).unwrap_or_else(|error| panic!("{error:?}: {text:?}"))
}

/// Puts the entry in and takes it out again; gives the text with it.
fn there_and_back(text: &str) -> String {
    let new = with(text);
    assert!(has_entry(&new, SECTION).unwrap(), "{text:?} {new:?}");
    assert_eq!(with(&new), new, "{text:?}: a second time changes nothing");
    let left = without_entry(&new, SECTION).unwrap();
    assert_eq!(left, Remainder::Text(text.to_owned()), "{new:?}");
    new
}

#[test]
fn a_new_document_is_one_that_people_would_write() {
    let new = with_entry(None, SECTION, &SERVER).unwrap();
    assert_eq!(
        new,
        "{\n  \"mcpServers\": {\n    \"tramline\": {\n      \"command\": \"tm\",\n      \"args\": [\"mcp\", \"--tools\", \"autopilot\"]\n    }\n  }\n}\n"
    );
    assert_eq!(without_entry(&new, SECTION).unwrap(), Remainder::Nothing);
}

#[test]
fn a_member_goes_behind_the_last_in_the_form_of_the_file() {
    for marked in [
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {}«,» // first«\n\t\t\"tramline\": {\n\t\t\t\"command\": \"tm\",\n\t\t\tARGS\n\t\t}»\n\t}\n}",
        "{\"mcpServers\": {\"a\": {}«, \"tramline\": {\"command\": \"tm\", ARGS}»}}",
        "{\r\n    \"x\": 1,«\r\n    \"mcpServers\": {\r\n        \"tramline\": {\r\n            \"command\": \"tm\",\r\n            ARGS\r\n        }\r\n    },»\r\n}\r\n",
        "{\n  \"mcpServers\": {«\"tramline\": {\"command\": \"tm\", ARGS}»}\n}\n",
    ] {
        let (before, after) = row(marked);
        assert_eq!(there_and_back(&before), after);
    }
}

/// What the property below finds seldom or never.
#[test]
fn awkward_documents_come_back_to_the_byte() {
    for text in [
        "",
        " \t",
        "// nothing yet",
        "{\r\n\r\n}\r\n",
        "{ /* why */ }",
        "{\"mcpServers\": {\n  }\n}",
        "{\"a\":1 /* one */ , /* two */ }",
        "{\"a\":1 // one\r\n , // two\r\n}",
        "{\"a\":1 // one\r}",
        "{\n  \"a\": 1, \"b\": 2\n\n\n  // end\n}// after",
        "{\"mcpServers\": {\"other\": {\"command\": \"x\"},\n}, \"z\": {\"y\": [1, 2,],},}",
        "{\"a\": 1, \"a\": 2}",
        "{\"mcpServers\": {\"x\": 1, \"x\": 2}}",
    ] {
        there_and_back(text);
    }
}

#[test]
fn an_entry_that_is_there_is_set_right_and_keeps_what_is_its_users() {
    for marked in [
        "{\"command\": \"/opt/tm\", \"env\": {\"A\": \"1\"}, ‹\"args\": [\"x\"]›«ARGS» /* ? */ }",
        "{\n\t\t\"cwd\": \"x\", // mine\n\t\t\"disabled\": true«,» // yes«\n\t\t\"command\": \"tm\",\n\t\tARGS»\n\t}",
        "{\r\n  \"comm\\u0061nd\": \"‹npx›«tm»\",\r\n  \"timeout\": 5,«\r\n  ARGS,»\r\n}",
        "{\"command\": ‹null›«\"tm\"», ‹\"args\": {}›«ARGS», \"trust\": true}",
        "{\n      \"command\": \"‹x›«tm»\"«,\n      ARGS»\n    }",
        "‹null›«{\"command\": \"tm\", ARGS}»",
        // The same in another form is no change.
        "{\"args\":[\"mcp\",\"--tools\",\"autopilot\",],\"command\":\"tm\"}",
    ] {
        let whole = "{\"mcpServers\": {\"tramline\": ENTRY, \"b\": 1}}";
        let (before, after) = row(&whole.replace("ENTRY", marked));
        assert_eq!(with(&before), after);
        assert_eq!(with(&after), after);
        let left = without_entry(&after, SECTION).unwrap();
        let expected = "{\"mcpServers\": {\"b\": 1}}";
        assert_eq!(left, Remainder::Text(expected.to_owned()));
    }
    let address = "{\"mcpServers\": {\"tramline\": {\"type\": \"http\", \"url\": \"http://localhost:1/mcp\"}}}";
    assert_eq!(with(address), address);
    assert!(calls_address(address, SECTION).unwrap());
}

#[test]
fn every_field_of_every_client_may_be_chosen_where_that_does_no_harm() {
    const ALL: Entry = Entry(&[
        ("type", Field::Text("local")),
        ("command", Field::CommandLine(&["mcp"])),
        ("enabled", Field::Default("true")),
        ("tools", Field::Default("[\"*\"]")),
    ]);
    for marked in [
        r#"{"tramline": {"tools": ["a"], "enabled": false, "type": "‹stdio›«local»", "command": ["~/tm", "‹x›«mcp»"]}}"#,
        r#"{"tramline": {"command": [‹"npx", ›"tm", "mcp"]«, "type": "local", "enabled": true, "tools": ["*"]»}}"#,
    ] {
        let (before, after) = change(marked);
        for text in [&before, &after] {
            assert_eq!(with_entry(Some(text), &[], &ALL).unwrap(), after);
        }
    }
}

#[test]
fn an_entry_that_was_moved_is_still_taken_out() {
    for marked in [
        "{\"mcpServers\": {‹\"tramline\": {}, ›\"b\": 1}}",
        "{\"mcpServers\": {\"a\": 1, ‹\"tramline\": {}, ›\"b\": 1}}",
        "{\"mcpServers\": {\n  ‹\"tramline\": {},\n  ›\"b\": 1\n}}",
        "{\"mcpServers\": {\n  // ours\n  ‹\"tramline\": {}, ›\"b\": 1\n}}",
        "{\"mcpServers\": {\"a\": 1 // x\n  ‹, \"tramline\": {}› }}",
        "{\"mcpServers\": {\n  \"a\": 1‹,›\n  ‹\"tramline\": {}› // ours\n}}",
        "{‹\"mcpServers\": { \"tramline\": {} }, ›\"b\": 1}",
        "‹{ \"mcpServers\": { \"tramline\": {} } }›",
        "{\"mcpServers\": { /* keep */ ‹\"tramline\": {}› }}",
        "{\"mcpServers\": {‹\"tramline\": {}› /* x */ ‹,› \"b\": 1}}",
    ] {
        let (before, after) = change(marked);
        assert!(parse(&after).is_ok(), "{after:?}");
        let left = without_entry(&before, SECTION).unwrap();
        assert_eq!(left, Remainder::Text(after), "{before:?}");
    }
    let text = "{//\n\"mcpServers\": {//\n\"tramline\":1/* a\n b */,\n\"b\":{}}}";
    let Remainder::Text(left) = without_entry(text, SECTION).unwrap() else {
        panic!("{text:?}");
    };
    assert!(parse(&left).is_ok(), "{left:?}");
    for members in ["", "\"mcpServers\": []", "\"mcpServers\": {\"b\": 1}"] {
        let left = without_entry(&format!("{{{members}}}"), SECTION);
        assert_eq!(left.unwrap(), Remainder::Unchanged);
    }
}

#[test]
fn what_cannot_be_used_is_told_with_its_place() {
    for (text, line, column) in [
        ("{", 1, 1),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9),
        ("{'a': 1}", 1, 2),
        ("[]", 1, 1),
        ("{\n \"mcpServers\": []}", 2, 16),
        ("{\"mcpServers\": null}", 1, 16),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", 1, 20),
        (
            "{\"mcpServers\": {\"tramline\": 1, \"tramline\": 2}}",
            1,
            32,
        ),
        ("/* open", 1, 1),
        ("{} {}", 1, 4),
    ] {
        let error = with_entry(Some(text), SECTION, &SERVER).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(with_entry(Some(&deep), SECTION, &SERVER).is_err());
}

#[test]
fn a_section_may_lie_deeper() {
    let section = &["mcp", "servers"];
    for text in [
        "{}",
        "{\n  \"mcp\": {\n  }\n}",
        "{\n  \"mcp\": {\n    \"servers\": {}\n  }\n}",
        "// x",
    ] {
        let new = with_entry(Some(text), section, &SERVER).unwrap();
        assert!(has_entry(&new, section).unwrap());
        assert_eq!(
            without_entry(&new, section).unwrap(),
            Remainder::Text(text.to_owned()),
            "{new}"
        );
    }
    for (inside, holds) in [
        ("\"servers\": {\"type\": {}}", true),
        ("\"servers\": {\"type\": \"local\"}", false),
        ("", false),
    ] {
        let text = format!("{{\"mcp\": {{{inside}}}}}");
        assert_eq!(holds_servers(&text, section), holds, "{text}");
    }
}

/// White space and comments, as they stand between tokens.
fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\t".to_owned()),
        1 => "[a-z,{}\"]{0,4}".prop_map(|text| format!("/*{text}*/")),
        1 => Just("/* a\n b */".to_owned()),
        1 => Just("/* a\r\n */".to_owned()),
        1 => "[a-z,{}\"/*]{0,4}".prop_map(|text| format!("//{text}\n")),
        1 => "[a-z,]{0,4}".prop_map(|text| format!("// {text}\r\n")),
    ];
    vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn list(
    open: char,
    close: char,
    members: impl Strategy<Value = Vec<(String, String, String)>>,
) -> impl Strategy<Value = String> {
    (gap(), members, any::<bool>(), gap(), gap()).prop_map(
        move |(first, members, trailing, before, last)| {
            let mut text = format!("{open}{first}");
            let count = members.len();
            for (at, (member, behind, next)) in members.into_iter().enumerate() {
                text.push_str(&member);
                if at + 1 < count {
                    text.extend([behind.as_str(), ",", next.as_str()]);
                } else if trailing {
                    text.extend([before.as_str(), ","]);
                }
            }
            format!("{text}{last}{close}")
        },
    )
}

/// A member of an object, and what stands before and after the comma behind it.
fn named(
    key: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = (String, String, String)> {
    (key, gap(), gap(), value, gap(), gap()).prop_map(
        |(key, before, after, value, behind, next)| {
            (format!("\"{key}\"{before}:{after}{value}"), behind, next)
        },
    )
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just("\"}, // \\\" /*\"".to_owned()),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        let element = (inner.clone(), gap(), gap());
        prop_oneof![
            list('[', ']', vec(element, 0..3)),
            list('{', '}', vec(named("[a-e]", inner), 0..3)),
        ]
    })
}

/// A document whose root is an object, and may hold servers.
fn document_text() -> impl Strategy<Value = String> {
    let servers = list('{', '}', vec(named("[a-e]", value()), 0..3));
    let members = (
        vec(named("x", value()), 0..2),
        proptest::option::of(named("mcpServers", servers)),
        vec(named("y", value()), 0..2),
    )
        .prop_map(|(mut members, servers, last)| {
            members.extend(servers);
            members.extend(last);
            members
        });
    let root = list('{', '}', members);
    let mark = prop_oneof![4 => Just(""), 1 => Just("\u{feff}")];
    prop_oneof![
        8 => (mark.clone(), gap(), root, gap()).prop_map(|(mark, before, root, after)| format!("{mark}{before}{root}{after}")),
        1 => (mark, gap()).prop_map(|(mark, gap)| format!("{mark}{gap}")),
    ]
}

/// The entry as somebody else may have placed it: instead of one of the members called `x`.
fn moved(text: &str, at: usize) -> String {
    let parts = text.split_inclusive("\"x\"").enumerate();
    let named = parts.map(|(index, part)| match part.strip_suffix("\"x\"") {
        Some(before) if index == at => format!("{before}\"tramline\""),
        _ => part.to_owned(),
    });
    named.collect()
}

/// Whether `text` is what is left of `new` when some of its bytes go.
fn is_part_of(text: &str, new: &str) -> bool {
    let mut rest = new.bytes();
    text.bytes().all(|wanted| rest.any(|found| found == wanted))
}

/// A value without its form.
fn plain(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        Value::NumberLit(number) => number.value.into(),
        Value::BooleanLit(flag) => flag.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(list) => list.elements.iter().map(plain).collect(),
        Value::Object(object) => object
            .properties
            .iter()
            .map(|member| (member.name.as_str().to_owned(), plain(&member.value)))
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_and_out_again_changes_no_byte(text in document_text()) {
        let new = with(&text);
        prop_assert!(is_part_of(&text, &new), "{new:?}");
        prop_assert!(has_entry(&new, SECTION).unwrap());
        prop_assert_eq!(&with(&new), &new);
        prop_assert_eq!(without_entry(&new, SECTION).unwrap(), Remainder::Text(text));
    }

    #[test]
    fn what_is_left_can_always_be_read(text in document_text(), at in 0usize..3) {
        let moved = moved(&text, at);
        if let Ok(Remainder::Text(left)) = without_entry(&moved, &[]) {
            let (_, body) = without_mark(&left);
            prop_assert!(parse(body).is_ok(), "{moved:?} -> {left:?}");
            prop_assert!(!has_entry(&left, &[]).unwrap(), "{left:?}");
        }
    }

    #[test]
    fn an_entry_in_any_form_is_completed_and_keeps_the_rest(
        text in document_text(),
        at in 0usize..4,
        names in proptest::sample::subsequence(vec!["command", "args", "env"], 3),
    ) {
        // The entry as somebody may have written it: one of the members, with other names for some of its own.
        let mut moved = moved(&text, at);
        for (old, name) in ["\"a\"", "\"b\"", "\"c\""].iter().zip(names) {
            moved = moved.replace(old, &format!("\"{name}\""));
        }
        let said = |text: &str| {
            let (_, body) = without_mark(text);
            let mut value = parse(body).unwrap().map_or(serde_json::Value::Null, |value| plain(&value));
            if let Some(entry) = value.get_mut(NAME).and_then(serde_json::Value::as_object_mut) {
                entry.remove("command");
                entry.remove("args");
            }
            value
        };
        if let Ok(new) = with_entry(Some(&moved), &[], &SERVER) {
            prop_assert!(has_entry(&new, &[]).unwrap());
            prop_assert_eq!(&with_entry(Some(&new), &[], &SERVER).unwrap(), &new);
            let (before, after) = (said(&moved), said(&new));
            if before.get(NAME).is_some_and(serde_json::Value::is_object) {
                prop_assert_eq!(after, before, "{:?} {:?}", moved, new);
            }
        }
    }

    #[test]
    fn no_text_whatever_stops_the_program(
        text in "(\\PC|[\\[\\]{}:,\"/*\r\n]|\"mcpServers\":|\"tramline\":|\"command\":){0,40}",
    ) {
        let _ = with_entry(Some(&text), SECTION, &SERVER);
        let _ = without_entry(&text, SECTION);
    }
}
