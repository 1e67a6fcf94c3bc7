//! Sets that are cut into waves: what stands in which, why one was split, and what stays when they are cut again.

use machine::command::Edit;
use serde_json::{Value, json};

use crate::driver::{Driver, fields, stands, whole};
use crate::sets::{
    acting, end_wave, gathered, gathering, in_hand, job, of_waves, solo, touching, waves,
};

fn cut(jobs: Value) -> Vec<Vec<String>> {
    let driver = acting(jobs);
    waves(&driver)
}

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

    let mut driver = gathering();
    let refused = gathered(
        &mut driver,
        json!([touching("a", &[], &[&"x".repeat(2 << 20)])]),
    );
    assert_eq!(refused.unwrap_err().code, "definition_fault");
}

#[test]
fn the_graph_of_the_engine_gives_five_waves() {
    let jobs = json!([
        touching("workflow-types", &[], &["types.ts"]),
        touching("state-machine", &["workflow-types"], &["state-machine.ts"]),
        touching(
            "transitions",
            &["workflow-types", "state-machine"],
            &["transitions.ts"]
        ),
        touching(
            "collab-state-extend",
            &["workflow-types"],
            &["collab-state.ts"]
        ),
        touching(
            "complete-skill",
            &["state-machine", "transitions", "collab-state-extend"],
            &["complete-skill.ts"]
        ),
        touching("setup-register", &["complete-skill"], &["setup.ts"]),
    ]);
    let mut driver = acting(jobs);
    let expected = [
        vec!["workflow-types"],
        vec!["state-machine", "collab-state-extend"],
        vec!["transitions"],
        vec!["complete-skill"],
        vec!["setup-register"],
    ];
    assert_eq!(waves(&driver), expected);
    assert_eq!(
        of_waves(&driver, "id"),
        ["wave-1", "wave-2", "wave-3", "wave-4", "wave-5"]
    );
    assert_eq!(of_waves(&driver, "level"), [1, 2, 3, 4, 5]);
    assert_eq!(of_waves(&driver, "split"), ["", "", "", "", ""]);
    assert_eq!(
        of_waves(&driver, "status"),
        ["in_progress", "pending", "pending", "pending", "pending"]
    );
    for (at, keys) in expected.iter().enumerate() {
        assert_eq!(in_hand(&driver), *keys);
        for key in keys {
            assert_eq!(
                driver.field("jobs", key, "wave"),
                format!("wave-{}", at + 1)
            );
        }
        end_wave(&mut driver, &[]);
    }
    assert_eq!(driver.state(), "over");
    assert_eq!(driver.facts_of("groups")["count"]["completed"], 5);
}

#[test]
fn a_chain_has_a_wave_for_each_and_independent_ones_share_one() {
    assert_eq!(
        cut(json!([job("c", &["b"]), job("b", &["a"]), job("a", &[])])),
        [["a"], ["b"], ["c"]]
    );
    assert_eq!(
        cut(json!([job("a", &[]), job("b", &[]), job("c", &[])])),
        [["a", "b", "c"]]
    );
    assert_eq!(cut(json!([job("a", &[])])), [["a"]]);
    let driver = acting(json!([]));
    assert_eq!(driver.state(), "over");
    assert!(waves(&driver).is_empty());
}

#[test]
fn what_they_have_in_common_splits_a_wave_and_is_told() {
    let driver = acting(json!([
        touching("a", &[], &["x", "y"]),
        touching("b", &[], &["y"]),
        touching("c", &[], &["z"]),
        touching("d", &[], &["y", "z"]),
        touching("e", &["a"], &["y"]),
    ]));
    assert_eq!(
        waves(&driver),
        [vec!["a", "c"], vec!["b"], vec!["d"], vec!["e"]]
    );
    assert_eq!(of_waves(&driver, "level"), [1, 1, 1, 2]);
    assert_eq!(
        of_waves(&driver, "split"),
        [
            "",
            "b has y in common with one before",
            "d has y in common with one before",
            ""
        ]
    );
}

#[test]
fn each_of_the_named_fields_keeps_them_apart() {
    let jobs = json!([
        { "id": "a", "ports": ["80"], "files": ["f"] },
        { "id": "b", "ports": ["80"], "files": ["g"] },
        { "id": "c", "ports": ["81"], "files": ["h"] },
    ]);
    assert_eq!(cut(jobs), [vec!["a", "c"], vec!["b"]]);
    // One that names a file twice has nothing in common with itself.
    assert_eq!(
        cut(json!([touching("a", &[], &["f", "f"]), job("b", &[])])),
        [["a", "b"]]
    );
}

