//! `linpoint spec`: begin a specification, and try it.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use linpoint::Error;

use crate::args::{SpecAction, SpecArgs, SpecNewArgs, SpecTestArgs};
use crate::exit::Exit;
use crate::files::Output;
use crate::output::spec;
use crate::source::SpecFile;

pub(crate) fn run(args: &SpecArgs) -> anyhow::Result<Exit> {
    match &args.action {
        SpecAction::New(args) => new(args),
        SpecAction::Test(args) => test(args),
    }
}

fn new(args: &SpecNewArgs) -> anyhow::Result<Exit> {
    let path = match args.name.ends_with(".spec") {
        true => args.name.clone(),
        false => format!("{}.spec", args.name),
    };
    let created = OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = created.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Error::usage("this file exists, and is not overwritten").in_file(&path)
        }
        _ => Error::unreadable(error.to_string()).in_file(&path),
    })?;
    file.write_all(linpoint_spec::TEMPLATE.as_bytes())?;
    let mut out = Output::standard();
    writeln!(out, "wrote {path}: `linpoint spec test {path}` tries it")?;
    out.finish()?;
    Ok(Exit::Linearizable)
}

fn test(args: &SpecTestArgs) -> anyhow::Result<Exit> {
    let (name, tested) = match (&args.file, &args.model.model_cmd) {
        (Some(name), _) => {
            crate::interrupt::expect_failed_specifications();
            let file = SpecFile::parse(name)?;
            (name, linpoint_spec::test(&|| file.specification())?)
        }
        (None, Some(command)) => {
            let options = args.model.options()?;
            let make = || linpoint_spec::command(command, options.clone());
            (command, linpoint_spec::test(&make)?)
        }
        (None, None) => return Err(Error::usage("name a file, or --model-cmd").into()),
    };
    let mut out = Output::standard();
    match args.report.json {
        true => writeln!(out, "{}", spec::to_json(name, &tested))?,
        false => spec::print(&mut out, name, &tested)?,
    }
    out.finish()?;
    Ok(match tested.passed() {
        true => Exit::Linearizable,
        false => Exit::Violation,
    })
}
