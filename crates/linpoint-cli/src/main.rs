//! The `linpoint` command.
fn main() {}
