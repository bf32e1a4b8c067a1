//! What is known of the accounts of a bank whose balances at the start may not be known.

use super::Overdraft;
use crate::value::Value;

/// What is known of the accounts of a [`Bank`](super::Bank), sorted by account. Recorded numbers have 64 bits, and sums of them
/// have 128, so no balance overflows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BankState {
    /// The balance of every account.
    Known(Vec<(Value, i128)>),
    /// Only what transfers did: no read told the balances yet. Any balances at the start are possible that are within these
    /// bounds, and any other accounts, of which none is overdrawn unless that is allowed.
    Unknown(Vec<(Value, Bounds)>),
}

/// What transfers tell of an account whose balance at the start is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// How much was paid in, less what was paid out.
    pub moved: i128,
    /// It held this much at least at the start: 0, or more since a transfer was not refused. `None` if overdrafts are allowed.
    pub at_least: Option<i128>,
    /// It held less than this at the start, since a transfer was refused.
    pub below: Option<i128>,
}

impl Bounds {
    /// What is known of an account of which nothing was told.
    fn untold(overdraft: Overdraft) -> Self {
        Bounds {
            moved: 0,
            at_least: match overdraft {
                Overdraft::Refused => Some(0),
                Overdraft::Allowed => None,
            },
            below: None,
        }
    }

    fn has_room(&self) -> bool {
        match (self.at_least, self.below) {
            (Some(at_least), Some(below)) => at_least < below,
            _ => true,
        }
    }

    fn allows(&self, start: i128) -> bool {
        self.at_least.is_none_or(|least| start >= least)
            && self.below.is_none_or(|below| start < below)
    }

    /// With this much in the account now, at least.
    fn holding(self, amount: i64) -> Self {
        let needed = i128::from(amount) - self.moved;
        let at_least = Some(self.at_least.map_or(needed, |least| least.max(needed)));
        Bounds { at_least, ..self }
    }

    /// With less than this in the account now.
    fn lacking(self, amount: i64) -> Self {
        let limit = i128::from(amount) - self.moved;
        let below = Some(self.below.map_or(limit, |below| below.min(limit)));
        Bounds { below, ..self }
    }

    fn paid(self, amount: i128) -> Self {
        let moved = self.moved + amount;
        Bounds { moved, ..self }
    }

    /// A balance at the start that is possible, `usual` where it is.
    fn possible_start(&self, usual: i128) -> i128 {
        let start = self.at_least.map_or(usual, |least| least.max(usual));
        self.below.map_or(start, |below| start.min(below - 1))
    }
}

/// The item of `account`, which is put in if it is not there.
fn item<'i, T>(items: &'i mut Vec<(Value, T)>, account: &Value, new: T) -> &'i mut T {
    let place = match items.binary_search_by(|(other, _)| other.cmp(account)) {
        Ok(place) => place,
        Err(place) => {
            items.insert(place, (account.clone(), new));
            place
        }
    };
    &mut items[place].1
}

impl BankState {
    /// The state after a transfer that was done; `None` if that cannot be. The account that pays had enough, unless overdrafts
    /// are allowed.
    pub(super) fn transferred(
        &self,
        [from, to]: [&Value; 2],
        amount: i64,
        overdraft: Overdraft,
    ) -> Option<Self> {
        let paid = i128::from(amount);
        match self {
            BankState::Known(balances) => {
                let mut balances = balances.clone();
                let payer = known(&mut balances, from)?;
                if overdraft == Overdraft::Refused && *payer < paid {
                    return None;
                }
                *payer -= paid;
                *known(&mut balances, to)? += paid;
                Some(BankState::Known(balances))
            }
            BankState::Unknown(bounds) => {
                let mut bounds = bounds.clone();
                let untold = Bounds::untold(overdraft);
                let payer = item(&mut bounds, from, untold);
                if overdraft == Overdraft::Refused {
                    *payer = payer.holding(amount);
                }
                let has_room = payer.has_room();
                *payer = payer.paid(-paid);
                let receiver = item(&mut bounds, to, untold);
                *receiver = receiver.paid(paid);
                has_room.then_some(BankState::Unknown(bounds))
            }
        }
    }

    /// The state after a transfer that was refused because the account had not enough; `None` if that cannot be.
    pub(super) fn refused(&self, [from, to]: [&Value; 2], amount: i64) -> Option<Self> {
        match self {
            BankState::Known(balances) => {
                let is_refused =
                    balance(balances, from)? < amount.into() && balance(balances, to).is_some();
                is_refused.then(|| self.clone())
            }
            BankState::Unknown(bounds) => {
                let mut bounds = bounds.clone();
                let untold = Bounds::untold(Overdraft::Refused);
                item(&mut bounds, to, untold);
                let payer = item(&mut bounds, from, untold);
                *payer = payer.lacking(amount);
                let has_room = payer.has_room();
                has_room.then_some(BankState::Unknown(bounds))
            }
        }
    }

