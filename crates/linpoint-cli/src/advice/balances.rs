//! Advice for banks: their accounts may hold other balances at the start.

use std::collections::BTreeSet;

use linpoint::{History, Value};

use crate::source::TypeChoice;

/// The most accounts that the advice lists.
const MOST_ACCOUNTS: usize = 12;

/// Returns that the balances of a bank at the start are not known, if that is so.
pub(crate) fn unknown_start(choice: &TypeChoice, history: &History) -> Option<String> {
    let is_bank = choice.info().is_some_and(|info| info.name == "bank");
    let is_given = ["initial", "accounts", "balance"]
        .iter()
        .any(|&name| choice.params.contains_key(name));
    (is_bank && !is_given).then(|| {
        let option = option(&accounts(history));
        format!(
            "what the accounts hold at the start is not known: any balances are possible until the first read tells them; \
             {option} says them"
        )
    })
}

/// The option that says what these accounts hold.
fn option(accounts: &BTreeSet<Value>) -> String {
    let count = accounts.len();
    let is_numbered = (0..)
        .zip(accounts)
        .all(|(i, account)| *account == Value::Int(i));
    match (is_numbered, count) {
        (_, 0) => "the parameter \"initial\" of the type".to_owned(),
        (true, ..=MOST_ACCOUNTS) => {
            let amounts = vec!["10"; count].join(",");
            format!("-t 'bank:initial=[{amounts}]', with the true amounts,")
        }
        (true, _) => format!("-t bank:accounts={count},balance=10, with the true balance,"),
        (false, ..=MOST_ACCOUNTS) => {
            let amount = |account: &Value| match account {
                Value::Text(name) => format!("\"{name}\":10"),
                number => format!("\"{number}\":10"),
            };
            let amounts: Vec<String> = accounts.iter().map(amount).collect();
            let amounts = amounts.join(",");
            format!("-t 'bank:initial={{{amounts}}}', with the true amounts,")
        }
        (false, _) => "-t 'bank:initial={\"NAME\":AMOUNT,...}'".to_owned(),
    }
}

/// The accounts that transfers and reads name.
fn accounts(history: &History) -> BTreeSet<Value> {
    let mut accounts = BTreeSet::new();
    for op in history.ops() {
        let transferred = match op.argument.as_list() {
            Some([from, to, _]) => [Some(from), Some(to)],
            _ => ["from", "to"].map(|key| op.argument.get(key)),
        };
        accounts.extend(transferred.into_iter().flatten().filter_map(name));
        match op.result {
            Some(Value::List(balances)) => {
                accounts.extend((0..).zip(balances.iter()).map(|(i, _)| Value::Int(i)));
            }
            Some(Value::Map(balances)) => {
                accounts.extend(balances.iter().filter_map(|(account, _)| name(account)));
            }
            _ => {}
        }
    }
    accounts
}

/// The name of an account: text that is an integer means the integer, since the keys of a JSON object are text.
fn name(recorded: &Value) -> Option<Value> {
    match recorded {
        Value::Int(_) => Some(recorded.clone()),
        Value::Text(text) => Some(match text.parse::<i64>() {
            Ok(number) if number.to_string() == **text => Value::Int(number),
            _ => recorded.clone(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_names_the_accounts_that_there_are() {
        let numbered = |count: i64| (0..count).map(Value::Int).collect();
        let said = |accounts: BTreeSet<Value>| option(&accounts);
        let list = "-t 'bank:initial=[10,10,10]', with the true amounts,";
        assert_eq!(said(numbered(3)), list);
        let many = "-t bank:accounts=40,balance=10, with the true balance,";
        assert_eq!(said(numbered(40)), many);
        let named = BTreeSet::from(["a".into(), "b".into()]);
        let map = "-t 'bank:initial={\"a\":10,\"b\":10}', with the true amounts,";
        assert_eq!(said(named), map);
        let from_one = "-t 'bank:initial={\"1\":10,\"2\":10}', with the true amounts,";
        assert_eq!(said([1, 2].map(Value::Int).into()), from_one);
    }
}
