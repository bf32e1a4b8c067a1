//! Whether what is printed about a violation is true: every fact of every sentence, by trying all orders or by counting the
//! recorded calls.
//!
//! Nothing here is shared with the code that proposes claims and checks them before they are printed. Sentences are read as a
//! user reads them: by methods, arguments and results, not by roles.

use std::collections::{BTreeMap, BTreeSet};

use super::bag;
use super::changes;
use super::counts;
use super::details;
use super::orders::{AllOrders, Given};
use super::places;
use super::scans;
use crate::history::{History, NEVER, Op, OpId, TypedHistory};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{Claim, Listed, Possible, Violation};

/// How many facts of each kind were found true.
#[derive(Default)]
pub(super) struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    pub(super) fn add(&mut self, fact: &'static str) {
        *self.0.entry(fact).or_default() += 1;
    }

    pub(super) fn of(&self, fact: &str) -> usize {
        self.0.get(fact).copied().unwrap_or(0)
    }

    pub(super) fn all(&self) -> &BTreeMap<&'static str, usize> {
        &self.0
    }
}

/// A violation, and the recorded operations that it is about.
pub(super) struct Case<'a, S: Spec<Ret = Value>> {
    pub(super) name: &'a str,
    pub(super) object: &'a S,
    pub(super) history: &'a History,
    pub(super) typed: &'a TypedHistory<S::Op, Value>,
    /// The operations of the part.
    pub(super) ids: &'a [OpId],
    /// The key of the part.
    pub(super) key: Option<&'a Value>,
    pub(super) violation: &'a Violation,
    /// The rank of the last event of the bad beginning.
    pub(super) cut: u32,
}

/// What orders must do with an operation.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Treated {
    /// It has its result and its return, if it returned by the end of the beginning.
    AsRecorded,
    /// It has its return, if it returned by then, and any result.
    AnyResult,
    /// It may have any result and take effect at any time after its call, or never.
    Open,
    /// It is not there.
    LeftOut,
}

use Treated::{AsRecorded, LeftOut, Open};

impl<'a, S: Spec<Ret = Value>> Case<'a, S> {
    /// Checks every fact that is printed about the violation.
    pub(super) fn check(&self, tally: &mut Tally) {
        let core = &self.violation.core;
        let claim = core.claim();
        self.check_sentence(claim, core.sentence(), tally);
        if let Some(possible) = &self.violation.possible {
            self.check_possible(possible);
            tally.add("possible");
        }
        if let Some(anchor) = core.anchor() {
            self.check_anchor(anchor);
            tally.add("anchor");
        }
        for &id in core.premises() {
            self.check_premise(id);
            tally.add("premise");
        }
        self.check_claim(claim, tally);
        tally.add(claim.kind());
    }

    /// The sentence says the claim, and why the only answer is the only one, as the object says.
    fn check_sentence(&self, claim: &Claim, sentence: &str, tally: &mut Tally) {
        let words = self.object.vocabulary();
        let said = claim.sentence(&words, &|id| self.history.describe(*id));
        let why = match claim {
            Claim::OnlyAnswers { op, answers, .. } if answers.count == 1 => {
                let action = self.typed.action(*op);
                let why = self.object.answer_reason(&action.op, &answers.shown[0]);
                why.inspect(|why| self.check_reason(*op, &answers.shown[0], why))
            }
            _ => None,
        };
        let said = match why {
            Some(why) => {
                tally.add("why");
                format!("{said}: {why}")
            }
            None => said,
        };
        self.expect(sentence == said, "the sentence says the claim");
    }

