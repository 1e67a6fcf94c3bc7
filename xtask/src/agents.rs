//! The agents that Tramline is made for, as npm has them, against a fake model on this machine (`model.py`): each client plays
//! whole cycles in its newest and an older version, set up by `tm init` and as a plugin, in the project, in worktrees and in a
//! subagent (`play.py`). Every cell of that table has to come out as `xtask/agents/expected.toml` says.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::{NODE, built, cache, command, filled, need, npm, output, path_with_node, root};

/// The outcome of a cell in which nothing went wrong.
const WHOLE: &str = "whole cycle";

/// Which cells of the table are played.
#[derive(Debug, Args)]
pub struct Agents {
    /// Only these clients, by the names of their files in `xtask/agents/clients`
    #[arg(value_name = "CLIENT")]
    clients: Vec<String>,
    /// Only these versions; one that the file does not name is played too
    #[arg(long, value_name = "VERSION")]
    version: Vec<String>,
    /// Only these ways to set it up: init, plugin, hand
    #[arg(long, value_name = "WAY")]
    way: Vec<String>,
    /// Only these places: project, own, worktree, entered, subagent
    #[arg(long, value_name = "PLACE")]
    place: Vec<String>,
    /// The program, also by the variable `TM`; that of the tests if left out
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Keep the folder of each cell, and print where it is
    #[arg(long)]
    keep: bool,
}

impl Agents {
    /// The whole table.
    pub fn everything() -> Self {
        Self {
            clients: Vec::new(),
            version: Vec::new(),
            way: Vec::new(),
            place: Vec::new(),
            program: None,
            keep: false,
        }
    }
}

/// A client, as its file describes it. The rest of the file is read by `play.py`.
#[derive(Debug, Deserialize)]
struct Client {
    #[serde(skip)]
    key: String,
    package: String,
    versions: Vec<String>,
    ways: Vec<String>,
    places: Vec<String>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A cell of the table.
#[derive(Debug, Clone, Copy)]
struct Cell<'a> {
    client: &'a Client,
    version: &'a str,
    way: &'a str,
    place: &'a str,
}

/// Cells that do not come out as a whole cycle, and why.
#[derive(Debug, Deserialize)]
struct Exception {
    client: String,
    versions: Vec<String>,
    ways: Vec<String>,
    places: Vec<String>,
    outcome: String,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
struct Expected {
    #[serde(default)]
    cells: Vec<Exception>,
}

/// What all cells are played with.
struct Machine {
    program: PathBuf,
    root: PathBuf,
    path: OsString,
    /// Whether each cell gets a network and processes of its own, which end with it.
    alone: bool,
}

/// Plays them; whether each came out as expected.
pub fn run(wanted: &Agents) -> io::Result<bool> {
    need("git", "git")?;
    need("python3", "python3")?;
    let machine = Machine::set_up(wanted)?;
    let clients = clients()?;
    let expected: Expected = read(&folder().join("expected.toml"))?;
    let mut cells = Vec::new();
    for client in clients
        .iter()
        .filter(|client| is_wanted(&wanted.clients, &client.key))
    {
        for version in versions(client, wanted) {
            install(client, version)?;
            for way in client.ways.iter().filter(|way| is_wanted(&wanted.way, way)) {
                let places = client
                    .places
                    .iter()
                    .filter(|place| is_wanted(&wanted.place, place));
                cells.extend(places.map(|place| Cell {
                    client,
                    version,
                    way,
                    place,
                }));
            }
        }
    }
    if cells.is_empty() {
        return Err(io::Error::other("no cell of the table is called so"));
    }
    let outcomes = play_all(&cells, &machine, wanted.keep, &expected)?;
    println!("\n{}", table(&cells, &outcomes));
    let mut good = true;
    for (cell, outcome) in cells.iter().zip(&outcomes) {
        match expected.exception(cell) {
            Some(exception) if exception.outcome == *outcome => {
                println!("known: {}: {outcome}: {}", cell.name(), exception.reason);
            }
            Some(_) if outcome == WHOLE => {
                println!(
                    "{} goes through now: delete it from expected.toml",
                    cell.name()
                );
                good = false;
            }
            exception => {
                let wanted = exception.map_or(WHOLE, |exception| &exception.outcome);
                if outcome != wanted {
                    println!(
                        "{}: {wanted} was expected, and it is: {outcome}",
                        cell.name()
                    );
                    good = false;
                }
            }
        }
    }
    Ok(good)
}

fn is_wanted(wanted: &[String], name: &String) -> bool {
    wanted.is_empty() || wanted.contains(name)
}

/// The folder with what is played.
fn folder() -> PathBuf {
    root().join("xtask/agents")
}

fn read<T: for<'t> Deserialize<'t>>(file: &Path) -> io::Result<T> {
    let message = |error| io::Error::other(format!("{}: {error}", file.display()));
    toml::from_str(&fs::read_to_string(file)?).map_err(message)
}

/// All clients, by the names of their files.
fn clients() -> io::Result<Vec<Client>> {
    let mut clients = Vec::new();
    for entry in fs::read_dir(folder().join("clients"))? {
        let file = entry?.path();
        let key = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        clients.push(Client {
            key,
            ..read(&file)?
        });
    }
    clients.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(clients)
}

/// The versions of a client that are wanted: those of its file, or any others that were asked for by name.
fn versions<'a>(client: &'a Client, wanted: &'a Agents) -> &'a [String] {
    if wanted.version.is_empty() {
        &client.versions
    } else {
        &wanted.version
    }
}

/// The folder with a version of a client. Packages are exact, and none of their scripts is run.
fn packages(client: &Client, version: &str) -> io::Result<PathBuf> {
    cache(&format!("agents/{}-{version}", client.key))
}

fn install(client: &Client, version: &str) -> io::Result<()> {
    let folder = packages(client, version)?;
    filled(&folder, || {
        let package = format!("{}@{version}", client.package);
        println!("install {package}");
        fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        npm(&folder, &["install", "--save-exact", &package])
    })
}

impl Machine {
    fn set_up(wanted: &Agents) -> io::Result<Self> {
        let said = wanted.program.clone();
        let program = match said.or_else(|| std::env::var_os("TM").map(PathBuf::from)) {
            Some(program) => fs::canonicalize(program)?,
            None => fs::canonicalize(built("tm")?)?,
        };
        let alone = output(Self::apart().args(["ip", "link", "set", "lo", "up"])).is_some();
        if !alone {
            println!(
                "clients are not kept from the network: `unshare` or `ip` is not there, or not permitted"
            );
        }
        Ok(Self {
            program,
            root: fs::canonicalize(root())?,
            path: path_with_node(NODE)?,
            alone,
        })
    }

