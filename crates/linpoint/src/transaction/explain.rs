//! Violations in words. Each sentence is found in what was recorded, and not taken over from the algorithm that found the violation.

use crate::text::shortened;

use super::graph::{Dependency, Kind};
use super::level::Level;
use super::lists::Versions;
use super::log::{Action, Log, Txn};
use super::observed::{Flaw, Observed};
use super::violation::{Anomaly, Edge, Member, Variant, Violation};
use super::weak::before;

/// Tells what a violation is about.
pub(super) struct Explainer<'a, 'h> {
    log: &'a Log<'h>,
    names: Vec<Txn>,
}

/// What the sentences about a cycle are found in.
#[derive(Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) observed: &'a Observed,
    /// Of lists.
    pub(super) versions: Option<&'a Versions>,
    pub(super) level: Level,
}

impl<'a, 'h> Explainer<'a, 'h> {
    pub(super) fn new(log: &'a Log<'h>) -> Self {
        Explainer {
            log,
            names: Vec::new(),
        }
    }

    fn number(&mut self, txn: Txn) -> usize {
        match self.names.iter().position(|&named| named == txn) {
            Some(number) => number,
            None => {
                self.names.push(txn);
                self.names.len() - 1
            }
        }
    }

    /// The name of a transaction: T1, T2, ... in the order in which they are named.
    fn name(&mut self, txn: Txn) -> String {
        format!("T{}", self.number(txn) + 1)
    }

    fn key(&self, key: u32) -> String {
        shortened(&self.log.key(key).to_string()).into_owned()
    }

    fn value(&self, value: u32) -> String {
        shortened(&self.log.value(value).to_string()).into_owned()
    }

    /// What a step read: a value or a list.
    fn seen(&self, txn: Txn, step: usize) -> String {
        match self.log.steps(txn)[step].action {
            Action::Read(value) | Action::Write(value) => self.value(value),
            Action::ReadList { start, length } => {
                let list = self.log.list(start, length).iter();
                let list: Vec<String> = list
                    .map(|&value| self.log.value(value).to_string())
                    .collect();
                shortened(&format!("[{}]", list.join(", "))).into_owned()
            }
            Action::ReadUnknown => "?".to_owned(),
        }
    }

    fn members(&self) -> Vec<Member> {
        let member = |&txn: &Txn| match self.log.op(txn) {
            Some(id) => Member::Op(id),
            None => Member::Failed(txn as usize - self.log.ops()),
        };
        self.names.iter().map(member).collect()
    }

    fn finish(&self, anomaly: Anomaly, sentence: String, cycle: Vec<Edge>) -> Violation {
        let has = |kind: &str| cycle.iter().any(|edge| edge.kind == kind);
        let variant = match (has("time"), has("session")) {
            (true, _) => Variant::Realtime,
            (_, true) => Variant::Process,
            _ => Variant::Plain,
        };
        Violation {
            anomaly,
            variant,
            members: self.members(),
            sentence,
            cycle,
            is_smallest: true,
        }
    }

