//! Reading a project's manifests without being held up by what lies in their place.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No manifest that people write is larger; what is larger is not read.
const LARGEST_MANIFEST: u64 = 1024 * 1024;

/// Whether `folder` holds a regular file `name` (or a link to one).
pub(crate) fn has_file(folder: &Path, name: &str) -> bool {
    folder.join(name).is_file()
}

/// The text of the manifest at `path`, or `None` when it is absent, not a regular file, too
/// large or not UTF-8. A byte order mark is taken off.
pub(crate) fn read_manifest(path: &Path) -> Option<String> {
    // A named pipe or device in a manifest's place would block the read for ever.
    if !path.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = File::open(path)
        .ok()?
        .take(LARGEST_MANIFEST + 1)
        .read_to_string(&mut text)
        .ok()?;
    if read as u64 > LARGEST_MANIFEST {
        return None;
    }
    Some(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}
