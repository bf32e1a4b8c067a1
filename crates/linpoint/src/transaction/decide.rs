//! Decides one level after the other, and keeps what several of them need.

use std::time::Duration;

use crate::budget::{Budget, Limit, Ticker};
use crate::error::Error;
use crate::history::OpId;

use super::Verdict;
use super::classify::{self, Cycle};
use super::dependencies::{
    self, LostUpdate, Successors, add_time, lost_append, of_lists, of_registers,
};
use super::explain::{Explainer, Facts};
use super::graph::{Graph, GraphBuilder, Kind, Shape};
use super::level::Level;
use super::lists::{self, Versions};
use super::log::{Log, Model, Txn};
use super::observed::{Flaw, Observed, Repeated, Unfit};
use super::open_order::{self, Tried};
use super::reduce;
use super::registers;
use super::replay::{self, Moment, Witness};
use super::search::{Lines, Plan, Rules, search};
use super::shortcuts;
use super::violation::{Anomaly, Violation};
use super::weak::{self, Clocks, Edges};

pub(super) struct Decider<'a, 'h> {
    log: &'a Log<'h>,
    ticker: Ticker<'a>,
    facts: Result<Known, Unfit>,
}

/// What all levels are decided from.
struct Known {
    observed: Observed,
    order: VersionOrder,
    unrepeatable: Option<Flaw>,
    /// The edges of causal consistency, once they are needed; `None` in it if sessions and reads have a cycle.
    causal: Option<Option<Edges>>,
}

/// What is known of the order of versions.
enum VersionOrder {
    Lists(Versions),
    Registers(Successors),
}

impl Known {
    /// The first update that is lost, if one is.
    fn lost_update(&self) -> Option<LostUpdate> {
        match &self.order {
            VersionOrder::Lists(versions) => lost_append(&self.observed, versions),
            VersionOrder::Registers(successors) => successors.lost.first().copied(),
        }
    }
}

impl VersionOrder {
    fn versions(&self) -> Option<&Versions> {
        match self {
            VersionOrder::Lists(versions) => Some(versions),
            VersionOrder::Registers(_) => None,
        }
    }
}

/// Why a verdict could not be found.
enum Stopped {
    Limit(Limit),
    Error(Error),
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Stopped::Limit(limit)
    }
}

fn bug(what: &str) -> Stopped {
    Stopped::Error(Error::bug(what))
}

impl<'a, 'h> Decider<'a, 'h> {
    pub(super) fn new(log: &'a Log<'h>, budget: &'a Budget) -> Self {
        let facts = match log.model {
            Model::Registers { .. } => registers::observe(log).map(|observed| {
                let order = VersionOrder::Registers(Successors::new(&observed));
                (observed, order, registers::unrepeatable(log))
            }),
            Model::Lists => lists::observe(log).map(|(observed, versions)| {
                let order = VersionOrder::Lists(versions);
                (observed, order, lists::unrepeatable(log))
            }),
        };
        Decider {
            log,
            ticker: Ticker::new(budget),
            facts: facts.map(|(observed, order, unrepeatable)| Known {
                observed,
                order,
                unrepeatable,
                causal: None,
            }),
        }
    }

    pub(super) fn decide(&mut self, level: Level) -> Result<Verdict, Error> {
        let log = self.log;
        let facts = match &mut self.facts {
            Ok(facts) => facts,
            Err(Unfit::Flaw(flaw)) => {
                let violation = Explainer::new(log).flaw(flaw);
                return Ok(Verdict::Violated(Box::new(violation)));
            }
            Err(Unfit::Repeated(repeated)) => {
                return Ok(Verdict::Undecided(describe(log, repeated)));
            }
        };
        let mut work = Work {
            log,
            ticker: &mut self.ticker,
            level,
        };
        let verdict = work.ticker.budget().check().map_err(Stopped::from);
        let verdict = verdict.and_then(|()| match level {
            Level::ReadCommitted | Level::ReadAtomic | Level::Causal | Level::Pl2 => {
                work.weak(facts)
            }
            _ => work.strong(facts),
        });
        match verdict {
            Ok(verdict) => Ok(verdict),
            Err(Stopped::Limit(limit)) => Ok(Verdict::Undecided(limit.to_string())),
            Err(Stopped::Error(error)) => Err(error),
        }
    }
}

