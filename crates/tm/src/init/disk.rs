//! The project's files: read with every reason to leave them alone found out at once, and written all or, if the disk
//! plays along, none.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use engine::fault;
use engine::{Fault, Kind};
use journal::durable;
use tempfile::NamedTempFile;
use workspace::git::is_of_git;

use super::change::{Change, ChangeKind};
use super::text::EditError;

/// The code of a fault: a file lies, or would lie, outside of the project.
pub const OUTSIDE: &str = "unsafe_path";

/// A file that is larger is none that people write.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// A file of the project as it is now.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    /// Where it really lies, or would.
    pub real: PathBuf,
    /// What it holds; `None` if there is none.
    pub text: Option<String>,
    /// Whether it may be written.
    pub read_only: bool,
}

/// The fault of a file that cannot be used as it is.
pub fn invalid(file: &str, unusable: &EditError) -> Fault {
    let EditError {
        line,
        column,
        problem,
    } = unusable;
    fault!(
        "config_invalid.client_file_invalid",
        file,
        line,
        column,
        problem
    )
    .detail("file", file)
    .detail("line", *line)
    .detail("column", *column)
}

fn failed(file: &str, what: &str, error: &io::Error) -> Fault {
    Fault::environment("io_failed", format!("{file} {what}"), error)
        .suggest("see to it that it can be read and written; nothing was written")
        .detail("file", file)
}

fn unfit(file: &str, problem: &str) -> Fault {
    fault!("io_failed", file, problem).detail("file", file)
}

/// Reads `file` in the project at `root`, the real path of a folder.
pub fn read(root: &Path, file: &str) -> Result<ProjectFile, Fault> {
    let real = real_path(root, file)?;
    let metadata = match fs::metadata(&real) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(ProjectFile {
                real,
                text: None,
                read_only: false,
            });
        }
        Err(error) => return Err(failed(file, "cannot be read", &error)),
    };
    let text = text_of(file, &real, &metadata)?;
    Ok(ProjectFile {
        real,
        text: Some(text),
        read_only: metadata.permissions().readonly(),
    })
}

/// Whether anything is at `file`.
pub fn is_there(root: &Path, file: &str) -> bool {
    fs::symlink_metadata(root.join(file)).is_ok()
}

/// The fault of a file that is to be changed and may not be.
pub fn read_only(file: &str) -> Fault {
    unfit(file, "is read-only")
}

/// Where a file really lies, if that is in the project.
fn real_path(root: &Path, file: &str) -> Result<PathBuf, Fault> {
    let mut real = root.to_owned();
    let mut rest = Path::new(file).iter();
    while let Some(part) = rest.next() {
        let next = real.join(part);
        match fs::symlink_metadata(&next) {
            Ok(metadata) if metadata.is_symlink() => {
                real = fs::canonicalize(&next).map_err(|error| {
                    failed(
                        file,
                        "cannot be read: a symbolic link leads nowhere",
                        &error,
                    )
                })?;
                let inside = real.strip_prefix(root).ok();
                if inside.is_none_or(is_of_git) {
                    return Err(Fault::new(
                        Kind::Refused,
                        OUTSIDE,
                        format!("{file} leads out of the project, to {}", real.display()),
                    )
                    .suggest("only files of the project are written; change that one yourself")
                    .detail("file", file));
                }
            }
            Ok(_) => real = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                real = next;
                real.extend(rest);
                break;
            }
            Err(error) => return Err(failed(file, "cannot be read", &error)),
        }
    }
    Ok(real)
}

