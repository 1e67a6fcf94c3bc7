//! Feeds one reader of foreign text, the one that the variable `READER` names: a folder of `corpus`.
//!
//! One program for all of them is linked once. A reader of reports has the name of its format, with `_` for `-`.
#![no_main]

mod readers;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

use readers::Reader;

static READER: LazyLock<Reader> = LazyLock::new(|| {
    let name = std::env::var("READER").unwrap_or_default();
    Reader::named(&name).unwrap_or_else(|| panic!("READER names no reader: `{name}`"))
});

fuzz_target!(|bytes: &[u8]| READER.check(bytes));
