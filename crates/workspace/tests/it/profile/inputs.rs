//! What a session is given at its start.

use serde_json::{Value, json};

use super::{LEAST, Scene, told};

const INPUTS: &str = "inputs:
  request: { type: text, required: true }
  language: { type: string, default: rust, choices: [rust, python] }
  strict: { type: bool }
  level: { type: int, choices: [1, 2] }
  share: { type: number }
  parts: { type: list, choices: [a, b] }
  names: { type: list }
";

fn check(given: &Value) -> Result<Value, (&'static str, String)> {
    let profile = Scene::new(&format!("{LEAST}{INPUTS}")).load().unwrap();
    let checked = profile.check_inputs(given.as_object().unwrap());
    checked.map(Value::Object).map_err(|error| told(&error))
}

#[test]
fn texts_become_values_of_their_types_and_the_rest_is_filled_in() {
    for (given, expected) in [
        (
            json!({ "request": "a\nb", "strict": "true", "level": " 2 ", "share": "0.5", "parts": "a, b,", "names": "[\"x,y\"]" }),
            json!({ "request": "a\nb", "language": "rust", "strict": true, "level": 2, "share": 0.5, "parts": ["a", "b"], "names": ["x,y"] }),
        ),
        (
            json!({ "request": "x", "strict": false, "level": 1, "share": 3, "parts": ["a"], "names": null }),
            json!({ "request": "x", "language": "rust", "strict": false, "level": 1, "share": 3, "parts": ["a"], "names": [] }),
        ),
    ] {
        assert_eq!(check(&given).unwrap(), expected);
    }
    // What may be left out may be given as nothing.
    let values = check(&json!({ "request": "x", "language": "", "parts": "" })).unwrap();
    assert_eq!(
        (&values["language"], &values["parts"]),
        (&json!(""), &json!([]))
    );
}

#[test]
fn all_faults_are_told_at_once_with_what_is_possible() {
    let (code, text) = check(&json!({
        "langage": "rust", "language": "go", "strict": "yes", "level": "3", "share": "NaN", "parts": "a,c", "names": 7,
    }))
    .unwrap_err();
    assert_eq!(code, "usage");
    insta::assert_snapshot!(text, @r#"there is no input `langage`; the input `request` is missing; the input `language` cannot be `go`: it is one of rust, python; the input `strict` takes true or false, not `yes`; the input `level` cannot be `3`: it is one of 1, 2; the input `share` takes a number, not `NaN`; the input `parts` cannot be `a,c`: it is one of a, b; the input `names` takes a list of texts, not `7` | did you mean `language`?; give request=… with text; give language= one of rust, python; give strict=true or strict=false; give level= one of 1, 2; give share=… with a number; give parts= one of a, b; give names=a,b or names=["a","b"]"#);
    // Names that are only unknown have a code of their own.
    let (code, _) = check(&json!({ "request": "x", "zzz": "1" })).unwrap_err();
    assert_eq!(code, "usage");
    let profile = Scene::new(LEAST).load().unwrap();
    let error = profile.check_inputs(json!({ "a": "b" }).as_object().unwrap());
    assert_eq!(error.unwrap_err().code(), "usage");
}

#[test]
fn each_type_refuses_what_it_is_not() {
    for (name, value) in [
        ("language", json!("rust\nor so")),
        ("language", json!(1)),
        ("language", json!({})),
        ("strict", json!(1)),
        ("strict", json!("True")),
        ("level", json!("1.5")),
        ("level", json!(1.5)),
        ("level", json!("99999999999999999999")),
        ("level", json!("y\u{202e}\u{1b}[31m".repeat(9999))),
        ("share", json!("inf")),
        ("share", json!(true)),
        ("names", json!("[1]")),
        ("names", json!("[\"a\"")),
        ("names", json!([1])),
        ("parts", json!(["a", "z"])),
        ("request", json!(["a"])),
        ("request", json!(" \n ")),
        ("request", json!("")),
        ("request", json!("x".repeat(256 * 1024 + 1))),
    ] {
        let mut given = json!({ "request": "x" });
        given[name] = value.clone();
        let (code, text) = check(&given).expect_err(&format!("{name} {value}"));
        assert_eq!(code, "usage", "{text}");
        let is_plain = text.len() < 1000 && !text.contains(['\u{1b}', '\u{202e}']);
        assert!(is_plain && text.contains(&format!("`{name}`")), "{text}");
    }
}
