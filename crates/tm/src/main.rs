//! tm
fn main(){}
