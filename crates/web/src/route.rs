//! What a path asks for, and what its query says.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands in a path or a query as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// The runs.
    Runs,
    /// One of the pages of a run.
    Run(String, Tab),
    /// What a commit of a run changed.
    Commit(String, String),
    /// What differs between two trees of a run, by their names.
    Difference(String, String, String),
    /// Something that a person does with a run.
    Decide(String),
    /// The events as they come.
    Events,
    /// A passkey for decisions that are to be signed.
    Passkey,
}

/// A page of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Where it is, what it waits for, and its drawing.
    Now,
    /// What was done of each item, on what evidence.
    Work,
    /// The events.
    Timeline,
    /// The files that it recorded.
    Files,
    /// The run as it was at some event.
    Replay,
    /// Its report.
    Report,
}

impl Tab {
    /// All of them: what stands in the path, and what people read.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Now, "", "Now"),
        (Self::Work, "work", "Work"),
        (Self::Timeline, "timeline", "Timeline"),
        (Self::Files, "files", "Files"),
        (Self::Replay, "replay", "Replay"),
        (Self::Report, "report", "Report"),
    ];
}

impl Route {
    /// What this path asks for.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<String> = path
            .strip_prefix('/')?
            .split('/')
            .map(|part| percent_decode_str(part).decode_utf8().map(String::from))
            .collect::<Result<_, _>>()
            .ok()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Some(match parts.as_slice() {
            [""] => Self::Runs,
            ["events"] => Self::Events,
            ["passkey"] => Self::Passkey,
            ["runs", run] => Self::Run((*run).to_owned(), Tab::Now),
            ["runs", run, "decide"] => Self::Decide((*run).to_owned()),
            ["runs", run, "commits", sha] => Self::Commit((*run).to_owned(), (*sha).to_owned()),
            ["runs", run, "trees", names] => {
                let (from, to) = names.split_once("..")?;
                Self::Difference((*run).to_owned(), from.to_owned(), to.to_owned())
            }
            ["runs", run, name] => {
                let mut tabs = Tab::ALL.into_iter().skip(1);
                let (tab, _, _) = tabs.find(|(_, known, _)| known == name)?;
                Self::Run((*run).to_owned(), tab)
            }
            _ => return None,
        })
    }

    /// Whether a browser is sent there: everything but what the page's script asks for.
    pub fn is_page(&self) -> bool {
        !matches!(self, Self::Events | Self::Decide(_))
    }
}

/// The path of a page of a run in a project.
pub fn run_path(run: &str, rest: &str, project: &str) -> String {
    let slash = if rest.is_empty() { "" } else { "/" };
    format!(
        "/runs/{}{slash}{rest}?project={}",
        encoded(run),
        encoded(project)
    )
}

/// A text as part of a path or a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// What stands behind the `?`.
#[derive(Debug, Clone, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads it; what is no UTF-8 is left out.
    pub fn of(text: &str) -> Self {
        let decoded = |part: &str| {
            let spaced = part.replace('+', " ");
            percent_decode_str(&spaced)
                .decode_utf8()
                .ok()
                .map(String::from)
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        Self(pairs.collect())
    }

    /// The first value of this name that says something.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let (_, value) = all.find(|(known, value)| known == name && !value.is_empty())?;
        Some(value)
    }

    /// The same as a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// The number of the page of so many that is asked for, from 1.
    pub fn page(&self, pages: usize) -> Option<usize> {
        let asked = usize::try_from(self.number("page")?).unwrap_or(pages);
        Some(asked.clamp(1, pages))
    }

    /// The same query with another value; without that name, if it is none.
    pub fn with(&self, name: &str, value: Option<&str>) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name);
        let others = others.map(|(known, value)| (known.as_str(), value.as_str()));
        let all = others.chain(value.map(|value| (name, value)));
        let all: Vec<String> = all
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        format!("?{}", all.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_written_the_same_way() {
        let run = "master__task-1 ä/ö";
        let path = run_path(run, "timeline", "/home/a b");
        let (path, query) = path.split_once('?').unwrap();
        assert_eq!(
            Route::of(path),
            Some(Route::Run(run.to_owned(), Tab::Timeline))
        );
        assert_eq!(Query::of(query).get("project"), Some("/home/a b"));
        for nothing in ["", "runs", "/run/x", "/runs", "/runs/x/nowhere", "/%ff"] {
            assert_eq!(Route::of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_query_is_changed_in_one_place() {
        let query = Query::of("q=a+b&page=2&empty=");
        assert_eq!(query.get("q"), Some("a b"));
        assert_eq!(query.get("empty"), None);
        assert_eq!(query.with("page", Some("3")), "?q=a%20b&empty=&page=3");
        assert_eq!(query.with("q", None), "?page=2&empty=");
    }
}
