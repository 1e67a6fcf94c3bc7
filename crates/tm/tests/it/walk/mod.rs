//! Whether there is a path onward from wherever a run can get to: an executor who does what the answers say, and nothing else,
//! comes to an accepted step within a few calls.
//!
//! Of an answer the executor takes its `nextSteps` in their order, as they stand there: commands of ours, and commands of others
//! such as git. `skip`, `abort` and `allow` are no path, and what a person decides is none either, except where a story says that
//! a person has to. What no command does, such as to mend a file that the answer names, a story does as a deed, behind words of
//! the answer that ask for it.

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

use crate::honest::work::Work;

/// So many calls lead to an accepted step.
const MOST_CALLS: usize = 4;

/// The status of a step that was taken, behind which somebody is waited for.
const BLOCKED: i32 = 7;

/// Steps that give something up, that only a person takes, or that only show something.
const NO_PATH: [&str; 9] = [
    "skip", "abort", "allow", "approve", "reject", "summary", "list", "log", "show",
];

/// Something that only hands can do, and the words of an answer which ask for it.
type Deed = (&'static str, fn(&Work));

/// Somebody who does what answers say.
struct Walker<'a> {
    work: &'a Work,
    /// What was refused: to be asked again, where what stood against it is out of the way.
    call: &'a dyn Fn(&Work) -> (i32, Value),
    deeds: RefCell<Vec<Deed>>,
    /// What was done, to be told where it leads nowhere.
    told: RefCell<Vec<String>>,
}

/// Makes a call that comes to this code, and goes on from there to one that accepts something. Gives its answer.
fn walk(work: &Work, call: impl Fn(&Work) -> (i32, Value), code: &str, deeds: &[Deed]) -> Value {
    let (status, mut answer) = call(work);
    assert_eq!(
        (status != 0, code_of(&answer)),
        (true, code),
        "the story does not get there: {answer:#}"
    );
    let walker = Walker {
        work,
        call: &call,
        deeds: RefCell::new(deeds.to_vec()),
        told: RefCell::default(),
    };
    for _ in 0..MOST_CALLS {
        let (status, next) = walker.goes_on(&answer);
        if matches!(status, 0 | BLOCKED) && is_accepted(&next) {
            let left = walker.deeds.take();
            let left: Vec<&str> = left.iter().map(|(words, _)| *words).collect();
            assert!(
                left.is_empty(),
                "nothing asked for {left:?}: {}",
                walker.path()
            );
            return next;
        }
        answer = next;
    }
    panic!("{code}: no accepted step:\n{}", walker.path());
}

fn code_of(answer: &Value) -> &str {
    let error = answer.get("error").unwrap_or(answer);
    error["code"].as_str().unwrap_or_default()
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
        assert!(
            done_something,
            "nothing leads on from here:\n{}",
            self.path()
        );
        self.told.borrow_mut().push("(asked again)".to_owned());
        (self.call)(self.work)
    }

    /// What the answer asks for in words. Whether it did.
    fn do_deeds(&self, answer: &Value) -> bool {
        let error = answer.get("error").unwrap_or(answer);
        let text = format!("{} {}", error["message"], error["suggestion"]);
        let asked = |deed: &mut Deed| text.contains(deed.0);
        let due: Vec<Deed> = self.deeds.borrow_mut().extract_if(.., asked).collect();
        for (words, deed) in &due {
            self.told.borrow_mut().push(format!("(done: {words})"));
            deed(self.work);
        }
        !due.is_empty()
    }

    /// A command with what its reader has to fill in.
    fn filled(&self, command: &str) -> String {
        let mut command = command
            .replace("--reason …", "--reason 'as I was told'")
            .replace("--coverage N", "--coverage 90")
            .replace("--outcome WORD", "--outcome done --note 'It is as it is.'");
        for gap in [
            "failed:N,passed:N",
            "passed:N,failed:N",
            "passed:N,failed:0",
        ] {
            if command.contains(gap) {
                command = command.replace(gap, &self.work.counted());
            }
        }
        let items = r#"[{"number": 1, "title": "A", "type": "task"}]"#;
        command = command.replace("--work-items JSON", &format!("--work-items '{items}'"));
        if command.contains("sync FILE") {
            let file = collab::graph(self.work);
            command = command.replace("sync FILE", &format!("sync {file}"));
        }
        if command.contains("respond FILE") {
            let file = sessions::code(self.work);
            command = command.replace("respond FILE", &format!("respond {file} --run"));
        }
        if command.contains("--report FILE") {
            command = command.replace(
                "--report FILE",
                &format!("--report {}", self.work.printed()),
            );
        }
        command
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
