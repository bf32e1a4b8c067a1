//! Makes the evidence of a violation: the shortest bad prefix, the core, and a sentence.

use std::time::Duration;

use super::reduce::{self, Decide};
use super::{Core, Violation, certify, wording};
use crate::engine::{Answer, Budget, Facts, Task, TaskOp, brute};
use crate::error::Error;
use crate::history::{NEVER, OpId};
use crate::spec::{Kind, Need, Role, Spec};
use crate::value::Value;

/// How long the independent check of one core may take.
const CERTIFICATION_TIME: Duration = Duration::from_secs(1);

/// What an engine found out about a task that is not linearizable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineFindings<'a> {
    /// The number of events of a prefix that is known to be linearizable.
    pub(crate) reached: usize,
    /// An order that explains this prefix.
    pub(crate) partial: &'a [OpId],
    /// These operations may contradict each other by themselves.
    pub(crate) suspects: Option<&'a [TaskOp]>,
}

/// The evidence for a task that is not linearizable.
///
/// It takes as long as `budget` allows, and what the independent check of the core takes, which is within `whole`.
/// `describe` names an operation: its call, its result, and its process.
pub(crate) fn violation<S: Spec>(
    task: &Task<'_, S>,
    findings: EngineFindings<'_>,
    budget: &Budget,
    whole: &Budget,
    decide: Decide<'_>,
    describe: &dyn Fn(OpId) -> String,
) -> Result<Violation, Error> {
    // If the suspects are not linearizable by themselves, only they are reduced.
    let clashing = |suspects: &[TaskOp]| {
        let start = reduce::start_from(task, suspects);
        let answer = decide(&start, budget);
        matches!(answer, Ok(Answer::NotLinearizable { .. })).then_some(start)
    };
    let clash = findings.suspects.and_then(clashing);
    let clash_events = clash.as_ref().map_or(task.events(), |clash| {
        task.events_until(last_return(clash).map_or(NEVER, |op| op.ret))
    });
    // The suspects may contradict each other only with results of operations that returned after the prefix.
    let is_bad = |events| {
        let answer = decide(&reduce::prefix(&task.ops, events), budget);
        matches!(answer, Ok(Answer::NotLinearizable { .. }))
    };
    let bad = if clash_events < task.events() && is_bad(clash_events) {
        clash_events
    } else {
        task.events()
    };
    // Half of the time at most, so that enough is left for the core.
    let search = budget.slice(budget.left() / 2);
    let prefix = reduce::shortest_bad_prefix(
        &task.ops,
        bad,
        findings.reached,
        findings.partial.to_vec(),
        &search,
        decide,
    );
    let beginning = reduce::prefix(&task.ops, prefix.events);
    let Some(last) = last_return(&beginning).map(|op| op.id) else {
        return Err(Error::bug(
            "a history in which nothing returned was called a violation",
        ));
    };
    let smaller = match clash {
        Some(clash) if prefix.events >= clash_events => Some(clash),
        // The prefix is bad for another reason than the suspects, which contradict each other later.
        Some(_) => match decide(&beginning, budget) {
            Ok(Answer::NotLinearizable { suspects, .. }) => suspects.as_deref().and_then(clashing),
            _ => None,
        },
        None => None,
    };
    let reduced = reduce::reduce(task, smaller.unwrap_or(beginning), budget, decide);
    let confirmation = certify::core(task, &reduced, &whole.slice(CERTIFICATION_TIME))?;
    let (ops, relaxed): (Vec<TaskOp>, Vec<TaskOp>) =
        reduced.ops.iter().partition(|op| op.ret != NEVER);
    let core = Core {
        ops: ops.into_iter().map(|op| op.id).collect(),
        relaxed: relaxed.into_iter().map(|op| op.id).collect(),
        cut: reduced.cut,
        minimal: reduced.minimal,
        confirmation,
        sentence: sentence(task, &task.with_ops(reduced.ops), reduced.cut, describe),
    };
    Ok(Violation {
        last,
        prefix_events: prefix.events,
        shortest: prefix.shortest,
        partial: prefix.partial,
        core,
    })
}

/// The operation that returned last.
fn last_return(ops: &[TaskOp]) -> Option<&TaskOp> {
    ops.iter()
        .filter(|op| op.ret != NEVER)
        .max_by_key(|op| op.ret)
}