#[test]
fn one_that_must_be_alone_has_a_wave_of_its_own() {
    let driver = acting(json!([
        solo("a", &[]),
        job("b", &[]),
        solo("c", &[]),
        job("d", &[]),
        solo("e", &["b"])
    ]));
    assert_eq!(
        waves(&driver),
        [vec!["b", "d"], vec!["a"], vec!["c"], vec!["e"]]
    );
    assert_eq!(
        of_waves(&driver, "split"),
        ["", "a must be alone", "c must be alone", ""]
    );
    assert_eq!(of_waves(&driver, "level"), [1, 1, 1, 2]);
}

#[test]
fn what_could_never_all_be_run_is_refused_before_the_first_is() {
    let mut driver = gathering();
    for (jobs, about) in [
        (
            json!([job("a", &["b"]), job("b", &["c"]), job("c", &["a"])]),
            json!(["a", "b", "c", "a"]),
        ),
        (json!([job("a", &["a"])]), json!(["a"])),
        (json!([job("a", &["b"])]), json!(["a"])),
        (json!([job("a", &[]), job("a", &[])]), json!(["a"])),
    ] {
        let refusal = gathered(&mut driver, jobs).unwrap_err();
        assert_eq!(
            (refusal.code.as_str(), &refusal.details["items"]),
            ("bad_dependencies", &about)
        );
        assert_eq!(driver.state(), "collect");
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
    assert_eq!(
        waves(&driver),
        [
            vec!["a", "b"],
            vec!["a2", "b2"],
            vec!["a3", "b3"],
            vec!["a4"]
        ]
    );
    end_wave(&mut driver, &["a"]);
    assert_eq!(in_hand(&driver), ["a2", "b2"]);
    let facts = driver.facts_of("groups");
    assert_eq!(
        (&facts["blocked"], &facts["remaining"]),
        (&json!(2), &json!(1))
    );
    // `a2` is blocked: it is not waited for.
    let refusal = driver.complete("acting").unwrap_err();
    assert_eq!(refusal.code, "unfinished");
    driver.edit(vec![stands("jobs", "b2", "ok")]).unwrap();
    driver.complete("acting").unwrap();
    driver.complete("rest").unwrap();
    assert_eq!(driver.state(), "over");
    assert_eq!(
        of_waves(&driver, "status"),
        ["completed", "completed", "pending", "pending"]
    );
    let facts = driver.facts_of("jobs");
    assert_eq!(
        (&facts["done"], &facts["failed"], &facts["blocked"]),
        (&json!(2), &json!(1), &json!(4))
    );
    assert_eq!(driver.field("jobs", "b3", "status"), "pending");
}

#[test]
fn one_that_was_skipped_may_be_tried_again_while_its_wave_lasts() {
    let mut driver = acting(json!([job("a", &[]), job("b", &["a"])]));
    driver.edit(vec![stands("jobs", "a", "lost")]).unwrap();
    assert_eq!(driver.facts_of("groups")["blocked"], 1);
    driver
        .edit(vec![
            stands("jobs", "a", "active"),
            stands("jobs", "a", "ok"),
        ])
        .unwrap();
    assert_eq!(driver.facts_of("groups")["blocked"], 0);
    driver.complete("acting").unwrap();
    driver.complete("rest").unwrap();
    assert_eq!(in_hand(&driver), ["b"]);
}

fn again(driver: &mut Driver, jobs: impl IntoIterator<Item = Value>) {
    let edit: Edit = whole("jobs", jobs);
    driver.edit(vec![edit]).unwrap();
}

#[test]
fn cut_again_before_anything_is_begun_they_are_cut_anew() {
    let mut driver = gathering();
    again(&mut driver, [job("a", &[]), job("b", &["a"])]);
    assert_eq!(waves(&driver), [["a"], ["b"]]);
    let events = driver.events.len();
    again(&mut driver, [job("a", &[]), job("b", &["a"])]);
    assert_eq!(
        driver.events.len(),
        events,
        "the same once more is no event"
    );
    again(&mut driver, [job("b", &[]), job("c", &[])]);
    assert_eq!(waves(&driver), [["b", "c"]]);
    assert_eq!(driver.run.sets["jobs"].len(), 2);
    assert_eq!(driver.field("jobs", "b", "wave"), "wave-1");
    again(&mut driver, []);
    assert!(waves(&driver).is_empty());
}

#[test]
fn what_is_finished_and_what_is_in_hand_stays_when_they_are_cut_again() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &["a"]),
        job("c", &["b"]),
        job("d", &["c"])
    ]));
    end_wave(&mut driver, &[]);
    driver.edit(vec![stands("jobs", "b", "active")]).unwrap();
    // `a` and `b` are gone from the graph, `c` needs nothing any more, and `e` is new.
    again(
        &mut driver,
        [job("d", &["c", "e"]), job("e", &["b"]), job("c", &[])],
    );
    assert_eq!(
        waves(&driver),
        [vec!["a"], vec!["b"], vec!["e", "c"], vec!["d"]]
    );
    assert_eq!(
        of_waves(&driver, "id"),
        ["wave-1", "wave-2", "wave-3", "wave-4"]
    );
    assert_eq!(of_waves(&driver, "level"), [1, 2, 3, 4]);
    assert_eq!(
        of_waves(&driver, "status"),
        ["completed", "in_progress", "pending", "pending"]
    );
    assert_eq!(driver.run.pointed_at("group"), Some("wave-2"));
    assert_eq!(driver.field("jobs", "a", "status"), "ok");
    assert_eq!(driver.field("jobs", "b", "status"), "active");
    let events = driver.events.len();
    again(
        &mut driver,
        [job("d", &["c", "e"]), job("e", &["b"]), job("c", &[])],
    );
    assert_eq!(driver.events.len(), events);
    for keys in [vec!["b"], vec!["e", "c"], vec!["d"]] {
        assert_eq!(in_hand(&driver), keys);
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
    driver.edit(vec![stands("jobs", "b", "broken")]).unwrap();
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
    let refusal = driver
        .edit(vec![whole("jobs", [job("n", &["gone"])])])
        .unwrap_err();
    assert_eq!(refusal.code, "bad_dependencies");
    let refusal = driver
        .edit(vec![whole("jobs", [job("n", &["m"]), job("m", &["n"])])])
        .unwrap_err();
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
    assert_eq!(
        waves(&driver),
        [vec!["lost", "n"], vec!["x"], vec!["m"], vec!["y", "k"]]
    );
    end_wave(&mut driver, &["lost"]);
    assert_eq!(in_hand(&driver), ["m"]);
    end_wave(&mut driver, &[]);
    assert_eq!(in_hand(&driver), ["y", "k"]);
    again(&mut driver, [job("k", &["m"]), job("late", &["k"])]);
    assert_eq!(in_hand(&driver), ["y", "k"]);
    driver.edit(vec![stands("jobs", "k", "ok")]).unwrap();
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
    driver
        .edit(vec![fields("jobs", "a", json!({ "text": "said" }))])
        .unwrap();
    assert_eq!(driver.field("jobs", "a", "text"), "said");
}

