//! What a repository brings along that counts only once a person trusted its bytes: workflows that take the place of a
//! built-in one, decide who is asked at a gate or have commands run; the commands of profiles; and a test command that runs
//! unasked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use machine::definition::Gate;
use machine::{Definition, RunState};
use serde::Serialize;
use serde_json::json;
use workspace::checks::Check;
use workspace::config::{Config, Level};
use workspace::profile::{Profile, Reader, Source as ProfileSource};
use workspace::runner::definition::{Definition as Behind, command_definition};
use workspace::trust::TrustStore;

pub use workspace::trust::Subject;

use crate::call::Call;
use crate::capability::checks::TrustedChecks;
use crate::capability::{PROFILE, REPOSITORY, command};
use crate::engine::Engine;
use crate::fault;
use crate::fault::{Fault, Kind};
use crate::library::{self, Source};
use crate::slot::Slot;

/// Something of a repository that a person may trust as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustRequest {
    /// What it is.
    pub subject: Subject,
    /// What it is called.
    pub name: String,
    /// The profile's folder, the workflow's file, or the project's root.
    pub path: PathBuf,
    /// The SHA-256 of its bytes.
    pub hash: String,
    /// What it does once it is trusted, a line each.
    pub effects: Vec<String>,
    /// The files that count, relative to `path` where that is a folder.
    pub files: Vec<String>,
    /// Whether a person trusted it as it is.
    pub trusted: bool,
    /// Whether a person trusted it as it was once.
    pub changed: bool,
    /// Those of its effects that are not as a person trusted them last.
    pub changed_effects: Vec<String>,
}

impl TrustRequest {
    /// The command with which a person trusts it.
    pub fn command(&self) -> String {
        match self.subject {
            Subject::Profile => format!("tm session trust {}", self.name),
            Subject::Workflow => format!("tm workflow trust {}", self.name),
            Subject::Tests => "tm config trust".to_owned(),
            Subject::Checks => "tm config trust --checks".to_owned(),
        }
    }

    /// What it is, in a few words.
    pub fn title(&self) -> String {
        match self.subject {
            Subject::Profile => format!("the profile `{}`", self.name),
            Subject::Workflow => format!("the workflow `{}`", self.name),
            Subject::Tests => "the test command".to_owned(),
            Subject::Checks => format!("the list of checks ({})", self.name),
        }
    }

    /// That it is not trusted, and what it would do.
    pub fn warning(&self) -> String {
        if self.subject == Subject::Checks {
            // They are many, and in nobody's way until then.
            return if self.changed {
                format!(
                    "{} is not as a person trusted it: those that were changed, or came up since, are not run",
                    self.title()
                )
            } else {
                format!(
                    "{} was trusted by nobody: none of them is run",
                    self.title()
                )
            };
        }
        // What lies behind a command is for whoever reads all of it.
        let all = || self.parts().map(|(line, _)| line).collect();
        let (changed, effects): (_, Vec<&str>) = if !self.changed {
            (" was trusted by nobody: it", all())
        } else if self.changed_effects.is_empty() {
            (" was changed since a person trusted it: it", all())
        } else {
            let changed = self.changed_effects.iter().map(String::as_str).collect();
            (" does what no person trusted yet: it", changed)
        };
        format!(
            "{} ({}){changed} {}",
            self.title(),
            self.path.display(),
            effects.join("; it ")
        )
    }

    /// Each thing that it does, with the hash of all that is said of it: what lies behind a command, too.
    fn parts(&self) -> impl Iterator<Item = (&str, String)> {
        let begins = |line: &String| !line.starts_with('|');
        let starts = (0..self.effects.len()).filter(move |at| begins(&self.effects[*at]));
        starts.map(move |at| {
            let behind = self.effects[at + 1..]
                .iter()
                .take_while(|line| !begins(line));
            let whole: Vec<&str> = iter::once(&self.effects[at])
                .chain(behind)
                .map(String::as_str)
                .collect();
            let hash = journal::sha256_hex(whole.join("\n").as_bytes());
            (whole[0].trim_end_matches(':'), hash)
        })
    }

