//! A model whose answers come from a program.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use linpoint::Value;
use linpoint::spec::{Kind, Role};
use linpoint::text::show_duration;

use super::CommandOptions;
use super::ahead::Ahead;
use super::process::{Failed, LONGEST_ANSWER, Patience, Program};
use super::protocol::{self, Hello, ProgramOutcomes, ProgramState, Topic, Wrong};
use crate::model::{Model, ModelCall, ModelError, StateId, States, unknown_method};

/// How many steps are asked again when a check is done.
const SAMPLE: usize = 32;

/// The longest question or answer that is shown in an error, in characters.
const LONGEST_SHOWN: usize = 300;

/// A model that is a program in any language.
#[derive(Debug)]
pub struct CommandModel {
    command: String,
    options: CommandOptions,
    hello: Hello,
    states: States<ProgramState>,
    conversation: Mutex<Conversation>,
    ahead: Ahead,
}

/// What was said so far.
#[derive(Debug)]
struct Conversation {
    /// The program, or why it is not asked any more.
    program: Result<Program, ModelError>,
    /// The number of questions.
    asked: u64,
    /// The time from questions to answers.
    waited: Duration,
    sample: Sample,
}

impl Conversation {
    /// Ends the program. Every later question has this error.
    fn end(&mut self, error: &ModelError) {
        if let Ok(program) = std::mem::replace(&mut self.program, Err(error.clone())) {
            program.kill();
        }
    }
}

/// Some of the steps since the last look at them.
#[derive(Debug, Default)]
struct Sample {
    steps: Vec<(String, ProgramOutcomes)>,
    /// The number of steps that they are chosen from.
    of: u64,
    random: u64,
}

impl Sample {
    /// Every step has the same chance to be in the sample.
    fn add(&mut self, item: &str, outcomes: &ProgramOutcomes) {
        self.of += 1;
        let step = || (item.to_owned(), outcomes.clone());
        if self.steps.len() < SAMPLE {
            return self.steps.push(step());
        }
        // An ordinary linear congruential generator: runs are to be alike.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = (self.random >> 33) % self.of;
        if let Some(slot) = usize::try_from(place)
            .ok()
            .and_then(|place| self.steps.get_mut(place))
        {
            *slot = step();
        }
    }
}

