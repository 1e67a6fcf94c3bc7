//! What of this process' environment a program is given.

use std::ffi::{OsStr, OsString};

/// Names that are handed on: where programs, libraries and the user's own files are, and how text is shown.
const NAMES: &[&str] = &[
    "CONDA_PREFIX",
    "DEVELOPER_DIR",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SDKROOT",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
];

/// The variables that are handed on. It is a list of those that may pass, not of those that may not: nobody can list the
/// names of all secrets.
pub(super) fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| passes(name))
}

fn passes(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| NAMES.contains(&name) || name.starts_with("LC_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_pass() {
        for name in ["PATH", "HOME", "LANG", "LC_ALL"] {
            assert!(passes(OsStr::new(name)), "{name}");
        }
        let names = "TRAMLINE_TOKEN,SOME_API_KEY,LD_PRELOAD,GIT_DIR,".split(',');
        for name in names {
            assert!(!passes(OsStr::new(name)), "{name}");
        }
    }
}