fn text_of(file: &str, real: &Path, metadata: &Metadata) -> Result<String, Fault> {
    if !metadata.is_file() {
        return Err(unfit(file, "is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(real)
        .and_then(|opened| opened.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(file, "cannot be read", &error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(unfit(file, &format!("has more than {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let upto = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..upto]).into_owned();
        invalid(file, &EditError::at(&valid, upto, "not UTF-8 text"))
    })
}

/// A change whose new content lies beside its file already.
struct Prepared<'c> {
    change: &'c Change,
    content: Option<NamedTempFile>,
}

/// Writes all changes. Every content is prepared before the first file is replaced; until then a failure leaves nothing
/// behind.
pub fn write(root: &Path, changes: &[Change]) -> Result<(), Fault> {
    for change in changes {
        let now = read(root, &change.file)?;
        if now.text != change.before || now.real != change.real {
            return Err(
                fault!("changed_since.client_file_changed", file = change.file)
                    .detail("file", change.file.as_str()),
            );
        }
    }
    put_all(root, prepare_all(changes)?)
}

fn prepare_all(changes: &[Change]) -> Result<Vec<Prepared<'_>>, Fault> {
    let mut folders = Vec::new();
    let prepared: Result<Vec<Prepared<'_>>, Fault> = changes
        .iter()
        .map(|change| {
            prepare(change, &mut folders)
                .map_err(|error| failed(&change.file, "cannot be written", &error))
        })
        .collect();
    prepared.inspect_err(|_| {
        for folder in folders.iter().rev() {
            // Made a moment ago, and of use to nobody: if one stays, no harm is done.
            let _ = fs::remove_dir(folder);
        }
    })
}

fn put_all(root: &Path, prepared: Vec<Prepared<'_>>) -> Result<(), Fault> {
    let mut written: Vec<&str> = Vec::new();
    for Prepared { change, content } in prepared {
        if let Err(error) = put(root, change, content) {
            let fault = failed(&change.file, "could not be written", &error);
            return Err(if written.is_empty() {
                fault
            } else {
                let so_far = written.join(", ");
                fault
                    .suggest(format!(
                        "written before it: {so_far}; mend the cause, then run the command again for the rest"
                    ))
                    .detail("written", written)
            });
        }
        written.push(&change.file);
    }
    Ok(())
}

fn prepare<'c>(change: &'c Change, folders: &mut Vec<PathBuf>) -> io::Result<Prepared<'c>> {
    let Some(text) = &change.after else {
        return Ok(Prepared {
            change,
            content: None,
        });
    };
    let folder = change.real.parent().unwrap_or(Path::new("."));
    make_folders(folder, folders)?;
    // A new file gets the rights that the process gives to any; one that is there keeps its own.
    let mut aside = durable::aside_of(&change.real, 0o666)?;
    aside.write_all(text.as_bytes())?;
    if change.kind == ChangeKind::Change {
        let permissions = fs::metadata(&change.real)?.permissions();
        aside.as_file().set_permissions(permissions)?;
    }
    aside.as_file().sync_all()?;
    Ok(Prepared {
        change,
        content: Some(aside),
    })
}

fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folders(parent, made)?;
    }
    fs::create_dir(folder)?;
    made.push(folder.to_owned());
    Ok(())
}

fn put(root: &Path, change: &Change, content: Option<NamedTempFile>) -> io::Result<()> {
    if let Some(content) = content {
        return durable::put_in_place(content, &change.real, change.kind != ChangeKind::Create);
    }
    fs::remove_file(&change.real)?;
    let mut left = change.real.parent().unwrap_or(root);
    // Behind a link, the folders are somebody else's.
    if change.real == root.join(&change.file) {
        for folder in change.real.ancestors().skip(1) {
            if folder == root || folder.file_name() == Some(OsStr::new(".git")) {
                break;
            }
            // One that is not empty stays, and so do those above it.
            if fs::remove_dir(folder).is_err() {
                break;
            }
            left = folder.parent().unwrap_or(root);
        }
    }
    // What was removed does not come back when the power goes.
    durable::sync_folder(left)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        (folder, root)
    }

    fn change(root: &Path, file: &str, before: Option<&str>, after: &str) -> Change {
        let before = before.map(str::to_owned);
        Change::between(file, root.join(file), before, Some(after.to_owned())).unwrap()
    }

    fn count(root: &Path) -> usize {
        fs::read_dir(root).unwrap().count()
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let (_folder, root) = project();
        let any = root.join("any");
        fs::write(&any, "other").unwrap();
        let new = || change(&root, "deep/er/new", None, "x");
        for before in [None, Some("one")] {
            let changes = [new(), change(&root, "any", before, "two")];
            let fault = write(&root, &changes).unwrap_err();
            let text = fs::read_to_string(&any).unwrap();
            assert_eq!((&*fault.code, &*text), ("changed_since", "other"));
        }
        let changes = [new(), change(&root, "any/below", None, "x")];
        let fault = prepare_all(&changes).map(|_| ()).unwrap_err();
        assert_eq!((&*fault.code, count(&root)), ("io_failed", 1));
        // A new file has the rights that any has.
        write(&root, &[change(&root, "new", None, "x")]).unwrap();
        let mode = |file: &str| fs::metadata(root.join(file)).unwrap().permissions().mode();
        assert_eq!(mode("new"), mode("any"));
    }

    #[test]
    fn a_failure_in_the_middle_tells_what_is_written() {
        let (_folder, root) = project();
        let changes =
            ["first", "below/second", "third"].map(|file| change(&root, file, None, file));
        let prepared = prepare_all(&changes).unwrap();
        fs::remove_dir_all(root.join("below")).unwrap();
        let fault = put_all(&root, prepared).unwrap_err();
        assert_eq!(fault.details["file"], "below/second");
        assert_eq!(fault.details["written"], serde_json::json!(["first"]));
        let first = fs::read_to_string(root.join("first")).unwrap();
        // The third is not begun, and nothing lies about.
        assert_eq!((&*first, count(&root)), ("first", 1));
    }
}
