//! A session's files and the world around it: the code that leaves it, and what is put back where somebody changed it.

use std::collections::BTreeSet;
use std::fs;
use std::fs::Permissions;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use journal::derived::remove_leftovers;
use journal::{EvidenceStore, RunLock, durable};
use machine::{RunState, RunStatus};

use crate::call::Call;
use crate::call::Input;
use crate::capability::files::code::Tree;
use crate::capability::files::effects::made_room;
use crate::capability::files::subject::{PLAN_FILE, fault as fault_of, is_whole, whole_code};
use crate::capability::profile::memory::{CODE, plan_hash};
use crate::capability::profile::session::{code_path, iteration};
use crate::engine::Engine;
use crate::fail_point;
use crate::fault;
use crate::fault::Fault;
use crate::find::Selector;
use crate::generic::files;
use crate::hook::place::real;
use crate::links::not_led_out;
use crate::turn::TurnOutcome;
use crate::turn::answer::{TurnAnswer, TurnDetails};
use crate::view::SESSION;
use crate::view::View;
use crate::view::session::about;
use crate::view::session::answer::ExportAnswer;
use crate::view::session::step::without_evidence;

/// How many files that stand in the way are named.
const MOST_TOLD: usize = 20;
/// The lock of those who write a session's code elsewhere.
const EXPORT_LOCK: &str = "export.lock";

impl Engine {
    /// Writes the code of a complete session to a place outside of it. Over a changed file only by `force`.
    pub fn session_export(
        &self,
        session: Option<&str>,
        to: &Path,
        force: bool,
    ) -> Result<ExportAnswer, Fault> {
        let to = self.cwd.join(to);
        if let Some(place) = to.ancestors().find(|place| place.exists())
            && !place.is_dir()
        {
            return Err(fault!("bad_name.is_folder", place = place.display()));
        }
        let (dir, run) = self.seen(&SESSION, session)?;
        if run.status != RunStatus::Completed {
            let state = run.state();
            let over = matches!(run.status, RunStatus::Cancelled | RunStatus::Aborted);
            let fault = fault!("not_possible.not_complete", state);
            let folder = dir.path().display();
            return Err(if over {
                fault.suggest(format!("what it left lies in {folder}"))
            } else {
                fault.suggest(format!(
                    "take it to COMPLETE first; what there is so far lies in {folder}"
                ))
            });
        }
        let call = self.call(&dir, &run, Input::None)?;
        let (tree, _) = whole_code(&call, &run).map_err(fault_of)?;
        not_led_out(&to, &self.cwd)?;
        let store = fs::canonicalize(&self.settings.store).unwrap_or_default();
        let to = real(&self.cwd, &to);
        if !store.as_os_str().is_empty() && to.starts_with(&store) {
            return Err(fault!("bad_name.session_export", to = to.display()));
        }
        let mut exported = ExportAnswer {
            session_id: run.run.clone(),
            iteration: iteration(&call, &run),
            folder: to.clone(),
            ..ExportAnswer::default()
        };
        let mut in_the_way = Vec::new();
        for (path, content) in &tree.files {
            let there =
                files::place(&to, path).and_then(|place| files::read_at_most(&place, u64::MAX));
            match there {
                Ok(None) => exported.written.push(path.clone()),
                Ok(Some(there)) if there == content.as_bytes() => {
                    exported.unchanged.push(path.clone());
                }
                Ok(Some(_)) if force => exported.written.push(path.clone()),
                Ok(Some(_)) => in_the_way.push(path.clone()),
                // Not even by force: it would write where nobody meant.
                Err(fault) if fault.code == "unsafe_path" => {
                    let place = to.join(path);
                    let place = place.display();
                    return Err(fault!("unsafe_path.session_export", place, path));
                }
                Err(fault) => return Err(fault),
            }
        }
        if !in_the_way.is_empty() {
            let told = &in_the_way[..in_the_way.len().min(MOST_TOLD)];
            return Err(fault!(
                "already_there.file_changed",
                several = match in_the_way.len() {
                    1 => "1 file is".to_owned(),
                    several => format!("{several} files are"),
                },
                told = told.join(", ")
            )
            .detail("files", told.to_vec()));
        }
        let lock = RunLock::acquire_named(dir.path(), EXPORT_LOCK, self.wait(), &self.command)?;
        if lock.is_after_a_death() {
            clear(&to, &tree);
        }
        fs::create_dir_all(&to).map_err(files::unwritable(&to))?;
        for path in &exported.written {
            let place = to.join(path);
            let content = tree
                .files
                .get(path)
                .map(String::as_bytes)
                .unwrap_or_default();
            let executable = tree.executable.contains(path);
            write(&place, content, executable).map_err(files::unwritable(&place))?;
        }
        Ok(exported)
    }

