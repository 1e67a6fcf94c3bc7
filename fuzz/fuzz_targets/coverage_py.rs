//! The reader of the JSON of coverage.py.
#![no_main]

mod coverage_report;

use evidence::CoverageFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| coverage_report::check(bytes, CoverageFormat::CoveragePy));
