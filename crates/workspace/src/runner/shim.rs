//! Scripts that package managers generate to start a program of an installed package: those of pnpm and cmd-shim, and the entry
//! points of Python.
//!
//! They are written anew by every installation, and by each generator in its own way. A script counts as generated only where each
//! of its lines is known; then it is what it starts that decides.

use std::fs;
use std::path::{Path, PathBuf};

/// A generated script.
#[derive(Debug, PartialEq, Eq)]
pub struct Shim {
    /// What it does, without what differs from one installation of the same program to the next.
    pub form: String,
    /// The program that it starts; of an entry point the interpreter.
    pub program: PathBuf,
}

impl Shim {
    /// The script at `path`; none where it is no generated one.
    pub fn read(path: &Path) -> Option<Self> {
        const LONGEST: u64 = 16 * 1024;
        let about = fs::metadata(path).ok()?;
        let text = (about.len() <= LONGEST).then(|| fs::read_to_string(path).ok())??;
        of_node(path, &text).or_else(|| of_python(&text))
    }
}

/// The script of a package of Node.js. It is compared as a whole, but for the folders of installed packages in `NODE_PATH`.
fn of_node(path: &Path, text: &str) -> Option<Shim> {
    let bin = path.parent()?;
    let rest = text.strip_prefix("#!/bin/sh\nbasedir=")?;
    let start = |line: &str| {
        let (_, behind) = line.split_once("exec node ")?;
        let (program, _) = behind.split_once("\"$basedir/")?.1.split_once('"')?;
        Some(bin.join(program))
    };
    let program = rest.lines().find_map(start)?;
    let real = fs::canonicalize(bin).ok()?;
    let is_installed = |folder: &str| {
        let project = folder
            .split_once("/node_modules/")
            .map(|(project, _)| project);
        project.is_some_and(|project| bin.starts_with(project) || real.starts_with(project))
    };
    let lines = rest
        .lines()
        .map(|line| match line.split_once("export NODE_PATH=") {
            Some((_, folders)) => {
                let folders = folders.trim_matches('"').split(':');
                let others: Vec<&str> = folders.filter(|folder| !is_installed(folder)).collect();
                format!("NODE_PATH={}", others.join(":"))
            }
            None => line.to_owned(),
        });
    Some(Shim {
        form: lines.collect::<Vec<_>>().join("\n"),
        program,
    })
}

/// The lines of an entry point of Python that are the same for every program, as pip, uv, conda and others write them, with one kind
/// of quotes.
const OF_ENTRY_POINTS: [&str; 13] = [
    "",
    "# -*- coding: utf-8 -*-",
    "import re",
    "import sys",
    "if __name__ == '__main__':",
    r"sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])",
    r"sys.argv[0] = re.sub(r'(-script\.pyw?|\.exe)?$', '', sys.argv[0])",
    "sys.argv[0] = sys.argv[0].removesuffix('.exe')",
    "if sys.argv[0].endswith('-script.pyw'):",
    "sys.argv[0] = sys.argv[0][:-11]",
    "elif sys.argv[0].endswith('.exe'):",
    "if sys.argv[0].endswith('.exe'):",
    "sys.argv[0] = sys.argv[0][:-4]",
];

fn of_python(text: &str) -> Option<Shim> {
    let (first, mut rest) = text.strip_prefix("#!")?.split_once('\n')?;
    let mut interpreter = first.trim();
    if interpreter == "/bin/sh" {
        // Where the path of the interpreter is too long for the first line.
        let (second, behind) = rest.strip_prefix("'''exec' ")?.split_once('\n')?;
        interpreter = second.strip_suffix(" \"$0\" \"$@\"")?.trim_matches('"');
        rest = behind.strip_prefix("' '''\n")?;
    }
    let is_name = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c))
    };
    let lines = rest.lines().map(str::trim);
    let is_own = |line: &&str| !OF_ENTRY_POINTS.contains(&&*line.replace('"', "'"));
    let mut own = lines.filter(is_own);
    let (module, function) = own.next()?.strip_prefix("from ")?.split_once(" import ")?;
    let call = own.next()?.strip_prefix("sys.exit(")?.strip_suffix("())")?;
    let is_one = own.next().is_none() && call.split('.').next() == Some(function);
    (is_one && is_name(module) && is_name(call) && interpreter.starts_with('/')).then(|| Shim {
        form: format!("{module}:{call}"),
        program: PathBuf::from(interpreter),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_script_of_pnpm_is_known_however_it_was_installed() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("node_modules/.bin");
        fs::create_dir_all(&bin).unwrap();
        let path = bin.join("vitest");
        let read = |text: String| {
            fs::write(&path, text).unwrap();
            Shim::read(&path)
        };
        let before = read(pnpm(folder.path(), "")).unwrap();
        assert!(before.program.ends_with("../vitest/vitest.mjs"));
        let beside = pnpm(folder.path(), "_@types+node@20.19.43");
        assert_eq!(read(beside.clone()), Some(before));
        let known = read(beside.clone());
        for (what, by) in [
            ("vitest.mjs", "other.mjs"),
            ("exec node ", "true; exec node "),
            (":$NODE_PATH", ":/tmp:$NODE_PATH"),
            (
                "/node_modules:",
                "/node_modules:/evil/node_modules/.pnpm/node_modules:",
            ),
        ] {
            assert_ne!(read(beside.replace(what, by)), known, "{by}");
        }
        assert_eq!(read("#!/bin/sh\nexec true\n".to_owned()), None);
    }

    #[test]
    fn an_entry_point_is_known_whoever_wrote_it() {
        let by_pip = r"#!/w/.venv/bin/python3
# -*- coding: utf-8 -*-
import re
import sys
from pytest import console_main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])
    sys.exit(console_main())
";
        let by_uv = r#"#!/bin/sh
'''exec' "/w/.venv/bin/python3" "$0" "$@"
' '''
# -*- coding: utf-8 -*-
import sys
from pytest import console_main
if __name__ == "__main__":
    if sys.argv[0].endswith("-script.pyw"):
        sys.argv[0] = sys.argv[0][:-11]
    elif sys.argv[0].endswith(".exe"):
        sys.argv[0] = sys.argv[0][:-4]
    sys.exit(console_main())
"#;
        let known = of_python(by_pip).unwrap();
        assert_eq!(known.program, Path::new("/w/.venv/bin/python3"));
        assert_eq!(of_python(by_uv), Some(known));
        for (what, by) in [
            ("import re\n", "import re, evil\n"),
            ("console_main\n", "console_main; evil()\n"),
            ("    sys.exit(", "    evil()\n    sys.exit("),
            ("console_main())", "evil())"),
        ] {
            assert_eq!(of_python(&by_pip.replace(what, by)), None, "{by}");
        }
    }
}
