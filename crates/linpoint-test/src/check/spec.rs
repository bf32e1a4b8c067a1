//! Checks live objects against a [`Spec`]: the engines of linpoint decide the histories of executions.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use linpoint::report::{PageData, PageOptions, page_data};
use linpoint::{Checker, Config, Outcomes, Spec, TypedHistory, Verdict};

use super::witness::Unexplained;
use crate::future::Drive;
use crate::runtime::execution::Outcome;
use crate::runtime::history::{Event, History};

/// The text for the result of an operation that never returns.
pub(crate) const NEVER_RETURNS: &str = "never returns";

/// The name of a specification, without its modules.
pub(crate) fn type_name<S>() -> &'static str {
    let name = std::any::type_name::<S>();
    let start = name[..name.find('<').unwrap_or(name.len())].rfind("::");
    start.map_or(name, |start| &name[start + 2..])
}

/// What a specification says about an execution.
#[derive(Debug)]
pub(crate) enum Ruling {
    Explained,
    /// With the reason, as text.
    Unexplained(Unexplained, String),
    /// It could not be decided.
    Undecided(String),
}

/// An execution with its results as values.
pub(crate) struct Seen<'a> {
    pub(crate) history: &'a History,
    /// The invocation of each operation.
    pub(crate) invocations: &'a [usize],
    /// The result of an operation; `None` if it panicked.
    pub(crate) value: &'a dyn Fn(usize) -> Option<Rc<dyn Any>>,
    /// How the future of an operation was driven, if it was cancelled.
    pub(crate) cancelled: &'a dyn Fn(usize) -> Option<Drive>,
}

/// A specification without its types.
pub(crate) trait Specification: Send + Sync {
    fn rule(&self, seen: &Seen<'_>) -> Ruling;
    /// The page about an execution of this test that is not allowed.
    fn page(&self, seen: &Seen<'_>, name: &str) -> Option<PageData>;
}

/// A specification with the operation of each invocation.
pub(crate) struct SpecOps<S: Spec> {
    pub(crate) spec: Probed<S>,
    /// The number of the first invocation.
    pub(crate) first: usize,
    pub(crate) ops: Vec<S::Op>,
}

/// An operation of a specification, or the question whether it would have to wait.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Probe<O> {
    Runs(O),
    Waits(O),
}

/// The answer to a probe.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Answer<R> {
    Returns(R),
    /// It has to wait.
    Waits,
}

// Reports show the names of the user's operations, not those of probes.
impl<O: fmt::Debug> fmt::Debug for Probe<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Runs(op) | Probe::Waits(op) => op.fmt(f),
        }
    }
}

impl<R: fmt::Debug> fmt::Debug for Answer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Returns(ret) => ret.fmt(f),
            Answer::Waits => f.write_str(NEVER_RETURNS),
        }
    }
}

/// A specification that can be asked whether an operation would have to wait. A stuck operation is justified if the answer,
/// after all operations that returned, can be yes.
pub(crate) struct Probed<S>(pub(crate) S);

impl<S: Spec> Spec for Probed<S> {
    type Op = Probe<S::Op>;
    type Ret = Answer<S::Ret>;
    type State = S::State;

    fn init(&self) -> S::State {
        self.0.init()
    }

    fn apply(&self, state: &S::State, op: &Self::Op) -> Outcomes<Self::Ret, S::State> {
        match op {
            Probe::Runs(op) => match self.0.apply(state, op) {
                Outcomes::Blocked => Outcomes::Blocked,
                Outcomes::One(ret, next) => Outcomes::One(Answer::Returns(ret), next),
                Outcomes::Many(all) => Outcomes::Many(
                    all.into_iter()
                        .map(|(ret, next)| (Answer::Returns(ret), next))
                        .collect(),
                ),
            },
            Probe::Waits(op) => match self.0.apply(state, op) {
                Outcomes::Blocked => Outcomes::One(Answer::Waits, state.clone()),
                _ => Outcomes::Blocked,
            },
        }
    }

    fn step(&self, state: &S::State, op: &Self::Op, ret: Option<&Self::Ret>) -> Vec<S::State> {
        match (op, ret) {
            (Probe::Runs(_), Some(Answer::Waits)) => Vec::new(),
            (Probe::Runs(op), Some(Answer::Returns(ret))) => self.0.step(state, op, Some(ret)),
            (Probe::Runs(op), None) => self.0.step(state, op, None),
            (Probe::Waits(_), _) => self.apply(state, op).answering(ret),
        }
    }
}

