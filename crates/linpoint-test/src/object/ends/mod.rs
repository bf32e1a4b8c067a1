//! Objects that are several handles: the ends of a channel, the owner and the thieves of a deque.
//!
//! [`object_with`] takes a constructor that returns the ends, each marked with who has it: [`cloned`] for each thread, [`owned`] by
//! one thread, or [`each`] made for its thread. An operation belongs to the end whose handle its closure takes:
//!
//! ```
//! use linpoint_test::ends::{cloned, owned};
//! use linpoint_test::sync::mpsc::{Receiver, Sender, channel};
//!
//! let report = linpoint_test::object_with(|| {
//!     let (sender, receiver) = channel::<u32>();
//!     (cloned(sender), owned(receiver))
//! })
//! .on("send", [1, 2], |sender: &mut Sender<u32>, message| sender.send(message).is_ok())
//! .drops::<Sender<u32>>("drop sender")
//! .on0("recv", |receiver: &mut Receiver<u32>| receiver.recv().ok())
//! .may_block("recv")
//! .all(2, 2)
//! .check();
//! assert!(report.passed(), "{report}");
//! ```
//!
//! Handles come into being before the threads start, and live until the test has ended unless an operation drops or consumes
//! them. In generated tests, one thread has all operations of an end that is owned, which one varies from test to test, and
//! nothing follows an operation that consumes the handle it would need.

mod spec;

use std::any::{Any, TypeId, type_name};
use std::cell::RefCell;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::marker::PhantomData;

use super::Object;
use super::invocation::{Blocking, Invocation, Use};
use crate::matrix::Matrix;
use crate::runtime::{MAIN, MAX_WORKERS};

pub use spec::{Holders, SpecOn};

/// Each thread that has operations of this end has a clone of the handle, and so has the main thread if such operations come before
/// or after the test. The handle itself is dropped before the test begins; if no thread has operations of this end, it is kept.
pub fn cloned<H: Clone + 'static>(handle: H) -> Cloned<H> {
    Cloned(handle)
}

/// One thread has the handle: in a test, all operations of this end belong to one thread. The main thread has it before and after.
pub fn owned<H: 'static>(handle: H) -> Owned<H> {
    Owned(handle)
}

/// Each thread that has operations of this end has a handle that is made for it, from its number.
pub fn each<H: 'static>(make: impl Fn(usize) -> H + 'static) -> Each<H> {
    Each(Box::new(make))
}

/// An end of which each thread has a clone; made by [`cloned`].
#[derive(Clone, Debug)]
pub struct Cloned<H>(H);

/// An end that one thread has; made by [`owned`].
#[derive(Clone, Debug)]
pub struct Owned<H>(H);

/// An end of which each thread has one that was made for it; made by [`each`].
pub struct Each<H>(Box<dyn Fn(usize) -> H>);

impl<H> Debug for Each<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each").finish_non_exhaustive()
    }
}

/// The ends of an object: [`Cloned`], [`Owned`] or [`Each`], or a tuple of up to six of them.
pub trait Ends: sealed::Ends {}

impl<E: sealed::Ends> Ends for E {}

/// Who has the handles of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    Cloned,
    Owned,
    Each,
}

/// What is known of an end before there is one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    handle: TypeId,
    name: &'static str,
    pub(crate) sharing: Sharing,
}

/// A handle, unless it was dropped or consumed. Only the thread that has it, or the main thread before and after, borrows it.
type Slot = RefCell<Option<Box<dyn Any>>>;

/// The handles of an end: one for each thread and the main thread, or a single one.
#[doc(hidden)]
#[derive(Debug)]
pub struct Hand(Vec<Slot>);

impl Hand {
    fn slot(&self, thread: usize) -> &Slot {
        &self.0[thread.min(self.0.len() - 1)]
    }
}

/// Which threads use an end in a test.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Users {
    /// One bit for each thread.
    threads: u16,
    before: bool,
    after: bool,
}

impl Users {
    fn uses(self, thread: usize) -> bool {
        match thread {
            MAIN => self.before || self.after,
            _ => self.threads & 1 << thread != 0,
        }
    }

    fn is_none(self) -> bool {
        self.threads == 0 && !self.uses(MAIN)
    }

    fn count(self) -> usize {
        self.threads.count_ones() as usize + usize::from(self.uses(MAIN))
    }
}

/// Which threads of a test use which ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cast(Vec<Users>);

impl Cast {
    /// The users of the ends in a test; none if the object has no ends.
    pub(crate) fn of<X>(object: &Object<X>, matrix: &Matrix) -> Self {
        let mut users = vec![Users::default(); object.ends.len()];
        let end = |op: usize| Some(object.invocations[op].uses?.end);
        for (thread, ops) in matrix.threads.iter().enumerate() {
            for end in ops.iter().filter_map(|&op| end(op)) {
                users[end].threads |= 1 << thread;
            }
        }
        for end in matrix.init.iter().filter_map(|&op| end(op)) {
            users[end].before = true;
        }
        for end in matrix.last.iter().filter_map(|&op| end(op)) {
            users[end].after = true;
        }
        Cast(users)
    }
}

