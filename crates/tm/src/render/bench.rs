//! Benches and kept trees, for people.

use engine::benches::{BenchRun, Kept};
use journal::layout::short_name;
use text::counted;
use text::plain::one_line;

use super::{Look, Page, STRONG, Sign};

/// What is there, was removed or would be: `none` is said where that is nothing, and `each` behind each that is still there.
pub fn kept(kept: &Kept, (none, each): (&str, &str), look: &Look) -> String {
    let mut page = Page::new(look);
    if kept.benches.is_empty() && kept.trees.is_empty() {
        page.signed(Sign::Good, none);
    }
    for bench in &kept.benches {
        let state = match (bench.removed, bench.in_use) {
            (true, _) => ", removed",
            (false, true) => ", stays: a suite runs on it",
            (false, false) => each,
        };
        let told = format!(
            "of {}: {}, last used {}{state}",
            one_line(&bench.of),
            size(bench.bytes),
            one_line(&bench.last_used)
        );
        page.wrapped(&look.paint(STRONG, &one_line(&bench.folder)), &told);
    }
    for trees in &kept.trees {
        let told = format!(
            "{}: {}{}",
            one_line(&trees.status),
            counted(trees.trees, "kept tree"),
            if trees.removed { ", removed" } else { each }
        );
        page.wrapped(
            &look.paint(STRONG, &short_name(&one_line(&trees.run_id))),
            &told,
        );
    }
    page.finish()
}

/// A suite that was run on a bench.
pub fn ran(ran: &BenchRun, look: &Look) -> String {
    let mut page = Page::new(look);
    let counts = &ran.counts;
    let is_good = counts.failing() == 0;
    page.signed(
        if is_good { Sign::Good } else { Sign::Bad },
        &format!(
            "{} passed, {} failed, {} skipped on {} ({}, {} ms)",
            counts.passed,
            counts.failing(),
            counts.skipped,
            ran.tree.short(),
            one_line(&ran.command),
            ran.duration_ms,
        ),
    );
    for test in &ran.failing {
        page.wrapped("failed", &one_line(test));
    }
    if !is_good {
        page.blank();
        page.block(&ran.output);
        page.blank();
        page.signed(
            Sign::Next,
            "where they pass in the working tree, the settings under `bench` give them what they lack here",
        );
    }
    page.finish()
}

/// A size on the disk, in the larger of the units that it fills.
fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || counted(bytes, "byte"),
        |(unit, name)| format!("{} {name}", bytes / unit),
    )
}
