//! Whether there is a path onward from wherever a run can get to: an executor who does what the answers say, and nothing else,
//! comes to an accepted step within a few calls.
//!
//! Of an answer the executor takes its `nextSteps` in their order, as they stand there: commands of ours, and commands of others
//! such as git. `skip`, `abort` and `allow` are no path, and what a person decides is none either, except where a story says that
//! a person has to. What no command does, such as to mend a file that the answer names, a story does as a deed, which belongs to
//! the code of an answer, and is done when an answer with this code comes.

mod before;
mod calls;
mod checks;
mod collab;
mod complete;
mod formats;
mod git;
mod kinds;
mod project;
mod reports;
mod sessions;
mod tests;

use std::cell::RefCell;

use serde_json::Value;

use crate::honest::work::{Before, SHOP, Work, code_of, play};
use crate::honest::{Deed, deed};

/// So many calls lead to an accepted step.
const MOST_CALLS: usize = 4;

/// The status of a step that was taken, behind which somebody is waited for.
const BLOCKED: i32 = 7;

/// Steps that give something up, that only a person takes, or that only show something.
const NO_PATH: [&str; 9] = [
    "skip", "abort", "allow", "approve", "reject", "summary", "list", "log", "show",
];

type Call = Box<dyn Fn(&Work) -> (i32, Value) + Send>;

/// From a project and what is done in it to a code, and on from there.
struct Story {
    name: &'static str,
    code: &'static str,
    before: Before<'static>,
    done: Vec<Deed>,
    call: Option<Call>,
    /// What only hands can do, and the code of the answer at which they do it.
    deeds: Vec<(&'static str, Deed)>,
    then: Vec<Deed>,
}

fn story(name: &'static str, code: &'static str) -> Story {
    Story {
        name,
        code,
        before: SHOP,
        done: Vec::new(),
        call: None,
        deeds: Vec::new(),
        then: Vec::new(),
    }
}

impl Story {
    fn of(self, before: Before<'static>) -> Self {
        Self { before, ..self }
    }

    fn done<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        self.done.push(deed(does));
        self
    }

    /// What is called, where it is another call than that of the other stories.
    fn call(mut self, call: impl Fn(&Work) -> (i32, Value) + Send + 'static) -> Self {
        self.call = Some(Box::new(call));
        self
    }

    /// A deed that belongs to the code of the story.
    fn deed<T>(self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        let code = self.code;
        self.deed_at(code, does)
    }

    fn deed_at<T>(
        mut self,
        code: &'static str,
        does: impl Fn(&Work) -> T + Send + 'static,
    ) -> Self {
        self.deeds.push((code, deed(does)));
        self
    }

    /// What is looked at behind the step that was accepted.
    fn then<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        self.then.push(deed(does));
        self
    }
}

/// Where stories begin, and the phase that they report.
struct Stage {
    /// The project of all stories, where they have no other.
    before: Option<Before<'static>>,
    begin: fn(&Before<'static>) -> Work,
    phase: &'static [&'static str],
}

fn at(begin: fn(&Before<'static>) -> Work, phase: &'static [&'static str]) -> Stage {
    Stage {
        before: None,
        begin,
        phase,
    }
}

fn at_of(
    before: &Before<'static>,
    begin: fn(&Before<'static>) -> Work,
    phase: &'static [&'static str],
) -> Stage {
    Stage {
        before: Some(*before),
        ..at(begin, phase)
    }
}

impl Stage {
    fn tell(&self, stories: impl IntoIterator<Item = Story>) {
        let named = stories.into_iter().map(|story| (story.name, story));
        play(named, |story| {
            let before = self.before.unwrap_or(story.before);
            let work = before.at(&format!("{:?}", self.begin), || (self.begin)(&before));
            story.done.iter().for_each(|done| done(&work));
            let report = |work: &Work| work.report(self.phase);
            let call = story.call.as_deref().unwrap_or(&report);
            walk(&work, call, story.code, &story.deeds);
            story.then.iter().for_each(|then| then(&work));
        });
    }
}

/// Somebody who does what answers say.
struct Walker<'a> {
    work: &'a Work,
    /// What was refused: to be asked again, where what stood against it is out of the way.
    call: &'a dyn Fn(&Work) -> (i32, Value),
    deeds: RefCell<Vec<&'a (&'static str, Deed)>>,
    /// What was done, to be told where it leads nowhere.
    told: RefCell<Vec<String>>,
}

