//! `tm bench` and `tm clean`.

use engine::Kind;

use super::{DONE, Outcome, open};
use crate::cli::bench::{Bench, BenchCommand, Clean};
use crate::output::Output;
use serde_json::json;

/// Carries out a command of `tm bench`.
pub fn run(arguments: Bench, output: &mut Output) -> Outcome {
    let engine = open(arguments.place.project_root, None, "tm bench")?;
    match arguments.command {
        BenchCommand::Show => {
            let nothing = json!({ "nothing": "no bench and no kept tree is here" });
            output.page_with(&engine.kept()?, "kept", &nothing)?;
        }
        BenchCommand::Remove => {
            let nothing = json!({ "nothing": "no bench is here" });
            output.page_with(&engine.remove_benches()?, "kept", &nothing)?;
        }
        BenchCommand::Run { tree } => {
            let ran = engine.run_on_bench(tree.as_deref())?;
            output.page(&ran, "bench_run")?;
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
    let words = json!({
        "nothing": "nothing is old enough to be removed",
        "each": if arguments.dry_run { ", would be removed" } else { "" },
    });
    output.page_with(&kept, "kept", &words)?;
    Ok(DONE)
}
