//! What a program is, wherever it lies and however it was installed.
//!
//! Package managers write scripts that start the program of a package, and write them anew with each installation. So a script is what
//! it says, but for where the root of an installation lies, and what the files hold that it starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use journal::digest::hex;
use sha2::{Digest as _, Sha256};

/// Of a longer file its length and its time say that it is another one.
const LONGEST_READ: u64 = 4 * 1024 * 1024;

/// A program, with what it is run by.
pub struct Program {
    /// A hash of what it does.
    pub hash: String,
    /// Itself, and what a script starts: its interpreter, or the program of a package.
    pub(super) files: Vec<PathBuf>,
}

impl Program {
    /// The one that lies at `path`; `find` tells the programs of a name.
    pub fn of(path: &Path, find: impl Fn(&str) -> Vec<PathBuf>) -> Self {
        let mut hash = Sha256::new();
        let mut files = vec![path.to_owned()];
        let bytes = read(path).filter(|bytes| bytes.starts_with(b"#!"));
        match (bytes, path.parent()) {
            (Some(bytes), Some(folder)) => {
                for line in String::from_utf8_lossy(&bytes).lines() {
                    hash.update(line_of(line, folder, &find, &mut files));
                    hash.update("\n");
                }
                files[1..].iter().for_each(|file| take_in(&mut hash, file));
            }
            _ => take_in(&mut hash, path),
        }
        Self {
            hash: hex(&hash.finalize()),
            files,
        }
    }
}

/// A line of a script in this folder without absolute paths of what it starts, and without the folders of installed packages in
/// `NODE_PATH`. What it starts is added to the files.
fn line_of(
    line: &str,
    folder: &Path,
    find: impl Fn(&str) -> Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> String {
    let mut rest = line.to_owned();
    let begins = |with: &str| line.trim_start().starts_with(with);
    if begins("#!") || begins("exec ") || begins("'''exec' ") {
        let words = line.trim_start_matches("#!").split([' ', '"', '\'']);
        for word in words.filter(|word| !word.is_empty()) {
            let place = word.strip_prefix("$basedir/").unwrap_or(word);
            let place = folder.join(place);
            if !word.contains('/') {
                files.extend(find(word));
            } else if place.is_file() {
                files.push(place);
                if word.starts_with('/') {
                    rest = rest.replace(word, "");
                }
            }
        }
    } else if begins("export NODE_PATH=") {
        let real = fs::canonicalize(folder).unwrap_or_default();
        for word in line.split(['=', '"', ':']) {
            let project = word.split_once("/node_modules/").map(|(above, _)| above);
            if project.is_some_and(|above| folder.starts_with(above) || real.starts_with(above)) {
                rest = rest.replace(word, "");
            }
        }
    }
    rest
}

/// What a file holds, where it is short enough.
fn read(path: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    (about.len() <= LONGEST_READ).then(|| fs::read(path).ok())?
}

/// Takes in what a file holds, wherever it lies.
pub(super) fn take_in(hash: &mut Sha256, path: &Path) {
    let Ok(about) = fs::metadata(path) else {
        return;
    };
    hash.update(about.len().to_le_bytes());
    if let Some(bytes) = read(path) {
        hash.update(Sha256::digest(bytes));
        return;
    }
    let time = about.modified().ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    hash.update(since.unwrap_or_default().as_nanos().to_le_bytes());
}

#[cfg(test)]
mod tests {
    use testkit::files::write;

    use super::*;

    fn hash(path: &Path) -> String {
        Program::of(path, |_| Vec::new()).hash
    }

    fn pnpm(root: &Path, peers: &str) -> String {
        let store = format!("{}/node_modules/.pnpm", root.display());
        let folders = format!("{store}/vitest@1.6.0{peers}/node_modules:{store}/node_modules");
        format!(
            r#"#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="{folders}"
else
  export NODE_PATH="{folders}:$NODE_PATH"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../vitest/vitest.mjs" "$@"
else
  exec node  "$basedir/../vitest/vitest.mjs" "$@"
fi
"#
        )
    }

    #[test]
    fn a_script_of_pnpm_is_what_it_says_and_starts() {
        let folder = testkit::folder();
        let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
        let installed = |root: &Path, peers: &str| {
            write(&root.join("node_modules/vitest/vitest.mjs"), "run()\n");
            write(&root.join("node_modules/vitest/other.mjs"), "run()\n");
            let script = root.join("node_modules/.bin/vitest");
            write(&script, pnpm(root, peers));
            script
        };
        let script = installed(&here, "");
        let known = hash(&script);
        let script = installed(&here, "_@types+node@20.19.43");
        assert_eq!(hash(&script), known);
        assert_eq!(hash(&installed(&there, "")), known);
        let text = fs::read_to_string(&script).unwrap();
        let evil = "/node_modules:/evil/node_modules/.pnpm/node_modules:";
        for (what, by) in [
            ("vitest.mjs", "other.mjs"),
            ("exec node ", "true; exec node "),
            ("exec node ", "exec node --require evil "),
            (":$NODE_PATH", ":/tmp:$NODE_PATH"),
            ("/node_modules:", evil),
            ("#!/bin/sh", "#!/bin/sh -a"),
        ] {
            write(&script, text.replace(what, by));
            assert_ne!(hash(&script), known, "{by}");
        }
        write(&script, &text);
        write(&here.join("node_modules/vitest/vitest.mjs"), "skip()\n");
        assert_ne!(hash(&script), known);
    }

    /// Where the path is too long for the first line.
    #[test]
    fn an_entry_point_is_the_same_in_another_environment() {
        let folder = testkit::folder();
        let installed = |name: &str, interpreter: &str, rest: &str| {
            let bin = folder.path().join(name).join("bin");
            let python = bin.join("python3");
            write(&python, interpreter);
            let python = python.display();
            let text = format!("#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n{rest}");
            write(&bin.join("pytest"), text);
            hash(&bin.join("pytest"))
        };
        let rest = "from pytest import main\nsys.exit(main())\n";
        let known = installed("one", "binary", rest);
        assert_eq!(installed("two", "binary", rest), known);
        assert_ne!(installed("two", "another", rest), known);
        assert_ne!(installed("two", "binary", "sys.exit(0)\n"), known);
    }
}
