//! Links of the documentation lead to files, and to headings in them, that are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use markup::markdown::fenced_code;

use testkit::documentation::{pages, workspace};

/// The text of a page without its fenced code, of which nothing is a link.
fn prose(page: &str) -> String {
    let mut prose = String::new();
    let mut at = 0;
    for block in fenced_code(page) {
        prose.push_str(&page[at..block.start]);
        at = block.end;
    }
    prose + &page[at..]
}

/// The names by which the headings of a page can be linked to, as forges and mdBook make them.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in prose(page).lines() {
        let Some(heading) = line.strip_prefix('#') else {
            continue;
        };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let plain = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = plain.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = times.entry(anchor.clone()).or_default();
        anchors.push(match *before {
            0 => anchor,
            again => format!("{anchor}-{again}"),
        });
        *before += 1;
    }
    anchors
}

/// The targets of the links in a page.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let behind = prose.split("](").skip(1);
    let targets = behind.filter_map(|behind| behind.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

#[test]
fn links_lead_to_what_is_there() {
    let mut dead = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for link in links(&page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                _ => path.parent().unwrap().join(file),
            };
            let has_anchor = || {
                let target = fs::read_to_string(&target);
                target.is_ok_and(|target| anchors(&target).iter().any(|known| known == anchor))
            };
            if !target.exists() || !anchor.is_empty() && !has_anchor() {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_is_in_the_book() {
    let folder = workspace().join("docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.push("SUMMARY.md".to_owned());
    let mut missing = pages();
    missing.retain(|path| {
        let within = path.strip_prefix(&folder).ok();
        within.is_some_and(|page| !listed.iter().any(|listed| page == Path::new(listed)))
    });
    assert!(missing.is_empty(), "{missing:?}");
}
