//! The `linpoint` command: is this history linearizable, and why not?

fn main() -> std::process::ExitCode {
    linpoint_cli::main(std::env::args_os().collect()).into()
}
