//! The MCP stack under the protocol's official conformance suite, in both eras, through a server of fixtures that stands on the
//! same adapter and the same HTTP layer as the real one (`crates/mcp/examples/fixtures`).

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::tools::{NODE, built, cache, command, filled, npm, path_with_node, run};

const SUITE: &str = "0.2.0-alpha.12";
/// How long the server of fixtures may take to say where it listens.
const START: Duration = Duration::from_secs(10);

/// Each era with the number of scenarios that the suite runs: those that it requires of a server (30 and 37), and those that it
/// does not score, such as the ten of the tasks extension. All must pass; fewer would mean that some were not run.
const ERAS: [(&str, usize); 2] = [("2025-11-25", 33), ("2026-07-28", 50)];

/// Runs the suite; whether all of it passed.
pub fn run_all() -> io::Result<bool> {
    let program = built("examples/fixtures")?;
    let path = path_with_node(NODE)?;
    let home = cache(&format!("conformance/suite-{SUITE}"))?;
    filled(&home, || {
        fs::write(home.join("package.json"), "{\"private\": true}\n")?;
        let package = format!("@modelcontextprotocol/conformance@{SUITE}");
        npm(&home, &["install", "--save-exact", &package])
    })?;
    let suite = home.join("node_modules/.bin/conformance");

    let work = tempfile::tempdir()?;
    let mut server = Server::start(&program, &work.path().join("log"))?;
    let mut good = true;
    for (era, scenarios) in ERAS {
        good &= Era {
            version: era,
            scenarios,
            suite: &suite,
            path: &path,
            url: &server.url,
            results: &work.path().join(era),
        }
        .run()?;
    }
    Ok(server.stop()? && good)
}

/// The server of fixtures; killed when nobody stops it.
struct Server {
    child: Child,
    url: String,
    log: std::path::PathBuf,
}

impl Server {
    fn start(program: &Path, log: &Path) -> io::Result<Self> {
        let mut child = command(program)
            .stdout(Stdio::piped())
            .stderr(File::create(log)?)
            .spawn()?;
        let (say, said) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                // It goes on reading, lest the server be ended by a pipe that nobody reads.
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    // Nobody waits for what comes after the first line.
                    let _ = say.send(line);
                }
            });
        }
        let server = Self {
            child,
            url: said.recv_timeout(START).unwrap_or_default(),
            log: log.to_owned(),
        };
        if server.url.is_empty() {
            let said = fs::read_to_string(log)?;
            let message = format!("the server of fixtures did not start:\n{said}");
            return Err(io::Error::other(message));
        }
        Ok(server)
    }

    /// Asks it to stop; whether it did, and said nothing bad all the time.
    fn stop(&mut self) -> io::Result<bool> {
        run(command("kill").args(["-TERM", &self.child.id().to_string()]))?;
        let status = self.child.wait()?;
        let said = fs::read_to_string(&self.log)?;
        if status.success() && said.is_empty() {
            return Ok(true);
        }
        println!("the server of fixtures ended with {status} and said:\n{said}");
        Ok(false)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that was stopped is no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One version of the protocol under the suite.
struct Era<'a> {
    version: &'a str,
    scenarios: usize,
    suite: &'a Path,
    path: &'a OsStr,
    url: &'a str,
    /// Where the suite writes what it found.
    results: &'a Path,
}

impl Era<'_> {
    fn run(&self) -> io::Result<bool> {
        let mut suite = command(self.suite);
        let options = ["server", "--url", self.url, "--requirements", self.version];
        suite.args(options).arg("-o").arg(self.results);
        let output = suite.env("PATH", self.path).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let summary = Summary::read(&text);
        let Self {
            version, scenarios, ..
        } = self;
        let passed = summary.passed.len();
        println!("MCP {version}: {passed} of {scenarios} scenarios passed");
        if output.status.success() && passed == *scenarios && summary.failed.is_empty() {
            return Ok(true);
        }
        if summary.passed.is_empty() {
            println!("the suite ended with {}:\n{text}", output.status);
            io::copy(&mut output.stderr.as_slice(), &mut io::stdout())?;
        }
        for name in &summary.failed {
            println!("  failed: {name}");
        }
        self.tell_failures()?;
        Ok(false)
    }

    /// Prints each check that failed: the suite leaves a folder for each scenario, with `checks.json`.
    fn tell_failures(&self) -> io::Result<()> {
        if !self.results.is_dir() {
            return Ok(());
        }
        for entry in fs::read_dir(self.results)? {
            let folder = entry?;
            let mut text = String::new();
            let file = File::open(folder.path().join("checks.json"));
            // Empty where the suite broke off while it wrote.
            let _ = file.and_then(|mut file| file.read_to_string(&mut text));
            let checks: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
            for check in checks.iter().filter(|check| check["status"] == "FAILURE") {
                let name = folder.file_name();
                let (id, why) = (&check["id"], &check["errorMessage"]);
                println!("  {}: {id}: {why}", name.display());
            }
        }
        Ok(())
    }
}

/// What the suite says at its end: a line for each scenario behind `=== SUMMARY ===`, up to the total.
struct Summary {
    passed: Vec<String>,
    failed: Vec<String>,
}

impl Summary {
    fn read(text: &str) -> Self {
        let scenarios = |sign: &str| {
            text.lines()
                .skip_while(|line| !line.contains("=== SUMMARY ==="))
                .take_while(|line| !line.starts_with("Total"))
                .filter_map(|line| line.strip_prefix(sign)?.split_once(": "))
                .map(|(name, _)| name.to_owned())
                .collect()
        };
        Self {
            passed: scenarios("✓ "),
            failed: scenarios("✗ "),
        }
    }
}
