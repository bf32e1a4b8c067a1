//! `linpoint types`: the built-in types.

use std::io::Write;

use linpoint::object::{TypeInfo, object_type, types};
use serde_json::json;

use crate::args::TypesArgs;
use crate::exit::Exit;
use crate::files::Output;

pub(crate) fn run(args: &TypesArgs) -> anyhow::Result<Exit> {
    let mut out = Output::standard();
    let chosen: Vec<&TypeInfo> = match &args.name {
        None => types().iter().collect(),
        Some(name) => vec![linpoint::object::find_type(name).ok_or_else(|| unknown(name))?],
    };
    if args.report.json {
        let all: Vec<_> = chosen.iter().map(|info| to_json(info)).collect();
        writeln!(out, "{}", json!({ "schema": 1, "types": all }))?;
    } else if args.name.is_some() {
        chosen
            .iter()
            .try_for_each(|info| show_one(&mut out, info))?;
    } else {
        let width = chosen.iter().map(|info| info.name.len()).max().unwrap_or(0);
        chosen
            .iter()
            .try_for_each(|info| writeln!(out, "{:<width$}  {}", info.name, info.summary))?;
        writeln!(out, "\n`linpoint types NAME` lists methods and parameters.")?;
    }
    out.finish()?;
    Ok(Exit::Linearizable)
}

/// The message that names the known types.
fn unknown(name: &str) -> linpoint::Error {
    match object_type(name, &Default::default()) {
        Err(error) => error,
        Ok(_) => linpoint::Error::bug("a type can be made but not found"),
    }
}

fn show_one(out: &mut dyn Write, info: &TypeInfo) -> std::io::Result<()> {
    writeln!(out, "{}: {}", info.name, info.summary)?;
    if !info.aliases.is_empty() {
        writeln!(out, "also called {}", info.aliases.join(", "))?;
    }
    writeln!(out, "\nmethods")?;
    let width = info
        .methods
        .iter()
        .map(|method| method.call.len())
        .max()
        .unwrap_or(0);
    for method in info.methods {
        writeln!(out, "  {:<width$}  {}", method.call, method.answers)?;
    }
    if !info.params.is_empty() {
        writeln!(out, "\nparameters (--type {}:NAME=VALUE)", info.name)?;
        let width = info
            .params
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0);
        info.params
            .iter()
            .try_for_each(|(name, meaning)| writeln!(out, "  {name:<width$}  {meaning}"))?;
    }
    Ok(())
}

fn to_json(info: &TypeInfo) -> serde_json::Value {
    let pair = |(name, meaning): &(&str, &str)| json!({ "name": name, "meaning": meaning });
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "summary": info.summary,
        "parameters": info.params.iter().map(pair).collect::<Vec<_>>(),
        "methods": info.methods.iter()
            .map(|method| json!({ "call": method.call, "answers": method.answers }))
            .collect::<Vec<_>>(),
    })
}
