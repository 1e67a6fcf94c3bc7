//! What `tm init` does to a project, worked out before anything is written.
//!
//! | module | what it holds |
//! |---|---|
//! | [`client`] | the clients: their files, and what goes into them |
//! | [`entry`] | the entry of our server, in every form |
//! | [`hook`] | the guard hook in a client's hook settings |
//! | [`jsonc`], [`toml`] | that entry put into a document and taken out of it |
//! | [`cst`] | a JSON document changed in place |
//! | [`instructions`] | the words for the agent, between markers |
//! | [`settings`] | the project's settings as they begin |
//! | `plugin` | the plugins of clients, which are made by a test |
//! | [`text`] | places in a text, and blocks at its end |
//! | [`change`] | a file that is going to be written |
//! | [`disk`] | files read and written |
//! | [`doctor`] | what is wrong with what was set up |
//!
//! There is no record of what was set up. Everything is found again by its form, and taken out; a file that nobody has changed
//! since is then as it was before, to the byte (`originals`).

pub mod change;
pub mod client;
mod cst;
pub mod disk;
pub mod doctor;
mod entry;
pub mod hook;
mod instructions;
mod jsonc;
pub mod originals;
#[cfg(test)]
mod plugin;
pub mod settings;
mod text;
mod toml;

use crate::hook::settings as settings_of_hook;
use std::path::{Path, PathBuf};

use engine::Fault;

use change::Change;
use client::{Client, Format, Servers};
use text::{EditError, Remainder};
use workspace::config::Environment;

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Request {
    /// For these clients.
    pub clients: Vec<Client>,
    /// Out instead of in. Without a client: everything.
    pub remove: bool,
    /// The guard hook too; taken out, nothing but it.
    pub hook: bool,
    /// In the user's own settings of these clients, and not in a project's: the server alone.
    pub user: bool,
    /// What runs the tests, for the project's settings.
    pub test_command: Option<String>,
}

/// What is going to be done.
#[derive(Debug)]
pub struct Plan {
    /// Files to write, in order.
    pub changes: Vec<Change>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Clients that seem to be in use here and are not set up.
    pub found: Vec<Client>,
    /// Whether it changes a repository, and has to be committed.
    pub to_commit: bool,
}

/// Works out what has to be written in the user's own settings, below their home.
fn plan_for_user(mut draft: Draft<'_>, clients: &[Client], remove: bool) -> Result<Plan, Fault> {
    for client in clients {
        match (client.user_servers(), remove) {
            (None, _) => draft.notes.push(format!(
                "{} has no settings of its user's own that are the same everywhere: `tm init --client {}` in each project",
                client.id(),
                client.id()
            )),
            (Some(servers), _) if let Some(elsewhere) = moved(draft.root, *client) => {
                draft.notes.push(format!(
                    "{} has its settings where {elsewhere} says, which is not written to: among its servers there, `{}` is {}",
                    client.id(),
                    entry::NAME,
                    match servers.format {
                        Format::Json(_) => servers.entry.json_line(),
                        Format::Toml(_) => servers.entry.toml_inline(),
                    }
                ));
            }
            (Some(servers), false) => draft.add_entry(&servers, None)?,
            (Some(servers), true) => draft.remove_entry(&servers)?,
        }
    }
    let notes = std::mem::take(&mut draft.notes);
    Ok(Plan {
        changes: draft.changes(remove)?,
        notes,
        found: Vec::new(),
        to_commit: false,
    })
}

/// The variable by which the user of a client has moved its settings out of their usual place below `home`.
fn moved(home: &Path, client: Client) -> Option<&'static str> {
    let (variable, usual) = client.user_folder()?;
    let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty())?;
    let real = |folder: &Path| std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    (real(Path::new(&folder)) != real(&home.join(usual))).then_some(variable)
}

