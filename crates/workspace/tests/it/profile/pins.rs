//! A session keeps the profile that it began with.

use std::fs;

use serde_json::json;
use workspace::profile::{Phase, Profile, Source};

use super::{LEAST, Scene, load, view};

#[test]
fn a_pinned_profile_is_what_it_was() {
    let scene = Scene::new(&format!(
        "{LEAST}inputs: {{ a: {{ type: int, default: 3 }} }}\nresponses: {{ planning: {{ command: [x, y] }} }}\n"
    ))
    .file("review.md", "{% include \"part.md\" %}")
    .file("part.md", "part {{ inputs.a }}")
    .file("x", "not a text of the prompts");
    let profile = scene.load().unwrap();
    let builtin = load(scene.folder.path(), "generic").unwrap();
    fs::remove_dir_all(scene.profile_folder()).unwrap();
    for was in [&profile, &builtin] {
        let pin = was.pin().unwrap();
        assert!(!String::from_utf8_lossy(&pin).contains("not a text of the prompts"));
        let is = Profile::from_pin(&pin).unwrap();
        let look = |it: &Profile| (it.hash.clone(), it.name.clone(), it.title.clone());
        assert_eq!(look(&is), look(was));
        assert_eq!((&is.inputs, &is.responses), (&was.inputs, &was.responses));
        assert_eq!((&is.source, is.pin().unwrap()), (&was.source, pin));
    }
    assert!(matches!(profile.source, Source::Project { .. }));
    let again = Profile::from_pin(&profile.pin().unwrap()).unwrap();
    let prompt = again.render(Phase::Review, &view(json!({ "a": 3 })));
    assert_eq!(prompt.unwrap(), "part 3");
}

#[test]
fn what_is_no_pin_is_told() {
    let good = Scene::new(LEAST).load().unwrap().pin().unwrap();
    let good = String::from_utf8(good).unwrap();
    for bad in [
        String::new(),
        "{}".to_owned(),
        "nonsense".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\":1", "\"version\":9"),
        good.replace("tramline-profile: 1", "tramline-profile: 7"),
        good.replace("\"planning.md\":", "\"planing.md\":"),
        "[".repeat(100_000),
    ] {
        let error = Profile::from_pin(bad.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "journal_damaged", "{bad}");
    }
    let error = Profile::from_pin(good.replace("\"own\"", "\"../x\"").as_bytes()).unwrap_err();
    assert_eq!(error.code(), "bad_name");
}
