//! Whether every refusal of a run, of its reports and of the ways out has its story.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A person decides, and the answer says what.
const PERSON: [&str; 15] = [
    "approval_too_weak",
    "beyond_settings",
    "changed_since",
    "declined",
    "definition_fault",
    "gate_closed",
    "needs_confirmation",
    "needs_person",
    "no_signers",
    "not_possible",
    "response_unreadable",
    "signature_invalid",
    "stuck",
    "unfit_files",
    "untrusted",
];

/// The caller's own words name something that is not there, or is done: the answer says what there is.
const OWN_WORDS: [&str; 17] = [
    "all_done",
    "already_pushed",
    "already_there",
    "bad_dependencies",
    "bad_status",
    "bad_value",
    "branch_taken",
    "nothing_in_hand",
    "nothing_learned",
    "read_only",
    "run_over",
    "too_large",
    "unit_not_done",
    "unknown_item",
    "unmerged_work",
    "unsafe_path",
    "which_document",
];

/// Another process, the machine, or a definition of somebody's own stands in the way; tests that kill, those of evidence, and those
/// of other workflows come by them.
const ELSEWHERE: [&str; 10] = [
    "dependents_begun",
    "flaky",
    "green_requires_passing_tests",
    "interrupted",
    "item_has_no_route",
    "not_a_repository",
    "not_found",
    "nothing_before",
    "setup_needed",
    "which_one",
];

/// The sections of that list in which somebody is refused who has work in hand.
const SECTIONS: [&str; 5] = [
    "Before a run",
    "Reports",
    "Ways out",
    "Sessions",
    "Sessions of skills",
];

/// The codes in these sections of the list of codes that somebody is refused with.
fn listed() -> BTreeSet<String> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/codes.md");
    let list = fs::read_to_string(list).unwrap();
    let mut codes = BTreeSet::new();
    let mut is_meant = false;
    for line in list.lines() {
        if let Some(section) = line.strip_prefix("## ") {
            is_meant = SECTIONS.contains(&section);
        }
        let mut cells = line.split(" | ");
        let (Some(names), Some(status)) = (cells.next(), cells.next()) else {
            continue;
        };
        if is_meant && (status == "policy" || status.contains(['3', '5', '6'])) {
            let names = names.split('`').skip(1).step_by(2);
            codes.extend(names.map(str::to_owned));
        }
    }
    codes
}

#[test]
fn each_code_has_a_story() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/walk");
    let stories = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let stories = stories.filter(|file| file.file_name().unwrap() != "complete.rs");
    let stories: String = stories
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let is_told = |code: &str| stories.contains(&format!("\"{code}\""));
    let codes = listed();
    assert!(codes.len() > 80, "{codes:?}");
    let others = [&PERSON[..], &OWN_WORDS, &ELSEWHERE].concat();
    let without: Vec<&String> = codes
        .iter()
        .filter(|code| !is_told(code) && !others.contains(&code.as_str()))
        .collect();
    assert!(without.is_empty(), "no story goes on from {without:?}");
    let gone: Vec<&&str> = others
        .iter()
        .filter(|code| !codes.contains(**code))
        .collect();
    assert!(gone.is_empty(), "there are no such codes: {gone:?}");
}
