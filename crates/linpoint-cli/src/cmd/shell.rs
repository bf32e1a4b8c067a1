//! `linpoint completions` and `linpoint man`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::exit::Exit;
use crate::files::Output;

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "linpoint", &mut script);
    print(&script)
}

pub(crate) fn man() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    let command = Args::command();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln!(page, ".SH {}", subcommand.get_name().to_uppercase())?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(&page)
}

fn print(text: &[u8]) -> anyhow::Result<Exit> {
    let mut out = Output::standard();
    out.write_all(text)?;
    out.finish()?;
    Ok(Exit::Linearizable)
}