    /// The same, with what a person said of it.
    fn judged(mut self, store: &TrustStore) -> Result<Self, Fault> {
        self.trusted = store.is_trusted(self.subject, &self.path, &self.hash)?;
        let last = store.last(self.subject, &self.path)?;
        self.changed = last.is_some();
        let known = last.map(|last| last.parts).unwrap_or_default();
        let is_new =
            |(line, hash): (&str, String)| (!known.contains(&hash)).then(|| line.to_owned());
        self.changed_effects = self.parts().filter_map(is_new).collect();
        Ok(self)
    }

    /// Refuses what a person did not trust as it is.
    pub(crate) fn required(&self) -> Result<(), Fault> {
        if self.trusted {
            return Ok(());
        }
        Err(self.untrusted())
    }

    fn untrusted(&self) -> Fault {
        let (warning, command) = (self.warning(), self.command());
        // Nothing is refused for checks that nobody trusted: they are not run.
        let fault = match self.subject {
            Subject::Tests | Subject::Checks => fault!("untrusted.tests", warning, command),
            Subject::Profile | Subject::Workflow => fault!("untrusted.files", warning, command),
        };
        fault.detail("hash", self.hash.as_str())
    }
}

impl Engine {
    /// All of the repository that is not trusted as it is, and would have to be.
    pub fn untrusted(&self) -> Result<Vec<TrustRequest>, Fault> {
        let mut all = Vec::new();
        for (definition, source) in library::of_project(&self.root) {
            all.extend(self.of_workflow(&definition, &source)?);
        }
        for summary in self.profiles().list(None) {
            // What a user has for all projects is for them to look at when they use it.
            if matches!(summary.source, ProfileSource::Project { .. })
                && let Ok(profile) = self.profiles().load(&summary.name)
                && let Some(request) = self.of_profile(&profile)?
            {
                all.push(request);
            }
        }
        if let Some(command) = self.unasked_test_command() {
            all.push(self.of_tests(&command, &self.settings.config)?);
        }
        all.extend(self.of_checks(&self.settings.config)?);
        all.retain(|request| !request.trusted);
        Ok(all)
    }

    /// What somebody who begins a run should be told of its settings, and of what the repository brings along.
    pub(crate) fn start_warnings(&self) -> Result<Vec<String>, Fault> {
        let untrusted = self.untrusted()?;
        let untrusted = untrusted.iter().map(|request| {
            format!(
                "{}; a person can read and trust it: {}",
                request.warning(),
                request.command()
            )
        });
        Ok(self.settings.not_in_force().chain(untrusted).collect())
    }

    /// What a person who trusts it would let happen. `name` is the profile, or the id of the workflow.
    pub fn trust_request(&self, subject: Subject, name: &str) -> Result<TrustRequest, Fault> {
        let request = match subject {
            Subject::Workflow => {
                // Nobody should find out after a decision that it was about something that cannot begin.
                let (definition, source) = library::load(&self.root, name)?;
                self.of_workflow(&definition, &source)?
            }
            Subject::Profile => self.of_profile(&self.profiles().load(name)?)?,
            Subject::Tests => match self.found_test_command() {
                Some(command) => Some(self.of_tests(&command, &self.settings.config)?),
                None => None,
            },
            Subject::Checks => self.of_checks(&self.settings.config)?,
        };
        request.ok_or_else(|| nothing_to_trust(subject, name))
    }

    /// Trusts something as it was looked at. A person's decision: the caller has asked one, or was given the hash.
    pub fn trust(&self, looked_at: &TrustRequest) -> Result<(), Fault> {
        let now = self.trust_request(looked_at.subject, &looked_at.name)?;
        if now.hash != looked_at.hash || now.path != looked_at.path {
            return Err(
                fault!("changed_since.trust", title = looked_at.title()).detail("hash", now.hash)
            );
        }
        let parts: Vec<String> = now.parts().map(|(_, hash)| hash).collect();
        self.trust_store()
            .trust(now.subject, &now.path, &now.name, &now.hash, &parts)?;
        Ok(())
    }

