//! Queues and stacks whose values repeat, which no monitor decides: how far the portfolio goes.

use linpoint::generate::Generator;
use linpoint::object::ObjectType;
use linpoint::spec::Sampler;
use linpoint::{Call, Checker, Config, History, HistoryBuilder, OpId, Ties, Value, Verdict, object_type};

use crate::reach::{LIMIT, MEMORY, shown};

/// How long the container gets.
#[derive(Clone, Copy)]
enum Shape {
    /// About eight values: every process does anything.
    Shallow,
    /// Half of the processes only put something in, the others never do: it grows with the history.
    Deep,
    /// It is filled with half of the operations, then emptied.
    Filled,
}

const SHAPES: [(Shape, &str); 3] = [
    (Shape::Shallow, "about eight values"),
    (Shape::Deep, "producers and consumers"),
    (Shape::Filled, "filled, then emptied"),
];

const SEEDS: u64 = 3;

/// One row of the table.
#[derive(Clone, Copy)]
struct Row {
    shape: Shape,
    processes: usize,
    values: i64,
    ops: usize,
}

impl Row {
    fn history(&self, object: &ObjectType, seed: u64) -> anyhow::Result<History> {
        let Row { shape, processes, values, ops } = *self;
        let generator = Generator { ops, processes, seed, universe: Some(values), ..Generator::default() };
        Ok(match shape {
            Shape::Shallow => generator.linearizable(object)?,
            Shape::Deep => Generator { producers: Some(processes / 2), ..generator }.linearizable(object)?,
            Shape::Filled => self.filled(object, seed)?,
        })
    }

    /// Half of the operations put something in, then the others take it out; the processes take turns at random.
    fn filled(&self, object: &ObjectType, seed: u64) -> anyhow::Result<History> {
        let mut sampler = Sampler::new(seed, Some(self.values));
        let mut simulation = object.simulate();
        let mut builder = HistoryBuilder::new();
        for puts in [true, false] {
            let mut left = self.ops / 2;
            let mut turns: Vec<Option<(Call, Option<Value>)>> = vec![None; self.processes];
            while left > 0 || turns.iter().any(Option::is_some) {
                let process = sampler.below(self.processes);
                let name = Value::from(process as i64);
                turns[process] = match turns[process].take() {
                    None if left == 0 => None,
                    None => {
                        left -= 1;
                        let call = loop {
                            let (method, argument) = simulation.sample(process as u32, &mut sampler);
                            if method != "peek" && simulation.produces(method) == puts {
                                break Call::new(method, argument);
                            }
                        };
                        builder.call(0, name, call.clone())?;
                        Some((call, None))
                    }
                    Some((call, None)) => {
                        let result = simulation.apply(&name, &call.method, &call.argument, &mut sampler);
                        Some((call, result))
                    }
                    Some((_, Some(result))) => {
                        builder.ret(0, &name, result)?;
                        None
                    }
                };
            }
        }
        Ok(builder.finish(Ties::default())?)
    }

    /// Seconds for the slowest linearizable history, and for the slowest of those with one wrong result near the end.
    fn slowest(&self, object: &ObjectType) -> anyhow::Result<[Option<f64>; 2]> {
        let mut slowest = [Some(0.0f64); 2];
        let mut note = |i: usize, time: Option<f64>| {
            slowest[i] = slowest[i].zip(time).map(|(a, b)| a.max(b));
        };
        for seed in 0..SEEDS {
            let history = self.history(object, seed)?;
            let (_, time) = seconds(object, &history)?;
            note(0, time);
            if time.is_some() {
                note(1, violation(object, &history, self.values, seed)?);
            }
        }
        Ok(slowest)
    }
}

/// Whether a history is linearizable and how long it took to tell, or nothing.
fn seconds(object: &ObjectType, history: &History) -> anyhow::Result<(bool, Option<f64>)> {
    let config = Config::default().verdicts_only().with_timeout(LIMIT).with_memory(MEMORY);
    let checker = Checker::new(config);
    let started = std::time::Instant::now();
    let report = checker.check_recorded(object, history)?;
    let time = started.elapsed().as_secs_f64();
    Ok(match report.verdict {
        Verdict::Linearizable(_) => (true, Some(time)),
        Verdict::Violation(_) => (false, Some(time)),
        _ => (false, None),
    })
}

/// Changes one result in the last twentieth of the history until it is not linearizable any more; how long that took to
/// tell.
fn violation(object: &ObjectType, history: &History, values: i64, seed: u64) -> anyhow::Result<Option<f64>> {
    let mut sampler = Sampler::new(seed, Some(values));
    loop {
        let id = OpId((history.len() - 1 - sampler.below(history.len() / 20)) as u32);
        let changed = history.with_result(id, &sampler.value());
        if object.validate(&changed).is_err() {
            continue;
        }
        let (linearizable, time) = seconds(object, &changed)?;
        if !linearizable {
            return Ok(time);
        }
    }
}

pub fn run() -> anyhow::Result<()> {
    println!("## Values that repeat\n");
    println!("Which no monitor decides: the whole portfolio on always-busy processes, limits 60 s and 8 GiB, the slowest of {SEEDS} seeds. Linearizable histories with a witness, and the same with one wrong result near the end, the verdict only.\n");
    println!("| object | shape | processes | values | operations | linearizable | not |");
    println!("|---|---|---|---|---|---|---|");
    for name in ["queue", "stack"] {
        let object = object_type(name, &Default::default())?;
        for (shape, described) in SHAPES {
            for (processes, values) in [(4, 2), (4, 5), (4, 20), (8, 5), (16, 5)] {
                for ops in [1_000usize, 10_000, 100_000] {
                    let row = Row { shape, processes, values, ops };
                    let [yes, no] = row.slowest(&object)?;
                    println!("| {name} | {described} | {processes} | {values} | {ops} | {} | {} |", shown(yes), shown(no));
                    if yes.is_none() || no.is_none() {
                        break;
                    }
                }
            }
        }
    }
    println!();
    Ok(())
}
