//! Snapshot isolation of lists where the order of some appends is open, since no read shows them. Two transactions that append to one
//! key are not concurrent, so each pair of them has an order, which is tried.

use crate::budget::{Limit, Ticker};

use super::graph::{Graph, GraphBuilder, Kind, Paths, Shape};
use super::lists::Versions;
use super::log::Txn;
use super::observed::Observed;

/// What the orders come to.
pub(super) enum Tried {
    /// With the last of the graphs there is no cycle.
    Fits(Graph, Vec<Txn>),
    /// Whatever the order, there is a cycle, and all of these go through these transactions.
    Cyclic(Vec<Txn>),
}

/// With more open pairs than this, only orders that follow the known dependencies are tried.
const MOST_PAIRS: usize = 2000;

/// Tries the orders of the appends that no read shows, until one has no cycle along these paths; `None` if there are too many.
pub(super) fn search(
    base: &GraphBuilder,
    observed: &Observed,
    versions: &Versions,
    paths: &Paths,
    returns: &[u32],
    ticker: &mut Ticker<'_>,
) -> Result<Option<Tried>, Limit> {
    let mut search = Search {
        base,
        observed,
        versions,
        paths,
        has_few_pairs: false,
        chosen: Vec::new(),
        involved: Vec::new(),
    };
    let rows = (0..observed.keys).map(|key| versions.unseen.row(key).len());
    let pairs: usize = rows.map(|row| row * row.saturating_sub(1) / 2).sum();
    search.has_few_pairs = pairs <= MOST_PAIRS;
    // Most databases commit in about the order in which transactions return.
    if let (graph, Shape::Order(order)) = search.shape(&search.chain(returns)) {
        return Ok(Some(Tried::Fits(graph, order)));
    }
    Ok(match search.run(ticker)? {
        Found::Fits(graph, order) => Some(Tried::Fits(graph, order)),
        Found::TooMany => None,
        Found::Cyclic => {
            search.involved.sort_unstable();
            search.involved.dedup();
            Some(Tried::Cyclic(search.involved))
        }
    })
}

struct Search<'a> {
    base: &'a GraphBuilder,
    observed: &'a Observed,
    versions: &'a Versions,
    paths: &'a Paths,
    /// Whether there are few enough pairs to try all orders.
    has_few_pairs: bool,
    /// The pairs whose order was chosen.
    chosen: Vec<(Txn, Txn)>,
    /// The transactions of the cycles that were found.
    involved: Vec<Txn>,
}

enum Found {
    Fits(Graph, Vec<Txn>),
    Cyclic,
    TooMany,
}

impl Search<'_> {
    fn run(&mut self, ticker: &mut Ticker<'_>) -> Result<Found, Limit> {
        ticker.budget().check()?;
        let order = match self.shape(&[]) {
            (_, Shape::Order(order)) => order,
            (graph, Shape::Cycles(parts)) => {
                for part in &parts {
                    self.involved
                        .extend(graph.transactions_of(self.paths, part));
                }
                return Ok(Found::Cyclic);
            }
        };
        // An order in which the known dependencies can be, for all appends of each key at once.
        let mut place = vec![0; self.base.transaction_count()];
        for (i, &txn) in order.iter().enumerate() {
            place[txn as usize] = i as u32;
        }
        let chain = self.chain(&place);
        let (graph, parts) = match self.shape(&chain) {
            (graph, Shape::Order(order)) => return Ok(Found::Fits(graph, order)),
            (graph, Shape::Cycles(parts)) => (graph, parts),
        };
        if !self.has_few_pairs {
            return Ok(Found::TooMany);
        }
        // That has a cycle, which goes through a pair whose order was not known.
        let cycle = parts
            .first()
            .map(|part| graph.short_cycle(self.paths, part, 16).0);
        let is_guess = |edge: &&super::graph::Dependency| {
            let pair = (edge.from, edge.to);
            edge.kind == Kind::Ww && chain.contains(&pair) && !self.chosen.contains(&pair)
        };
        let guess = cycle.iter().flatten().find(is_guess);
        let Some((a, b)) = guess.map(|edge| (edge.from, edge.to)) else {
            return Ok(Found::TooMany);
        };
        for pair in [(b, a), (a, b)] {
            self.chosen.push(pair);
            let found = self.run(ticker)?;
            self.chosen.pop();
            if !matches!(found, Found::Cyclic) {
                return Ok(found);
            }
        }
        Ok(Found::Cyclic)
    }

    /// The appends of each key that no read shows, one after the other by the place of their transactions.
    fn chain(&self, place: &[u32]) -> Vec<(Txn, Txn)> {
        let mut chain = Vec::new();
        for key in 0..self.observed.keys {
            let mut unseen = self.versions.unseen.row(key).to_vec();
            unseen.sort_unstable_by_key(|txn| place[*txn as usize]);
            chain.extend(unseen.windows(2).map(|pair| (pair[0], pair[1])));
        }
        chain
    }

    /// The graph with the chosen orders and these, and whether it has cycles.
    fn shape(&self, pairs: &[(Txn, Txn)]) -> (Graph, Shape) {
        let mut graph = self.base.clone();
        for &(a, b) in self.chosen.iter().chain(pairs) {
            graph.edge(a, b, Kind::Ww);
        }
        let graph = graph.build();
        let shape = graph.shape(self.paths);
        (graph, shape)
    }
}