    /// Takes back all trust in it; whether there was any. It may be gone, or broken.
    pub fn distrust(&self, subject: Subject, name: &str) -> Result<bool, Fault> {
        let path = match subject {
            Subject::Profile => {
                let profiles = self.profiles();
                let mut listed = profiles.list(None).into_iter();
                let found = listed.find(|one| one.name == name);
                found
                    .and_then(|one| one.source.folder().map(Path::to_owned))
                    .unwrap_or_else(|| profiles.project_folder(name))
            }
            Subject::Tests | Subject::Checks => self.root.clone(),
            Subject::Workflow => match library::find(&self.root, name) {
                Ok(Source {
                    path: Some(path), ..
                }) => path,
                _ => library::folder(&self.root).join(format!("{name}.yaml")),
            },
        };
        // What was trusted may have lain elsewhere below the project, under the same name.
        let root = real(&self.root);
        let store = self.trust_store();
        let below = store
            .all()?
            .into_iter()
            .filter(|one| one.subject == subject && one.name == name && one.path.starts_with(&root))
            .map(|one| one.path);
        let mut revoked = false;
        for path in below.chain([real(&path)]) {
            revoked |= store.revoke(subject, &path)?;
        }
        Ok(revoked)
    }

    /// Loads the workflow `id` to begin a run of it: what a repository brought must be trusted where it has to be.
    pub(crate) fn startable(&self, id: &str) -> Result<(Definition, Source), Fault> {
        let (definition, source) = library::load(&self.root, id)?;
        if let Some(request) = self.of_workflow(&definition, &source)? {
            request.required()?;
        }
        Ok((definition, source))
    }

    pub(crate) fn trust_store(&self) -> TrustStore {
        TrustStore::in_folder(&self.settings.store)
    }

    fn of_workflow(
        &self,
        definition: &Definition,
        source: &Source,
    ) -> Result<Option<TrustRequest>, Fault> {
        let Some(path) = &source.path else {
            return Ok(None);
        };
        let id = &definition.id.value;
        let mut effects = Vec::new();
        if workflows::builtin(id).is_some() {
            effects.push(format!("takes the place of the built-in `{id}`"));
        }
        // What the rails of the settings ask for is asked where a definition says so.
        if definition.works_with(REPOSITORY) {
            effects.push("says what commits need to be made".to_owned());
        }
        if definition.works_with(PROFILE) {
            effects.push("says what a session needs to be over".to_owned());
        }
        // A gate at which a person decides whatever anybody says opens nothing.
        let gates: Vec<&str> = definition
            .gates
            .iter()
            .filter(|(_, gate)| !matches!(gate, Gate::Mode(mode) if mode.strength().is_some()))
            .map(|(gate, _)| gate.value.as_str())
            .collect();
        if !gates.is_empty() {
            effects.push(format!(
                "says who decides at the gates {}",
                gates.join(", ")
            ));
        }
        let commands = CommandLines::of(&self.root, definition);
        effects.extend(commands.effects());
        if effects.is_empty() {
            return Ok(None);
        }
        let hash = commands.hash(journal::sha256_hex(source.text.as_bytes()));
        self.judged(Subject::Workflow, id, path, hash, effects, Vec::new())
            .map(Some)
    }

    fn of_profile(&self, profile: &Profile) -> Result<Option<TrustRequest>, Fault> {
        let Some(folder) = profile.source.folder() else {
            return Ok(None);
        };
        let effects: Vec<String> = profile
            .responses
            .iter()
            .filter_map(|(phase, reader)| match reader {
                Reader::Command { argv, .. } => {
                    let words: Vec<String> = argv.iter().map(|word| shown(word)).collect();
                    Some(format!("runs for {phase}: {}", words.join(" ")))
                }
                _ => None,
            })
            .collect();
        if effects.is_empty() {
            return Ok(None);
        }
        let (name, hash) = (&profile.name, profile.hash.clone());
        let files = profile.files()?;
        self.judged(Subject::Profile, name, folder, hash, effects, files)
            .map(Some)
    }

