//! `tm evidence`.

use engine::capability::tests::evidence::show::{self, Show};

use super::{DONE, Outcome, current_folder};
use crate::cli::evidence::{Evidence, EvidenceCommand};
use crate::output::Output;

/// Carries out a command of `tm evidence`.
pub fn run(evidence: Evidence, output: &mut Output) -> Outcome {
    let EvidenceCommand::Show(asked) = evidence.command;
    let failed = asked.failed;
    let shown = show::show(
        &Show {
            paths: asked.files,
            format: asked.format,
            failed,
        },
        &current_folder()?,
    )?;
    let page = if failed {
        "evidence_failed"
    } else {
        "evidence"
    };
    output.page(&shown, page)?;
    Ok(DONE)
}
