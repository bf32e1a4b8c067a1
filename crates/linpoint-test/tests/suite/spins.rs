//! Loops that spin: those that give up are not left out, and those that wait are no failures.

use linpoint_test::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Mutex};
use linpoint_test::time::{Duration, Instant};
use linpoint_test::{FailureKind, Object, Report, Strategy, hint, object, thread};

/// What a thread does between two tries.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Hint,
    Yield,
}

impl Between {
    fn rest(self) {
        match self {
            Between::Nothing => {}
            Between::Hint => hint::spin_loop(),
            Between::Yield => thread::yield_now(),
        }
    }
}

const ALL: [Between; 3] = [Between::Nothing, Between::Hint, Between::Yield];

/// A counter under a lock for which `add` tries a number of times.
#[derive(Default)]
struct Impatient {
    locked: AtomicBool,
    count: AtomicU32,
}

impl Impatient {
    fn add(&self, tries: u32, between: Between) -> bool {
        for _ in 0..tries {
            if !self.locked.swap(true, SeqCst) {
                let count = self.count.load(SeqCst);
                self.count.store(count + 1, SeqCst);
                self.locked.store(false, SeqCst);
                return true;
            }
            between.rest();
        }
        false
    }
}

fn impatient(tries: u32, between: Between) -> Object<Impatient> {
    object(Impatient::default)
        .op0("add", move |x: &Impatient| x.add(tries, between))
        .matrix([["add"], ["add"]])
}

fn kind(report: &Report) -> Option<FailureKind> {
    report.failure().map(|failure| failure.kind)
}

#[test]
fn a_loop_that_gives_up_is_seen_to_give_up() {
    for tries in [1, 3, 10, 30] {
        for between in ALL {
            let report = impatient(tries, between).check();
            let found = kind(&report);
            assert_eq!(
                found,
                Some(FailureKind::NoWitness),
                "{tries} {between:?}\n{report}"
            );
            let token = report.failure().unwrap().token.clone();
            let again = impatient(tries, between).replay(&token).check();
            assert_eq!(kind(&again), found, "{tries} {between:?}\n{again}");
        }
    }
}

/// A flag that is set for a moment, and a wait for it to be clear that gives up after some rounds.
#[derive(Default)]
struct Moment {
    is_open: AtomicBool,
    is_busy: AtomicBool,
    rounds: AtomicU32,
}

impl Moment {
    fn pass_by(&self) {
        self.is_busy.store(true, SeqCst);
        self.is_busy.store(false, SeqCst);
    }

    /// Many loops have the line of this hint in common.
    fn relax() {
        hint::spin_loop();
    }

    fn finds_clear(&self, rounds: u32) -> bool {
        for _ in 0..rounds {
            if !self.is_busy.load(SeqCst) {
                return true;
            }
            Moment::relax();
        }
        false
    }
}

/// A loop of which little was seen at first may spin for longer before it gives up, and so may another one with the same hint.
#[test]
fn the_first_visit_to_a_loop_does_not_tell_how_long_it_spins() {
    let moment = || object(Moment::default).op0("pass by", Moment::pass_by);
    let other_loop = moment()
        .op0("wait", |x| {
            while !x.is_open.load(SeqCst) {
                Moment::relax();
            }
            x.finds_clear(100)
        })
        .op0("open", |x| x.is_open.store(true, SeqCst))
        .may_block("wait")
        .matrix([vec!["wait"], vec!["open", "pass by"]]);
    let longer = moment()
        .op0("wait", |x| match x.rounds.load(SeqCst) {
            0 => x.finds_clear(100),
            rounds => {
                x.finds_clear(rounds);
                true
            }
        })
        .op0("hurry", |x| x.rounds.store(2, SeqCst))
        .matrix([vec!["wait", "hurry", "wait"], vec!["pass by"]]);
    for object in [other_loop, longer] {
        let report = object.check();
        assert_eq!(kind(&report), Some(FailureKind::NoWitness), "{report}");
    }
}

#[test]
fn reductions_agree_with_plain_enumeration_on_loops_that_give_up() {
    for between in ALL {
        let verdict = |strategy| {
            let report = impatient(3, between).strategy(strategy).check();
            (kind(&report), report.passed())
        };
        let plain = verdict(Strategy::Plain(None));
        for strategy in [
            Strategy::Exhaustive,
            Strategy::Bounded(2),
            Strategy::FewestPreemptions(2),
            Strategy::Random(200),
        ] {
            assert_eq!(verdict(strategy), plain, "{strategy:?} {between:?}");
        }
    }
}