impl<S: Spec> SpecOps<S> {
    fn op(&self, seen: &Seen<'_>, op: usize) -> Option<&S::Op> {
        self.ops.get(seen.invocations[op].checked_sub(self.first)?)
    }

    /// The operations that returned; then, if one is given, the question whether it has to wait.
    fn history(&self, seen: &Seen<'_>, waits: Option<usize>) -> Result<Typed<S>, Ruling>
    where
        S::Ret: 'static,
    {
        let seen_history = seen.history;
        let mut history = TypedHistory::new();
        let mut ids = vec![None; seen_history.outcomes.len()];
        for event in &seen_history.events {
            let op = event.op();
            let cancelled = (seen.cancelled)(op);
            if seen_history.outcomes[op] == Outcome::PENDING || cancelled == Some(Drive::CancelSafe)
            {
                continue;
            }
            let Some(meaning) = self.op(seen, op) else {
                return Err(Ruling::Undecided(
                    "an operation has no meaning in the specification".to_owned(),
                ));
            };
            if matches!(event, Event::Call(_)) {
                let process = seen_history.layout.thread_of(op) as u32;
                ids[op] = Some(history.call(process, Probe::Runs(meaning.clone())));
                continue;
            }
            if cancelled.is_some() {
                // It may have taken effect, as one that has not returned.
                continue;
            }
            let value = (seen.value)(op).and_then(|value| value.downcast::<S::Ret>().ok());
            let (Some(id), Some(value)) = (ids[op], value) else {
                let why = format!("{meaning:?} panicked, which the specification does not allow");
                return Err(Ruling::Unexplained(Unexplained::Results, why));
            };
            history.ret(id, Answer::Returns((*value).clone()));
        }
        if let Some((op, meaning)) = waits.and_then(|op| Some((op, self.op(seen, op)?))) {
            let process = seen_history.layout.thread_of(op) as u32;
            let id = history.call(process, Probe::Waits(meaning.clone()));
            history.ret(id, Answer::Waits);
        }
        Ok(history)
    }

    fn decide(&self, history: &Typed<S>, why: Unexplained) -> Ruling {
        let checker = Checker::new(Config::default().without_witnesses());
        match checker
            .check(&self.spec, history)
            .map(|report| report.verdict)
        {
            Ok(Verdict::Linearizable(_)) => Ruling::Explained,
            Ok(Verdict::Violation(violation)) => {
                Ruling::Unexplained(why, violation.core.sentence().to_owned())
            }
            Ok(Verdict::Undecided(undecided)) => Ruling::Undecided(format!(
                "the history of an execution could not be decided: {:?}",
                undecided.cause
            )),
            Err(error) => Ruling::Undecided(error.to_string()),
        }
    }
}

type Typed<S> = TypedHistory<Probe<<S as Spec>::Op>, Answer<<S as Spec>::Ret>>;

impl<S: Spec> Specification for SpecOps<S>
where
    S::Ret: 'static,
{
    fn rule(&self, seen: &Seen<'_>) -> Ruling {
        for question in questions(seen) {
            let why = question.map_or(Unexplained::Results, Unexplained::Stuck);
            let ruling = match self.history(seen, question) {
                Ok(history) => self.decide(&history, why),
                Err(ruling) => ruling,
            };
            if !matches!(ruling, Ruling::Explained) {
                return ruling;
            }
        }
        Ruling::Explained
    }

    fn page(&self, seen: &Seen<'_>, name: &str) -> Option<PageData> {
        questions(seen).find_map(|question| {
            let history = self.history(seen, question).ok()?;
            let report = Checker::default().check(&self.spec, &history).ok()?;
            let options = PageOptions {
                name,
                object_type: type_name::<S>(),
                most_ops: history.len(),
            };
            matches!(report.verdict, Verdict::Violation(_))
                .then(|| page_data(options, &self.spec, &history, &report))
        })
    }
}

/// Returns the questions about an execution: `None`, whether its results are allowed; if it is stuck, instead for each pending
/// operation, whether it has to wait.
fn questions<'a>(seen: &Seen<'a>) -> Box<dyn Iterator<Item = Option<usize>> + 'a> {
    match seen.history.stuck {
        true => Box::new(seen.history.pending().map(Some)),
        false => Box::new(std::iter::once(None)),
    }
}
