//! What callers ask of a run by the generic verbs.

/// The answer to a work unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunReport {
    /// The work unit; the present one if absent. With it a report that is sent twice counts once.
    pub unit: Option<String>,
    /// The outcome, in one word.
    pub outcome: Option<String>,
    /// More on it.
    pub note: Option<String>,
    /// Test results: `failed:3,passed:0` in any order, or a JSON object.
    pub results: Option<String>,
    /// Coverage in percent: a number, `lines:92,branches:80`, or a JSON object.
    pub coverage: Option<String>,
    /// Files it is about, relative to the project root.
    pub files: Vec<String>,
}