impl CommandModel {
    /// Starts the program, a command of the shell, and asks it what it is.
    pub fn start(command: &str, options: CommandOptions) -> Result<Self, ModelError> {
        let program = Program::start(command)
            .map_err(|error| ModelError(format!("the model `{command}` did not start: {error}")))?;
        let mut model = CommandModel {
            command: command.to_owned(),
            hello: Hello::default(),
            states: States::default(),
            conversation: Mutex::new(Conversation {
                program: Ok(program),
                asked: 0,
                waited: Duration::ZERO,
                sample: Sample::default(),
            }),
            ahead: Ahead::default(),
            options,
        };
        let question = Hello::question(&model.options.params);
        model.hello = model.exchange(|_| question, |_, line| Hello::read(line))?;
        Ok(model)
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        let conversation = self.conversation.lock();
        conversation.unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a question and reads the answer. A program that does not follow the protocol is ended.
    fn exchange<T>(
        &self,
        question: impl FnOnce(u64) -> String,
        read: impl FnOnce(u64, &str) -> Result<T, Wrong>,
    ) -> Result<T, ModelError> {
        let mut conversation = self.conversation();
        let conversation = &mut *conversation;
        let program = conversation
            .program
            .as_mut()
            .map_err(|error| error.clone())?;
        let id = conversation.asked;
        conversation.asked += 1;
        let question = question(id);
        let patience = Patience {
            time: self.options.answer_timeout,
            checks: &self.options.checks,
        };
        let started = Instant::now();
        let line = program.exchange(format!("{question}\n").as_bytes(), patience);
        conversation.waited += started.elapsed();
        let (wrong, is_over) = match line.map(|line| (read(id, &line), line)) {
            Ok((Ok(answer), _)) => return Ok(answer),
            Ok((Err(Wrong::Refused(reason)), _)) => {
                (format!("answered with an error: {reason}"), false)
            }
            Ok((Err(Wrong::Answer(wrong)), line)) => {
                let line = shown(&line);
                (
                    format!("gave an answer that {wrong}\n  answer: {line}"),
                    true,
                )
            }
            Err(failed) => (words(failed), true),
        };
        let error = self.error(&wrong, &question, &program.last_errors());
        if is_over {
            conversation.end(&error);
        }
        Err(error)
    }

    /// Asks about several items at once.
    fn ask<T>(
        &self,
        topic: Topic,
        items: &[String],
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Vec<T>, ModelError> {
        self.exchange(
            |id| protocol::question(id, topic, items),
            |id, line| {
                let answers = protocol::answers(line, id, topic, items.len())?;
                let answers: Result<_, String> = answers.iter().map(read).collect();
                Ok(answers?)
            },
        )
    }

    /// Asks about one item.
    fn ask_one<T>(
        &self,
        topic: Topic,
        item: String,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<T, ModelError> {
        let mut answers = self.ask(topic, &[item], read)?;
        // There are as many answers as items.
        answers
            .pop()
            .ok_or_else(|| ModelError("no answer".to_owned()))
    }

    /// Asks about a call. `None` if the program does not answer such questions.
    fn ask_about(
        &self,
        topic: Topic,
        call: &ModelCall,
        result: Option<&Value>,
        read: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<Option<Value>, ModelError> {
        if !self.hello.answers.contains(&topic) {
            return Ok(None);
        }
        let subject = (call.clone(), result.cloned());
        if let Some(early) = self.ahead.take(topic, &subject) {
            return Ok(Some(early));
        }
        let subjects = self.ahead.with_others(topic, subject);
        let items: Vec<String> = subjects
            .iter()
            .map(|(call, result)| protocol::call_and_result(call, result.as_ref()))
            .collect();
        let answers = self.ask(topic, &items, |value| read(value).map(|()| value.clone()))?;
        let mut answers = subjects.into_iter().zip(answers);
        let answer = answers.next().map(|(_, answer)| answer);
        self.ahead.keep(topic, answers);
        Ok(answer)
    }

    fn descriptions(&self, states: &[ProgramState]) -> Result<Vec<String>, ModelError> {
        let items: Vec<String> = states.iter().map(ProgramState::to_string).collect();
        self.ask(Topic::Describe, &items, |value| {
            let text = value.as_text().map(str::to_owned);
            text.ok_or_else(|| format!("has {value} in \"describe\"; it must be a text"))
        })
    }

    /// Whether the outcomes of a step are the same, as far as the program lets it be seen: by their answers, and by the
    /// descriptions of the next states, if it describes states. Numbers of equal states may differ.
    fn are_alike(
        &self,
        before: &ProgramOutcomes,
        now: &ProgramOutcomes,
    ) -> Result<bool, ModelError> {
        if sorted(before) == sorted(now) {
            return Ok(true);
        }
        let described = |outcomes: &ProgramOutcomes| {
            let answers = outcomes.iter().map(|(answer, _)| answer.clone());
            let states: Vec<ProgramState> = outcomes.iter().map(|&(_, next)| next).collect();
            let descriptions = match self.hello.answers.contains(&Topic::Describe) {
                true => self.descriptions(&states)?,
                false => vec![String::new(); states.len()],
            };
            let described: Vec<_> = answers.zip(descriptions).collect();
            Ok::<_, ModelError>(sorted(&described))
        };
        Ok(described(before)? == described(now)?)
    }

    /// The error that the program made: what it did, the question, and what it wrote to its standard error.
    fn error(&self, wrong: &str, question: &str, errors: &[String]) -> ModelError {
        let mut text = format!(
            "the model `{}` {wrong}\n  question: {}",
            self.command,
            shown(question)
        );
        match errors {
            [] => text.push_str("\n  its standard error is empty"),
            errors => {
                text.push_str("\n  its standard error ends with:");
                for line in errors {
                    text.push_str("\n    ");
                    text.push_str(&shown(line));
                }
            }
        }
        ModelError(text)
    }
}

fn sorted<T: Clone + Ord>(outcomes: &[T]) -> Vec<T> {
    let mut sorted = outcomes.to_vec();
    sorted.sort();
    sorted
}

/// What a program did instead of answering, as the rest of a sentence.
fn words(failed: Failed) -> String {
    match failed {
        Failed::Late(time) => format!("did not answer within {}", show_duration(time)),
        Failed::Limit(limit) => format!("did not answer: {limit}"),
        Failed::Exited(status) => format!("exited with status {status} instead of answering"),
        Failed::Killed(signal) => format!("was killed by signal {signal}"),
        Failed::Closed => "closed its standard output".to_owned(),
        Failed::Early => "wrote a line before it had read the question".to_owned(),
        Failed::Long => format!("wrote {LONGEST_ANSWER} bytes without an end of line"),
        Failed::Bytes(line) => {
            format!("wrote a line that is not UTF-8\n  answer: {}", shown(&line))
        }
        Failed::System(error) => format!("cannot be asked: {error}"),
    }
}

/// The start of a text, without control characters.
fn shown(text: &str) -> String {
    let mut chars = text.trim_end().chars();
    let start: String = chars
        .by_ref()
        .take(LONGEST_SHOWN)
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    match chars.next() {
        Some(_) => start + "...",
        None => start,
    }
}

impl Model for CommandModel {
    fn name(&self) -> &str {
        &self.command
    }

    fn depends_on_process(&self) -> bool {
        self.hello.process
    }

    fn init(&self) -> Result<StateId, ModelError> {
        Ok(self.states.number(self.hello.init))
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let item = protocol::step(self.states.get(state), call, self.hello.process);
        let outcomes = self.ask_one(Topic::Steps, item.clone(), protocol::outcomes)?;
        self.conversation().sample.add(&item, &outcomes);
        let numbered = |(answer, next)| (answer, self.states.number(next));
        Ok(outcomes.into_iter().map(numbered).collect())
    }

    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError> {
        let key = self.ask_about(Topic::Key, call, None, |_| Ok(()))?;
        Ok(key.filter(|key| !key.is_nil()))
    }

    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError> {
        let is_pure = self.ask_about(Topic::IsPure, call, result, |value| match value {
            Value::Bool(_) => Ok(()),
            other => Err(format!(
                "has {other} in \"is_pure\"; it must be true or false"
            )),
        })?;
        Ok(is_pure == Some(Value::Bool(true)))
    }

    fn kind(&self) -> Option<Kind> {
        None
    }

    fn role(&self, _: &ModelCall, _: Option<&Value>) -> Result<Role, ModelError> {
        Ok(Role::Opaque)
    }

    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError> {
        if let Some(methods) = &self.hello.methods
            && let Some(reason) = unknown_method(call, methods)
        {
            return Ok(Some(reason));
        }
        // Every call and every result of a history comes here before it is asked about.
        let topic = result.map_or(Topic::Key, |_| Topic::IsPure);
        if self.hello.answers.contains(&topic) {
            let subject = (call.clone(), result.cloned());
            self.ahead.expect(topic, subject);
        }
        let refusal = self.ask_about(Topic::Validate, call, result, |value| match value {
            Value::Nil | Value::Text(_) => Ok(()),
            other => Err(format!(
                "has {other} in \"validate\"; it must be null, or the reason why there is no such call"
            )),
        })?;
        Ok(refusal.and_then(|reason| reason.as_text().map(str::to_owned)))
    }

    fn normal(&self, result: &Value) -> Value {
        protocol::normal(result)
    }

    fn state_value(&self, state: StateId) -> Result<Value, ModelError> {
        match self.hello.answers.contains(&Topic::Describe) {
            true => self.describe(state).map(Value::from),
            // Proofs, which name states, are read with another run of the program, which may give other numbers.
            false => Err(ModelError(format!(
                "the model `{}` does not describe its states, which proofs and tests of contracts need",
                self.command
            ))),
        }
    }

    fn describe(&self, state: StateId) -> Result<String, ModelError> {
        let state = self.states.get(state);
        if !self.hello.answers.contains(&Topic::Describe) {
            return Ok(format!("number {state} of the model"));
        }
        let mut descriptions = self.descriptions(&[state])?;
        Ok(descriptions.pop().unwrap_or_default())
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &self.hello.calls
    }

    fn confirm(&self) -> Result<(), ModelError> {
        let sample = std::mem::take(&mut self.conversation().sample).steps;
        if sample.is_empty() {
            return Ok(());
        }
        let (items, before): (Vec<String>, Vec<ProgramOutcomes>) = sample.into_iter().unzip();
        let now = self.ask(Topic::Steps, &items, protocol::outcomes)?;
        for ((item, before), now) in items.iter().zip(&before).zip(&now) {
            if !self.are_alike(before, now)? {
                let error = ModelError(format!(
                    "the model `{}` answers the same question differently when it is asked again\n  step: {}\n  first: {}\n  then: \
                     {}\n  what a call does must depend on the state and the call alone",
                    self.command,
                    shown(item),
                    shown(&protocol::written(before)),
                    shown(&protocol::written(now)),
                ));
                self.conversation().end(&error);
                return Err(error);
            }
        }
        Ok(())
    }

    fn effort(&self) -> Option<String> {
        let conversation = self.conversation();
        let asked = conversation.asked;
        Some(format!(
            "the program answered {asked} questions in {}",
            show_duration(conversation.waited)
        ))
    }
}