    /// "It was [not] full, with a capacity of [n]", "account [i] had less than [n]", "at least [n]": that is true in all states of
    /// orders of the others in which the operation gives the answer.
    fn check_reason(&self, op: OpId, answer: &str, why: &str) {
        let numbers = why.split(' ').filter_map(|word| word.parse::<i64>().ok());
        let numbers: Vec<i64> = numbers.collect();
        let action = self.typed.action(op);
        let orders = self.orders_without(op, |_| LeftOut);
        for state in orders.met() {
            let outcomes = self.object.apply(state, &action.op).into_pairs();
            let mut answers = outcomes
                .iter()
                .map(|(ret, _)| self.object.answer_words(state, &action.op, ret));
            if !answers.any(|other| other == answer) {
                continue;
            }
            let held = self.object.state_value(state);
            let held = held.as_list().unwrap_or_default();
            let is_true = match numbers.as_slice() {
                [capacity] => (held.len() as i64 >= *capacity) != why.contains("not full"),
                [account, amount] => {
                    let balance = held.get(*account as usize).and_then(Value::as_int);
                    (balance < Some(*amount)) == why.contains("less than")
                }
                _ => false,
            };
            self.expect(is_true, "the reason is true");
        }
    }

    #[track_caller]
    pub(super) fn expect(&self, holds: bool, what: &str) {
        if holds {
            return;
        }
        let ops = self.history.ops().map(|op| {
            let ret = op.ret as i32;
            let is_of_part = if self.ids.contains(&op.id) { '*' } else { ' ' };
            let described = self.history.describe(op.id);
            format!("{is_of_part} {} [{}, {ret}] {described}", op.id.0, op.call)
        });
        let ops: Vec<String> = ops.collect();
        panic!(
            "{}: not true: {what}\n{}\n{:?}\nup to {}:\n{}",
            self.name,
            self.violation.core.sentence(),
            self.violation,
            self.cut,
            ops.join("\n")
        );
    }

