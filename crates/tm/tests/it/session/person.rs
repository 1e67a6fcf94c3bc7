//! A person at a terminal, who reads the code that is shown and types it back.

use super::environment::{Env, Session};
use testkit::Person;

impl Env {
    /// Runs `tm session` at a terminal where somebody agrees: exit status, and all that the terminal showed.
    pub fn at_terminal(&self, arguments: &[&str]) -> (i32, String) {
        let mut all = vec!["session"];
        all.extend(arguments);
        let mut person = Person::at(self.program(&all));
        let shown = match person.asked() {
            Some((shown, code)) => {
                person.say(&code);
                shown
            }
            // It was refused before anybody was asked.
            None => String::new(),
        };
        let (status, rest) = person.end();
        (status, shown + &rest)
    }

    /// Has a person trust a profile.
    pub fn trust(&self, profile: &str) {
        let (status, shown) = self.at_terminal(&["trust", profile]);
        assert_eq!(status, 0, "{shown}");
    }
}

impl Session {
    /// Runs a command at a terminal where somebody agrees.
    pub fn person(&self, arguments: &[&str]) -> (i32, String) {
        let mut all = arguments.to_vec();
        all.extend(["--session", &self.id]);
        self.env.at_terminal(&all)
    }

    /// The same, which must succeed.
    pub fn agreed(&self, arguments: &[&str]) {
        let (status, shown) = self.person(arguments);
        assert_eq!(status, 0, "{arguments:?}: {shown}");
    }

    /// A person opens the gate.
    pub fn approve(&self) {
        self.agreed(&["approve"]);
    }

    /// A person sends back what stands before the gate.
    pub fn reject(&self, feedback: &str) {
        self.agreed(&["reject", "--feedback", feedback]);
    }

    /// A person takes the session up again.
    pub fn reopen(&self) {
        self.agreed(&["reopen"]);
    }
}
