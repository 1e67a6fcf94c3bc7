use journal::layout::{MAX_NAME_BYTES, Name, NameFlaw};
use proptest::prelude::*;

#[test]
fn names_that_can_stand_in_a_path_are_taken_and_others_refused_with_the_reason() {
    let long = "n".repeat(MAX_NAME_BYTES + 1);
    for name in [
        "master",
        "v1.2",
        "a b",
        "ärger",
        "日本",
        "_x",
        "a__1",
        &long[1..],
    ] {
        assert_eq!(Name::check("tag", name).unwrap().as_str(), name);
    }
    for (name, flaw) in [
        ("", NameFlaw::Empty),
        (long.as_str(), NameFlaw::TooLong),
        ("a/b", NameFlaw::Separator),
        ("a\\b", NameFlaw::Separator),
        ("..", NameFlaw::DotDot),
        ("a..b", NameFlaw::DotDot),
        ("-rf", NameFlaw::LeadingDash),
        (".", NameFlaw::LeadingDot),
        (".git", NameFlaw::LeadingDot),
        ("a\0b", NameFlaw::Control),
        ("a\nb", NameFlaw::Control),
        ("a\u{85}b", NameFlaw::Control),
        (" a", NameFlaw::Invisible),
        ("a ", NameFlaw::Invisible),
        ("a\u{a0}b", NameFlaw::Invisible),
        ("a\u{200b}b", NameFlaw::Invisible),
        ("a\u{202e}b", NameFlaw::Invisible),
        ("\u{feff}a", NameFlaw::Invisible),
        ("a\u{e0041}", NameFlaw::Invisible),
    ] {
        let refused = Name::check("session name", name).unwrap_err();
        assert_eq!(refused.flaw, flaw, "{name:?}");
        assert!(refused.to_string().starts_with("session name "));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_checked_name_is_one_component_below_its_folder(name in any::<String>()) {
        if let Ok(name) = Name::check("tag", &name) {
            let folder = std::path::Path::new("/base");
            let path = folder.join(name.as_str());
            prop_assert_eq!(path.parent(), Some(folder));
            prop_assert_eq!(path.file_name().unwrap(), name.as_str());
            prop_assert_eq!(path.components().count(), 3);
        }
    }
}
