//! Other dynamic methods on the executions of the same tests, as in section 5 of the Line-Up paper: the detection of data races, conflict
//! serializability, and store buffers. What they report of an object that is linearizable is a false alarm, as far as
//! linearizability goes.
//!
//! All of them say the same of two executions that differ only in the order of independent steps, so one execution of each class is
//! examined.

mod serializability;
mod store_buffer;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use store_buffer::Buffered;

use crate::campaign::{limits, program, run_test};
use crate::check::{Coverage, Limits, Test, data_races, explore, run_once};
use crate::object::Object;
use crate::object::plan::{Planned, planned};
use crate::report::{TestReport, TestResult, explain};
use crate::runtime::execution::{Causality, Choice, End, Settings, Switches, Trace, Words};
use crate::runtime::memory_event::MemoryEvent;
use crate::runtime::program::qualified_label;
use crate::runtime::run::Flow;
use crate::runtime::search::Search;
use crate::search::dpor::Dpor;
use crate::search::random::Random;

/// A method that examines single executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Data races by the happens-before order: accesses of a [cell](crate::cell::UnsafeCell), or of an atomic of which one is a relaxed load
    /// or store, that no synchronisation orders.
    DataRaces,
    /// Conflict serializability: whether swapping neighbouring accesses that do not conflict leads to a serial execution.
    Serializability,
    /// Loads that could return an older value because a store of their thread is still in its buffer (total store order), in a
    /// way that no interleaving shows.
    StoreBuffers,
    /// The same, if each `SeqCst` store were only a release, as a `volatile` write of C# is: which objects need `SeqCst`.
    VolatileStoreBuffers,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 4] = [
        Method::DataRaces,
        Method::Serializability,
        Method::StoreBuffers,
        Method::VolatileStoreBuffers,
    ];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::DataRaces => "data races",
            Method::Serializability => "conflict serializability",
            Method::StoreBuffers => "store buffers",
            Method::VolatileStoreBuffers => "store buffers, SeqCst stores taken as releases",
        })
    }
}

/// What the methods say about the tests of an object; see [`Object::compare`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The tests, in their order.
    pub tests: Vec<TestComparison>,
    /// Why there are no tests, if there are none.
    pub problem: Option<String>,
}

/// What the methods say about one test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestComparison {
    /// The result of Line-Up.
    pub test: TestReport,
    /// How many executions were examined.
    pub executions: usize,
    /// Whether they were one of each class, or a sample.
    pub coverage: Coverage,
    alarms: BTreeMap<Method, Alarms>,
}

#[derive(Clone, Debug, Default)]
struct Alarms {
    executions: usize,
    warnings: BTreeSet<String>,
}

impl TestComparison {
    /// The number of executions of which a method warns.
    pub fn alarms(&self, method: Method) -> usize {
        self.alarms
            .get(&method)
            .map_or(0, |alarms| alarms.executions)
    }

    /// The different warnings of a method, in words.
    pub fn warnings(&self, method: Method) -> impl Iterator<Item = &str> {
        let alarms = self.alarms.get(&method).into_iter();
        alarms.flat_map(|alarms| alarms.warnings.iter().map(String::as_str))
    }

    /// Whether a method warns of a test that Line-Up passes.
    pub fn is_false_alarm(&self, method: Method) -> bool {
        self.alarms(method) > 0 && matches!(self.test.result, TestResult::Pass(_))
    }

    fn add(&mut self, method: Method, warnings: Vec<String>) {
        if !warnings.is_empty() {
            let alarms = self.alarms.entry(method).or_default();
            alarms.executions += 1;
            alarms.warnings.extend(warnings);
        }
    }
}

impl<X: 'static> Object<X> {
    /// Runs the tests, and examines executions of each by all [methods](Method): one of each class of equivalent ones if there are at
    /// most `executions` classes, or else that many at random.
    ///
    /// The object must use the types of [`sync`](crate::sync) and [`cell`](crate::cell).
    pub fn compare(&self, executions: usize) -> Comparison {
        std::thread::scope(|scope| {
            let compared = scope.spawn(|| compare_here(self, executions));
            compared
                .join()
                .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        })
    }
}

