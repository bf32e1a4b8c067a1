//! How time and memory grow with the length of a history.

use crate::child::measure;
use crate::peers::{Case, Checker};

pub fn run() -> anyhow::Result<()> {
    println!("## Growth\n");
    println!("One part; cas-registers are decided by the general search, queues by a monitor. \"Growth\" is time per operation against the row before.\n");
    println!("| object | processes | operations | time | growth | peak memory |");
    println!("|---|---|---|---|---|---|");
    let cases: [(&str, usize, &[usize]); 5] = [
        ("cas-register", 4, &[10_000, 100_000, 1_000_000]),
        ("cas-register", 10, &[10_000, 100_000, 1_000_000]),
        ("cas-register", 30, &[1_000, 10_000, 100_000]),
        ("queue", 4, &[1_000, 10_000, 100_000]),
        ("queue", 10, &[1_000, 10_000, 100_000]),
    ];
    for (object, processes, sizes) in cases {
        let mut before = None;
        for &ops in sizes {
            let Some(measured) = measure(Checker::Linpoint, &Case { object, ops, processes, seed: 1 })? else {
                println!("| {object} | {processes} | {ops} | over the limits | - | - |");
                break;
            };
            let per_op = measured.seconds / ops as f64;
            let growth = before.map_or("-".to_owned(), |before: f64| format!("{:.2}", per_op / before));
            before = Some(per_op);
            println!(
                "| {object} | {processes} | {ops} | {:.1} ms | {growth} | {:.0} MiB |",
                measured.seconds * 1e3,
                measured.peak_mib
            );
        }
    }
    println!();
    Ok(())
}
