//! Notes on commits, in a reference of their own.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::command::{Git, one_line};
use super::error::{GitError, GitErrorKind};
use super::oid::Oid;
use super::repository::{Repository, parse_oid};
use crate::process::process_runs_in;

/// The file in the shared git folder whose lock writers of notes take: git itself does not keep two of them apart.
const LOCK_FILE: &str = "tramline-notes.lock";
/// How long a writer waits for the other.
const PATIENCE: Duration = Duration::from_secs(5);
/// A note above this length, in bytes, is nobody's line of text.
const LONGEST: usize = 64 * 1024;

impl Repository {
    /// The notes under `reference` (a full name, as `refs/notes/x`) on those of the commits that have one.
    pub fn notes(
        &self,
        reference: &str,
        commits: &[Oid],
    ) -> Result<HashMap<Oid, String>, GitError> {
        self.notes_where(reference, |on| commits.contains(on))
    }

    /// All notes under `reference`.
    pub fn all_notes(&self, reference: &str) -> Result<HashMap<Oid, String>, GitError> {
        self.notes_where(reference, |_| true)
    }

    fn notes_where(
        &self,
        reference: &str,
        is_wanted: impl Fn(&Oid) -> bool,
    ) -> Result<HashMap<Oid, String>, GitError> {
        let mut blobs: Vec<(Oid, Oid)> = Vec::new();
        let listed = self
            .git()
            .arg("notes")
            .arg(format!("--ref={reference}"))
            .arg("list")
            .run()?;
        for line in listed.split(|byte| *byte == b'\n') {
            let Some(at) = line.iter().position(|byte| *byte == b' ') else {
                continue;
            };
            let on = parse_oid("git notes list", &line[at + 1..])?;
            if is_wanted(&on) {
                blobs.push((parse_oid("git notes list", &line[..at])?, on));
            }
        }
        let ids: Vec<String> = blobs.iter().map(|(blob, _)| blob.to_string()).collect();
        let mut notes = HashMap::new();
        for ((_, on), content) in blobs.into_iter().zip(self.objects(&ids)?) {
            if let Some(content) = content.filter(|content| content.len() <= LONGEST) {
                notes.insert(on, String::from_utf8_lossy(&content).into_owned());
            }
        }
        Ok(notes)
    }

    /// Puts a note on a commit, in the place of the one that it has there. Other references are left alone, whatever the
    /// environment or the settings say of notes. A lock on the reference that a git left which is gone is taken away.
    pub fn put_note(&self, reference: &str, commit: &Oid, text: &str) -> Result<(), GitError> {
        let _lock = self.lock_notes()?;
        let add = || {
            self.git_write()
                .arg("notes")
                .arg(format!("--ref={reference}"))
                .args(["add", "--force", "--file=-", commit.as_str()])
                .stdin(text.as_bytes().to_vec())
                .run()
        };
        let lock = self.common_dir().join(format!("{reference}.lock"));
        self.past_dead_locks(&lock, add).map(drop)
    }

    /// Brings the notes of another reference into those under `reference`; where both have one on a commit, ours stays.
    pub fn merge_notes(&self, reference: &str, other: &str) -> Result<(), GitError> {
        let _lock = self.lock_notes()?;
        self.git_write()
            .arg("notes")
            .arg(format!("--ref={reference}"))
            .args(["merge", "--quiet", "--strategy=ours", other])
            .run()
            .map(drop)
    }

    /// Takes a reference away that is nobody's any more.
    pub fn forget_reference(&self, reference: &str) -> Result<(), GitError> {
        self.git_write()
            .args(["update-ref", "-d", reference])
            .run()
            .map(drop)
    }

    /// Keeps bytes as an object of git's under a reference (a full name), so that they can be pushed; what that had is given up.
    pub fn keep_blob(&self, bytes: &[u8], reference: &str) -> Result<Oid, GitError> {
        let written = self
            .git_write()
            .args(["hash-object", "-w", "--stdin"])
            .stdin(bytes.to_vec())
            .run()?;
        let oid = parse_oid("git hash-object", &one_line(written))?;
        self.git_write()
            .args(["update-ref", reference, oid.as_str()])
            .run()?;
        Ok(oid)
    }

