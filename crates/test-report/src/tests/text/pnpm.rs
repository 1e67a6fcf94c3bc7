//! What pnpm prints where it runs several scripts at once: in front of each line stand the folder and the script that it is of.

use std::collections::BTreeMap;

use crate::tests::{TestReport, read_tests};
use crate::unreadable::{Kind, Unreadable};

/// Reads the reports among what the scripts printed; none where there is none. What is no report may be of a linter.
pub(super) fn read(text: &str) -> Result<Option<TestReport>, Unreadable> {
    let mut all: Option<TestReport> = None;
    for printed in scripts(text).into_values() {
        let report = match read_tests(printed.as_bytes(), None) {
            Ok(report) => report,
            Err(why) if why.format.is_some() && why.kind != Kind::Nothing => return Err(why),
            Err(_) => continue,
        };
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
    Ok(all)
}

/// What each script printed, by folder and name: `. test:unit$ node --test` begins one, and `. test:unit: ok 1` is a line of it.
fn scripts(text: &str) -> BTreeMap<(&str, &str), String> {
    let mut scripts: BTreeMap<_, String> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(folder), Some(script)) = (words.next(), words.next()) else {
            continue;
        };
        if let Some(script) = script.strip_suffix('$') {
            scripts.entry((folder, script)).or_default();
        } else if let Some(script) = script.strip_suffix(':')
            && let Some(printed) = scripts.get_mut(&(folder, script))
        {
            let said = words.next().unwrap_or_default();
            if !matches!(said, "Done" | "Failed") {
                printed.push_str(said);
                printed.push('\n');
            }
        }
    }
    scripts
}
