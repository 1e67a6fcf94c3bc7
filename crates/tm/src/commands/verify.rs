//! `tm verify`, and the bundles it reads.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use engine::proof::replay::ReplayedCommit;
use engine::proof::{VerifyRequest, WrittenBundle};
use engine::{Engine, Fault, Kind, Strength};
use journal::durable;
use serde_json::json;
use workspace::config::Level;

use super::{DONE, Outcome, current_folder, open, usage};
use crate::cli::history::{Export, ExportFormat};
use crate::cli::verify::{LevelName, StrengthName, Verify};
use crate::output::Output;

/// Carries out `tm verify`.
pub fn run(verify: Verify, output: &mut Output) -> Outcome {
    let engine = open(verify.place.project_root, None, "tm verify")?;
    let request = VerifyRequest {
        range: verify.range,
        bundles: verify.bundle,
        require: Some(match verify.require {
            LevelName::Claimed => Level::Claimed,
            LevelName::Reported => Level::Reported,
            LevelName::Ran => Level::Ran,
            LevelName::Verified => Level::Verified,
        }),
        approvals: Some(match verify.approvals {
            StrengthName::Client => Strength::Client,
            StrengthName::Terminal => Strength::Terminal,
            StrengthName::Signed => Strength::Signed,
        }),
        signers: verify.signers,
        replay: verify.replay,
        strict: verify.strict,
    };
    let answer = engine.verify(&request)?;
    let commits = answer.commits.iter();
    let replays = commits.map(|commit| commit.replay.as_ref().map(ReplayedCommit::spoken));
    let beside = json!({ "replays": replays.collect::<Vec<_>>() });
    output.page_with(&answer, "proof", &beside)?;
    Ok(if answer.verified {
        DONE
    } else {
        Kind::Refused.exit_status()
    })
}

/// Carries out `tm runs export`.
pub fn export(engine: &Engine, arguments: Export, output: &mut Output) -> Outcome {
    let ExportFormat::Bundle = arguments.format;
    let packed = engine.export_run(arguments.run.as_deref())?;
    let to_output = arguments.output.as_deref() == Some(Path::new("-"));
    if to_output && output.is_json() {
        return Err(usage(
            "--json and `-o -` both want standard output: leave one of them out",
        ));
    }
    if to_output {
        if std::io::stdout().is_terminal() {
            return Err(usage("a bundle is nothing to read on a terminal")
                .suggest("name a file with -o FILE, or send the output to one"));
        }
        output.bytes(&packed.bytes)?;
        warn_left_out(&WrittenBundle::of(&packed, None), output);
        return Ok(DONE);
    }
    let file = arguments
        .output
        .unwrap_or_else(|| PathBuf::from(format!("{}.tramline.jsonl", packed.run)));
    let file = current_folder()?.join(file);
    write(&file, &packed.bytes)?;
    let answer = WrittenBundle::of(&packed, Some(file));
    output.page(&answer, "bundle_written")?;
    warn_left_out(&answer, output);
    Ok(DONE)
}

fn warn_left_out(exported: &WrittenBundle, output: &Output) {
    if !exported.left.is_empty() {
        output.warning(&format!(
            "{} of its evidence could not be packed; the first line of the bundle names them",
            text::counted(exported.left.len(), "piece")
        ));
    }
}

/// Writes a file as a whole, or leaves what is there.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let write = || -> std::io::Result<()> {
        let mut aside = durable::aside_of(file, 0o600)?;
        aside.write_all(bytes)?;
        aside.as_file().sync_all()?;
        durable::put_in_place(aside, file, true)
    };
    write().map_err(|error| {
        Fault::environment(
            "io_failed",
            format!("{} cannot be written", file.display()),
            &error,
        )
        .suggest("name a file in a folder that is there and can be written to")
    })
}
