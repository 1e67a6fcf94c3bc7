//! Profiles as a caller sees them.

mod folders;
mod generic;
mod inputs;
mod pins;
mod processors;
mod reading;
mod schema;
mod templates;
mod trusting;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use workspace::profile::{
    Builtin, CodeFile, Library, Profile, ProfileError, Source, Summary, View,
};
use workspace::trust::TrustStore;

const PHASES: [&str; 4] = ["planning", "generation", "review", "revision"];
const LEAST: &str = "tramline-profile: 1\ntitle: A trial\n";

/// A project with a profile `own`, and a folder of the user's own.
struct Scene {
    folder: TempDir,
}

impl Scene {
    /// With a `profile.yaml` and four templates that say their phase.
    fn new(yaml: &str) -> Self {
        let scene = Self::empty().file("profile.yaml", yaml);
        let with = |scene: Self, phase| scene.file(&format!("{phase}.md"), format!("{phase}\n"));
        PHASES.into_iter().fold(scene, with)
    }

    fn empty() -> Self {
        let folder = testkit::folder();
        fs::create_dir_all(folder.path().join("project/.taskmaster/profiles/own")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn profile_folder(&self) -> PathBuf {
        self.root().join(".taskmaster/profiles/own")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.profile_folder().join(name)
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        testkit::files::write(&self.path(name), text);
        self
    }

    fn store(&self) -> TrustStore {
        TrustStore::in_folder(&self.folder.path().join("home/.taskmaster"))
    }

    fn load(&self) -> Result<Profile, ProfileError> {
        load(&self.root(), "own")
    }

    /// The fault of loading: its code, and message and suggestion.
    fn fault(&self) -> (&'static str, String) {
        told(&self.load().unwrap_err())
    }
}

fn told(error: &ProfileError) -> (&'static str, String) {
    (error.code(), format!("{error} | {}", error.suggestion()))
}

/// The profiles of a project whose folder is `root`; the user's own lie beside it.
fn library<T>(root: &Path, used: impl FnOnce(Library<'_>) -> T) -> T {
    let user = root.with_file_name("home").join(".taskmaster");
    let builtin = workflows::builtin_profiles().iter().map(|one| Builtin {
        name: one.name,
        files: one.files,
    });
    used(Library {
        project: root,
        user: &user,
        builtin: builtin.collect(),
    })
}

fn load(root: &Path, name: &str) -> Result<Profile, ProfileError> {
    library(root, |library| library.load(name))
}

fn list(root: &Path, trust: Option<&TrustStore>) -> Vec<Summary> {
    library(root, |library| library.list(trust))
}

/// A view with something under every name.
fn view(inputs: Value) -> View {
    let Value::Object(inputs) = inputs else {
        panic!("inputs are an object");
    };
    let file = |path: &str, content: &str| CodeFile {
        path: path.to_owned(),
        sha256: "ab".repeat(32),
        size: content.len() as u64,
        content: content.to_owned(),
    };
    let mut view = View {
        inputs,
        iteration: 2,
        plan: "the-plan".to_owned(),
        files: vec![file("src/a.rs", "fn a() {}\n"), file("b.md", "")],
        previous: vec![file("src/a.rs", "fn old() {}\n")],
        feedback: "the-feedback".to_owned(),
        code_dir: PathBuf::from("/store/session/iteration-2/code"),
        ..View::default()
    };
    view.session.id.push_str("review__x__2026");
    view.response.path = PathBuf::from("/store/session/the-response.md");
    view.prompt.path = PathBuf::from("/store/session/the-prompt.md");
    view.project.root = PathBuf::from("/the-project");
    view.review.text.push_str("the-review");
    view.review.issues_total = 3;
    view.review.issues_critical = 1;
    view
}

#[test]
fn a_list_names_broken_profiles_with_their_faults() {
    let scene = Scene::new(LEAST).file("../broken/profile.yaml", "title: [\n");
    let scene = scene.file("../.hidden/x", "").file("../my profile/x", "");
    let scene = scene.file("../README.md", "no profile");
    let all = list(&scene.root(), Some(&scene.store()));
    let told = all.iter().map(|one| {
        let builtin = one.source == Source::Builtin;
        assert_eq!(one.trusted, None);
        (one.name.as_str(), builtin, one.fault.is_some())
    });
    assert!(told.eq([
        ("broken", false, true),
        ("generic", true, false),
        ("my profile", false, true),
        ("own", false, false)
    ]));
    assert!(all[0].source.folder().is_some_and(Path::is_dir));
    assert_eq!(all[3].title, "A trial");
}

#[test]
fn a_folder_takes_the_place_of_a_built_in_profile_only_if_it_says_so() {
    let scene = Scene::new(LEAST);
    let own = scene.root().join(".taskmaster/profiles/generic");
    fs::rename(scene.profile_folder(), &own).unwrap();
    let error = load(&scene.root(), "generic").unwrap_err();
    assert_eq!(error.code(), "profile_invalid");
    fs::write(own.join("profile.yaml"), format!("{LEAST}shadows: true\n")).unwrap();
    assert_eq!(load(&scene.root(), "generic").unwrap().title, "A trial");
    let all = list(&scene.root(), None);
    assert!(all.len() == 1 && all[0].shadows && all[0].source != Source::Builtin);
}

#[test]
fn a_profile_of_the_user_serves_every_project_that_has_none_of_its_name() {
    let scene = Scene::new(LEAST);
    let user = scene.folder.path().join("home/.taskmaster/profiles");
    fs::create_dir_all(&user).unwrap();
    // Kept in a repository of its own, and linked to.
    let kept = scene.folder.path().join("dotfiles");
    fs::rename(scene.profile_folder(), &kept).unwrap();
    std::os::unix::fs::symlink(&kept, user.join("own")).unwrap();
    let profile = scene.load().unwrap();
    let pinned = Profile::from_pin(&profile.pin().unwrap()).unwrap();
    let mut listed = list(&scene.root(), None).into_iter();
    let listed = listed.find(|one| one.name == "own").unwrap();
    let folder = kept.canonicalize().unwrap();
    let source = Source::User { folder };
    for found in [profile.source, pinned.source, listed.source] {
        assert_eq!(found, source);
    }
    testkit::files::copy(&kept, &scene.profile_folder());
    let nearer = scene.load().unwrap();
    assert!(matches!(nearer.source, Source::Project { .. }));
}

#[test]
fn a_profile_that_is_not_there_is_answered_with_those_that_are() {
    let scene = Scene::new(LEAST);
    let long = "x".repeat(65);
    // A name that leads elsewhere is refused before it becomes a path.
    for name in "|..|../own|a/b|.own|-own|own\n|ö|a..b"
        .split('|')
        .chain([&*long])
    {
        let error = load(&scene.root(), name).unwrap_err();
        assert_eq!(error.code(), "bad_name", "{name:?}");
    }
    for (name, way_out) in [
        ("genric", "did you mean `generic`?"),
        ("zzz", "generic, own"),
    ] {
        let error = load(&scene.root(), name).unwrap_err();
        assert_eq!(error.code(), "not_found");
        assert!(error.suggestion().contains(way_out), "{error:?}");
    }
}

#[test]
fn the_hash_covers_names_contents_and_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(LEAST).file("lib/part.py", "1");
    let (part, hash) = (scene.path("lib/part.py"), || scene.load().unwrap().hash);
    let first = hash();
    assert_eq!((first.len(), &first), (64, &hash()));
    fs::write(&part, "2").unwrap();
    let second = hash();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
    let third = hash();
    fs::rename(&part, scene.path("lib/other.py")).unwrap();
    let all = std::collections::BTreeSet::from([first, second, third, hash()]);
    assert_eq!(all.len(), 4);
}
