//! How soon a thread gets the machine, where several want it.

/// How many steps of `nice` a thread goes back by: where all is busy it gets about a third of what another one does.
const STEPS: i32 = 5;
/// The last there is.
const LAST: i32 = 19;

/// Has the calling thread, and those that it starts from here on, give way to others where the machine is busy; for good, as only
/// root may take that back. Elsewhere than on Linux it does nothing: there such a step is one of the whole process (setpriority(2),
/// "C library/kernel differences").
pub(super) fn give_way() {
    #[cfg(target_os = "linux")]
    if let Ok(now) = rustix::process::getpriority_process(None) {
        // Who may not be put back is as fast as before.
        let _ = rustix::process::setpriority_process(None, (now + STEPS).min(LAST));
    }
}
