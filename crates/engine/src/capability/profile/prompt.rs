//! What a prompt shows.

use journal::EvidenceStore;
use machine::RunState;
use text::plain::is_hidden;
use workspace::profile::{
    CodeFile, FileChange, Phase, Rejected, Review, View, shown_files, shown_text,
};

use crate::call::Call;
use crate::capability::files::code::Tree;
use crate::capability::files::code::carried;
use crate::capability::files::difference;
use crate::capability::files::subject::{PLAN_FILE, fault, whole_code, whole_plan};
use crate::capability::profile::memory::{SENT_BACK, SentBack};
use crate::capability::profile::read::{no_phase, phase_of};
use crate::capability::profile::session::{Session, code_path, iteration, profiles, values};
use crate::fault::Fault;
use crate::generic::files::{self, ResponseText};

impl Session {
    /// The prompt of the state that the token stands at, by the profile's template.
    pub(crate) fn prompt(
        &self,
        call: &Call<'_>,
        run: &RunState,
        token: u32,
    ) -> Result<Vec<u8>, Fault> {
        let present = run
            .token(token)
            .ok_or_else(|| Fault::bug("a prompt for no token"))?;
        let definition = &call.definition;
        let prompt = definition
            .prompt(&present.state, &run.vars)
            .ok_or_else(|| Fault::bug(format!("`{}` has no prompt", present.state)))?;
        let response = definition
            .response(&present.state, &run.vars)
            .unwrap_or_default();
        let phase = phase_of(definition, &present.state).ok_or_else(|| no_phase(&present.state))?;
        let number = iteration(call, run);
        let mut view = View {
            inputs: values(call, run).cloned().unwrap_or_default(),
            iteration: u32::try_from(number).unwrap_or(0),
            feedback: present.reason.clone().unwrap_or_default(),
            code_dir: call.dir.join(code_path(number.max(1))),
            ..View::default()
        };
        view.session.id.clone_from(&run.run);
        view.response.path = call.dir.join(response);
        view.prompt.path = call.dir.join(&prompt);
        call.root.clone_into(&mut view.project.root);
        let profile = self.profile(call)?;
        if phase != Phase::Planning {
            view.plan = whole_plan(call, run).map_err(fault)?.unwrap_or_default();
        }
        if matches!(phase, Phase::Review | Phase::Revision) {
            let (now, _) = whole_code(call, run).map_err(fault)?;
            view.files = shown_files(code_files(&now));
            if phase == Phase::Review {
                let before = carried(run, &EvidenceStore::new(&call.dir))?;
                if number > 1 {
                    view.changes = changes(&before, &now);
                }
                view.previous = shown_files(code_files(&before));
            }
        }
        sent_back(call, run, phase, &mut view)?;
        if number > 1 || phase == Phase::Revision {
            view.review = self.last_review(call, run)?;
        }
        let mut text = match profile.render(phase, &view) {
            Ok(text) => text,
            // What a session takes in may be longer than a prompt can be. Then it names more and shows less.
            Err(error) => {
                shorten(&mut view, call, run);
                match profile.render(phase, &view) {
                    Ok(text) => text + SHORTENED,
                    Err(_) => self.repaired(call, phase, &view).ok_or(error)?,
                }
            }
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text.into_bytes())
    }

    /// The prompt by the templates as they are now, where those that the session began with fail: somebody mended them.
    fn repaired(&self, call: &Call<'_>, phase: Phase, view: &View) -> Option<String> {
        let name = &self.profile(call).ok()?.name;
        let now = profiles(call.settings).load(name).ok()?;
        let text = now.render(phase, view).ok()?;
        self.warn(format!(
            "the template of {phase} that the session began with fails; the profile's present one was used"
        ));
        Some(text)
    }

    /// The last review that was taken in.
    fn last_review(&self, call: &Call<'_>, run: &RunState) -> Result<Review, Fault> {
        let Some(taken) = reviewed(call, run) else {
            return Ok(Review::default());
        };
        let (bytes, same) = files::taken_bytes(call, &taken)?;
        if !same {
            self.warn(format!(
                "{} was changed after it was taken in; the prompt shows what it said then",
                taken.path
            ));
        }
        let verdict = markup::response::verdict::read(&bytes).ok();
        Ok(Review {
            text: String::from_utf8_lossy(&bytes).into_owned(),
            issues_total: verdict.as_ref().map_or(0, |verdict| verdict.issues_total),
            issues_critical: verdict
                .as_ref()
                .map_or(0, |verdict| verdict.issues_critical),
            missing_inputs: verdict.as_ref().map_or(0, |verdict| verdict.missing_inputs),
        })
    }
}

