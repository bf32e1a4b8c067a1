//! Random tiny histories of transactions: sessions that overlap, whose reads see a snapshot from some time ago, or mixtures.

use crate::history::{Call, History, HistoryBuilder, Ties};
use crate::value::Value;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Ok,
    Fail,
    Info,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Write(usize, i64),
    Read(usize, i64),
    ReadList(usize, Vec<i64>),
}

/// A transaction with the ranks of its call and its return.
#[derive(Clone, Debug)]
pub(super) struct Txn {
    pub(super) session: i64,
    pub(super) end: End,
    pub(super) call: u32,
    pub(super) ret: Option<u32>,
    pub(super) steps: Vec<Step>,
}

/// Small random numbers (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % limit as u64) as usize
    }

    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Registers,
    Lists,
    /// Registers, each of which is read before it is written.
    Updates,
}

type State = Vec<Vec<i64>>;

/// What is drawn once for a history.
struct Shape {
    kind: Kind,
    keys: usize,
    noise: usize,
    lag: usize,
    most_steps: usize,
}

/// A random history of up to five transactions, in the order of their calls.
pub(super) fn transactions(random: &mut Random, kind: Kind) -> Vec<Txn> {
    let count = random.pick(&[2, 3, 4, 4, 5]);
    let sessions = random.pick(&[2, 3, 4]);
    let shape = Shape {
        kind,
        keys: random.pick(&[1, 2, 2, 3]),
        noise: random.pick(&[0, 0, 15, 40]),
        lag: random.pick(&[0, 1, 1, 2]),
        most_steps: random.pick(&[2, 3, 3, 5]),
    };
    let mut history: Vec<State> = vec![vec![Vec::new(); shape.keys]];
    let mut values = vec![0; shape.keys];
    let mut open: Vec<(i64, u32, usize)> = Vec::new();
    let mut alive: Vec<i64> = (0..sessions).collect();
    let (mut started, mut rank, mut done) = (0, 0, Vec::new());
    loop {
        let idle: Vec<i64> = alive
            .iter()
            .copied()
            .filter(|session| open.iter().all(|(of, ..)| of != session))
            .collect();
        let can_begin = started < count && !idle.is_empty();
        if !can_begin && open.is_empty() {
            break;
        }
        if can_begin && (open.is_empty() || random.percent(40)) {
            open.push((random.pick(&idle), rank, history.len() - 1));
            started += 1;
            rank += 1;
            continue;
        }
        let (session, call, snapshot) = open.remove(random.below(open.len()));
        let end = match random.below(100) {
            0..5 => End::Fail,
            5..13 => End::Info,
            _ => End::Ok,
        };
        let base = match random.percent(50) {
            true => snapshot.saturating_sub(random.below(shape.lag + 1)),
            false => snapshot + random.below(history.len() - snapshot),
        };
        let steps = steps(random, &shape, &history, base, &mut values);
        if end == End::Ok || (end == End::Info && random.percent(50)) {
            let mut next = history[history.len() - 1].clone();
            for step in &steps {
                if let Step::Write(key, value) = step {
                    next[*key].push(*value);
                }
            }
            history.push(next);
        }
        done.push(Txn {
            session,
            end,
            call,
            ret: (end != End::Info).then_some(rank),
            steps,
        });
        rank += 1;
        if end == End::Info {
            alive.retain(|of| *of != session);
            alive.push(sessions + done.len() as i64);
        }
    }
    done.sort_by_key(|txn| txn.call);
    done
}

fn steps(
    random: &mut Random,
    shape: &Shape,
    history: &[State],
    base: usize,
    values: &mut [i64],
) -> Vec<Step> {
    let mut own: State = vec![Vec::new(); shape.keys];
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..1 + random.below(shape.most_steps) {
        let key = random.below(shape.keys);
        let is_write = random.percent(50);
        let was_read = |steps: &[Step]| {
            steps
                .iter()
                .any(|step| matches!(step, Step::Read(of, _) if *of == key))
        };
        if is_write && (shape.kind != Kind::Updates || was_read(&steps)) {
            values[key] += 1;
            own[key].push(values[key]);
            steps.push(Step::Write(key, values[key]));
            continue;
        }
        let from = match random.percent(shape.noise) {
            true => &history[random.below(history.len())],
            false => &history[base],
        };
        let hides_own = random.percent(shape.noise / 3);
        let mut seen = from[key].clone();
        if !hides_own {
            seen.extend(&own[key]);
        }
        steps.push(match shape.kind {
            Kind::Lists => Step::ReadList(key, seen),
            Kind::Registers | Kind::Updates => {
                let value = match random.percent(shape.noise / 2) {
                    true => random.below(values[key] as usize + 1) as i64,
                    false => seen.last().copied().unwrap_or(0),
                };
                Step::Read(key, value)
            }
        });
    }
    steps
}

/// The history as a recorder would have it.
pub(super) fn recorded(txns: &[Txn], kind: Kind) -> History {
    let mut events: Vec<(u32, usize, bool)> = Vec::new();
    for (i, txn) in txns.iter().enumerate() {
        events.push((txn.call, i, true));
        if let Some(ret) = txn.ret {
            events.push((ret, i, false));
        }
    }
    events.sort_unstable();
    let mut builder = HistoryBuilder::new();
    for (line, (_, i, is_call)) in events.into_iter().enumerate() {
        let txn = &txns[i];
        let process = Value::Int(txn.session);
        let line = line as u64 + 1;
        let added = match (is_call, txn.end) {
            (true, _) => builder.call(line, process, Call::new("txn", value(txn, kind, false))),
            (false, End::Fail) => builder.fail(line, &process),
            (false, _) => builder.ret(line, &process, value(txn, kind, true)),
        };
        added.expect("a history");
    }
    builder.finish(Ties::default()).expect("a history")
}

fn value(txn: &Txn, kind: Kind, is_answer: bool) -> Value {
    let key = |key: &usize| Value::from(["x", "y", "z"][*key]);
    let steps = txn.steps.iter().map(|step| match step {
        Step::Write(of, value) => {
            let letter = if kind == Kind::Lists { "append" } else { "w" };
            Value::list([letter.into(), key(of), (*value).into()])
        }
        Step::Read(of, value) => {
            let seen = if is_answer {
                (*value).into()
            } else {
                Value::Nil
            };
            Value::list(["r".into(), key(of), seen])
        }
        Step::ReadList(of, list) => {
            let seen = match is_answer {
                true => Value::list(list.iter().map(|value| (*value).into())),
                false => Value::Nil,
            };
            Value::list(["r".into(), key(of), seen])
        }
    });
    Value::list(steps.collect::<Vec<_>>())
}