    /// Runs a program where there is no network but its own, and where every process ends with it, detached ones too.
    fn apart() -> Command {
        let mut unshare = command("unshare");
        unshare.args([
            "--map-root-user",
            "--net",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
        ]);
        unshare
    }

    /// Plays a cell in an empty folder. Gives its outcome.
    fn play(&self, cell: &Cell<'_>, work: &Path) -> io::Result<String> {
        let description = json!({
            "client": cell.client.rest,
            "way": cell.way,
            "place": cell.place,
            "packages": fs::canonicalize(packages(cell.client, cell.version)?)?,
            "tm": self.program,
            "plugins": self.root,
            "work": work,
            "alone": self.alone,
        });
        let mut player = if self.alone {
            let mut player = Self::apart();
            player.arg("python3");
            player
        } else {
            command("python3")
        };
        let played = player
            .arg("-B")
            .arg(self.root.join("xtask/src/agents/play.py"))
            .arg(description.to_string())
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let outcome = String::from_utf8_lossy(&played.stdout).trim().to_owned();
        if played.status.success() && !outcome.is_empty() {
            return Ok(outcome);
        }
        let message = format!(
            "{} could not be played; see {}",
            cell.name(),
            work.display()
        );
        Err(io::Error::other(message))
    }
}

impl Cell<'_> {
    fn name(&self) -> String {
        format!(
            "{} {} {} {}",
            self.client.key, self.version, self.way, self.place
        )
    }
}

impl Expected {
    /// What is said of a cell that does not come out as a whole cycle.
    fn exception(&self, cell: &Cell<'_>) -> Option<&Exception> {
        let has = |all: &[String], one: &str| all.iter().any(|name| name == one);
        self.cells.iter().find(|exception| {
            exception.client == cell.client.key
                && has(&exception.versions, cell.version)
                && has(&exception.ways, cell.way)
                && has(&exception.places, cell.place)
        })
    }
}

/// Plays the cells, several at a time where they cannot meet. Gives their outcomes in the same order.
fn play_all(
    cells: &[Cell<'_>],
    machine: &Machine,
    keep: bool,
    expected: &Expected,
) -> io::Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if machine.alone { processors } else { 1 };
    let play_on = || {
        let mut outcomes = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(at) else {
                return Ok(outcomes);
            };
            let begun = Instant::now();
            let work = tempfile::Builder::new()
                .prefix("tramline-agent-")
                .tempdir()?;
            let outcome = machine.play(cell, work.path())?;
            println!(
                "{}: {outcome} ({} s)",
                cell.name(),
                begun.elapsed().as_secs()
            );
            let wanted = expected
                .exception(cell)
                .map_or(WHOLE, |exception| &exception.outcome);
            if keep || outcome != wanted {
                println!("  kept in {}", work.keep().display());
            }
            outcomes.push((at, outcome));
        }
    };
    let mut all = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(play_on)).collect();
        for worker in workers {
            let panicked = |_| io::Error::other("a player panicked");
            let outcomes: io::Result<Vec<(usize, String)>> = worker.join().map_err(panicked)?;
            all.extend(outcomes?);
        }
        Ok::<_, io::Error>(())
    })?;
    Ok(all.into_values().collect())
}

/// The outcomes, a line for each client, version and way.
fn table(cells: &[Cell<'_>], outcomes: &[String]) -> String {
    let places = ["project", "own", "worktree", "entered", "subagent"];
    let mut rows: BTreeMap<[&str; 3], BTreeMap<&str, &str>> = BTreeMap::new();
    for (cell, outcome) in cells.iter().zip(outcomes) {
        let row = rows
            .entry([&cell.client.key, cell.version, cell.way])
            .or_default();
        row.insert(cell.place, if outcome == WHOLE { "yes" } else { outcome });
    }
    let mut lines = vec![
        format!("| client | version | way | {} |", places.join(" | ")),
        format!("|{}", "---|".repeat(places.len() + 3)),
    ];
    lines.extend(rows.iter().map(|(key, row)| {
        let cells = places.map(|place| *row.get(place).unwrap_or(&"–"));
        format!("| {} | {} |", key.join(" | "), cells.join(" | "))
    }));
    lines.join("\n")
}
