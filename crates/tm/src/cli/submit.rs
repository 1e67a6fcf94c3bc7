//! `submit` and `feedback`, of `tm autopilot` and of `tm run`.

use clap::Args;
use engine::Turn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{RunChoice, Signing};

/// `tm autopilot submit` and `tm run submit`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Submit {
    /// The branch that it is to be merged into; as the settings say, else the one that the run was begun from
    #[arg(long, value_name = "BRANCH")]
    #[schemars(extend("x-brief" = "branch to merge into"))]
    pub base: Option<String>,
    /// The title; made from the task if left out
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "default: from the task"))]
    pub title: Option<String>,
    /// Open it as a draft, or make it one
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[schemars(extend("x-brief" = "as a draft"))]
    pub draft: Option<bool>,
    /// Have it looked at: it is a draft no more
    #[arg(long, conflicts_with = "draft")]
    #[serde(skip)]
    pub ready: bool,
    /// A label that it is given; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "labels to add"))]
    pub labels: Vec<String>,
    /// Somebody who is asked to look at it; may be repeated
    #[arg(long = "reviewer", value_name = "USER")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "users to ask"))]
    pub reviewers: Vec<String>,
    /// The issue that it closes: `#12`, `owner/name#12` or its address
    #[arg(long, value_name = "ISSUE")]
    #[schemars(extend("x-brief" = "issue it closes, as #12"))]
    pub issue: Option<String>,
    /// By what, where a person has to agree.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

impl Submit {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'static> {
        let draft = if self.ready { Some(false) } else { self.draft };
        let mut flags = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                flags.insert(name.to_owned(), value);
            }
        };
        let list = |all: &[String]| (!all.is_empty()).then(|| Value::from(all.to_vec()));
        put("base", self.base.as_deref().map(Value::from));
        put("title", self.title.as_deref().map(Value::from));
        put("draft", draft.map(Value::from));
        put("labels", list(&self.labels));
        put("reviewers", list(&self.reviewers));
        put("issue", self.issue.as_deref().map(Value::from));
        Turn {
            name: "submit",
            reason: "",
            flags,
        }
    }
}

/// `tm autopilot feedback` and `tm run feedback`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Feedback {
    /// Somebody who is heard although they may not change the repository; may be repeated. A person decides that
    #[arg(long = "author", value_name = "USER")]
    #[serde(skip)]
    pub authors: Vec<String>,
    /// By what, where a person has to agree.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: RunChoice,
}

impl Feedback {
    /// It as a turn.
    pub fn turn(&self) -> Turn<'static> {
        let mut flags = Map::new();
        if !self.authors.is_empty() {
            flags.insert("authors".to_owned(), Value::from(self.authors.clone()));
        }
        Turn {
            name: "feedback",
            reason: "",
            flags,
        }
    }
}
