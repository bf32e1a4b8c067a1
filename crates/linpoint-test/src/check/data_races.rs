//! Data races: accesses of one variable by two threads, one of which writes, that no synchronisation orders.
//!
//! Vector clocks follow what synchronises threads: locks, permits, and atomics with the orderings that the program asks for, as in the
//! memory model of the language (release sequences and fences included). An access is checked against all earlier ones of the
//! same variable.
//!
//! Variables are [cells](crate::cell::UnsafeCell), where a race is undefined behaviour, and atomics, where one access of the two must
//! be a relaxed load or store: what a field that is not `volatile` is in the language of the Line-Up paper. Checks look at
//! [cells](of_cells) alone.
//!
//! Executions that differ only in the order of independent steps have the same races, so one of each class is enough.

use std::sync::atomic::Ordering;

use crate::Map;
use crate::runtime::MAX_WORKERS;
use crate::runtime::causality::Clock;
use crate::runtime::memory_event::{Action, MemoryEvent};

/// Two events that race, by their places among the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) first: usize,
    pub(crate) second: usize,
}

/// Returns the races of an execution.
pub(crate) fn races(events: &[MemoryEvent]) -> Vec<Race> {
    let mut detector = Detector::default();
    let races = events.iter().enumerate();
    races
        .flat_map(|(place, event)| detector.step(place, event))
        .collect()
}

/// Returns the first race of cells in an execution.
pub(crate) fn of_cells(events: &[MemoryEvent]) -> Option<Race> {
    let is_cell = |action| matches!(action, Action::ReadCell | Action::WriteCell);
    let mut detector = Detector::default();
    let mut events = events.iter().enumerate();
    events.find_map(|(place, event)| match is_cell(event.action) {
        true => detector.step(place, event).into_iter().next(),
        false => {
            detector.synchronise(event);
            None
        }
    })
}

/// An access as far as races go.
#[derive(Clone, Copy, Debug)]
struct Data {
    writes: bool,
    /// It does not synchronise, and is not one step with other accesses.
    is_plain: bool,
}

impl Data {
    fn of(action: Action) -> Option<Data> {
        let (writes, is_plain) = match action {
            Action::ReadCell => (false, true),
            Action::WriteCell => (true, true),
            Action::Load(order) => (false, order == Ordering::Relaxed),
            Action::Store(order) => (true, order == Ordering::Relaxed),
            Action::Update(_) => (true, false),
            Action::FailedUpdate(_) => (false, false),
            // What a lock protects does not race.
            _ => return None,
        };
        Some(Data { writes, is_plain })
    }

    fn conflicts(self, other: Data) -> bool {
        (self.writes || other.writes) && (self.is_plain || other.is_plain)
    }
}

/// An earlier access of a variable.
#[derive(Debug)]
struct Access {
    thread: usize,
    /// Its number among the events of its thread.
    number: u16,
    place: usize,
    data: Data,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    clock: Clock,
    /// What a later acquire fence synchronises with.
    read: Clock,
    /// What happened before the last release fence.
    fenced: Clock,
}

/// What happened before a thread that synchronises with an object.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// Before the release that a reader of an atomic synchronises with, or before a lock was given back by its only holder.
    released: Clock,
    /// Before shares of a lock were given back.
    unshared: Clock,
}

#[derive(Debug, Default)]
struct Detector {
    threads: [Thread; MAX_WORKERS],
    objects: Map<u64, Object>,
    accesses: Map<u64, Vec<Access>>,
}

fn acquires(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
    )
}

fn releases(order: Ordering) -> bool {
    matches!(
        order,
        Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
    )
}

impl Detector {
    /// Adds an event. Returns its races with those before it.
    fn step(&mut self, place: usize, event: &MemoryEvent) -> Vec<Race> {
        self.synchronise(event);
        let (Some(object), Some(data)) = (event.object, Data::of(event.action)) else {
            return Vec::new();
        };
        let clock = &self.threads[event.thread].clock;
        let earlier = self.accesses.entry(object).or_default();
        let races = earlier.iter().filter(|before| {
            let is_ordered = clock.includes(before.thread, before.number);
            before.thread != event.thread && !is_ordered && data.conflicts(before.data)
        });
        let races = races.map(|before| Race {
            first: before.place,
            second: place,
        });
        let races = races.collect();
        earlier.push(Access {
            thread: event.thread,
            number: clock.0[event.thread],
            place,
            data,
        });
        races
    }

    /// The clock of the thread includes all that happened before the event, and the event.
    fn synchronise(&mut self, event: &MemoryEvent) {
        let thread = &mut self.threads[event.thread];
        let number = &mut thread.clock.0[event.thread];
        *number = number.saturating_add(1);
        let Some(object) = event.object else {
            if let Action::Fence(order) = event.action {
                thread.fence(order);
            }
            return;
        };
        let object = self.objects.entry(object).or_default();
        match event.action {
            Action::Load(order) | Action::FailedUpdate(order) => thread.read(object, order),
            Action::Store(order) => object.released = thread.written(order),
            Action::Update(order) => {
                thread.read(object, order);
                // A read-modify-write continues the release sequence that it reads from.
                object.released.join(&thread.written(order));
            }
            Action::Acquire => {
                thread.clock.join(&object.released);
                thread.clock.join(&object.unshared);
            }
            Action::Share | Action::Take => thread.clock.join(&object.released),
            Action::Release => object.released = thread.clock,
            Action::Give => object.released.join(&thread.clock),
            Action::Unshare => object.unshared.join(&thread.clock),
            Action::ReadCell
            | Action::WriteCell
            | Action::ReadGuarded
            | Action::WriteGuarded
            | Action::Fence(_) => {}
        }
    }
}

