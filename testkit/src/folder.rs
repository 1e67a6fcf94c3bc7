//! Where tests put what they need.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// What a file system in memory has to have free, in bytes, to be taken.
const ROOM: u64 = 1 << 30;

/// A folder that is thrown away. Nothing in it has to outlive the test, and flushing is most of what a small command does: it is
/// in memory where that can be had, unless `TMPDIR` says where.
pub fn folder() -> TempDir {
    let on = parent();
    tempfile::Builder::new()
        .prefix("t")
        .tempdir_in(&on)
        .unwrap_or_else(|error| panic!("{}: {error}", on.display()))
}

fn parent() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let has_room = || {
        let about = rustix::fs::statvfs(memory).ok()?;
        let can_run = !about.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
        (can_run && about.f_bavail * about.f_frsize >= ROOM).then_some(())
    };
    let is_said = std::env::var_os("TMPDIR").is_some();
    if !is_said && has_room().is_some() && tempfile::tempfile_in(memory).is_ok() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}
