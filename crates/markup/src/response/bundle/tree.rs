//! The folders that the files of a bundle would make, by names that no file system takes for one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::folding::folded;

/// How two files of a bundle cannot both be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clash {
    /// The same name as that file's.
    Same(usize),
    /// One would be a folder of the other.
    Folder(usize),
    /// They would be in folders whose names are told apart by some file systems only.
    Spelling(usize),
}

/// A node is a file or a folder; each knows the file that made it.
#[derive(Debug)]
struct Node {
    name: String,
    made_by: usize,
    is_file: bool,
}

/// The names so far.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    children: HashMap<(usize, String), usize>,
}

impl Tree {
    pub(super) fn new() -> Self {
        let root = Node {
            name: String::new(),
            made_by: 0,
            is_file: false,
        };
        Self {
            nodes: vec![root],
            children: HashMap::new(),
        }
    }

    /// Puts the file with this number in.
    pub(super) fn insert(&mut self, path: &str, file: usize) -> Result<(), Clash> {
        let mut at = 0;
        let mut components = path.split('/').peekable();
        while let Some(component) = components.next() {
            let is_file = components.peek().is_none();
            match self.children.entry((at, folded(component))) {
                Entry::Vacant(place) => {
                    at = self.nodes.len();
                    place.insert(at);
                    self.nodes.push(Node {
                        name: component.to_owned(),
                        made_by: file,
                        is_file,
                    });
                }
                Entry::Occupied(place) => {
                    at = *place.get();
                    let node = &self.nodes[at];
                    match (node.is_file, is_file) {
                        (true, true) => return Err(Clash::Same(node.made_by)),
                        (false, false) if node.name != component => {
                            return Err(Clash::Spelling(node.made_by));
                        }
                        (false, false) => {}
                        _ => return Err(Clash::Folder(node.made_by)),
                    }
                }
            }
        }
        Ok(())
    }
}
