//! Every test runner that is here with the real binary: an honest run, which has to go through, and all known ways to a commit
//! without the work, each of which has to end as `xtask/runners/expected.toml` says: cheats, which every runner may be tried
//! with, and evasions, which are particular to a few. What is expected stands in `xtask/runners/results.md`, too, as tables.

mod elsewhere;
mod installed;
mod play;
mod project;
mod table;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

use crate::tools::{built, need};
use elsewhere::Machine;
use installed::Installed;
use play::Play;
use project::{Also, Cheat, Cheats, Runner};
use table::{Answers, Expected, PASSES, came_through, honest};

/// What is played.
#[derive(Debug, Args)]
pub struct Runners {
    /// Only these runners, by the names of their files in `xtask/runners/projects`
    #[arg(value_name = "RUNNER")]
    names: Vec<String>,
    /// Only these cheats and evasions, by their names in `xtask/runners`
    #[arg(long, value_name = "CHEAT")]
    cheat: Vec<String>,
    /// No cheats, only honest runs
    #[arg(long)]
    honest: bool,
    /// Have an empty Debian look at what comes of it, which can run pytest alone
    #[arg(long)]
    debian: bool,
    /// The program, also by the variable `TM`; that of the tests if left out
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Print every answer
    #[arg(long)]
    verbose: bool,
}

impl Runners {
    /// All cheats with all runners; or with pytest, where an empty Debian looks at what comes of them.
    pub fn everything(debian: bool) -> Self {
        Self {
            names: Vec::new(),
            cheat: Vec::new(),
            honest: false,
            debian,
            program: None,
            verbose: false,
        }
    }
}

/// Plays them; whether all ended as is expected, and the table says so. What is expected is written anew with `UPDATE_EXPECTED=1`,
/// the table with `UPDATE_DOCS=1`.
pub fn run(wanted: &Runners) -> io::Result<bool> {
    need("git", "git")?;
    let cheats = project::cheats()?;
    let all = project::runners(&cheats)?;
    let said = wanted.program.clone();
    let program = match said.or_else(|| std::env::var_os("TM").map(PathBuf::from)) {
        Some(program) => std::path::absolute(program)?,
        None => std::fs::canonicalize(built("tm")?)?,
    };
    let debian = wanted.debian.then(Machine::debian).transpose()?;
    let games = games((wanted, debian), &all, &cheats, &program)?;
    let update = !wanted.debian && std::env::var_os("UPDATE_EXPECTED").is_some();
    // Written down as they come: all of them take long.
    let expected = Mutex::new(Expected::read()?);
    let settle = |runner: &Runner, answers: Option<Answers>| {
        let (Some(answers), Ok(mut expected)) = (answers, expected.lock()) else {
            return Ok(false);
        };
        if !update {
            return Ok(expected.holds(&runner.key, &answers, wanted.debian));
        }
        expected.replace(&runner.key, answers);
        expected.write(&all, &cheats)?;
        Ok(true)
    };
    let good = play_all(&games, &settle)?;
    let expected = expected
        .into_inner()
        .map_err(|_| io::Error::other(PANICKED))?;
    Ok(expected.is_in_the_docs(&all, &cheats)? && good)
}

/// One runner with all that is played with it.
struct Game<'a> {
    wanted: &'a Runners,
    runner: &'a Runner,
    installed: Installed,
    cheats: &'a Cheats,
    program: &'a Path,
    debian: Option<Machine>,
}

/// The runners that are wanted and can be played here, with what they need. Of each other one it is said what is missing.
fn games<'a>(
    (wanted, debian): (&'a Runners, Option<Machine>),
    all: &'a [Runner],
    cheats: &'a Cheats,
    program: &'a Path,
) -> io::Result<Vec<Game<'a>>> {
    let mut games = Vec::new();
    for runner in all {
        if !wanted.names.is_empty() && !wanted.names.contains(&runner.key) {
            continue;
        }
        if debian.is_some() && runner.key != "pytest" {
            continue;
        }
        let missing = installed::missing(&runner.needs);
        if !missing.is_empty() {
            let missing = missing.join(", ");
            println!("{}: not played, for want of {missing}", runner.key);
            continue;
        }
        games.push(Game {
            wanted,
            runner,
            installed: installed::install(runner)?,
            cheats,
            program,
            debian: debian.clone(),
        });
    }
    Ok(games)
}

