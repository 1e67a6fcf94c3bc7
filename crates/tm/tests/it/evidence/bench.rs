//! Benches and kept trees, as a person looks after them.

use serde_json::json;

use super::stage::{CODE, Stage, VERIFIED_RED};

#[test]
fn a_bench_is_tried_listed_and_removed() {
    let stage = Stage::new("");
    let list = || stage.tm(&["bench", "show"]).ok();
    assert_eq!(list(), json!({ "benches": [], "trees": [] }));
    // The work as it stands, and a commit: nothing is recorded.
    stage.test("spaces");
    let work = stage.tm(&["bench", "run"]);
    assert_eq!(
        (work.status, &work.json()["counts"]["failed"]),
        (3, &json!(1))
    );
    assert_eq!(
        work.json()["failing"][0].as_str(),
        Some("spaces test_spaces"),
        "{work:#?}"
    );
    let head = stage.tm(&["bench", "run", "HEAD"]).ok();
    assert_eq!(head["counts"]["passed"], 2, "{head:#}");
    assert_eq!(stage.tm(&["bench", "run", "none"]).code(), "not_found");
    assert_eq!(list()["benches"][0]["inUse"], false);
    let removed = stage.tm(&["bench", "remove"]).ok();
    assert_eq!(removed["benches"][0]["removed"], true, "{removed:#}");
    assert_eq!(list()["benches"], json!([]));
}

/// What a run of today needs stays; what ended goes.
#[test]
fn what_tests_left_is_cleaned_up() {
    let stage = Stage::new("");
    stage.begin("--verify");
    stage.accepted(VERIFIED_RED);
    let clean = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        stage.tm(&words).ok()
    };
    let young = clean("clean");
    assert_eq!(young, json!({ "benches": [], "trees": [] }));
    // Trees of a run that goes on are kept, however old.
    let trial = clean("clean --days 0 --dry-run");
    assert_eq!(trial["benches"][0]["removed"], false, "{trial:#}");
    assert_eq!(trial["trees"], json!([]));
    stage.auto("abort").ok();
    let cleaned = clean("clean --days 0");
    assert_eq!(cleaned["benches"][0]["removed"], true, "{cleaned:#}");
    assert_eq!(cleaned["trees"][0]["status"], "aborted", "{cleaned:#}");
    assert_eq!(stage.git(&["for-each-ref", "refs/tramline/trees"]), "");
    assert!(!stage.path(CODE).exists());
}

/// What the settings bring to the bench is what git ignores, and is there.
#[test]
fn what_is_brought_to_the_bench_is_named_where_it_cannot_be() {
    let bench = r#""bench": {"copy": [COPY], "link": [LINK]}"#;
    let files = [(".gitignore", "lent\ncopied\n")];
    let stage = Stage::with("", &files);
    stage.write("lent/data", "");
    stage.write("copied", "");
    let run = |copy: &str, link: &str| {
        let bench = bench.replace("COPY", copy).replace("LINK", link);
        let test = r#""test": {"command": "sh run.sh"}"#;
        stage.write(".taskmaster/config.json", format!("{{{test}, {bench}}}"));
        stage.tm(&["bench", "run"])
    };
    for (copy, link, named) in [
        (r#""src""#, "", "bench.copy"),
        ("", r#""src/words.sh""#, "bench.link"),
        (r#""none""#, "", "`none`"),
        ("", r#""none/""#, "`none/`"),
        (r#""../x""#, "", "`../x`"),
        ("", r#""/etc/hostname""#, "`/etc/hostname`"),
    ] {
        let refused = run(copy, link);
        assert_eq!(refused.code(), "setup_needed", "{refused:#?}");
        assert!(refused.message().contains(named), "{refused:#?}");
    }
    run(r#""copied""#, r#""lent/""#).ok();
    // Links are copied as they are, wherever they lead, and what waits for somebody is left out.
    stage.delete("copied");
    stage.write("copied/a/data", "");
    std::os::unix::fs::symlink("..", stage.path("copied/a/up")).unwrap();
    std::os::unix::fs::symlink("nowhere", stage.path("copied/lost")).unwrap();
    let pipe = stage.path("copied/pipe");
    let made = stage.process("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    run(r#""copied""#, "").ok();
}

/// What fails on the bench alone is told at the start: else nobody would see it break.
#[test]
fn a_test_that_fails_on_the_bench_alone_is_told_at_the_start() {
    let test = "test_data() { [ -f data ]; }\n";
    let files = [(".gitignore", "data\n"), ("tests/data_test.sh", test)];
    let stage = Stage::with("", &files);
    stage.write("data", "");
    let told = stage.begin("--verify")["warnings"].to_string();
    assert!(told.contains("test_data"), "{told}");
}
