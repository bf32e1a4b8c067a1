//! Finds specifications that break a contract on which engines rely, before a history is decided with them.
//!
//! All states that few calls reach are looked at, in the order of the number of calls, then those of random walks, so that the
//! first counterexample is a short one.

mod independence;
mod verdicts;

use std::collections::{HashMap, HashSet, VecDeque};

use linpoint::spec::Sampler;
use linpoint::{Error, Value};

use crate::asked::Asked;
use crate::model::{Model, ModelCall, ModelError, StateId};

/// The most states that are looked at in the order of the number of calls.
const MOST_STATES: usize = 100;

/// Random walks after that, and the calls of each.
const WALKS: u64 = 10;
const WALK_CALLS: usize = 25;

/// The processes that call.
const PROCESSES: i64 = 2;

/// The most calls of the transcript.
const TRANSCRIPT: usize = 20;

/// What a test of a specification found.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The listed calls one after the other, each with what it answered and the state that it left.
    pub transcript: Vec<Taken>,
    /// The contracts.
    pub contracts: Vec<Contract>,
    /// How many states were looked at.
    pub states: usize,
    /// The listed methods, each with what it answered in some of these states.
    pub answers: Vec<MethodAnswers>,
}

/// What the calls of a method answered.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodAnswers {
    /// The method.
    pub method: String,
    /// The answers, each once, in ascending order.
    pub answers: Vec<Value>,
    /// Whether some call was blocked.
    pub blocked: bool,
}

impl Tested {
    /// Whether no contract is broken.
    pub fn passed(&self) -> bool {
        self.contracts
            .iter()
            .all(|contract| contract.broken.is_none())
    }
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The process that called.
    pub process: Value,
    /// The method.
    pub method: String,
    /// The argument; nil for none.
    pub argument: Value,
    /// The answer; `None` if the call was blocked.
    pub answer: Option<Value>,
    /// The state afterwards, in words.
    pub state: String,
}

/// What must hold of a specification, and whether it does.
#[derive(Clone, Debug)]
pub struct Contract {
    /// What must hold.
    pub name: &'static str,
    /// How often it was checked. Never, if the specification does not define what the contract is about.
    pub checked: u64,
    /// The smallest counterexample that was found.
    pub broken: Option<Counterexample>,
}

/// A way to see that a contract is broken.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The calls that lead there.
    pub calls: Vec<Taken>,
    /// What is wrong then.
    pub reason: String,
}

const SAME_ANSWER: &str = "the same question has the same answer";
const PURE: &str = "operations that is_pure names leave every state alone";
const INDEPENDENT: &str = "operations with different keys do not affect each other";
const VERDICTS: &str = "key, is_pure, kind and role change no verdict";

/// Tests the specification that `make` makes anew at each call. Returns an error if the specification fails, or if it lists no
/// calls.
pub fn test(make: &dyn Fn() -> Result<Asked, Error>) -> Result<Tested, Error> {
    let (asked, again) = (make()?, make()?);
    let calls = asked.model().sample_calls();
    if calls.is_empty() {
        return Err(failed(ModelError::no_calls(asked.model())));
    }
    let processes = (0..PROCESSES).map(Value::from);
    let call = |process: Value, (method, argument): &(String, Value)| ModelCall {
        process,
        method: method.as_str().into(),
        argument: argument.clone(),
    };
    let all = processes.flat_map(|process| {
        let call = |listed| call(process.clone(), listed);
        calls.iter().map(call).collect::<Vec<_>>()
    });
    let mut test = Test::new(asked.model(), again.model(), all.collect()).map_err(failed)?;
    let transcript = test.transcript(calls.len()).map_err(failed)?;
    test.look_at_all().map_err(failed)?;
    let states = test.reached.len();
    let answers = test.method_answers();
    let mut contracts = test.contracts;
    contracts.push(verdicts::compare(make)?);
    Ok(Tested {
        transcript,
        contracts,
        states,
        answers,
    })
}

fn failed(error: ModelError) -> Error {
    Error::specification(error.to_string())
}

type Outcomes = Vec<(Value, StateId)>;

struct Test<'a> {
    model: &'a dyn Model,
    /// The same model, made anew.
    again: &'a dyn Model,
    /// Every listed call by every process.
    calls: Vec<ModelCall>,
    keys: Vec<Option<Value>>,
    /// What the calls answer in the states that were looked at.
    known: HashMap<(StateId, usize), Outcomes>,
    /// How each state was reached first: the state before, the number of the call, and its answer.
    reached: HashMap<StateId, Option<(StateId, usize, Value)>>,
    /// The states of `again` by those of `model`.
    twins: HashMap<StateId, StateId>,
    /// By number, in the order of the names above, without the last.
    contracts: Vec<Contract>,
}

