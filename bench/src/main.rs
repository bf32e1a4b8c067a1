//! Benchmarks of linpoint: `cargo run --release --manifest-path bench/Cargo.toml -- [versus|growth|input|monitors|snapshot|columnar|cores|reach|repeated|hitting|recorder|live|verify|proofs|limits|large|own|conditions]`.
//!
//! Without an argument all of them run, and the record goes to the standard output as Markdown. Every figure is a ratio
//! against a peer or a physical limit in the same run: absolute times mean nothing on a shared machine.

mod child;
mod columnar;
mod conditions;
mod cores;
mod growth;
mod hitting;
mod input;
mod large;
mod limits;
mod live;
mod monitors;
mod own;
mod peers;
mod proofs;
mod reach;
mod recorder;
mod repeated;
mod snapshot;
mod verify;
mod versus;

use anyhow::bail;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [child::COMMAND, rest @ ..] => child::answer(rest),
        [monitors::COMMAND, rest @ ..] => monitors::answer(rest),
        [cores::COMMAND, rest @ ..] => cores::answer(rest),
        [snapshot::COMMAND, rest @ ..] => snapshot::answer(rest),
        [verify::COMMAND, rest @ ..] => verify::answer(rest),
        [conditions::COMMAND, rest @ ..] => conditions::answer(rest),
        [] => {
            versus::run()?;
            growth::run()?;
            input::run()?;
            monitors::run()?;
            snapshot::run()?;
            columnar::run()?;
            cores::run(&[])?;
            reach::run()?;
            repeated::run()?;
            hitting::run()?;
            recorder::run()?;
            live::run()?;
            verify::run()?;
            proofs::run()?;
            limits::run()?;
            large::run(&[])?;
            own::run()?;
            conditions::run()
        }
        ["versus"] => versus::run(),
        ["growth"] => growth::run(),
        ["input"] => input::run(),
        ["monitors"] => monitors::run(),
        ["snapshot"] => snapshot::run(),
        ["columnar"] => columnar::run(),
        ["cores", rest @ ..] => cores::run(rest),
        ["reach"] => reach::run(),
        ["repeated"] => repeated::run(),
        ["hitting"] => hitting::run(),
        ["recorder"] => recorder::run(),
        ["live"] => live::run(),
        ["verify"] => verify::run(),
        ["proofs"] => proofs::run(),
        ["limits"] => limits::run(),
        ["large", rest @ ..] => large::run(rest),
        ["own"] => own::run(),
        ["conditions"] => conditions::run(),
        _ => bail!("expected versus, growth, input, monitors, snapshot, columnar, cores, reach, repeated, hitting, recorder, live, verify, proofs, limits, large, own or conditions"),
    }
}