const PANICKED: &str = "a player panicked";

/// Plays them, as many at a time as the machine has processors; whether `settle` finds all that came of them good.
fn play_all(
    games: &[Game<'_>],
    settle: &(impl Fn(&Runner, Option<Answers>) -> io::Result<bool> + Sync),
) -> io::Result<bool> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let play_on = || {
        let mut good = true;
        while let Some(game) = games.get(next.fetch_add(1, Ordering::Relaxed)) {
            good &= settle(game.runner, game.answers()?)?;
        }
        Ok(good)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(play_on)).collect();
        let ended = workers.into_iter().map(|worker| {
            let panicked = |_| io::Error::other(PANICKED);
            worker.join().map_err(panicked).flatten()
        });
        ended.collect::<io::Result<Vec<bool>>>()
    })
    .map(|all| all.into_iter().all(|good| good))
}

impl Game<'_> {
    /// What became of each cheat and each other honest run, by their names; none where the honest run was refused.
    fn answers(&self) -> io::Result<Option<Answers>> {
        let begun = Instant::now();
        let runner = self.runner;
        let work = tempfile::tempdir()?;
        let mut play = self.play(runner, work.path())?;
        let mut refused = play.honest()?;
        if refused.is_none() {
            refused = play.go_to_red()?;
        }
        if let Some(refusal) = refused {
            let (key, answer) = (&runner.key, refusal.answer);
            println!("{key}: the honest run was refused: {answer}");
            return Ok(None);
        }
        let mut answers = Answers::new();
        for cheat in self.cheats.of(runner) {
            if self.wants(&cheat.name) && !self.wanted.honest {
                answers.insert(cheat.name.clone(), self.cheat(&mut play, cheat)?);
            }
        }
        for also in &runner.also {
            let name = honest(also);
            if self.wants(&name) {
                answers.insert(name, self.called(also)?);
            }
        }
        println!(
            "{}: the honest run went through; {} others played ({} s){}",
            runner.key,
            answers.len(),
            begun.elapsed().as_secs(),
            play.usual_warnings()
        );
        Ok(Some(answers))
    }

    fn play<'a>(&'a self, runner: &'a Runner, folder: &Path) -> io::Result<Play<'a>> {
        let how = (self.debian.clone(), self.wanted.verbose);
        Play::new(runner, &self.installed, self.program, folder, how)
    }

    fn wants(&self, name: &String) -> bool {
        self.wanted.cheat.is_empty() || self.wanted.cheat.contains(name)
    }

    fn cheat(&self, play: &mut Play<'_>, cheat: &Cheat) -> io::Result<String> {
        let (key, name) = (&self.runner.key, &cheat.name);
        if self.wanted.verbose {
            println!("\n== {key}: {name}");
        }
        let answer = play.cheat(cheat)?.to_string();
        match (came_through(&answer), self.cheats.is_honest(cheat)) {
            (true, false) if cheat.passes.is_none() => {
                println!("{key}: {name} came through, and nothing says why it may");
            }
            (false, true) => println!("{key}: {name} is honest, and was refused: {answer}"),
            _ => {}
        }
        Ok(answer)
    }

    /// The code with which the honest run is refused where the runner is called in another way, if it is.
    fn called(&self, also: &Also) -> io::Result<String> {
        if self.wanted.verbose {
            println!("\n== {}: {}", self.runner.key, also.command);
        }
        let other = self.runner.called(also);
        let work = tempfile::tempdir()?;
        let Some(refusal) = self.play(&other, work.path())?.honest()? else {
            return Ok(PASSES.to_owned());
        };
        let (command, answer) = (&also.command, refusal.answer);
        println!(
            "{}: the honest run of `{command}` was refused: {answer}",
            self.runner.key
        );
        Ok(refusal.code)
    }
}
