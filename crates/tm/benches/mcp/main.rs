//! The MCP server as its clients feel it: how long a call takes, how soon it is there, and how much memory it holds.
//!
//! Beside the calls a line that goes through `cat` and back, in the same run: what two pipes and two processes cost alone.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

mod collab;
mod http;
mod pages;
mod skills;
mod stage;
mod stdio;
mod watching;

use std::time::{Duration, Instant};

use stage::Stage;
use stdio::Line;

/// Calls that are measured, after some that are not.
const CALLS: usize = 10_000;
const WARM_UP: usize = 200;
const STARTS: usize = 100;

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        // `cargo test --benches` only wants to know that it builds.
        return;
    }
    let stage = Stage::new();
    if std::env::args().any(|argument| argument == "watching") {
        watching::measure(&stage);
        return;
    }
    if std::env::args().any(|argument| argument == "pages") {
        pages::measure(&stage);
        return;
    }
    println!("{:<44} {:>9} {:>9} {:>9}", "", "p50", "p99", "most");

    let mut cat = Line::to(&mut std::process::Command::new("cat"));
    let request = stdio::next_of_session(1);
    tell(
        "a line through cat and back",
        &times(CALLS, |_| {
            cat.exchange(&request);
        }),
    );
    drop(cat);

    let mut server = Line::to(&mut stage.tm(&["mcp", "--tools", "autopilot"]));
    server.initialize();
    let idle = server.resident();
    warm_up(|number| server.next(number));
    let warm = server.resident();
    tell(
        "autopilot_next, stdio, session",
        &times(CALLS, |number| server.next(number)),
    );
    let after = server.resident();
    drop(server);

    let mut server = Line::to(&mut stage.tm(&["mcp", "--tools", "autopilot"]));
    warm_up(|number| server.next_stateless(number));
    tell(
        "autopilot_next, stdio, stateless",
        &times(CALLS, |number| server.next_stateless(number)),
    );
    drop(server);

    let served = http::Served::new(&stage);
    let mut connection = served.connect();
    warm_up(|number| connection.next(number));
    let http_warm = served.resident();
    tell(
        "autopilot_next, HTTP, stateless",
        &times(CALLS, |number| connection.next(number)),
    );
    let http_after = served.resident();
    drop(connection);
    drop(served);

    tell(
        "start to the first tools/list",
        &times(STARTS, |_| {
            let mut server = Line::to(&mut stage.tm(&["mcp", "--tools", "autopilot"]));
            server.initialize();
            server.list();
        }),
    );

    collab::measure(&stage, &|what, mut times| {
        times.sort();
        tell(what, &times);
    });

    println!();
    let mib = |bytes: u64| format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20);
    println!("resident, idle after tools/list:     {}", mib(idle));
    println!("resident, stdio after {WARM_UP} calls:     {}", mib(warm));
    println!("resident, stdio after {CALLS} more:  {}", mib(after));
    println!(
        "resident, HTTP after {WARM_UP} calls:      {}",
        mib(http_warm)
    );
    println!("resident, HTTP after {CALLS} more:   {}", mib(http_after));
    watching::measure(&stage);
    pages::measure(&stage);
}

fn warm_up(mut call: impl FnMut(usize)) {
    for number in 0..WARM_UP {
        call(number);
    }
}

fn times(count: usize, mut call: impl FnMut(usize)) -> Vec<Duration> {
    let mut all: Vec<Duration> = (0..count)
        .map(|number| {
            let began = Instant::now();
            call(number + WARM_UP);
            began.elapsed()
        })
        .collect();
    all.sort();
    all
}

fn tell(what: &str, sorted: &[Duration]) {
    let at = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    let shown = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1000.0);
    println!(
        "{what:<44} {:>9} {:>9} {:>9}",
        shown(at(50)),
        shown(at(99)),
        shown(at(100))
    );
}
