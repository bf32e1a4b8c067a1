//! What must hold of an object when all threads have ended.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};
use linpoint_test::{FailureKind, Object, object};

use crate::{agreed, caught, passes};

/// Deposits, and their sum. No operation looks at both.
#[derive(Default)]
struct Account {
    deposits: Mutex<Vec<u32>>,
    sum: AtomicU32,
}

fn account(deposit: fn(&Account, u32)) -> Object<Account> {
    object(Account::default)
        .op("deposit", [1, 2], deposit)
        .invariant(|account: &Account| {
            let sum: u32 = account.deposits.lock().unwrap().iter().sum();
            assert_eq!(sum, account.sum.load(SeqCst), "the sum is wrong");
        })
        .matrix([["deposit(1)"], ["deposit(2)"]])
}

fn racy(account: &Account, amount: u32) {
    account.deposits.lock().unwrap().push(amount);
    let sum = account.sum.load(SeqCst);
    account.sum.store(sum + amount, SeqCst);
}

#[test]
fn an_invariant_that_an_interleaving_breaks_is_found() {
    let failure = caught(account(racy), FailureKind::Invariant);
    assert!(
        failure.sentence.contains("the sum is wrong"),
        "{}",
        failure.sentence
    );
    assert_eq!(failure.preemptions, 1);
    assert!(!failure.interleaving.is_empty());
    assert!(!agreed(|| account(racy)));
}

#[test]
fn an_invariant_that_holds_passes() {
    let right = || {
        account(|account, amount| {
            account.deposits.lock().unwrap().push(amount);
            account.sum.fetch_add(amount, SeqCst);
        })
    };
    passes(&right());
    assert!(agreed(right));
}

#[test]
fn an_invariant_that_a_serial_execution_breaks_is_found() {
    let forgetful = account(|account, amount| account.deposits.lock().unwrap().push(amount));
    let failure = caught(forgetful, FailureKind::Invariant);
    assert_eq!(failure.matrix.concat().len(), 1, "{failure}");
}

#[test]
fn an_invariant_that_waits_for_ever_does_not_hold() {
    let leaky = object(|| Mutex::new(()))
        .op0("leak", |lock: &Mutex<()>| {
            if let Ok(guard) = lock.try_lock() {
                std::mem::forget(guard);
            }
        })
        .invariant(|lock| drop(lock.lock()))
        .matrix([["leak"], ["leak"]]);
    let failure = caught(leaky, FailureKind::Invariant);
    assert!(
        failure.sentence.contains("waits for something"),
        "{failure}"
    );
}

#[test]
fn a_stuck_execution_has_no_end_at_which_an_invariant_could_hold() {
    let waiting = object(|| (Mutex::new(false), Condvar::new()))
        .op0("wait", |(is_set, changed): &(Mutex<bool>, Condvar)| {
            let guard = is_set.lock().unwrap();
            drop(changed.wait_while(guard, |is_set| !*is_set).unwrap());
        })
        .may_block("wait")
        .op0("set", |(is_set, changed)| {
            *is_set.lock().unwrap() = true;
            changed.notify_one();
        })
        .invariant(|(is_set, _)| assert!(*is_set.lock().unwrap()))
        .matrix([["wait"], ["set"]]);
    passes(&waiting);
}