impl Thread {
    fn read(&mut self, object: &Object, order: Ordering) {
        self.read.join(&object.released);
        if acquires(order) {
            self.clock.join(&object.released);
        }
    }

    /// What a thread that reads the written value with an acquire synchronises with.
    fn written(&self, order: Ordering) -> Clock {
        match releases(order) {
            true => self.clock,
            false => self.fenced,
        }
    }

    fn fence(&mut self, order: Ordering) {
        if acquires(order) {
            let read = self.read;
            self.clock.join(&read);
        }
        if releases(order) {
            self.fenced = self.clock;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{Relaxed, SeqCst};

    use super::*;
    use crate::runtime::memory_event::listed::{Event, events};
    use Action::*;

    const DATA: u64 = 1;
    const FLAG: u64 = 2;
    const OTHER: u64 = 3;

    fn count(list: &[Event]) -> usize {
        races(&events(list)).len()
    }

    #[test]
    fn cells_race_unless_a_lock_orders_them() {
        assert_eq!(count(&[(0, DATA, WriteCell), (1, DATA, ReadCell)]), 1);
        assert_eq!(count(&[(0, DATA, ReadCell), (1, DATA, ReadCell)]), 0);
        assert_eq!(count(&[(0, DATA, WriteCell), (0, DATA, ReadCell)]), 0);
        assert_eq!(count(&[(0, DATA, WriteCell), (1, OTHER, WriteCell)]), 0);
        let locked = [
            (0, FLAG, Acquire),
            (0, DATA, WriteCell),
            (0, FLAG, Release),
            (1, FLAG, Acquire),
            (1, DATA, WriteCell),
            (1, FLAG, Release),
        ];
        assert_eq!(count(&locked), 0);
        // With a lock of their own each, or after the lock was given back.
        let apart = locked.map(|(thread, object, action)| match (thread, object) {
            (1, FLAG) => (1, OTHER, action),
            _ => (thread, object, action),
        });
        assert_eq!(count(&apart), 1);
        let late = [locked[0], locked[2], locked[1], locked[3], locked[4]];
        assert_eq!(count(&late), 1);
    }

    #[test]
    fn readers_that_share_a_lock_do_not_order_each_other() {
        let shared = [
            (0, FLAG, Share),
            (0, DATA, WriteCell),
            (0, FLAG, Unshare),
            (1, FLAG, Share),
            (1, DATA, ReadCell),
            (1, FLAG, Unshare),
        ];
        assert_eq!(count(&shared), 1);
        let mut exclusive = shared;
        (exclusive[3].2, exclusive[5].2) = (Acquire, Release);
        assert_eq!(count(&exclusive), 0);
    }

    #[test]
    fn messages_need_release_and_acquire() {
        let message = |store, load| {
            count(&[
                (0, DATA, WriteCell),
                (0, FLAG, Store(store)),
                (1, FLAG, Load(load)),
                (1, DATA, ReadCell),
            ])
        };
        assert_eq!(message(Ordering::Release, Ordering::Acquire), 0);
        assert_eq!(message(SeqCst, SeqCst), 0);
        assert_eq!(
            message(Ordering::Release, Relaxed),
            2,
            "the flag and the data"
        );
        assert_eq!(message(Relaxed, Ordering::Acquire), 2);
    }

    #[test]
    fn release_sequences_go_on_through_updates_and_end_at_stores() {
        let through = |action| {
            count(&[
                (0, DATA, WriteCell),
                (0, FLAG, Store(Ordering::Release)),
                (1, FLAG, action),
                (2, FLAG, Load(Ordering::Acquire)),
                (2, DATA, ReadCell),
            ])
        };
        assert_eq!(through(Update(Relaxed)), 0);
        // The relaxed store races with the flag's other accesses, too.
        assert_eq!(through(Store(Relaxed)), 3);
        assert_eq!(through(Store(Ordering::Release)), 1);
    }

    #[test]
    fn fences_synchronise_relaxed_accesses() {
        let fenced = |release: &[Event], acquire: &[Event]| {
            let mut list = vec![(0, DATA, WriteCell)];
            list.extend(release);
            list.push((0, FLAG, Store(Relaxed)));
            list.push((1, FLAG, Load(Relaxed)));
            list.extend(acquire);
            list.push((1, DATA, ReadCell));
            count(&list)
        };
        let (release, acquire) = (
            [(0, 0, Fence(Ordering::Release))],
            [(1, 0, Fence(Ordering::Acquire))],
        );
        assert_eq!(fenced(&release, &acquire), 1, "only the flag");
        assert_eq!(fenced(&release, &[]), 2);
        assert_eq!(fenced(&[], &acquire), 2);
    }

    #[test]
    fn permits_order_what_came_before_them() {
        let list = [
            (0, DATA, WriteCell),
            (0, FLAG, Give),
            (1, FLAG, Take),
            (1, DATA, WriteCell),
        ];
        assert_eq!(count(&list), 0);
        assert_eq!(count(&[list[0], list[1], list[3]]), 1);
    }
}
