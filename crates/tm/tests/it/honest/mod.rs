//! Honest runs, one for each ordinary way of working: none of them may be refused, and none may be warned about what it
//! did not do. Where the rules are stricter than that, the way out that they name is gone to its end.

pub mod cargo;
mod changes;
pub mod checks;
mod forms;
mod habits;
pub mod kinds;
pub mod languages;
pub mod refactoring;
mod reports;
mod suites;
mod ways;
pub mod work;

use work::{Before, SHOP, Way, Work, play};

/// Something that is done in a project.
pub type Deed = Box<dyn Fn(&Work) + Send>;

/// A run that goes through to its end, and what is done in it before each RED and each GREEN.
pub struct Run {
    name: &'static str,
    before: Before<'static>,
    ways: &'static [Way],
    is_own: bool,
    subtasks: Vec<[Vec<Deed>; 2]>,
    then: Vec<Deed>,
}

pub fn deed<T>(does: impl Fn(&Work) -> T + Send + 'static) -> Deed {
    Box::new(move |work| {
        does(work);
    })
}

/// A run of the shop, in which this is done beside the ordinary test and its code.
pub fn run(name: &'static str) -> Run {
    Run {
        name,
        before: SHOP,
        ways: &[],
        is_own: false,
        subtasks: Vec::new(),
        then: Vec::new(),
    }
}

/// A run in which nothing is done but this.
pub fn own(name: &'static str, before: Before<'static>) -> Run {
    Run {
        before,
        is_own: true,
        ..run(name)
    }
}

impl Run {
    pub fn of(self, before: Before<'static>) -> Self {
        Self { before, ..self }
    }

    pub fn by(self, ways: &'static [Way]) -> Self {
        Self { ways, ..self }
    }

    pub fn red<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        self.subtasks.push([vec![deed(does)], Vec::new()]);
        self
    }

    /// More in RED.
    pub fn and<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        self.subtasks.last_mut().unwrap()[0].push(deed(does));
        self
    }

    pub fn green<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        if self.subtasks.is_empty() {
            self = self.red(|_| {});
        }
        self.subtasks.last_mut().unwrap()[1].push(deed(does));
        self
    }

    pub fn then<T>(mut self, does: impl Fn(&Work) -> T + Send + 'static) -> Self {
        self.then.push(deed(does));
        self
    }

    fn goes_through(&self, way: Way) {
        let work = self.before.by(way).begin();
        for (at, [red, green]) in self.subtasks.iter().enumerate() {
            match at {
                _ if self.is_own => {}
                0 => work.test(),
                _ => work.second_test(),
            }
            for red in red {
                red(&work);
            }
            work.red();
            match at {
                _ if self.is_own => {}
                0 => work.code(),
                _ => work.second_code(),
            }
            for green in green {
                green(&work);
            }
            work.green();
            work.commit();
        }
        work.finalize();
        self.then.iter().for_each(|then| then(&work));
    }
}

/// Plays runs, in each of their ways.
pub fn go_through(runs: impl IntoIterator<Item = Run>) {
    let named = runs.into_iter().map(|run| (run.name, run));
    play(named, |mut run| {
        if run.subtasks.is_empty() {
            run = run.red(|_| {});
        }
        if run.ways.is_empty() {
            run.goes_through(run.before.way);
        }
        run.ways.iter().for_each(|way| run.goes_through(*way));
    });
}
