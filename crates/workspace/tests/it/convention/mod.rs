//! The conventions of a project: names, messages, places of tests, test commands.

mod branch;
mod criteria;
mod hints;
mod message;
mod paths;
mod runner;
mod scope;

use std::sync::LazyLock;

use workspace::convention::paths::PathClasses;

static CLASSES: LazyLock<PathClasses> = LazyLock::new(|| PathClasses::new::<&str>(&[]).unwrap());

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&item| item.to_owned()).collect()
}
