//! The least visibility as sets of writes: for sets of guarantees that have no faster form, and for witnesses.

use super::Guarantees;
use super::answer::{Why, Witness};
use super::graph::{Graph, Reason};
use super::memory::Linked;
use super::sessions::{Arbitrated, Base};
use crate::engine::{Budget, Limit};
use crate::history::OpId;

/// A set of positions.
type Bits = Vec<u64>;

fn add_all(to: &mut Bits, from: &Bits) -> bool {
    let mut is_new = false;
    for (a, b) in to.iter_mut().zip(from) {
        is_new |= *b & !*a != 0;
        *a |= b;
    }
    is_new
}

fn add(to: &mut Bits, i: u32) -> bool {
    let word = &mut to[i as usize / 64];
    let before = *word;
    *word |= 1 << (i % 64);
    *word != before
}

fn has(set: &Bits, i: u32) -> bool {
    set[i as usize / 64] >> (i % 64) & 1 == 1
}

/// What each read sees, and what each write brings with it; by position.
struct Least {
    sets: Vec<Bits>,
}

impl Least {
    fn of(linked: &Linked, guarantees: Guarantees) -> Least {
        let words = linked.len().div_ceil(64);
        let mut least = Least {
            sets: vec![vec![0; words]; linked.len()],
        };
        for (read, write) in linked.reads() {
            if let Some(write) = write {
                add(&mut least.sets[read as usize], write);
            }
        }
        while least.grow(linked, guarantees) {}
        least
    }

    /// Applies each rule once; returns whether anything was new.
    fn grow(&mut self, linked: &Linked, guarantees: Guarantees) -> bool {
        let asks = |guarantee| guarantees.contains(guarantee);
        let mut is_new = false;
        for line in &linked.lines {
            for (place, &later) in line.iter().enumerate() {
                let mut set = std::mem::take(&mut self.sets[later as usize]);
                let to_write = linked.op(later).is_write();
                for &earlier in &line[..place] {
                    let rule = match (linked.op(earlier).is_write(), to_write) {
                        (true, true) => Guarantees::MONOTONIC_WRITES,
                        (true, false) => Guarantees::READ_YOUR_WRITES,
                        (false, true) => Guarantees::WRITES_FOLLOW_READS,
                        (false, false) => Guarantees::MONOTONIC_READS,
                    };
                    if asks(rule) {
                        is_new |= match linked.op(earlier).is_write() {
                            true => add(&mut set, earlier),
                            false => add_all(&mut set, &self.sets[earlier as usize]),
                        };
                    }
                }
                if !to_write {
                    for write in (0..linked.len() as u32).filter(|&i| linked.op(i).is_write()) {
                        if has(&set, write) {
                            is_new |= add_all(&mut set, &self.sets[write as usize]);
                        }
                    }
                }
                self.sets[later as usize] = set;
            }
        }
        is_new
    }
}

/// The most operations for which sets are made.
const MOST_OPS: usize = 2_000;

pub(super) fn by_sets(
    linked: &Linked,
    guarantees: Guarantees,
    budget: &Budget,
) -> Result<Result<Arbitrated, Why>, Limit> {
    if linked.len() > MOST_OPS {
        return Err(Limit::Capacity(
            "this set of guarantees is decided for 2,000 operations at most",
        ));
    }
    budget.check()?;
    let least = Least::of(linked, guarantees);
    let writes: Vec<u32> = (0..linked.len() as u32)
        .filter(|&i| linked.op(i).is_write())
        .collect();
    let mut graph = Graph::new(linked.len());
    for &write in &writes {
        for &earlier in writes
            .iter()
            .filter(|&&x| has(&least.sets[write as usize], x))
        {
            graph.add(earlier, write, Reason::Process);
        }
    }
    if graph.sorted().is_err() {
        return Ok(Err(Why::NoOrder));
    }
    let mut arbitrated = Arbitrated::new(graph, Base::Dependencies);
    for (read, write) in linked.reads() {
        let key = linked.op(read).key;
        let is_visible = |&x: &u32| linked.op(x).key == key && has(&least.sets[read as usize], x);
        arbitrated.note(
            linked,
            read,
            write,
            writes.iter().copied().filter(is_visible),
        );
    }
    Ok(Ok(arbitrated))
}

/// The most operations of witnesses: they are long, since each read sees many writes.
pub(super) const MOST_WRITTEN: usize = 200;

/// The least visibility with these orders of writes, if that is not too long.
pub(super) fn witness(
    linked: &Linked,
    guarantees: Guarantees,
    arbitrations: Vec<(Option<u32>, Vec<OpId>)>,
) -> Witness {
    if linked.len() > MOST_WRITTEN {
        return Witness::TooLong;
    }
    let least = Least::of(linked, guarantees);
    let visible = linked.reads().map(|(read, _)| {
        let set = &least.sets[read as usize];
        let writes = (0..linked.len() as u32).filter(|&i| has(set, i));
        (
            linked.id(read),
            writes.map(|write| linked.id(write)).collect(),
        )
    });
    let visible = visible.collect();
    let all = || (0..linked.len() as u32).filter(|&i| linked.op(i).is_write());
    let arbitrations = arbitrations.into_iter().map(|(process, mut order)| {
        // Writes of which nothing is required come last.
        let missing: Vec<OpId> = all()
            .map(|i| linked.id(i))
            .filter(|id| !order.contains(id))
            .collect();
        order.extend(missing);
        (process, order)
    });
    Witness::Visibility {
        visible,
        arbitrations: arbitrations.collect(),
    }
}
