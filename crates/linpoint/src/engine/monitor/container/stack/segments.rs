//! A log as the elimination needs it: segments of time, and windows in which operations can take effect.
//!
//! Ours: the paper keeps one position for each gap; here gaps with the same critical values are one segment, of which there
//! are at most two for each value and one more.

use crate::engine::monitor::structure::{Leaves, MinTree, StabTree};
use crate::engine::monitor::{Act, CriticalIntervals, Log};
use crate::history::NEVER;

/// A segment is a maximal run of gaps in which the same values are critical; segments are numbered by time.
///
/// A window is where an operation can take effect as far as its own value is concerned: an insertion before the value is
/// critical, its removal after that, a peek anywhere while it runs. Windows are numbered by their left ends.
#[derive(Debug)]
pub(super) struct Segments {
    /// How many values are critical in each segment.
    pub(super) critical: Leaves,
    /// How many windows begin in each segment or before.
    pub(super) begun: Vec<u32>,
    /// The first segment after each window.
    pub(super) ends: Leaves,
    /// The value of each window.
    pub(super) whose: Vec<u32>,
    /// In which segments each value is critical.
    pub(super) spans: Vec<Span>,
    /// How many windows each value has.
    pub(super) windows: Vec<u32>,
    /// The windows of peeks on critical values with the segments that they begin in, by window.
    pub(super) peeks: Vec<(u32, u32)>,
}

/// The segments in which a value is critical.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    first: u32,
    /// Less than `first` if there are none.
    last: u32,
}

impl Span {
    const NONE: Span = Span { first: 1, last: 0 };

    /// The first and the last segment.
    #[inline]
    pub(super) fn ends(self) -> Option<(usize, usize)> {
        (self.first <= self.last).then_some((self.first as usize, self.last as usize))
    }
}

/// The end of the windows of pending operations.
const OPEN: i32 = i32::MAX;

impl Segments {
    /// Reads every event once.
    pub(super) fn new(log: &Log<Act>, intervals: &CriticalIntervals) -> Self {
        let distinct = log.distinct as usize;
        // Every value begins at most two segments, every operation one window.
        let most = 2 * distinct + 1;
        let mut segments = Segments {
            critical: MinTree::leaves(most),
            begun: Vec::with_capacity(most),
            ends: StabTree::leaves(log.len()),
            whose: Vec::with_capacity(log.len()),
            spans: vec![Span::NONE; distinct],
            windows: vec![0; distinct],
            peeks: Vec::new(),
        };
        // The windows of insertion and removal by value, and of peeks by position.
        let mut opened = vec![(NEVER, NEVER); distinct];
        let mut peeks = vec![NEVER; if intervals.has_peeks { log.len() } else { 0 }];
        let mut critical = 0;
        for (rank, event) in (0u32..).zip(log.events()) {
            let op = event.op();
            let (act, value) = (log.acts[op], log.values[op]);
            if act == Act::Empty {
                continue;
            }
            let interval = intervals.at(value);
            if !interval.exists() {
                continue;
            }
            let v = value as usize;
            if event.is_return() {
                let now = segments.begun.len() as i32;
                if act == Act::Remove {
                    segments.ends.set(opened[v].1 as usize, now + 1);
                } else if act == Act::Peek {
                    segments.ends.set(peeks[op] as usize, now + 1);
                }
                if rank == interval.first_return {
                    segments.ends.set(opened[v].0 as usize, now + 1);
                    if interval.is_critical() {
                        segments.cut(critical);
                        critical += 1;
                        segments.spans[v] = Span {
                            first: now as u32 + 1,
                            last: NEVER,
                        };
                    }
                }
            } else {
                let is_out = rank == interval.last_call;
                if is_out && interval.is_critical() {
                    segments.spans[v].last = segments.begun.len() as u32;
                    segments.cut(critical);
                    critical -= 1;
                }
                if act == Act::Add {
                    opened[v].0 = segments.open(value);
                } else if act == Act::Peek {
                    peeks[op] = segments.open(value);
                    if interval.is_critical() {
                        segments
                            .peeks
                            .push((peeks[op], segments.begun.len() as u32));
                    }
                }
                if is_out {
                    opened[v].1 = segments.open(value);
                }
            }
        }
        segments.cut(critical);
        let end = segments.begun.len() as u32 - 1;
        for span in &mut segments.spans {
            span.last = span.last.min(end);
        }
        segments
    }

    /// Ends the current segment.
    fn cut(&mut self, critical: i32) {
        self.critical.push(critical);
        self.begun.push(self.whose.len() as u32);
    }

    /// Begins a window in the current segment.
    fn open(&mut self, value: u32) -> u32 {
        let window = self.whose.len() as u32;
        self.whose.push(value);
        self.ends.push(OPEN);
        self.windows[value as usize] += 1;
        window
    }
}
