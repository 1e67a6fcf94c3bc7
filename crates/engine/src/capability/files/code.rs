//! The code of an iteration: a folder that is written as a whole, and known by the hash of all that is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::fs::{DirBuilder, File};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use journal::{EvidenceStore, durable, sha256_hex};
use machine::RunState;
use markup::response::bundle;
use serde::{Deserialize, Serialize};

use crate::capability::profile::memory::CARRIED;
use crate::fail_point;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files::{self, unreadable, unwritable};

/// Up to so many files are synced one by one; more of them by their file system, which is one wait.
const MOST_SYNCED: usize = 1000;

/// Where code is laid out before it stands in its place. The name is one of those that are taken away after a kill.
const MADE: &str = ".tramline-code.tmp";
/// Where code of ours goes that makes room for other code.
const REPLACED: &str = ".tramline-code-replaced.tmp";

/// Files with their contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tree {
    /// Contents by path, with `/`.
    pub(crate) files: BTreeMap<String, String>,
    /// Those of them that can be executed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) executable: BTreeSet<String>,
}

/// Files by the SHA-256 of their contents.
pub(crate) type Hashes = BTreeMap<String, String>;

/// The hash of a list of files: the SHA-256 of its lines `HASH  PATH`, sorted by path, as `sha256sum` writes them.
pub(crate) fn hash(files: &Hashes) -> String {
    let mut lines = String::new();
    for (path, sha256) in files {
        let _ = writeln!(lines, "{sha256}  {path}");
    }
    sha256_hex(lines.as_bytes())
}

/// The code that the iteration of a run began with.
pub(crate) fn carried(run: &RunState, store: &EvidenceStore) -> Result<Tree, Fault> {
    let carried = CARRIED.read(&run.kept)?;
    Tree::kept(
        store,
        &carried.map(|carried| carried.tree).unwrap_or_default(),
    )
}

impl Tree {
    /// The SHA-256 of each file.
    pub(crate) fn hashes(&self) -> Hashes {
        self.files
            .iter()
            .map(|(path, content)| (path.clone(), sha256_hex(content.as_bytes())))
            .collect()
    }

    /// The files as those of a response.
    pub(crate) fn in_bundle(&self) -> Vec<bundle::File> {
        let files = self.files.iter().map(|(path, content)| bundle::File {
            path: path.clone(),
            content: content.clone(),
        });
        files.collect()
    }

    /// Keeps all of it as one piece of evidence, and gives the hash of that piece.
    pub(crate) fn keep(&self, store: &EvidenceStore) -> Result<String, Fault> {
        let bytes = serde_json::to_vec(self).map_err(|error| Fault::bug(error.to_string()))?;
        files::keep(store, &bytes)
    }