/// One sentence on what is wrong with the core, which was cut from `whole` at a rank.
fn sentence<S: Spec>(
    whole: &Task<'_, S>,
    core: &Task<'_, S>,
    cut: u32,
    describe: &dyn Fn(OpId) -> String,
) -> String {
    let returned = || (0..core.ops.len()).filter(|&i| core.ops[i].ret != NEVER);
    let Some(last) = returned().max_by_key(|&i| core.ops[i].ret) else {
        return String::new();
    };
    let what = describe(core.ops[last].id);
    if let Some(sentence) = wording::member(whole, core, cut, &what) {
        return sentence;
    }
    if let Some(reason) = never_put_there(whole, core.ops[last], cut) {
        return format!("{what} is impossible: {reason}");
    }
    if let Some(sentence) = wording::container(core, describe) {
        return sentence;
    }
    if let Some(sentence) = wording::snapshot(&whole.until(cut), describe) {
        return sentence;
    }
    let others = match returned().count() - 1 {
        0 => String::new(),
        1 => {
            let other = core.ops[returned().find(|&i| i != last).unwrap_or(last)];
            let is_before = other.precedes(core.ops[last]);
            let given = if is_before { "after" } else { "given" };
            format!(" {given} {}", describe(other.id))
        }
        n => format!(" given the other {n} operations"),
    };
    // With operations left out that change the state, what the core could answer says nothing about the history.
    let kept = |op: &TaskOp| core.ops.binary_search_by_key(&op.id, |op| op.id).is_ok();
    let complete = whole
        .ops
        .iter()
        .all(|op| op.call > cut || kept(op) || whole.is_pure(*op));
    let answers = if complete {
        possible_answers(core, last)
    } else {
        None
    };
    match answers.as_deref() {
        None => format!("{what} is impossible{others}, in any order"),
        Some([]) => format!("{what} cannot have taken effect before it returned{others}"),
        Some([only]) => {
            let why = wording::was_member(core, core.ops[last])
                .unwrap_or_else(|| format!("in every order the answer is {only:?}"));
            format!("{what} is impossible{others}: {why}")
        }
        Some(several) => {
            let several: Vec<_> = several.iter().map(|answer| format!("{answer:?}")).collect();
            format!(
                "{what} is impossible{others}: the answer can only be {}",
                several.join(" or ")
            )
        }
    }
}

/// A clause that says that the operation saw a value that no operation had written or added by then, if that is so.
fn never_put_there(whole: &dyn Facts, op: TaskOp, cut: u32) -> Option<String> {
    let seen = match whole.role(op) {
        Role::Slot {
            needs: Need::Is(value),
            ..
        }
        | Role::Removes(value)
        | Role::Peeks(value) => value,
        _ => return None,
    };
    let mut alike = None;
    for other in whole.ops().iter().filter(|other| other.call <= cut) {
        match whole.role(*other) {
            Role::Slot {
                leaves: Some(put), ..
            }
            | Role::Adds(put)
                if put == seen =>
            {
                return None;
            }
            // The most common slip of recorders: 1 here, "1" or 1.0 there.
            Role::Slot {
                leaves: Some(put), ..
            }
            | Role::Adds(put)
                if looks_like(&put, &seen) =>
            {
                alike = Some(put)
            }
            Role::Appends(_) => return None,
            Role::Opaque if !whole.is_pure(*other) => return None,
            _ => {}
        }
    }
    let is_initial = matches!(whole.kind(), Some(Kind::Slot(initial)) if *initial == seen);
    let hint = alike.map_or_else(String::new, |put| {
        format!(
            "; {} {put} was, and that is not {} {seen}",
            put.kind_name(),
            seen.kind_name()
        )
    });
    (!is_initial).then(|| format!("no operation had put {seen} there by then{hint}"))
}

fn looks_like(a: &Value, b: &Value) -> bool {
    let plain = |value: &Value| value.plain_text().trim_end_matches(".0").to_owned();
    plain(a) == plain(b)
}

/// The results that the operation could have had, if they are few and found in few steps.
fn possible_answers<S: Spec>(core: &Task<'_, S>, op: usize) -> Option<Vec<S::Ret>> {
    const MOST_STEPS: u64 = 10_000;
    const MOST_ANSWERS: usize = 4;
    let mut steps = 0;
    let step = &mut || {
        steps += 1;
        if steps > MOST_STEPS { Err(()) } else { Ok(()) }
    };
    let answers = brute::possible_results(core, op, step).ok()?;
    (answers.len() <= MOST_ANSWERS).then_some(answers)
}