/// Why it cannot be told who reads from whom.
fn describe(log: &Log<'_>, repeated: &Repeated) -> String {
    let (key, value) = (log.key(repeated.key), log.value(repeated.value));
    let of = |txn: Txn| match (log.op(txn), log.failed(txn)) {
        (Some(id), _) => log.history.describe(id),
        (None, Some(failed)) => format!("{} by process {}", failed.call_text(), failed.process),
        (None, None) => String::new(),
    };
    let second = of(repeated.writers.1);
    match repeated.writers.0 {
        Some(first) => format!(
            "values repeat: {value} is written to {key} twice, by {} and by {second}; levels are decided where the values of each key are distinct",
            of(first)
        ),
        None => format!(
            "values repeat: {value}, which {key} holds at first, is written by {second}; levels are decided where the values of each key are distinct"
        ),
    }
}

/// The decision of one level.
struct Work<'w, 'a, 'h> {
    log: &'w Log<'h>,
    ticker: &'w mut Ticker<'a>,
    level: Level,
}

impl Work<'_, '_, '_> {
    fn facts<'f>(&self, known: &'f Known) -> Facts<'f> {
        Facts {
            observed: &known.observed,
            versions: known.order.versions(),
            level: self.level,
        }
    }

    /// The verdict on a cycle.
    fn violated(&self, facts: Facts<'_>, cycle: &Cycle) -> Result<Verdict, Stopped> {
        let explained = Explainer::new(self.log).cycle(facts, cycle.anomaly, &cycle.edges);
        let explained = explained.filter(|violation| !violation.cycle.is_empty());
        let mut violation =
            explained.ok_or_else(|| bug("a dependency of a cycle has no reason in the history"))?;
        violation.is_smallest = cycle.is_shortest;
        Ok(Verdict::Violated(Box::new(violation)))
    }

    fn lost(&self, lost: LostUpdate) -> Verdict {
        let explainer = Explainer::new(self.log);
        self.broken(explainer.lost_update(lost.first, lost.second, lost.key))
    }

    fn broken(&self, violation: Violation) -> Verdict {
        Verdict::Violated(Box::new(violation))
    }

    /// Read committed, read atomic, causal consistency and PL-2.
    fn weak(&mut self, known: &mut Known) -> Result<Verdict, Stopped> {
        if matches!(self.level, Level::ReadAtomic | Level::Causal)
            && let Some(flaw) = &known.unrepeatable
        {
            return Ok(self.broken(Explainer::new(self.log).flaw(flaw)));
        }
        let observed = &known.observed;
        let edges = match self.level {
            Level::ReadCommitted => weak::read_committed(observed, self.ticker)?,
            Level::ReadAtomic => weak::read_atomic(observed, self.ticker)?,
            Level::Causal => self.causal(known)?.clone().unwrap_or_default(),
            _ => Vec::new(),
        };
        let facts = self.facts(known);
        if let Some(verdict) = self.stale_initial(facts, &edges)? {
            return Ok(verdict);
        }
        let graph = weak_graph(facts, edges).build();
        let paths = classify::paths(self.level);
        match graph.shape(&paths) {
            Shape::Cycles(parts) => {
                let parts = parts.iter();
                let mut among: Vec<Txn> = parts
                    .flat_map(|part| graph.transactions_of(&paths, part))
                    .collect();
                among.sort_unstable();
                self.weak_cycle(facts, graph, &among)
            }
            Shape::Order(order) => {
                let order = committed(facts.observed, order);
                let level = self.level;
                let fits = replay::is_commit_order(
                    self.log,
                    facts.observed,
                    facts.versions,
                    level,
                    &order,
                );
                match fits {
                    Some(false) => Err(bug("the order of commits does not explain the reads")),
                    _ => Ok(Verdict::Holds(Witness::Order(ids(&order)))),
                }
            }
        }
    }

    /// The verdict on cycles among these transactions, at a level up to causal consistency; with all edges that the level defines,
    /// so that a shortest one is found.
    fn weak_cycle(
        &mut self,
        facts: Facts<'_>,
        sparse: Graph,
        among: &[Txn],
    ) -> Result<Verdict, Stopped> {
        let edges = match self.level {
            Level::Pl2 => Some(Vec::new()),
            level => shortcuts::observed(facts.observed, level, among, self.ticker)?,
        };
        let is_complete = edges.is_some();
        let paths = classify::paths(self.level);
        let graph = match edges {
            None => sparse,
            Some(edges) => {
                drop(sparse);
                let mut graph = weak_graph(facts, edges);
                shortcuts::of_sessions(&mut graph, facts.observed);
                if let Some(versions) = facts.versions {
                    shortcuts::of_lists(&mut graph, facts.observed, versions);
                }
                graph.build()
            }
        };
        let Shape::Cycles(parts) = graph.shape(&paths) else {
            return Err(bug("a cycle is gone when more edges are known"));
        };
        let mut cycle = classify::worst_weak(&graph, self.level, &parts);
        cycle.is_shortest &= is_complete || cycle.edges.len() == 2;
        self.violated(facts, &cycle)
    }

    /// A read of an initial value by a transaction that sees a write of the key.
    fn stale_initial(&self, facts: Facts<'_>, edges: &Edges) -> Result<Option<Verdict>, Stopped> {
        let initial = facts.observed.initial;
        let Some(&(writer, _)) = edges.iter().find(|(_, later)| *later == initial) else {
            return Ok(None);
        };
        let anomaly = classify::named_by(facts.level);
        let violation = Explainer::new(self.log).stale_initial(facts, writer, anomaly);
        let violation = violation
            .ok_or_else(|| bug("a stale read of an initial value has no reason in the history"))?;
        Ok(Some(self.broken(violation)))
    }

    /// The edges of causal consistency; `None` if sessions and reads have a cycle.
    fn causal<'k>(&mut self, known: &'k mut Known) -> Result<&'k Option<Edges>, Stopped> {
        let edges = match known.causal.take() {
            Some(edges) => edges,
            None => match Clocks::new(&known.observed, self.ticker)? {
                None => None,
                Some(clocks) => Some(weak::causal(&known.observed, &clocks, self.ticker)?),
            },
        };
        Ok(known.causal.insert(edges))
    }

    /// The levels from prefix consistency on.
    fn strong(&mut self, known: &mut Known) -> Result<Verdict, Stopped> {
        if let Some(flaw) = &known.unrepeatable {
            return Ok(self.broken(Explainer::new(self.log).flaw(flaw)));
        }
        let is_complete = match &known.order {
            VersionOrder::Lists(_) => true,
            VersionOrder::Registers(successors) => {
                successors.lost.is_empty() && has_no_blind_writes(&known.observed)
            }
        };
        // Where the order of versions is open, what causal consistency says of it helps.
        let needs_causal = !is_complete && self.level.keeps_sessions();
        if needs_causal {
            let mut causal = Work {
                log: self.log,
                ticker: &mut *self.ticker,
                level: Level::Causal,
            };
            let verdict = causal.weak(known)?;
            if let Verdict::Violated(_) = verdict {
                return Ok(verdict);
            }
        }
        let facts = self.facts(known);
        let mut graph = match &known.order {
            VersionOrder::Lists(versions) => of_lists(facts.observed, versions),
            VersionOrder::Registers(successors) => {
                let causal = known.causal.as_ref().and_then(Option::as_ref);
                let causal = causal.filter(|_| needs_causal);
                of_registers(facts.observed, successors, causal)
            }
        };
        if self.level.keeps_sessions() {
            weak::add_sessions(&mut graph, facts.observed);
        }
        if self.level == Level::StrictSerializable {
            add_time(&mut graph, self.log, facts.observed);
        }
        let graph_builder = graph;
        let graph = graph_builder.clone().build();
        let paths = classify::paths(self.level);
        let order = match graph.shape(&paths) {
            Shape::Cycles(_) => return self.cyclic(known, graph_builder, is_complete),
            Shape::Order(order) => order,
        };
        // Whichever of the two writes is the later one, its transaction did not see the other one.
        let is_snapshot = matches!(
            self.level,
            Level::SnapshotIsolation | Level::SessionSnapshotIsolation
        );
        if let Some(lost) = known.lost_update().filter(|_| is_snapshot) {
            return Ok(self.lost(lost));
        }
        if !is_complete {
            return self.searched(known);
        }
        let (graph, order) = match self.with_open_appends(facts, &graph_builder, graph, order)? {
            Ok(fitting) => fitting,
            Err(verdict) => return Ok(verdict),
        };
        self.witnessed(facts, &graph, &order)
    }

    /// Orders the appends that no read shows, where that matters. The inner error is a verdict.
    fn with_open_appends(
        &mut self,
        facts: Facts<'_>,
        base: &GraphBuilder,
        graph: Graph,
        order: Vec<Txn>,
    ) -> Result<Result<(Graph, Vec<Txn>), Verdict>, Stopped> {
        let is_open = |versions: &&Versions| {
            let mut rows = 0..facts.observed.keys;
            rows.any(|key| versions.unseen.row(key).len() > 1)
        };
        let matters = matches!(
            self.level,
            Level::SnapshotIsolation | Level::SessionSnapshotIsolation
        );
        let Some(versions) = facts.versions.filter(is_open).filter(|_| matters) else {
            return Ok(Ok((graph, order)));
        };
        // If they can run one after the other, all appends have an order.
        let serial = match self.level.keeps_sessions() {
            true => Level::SessionSerializable,
            false => Level::Serializable,
        };
        if let Shape::Order(order) = graph.shape(&classify::paths(serial)) {
            let order = committed(facts.observed, order);
            let moments = order.iter().map(|&txn| OpId(txn));
            let moments = moments.flat_map(|id| [Moment::Start(id), Moment::Commit(id)]);
            return Ok(Err(self.scheduled(moments.collect())?));
        }
        let paths = classify::paths(self.level);
        let returns = self.log.history.rets();
        let tried =
            open_order::search(base, facts.observed, versions, &paths, returns, self.ticker)?;
        Ok(match tried {
            Some(Tried::Fits(graph, order)) => Ok((graph, order)),
            Some(Tried::Cyclic(txns)) => {
                let what = "no order of the appends that no read shows, and so no order of the snapshots and commits";
                let violation = Explainer::new(self.log).no_order(&txns, what, false);
                Err(self.broken(violation))
            }
            None => Err(Verdict::Undecided(
                "too many appends are shown by no read to try all their orders".to_owned(),
            )),
        })
    }

    /// The verdict on the cycles of a graph. `is_complete` says that the reads show the order of all versions.
    fn cyclic(
        &self,
        known: &Known,
        mut graph: GraphBuilder,
        is_complete: bool,
    ) -> Result<Verdict, Stopped> {
        let observed = &known.observed;
        shortcuts::of_sessions(&mut graph, observed);
        if let VersionOrder::Lists(versions) = &known.order {
            shortcuts::of_lists(&mut graph, observed, versions);
        }
        let mut cycle = self.worst(graph.clone())?;
        if let VersionOrder::Registers(successors) = &known.order
            && cycle.edges.len() > 2
        {
            // No read shows that a version is later than one that was overwritten twice, but it counts.
            cycle.is_shortest &= is_complete;
            if cycle.is_shortest {
                shortcuts::of_registers(&mut graph, observed, successors);
                let closed = self.worst(graph)?;
                cycle.is_shortest = closed.is_shortest && closed.edges.len() == cycle.edges.len();
            }
        }
        // Prefix consistency allows lost updates.
        let is_worse = matches!(cycle.anomaly, Anomaly::G0 | Anomaly::G1c);
        if !is_worse
            && self.level != Level::Prefix
            && let Some(lost) = known.lost_update()
        {
            return Ok(self.lost(lost));
        }
        self.violated(self.facts(known), &cycle)
    }

    /// The worst cycle of a graph that has one.
    fn worst(&self, graph: GraphBuilder) -> Result<Cycle, Stopped> {
        let graph = graph.build();
        match graph.shape(&classify::paths(self.level)) {
            Shape::Cycles(parts) => Ok(classify::worst(&graph, self.level, &parts)),
            Shape::Order(_) => Err(bug("a cycle is gone when more edges are known")),
        }
    }

    /// The verdict where there is no cycle and the order of versions is known.
    fn witnessed(
        &self,
        facts: Facts<'_>,
        graph: &Graph,
        order: &[Txn],
    ) -> Result<Verdict, Stopped> {
        let order = committed(facts.observed, order.to_vec());
        match self.level {
            Level::Serializable | Level::SessionSerializable | Level::StrictSerializable => {
                match replay::is_serial(self.log, self.level, &order) {
                    true => Ok(Verdict::Holds(Witness::Order(ids(&order)))),
                    false => Err(bug("the serial order does not explain the reads")),
                }
            }
            _ => {
                let schedule = schedule(graph, self.level, &order);
                self.scheduled(schedule)
            }
        }
    }

    fn scheduled(&self, schedule: Vec<Moment>) -> Result<Verdict, Stopped> {
        match replay::is_schedule(self.log, self.level, &schedule) {
            true => Ok(Verdict::Holds(Witness::Schedule(schedule))),
            false => Err(bug("the schedule does not explain the reads")),
        }
    }

    /// Looks for an order near that of time, with the rules by which it was found: most databases are nearly in the order of time,
    /// and nearly serializable.
    fn found_near(&self, observed: &Observed, plan: Plan) -> Option<(Vec<Moment>, Rules)> {
        let serial = (plan.rules != Rules::Serial).then_some(Rules::Serial);
        let rules = serial.into_iter().chain([plan.rules]);
        let near = rules.flat_map(|rules| NEAR.map(|(ahead, time)| (rules, ahead, time)));
        let near = near.filter(|(_, ahead, _)| *ahead < plan.ahead);
        near.into_iter().find_map(|(rules, ahead, time)| {
            let budget = self.ticker.budget().slice(time);
            let near = Plan {
                rules,
                ahead,
                lines: Lines::Sessions,
            };
            let found = search(self.log, observed, near, &mut Ticker::new(&budget));
            Some((found.ok()??, rules))
        })
    }

    /// Searches for an order of transactions on registers whose order of versions is open.
    fn searched(&mut self, known: &Known) -> Result<Verdict, Stopped> {
        let (log, level, observed) = (self.log, self.level, &known.observed);
        let plan = plan(level);
        let (found, rules) = match self.found_near(observed, plan) {
            Some((moments, rules)) => (Some(moments), rules),
            None => (search(log, observed, plan, self.ticker)?, plan.rules),
        };
        match found {
            Some(moments) if plan.rules == Rules::Serial => {
                let order: Vec<Txn> = moments.iter().map(|moment| moment.op().0).collect();
                match replay::is_serial(log, level, &order) {
                    true => Ok(Verdict::Holds(Witness::Order(ids(&order)))),
                    false => Err(bug("the serial order does not explain the reads")),
                }
            }
            // One after the other, transactions commit before the next one starts.
            Some(moments) if rules == Rules::Serial => {
                let starts = moments.into_iter();
                let both = starts.flat_map(|start| [start, Moment::Commit(start.op())]);
                self.scheduled(both.collect())
            }
            Some(moments) => self.scheduled(moments),
            None => {
                let core = reduce::unordered(log, observed, plan, self.ticker);
                let what = match plan.rules {
                    Rules::Serial => "no order",
                    Rules::Snapshot | Rules::Prefix => "no order of the snapshots and commits",
                };
                let violation = Explainer::new(log).no_order(&core.txns, what, core.is_minimal);
                Ok(self.broken(violation))
            }
        }
    }
}

