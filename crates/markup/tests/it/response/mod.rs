//! Readers of responses.

mod corpus;
mod large;
mod names;
mod properties;
mod rules;

/// The name of a kind of fault.
fn kind(fault: &impl std::fmt::Debug) -> String {
    let told = format!("{fault:?}");
    let end = told.find(|c: char| !c.is_alphanumeric());
    told[..end.unwrap_or(told.len())].to_owned()
}