/// Works out what has to be written in the project at `root`, the real path of a folder; or, for the user alone, below their
/// home.
pub fn plan(root: &Path, request: &Request) -> Result<Plan, Fault> {
    let mut draft = Draft::new(root);
    let clients: Vec<Client> = Client::ALL
        .into_iter()
        .filter(|client| request.clients.contains(client))
        .collect();
    if request.user {
        return plan_for_user(draft, &clients, request.remove);
    }
    if !request.remove {
        draft.begin_settings()?;
        if let Some(command) = &request.test_command {
            let value = command.as_str().into();
            draft.put(settings::FILE, |text| {
                settings::with_value(text, "test.command", &value)
            })?;
        }
        for client in Client::ALL {
            // Without a name, those that are set up are brought up to date.
            let (is_meant, hook) = if clients.is_empty() {
                (draft.is_in_use(client)?, draft.has_hook(client))
            } else {
                (clients.contains(&client), request.hook)
            };
            if is_meant {
                draft.add(client)?;
            }
            if is_meant && hook {
                draft.add_hook(client)?;
            }
        }
    } else if request.hook {
        for client in Client::ALL {
            if clients.is_empty() || clients.contains(&client) {
                draft.remove_hook(client, &clients)?;
            }
        }
    } else if clients.is_empty() {
        for client in Client::ALL {
            draft.remove_hook(client, &clients)?;
            draft.remove_servers(client)?;
            draft.remove_all_words(client)?;
        }
        draft.remove_settings()?;
    } else {
        for client in &clients {
            draft.remove_hook(*client, &clients)?;
            draft.remove_servers(*client)?;
        }
        for client in &clients {
            draft.remove_words(*client, &clients)?;
        }
    }
    let found = if request.remove {
        Vec::new()
    } else {
        draft.clients_found()
    };
    let mut notes = std::mem::take(&mut draft.notes);
    let changes = draft.changes(request.remove)?;
    let in_git = root.ancestors().any(|folder| folder.join(".git").exists());
    let to_commit = in_git && !changes.is_empty();
    if !in_git && !request.remove {
        notes.push("this is no git repository, and work on a task needs one: git init".to_owned());
    }
    if !request.remove && !request.clients.is_empty() && !settings_of_hook::is_there(root, "tm") {
        notes
            .push("`tm` is not on the PATH here: a client cannot start it by that name".to_owned());
    }
    Ok(Plan {
        changes,
        notes,
        found,
        to_commit,
    })
}

/// A file as it is and as it is going to be.
struct FileDraft {
    file: String,
    real: PathBuf,
    read_only: bool,
    before: Option<String>,
    after: Option<String>,
}

/// The files looked at so far. One that is reached by two names is one file.
struct Draft<'r> {
    root: &'r Path,
    files: Vec<FileDraft>,
    notes: Vec<String>,
}

