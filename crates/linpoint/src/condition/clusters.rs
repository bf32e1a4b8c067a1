//! Orders of the values of each key. All operations on one value come together in every order that explains the reads, the write
//! first (Gibbons and Korach, 1997). So orders of operations are orders of these clusters.

use std::collections::HashMap;

use super::answer::{Answer, Link, Why, Witness};
use super::graph::{Graph, Reason};
use super::memory::{Linked, Source};
use crate::history::OpId;

/// The cluster of an operation: the position of the write, or, past all positions, the initial value of a key.
fn cluster_of(linked: &Linked, position: u32) -> usize {
    match linked.source[position as usize] {
        Source::Itself => position as usize,
        Source::Write(write) => write as usize,
        Source::Initial => linked.len() + linked.op(position).key as usize,
    }
}

/// The members of a cluster that matter for time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    cluster: usize,
    key: u32,
    /// The first end, and the operation that ends so.
    first_end: (i64, u32),
    /// The last start, and the operation that starts so.
    last_start: (i64, u32),
}

impl Zone {
    /// Whether some operation of the cluster ends before another one starts.
    fn is_forward(&self) -> bool {
        self.first_end.0 < self.last_start.0
    }

    fn left(&self) -> (i64, bool) {
        (self.first_end.0.min(self.last_start.0), self.is_forward())
    }
}

/// Looks for an order in which an operation comes before another if its span ends before the span of the other starts. `reason`
/// says what that means.
pub(super) fn order_by_spans(
    linked: &Linked,
    span: &dyn Fn(u32) -> (i64, i64),
    reason: Reason,
) -> Answer {
    let all: Vec<u32> = (0..linked.len() as u32).collect();
    match zones(linked, &all, span, reason) {
        Ok(zones) => Answer::Holds(Witness::Order(linked.ids(&in_order(linked, &zones, span)))),
        Err(why) => Answer::Fails(why),
    }
}

/// The clusters of these operations in an order that keeps to time, key by key.
pub(super) fn zones(
    linked: &Linked,
    ops: &[u32],
    span: &dyn Fn(u32) -> (i64, i64),
    reason: Reason,
) -> Result<Vec<Zone>, Why> {
    let mut members: Vec<(usize, u32)> = ops.iter().map(|&i| (cluster_of(linked, i), i)).collect();
    members.sort_unstable();
    let mut zones: Vec<Zone> = Vec::new();
    for &(cluster, i) in &members {
        let (start, end) = span(i);
        if let Source::Write(write) = linked.source[i as usize]
            && end < span(write).0
        {
            return Err(Why::Future {
                read: linked.id(i),
                write: linked.id(write),
            });
        }
        let end = if cluster < linked.len() {
            end
        } else {
            i64::MIN
        };
        match zones.last_mut().filter(|zone| zone.cluster == cluster) {
            Some(zone) => {
                zone.first_end = zone.first_end.min((end, i));
                zone.last_start = zone.last_start.max((start, i));
            }
            None => zones.push(Zone {
                cluster,
                key: linked.op(i).key,
                first_end: (end, i),
                last_start: (start, i),
            }),
        }
    }
    zones.sort_unstable_by_key(|zone| (zone.key, zone.left(), zone.cluster));
    match crossing(&zones) {
        Some((a, b)) => Err(why_crossing(linked, a, b, reason)),
        None => Ok(zones),
    }
}

/// Two clusters of which each has to come before the other.
fn crossing(zones: &[Zone]) -> Option<(Zone, Zone)> {
    for of_key in zones.chunk_by(|a, b| a.key == b.key) {
        let forward: Vec<Zone> = of_key.iter().copied().filter(Zone::is_forward).collect();
        for pair in forward.windows(2) {
            if pair[1].first_end.0 < pair[0].last_start.0 {
                return Some((pair[0], pair[1]));
            }
        }
        for zone in of_key.iter().filter(|zone| !zone.is_forward()) {
            let before = forward.partition_point(|other| other.first_end.0 < zone.last_start.0);
            if let Some(other) = before.checked_sub(1).map(|last| forward[last])
                && zone.first_end.0 < other.last_start.0
            {
                return Some((other, *zone));
            }
        }
    }
    None
}

fn why_crossing(linked: &Linked, a: Zone, b: Zone, reason: Reason) -> Why {
    let is_initial = |zone: &Zone| zone.cluster >= linked.len();
    let (a, b) = if is_initial(&b) { (b, a) } else { (a, b) };
    let link = |from: u32, to: u32, reason: Reason| Link {
        from: linked.id(from),
        to: linked.id(to),
        reason: match reason {
            // What ended without a return ended with a crash.
            Reason::Time if linked.op(from).is_pending() => Reason::Crash,
            other => linked.reason(other),
        },
    };
    let mut links = vec![link(b.first_end.1, a.last_start.1, reason)];
    if is_initial(&a) {
        // The read of the initial value comes before the write.
        links.push(link(a.last_start.1, b.cluster as u32, Reason::Initial));
        if b.first_end.1 != b.cluster as u32 {
            links.push(link(b.cluster as u32, b.first_end.1, Reason::ReadsFrom));
        }
    } else {
        for (from, to, of) in [
            (a.last_start.1, a.first_end.1, Reason::SameValue),
            (a.first_end.1, b.last_start.1, reason),
            (b.last_start.1, b.first_end.1, Reason::SameValue),
        ] {
            if from != to {
                links.push(link(from, to, of));
            }
        }
    }
    let writes = [a.cluster, b.cluster]
        .into_iter()
        .filter(|&cluster| cluster < linked.len());
    let because = writes.map(|write| linked.id(write as u32)).collect();
    Why::Circle { links, because }
}

