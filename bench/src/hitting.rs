//! Hitting families: walked lazily against made schedule by schedule, and how the walk grows.

use std::time::Instant;

use anyhow::ensure;
use linpoint::engine::hitting::{Base, Family, Index, Poset, Rule, ShownBy};
use linpoint::engine::{Budget, Task};
use linpoint::generate::Generator;
use linpoint::spec::juc::{CollectionClass, JavaCollection};
use linpoint::spec::{Container, Discipline, Recorded, Register, RegisterOp};
use linpoint::{Checker, History, OpId, Spec, TypedHistory, Value, object_type};

/// The largest d.
const D: usize = 5;

pub fn run() -> anyhow::Result<()> {
    println!("## Hitting families, walked and made\n");
    println!("All d up to {D}. \"Made\": every index of Algorithm 1 (feasible tuples) in turn, up to the first schedule that explains the");
    println!("history; \"walked\": the canonical family without making schedules. Mean over 20 histories of the best of several runs.\n");
    println!("| object | operations | concurrent pairs | linearizable | made | walked | times |");
    println!("|---|---|---|---|---|---|---|");
    let bulk_queue = JavaCollection { class: CollectionClass::ConcurrentLinkedQueue, capacity: None, form: Default::default() };
    let bulk_set = JavaCollection { class: CollectionClass::ConcurrentSkipListSet, capacity: None, form: Default::default() };
    let queue = Container::unbounded(Discipline::Fifo);
    let register = Register { initial: Value::Nil, cas: false };
    for (threads, per_thread) in [(7, 2), (6, 3)] {
        for idle in [85, 0] {
            for violation in [false, true] {
                let shape = Shape { threads, per_thread, idle, violation };
                compare("concurrent-linked-queue", &bulk_queue, &shape)?;
                compare("concurrent-skip-list-set", &bulk_set, &shape)?;
                compare("queue", &queue, &shape)?;
                compare("register", &register, &shape)?;
            }
        }
    }
    println!();
    grow()
}

/// Histories of so many threads with so many operations each; the idler they are, the fewer overlap.
struct Shape {
    threads: usize,
    per_thread: usize,
    idle: u32,
    violation: bool,
}

impl Shape {
    fn histories(&self, object: &str, count: u64) -> anyhow::Result<Vec<History>> {
        let built = object_type(object, &Default::default())?;
        let checker = Checker::default();
        let mut histories = Vec::new();
        for seed in 0..count {
            let generator = Generator {
                ops: self.threads * self.per_thread,
                processes: self.threads,
                idle_percent: self.idle,
                universe: Some(3),
                seed,
                ..Generator::default()
            };
            histories.push(match self.violation {
                false => generator.linearizable(&built)?,
                true => generator.violating(&built, &checker)?,
            });
        }
        Ok(histories)
    }
}

fn compare<S: Recorded>(name: &str, spec: &S, shape: &Shape) -> anyhow::Result<()> {
    let (mut made, mut walked, mut pairs) = (0.0, 0.0, 0);
    let histories = shape.histories(name, 20)?;
    for history in &histories {
        pairs += history.shape().concurrent_pairs;
        let typed = TypedHistory::decode(spec, history)?;
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let task = Task::new(spec, &typed, &ids);
        let poset = Poset::of(history);
        let (seconds, by_making) = best(2, || {
            (1..=D).find(|&d| {
                let family = Family { rule: Rule::Printed, base: Base::Ids, index: Index::Chains };
                family.schedules(&poset, d).any(|schedule| explains(&task, &schedule.order))
            })
        });
        made += seconds;
        let (seconds, by_walking) = best(7, || ShownBy::new(&task, Family::default()).up_to(D, &Budget::default()));
        walked += seconds;
        ensure!(!shape.violation || by_making.is_none(), "{name}: shown what is not linearizable");
        ensure!(!shape.violation || by_walking.known().is_none(), "{name}: shown what is not linearizable");
    }
    let count = histories.len() as f64;
    println!(
        "| {name} | {}x{} | {} | {} | {:.0} us | {:.0} us | {:.0} |",
        shape.threads,
        shape.per_thread,
        pairs / histories.len() as u64,
        if shape.violation { "no" } else { "yes" },
        made / count * 1e6,
        walked / count * 1e6,
        made / walked,
    );
    Ok(())
}

/// The shortest time of several runs, in seconds, and what they come to: other work on the machine only makes them longer.
fn best<T>(runs: usize, work: impl Fn() -> T) -> (f64, T) {
    let once = || {
        let started = Instant::now();
        let result = work();
        (started.elapsed().as_secs_f64(), result)
    };
    (1..runs).fold(once(), |best, _| {
        let next = once();
        if next.0 < best.0 { next } else { best }
    })
}

/// Runs one schedule step by step, as a program that makes all schedules does.
fn explains<S: Spec>(task: &Task<'_, S>, order: &[u32]) -> bool {
    let mut states = vec![task.spec.init()];
    for &op in order {
        let (operation, ret) = task.action(op as usize);
        states = states.iter().flat_map(|state| task.spec.step(state, operation, ret)).collect();
        if states.is_empty() {
            return false;
        }
    }
    true
}

/// Writes of distinct values, which prune nothing, and one impossible read at the end: all of the families is looked at.
fn grow() -> anyhow::Result<()> {
    println!("## Growth of the walk\n");
    println!("Families of d operations; 10 threads, distinct writes and one impossible read at the end, so that nothing is pruned.");
    println!("\"Growth\": nodes for each operation, against the row before.\n");
    println!("| operations | d | nodes | growth | time |");
    println!("|---|---|---|---|---|");
    let register = Register { initial: Value::Nil, cas: false };
    for d in 1..=3 {
        let mut before: Option<f64> = None;
        for ops in [100u32, 1_000, 10_000] {
            let history = writes(ops);
            let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
            let task = Task::new(&register, &history, &ids);
            let family = Family { index: Index::Tuples, ..Family::default() };
            let (seconds, (nodes, found)) = best(3, || {
                let mut shown_by = ShownBy::new(&task, family);
                let found = shown_by.up_to(d, &Budget::default());
                (shown_by.nodes(), found)
            });
            ensure!(found.known().is_none(), "shown what is not linearizable");
            let each = nodes as f64 / f64::from(ops);
            let growth = before.map_or("-".to_owned(), |before| format!("{:.2}", each / before));
            before = Some(each);
            println!("| {ops} | {d} | {nodes} | {growth} | {:.1} ms |", seconds * 1e3);
        }
    }
    println!();
    Ok(())
}

/// Ten threads take turns; each operation overlaps a few others.
fn writes(ops: u32) -> TypedHistory<RegisterOp, Value> {
    let mut history = TypedHistory::new();
    let mut open = std::collections::VecDeque::new();
    for op in 0..ops {
        open.push_back(history.call(op % 10, RegisterOp::Write(Value::from(i64::from(op)))));
        // Between one and four are open.
        let most = 1 + (op * 7 % 4) as usize;
        while open.len() > most {
            if let Some(first) = open.pop_front() {
                history.ret(first, Value::Nil);
            }
        }
    }
    for id in open {
        history.ret(id, Value::Nil);
    }
    let read = history.call(0, RegisterOp::Read);
    history.ret(read, Value::from("never written"));
    history
}
