//! Sets that are cut into waves: what stands in which, why one was split, and what stays when they are cut again.

use machine::guard::Scope;
use machine::scope::RunScope;
use serde_json::{Map, Value, json};

use crate::driver::{Driver, fields, stands, whole};
use crate::sets::{
    acting, end_wave, gathered, gathering, in_hand, job, of_waves, solo, touching, waves,
};
use crate::tdd::code;

/// The text of a plan grows with its tasks; that of one task is bounded.
#[test]
fn many_jobs_fill_a_set_whatever_they_hold_together_but_none_holds_a_megabyte() {
    let files: Vec<String> = (0..100)
        .map(|at| format!("src/some/place/file_{at}.rs"))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let jobs: Vec<Value> = (0..500)
        .map(|at| {
            touching(
                &format!("job-{at}"),
                &[],
                if at == 0 { &files } else { &files[..1] },
            )
        })
        .chain((0..10).map(|at| touching(&format!("long-{at}"), &[], &[&"x".repeat(200_000)])))
        .collect();
    assert!(Value::from(jobs.clone()).to_string().len() > 1 << 20);
    assert_eq!(waves(&acting(jobs.into())).concat().len(), 510);

    let jobs = json!([touching("a", &[], &[&"x".repeat(2 << 20)])]);
    let refused = gathered(&mut gathering(), jobs);
    assert_eq!(code(refused), "definition_fault");
}

#[test]
fn waves_are_gone_through_one_by_one() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &["a"]),
        job("c", &["a", "b"]),
        job("d", &["a"]),
    ]));
    let expected = [vec!["a"], vec!["b", "d"], vec!["c"]];
    assert_eq!(waves(&driver), expected);
    assert_eq!(of_waves(&driver, "id"), ["wave-1", "wave-2", "wave-3"]);
    assert_eq!(of_waves(&driver, "level"), [1, 2, 3]);
    assert_eq!(of_waves(&driver, "split"), ["", "", ""]);
    let statuses = ["in_progress", "pending", "pending"];
    assert_eq!(of_waves(&driver, "status"), statuses);
    for (wave, keys) in of_waves(&driver, "id").iter().zip(&expected) {
        assert_eq!(in_hand(&driver), *keys);
        for key in keys {
            assert_eq!(driver.field("jobs", key, "wave"), *wave);
        }
        end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.facts_of("groups")["count"]["completed"], 3);
}

#[test]
fn jobs_stand_in_a_wave_with_those_that_they_neither_need_nor_touch() {
    let both = json!({ "id": "a", "ports": ["80"], "files": ["f"] });
    let port = |id: &str, port: &str| json!({ "id": id, "ports": [port], "files": [id] });
    for (jobs, expected) in [
        (
            json!([job("c", &["b"]), job("b", &["a"]), job("a", &[])]),
            vec![vec!["a"], vec!["b"], vec!["c"]],
        ),
        (
            json!([job("a", &[]), job("b", &[]), job("c", &[])]),
            vec![vec!["a", "b", "c"]],
        ),
        (json!([]), vec![]),
        // Each of the named fields keeps them apart.
        (
            json!([both, port("b", "80"), port("c", "81")]),
            vec![vec!["a", "c"], vec!["b"]],
        ),
        // One that names a file twice has nothing in common with itself.
        (
            json!([touching("a", &[], &["f", "f"]), job("b", &[])]),
            vec![vec!["a", "b"]],
        ),
    ] {
        assert_eq!(waves(&acting(jobs)), expected);
    }
    assert_eq!(acting(json!([])).state(), "over");
}

#[test]
fn what_splits_a_wave_is_told() {
    let driver = acting(json!([
        touching("a", &[], &["x", "y"]),
        touching("b", &[], &["y"]),
        touching("c", &[], &["z"]),
        touching("d", &[], &["y", "z"]),
        touching("e", &["a"], &["y"]),
    ]));
    let expected = [vec!["a", "c"], vec!["b"], vec!["d"], vec!["e"]];
    assert_eq!(waves(&driver), expected);
    assert_eq!(of_waves(&driver, "level"), [1, 1, 1, 2]);
    let (b, d) = (
        "b has y in common with one before",
        "d has y in common with one before",
    );
    assert_eq!(of_waves(&driver, "split"), ["", b, d, ""]);

    let alone = [solo("a", &[]), solo("c", &[]), solo("e", &["b"])];
    let [a, c, e] = alone;
    let driver = acting(json!([a, job("b", &[]), c, job("d", &[]), e]));
    let expected = [vec!["b", "d"], vec!["a"], vec!["c"], vec!["e"]];
    assert_eq!(waves(&driver), expected);
    assert_eq!(of_waves(&driver, "level"), [1, 1, 1, 2]);
    let splits = ["", "a must be alone", "c must be alone", ""];
    assert_eq!(of_waves(&driver, "split"), splits);
}

