//! What must hold before a change lands, and what takes too long for that.

use std::io;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::agents::{self, Agents};
use crate::chaos::{self, Chaos};
use crate::dist::{self, Dist};
use crate::fuzz::{self, Fuzz};
use crate::history::{self, History};
use crate::lines::{self, Lines};
use crate::runners::{self, Runners};
use crate::tools::{built, cargo, cargo_tool, command, need, passes, python_tools};
use crate::{book, browser, clients, conformance, plugins};

/// Which steps are taken.
#[derive(Debug, Args)]
pub struct Gate {
    /// Only these steps, in the order of the gate
    #[arg(value_enum)]
    steps: Vec<Step>,
}

/// A step of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Everything is formatted
    Format,
    /// Words are spelled as `typos.toml` has it
    Spelling,
    /// Nothing is larger than `ceilings.toml` has it
    Lines,
    /// Clippy has nothing to say
    Lints,
    /// The documentation of the code has no dead link
    Documentation,
    /// All tests
    Tests,
    /// The demo
    Demo,
    /// Faults at system calls, some of them
    Faults,
    /// The conformance suite of the Model Context Protocol
    Conformance,
    /// Its official clients
    Clients,
}

/// Takes the steps of the gate, up to the first that fails; whether all held.
pub fn gate(gate: &Gate) -> io::Result<bool> {
    // Which tests use what: a runner of tests, system calls that are watched, keys that sign.
    need("git", "git")?;
    need("python3", "python3")?;
    need("strace", "strace")?;
    need("ssh-keygen", "openssh-client")?;
    let mut times: Vec<(Step, Duration)> = Vec::new();
    let wanted = |step: &&Step| gate.steps.is_empty() || gate.steps.contains(step);
    let mut outcome = Ok(true);
    for step in Step::value_variants().iter().filter(wanted) {
        println!("\n== {}", step.name());
        let begun = Instant::now();
        outcome = step.holds();
        times.push((*step, begun.elapsed()));
        if !matches!(outcome, Ok(true)) {
            break;
        }
    }
    println!();
    for (step, time) in times {
        println!("{:>6.0} s  {}", time.as_secs_f64(), step.name());
    }
    outcome
}

impl Step {
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| {
            let help = value.get_help().map(ToString::to_string);
            format!("{}: {}", value.get_name(), help.unwrap_or_default())
        })
    }

    fn holds(self) -> io::Result<bool> {
        match self {
            Self::Format => passes(&mut cargo(&["fmt", "--all", "--check"])),
            Self::Spelling => {
                let tools = python_tools("typos-1.52.0", &["typos==1.52.0"])?;
                passes(&mut command(tools.join("typos")))
            }
            Self::Lines => lines::run(&Lines::default()),
            Self::Lints => passes(
                cargo(&["clippy", "--workspace", "--all-targets", "--locked"])
                    .args(["--", "-D", "warnings"]),
            ),
            Self::Documentation => passes(
                cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"])
                    .env("RUSTDOCFLAGS", "-D warnings"),
            ),
            Self::Tests => {
                let seed = fastrand::u32(..).to_string();
                println!("TRAMLINE_TEST_SEED={seed}");
                let mut tests = cargo(&["test", "--workspace", "--locked"]);
                passes(tests.env("TRAMLINE_TEST_SEED", seed))
            }
            Self::Demo => passes(command(built("tm")?).arg("demo")),
            Self::Faults => chaos::run(&Chaos::sample(6)),
            Self::Conformance => conformance::run_all(),
            Self::Clients => clients::run_all(),
        }
    }
}

/// What is asked about the crates that we depend on.
#[derive(Debug, Args)]
pub struct Deny {
    /// Also what is known to be wrong with them, for which the network is needed
    #[arg(long)]
    advisories: bool,
}

/// Licences, crates that are compiled twice, where they come from.
pub fn deny(deny: &Deny) -> io::Result<bool> {
    let tool = cargo_tool("cargo-deny", "0.20.2", &["--no-default-features"])?;
    let mut check = command(tool);
    check.args(["--locked", "check", "bans", "licenses", "sources"]);
    if deny.advisories {
        check.arg("advisories");
    }
    passes(&mut check)
}

/// Every place at which a process can die, a call can fail or the power can go, made-up input for an hour, and the build with all
/// optimization. Without the right to mount, `power` is left out, and says so.
pub fn nightly() -> io::Result<bool> {
    let begun = Instant::now();
    let heading = |text: &str| {
        println!("\n== {text} (after {} s)", begun.elapsed().as_secs());
    };
    let mut good = true;
    heading("every place of death and every story of the tests");
    good &= passes(cargo(&["test", "--workspace", "--locked"]).env("TRAMLINE_TEST_ALL", "1"))?;
    heading("what we depend on: licences, sources, and what is known to be wrong with it");
    good &= deny(&Deny { advisories: true })?;
    heading("faults at every system call");
    good &= chaos::run(&Chaos::everything())?;
    heading("made-up input for every reader of foreign text");
    good &= fuzz::run_all(&Fuzz::lasting(300, 60))?;
    heading("an honest run and all known cheats with every test runner that is here");
    good &= runners::run(&Runners::everything(false))?;
    heading("the same with pytest, looked at by an empty Debian");
    good &= runners::run(&Runners::everything(true))?;
    heading("what people did in real projects");
    good &= history::run(&History::everything())?;
    heading("every bench of a crate, once");
    let benches = ["append", "scheduling", "run", "reading"];
    let benches = benches.iter().flat_map(|bench| ["--bench", bench]);
    let mut once = cargo(&["bench", "--workspace", "--locked"]);
    good &= passes(once.args(benches).args(["--", "--test"]))?;
    heading("the packages that are given away, and the demo from each");
    good &= dist::run_all(&Dist::tried())?;
    heading("the documentation as a site");
    good &= book::build()?;
    heading("the page in a browser");
    good &= browser::run_all()?;
    heading("the plugins in the clients that they are for");
    good &= plugins::run_all()?;
    heading("whole cycles in the clients, against a fake model");
    good &= agents::run(&Agents::everything())?;
    Ok(good)
}
