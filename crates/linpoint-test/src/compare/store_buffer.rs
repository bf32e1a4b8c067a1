//! Store buffers (total store order, the memory model of x86): which loads could have returned an older value because a store of
//! the same thread was still in its buffer, so that the execution is no interleaving of the threads.
//!
//! The idea is that of Burckhardt and Musuvathi (*Effective Program Verification for Relaxed Memory Models*, CAV 2008):
//! instead of all executions under the weak memory, examine those under sequential consistency, and ask at each load
//! whether a store buffer lets it return another value there. If the first execution that is not sequentially consistent exists, it is
//! found in this way, since everything before that load was an interleaving.
//!
//! A load that returns an older value must keep these rules:
//!
//! - its thread has not read or written a newer value of the variable before;
//! - no newer value of the variable reaches the thread before the load by an order that a store buffer keeps: all but that of a plain
//!   store and a later plain load of the same thread.
//!
//! It makes a difference if a newer value does reach the thread by the order of the interleaving.

use std::sync::atomic::Ordering;

use crate::runtime::memory_event::{Action, MemoryEvent};

/// Which stores wait in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffered {
    /// Those whose ordering is weaker than `SeqCst`: a `SeqCst` store empties the buffer.
    Weak,
    /// All but read-modify-writes, as if each `SeqCst` store were only a release: what a `volatile` write is in C#.
    All,
}

/// A load that a store buffer exposes, and the store of its thread in the buffer, by their places among the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exposed {
    pub(super) store: usize,
    pub(super) load: usize,
}

/// An event as a store buffer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Load,
    /// A store that waits in the buffer.
    Store,
    /// Reads, writes, and empties the buffer: a read-modify-write, or taking a lock or giving it back.
    Update,
    /// Reads, and empties the buffer.
    FailedUpdate,
    /// Empties the buffer.
    Fence,
    /// Not looked at: what a lock protects, and weak fences.
    None,
}

fn class(action: Action, buffered: Buffered) -> Class {
    match action {
        Action::Load(_) | Action::ReadCell => Class::Load,
        Action::Store(Ordering::SeqCst) if buffered == Buffered::Weak => Class::Update,
        Action::Store(_) | Action::WriteCell => Class::Store,
        Action::FailedUpdate(_) => Class::FailedUpdate,
        Action::Fence(Ordering::SeqCst) => Class::Fence,
        Action::Fence(_) | Action::ReadGuarded | Action::WriteGuarded => Class::None,
        Action::Update(_)
        | Action::Acquire
        | Action::Release
        | Action::Share
        | Action::Unshare
        | Action::Give
        | Action::Take => Class::Update,
    }
}

impl Class {
    fn writes(self) -> bool {
        matches!(self, Class::Store | Class::Update)
    }
}

/// An event with its class and place.
#[derive(Clone, Copy, Debug)]
struct Node<'a> {
    event: &'a MemoryEvent,
    class: Class,
    place: usize,
}

/// Returns the loads of an execution that store buffers expose.
pub(super) fn exposed(events: &[MemoryEvent], buffered: Buffered) -> Vec<Exposed> {
    let nodes: Vec<Node<'_>> = events
        .iter()
        .enumerate()
        .map(|(place, event)| Node {
            event,
            class: class(event.action, buffered),
            place,
        })
        .filter(|node| node.class != Class::None)
        .collect();
    let mut found = Vec::new();
    for (rank, load) in nodes.iter().enumerate() {
        let before = &nodes[..rank];
        let own = before
            .iter()
            .rev()
            .filter(|node| node.event.thread == load.event.thread);
        let mut since_empty =
            own.take_while(|node| matches!(node.class, Class::Load | Class::Store));
        let Some(store) = since_empty.find(|node| node.class == Class::Store) else {
            continue;
        };
        if load.class == Class::Load && returns_older(before, load) {
            found.push(Exposed {
                store: store.place,
                load: load.place,
            });
        }
    }
    found
}

