//! The `linpoint` command: is this history linearizable, and why not?

use std::process::ExitCode;

use linpoint::engine::Budget;

fn main() -> ExitCode {
    share_one_arena();
    linpoint_cli::main(std::env::args_os().collect()).into()
}

/// Starts this program again, with memory from one arena, where its address space is limited (`ulimit -v`).
///
/// The allocator of GNU reserves 64 MiB of addresses for each thread that allocates, which would use up a small limit with next to no
/// memory in use. It reads this setting before the program begins.
fn share_one_arena() {
    const ARENAS: &str = "MALLOC_ARENA_MAX";
    if cfg!(not(target_env = "gnu"))
        || Budget::address_space().is_none()
        || std::env::var_os(ARENAS).is_some()
    {
        return;
    }
    #[cfg(unix)]
    if let Ok(program) = std::env::current_exe() {
        use std::os::unix::process::CommandExt;
        let mut arguments = std::env::args_os();
        let mut again = std::process::Command::new(program);
        if let Some(name) = arguments.next() {
            again.arg0(name);
        }
        // It returns only if it fails. Then the program goes on as it is.
        let _ = again.args(arguments).env(ARENAS, "1").exec();
    }
}
