//! How fast reports of 100 MB are read, beside what it takes to count their lines; and how much memory that takes.
//!
//! The memory is the peak of a process that reads one report and does nothing else: this program starts itself for it.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use criterion::{Criterion, Throughput, criterion_group};

/// The argument with which this program reads one report and tells its peak of memory.
const READ_ONCE: &str = "--read-once";

const KINDS: [(&str, Generate); 2] = [("junit", write_junit), ("lcov", write_lcov)];

type Generate = fn(&mut dyn Write, u64) -> io::Result<()>;

/// Counts what goes through it.
struct Counted<'a> {
    inner: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

const fn fails(case: u64) -> bool {
    case % 100 == 7
}

const fn is_skipped(case: u64) -> bool {
    case % 53 == 11 && !fails(case)
}

/// Suites of 40 cases; one case in a hundred fails with a stack trace, some are skipped, most suites have printed something.
fn write_junit(to: &mut dyn Write, size: u64) -> io::Result<()> {
    let mut to = Counted {
        inner: to,
        bytes: 0,
    };
    writeln!(to, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(to, r#"<testsuites name="shop">"#)?;
    let mut case = 0_u64;
    let mut suite = 0_u64;
    while to.bytes < size {
        let first = case;
        let of_suite = || first..first + 40;
        let failures = of_suite().filter(|case| fails(*case)).count();
        let skipped = of_suite().filter(|case| is_skipped(*case)).count();
        writeln!(
            to,
            r#"  <testsuite name="org.example.shop.module{}.CartSuite{suite}Test" tests="40" failures="{failures}" errors="0" skipped="{skipped}" time="4.312" timestamp="2026-11-21T10:00:00" hostname="localhost">"#,
            suite % 30
        )?;
        writeln!(
            to,
            "    <properties>\n      <property name=\"java.version\" value=\"21.0.5\"/>\n      <property name=\"user.language\" value=\"en\"/>\n    </properties>"
        )?;
        for _ in 0..40 {
            write!(
                to,
                r#"    <testcase name="adds item {case} to the cart &amp; keeps the total" classname="org.example.shop.module{}.CartSuite{suite}Test" time="0.{:03}""#,
                suite % 30,
                case % 1000
            )?;
            if fails(case) {
                writeln!(
                    to,
                    ">\n      <failure message=\"expected: &lt;{case}&gt; but was: &lt;0&gt;\" type=\"org.opentest4j.AssertionFailedError\">org.opentest4j.AssertionFailedError: expected: &lt;{case}&gt; but was: &lt;0&gt;"
                )?;
                for line in 0..25 {
                    writeln!(
                        to,
                        "\tat org.example.shop.module{}.Cart.step{line}(Cart.java:{})",
                        suite % 30,
                        100 + line
                    )?;
                }
                writeln!(to, "</failure>\n    </testcase>")?;
            } else if is_skipped(case) {
                writeln!(
                    to,
                    ">\n      <skipped message=\"not yet\"/>\n    </testcase>"
                )?;
            } else {
                writeln!(to, "/>")?;
            }
            case += 1;
        }
        if !suite.is_multiple_of(3) {
            write!(to, "    <system-out><![CDATA[")?;
            for line in 0..30 {
                writeln!(
                    to,
                    "2026-11-21 10:00:00.{line:03} INFO  [main] o.e.shop.Cart - loaded {line} items <ok> & done"
                )?;
            }
            writeln!(to, "]]></system-out>")?;
        }
        writeln!(to, "  </testsuite>")?;
        suite += 1;
    }
    writeln!(to, "</testsuites>")
}

/// Files of 400 lines with 20 functions and 80 branches, two of three lines reached.
fn write_lcov(to: &mut dyn Write, size: u64) -> io::Result<()> {
    let mut to = Counted {
        inner: to,
        bytes: 0,
    };
    let mut file = 0_u64;
    while to.bytes < size {
        writeln!(
            to,
            "TN:\nSF:/shop/src/module{}/part{file}/cart.cpp",
            file % 40
        )?;
        for function in 0..20 {
            writeln!(to, "FN:{},_ZN4shop4Cart{function}Ev", 1 + function * 30)?;
        }
        for function in 0..20 {
            writeln!(to, "FNDA:{},_ZN4shop4Cart{function}Ev", function % 3)?;
        }
        writeln!(to, "FNF:20\nFNH:13")?;
        for branch in 0..80 {
            writeln!(
                to,
                "BRDA:{},0,{},{}",
                2 + branch * 7,
                branch % 2,
                branch % 2
            )?;
        }
        writeln!(to, "BRF:80\nBRH:40")?;
        for line in 0..400 {
            let count = if line % 3 == 0 { 0 } else { line * 37 + file };
            writeln!(to, "DA:{},{count}", 1 + line * 3 / 2)?;
        }
        writeln!(to, "LF:400\nLH:266\nend_of_record")?;
        file += 1;
    }
    Ok(())
}

fn read(kind: &str, path: &Path) {
    let file = File::open(path).expect("the report that was just written");
    if kind == "junit" {
        black_box(test_report::read_tests(file, None).expect("a report"));
    } else {
        black_box(test_report::read_coverage(file, None).expect("a report"));
    }
}

/// What no reader can do without: every byte is fetched, and looked at for the ends of lines.
fn count_lines(path: &Path) -> u64 {
    let mut file = BufReader::with_capacity(64 * 1024, File::open(path).expect("the report"));
    let mut lines = 0;
    loop {
        let chunk = file.fill_buf().expect("the report");
        if chunk.is_empty() {
            return lines;
        }
        lines += chunk
            .iter()
            .map(|byte| u64::from(*byte == b'\n'))
            .sum::<u64>();
        let length = chunk.len();
        file.consume(length);
    }
}

fn reading(criterion: &mut Criterion) {
    let tried = env::args().any(|argument| argument == "--test");
    let size = if tried { 1_000_000 } else { 100_000_000 };
    let folder: PathBuf = env::temp_dir().join(format!("evidence-reading-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    for (kind, generate) in KINDS {
        let path = folder.join(kind);
        let mut file = BufWriter::new(File::create(&path).expect("a temporary file"));
        generate(&mut file, size).expect("a report");
        file.into_inner()
            .expect("a report")
            .sync_all()
            .expect("a report");
        let bytes = fs::metadata(&path).expect("the report").len();
        tell_memory(kind, &path, bytes);
        let mut group = criterion.benchmark_group(kind);
        group.sample_size(10).throughput(Throughput::Bytes(bytes));
        group.bench_function("read", |bencher| bencher.iter(|| read(kind, &path)));
        group.bench_function("count lines", |bencher| bencher.iter(|| count_lines(&path)));
        group.finish();
    }
    fs::remove_dir_all(&folder).expect("the temporary folder");
}

/// The peak of memory of a process that reads this report.
fn tell_memory(kind: &str, path: &Path, bytes: u64) {
    let program = env::current_exe().expect("this program");
    let run = Command::new(program)
        .args([READ_ONCE, kind])
        .arg(path)
        .output();
    let output = run.expect("this program, started by itself");
    assert!(output.status.success(), "{output:?}");
    let peak = String::from_utf8_lossy(&output.stdout);
    let told = format!("{kind}: {bytes} bytes, peak of memory {}\n", peak.trim());
    io::stderr().write_all(told.as_bytes()).expect("a terminal");
}

/// Reads one report, and says how much memory this process had at most.
fn read_once(kind: &str, path: &Path) {
    read(kind, path);
    let peak = fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
            Some(line.trim_start_matches("VmHWM:").trim().to_owned())
        })
        .unwrap_or_else(|| "not known on this system".to_owned());
    io::stdout().write_all(peak.as_bytes()).expect("a pipe");
}

criterion_group!(benches, reading);

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, flag, kind, path] = &arguments[..]
        && flag == READ_ONCE
    {
        return read_once(kind, Path::new(path));
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
