//! What is known of the accounts of a bank whose balances at the start may not be known.

use crate::value::Value;

/// What is known of the accounts of a [`Bank`](super::Bank), sorted by account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BankState {
    /// The balance of every account.
    Known(Vec<(Value, i64)>),
    /// Only what transfers did: no read told the balances yet. Any balances at the start are possible that are within these
    /// bounds, and any other accounts.
    Unknown(Vec<(Value, Bounds)>),
}

/// What transfers tell of an account whose balance at the start is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// How much was paid in, less what was paid out.
    pub moved: i64,
    /// It held this much at least at the start, since a transfer was not refused.
    pub at_least: Option<i64>,
    /// It held less than this at the start, since a transfer was refused.
    pub below: Option<i64>,
}

impl Bounds {
    fn has_room(&self) -> bool {
        match (self.at_least, self.below) {
            (Some(at_least), Some(below)) => at_least < below,
            (None, Some(below)) => below > i64::MIN,
            (_, None) => true,
        }
    }

    fn allows(&self, start: i64) -> bool {
        self.at_least.is_none_or(|least| start >= least)
            && self.below.is_none_or(|below| start < below)
    }

    /// With this much in the account now, at least.
    fn holding(self, amount: i64) -> Self {
        let needed = amount.saturating_sub(self.moved);
        let at_least = Some(self.at_least.map_or(needed, |least| least.max(needed)));
        Bounds { at_least, ..self }
    }

    /// With less than this in the account now.
    fn lacking(self, amount: i64) -> Self {
        let limit = amount.saturating_sub(self.moved);
        let below = Some(self.below.map_or(limit, |below| below.min(limit)));
        Bounds { below, ..self }
    }

    fn paid(self, amount: i64) -> Self {
        let moved = self.moved.wrapping_add(amount);
        Bounds { moved, ..self }
    }

    /// A balance at the start that is possible, `usual` where it is.
    fn possible_start(&self, usual: i64) -> i64 {
        let start = self.at_least.map_or(usual, |least| least.max(usual));
        self.below
            .map_or(start, |below| start.min(below.saturating_sub(1)))
    }
}

/// The item of `account`, which is put in if it is not there.
fn item<'i, T: Default>(items: &'i mut Vec<(Value, T)>, account: &Value) -> &'i mut T {
    let place = match items.binary_search_by(|(other, _)| other.cmp(account)) {
        Ok(place) => place,
        Err(place) => {
            items.insert(place, (account.clone(), T::default()));
            place
        }
    };
    &mut items[place].1
}

/// Pays `amount` from one account to another.
fn pay<T: Copy + Default>(
    items: &mut Vec<(Value, T)>,
    [from, to]: [&Value; 2],
    amount: i64,
    paid: impl Fn(T, i64) -> T,
) {
    let payer = item(items, from);
    *payer = paid(*payer, amount.wrapping_neg());
    let receiver = item(items, to);
    *receiver = paid(*receiver, amount);
}

impl BankState {
    /// The state after a transfer that was done. With `covered`, the account that pays had enough. `None` if that cannot be.
    pub(super) fn transferred(
        &self,
        accounts: [&Value; 2],
        amount: i64,
        covered: bool,
    ) -> Option<Self> {
        let [from, to] = accounts;
        match self {
            BankState::Known(balances) => {
                let balance = balance(balances, from)?;
                balance_exists(balances, to).then_some(())?;
                if covered && balance < amount {
                    return None;
                }
                let mut balances = balances.clone();
                pay(&mut balances, accounts, amount, i64::wrapping_add);
                Some(BankState::Known(balances))
            }
            BankState::Unknown(bounds) => {
                let mut bounds = bounds.clone();
                let payer = item(&mut bounds, from);
                if covered {
                    *payer = payer.holding(amount);
                }
                let has_room = payer.has_room();
                pay(&mut bounds, accounts, amount, Bounds::paid);
                has_room.then_some(BankState::Unknown(bounds))
            }
        }
    }

