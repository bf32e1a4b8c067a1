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
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    // The sections of the commands follow on this page: there are no pages of their own to refer to.
    for subcommand in command.get_subcommands() {
        let man = clap_mangen::Man::new(subcommand.clone());
        writeln!(page, ".SH {}", subcommand.get_name().to_uppercase())?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    man.render_version_section(&mut page)?;
    print(&page)
}

fn print(text: &[u8]) -> anyhow::Result<Exit> {
    let mut out = Output::standard();
    out.write_all(text)?;
    out.finish()?;
    Ok(Exit::Linearizable)
}
