//! Sessions of skills, large ones too, as far as the place where something is measured.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Makes `tm` with words, not yet started.
pub type Tm<'a> = &'a dyn Fn(&[&str]) -> Command;

/// A session whose items, so many bugs, are about to be gone through.
pub fn gathered(tm: Tm<'_>, root: &Path, session: &str, bugs: usize) {
    let items: Vec<serde_json::Value> = (1..=bugs)
        .map(|number| {
            serde_json::json!({ "number": number, "title": format!("Mend part {number}"), "type": "bugfix" })
        })
        .collect();
    // What is measured is the session, and not what is written for it.
    let settings = root.join(".taskmaster");
    std::fs::create_dir_all(&settings).expect("a folder");
    let off = r#"{"evidence": {"policy": {"draft_missing": "off"}}}"#;
    std::fs::write(settings.join("config.json"), off).expect("a file");
    let file = root.join("items.json");
    std::fs::write(&file, serde_json::Value::from(items).to_string()).expect("a file");
    let given = format!("@{}", file.display());
    call(tm, session, &["update", "--work-items", &given]);
    for skill in ["collab-start", "gather-session-goals"] {
        call(tm, session, &["complete-skill", skill]);
    }
}

/// A session whose only batch, of so many tasks, is in hand: `t0` and so on.
pub fn executing(tm: Tm<'_>, root: &Path, session: &str, tasks: usize) {
    gathered(tm, root, session, 1);
    for skill in ["collab-clear", "systematic-debugging", "collab-clear"] {
        call(tm, session, &["complete-skill", skill]);
    }
    let mut graph = "tasks:\n".to_owned();
    for task in 0..tasks {
        let _ = write!(
            graph,
            "  - id: t{task}\n    files: [src/part_{task}.rs]\n    description: What part {task} has to do\n"
        );
    }
    std::fs::write(root.join("graph.yaml"), graph).expect("a file");
    call(tm, session, &["sync", "graph.yaml", "--item", "1"]);
    for skill in ["ready-to-implement", "collab-clear"] {
        call(tm, session, &["complete-skill", skill]);
    }
}

fn call(tm: Tm<'_>, session: &str, words: &[&str]) {
    let words = [&["collab"], words, &["--session", session, "--json"]].concat();
    let output = tm(&words).output().expect("it runs");
    assert!(
        output.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&output.stdout)
    );
}
