//! Tests of banks.

use super::super::laws::run;
use super::*;

fn unknown(overdraft: Overdraft) -> Bank {
    Bank {
        initial: None,
        overdraft,
    }
}

#[test]
fn sequential_behaviour() {
    run(
        &Bank::with_accounts(3, 10, Overdraft::Refused),
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
    let bank = Bank::with_accounts(2, 0, Overdraft::Allowed);
    run(&bank, "transfer([0, 1, 4]) true \n read() [-4, 4]");
}

#[test]
fn accounts_have_any_names_and_balances() {
    let accounts = Value::map([("b".into(), 0.into()), (7.into(), 100.into())]);
    let bank = Bank {
        initial: balances_of(&accounts),
        overdraft: Overdraft::Refused,
    };
    run(
        &bank,
        r#"
        read() {"7": 100, "b": 0}
        transfer([7, "b", 60]) true
        transfer(["7", "b", 60]) false
        read() {"7": 40, "b": 60}
        "#,
    );
}

#[test]
fn accounts_that_do_not_exist_are_refused() {
    let bank = Bank::with_accounts(2, 0, Overdraft::Allowed);
    assert!(bank.balances(&Value::list([1.into()])).is_err());
    assert!(bank.balances(&Value::map([(5.into(), 1.into())])).is_err());
    assert!(bank.balances(&Value::map([(0.into(), 1.into())])).is_err());
    let twice = Value::map([(0.into(), 1.into()), ("0".into(), 1.into())]);
    assert!(bank.balances(&twice).is_err());
}

#[test]
fn the_first_read_tells_unknown_balances() {
    run(
        &unknown(Overdraft::Refused),
        r#"
        transfer([0, 1, 4]) true
        transfer([1, 2, 50]) false
        read() {"0": 96, "1": 4, "2": 0, "3": 7}
        transfer([0, 1, 90]) true
        read() {"0": 6, "1": 94, "2": 0, "3": 7}
        "#,
    );
}

#[test]
fn transfers_bound_unknown_balances() {
    let bank = unknown(Overdraft::Refused);
    let transfer = |from: i64, to: i64, amount| BankOp::Transfer {
        from: from.into(),
        to: to.into(),
        amount,
    };
    let step = |state: &BankState, op: &BankOp, ret: Value| bank.step(state, op, Some(&ret));
    let paid = step(&bank.init(), &transfer(0, 1, 8), true.into()).remove(0);
    let read = |state: &BankState, balances: [i64; 2]| {
        let balances = Value::list(balances.map(Value::Int));
        !step(state, &BankOp::Read, balances).is_empty()
    };
    assert!(read(&paid, [0, 8]), "it held 8");
    assert!(!read(&paid, [-1, 8]), "it held 7, and paid 8");
    let refused = step(&paid, &transfer(0, 1, 3), false.into()).remove(0);
    assert!(read(&refused, [2, 8]));
    assert!(!read(&refused, [3, 8]), "it held 3, and was refused 3");
    assert!(step(&refused, &transfer(0, 1, 3), true.into()).is_empty());
    let account_missing = Value::list([1.into()]);
    assert!(step(&paid, &BankOp::Read, account_missing).is_empty());
}

#[test]
fn balances_are_exact() {
    const MOST: i64 = i64::MAX;
    let transfer = |from: i64, to: i64, amount| BankOp::Transfer {
        from: from.into(),
        to: to.into(),
        amount,
    };
    for initial in [Some(MOST), None] {
        let bank = Bank {
            initial: initial.and_then(|most| balances_of(&Value::list([most.into(), most.into()]))),
            overdraft: Overdraft::Refused,
        };
        let after = |ops: &[(BankOp, bool)]| {
            ops.iter().fold(vec![bank.init()], |states, (op, answer)| {
                let next = |state| bank.step(state, op, Some(&Value::Bool(*answer)));
                states.iter().flat_map(next).collect()
            })
        };
        let paid = (transfer(0, 1, MOST), true);
        let [state] = after(std::slice::from_ref(&paid)).try_into().unwrap();
        for (balances, is_possible) in [([0, MOST], initial.is_none()), ([0, -2], false)] {
            let read = Value::list(balances.map(Value::Int));
            let next = bank.step(&state, &BankOp::Read, Some(&read));
            assert_eq!(!next.is_empty(), is_possible, "{initial:?} {read}");
        }
        let back = (transfer(1, 0, MOST), true);
        assert_eq!(after(&[paid.clone(), back, paid.clone()]).len(), 1);
        let refused = (transfer(1, 0, 5), false);
        assert!(after(&[paid, refused]).is_empty(), "it has much more");
    }
}

#[test]
fn unknown_balances_are_not_negative_unless_that_is_allowed() {
    for (overdraft, is_possible) in [(Overdraft::Refused, false), (Overdraft::Allowed, true)] {
        let bank = unknown(overdraft);
        let read = |state: &BankState, balances: [i64; 2]| {
            let balances = Value::list(balances.map(Value::Int));
            !bank.step(state, &BankOp::Read, Some(&balances)).is_empty()
        };
        assert_eq!(read(&bank.init(), [-1, 5]), is_possible);
        let transfer = BankOp::Transfer {
            from: 0.into(),
            to: 1.into(),
            amount: 3,
        };
        let paid = &bank.step(&bank.init(), &transfer, Some(&true.into()))[0];
        assert!(read(paid, [0, 3]));
        assert_eq!(read(paid, [0, 2]), is_possible, "account 1 held -1");
        assert!(paid.words().contains("account 0 held 3 less than at"));
    }
}

#[test]
fn balances_are_told_account_by_account() {
    let words = |balances: Vec<(Value, i128)>| BankState::Known(balances).words();
    let numbered = |count: i64| (0..count).map(|account| (account.into(), 3)).collect();
    assert_eq!(
        words(numbered(3)),
        "the accounts held 9 in total: 3 in account 0, 3 in 1 and 3 in 2"
    );
    let one = vec![("a".into(), 7)];
    assert_eq!(
        words(one),
        "the accounts held 7 in total: 7 in account \"a\""
    );
    let many = words(numbered(14));
    assert!(many.ends_with("3 in 11 and the rest in 2 more"), "{many}");
}

/// A history is linearizable with unknown balances if and only if it is so with some balances.
#[test]
fn unknown_balances_are_any_balances() {
    use crate::{Checker, Config, HistoryBuilder, Ties, Verdict, history::Call};
    const MOST: i64 = 4;
    let checker = Checker::new(Config::default().verdicts_only());
    let mut verdicts = [0; 2];
    for seed in 0..400 {
        let mut sampler = Sampler::new(seed, None);
        let overdraft = sampler.pick(&[Overdraft::Refused, Overdraft::Allowed]);
        let mut builder = HistoryBuilder::new();
        let start = [sampler.below(4) as i64, sampler.below(3) as i64];
        let bank_from = |start: [i64; 2]| Bank {
            initial: balances_of(&Value::list(start.map(Value::Int))),
            overdraft,
        };
        let real = bank_from(start);
        let mut state = real.init();
        let mut open: [Option<Option<Value>>; 3] = [None, None, None];
        let mut ops: [Option<BankOp>; 3] = [None, None, None];
        for _ in 0..16 {
            let process = sampler.below(3);
            let name = Value::Int(process as i64);
            match (open[process].take(), ops[process].take()) {
                (Some(Some(result)), _) => builder.ret(0, &name, result).unwrap(),
                (Some(None), Some(op)) => {
                    let result = real.perform(&mut state, &op, &mut sampler);
                    let wrong = sampler.percent(10).then(|| {
                        let off = [sampler.below(3) as i64, sampler.below(3) as i64];
                        Value::list(off.map(Value::Int))
                    });
                    let result = match op {
                        BankOp::Read => wrong.or(result),
                        _ => result,
                    };
                    open[process] = Some(Some(result.unwrap_or_default()));
                }
                _ => {
                    let (method, argument) = match sampler.percent(40) {
                        true => ("read", Value::Nil),
                        false => {
                            let from = sampler.below(2) as i64;
                            let amount = 1 + sampler.below(3) as i64;
                            let transfer = [from, 1 - from, amount].map(Value::Int);
                            ("transfer", Value::list(transfer))
                        }
                    };
                    let call = CallView {
                        process: &name,
                        method,
                        argument: &argument,
                        hint: None,
                    };
                    ops[process] = Some(real.decode(call).unwrap());
                    open[process] = Some(None);
                    builder.call(0, name, Call::new(method, argument)).unwrap();
                }
            }
        }
        let history = builder.finish(Ties::default()).unwrap();
        let is_linearizable = |bank: &Bank| {
            let report = checker.check_recorded(bank, &history).unwrap();
            matches!(report.verdict, Verdict::Linearizable(_))
        };
        let least = match overdraft {
            Overdraft::Refused => 0,
            Overdraft::Allowed => -8,
        };
        let starts = (least..=8 + MOST).flat_map(|a| (least..=8 + MOST).map(move |b| [a, b]));
        let expected = starts.map(bank_from).any(|bank| is_linearizable(&bank));
        assert_eq!(
            is_linearizable(&unknown(overdraft)),
            expected,
            "seed {seed}"
        );
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 40), "{verdicts:?}");
}
