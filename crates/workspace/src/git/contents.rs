//! What is in the files of the working tree.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use journal::digest::hex;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::command::nul_separated;
use super::error::GitError;
use super::fingerprint::FingerprintRequest;
use super::oid::Oid;
use super::path::RepoPath;
use super::repository::Repository;
use super::secret::{SECRET_HEAD_BYTES, looks_secret};
use super::status::TreeStatus;

/// How far git looks for a NUL byte to tell a binary file.
const BINARY_PROBE: usize = 8000;

/// What a file holds, so that it can be compared: its kind and the SHA-256 of its bytes, or of a link's target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentId(String);

impl ContentId {
    /// The text to keep and compare.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lines added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineStat {
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
}

impl std::fmt::Display for LineStat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "+{},-{}", self.added, self.removed)
    }
}

impl Repository {
    /// What each of the files holds now; `None` where there is none. A mode that git would record counts too.
    pub fn hash_files(
        &self,
        paths: &[RepoPath],
    ) -> Result<Vec<(RepoPath, Option<ContentId>)>, GitError> {
        paths
            .iter()
            .map(|path| {
                let absolute = self.absolute(path);
                if absolute.join(".git").symlink_metadata().is_ok() {
                    return Ok((path.clone(), Some(self.repository_content(path)?)));
                }
                let content = content_of(&absolute).map_err(|error| {
                    GitError::io(format!("cannot read {}", absolute.display()), error)
                })?;
                Ok((path.clone(), content))
            })
            .collect()
    }

    /// What a submodule holds: the commit that is checked out there, and the files that are not as it has them.
    fn repository_content(&self, path: &RepoPath) -> Result<ContentId, GitError> {
        let Ok(inner) = self.repository_at(path) else {
            return Ok(ContentId("repository:none".to_owned()));
        };
        let status = inner.status()?;
        let tree = inner.fingerprint(&status, &FingerprintRequest::default())?;
        let head = status.head.as_ref().map_or("none", Oid::as_str);
        Ok(ContentId(format!("repository:{head}:{}", tree.tree)))
    }

