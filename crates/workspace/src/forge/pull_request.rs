//! Pull requests; merge requests, as GitLab calls them, are meant as well.

use serde_json::{Value, json};

use super::address::{ForgeKind, encoded};
use super::client::{Forge, ForgeError, ForgeTrouble, Method};

/// The longest body that GitHub takes, in characters.
pub const LONGEST_BODY: usize = 65_536;

/// How a title says on GitLab that the request is a draft.
const DRAFT: &str = "Draft: ";

/// Where a pull request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullRequestState {
    /// It is looked at.
    Open,
    /// Somebody closed it.
    Closed,
    /// It is merged.
    Merged,
}

/// A pull request that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number in its repository.
    pub number: u64,
    /// Its page.
    pub url: String,
    /// Where it stands.
    pub state: PullRequestState,
    /// The branch that it is to be merged into.
    pub base: String,
    /// The commit that it brings, as far as the forge knows yet.
    pub head: String,
    /// Whether it is not to be merged yet.
    pub draft: bool,
    /// Its title, without what says that it is a draft.
    pub title: String,
    /// What it says.
    pub body: String,
    /// The labels that it has.
    pub labels: Vec<String>,
    /// By which GitHub's other interface knows it.
    node: String,
}

/// A pull request that is to be.
#[derive(Debug, Clone, Copy)]
pub struct NewPullRequest<'a> {
    /// The branch that it brings.
    pub head: &'a str,
    /// The branch that it is to be merged into.
    pub base: &'a str,
    /// Its title.
    pub title: &'a str,
    /// What it says.
    pub body: &'a str,
    /// Whether it is not to be merged yet.
    pub draft: bool,
}

impl Forge {
    /// `repos/owner/name` or `projects/owner%2Fname`.
    pub(super) fn root(&self) -> String {
        let path = &self.address.path;
        match self.kind {
            ForgeKind::GitHub => format!("repos/{path}"),
            ForgeKind::GitLab => format!("projects/{}", encoded(path)),
        }
    }

    /// Where pull requests are.
    pub(super) fn pull_requests(&self) -> String {
        let root = self.root();
        match self.kind {
            ForgeKind::GitHub => format!("{root}/pulls"),
            ForgeKind::GitLab => format!("{root}/merge_requests"),
        }
    }

    /// All that bring `head` of this very repository into `base`, whatever became of them; the newest first.
    pub fn find(&self, head: &str, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let at = self.pull_requests();
        let (head, base) = (encoded(head), encoded(base));
        let path = match self.kind {
            ForgeKind::GitHub => {
                let owner = self.address.path.split('/').next().unwrap_or_default();
                let owner = encoded(owner);
                format!("{at}?state=all&head={owner}:{head}&base={base}&per_page=100")
            }
            ForgeKind::GitLab => format!(
                "{at}?state=all&scope=all&source_branch={head}&target_branch={base}&per_page=100"
            ),
        };
        let all = self.list(&path)?;
        // A branch of the same name in a fork is another one.
        let own = all.iter().filter(|one| {
            let project = |name| one.get(name).and_then(Value::as_u64);
            project("source_project_id") == project("target_project_id")
        });
        let mut found = own
            .map(|one| self.read(one))
            .collect::<Result<Vec<_>, _>>()?;
        found.sort_by_key(|one| std::cmp::Reverse(one.number));
        Ok(found)
    }

