//! What pnpm prints where it runs several scripts at once: in front of each line stand the folder and the script that it is of.

use std::collections::BTreeMap;

use crate::tests::builder::Builder;
use crate::tests::{Outcome, TestFormat, TestReport, read_tests};
use crate::unreadable::{Kind, Unreadable};

/// Reads the reports among what the scripts printed; none where there is none. A script that did not end well and reports no failure,
/// such as a linter, counts as one test that could not be run.
pub(super) fn read(
    text: &str,
    format: Option<TestFormat>,
) -> Result<Option<TestReport>, Unreadable> {
    let (mut all, mut broken): (Option<TestReport>, _) = (None, Vec::new());
    for ((folder, script), (printed, ended)) in scripts(text) {
        let report = match read_tests(printed.as_bytes(), format) {
            Ok(report) => Some(report),
            Err(why) if why.format.is_some() && why.kind != Kind::Nothing => return Err(why),
            Err(_) => None,
        };
        let fails = report.as_ref().map(|report| report.totals.failures() > 0);
        if ended == Some(false) && fails != Some(true) || ended.is_none() && fails.is_none() {
            broken.push(format!("{folder} {script}"));
        }
        let Some(report) = report else { continue };
        match &mut all {
            None => all = Some(report),
            Some(all) if all.format == report.format => all.merge(report),
            Some(all) => {
                let message = format!(
                    "one script prints {}, and one {}",
                    all.format, report.format
                );
                return Err(Unreadable::new(Kind::Mixed, message));
            }
        }
    }
    if let (Some(all), false) = (&mut all, broken.is_empty()) {
        let mut builder = Builder::new(all.format);
        for id in &broken {
            let why = Some("the script did not end well");
            builder.test(id, Outcome::NotCollected, why, None)?;
        }
        all.merge(builder.finish()?);
    }
    Ok(all)
}

/// What each script printed and whether it ended well, by folder and name: `. test:unit$ node --test` begins one, and
/// `. test:unit: ok 1` is a line of it.
fn scripts(text: &str) -> BTreeMap<(&str, &str), (String, Option<bool>)> {
    let mut scripts: BTreeMap<_, (String, Option<bool>)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(folder), Some(script)) = (words.next(), words.next()) else {
            continue;
        };
        if let Some(script) = script.strip_suffix('$') {
            scripts.entry((folder, script)).or_default();
        } else if let Some(script) = script.strip_suffix(':')
            && let Some((printed, ended)) = scripts.get_mut(&(folder, script))
        {
            match words.next().unwrap_or_default() {
                "Done" => *ended = Some(true),
                "Failed" => *ended = Some(false),
                line => {
                    printed.push_str(line);
                    printed.push('\n');
                }
            }
        }
    }
    scripts
}
