//! Strong linearizability, against the game played out step by step, without reductions.

use std::collections::HashMap;

use linpoint::engine::Budget;
use linpoint::explore::algorithms::{AfekUnbounded, Bowman, Locked, SingleCollect};
use linpoint::explore::snapshot::{Answer, Bitwise, Form, Request, SnapshotAlgorithm};
use linpoint::explore::strong::{Strong, strong_snapshot};
use linpoint::explore::{
    Algorithm, AlgorithmInfo, Bits, Bounds, Explored, Method, Outcome, Plan, Step,
};
use linpoint::{Outcomes, Spec};

/// A play: the algorithm, the linearization so far as the entries that are 1, and the open operations.
struct Play<A: SnapshotAlgorithm> {
    shared: A::Shared,
    locals: Vec<A::Local>,
    calls: Vec<usize>,
    open: Vec<Open>,
    view: u16,
}

/// An open operation: what was called, whether its last step is made, and what it returns in the linearization.
#[derive(Clone, Copy, Debug)]
struct Open {
    request: Option<Request>,
    returned: Option<Answer>,
    committed: Option<Answer>,
}

const IDLE: Open = Open {
    request: None,
    returned: None,
    committed: None,
};

impl<A: SnapshotAlgorithm> Clone for Play<A> {
    fn clone(&self) -> Self {
        Play {
            shared: self.shared.clone(),
            locals: self.locals.clone(),
            calls: self.calls.clone(),
            open: self.open.clone(),
            view: self.view,
        }
    }
}

/// The game of an algorithm in which each process calls at most `most` operations, and which plays can be won.
struct Game<A> {
    algorithm: A,
    most: usize,
    known: HashMap<String, bool>,
}

impl<A: SnapshotAlgorithm> Game<A> {
    /// Whether the linearization can be extended after each step, whatever steps are made. Calls and returns are steps of
    /// their own.
    fn can_go_on(&mut self, play: &Play<A>) -> bool {
        let key = format!(
            "{:?}",
            (
                &play.shared,
                &play.locals,
                &play.calls,
                &play.open,
                play.view
            )
        );
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let after = self.steps(play);
        let can = after
            .iter()
            .all(|(next, returns)| self.some_extension(next, *returns));
        self.known.insert(key, can);
        can
    }

    /// The plays after one step, and the process that returns in it.
    fn steps(&self, play: &Play<A>) -> Vec<(Play<A>, Option<usize>)> {
        const REQUESTS: [Request; 3] =
            [Request::Update(false), Request::Update(true), Request::Scan];
        let mut after = Vec::new();
        for (p, open) in play.open.iter().enumerate() {
            match (open.request, open.returned) {
                (None, _) if play.calls[p] == self.most => {}
                (None, _) => after.extend(REQUESTS.map(|request| {
                    let mut next = play.clone();
                    next.calls[p] += 1;
                    next.open[p].request = Some(request);
                    self.algorithm.call(p, &request, &mut next.locals[p]);
                    (next, None)
                })),
                (Some(_), None) => {
                    let mut next = play.clone();
                    let Play { shared, locals, .. } = &mut next;
                    if let Step::Return(answer) = self.algorithm.step(p, shared, &mut locals[p]) {
                        next.open[p].returned = Some(answer);
                    }
                    after.push((next, None));
                }
                (Some(_), Some(_)) => after.push((play.clone(), Some(p))),
            }
        }
        after
    }

    /// Whether some extension of the linearization, which has the operation that returns, can go on.
    fn some_extension(&mut self, play: &Play<A>, returns: Option<usize>) -> bool {
        let entries = self.algorithm.form().entries;
        let fits = returns.is_none_or(|p| play.open[p].committed == play.open[p].returned);
        let mut now = play.clone();
        if let Some(p) = returns {
            now.open[p] = IDLE;
        }
        if fits && self.can_go_on(&now) {
            return true;
        }
        (0..play.open.len()).any(|p| {
            let (Some(request), None) = (play.open[p].request, play.open[p].committed) else {
                return false;
            };
            let applied = Bitwise { entries }.apply(&play.view, &(p as u8, request));
            let Outcomes::One(answer, view) = applied else {
                return false;
            };
            let mut next = play.clone();
            (next.open[p].committed, next.view) = (Some(answer), view);
            self.some_extension(&next, returns)
        })
    }
}

