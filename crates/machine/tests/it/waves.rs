//! Sets that are cut into waves: what stands in which, why one was split, and what stays when they are cut again.

use serde_json::json;

use crate::driver::{Driver, stands, whole};
use crate::sets::{acting, end_wave, gathered, gathering, jobs, of_waves, waves};
use crate::tdd::code;

/// The text of a plan grows with its tasks; that of one task is bounded.
#[test]
fn many_jobs_fill_a_set_whatever_they_hold_together_but_none_holds_a_megabyte() {
    let touching = |id: String, files: &[String]| json!({ "id": id, "files": files });
    let files: Vec<String> = (0..100).map(|at| format!("src/file_{at}.rs")).collect();
    let long = ["x".repeat(200_000)];
    let mut jobs = vec![touching("many".to_owned(), &files)];
    jobs.extend((1..500).map(|at| touching(format!("job-{at}"), &files[..1])));
    jobs.extend((0..10).map(|at| touching(format!("long-{at}"), &long)));
    let mut driver = gathering();
    gathered(&mut driver, json!(jobs)).unwrap();
    assert_eq!(driver.counted("jobs", ["size"]), [510]);
    let jobs = json!([touching("a".to_owned(), &["x".repeat(2 << 20)])]);
    let refused = gathered(&mut gathering(), jobs);
    assert_eq!(code(refused), "definition_fault");
}

#[test]
fn jobs_stand_in_a_wave_with_those_that_they_neither_need_nor_touch() {
    let (b, d) = (
        "b has y in common with one before",
        "d has y in common with one before",
    );
    let (a, c) = ("a must be alone", "c must be alone");
    for (short, expected, levels, splits) in [
        (
            "c <b, b <a, a",
            "a | b | c",
            &[1, 2, 3][..],
            &["", "", ""][..],
        ),
        ("a, b, c", "a b c", &[1], &[""]),
        ("", "", &[], &[]),
        // One that names a file twice has nothing in common with itself.
        ("a @f @f, b", "a b", &[1], &[""]),
        (
            "a @x @y, b @y, c @z, d @y @z, e <a @y",
            "a c | b | d | e",
            &[1, 1, 1, 2],
            &["", b, d, ""],
        ),
        (
            "a !, b, c !, d, e <b !",
            "b d | a | c | e",
            &[1, 1, 1, 2],
            &["", a, c, ""],
        ),
    ] {
        let driver = acting(short);
        assert_eq!(waves(&driver), expected, "{short}");
        if !expected.is_empty() {
            assert_eq!(of_waves(&driver, "level"), levels, "{short}");
            assert_eq!(of_waves(&driver, "split"), splits, "{short}");
        }
    }
    assert_eq!(acting("").state(), "over");
    // Each of the named fields keeps them apart.
    let port = |id: &str, port: &str| json!({ "id": id, "ports": [port], "files": [id] });
    let mut driver = gathering();
    let ports = [port("a", "80"), port("b", "80"), port("c", "81")];
    gathered(&mut driver, json!(ports)).unwrap();
    assert_eq!(waves(&driver), "a c | b");
}

#[test]
fn waves_of_what_cannot_be_run_are_passed_over() {
    let mut driver = acting("a, b, a2 <a, a3 <a2, b2 <b, b3 <b2 <a2, a4 <a3");
    assert_eq!(waves(&driver), "a b | a2 b2 | a3 b3 | a4");
    end_wave(&mut driver, &["a"]);
    assert_eq!(driver.counted("groups", ["blocked", "remaining"]), [2, 1]);
    // `a2` is blocked: it is not waited for.
    assert_eq!(code(driver.complete("acting")), "unfinished");
    end_wave(&mut driver, &[]);
    assert_eq!(driver.state(), "over");
    let statuses = ["completed", "completed", "pending", "pending"];
    assert_eq!(of_waves(&driver, "status"), statuses);
    let counted = driver.counted("jobs", ["done", "failed", "blocked"]);
    assert_eq!(counted, [2, 1, 4]);
}

/// The same jobs, or others, are told once more; gives how many events come of it, and the waves.
fn again(driver: &mut Driver, short: &str) -> (usize, String) {
    let before = driver.events.len();
    driver.set([whole("jobs", jobs(short))]);
    (driver.events.len() - before, waves(driver))
}

#[test]
fn cut_again_before_anything_is_begun_they_are_cut_anew() {
    let mut driver = gathering();
    assert_eq!(again(&mut driver, "a, b <a").1, "a | b");
    assert_eq!(again(&mut driver, "a, b <a"), (0, "a | b".to_owned()));
    assert_eq!(again(&mut driver, "b, c").1, "b c");
    assert_eq!(driver.field("jobs", "b", "wave"), "wave-1");
    assert_eq!(again(&mut driver, "").1, "");
}

#[test]
fn what_is_finished_and_what_is_in_hand_stays_when_they_are_cut_again() {
    let mut driver = acting("a, b <a, c <b, d <c");
    end_wave(&mut driver, &[]);
    driver.set([stands("jobs", "b", "active")]);
    // `a` and `b` are gone from the graph, `c` needs nothing any more, and `e` is new.
    let told = "d <c <e, e <b, c";
    assert_eq!(again(&mut driver, told).1, "a | b | e c | d");
    assert_eq!(again(&mut driver, told).0, 0);
    let ids = ["wave-1", "wave-2", "wave-3", "wave-4"];
    assert_eq!(of_waves(&driver, "id"), ids);
    assert_eq!(of_waves(&driver, "level"), [1, 2, 3, 4]);
    let statuses = ["completed", "in_progress", "pending", "pending"];
    assert_eq!(of_waves(&driver, "status"), statuses);
    assert_eq!(driver.run.pointed_at("group"), Some("wave-2"));
    assert_eq!(driver.field("jobs", "a", "status"), "ok");
    assert_eq!(driver.field("jobs", "b", "status"), "active");
    for wave in ["wave-2", "wave-3", "wave-4"] {
        assert_eq!(driver.run.pointed_at("group"), Some(wave));
        end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.facts_of("groups")["count"]["completed"], 4);
}

#[test]
fn a_new_job_may_need_what_is_finished_and_never_what_is_gone() {
    let mut driver = acting("a, b <a");
    end_wave(&mut driver, &[]);
    assert_eq!(again(&mut driver, "n <a, m <b <n").1, "a | b | n | m");
    for (short, about) in [("n <gone", &["n"][..]), ("n <m, m <n", &["n", "m", "n"])] {
        let edit = vec![whole("jobs", jobs(short))];
        let refusal = driver.edit(edit).unwrap_err();
        let told = (refusal.code.as_str(), &refusal.details["items"]);
        assert_eq!(told, ("bad_dependencies", &json!(about)));
    }
}