impl<'r> Draft<'r> {
    /// Of the files below `root`, none of which was looked at yet.
    fn new(root: &'r Path) -> Self {
        Self {
            root,
            files: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The program that a client's entry starts, as it is written; none where it calls a server that runs elsewhere.
    fn program(&mut self, client: Client) -> Option<String> {
        let servers = client.servers();
        servers.files.first()?;
        let file = self.servers_file(&servers).ok()?;
        let text = self.text(file).ok()??;
        match servers.format {
            Format::Json(sections) => jsonc::program(&text, section_of(Some(&text), sections)),
            Format::Toml(section) => toml::program(&text, section),
        }
    }

    /// The file in which a client's agent is told of us, where no client that reads it has our server.
    fn words_without_server(&mut self, client: Client) -> Option<&'static str> {
        let file = self.words_file(client).ok()?;
        let text = self.text(file).ok()??;
        let is_told = instructions::has_markers(&text);
        (is_told && self.reader_of(file, &[]).ok()?.is_none()).then_some(file)
    }

    /// The position of a file in the draft.
    fn open(&mut self, file: &str) -> Result<usize, Fault> {
        if let Some(at) = self.files.iter().position(|known| known.file == file) {
            return Ok(at);
        }
        let found = disk::read(self.root, file)?;
        if let Some(at) = self.files.iter().position(|known| known.real == found.real) {
            return Ok(at);
        }
        self.files.push(FileDraft {
            file: file.to_owned(),
            real: found.real,
            read_only: found.read_only,
            before: found.text.clone(),
            after: found.text,
        });
        Ok(self.files.len() - 1)
    }

    /// What a file is going to hold.
    fn text(&mut self, file: &str) -> Result<Option<String>, Fault> {
        let at = self.open(file)?;
        Ok(self.files[at].after.clone())
    }

    /// Puts something into a file.
    fn put(
        &mut self,
        file: &str,
        change: impl FnOnce(Option<&str>) -> Result<String, EditError>,
    ) -> Result<(), Fault> {
        let at = self.open(file)?;
        let drafted = &mut self.files[at];
        let new =
            change(drafted.after.as_deref()).map_err(|unusable| disk::invalid(file, &unusable))?;
        drafted.after = Some(new);
        Ok(())
    }

    /// Takes something out of a file. One in which our name does not stand is not even parsed, and what we would never
    /// write to is passed over.
    fn take(
        &mut self,
        file: &str,
        change: impl FnOnce(&str) -> Result<Remainder, EditError>,
    ) -> Result<(), Fault> {
        self.take_where(file, |text| text.contains(entry::NAME), change)
    }

    /// The same, where `may_be_ours` says in which texts to look.
    fn take_where(
        &mut self,
        file: &str,
        may_be_ours: impl FnOnce(&str) -> bool,
        change: impl FnOnce(&str) -> Result<Remainder, EditError>,
    ) -> Result<(), Fault> {
        if !self.root.join(file).is_file() {
            return Ok(());
        }
        let at = match self.open(file) {
            Err(fault) if fault.code == disk::OUTSIDE => return Ok(()),
            at => at?,
        };
        let drafted = &mut self.files[at];
        let Some(text) = drafted.after.as_deref().filter(|text| may_be_ours(text)) else {
            return Ok(());
        };
        match change(text).map_err(|unusable| disk::invalid(file, &unusable))? {
            Remainder::Unchanged => {}
            Remainder::Text(left) => drafted.after = Some(left),
            Remainder::Nothing => drafted.after = None,
        }
        Ok(())
    }

    fn begin_settings(&mut self) -> Result<(), Fault> {
        if disk::is_there(self.root, settings::FILE) {
            return Ok(());
        }
        self.put(settings::FILE, |_| Ok(settings::BEGINNING.to_owned()))
    }

    fn remove_settings(&mut self) -> Result<(), Fault> {
        match self.text(settings::FILE)? {
            Some(text) if settings::are_ours(&text) => {
                let at = self.open(settings::FILE)?;
                self.files[at].after = None;
            }
            Some(_) => self.notes.push(format!(
                "{} stays: it is not as `tm init` writes it",
                settings::FILE
            )),
            None => {}
        }
        Ok(())
    }

    fn add(&mut self, client: Client) -> Result<(), Fault> {
        let servers = client.servers();
        if servers.files.is_empty() {
            self.notes.extend(client.note().map(str::to_owned));
        } else {
            self.add_entry(&servers, client.note())?;
        }
        let head = client.instructions().head;
        let file = self.words_file(client)?;
        self.put(file, |text| instructions::with_words(text, head))
    }

    /// Puts the entry among the servers of a client, whose user may have to know something.
    fn add_entry(&mut self, servers: &Servers, note: Option<&str>) -> Result<(), Fault> {
        let file = self.servers_file(servers)?;
        let before = self.text(file)?;
        self.put(file, |text| match servers.format {
            Format::Json(sections) => {
                let text = text.or((!servers.head.is_empty()).then_some(servers.head));
                jsonc::with_entry(text, section_of(text, sections), &servers.entry)
            }
            Format::Toml(section) => toml::with_entry(text, section, &servers.entry),
        })?;
        if self.text(file)? != before {
            self.notes.extend(note.map(str::to_owned));
        } else if before.is_some_and(|text| calls_address(servers, &text).unwrap_or(false)) {
            self.notes.push(format!(
                "{file} stays as it is: its entry `{}` calls a server by its address",
                entry::NAME
            ));
        }
        Ok(())
    }

    /// Puts the guard hook into a client's hook settings.
    fn add_hook(&mut self, client: Client) -> Result<(), Fault> {
        let Some(caller) = client.hook_caller() else {
            self.notes.push(format!(
                "{} calls no hook that `tm hook` can answer: its reports are checked all the same",
                client.id()
            ));
            return Ok(());
        };
        let file = crate::hook::settings::of(caller).file;
        let before = self.text(file)?;
        self.put(file, |text| hook::with_hook(text, caller))?;
        if self.text(file)? != before {
            self.notes.extend(client.hook_note().map(str::to_owned));
        }
        Ok(())
    }

    /// Whether the guard hook is in a client's hook settings.
    fn has_hook(&self, client: Client) -> bool {
        let caller = client.hook_caller();
        caller.is_some_and(|caller| settings_of_hook::installed(self.root, caller).is_some())
    }

    /// Takes the guard hook out of a client's hook settings.
    fn remove_hook(&mut self, client: Client, leaving: &[Client]) -> Result<(), Fault> {
        let Some(caller) = client.hook_caller() else {
            return Ok(());
        };
        // Another client that is set up may call the same file.
        for other in Client::ALL {
            if other != client
                && other.hook_caller() == Some(caller)
                && !leaving.is_empty()
                && !leaving.contains(&other)
                && self.is_in_use(other)?
            {
                return Ok(());
            }
        }
        let file = crate::hook::settings::of(caller).file;
        let call = format!("hook {}", caller.id());
        // Called with a list of words, they stand apart.
        let apart = format!("\"{}\"", caller.id());
        self.take_where(
            file,
            |text| text.contains(&call) || text.contains(&apart),
            |text| hook::without_hook(text, caller),
        )
    }

    /// The file for a client's servers: one that has our entry, else the first that is there, else the first.
    fn servers_file(&mut self, servers: &Servers) -> Result<&'static str, Fault> {
        let files = servers.files;
        let mut there = None;
        for file in files {
            if let Some(text) = self.text(file)? {
                if is_set_up(servers, &text).unwrap_or(false) {
                    return Ok(file);
                }
                there = there.or(Some(*file));
            }
        }
        Ok(there.unwrap_or(files[0]))
    }

