//! `linpoint generate`: a history from a simulated concurrent object.

use linpoint::format::write;
use linpoint::generate::Generator;
use linpoint::{Checker, Config, Error};

use super::source::TypeChoice;
use crate::args::GenerateArgs;
use crate::exit::Exit;

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let choice = TypeChoice::parse(&args.object_type)?;
    let object = choice.build()?;
    if !(0.0..=100.0).contains(&args.pending) {
        return Err(Error::usage("--pending is a share in percent, from 0 to 100").into());
    }
    let format = args.output.format()?;
    let generator = Generator {
        ops: args.ops,
        processes: args.processes,
        producers: args.producers,
        objects: args.objects,
        seed: args.seed,
        pending_per_mille: (args.pending * 10.0).round() as u32,
        idle_percent: args.idle,
        universe: args.values,
    };
    let history = if args.violation {
        let checker = Checker::new(Config::default().verdicts_only());
        generator.violating(&*object, &checker)?
    } else {
        generator.linearizable(&*object)?
    };
    let mut out = args.output.open()?;
    let object_type = Some((choice.name.as_str(), &choice.params));
    write(format, &history, object_type, &mut out)?;
    out.finish()?;
    Ok(Exit::Linearizable)
}