#[test]
fn what_could_never_all_be_run_is_refused_before_the_first_is() {
    let mut driver = gathering();
    let circle = [job("a", &["b"]), job("b", &["c"]), job("c", &["a"])];
    for (jobs, about) in [
        (json!(circle), json!(["a", "b", "c", "a"])),
        (json!([job("a", &["a"])]), json!(["a"])),
        (json!([job("a", &["b"])]), json!(["a"])),
        (json!([job("a", &[]), job("a", &[])]), json!(["a"])),
    ] {
        let refusal = gathered(&mut driver, jobs).unwrap_err();
        let told = (refusal.code.as_str(), &refusal.details["items"]);
        assert_eq!(told, ("bad_dependencies", &about));
        assert!(driver.run.sets.is_empty());
    }
}

#[test]
fn waves_of_what_cannot_be_run_are_passed_over() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &[]),
        job("a2", &["a"]),
        job("a3", &["a2"]),
        job("b2", &["b"]),
        job("b3", &["b2", "a2"]),
        job("a4", &["a3"]),
    ]));
    let expected = [
        vec!["a", "b"],
        vec!["a2", "b2"],
        vec!["a3", "b3"],
        vec!["a4"],
    ];
    assert_eq!(waves(&driver), expected);
    end_wave(&mut driver, &["a"]);
    assert_eq!(in_hand(&driver), ["a2", "b2"]);
    assert_eq!(driver.counted("groups", ["blocked", "remaining"]), [2, 1]);
    // `a2` is blocked: it is not waited for.
    assert_eq!(code(driver.complete("acting")), "unfinished");
    driver.set([stands("jobs", "b2", "ok")]);
    driver.complete("acting").unwrap();
    driver.complete("rest").unwrap();
    assert_eq!(driver.state(), "over");
    let statuses = ["completed", "completed", "pending", "pending"];
    assert_eq!(of_waves(&driver, "status"), statuses);
    let counted = driver.counted("jobs", ["done", "failed", "blocked"]);
    assert_eq!(counted, [2, 1, 4]);
    assert_eq!(driver.field("jobs", "b3", "status"), "pending");
}

#[test]
fn one_that_was_skipped_may_be_tried_again_while_its_wave_lasts() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    driver.set([stands("jobs", "a", "lost")]);
    assert_eq!(driver.counted("groups", ["blocked"]), [1]);
    driver.set([stands("jobs", "a", "active"), stands("jobs", "a", "ok")]);
    assert_eq!(driver.counted("groups", ["blocked"]), [0]);
    end_wave(&mut driver, &[]);
    assert_eq!(in_hand(&driver), ["b"]);
}

/// The same jobs, or others, are told once more; gives how many events come of it.
fn again<const N: usize>(driver: &mut Driver, jobs: [Value; N]) -> usize {
    let before = driver.events.len();
    driver.set([whole("jobs", jobs)]);
    driver.events.len() - before
}

#[test]
fn cut_again_before_anything_is_begun_they_are_cut_anew() {
    let mut driver = gathering();
    let jobs = [job("a", &[]), job("b", &["a"])];
    again(&mut driver, jobs.clone());
    assert_eq!(waves(&driver), [["a"], ["b"]]);
    assert_eq!(again(&mut driver, jobs), 0);
    again(&mut driver, [job("b", &[]), job("c", &[])]);
    assert_eq!(waves(&driver), [["b", "c"]]);
    assert_eq!(driver.run.sets["jobs"].len(), 2);
    assert_eq!(driver.field("jobs", "b", "wave"), "wave-1");
    again(&mut driver, []);
    assert!(waves(&driver).is_empty());
}