    /// The state after a transfer that was refused because the account had not enough; `None` if that cannot be.
    pub(super) fn refused(&self, [from, to]: [&Value; 2], amount: i64) -> Option<Self> {
        match self {
            BankState::Known(balances) => {
                let is_refused = balance(balances, from)? < amount && balance_exists(balances, to);
                is_refused.then(|| self.clone())
            }
            BankState::Unknown(bounds) => {
                let mut bounds = bounds.clone();
                item(&mut bounds, to);
                let payer = item(&mut bounds, from);
                *payer = payer.lacking(amount);
                let has_room = payer.has_room();
                has_room.then_some(BankState::Unknown(bounds))
            }
        }
    }

    /// Whether a read of all accounts may answer these balances, sorted by account.
    pub(super) fn may_be(&self, read: &[(Value, i64)]) -> bool {
        match self {
            BankState::Known(balances) => balances == read,
            BankState::Unknown(bounds) => bounds.iter().all(|(account, bounds)| {
                let balance = balance(read, account);
                balance.is_some_and(|balance| bounds.allows(balance.wrapping_sub(bounds.moved)))
            }),
        }
    }

    /// The balances, or possible ones: those of `usual` at the start, as far as they can be.
    pub(super) fn possible_balances(&self, usual: &[(Value, i64)]) -> Vec<(Value, i64)> {
        let bounds = match self {
            BankState::Known(balances) => return balances.clone(),
            BankState::Unknown(bounds) => bounds,
        };
        let mut balances = usual.to_vec();
        for (account, bounds) in bounds {
            let start = balance(usual, account).unwrap_or_default();
            let now = bounds.possible_start(start).wrapping_add(bounds.moved);
            *item(&mut balances, account) = now;
        }
        balances
    }

    pub(super) fn value(&self) -> Value {
        let bounds = match self {
            BankState::Known(balances) => return listed(balances),
            BankState::Unknown(bounds) => bounds,
        };
        let bound = |bound: Option<i64>| bound.map_or(Value::Nil, Value::Int);
        let account = |(account, bounds): &(Value, Bounds)| {
            Value::list([
                account.clone(),
                Value::Int(bounds.moved),
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
            BankState::Known(balances) => return format!("the accounts held {}", listed(balances)),
            BankState::Unknown(bounds) => bounds,
        };
        let account = |(account, bounds): &(Value, Bounds)| {
            let mut words = format!(
                "account {account} held {:+} more than at the start",
                bounds.moved
            );
            if let Some(least) = bounds.at_least {
                words += &format!(", then {least} at least");
            }
            if let Some(below) = bounds.below {
                words += &format!(", then less than {below}");
            }
            words
        };
        match bounds.as_slice() {
            [] => "no read had told the balances".into(),
            bounds => {
                let accounts: Vec<String> = bounds.iter().map(account).collect();
                format!("no read had told the balances, and {}", accounts.join("; "))
            }
        }
    }
}

fn balance(balances: &[(Value, i64)], account: &Value) -> Option<i64> {
    let place = balances.binary_search_by(|(other, _)| other.cmp(account));
    Some(balances[place.ok()?].1)
}

fn balance_exists(balances: &[(Value, i64)], account: &Value) -> bool {
    balance(balances, account).is_some()
}

/// The balances as a list if the accounts are numbered from 0 on, and else as a map.
pub(super) fn listed(balances: &[(Value, i64)]) -> Value {
    let is_numbered = (0..)
        .zip(balances)
        .all(|(i, (account, _))| *account == Value::Int(i));
    let pairs = balances.iter().cloned();
    match is_numbered {
        true => Value::list(pairs.map(|(_, balance)| Value::Int(balance))),
        false => Value::map(pairs.map(|(account, balance)| (account, Value::Int(balance)))),
    }
}
