//! What others say of a pull request: checks that fail, and what people write.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::address::ForgeKind;
use super::client::{Forge, ForgeError, Method};
use super::pull_request::PullRequest;

/// What an answer of ours has in it, before the key of what it answers.
const ANSWERS: &str = "<!-- tramline answers ";

/// Where something was said, and so where it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A check, which nobody answers: it is run again.
    Check,
    /// A thread at a line of the change, by its id.
    Thread(String),
    /// The talk below the pull request.
    Talk,
}

/// One thing that somebody, or a check, has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// By which it is known again: the same remark has the same one.
    pub key: String,
    /// Where it is answered.
    pub place: Place,
    /// Who says it: a user name, or the name of a check.
    pub author: String,
    /// Whether the author may change the repository; checks may.
    pub trusted: bool,
    /// What is said.
    pub text: String,
    /// Its page.
    pub url: String,
    /// The file that it is about.
    pub path: Option<String>,
    /// The line.
    pub line: Option<u64>,
}

/// All that is said of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feedback {
    /// What is to be looked at.
    pub remarks: Vec<Remark>,
    /// Checks that are not at their end.
    pub checks_running: usize,
    /// Checks that passed.
    pub checks_passed: usize,
    /// How many approved it.
    pub approvals: usize,
    /// The keys that were answered.
    pub answered: Vec<String>,
}

/// What answers a remark.
pub fn answer_text(text: &str, key: &str) -> String {
    format!("{text}\n\n{ANSWERS}{key} -->")
}

