//! Made-up input for every reader of foreign text.
//!
//! One program has all readers (`fuzz/fuzz_targets`); a folder of `fuzz/corpus` is named after each, and has seeds for it. More
//! seeds are the cases of the tests (`crates/*/tests/it/corpus`); what may well stand in such text is in `fuzz/dictionaries`. What
//! is found is kept among what is built; input that breaks something is left in `fuzz/artifacts`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Args;

use crate::tools::{cache, cargo, command, host, need, passes, root, run, side_by_side};

/// How libFuzzer wants a program to be compiled (<https://llvm.org/docs/LibFuzzer.html>, "SanitizerCoverage"): it is told which
/// branches were taken, and what was compared with what. Two of these options are not stable; the toolchain that compiles all else
/// takes them when it is told to.
const INSTRUMENTS: &[&str] = &[
    "-Zsanitizer=address",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "--cfg=fuzzing",
];
/// Where the cases of the readers of reports are, by format.
const REPORTS: &str = "crates/test-report/tests/it/corpus";

/// What a reader may take.
const LIMITS: &[&str] = &["-rss_limit_mb=2048"];
/// More would be out of proportion to a report of at most 4096 bytes.
const LIMITS_FOR_REPORTS: &[&str] = &["-rss_limit_mb=1024", "-malloc_limit_mb=256"];

/// How long each reader is fed.
#[derive(Debug, Args)]
pub struct Fuzz {
    /// Seconds for each reader of responses and documents
    #[arg(default_value_t = 15)]
    seconds: u32,
    /// Seconds for each reader of test reports and of coverage, of which there are many
    #[arg(default_value_t = 4)]
    seconds_for_reports: u32,
    /// Only this reader: a folder of `fuzz/corpus`
    #[arg(long, value_name = "NAME")]
    reader: Option<String>,
}

impl Fuzz {
    /// All readers, for so many seconds.
    pub fn lasting(seconds: u32, seconds_for_reports: u32) -> Self {
        Self {
            seconds,
            seconds_for_reports,
            reader: None,
        }
    }
}

/// Feeds them; whether all held.
pub fn run_all(fuzz: &Fuzz) -> io::Result<bool> {
    need("c++", "g++")?;
    let program = built()?;
    let names: Vec<String> = match &fuzz.reader {
        Some(name) => vec![name.clone()],
        None => readers()?,
    };
    side_by_side(names, |name| {
        feed(fuzz, &program, &name)
            .map(|()| true)
            .map_err(|error| io::Error::new(error.kind(), format!("fuzz {name}: {error}")))
    })
}

/// The names of all readers. A format of reports without seeds is an error: nobody would feed its reader.
fn readers() -> io::Result<Vec<String>> {
    let names = folders(&root().join("fuzz/corpus"))?;
    for format in folders(&root().join(REPORTS))? {
        let name = format.replace('-', "_");
        if !names.contains(&name) {
            let message = format!("fuzz/corpus/{name} is missing: give the reader a few seeds");
            return Err(io::Error::other(message));
        }
    }
    Ok(names)
}

fn folders(within: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(within)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The program that has all readers.
fn built() -> io::Result<PathBuf> {
    // What is instrumented need not drive out what is not.
    let target = cache("fuzz/build")?;
    let host = host()?;
    let manifest = root().join("fuzz/Cargo.toml");
    run(
        cargo(&["build", "--release", "--locked", "--target", &host])
            .arg("--manifest-path")
            .arg(manifest)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTS.join("\x1f"))
            .env("CARGO_TARGET_DIR", &target),
    )?;
    Ok(target.join(host).join("release/read"))
}

/// Feeds one reader, and says what came of it when it is over: others run beside it.
fn feed(fuzz: &Fuzz, program: &Path, name: &str) -> io::Result<()> {
    let root = root();
    let seeds = root.join("fuzz/corpus").join(name);
    if !seeds.is_dir() {
        return Err(io::Error::other("fuzz/corpus has no such folder"));
    }
    let reports = root.join(REPORTS).join(name.replace('_', "-"));
    // What a run finds goes to the first folder; the others are only read.
    let found = cache(&format!("fuzz/found/{name}"))?;
    let artifacts = root.join("fuzz/artifacts").join(name);
    fs::create_dir_all(&artifacts)?;
    let (seconds, limits) = if reports.is_dir() {
        (fuzz.seconds_for_reports, LIMITS_FOR_REPORTS)
    } else {
        (fuzz.seconds, LIMITS)
    };
    let mut fed = command(program);
    fed.env("READER", name)
        .env("ASAN_OPTIONS", "detect_odr_violation=0")
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-max_len=4096", "-print_final_stats=1"])
        .args(limits);
    let dictionary = root.join("fuzz/dictionaries").join(name);
    if dictionary.is_file() {
        fed.arg(format!("-dict={}", dictionary.display()));
    }
    fed.arg(found).arg(seeds);
    let cases = root.join("crates/markup/tests/it/corpus").join(name);
    fed.args([cases, reports].iter().filter(|folder| folder.is_dir()));

    let log = cache("fuzz")?.join(format!("{name}.log"));
    let file = File::create(&log)?;
    fed.stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let good = passes(&mut fed)?;
    // It shows what it was fed, which need not be text.
    let said = fs::read(&log)?;
    let said = String::from_utf8_lossy(&said);
    if good {
        let count = said
            .lines()
            .find(|line| line.starts_with("stat::number_of_executed_units"));
        println!(
            "fuzz {name} for {seconds} seconds: {}",
            count.unwrap_or("no count")
        );
        return Ok(());
    }
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(60)..].join("\n");
    Err(io::Error::other(format!("failed:\n{last}")))
}