/// A flag that a thread waits for. It parks after some tries, and no thread unparks it.
#[derive(Default)]
struct Flag(AtomicBool);

#[test]
fn a_thread_that_parks_after_spinning_is_found() {
    for tries in [3, 40] {
        for between in ALL {
            let report = object(Flag::default)
                .op0("set", |x: &Flag| x.0.store(true, SeqCst))
                .op0("wait", move |x: &Flag| {
                    for _ in 0..tries {
                        if x.0.load(SeqCst) {
                            return;
                        }
                        between.rest();
                    }
                    thread::park();
                })
                .may_block("wait")
                .matrix([["wait"], ["set"]])
                .check();
            let found = kind(&report);
            assert_eq!(
                found,
                Some(FailureKind::NoStuckWitness),
                "{tries} {between:?}\n{report}"
            );
        }
    }
}

#[test]
fn a_thread_that_spins_alone_and_gives_up_does_not_block() {
    for tries in [1, 5, 15, 17, 40, 100, 1000] {
        for between in ALL {
            let report = object(Flag::default)
                .op0("try", move |x: &Flag| {
                    for _ in 0..tries {
                        if x.0.load(SeqCst) {
                            return true;
                        }
                        between.rest();
                    }
                    false
                })
                .matrix([["try"]])
                .check();
            assert!(report.passed(), "{tries} {between:?}\n{report}");
        }
    }
}

#[test]
fn a_thread_that_spins_for_ever_blocks() {
    for between in ALL {
        let report = object(Flag::default)
            .op0("wait", move |x: &Flag| {
                while !x.0.load(SeqCst) {
                    between.rest();
                }
            })
            .matrix([["wait"]])
            .check();
        assert_eq!(kind(&report), Some(FailureKind::Blocks), "{report}");
        let text = report.to_string();
        assert!(text.contains("4096 rounds"), "{text}");
    }
}

#[test]
fn a_pass_says_what_it_assumes_of_spinning_threads() {
    let report = object(Flag::default)
        .op0("set", |x: &Flag| x.0.store(true, SeqCst))
        .op0("wait", |x: &Flag| {
            while !x.0.load(SeqCst) {
                hint::spin_loop();
            }
        })
        .may_block("wait")
        .matrix([["wait"], ["set"]])
        .check();
    assert!(report.passed(), "{report}");
    let text = report.to_string();
    assert!(text.contains("\nassumed: a loop that spins "), "{text}");
}

/// Two locks that are taken in different orders, and given back if the second one is taken.
#[derive(Default)]
struct TwoLocks([Mutex<()>; 2]);

impl TwoLocks {
    fn take(&self, first: usize, between: Between) {
        loop {
            let _first = self.0[first].lock().unwrap();
            if self.0[1 - first].try_lock().is_ok() {
                return;
            }
            drop(_first);
            between.rest();
        }
    }
}

#[test]
fn a_livelock_does_not_pass_in_silence() {
    for between in ALL {
        let report = object(TwoLocks::default)
            .op0("forth", move |x: &TwoLocks| x.take(0, between))
            .op0("back", move |x: &TwoLocks| x.take(1, between))
            .matrix([["forth"], ["back"]])
            .max_steps(500)
            .check();
        let text = report.to_string();
        assert!(
            text.contains("not covered: an execution did not end"),
            "{between:?} {text}"
        );
    }
}

/// A shared value of which one thread looks at the count while the other clones and drops it.
struct Shared(Mutex<Arc<u32>>);

