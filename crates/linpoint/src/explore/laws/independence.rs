//! Checks that a snapshot algorithm does not depend on the values it stores.

use std::collections::{HashSet, VecDeque};

use crate::explore::bits::{Measure, Writer};
use crate::explore::program::{Algorithm, Step};
use crate::explore::snapshot::{Answer, FULL_CLIENT, Request, SnapshotAlgorithm};

/// Checks on at most `most` reachable states that the algorithm passes these tests of *data independence*, without which its
/// [simple](crate::explore::Method::Automata) executions do not stand for all:
///
/// Three copies of the algorithm make the same steps. The first writes any values; in the second every update writes 0; in the
/// third it writes the opposite of the first.
///
/// * An operation of one copy returns if and only if it returns in the others: no step depends on a value.
/// * No scan of the second copy returns a 1.
/// * No entry is 1 in a scan of the first copy and of the third: it would be neither the initial value nor one that an
///   update wrote.
///
/// The algorithm has the [full form](crate::explore::snapshot::Form::full). Returns the number of states that were checked, or
/// how the copies differ.
///
/// ```
/// use linpoint::explore::algorithms::Bowman;
/// use linpoint::explore::laws::check_data_independence;
/// use linpoint::explore::snapshot::{Form, SnapshotAlgorithm};
/// assert!(check_data_independence(&Bowman::new(Form::full(3), None), 1000).is_ok());
/// ```
pub fn check_data_independence<A: SnapshotAlgorithm>(
    algorithm: &A,
    most: usize,
) -> Result<usize, String> {
    let start = Copies::start(algorithm);
    let mut seen = HashSet::from([start.packed(algorithm)]);
    let mut waiting = VecDeque::from([start]);
    let mut looked_at = 0;
    while looked_at < most
        && let Some(state) = waiting.pop_front()
    {
        looked_at += 1;
        for p in 0..algorithm.processes() {
            let calls = match state.open[p] {
                true => &[None][..],
                false => &CALLS,
            };
            for call in calls {
                let mut next = state.clone();
                next.step(algorithm, p, *call)?;
                if seen.insert(next.packed(algorithm)) {
                    waiting.push_back(next);
                }
            }
        }
    }
    Ok(looked_at)
}

const CALLS: [Option<Request>; 3] = [
    Some(FULL_CLIENT[0]),
    Some(FULL_CLIENT[1]),
    Some(FULL_CLIENT[2]),
];

/// What each copy calls when the first calls this.
fn calls(request: Request) -> [Request; 3] {
    match request {
        Request::Scan => [Request::Scan; 3],
        Request::Update(value) => [value, false, !value].map(Request::Update),
    }
}

/// The states of the three copies, and the processes that have an operation open.
struct Copies<A: Algorithm> {
    copies: [(A::Shared, Vec<A::Local>); 3],
    open: Vec<bool>,
}

impl<A: Algorithm> Clone for Copies<A> {
    fn clone(&self) -> Self {
        Copies {
            copies: self.copies.clone(),
            open: self.open.clone(),
        }
    }
}

impl<A: SnapshotAlgorithm> Copies<A> {
    fn start(algorithm: &A) -> Self {
        let n = algorithm.processes();
        Copies {
            copies: [(); 3].map(|()| (algorithm.shared(), vec![A::Local::default(); n])),
            open: vec![false; n],
        }
    }

    /// Process `p` calls an operation, if it has none open, and makes its next step in each copy.
    fn step(&mut self, algorithm: &A, p: usize, call: Option<Request>) -> Result<(), String> {
        let requests = call.map(calls);
        let mut steps = Vec::new();
        for (i, (shared, locals)) in self.copies.iter_mut().enumerate() {
            if let Some(requests) = &requests {
                algorithm.call(p, &requests[i], &mut locals[p]);
            }
            steps.push(algorithm.step(p, shared, &mut locals[p]));
        }
        self.open[p] = steps[0] == Step::Go;
        match steps[..] {
            [Step::Go, Step::Go, Step::Go]
            | [
                Step::Return(Answer::Done),
                Step::Return(Answer::Done),
                Step::Return(Answer::Done),
            ] => Ok(()),
            [
                Step::Return(Answer::View(view)),
                Step::Return(Answer::View(zero)),
                Step::Return(Answer::View(opposite)),
            ] => match zero == 0 && view & opposite == 0 {
                true => Ok(()),
                false => Err(format!(
                    "a scan of process {p} returns a value that no update wrote"
                )),
            },
            _ => Err(format!(
                "whether an operation of process {p} returns depends on the values of updates"
            )),
        }
    }

    fn packed(&self, algorithm: &A) -> Vec<u64> {
        let mut copies = self.copies.clone();
        let mut words = Vec::new();
        for (shared, locals) in &mut copies {
            let mut size = Measure::default();
            algorithm.layout(shared, &mut size);
            for local in locals.iter_mut() {
                algorithm.layout_local(local, &mut size);
            }
            let from = words.len();
            words.resize(from + size.0.div_ceil(64) as usize, 0);
            let mut writer = Writer::new(&mut words[from..]);
            algorithm.layout(shared, &mut writer);
            for local in locals {
                algorithm.layout_local(local, &mut writer);
            }
        }
        words.push(
            self.open
                .iter()
                .fold(0, |all, &open| all << 1 | u64::from(open)),
        );
        words
    }
}
