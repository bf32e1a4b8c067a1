//! Accounts with transfers between them.

use super::bank_state::listed;
use super::{
    BankState, CallView, DecodeError, Detail, Outcomes, Recorded, RecordedOps, Sampler, Simulated,
    Spec, Vocabulary, decode,
};
use crate::value::Value;

/// A bank.
#[derive(Clone, Debug)]
pub struct Bank {
    /// What each account holds at first, sorted by account. `None` means that neither the accounts nor the balances are known: the
    /// first read that takes effect tells them, and a history is linearizable if it is so for some balances at the start. None of
    /// these is negative, unless overdrafts are allowed.
    pub initial: Option<Vec<(Value, i64)>>,
    /// Whether an account may be overdrawn.
    pub overdraft: Overdraft,
}

/// What happens to a transfer of more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overdraft {
    /// It is refused.
    Refused,
    /// The balance becomes negative.
    Allowed,
}

/// An operation on a [`Bank`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BankOp {
    /// Answers all balances, by account.
    Read,
    /// Moves money; answers whether it was done. A recorded nil does not tell.
    Transfer {
        /// The account that pays.
        from: Value,
        /// The account that receives.
        to: Value,
        /// How much, not negative.
        amount: i64,
    },
}

impl Bank {
    /// A bank with accounts numbered from 0 on, which hold `balance` each at first.
    pub fn with_accounts(accounts: usize, balance: i64, overdraft: Overdraft) -> Self {
        let account = |number| (Value::Int(number as i64), balance);
        Bank {
            initial: Some((0..accounts).map(account).collect()),
            overdraft,
        }
    }

    fn account(&self, recorded: &Value) -> Result<Value, DecodeError> {
        let Some(account) = decode::name(recorded) else {
            return Err(format!("an account has a number or a name, not {recorded}").into());
        };
        match &self.initial {
            Some(known) if !known.iter().any(|(other, _)| *other == account) => {
                let count = known.len();
                Err(format!("there is no account {account} among {count}; bank:initial=[...] says which there are").into())
            }
            _ => Ok(account),
        }
    }

    /// The balances of a complete read, sorted by account.
    fn balances(&self, result: &Value) -> Result<Vec<(Value, i64)>, DecodeError> {
        let balances = balances_of(result)
            .ok_or_else(|| format!("read answers the balance of every account, not {result}"))?;
        for (account, _) in &balances {
            self.account(account)?;
        }
        match &self.initial {
            Some(known) if known.len() != balances.len() => {
                Err(format!("read answers the balance of every account, not {result}").into())
            }
            _ => Ok(balances),
        }
    }
}

/// Balances as recorders write them, sorted by account: a list, for accounts that are numbered from 0 on, or a map.
pub(crate) fn balances_of(recorded: &Value) -> Option<Vec<(Value, i64)>> {
    let mut balances: Vec<(Value, i64)> = match recorded {
        Value::List(balances) => {
            let numbered = (0..).zip(balances.iter());
            let pair = |(number, balance): (i64, &Value)| Some((number.into(), balance.as_int()?));
            numbered.map(pair).collect::<Option<_>>()?
        }
        Value::Map(pairs) => {
            let pair = |(account, balance): &(Value, Value)| {
                Some((decode::name(account)?, balance.as_int()?))
            };
            pairs.iter().map(pair).collect::<Option<_>>()?
        }
        _ => return None,
    };
    balances.sort();
    let is_repeated = balances.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!is_repeated).then_some(balances)
}

/// Recorded balances as those of a state.
fn exact(balances: &[(Value, i64)]) -> Vec<(Value, i128)> {
    let pair = |(account, balance): &(Value, i64)| (account.clone(), (*balance).into());
    balances.iter().map(pair).collect()
}

impl Spec for Bank {
    type Op = BankOp;
    type Ret = Value;
    type State = BankState;

    fn init(&self) -> BankState {
        match &self.initial {
            Some(balances) => BankState::Known(exact(balances)),
            None => BankState::Unknown(Vec::new()),
        }
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the bank",
            put: "paid in",
            taken: "paid out",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &BankState, _: Option<&Value>) -> String {
        state.words()
    }

    fn answer_words(&self, before: &BankState, op: &BankOp, answer: &Value) -> String {
        match (op, before, self.overdraft) {
            (BankOp::Read, BankState::Unknown(_), Overdraft::Allowed) => {
                "the balance of each account at that time".to_owned()
            }
            (BankOp::Read, BankState::Unknown(_), Overdraft::Refused) => {
                "the balance of each account at that time, none below 0".to_owned()
            }
            _ => answer.to_string(),
        }
    }

    fn answer_reason(&self, op: &BankOp, answer: &str) -> Option<String> {
        // Without the balances at the start, the states say what is known of an account.
        self.initial.as_ref()?;
        match (op, answer) {
            (BankOp::Transfer { from, amount, .. }, "false") => {
                Some(format!("account {from} had less than {amount}"))
            }
            (BankOp::Transfer { from, amount, .. }, "true")
                if self.overdraft == Overdraft::Refused =>
            {
                Some(format!("account {from} had at least {amount}"))
            }
            _ => None,
        }
    }

