//! Specifications of objects that are several handles.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use super::{Cast, Ends, Handles, Kind};
use crate::check::spec::{Probed, SpecOps, Specification};
use crate::object::Object;
use crate::object::invocation::Blocking;

/// How many handles there are of each end when a test begins.
#[derive(Clone, Debug)]
pub struct Holders {
    ends: Vec<(TypeId, usize)>,
}

impl Holders {
    pub(crate) fn of(kinds: &[Kind], cast: &Cast) -> Self {
        let ends = kinds.iter().zip(&cast.0);
        Holders {
            ends: ends
                .map(|(kind, users)| match kind.sharing {
                    super::Sharing::Each => (kind.handle, users.count()),
                    super::Sharing::Cloned => (kind.handle, users.count().max(1)),
                    super::Sharing::Owned => (kind.handle, 1),
                })
                .collect(),
        }
    }

    /// How many handles of this type there are when the threads start, that of the main thread included; 0 if it is no end.
    pub fn count<H: 'static>(&self) -> usize {
        let wanted = TypeId::of::<H>();
        let found = self.ends.iter().find(|(handle, _)| *handle == wanted);
        found.map_or(0, |(_, count)| *count)
    }
}

/// Operations of a specification, end by end; see [`against_ends`](Object::against_ends).
pub struct SpecOn<E, S: linpoint::Spec> {
    object: Object<Handles<E>>,
    ops: Vec<S::Op>,
}

impl<E, S: linpoint::Spec> fmt::Debug for SpecOn<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpecOn")
            .field("ops", &self.ops)
            .finish_non_exhaustive()
    }
}

impl<E: Ends, S> SpecOn<E, S>
where
    S: linpoint::Spec + 'static,
    S::Op: 'static,
    S::Ret: 'static,
{
    /// Adds operations of the end whose handle `run` takes.
    pub fn on<H: 'static>(
        mut self,
        ops: impl IntoIterator<Item = S::Op>,
        run: impl Fn(&mut H, &S::Op) -> S::Ret + Send + Sync + 'static,
    ) -> Self {
        let run = Arc::new(run);
        for op in ops {
            let (label, run) = (format!("{op:?}"), Arc::clone(&run));
            self.ops.push(op.clone());
            let run = move |handle: &mut H| run(handle, &op);
            self.object = (self.object).borrowing(&label.clone(), label, Blocking::Allowed, run);
        }
        self
    }

    /// Adds operations that are futures; see [`op_async`](Object::op_async).
    pub fn on_async<H: 'static>(
        mut self,
        ops: impl IntoIterator<Item = S::Op>,
        run: impl AsyncFn(&mut H, &S::Op) -> S::Ret + Send + Sync + 'static,
    ) -> Self {
        let run = Arc::new(run);
        for op in ops {
            let (label, run) = (format!("{op:?}"), Arc::clone(&run));
            self.ops.push(op.clone());
            let run = async move |handle: &mut H| run(handle, &op).await;
            self.object = self.object.on0_async(&label, run).may_block(&label);
        }
        self
    }

    /// Adds an operation that consumes the handle.
    pub fn consumes<H: 'static>(
        mut self,
        op: S::Op,
        run: impl Fn(H) -> S::Ret + Send + Sync + 'static,
    ) -> Self {
        let label = format!("{op:?}");
        self.ops.push(op);
        self.object = self.object.consuming(&label, Blocking::Allowed, run);
        self
    }

    /// Adds an operation that drops the handle, and answers `ret`.
    pub fn drops<H: 'static>(self, op: S::Op, ret: S::Ret) -> Self {
        self.consumes(op, move |handle: H| {
            drop(handle);
            ret.clone()
        })
    }
}

impl<E: Ends> Object<Handles<E>> {
    /// Adds operations of a specification, as [`against`](Object::against) does, each with the end that it belongs to. The
    /// specification may depend on how many handles there are when a test begins: a channel closes when the last sender leaves.
    ///
    /// ```
    /// use linpoint_test::ends::{cloned, owned};
    /// use linpoint_test::specs::{Channel, ChannelOp as Op, ChannelRet as Ret};
    /// use linpoint_test::sync::mpsc::{Receiver, Sender, channel};
    ///
    /// let report = linpoint_test::object_with(|| {
    ///     let (sender, receiver) = channel::<u32>();
    ///     (cloned(sender), owned(receiver))
    /// })
    /// .against_ends(|holders| Channel::unbounded(holders.count::<Sender<u32>>(), 1), |spec| {
    ///     spec.on([Op::Send(1), Op::Send(2)], |sender: &mut Sender<u32>, op| match op {
    ///         Op::Send(message) => Ret::sent(sender.send(*message)),
    ///         _ => unreachable!(),
    ///     })
    ///     .drops::<Sender<u32>>(Op::DropSender, Ret::Done)
    ///     .on([Op::Recv], |receiver: &mut Receiver<u32>, _| Ret::received(receiver.recv()))
    /// })
    /// .all(2, 2)
    /// .check();
    /// assert!(report.passed(), "{report}");
    /// ```
    pub fn against_ends<S>(
        self,
        spec: impl Fn(&Holders) -> S + Send + Sync + 'static,
        ops: impl FnOnce(SpecOn<E, S>) -> SpecOn<E, S>,
    ) -> Self
    where
        S: linpoint::Spec + 'static,
        S::Op: 'static,
        S::Ret: 'static,
    {
        let first = self.invocations.len();
        let SpecOn { object, ops } = ops(SpecOn {
            object: self,
            ops: Vec::new(),
        });
        object.set_spec(move |holders| {
            let spec: Arc<dyn Specification> = Arc::new(SpecOps {
                spec: Probed(spec(holders)),
                first,
                ops: ops.clone(),
            });
            spec
        })
    }
}
