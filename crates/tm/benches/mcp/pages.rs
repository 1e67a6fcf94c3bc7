//! How long a person waits for a page: the list of a thousand runs, and the pages of one with a hundred thousand events; of a server
//! that was just started, and again.

use std::time::{Duration, Instant};

use crate::http::Served;
use crate::stage::Stage;
use crate::stdio::Line;
use crate::watching::ROUNDABOUT;

/// Runs that are over, and such that are under way.
const OVER: usize = 960;
const UNDER_WAY: usize = 40;
const EVENTS: usize = 100_000;
/// How often a page is asked for again.
const AGAIN: usize = 9;

/// A run that is over with its first report.
const NOTE: &str = "tramline: 1
id: note
title: A note
inputs: { about: string }
initial: write
on: { abort: { to: over } }
states:
  write: { work: { by: agent }, to: done }
  done: { final: completed }
  over: { final: aborted }
";

struct Agent {
    line: Line,
    calls: usize,
}

impl Agent {
    fn call(&mut self, tool: &str, arguments: &serde_json::Value) -> String {
        self.calls += 1;
        let call = serde_json::json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        let answer = self.line.exchange(&call.to_string());
        let answer: serde_json::Value = serde_json::from_str(answer).expect("JSON");
        let answer = &answer["result"]["structuredContent"];
        assert!(
            answer["runId"].is_string() || answer["validated"] == true,
            "{answer}"
        );
        answer["runId"].as_str().unwrap_or_default().to_owned()
    }

    fn start(&mut self, workflow: &str, about: usize) -> String {
        let inputs = if workflow == "note" {
            serde_json::json!({ "about": format!("what there is to say about number {about}") })
        } else {
            serde_json::json!({})
        };
        let arguments = serde_json::json!({ "workflow": workflow, "inputs": inputs });
        self.call("run_start", &arguments)
    }

    fn report(&mut self, run: &str) {
        self.call("run_report", &serde_json::json!({ "runId": run }));
    }
}

/// Measures it, and prints what came out.
pub fn measure(stage: &Stage) {
    let folder = stage.root.join(".taskmaster/workflows");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in [("rounds", ROUNDABOUT), ("note", NOTE)] {
        std::fs::write(folder.join(format!("{name}.yaml")), text).expect("a file");
    }
    let mut line = Line::to(&mut stage.tm(&["mcp", "--tools", "run"]));
    line.initialize();
    let mut agent = Agent { line, calls: 0 };
    for about in 0..OVER + UNDER_WAY {
        let run = agent.start("note", about);
        if about < OVER {
            agent.report(&run);
        }
    }
    let [short, long] = [0, EVENTS].map(|events| {
        let run = agent.start("rounds", 0);
        // A report is an event of its own, one for the state and one for the unit behind it, and every other one for the count.
        for _ in 0..2 * events / 7 {
            agent.report(&run);
        }
        run
    });
    let served = Served::new(stage);
    println!();
    println!(
        "{:<32} {:>10} {:>10} {:>10} {:>10}",
        "page", "at once", "whole", "again", "of a short"
    );
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let again = |path: &str| {
        let mut times: Vec<Duration> = (0..AGAIN).map(|_| served.page(path).1).collect();
        times.sort();
        times[AGAIN / 2]
    };
    let tell = |name: &str, path: &str, short: Option<&str>| {
        let began = Instant::now();
        let (mut answer, at_once) = served.page(path);
        while answer.contains("data-again") {
            std::thread::sleep(Duration::from_millis(20));
            (answer, _) = served.page(path);
        }
        let whole = began.elapsed();
        let short = short.map_or_else(String::new, |short| shown(again(short)));
        println!(
            "{name:<32} {:>10} {:>10} {:>10} {short:>10}",
            shown(at_once),
            shown(whole),
            shown(again(path))
        );
    };
    tell("the list", "/", None);
    for tab in [
        "",
        "/work",
        "/timeline",
        "/files",
        "/replay",
        "/replay?at=40000",
        "/report",
    ] {
        let of = |run: &str| format!("/runs/{run}{tab}");
        let name = if tab.is_empty() { "/now" } else { tab };
        tell(&name[1..], &of(&long), Some(&of(&short)));
    }
}