    /// The file that a client reads instructions from.
    fn words_file(&mut self, client: Client) -> Result<&'static str, Fault> {
        let instructions = client.instructions();
        for file in instructions.before {
            // Some of them may be folders, for other clients.
            if !self.root.join(file).is_dir() && self.text(file)?.is_some() {
                return Ok(file);
            }
        }
        Ok(instructions.file)
    }

    fn remove_servers(&mut self, client: Client) -> Result<(), Fault> {
        self.remove_entry(&client.servers())
    }

    /// Takes the entry from the servers of a client.
    fn remove_entry(&mut self, servers: &Servers) -> Result<(), Fault> {
        for file in servers.files {
            match servers.format {
                Format::Json(sections) => {
                    for section in sections {
                        let head = servers.head;
                        self.take(file, |text| {
                            let left = jsonc::without_entry(text, section)?;
                            let only_head = !head.is_empty() && matches!(&left, Remainder::Text(left) if left.replace("\r\n", "\n") == head);
                            Ok(if only_head { Remainder::Nothing } else { left })
                        })?;
                    }
                }
                Format::Toml(section) => {
                    self.take(file, |text| toml::without_entry(text, section))?;
                }
            }
        }
        Ok(())
    }

    fn remove_all_words(&mut self, client: Client) -> Result<(), Fault> {
        let instructions = client.instructions();
        for file in instructions.files() {
            self.take(file, |text| {
                instructions::without_words(text, instructions.head)
            })?;
        }
        Ok(())
    }

    /// Takes out the words that a client reads, or may have read, unless another one that is still set up reads the same
    /// file.
    fn remove_words(&mut self, client: Client, leaving: &[Client]) -> Result<(), Fault> {
        let instructions = client.instructions();
        for file in instructions.files() {
            match self.reader_of(file, leaving)? {
                Some(other) => self.notes.push(format!(
                    "{file} stays as it is: {} reads it too",
                    other.id()
                )),
                None => self.take(file, |text| {
                    instructions::without_words(text, instructions.head)
                })?,
            }
        }
        Ok(())
    }

    /// A client that reads our words in a file, is set up, and is not going to leave.
    fn reader_of(&mut self, file: &str, leaving: &[Client]) -> Result<Option<Client>, Fault> {
        if !self.root.join(file).is_file()
            || !self
                .text(file)?
                .is_some_and(|text| instructions::has_markers(&text))
        {
            return Ok(None);
        }
        let at = self.open(file)?;
        for other in Client::ALL {
            if !leaving.contains(&other) && self.is_in_use(other)? {
                let others = self.words_file(other)?;
                if self.open(others)? == at {
                    return Ok(Some(other));
                }
            }
        }
        Ok(None)
    }

    /// Whether our entry is among a client's servers. Of a file that nobody can read, that is taken for granted.
    fn is_in_use(&mut self, client: Client) -> Result<bool, Fault> {
        if client.servers().files.is_empty() {
            let words = self.words_file(client)?;
            let text = self.text(words)?;
            let is_told = text.is_some_and(|text| instructions::has_markers(&text));
            return Ok(is_told && has_user_entry(client));
        }
        for file in client.servers().files {
            if let Some(text) = self.text(file)?
                && text.contains(entry::NAME)
                && is_set_up(&client.servers(), &text).unwrap_or(true)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Clients that left signs here and are not going to be set up. Only a hint, so what cannot be read is passed over.
    fn clients_found(&mut self) -> Vec<Client> {
        let mut found = Vec::new();
        for client in Client::ALL {
            if client.signs().iter().any(|sign| self.is_sign(sign))
                && !self.is_in_use(client).unwrap_or(true)
            {
                found.push(client);
            }
        }
        found
    }

    /// Whether something is there, and not only because we put our words there for another client.
    fn is_sign(&mut self, file: &str) -> bool {
        let path = self.root.join(file);
        path.is_dir()
            || (path.is_file()
                && !matches!(self.text(file), Ok(Some(text)) if instructions::has_markers(&text)))
    }

    fn changes(self, remove: bool) -> Result<Vec<Change>, Fault> {
        let store = Environment::of_this_process().store().filter(|_| remove);
        let mut changes = Vec::new();
        for drafted in self.files {
            let FileDraft {
                file,
                real,
                read_only,
                before,
                after,
            } = drafted;
            let original = match (&store, &before) {
                (Some(store), Some(now)) if before != after => {
                    originals::find(store, &real, now, after.as_deref().unwrap_or_default())
                }
                _ => None,
            };
            let after = original.or(after);
            if let Some(change) = Change::between(&file, real, before, after) {
                if read_only {
                    return Err(disk::read_only(&file));
                }
                changes.push(change);
            }
        }
        Ok(changes)
    }
}

/// Whether our entry is in the user's own settings of a client.
fn has_user_entry(client: Client) -> bool {
    let environment = Environment::of_this_process();
    let (Some(home), Some(servers)) = (environment.home(), client.user_servers()) else {
        return false;
    };
    servers.files.iter().any(|file| {
        std::fs::read_to_string(home.join(file))
            .is_ok_and(|text| is_set_up(&servers, &text).unwrap_or(false))
    })
}

/// The first section that is there, else the last.
fn section_of(
    text: Option<&str>,
    sections: &'static [&'static [&'static str]],
) -> &'static [&'static str] {
    let text = text.unwrap_or_default();
    let there = sections
        .iter()
        .find(|section| sections.len() > 1 && jsonc::holds_servers(text, section));
    there.or(sections.last()).copied().unwrap_or_default()
}

fn is_set_up(servers: &Servers, text: &str) -> Result<bool, EditError> {
    match servers.format {
        Format::Json(sections) => {
            for section in sections {
                if jsonc::has_entry(text, section)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Format::Toml(section) => toml::has_entry(text, section),
    }
}

fn calls_address(servers: &Servers, text: &str) -> Result<bool, EditError> {
    match servers.format {
        Format::Json(sections) => jsonc::calls_address(text, section_of(Some(text), sections)),
        Format::Toml(section) => toml::calls_address(text, section),
    }
}