/// Makes a call that comes to this code, and goes on from there to one that accepts something.
fn walk(
    work: &Work,
    call: &dyn Fn(&Work) -> (i32, Value),
    code: &str,
    deeds: &[(&'static str, Deed)],
) {
    let (status, mut answer) = call(work);
    assert_eq!((status != 0, code_of(&answer)), (true, code), "{answer:#}");
    let walker = Walker {
        work,
        call,
        deeds: RefCell::new(deeds.iter().collect()),
        told: RefCell::default(),
    };
    for _ in 0..MOST_CALLS {
        let (status, next) = walker.goes_on(&answer);
        if matches!(status, 0 | BLOCKED) && is_accepted(&next) {
            let left: Vec<&str> = walker.deeds.take().iter().map(|deed| deed.0).collect();
            assert!(left.is_empty(), "{left:?} never came: {}", walker.path());
            return;
        }
        answer = next;
    }
    panic!("{code}: no accepted step:\n{}", walker.path());
}

/// Whether an answer says that something was done which brings the run on, or begins one.
fn is_accepted(answer: &Value) -> bool {
    answer["validated"] == true
        || answer["advanced"] == true
        || answer.get("commitSha").is_some()
        || answer.get("branch").is_some()
}

impl Walker<'_> {
    /// Does what an answer says, as far as the next answer.
    fn goes_on(&self, answer: &Value) -> (i32, Value) {
        self.told.borrow_mut().push(format!("{answer:#}"));
        let mut done_something = self.do_deeds(answer);
        for step in steps(answer) {
            let command = step["command"].as_str().unwrap();
            self.told.borrow_mut().push(format!("$ {command}"));
            if step["step"] != "shell" {
                return self.work.shell(&self.filled(command));
            }
            let (done, said) = self.work.runs(command);
            self.told.borrow_mut().push(said);
            assert!(done, "`{command}` is advised and fails:\n{}", self.path());
            done_something = true;
        }
        assert!(done_something, "no way on:\n{}", self.path());
        self.told.borrow_mut().push("(asked again)".to_owned());
        (self.call)(self.work)
    }

    /// Does what belongs to the code of the answer. Whether there was something.
    fn do_deeds(&self, answer: &Value) -> bool {
        let code = code_of(answer);
        let belongs = |deed: &mut &(&str, Deed)| deed.0 == code;
        let due: Vec<_> = self.deeds.borrow_mut().extract_if(.., belongs).collect();
        for (code, deed) in &due {
            self.told.borrow_mut().push(format!("(done at {code})"));
            deed(self.work);
        }
        !due.is_empty()
    }

    /// A command with what its reader has to fill in.
    fn filled(&self, command: &str) -> String {
        let items = r#"--work-items '[{"number": 1, "title": "A", "type": "task"}]'"#;
        let own = |text: &str| text.to_owned();
        let counted = || self.work.counted();
        let graph = || format!("sync {}", collab::graph(self.work));
        let code = || format!("respond {} --run", sessions::code(self.work));
        let report = || format!("--report {}", self.work.printed());
        let gaps: [(&str, &dyn Fn() -> String); 10] = [
            ("--reason …", &|| own("--reason 'as I was told'")),
            ("--coverage N", &|| own("--coverage 90")),
            ("--outcome WORD", &|| own("--outcome done --note 'So.'")),
            ("--work-items JSON", &|| own(items)),
            ("failed:N,passed:N", &counted),
            ("passed:N,failed:N", &counted),
            ("passed:N,failed:0", &counted),
            ("sync FILE", &graph),
            ("respond FILE", &code),
            ("--report FILE", &report),
        ];
        let mut filled = command.to_owned();
        for (gap, by) in gaps {
            if filled.contains(gap) {
                filled = filled.replace(gap, &by());
            }
        }
        filled
    }

    fn path(&self) -> String {
        self.told.borrow().join("\n")
    }
}

/// The steps that an answer names, the first one first: its own, then those of what comes next.
fn steps(answer: &Value) -> Vec<Value> {
    let error = answer.get("error").unwrap_or(answer);
    let of = |value: &Value| value["nextSteps"].as_array().cloned().unwrap_or_default();
    let is_path = |step: &Value| !is_no_path(step, answer);
    let own: Vec<Value> = of(error).into_iter().filter(is_path).collect();
    if own.is_empty() {
        let next = of(&answer["nextAction"]).into_iter();
        return next.filter(is_path).collect();
    }
    own
}

fn is_no_path(step: &Value, answer: &Value) -> bool {
    match step["step"].as_str() {
        Some("resume") => answer["nextAction"]["needsPerson"] == true,
        Some(step) => NO_PATH.contains(&step),
        None => true,
    }
}
