//! The environment variables that matter, as a value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TAG: &str = "TASKMASTER_TAG";

/// Environment variables by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
}

impl Environment {
    /// What of this process' environment matters: `HOME`, `TASKMASTER_TAG` and everything that begins with `TRAMLINE_`. A
    /// variable that is not UTF-8 is passed over.
    pub fn of_this_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name == "HOME" || name == TAG || name.starts_with("TRAMLINE_"))
            .collect()
    }

    /// The value of a variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The names of all that could be a setting.
    pub(super) fn of_tramline(&self) -> impl Iterator<Item = &str> {
        let names = self.variables.keys().map(String::as_str);
        names.filter(|name| name.starts_with("TRAMLINE_"))
    }

    /// The tag that is meant where none is named: `TASKMASTER_TAG`, as other programs of the task file take it.
    pub fn tag(&self) -> Option<&str> {
        self.get(TAG)
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.get("HOME").map(Path::new)
    }

    /// Where runs are kept unless the config says otherwise: `TRAMLINE_HOME`, else `.taskmaster` in the user's home.
    /// The user's own config lies there. `None` where neither is known.
    pub fn store(&self) -> Option<PathBuf> {
        match self.get("TRAMLINE_HOME") {
            Some(path) => Some(self.expand(path)),
            None => self.home().map(|home| home.join(".taskmaster")),
        }
    }

    /// A path as a person writes it: a leading `~` stands for the user's home.
    pub fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), self.home()) {
            (Some(""), Some(home)) => home.to_owned(),
            (Some(rest), Some(home)) if rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(path),
        }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            variables: Arc::new(variables),
        }
    }
}
