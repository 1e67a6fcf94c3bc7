//! Readers of documents.

mod corpus;
mod designs;
mod graphs;
mod properties;
mod words;