    /// Which of the files look as if they held a secret ([`looks_secret`]). One that is not there does not.
    pub fn secret_files(&self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, GitError> {
        let mut found = Vec::new();
        for path in paths {
            let absolute = self.absolute(path);
            let cannot = |error| GitError::io(format!("cannot read {}", absolute.display()), error);
            let head = match open_regular(&absolute).map_err(cannot)? {
                Opened::File(file, _) => {
                    let mut head = Vec::new();
                    file.take(SECRET_HEAD_BYTES as u64)
                        .read_to_end(&mut head)
                        .map_err(cannot)?;
                    head
                }
                Opened::Absent => continue,
                Opened::Link | Opened::Other => Vec::new(),
            };
            if looks_secret(path, &head) {
                found.push(path.clone());
            }
        }
        Ok(found)
    }

    /// Lines added and removed in the given files, from a commit to the working tree. Binary files count nothing;
    /// files that git does not know, by the `status` of the tree, count with all their lines.
    pub fn diff_stat(
        &self,
        from: &Oid,
        paths: &[RepoPath],
        status: &TreeStatus,
    ) -> Result<LineStat, GitError> {
        let untracked = status.changes.iter().filter(|change| change.untracked);
        let untracked: HashSet<&RepoPath> = untracked.map(|change| &change.path).collect();
        let (new, wanted): (BTreeSet<&RepoPath>, BTreeSet<&RepoPath>) =
            paths.iter().partition(|path| untracked.contains(path));
        let mut stat = LineStat::default();
        for path in new {
            stat.added += self.count_lines(path)?;
        }
        if wanted.is_empty() {
            return Ok(stat);
        }
        let output = self
            .git()
            .args([
                "diff",
                "--numstat",
                "-z",
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--no-relative",
            ])
            .args([
                "--ignore-submodules=dirty",
                "-O/dev/null",
                from.as_str(),
                "--",
            ])
            .run()?;
        for record in output
            .split(|byte| *byte == 0)
            .filter(|record| !record.is_empty())
        {
            let mut fields = record.splitn(3, |byte| *byte == b'\t');
            let (Some(added), Some(removed), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                return Err(GitError::unexpected(
                    "git diff --numstat",
                    String::from_utf8_lossy(record),
                ));
            };
            if wanted.contains(&RepoPath::trusted(path)) {
                // Binary files have a dash here.
                let count =
                    |field: &[u8]| String::from_utf8_lossy(field).parse::<u64>().unwrap_or(0);
                stat.added += count(added);
                stat.removed += count(removed);
            }
        }
        Ok(stat)
    }

    /// The stretches of lines that were added or changed in a file from one tree to another: the first line of each and the last,
    /// counted from 1.
    pub fn added_lines(
        &self,
        (from, to): (&Oid, &Oid),
        path: &RepoPath,
    ) -> Result<Vec<(u32, u32)>, GitError> {
        let output = self
            .git()
            .args(["diff", "--unified=0", "--no-color", "--no-renames"])
            .args(["--no-ext-diff", "--no-textconv", "--no-relative"])
            .args([from.as_str(), to.as_str(), "--"])
            .arg(path.as_os_str())
            .run()?;
        let text = String::from_utf8_lossy(&output);
        // `@@ -12,3 +14,2 @@`: of what is there now two lines, from the fourteenth on.
        let heads = text.lines().filter_map(|line| line.strip_prefix("@@ -"));
        let added = heads.filter_map(|head| {
            let place = head.split_once(" +")?.1.split(' ').next()?;
            let (first, many) = place.split_once(',').unwrap_or((place, "1"));
            let (first, many) = (first.parse::<u32>().ok()?, many.parse::<u32>().ok()?);
            (many > 0).then(|| (first, first.saturating_add(many - 1)))
        });
        Ok(added.collect())
    }

    fn count_lines(&self, path: &RepoPath) -> Result<u64, GitError> {
        let absolute = self.absolute(path);
        let count = || -> io::Result<u64> {
            match open_regular(&absolute)? {
                Opened::File(file, _) => lines_of(file),
                Opened::Link => Ok(1),
                Opened::Absent | Opened::Other => Ok(0),
            }
        };
        count().map_err(|error| GitError::io(format!("cannot read {}", absolute.display()), error))
    }

    /// Where a path really leads that a link takes out of the working tree, if the link is the repository's own: one that is
    /// in the index. A link that somebody made here themselves is theirs to follow.
    pub fn led_out(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let Ok(inside) = path.strip_prefix(self.top_level()) else {
            return Ok(None);
        };
        for part in inside.ancestors() {
            let link = self.top_level().join(part);
            if !link.is_symlink() {
                continue;
            }
            // One that leads to nothing would have it made wherever it says.
            let real = fs::canonicalize(&link).or_else(|_| fs::read_link(&link));
            let real = real.unwrap_or_else(|_| link.clone());
            if !real.starts_with(self.top_level()) && self.is_link_of_its_own(part)? {
                return Ok(Some(real));
            }
        }
        Ok(None)
    }

    /// Whether a symbolic link below the top level came with the repository: the index has it there, or a submodule that
    /// it lies in.
    fn is_link_of_its_own(&self, path: &Path) -> Result<bool, GitError> {
        for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let mode: &[u8] = if part == path { b"120000 " } else { b"160000 " };
            let entry = self
                .git()
                .args(["ls-files", "-z", "--stage", "--"])
                .arg(part.as_os_str())
                .run()?;
            let name = [b"\t", part.as_os_str().as_bytes()].concat();
            if nul_separated(&entry).any(|entry| entry.starts_with(mode) && entry.ends_with(&name))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether git ignores whatever is made in this folder, and has nothing of it in the index. A folder outside of the
    /// working tree is none of git's, and so is the git folder.
    pub fn is_private(&self, folder: &Path) -> Result<bool, GitError> {
        if folder.starts_with(self.git_dir()) || folder.starts_with(self.common_dir()) {
            return Ok(true);
        }
        let Ok(inside) = folder.strip_prefix(self.top_level()) else {
            return Ok(true);
        };
        let Ok(probe) = RepoPath::from_bytes(inside.join("any").as_os_str().as_bytes()) else {
            return Ok(false);
        };
        let listed = self
            .git()
            .args(["ls-files", "-z", "--cached", "--"])
            .arg(if inside.as_os_str().is_empty() {
                Path::new(".")
            } else {
                inside
            })
            .run()?;
        Ok(listed.is_empty() && self.is_ignored(&probe)?)
    }

    /// Whether the file is one that git ignores. One that is in the index never is.
    pub fn is_ignored(&self, path: &RepoPath) -> Result<bool, GitError> {
        // This command knows no literal paths. A path that begins with a dot is never taken for a pattern.
        let git =
            self.git()
                .env("GIT_LITERAL_PATHSPECS", "0")
                .args(["check-ignore", "--quiet", "--"]);
        Ok(git
            .arg(Path::new(".").join(path.to_path_buf()))
            .run_if()?
            .is_some())
    }
}

enum Opened {
    File(File, fs::Metadata),
    Link,
    Other,
    Absent,
}

/// Opens a regular file. A pipe or a device in the tree is not waited for, and a link not followed.
fn open_regular(path: &Path) -> io::Result<Opened> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absence(&error) => return Ok(Opened::Absent),
        Err(error) => return Err(error),
    };
    if metadata.is_symlink() {
        return Ok(Opened::Link);
    }
    if !metadata.is_file() {
        return Ok(Opened::Other);
    }
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => Ok(Opened::File(file, metadata)),
        Err(error) if is_absence(&error) => Ok(Opened::Absent),
        Err(error) => Err(error),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn content_of(path: &Path) -> io::Result<Option<ContentId>> {
    let (kind, digest) = match open_regular(path)? {
        Opened::Absent => return Ok(None),
        Opened::Other => return Ok(Some(ContentId("other".to_owned()))),
        Opened::Link => (
            "link",
            Sha256::digest(fs::read_link(path)?.as_os_str().as_bytes()),
        ),
        Opened::File(mut file, metadata) => {
            let executable = metadata.permissions().mode() & 0o100 != 0;
            let mut hash = Sha256::new();
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match file.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => hash.update(&buffer[..count]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            (
                if executable { "executable" } else { "file" },
                hash.finalize(),
            )
        }
    };
    Ok(Some(ContentId(format!("{kind}:{}", hex(&digest)))))
}

fn lines_of(file: File) -> io::Result<u64> {
    let mut file = file;
    let mut buffer = vec![0; 64 * 1024];
    let mut lines = 0;
    let mut position = 0;
    let mut last = b'\n';
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..count];
        let probed = BINARY_PROBE.saturating_sub(position).min(count);
        if bytes[..probed].contains(&0) {
            return Ok(0);
        }
        lines += bytes
            .iter()
            .map(|byte| u64::from(*byte == b'\n'))
            .sum::<u64>();
        last = bytes[count - 1];
        position += count;
    }
    Ok(lines + u64::from(last != b'\n'))
}