#[test]
fn counts_of_owners_are_under_control() {
    let owners = || {
        object(|| Arc::new(0))
            .op0("owners", |x: &Arc<u32>| Arc::strong_count(x))
            .op0("pass", |x: &Arc<u32>| drop(Arc::clone(x)))
            .matrix([["owners"], ["pass"]])
    };
    let unwrap = || {
        object(|| Shared(Mutex::new(Arc::new(0))))
            .op0("look", |x: &Shared| {
                let shared = Arc::clone(&x.0.lock().unwrap());
                *shared
            })
            .op0("is_alone", |x: &Shared| {
                Arc::get_mut(&mut x.0.lock().unwrap()).is_some()
            })
            .matrix([["look"], ["is_alone"]])
    };
    let weak = || {
        object(|| Mutex::new(Some(Arc::new(1))))
            .op0("take", |x: &Mutex<Option<Arc<u32>>>| {
                let owner = x.lock().unwrap().take();
                owner.is_some_and(|owner| Arc::try_unwrap(owner).is_ok())
            })
            .op0("pin", |x: &Mutex<Option<Arc<u32>>>| {
                let weak = x.lock().unwrap().as_ref().map(Arc::downgrade);
                weak.is_some_and(|weak| weak.upgrade().is_some())
            })
            .matrix([["take"], ["pin"]])
    };
    let fails = |object: &dyn Fn(Strategy) -> Report| {
        for strategy in [
            Strategy::Plain(None),
            Strategy::Exhaustive,
            Strategy::Bounded(2),
        ] {
            let report = object(strategy);
            assert_eq!(
                kind(&report),
                Some(FailureKind::NoWitness),
                "{strategy:?} {report}"
            );
        }
    };
    fails(&|strategy| owners().strategy(strategy).check());
    fails(&|strategy| unwrap().strategy(strategy).check());
    fails(&|strategy| weak().strategy(strategy).check());
}

/// A loop with two hints waits for what it reads before either of them.
#[test]
fn a_loop_with_two_hints_waits_for_both() {
    #[derive(Default)]
    struct Two([AtomicU32; 2]);
    for between in ALL {
        let verdicts = [
            Strategy::Plain(None),
            Strategy::Exhaustive,
            Strategy::Bounded(3),
        ]
        .map(|strategy| {
            let report = object(Two::default)
                .op0("either", move |x: &Two| {
                    loop {
                        for flag in 0..2 {
                            if x.0[flag].load(SeqCst) != 0 {
                                return flag;
                            }
                            between.rest();
                        }
                    }
                })
                .op0("set", |x: &Two| {
                    x.0[1].store(1, SeqCst);
                    x.0[0].store(1, SeqCst);
                })
                .may_block("either")
                .matrix([["either"], ["set"]])
                .strategy(strategy)
                .check();
            kind(&report)
        });
        // The second flag alone is set in the middle of `set` only.
        assert_eq!(verdicts, [Some(FailureKind::NoWitness); 3], "{between:?}");
    }
}

#[test]
fn a_loop_until_a_deadline_ends() {
    for wait in [Duration::from_millis(5), Duration::from_secs(3600)] {
        for between in ALL {
            let report = object(Flag::default)
                .op0("wait", move |x: &Flag| {
                    let deadline = Instant::now() + wait;
                    while !x.0.load(SeqCst) && Instant::now() < deadline {
                        between.rest();
                    }
                })
                .op0("set", |x: &Flag| x.0.store(true, SeqCst))
                .matrix([["wait"], ["set"]])
                .check();
            assert!(report.passed(), "{wait:?} {between:?} {report}");
        }
    }
}

/// What a thread has seen is not later than what another one sees after it.
#[test]
fn time_does_not_go_back_between_threads() {
    let report = object(|| Mutex::new(None::<Instant>))
        .op0("touch", |last: &Mutex<Option<Instant>>| {
            let mut last = last.lock().unwrap();
            for _ in 0..3 {
                let now = Instant::now();
                assert!(last.is_none_or(|last| last <= now), "time goes back");
                *last = Some(now);
            }
        })
        .matrix([["touch", "touch"], ["touch", "touch"]])
        .check();
    assert!(report.passed(), "{report}");
    let text = report.to_string();
    assert!(text.contains("\nnot covered: other times"), "{text}");
}

/// Reports are made of executions that were run again because of what was found out about spinning threads.
#[test]
fn each_step_is_described_once() {
    let report = impatient(3, Between::Hint).check();
    let steps = &report.failure().unwrap().interleaving;
    let yields = steps.iter().filter(|step| step.contains("yields"));
    // The second one of three is the same again.
    assert_eq!(yields.count(), 2, "{report}");
    for step in steps.iter().filter(|step| step.contains("add")) {
        assert!(
            !step.starts_with("A.add  ") && !step.starts_with("B.add  "),
            "{report}"
        );
        assert!(step.matches("swap").count() <= 1, "{report}");
    }
}
