//! Observers: follow the calls and returns of an execution and decide whether they can be linearized.

use std::fmt::Debug;

use super::bits::{Bits, width};
use super::snapshot::{Answer, Request};
use crate::engine::monitor::snapshot::simple::{Monitor, Side, SimpleEvent};

/// Follows the calls and returns of an execution. Its state is part of the explored states.
pub(crate) trait Observer<Op, Ret>: Sync {
    type State: Clone + Debug + Eq + Send + Sync;

    fn start(&self) -> Self::State;

    /// Process `p` calls `op`.
    fn called(&self, state: &mut Self::State, p: usize, op: &Op);

    /// The open operation of process `p` returns `ret`. The error says why that cannot be linearized.
    fn returned(&self, state: &mut Self::State, p: usize, ret: &Ret) -> Result<(), String>;

    fn layout<B: Bits>(&self, state: &mut Self::State, bits: &mut B);

    /// A number for what the state holds about process `p`; see [`Algorithm::standing`](super::Algorithm::standing).
    fn standing(&self, _: &Self::State, _: usize) -> u64 {
        0
    }
    /// Exchanges two processes; see [`Algorithm::exchange`](super::Algorithm::exchange).
    fn exchange(&self, _: &mut Self::State, _: usize, _: usize) {}
}

/// An observer that accepts every return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoObserver;

impl<Op, Ret> Observer<Op, Ret> for NoObserver {
    type State = ();

    fn start(&self) {}
    fn called(&self, _: &mut (), _: usize, _: &Op) {}
    fn returned(&self, _: &mut (), _: usize, _: &Ret) -> Result<(), String> {
        Ok(())
    }
    fn layout<B: Bits>(&self, _: &mut (), _: &mut B) {}
}

/// The monitor of simple histories: exact for snapshots whose clients are simple.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimpleMonitor {
    pub(crate) processes: usize,
    /// The entries that change.
    pub(crate) pair: (usize, usize),
    /// Whether to drop constraints that no open or later scan can violate.
    pub(crate) normal_form: bool,
    /// The only process whose scans are checked for being too old; all of them if `None`.
    pub(crate) watched: Option<usize>,
}

impl SimpleMonitor {
    fn side(&self, p: usize) -> Option<Side> {
        match p {
            _ if p == self.pair.0 => Some(Side::First),
            _ if p == self.pair.1 => Some(Side::Second),
            _ => None,
        }
    }

    fn take(&self, state: &mut Monitor, event: SimpleEvent) -> Result<(), String> {
        let (i, j) = self.pair;
        state
            .step(event)
            .map_err(|violation| violation.sentence(i, j))?;
        if let Some(watched) = self.watched {
            state.watch_only(1 << watched);
        }
        if self.normal_form {
            *state = state.normalized();
        }
        Ok(())
    }
}

impl Observer<Request, Answer> for SimpleMonitor {
    type State = Monitor;

    fn start(&self) -> Monitor {
        Monitor::default()
    }

    fn called(&self, state: &mut Monitor, p: usize, op: &Request) {
        let event = match (op, self.side(p)) {
            (Request::Scan, _) => SimpleEvent::scan_called(p as u32),
            (Request::Update(true), Some(side)) => SimpleEvent::update_called(side),
            (Request::Update(_), _) => return,
        };
        // Only a return can violate the specification.
        let fine = self.take(state, event);
        debug_assert!(fine.is_ok());
    }

    fn returned(&self, state: &mut Monitor, p: usize, ret: &Answer) -> Result<(), String> {
        let (i, j) = self.pair;
        let event = match (ret, self.side(p)) {
            (Answer::View(view), _) => {
                SimpleEvent::scan_returned(p as u32, [view >> i & 1 != 0, view >> j & 1 != 0])
            }
            // A process has one operation open at a time: an open first update with 1 of this side is the one that returns.
            (Answer::Done, Some(side)) => SimpleEvent::update_returned(side),
            (Answer::Done, None) => return Ok(()),
        };
        self.take(state, event)
    }

    fn layout<B: Bits>(&self, state: &mut Monitor, bits: &mut B) {
        let (code, mut slots) = state.parts();
        let mut code = u64::from(code);
        bits.number(&mut code, width(usize::from(Monitor::CODES)));
        for slots in &mut slots {
            bits.number(slots, self.processes as u32);
        }
        *state = Monitor::from_parts(code as u16, slots);
    }

    fn standing(&self, state: &Monitor, p: usize) -> u64 {
        let (_, slots) = state.parts();
        slots.iter().fold(0, |all, slots| all << 1 | slots >> p & 1)
    }

    fn exchange(&self, state: &mut Monitor, a: usize, b: usize) {
        state.exchange(a as u32, b as u32);
    }
}
