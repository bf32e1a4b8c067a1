//! The lines of an input on which calls and returns stand.

/// The lines on which calls and returns stand, where each of them has a line of its own and the lines are in their order.
///
/// Lines of other things are few, so a run of events on consecutive lines takes one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventLines {
    /// The first event of each run, with its line.
    runs: Vec<(u32, u32)>,
    /// How many events there are, and the line of the last one.
    count: u32,
    last: u32,
    /// Whether some event has no line of its own.
    is_unknown: bool,
}

impl EventLines {
    /// Adds the next event.
    pub(super) fn push(&mut self, line: u64) {
        if self.is_unknown {
            return;
        }
        let event = self.count;
        self.count += 1;
        let line = u32::try_from(line).unwrap_or(0);
        if line <= self.last {
            *self = EventLines {
                is_unknown: true,
                ..EventLines::default()
            };
            return;
        }
        if line != self.last + 1 || self.runs.is_empty() {
            self.runs.push((event, line));
        }
        self.last = line;
    }

    /// The line of an event.
    pub(super) fn of(&self, event: u32) -> Option<u32> {
        let after = self.runs.partition_point(|(first, _)| *first <= event);
        let (first, line) = self.runs.get(after.checked_sub(1)?)?;
        (event < self.count).then(|| line + (event - first))
    }

    /// The lines of some of the events, which are numbered anew. Events must be in their order.
    pub(super) fn picked(&self, events: impl Iterator<Item = u32>) -> Self {
        let mut picked = EventLines::default();
        if self.runs.is_empty() {
            return picked;
        }
        for event in events {
            picked.push(self.of(event).unwrap_or(0).into());
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[u64]) -> EventLines {
        let mut events = EventLines::default();
        lines.iter().for_each(|&line| events.push(line));
        events
    }

    #[test]
    fn every_event_has_its_line() {
        let lines = [2, 3, 4, 7, 8, 20];
        let events = of(&lines);
        assert_eq!(events.runs.len(), 3);
        for (event, line) in (0..).zip(lines) {
            assert_eq!(events.of(event).map(u64::from), Some(line));
        }
        assert_eq!(events.of(6), None);
        let some = events.picked([1, 3, 5].into_iter());
        assert_eq!([0, 1, 2].map(|event| some.of(event)), [3, 7, 20].map(Some));
    }

    #[test]
    fn events_that_share_a_line_have_none() {
        for lines in [[1, 1, 2], [1, 3, 2], [0, 1, 2], [1, 2, u64::MAX]] {
            let events = of(&lines);
            assert!((0..4).all(|event| events.of(event).is_none()), "{lines:?}");
        }
    }
}
