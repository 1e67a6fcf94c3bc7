//! A profile whose processor answers what a test says, and leaves a mark outside of everything whenever it runs.

use std::fs;

use super::environment::{Env, Session};
use testkit::files::write;

/// Its name.
pub const NAME: &str = "stub";

const PROFILE: &str = "tramline-profile: 1
title: Answers what it is told
responses:
  planning: { command: [sh, process.sh, planning] }
  generation: { command: [sh, process.sh, generation] }
  review: { command: [sh, process.sh, review] }
  revision: { command: [sh, process.sh, revision] }
";

const PROCESS: &str = r#"cat > "$HOME/request-$1.json"
cat "$HOME/answer-$1.json"
"#;

/// Answers of a processor that go well, by phase.
const GOOD: [(&str, &str); 4] = [
    ("planning", r#"{"status": "SUCCESS"}"#),
    (
        "generation",
        r#"{"status": "SUCCESS", "files": [{"path": "a.txt", "content": "one\n"}]}"#,
    ),
    ("review", r#"{"status": "FAILED"}"#),
    (
        "revision",
        r#"{"status": "SUCCESS", "files": [{"path": "b.txt", "content": "two\n"}]}"#,
    ),
];

impl Env {
    /// An environment with that profile, trusted; all goes well with it unless it is told otherwise.
    pub fn with_stub() -> Self {
        let env = Self::new();
        env.install(PROFILE, PROCESS);
        for (phase, answer) in GOOD {
            env.answers(phase, answer);
        }
        env.trust(NAME);
        env
    }

    /// Makes a profile of that name.
    pub fn install(&self, profile: &str, process: &str) {
        let file = |name: &str, text: &str| {
            self.write(&format!(".taskmaster/profiles/{NAME}/{name}"), text);
        };
        file("profile.yaml", profile);
        file("process.sh", process);
        for phase in ["planning", "generation", "review", "revision"] {
            file(
                &format!("{phase}.md"),
                &format!(
                    "Asks for {phase}.\n{{% if feedback %}}Said: {{{{ feedback }}}}\n{{% endif %}}"
                ),
            );
        }
    }

    /// What the processor says of a response of that phase.
    pub fn answers(&self, phase: &str, answer: &str) {
        write(&self.home().join(format!("answer-{phase}.json")), answer);
    }

    /// What the processor was told of the last response of that phase.
    pub fn request(&self, phase: &str) -> serde_json::Value {
        let text = fs::read(self.home().join(format!("request-{phase}.json"))).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Begins a session of that profile.
    pub fn begin_stub(&self) -> Session {
        self.begin_with(&["--profile", NAME])
    }
}
