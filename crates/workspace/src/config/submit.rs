//! How the branch of a run is handed over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::Gate;

/// How the branch of a run is pushed and becomes a pull request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Submit {
    /// What the remote is: `auto` goes by the name of its host, and `none` only pushes.
    pub forge: ForgeChoice,
    /// The branch that it is to be merged into; the one that the run was begun from where the remote has that, else its default
    /// branch.
    pub base: Option<String>,
    /// Whether a pull request is opened as a draft.
    pub draft: bool,
    /// Labels that it is given.
    pub labels: Vec<String>,
    /// Who is asked to look at it: user names, on GitHub also `owner/team`.
    pub reviewers: Vec<String>,
    /// The template of its description, relative to the repository; found where the forge would where it is not set.
    pub template: Option<String>,
    /// Who has to say yes before anything is pushed.
    pub approval: Gate,
    /// What is pushed beside the branch, so that `tm verify` can prove its commits elsewhere.
    pub proof: Proof,
    /// How often a remote that cannot be reached is tried, from 1.
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// Whether feedback that was acted on is answered where it was given.
    pub answer: bool,
}

impl Default for Submit {
    fn default() -> Self {
        Self {
            forge: ForgeChoice::Auto,
            base: None,
            draft: false,
            labels: Vec::new(),
            reviewers: Vec::new(),
            template: None,
            approval: Gate::Auto,
            proof: Proof::Note,
            attempts: 3,
            answer: true,
        }
    }
}

/// What a remote is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum ForgeChoice {
    /// What the name of its host says.
    #[default]
    Auto,
    /// GitHub, or one of a company's own; spoken to by `gh`.
    Github,
    /// GitLab; spoken to by `glab`.
    Gitlab,
    /// A place for branches and no more.
    None,
}

/// What is pushed beside a branch to prove its commits.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Proof {
    /// Nothing.
    None,
    /// A git note on each commit.
    #[default]
    Note,
    /// These, and the bundle of the run, which has all of its reports in it.
    Bundle,
}
