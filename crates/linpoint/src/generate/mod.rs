//! Generates histories that are linearizable by construction, by simulating a concurrent object; and histories of
//! [stores](StoreGenerator) that promise less.
//!
//! Processes take turns at random. In three turns a process calls an operation, the operation takes effect on one atomic
//! object, and it returns. So the order of effects is a witness, and about two thirds of the processes have an operation
//! open at any moment.

mod held_back;
mod snapshot;
mod store;
mod workload;

pub use held_back::GeneratedEvent;
use held_back::{HeldBack, Step};
pub use snapshot::{SnapshotEvent, SnapshotFault, SnapshotGenerator, SnapshotShape};
pub use store::{Promise, StoreGenerator};
#[doc(hidden)]
pub use workload::Workload;

use crate::budget::Budget;
use crate::error::Error;
use crate::history::{Call, History, HistoryBuilder, Op, OpId, Ties};
use crate::object::{CheckRecorded, ObjectType, Simulation};
use crate::portfolio::Checker;
use crate::spec::Sampler;
use crate::value::Value;
use crate::verdict::Verdict;

/// The settings of a generated history.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The number of operations.
    pub ops: usize,
    /// The number of processes that call operations at the same time.
    pub processes: usize,
    /// The number of processes that only insert, while the others never do; `None` if all processes call any operation.
    pub producers: Option<usize>,
    /// The number of objects; each operation is on one of them.
    pub objects: usize,
    /// Equal seeds give equal histories.
    pub seed: u64,
    /// How many of a million operations never return. A new process replaces the process of such an operation.
    pub pending_per_million: u32,
    /// In how many of 100 turns a process without an open operation calls none.
    pub idle_percent: u32,
    /// Values are drawn from `0..universe`; they are all distinct if it is `None`.
    pub universe: Option<i64>,
}

impl Default for Generator {
    fn default() -> Self {
        Generator {
            ops: 100,
            processes: 4,
            producers: None,
            objects: 1,
            seed: 0,
            pending_per_million: 0,
            idle_percent: 0,
            universe: None,
        }
    }
}

/// The history of all that happens in a simulation, without the calls that it takes back: the object did not refuse them.
fn recorded(
    simulate: impl FnOnce(&mut dyn FnMut(Step) -> Result<(), Error>) -> Result<(), Error>,
) -> Result<History, Error> {
    let mut builder = HistoryBuilder::new();
    simulate(&mut |step| match step {
        Step::Call(process, call) => builder.call(0, process, call),
        Step::Effect(_) => Ok(()),
        Step::Return(process, result) => builder.ret(0, &process, result),
        Step::Crash(process) => builder.crash(0, &process),
        Step::TakeBack(process) => builder.fail(0, &process),
    })?;
    Ok(builder.finish(Ties::default())?.without_failed())
}

/// The state of a process.
enum ProcessState<'a> {
    Idle,
    /// An operation was called on this object and has not taken effect.
    Called(usize, &'a str, Value),
    /// The operation took effect with this result.
    Done(Value),
    /// The operation can never take effect.
    Stuck,
}

/// A random call of a process. If there are producers, only they insert, and they do nothing else.
fn sample<'a>(
    object: &dyn Simulation<'a>,
    process: u32,
    produces: Option<bool>,
    sampler: &mut Sampler,
) -> Result<(&'a str, Value), Error> {
    const ATTEMPTS: usize = 1000;
    for _ in 0..ATTEMPTS {
        let (method, argument) = object.sample(process, sampler);
        if produces.is_none_or(|produces| produces == object.produces(method)) {
            return Ok((method, argument));
        }
    }
    Err(Error::usage(
        "objects of this type have no producers and consumers",
    ))
}

impl Generator {
    /// A linearizable history of `object`.
    ///
    /// Returns an error if there are more producers than processes, or if the object has no operation that inserts.
    ///
    /// ```
    /// use linpoint::{generate::Generator, object_type};
    /// let queue = object_type("register", &Default::default())?;
    /// let history = Generator { ops: 50, ..Generator::default() }.linearizable(&queue)?;
    /// assert_eq!(history.len(), 50);
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn linearizable(&self, object: &ObjectType) -> Result<History, Error> {
        recorded(|each| self.simulate(object, each))
    }

    /// Passes the events of the same history to `each`, in the order of time, until it returns an error. Memory does not grow with
    /// the number of operations, unless the object does.
    pub fn events(
        &self,
        object: &ObjectType,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut held = HeldBack::default();
        self.simulate(object, &mut |step| held.take(step, each))?;
        held.finish(each)
    }