impl<'a> Test<'a> {
    fn new(
        model: &'a dyn Model,
        again: &'a dyn Model,
        calls: Vec<ModelCall>,
    ) -> Result<Self, ModelError> {
        let (init, twin) = (model.init()?, again.init()?);
        let contract = |name| Contract {
            name,
            checked: 0,
            broken: None,
        };
        let keys = calls.iter().map(|call| model.key(call));
        Ok(Test {
            keys: keys.collect::<Result<_, _>>()?,
            model,
            again,
            calls,
            known: HashMap::new(),
            reached: HashMap::from([(init, None)]),
            twins: HashMap::from([(init, twin)]),
            contracts: [SAME_ANSWER, PURE, INDEPENDENT].map(contract).to_vec(),
        })
    }

    fn outcomes(&mut self, state: StateId, call: usize) -> Result<Outcomes, ModelError> {
        if let Some(known) = self.known.get(&(state, call)) {
            return Ok(known.clone());
        }
        let found = self.model.step(state, &self.calls[call])?;
        self.known.insert((state, call), found.clone());
        Ok(found)
    }

    fn taken(
        &self,
        call: usize,
        answer: Option<Value>,
        state: StateId,
    ) -> Result<Taken, ModelError> {
        let ModelCall {
            process,
            method,
            argument,
        } = self.calls[call].clone();
        Ok(Taken {
            process,
            method: method.into(),
            argument,
            answer,
            state: self.model.describe(state)?,
        })
    }

    /// The listed calls one after the other, processes in turns.
    fn transcript(&mut self, listed: usize) -> Result<Vec<Taken>, ModelError> {
        let mut state = self.model.init()?;
        let mut transcript = Vec::new();
        for call in 0..listed.min(TRANSCRIPT) {
            let process = call % PROCESSES as usize;
            let call = process * listed + call;
            let outcome = self.outcomes(state, call)?.into_iter().next();
            let answer = outcome.map(|(answer, next)| {
                state = next;
                answer
            });
            transcript.push(self.taken(call, answer, state)?);
        }
        Ok(transcript)
    }

    /// What the methods answered, in the order in which they are listed.
    fn method_answers(&self) -> Vec<MethodAnswers> {
        let mut methods: Vec<MethodAnswers> = Vec::new();
        for (number, call) in self.calls.iter().enumerate() {
            let outcomes = self.known.iter().filter(|((_, of), _)| *of == number);
            let outcomes: Vec<&Outcomes> = outcomes.map(|(_, outcomes)| outcomes).collect();
            let answers = outcomes.iter().copied().flatten();
            let answers = answers.map(|(answer, _)| answer.clone());
            let blocked = outcomes.iter().any(|outcomes| outcomes.is_empty());
            match methods.iter_mut().find(|of| *of.method == *call.method) {
                Some(of) => {
                    of.answers.extend(answers);
                    of.blocked |= blocked;
                }
                None => methods.push(MethodAnswers {
                    method: call.method.to_string(),
                    answers: answers.collect(),
                    blocked,
                }),
            }
        }
        for of in &mut methods {
            of.answers.sort();
            of.answers.dedup();
        }
        methods
    }

    /// Looks at the states that few calls reach, then at those of random walks.
    fn look_at_all(&mut self) -> Result<(), ModelError> {
        let init = self.model.init()?;
        let mut queue = VecDeque::from([init]);
        let mut seen = HashSet::from([init]);
        while let Some(state) = queue.pop_front() {
            self.look_at(state)?;
            for call in 0..self.calls.len() {
                for (answer, next) in self.outcomes(state, call)? {
                    if seen.len() < MOST_STATES && seen.insert(next) {
                        self.reach(state, call, answer, next)?;
                        queue.push_back(next);
                    }
                }
            }
        }
        for seed in 0..WALKS {
            let mut sampler = Sampler::new(seed, None);
            let mut state = init;
            for _ in 0..WALK_CALLS {
                let call = sampler.below(self.calls.len());
                let outcomes = self.outcomes(state, call)?;
                if !outcomes.is_empty() {
                    let (answer, next) = sampler.pick(&outcomes);
                    self.reach(state, call, answer, next)?;
                    state = next;
                }
                if seen.insert(state) {
                    self.look_at(state)?;
                }
            }
        }
        Ok(())
    }

