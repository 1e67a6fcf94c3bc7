//! The turns of a run, of `tm autopilot` and of `tm run`: what is done to it without a report.

use clap::{Args, Subcommand};
use engine::Turn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Place, RunChoice, Signing, TurnChoice};

/// A turn.
#[derive(Debug, Subcommand)]
pub enum TurnCommand {
    /// Go one step back, as the present state says: in `tdd` COMMIT to GREEN, GREEN to RED, the final suite to a repair
    Reopen(Reopen),
    /// Take run, branch and working tree back to an earlier step; what was there is kept
    ///
    /// Without TO the steps are listed. Commits and uncommitted changes are kept under `refs/tramline/rewound`.
    Rewind(Rewind),
    /// Go on from the branch as it is, where git has moved it: by a merge, a rebase, a reset, a commit that is no part of the run
    ///
    /// What is in progress begins again on it, and items whose commits are gone are done again. Commits that came in were not earned.
    Adopt(RunWithReason),
    /// Give the present item up, or another one; what depends on it is not run
    Skip(Skip),
    /// Let one refusal pass for the present work unit; a person decides this, at a terminal
    Allow(Allow),
    /// Stop taking reports until the run is resumed
    Pause(RunWithReason),
    /// Go on with a paused or interrupted run; the only one of them if none is named
    Resume(Resume),
    /// End the run; branch and files stay, unless clean-up is asked for
    Abort(Abort),
    /// Push the branch of a finished run, and open its pull request or bring that up to date
    ///
    /// By `gh` or `glab`, where they are logged in; else the page is named on which a person opens it.
    Submit(Submit),
    /// Take in what checks and people say of the pull request: each becomes an item, and the run goes on
    ///
    /// People who may not change the repository are not heard.
    Feedback(Feedback),
}

/// `reopen`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reopen {
    /// The item's key, such as a subtask's id; the present one if left out
    #[arg(value_name = "ITEM")]
    #[schemars(extend("x-brief" = "default: present"))]
    pub item: Option<String>,
    /// What kind of work it is from now on, and begins anew as: for subtasks of `tdd` one of `tdd`, `fix`, `docs`, `config`, `chore`, `refactor`,
    /// `tests` and `spike`; with a reason
    #[arg(long, value_name = "KIND")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "make it another kind of work"))]
    pub kind: Option<String>,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// By what, where only a person takes it up again.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `tm rewind`, which is `tm autopilot rewind`.
#[derive(Debug, Args)]
pub struct RewindHere {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// Where to.
    #[command(flatten)]
    pub rewind: Rewind,
}

/// `rewind`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rewind {
    /// A work unit, a subtask (where it began), a phase (the last one of that name), or `last-commit` for the step before it; the
    /// steps are listed if left out
    #[arg(value_name = "TO")]
    #[schemars(extend("x-brief" = "unit, subtask, phase or last-commit; default: list the steps"))]
    pub to: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "shown with the step"))]
    pub reason: String,
    /// Take back what is pushed, too: the next submission replaces it there
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "also what is pushed"))]
    pub pushed: bool,
    /// By what, where a person has to agree.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

impl Rewind {
    /// It as a turn; none where nothing is said of where to.
    pub fn turn(&self) -> Option<Turn<'_>> {
        let to = self.to.as_ref()?;
        let mut flags = Map::new();
        flags.insert("to".to_owned(), to.as_str().into());
        if self.pushed {
            flags.insert("pushed".to_owned(), true.into());
        }
        Some(Turn {
            name: "rewind",
            reason: &self.reason,
            flags,
        })
    }
}

/// A command about one run, with a reason.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWithReason {
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT", default_value = "")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `tm adopt`, which is `tm autopilot adopt`.
#[derive(Debug, Args)]
pub struct AdoptHere {
    /// Where, and how to answer.
    #[command(flatten)]
    pub place: Place,
    /// The run, and why.
    #[command(flatten)]
    pub adopt: RunWithReason,
}

