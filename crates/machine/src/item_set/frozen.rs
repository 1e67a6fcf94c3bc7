//! A set in a snapshot: what changed stands in it, the items lie beside it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::base::Base;
use super::overlay::Written;
use super::{FEW, ItemSet, Pack};

/// A set whose text is longer than this, in bytes, is packed, however few items it has.
const LONG: usize = 8 * 1024;
/// What changed is written into a new pack when it has become longer than this, in bytes: every load parses it.
const LONGEST_OVERLAY: usize = 16 * 1024;
/// The same when it concerns more than one in so many items, and more than [`FEW`].
const SHARE: usize = 32;

/// A set in a snapshot, without the items that lie beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FrozenSet {
    /// The name of the set.
    pub(crate) name: String,
    /// Its place among the sets of the run.
    pub(crate) at: usize,
    /// Under which name its items are kept.
    items: String,
    over: Written,
}

impl ItemSet {
    /// Brings the set into a form of which little has to be written, and has its items kept by `keep`, which says
    /// under which name. `Ok(None)` where it is small and stands in the snapshot as a whole. `needs` is the field with
    /// the keys of what an item needs.
    pub(crate) fn freeze(
        &mut self,
        name: &str,
        at: usize,
        needs: Option<&str>,
        keep: &mut dyn FnMut(&Arc<Pack>) -> Option<String>,
    ) -> Result<Option<FrozenSet>, KeepError> {
        let mut over = Written::of(&self.over);
        let pack = match &self.base {
            Base::Packed(pack) if pack.knows_needs(needs) && self.is_light(&over) => {
                Arc::clone(pack)
            }
            _ => {
                if !self.is_large() {
                    return Ok(None);
                }
                let pack = Pack::of(self.iter(), needs)
                    .map(Arc::new)
                    .ok_or(KeepError)?;
                *self = Self {
                    base: Base::Packed(Arc::clone(&pack)),
                    over: Arc::default(),
                };
                over = Written::default();
                pack
            }
        };
        let kept = keep(&pack).ok_or(KeepError)?;
        pack.named(&kept);
        Ok(Some(FrozenSet {
            name: name.to_owned(),
            at,
            items: kept,
            over,
        }))
    }

    fn is_large(&self) -> bool {
        self.len() >= FEW || serde_json::to_string(self).is_ok_and(|text| text.len() > LONG)
    }

    fn is_light(&self, over: &Written) -> bool {
        self.over.len() <= FEW.max(self.base.len() / SHARE)
            && serde_json::to_string(over).is_ok_and(|text| text.len() <= LONGEST_OVERLAY)
    }

    /// The set of a snapshot, with the items that `take` brings by their name.
    pub(crate) fn thaw(
        frozen: FrozenSet,
        take: &mut dyn FnMut(&str) -> Option<Arc<Pack>>,
    ) -> Option<Self> {
        let base = Base::Packed(take(&frozen.items)?);
        let over = Arc::new(frozen.over.read(&base)?);
        Some(Self { base, over })
    }
}

/// The items of a set could not be kept.
#[derive(Debug)]
pub(crate) struct KeepError;
