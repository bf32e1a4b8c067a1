//! What an execution does again: it begins as the one before did, up to a choice that is made another way.
//!
//! Until then its threads do run, for a stack cannot be copied. But whatever they ask here they have asked before, and get the
//! same answers, from a log: where the execution stands need not be worked out, since it was kept at that choice.

use super::super::MAIN;
use super::super::access::{Kind, Manner};
use super::super::coroutine::Switch;
use super::memory::Moment;
use super::threads::State;
use super::{Choice, End, Execution, Outcome, Pending, Step};
use crate::runtime::UNCONTROLLED;
use crate::runtime::search::Search;

/// What threads ask or tell.
#[derive(Clone, Copy, Debug)]
enum What {
    Access,
    Border,
    Yield,
    Wake,
    Join,
    Done,
    Spin,
    Touch,
    Available,
    Return,
    Create,
    Notify,
    Notified,
    Pick,
    Guest,
}

/// Something that a thread asks or tells, as a number. The lowest byte is left for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question(u64);

impl Question {
    #[inline(always)]
    fn new(what: What, about: u32, how: u64) -> Self {
        Question((what as u64) << 56 | how << 40 | u64::from(about) << 8)
    }

    #[inline(always)]
    pub(super) fn touch(object: u32, kind: Kind, changed: bool) -> Self {
        Question::new(What::Touch, object, (kind as u64) << 1 | u64::from(changed))
    }

    #[inline(always)]
    pub(super) fn available(object: u32, kind: Kind) -> Self {
        Question::new(What::Available, object, kind as u64)
    }

    #[inline(always)]
    pub(super) fn returns(op: usize) -> Self {
        Question::new(What::Return, op as u32, 0)
    }

    #[inline(always)]
    pub(super) fn create(object: u32) -> Self {
        Question::new(What::Create, object, 0)
    }

    pub(super) fn notify(condvar: u32, all: bool) -> Self {
        Question::new(What::Notify, condvar, u64::from(all))
    }

    pub(super) const SPINS: Question = Question((What::Spin as u64) << 56);
    pub(super) const WAS_NOTIFIED: Question = Question((What::Notified as u64) << 56);

    pub(super) fn pick(ways: usize) -> Self {
        Question::new(What::Pick, ways as u32, 0)
    }

    #[cfg(any(feature = "loom", feature = "shuttle"))]
    pub(super) fn guest(ready: u16, yields: bool) -> Self {
        Question::new(What::Guest, u32::from(ready), u64::from(yields))
    }
}

/// What a thread comes to.
impl From<Pending> for Question {
    #[inline(always)]
    fn from(pending: Pending) -> Self {
        match pending {
            Pending::Access {
                object,
                kind,
                manner,
            } => {
                let manner = match manner {
                    Manner::Open => 0,
                    Manner::Blocking => 1,
                    Manner::Known { changed } => 2 | u64::from(changed),
                    Manner::Timed => 4,
                };
                Question::new(What::Access, object, (kind as u64) << 3 | manner)
            }
            Pending::Start(op) => Question::new(What::Border, op, 0),
            Pending::Yield => Question::new(What::Yield, 0, 0),
            Pending::Wake {
                condvar,
                mutex,
                timed,
            } => Question::new(What::Wake, condvar << 16 ^ mutex, u64::from(timed)),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(_) => panic!("bug: the threads of another scheduler do not ask"),
            Pending::Join => Question::new(What::Join, 0, 0),
            Pending::Done => Question::new(What::Done, 0, 0),
        }
    }
}

/// All questions of an execution, with their answers.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Vec<u64>,
    /// So many were asked.
    asked: usize,
    /// So many of them get the answers of the execution before.
    known: usize,
}

impl Log {
    /// The next question with its answer, if it was asked before.
    #[inline(always)]
    fn upcoming(&self) -> Option<u64> {
        self.entries[..self.known].get(self.asked).copied()
    }

