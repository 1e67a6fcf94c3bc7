//! How a debug build is linked.

use std::env;

/// The tests start the program some twenty thousand times. At a fixed address it has nothing to relocate each time, which is a
/// quarter of what starting takes; a program that is given away is linked as ever.
fn main() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