    pub(crate) fn of_tests(&self, command: &str, config: &Config) -> Result<TrustRequest, Fault> {
        let setup = config.bench.setup.as_deref();
        let behind = command_definition(&self.root, command);
        let text = behind.as_ref().map(|definition| definition.text.as_str());
        let mut said = json!({ "command": command, "setup": setup, "definition": text });
        let mut effects = vec![format!(
            "runs whenever tests are reported: {}",
            readable(command)
        )];
        effects.extend(behind.iter().flat_map(what_is_behind));
        if let Some(setup) = setup {
            effects.push(format!("runs on the bench: {}", readable(setup)));
        }
        let bench = &config.bench;
        for (name, effect, own) in [
            ("env", "sees on the bench the variables", &bench.env),
            ("link", "has links on the bench to", &bench.link),
            ("copy", "has copies on the bench of", &bench.copy),
        ] {
            // What is not set is not hashed: the hash stays what it was before these counted.
            if !own.is_empty() {
                said[name] = json!(own);
                let own: Vec<String> = own.iter().map(|one| shown(one)).collect();
                effects.push(format!("{effect}: {}", own.join(" ")));
            }
        }
        let hash = journal::sha256_hex(said.to_string().as_bytes());
        self.judged(
            Subject::Tests,
            command,
            &self.root,
            hash,
            effects,
            Vec::new(),
        )
    }

    /// The checks of the project under these settings; none where there are none.
    fn of_checks(&self, config: &Config) -> Result<Option<TrustRequest>, Fault> {
        let checks = self.found_checks(config)?;
        if checks.is_empty() {
            return Ok(None);
        }
        let effects = checks.iter().flat_map(|check| self.effects_of(check));
        let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        self.of_check_effects(&names.join(", "), effects.collect())
            .map(Some)
    }

    /// What a check does whenever work is reported, a line each, with what the project has written behind its command.
    fn effects_of(&self, check: &Check) -> Vec<String> {
        let line = check.line();
        let behind = command_definition(&self.root, &line);
        let runs = format!("runs whenever work is reported: {}", readable(&line));
        iter::once(runs)
            .chain(behind.iter().flat_map(what_is_behind))
            .collect()
    }

    fn of_check_effects(&self, name: &str, effects: Vec<String>) -> Result<TrustRequest, Fault> {
        let hash = journal::sha256_hex(json!(effects).to_string().as_bytes());
        let files = Vec::new();
        self.judged(Subject::Checks, name, &self.root, hash, effects, files)
    }

    /// The checks under these settings, those that a person trusted apart from the others: one that comes up later takes no trust from
    /// those that were there.
    pub(crate) fn trusted_checks(&self, config: &Config) -> Result<TrustedChecks, Fault> {
        let mut told = TrustedChecks {
            trusted: Vec::new(),
            untrusted: Vec::new(),
        };
        let here = real(&self.root);
        let known = self.trust_store().all()?.into_iter();
        let known: Vec<String> = known
            .filter(|one| one.subject == Subject::Checks && one.path == here)
            .flat_map(|one| one.parts)
            .collect();
        for check in self.found_checks(config)? {
            let request = self.of_check_effects(&check.name, self.effects_of(&check))?;
            if request.parts().all(|(_, hash)| known.contains(&hash)) {
                told.trusted.push(check);
            } else {
                told.untrusted.push(check.name);
            }
        }
        Ok(told)
    }

    fn judged(
        &self,
        subject: Subject,
        name: &str,
        path: &Path,
        hash: String,
        effects: Vec<String>,
        files: Vec<String>,
    ) -> Result<TrustRequest, Fault> {
        let request = TrustRequest {
            trusted: false,
            changed: false,
            changed_effects: Vec::new(),
            subject,
            name: name.to_owned(),
            path: real(path),
            hash,
            effects,
            files,
        };
        request.judged(&self.trust_store())
    }

    /// The command that tests the project, as the next run would have it.
    pub fn found_test_command(&self) -> Option<String> {
        let test = &self.settings.config.test;
        test.command.clone().or_else(|| {
            let found = workspace::runner::detect(&self.root, &test.runner).ok()?;
            Some(found.setup?.command)
        })
    }

    /// The same, where the settings have it run whether somebody asks for it or not.
    fn unasked_test_command(&self) -> Option<String> {
        let evidence = &self.settings.config.evidence;
        let unasked = evidence.require >= Level::Ran;
        unasked.then(|| self.found_test_command()).flatten()
    }
}

