//! The reader of the JSON lines of libtest.
#![no_main]

mod test_report;

use evidence::TestFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| test_report::check(bytes, TestFormat::LibtestJson));