    /// The one of that number.
    pub fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let answer = self.get(&format!("{}/{number}", self.pull_requests()))?;
        self.read(&answer)
    }

    /// Opens one.
    pub fn create(&self, new: &NewPullRequest<'_>) -> Result<PullRequest, ForgeError> {
        let NewPullRequest {
            head,
            base,
            title,
            body,
            draft,
        } = *new;
        let asked = match self.kind {
            ForgeKind::GitHub => json!({
                "title": title, "head": head, "base": base, "body": body, "draft": draft,
            }),
            ForgeKind::GitLab => json!({
                "title": self.titled(title, draft), "source_branch": head,
                "target_branch": base, "description": body,
            }),
        };
        let answer = self.send(Method::Post, &self.pull_requests(), &asked)?;
        self.read(&answer)
    }

    /// Changes title and body.
    pub fn rewrite(&self, of: &PullRequest, title: &str, body: &str) -> Result<(), ForgeError> {
        let path = format!("{}/{}", self.pull_requests(), of.number);
        let (method, asked) = match self.kind {
            ForgeKind::GitHub => (Method::Patch, json!({ "title": title, "body": body })),
            ForgeKind::GitLab => (
                Method::Put,
                json!({ "title": self.titled(title, of.draft), "description": body }),
            ),
        };
        self.send(method, &path, &asked).map(drop)
    }

    /// Has it be merged into another branch.
    pub fn set_base(&self, number: u64, base: &str) -> Result<(), ForgeError> {
        let path = format!("{}/{number}", self.pull_requests());
        let (method, asked) = match self.kind {
            ForgeKind::GitHub => (Method::Patch, json!({ "base": base })),
            ForgeKind::GitLab => (Method::Put, json!({ "target_branch": base })),
        };
        self.send(method, &path, &asked).map(drop)
    }

    /// Makes a draft of it, or has it looked at.
    pub fn set_draft(&self, of: &PullRequest, draft: bool) -> Result<(), ForgeError> {
        match self.kind {
            ForgeKind::GitLab => {
                let path = format!("{}/{}", self.pull_requests(), of.number);
                let asked = json!({ "title": self.titled(&of.title, draft) });
                self.send(Method::Put, &path, &asked).map(drop)
            }
            // Only the other interface can do that.
            ForgeKind::GitHub => {
                let mutation = if draft {
                    "convertPullRequestToDraft"
                } else {
                    "markPullRequestReadyForReview"
                };
                let query = format!(
                    "mutation($id: ID!) {{ {mutation}(input: {{pullRequestId: $id}}) {{ pullRequest {{ isDraft }} }} }}"
                );
                let asked = json!({ "query": query, "variables": { "id": of.node } });
                let answer = self.send(Method::Post, "graphql", &asked)?;
                match answer.get("errors") {
                    Some(errors) => {
                        let first = errors.pointer("/0/message").and_then(Value::as_str);
                        Err(ForgeError::new(
                            ForgeTrouble::Invalid,
                            first.unwrap_or("it was not taken"),
                        ))
                    }
                    None => Ok(()),
                }
            }
        }
    }

    /// Gives it labels beside those that it has.
    pub fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), ForgeError> {
        match self.kind {
            ForgeKind::GitHub => {
                let path = format!("{}/issues/{number}/labels", self.root());
                self.send(Method::Post, &path, &json!({ "labels": labels }))
            }
            ForgeKind::GitLab => {
                let path = format!("{}/{number}", self.pull_requests());
                self.send(
                    Method::Put,
                    &path,
                    &json!({ "add_labels": labels.join(",") }),
                )
            }
        }
        .map(drop)
    }

    /// Asks people to look at it, teams (`owner/team`) among them on GitHub. `asked` were asked before.
    pub fn ask_to_review(
        &self,
        number: u64,
        asked: &[String],
        reviewers: &[String],
    ) -> Result<(), ForgeError> {
        match self.kind {
            ForgeKind::GitHub => {
                let (teams, people): (Vec<&str>, Vec<&str>) = reviewers
                    .iter()
                    .map(String::as_str)
                    .partition(|name| name.contains('/'));
                let teams: Vec<&str> = teams
                    .iter()
                    .filter_map(|team| team.rsplit('/').next())
                    .collect();
                let path = format!("{}/{number}/requested_reviewers", self.pull_requests());
                let asked = json!({ "reviewers": people, "team_reviewers": teams });
                self.send(Method::Post, &path, &asked).map(drop)
            }
            ForgeKind::GitLab => {
                // The list there is replaced.
                let mut ids = Vec::new();
                for name in asked.iter().chain(reviewers) {
                    let found = self.list(&format!("users?username={}", encoded(name)))?;
                    let id = found.first().and_then(|user| user.get("id"));
                    let id = id.and_then(Value::as_u64).ok_or_else(|| {
                        ForgeError::new(ForgeTrouble::Invalid, format!("there is no user `{name}`"))
                    })?;
                    ids.push(id);
                }
                let path = format!("{}/{number}", self.pull_requests());
                self.send(Method::Put, &path, &json!({ "reviewer_ids": ids }))
                    .map(drop)
            }
        }
    }

    fn titled(&self, title: &str, draft: bool) -> String {
        if draft && self.kind == ForgeKind::GitLab {
            format!("{DRAFT}{title}")
        } else {
            title.to_owned()
        }
    }

    fn read(&self, answer: &Value) -> Result<PullRequest, ForgeError> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let needed = |name: &'static str| text(name).ok_or_else(|| ForgeError::without(name));
        let number = |name: &'static str| {
            let number = answer.get(name).and_then(Value::as_u64);
            number.ok_or_else(|| ForgeError::without(name))
        };
        let labels = answer.get("labels").and_then(Value::as_array);
        let labels = labels.into_iter().flatten().filter_map(|label| {
            let name = label.as_str().or_else(|| label.get("name")?.as_str());
            name.map(str::to_owned)
        });
        let labels: Vec<String> = labels.collect();
        let draft = answer.get("draft").and_then(Value::as_bool);
        Ok(match self.kind {
            ForgeKind::GitHub => PullRequest {
                number: number("number")?,
                url: needed("html_url")?.to_owned(),
                state: match (needed("state")?, text("merged_at")) {
                    (_, Some(_)) => PullRequestState::Merged,
                    ("open", None) => PullRequestState::Open,
                    _ => PullRequestState::Closed,
                },
                base: answer
                    .pointer("/base/ref")
                    .or_else(|| answer.get("base"))
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                head: answer
                    .pointer("/head/sha")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                draft: draft.unwrap_or_default(),
                title: needed("title")?.to_owned(),
                body: text("body").unwrap_or_default().replace("\r\n", "\n"),
                labels,
                node: text("node_id").unwrap_or_default().to_owned(),
            },
            ForgeKind::GitLab => {
                let title = needed("title")?;
                let bare = title.strip_prefix(DRAFT);
                PullRequest {
                    number: number("iid")?,
                    url: needed("web_url")?.to_owned(),
                    state: match needed("state")? {
                        // Locked is what it is while it is merged.
                        "opened" | "locked" => PullRequestState::Open,
                        "merged" => PullRequestState::Merged,
                        _ => PullRequestState::Closed,
                    },
                    base: text("target_branch").unwrap_or_default().to_owned(),
                    head: text("sha").unwrap_or_default().to_owned(),
                    draft: draft.unwrap_or(bare.is_some()),
                    title: bare.unwrap_or(title).to_owned(),
                    body: text("description")
                        .unwrap_or_default()
                        .replace("\r\n", "\n"),
                    labels,
                    node: String::new(),
                }
            }
        })
    }
}