/// The key that an answer of ours names.
fn answered_key(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once(ANSWERS)?;
    rest.split_once(" -->").map(|(key, _)| key)
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value
        .pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

impl Forge {
    /// What is said of a pull request that is at the commit `sha`.
    pub fn feedback(&self, of: &PullRequest, sha: &str) -> Result<Feedback, ForgeError> {
        let mut feedback = Feedback::default();
        match self.kind {
            ForgeKind::GitHub => self.github_checks(sha, &mut feedback)?,
            ForgeKind::GitLab => self.gitlab_jobs(of.number, sha, &mut feedback)?,
        }
        self.conversation(of.number, &mut feedback)?;
        Ok(feedback)
    }

    /// The keys of what was answered.
    pub fn answered(&self, number: u64) -> Result<Vec<String>, ForgeError> {
        let mut feedback = Feedback::default();
        self.conversation(number, &mut feedback)?;
        Ok(feedback.answered)
    }

    /// What people write.
    fn conversation(&self, of: u64, feedback: &mut Feedback) -> Result<(), ForgeError> {
        match self.kind {
            ForgeKind::GitHub => {
                self.github_threads(of, feedback)?;
                self.github_talk(of, feedback)
            }
            ForgeKind::GitLab => self.gitlab_discussions(of, feedback),
        }
    }

    /// Answers a remark where it was made.
    pub fn answer(&self, number: u64, place: &Place, body: &str) -> Result<(), ForgeError> {
        let requests = self.pull_requests();
        let path = match (self.kind, place) {
            (_, Place::Check) => return Ok(()),
            (ForgeKind::GitHub, Place::Thread(id)) => {
                format!("{requests}/{number}/comments/{id}/replies")
            }
            (ForgeKind::GitHub, Place::Talk) => format!("{}/issues/{number}/comments", self.root()),
            (ForgeKind::GitLab, Place::Thread(id)) => {
                format!("{requests}/{number}/discussions/{id}/notes")
            }
            (ForgeKind::GitLab, Place::Talk) => format!("{requests}/{number}/notes"),
        };
        self.send(Method::Post, &path, &json!({ "body": body }))
            .map(drop)
    }

    fn github_checks(&self, sha: &str, feedback: &mut Feedback) -> Result<(), ForgeError> {
        let root = self.root();
        let runs = self.documents(&format!("{root}/commits/{sha}/check-runs?per_page=100"))?;
        let runs = runs
            .iter()
            .filter_map(|page| page.get("check_runs")?.as_array());
        for run in runs.flatten() {
            let conclusion = text(run, "/conclusion");
            match (text(run, "/status"), conclusion) {
                ("completed", "failure" | "timed_out" | "startup_failure" | "action_required") => {
                    let said = [
                        text(run, "/output/title"),
                        text(run, "/output/summary"),
                        text(run, "/output/text"),
                    ];
                    feedback.remarks.push(check(
                        text(run, "/name"),
                        &format!("{conclusion}\n{}", said.join("\n")),
                        text(run, "/html_url"),
                    ));
                }
                ("completed", _) => feedback.checks_passed += 1,
                _ => feedback.checks_running += 1,
            }
        }
        let statuses = self.documents(&format!("{root}/commits/{sha}/status?per_page=100"))?;
        let statuses = statuses
            .iter()
            .filter_map(|page| page.get("statuses")?.as_array());
        for status in statuses.flatten() {
            match text(status, "/state") {
                "failure" | "error" => feedback.remarks.push(check(
                    text(status, "/context"),
                    text(status, "/description"),
                    text(status, "/target_url"),
                )),
                "pending" => feedback.checks_running += 1,
                _ => feedback.checks_passed += 1,
            }
        }
        Ok(())
    }

    /// Comments at lines, thread by thread: what others wrote since our last answer is one remark.
    fn github_threads(&self, of: u64, feedback: &mut Feedback) -> Result<(), ForgeError> {
        let path = format!("{}/{of}/comments?per_page=100", self.pull_requests());
        let all = self.list(&path)?;
        let mut threads: Vec<(u64, Vec<&Value>)> = Vec::new();
        for comment in &all {
            let Some(id) = number(comment, "/id") else {
                continue;
            };
            let root = number(comment, "/in_reply_to_id").unwrap_or(id);
            match threads.iter_mut().find(|(known, _)| *known == root) {
                Some((_, comments)) => comments.push(comment),
                None => threads.push((root, vec![comment])),
            }
        }
        for (root, comments) in threads {
            let said = comments.iter().map(|comment| Said {
                id: number(comment, "/id").unwrap_or_default().to_string(),
                author: text(comment, "/user/login"),
                trusted: is_of_the_repository(comment),
                body: text(comment, "/body"),
                url: text(comment, "/html_url"),
            });
            let remark = feedback.of_thread("comment", &said.collect::<Vec<_>>());
            if let (Some(remark), Some(first)) = (remark, comments.first()) {
                feedback.remarks.push(Remark {
                    place: Place::Thread(root.to_string()),
                    path: Some(text(first, "/path").to_owned()),
                    line: number(first, "/line").or_else(|| number(first, "/original_line")),
                    ..remark
                });
            }
        }
        Ok(())
    }

    /// Reviews, and the talk below the pull request.
    fn github_talk(&self, of: u64, feedback: &mut Feedback) -> Result<(), ForgeError> {
        let reviews = self.list(&format!(
            "{}/{of}/reviews?per_page=100",
            self.pull_requests()
        ))?;
        let talk = self.list(&format!(
            "{}/issues/{of}/comments?per_page=100",
            self.root()
        ))?;
        for review in &reviews {
            if text(review, "/state") == "APPROVED" {
                feedback.approvals += 1;
            }
        }
        let reviews = reviews.iter().filter(|review| {
            !matches!(text(review, "/state"), "APPROVED" | "PENDING" | "DISMISSED")
        });
        for (what, comment) in reviews
            .map(|one| ("review", one))
            .chain(talk.iter().map(|one| ("talk", one)))
        {
            let said = Said {
                id: number(comment, "/id").unwrap_or_default().to_string(),
                author: text(comment, "/user/login"),
                trusted: is_of_the_repository(comment),
                body: text(comment, "/body"),
                url: text(comment, "/html_url"),
            };
            let remark = feedback.of_thread(what, &[said]);
            feedback.remarks.extend(remark);
        }
        Ok(())
    }

    fn gitlab_jobs(&self, of: u64, sha: &str, feedback: &mut Feedback) -> Result<(), ForgeError> {
        let path = format!("{}/{of}/pipelines?per_page=100", self.pull_requests());
        let pipelines = self.list(&path)?;
        let newest = pipelines
            .iter()
            .filter(|pipeline| text(pipeline, "/sha") == sha)
            .filter_map(|pipeline| number(pipeline, "/id"))
            .max();
        let Some(pipeline) = newest else {
            return Ok(());
        };
        let jobs = format!("{}/pipelines/{pipeline}/jobs?per_page=100", self.root());
        for job in self.list(&jobs)? {
            let may_fail = job.get("allow_failure") == Some(&Value::Bool(true));
            match text(&job, "/status") {
                "failed" if !may_fail => feedback.remarks.push(check(
                    text(&job, "/name"),
                    text(&job, "/failure_reason"),
                    text(&job, "/web_url"),
                )),
                "created" | "pending" | "running" | "preparing" | "waiting_for_resource" => {
                    feedback.checks_running += 1;
                }
                "success" => feedback.checks_passed += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn gitlab_discussions(&self, of: u64, feedback: &mut Feedback) -> Result<(), ForgeError> {
        // From this level on somebody may push.
        const DEVELOPER: u64 = 30;
        let members = self.list(&format!("{}/members/all?per_page=100", self.root()))?;
        let may_push = |name: &str| {
            members.iter().any(|member| {
                text(member, "/username") == name
                    && number(member, "/access_level").is_some_and(|level| level >= DEVELOPER)
            })
        };
        let path = format!("{}/{of}/discussions?per_page=100", self.pull_requests());
        for discussion in self.list(&path)? {
            let notes = discussion.get("notes").and_then(Value::as_array);
            let notes: Vec<&Value> = notes
                .into_iter()
                .flatten()
                .filter(|note| note.get("system") != Some(&Value::Bool(true)))
                .collect();
            let Some(first) = notes.first() else {
                continue;
            };
            if first.get("resolved") == Some(&Value::Bool(true)) {
                continue;
            }
            let said = notes.iter().map(|note| Said {
                id: number(note, "/id").unwrap_or_default().to_string(),
                author: text(note, "/author/username"),
                trusted: may_push(text(note, "/author/username")),
                body: text(note, "/body"),
                url: "",
            });
            let remark = feedback.of_thread("note", &said.collect::<Vec<_>>());
            if let Some(remark) = remark {
                let path = text(first, "/position/new_path");
                feedback.remarks.push(Remark {
                    place: Place::Thread(text(&discussion, "/id").to_owned()),
                    path: (!path.is_empty()).then(|| path.to_owned()),
                    line: number(first, "/position/new_line"),
                    ..remark
                });
            }
        }
        Ok(())
    }
}

/// What somebody wrote.
struct Said<'v> {
    id: String,
    author: &'v str,
    trusted: bool,
    body: &'v str,
    url: &'v str,
}

impl Feedback {
    /// What others said in a thread since it was answered last, as one remark. Who may not change the repository is not heard
    /// together with those who may.
    fn of_thread(&mut self, what: &str, all: &[Said<'_>]) -> Option<Remark> {
        let keys = all.iter().filter_map(|said| answered_key(said.body));
        self.answered.extend(keys.map(str::to_owned));
        let last_answer = all.iter().rposition(|said| said.body.contains(ANSWERS));
        let since = &all[last_answer.map_or(0, |at| at + 1)..];
        let since: Vec<&Said<'_>> = since
            .iter()
            .filter(|said| !said.body.trim().is_empty())
            .collect();
        let trusted = since.iter().any(|said| said.trusted);
        let heard: Vec<&&Said<'_>> = since
            .iter()
            .filter(|said| said.trusted == trusted)
            .collect();
        let newest = heard.last()?;
        let bodies: Vec<&str> = heard.iter().map(|said| said.body.trim()).collect();
        Some(Remark {
            key: format!("{what}:{}", newest.id),
            place: Place::Talk,
            author: newest.author.to_owned(),
            trusted,
            text: bodies.join("\n\n"),
            url: newest.url.to_owned(),
            path: None,
            line: None,
        })
    }
}

/// Whether GitHub says that the author may change the repository. Programs are none of these, whatever rights they have.
fn is_of_the_repository(comment: &Value) -> bool {
    let is = text(comment, "/author_association");
    matches!(is, "OWNER" | "MEMBER" | "COLLABORATOR") && text(comment, "/user/type") != "Bot"
}

fn check(name: &str, said: &str, url: &str) -> Remark {
    Remark {
        key: format!("check:{name}"),
        place: Place::Check,
        author: name.to_owned(),
        trusted: true,
        text: said.trim().to_owned(),
        url: url.to_owned(),
        path: None,
        line: None,
    }
}
