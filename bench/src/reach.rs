//! How far the search goes where monitors decide.

use std::time::Duration;

use linpoint::generate::Generator;
use linpoint::{Checker, Config, EngineChoice, Verdict, object_type};

/// As long as one history may take.
pub const LIMIT: Duration = Duration::from_secs(60);
pub const MEMORY: u64 = 8 << 30;

/// What one check came to: seconds, or `None` if it was not decided.
fn seconds(object: &str, generator: &Generator, engine: EngineChoice) -> anyhow::Result<Option<f64>> {
    let built = object_type(object, &Default::default())?;
    let history = generator.linearizable(&built)?;
    let config = Config::default().with_engine(engine).with_timeout(LIMIT).with_memory(MEMORY);
    let checker = Checker::new(config);
    let started = std::time::Instant::now();
    let report = checker.check_recorded(&built, &history)?;
    let decided = matches!(report.verdict, Verdict::Linearizable(_));
    Ok(decided.then(|| started.elapsed().as_secs_f64()))
}

pub fn run() -> anyhow::Result<()> {
    println!("## How far the search goes where monitors decide\n");
    println!("Distinct values, always-busy processes; the general search alone, limits 60 s and 8 GiB, and the monitors on the same histories.\n");
    println!("| object | processes | operations | search | monitor |");
    println!("|---|---|---|---|---|");
    let sizes = [100usize, 1_000, 10_000, 100_000, 1_000_000];
    for object in ["queue", "stack", "priority-queue", "set", "register"] {
        for processes in [10, 100] {
            for ops in sizes {
                let generator = Generator { ops, processes, seed: 1, ..Generator::default() };
                let search = seconds(object, &generator, EngineChoice::Search)?;
                let monitor = seconds(object, &generator, EngineChoice::Monitor)?;
                println!("| {object} | {processes} | {ops} | {} | {} |", shown(search), shown(monitor));
                if search.is_none() {
                    break;
                }
            }
        }
    }
    println!();
    Ok(())
}

pub fn shown(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "over the limits".to_owned(), |seconds| format!("{:.1} ms", seconds * 1e3))
}
