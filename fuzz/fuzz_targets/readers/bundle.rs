//! Every bundle that is read holds to the rules, reads back when it is written again, and every one
//! that is refused says why.
use std::collections::HashSet;
use std::path::{Component, Path};
use std::sync::LazyLock;

use markup::response::bundle::{self, Bundle, File, Rules};
use unicode_normalization::UnicodeNormalization;

static RULES: LazyLock<[Rules; 2]> = LazyLock::new(|| {
    let strict = Rules::new(["src/**", "*.md", "{a,b}*"]).expect("patterns");
    [
        Rules::default(),
        strict
            .with_max_files(3)
            .with_max_bytes(2000)
            .with_max_path_bytes(40),
    ]
});

/// Reads the bytes as a bundle, by loose and by strict rules.
pub fn check(bytes: &[u8]) {
    for rules in &*RULES {
        match bundle::read(bytes, rules) {
            Ok(bundle) => {
                hold_to_the_rules(&bundle, rules);
                read_back(&bundle);
            }
            Err(error) => {
                assert!(error.code().starts_with("bundle_"));
                assert!(!error.suggestion().is_empty());
                let message = error.to_string();
                assert!(!message.is_empty() && message.len() < 4000, "{message}");
                assert!(!message.chars().any(char::is_control), "{message:?}");
                let lines = bytes.split(|byte| *byte == b'\n').count();
                assert!(error.line().is_none_or(|line| (1..=lines).contains(&line)));
            }
        }
    }
}

fn hold_to_the_rules(bundle: &Bundle, rules: &Rules) {
    let told = bundle.files.len() + bundle.deleted.len() + bundle.moved.len();
    assert!(told > 0 && bundle.files.len() <= rules.max_files());
    let mut names = HashSet::new();
    let mut folders = HashSet::new();
    for file in &bundle.files {
        let path = file.path.as_str();
        assert!(path.len() <= rules.max_path_bytes());
        assert!(rules.allows(path));
        assert!(!path.contains(['\\', ':', '\0']) && !path.chars().any(char::is_control));
        assert!(!path.split('/').any(str::is_empty), "{path:?}");
        assert!(
            Path::new(path)
                .components()
                .all(|part| matches!(part, Component::Normal(_))),
            "{path:?}"
        );
        let folded: String = path.nfkc().flat_map(char::to_lowercase).nfkc().collect();
        for part in folded.split('/') {
            let bare = part.trim_end_matches(['.', ' ']);
            assert!(
                bare != ".git" && bare != "git~1" && !bare.is_empty(),
                "{path:?}"
            );
        }
        for (at, _) in folded.match_indices('/') {
            folders.insert(folded[..at].to_owned());
        }
        assert!(names.insert(folded), "{path:?} is there twice");
        // A file without text is told of by a marker of its own.
        assert!(file.content.is_empty() || !file.content.trim().is_empty());
        assert!(!file.content.contains('\0'));
    }
    assert!(names.is_disjoint(&folders));
    // The limit to the bytes is one to the response; what it holds is never more.
    if told > bundle.moved.len() {
        assert_eq!(bundle::check(&bundle.files, &bundle.deleted, rules), Ok(()));
    }
}

/// Fences that are longer than any run in the text can hold every text.
fn read_back(bundle: &Bundle) {
    let mut text = String::new();
    let mut expected = Vec::new();
    for File { path, content } in &bundle.files {
        if path.contains(['"', '`']) || path != path.trim() {
            return;
        }
        if content.is_empty() {
            continue;
        }
        let mut content = content.clone();
        if !content.ends_with('\n') {
            content.push('\n');
        }
        let longest = content
            .split(|c| c != '~')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "~".repeat(longest.max(2) + 1);
        text.push_str(&format!("{fence}text file=\"{path}\"\n{content}{fence}\n"));
        expected.push(File {
            path: path.clone(),
            content,
        });
    }
    if expected.is_empty() {
        return;
    }
    let read = bundle::read(text.as_bytes(), &Rules::default());
    assert_eq!(read.map(|bundle| bundle.files), Ok(expected), "{text}");
}
