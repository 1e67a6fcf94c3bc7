//! Sets that are cut into waves: what stands in which, why one was split, and what stays when they are cut again.

use machine::guard::Scope;
use machine::scope::RunScope;
use serde_json::{Map, Value, json};

use crate::driver::{Driver, fields, stands, whole};
use crate::sets::{acting, end_wave, gathered, gathering, in_hand, job, jobs, of_waves, waves};
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
fn what_could_never_all_be_run_is_refused_before_the_first_is() {
    let mut driver = gathering();
    for (short, about) in [
        ("a <b, b <c, c <a", &["a", "b", "c", "a"][..]),
        ("a <a", &["a"]),
        ("a <b", &["a"]),
        ("a, a", &["a"]),
    ] {
        let refusal = gathered(&mut driver, json!(jobs(short))).unwrap_err();
        let told = (refusal.code.as_str(), &refusal.details["items"]);
        assert_eq!(told, ("bad_dependencies", &json!(about)));
        assert!(driver.run.sets.is_empty());
    }
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

#[test]
fn one_that_was_skipped_may_be_tried_again_while_its_wave_lasts() {
    let mut driver = acting("a, b <a");
    driver.set([stands("jobs", "a", "lost")]);
    assert_eq!(driver.counted("groups", ["blocked"]), [1]);
    driver.set([stands("jobs", "a", "active"), stands("jobs", "a", "ok")]);
    assert_eq!(driver.counted("groups", ["blocked"]), [0]);
    end_wave(&mut driver, &[]);
    assert_eq!(in_hand(&driver), ["b"]);
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
fn cut_again_what_is_known_stands_where_it_stood() {
    let mut driver = acting("a @f, b @f, c <b");
    end_wave(&mut driver, &[]);
    driver.set([stands("jobs", "b", "broken")]);
    let (_, cut) = again(&mut driver, "a @f, b @g, c <b");
    assert_eq!(cut, "a | b | c");
    assert_eq!(driver.field("jobs", "b", "status"), "broken");
    // Nobody sets a status by handing over the graph.
    let mut said = job("b");
    said["status"] = json!("ok");
    driver.set([whole("jobs", [job("a"), said])]);
    assert_eq!(driver.field("jobs", "b", "status"), "broken");
    assert_eq!(waves(&driver), "a | b");
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

#[test]
fn a_graph_may_lose_what_cannot_be_run_any_more() {
    // `lost` is skipped; `x` is passed over; `y`, in hand, needs it and is blocked too.
    let mut driver = acting("lost, n, x <lost @f, m <n @f, y <x, k <m");
    assert_eq!(waves(&driver), "lost n | x | m | y k");
    end_wave(&mut driver, &["lost"]);
    end_wave(&mut driver, &[]);
    again(&mut driver, "k <m, late <k");
    assert_eq!(in_hand(&driver), ["y", "k"]);
    driver.set([stands("jobs", "k", "ok")]);
    assert_eq!(driver.state(), "act");
}

#[test]
fn fields_of_what_is_in_hand_stay_and_others_are_taken_over() {
    let mut driver = acting("a, b <a");
    let mut all = jobs("a, b <a");
    for one in &mut all {
        one["text"] = json!("new");
    }
    driver.set([whole("jobs", all)]);
    assert_eq!(driver.field("jobs", "a", "text"), "");
    assert_eq!(driver.field("jobs", "b", "text"), "new");
    driver.set([fields("jobs", "a", json!({ "text": "said" }))]);
    assert_eq!(driver.field("jobs", "a", "text"), "said");
}

#[test]
fn guards_see_of_a_wave_how_many_stand_where() {
    let mut driver = acting("a, b, c, d <a");
    let seen = |driver: &Driver| {
        let scope = RunScope {
            definition: &driver.definition,
            run: &driver.run,
            token: &driver.run.tokens[0],
            facts: None,
            flags: &Map::new(),
            reason: "",
            vars: None,
            result: None,
        };
        let mut seen = scope.variable("group", &[]).unwrap();
        let facts = ["id", "jobs", "count", "size", "blocked"];
        json!(facts.map(|fact| seen[fact].take()))
    };
    let count = |pending: u8, ok: u8, lost: u8| -> Value {
        json!({ "pending": pending, "active": 0, "broken": 0, "ok": ok, "lost": lost })
    };
    driver.set([stands("jobs", "a", "lost"), stands("jobs", "b", "ok")]);
    let expected = json!(["wave-1", ["a", "b", "c"], count(1, 1, 1), 3, 0]);
    assert_eq!(seen(&driver), expected);
    driver.set([stands("jobs", "c", "ok")]);
    driver.complete("acting").unwrap();
    assert_eq!(seen(&driver), json!(["", [], count(0, 0, 0), 0, 0]));
}