    /// How many questions came before a choice, if each choice is one of another scheduler.
    fn before_choice(&self, choice: usize) -> usize {
        let is_choice = |entry: u64| entry >> 56 == What::Guest as u64;
        let mut choices = (0..self.entries.len()).filter(|&place| is_choice(self.entries[place]));
        match choice {
            0 => 0,
            _ => choices.nth(choice).unwrap_or(self.entries.len()),
        }
    }
}

/// Where an execution stood at a choice.
#[derive(Debug)]
pub(super) struct Kept {
    state: State,
    objects: Moment,
    causes: Moment,
    choices: usize,
    /// So many were answered; the next one is whose answer is to be chosen.
    questions: usize,
    steps: usize,
    /// As far as it had come.
    last_step: Option<Step>,
    accesses: usize,
    wakers: usize,
    /// Of the steps that were complete.
    clocks: usize,
    events: usize,
}

impl Execution {
    /// What was answered before, if this question is asked again.
    #[inline(always)]
    pub(super) fn known_answer(&mut self, question: Question) -> Option<u8> {
        let entry = self.log.upcoming()?;
        if entry & !0xFF != question.0 {
            self.differs();
            return None;
        }
        self.log.asked += 1;
        Some(entry as u8)
    }

    /// The running thread comes to an access: whom it leaves to, if it came to the same one before.
    #[inline(always)]
    pub(crate) fn comes_again(&mut self, pending: Pending) -> Option<Option<Switch>> {
        let entry = self.log.upcoming()?;
        if entry & !0xFF != Question::from(pending).0 {
            return None;
        }
        self.log.asked += 1;
        Some(self.follow(entry as u8))
    }

    /// Whether the same was told before.
    #[inline(always)]
    pub(super) fn is_known(&mut self, what: Question) -> bool {
        self.known_answer(what).is_some()
    }

    /// The object that was created here before.
    #[inline(always)]
    pub(super) fn known_object(&mut self) -> Option<u32> {
        let object = (self.log.upcoming()? >> 8) as u32;
        self.is_known(Question::create(object)).then_some(object)
    }

    /// Whether the running thread was found to spin here before, if that is known.
    #[inline(always)]
    pub(super) fn known_to_spin(&mut self) -> Option<bool> {
        let spins = self.log.upcoming()? == Question::SPINS.0;
        self.log.asked += usize::from(spins);
        Some(spins)
    }

    /// Keeps a question and its answer for the executions that begin like this one.
    #[inline(always)]
    pub(super) fn answer(&mut self, question: Question, answer: u8) {
        let entry = question.0 | u64::from(answer);
        let log = &mut self.log;
        let is_open = log.known > 0 && log.asked == log.known;
        match log.entries.get_mut(log.asked) {
            None => log.entries.push(entry),
            Some(before) if *before == entry => {}
            Some(before) if is_open && *before & !0xFF == question.0 => *before = entry,
            Some(_) => self.differs(),
        }
        self.log.asked += 1;
    }

    /// Keeps who goes on: `None` if it is the thread that asks.
    #[inline(always)]
    pub(super) fn answer_with(
        &mut self,
        question: Question,
        asks: usize,
        switch: Switch,
    ) -> Option<Switch> {
        let Switch::To(thread) = switch else {
            return Some(switch);
        };
        self.answer(question, thread as u8);
        (thread != asks).then_some(switch)
    }

    /// The turn goes to whom it went to before.
    #[inline(always)]
    pub(super) fn follow(&mut self, answer: u8) -> Option<Switch> {
        let thread = usize::from(answer);
        let before = std::mem::replace(&mut self.now.current, thread);
        (thread != before).then_some(Switch::To(thread))
    }

    /// What was chosen here in the execution before, if it is to be chosen again.
    pub(super) fn known_choice(&self) -> Option<Choice> {
        self.schedule.get(self.choices).copied()
    }

    /// Makes a choice.
    #[inline(always)]
    pub(super) fn choose(&mut self, choice: Choice) {
        if self.choices == self.schedule.len() {
            self.schedule.push(choice);
        }
        self.choices += 1;
    }

