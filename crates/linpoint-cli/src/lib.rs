//! The `linpoint` command as a library, for other front ends: Python runs the command, and prints verdicts in the same words.
//!
//! Programs in Rust use the crate `linpoint`.

mod advice;
mod args;
mod cmd;
mod decide;
mod exit;
mod files;
mod interrupt;
mod output;
mod pools;
mod progress;
mod results;
mod source;
mod tables;
mod units;

pub use cmd::conditions::decide as decide_conditions;
pub use decide::{Evidence, decide};
pub use output::whole;
pub use results::{Checked, Decided, Outcome};
pub use source::TypeChoice;
pub use units::{bytes, duration};

use std::ffi::OsString;
use std::io::Write;

use args::{Args, Command};
use clap::Parser;
use exit::Exit;
use linpoint::ErrorKind;

/// Runs the command with these arguments, of which the first one is its name. Returns the exit code.
pub fn main(args: Vec<OsString>) -> u8 {
    interrupt::expect_failed_allocations();
    let wants_json = wants_json(&args);
    let exit = match Args::try_parse_from(args) {
        Ok(args) => run(args.command, wants_json),
        Err(error) => {
            // Clap would exit with 2 on a usage error, which means "undecided" here.
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Linearizable
            };
            let _ = error.print();
            if error.use_stderr() && wants_json {
                let text = error.render().to_string();
                // What is missing is listed below the first line.
                let reason: Vec<&str> = text
                    .lines()
                    .take_while(|line| !line.is_empty())
                    .map(str::trim)
                    .collect();
                let reason = reason.join(" ");
                output::print_error(ErrorKind::Usage, reason.trim_start_matches("error: "));
            }
            exit
        }
    };
    // Only a program in Rust flushes it by itself. If it is closed, nothing is left to be told.
    let _ = std::io::stdout().flush();
    exit.code()
}

fn run(command: Command, wants_json: bool) -> Exit {
    let done = match command {
        Command::Check(args) => cmd::check::run(&args),
        Command::Convert(args) => cmd::convert::run(&args),
        Command::Sort(args) => cmd::sort::run(&args),
        Command::Merge(args) => cmd::merge::run(&args),
        #[cfg(feature = "mapping")]
        Command::Map(args) => cmd::map::run(&args),
        Command::Generate(args) => cmd::generate::run(&args),
        Command::Stats(args) => cmd::stats::run(&args),
        Command::Types(args) => cmd::types::run(&args),
        Command::Spec(args) => cmd::spec::run(&args),
        Command::Depth(args) => cmd::depth::run(&args),
        Command::Tables(args) => tables::run(&args),
        Command::Watch(args) => cmd::watch::run(&args),
        Command::VerifyProof(args) => cmd::verify_proof::run(&args),
        Command::Verify(args) => cmd::verify::run(&args),
        Command::Completions(args) => cmd::shell::completions(&args),
        Command::Man => cmd::shell::man(),
    };
    done.unwrap_or_else(|error| {
        // A reader that closes the standard output early, such as `head`, is not an error.
        if exit::is_broken_pipe(&error) {
            return Exit::Linearizable;
        }
        eprintln!("linpoint: {error:#}");
        if wants_json {
            let kind = exit::kind_of(&error);
            output::print_error(kind, &format!("{error:#}"));
        }
        Exit::of_error(&error)
    })
}

/// Whether the arguments ask for JSON. Arguments that are refused cannot be asked, so this looks at the words.
fn wants_json(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).take_while(|word| *word != "--");
    words.any(|word| word == "--json" || word == "--jsonl")
}
