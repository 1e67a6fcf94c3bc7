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

fn check(given: Value) -> Result<Value, (&'static str, String)> {
    let profile = Scene::new(&format!("{LEAST}{INPUTS}")).load().unwrap();
    let Value::Object(given) = given else {
        panic!("inputs are an object");
    };
    profile
        .check_inputs(&given)
        .map(Value::Object)
        .map_err(|error| told(&error))
}

#[test]
fn texts_become_values_of_their_types_and_the_rest_is_filled_in() {
    assert_eq!(
        check(json!({
            "request": "a\nb", "strict": "true", "level": " 2 ", "share": "0.5", "parts": "a, b,", "names": "[\"x,y\"]",
        }))
        .unwrap(),
        json!({
            "request": "a\nb", "language": "rust", "strict": true, "level": 2, "share": 0.5, "parts": ["a", "b"],
            "names": ["x,y"],
        })
    );
    assert_eq!(
        check(json!({ "request": "x", "strict": false, "level": 1, "share": 3, "parts": ["a"], "names": null })).unwrap(),
        json!({
            "request": "x", "language": "rust", "strict": false, "level": 1, "share": 3, "parts": ["a"], "names": [],
        })
    );
}

#[test]
fn what_may_be_left_out_may_be_given_as_nothing() {
    let values = check(json!({ "request": "x", "language": "", "parts": "" })).unwrap();
    assert_eq!(values["language"], "");
    assert_eq!(values["parts"], json!([]));
}

#[test]
fn all_faults_are_told_at_once_with_what_is_possible() {
    let (code, text) = check(json!({
        "langage": "rust", "language": "go", "strict": "yes", "level": "3", "share": "NaN", "parts": "a,c", "names": 7,
    }))
    .unwrap_err();
    assert_eq!(code, "bad_input");
    insta::assert_snapshot!(text, @r#"there is no input `langage`; the input `request` is missing; the input `language` cannot be `go`: it is one of rust, python; the input `strict` takes true or false, not `yes`; the input `level` cannot be `3`: it is one of 1, 2; the input `share` takes a number, not `NaN`; the input `parts` cannot be `a,c`: it is one of a, b; the input `names` takes a list of texts, not `7` | did you mean `language`?; give request=… with text; give language= one of rust, python; give strict=true or strict=false; give level= one of 1, 2; give share=… with a number; give parts= one of a, b; give names=a,b or names=["a","b"]"#);
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
        ("share", json!("inf")),
        ("share", json!(true)),
        ("names", json!("[1]")),
        ("names", json!("[\"a\"")),
        ("names", json!([1])),
        ("parts", json!(["a", "z"])),
        ("request", json!(["a"])),
        ("request", json!(" \n ")),
        ("request", json!("")),
    ] {
        let mut given = json!({ "request": "x" });
        given[name] = value.clone();
        let (code, text) = check(given).expect_err(&format!("{name} {value}"));
        assert_eq!(code, "bad_input", "{text}");
        assert!(text.contains(&format!("`{name}`")), "{text}");
    }
}

#[test]
fn names_that_are_only_unknown_have_a_code_of_their_own() {
    let (code, _) = check(json!({ "request": "x", "zzz": "1" })).unwrap_err();
    assert_eq!(code, "unknown_input");
    let profile = Scene::new(LEAST).load().unwrap();
    let given = [("a".to_owned(), json!("b"))].into_iter().collect();
    let error = profile.check_inputs(&given).unwrap_err();
    assert!(error.suggestion().contains("takes no inputs"), "{error:?}");
}

#[test]
fn what_is_too_long_is_refused_and_not_shown() {
    let level = "y\u{202e}\u{1b}[31m".repeat(9999);
    for given in [
        json!({ "request": "x".repeat(256 * 1024 + 1) }),
        json!({ "request": "x", "level": level }),
    ] {
        let (code, text) = check(given).unwrap_err();
        assert_eq!(code, "bad_input");
        assert!(
            text.len() < 1000 && !text.contains(['\u{1b}', '\u{202e}']),
            "{text}"
        );
    }
}