    /// Whether a read of all accounts may answer these balances, sorted by account.
    pub(super) fn may_be(&self, read: &[(Value, i128)], overdraft: Overdraft) -> bool {
        let bounds = match self {
            BankState::Known(balances) => return balances == read,
            BankState::Unknown(bounds) => bounds,
        };
        let allows = |bounds: &Bounds, balance: i128| bounds.allows(balance - bounds.moved);
        let has_account = |(account, _): &(Value, Bounds)| balance(read, account).is_some();
        bounds.iter().all(has_account)
            && read.iter().all(|(account, balance)| {
                let known = bounds.iter().find(|(other, _)| other == account);
                match known {
                    Some((_, bounds)) => allows(bounds, *balance),
                    None => allows(&Bounds::untold(overdraft), *balance),
                }
            })
    }

    /// The balances, or possible ones: those of `usual` at the start, as far as they can be.
    pub(super) fn possible_balances(&self, usual: &[(Value, i128)]) -> Vec<(Value, i128)> {
        let bounds = match self {
            BankState::Known(balances) => return balances.clone(),
            BankState::Unknown(bounds) => bounds,
        };
        let mut balances = usual.to_vec();
        for (account, bounds) in bounds {
            let start = balance(usual, account).unwrap_or_default();
            let now = bounds.possible_start(start) + bounds.moved;
            *item(&mut balances, account, 0) = now;
        }
        balances
    }

    pub(super) fn value(&self) -> Value {
        let bounds = match self {
            BankState::Known(balances) => return listed(balances),
            BankState::Unknown(bounds) => bounds,
        };
        let bound = |bound: Option<i128>| bound.map_or(Value::Nil, amount);
        let account = |(account, bounds): &(Value, Bounds)| {
            Value::list([
                account.clone(),
                amount(bounds.moved),
                bound(bounds.at_least),
                bound(bounds.below),
            ])
        };
        let accounts = Value::list(bounds.iter().map(account));
        Value::map([("unknown".into(), accounts)])
    }

    /// A clause that says what was known.
    pub(super) fn words(&self) -> String {
        let bounds = match self {
            BankState::Known(balances) if balances.is_empty() => {
                return "there were no accounts".into();
            }
            BankState::Known(balances) => {
                let total: i128 = balances.iter().map(|(_, balance)| balance).sum();
                return format!("the accounts held {total} in total: {}", in_words(balances));
            }
            BankState::Unknown(bounds) => bounds,
        };
        let account = |(account, bounds): &(Value, Bounds)| {
            let mut words = format!("account {account} held ");
            words += &match bounds.moved {
                0 => "as much as at the start".to_owned(),
                more @ 1.. => format!("{more} more than at the start"),
                less => format!("{} less than at the start", less.unsigned_abs()),
            };
            if let Some(least) = bounds.at_least.filter(|&least| least > 0) {
                words += &format!(", then {least} at least");
            }
            if let Some(below) = bounds.below {
                words += &format!(", then less than {below}");
            }
            words
        };
        match bounds.as_slice() {
            [] => "the accounts were not read yet".into(),
            bounds => {
                let accounts: Vec<String> = bounds.iter().map(account).collect();
                format!(
                    "the accounts were not read yet, and {}",
                    accounts.join("; ")
                )
            }
        }
    }
}

/// The most accounts whose balances a sentence lists.
const MOST_ACCOUNTS: usize = 12;

/// `7 in account 0, 13 in 1 and 10 in 2`.
fn in_words(balances: &[(Value, i128)]) -> String {
    let listed = balances.iter().take(MOST_ACCOUNTS).zip(0..);
    let mut words: Vec<String> = listed
        .map(|((account, balance), place)| match place {
            0 => format!("{balance} in account {account}"),
            _ => format!("{balance} in {account}"),
        })
        .collect();
    if balances.len() > MOST_ACCOUNTS {
        words.push(format!(
            "the rest in {} more",
            balances.len() - MOST_ACCOUNTS
        ));
    }
    match words.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => words.concat(),
    }
}

fn balance(balances: &[(Value, i128)], account: &Value) -> Option<i128> {
    let place = balances.binary_search_by(|(other, _)| other.cmp(account));
    Some(balances[place.ok()?].1)
}

/// The balance of an account, if there is one of this name.
fn known<'b>(balances: &'b mut [(Value, i128)], account: &Value) -> Option<&'b mut i128> {
    let place = balances.binary_search_by(|(other, _)| other.cmp(account));
    Some(&mut balances[place.ok()?].1)
}

/// An amount as a value. A sum of recorded numbers may have more than 64 bits.
fn amount(amount: i128) -> Value {
    i64::try_from(amount).map_or_else(|_| Value::number(amount.to_string()), Value::Int)
}

/// The balances as a list if the accounts are numbered from 0 on, and else as a map.
pub(super) fn listed(balances: &[(Value, i128)]) -> Value {
    let is_numbered = (0..)
        .zip(balances)
        .all(|(i, (account, _))| *account == Value::Int(i));
    let pairs = balances.iter().cloned();
    match is_numbered {
        true => Value::list(pairs.map(|(_, balance)| amount(balance))),
        false => Value::map(pairs.map(|(account, balance)| (account, amount(balance)))),
    }
}
