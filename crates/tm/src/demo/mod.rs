//! The whole story in a throw-away repository: real git, real tests, and this very program as a child process at every step.
//!
//! | module | what it holds |
//! |---|---|
//! | [`stage`] | the repository, and the processes that run in it |
//! | [`executor`] | the scripted executor: writes tests and code, runs the tests |
//! | [`story`] | what happens, in order, and what each step must come to |
//! | [`kill`] | a commit that is killed halfway |
//! | [`ending`] | what must be true when it is over |
//! | [`teller`] | what a person sees of it |

mod ending;
mod executor;
mod kill;
pub mod stage;
mod story;
mod teller;

use std::time::Instant;

use serde_json::json;

use crate::cli::setup::Demo;
use crate::commands::{DONE, Outcome};
use crate::output::Output;
use stage::Stage;
use teller::Narrator;

/// Plays the story. Every step is checked; the first that is not as it should be ends it with a fault.
pub fn run(demo: &Demo, output: &mut Output) -> Outcome {
    let begun = Instant::now();
    let stage = Stage::set()?;
    let mut teller = Narrator::new(output);
    let played =
        story::play(&stage, &mut teller).and_then(|run| ending::check(&stage, &run, &mut teller));
    let steps = teller.into_steps();
    let repository = stage.repository().display().to_string();
    // What went wrong can be looked into only where it happened, so a failed demo is kept too.
    let kept = demo.keep || played.is_err();
    let home = stage.home().display().to_string();
    if kept {
        stage.keep();
    }
    let ending = played.map_err(|fault| {
        fault
            .suggest(format!("the repository was kept for a look: {repository}"))
            .detail("repository", repository.as_str())
    })?;
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let summary = json!({
        "ok": true,
        "runId": ending.run_id,
        "branch": ending.branch,
        "commits": ending.commits,
        "durationMs": duration_ms,
        "repository": kept.then_some(repository.as_str()),
        "steps": steps,
    });
    output.answer(&summary, |_, look| {
        let mut page = crate::render::Page::new(look);
        page.blank();
        page.signed(
            crate::render::Sign::Good,
            &format!(
                "all of it was as it should be, in {}.{} s",
                duration_ms / 1000,
                duration_ms % 1000 / 100
            ),
        );
        if kept {
            page.field("kept", &repository);
            page.field("its runs", &home);
        }
        page.finish()
    })?;
    Ok(DONE)
}