    /// The orders of the operations of the part up to an event.
    pub(super) fn orders_until(
        &self,
        rank: u32,
        treated: impl Fn(OpId) -> Treated,
    ) -> AllOrders<'a, S> {
        AllOrders::of(self.object, self.given_until(rank, treated))
    }

    /// The operations of the part up to an event.
    pub(super) fn given_until(
        &self,
        rank: u32,
        treated: impl Fn(OpId) -> Treated,
    ) -> Vec<Given<'a, S>> {
        let (calls, rets) = (self.typed.calls(), self.typed.rets());
        let given = self.ids.iter().filter_map(|&id| {
            let (call, ret) = (calls[id.index()], rets[id.index()]);
            let treated = treated(id);
            if call > rank || treated == LeftOut {
                return None;
            }
            let has_returned = treated != Open && ret <= rank;
            let is_told = treated == AsRecorded && has_returned;
            let action = self.typed.action(id);
            Some(Given {
                id,
                call,
                ret: if has_returned { ret } else { NEVER },
                op: &action.op,
                result: action.ret.as_ref().filter(|_| is_told),
            })
        });
        given.collect()
    }

    /// The orders of the bad beginning.
    pub(super) fn orders(&self, treated: impl Fn(OpId) -> Treated) -> AllOrders<'a, S> {
        self.orders_until(self.cut, treated)
    }

    /// The orders of all other operations of the beginning than this one. Where there are none, since they contradict each
    /// other too, all others are treated in this way instead.
    pub(super) fn orders_without(
        &self,
        id: OpId,
        if_none: impl Fn(OpId) -> Treated,
    ) -> AllOrders<'a, S> {
        let all = self.orders(|other| if other == id { LeftOut } else { AsRecorded });
        if !all.is_empty() {
            return all;
        }
        self.orders(|other| if other == id { LeftOut } else { if_none(other) })
    }

    /// The same. If there are none, only operations are kept that are on one of the values, as they say themselves, or may be
    /// because they did not return; if there are none of these either, only those of them that put it in or took it out.
    pub(super) fn orders_of(&self, values: &[Value], id: OpId) -> AllOrders<'a, S> {
        let if_on = |other: OpId, seen: &dyn Fn(&Op<'a>) -> Option<&'a Value>| {
            let op = self.op(other);
            let put = self.puts(&op).map(|(_, put)| put);
            let is_on = |value: &Value| put == Some(value) || seen(&op) == Some(value);
            match values.iter().any(is_on) || !self.has_returned(&op) {
                true => AsRecorded,
                false => LeftOut,
            }
        };
        let orders = self.orders_without(id, |other| if_on(other, &|op| self.sees(op)));
        match orders.is_empty() {
            true => self.orders_without(id, |other| if_on(other, &|op| self.takes(op))),
            false => orders,
        }
    }

    pub(super) fn op(&self, id: OpId) -> Op<'a> {
        self.history.op(id)
    }

    /// Whether an operation has returned in the beginning.
    pub(super) fn has_returned(&self, op: &Op<'_>) -> bool {
        op.ret <= self.cut
    }

    /// The result of an operation, if it returned in the beginning.
    pub(super) fn result(&self, id: OpId) -> Option<&'a Value> {
        let op = self.op(id);
        op.result.filter(|_| self.has_returned(&op))
    }

    /// All operations that were called in the beginning, also those on other keys.
    pub(super) fn called(&self) -> impl Iterator<Item = Op<'a>> {
        self.history.ops().filter(|op| op.call < self.cut)
    }

    pub(super) fn words(&self, states: impl IntoIterator<Item = S::State>) -> BTreeSet<String> {
        let states: std::collections::HashSet<S::State> = states.into_iter().collect();
        let clause = |state: &S::State| self.object.state_words(state, self.key);
        let words: BTreeSet<String> = states.iter().map(clause).collect();
        let are_apart = self.key.is_some() || words.len() == states.len();
        self.expect(are_apart, "different states have different words");
        words
    }

    pub(super) fn expect_listed(&self, listed: &Listed, all: &BTreeSet<String>, what: &str) {
        let is_part = listed.shown.iter().all(|shown| all.contains(shown));
        let is_all = listed.count == all.len() && !listed.shown.is_empty();
        self.expect(is_part && is_all, &format!("{what} are {all:?}"));
    }

    /// "Whatever the order, [states], so the answer could only be [answers]": in all orders of the beginning in which the last
    /// operation may answer anything, it takes effect in one of these states, with one of these answers. "Without it, [states]
    /// when it returned, and no order lets it take effect": orders of the others end in these states, and it can do so in none.
    fn check_possible(&self, possible: &Possible) {
        let last = self.violation.last;
        let orders = self.orders(|id| if id == last { Open } else { AsRecorded });
        let effects = orders.effects(last);
        if effects.is_empty() {
            self.expect(possible.answers.count == 0, "it could not take effect");
            let orders = self.orders(|id| if id == last { LeftOut } else { AsRecorded });
            let ends = orders.ends();
            let asked = &self.typed.action(last).op;
            let outcomes = ends.iter().map(|state| self.object.apply(state, asked));
            let mut outcomes = outcomes.flat_map(|outcomes| outcomes.into_pairs());
            self.expect(outcomes.next().is_none(), "it can take effect in none");
            let states = self.words(ends.into_iter().cloned());
            return self.expect_listed(&possible.states, &states, "the states");
        }
        let states = effects.iter().map(|(before, _)| before.clone());
        self.expect_listed(&possible.states, &self.words(states), "the states");
        let asked = &self.typed.action(last).op;
        let answers = effects
            .iter()
            .map(|(before, answer)| self.object.answer_words(before, asked, answer));
        self.expect_listed(&possible.answers, &answers.collect(), "the answers");
    }

    /// "These changed nothing, as their answers tell; had any one of them not returned, the core would have an order": with its answer
    /// the operation leaves every state as it was; and the core has an order if it may have answered otherwise.
    fn check_premise(&self, id: OpId) {
        let action = self.typed.action(id);
        let everything = self.orders(|_| Open);
        let changes = everything.met().any(|state| {
            let next = self.object.step(state, &action.op, action.ret.as_ref());
            next.iter().any(|next| next != state)
        });
        self.expect(!changes, "a premise changed nothing");
        let core = &self.violation.core;
        let starts_from_all = core.anchor().is_some() || core.place().is_some();
        let is_open = |id: OpId| starts_from_all || core.relaxed().contains(&id);
        let with = |treated: Treated| {
            let orders = self.orders(|other| match () {
                () if other == id => treated,
                () if self.is_told(other) => AsRecorded,
                () if is_open(other) => Open,
                () => LeftOut,
            });
            !orders.is_empty()
        };
        self.expect(core.ops().contains(&id), "a premise is part of the core");
        self.expect(!with(AsRecorded), "the core is contradictory");
        self.expect(
            with(Open),
            "without the answer of a premise there is an order",
        );
    }

    /// Whether the result of an operation counts: it is part of the core, or it had returned when the anchor had.
    fn is_told(&self, id: OpId) -> bool {
        let core = &self.violation.core;
        let after = core.anchor().map(|anchor| self.op(anchor.after).ret);
        core.ops().contains(&id) || after.is_some_and(|rank| self.op(id).ret <= rank)
    }

    fn check_claim(&self, claim: &Claim, tally: &mut Tally) {
        match claim {
            Claim::OnlyAnswers {
                op,
                states,
                answers,
            } => {
                let possible = self.violation.possible.as_ref();
                let said = possible.map(|possible| (&possible.states, &possible.answers));
                let is_said = said == Some((states, answers)) && answers.count > 0;
                self.expect(
                    is_said && *op == self.violation.last,
                    "it is what was possible",
                );
            }
            Claim::CannotHappen { op, states } => {
                let possible = self.violation.possible.as_ref();
                let is_said = possible.is_some_and(|possible| {
                    possible.answers.count == 0 && possible.states == *states
                });
                self.expect(
                    is_said && *op == self.violation.last,
                    "it is what was possible",
                );
            }
            Claim::Contradiction { op, others } => self.check_contradiction(*op, others),
            Claim::NeverPut { .. } | Claim::TakenTooOften { .. } | Claim::AddedTooOften { .. } => {
                self.check_changes(claim, tally);
            }
            Claim::AgainstHints { op, before, .. } => {
                let (op, before) = (self.op(*op), self.op(*before));
                self.expect(before.ret < op.call, "it had returned before the call");
            }
            Claim::CountedTwice { .. }
            | Claim::CountTooLow { .. }
            | Claim::CountTooHigh { .. }
            | Claim::CountFell { .. }
            | Claim::BetweenSteps { .. } => counts::check(self, claim),
            Claim::Replaced { .. } | Claim::NotChanged { .. } | Claim::NoOther { .. } => {
                tally.add(changes::check(self, claim));
            }
            Claim::Stuck { op, states } => self.check_stuck(*op, states),
            Claim::Missed { op, value, put } => places::check_missed(self, *op, value, *put),
            Claim::AtPlace {
                op,
                place,
                others,
                conflict,
            } => {
                places::check(self, *op, place, others);
                places::check_conflict(self, *op, place, others, conflict);
                tally.add(conflict.kind().unwrap_or("contradict each other"));
            }
            Claim::Detailed(detailed) => details::check(self, detailed),
            Claim::WrongScan { fault, .. } => {
                let sentence = self.violation.core.sentence();
                tally.add(scans::check(self, fault.scan, sentence));
            }
            _ => self.check_uses(claim),
        }
    }

    /// "[Operation] is impossible together with the results of [others], whatever the order": no order explains these results,
    /// if all other operations may have had any result or may never have taken effect.
    fn check_contradiction(&self, op: OpId, others: &[OpId]) {
        let is_named = |id: OpId| id == op || others.contains(&id);
        let all_returned = self.ids.iter().filter(|&&id| is_named(id));
        let mut all_returned = all_returned.map(|&id| self.op(id));
        let has_returned = all_returned.all(|op| self.has_returned(&op));
        self.expect(has_returned, "the operations have results");
        let orders = self.orders(|id| if is_named(id) { AsRecorded } else { Open });
        self.expect(orders.is_empty(), "they contradict each other");
    }

    /// "No order found so far goes past the return of [operation]; in orders that reach it, [states] just before": there are
    /// orders of everything up to that return, and some of them lead to each of the states.
    fn check_stuck(&self, id: OpId, states: &[String]) {
        let op = self.op(id);
        self.expect(self.has_returned(&op), "the operation returned");
        let orders = self.orders_until(op.ret - 1, |_| AsRecorded);
        self.expect(!orders.is_empty(), "there is an order up to the return");
        let ends = self.words(orders.ends().into_iter().cloned());
        let is_possible = states.iter().all(|state| ends.contains(state));
        self.expect(is_possible, "the states are possible");
    }

    /// What an operation puts into the object, as its method and argument say, unless its answer says that it did not; and
    /// the key it does that at.
    pub(super) fn puts(&self, op: &Op<'a>) -> Option<(Option<&'a Value>, &'a Value)> {
        if self.result(op.id) == Some(&Value::Bool(false)) {
            return None;
        }
        let items = op.argument.as_list().unwrap_or_default();
        match (self.name, op.method) {
            ("kv", "put") => Some((Some(&items[0]), &items[1])),
            ("kv", "cas") => Some((Some(&items[0]), &items[2])),
            ("cas-register", "cas") => Some((None, &items[1])),
            (_, "enq" | "push" | "add" | "write" | "push_front" | "push_back") => {
                Some((None, op.argument))
            }
            _ => None,
        }
    }

    /// What an operation took out, as its answer says.
    pub(super) fn takes(&self, op: &Op<'a>) -> Option<&'a Value> {
        match (self.name, op.method, self.result(op.id)?) {
            ("set", "remove", Value::Bool(true)) => Some(op.argument),
            ("set", ..) | (_, _, Value::Nil) => None,
            (_, "deq" | "pop" | "poll" | "take" | "pop_front" | "pop_back", served) => Some(served),
            _ => None,
        }
    }

    /// What an operation saw, be it that it took it out or not.
    pub(super) fn sees(&self, op: &Op<'a>) -> Option<&'a Value> {
        let result = self.result(op.id);
        match op.method {
            "peek" | "peek_front" | "peek_back" => result.filter(|seen| !seen.is_nil()),
            _ => self.takes(op),
        }
    }

    /// How often a value was put in, or may have been.
    fn count_puts(&self, value: &Value) -> usize {
        let puts = self.called().filter_map(|op| self.puts(&op));
        puts.filter(|(_, put)| *put == value).count()
    }

    /// The only operation that puts a value in.
    fn only_put(&self, value: &Value) -> Op<'a> {
        self.expect(self.count_puts(value) == 1, "the value was put in once");
        let mut called = self.called();
        let put = called.find(|op| self.puts(op).is_some_and(|(_, put)| put == value));
        put.expect("it was put in once")
    }

    /// Whether the object holds a value in a state, be it at a key.
    pub(super) fn holds(&self, state: &S::State, key: Option<&Value>, value: &Value) -> bool {
        let state = self.object.state_value(state);
        match (key, state.as_list()) {
            (Some(key), Some(pairs)) if value.is_nil() => {
                let is_on = |pair: &Value| pair.as_list().is_some_and(|pair| pair[0] == *key);
                !pairs.iter().any(is_on)
            }
            (Some(key), Some(pairs)) => pairs.contains(&Value::list([key.clone(), value.clone()])),
            (None, Some(values)) => values.contains(value),
            (_, None) => state == *value,
        }
    }

    fn check_changes(&self, claim: &Claim, tally: &mut Tally) {
        match claim {
            // "[Operation] is impossible: [value] had not been put by then": no call that was made until it returned puts it,
            // and in no order of the other operations the object holds it in that time. "[Alike] had been": a call that
            // returned in that time put that, or one whose value was seen.
            Claim::NeverPut {
                op,
                key,
                value,
                alike,
            } => {
                let op = self.op(*op);
                let answer = self.result(op.id);
                let is_shown = answer
                    .and_then(Value::as_list)
                    .is_some_and(|members| self.name == "set" && members.contains(value));
                let asks = matches!(op.method, "contains" | "remove") && op.argument == value;
                let is_refused = op.method == "add" && op.argument == value;
                let is_asked = asks && answer == Some(&Value::Bool(true))
                    || is_refused && answer == Some(&Value::Bool(false));
                let items = op.argument.as_list().unwrap_or_default();
                let is_replaced = op.method == "cas"
                    && items.len() >= 2
                    && items[items.len() - 2] == *value
                    && answer == Some(&Value::Bool(true));
                let is_seen = answer == Some(value) || is_shown || is_asked || is_replaced;
                self.expect(is_seen, "the operation saw the value");
                self.expect(*key == self.key.cloned(), "the key is that of the part");
                let mut puts = self.called().filter_map(|op| self.puts(&op));
                let is_put = puts.any(|(at, put)| at == key.as_ref() && put == value);
                self.expect(!is_put, "the value was not put there");
                let orders = self.orders(|other| if other == op.id { LeftOut } else { AsRecorded });
                let mut states = orders.states_between(op.call, op.ret);
                let never = states.all(|state| !self.holds(state, key.as_ref(), value));
                self.expect(never, "the value is never there");
                if let Some(alike) = alike {
                    tally.add("alike");
                    let mut called = self.called();
                    let is_seen = || self.called().any(|op| self.result(op.id) == Some(alike));
                    let is_put = called.any(|put| {
                        let is_on = self.puts(&put) == Some((key.as_ref(), alike));
                        is_on && (self.has_returned(&put) || is_seen())
                    });
                    let texts = [alike, value].map(|value| value.to_string().replace('"', ""));
                    self.expect(is_put && alike != value, "the other value was put there");
                    self.expect(texts[0] == texts[1], "it is written alike");
                }
            }
            // "[Value] was taken out n times and put in only m times": as the calls and answers say.
            Claim::TakenTooOften { value, taken, put } => {
                let takes = self.called().filter(|op| self.takes(op) == Some(value));
                let takes: Vec<OpId> = takes.map(|op| op.id).collect();
                self.expect(takes == *taken, "it was taken out by these");
                self.expect(self.count_puts(value) == *put, "it was put in so often");
                self.expect(takes.len() > *put, "it was taken out more often");
            }
            // "[Value] was added n times and removed only m times": as the calls and answers say; m may be "never".
            Claim::AddedTooOften {
                value,
                added,
                removed,
            } => {
                let adds = self.called().filter(|op| {
                    let is_added = op.method == "add" && op.argument == value;
                    let result = self.result(op.id);
                    is_added && result == Some(&Value::Bool(true))
                        || op.method == "generate" && result == Some(value)
                });
                let adds: Vec<OpId> = adds.map(|op| op.id).collect();
                let removes = self.called().filter(|op| {
                    op.method == "remove"
                        && op.argument == value
                        && self.result(op.id) != Some(&Value::Bool(false))
                });
                self.expect(adds == *added, "it was added by these");
                self.expect(removes.count() == *removed, "it was removed so often");
                self.expect(adds.len() > removed + 1, "it was added more often");
            }
            _ => unreachable!("{claim:?}"),
        }
    }

    fn check_uses(&self, claim: &Claim) {
        let serves = |op: &Op<'a>, value: &Value| {
            self.expect(
                self.sees(op) == Some(value),
                "the operation served the value",
            );
        };
        match claim {
            // "[Later] was called after [removal] had returned, and [value] was put in only once": as the times and calls say.
            Claim::UsedAfterRemoval {
                value,
                removal,
                later,
            } => {
                let (removal, later) = (self.op(*removal), self.op(*later));
                let put = self.only_put(value);
                self.expect(self.takes(&removal) == Some(value), "it took the value out");
                let is_used = put.id == later.id || self.sees(&later) == Some(value);
                self.expect(is_used, "the later operation is on the value");
                self.expect(removal.ret < later.call, "it was called later");
            }
            // "[Operation] is impossible: [by] took [value] out, and it was not put in again": every operation that puts it in
            // comes before that in every order of the others on this value, and there is none with the operation too.
            Claim::TakenBefore { op, value, by } => {
                let (op, by) = (self.op(*op), self.op(*by));
                serves(&op, value);
                self.expect(self.takes(&by) == Some(value), "it took the value out");
                self.expect(
                    bag::is_gone_after(self, &op, &by, value),
                    "the value was not put in again",
                );
            }
            // "[Operation] found the object empty, but at any time one of [values] was in it": in every order of the others,
            // during the whole operation.
            Claim::NotEmpty { op, values } => {
                let op = self.op(*op);
                let is_empty = match self.result(op.id) {
                    Some(Value::Nil) => self.puts(&op).is_none(),
                    answer => op.method == "size" && answer == Some(&Value::Int(0)),
                };
                self.expect(is_empty, "the operation found nothing");
                let is_there = |values: &[Value]| {
                    self.holds_during(&op, values, |content| {
                        values.iter().any(|value| content.contains(value))
                    })
                };
                let is_true = is_there(values) || bag::has_one_of(self, &op, values);
                self.expect(is_true, "one of the values is there");
            }
            // "[First] was put in before [second], but [operation] served [second] before [first]": in every order of the
            // others, the second is put in after the first, and the first is there whenever the second is during the operation.
            Claim::Overtaken { first, second, op } => {
                let op = self.op(*op);
                serves(&op, second);
                self.expect_puts_in_order(first, second, &op);
                let is_there =
                    |content: &[Value]| content.contains(first) || !content.contains(second);
                let values = [first.clone(), second.clone()];
                self.expect_during(&op, &values, is_there, "the first value is there");
            }
            // "[Operation] served [lower] while [upper], pushed after it, was on top of it": the same for a stack, whose
            // top is the first value.
            Claim::Buried { lower, upper, op } => {
                let op = self.op(*op);
                serves(&op, lower);
                self.expect_puts_in_order(lower, upper, &op);
                let is_above = |content: &[Value]| {
                    let place = |value: &Value| content.iter().position(|other| other == value);
                    place(upper).is_some_and(|upper| place(lower).is_none_or(|lower| upper < lower))
                };
                let values = [lower.clone(), upper.clone()];
                self.expect_during(&op, &values, is_above, "the upper value is there, on top");
            }
            // "[Operation] passed over larger values: whenever it can have taken effect, one of [urgent] was there": whenever
            // it serves its value in an order, if any value may be served at any time; or during the whole operation, since what
            // is recorded of its own value may be wrong too.
            Claim::PassedOver { op, urgent, how } => {
                let op = self.op(*op);
                let Some(served) = self.sees(&op) else {
                    panic!("{}: {op:?} serves nothing", self.name);
                };
                let expected = match (self.name, *how) {
                    ("priority-queue", "larger") => std::cmp::Ordering::Greater,
                    ("min-priority-queue", "smaller") => std::cmp::Ordering::Less,
                    _ => panic!("{}: {how}", self.name),
                };
                let is_urgent = |value: &Value| value.cmp(served) == expected;
                self.expect(urgent.iter().all(is_urgent), "the values are more urgent");
                let passes_over = bag::serves_beside_one_of(self, &op, served, urgent)
                    || bag::has_one_of(self, &op, urgent);
                self.expect(passes_over, "an urgent value is there");
            }
            _ => unreachable!("{claim:?}"),
        }
    }

    /// Each value was put in once, and in every order of the other operations than `op` the first one before the second.
    fn expect_puts_in_order(&self, first: &Value, second: &Value, op: &Op<'a>) {
        let orders = self.orders_of(&[first.clone(), second.clone()], op.id);
        let (first, second) = (self.only_put(first), self.only_put(second));
        let is_before = !orders.is_empty() && orders.always_before(first.id, second.id);
        self.expect(is_before, "one value was put in before the other");
    }
}
