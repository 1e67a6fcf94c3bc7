//! `decision`: how something came out, in a word of a person or an agent.

use machine::check::catalog::Reader;
use machine::definition::FieldType::{String as Text, Strings};
use machine::{Reading, Role, RunState};

use crate::call::Call;
use crate::capability::{Capability, reader};
use crate::generic::readers;
use crate::support::HandlerError;

pub(super) struct Decisions;

impl Capability for Decisions {
    fn name(&self) -> &'static str {
        "decision"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let facts = [("outcome", Text), ("note", Text), ("files", Strings)];
        let outcome = Reader {
            is_reported: true,
            ..reader(&[], &facts)
        };
        vec![("outcome", outcome)]
    }

    fn read(
        &self,
        call: &Call<'_>,
        role: &Role,
        run: &RunState,
        token: u32,
    ) -> Result<Reading, HandlerError> {
        readers::read(call, &role.reader, run, token)
    }
}
