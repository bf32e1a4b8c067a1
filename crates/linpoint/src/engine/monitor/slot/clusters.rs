//! Linearizations in which all operations on one value stand together, one value after the other.

use crate::engine::monitor::Log;
use crate::history::NEVER;

/// Where an operation stands among those on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceInCluster {
    /// Before the others: at most one on each value.
    First,
    /// In the order of the calls.
    Between,
    /// After the others: at most one on each value.
    Last,
    /// Not among them: it has no value.
    Alone,
}

/// A part of a linearization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All operations on this value.
    Value(u32),
    /// This operation alone.
    Op(u32),
}

/// Where in the linearization the operations on one value stand.
#[derive(Clone, Copy)]
struct Stretch {
    /// Where the first of them stands; [`NEVER`] if they are left out.
    begin: u32,
    /// Where the next [`PlaceInCluster::Between`] stands.
    next: u32,
    end: u32,
}

/// The operations of the given steps. Operations on one value stand as `place` says.
pub(super) fn lined_up<A: Copy>(
    log: &Log<A>,
    steps: impl Iterator<Item = Step>,
    place: impl Fn(A) -> PlaceInCluster,
) -> Vec<u32> {
    let none = Stretch {
        begin: NEVER,
        next: 0,
        end: 0,
    };
    // First the size of each stretch, then its position.
    let mut stretches = vec![none; log.distinct as usize];
    for (&act, &value) in log.acts.iter().zip(&log.values) {
        let place = place(act);
        let stretch = &mut stretches[value as usize];
        stretch.end += u32::from(place != PlaceInCluster::Alone);
        stretch.next += u32::from(place == PlaceInCluster::First);
    }
    let mut order = vec![0; log.len()];
    let mut len = 0;
    for step in steps {
        match step {
            Step::Op(op) => {
                order[len as usize] = op;
                len += 1;
            }
            Step::Value(value) => {
                let stretch = &mut stretches[value as usize];
                stretch.begin = len;
                stretch.next += len;
                stretch.end += len;
                len = stretch.end;
            }
        }
    }
    for (op, (&act, &value)) in (0u32..).zip(log.acts.iter().zip(&log.values)) {
        let stretch = &mut stretches[value as usize];
        let place = place(act);
        if stretch.begin == NEVER || place == PlaceInCluster::Alone {
            continue;
        }
        let position = match place {
            PlaceInCluster::First => stretch.begin,
            PlaceInCluster::Last => stretch.end - 1,
            _ => {
                stretch.next += 1;
                stretch.next - 1
            }
        };
        order[position as usize] = op;
    }
    order.truncate(len as usize);
    order
}
