//! The HTTP server as its clients see it: byte by byte, without a client's library in between.

mod admission;
mod limits;
mod protocol;
mod served;
mod stopping;
mod wire;
