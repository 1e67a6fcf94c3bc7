//! `profile`: what a response says, by the rules of a profile.

use rails::check::catalog::Reader;
use rails::definition::FieldType::{Enum, Int, String as Text};
use rails::{Reading, Role, RunState};

use super::{Capability, reader};
use crate::call::Call;
use crate::support::No;

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
        vec![("response", reader(&[], &facts))]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, No> {
        match &call.session {
            Some(session) => session.read(call, run, token),
            None => Err(self.has_no("profile for the reader", &role.reader).into()),
        }
    }
}