    /// Notes how a state is reached, also in the other model.
    fn reach(
        &mut self,
        from: StateId,
        call: usize,
        answer: Value,
        to: StateId,
    ) -> Result<(), ModelError> {
        if self.reached.contains_key(&to) {
            return Ok(());
        }
        if let Some(&twin) = self.twins.get(&from) {
            let outcomes = self.again.step(twin, &self.calls[call])?;
            let value = self.model.state_value(to);
            let same = |(other, next): &&(Value, StateId)| {
                *other == answer && self.again.state_value(*next) == value
            };
            if let Some(&(_, twin)) = outcomes.iter().find(same) {
                self.twins.insert(to, twin);
            }
        }
        self.reached.insert(to, Some((from, call, answer)));
        Ok(())
    }

    /// The calls that lead to a state.
    fn way_to(&self, state: StateId) -> Result<Vec<Taken>, ModelError> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(Some((from, call, answer))) = self.reached.get(&at) {
            way.push(self.taken(*call, Some(answer.clone()), at)?);
            at = *from;
        }
        way.reverse();
        Ok(way)
    }

    fn look_at(&mut self, state: StateId) -> Result<(), ModelError> {
        for call in 0..self.calls.len() {
            self.check_same_answer(state, call)?;
            self.check_purity(state, call)?;
        }
        self.check_independence(state)
    }

    /// Notes that a contract was checked, and the first counterexample.
    fn check(
        &mut self,
        contract: &'static str,
        state: StateId,
        broken: Option<String>,
    ) -> Result<(), ModelError> {
        let shorter = match &broken {
            Some(reason) => Some(Counterexample {
                calls: self.way_to(state)?,
                reason: reason.clone(),
            }),
            None => None,
        };
        let found = self.contracts.iter_mut().find(|of| of.name == contract);
        let Some(found) = found else { return Ok(()) };
        found.checked += 1;
        let calls =
            |of: &Option<Counterexample>| of.as_ref().map_or(usize::MAX, |of| of.calls.len());
        if calls(&shorter) < calls(&found.broken) {
            found.broken = shorter;
        }
        Ok(())
    }

    fn check_same_answer(&mut self, state: StateId, call: usize) -> Result<(), ModelError> {
        let first = self.outcomes(state, call)?;
        let called = call_text(&self.calls[call]);
        let second = self.model.step(state, &self.calls[call])?;
        let broken = (first != second).then(|| {
            let (first, second) = (self.answers(&first)?, self.answers(&second)?);
            Ok(format!("{called} was asked twice: {first}, then {second}"))
        });
        let broken = broken.transpose()?;
        self.check(SAME_ANSWER, state, broken)?;
        let Some(&twin) = self.twins.get(&state) else {
            return Ok(());
        };
        let other = self.again.step(twin, &self.calls[call])?;
        let values = |model: &dyn Model,
                      outcomes: &Outcomes|
         -> Result<Vec<(Value, Value)>, ModelError> {
            let value =
                |(answer, next): &(Value, StateId)| Ok((answer.clone(), model.state_value(*next)?));
            outcomes.iter().map(value).collect()
        };
        let (here, there) = (values(self.model, &first)?, values(self.again, &other)?);
        let broken = (here != there).then(|| {
            format!("{called} has other outcomes if the specification is read anew: {here:?}, then {there:?}")
        });
        self.check(SAME_ANSWER, state, broken)
    }

    fn answers(&self, outcomes: &Outcomes) -> Result<String, ModelError> {
        let shown = |(answer, next): &(Value, StateId)| {
            let next = self.model.state_value(*next)?;
            Ok(format!("{answer} and the state {next}"))
        };
        Ok(match outcomes.is_empty() {
            true => "blocked".to_owned(),
            false => {
                let shown: Result<Vec<_>, ModelError> = outcomes.iter().map(shown).collect();
                shown?.join(" or ")
            }
        })
    }

    fn check_purity(&mut self, state: StateId, call: usize) -> Result<(), ModelError> {
        let pure_always = self.model.is_pure(&self.calls[call], None)?;
        for (answer, next) in self.outcomes(state, call)? {
            let is_pure = self.model.is_pure(&self.calls[call], Some(&answer))?;
            if !pure_always && !is_pure {
                continue;
            }
            let broken = if next != state {
                let (before, after) = (self.model.describe(state)?, self.model.describe(next)?);
                let called = call_text(&self.calls[call]);
                Some(format!(
                    "{called} → {answer}: is_pure says that it changes nothing, and it changes the state from {before} to {after}"
                ))
            } else {
                None
            };
            self.check(PURE, state, broken)?;
        }
        Ok(())
    }
}

/// `method(argument) by process 0`.
fn call_text(call: &ModelCall) -> String {
    let argument = match &call.argument {
        Value::Nil => String::new(),
        argument => argument.to_string(),
    };
    format!("{}({argument}) by process {}", call.method, call.process)
}
