//! For each stuck value of a stack, an operation whose whole window is covered by other stuck values. Ours.

use crate::engine::monitor::{Act, CriticalInterval, CriticalIntervals, Log};
use crate::history::NEVER;

/// A window in each gap of which some other stuck value is critical.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Its first gap.
    pub(super) from: u32,
    /// The gap after its last one.
    pub(super) to: u32,
    /// The peek that it belongs to; [`NEVER`] if it belongs to the insertion or the removal.
    pub(super) peek: u32,
}

impl Window {
    const NONE: Window = Window {
        from: 0,
        to: NEVER,
        peek: NEVER,
    };

    pub(super) fn len(&self) -> u32 {
        self.to - self.from
    }
}

/// The shortest covered window of each stuck value, by number.
pub(super) fn shortest(
    log: &Log<Act>,
    intervals: &CriticalIntervals,
    is_stuck: &[bool],
) -> Vec<Window> {
    let mut sweep = Sweep {
        bare: None,
        alone: vec![NEVER; is_stuck.len()],
        shortest: vec![Window::NONE; is_stuck.len()],
    };
    let stuck = |value: u32| is_stuck[value as usize];
    let (mut critical, mut sum) = (0u32, 0u32);
    for (rank, event) in (0u32..).zip(log.events()) {
        let op = event.op();
        let (act, value) = (log.acts[op], log.values[op]);
        if act != Act::Empty && stuck(value) {
            let interval = intervals.at(value);
            if event.is_return() {
                match act {
                    Act::Remove => sweep.close(value, interval.last_call, rank, NEVER),
                    Act::Peek => sweep.close(value, log.calls[op], rank, op as u32),
                    _ => {}
                }
                if rank == interval.first_return {
                    sweep.close(value, interval.added, rank, NEVER);
                }
            }
            if interval.is_critical()
                && (rank == interval.first_return || rank == interval.last_call)
            {
                // If a single value is critical, it is the exclusive or of all.
                sum ^= value;
                critical = if rank == interval.first_return {
                    critical + 1
                } else {
                    critical - 1
                };
            }
        }
        match critical {
            0 => sweep.bare = Some(rank),
            1 => sweep.alone[sum as usize] = rank,
            _ => {}
        }
    }
    // The windows of pending removals reach to the end.
    for (value, interval) in intervals.iter().filter(|&(value, _)| stuck(value)) {
        if interval.removal_return == CriticalInterval::PENDING {
            sweep.close(value, interval.last_call, log.end(), NEVER);
        }
    }
    sweep.shortest
}

struct Sweep {
    /// The last gap in which no stuck value was critical.
    bare: Option<u32>,
    /// The last gap in which each value was the only critical one.
    alone: Vec<u32>,
    shortest: Vec<Window>,
}

impl Sweep {
    fn close(&mut self, value: u32, from: u32, to: u32, peek: u32) {
        let window = Window { from, to, peek };
        let alone = self.alone[value as usize];
        let is_free = self.bare.is_some_and(|gap| gap >= from)
            || peek != NEVER && alone != NEVER && alone >= from;
        let shortest = &mut self.shortest[value as usize];
        if !is_free && window.len() < shortest.len() {
            *shortest = window;
        }
    }
}