/// How far from the order of time orders are looked for first, and how long.
const NEAR: [(u32, Duration); 3] = [
    (0, Duration::from_secs(2)),
    (64, Duration::from_secs(2)),
    (1024, Duration::from_secs(5)),
];

fn plan(level: Level) -> Plan {
    let rules = match level {
        Level::Serializable | Level::SessionSerializable | Level::StrictSerializable => {
            Rules::Serial
        }
        Level::SnapshotIsolation | Level::SessionSnapshotIsolation => Rules::Snapshot,
        _ => Rules::Prefix,
    };
    Plan {
        rules,
        lines: match level.keeps_sessions() {
            true => Lines::Sessions,
            false => Lines::None,
        },
        ahead: match level {
            Level::StrictSerializable => 0,
            _ => Plan::ANY_TIME,
        },
    }
}

/// Whether every transaction that writes a register reads it from another one first, so that the reads show the order of the writes.
fn has_no_blind_writes(observed: &Observed) -> bool {
    observed.txns.iter().all(|&txn| {
        let reads = observed.reads(txn);
        let is_read = |key: &u32| reads.iter().any(|read| read.key == *key);
        observed.writes(txn).iter().all(is_read)
    })
}

/// The graph that decides a level up to causal consistency, with these edges of its own.
fn weak_graph(facts: Facts<'_>, edges: Edges) -> GraphBuilder {
    let mut graph = GraphBuilder::new(facts.observed.initial as usize + 1);
    weak::add_sessions_and_reads(&mut graph, facts.observed);
    if let Some(versions) = facts.versions {
        dependencies::add_lists_ww(&mut graph, facts.observed, versions);
    }
    for (from, to) in edges {
        graph.edge(from, to, Kind::Observed);
    }
    graph
}

