//! What a specification says beyond `init` and `step` makes decisions faster and changes none.

use linpoint::object::ObjectType;
use linpoint::spec::Spec;
use linpoint::{Checker, Config, Error, ErrorKind, History, Verdict};

use super::{Contract, Counterexample, Taken, VERDICTS};
use crate::asked::{Asked, Hidden};
use crate::histories::{small_history, without};

/// How many histories are decided in both ways.
const HISTORIES: u64 = 200;

/// Decides random histories with all that the specification says, and with `init` and `step` alone.
pub(super) fn compare(make: &dyn Fn() -> Result<Asked, Error>) -> Result<Contract, Error> {
    let full = make()?;
    let mut contract = Contract {
        name: VERDICTS,
        checked: 0,
        broken: None,
    };
    if !says_more(&full)? {
        return Ok(contract);
    }
    let comparison = Comparison {
        full: ObjectType::new(full),
        plain: ObjectType::new(make()?.hiding(Hidden::All)),
    };
    let mut smallest: Option<History> = None;
    for seed in 0..HISTORIES {
        let history = small_history(&comparison.full, seed)?;
        contract.checked += 1;
        let size = smallest.as_ref().map_or(usize::MAX, History::len);
        if history.len() < size && comparison.differs(&history)? {
            smallest = Some(comparison.reduced(history)?);
        }
    }
    if let Some(history) = smallest {
        contract.broken = Some(comparison.counterexample(make, &history)?);
    }
    Ok(contract)
}

/// Whether there is anything to hide.
fn says_more(asked: &Asked) -> Result<bool, Error> {
    if asked.kind().is_some() {
        return Ok(true);
    }
    let model = asked.model();
    for (method, argument) in model.sample_calls() {
        let call = crate::model::ModelCall {
            process: 0.into(),
            method: method.as_str().into(),
            argument: argument.clone(),
        };
        let key = model.key(&call).map_err(super::failed)?;
        let nil = linpoint::Value::Nil;
        let is_pure = |ret| model.is_pure(&call, ret).map_err(super::failed);
        if key.is_some() || is_pure(None)? || is_pure(Some(&nil))? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Comparison {
    full: ObjectType,
    plain: ObjectType,
}

impl Comparison {
    fn differs(&self, history: &History) -> Result<bool, Error> {
        Ok(decide(&self.full, history)? != decide(&self.plain, history)?)
    }

    /// The history without operations that are not needed to see the difference.
    fn reduced(&self, mut history: History) -> Result<History, Error> {
        loop {
            let ids: Vec<_> = history.ops().map(|op| op.id).collect();
            let mut smaller = None;
            for id in ids {
                let candidate = without(&history, id)?;
                if self.differs(&candidate)? {
                    smaller = Some(candidate);
                    break;
                }
            }
            match smaller {
                Some(smaller) => history = smaller,
                None => return Ok(history),
            }
        }
    }

    fn counterexample(
        &self,
        make: &dyn Fn() -> Result<Asked, Error>,
        history: &History,
    ) -> Result<Counterexample, Error> {
        let with = decide(&self.full, history)?.words();
        let plain = decide(&self.plain, history)?;
        let mut to_blame = "together they";
        for (hidden, name) in [
            (Hidden::Key, "key"),
            (Hidden::Purity, "is_pure"),
            (Hidden::Kind, "kind or role"),
        ] {
            let object = ObjectType::new(make()?.hiding(hidden));
            if decide(&object, history)? == plain {
                to_blame = name;
            }
        }
        let calls = history.ops().map(|op| Taken {
            process: op.process.clone(),
            method: op.method.to_owned(),
            argument: op.argument.clone(),
            answer: op.result.cloned(),
            state: format!(
                "called at {}, {}",
                op.call,
                match op.result {
                    Some(_) => format!("returned at {}", op.ret),
                    None => "pending".to_owned(),
                }
            ),
        });
        Ok(Counterexample {
            calls: calls.collect(),
            reason: format!(
                "this history is {} by init and step alone, and {with} with what {to_blame} says",
                plain.words()
            ),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    Linearizable,
    Violation,
    /// A limit was hit, which none of these histories does.
    Undecided,
    /// The evidence for a verdict did not hold.
    Unproven,
}

impl Decided {
    fn words(self) -> &'static str {
        match self {
            Decided::Linearizable => "linearizable",
            Decided::Violation => "not linearizable",
            Decided::Undecided => "undecided",
            Decided::Unproven => "decided without evidence that holds",
        }
    }
}

fn decide(object: &ObjectType, history: &History) -> Result<Decided, Error> {
    let checker = Checker::new(Config::default().verdicts_only());
    match checker.check_recorded(object, history) {
        Ok(report) => Ok(match report.verdict {
            Verdict::Linearizable(_) => Decided::Linearizable,
            Verdict::Violation(_) => Decided::Violation,
            Verdict::Undecided(_) => Decided::Undecided,
        }),
        Err(error) if error.kind() == ErrorKind::Bug => Ok(Decided::Unproven),
        Err(error) => Err(error),
    }
}
