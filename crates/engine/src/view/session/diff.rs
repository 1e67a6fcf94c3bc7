//! What changed from one iteration to another.

use machine::{RunState, Shared};

use crate::call::Call;
use crate::capability::files::code::{OnDisk, Tree, on_disk};
use crate::capability::files::difference::between;
use crate::capability::profile::session::{code_path, iteration};
use crate::engine::Engine;
use crate::fault;
use crate::fault::Fault;
use crate::generic::files;
use crate::view::SESSION;
use crate::view::session::answer::DiffAnswer;

impl Engine {
    /// In which files the code of iteration `to` differs from that of `from`, as it lies there: of the present iteration from the
    /// one before it, where nothing is said. Iteration 0 has no code.
    ///
    /// # Errors
    /// `no_code` where an iteration has none; `usage` where there is no such iteration.
    pub fn session_diff(
        &self,
        session: Option<&str>,
        from: Option<u32>,
        to: Option<u32>,
    ) -> Result<DiffAnswer, Fault> {
        let (dir, run) = self.seen(&SESSION, session)?;
        let look = |call: Call<'_>, run: &Shared<RunState>| {
            let present = iteration(&call, run);
            let to = to.map_or(present, i64::from);
            let from = from.map_or(to.max(1) - 1, i64::from);
            let before = code_of(&call, run, from, present)?;
            let after = code_of(&call, run, to, present)?;
            Ok(DiffAnswer {
                session_id: run.run.clone(),
                from,
                to,
                files: between(&before, &after),
            })
        };
        self.settled_look(&dir, run, look, |_| true)
    }
}

fn code_of(call: &Call<'_>, run: &RunState, number: i64, present: i64) -> Result<Tree, Fault> {
    if number == 0 && present > 0 {
        return Ok(Tree::default());
    }
    if number > present {
        return Err(fault!("not_found.iteration", number, present));
    }
    let folder = files::place(&call.dir, &code_path(number))?;
    if number == 0 || on_disk(&folder)? == OnDisk::Nothing {
        return Err(fault!("not_found.no_code", number, state = run.state()));
    }
    Tree::on_disk(&folder)
}
