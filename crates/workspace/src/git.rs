//! The user's git repository, spoken to through the `git` program and nothing else.
//!
//! Three habits hold everywhere in this module. No shell is involved, and what comes from outside (paths, names,
//! messages) can never be taken for an option or a pattern. Output is parsed from NUL-separated machine formats.
//! Reads change nothing: they take no locks, start no monitor, and ask nobody anything.
//!
//! The one write that matters is [`Repository::commit`]. It happens once: whoever comes after a crash asks
//! [`Repository::find_our_commit`] before trying again.

mod bench;
mod benches;
mod bounded;
mod branch;
mod change;
mod checkouts;
mod command;
mod commit;
mod contents;
mod error;
mod files;
mod fingerprint;
mod history;
mod index_copy;
mod index_file;
mod join;
mod lending;
mod listing;
mod notes;
mod oid;
mod operation;
mod outside;
mod path;
mod push;
mod recovery;
mod repository;
mod rewind;
mod scratch;
mod secret;
mod setup;
mod status;
mod trees;

pub use crate::process::ProcessGroup;
pub use bench::Bench;
pub use benches::{StoredBench, stored_benches};
pub use branch::{BranchConflict, Branches};
pub use checkouts::{in_other_worktrees, is_linked, share_repository};
pub use commit::{CommitError, CommitMade, CommitRequest};
pub use contents::{ContentId, LineStat};
pub use error::{GitError, GitErrorKind};
pub use fingerprint::{Fingerprint, FingerprintRequest};
pub use history::{CommitInfo, CommittedFile, Head, TreeEntry};
pub use oid::{InvalidOid, Oid};
pub use operation::Operation;
pub use outside::{remote_tags, version};
pub use path::{InvalidRepoPath, RepoPath, is_of_git};
pub use push::{PushFailure, PushedRef, RemoteFailure, RemoteResult, RemoteTips, RemoteUrls};
pub use recovery::{CommitFate, CommitIntentRef};
pub use repository::{Identity, Repository, worktree};
pub use rewind::{TakenBack, WayBack};
pub use scratch::Scratch;
pub use secret::{SECRET_HEAD_BYTES, looks_secret};
pub use setup::Dependencies;
pub use status::{Change, StatusCode, TreeStatus};
pub use trees::TreeChange;
