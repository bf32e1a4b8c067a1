//! The command line as its users see it: every example in `cmd/` is run and its output compared.
//!
//! `TRYCMD=overwrite cargo test -p linpoint-cli` rewrites what differs; review that like code.

mod files;
mod live;
#[cfg(target_os = "linux")]
mod memory;
mod proofs;
#[cfg(unix)]
mod signals;
mod streamed;

#[test]
fn examples() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("tests/cmd/*.md")
        .case("tests/cmd/*.toml");
}
