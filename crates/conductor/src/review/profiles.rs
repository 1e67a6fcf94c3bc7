//! The profiles that can be used, and trusting what they bring along.

use project::profile::trust::TrustStore;
use project::profile::{self, Profile, Reader, Source};

use super::answer::{ProfileInput, ProfileSummary, Untrusted};
use super::begin::builtin_profiles;
use crate::conductor::Conductor;
use crate::fault::{Fault, Kind, chain};

impl Conductor {
    /// The profiles that can be used here.
    pub fn session_profiles(&self) -> Result<Vec<ProfileSummary>, Fault> {
        let trust = TrustStore::in_folder(&self.settings.store);
        let listed = profile::list(&self.root, &builtin_profiles(), Some(&trust));
        Ok(listed
            .into_iter()
            .map(|one| {
                let origin = one.folder.as_ref().map_or_else(
                    || "built in".to_owned(),
                    |folder| folder.display().to_string(),
                );
                let read = self.profile(&one.name).ok();
                ProfileSummary {
                    title: one.title,
                    origin,
                    processor: one.trusted.is_some(),
                    trusted: one.trusted,
                    inputs: read.as_ref().map(inputs).unwrap_or_default(),
                    fault: one.fault.map(|fault| chain(&fault)),
                    name: one.name,
                }
            })
            .collect())
    }

    /// What somebody who trusts a profile would let run.
    pub fn session_untrusted(&self, profile: &str) -> Result<Untrusted, Fault> {
        let profile = self.profile(profile)?;
        let Source::Project { folder } = &profile.source else {
            return Err(nothing_to_trust(&profile.name, "comes with the program"));
        };
        let commands: Vec<String> = profile
            .responses
            .iter()
            .filter_map(|(phase, reader)| match reader {
                Reader::Command { argv, .. } => {
                    let words: Vec<String> = argv.iter().map(|word| shown(word)).collect();
                    Some(format!("{phase}: {}", words.join(" ")))
                }
                _ => None,
            })
            .collect();
        if commands.is_empty() {
            return Err(nothing_to_trust(&profile.name, "runs no command"));
        }
        let trust = TrustStore::in_folder(&self.settings.store);
        Ok(Untrusted {
            trusted: profile.is_trusted(&trust)?,
            folder: folder.clone(),
            files: profile.files()?,
            commands,
            hash: profile.hash,
            profile: profile.name,
        })
    }

    /// Trusts a profile as it was looked at. A person's decision: the caller has asked one.
    pub fn session_trust(&self, looked_at: &Untrusted) -> Result<(), Fault> {
        let now = self.session_untrusted(&looked_at.profile)?;
        if now.hash != looked_at.hash || now.folder != looked_at.folder {
            return Err(Fault::new(
                Kind::Conflict,
                "changed_since",
                format!(
                    "the profile `{}` is not what was looked at any more",
                    looked_at.profile
                ),
            )
            .suggest("look at it again, and decide on what is there now"));
        }
        TrustStore::in_folder(&self.settings.store).trust(&now.folder, &now.profile, &now.hash)?;
        Ok(())
    }

    /// Takes back all trust in a profile; whether there was any.
    pub fn session_distrust(&self, profile: &str) -> Result<bool, Fault> {
        // Also of one that cannot be read any more, or brings nothing any more.
        let folder = self.root.join(".taskmaster/profiles").join(profile);
        let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
        Ok(TrustStore::in_folder(&self.settings.store).revoke(&folder)?)
    }
}

/// An argument as nobody can take it for something else: in quotation marks where it has more than plain characters, and
/// with every character that could not be seen told by its number.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            ' '..='~' if !matches!(c, '"' | '\\') => text.push(c),
            c if c.is_alphanumeric() => text.push(c),
            c => text.extend(c.escape_default()),
        }
    }
    text.push('"');
    text
}

fn nothing_to_trust(name: &str, why: &str) -> Fault {
    Fault::new(
        Kind::Refused,
        "nothing_to_trust",
        format!("the profile `{name}` {why}: there is nothing to trust"),
    )
    .suggest("use it as it is: `tm session init --profile` takes it")
}

fn inputs(profile: &Profile) -> Vec<ProfileInput> {
    profile
        .inputs
        .iter()
        .map(|(name, input)| ProfileInput {
            name: name.clone(),
            kind: input.kind.name().to_owned(),
            required: input.required,
            description: input.description.clone(),
            default: input.default.clone(),
            choices: input.choices.clone(),
        })
        .collect()
}
