//! Decides one history: finds its type, checks it, and adds what users should know about the verdict.

use std::path::Path;
use std::time::Instant;

use linpoint::format::{RecordedHistory, write_jsonl};
use linpoint::{Budget, Checker, Cores, Error, ErrorKind, Verdict};

use crate::advice;
use crate::files::Files;
use crate::results::Checked;
use crate::source::{TypeChoice, object_of, with_advice, with_methods};

/// What is made for each history.
#[derive(Clone, Copy, Debug)]
pub enum Evidence {
    /// The report.
    Report,
    /// The report, and a proof of its verdict.
    Proof,
}

/// Decides a history, as the type that was chosen or the one that it names or that its methods tell.
pub fn decide(
    recorded: RecordedHistory,
    chosen: Option<&TypeChoice>,
    checker: &Checker,
    evidence: Evidence,
    budget: &Budget,
) -> Result<Checked, Error> {
    let started = Instant::now();
    let (choice, object) = object_of(&recorded, chosen)?;
    let is_guess = chosen.is_none() && recorded.object_type.is_none();
    let history = &recorded.history;
    let running = choice.running(budget);
    let checked = checker.check_recorded_within(&object, history, budget);
    let time = started.elapsed();
    let proven = checked.and_then(|report| {
        let proof = match evidence {
            Evidence::Report => None,
            Evidence::Proof => {
                let specification = choice.specification();
                let label = recorded.label();
                Some(object.prove(&label, specification, history, &report, budget)?)
            }
        };
        // Without a reduced core, the work on a violation is to be as little as possible.
        let mut found = Vec::new();
        found.extend(advice::unknown_start(&choice));
        if let Verdict::Violation(violation) = &report.verdict
            && checker.config().cores == Cores::Reduced
        {
            found.extend(advice::initial_value(&choice, history, violation, budget));
            found.extend(advice::overdraft(&choice, history, budget));
            found.extend(advice::pairs(&recorded));
            if chosen.is_none() {
                found.extend(advice::any_order(&choice, &recorded, budget));
            }
            if is_guess {
                found.extend(advice::other_lock(&choice));
            }
        }
        Ok((report, proof, found))
    });
    drop(running);
    match proven {
        Ok((report, proof, advice)) => Ok(Checked {
            recorded,
            specification: choice.specification(),
            type_name: choice.name,
            object,
            report,
            proof,
            advice,
            time,
            time_left: budget.left(),
        }),
        Err(error) if error.kind() == ErrorKind::Bug && choice.info().is_none() => {
            Err(recorded.locate(broken_contract(&choice, &error)))
        }
        Err(error) if error.kind() == ErrorKind::Bug => {
            Err(recorded.locate(save_evidence(&recorded, &choice, error)))
        }
        Err(error) => {
            let error = with_advice(with_methods(error, &choice));
            Err(recorded.locate(match is_guess {
                true => guessed_wrongly(error, &choice),
                false => error,
            }))
        }
    }
}

/// Adds to an error about an operation that its type is a guess, which may be what is wrong.
fn guessed_wrongly(error: Error, choice: &TypeChoice) -> Error {
    if error.kind() != ErrorKind::Malformed {
        return error;
    }
    let (reason, name) = (error.reason(), &choice.name);
    let reason =
        format!("{reason}; that its type is {name} is a guess from the methods: --type names it");
    error.with_reason(reason)
}

/// A failed certificate with a specification of the user: it says something that is not so.
fn broken_contract(choice: &TypeChoice, error: &Error) -> Error {
    let name = &choice.name;
    Error::specification(format!(
        "{name}: it breaks a contract, so there is no verdict ({}): `linpoint spec test {name}` finds out which",
        error.reason()
    ))
}

/// A failed certificate is a bug in linpoint: the history that shows it must not be lost.
fn save_evidence(recorded: &RecordedHistory, choice: &TypeChoice, error: Error) -> Error {
    let path = format!("linpoint-bug-{}.jsonl", std::process::id());
    let save = || {
        let mut out = Files::default().create("the report of a bug", Path::new(&path))?;
        write_jsonl(&recorded.history, choice.named(), &mut out)?;
        out.finish()
    };
    let saved = save();
    let where_to = match saved {
        Ok(()) => format!("the history was saved as {path}"),
        Err(_) => "the history could not be saved".to_owned(),
    };
    Error::bug(format!(
        "bug in linpoint: {}; {where_to}, please report it",
        error.reason()
    ))
}