    /// Keeps where the execution stands before its next choice.
    pub(super) fn keep(&mut self) {
        let kept = match self.kept[..self.keeps].last() {
            Some(last) if last.choices == self.choices => return,
            _ => self.keeps,
        };
        self.keeps += 1;
        if kept == self.kept.len() {
            self.kept.push(Kept {
                state: State::new(),
                objects: Moment::default(),
                causes: Moment::default(),
                choices: 0,
                questions: 0,
                steps: 0,
                last_step: None,
                accesses: 0,
                wakers: 0,
                clocks: 0,
                events: 0,
            });
        }
        let kept = &mut self.kept[kept];
        kept.state.copy(&self.now, &self.layout);
        kept.objects = self.objects.remember();
        kept.causes = self.causes.remember();
        kept.choices = self.choices;
        kept.questions = self.log.asked;
        kept.steps = self.steps.len();
        kept.last_step = self.steps.last().copied();
        kept.accesses = self.accesses.len();
        kept.wakers = self.wakers.len();
        kept.clocks = self.clocks.len();
        kept.events = self.events.len();
    }

    /// Begins again, and goes on from the choice with this number.
    pub(crate) fn resume(&mut self, epoch: u64, choice: usize) {
        while self.keeps > 0 && self.kept[self.keeps - 1].choices > choice {
            self.keeps -= 1;
        }
        let kept = (self.kept[..self.keeps].last())
            .filter(|kept| kept.choices == choice)
            .expect("bug: nothing was kept of a choice that is to be made again");
        self.epoch = epoch;
        self.now.copy(&kept.state, &self.layout);
        self.objects.return_to(kept.objects);
        self.causes.return_to(kept.causes);
        self.schedule.truncate(choice);
        self.choices = choice;
        // With the question that gets another answer now.
        self.log.entries.truncate(kept.questions + 1);
        self.log.known = kept.questions;
        self.log.asked = 0;
        self.steps.truncate(kept.steps);
        if let (Some(last), Some(kept)) = (self.steps.last_mut(), kept.last_step) {
            *last = kept;
        }
        self.accesses.truncate(kept.accesses);
        self.wakers.truncate(kept.wakers);
        self.clocks.truncate(kept.clocks);
        self.details.clear();
        for (op, returned) in self.events.drain(kept.events..).rev() {
            let op = op as usize;
            match returned {
                true => self.outcomes[op] = Outcome::PENDING,
                false => (self.outcomes[op], self.before[op]) = (Outcome::ABSENT, 0),
            }
        }
        let objects = self.objects.len();
        self.foreign.clear();
        self.foreigners
            .retain(|&object| (object as usize) < objects);
        self.end = End::Running;
        let running = self.now.threads.iter().filter_map(|thread| thread.op);
        self.pulse.beat(running.fold(0, |mask, op| mask | 1 << op));
        self.now.current = MAIN;
    }

    /// Forgets what was done but the first choices, which another scheduler is asked to make again.
    pub(super) fn forget_after(&mut self, choices: usize) {
        self.schedule.truncate(choices);
        self.choices = 0;
        self.log.entries.truncate(self.log.before_choice(choices));
        self.log.known = 0;
        self.log.asked = 0;
        self.keeps = 0;
    }

    /// The program did not repeat itself: nothing can be said about it.
    #[cold]
    pub(super) fn differs(&mut self) {
        if !matches!(self.end, End::Fault(_)) {
            self.fail(format!(
                "the object did not do the same under the same schedule: it depends on {UNCONTROLLED}"
            ));
        }
    }

    /// Nothing can be said about this execution, which ends with the next question.
    pub(crate) fn fail(&mut self, why: String) {
        self.end = End::Fault(why);
        self.log.known = 0;
    }

    /// The execution has ended.
    pub(crate) fn conclude(&mut self, search: &mut dyn Search) {
        self.pulse.beat(0);
        self.close(search);
        if self.log.asked < self.log.entries.len() || self.choices < self.schedule.len() {
            self.differs();
        }
        if self.end == End::Running {
            self.end = End::Complete;
        }
    }
}
