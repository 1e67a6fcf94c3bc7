//! `profile`: what a response says, by the rules of a profile.

pub(crate) mod memory;
pub(crate) mod processing;
pub(crate) mod prompt;
pub(crate) mod read;
pub mod session;

use machine::check::catalog::{ParameterKind, Reader, Resource};
use machine::definition::FieldType::{Enum, Int, Map, String as Text};
use machine::{Reading, Role, RunState};
use workspace::profile::Phase;

use crate::call::Call;
use crate::capability::{Capability, FOLDER, PROFILE, parameter, reader};
use crate::support::HandlerError;

/// What a profile may make of a response.
const STATUSES: [&str; 5] = ["SUCCESS", "FAILED", "ERROR", "CANCELLED", "IN_PROGRESS"];

pub(super) struct Profiles;

impl Capability for Profiles {
    fn name(&self) -> &'static str {
        "profile"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let facts = [
            ("status", Enum(STATUSES.map(str::to_owned).to_vec())),
            ("reason", Text),
            ("files", Int),
            ("hash", Text),
            ("staged", Text),
        ];
        let response = Reader {
            needs: &[PROFILE],
            is_asked: true,
            ..reader(&[], &facts)
        };
        vec![("response", response)]
    }

    fn resources(&self) -> Vec<(&'static str, Resource)> {
        let profile = Resource {
            parameters: vec![
                parameter("name", ParameterKind::Input(Text), "=inputs.profile"),
                parameter("values", ParameterKind::Input(Map), "=inputs.values"),
            ],
            needs: &[FOLDER],
            ..Resource::default()
        };
        vec![(PROFILE, profile)]
    }

    fn asks(&self) -> Vec<(&'static str, &'static str)> {
        Phase::ALL
            .iter()
            .map(|phase| (phase.as_str(), PROFILE))
            .collect()
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        match &call.session {
            Some(session) => session.read(call, run, token),
            None => Err(self.has_no("profile for the reader", &role.reader).into()),
        }
    }
}