/// What of the answers before this one is told: what persons said, why the last one could not be used, and where it stands.
fn sent_back(call: &Call<'_>, run: &RunState, phase: Phase, view: &mut View) -> Result<(), Fault> {
    let store = EvidenceStore::new(&call.dir);
    let state = run.state();
    let round = iteration(call, run);
    let all = SENT_BACK.read(&run.kept)?.unwrap_or_default();
    // What sent the run here is the last of them, where anything did.
    let here = |one: &SentBack| one.state == state && one.iteration == round;
    let last = all.iter().rposition(here);
    let is_present = last.is_some_and(|last| last + 1 == all.len());
    for (at, one) in all.iter().enumerate() {
        let of = phase_of(&call.definition, &one.state);
        let of_code = matches!(of, Some(Phase::Generation | Phase::Revision));
        let counts = match phase {
            Phase::Planning => of == Some(phase),
            Phase::Generation | Phase::Revision => of_code,
            Phase::Review => of_code || (of == Some(phase) && one.iteration == round),
        };
        // What was said last is told by itself.
        let is_told = is_present && Some(at) == last && !view.feedback.is_empty();
        if let Some(feedback) = one.feedback.as_ref().filter(|_| counts && !is_told) {
            let bytes = store.get(feedback)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            view.earlier_feedback.push(text);
        }
    }
    let Some(last) = last.filter(|_| is_present).map(|last| &all[last]) else {
        return Ok(());
    };
    view.error = last.error.clone().unwrap_or_default();
    if let (Some(path), Some(sha256)) = (&last.path, &last.sha256) {
        let bytes = store.get(sha256)?;
        view.rejected = Rejected {
            path: call.dir.join(path),
            text: shown_text(String::from_utf8_lossy(&bytes).into_owned()),
        };
    }
    Ok(())
}

/// The response with the last review, as it was taken in.
fn reviewed(call: &Call<'_>, run: &RunState) -> Option<ResponseText> {
    call.definition
        .all_states()
        .filter(|(_, name, _)| phase_of(&call.definition, name) == Some(Phase::Review))
        .find_map(|(_, name, _)| files::taken(run, name))
}

/// What is told at the end of a prompt that could not show all.
const SHORTENED: &str = "\n\nNot everything could be shown here. What is cut names the file that holds the whole of it; read that.\n";
/// How much of a long text is shown then, in characters.
const MOST_OF_A_TEXT: usize = 32 * 1024;
/// How much of differences is shown in all, in bytes.
const MOST_OF_DIFFERENCES: usize = 128 * 1024;
/// How many files are named then.
const MOST_FILES: usize = 500;

/// Leaves of everything that may be long as much as a prompt can surely show.
fn shorten(view: &mut View, call: &Call<'_>, run: &RunState) {
    let cut = |text: &mut String, whole: &str| {
        if let Some((end, _)) = text.char_indices().nth(MOST_OF_A_TEXT) {
            text.truncate(end);
            text.push_str("\n\n[cut here; the whole of it: ");
            text.push_str(whole);
            text.push_str("]\n");
        }
    };
    cut(
        &mut view.plan,
        &call.dir.join(PLAN_FILE).display().to_string(),
    );
    let review = reviewed(call, run).map(|taken| call.dir.join(taken.path).display().to_string());
    cut(&mut view.review.text, &review.unwrap_or_default());
    cut(&mut view.feedback, "the journal");
    for feedback in &mut view.earlier_feedback {
        cut(feedback, "the journal");
    }
    view.rejected.text.clear();
    view.changes.truncate(MOST_FILES);
    for change in &mut view.changes {
        change.diff.clear();
    }
    for list in [&mut view.files, &mut view.previous] {
        list.truncate(MOST_FILES);
        for file in list {
            file.content.clear();
        }
    }
}

/// Code with every character told by its number that could not be seen, or would let a line be read otherwise than a
/// compiler reads it: who reviews has to see what is there.
fn visible(code: &str) -> String {
    let mut shown = String::with_capacity(code.len());
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_line = c == '\n' || (c == '\r' && rest.peek() == Some(&'\n'));
        if is_hidden(c) && c != '\t' && !ends_line {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// In which files the code differs from that of the iteration before, with the differences that are no longer than a prompt can
/// show.
fn changes(before: &Tree, now: &Tree) -> Vec<FileChange> {
    let mut left = MOST_OF_DIFFERENCES;
    let mut all = difference::between(before, now);
    for change in &mut all {
        change.diff = shown_text(visible(&change.diff));
        match left.checked_sub(change.diff.len()) {
            Some(rest) => left = rest,
            None => change.diff.clear(),
        }
    }
    all
}

fn code_files(tree: &Tree) -> Vec<CodeFile> {
    let hashes = tree.hashes();
    tree.files
        .iter()
        .map(|(path, content)| CodeFile {
            path: path.clone(),
            sha256: hashes.get(path).cloned().unwrap_or_default(),
            size: content.len() as u64,
            content: visible(content),
        })
        .collect()
}