/// Whether the algorithm is strongly linearizable; both ways to decide it must agree.
fn is_strong<A: SnapshotAlgorithm>(processes: usize, most: u8) -> bool {
    let algorithm = A::new(Form::full(processes), None);
    let play = Play {
        shared: algorithm.shared(),
        locals: vec![A::Local::default(); processes],
        calls: vec![0; processes],
        open: vec![IDLE; processes],
        view: 0,
    };
    let mut game = Game {
        algorithm,
        most: most.into(),
        known: HashMap::new(),
    };
    let found = decided::<A>(processes, most);
    assert_eq!(found, game.can_go_on(&play), "{}", A::NAME);
    found
}

fn decided<A: SnapshotAlgorithm>(processes: usize, most: u8) -> bool {
    let bounds = Bounds {
        ops_per_process: Some(most),
        ..Bounds::default()
    };
    match strong_snapshot::<A>(processes, None, &bounds, &Budget::default()).expect("small") {
        Strong::Yes { .. } => true,
        Strong::No { .. } => false,
        Strong::Undecided(limit) => panic!("{limit}"),
    }
}

/// A scan reads the entry of the other of two processes three times. It returns what it read first if the last two are the
/// same, else what it read second: always a value that the entry had meanwhile, but which one shows only at the end.
struct Late {
    form: Form,
}

/// The step of the operation, the value to write, and what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LateLocal {
    at: u8,
    value: bool,
    reads: [bool; 2],
}

impl Algorithm for Late {
    type Shared = [bool; 2];
    type Local = LateLocal;

    fn call(&self, _: usize, op: &Request, my: &mut LateLocal) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (3, value),
            Request::Scan => my.at = 0,
        }
    }

    fn step(&self, p: usize, entries: &mut [bool; 2], my: &mut LateLocal) -> Step<Answer> {
        let other = entries[1 - p];
        match my.at {
            3 => entries[p] = std::mem::take(my).value,
            2 => {
                let [first, second] = std::mem::take(my).reads;
                let seen = if second == other { first } else { second };
                return Step::Return(Answer::View(
                    u16::from(entries[p]) << p | u16::from(seen) << (1 - p),
                ));
            }
            at => {
                my.reads[usize::from(at)] = other;
                my.at += 1;
                return Step::Go;
            }
        }
        Step::Return(Answer::Done)
    }

    fn next(&self, _: usize, _: &LateLocal) -> String {
        String::new()
    }

    fn registers(&self, _: &[bool; 2]) -> String {
        String::new()
    }

    fn layout<B: Bits>(&self, entries: &mut [bool; 2], bits: &mut B) {
        entries.iter_mut().for_each(|entry| bits.flag(entry));
    }

    fn layout_local<B: Bits>(&self, my: &mut LateLocal, bits: &mut B) {
        bits.int(&mut my.at, 2);
        bits.flag(&mut my.value);
        my.reads.iter_mut().for_each(|read| bits.flag(read));
    }
}

impl SnapshotAlgorithm for Late {
    const NAME: &'static str = "late";
    const SOURCE: &'static str = "one that decides late, to test with";
    const BUGS: &'static [(&'static str, &'static str)] = &[];

    fn new(form: Form, _: Option<&str>) -> Self {
        Late { form }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}

#[test]
fn the_game_played_out_agrees() {
    assert!(is_strong::<SingleCollect>(2, 1));
    assert!(is_strong::<SingleCollect>(2, 2));
    assert!(!is_strong::<SingleCollect>(3, 1));
    assert!(is_strong::<AfekUnbounded>(2, 1));
}

/// It is linearizable all the same.
#[test]
fn what_is_decided_late_is_not_strongly_linearizable() {
    assert!(is_strong::<Late>(2, 1));
    assert!(!is_strong::<Late>(2, 2));
    let plan = Plan {
        method: Method::Full,
        ..Plan::new(Late::NAME, 2)
    };
    let info = AlgorithmInfo::of::<Late>();
    let found = info.verify(&plan, &Budget::default(), &Explored::default());
    assert!(matches!(found.expect("a plan").outcome, Outcome::Verified));
}

/// The tables of `docs/verify.md`.
#[test]
fn built_in_algorithms() {
    assert!(decided::<Bowman>(2, 1) && decided::<AfekUnbounded>(2, 1));
    assert!(decided::<Locked>(3, 1));
    assert!(!decided::<Bowman>(3, 1));
    assert!(!decided::<AfekUnbounded>(3, 1));
}
