//! Against the general checkers among Rust crates: how many times faster, and what they do not finish.

use crate::child::{Measured, measure};
use crate::peers::{Case, Checker};

const SEEDS: [u64; 3] = [1, 2, 3];

pub fn run() -> anyhow::Result<()> {
    println!("## Against peers\n");
    println!("Deciding linearizable histories of always-busy processes; median of {} seeds; limits 60 s, 8 GiB.\n", SEEDS.len());
    println!("| object | processes | operations | linpoint | todc-utils | times slower | stateright | times slower |");
    println!("|---|---|---|---|---|---|---|---|");
    for object in ["register", "queue"] {
        for processes in [4, 10] {
            // What did not finish will not finish on a longer history.
            let mut failed = [false; 2];
            for ops in [100, 1_000, 10_000] {
                let case = |seed| Case { object, ops, processes, seed };
                let ours = median(Checker::Linpoint, case)?;
                let mut row = format!("| {object} | {processes} | {ops} | {} |", show(ours));
                for (i, peer) in Checker::PEERS.into_iter().enumerate() {
                    let theirs = if failed[i] { None } else { median(peer, case)? };
                    failed[i] |= theirs.is_none();
                    let ratio = match (ours, theirs) {
                        (Some(ours), Some(theirs)) => format!("{:.0}", theirs.seconds / ours.seconds),
                        _ => "-".to_owned(),
                    };
                    row += &format!(" {} | {ratio} |", show(theirs));
                }
                println!("{row}");
            }
        }
    }
    println!();
    Ok(())
}

/// The median over the seeds; `None` as soon as one does not finish.
fn median(checker: Checker, case: impl Fn(u64) -> Case) -> anyhow::Result<Option<Measured>> {
    let mut all = Vec::new();
    for seed in SEEDS {
        match measure(checker, &case(seed))? {
            Some(measured) => all.push(measured),
            None => return Ok(None),
        }
    }
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(Some(all[all.len() / 2]))
}

fn show(measured: Option<Measured>) -> String {
    match measured {
        Some(Measured { seconds, .. }) if seconds >= 1.0 => format!("{seconds:.2} s"),
        Some(Measured { seconds, .. }) => format!("{:.2} ms", seconds * 1e3),
        None => "over the limits".to_owned(),
    }
}