    /// Passes all that happens to `each`, until it returns an error.
    fn simulate(
        &self,
        object: &ObjectType,
        each: &mut dyn FnMut(Step) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.refuse_sizes()?;
        let mut sampler = Sampler::new(self.seed, self.universe);
        let mut objects: Vec<Box<dyn Simulation<'_> + '_>> =
            (0..self.objects).map(|_| object.simulate()).collect();
        let mut states: Vec<(u32, ProcessState<'_>)> = (0..self.processes as u32)
            .map(|process| (process, ProcessState::Idle))
            .collect();
        let mut next_process = self.processes as u32;
        let (mut called, mut blocked_in_a_row) = (0, 0);
        loop {
            let all_called = called >= self.ops;
            if all_called
                && states
                    .iter()
                    .all(|(_, state)| matches!(state, ProcessState::Idle | ProcessState::Stuck))
            {
                break;
            }
            let chosen = sampler.below(states.len());
            let (process, state) = &mut states[chosen];
            let name = Value::from(i64::from(*process));
            match std::mem::replace(state, ProcessState::Idle) {
                ProcessState::Idle if all_called || sampler.percent(self.idle_percent) => {}
                ProcessState::Idle => {
                    let on = sampler.below(self.objects);
                    let produces = self.producers.map(|producers| chosen < producers);
                    let (method, argument) =
                        sample(&*objects[on], *process, produces, &mut sampler)?;
                    let object = if self.objects == 1 {
                        Value::Nil
                    } else {
                        Value::from(on as i64)
                    };
                    let call = Call {
                        object,
                        method: method.to_owned(),
                        argument: argument.clone(),
                    };
                    each(Step::Call(name, call))?;
                    called += 1;
                    *state = ProcessState::Called(on, method, argument);
                }
                ProcessState::Called(on, method, argument) => {
                    match objects[on].apply(&name, method, &argument, &mut sampler) {
                        Some(result) => {
                            blocked_in_a_row = 0;
                            each(Step::Effect(name.clone()))?;
                            *state = ProcessState::Done(result);
                        }
                        // After this many blocked turns in a row, no other process can unblock the operation.
                        None if blocked_in_a_row > 100 * self.processes => {
                            *state = ProcessState::Stuck
                        }
                        None => {
                            blocked_in_a_row += 1;
                            *state = ProcessState::Called(on, method, argument);
                        }
                    }
                    if sampler.below(1_000_000) < self.pending_per_million as usize {
                        each(Step::Crash(name))?;
                        (*process, *state) = (next_process, ProcessState::Idle);
                        next_process += 1;
                    }
                }
                ProcessState::Done(result) => each(Step::Return(name, result))?,
                ProcessState::Stuck => {
                    // It has not taken effect, so it is taken back.
                    each(Step::TakeBack(name))?;
                    blocked_in_a_row = 0;
                }
            }
        }
        match object.failure() {
            Some(reason) => Err(Error::specification(reason)),
            None => Ok(()),
        }
    }

    fn refuse_sizes(&self) -> Result<(), Error> {
        if self.processes == 0 || self.objects == 0 {
            return Err(Error::usage(
                "a history needs at least one process and one object",
            ));
        }
        if self.producers.is_some_and(|count| count > self.processes) {
            let reason = format!("there are only {} processes to produce", self.processes);
            return Err(Error::usage(reason));
        }
        Ok(())
    }

    /// A history of `object` that is not linearizable: one result near the end is wrong. Mostly it is what another call of the
    /// method answered shortly before: a stale value, or one that was served already.
    ///
    /// `checker` confirms this, so it takes as long as checking, and fails if the checker cannot decide. The checker's limit on
    /// time is one for all that is tried. If some of it takes long, the history depends on the speed of the machine.
    pub fn violating(&self, object: &ObjectType, checker: &Checker) -> Result<History, Error> {
        const HISTORIES: u64 = 20;
        let budget = checker.budget();
        let mut last = self.violating_one(object, checker, &budget);
        for further in 1..HISTORIES {
            if last.is_ok() || budget.check().is_err() {
                break;
            }
            let other = Generator {
                seed: self.seed.wrapping_add(further << 32),
                ..self.clone()
            };
            last = other.violating_one(object, checker, &budget);
        }
        last
    }

    /// The same, but with the seed of this generator only.
    fn violating_one(
        &self,
        object: &ObjectType,
        checker: &Checker,
        budget: &Budget,
    ) -> Result<History, Error> {
        const ATTEMPTS: u64 = 50;
        /// Of the time that is left, one attempt gets this part, so that a hard one does not keep others from being tried.
        const SHARE: u32 = 8;
        /// The first attempts, with results that a broken object is likely to give.
        const ATTEMPTS_NEAR: u64 = 35;
        let history = self.linearizable(object)?;
        let mut sampler = Sampler::new(self.seed ^ 0x5EED, None);
        let mut undecided = false;
        let tail = (history.len() / 20).max(10).min(history.len());
        for attempt in 0..ATTEMPTS {
            if history.is_empty() || budget.check().is_err() {
                break;
            }
            let id = OpId((history.len() - 1 - sampler.below(tail)) as u32);
            let result = match attempt < ATTEMPTS_NEAR {
                true => result_near(&history, id, &mut sampler),
                false => {
                    let values = history.values();
                    Some(values[sampler.below(values.len())].clone())
                }
            };
            let Some(result) = result else { continue };
            let changed = history.with_result(id, &result);
            if object.validate(&changed).is_err() {
                continue;
            }
            let attempt = budget.slice(budget.left() / SHARE);
            match checker
                .check_recorded_within(object, &changed, &attempt)?
                .verdict
            {
                Verdict::Violation(_) => return Ok(changed),
                Verdict::Linearizable(_) => {}
                Verdict::Undecided(_) => undecided = true,
            }
        }
        let (why, advice) = match (budget.check(), undecided) {
            (Err(limit), _) => (limit.to_string(), "raise it, or use fewer operations"),
            (_, true) => {
                let why = "the checker could not decide what was tried";
                (why.to_owned(), "use fewer operations or another seed")
            }
            (_, false) => {
                let why = "every change tried is still right";
                (why.to_owned(), "use more operations or another seed")
            }
        };
        Err(Error::usage(format!("no violation found: {why}; {advice}")))
    }
}

/// What another call of the method answered shortly before, if that was something else: with the same argument, if there is
/// one.
fn result_near(history: &History, id: OpId, sampler: &mut Sampler) -> Option<Value> {
    /// How many operations before are looked at.
    const NEAR: usize = 40;
    let op = history.op(id);
    let before = (id.index().saturating_sub(NEAR)..id.index()).map(|i| history.op(OpId(i as u32)));
    let alike = before.filter(|other| {
        other.method == op.method && other.object == op.object && other.result != op.result
    });
    let alike: Vec<Op<'_>> = alike.filter(|other| other.result.is_some()).collect();
    let same_argument = alike.iter().filter(|other| other.argument == op.argument);
    let same_argument: Vec<&Op<'_>> = same_argument.collect();
    let chosen = match (same_argument.len(), alike.len()) {
        (0, 0) => return None,
        (0, count) => &alike[sampler.below(count)],
        (count, _) => same_argument[sampler.below(count)],
    };
    chosen.result.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object_type;
    use crate::portfolio::Config;

    /// The events that are passed one by one are those of the history, also where calls are taken back.
    #[test]
    fn events_are_those_of_the_history() {
        for name in [
            "queue",
            "semaphore",
            "fenced-lock",
            "mutex",
            "blocking-counter",
            "snapshot",
        ] {
            let object = object_type(name, &Default::default()).expect("a type");
            for seed in 0..40 {
                let generator = Generator {
                    ops: 300,
                    seed,
                    objects: 1 + seed as usize % 3,
                    pending_per_million: 10_000 * (seed as u32 % 2),
                    ..Generator::default()
                };
                let mut builder = HistoryBuilder::new();
                let passed = generator.events(&object, &mut |event| match event {
                    GeneratedEvent::Call(process, call) => builder.call(0, process, call),
                    GeneratedEvent::Return(process, result) => builder.ret(0, &process, result),
                    GeneratedEvent::Crash(process) => builder.crash(0, &process),
                });
                passed.expect("a history");
                let streamed = builder.finish(Ties::default()).expect("a history");
                let whole = generator.linearizable(&object).expect("a history");
                let text = |history: &History| -> Vec<String> {
                    history.ops().map(|op| format!("{op:?}")).collect()
                };
                assert_eq!(text(&streamed), text(&whole), "{name}, seed {seed}");
            }
        }
    }

    /// The wrong result is mostly one that a broken object gives: what another call answered shortly before.
    #[test]
    fn violations_are_realistic() {
        for name in [
            "register",
            "queue",
            "stack",
            "counter",
            "cas-register",
            "set",
        ] {
            let object = object_type(name, &Default::default()).expect("a type");
            let checker = Checker::new(Config::default().verdicts_only());
            let mut realistic = 0;
            for seed in 0..20 {
                let generator = Generator {
                    ops: 200,
                    seed,
                    ..Generator::default()
                };
                let right = generator.linearizable(&object).expect("a history");
                let wrong = generator.violating(&object, &checker).expect("a violation");
                let again = generator.violating(&object, &checker).expect("a violation");
                let results = |history: &History| -> Vec<Option<Value>> {
                    history.ops().map(|op| op.result.cloned()).collect()
                };
                assert_eq!(results(&wrong), results(&again), "{name}, seed {seed}");
                let pairs = right.ops().zip(wrong.ops());
                let mut changed = pairs.filter(|(right, wrong)| right.result != wrong.result);
                let changed = changed.next().map(|(_, wrong)| wrong);
                // Another seed was taken if all changes are still right.
                let Some(changed) = changed else { continue };
                let first = changed.id.index().saturating_sub(40);
                let near = wrong.ops().skip(first).take(changed.id.index() - first);
                realistic += usize::from(
                    near.filter(|other| other.method == changed.method)
                        .any(|other| other.result == changed.result),
                );
            }
            assert!(realistic >= 12, "{name}: {realistic} of 20");
        }
    }
}