mod sealed {
    use super::{Hand, Kind, Users};

    /// One end.
    pub trait End: 'static {
        fn kind() -> Kind;
        fn deal(self, users: Users) -> Hand;
    }

    /// All ends of an object.
    pub trait Ends: 'static {
        fn kinds() -> Vec<Kind>;
        fn deal(self, users: &[Users]) -> Vec<Hand>;
    }
}

fn kind<H: 'static>(sharing: Sharing) -> Kind {
    Kind {
        handle: TypeId::of::<H>(),
        name: type_name::<H>(),
        sharing,
    }
}

fn full<H: 'static>(handle: H) -> Slot {
    RefCell::new(Some(Box::new(handle)))
}

/// A handle for each thread that uses the end.
fn for_users<H: 'static>(users: Users, make: impl Fn(usize) -> H) -> Hand {
    let slot = |thread| match users.uses(thread) {
        true => full(make(thread)),
        false => RefCell::default(),
    };
    Hand((0..=MAX_WORKERS).map(slot).collect())
}

impl<H: Clone + 'static> sealed::End for Cloned<H> {
    fn kind() -> Kind {
        kind::<H>(Sharing::Cloned)
    }

    fn deal(self, users: Users) -> Hand {
        match users.is_none() {
            true => Hand(vec![full(self.0)]),
            false => for_users(users, |_| self.0.clone()),
        }
    }
}

impl<H: 'static> sealed::End for Owned<H> {
    fn kind() -> Kind {
        kind::<H>(Sharing::Owned)
    }

    fn deal(self, _: Users) -> Hand {
        Hand(vec![full(self.0)])
    }
}

impl<H: 'static> sealed::End for Each<H> {
    fn kind() -> Kind {
        kind::<H>(Sharing::Each)
    }

    fn deal(self, users: Users) -> Hand {
        for_users(users, &self.0)
    }
}

impl<A: sealed::End> sealed::Ends for A {
    fn kinds() -> Vec<Kind> {
        vec![A::kind()]
    }

    fn deal(self, users: &[Users]) -> Vec<Hand> {
        vec![sealed::End::deal(self, users[0])]
    }
}

macro_rules! tuples_of_ends {
    ($(($($end:ident $number:tt),+);)*) => {
        $(
            impl<$($end: sealed::End),+> sealed::Ends for ($($end,)+) {
                fn kinds() -> Vec<Kind> {
                    vec![$($end::kind()),+]
                }

                fn deal(self, users: &[Users]) -> Vec<Hand> {
                    vec![$(self.$number.deal(users[$number])),+]
                }
            }
        )*
    };
}

tuples_of_ends! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}

/// The handles of an object in one execution.
#[derive(Debug)]
pub struct Handles<E> {
    hands: Vec<Hand>,
    of: PhantomData<fn() -> E>,
}

impl<E> Handles<E> {
    /// Calls `run` with the handle that a thread has of an end.
    pub(super) fn with<H: 'static, R>(
        &self,
        end: usize,
        thread: usize,
        run: impl FnOnce(&mut H) -> R,
    ) -> R {
        let mut slot = self.hands[end].slot(thread).borrow_mut();
        let handle = slot.as_mut().and_then(|handle| handle.downcast_mut());
        run(handle.expect("bug: a thread has no handle"))
    }

    /// The handle that a thread had of an end.
    fn take<H: 'static>(&self, end: usize, thread: usize) -> H {
        let handle = self.hands[end].slot(thread).take();
        let handle = handle.and_then(|handle| handle.downcast().ok());
        *handle.expect("bug: a thread has no handle")
    }

    /// The initial sequence is over: the main thread drops the handles that it needed only for it.
    fn after_init(&self, cast: &Cast) {
        for (hand, users) in self.hands.iter().zip(&cast.0) {
            if users.before && !users.after && hand.0.len() > 1 {
                drop(hand.slot(MAIN).take());
            }
        }
    }
}

/// Returns an object under test that is several handles. `construct` makes new ends for every execution; see [`ends`](self).
pub fn object_with<E: Ends>(
    construct: impl Fn() -> E + Send + Sync + 'static,
) -> Object<Handles<E>> {
    let kinds = E::kinds();
    let mut object = Object::made_by(move |cast| Handles {
        hands: construct().deal(&cast.0),
        of: PhantomData,
    });
    for (place, end) in kinds.iter().enumerate() {
        if kinds[..place]
            .iter()
            .any(|known| known.handle == end.handle)
        {
            object.set_problem(format!(
                "two ends have handles of the type {}, so that operations would not know theirs: wrap one in a type of its own",
                end.name
            ));
        }
    }
    object.ends = kinds;
    object.after_init = Some(Handles::after_init);
    object
}