#[test]
fn guards_see_of_a_wave_how_many_stand_where() {
    let mut driver = acting(json!([
        job("a", &[]),
        job("b", &[]),
        job("c", &[]),
        job("d", &["a"])
    ]));
    let facts = |driver: &Driver| {
        use machine::guard::Scope;
        let token = &driver.run.tokens[0];
        let scope = machine::scope::RunScope {
            definition: &driver.definition,
            run: &driver.run,
            token,
            facts: None,
            flags: &serde_json::Map::new(),
            reason: "",
            vars: None,
            result: None,
        };
        scope.variable("group", &[]).unwrap()
    };
    driver
        .edit(vec![stands("jobs", "a", "lost"), stands("jobs", "b", "ok")])
        .unwrap();
    let seen = facts(&driver);
    assert_eq!(seen["id"], "wave-1");
    assert_eq!(seen["jobs"], json!(["a", "b", "c"]));
    assert_eq!(
        seen["count"],
        json!({ "pending": 1, "active": 0, "broken": 0, "ok": 1, "lost": 1 })
    );
    assert_eq!((&seen["size"], &seen["blocked"]), (&json!(3), &json!(0)));
    driver.edit(vec![stands("jobs", "c", "ok")]).unwrap();
    driver.complete("acting").unwrap();
    let seen = facts(&driver);
    assert_eq!(
        (&seen["id"], &seen["size"], &seen["count"]["ok"]),
        (&json!(""), &json!(0), &json!(0))
    );
}
