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
    let mut links = Vec::new();
    for behind in prose.split("](").skip(1) {
        if let Some((target, _)) = behind.split_once(')') {
            links.push(target.to_owned());
        }
    }
    links
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
            let target = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            let is_there = target.exists()
                && (anchor.is_empty()
                    || fs::read_to_string(&target)
                        .is_ok_and(|target| anchors(&target).iter().any(|known| known == anchor)));
            if !is_there {
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
    let listed = links(&summary);
    let in_book = |path: &Path| path.starts_with(&folder) && !path.ends_with("SUMMARY.md");
    let missing: Vec<String> = pages()
        .iter()
        .filter(|path| in_book(path))
        .map(|path| {
            path.strip_prefix(&folder)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|page| !listed.contains(page))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