/// The file of the workflow that a run with commands began with.
pub(crate) const WORKFLOW_FILE: Slot<PathBuf> = Slot::new("workflowFile");

/// The lines that a workflow may have run, with what the project has written behind each.
struct CommandLines(Vec<(String, Option<Behind>)>);

impl CommandLines {
    fn of(root: &Path, definition: &Definition) -> Self {
        let lines = command::declared(definition)
            .flat_map(|(_, command)| command.lines().map(str::to_owned).collect::<Vec<_>>());
        Self(
            lines
                .map(|line| {
                    let behind = command_definition(root, &line);
                    (line, behind)
                })
                .collect(),
        )
    }

    fn effects(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(line, behind)| {
            let runs = format!("runs: {}", readable(line));
            iter::once(runs).chain(behind.iter().flat_map(what_is_behind))
        })
    }

    /// The hash that all of it is trusted by: that of the workflow's file, where it says all by itself.
    fn hash(&self, of_file: String) -> String {
        let behind = self
            .0
            .iter()
            .filter_map(|(line, behind)| Some((line, &behind.as_ref()?.text)));
        let behind: BTreeMap<_, _> = behind.collect();
        if behind.is_empty() {
            return of_file;
        }
        let all = json!({ "workflow": of_file, "behind": behind });
        journal::sha256_hex(all.to_string().as_bytes())
    }
}

/// Refuses to run commands of a run's workflow that nobody trusted as they are now: what the project has written behind
/// one may have changed since the run began.
pub(crate) fn may_run_commands(call: &Call<'_>, run: &RunState) -> Result<(), Fault> {
    let path = WORKFLOW_FILE.read(&run.kept)?;
    let path = path.ok_or_else(|| Fault::bug("a workflow with commands that lies nowhere"))?;
    let commands = CommandLines::of(call.root, &call.definition);
    let request = TrustRequest {
        subject: Subject::Workflow,
        name: run.workflow.clone(),
        path,
        hash: commands.hash(run.definition_hash.clone()),
        effects: commands.effects().collect(),
        files: Vec::new(),
        trusted: false,
        changed: false,
        changed_effects: Vec::new(),
    };
    let store = TrustStore::in_folder(&call.settings.store);
    request.judged(&store)?.required()
}

/// What the project has written behind a command, a line each.
fn what_is_behind(behind: &Behind) -> impl Iterator<Item = String> {
    let lines = behind
        .text
        .lines()
        .map(|line| format!("| {}", readable(line)));
    iter::once(format!("runs what {} says:", behind.what)).chain(lines)
}

/// A path with its links resolved, where that can be done.
pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A line of a shell as it is, where all of it can be seen; else as [`shown`] tells it.
fn readable(line: &str) -> String {
    if line.chars().all(|c| matches!(c, ' '..='~')) {
        line.to_owned()
    } else {
        shown(line)
    }
}

/// An argument as nobody can take it for something else: in quotation marks where it has more than plain characters, and
/// with every character that could not be seen told by its number.
fn shown(word: &str) -> String {
    let call = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(call) {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            ' '..='~' if !matches!(c, '"' | '\\') => text.push(c),
            c if c.is_alphanumeric() => text.push(c),
            c => text.extend(c.escape_default()),
        }
    }
    text.push('"');
    text
}

fn nothing_to_trust(subject: Subject, name: &str) -> Fault {
    let message = match subject {
        Subject::Profile => format!(
            "the profile `{name}` comes with the program, or runs no command: there is nothing to trust"
        ),
        Subject::Workflow => format!(
            "the workflow `{name}` comes with the program, or has nothing of what needs trust (the place of a built-in one, a branch, a profile, a gate, a command): there is nothing to trust"
        ),
        Subject::Tests => "no test command was found: there is nothing to trust".to_owned(),
        Subject::Checks => {
            "no linter, formatter or type checker was found: there is nothing to trust".to_owned()
        }
    };
    Fault::new(Kind::Refused, "usage", message).suggest("use it as it is")
}
