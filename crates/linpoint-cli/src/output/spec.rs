//! What a test of a specification found.

use std::io::Write;

use linpoint_spec::{Contract, Counterexample, MethodAnswers, Taken, Tested};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::units::counted;

pub(crate) fn print(out: &mut dyn Write, file: &str, tested: &Tested) -> std::io::Result<()> {
    writeln!(out, "{file}: {}\n", counted(tested.states, "state"))?;
    print_calls(out, &tested.transcript)?;
    writeln!(out, "\n  answers in these states:")?;
    for of in &tested.answers {
        writeln!(out, "    {}: {}", of.method, answers(of))?;
    }
    writeln!(out)?;
    for contract in &tested.contracts {
        let verdict = match contract {
            Contract {
                broken: Some(_), ..
            } => "BROKEN".to_owned(),
            Contract { checked: 0, .. } => "not used".to_owned(),
            Contract { checked, .. } => format!("holds, checked {checked} times"),
        };
        writeln!(out, "  {}: {verdict}", contract.name)?;
        if let Some(Counterexample { calls, reason }) = &contract.broken {
            print_calls(out, calls)?;
            writeln!(out, "    {reason}")?;
        }
    }
    Ok(())
}

/// `true, false`, `1, 2, 3, … (20 answers)`, with "does not return" if a call was blocked.
fn answers(of: &MethodAnswers) -> String {
    const MOST_ANSWERS: usize = 8;
    let count = of.answers.len();
    let shown = of.answers.iter().take(MOST_ANSWERS);
    let mut texts: Vec<String> = shown.map(linpoint::Value::to_string).collect();
    if count > MOST_ANSWERS {
        texts.push(format!("… ({count} answers)"));
    }
    if of.blocked {
        texts.push("does not return".to_owned());
    }
    texts.join(", ")
}

/// A line for each call, with states below each other.
fn print_calls(out: &mut dyn Write, calls: &[Taken]) -> std::io::Result<()> {
    let lines: Vec<(String, &str)> = calls
        .iter()
        .map(|taken| (text(taken), taken.state.as_str()))
        .collect();
    let width = lines
        .iter()
        .map(|(call, _)| call.width())
        .max()
        .unwrap_or(0);
    for (call, state) in lines {
        let space = " ".repeat(width - call.width());
        writeln!(out, "    {call}{space}  {state}")?;
    }
    Ok(())
}

/// `process 0: put(1) → true`.
fn text(taken: &Taken) -> String {
    let Taken {
        process,
        method,
        argument,
        answer,
        ..
    } = taken;
    let argument = match argument {
        linpoint::Value::Nil => String::new(),
        argument => argument.to_string(),
    };
    let answer = match answer {
        Some(answer) => format!("→ {answer}"),
        None => "does not return".to_owned(),
    };
    format!("process {process}: {method}({argument}) {answer}")
}

pub(crate) fn to_json(file: &str, tested: &Tested) -> serde_json::Value {
    let calls = |calls: &[Taken]| -> Vec<serde_json::Value> { calls.iter().map(call).collect() };
    let contract = |contract: &Contract| {
        let broken = contract.broken.as_ref();
        json!({
            "contract": contract.name,
            "checked": contract.checked,
            "holds": broken.is_none(),
            "counterexample": broken.map(|broken| json!({
                "calls": calls(&broken.calls),
                "reason": broken.reason,
            })),
        })
    };
    json!({
        "schema": 1,
        "specification": file,
        "passed": tested.passed(),
        "states": tested.states,
        "answers": tested.answers.iter().map(|of| json!({
            "method": of.method,
            "answers": of.answers.iter().map(linpoint::Value::to_json).collect::<Vec<_>>(),
            "blocked": of.blocked,
        })).collect::<Vec<_>>(),
        "transcript": calls(&tested.transcript),
        "contracts": tested.contracts.iter().map(contract).collect::<Vec<_>>(),
    })
}

fn call(taken: &Taken) -> serde_json::Value {
    json!({
        "process": taken.process.to_json(),
        "method": taken.method,
        "arg": taken.argument.to_json(),
        "returned": taken.answer.is_some(),
        "ret": taken.answer.as_ref().map(linpoint::Value::to_json),
        "state": taken.state,
    })
}
