//! Decides one history: finds its type, checks it, and adds what users should know about the verdict.

use std::path::Path;
use std::time::{Duration, Instant};

use linpoint::condition::{Depth, Diagnosis};
use linpoint::format::{RecordedHistory, write_jsonl};
use linpoint::{Budget, Checker, Cores, Error, ErrorKind, History, ObjectType, Report, Verdict};

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

/// Decides a history, as the type that was chosen or the one that it names or that its methods tell. With a depth, tells
/// what still holds of it where it is not linearizable.
pub fn decide(
    recorded: RecordedHistory,
    chosen: Option<&TypeChoice>,
    checker: &Checker,
    evidence: Evidence,
    diagnosis: Option<Depth>,
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
        let diagnosis = match diagnosis {
            None => None,
            Some(depth) => diagnose(&object, history, &report, depth, checker, budget)?,
        };
        // Without a reduced core, the work on a violation is to be as little as possible.
        let mut found = Vec::new();
        found.extend(advice::unknown_start(&choice, history));
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
        Ok((report, proof, diagnosis, found))
    });
    drop(running);
    match proven {
        Ok((report, proof, diagnosis, advice)) => Ok(Checked {
            recorded,
            specification: choice.specification(),
            type_name: choice.name,
            object,
            report,
            proof,
            diagnosis,
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

/// What still holds of a history that is not linearizable, if it is to be told.
fn diagnose(
    object: &ObjectType,
    history: &History,
    report: &Report,
    depth: Depth,
    checker: &Checker,
    budget: &Budget,
) -> Result<Option<Diagnosis>, Error> {
    /// The time for what is told unasked.
    const SHORT: Duration = Duration::from_millis(200);
    /// Longer histories are looked at only if that is asked for.
    const MOST_OPS: usize = 200_000;
    let is_asked = match depth {
        Depth::Short => history.len() <= MOST_OPS && checker.config().cores == Cores::Reduced,
        Depth::All => true,
    };
    let is_bad = matches!(report.verdict, Verdict::Violation(_));
    if !is_asked || !is_bad || history.ends_stuck() {
        return Ok(None);
    }
    let time = match depth {
        Depth::Short => SHORT,
        Depth::All => budget.left(),
    };
    let diagnosis = checker.diagnose(object, history, depth, &budget.slice(time))?;
    Ok(Some(diagnosis))
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
