//! Places where a test may have the process die, as a kill at that instant would.
//!
//! `TRAMLINE_FAIL_POINT=name` (or `name:N` for the N-th time it is reached) ends the process there,
//! without unwinding; with `TRAMLINE_FAIL_TRACE` it says first by which calls it came there. A release build has no such places.

/// The places, in the order in which a commit passes them. `io` stands before and after each change that a session makes to
/// its folder, so that one name and a count come to all of them.
pub const NAMES: [&str; 26] = [
    "before-append",
    "after-append",
    "derived-before-state",
    "after-derived",
    "before-perform",
    "commit-before-tasks",
    "commit-after-tasks",
    "commit-unrecorded",
    "commit-in-git",
    "commit-after-git",
    "after-perform",
    "branch-in-git",
    "branch-after-switch",
    "start-after-folder",
    "end-before-report",
    "prompt-before-file",
    "prompt-after-file",
    "io",
    "push-in-git",
    "push-after-push",
    "push-after-proof",
    "request-after-create",
    "request-after-labels",
    "rewind-in-git",
    "rewind-after-git",
    "rewind-after-tasks",
];

/// Dies here, if the environment says so.
#[cfg(debug_assertions)]
pub(crate) fn reach(name: &'static str) {
    use std::backtrace::Backtrace;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicU32, Ordering};
    static REACHED: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("TRAMLINE_FAIL_POINT") else {
        return;
    };
    let (wanted, time) = match wanted.split_once(':') {
        Some((wanted, time)) => (wanted, time.parse().unwrap_or(1)),
        None => (wanted.as_str(), 1),
    };
    if wanted == name && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == time {
        if std::env::var_os("TRAMLINE_FAIL_TRACE").is_some() {
            let _ = writeln!(std::io::stderr(), "{}", Backtrace::force_capture());
        }
        std::process::abort();
    }
}

/// Makes a change to a run's folder, with a place to die before and after it.
pub(crate) fn io<T, E>(change: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    reach("io");
    let done = change()?;
    reach("io");
    Ok(done)
}

/// Nothing: this is a release build.
#[cfg(not(debug_assertions))]
pub(crate) fn reach(_name: &'static str) {}
