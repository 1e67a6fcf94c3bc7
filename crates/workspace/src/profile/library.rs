//! All profiles that can be used in a project: its own, those of the user for all projects, and the built-in ones.

use std::path::{Path, PathBuf};

use super::folder::{self, Builtin, Files, PROFILE_FILE};
use super::{Profile, ProfileError, Source, name, reading};
use crate::trust::TrustStore;

/// The folder of the project in which its profiles lie.
const OF_PROJECT: &str = ".taskmaster/profiles";
/// The same in the folder of the user's own.
const OF_USER: &str = "profiles";

/// Where profiles are looked for. Of several with one name the nearest is meant: the project's own before the user's,
/// and that before the built-in one, whose place is taken only by one that says so.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    /// The project.
    pub project: &'a Path,
    /// The folder of the user's own, such as `~/.taskmaster`. It does not have to be there.
    pub user: &'a Path,
    /// The profiles that come with the program.
    pub builtin: Vec<Builtin<'a>>,
}

/// One line of a list of profiles.
#[derive(Debug)]
pub struct Summary {
    /// The name.
    pub name: String,
    /// One line for people; empty if it could not be read.
    pub title: String,
    /// Where it comes from. Of one that could not be read the folder is as it was looked for, links and all.
    pub source: Source,
    /// Whether it takes the place of a built-in one.
    pub shadows: bool,
    /// SHA-256 of all that lies in its folder; empty if it could not be read.
    pub hash: String,
    /// Whether it has commands, and if so, whether a person trusted them as they are now.
    pub trusted: Option<bool>,
    /// What is wrong with it.
    pub fault: Option<ProfileError>,
}

impl Library<'_> {
    /// Where the project's own profile of that name would lie.
    pub fn project_folder(&self, name: &str) -> PathBuf {
        self.project.join(OF_PROJECT).join(name)
    }

    /// Where the user's profile of that name would lie.
    pub fn user_folder(&self, name: &str) -> PathBuf {
        self.user.join(OF_USER).join(name)
    }

    /// Reads and proves the profile called `name`.
    pub fn load(&self, name: &str) -> Result<Profile, ProfileError> {
        name::check(name)?;
        let shipped = self.builtin.iter().find(|shipped| shipped.name == name);
        if let Some(source) = self.find(name)?
            && let Some(folder) = source.folder()
        {
            let files = Files::read(folder)?;
            let file = folder.join(PROFILE_FILE);
            let profile = reading::profile(name, source, &files)?;
            if shipped.is_some() && !profile.shadows {
                return Err(ProfileError::Shadows {
                    name: name.to_owned(),
                    file,
                });
            }
            return Ok(profile);
        }
        let shipped = shipped.ok_or_else(|| self.unknown(name))?;
        reading::profile(name, Source::Builtin, &Files::of_builtin(shipped))
    }

    /// All profiles, the broken ones with their faults, in the order of their names.
    pub fn list(&self, trust: Option<&TrustStore>) -> Vec<Summary> {
        let own = folder::names(&self.project.join(OF_PROJECT));
        let of_user = folder::names(&self.user.join(OF_USER));
        let mut names: Vec<String> = own.iter().chain(&of_user).cloned().collect();
        names.extend(self.builtin.iter().map(|one| one.name.to_owned()));
        names.sort();
        names.dedup();
        let listed = names.into_iter().map(|name| match self.load(&name) {
            Ok(profile) => Summary {
                trusted: profile
                    .has_commands()
                    .then(|| trust.is_some_and(|trust| profile.is_trusted(trust).unwrap_or(false))),
                shadows: profile.source != Source::Builtin
                    && self.builtin.iter().any(|one| one.name == name),
                source: profile.source,
                name,
                title: profile.title,
                hash: profile.hash,
                fault: None,
            },
            Err(fault) => Summary {
                title: String::new(),
                source: if own.contains(&name) {
                    let folder = self.project_folder(&name);
                    Source::Project { folder }
                } else if of_user.contains(&name) {
                    let folder = self.user_folder(&name);
                    Source::User { folder }
                } else {
                    Source::Builtin
                },
                shadows: false,
                hash: String::new(),
                trusted: None,
                fault: Some(fault),
                name,
            },
        });
        listed.collect()
    }

    fn find(&self, name: &str) -> Result<Option<Source>, ProfileError> {
        if let Some(folder) = folder::find(self.project_folder(name), Some(self.project))? {
            return Ok(Some(Source::Project { folder }));
        }
        // What the user put into a folder of their own may lie elsewhere: such folders are kept in repositories, and
        // linked to.
        let folder = folder::find(self.user_folder(name), None)?;
        Ok(folder.map(|folder| Source::User { folder }))
    }

    fn unknown(&self, name: &str) -> ProfileError {
        let own = folder::names(&self.project.join(OF_PROJECT)).into_iter();
        let mut known: Vec<String> = own
            .chain(folder::names(&self.user.join(OF_USER)))
            .filter(|name| name::flaw(name).is_none())
            .chain(self.builtin.iter().map(|one| one.name.to_owned()))
            .collect();
        known.sort();
        known.dedup();
        ProfileError::Unknown {
            name: name.to_owned(),
            nearest: text::nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
            known,
            user: self.user.join(OF_USER),
        }
    }
}
