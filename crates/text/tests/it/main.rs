//! Text of others, quoted and cut; names that were probably meant.

mod nearest;
mod quote;
