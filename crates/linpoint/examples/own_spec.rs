//! Checks a history of an object that linpoint does not know: a bank account that refuses to be overdrawn.
//!
//! ```console
//! $ cargo run --release -p linpoint --example own_spec
//! ```

use linpoint::{Checker, Error, Outcomes, Spec, TypedHistory, Verdict};

/// An account that begins empty.
struct Account;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Deposit(u64),
    Withdraw(u64),
    Balance,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ret {
    Done,
    /// A withdrawal of more than there is changes nothing.
    Refused,
    Amount(u64),
}

impl Spec for Account {
    type Op = Op;
    type Ret = Ret;
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    fn apply(&self, &balance: &u64, op: &Op) -> Outcomes<Ret, u64> {
        match *op {
            Op::Deposit(amount) => Outcomes::One(Ret::Done, balance + amount),
            Op::Withdraw(amount) => match balance.checked_sub(amount) {
                Some(rest) => Outcomes::One(Ret::Done, rest),
                None => Outcomes::One(Ret::Refused, balance),
            },
            Op::Balance => Outcomes::One(Ret::Amount(balance), balance),
        }
    }
}

/// Two withdrawals at the same time, each of all that there is; `second` is what the later one answered.
fn history(second: Ret) -> TypedHistory<Op, Ret> {
    let mut history = TypedHistory::new();
    let deposit = history.call(0, Op::Deposit(100));
    history.ret(deposit, Ret::Done);
    let a = history.call(0, Op::Withdraw(100));
    let b = history.call(1, Op::Withdraw(100));
    history.ret(a, Ret::Done);
    history.ret(b, second);
    let balance = history.call(0, Op::Balance);
    history.ret(balance, Ret::Amount(0));
    history
}

fn main() -> Result<(), Error> {
    let checker = Checker::default();

    let report = checker.check(&Account, &history(Ret::Refused))?;
    let Verdict::Linearizable(_) = report.verdict else {
        panic!("one withdrawal is refused, so this is linearizable: {report:?}");
    };
    println!("one withdrawal refused: linearizable");

    // Both read the balance before either wrote it: the money was paid twice.
    let report = checker.check(&Account, &history(Ret::Done))?;
    let Verdict::Violation(violation) = report.verdict else {
        panic!("the same money was withdrawn twice, so this is a violation: {report:?}");
    };
    println!("both withdrawals done: not linearizable");
    println!("  {}", violation.core.sentence());
    Ok(())
}
