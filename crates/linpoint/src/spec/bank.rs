//! Accounts with transfers between them.

use super::{
    CallView, DecodeError, Outcomes, Recorded, Sampler, Simulated, Spec, Vocabulary, decode, words,
};
use crate::value::Value;

/// A bank with accounts `0..accounts`.
#[derive(Clone, Debug)]
pub struct Bank {
    /// How many accounts there are.
    pub accounts: usize,
    /// What each holds at first.
    pub balance: i64,
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
        from: usize,
        /// The account that receives.
        to: usize,
        /// How much, not negative.
        amount: i64,
    },
}

impl Bank {
    fn account(&self, number: &Value) -> Result<usize, DecodeError> {
        // The keys of a JSON object are text.
        let parsed = match number {
            Value::Int(i) => usize::try_from(*i).ok(),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        parsed
            .filter(|&i| i < self.accounts)
            .ok_or_else(|| format!("there is no account {number} among {}", self.accounts).into())
    }

    fn balances(&self, result: &Value) -> Result<Vec<i64>, DecodeError> {
        let malformed = || format!("read answers the balance of every account, not {result}");
        let balance = |value: &Value| value.as_int().ok_or_else(malformed);
        let balances = match result {
            Value::List(balances) => balances
                .iter()
                .map(balance)
                .collect::<Result<Vec<_>, _>>()?,
            Value::Map(pairs) => {
                let mut by_account = vec![None; self.accounts];
                for (account, value) in pairs.iter() {
                    by_account[self.account(account)?] = Some(balance(value)?);
                }
                by_account
                    .into_iter()
                    .collect::<Option<_>>()
                    .ok_or_else(malformed)?
            }
            _ => return Err(malformed().into()),
        };
        if balances.len() == self.accounts {
            Ok(balances)
        } else {
            Err(malformed().into())
        }
    }
}

fn listed(balances: &[i64]) -> Value {
    Value::list(balances.iter().copied().map(Value::Int))
}

impl Spec for Bank {
    type Op = BankOp;
    type Ret = Value;
    /// The balances, by account.
    type State = Vec<i64>;

    fn init(&self) -> Vec<i64> {
        vec![self.balance; self.accounts]
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the bank",
            put: "paid in",
            taken: "paid out",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        let balances: Vec<Value> = state.iter().map(|&balance| balance.into()).collect();
        words::members("the accounts", &balances)
    }

    fn answer_reason(&self, op: &BankOp, answer: &str) -> Option<String> {
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

    fn state_value(&self, state: &Vec<i64>) -> Value {
        listed(state)
    }

    fn apply(&self, state: &Vec<i64>, op: &BankOp) -> Outcomes<Value, Vec<i64>> {
        match *op {
            BankOp::Read => Outcomes::One(listed(state), state.clone()),
            BankOp::Transfer { from, amount, .. }
                if self.overdraft == Overdraft::Refused && state[from] < amount =>
            {
                Outcomes::One(Value::Bool(false), state.clone())
            }
            BankOp::Transfer { from, to, amount } => {
                let mut next = state.clone();
                next[from] = next[from].wrapping_sub(amount);
                next[to] = next[to].wrapping_add(amount);
                Outcomes::One(Value::Bool(true), next)
            }
        }
    }

    fn step(&self, state: &Vec<i64>, op: &BankOp, ret: Option<&Value>) -> Vec<Vec<i64>> {
        self.apply(state, op)
            .answering(ret.filter(|ret| !ret.is_nil()))
    }

    fn is_pure(&self, op: &BankOp, ret: Option<&Value>) -> bool {
        match *op {
            BankOp::Read => true,
            BankOp::Transfer { from, to, amount } => {
                from == to || amount == 0 || ret == Some(&Value::Bool(false))
            }
        }
    }

    fn state_after(&self, op: &BankOp, ret: &Value) -> Option<Vec<i64>> {
        match op {
            BankOp::Read => self.balances(ret).ok(),
            BankOp::Transfer { .. } => None,
        }
    }
}

impl Recorded for Bank {
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
            BankOp::Read => Ok(listed(&self.balances(result)?)),
            BankOp::Transfer { .. } => decode::truth_if_told(result),
        }
    }
}

impl Simulated for Bank {
    fn sample(&self, _: &Vec<i64>, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        if sampler.percent(40) {
            return ("read", Value::Nil);
        }
        let from = sampler.below(self.accounts);
        let to = sampler.below(self.accounts);
        let amount = 1 + sampler.below(5);
        let argument = [from, to, amount].map(|n| Value::Int(n as i64));
        ("transfer", Value::list(argument))
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        let bank = Bank {
            accounts: 3,
            balance: 10,
            overdraft: Overdraft::Refused,
        };
        run(
            &bank,
            r#"
            read() [10, 10, 10]
            transfer([0, 1, 4]) true
            transfer({"from": 0, "to": 2, "amount": 7}) false
            transfer([0, 2, 6]) null
            transfer([0, 0, 1]) false
            transfer([1, 1, 1]) true
            read() {"0": 0, "1": 14, "2": 16}
            "#,
        );
    }

    #[test]
    fn overdrafts_may_be_allowed() {
        let bank = Bank {
            accounts: 2,
            balance: 0,
            overdraft: Overdraft::Allowed,
        };
        run(&bank, "transfer([0, 1, 4]) true \n read() [-4, 4]");
    }

    #[test]
    fn accounts_that_do_not_exist_are_refused() {
        let bank = Bank {
            accounts: 2,
            balance: 0,
            overdraft: Overdraft::Allowed,
        };
        assert!(bank.balances(&Value::list([1.into()])).is_err());
        assert!(bank.balances(&Value::map([(5.into(), 1.into())])).is_err());
        assert!(bank.balances(&Value::map([(0.into(), 1.into())])).is_err());
    }
}
