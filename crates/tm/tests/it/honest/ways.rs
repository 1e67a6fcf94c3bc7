//! Back, aside, and on again.

use super::work::{BY_NAME, DOUBLES, FINALIZE, GREEN, SHOP, Way, Work};
use super::{go_through, own};

#[test]
fn back_by_reopen() {
    go_through([own("a test that was wrong is mended", SHOP)
        .by(&BY_NAME)
        .red(|work| {
            let wrong = DOUBLES.replace("= 8", "= 9");
            work.write("tests/double.test", &wrong);
            work.red();
            // Each attempt fails otherwise.
            for code in ["echo 8\n", "echo 7\n"] {
                work.write("src/double.sh", code);
                let refused = work.refused(GREEN, "green_tests_still_failing");
                assert!(refused.get("warning").is_none(), "{refused:#}");
            }
            work.reopen("red");
            // What was written in GREEN is still there; as long as it makes the right test pass, there is no RED.
            work.delete("src/double.sh");
            work.test();
        })
        .green(Work::code)]);
}

/// Pauses, commits of one's own, and reports that come twice.
#[test]
fn aside() {
    let work = SHOP.at_red();
    let call = ["complete", "red", "--report", &work.printed()];
    let [first, again] = [work.tm(&call), work.tm(&call)];
    assert_eq!(first["message"], again["message"]);
    work.code();
    work.green();
    work.commit_by_hand("Double");
    let answer = work.tm(&["commit", "--sha", "HEAD"]);
    assert!(answer.get("warning").is_none(), "{answer:#}");
    work.tm(&["pause"]);
    work.tm(&["resume"]);
    work.finalize();
}

/// A test fails as long as a file outside of the project is there, and the repair mends the test itself.
#[test]
fn a_repair_at_the_end() {
    let work = SHOP.by(Way::Verified).at_red();
    let winter = work.outside().join("winter");
    let there = format!("! -f {}", winter.display());
    work.append(
        "tests/double.test",
        &format!("doubles there: test {there}\nis new: test -f src/double.sh\n"),
    );
    work.red();
    work.code();
    work.green();
    work.commit();
    std::fs::write(&winter, "").unwrap();
    let answer = work.refused(FINALIZE, "suite_failing");
    assert_eq!(answer["nextAction"]["action"], "green", "{answer:#}");
    work.replace("tests/double.test", &there, &there[2..]);
    work.goes_through();
}
