//! A project in a folder of its own, with an engine of it.

use std::path::{Path, PathBuf};

use engine::{Engine, OpenOptions};
use workspace::config::Environment;

/// A folder that is thrown away, on the file system that `TRAMLINE_BENCH_DIR` names.
pub fn folder() -> tempfile::TempDir {
    let on = std::env::var_os("TRAMLINE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    tempfile::Builder::new()
        .prefix("tramline-bench")
        .tempdir_in(on)
        .expect("a folder")
}

/// Where the runs of the projects of a folder are kept.
pub fn store(folder: &Path) -> PathBuf {
    folder.join("store")
}

/// The engine of the project `root`, whose user's own things are in `folder`.
pub fn engine(folder: &Path, root: &Path) -> Engine {
    std::fs::create_dir_all(root.join(".taskmaster")).expect("a folder");
    let environment: Environment = [
        (
            "TRAMLINE_HOME".to_owned(),
            store(folder).display().to_string(),
        ),
        ("HOME".to_owned(), folder.display().to_string()),
    ]
    .into_iter()
    .collect();
    Engine::open(OpenOptions {
        cwd: root.to_owned(),
        project_root: Some(root.to_owned()),
        tag: None,
        environment,
        command: "bench".to_owned(),
        actor: "bench".to_owned(),
        cancelled: None,
        waits_no_more: None,
    })
    .expect("an engine")
}