fn compare_here<X: 'static>(object: &Object<X>, executions: usize) -> Comparison {
    let tests = match planned(object, &mut Vec::new()) {
        Ok(Planned::Tests(tests, _)) if object.settings.engine.sees_accesses() => tests,
        Ok(_) => {
            return Comparison::refused("only tests of the types of linpoint_test are compared");
        }
        Err(problem) => return Comparison::refused(&problem),
    };
    let compared = tests.map(|matrix| {
        let (test, _) = run_test(object, &matrix, &limits(object, 1, None));
        let mut compared = TestComparison {
            test,
            executions: 0,
            coverage: Coverage::Sampled(0),
            alarms: BTreeMap::new(),
        };
        if object.problem_of(&matrix).is_none() {
            let program = program(object, &matrix);
            examine(
                &program,
                &limits(object, 1, None),
                executions,
                &mut compared,
            );
        }
        compared
    });
    Comparison {
        tests: compared.collect(),
        problem: None,
    }
}

impl Comparison {
    fn refused(problem: &str) -> Self {
        Comparison {
            tests: Vec::new(),
            problem: Some(problem.to_owned()),
        }
    }
}

/// Examines executions of a test.
fn examine(program: &Rc<dyn Test>, limits: &Limits, most: usize, into: &mut TestComparison) {
    let settings = Settings {
        switches: Switches::Everywhere,
        causality: Causality::Accesses,
        words: Words::Omitted,
        max_steps: limits.max_steps,
    };
    let (mut schedules, is_all) = schedules(program, settings, Dpor::new(), most);
    into.coverage = Coverage::Exhaustive;
    if !is_all {
        let random = Random::uniform(limits.seed, most as u64);
        (schedules, _) = self::schedules(program, settings, random, most);
        into.coverage = Coverage::Sampled(schedules.len() as u64);
    }
    into.executions = schedules.len();
    let settings = Settings::verbose(Switches::Everywhere, limits.max_steps);
    for schedule in schedules {
        run_once(program, schedule, settings, |trace| {
            let warnings = Warnings {
                program: &**program,
                events: trace.memory_events(),
            };
            for method in Method::ALL {
                into.add(method, warnings.of(method));
            }
        });
    }
}

/// Returns the schedules of the executions that a search finds, at most so many, and whether these are all.
fn schedules<S: Search>(
    program: &Rc<dyn Test>,
    settings: Settings,
    search: S,
    most: usize,
) -> (Vec<Vec<Choice>>, bool) {
    let (mut schedules, mut executions, mut is_all) = (Vec::new(), 0, true);
    explore(program, settings, search, |trace: &Trace, search| {
        executions += 1;
        if executions > most || !matches!(trace.end(), End::Complete | End::Stuck) {
            is_all = false;
            return Flow::Enough;
        }
        if !search.pruned() {
            schedules.push(trace.schedule().to_vec());
        }
        Flow::More
    });
    (schedules, is_all)
}

/// Puts the warnings about an execution into words.
struct Warnings<'a> {
    program: &'a dyn Test,
    events: &'a [MemoryEvent],
}

impl Warnings<'_> {
    fn of(&self, method: Method) -> Vec<String> {
        match method {
            Method::DataRaces => data_races::races(self.events)
                .iter()
                .map(|race| {
                    let (first, second) = (self.event(race.first), self.event(race.second));
                    format!("{first} and {second} race")
                })
                .collect(),
            Method::Serializability => serializability::cycle(self.events)
                .iter()
                .map(|cycle| {
                    let ops = cycle.iter().chain(cycle.first());
                    let names: Vec<String> = ops.map(|&op| self.name(op)).collect();
                    format!("no serial order: {}", names.join(" before "))
                })
                .collect(),
            Method::StoreBuffers => self.exposed(Buffered::Weak),
            Method::VolatileStoreBuffers => self.exposed(Buffered::All),
        }
    }

    fn exposed(&self, buffered: Buffered) -> Vec<String> {
        store_buffer::exposed(self.events, buffered)
            .iter()
            .map(|exposed| {
                let (store, load) = (self.event(exposed.store), self.event(exposed.load));
                format!("{load} returns an older value if {store} is still in the store buffer")
            })
            .collect()
    }

    fn name(&self, op: usize) -> String {
        qualified_label(self.program, op)
    }

    /// An access in words.
    fn event(&self, place: usize) -> String {
        explain::access(self.program, &self.events[place])
    }
}