    /// What was kept under that hash; nothing at all where it is empty.
    pub(crate) fn kept(store: &EvidenceStore, sha256: &str) -> Result<Self, Fault> {
        if sha256.is_empty() {
            return Ok(Self::default());
        }
        let bytes = store.get(sha256)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| fault!("evidence_missing.code", sha256, error))
    }

    /// What lies in the folder `of`, where all of it is text.
    pub(crate) fn on_disk(of: &Path) -> Result<Self, Fault> {
        let mut tree = Self::default();
        let OnDisk::Files(found) = on_disk(of)? else {
            return Err(no_text(of));
        };
        for path in found.into_keys() {
            let place = of.join(&path);
            let bytes = files::read(&place)?.unwrap_or_default();
            let about = fs::symlink_metadata(&place).map_err(unreadable(&place))?;
            if about.permissions().mode() & 0o100 != 0 {
                tree.executable.insert(path.clone());
            }
            let content = String::from_utf8(bytes).map_err(|_| no_text(&place))?;
            tree.files.insert(path, content);
        }
        Ok(tree)
    }

    /// Makes this the content of the folder `to`, as a whole. What was there is put aside under a name that begins with
    /// `aside`, unless it is `before`, which was ours.
    pub(crate) fn write(
        &self,
        to: &Path,
        before: Option<&str>,
        aside: &str,
    ) -> Result<Option<PathBuf>, Fault> {
        let wanted = hash(&self.hashes());
        let there = on_disk(to)?;
        let folder = to.parent().unwrap_or(to);
        let made = folder.join(MADE);
        let replaced = folder.join(REPLACED);
        durable::ensure_folder(folder).map_err(unwritable(folder))?;
        clear(&made).map_err(unwritable(&made))?;
        if let OnDisk::Files(files) = &there
            && hash(files) == wanted
        {
            clear(&replaced).map_err(unwritable(&replaced))?;
            return Ok(None);
        }
        self.lay_out(&made).map_err(unwritable(&made))?;
        let mut moved = None;
        match &there {
            OnDisk::Nothing => {}
            // It goes as a whole: half of it would look like somebody else's work to whoever comes after a kill.
            OnDisk::Files(files) if Some(hash(files).as_str()) == before || files.is_empty() => {
                clear(&replaced).map_err(unwritable(&replaced))?;
                rename(to, &replaced).map_err(unwritable(to))?;
            }
            OnDisk::Files(_) | OnDisk::Strange(_) => {
                let name = free_name(folder, aside)?;
                rename(to, &folder.join(&name)).map_err(unwritable(to))?;
                moved = Some(folder.join(name));
            }
        }
        rename(&made, to).map_err(unwritable(to))?;
        durable::sync_folder(folder).map_err(unwritable(folder))?;
        clear(&replaced).map_err(unwritable(&replaced))?;
        Ok(moved)
    }

    fn lay_out(&self, to: &Path) -> io::Result<()> {
        let one_by_one = cfg!(not(target_os = "linux")) || self.files.len() <= MOST_SYNCED;
        let mut folders = BTreeSet::new();
        fail_point::io(|| DirBuilder::new().mode(0o700).create(to))?;
        for (path, content) in &self.files {
            let mode = if self.executable.contains(path) {
                0o700
            } else {
                0o600
            };
            let path = to.join(path);
            if let Some(parent) = path.parent() {
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(parent)?;
            }
            let above = path.ancestors().skip(1);
            let above = above.take_while(|folder| folder.starts_with(to));
            folders.extend(above.map(Path::to_owned));
            let mut options = File::options();
            options.write(true).create_new(true).mode(mode);
            let mut file = fail_point::io(|| options.open(&path))?;
            file.write_all(content.as_bytes())?;
            fail_point::reach("io");
            if one_by_one {
                file.sync_all()?;
            }
        }
        #[cfg(target_os = "linux")]
        if !one_by_one {
            return rustix::fs::syncfs(File::open(to)?).map_err(io::Error::from);
        }
        for folder in folders {
            durable::sync_folder(&folder)?;
        }
        Ok(())
    }
}

fn no_text(path: &Path) -> Fault {
    fault!("response_unreadable.no_text", path = path.display())
}

/// What stands where code is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// Nothing.
    Nothing,
    /// A folder with these files.
    Files(Hashes),
    /// Something that was never written there: a link, or a file of a kind of its own, by its path.
    Strange(PathBuf),
}

/// Looks what is in the folder `of`.
pub(crate) fn on_disk(of: &Path) -> Result<OnDisk, Fault> {
    match fs::symlink_metadata(of) {
        Ok(about) if about.is_dir() => {}
        Ok(_) => return Ok(OnDisk::Strange(of.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(OnDisk::Nothing),
        Err(error) => return Err(unreadable(of)(error)),
    }
    let mut files = Hashes::new();
    let mut open = vec![(of.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(unreadable(&folder))?;
        for entry in entries {
            let entry = entry.map_err(unreadable(&folder))?;
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                return Ok(OnDisk::Strange(path));
            };
            let below = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(unreadable(&path))?;
            if kind.is_dir() {
                open.push((path, format!("{below}/")));
            } else if kind.is_file() {
                let bytes = fs::read(&path).map_err(unreadable(&path))?;
                files.insert(below, sha256_hex(&bytes));
            } else {
                return Ok(OnDisk::Strange(path));
            }
        }
    }
    Ok(OnDisk::Files(files))
}

/// The first name in `folder` that nothing has: `stem-1`, `stem-2` …, before the ending of `stem`.
pub(crate) fn free_name(folder: &Path, stem: &str) -> Result<String, Fault> {
    let (stem, ending) = match stem.rsplit_once(".md") {
        Some((stem, "")) => (stem, ".md"),
        _ => (stem, ""),
    };
    for number in 1_u32.. {
        let name = format!("{stem}-{number}{ending}");
        match fs::symlink_metadata(folder.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(error) => return Err(unreadable(folder)(error)),
            Ok(_) => {}
        }
    }
    Err(Fault::bug("no name is free"))
}

/// Gives something in the session's folder another name.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fail_point::io(|| fs::rename(from, to))
}

/// Takes away what a process left that was killed, or what was ours.
fn clear(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    fail_point::io(|| fs::remove_dir_all(path))
}
