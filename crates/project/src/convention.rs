//! convention