    /// What one transaction shows.
    pub(super) fn flaw(mut self, flaw: &Flaw) -> Violation {
        let key = |txn: Txn, step: usize| self.key(self.log.steps(txn)[step].key);
        let (anomaly, sentence) = match *flaw {
            Flaw::Internal { txn, step } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let name = self.name(txn);
                let sentence = format!(
                    "{name} read {seen} from {key}, which is not what it had written to {key} itself"
                );
                (Anomaly::Internal, sentence)
            }
            Flaw::Future { txn, step, value } => {
                let number = value;
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, value) = (self.name(txn), self.value(value));
                let own = &self.log.steps(txn)[..step];
                let had_written = own
                    .iter()
                    .any(|before| matches!(before.action, Action::Write(value) if value == number));
                match had_written {
                    true => (
                        Anomaly::DuplicateElement,
                        format!(
                            "{name} read {seen} from {key}, with {value} twice, which it appended once by then"
                        ),
                    ),
                    false => (
                        Anomaly::FutureRead,
                        format!("{name} read {seen} from {key}, and wrote {value} itself, later"),
                    ),
                }
            }
            Flaw::ThinAir { txn, step, value } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, value) = (self.name(txn), self.value(value));
                let sentence = format!(
                    "{name} read {seen} from {key}, and no transaction wrote {value} to {key}"
                );
                (Anomaly::ThinAir, sentence)
            }
            Flaw::Aborted {
                txn,
                step,
                value,
                writer,
            } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, writer) = (self.name(txn), self.name(writer));
                let value = self.value(value);
                let sentence = format!(
                    "{name} read {seen} from {key}; {value} was written by {writer}, which aborted"
                );
                (Anomaly::AbortedRead, sentence)
            }
            Flaw::Intermediate {
                txn,
                step,
                value,
                writer,
            } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, writer) = (self.name(txn), self.name(writer));
                let value = self.value(value);
                let sentence = format!(
                    "{name} read {seen} from {key}; {writer} wrote {value}, and wrote {key} again after that"
                );
                (Anomaly::IntermediateRead, sentence)
            }
            Flaw::Duplicate { txn, step, value } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, value) = (self.name(txn), self.value(value));
                let sentence = format!(
                    "{name} read {seen} from {key}, with {value} twice, which was appended once"
                );
                (Anomaly::DuplicateElement, sentence)
            }
            Flaw::Incompatible { first, second } => {
                let key = key(first.0, first.1);
                let (one, other) = (self.seen(first.0, first.1), self.seen(second.0, second.1));
                let (a, b) = (self.name(first.0), self.name(second.0));
                let sentence = format!(
                    "{a} read {one} from {key} and {b} read {other}: none of the two lists begins with the other one"
                );
                (Anomaly::IncompatibleOrder, sentence)
            }
            Flaw::OwnOrder {
                txn,
                step,
                writer,
                earlier,
                later,
            } => {
                let (seen, key) = (self.seen(txn, step), key(txn, step));
                let (name, writer) = (self.name(txn), self.name(writer));
                let (earlier, later) = (self.value(earlier), self.value(later));
                let sentence = format!(
                    "{name} read {seen} from {key}; {writer} appended {earlier} and then {later}, and {earlier} does not stand before {later}"
                );
                (Anomaly::OwnOrder, sentence)
            }
            Flaw::Unrepeatable { txn, first, second } => {
                let key = key(txn, first);
                let (one, other) = (self.seen(txn, first), self.seen(txn, second));
                let name = self.name(txn);
                let sentence = format!(
                    "{name} read {one} from {key} and then {other}, which differ in what others wrote"
                );
                (Anomaly::NonRepeatableRead, sentence)
            }
        };
        self.finish(anomaly, sentence, Vec::new())
    }

    /// Two transactions that update the same version.
    pub(super) fn lost_update(mut self, first: Txn, second: Txn, key: u32) -> Violation {
        let seen = |txn: Txn| self.read_of(txn, key).map(|step| self.seen(txn, step));
        // A read of a list shows what its own transaction appended before, too.
        let what = match (seen(first), seen(second)) {
            (Some(seen), Some(same)) if seen == same => format!("both read {seen}"),
            _ => "both read the same version".to_owned(),
        };
        let (a, b, key) = (self.name(first), self.name(second), self.key(key));
        let sentence =
            format!("{a} and {b} {what} from {key} and wrote {key}: neither saw the other's write");
        self.finish(Anomaly::LostUpdate, sentence, Vec::new())
    }

    /// Transactions of which all orders were tried, and whether each of them is needed.
    pub(super) fn no_order(mut self, txns: &[Txn], what: &str, is_minimal: bool) -> Violation {
        for &txn in txns {
            self.number(txn);
        }
        let count = txns.len();
        let needed = match is_minimal {
            true => ", and each of them is needed for that",
            false => "",
        };
        let sentence = match count {
            1 => format!("{what} of T1 alone explains what it read"),
            _ => format!(
                "{what} of T1 to T{count} explains what they read of each other and of the initial values: all were tried{needed}"
            ),
        };
        let mut violation = self.finish(Anomaly::NoOrder, sentence, Vec::new());
        violation.is_smallest = count == 1;
        violation
    }

    /// A transaction that reads an initial value although it saw a write of the key.
    pub(super) fn stale_initial(
        mut self,
        facts: Facts<'_>,
        writer: Txn,
        anomaly: Anomaly,
    ) -> Option<Violation> {
        let initial = facts.observed.initial;
        let reason = self.observed(facts, writer, initial)?;
        let mut violation = self.finish(anomaly, reason, Vec::new());
        violation.is_smallest = violation.members.len() <= 2;
        Some(violation)
    }

    /// A cycle, each edge with its reason; `None` if one has none.
    pub(super) fn cycle(
        mut self,
        facts: Facts<'_>,
        anomaly: Anomaly,
        cycle: &[Dependency],
    ) -> Option<Violation> {
        for dependency in cycle {
            self.number(dependency.from);
        }
        let mut edges = Vec::with_capacity(cycle.len());
        for dependency in cycle {
            let (from, to) = (dependency.from, dependency.to);
            let reason = match dependency.kind {
                Kind::Session => self.session(from, to),
                Kind::Time => {
                    let (a, b) = (self.name(from), self.name(to));
                    Some(format!("{a} returned before {b} was called"))
                }
                Kind::Wr => self.read_from(facts, from, to),
                Kind::Ww => self.overwritten(facts, from, to),
                Kind::Rw => self.not_seen(facts, from, to),
                Kind::Observed => self.observed(facts, from, to),
                Kind::Through => None,
            };
            edges.push(Edge {
                from: self.number(from),
                to: self.number(to),
                kind: kind_name(dependency.kind),
                reason: reason?,
            });
        }
        let way: Vec<String> = cycle.iter().map(|edge| self.name(edge.from)).collect();
        let first = way.first().cloned().unwrap_or_default();
        let sentence = format!(
            "{} → {first}: each comes before the next one, so there is no order of them",
            way.join(" → ")
        );
        Some(self.finish(anomaly, sentence, edges))
    }

    fn session(&mut self, from: Txn, to: Txn) -> Option<String> {
        let (op, other) = (self.log.op(from)?, self.log.op(to)?);
        let (op, other) = (self.log.history.op(op), self.log.history.op(other));
        if op.process != other.process || op.id >= other.id {
            return None;
        }
        let (a, b) = (self.name(from), self.name(to));
        Some(format!("process {} called {a} before {b}", op.process))
    }

    /// The first step of a transaction that reads a key before it writes it, or a list of it.
    fn read_of(&self, txn: Txn, key: u32) -> Option<usize> {
        let steps = self.log.steps(txn).iter();
        steps
            .into_iter()
            .position(|step| step.key == key && !matches!(step.action, Action::Write(_)))
    }

    /// The last value that a transaction wrote to a key.
    fn last_write(&self, txn: Txn, key: u32) -> Option<u32> {
        let steps = self.log.steps(txn).iter().rev();
        let writes = steps.filter(|step| step.key == key);
        writes.into_iter().find_map(|step| match step.action {
            Action::Write(value) => Some(value),
            _ => None,
        })
    }

    fn first_write(&self, txn: Txn, key: u32) -> Option<u32> {
        let steps = self.log.steps(txn).iter();
        steps.into_iter().find_map(|step| match step.action {
            Action::Write(value) if step.key == key => Some(value),
            _ => None,
        })
    }

    /// `to` read what `from` wrote.
    fn read_from(&mut self, facts: Facts<'_>, from: Txn, to: Txn) -> Option<String> {
        let mut reads = facts.observed.reads(to).iter();
        let Some(read) = reads.find(|read| read.from == from) else {
            return self.read_in_list(facts, facts.versions?, from, to);
        };
        let step = self.read_of_version(facts, to, read.key, from)?;
        let seen = self.seen(to, step);
        let value = self.last_write(from, read.key)?;
        let (a, b) = (self.name(from), self.name(to));
        let (key, value) = (self.key(read.key), self.value(value));
        Some(match facts.versions {
            None => format!("{b} read {value} from {key}, which {a} wrote"),
            Some(_) => format!(
                "{b} read {seen} from {key}, and the last of what it found there, {value}, was appended by {a}"
            ),
        })
    }

    /// `to` read a list that shows an append of `from`, before others.
    fn read_in_list(
        &mut self,
        facts: Facts<'_>,
        versions: &Versions,
        from: Txn,
        to: Txn,
    ) -> Option<String> {
        let heads = versions.heads.row(to as usize);
        for (read, &head) in facts.observed.reads(to).iter().zip(heads) {
            let seen = versions.seen.row(read.key as usize);
            let Some(position) = seen[..head as usize].iter().position(|&txn| txn == from) else {
                continue;
            };
            let step = self.read_of_version(facts, to, read.key, read.from)?;
            let value = self.element(from, read.key, position, (to, step))?;
            let seen = self.seen(to, step);
            let (a, b) = (self.name(from), self.name(to));
            let (key, value) = (self.key(read.key), self.value(value));
            return Some(format!(
                "{b} read {seen} from {key}, in which {value} was appended by {a}"
            ));
        }
        None
    }

    /// The step of a transaction that reads a version of a key.
    fn read_of_version(&self, facts: Facts<'_>, txn: Txn, key: u32, from: Txn) -> Option<usize> {
        let mut reads = facts.observed.reads(txn).iter();
        let mut has_written: Vec<u32> = Vec::new();
        self.log
            .steps(txn)
            .iter()
            .position(|step| match step.action {
                Action::Write(_) => {
                    has_written.push(step.key);
                    false
                }
                Action::ReadUnknown => false,
                Action::Read(_) if has_written.contains(&step.key) => false,
                Action::Read(_) | Action::ReadList { .. } => {
                    let read = reads.next();
                    read.is_some_and(|read| read.key == key && read.from == from)
                }
            })
    }

    /// `to` wrote a later version of a key than `from`.
    fn overwritten(&mut self, facts: Facts<'_>, from: Txn, to: Txn) -> Option<String> {
        let observed = facts.observed;
        if let Some(versions) = facts.versions {
            return self.appended_later(facts, versions, from, to);
        }
        let update = |key: &&u32| {
            let mut reads = observed.reads(to).iter();
            observed.has_write(from, **key)
                && reads.any(|read| read.key == **key && read.from == from)
        };
        if let Some(&key) = observed.writes(to).iter().find(update) {
            let value = self.last_write(from, key)?;
            let (a, b) = (self.name(from), self.name(to));
            let (key, value) = (self.key(key), self.value(value));
            return Some(format!(
                "{b} read {value} from {key}, which {a} wrote, and wrote {key} after it"
            ));
        }
        self.observed(
            Facts {
                level: Level::Causal,
                ..facts
            },
            from,
            to,
        )
    }

    fn appended_later(
        &mut self,
        facts: Facts<'_>,
        versions: &Versions,
        from: Txn,
        to: Txn,
    ) -> Option<String> {
        for &key in facts.observed.writes(from) {
            let seen = versions.seen.row(key as usize);
            let Some(i) = seen.iter().position(|&txn| txn == from) else {
                continue;
            };
            let key_name = self.key(key);
            if let Some(after) = seen[i + 1..].iter().position(|&txn| txn == to) {
                let j = i + 1 + after;
                let reader = self.reader_of(facts, versions, key, j + 1)?;
                let list = self.seen(reader.0, reader.1);
                let (a, b, c) = (self.name(from), self.name(to), self.name(reader.0));
                let later = match after {
                    0 => "the next one".to_owned(),
                    _ => format!("element {}", j + 1),
                };
                return Some(format!(
                    "{c} read {list} from {key_name}, in which element {} is of {a} and {later} of {b}",
                    i + 1
                ));
            }
            if versions.unseen.row(key as usize).contains(&to) {
                let reader = self.reader_of(facts, versions, key, i + 1)?;
                let list = self.seen(reader.0, reader.1);
                let value = self.last_write(to, key)?;
                let (a, b, c) = (self.name(from), self.name(to), self.name(reader.0));
                let value = self.value(value);
                return Some(format!(
                    "{c} read {list} from {key_name}, in which element {} is of {a}; {b} appended {value}, which no other transaction read, so it came later",
                    i + 1
                ));
            }
        }
        None
    }

    /// A read of a list of a key with so many elements of others at least.
    fn reader_of(
        &self,
        facts: Facts<'_>,
        versions: &Versions,
        key: u32,
        length: usize,
    ) -> Option<(Txn, usize)> {
        facts.observed.txns.iter().find_map(|&txn| {
            let heads = versions.heads.row(txn as usize).iter();
            let mut reads = facts.observed.reads(txn).iter().zip(heads);
            let read =
                reads.position(|(read, head)| read.key == key && *head as usize >= length)?;
            let steps = self.log.steps(txn).iter().enumerate();
            let mut lists =
                steps.filter(|(_, step)| matches!(step.action, Action::ReadList { .. }));
            Some((txn, lists.nth(read)?.0))
        })
    }

    /// `from` read a version of a key, and `to` wrote a later one.
    fn not_seen(&mut self, facts: Facts<'_>, from: Txn, to: Txn) -> Option<String> {
        if let Some(versions) = facts.versions {
            return self.not_in_list(facts, versions, from, to);
        }
        let observed = facts.observed;
        let both = observed.reads(from).iter();
        let both: Vec<_> = both
            .filter(|read| observed.has_write(to, read.key))
            .copied()
            .collect();
        for read in &both {
            let (a, b, key) = (self.name(from), self.name(to), self.key(read.key));
            if read.from == observed.initial {
                return Some(format!(
                    "{a} read {key} at its initial value, and {b} wrote {key}"
                ));
            }
            let value = self.last_write(read.from, read.key)?;
            let value = self.value(value);
            if observed.reads(to).contains(read) {
                return Some(format!(
                    "{a} read {value} from {key}, and {b} read it too and wrote {key} after it"
                ));
            }
            if observed.in_session_order(read.from, to) && facts.level.keeps_sessions() {
                let writer = self.name(read.from);
                return Some(format!(
                    "{a} read {value} from {key}, which {writer} wrote, and {b}, later in the same session, wrote {key} too"
                ));
            }
        }
        for read in both {
            let causal = Facts {
                level: Level::Causal,
                ..facts
            };
            if facts.level.keeps_sessions()
                && let Some(reason) = self.observed(causal, read.from, to)
            {
                let (a, writer) = (self.name(from), self.name(read.from));
                let value = self.last_write(read.from, read.key)?;
                let (key, value) = (self.key(read.key), self.value(value));
                return Some(format!(
                    "{a} read {value} from {key}, which {writer} wrote, and {reason}"
                ));
            }
        }
        None
    }

    fn not_in_list(
        &mut self,
        facts: Facts<'_>,
        versions: &Versions,
        from: Txn,
        to: Txn,
    ) -> Option<String> {
        let heads = versions.heads.row(from as usize);
        for (read, &head) in facts.observed.reads(from).iter().zip(heads) {
            let seen = versions.seen.row(read.key as usize);
            let step = self.read_of_version(facts, from, read.key, read.from)?;
            let list = self.seen(from, step);
            let mut unread = seen[head as usize..].iter();
            if let Some(after) = unread.position(|&txn| txn == to) {
                let position = head as usize + after;
                let reader = self.reader_of(facts, versions, read.key, position + 1)?;
                let longer = self.seen(reader.0, reader.1);
                let (a, b, c) = (self.name(from), self.name(to), self.name(reader.0));
                let value = self.element(to, read.key, position, reader)?;
                let (key, value) = (self.key(read.key), self.value(value));
                let next = if after == 0 { " next" } else { "" };
                return Some(format!(
                    "{a} read {list} from {key} and did not see {value}, which {b} appended{next}, as {longer} shows, which {c} read"
                ));
            }
            if versions.unseen.row(read.key as usize).contains(&to) {
                let value = self.last_write(to, read.key)?;
                let (a, b) = (self.name(from), self.name(to));
                let (key, value) = (self.key(read.key), self.value(value));
                return Some(format!(
                    "{a} read {list} from {key} and did not see {value}, which {b} appended and no other transaction read"
                ));
            }
        }
        None
    }

    /// The element at this position of a list that was read, if the transaction appended it.
    fn element(&self, txn: Txn, key: u32, position: usize, reader: (Txn, usize)) -> Option<u32> {
        let Action::ReadList { start, length } = self.log.steps(reader.0)[reader.1].action else {
            return None;
        };
        let value = *self.log.list(start, length).get(position)?;
        let mut steps = self.log.steps(txn).iter();
        let wrote = |step: &super::log::Step| {
            step.key == key && matches!(step.action, Action::Write(written) if written == value)
        };
        steps.any(wrote).then_some(value)
    }

    /// A transaction read a key from `to`, or at its initial value, although it saw `from`, which writes the key.
    fn observed(&mut self, facts: Facts<'_>, from: Txn, to: Txn) -> Option<String> {
        let observed = facts.observed;
        for &txn in &observed.txns {
            if txn == from {
                continue;
            }
            for (i, read) in observed.reads(txn).iter().enumerate() {
                if read.from != to || !observed.has_write(from, read.key) {
                    continue;
                }
                if let Some(how) = self.sees(facts, txn, i, from) {
                    return Some(self.observed_read(facts, from, to, txn, read.key, &how));
                }
            }
        }
        None
    }

    fn observed_read(
        &mut self,
        facts: Facts<'_>,
        from: Txn,
        to: Txn,
        reader: Txn,
        key: u32,
        how: &str,
    ) -> String {
        let (a, c) = (self.name(from), self.name(reader));
        let step = self.read_of_version(facts, reader, key, to);
        let seen = step.map_or_else(String::new, |step| self.seen(reader, step));
        let wrote = self
            .first_write(from, key)
            .map_or_else(String::new, |value| self.value(value));
        let key = self.key(key);
        if to == facts.observed.initial {
            return format!(
                "{c} read {key} at its initial value {seen} although {how}, and {a} wrote {wrote} to {key}"
            );
        }
        let b = self.name(to);
        format!(
            "{c} read {seen} from {key}, left by {b}, although {how}, and {a} wrote {wrote} to {key}: so {a} came before {b}"
        )
    }

    /// How a transaction sees another one when it does a read, in the sense of the level.
    fn sees(&mut self, facts: Facts<'_>, txn: Txn, read: usize, other: Txn) -> Option<String> {
        let observed = facts.observed;
        let reads = observed.reads(txn);
        let visible = match facts.level {
            Level::ReadCommitted => &reads[..read],
            _ => reads,
        };
        if let Some(source) = visible.iter().find(|read| read.from == other) {
            let step = self.read_of_version(facts, txn, source.key, other)?;
            let seen = self.seen(txn, step);
            let (a, c, key) = (self.name(other), self.name(txn), self.key(source.key));
            let when = match facts.level {
                Level::ReadCommitted => "had read",
                _ => "also read",
            };
            return Some(
                format!("it {when} {seen} from {key}, left by {a}")
                    .replace("it ", &format!("{c} ")),
            );
        }
        if facts.level == Level::ReadCommitted {
            return None;
        }
        if observed.in_session_order(other, txn) {
            let (a, c) = (self.name(other), self.name(txn));
            return Some(format!("{a} is earlier in the session of {c}"));
        }
        if facts.level == Level::ReadAtomic {
            return None;
        }
        let (graph, paths) = before(observed);
        let path = graph.path(&paths, other, txn, usize::MAX)?;
        let way: Vec<String> = path
            .iter()
            .map(|step| step.from)
            .chain([txn])
            .map(|txn| self.name(txn))
            .collect();
        Some(format!(
            "{} happened before it ({}, each the next of its session or read from the one before)",
            way[0],
            way.join(" → ")
        ))
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Ww => "ww",
        Kind::Wr => "wr",
        Kind::Rw => "rw",
        Kind::Session => "session",
        Kind::Time => "time",
        Kind::Observed | Kind::Through => "order",
    }
}