#[test]
fn what_is_finished_and_what_is_in_hand_stays_when_they_are_cut_again() {
    let chain = [job("b", &["a"]), job("c", &["b"]), job("d", &["c"])];
    let [b, c, d] = chain;
    let mut driver = acting(json!([job("a", &[]), b, c, d]));
    end_wave(&mut driver, &[]);
    driver.set([stands("jobs", "b", "active")]);
    // `a` and `b` are gone from the graph, `c` needs nothing any more, and `e` is new.
    let jobs = [job("d", &["c", "e"]), job("e", &["b"]), job("c", &[])];
    again(&mut driver, jobs.clone());
    let expected = [vec!["a"], vec!["b"], vec!["e", "c"], vec!["d"]];
    assert_eq!(waves(&driver), expected);
    let ids = ["wave-1", "wave-2", "wave-3", "wave-4"];
    assert_eq!(of_waves(&driver, "id"), ids);
    assert_eq!(of_waves(&driver, "level"), [1, 2, 3, 4]);
    let statuses = ["completed", "in_progress", "pending", "pending"];
    assert_eq!(of_waves(&driver, "status"), statuses);
    assert_eq!(driver.run.pointed_at("group"), Some("wave-2"));
    assert_eq!(driver.field("jobs", "a", "status"), "ok");
    assert_eq!(driver.field("jobs", "b", "status"), "active");
    assert_eq!(again(&mut driver, jobs), 0);
    for keys in &expected[1..] {
        assert_eq!(in_hand(&driver), *keys);
        end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
}

#[test]
fn cut_again_what_is_known_stands_where_it_stood() {
    let mut driver = acting(json!([
        touching("a", &[], &["f"]),
        touching("b", &[], &["f"]),
        job("c", &["b"])
    ]));
    end_wave(&mut driver, &[]);
    driver.set([stands("jobs", "b", "broken")]);
    again(
        &mut driver,
        [
            touching("a", &[], &["f"]),
            touching("b", &[], &["g"]),
            job("c", &["b"]),
        ],
    );
    assert_eq!(driver.field("jobs", "b", "status"), "broken");
    assert_eq!(waves(&driver), [["a"], ["b"], ["c"]]);
    // Nobody sets a status by handing over the graph.
    let mut said = job("b", &[]);
    said["status"] = json!("ok");
    again(&mut driver, [job("a", &[]), said]);
    assert_eq!(driver.field("jobs", "b", "status"), "broken");
    assert_eq!(waves(&driver), [["a"], ["b"]]);
}

#[test]
fn a_new_job_may_need_what_is_finished_and_never_what_is_gone() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    end_wave(&mut driver, &[]);
    again(&mut driver, [job("n", &["a"]), job("m", &["b", "n"])]);
    assert_eq!(waves(&driver), [["a"], ["b"], ["n"], ["m"]]);
    let gone = driver.edit(vec![whole("jobs", [job("n", &["gone"])])]);
    assert_eq!(code(gone), "bad_dependencies");
    let circle = [job("n", &["m"]), job("m", &["n"])];
    let refusal = driver.edit(vec![whole("jobs", circle)]).unwrap_err();
    assert_eq!(refusal.details["items"], json!(["n", "m", "n"]));
}

#[test]
fn a_graph_may_lose_what_cannot_be_run_any_more() {
    // `lost` is skipped; `x` is passed over; `y`, in hand, needs it and is blocked too.
    let mut driver = acting(json!([
        job("lost", &[]),
        job("n", &[]),
        touching("x", &["lost"], &["f"]),
        touching("m", &["n"], &["f"]),
        job("y", &["x"]),
        job("k", &["m"]),
    ]));
    let expected = [vec!["lost", "n"], vec!["x"], vec!["m"], vec!["y", "k"]];
    assert_eq!(waves(&driver), expected);
    end_wave(&mut driver, &["lost"]);
    assert_eq!(in_hand(&driver), ["m"]);
    end_wave(&mut driver, &[]);
    assert_eq!(in_hand(&driver), ["y", "k"]);
    again(&mut driver, [job("k", &["m"]), job("late", &["k"])]);
    assert_eq!(in_hand(&driver), ["y", "k"]);
    driver.set([stands("jobs", "k", "ok")]);
    assert_eq!(driver.state(), "act");
}

#[test]
fn fields_of_what_is_in_hand_stay_and_others_are_taken_over() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    let mut all = [job("a", &[]), job("b", &["a"])];
    for one in &mut all {
        one["text"] = json!("new");
    }
    again(&mut driver, all);
    assert_eq!(driver.field("jobs", "a", "text"), "");
    assert_eq!(driver.field("jobs", "b", "text"), "new");
    driver.set([fields("jobs", "a", json!({ "text": "said" }))]);
    assert_eq!(driver.field("jobs", "a", "text"), "said");
}

#[test]
fn guards_see_of_a_wave_how_many_stand_where() {
    let jobs = [
        job("a", &[]),
        job("b", &[]),
        job("c", &[]),
        job("d", &["a"]),
    ];
    let mut driver = acting(json!(jobs));
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
        scope.variable("group", &[]).unwrap()
    };
    driver.set([stands("jobs", "a", "lost"), stands("jobs", "b", "ok")]);
    let facts = seen(&driver);
    assert_eq!(facts["id"], "wave-1");
    assert_eq!(facts["jobs"], json!(["a", "b", "c"]));
    let counts = json!({ "pending": 1, "active": 0, "broken": 0, "ok": 1, "lost": 1 });
    assert_eq!(facts["count"], counts);
    assert_eq!([&facts["size"], &facts["blocked"]], [3, 0]);
    driver.set([stands("jobs", "c", "ok")]);
    driver.complete("acting").unwrap();
    let facts = seen(&driver);
    assert_eq!(facts["id"], "");
    assert_eq!([&facts["size"], &facts["count"]["ok"]], [0, 0]);
}
