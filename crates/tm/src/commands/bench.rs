//! `tm bench` and `tm clean`.

use engine::Kind;

use super::{DONE, Outcome, open};
use crate::cli::bench::{Bench, BenchCommand, Clean};
use crate::output::Output;
use crate::render::bench as pages;

/// Carries out a command of `tm bench`.
pub fn run(arguments: Bench, output: &mut Output) -> Outcome {
    let engine = open(arguments.place.project_root, None, "tm bench")?;
    match arguments.command {
        BenchCommand::Show => {
            let words = ("no bench and no kept tree is here", "");
            output.answer(&engine.kept()?, |kept, look| pages::kept(kept, words, look))?;
        }
        BenchCommand::Remove => {
            let words = ("no bench is here", "");
            let removed = engine.remove_benches()?;
            output.answer(&removed, |kept, look| pages::kept(kept, words, look))?;
        }
        BenchCommand::Run { tree } => {
            let ran = engine.run_on_bench(tree.as_deref())?;
            output.answer(&ran, pages::ran)?;
            if ran.counts.failing() > 0 {
                return Ok(Kind::Refused.exit_status());
            }
        }
    }
    Ok(DONE)
}

/// Carries out `tm clean`.
pub fn clean(arguments: Clean, output: &mut Output) -> Outcome {
    let engine = open(arguments.place.project_root, None, "tm clean")?;
    let kept = engine.clean(arguments.days, arguments.dry_run)?;
    let words = (
        "nothing is old enough to be removed",
        if arguments.dry_run {
            ", would be removed"
        } else {
            ""
        },
    );
    output.answer(&kept, |kept, look| pages::kept(kept, words, look))?;
    Ok(DONE)
}