/// The operations in the order of their clusters, and of different keys by time.
fn in_order(linked: &Linked, zones: &[Zone], span: &dyn Fn(u32) -> (i64, i64)) -> Vec<u32> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); linked.len() + linked.writers.len()];
    for i in 0..linked.len() as u32 {
        let cluster = cluster_of(linked, i);
        members[cluster].push(i);
    }
    let mut moments: Vec<(i64, u32)> = Vec::with_capacity(linked.len());
    for of_key in zones.chunk_by(|a, b| a.key == b.key) {
        let mut moment = i64::MIN;
        for zone in of_key {
            members[zone.cluster].sort_by_key(|&i| (!linked.op(i).is_write(), span(i).0));
            for &i in members[zone.cluster].iter() {
                moment = moment.max(span(i).0);
                moments.push((moment, i));
            }
        }
    }
    moments.sort_by_key(|&(moment, _)| moment);
    moments.into_iter().map(|(_, i)| i).collect()
}

/// Looks for an order of the operations of each key that extends the order of each process.
pub(super) fn coherent(linked: &Linked) -> Answer {
    let mut graph = Graph::new(linked.len() + linked.writers.len());
    let mut last: HashMap<(u32, u32), u32> = HashMap::new();
    let link = |from: u32, to: u32, reason: Reason| Link {
        from: linked.id(from),
        to: linked.id(to),
        reason: linked.reason(reason),
    };
    for i in 0..linked.len() as u32 {
        let op = linked.op(i);
        let Some(before) = last.insert((op.process, op.key), i) else {
            continue;
        };
        let (a, b) = (cluster_of(linked, before), cluster_of(linked, i));
        let circle = |links: Vec<Link>| {
            Answer::Fails(Why::Circle {
                links,
                because: Vec::new(),
            })
        };
        if a == b && op.is_write() {
            return circle(vec![
                link(before, i, Reason::Process),
                link(i, before, Reason::ReadsFrom),
            ]);
        }
        if a != b && b >= linked.len() {
            let mut links = vec![link(before, i, Reason::Process)];
            links.push(link(i, a as u32, Reason::Initial));
            if a as u32 != before {
                links.push(link(a as u32, before, Reason::ReadsFrom));
            }
            return circle(links);
        }
        if a != b {
            graph.add(a as u32, b as u32, Reason::Members(before, i));
        }
    }
    let order = match graph.sorted() {
        Ok(order) => order,
        Err(cycle) => return Answer::Fails(why_incoherent(linked, &graph, &cycle)),
    };
    Answer::Holds(Witness::Orders(orders_of_keys(linked, &order)))
}

fn why_incoherent(linked: &Linked, graph: &Graph, cycle: &[u32]) -> Why {
    let pairs: Vec<(u32, u32)> = cycle
        .iter()
        .filter_map(|&number| match graph.edge(number).reason {
            Reason::Members(a, b) => Some((a, b)),
            _ => None,
        })
        .collect();
    let mut links = Vec::new();
    for (i, &(a, b)) in pairs.iter().enumerate() {
        let (next, _) = pairs[(i + 1) % pairs.len()];
        links.push(Link {
            from: linked.id(a),
            to: linked.id(b),
            reason: Reason::Process,
        });
        if b != next {
            links.push(Link {
                from: linked.id(b),
                to: linked.id(next),
                reason: Reason::SameValue,
            });
        }
    }
    let clusters = cycle.iter().map(|&number| graph.edge(number).from);
    let writes = clusters.filter(|&cluster| (cluster as usize) < linked.len());
    Why::Circle {
        links,
        because: writes.map(|write| linked.id(write)).collect(),
    }
}

fn orders_of_keys(linked: &Linked, clusters: &[u32]) -> Vec<Vec<OpId>> {
    let mut rank = vec![0u32; linked.len() + linked.writers.len()];
    clusters
        .iter()
        .zip(1u32..)
        .for_each(|(&cluster, i)| rank[cluster as usize] = i);
    // The initial value comes first.
    rank[linked.len()..].fill(0);
    let mut orders: Vec<Vec<u32>> = vec![Vec::new(); linked.writers.len()];
    for i in 0..linked.len() as u32 {
        orders[linked.op(i).key as usize].push(i);
    }
    for order in &mut orders {
        order.sort_by_key(|&i| (rank[cluster_of(linked, i)], !linked.op(i).is_write()));
    }
    orders
        .iter()
        .map(|order| linked.ids(order))
        .filter(|order| !order.is_empty())
        .collect()
}