/// The transactions that count, in this order.
fn committed(observed: &Observed, mut order: Vec<Txn>) -> Vec<Txn> {
    let counts = |txn: Txn| {
        let place = observed.place.get(txn as usize);
        place.is_some_and(|(session, _)| *session != u32::MAX)
    };
    order.retain(|&txn| counts(txn));
    order
}

fn ids(order: &[Txn]) -> Vec<OpId> {
    order.iter().map(|&txn| OpId(txn)).collect()
}

/// The schedule in which transactions commit in this order, and each starts when all have committed that must have by then.
fn schedule(graph: &Graph, level: Level, order: &[Txn]) -> Vec<Moment> {
    let mut place = vec![0u32; graph.transaction_count()];
    for (i, &txn) in order.iter().enumerate() {
        place[txn as usize] = i as u32 + 1;
    }
    // How many have committed when a transaction starts.
    let mut start = vec![0u32; graph.transaction_count()];
    let kinds: &[Kind] = match level {
        Level::Prefix => &[Kind::Wr, Kind::Session],
        _ => &[Kind::Ww, Kind::Wr, Kind::Session],
    };
    for &txn in order {
        for next in graph.next_of(txn, kinds) {
            let start = &mut start[next as usize];
            *start = (*start).max(place[txn as usize]);
        }
    }
    let mut starts: Vec<Txn> = order.to_vec();
    starts.sort_by_key(|&txn| start[txn as usize]);
    let mut starts = starts.into_iter().peekable();
    let mut schedule = Vec::with_capacity(order.len() * 2);
    for committed in 0..=order.len() {
        while let Some(txn) = starts.next_if(|&txn| start[txn as usize] == committed as u32) {
            schedule.push(Moment::Start(OpId(txn)));
        }
        if let Some(&txn) = order.get(committed) {
            schedule.push(Moment::Commit(OpId(txn)));
        }
    }
    schedule
}
