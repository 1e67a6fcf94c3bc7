//! What runs of any workflow share: their beginning, inputs, templates, files and gates, and the words made from a definition.

pub(crate) mod begin;
pub(crate) mod cleanup;
pub(crate) mod context;
pub(crate) mod files;
mod inputs;
pub(crate) mod messages;
pub(crate) mod readers;
pub(crate) mod templates;