    fn details(&self, op: &BankOp, ret: Option<&Value>) -> Vec<Detail> {
        let balances = match op {
            BankOp::Read => ret.and_then(balances_of),
            BankOp::Transfer { .. } => None,
        };
        let total = |balances: Vec<(Value, i64)>| {
            let balances = balances.iter().map(|(_, balance)| i128::from(*balance));
            Detail::Totals(balances.sum())
        };
        balances.map(total).into_iter().collect()
    }

    fn state_value(&self, state: &BankState) -> Value {
        state.value()
    }

    /// Of the answers of a read that no known balances determine, this lists one.
    fn apply(&self, state: &BankState, op: &BankOp) -> Outcomes<Value, BankState> {
        match op {
            BankOp::Read => {
                let usual = (0..5).map(|number| (Value::Int(number), 10));
                let balances = state.possible_balances(&usual.collect::<Vec<_>>());
                Outcomes::One(listed(&balances), BankState::Known(balances))
            }
            BankOp::Transfer { from, to, amount } => {
                let accounts = [from, to];
                let done = state.transferred(accounts, *amount, self.overdraft);
                let refused = match self.overdraft {
                    Overdraft::Refused => state.refused(accounts, *amount),
                    Overdraft::Allowed => None,
                };
                match (done, refused) {
                    (Some(done), Some(refused)) => Outcomes::Many(vec![
                        (Value::Bool(true), done),
                        (Value::Bool(false), refused),
                    ]),
                    (Some(done), None) => Outcomes::One(Value::Bool(true), done),
                    (None, Some(refused)) => Outcomes::One(Value::Bool(false), refused),
                    (None, None) => Outcomes::Blocked,
                }
            }
        }
    }

    fn step(&self, state: &BankState, op: &BankOp, ret: Option<&Value>) -> Vec<BankState> {
        match (op, ret) {
            (BankOp::Read, Some(ret)) => match balances_of(ret).map(|read| exact(&read)) {
                Some(read) if state.may_be(&read, self.overdraft) => vec![BankState::Known(read)],
                _ => Vec::new(),
            },
            _ => self
                .apply(state, op)
                .answering(ret.filter(|ret| !ret.is_nil())),
        }
    }

    fn is_pure(&self, op: &BankOp, ret: Option<&Value>) -> bool {
        match op {
            // They tell something about the balances at the start.
            _ if self.initial.is_none() => false,
            BankOp::Read => true,
            BankOp::Transfer { from, to, amount } => {
                from == to || *amount == 0 || ret == Some(&Value::Bool(false))
            }
        }
    }

    fn state_after(&self, op: &BankOp, ret: &Value) -> Option<BankState> {
        match op {
            BankOp::Read => {
                let balances = self.balances(ret).ok()?;
                Some(BankState::Known(exact(&balances)))
            }
            BankOp::Transfer { .. } => None,
        }
    }
}

impl Recorded for Bank {
    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        let mut names = decode::Names::default();
        for (call, result) in history {
            if let Some([from, to, _]) = call.argument.as_list() {
                names.add(from)?;
                names.add(to)?;
            }
            for key in ["from", "to"] {
                call.argument
                    .get(key)
                    .map_or(Ok(()), |name| names.add(name))?;
            }
            if let Some(Value::Map(balances)) = result {
                names.add_keys(balances)?;
            }
        }
        Ok(())
    }

    fn decode(&self, call: CallView<'_>) -> Result<BankOp, DecodeError> {
        match call.method {
            "read" => call.takes_nothing(BankOp::Read),
            "transfer" => {
                let argument = call.argument;
                let named = || {
                    Some((
                        argument.get("from")?,
                        argument.get("to")?,
                        argument.get("amount")?,
                    ))
                };
                let (from, to, amount) = match argument.as_list() {
                    Some([from, to, amount]) => Some((from, to, amount)),
                    _ => named(),
                }
                .ok_or_else(|| format!("transfer takes [from, to, amount], not {argument}"))?;
                Ok(BankOp::Transfer {
                    from: self.account(from)?,
                    to: self.account(to)?,
                    amount: (amount.as_int().filter(|&amount| amount >= 0))
                        .ok_or_else(|| format!("{amount} is no amount to transfer"))?,
                })
            }
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &BankOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            BankOp::Read => Ok(listed(&exact(&self.balances(result)?))),
            BankOp::Transfer { .. } => decode::truth_if_told(result),
        }
    }
}

impl Simulated for Bank {
    fn sample(&self, _: &BankState, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        if sampler.percent(40) {
            return ("read", Value::Nil);
        }
        let mut account = || match &self.initial {
            Some(accounts) if !accounts.is_empty() => sampler.pick(accounts).0,
            _ => Value::Int(sampler.below(5) as i64),
        };
        let (from, to) = (account(), account());
        let amount = Value::Int(1 + sampler.below(5) as i64);
        ("transfer", Value::list([from, to, amount]))
    }
}

#[cfg(test)]
mod tests;
