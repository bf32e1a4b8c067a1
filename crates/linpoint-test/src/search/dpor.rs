//! Partial-order reduction: one execution of each class of executions that differ only in the order of independent steps.
//!
//! Source-DPOR (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014): after each step, the search adds a backtracking point for
//! each race of the step, where the other order can begin; sleep sets avoid exploring a class twice. Calls and returns are no
//! steps of their own, so real time differs within a class: the checks must decide all executions of a class, not only the one
//! that runs (`check/extension.rs`).

use smallvec::SmallVec;

use super::races::{self, Late};
use crate::runtime::access::Kind;
use crate::runtime::execution::{ObjectName, Threads, Trace};
use crate::runtime::search::{Decision, Point, Search};

/// The objects of a step, by name, and how it touches them.
type Touches = SmallVec<[(ObjectName, Kind); 2]>;

/// A thread whose next step was explored. It sleeps until a step that depends on that one.
#[derive(Clone, Debug)]
struct Sleeper {
    thread: u8,
    touches: Touches,
}

#[derive(Debug)]
enum Node {
    Threads {
        point: Point,
        chosen: u8,
        backtrack: u16,
        sleep: SmallVec<[Sleeper; 4]>,
        /// What the chosen thread did, with each outcome that was picked so far.
        touches: Touches,
    },
    Ways {
        chosen: usize,
        ways: usize,
    },
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Dpor {
    nodes: Vec<Node>,
    depth: usize,
    /// The node of each step.
    places: Vec<usize>,
    /// The threads that sleep at the next node.
    sleep: SmallVec<[Sleeper; 4]>,
    pruned: bool,
}

impl Dpor {
    pub(crate) fn new() -> Self {
        Dpor::default()
    }

    /// The other order of a race must be tried, beginning before the step `early`.
    fn reverse(nodes: &mut [Node], places: &[usize], trace: &Trace, early: usize, late: &Late<'_>) {
        let Node::Threads {
            point,
            backtrack,
            sleep,
            ..
        } = &mut nodes[places[early]]
        else {
            panic!("bug: a step belongs to no choice of threads");
        };
        let initials = late.initials(trace, early);
        let asleep = sleep
            .iter()
            .fold(0, |mask, sleeper| mask | 1 << sleeper.thread);
        if initials & (*backtrack | asleep) != 0 {
            return;
        }
        let possible = initials & point.enabled;
        debug_assert!(
            possible != 0,
            "no thread can begin the other order of a race"
        );
        *backtrack |= match possible {
            0 => point.enabled,
            _ => 1 << possible.trailing_zeros(),
        };
    }
}

fn touches(trace: &Trace) -> Touches {
    trace
        .accesses_of(trace.steps().len() - 1)
        .iter()
        .map(|access| (access.name, access.kind))
        .collect()
}

fn independent(a: &Touches, b: &Touches) -> bool {
    a.iter()
        .all(|x| b.iter().all(|y| x.0 != y.0 || !x.1.conflicts(y.1)))
}

impl Search for Dpor {
    fn choose(&mut self, _: &Trace, _: &Threads, point: Point) -> Option<Decision> {
        if self.pruned {
            return Some(Decision::now(point.default_choice()));
        }
        let decision = |thread| Decision {
            thread,
            may_change: !point.enabled.is_power_of_two(),
            settled: false,
        };
        if let Some(node) = self.nodes.get(self.depth) {
            self.places.push(self.depth);
            self.depth += 1;
            return match *node {
                Node::Threads {
                    point: known,
                    chosen,
                    ..
                } if known == point => Some(decision(usize::from(chosen))),
                _ => None,
            };
        }
        let asleep = |thread: usize| self.sleep.iter().any(|s| usize::from(s.thread) == thread);
        let Some(chosen) = point.options().find(|&thread| !asleep(thread)) else {
            self.pruned = true;
            return Some(Decision::now(point.default_choice()));
        };
        self.nodes.push(Node::Threads {
            point,
            chosen: chosen as u8,
            backtrack: 1 << chosen,
            sleep: std::mem::take(&mut self.sleep),
            touches: Touches::new(),
        });
        self.places.push(self.depth);
        self.depth += 1;
        Some(decision(chosen))
    }

    fn pick(&mut self, _: &Trace, ways: usize) -> Option<usize> {
        if self.pruned {
            return Some(0);
        }
        if let Some(node) = self.nodes.get(self.depth) {
            self.depth += 1;
            return match *node {
                Node::Ways {
                    chosen,
                    ways: known,
                } if known == ways => Some(chosen),
                _ => None,
            };
        }
        self.nodes.push(Node::Ways { chosen: 0, ways });
        self.depth += 1;
        Some(0)
    }

    fn closed(&mut self, trace: &Trace) {
        if self.pruned {
            return;
        }
        let Some(&place) = self.places.last() else {
            return;
        };
        let Node::Threads {
            sleep,
            touches: kept,
            ..
        } = &mut self.nodes[place]
        else {
            panic!("bug: a step belongs to no choice of threads");
        };
        let touches = touches(trace);
        self.sleep = sleep
            .iter()
            .filter(|sleeper| independent(&sleeper.touches, &touches))
            .cloned()
            .collect();
        for touch in touches {
            if !kept.contains(&touch) {
                kept.push(touch);
            }
        }
        let (nodes, places) = (&mut self.nodes, &self.places);
        races::of_last_step(trace, |early, late| {
            Dpor::reverse(nodes, places, trace, early, late);
        });
    }

    fn advance(&mut self, trace: &Trace) -> Option<usize> {
        if !self.pruned {
            let (nodes, places) = (&mut self.nodes, &self.places);
            races::of_stuck_threads(trace, |early, late| {
                Dpor::reverse(nodes, places, trace, early, late);
            });
        }
        self.pruned = false;
        self.sleep.clear();
        while let Some(node) = self.nodes.last_mut() {
            let is_left = match node {
                Node::Ways { chosen, ways } => {
                    *chosen += 1;
                    *chosen < *ways
                }
                Node::Threads {
                    chosen,
                    backtrack,
                    sleep,
                    touches,
                    ..
                } => {
                    sleep.push(Sleeper {
                        thread: *chosen,
                        touches: std::mem::take(touches),
                    });
                    let asleep = sleep.iter().fold(0, |mask, s| mask | 1u16 << s.thread);
                    let left = *backtrack & !asleep;
                    *chosen = left.trailing_zeros() as u8;
                    left != 0
                }
            };
            if is_left {
                self.depth = self.nodes.len() - 1;
                let kept = self.places.partition_point(|&place| place < self.depth);
                self.places.truncate(kept);
                return Some(self.depth);
            }
            self.nodes.pop();
        }
        None
    }

    fn pruned(&self) -> bool {
        self.pruned
    }

    /// As if each branch of a node led to equally many executions, and no further ones were found that must be tried.
    fn progress(&self) -> f64 {
        let (mut explored, mut share) = (0.0, 1.0);
        for node in &self.nodes {
            let (done, all) = match node {
                Node::Ways { chosen, ways } => (*chosen, *ways),
                Node::Threads {
                    chosen,
                    backtrack,
                    sleep,
                    ..
                } => {
                    let asleep = sleep.iter().fold(0, |mask, s| mask | 1u16 << s.thread);
                    let done = backtrack & asleep & !(1 << chosen);
                    (done.count_ones() as usize, backtrack.count_ones() as usize)
                }
            };
            share /= all.max(1) as f64;
            explored += share * done as f64;
        }
        explored
    }
}
