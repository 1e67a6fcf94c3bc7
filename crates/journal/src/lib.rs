//! The journal of a run: an append-only list of events on disk, and what lies around it.
//!
//! This crate knows nothing of workflows. To it an event is a name plus JSON fields.
//!
//! | module | what it holds |
//! |---|---|
//! | [`contract`] | the [`Journal`] trait: read after a position, compare-and-append |
//! | [`record`] | one line of the journal, written and read |
//! | [`file`](mod@file) | [`FileJournal`], the journal as a file under a writer lock |
//! | [`memory`] | [`MemoryJournal`], the same bytes without a file |
//! | [`follow`], [`page`](mod@page) | events as they come; some of them, without reading the others |
//! | [`verify`](mod@verify), [`repair`] | the whole chain checked; what can be done about damage |
//! | [`snapshot`], [`derived`] | caches of the truth, replaced atomically and never synced |
//! | [`evidence`] | bytes kept by their hash, synced before an event names them |
//! | [`durable`] | files that outlive a power failure, written as a whole |
//! | [`layout`] | where a project, a run and a tag have their folders |
//!
//! Formats: the journal's version is in its first line (2 since units are sealed). The lock file has two records of 512 bytes,
//! written over in place: who holds it, and where the journal ended last, with a checksum. That is written after the journal was
//! flushed, and not flushed itself: it may be older, never newer.
//!
//! Invariants: a unit of events is appended by one write followed by one fdatasync; a reader
//! sees whole units or nothing of them; nothing but a torn last unit is ever repaired unasked.

pub mod contract;
pub mod derived;
pub mod digest;
pub mod disk;
pub mod durable;
pub mod error;
pub mod evidence;
pub mod file;
pub mod follow;
pub mod layout;
pub mod lock;
pub mod memory;
pub mod page;
pub mod position;
pub mod record;
pub mod repair;
mod scan;
pub mod snapshot;
pub mod timestamp;
pub mod verify;

pub use contract::{Journal, Tail};
pub use digest::{Sha256Reader, is_sha256_hex, sha256_hex};
pub use error::{Damage, DamageKind, JournalError};
pub use evidence::{EvidenceError, EvidenceStore};
pub use file::FileJournal;
pub use follow::Follower;
pub use lock::{Holder, RunLock, Wait};
pub use memory::MemoryJournal;
pub use page::{Page, page, unit_end};
pub use position::{Head, Position};
pub use record::{FORMAT_VERSION, NewEvent, Record};
pub use repair::Repaired;
pub use snapshot::{Loaded, Snapshot, SnapshotFile, load_with_snapshot, should_snapshot};
pub use verify::{VerifyReport, verify};