/// `skip`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skip {
    /// The item's key; the present one if left out
    #[arg(value_name = "ITEM")]
    #[schemars(extend("x-aliases" = ["subtaskId"], "x-brief" = "default: present"))]
    pub item: Option<String>,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-brief" = "recorded"))]
    pub reason: String,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `allow`.
#[derive(Debug, Args)]
pub struct Allow {
    /// Code of the refusal
    #[arg(value_name = "CODE")]
    pub code: String,
    /// Why; it is journalled and reported
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// By what.
    #[command(flatten)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    pub run: TurnChoice,
}

/// `resume`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
    /// Go through the run step by step: do the work, press Enter, type the results
    #[arg(long)]
    #[serde(skip)]
    pub interactive: bool,
    /// By what, where only a person has it go on.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
}

/// `abort`.
#[derive(Debug, Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Abort {
    /// Delete the branch and the run's folder too; asks first
    #[arg(long)]
    #[serde(default)]
    #[schemars(extend("x-brief" = "delete its branch and folder"))]
    pub cleanup: bool,
    /// Delete the branch even if it has work that is nowhere else
    #[arg(long, requires = "cleanup")]
    #[serde(default)]
    #[schemars(extend("x-brief" = "clean up even unmerged work"))]
    pub force: bool,
    /// By what.
    #[command(flatten)]
    #[serde(skip)]
    pub signing: Signing,
    /// The run.
    #[command(flatten)]
    #[serde(skip)]
    pub run: TurnChoice,
}

/// `submit`.
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

/// `feedback`.
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

impl TurnCommand {
    /// What is asked for; none where the steps are that a run can be taken back to.
    pub fn turn(&self) -> Option<Turn<'_>> {
        Some(match self {
            Self::Reopen(reopen) => Turn::reopen(
                reopen.item.as_deref(),
                reopen.kind.as_deref(),
                &reopen.reason,
            ),
            Self::Rewind(rewind) => return rewind.turn(),
            Self::Adopt(adopt) => Turn::new("adopt", &adopt.reason),
            Self::Skip(skip) => Turn::skip(skip.item.as_deref(), &skip.reason),
            Self::Allow(allow) => Turn::allow(&allow.code, &allow.reason),
            Self::Pause(pause) => Turn::new("pause", &pause.reason),
            Self::Resume(_) => Turn::new("resume", ""),
            Self::Abort(abort) => Turn::abort(abort.cleanup, abort.force),
            Self::Submit(submit) => submit.turn(),
            Self::Feedback(feedback) => feedback.turn(),
        })
    }

    /// The run that is named.
    pub fn run(&self) -> Option<&str> {
        let named = match self {
            Self::Reopen(Reopen { run, .. })
            | Self::Rewind(Rewind { run, .. })
            | Self::Adopt(RunWithReason { run, .. })
            | Self::Pause(RunWithReason { run, .. })
            | Self::Skip(Skip { run, .. })
            | Self::Allow(Allow { run, .. })
            | Self::Resume(Resume { run, .. })
            | Self::Abort(Abort { run, .. }) => &run.run_id,
            Self::Submit(Submit { run, .. }) | Self::Feedback(Feedback { run, .. }) => &run.run_id,
        };
        named.as_deref()
    }

    /// By what a person decides it, where one has to.
    pub fn signing(&self) -> Signing {
        match self {
            Self::Reopen(Reopen { signing, .. })
            | Self::Rewind(Rewind { signing, .. })
            | Self::Allow(Allow { signing, .. })
            | Self::Resume(Resume { signing, .. })
            | Self::Abort(Abort { signing, .. })
            | Self::Submit(Submit { signing, .. })
            | Self::Feedback(Feedback { signing, .. }) => signing.clone(),
            Self::Adopt(_) | Self::Pause(_) | Self::Skip(_) => Signing::default(),
        }
    }
}