    /// Puts plan, code and responses back as they were recorded, where somebody changed them; what was there is kept beside.
    pub fn restore(&self, view: &'static View, run: Option<&str>) -> Result<TurnAnswer, Fault> {
        let (_, dir) = self.meant(view, run, Selector::Running)?;
        let writer = self.writer(&dir, Input::None)?;
        let put_back = put_back(&writer.call, &writer.open.run);
        let (restored, aside) = put_back.map_err(|fault| match writer.call.session {
            Some(_) => without_evidence(fault),
            None => fault,
        })?;
        let message = if restored.is_empty() {
            "Everything is as it was recorded".to_owned()
        } else {
            format!("Put back as recorded: {}", restored.join(", "))
        };
        let details = TurnDetails::Restored { restored, aside };
        let outcome = TurnOutcome::new(writer, message);
        // What a run that is over came to is read where it stands.
        Ok(TurnAnswer {
            report: None,
            ..TurnOutcome { details, ..outcome }.answer(view)?
        })
    }
}

/// Puts back what was changed of what a run recorded: the files that were put back, and what stood in their places.
fn put_back(call: &Call<'_>, run: &RunState) -> Result<(Vec<String>, Vec<String>), Fault> {
    let store = EvidenceStore::new(&call.dir);
    let (mut restored, mut moved) = (Vec::new(), Vec::new());
    let plan = call.dir.join(PLAN_FILE);
    if let Some(sha256) = plan_hash(run)
        && !is_whole(&plan, sha256)
    {
        let bytes = store.get(sha256)?;
        moved.extend(made_room(&call.dir, PLAN_FILE, "changed")?);
        files::put(&plan, &bytes)?;
        restored.push(PLAN_FILE.to_owned());
    }
    if let Some(code) = CODE.read(&run.kept)?
        && whole_code(call, run).is_err()
    {
        let path = code_path(iteration(call, run));
        let tree = Tree::kept(&store, &code.tree)?;
        let aside = tree.write(&files::place(&call.dir, &path)?, None, "code.changed")?;
        moved.extend(aside.and_then(|aside| {
            let below = aside.strip_prefix(&call.dir).ok()?;
            Some(format!("{}/", below.display()))
        }));
        restored.push(format!("{path}/"));
    }
    for taken in about::changed_responses(call, run) {
        let place = files::place(&call.dir, &taken.path)?;
        let bytes = store.get(&taken.sha256)?;
        moved.extend(made_room(&call.dir, &taken.path, "changed")?);
        files::put(&place, &bytes)?;
        restored.push(taken.path);
    }
    Ok((restored, moved))
}

/// Takes away what an export left beside these files that was killed.
fn clear(to: &Path, tree: &Tree) {
    let folders: BTreeSet<PathBuf> = tree
        .files
        .keys()
        .filter_map(|path| Some(to.join(path).parent()?.to_owned()))
        .collect();
    for folder in folders {
        // What cannot be removed is in nobody's way.
        let _ = remove_leftovers(&folder);
    }
}

/// Writes a file as a whole, with the rights that it is to have from the first moment on.
fn write(place: &Path, content: &[u8], executable: bool) -> io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    fs::create_dir_all(folder)?;
    let mut mode = fs::metadata(place).map_or(0o644, |about| about.permissions().mode());
    if executable {
        // Who may read it may run it.
        mode |= (mode & 0o444) >> 2;
    }
    let mut aside = fail_point::io(|| durable::aside_of(place, 0o600))?;
    aside.write_all(content)?;
    aside
        .as_file()
        .set_permissions(Permissions::from_mode(mode & 0o777))?;
    aside.as_file().sync_all()?;
    fail_point::io(|| durable::put_in_place(aside, place, true))
}
