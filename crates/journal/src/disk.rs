//! What an append asks of the file under it, as a seam where a failing disk can be put.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};

/// A journal's file as its writer sees it. Every method follows the system call of its kind.
pub trait Disk: Debug + Send {
    /// Writes at the end of the file and returns how many bytes were taken, perhaps fewer than given.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Brings what was written onto the disk, with the length of the file: `fdatasync`.
    fn sync_data(&mut self) -> io::Result<()>;

    /// Cuts the file to `len` bytes.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Brings the file and all that is known of it onto the disk: `fsync`.
    fn sync_all(&mut self) -> io::Result<()>;
}

/// A file opened for appending.
impl Disk for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write(bytes)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        File::sync_all(self)
    }
}
