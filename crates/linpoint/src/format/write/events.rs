//! The events of a history in the order of time: calls and returns, with what failed and what was noted between them.

use crate::history::{Annotation, EventKind, FailedOp, History, Op, OpId, events_in_order};

/// An event of a history.
pub(in crate::format) enum Event<'a> {
    Call(Op<'a>),
    Return(Op<'a>),
    Note(&'a Annotation),
    /// The call of an operation that failed.
    FailedCall(&'a FailedOp),
    Failure(&'a FailedOp),
}

impl Event<'_> {
    /// When it happened, where that is recorded.
    pub(in crate::format) fn time(&self) -> Option<i64> {
        match self {
            Event::Call(op) => op.times.map(|(called, _)| called),
            Event::Return(op) => op.times.map(|(_, returned)| returned),
            Event::Note(note) => note.time,
            Event::FailedCall(op) => op.times.0,
            Event::Failure(op) => op.times.1,
        }
    }
}

/// The events of `history` in the order of time.
pub(in crate::format) fn events(history: &History) -> impl Iterator<Item = Event<'_>> {
    let mut others = other_events(history).into_iter().peekable();
    let ranked = (0u32..).zip(events_in_order(history.calls(), history.rets()));
    let mut ranked = ranked.peekable();
    std::iter::from_fn(move || {
        let next_rank = ranked.peek().map_or(u32::MAX, |&(rank, _)| rank);
        if let Some((_, other)) = others.next_if(|(before, _)| *before <= next_rank) {
            return Some(other);
        }
        let (_, (op, kind)) = ranked.next()?;
        let op = history.op(OpId(op));
        Some(match kind {
            EventKind::Call => Event::Call(op),
            EventKind::Return => Event::Return(op),
        })
    })
}

/// The events that are neither calls nor returns of operations of the history, with their ranks. Invariant: the events of a process are
/// in their order.
fn other_events(history: &History) -> Vec<(u32, Event<'_>)> {
    let mut failures: Vec<(u32, Event<'_>)> = Vec::new();
    for op in history.failed() {
        failures.push((op.called, Event::FailedCall(op)));
        failures.push((op.failed, Event::Failure(op)));
    }
    failures.sort_by_key(|&(rank, _)| rank);
    let mut failures = failures.into_iter().peekable();
    let mut others = Vec::new();
    for note in history.annotations() {
        // Within a rank, times tell which came first.
        let is_before = |(rank, event): &(u32, Event<'_>)| {
            let times = event.time().zip(note.time);
            *rank < note.rank
                || *rank == note.rank && times.is_some_and(|(event, note)| event < note)
        };
        while let Some(failure) = failures.next_if(is_before) {
            others.push(failure);
        }
        others.push((note.rank, Event::Note(note)));
    }
    others.extend(failures);
    others
}
