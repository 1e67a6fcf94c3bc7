//! Faults at each system call of the program, and what it makes of them.
//!
//! A story is a run, command by command. Before each command all files are kept. Then the command is
//! run again and again: it is watched by `ptrace`, and at its n-th call that changes a file everything dies, or the
//! program alone, or the call fails, or the power goes. Then whoever called repeats it, and what comes of that is held
//! against the same command left in peace: nothing that was acknowledged may be gone, nothing may be there twice, no lock
//! may be left, and the journal must be whole.

mod damage;
mod power;
mod story;
mod trace;
mod trial;

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use story::Story;
use trace::Fault;
use trial::Tally;

use crate::tools::{command, passes, side_by_side};

/// What is tried.
#[derive(Debug, Args)]
pub struct Chaos {
    /// Which faults; all of them if none is named
    #[arg(value_enum)]
    faults: Vec<Kind>,
    /// Only these stories
    #[arg(long = "story", value_parser = story::named, value_name = "STORY")]
    stories: Vec<&'static Story>,
    /// The program; that of the tests if left out
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// So many trials of each kind and story, chosen by chance; every place if left out
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// What chance begins with: the same number chooses the same places
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the n-th place of this command, as a failure names it: `COMMAND:N`
    #[arg(long, value_name = "PLACE")]
    only: Option<String>,
}

impl Chaos {
    /// All kinds, at every place.
    pub fn everything() -> Self {
        Self {
            faults: Vec::new(),
            stories: Vec::new(),
            program: None,
            sample: None,
            seed: 1,
            only: None,
        }
    }

    /// All kinds but `power`, which takes a right, at so many places of each kind and story.
    pub fn sample(count: usize) -> Self {
        let kinds = Kind::ALL.into_iter();
        Self {
            faults: kinds.filter(|kind| *kind != Kind::Power).collect(),
            sample: Some(count),
            ..Self::everything()
        }
    }
}

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Everything dies: the program and every process that it started
    Kill,
    /// The program dies, and what it started goes on
    KillAlone,
    /// The call fails: input or output error, no space left, permission denied
    Errors,
    /// The power goes, on a file system in a file; needs the right to mount
    Power,
    /// Bytes and lines of the journal are changed, lost, repeated and swapped
    Damage,
    /// Nothing: counts what is flushed by each command
    Flushes,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Kill,
        Self::KillAlone,
        Self::Errors,
        Self::Power,
        Self::Damage,
        Self::Flushes,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::KillAlone => "kill-alone",
            Self::Errors => "errors",
            Self::Power => "power",
            Self::Damage => "damage",
            Self::Flushes => "flushes",
        }
    }
}

/// Carries it out; whether all came to a good end.
pub fn run(chaos: &Chaos) -> io::Result<bool> {
    let program = match &chaos.program {
        Some(program) => program.clone(),
        None => crate::tools::built("tm")?,
    };
    let program = std::fs::canonicalize(&program).map_err(|error| {
        let what = format!("{}: {error} (build it first)", program.display());
        io::Error::new(error.kind(), what)
    })?;
    let kinds = if chaos.faults.is_empty() {
        &Kind::ALL[..]
    } else {
        &chaos.faults[..]
    };
    let stories = if chaos.stories.is_empty() {
        story::ALL
    } else {
        &chaos.stories[..]
    };
    let all = kinds
        .iter()
        .flat_map(|kind| stories.iter().map(|story| (*kind, *story)));
    let is_told = |(kind, story): &(Kind, &Story)| {
        !matches!(kind, Kind::Damage | Kind::Flushes) || !story.flushes.is_empty()
    };
    let all: Vec<(Kind, &Story)> = all.filter(is_told).collect();
    if let [(kind, story)] = all[..] {
        return alone(chaos, &program, kind, story);
    }
    // Each in a process of its own, as whoever watches one waits for every child that there is.
    let own = std::env::current_exe()?;
    side_by_side(all, |(kind, story)| {
        let mut command = command(&own);
        command.args(["chaos", kind.name(), "--story", story.name]);
        command.arg("--program").arg(&program);
        command.arg("--seed").arg(chaos.seed.to_string());
        if let Some(sample) = chaos.sample {
            command.arg("--sample").arg(sample.to_string());
        }
        if let Some(only) = &chaos.only {
            command.arg("--only").arg(only);
        }
        passes(&mut command)
    })
}

fn alone(chaos: &Chaos, program: &Path, kind: Kind, story: &Story) -> io::Result<bool> {
    let mut random = fastrand::Rng::with_seed(chaos.seed);
    let mut choice = trial::Choice {
        sample: chaos.sample,
        only: chaos.only.as_deref(),
        random: &mut random,
    };
    let tally = match kind {
        Kind::Kill => trial::run(program, story, &[Fault::KillAll], &mut choice)?,
        Kind::KillAlone => trial::run(program, story, &[Fault::KillRoot], &mut choice)?,
        Kind::Errors => trial::run(program, story, &Fault::ERRORS, &mut choice)?,
        Kind::Power => power::run(program, story, &mut choice)?,
        Kind::Damage => damage::run(program, story, &mut choice)?,
        Kind::Flushes => trial::flushes(program, story)?,
    };
    Ok(told(chaos, kind, story, &tally))
}

fn told(chaos: &Chaos, kind: Kind, story: &Story, tally: &Tally) -> bool {
    let Tally {
        trials,
        bad,
        skipped,
    } = tally;
    if let Some(why) = skipped {
        println!("{} {}: skipped: {why}", kind.name(), story.name);
        return true;
    }
    println!(
        "{} {}: {trials} trials, {} bad ends",
        kind.name(),
        story.name,
        bad.len()
    );
    for (place, why) in bad {
        println!("  {place}: {why}");
        println!(
            "    again: cargo xtask chaos {} --story {} --seed {} --only '{place}'",
            kind.name(),
            story.name,
            chaos.seed
        );
    }
    bad.is_empty()
}