impl<E: Ends> Object<Handles<E>> {
    /// Adds an operation of the end whose handle it takes, with an argument: one invocation for each of `args`, labelled like
    /// `send(1)`. A result that cannot be compared or printed is mapped to one that can.
    pub fn on<H: 'static, A, R>(
        mut self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl Fn(&mut H, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        let run = std::sync::Arc::new(run);
        for arg in args {
            let label = super::label(name, &arg);
            let run = std::sync::Arc::clone(&run);
            self = self.borrowing(name, label, Blocking::Never, move |handle: &mut H| {
                run(handle, arg.clone())
            });
        }
        self
    }

    /// Adds an operation without arguments; otherwise like [`on`](Self::on).
    pub fn on0<H: 'static, R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl Fn(&mut H) -> R + Send + Sync + 'static,
    ) -> Self {
        self.borrowing(name, name.to_owned(), Blocking::Never, run)
    }

    /// Adds an operation that consumes the handle. Nothing of this end may follow it in its thread.
    pub fn consumes<H: 'static, R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl Fn(H) -> R + Send + Sync + 'static,
    ) -> Self {
        self.consuming(name, Blocking::Never, run)
    }

    /// Adds an operation that drops the handle: a disconnected channel, a pool whose last user leaves.
    pub fn drops<H: 'static>(self, name: &str) -> Self {
        self.consumes(name, |handle: H| drop(handle))
    }

    /// What an operation uses that borrows a handle of this type.
    pub(super) fn borrows<H: 'static>(&mut self, name: &str) -> Use {
        Use {
            end: self.end::<H>(name),
            consumes: false,
        }
    }

    /// The end with handles of this type.
    fn end<H: 'static>(&mut self, name: &str) -> usize {
        let wanted = TypeId::of::<H>();
        let found = self.ends.iter().position(|end| end.handle == wanted);
        found.unwrap_or_else(|| {
            let known: Vec<&str> = self.ends.iter().map(|end| end.name).collect();
            self.set_problem(format!(
                "the operation \"{name}\" takes a {}, and the constructor returns no end with such handles, but: {}",
                type_name::<H>(),
                known.join(", ")
            ));
            0
        })
    }

    fn borrowing<H: 'static, R: Debug + Eq + Hash + 'static>(
        mut self,
        name: &str,
        label: String,
        blocking: Blocking,
        run: impl Fn(&mut H) -> R + Send + Sync + 'static,
    ) -> Self {
        let end = self.end::<H>(name);
        let run = move |handles: &Handles<E>, thread: usize| {
            handles.with(end, thread, |handle: &mut H| run(handle))
        };
        let mut invocation = Invocation::new(name, label, blocking, run);
        invocation.uses = Some(Use {
            end,
            consumes: false,
        });
        self.add(invocation)
    }

    fn consuming<H: 'static, R: Debug + Eq + Hash + 'static>(
        mut self,
        name: &str,
        blocking: Blocking,
        run: impl Fn(H) -> R + Send + Sync + 'static,
    ) -> Self {
        let end = self.end::<H>(name);
        let run = move |handles: &Handles<E>, thread: usize| run(handles.take(end, thread));
        let mut invocation = Invocation::new(name, name.to_owned(), blocking, run);
        invocation.uses = Some(Use {
            end,
            consumes: true,
        });
        self.add(invocation)
    }
}

/// Whether a thread that has done `ops` may go on with `op`: it has not consumed the handle that it needs.
pub(super) fn may_follow(uses: impl Fn(usize) -> Option<Use>, ops: &[usize], op: usize) -> bool {
    let Some(Use { end, .. }) = uses(op) else {
        return true;
    };
    let gone = Some(Use {
        end,
        consumes: true,
    });
    !ops.iter().any(|&op| uses(op) == gone)
}

/// Why a test of this object cannot run because of its ends, if it cannot.
pub(crate) fn problem<X>(object: &Object<X>, matrix: &Matrix) -> Option<String> {
    let cast = Cast::of(object, matrix);
    let uses = |op: usize| object.invocations[op].uses;
    let label = |op: usize| &object.invocations[op].label;
    for (kind, users) in object.ends.iter().zip(&cast.0) {
        if kind.sharing == Sharing::Owned && users.threads.count_ones() > 1 {
            return Some(format!(
                "one thread has the {}, and operations of several threads need it",
                kind.name
            ));
        }
    }
    let main = [&matrix.init[..], &matrix.last].concat();
    for ops in matrix.threads.iter().chain([&main]) {
        for (place, &op) in ops.iter().enumerate() {
            if !may_follow(uses, &ops[..place], op) {
                return Some(format!(
                    "\"{}\" comes after an operation of its thread that consumes the handle it needs",
                    label(op)
                ));
            }
        }
    }
    let is_owned = |end: usize| object.ends[end].sharing == Sharing::Owned;
    let mut all = matrix.init.clone();
    all.extend(matrix.threads.iter().flatten().chain(&matrix.last));
    let owned: Vec<usize> = all
        .into_iter()
        .filter(|&op| uses(op).is_some_and(|uses| is_owned(uses.end)))
        .collect();
    let late = (0..owned.len()).find(|&place| !may_follow(uses, &owned[..place], owned[place]))?;
    Some(format!(
        "\"{}\" comes after an operation that consumes the handle it needs",
        label(owned[late])
    ))
}
