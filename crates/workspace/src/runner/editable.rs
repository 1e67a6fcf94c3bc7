//! Packages of Python that are installed as links into a working tree: what imports them elsewhere is led back there.

use std::fs;
use std::path::{Path, PathBuf};

/// Installs that lead into a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditableInstalls {
    /// Folders of it that are on the search path of modules, by a `.pth` file.
    pub folders: Vec<PathBuf>,
    /// Files of import hooks that find modules in it.
    pub hooks: Vec<PathBuf>,
}

impl EditableInstalls {
    /// Those of the environments in these folders, with links into the tree at `top_level`. What cannot be read has none.
    pub fn of(environments: &[PathBuf], top_level: &Path) -> Self {
        let mut installs = Self::default();
        for environment in environments {
            let versions = entries(&environment.join("lib"));
            for file in versions
                .iter()
                .flat_map(|version| entries(&version.join("site-packages")))
            {
                installs.read(file, top_level);
            }
        }
        installs.folders.sort();
        installs.folders.dedup();
        installs
    }

    fn read(&mut self, file: PathBuf, top_level: &Path) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // As setuptools names the module that a `.pth` of its own imports.
        let is_hook = name.starts_with("__editable__") && name.ends_with("_finder.py");
        if !is_hook && !name.ends_with(".pth") {
            return;
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        if is_hook {
            let top_level = top_level.to_string_lossy();
            if text.contains(&*top_level) {
                self.hooks.push(file);
            }
            return;
        }
        let folders = text.lines().map(|line| PathBuf::from(line.trim()));
        self.folders
            .extend(folders.filter(|folder| folder.starts_with(top_level)));
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_the_tree_are_found_by_path_and_by_hook() {
        let folder = testkit::folder();
        let at = |name: &str| folder.path().join(name);
        let packages = "venv/lib/python3.12/site-packages";
        let of = |name: &str| at(&format!("{packages}/{name}"));
        let tree = at("tree");
        let lines = format!("import x\n{}\n/elsewhere\n", tree.join("src").display());
        testkit::files::write(&of("__editable__.a-1.pth"), &lines);
        let hook = |of: &Path| format!("MAPPING = {{'a': '{}/lib'}}\n", of.display());
        testkit::files::write(&of("__editable___a_1_finder.py"), hook(&tree));
        testkit::files::write(&of("__editable___b_1_finder.py"), hook(&at("other")));
        let found = EditableInstalls::of(&[at("none"), at("venv")], &tree);
        assert_eq!(found.folders, [tree.join("src")]);
        assert_eq!(found.hooks, [of("__editable___a_1_finder.py")]);
    }
}