/// Whether a load can return an older value than the last one before it, in a way that no interleaving shows.
fn returns_older(before: &[Node<'_>], load: &Node<'_>) -> bool {
    let is_same = |node: &Node<'_>| node.event.object == load.event.object;
    let is_own = |node: &Node<'_>| node.event.thread == load.event.thread;
    let seen = last_seen(before, load);
    let newer: Vec<usize> = (0..before.len())
        .filter(|&rank| before[rank].class.writes() && is_same(&before[rank]))
        .filter(|&rank| seen.is_none_or(|seen| rank > seen))
        .collect();
    // The older the value, the more values are newer; each value but the newest is tried.
    (0..newer.len()).any(|oldest| {
        let newer = &newer[oldest..];
        let by_interleaving = reached(before, newer, |_, _| true);
        let kept = |first: &Node<'_>, second: &Node<'_>| {
            !(first.class == Class::Store && second.class == Class::Load)
        };
        let by_buffers = reached(before, newer, kept);
        let own = |ranks: &[bool], may: fn(Class) -> bool| {
            (0..before.len())
                .any(|rank| ranks[rank] && is_own(&before[rank]) && may(before[rank].class))
        };
        own(&by_interleaving, |_| true) && !own(&by_buffers, |class| class != Class::Store)
    })
}

/// Returns the place of the newest write of the variable that the thread of the load has written or read before.
fn last_seen(before: &[Node<'_>], load: &Node<'_>) -> Option<usize> {
    let own = before.iter().rposition(|node| {
        node.event.thread == load.event.thread && node.event.object == load.event.object
    })?;
    before[..=own]
        .iter()
        .rposition(|node| node.class.writes() && node.event.object == load.event.object)
}

/// Returns which events come after one of `from`, or are one: by the order of a thread where `kept` says so, and by conflicts of different
/// threads.
fn reached(
    nodes: &[Node<'_>],
    from: &[usize],
    kept: impl Fn(&Node<'_>, &Node<'_>) -> bool,
) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    for (rank, node) in nodes.iter().enumerate() {
        reached[rank] = from.contains(&rank)
            || nodes[..rank].iter().zip(&reached).any(|(earlier, &is)| {
                let is_ordered = if earlier.event.thread == node.event.thread {
                    kept(earlier, node)
                } else {
                    earlier.event.object.is_some()
                        && earlier.event.object == node.event.object
                        && (earlier.class.writes() || node.class.writes())
                };
                is && is_ordered
            });
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::Ordering::*;

    use super::super::tests::Random;
    use super::*;
    use crate::runtime::memory_event::listed::event;
    use Action::{Fence, Load, Store, Update};

    /// The instructions of each thread: a variable, and what is done to it.
    type Program = Vec<Vec<(u64, Action)>>;

    const X: u64 = 1;
    const Y: u64 = 2;

    /// Calls `visit` with all interleavings of a program.
    fn interleavings(program: &Program, visit: &mut dyn FnMut(&[MemoryEvent])) {
        fn go(
            program: &Program,
            at: &mut Vec<usize>,
            events: &mut Vec<MemoryEvent>,
            visit: &mut dyn FnMut(&[MemoryEvent]),
        ) {
            let mut is_over = true;
            for thread in 0..program.len() {
                let Some(&(object, action)) = program[thread].get(at[thread]) else {
                    continue;
                };
                is_over = false;
                at[thread] += 1;
                events.push(event(thread, thread, object, action));
                go(program, at, events, visit);
                events.pop();
                at[thread] -= 1;
            }
            if is_over {
                visit(events);
            }
        }
        go(program, &mut vec![0; program.len()], &mut Vec::new(), visit);
    }

    fn is_exposed(program: &Program, buffered: Buffered) -> bool {
        let mut found = false;
        interleavings(program, &mut |events| {
            found |= !exposed(events, buffered).is_empty();
        });
        found
    }

    /// The writer that each read of an execution returned, and the order of the writes of each variable. Writers are numbered by thread
    /// and instruction.
    type Outcome = (Vec<(usize, usize, usize)>, Vec<(u64, usize)>);

    /// All outcomes with store buffers of this many entries: none is sequential consistency.
    fn outcomes(program: &Program, capacity: usize) -> BTreeSet<Outcome> {
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
        struct State {
            at: Vec<usize>,
            buffers: Vec<Vec<(u64, usize)>>,
            memory: Vec<(u64, usize)>,
            outcome: Outcome,
        }
        fn commit(state: &mut State, object: u64, writer: usize) {
            state.memory.retain(|(known, _)| *known != object);
            state.memory.push((object, writer));
            state.outcome.1.push((object, writer));
        }
        fn go(program: &Program, capacity: usize, state: &State, known: &mut BTreeSet<State>) {
            if !known.insert(state.clone()) {
                return;
            }
            for thread in 0..program.len() {
                if !state.buffers[thread].is_empty() {
                    let mut next = state.clone();
                    let (object, writer) = next.buffers[thread].remove(0);
                    commit(&mut next, object, writer);
                    go(program, capacity, &next, known);
                }
                let place = state.at[thread];
                let Some(&(object, action)) = program[thread].get(place) else {
                    continue;
                };
                let class = class(action, Buffered::Weak);
                let is_empty = state.buffers[thread].is_empty();
                if class != Class::Load && class != Class::Store && !is_empty {
                    continue;
                }
                let mut next = state.clone();
                next.at[thread] += 1;
                let writer = 1 + thread * 10 + place;
                let buffer = &next.buffers[thread];
                let forwarded = buffer.iter().rfind(|(known, _)| *known == object);
                let stored = next.memory.iter().find(|(known, _)| *known == object);
                let read = forwarded.or(stored).map_or(0, |&(_, writer)| writer);
                if matches!(class, Class::Load | Class::Update) && action != Store(SeqCst) {
                    next.outcome.0.push((thread, place, read));
                }
                match class {
                    Class::Store if capacity > 0 => {
                        if buffer.len() == capacity {
                            continue;
                        }
                        next.buffers[thread].push((object, writer));
                    }
                    _ if class.writes() => commit(&mut next, object, writer),
                    _ => {}
                }
                go(program, capacity, &next, known);
            }
        }
        let state = State {
            at: vec![0; program.len()],
            buffers: vec![Vec::new(); program.len()],
            memory: Vec::new(),
            outcome: Outcome::default(),
        };
        let mut known = BTreeSet::new();
        go(program, capacity, &state, &mut known);
        let is_over = |state: &State| {
            let all_ran = state
                .at
                .iter()
                .zip(program)
                .all(|(&at, thread)| at == thread.len());
            all_ran && state.buffers.iter().all(Vec::is_empty)
        };
        let ended = known.into_iter().filter(is_over);
        ended
            .map(|State { outcome, .. }| {
                let (mut reads, mut writes) = outcome;
                reads.sort_unstable();
                writes.sort_by_key(|(object, _)| *object);
                (reads, writes)
            })
            .collect()
    }

    fn store_buffering(store: Action, between: Option<Action>) -> Program {
        let thread = |own, other| {
            let mut thread = vec![(own, store)];
            thread.extend(between.map(|action| (3, action)));
            thread.push((other, Load(SeqCst)));
            thread
        };
        vec![thread(X, Y), thread(Y, X)]
    }

    #[test]
    fn stores_before_loads_of_other_variables_are_exposed() {
        let weak = |store, between| is_exposed(&store_buffering(store, between), Buffered::Weak);
        assert!(weak(Store(Release), None));
        assert!(weak(Store(Relaxed), None));
        assert!(weak(Store(Release), Some(Fence(AcqRel))));
        assert!(!weak(Store(Release), Some(Fence(SeqCst))));
        assert!(!weak(Store(SeqCst), None));
        assert!(!weak(Update(Relaxed), None));
        // As a volatile write would be.
        let volatile = store_buffering(Store(SeqCst), None);
        assert!(is_exposed(&volatile, Buffered::All));
    }

    #[test]
    fn messages_and_single_variables_are_not_exposed() {
        let (store, load) = (Store(Relaxed), Load(Relaxed));
        let message = vec![vec![(X, store), (Y, store)], vec![(Y, load), (X, load)]];
        assert!(!is_exposed(&message, Buffered::Weak));
        let single = vec![vec![(X, store), (X, load)], vec![(X, store), (X, load)]];
        assert!(!is_exposed(&single, Buffered::Weak));
        // One thread with a fence is not enough, nor is a store to the variable itself in between.
        let mut half = store_buffering(store, None);
        half[0].insert(1, (3, Fence(SeqCst)));
        assert!(is_exposed(&half, Buffered::Weak));
    }

    /// Compares the detector on all interleavings with what store buffers can do.
    fn assert_agrees(program: &Program) -> bool {
        let expected = outcomes(program, 4) != outcomes(program, 0);
        assert_eq!(is_exposed(program, Buffered::Weak), expected, "{program:?}");
        expected
    }

    #[test]
    fn exposed_programs_are_those_with_more_outcomes_under_store_buffers() {
        let actions = [Store(Release), Load(Acquire), Update(AcqRel), Fence(SeqCst)];
        let all: Vec<(u64, Action)> = actions
            .iter()
            .flat_map(|&action| [(X, action), (Y, action)])
            .collect();
        let mut exposed = 0;
        for number in 0..all.len().pow(4) {
            let at = |place: u32| all[number / all.len().pow(place) % all.len()];
            let program = vec![vec![at(0), at(1)], vec![at(2), at(3)]];
            exposed += usize::from(assert_agrees(&program));
        }
        assert!(exposed > 2 && exposed < 400, "{exposed}");
    }

    #[test]
    fn larger_programs_agree_with_store_buffers_too() {
        let mut random = Random(7);
        let actions = [
            Store(Release),
            Store(Relaxed),
            Load(Acquire),
            Load(SeqCst),
            Store(SeqCst),
            Update(AcqRel),
        ];
        let mut exposed = 0;
        for round in 0..120 {
            let (threads, ops) = [(2, 3), (2, 3), (3, 2)][round % 3];
            let instruction =
                |random: &mut Random| (1 + random.below(2) as u64, actions[random.below(6)]);
            let thread = |random: &mut Random| (0..ops).map(|_| instruction(random)).collect();
            let program: Program = (0..threads).map(|_| thread(&mut random)).collect();
            exposed += usize::from(assert_agrees(&program));
        }
        assert!(exposed > 2 && exposed < 100, "{exposed}");
    }
}
