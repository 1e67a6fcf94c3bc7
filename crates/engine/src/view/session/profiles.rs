//! The profiles that can be used.

use workspace::profile::Profile;

use crate::engine::Engine;
use crate::fault::{Fault, chain};
use crate::view::session::answer::{ProfileInput, ProfileSummary};

impl Engine {
    /// The profiles that can be used here.
    pub fn session_profiles(&self) -> Result<Vec<ProfileSummary>, Fault> {
        let trust = self.trust_store();
        let listed = self.profiles().list(Some(&trust));
        Ok(listed
            .into_iter()
            .map(|one| {
                let origin = one.source.folder().map_or_else(
                    || "built in".to_owned(),
                    |folder| folder.display().to_string(),
                );
                let read = self.profiles().load(&one.name).ok();
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
}

fn inputs(profile: &Profile) -> Vec<ProfileInput> {
    let inputs = profile.inputs.iter().map(|(name, input)| ProfileInput {
        name: name.clone(),
        input: input.clone(),
    });
    inputs.collect()
}