    /// The bytes that references under `folder` (a full name that ends with `/`) point to, each with its reference; what is no
    /// plain content is left out.
    pub fn blobs_under(&self, folder: &str) -> Result<Vec<(String, Vec<u8>)>, GitError> {
        let listed = self
            .git()
            .args([
                "for-each-ref",
                "--format=%(objecttype) %(objectname) %(refname)",
                folder,
            ])
            .run()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let blobs = listed.lines().filter_map(|line| line.strip_prefix("blob "));
        let (ids, names): (Vec<String>, Vec<String>) = blobs
            .filter_map(|rest| rest.split_once(' '))
            .map(|(id, name)| (id.to_owned(), name.to_owned()))
            .unzip();
        let contents = self.objects(&ids)?;
        let found = names.into_iter().zip(contents);
        Ok(found
            .filter_map(|(name, bytes)| Some((name, bytes?)))
            .collect())
    }

    /// Whether it is certain that no git works in this repository, so that the locks in it are nobody's.
    /// What a git comes to that writes references: locks on them below a place, or there, are taken away where the git is gone that left
    /// them.
    pub(super) fn past_dead_locks(
        &self,
        below: &Path,
        run: impl Fn() -> Result<Vec<u8>, GitError>,
    ) -> Result<Vec<u8>, GitError> {
        let mut last = None;
        loop {
            let error = match run() {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let GitErrorKind::Busy { lock: Some(lock) } = error.kind() else {
                return Err(error);
            };
            let is_new = last.as_ref() != Some(lock);
            if !(is_new && lock.starts_with(below) && self.no_git_runs()) {
                return Err(error);
            }
            match fs::remove_file(lock) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let what = format!("cannot remove {}", lock.display());
                    return Err(GitError::io(what, error));
                }
                _ => last = Some(lock.clone()),
            }
        }
    }

    fn no_git_runs(&self) -> bool {
        process_runs_in("git", &[self.top_level(), self.common_dir()]) == Some(false)
    }

    fn lock_notes(&self) -> Result<File, GitError> {
        let path = self.common_dir().join(LOCK_FILE);
        let cannot =
            |error| GitError::io(format!("cannot take the lock {}", path.display()), error);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(cannot)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => {
                    let lock = Some(path);
                    return Err(GitError::new(
                        GitErrorKind::Busy { lock },
                        "another process is writing notes",
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
        }
    }

    /// Whether history ends here where the repository was cloned only so deep.
    pub fn is_shallow(&self) -> bool {
        fs::metadata(self.common_dir().join("shallow")).is_ok_and(|file| file.len() > 0)
    }

    /// The commit where the ways to two others part; none if they have nothing in common.
    pub fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>, GitError> {
        let answer = self
            .git()
            .args(["merge-base", one.as_str(), other.as_str()])
            .run_if()?;
        let first = |answer: Vec<u8>| -> Vec<u8> {
            answer
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default()
                .to_vec()
        };
        answer
            .map(|answer| parse_oid("git merge-base", &first(answer)))
            .transpose()
    }

    /// A git that answers for what is here, and fetches nothing for it.
    fn lookup(&self) -> Git {
        self.git().env("GIT_NO_LAZY_FETCH", "1")
    }

    /// The content of objects by their ids, in their order; none for one that is missing or too long.
    fn objects(&self, ids: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut asked = ids.join("\n");
        asked.push('\n');
        let output = self
            .lookup()
            .args(["cat-file", "--batch"])
            .stdin(asked.into_bytes())
            .run()?;
        let unknown = || GitError::unexpected("git cat-file --batch", "a record is not whole");
        let mut rest = output.as_slice();
        let mut contents = Vec::with_capacity(ids.len());
        for _ in ids {
            let end = rest
                .iter()
                .position(|byte| *byte == b'\n')
                .ok_or_else(unknown)?;
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            if head.ends_with(" missing") {
                contents.push(None);
                continue;
            }
            let length: usize = head
                .rsplit(' ')
                .next()
                .and_then(|length| length.parse().ok())
                .ok_or_else(unknown)?;
            let content = rest.get(..length).ok_or_else(unknown)?;
            contents.push(Some(content.to_vec()));
            rest = rest.get(length + 1..).ok_or_else(unknown)?;
        }
        Ok(contents)
    }
}
