//! `documents`: work items in a design document, and their task graphs.

use rails::check::catalog::Reader;
use rails::definition::FieldType::{Bool, Strings};
use rails::{Reading, Role, RunState};

use super::{Capability, reader};
use crate::call::Call;
use crate::collab;
use crate::support::No;

pub(super) struct Documents;

impl Capability for Documents {
    fn name(&self) -> &'static str {
        "documents"
    }

    fn readers(&self) -> Vec<(&'static str, Reader)> {
        let design = [("items", Strings), ("errors", Strings)];
        let graph = [("present", Bool), ("errors", Strings), ("tasks", Strings)];
        vec![
            ("design", reader(&[], &design)),
            ("graph", reader(&[], &graph)),
        ]
    }

    fn read(&self, call: &Call<'_>, role: &Role, run: &RunState, _: u32) -> Result<Reading, No> {
        collab::read(call, &role.reader, run)
    }
}
