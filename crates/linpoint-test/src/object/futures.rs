//! Operations that are futures.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use super::Object;
use super::ends::{Ends, Handles};
use super::invocation::{Blocking, Cancelled, Drives, Invocation, Use, prepare};
use crate::future::{self, Drive};

/// Words after the label of an operation whose future is driven in this way.
fn suffix(drive: Drive) -> &'static str {
    match drive {
        Drive::ToEnd => "",
        Drive::Repolled => " repolled",
        Drive::CancelSafe | Drive::Cancelled => " cancelled",
    }
}

/// What a cancellation was, if the future was dropped.
fn result<R>(driven: Result<R, bool>) -> Result<R, Cancelled> {
    driven.map_err(|had_effect| match had_effect {
        true => Cancelled::AfterEffect,
        false => Cancelled::WithoutEffect,
    })
}

impl<X: 'static> Object<X> {
    /// Adds an operation that is a future, with an argument; otherwise like [`op`](Self::op). The thread polls it until it is ready, and
    /// waits for its waker between polls. If the future may wait for other operations, say [`may_block`](Self::may_block).
    ///
    /// ```
    /// use linpoint_test::future::yield_now;
    /// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// let report = linpoint_test::object(|| AtomicU32::new(0))
    ///     .op_async("add", [1, 2], async |count: &AtomicU32, n| {
    ///         yield_now().await;
    ///         count.fetch_add(n, SeqCst)
    ///     })
    ///     .cancel_safe("add")
    ///     .all(2, 2)
    ///     .check();
    /// assert!(report.passed(), "{report}");
    /// ```
    pub fn op_async<A, R>(
        mut self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl AsyncFn(&X, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        let run = Arc::new(run);
        for arg in args {
            let (label, run) = (super::label(name, &arg), Arc::clone(&run));
            self = self.with_future(name, label, None, move |object, _, drive| {
                future::drive(run(object, arg.clone()), drive)
            });
        }
        self
    }

    /// Adds an operation that is a future, without arguments; otherwise like [`op_async`](Self::op_async).
    pub fn op0_async<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl AsyncFn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        self.with_future(name, name.to_owned(), None, move |object, _, drive| {
            future::drive(run(object), drive)
        })
    }

    fn with_future<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        label: String,
        uses: Option<Use>,
        run: impl Fn(&X, usize, Drive) -> Result<R, bool> + Send + Sync + 'static,
    ) -> Self {
        let run = Arc::new(run);
        let drives: Arc<Drives<X>> = Arc::new(move |drive| {
            let run = Arc::clone(&run);
            prepare(move |object: &X, thread: usize| result(run(object, thread, drive)))
        });
        let prepare = drives(Drive::ToEnd);
        let unit = |_: &X, _| ();
        self.add(Invocation {
            uses,
            drives: Some(drives),
            prepare,
            ..Invocation::new(name, label, Blocking::Never, unit)
        })
    }

    /// Adds, for each invocation of the operation, another one whose future is dropped before it is ready: `recv cancelled`. All points are
    /// tried at which the future waits, before it is woken and after. An operation that was cancelled must not have had an
    /// effect: no message is lost, no permit kept.
    pub fn cancel_safe(self, name: &str) -> Self {
        self.driven(name, Drive::CancelSafe)
    }

    /// The same for an operation that may have had its effect when it was cancelled: all of it or nothing, as if its result had been
    /// forgotten.
    pub fn cancellable(self, name: &str) -> Self {
        self.driven(name, Drive::Cancelled)
    }

    /// Adds, for each invocation of the operation, another one whose future is polled once more with another waker when it waits:
    /// `recv repolled`. A future must wake the waker that it was polled with last.
    pub fn repolled(self, name: &str) -> Self {
        self.driven(name, Drive::Repolled)
    }

    fn driven(mut self, name: &str, drive: Drive) -> Self {
        let invocations = self.invocations.iter().cloned().enumerate();
        let of_name = |(_, invocation): &(usize, Invocation<X>)| {
            invocation.name == name && invocation.drive == Drive::ToEnd
        };
        let all: Vec<(usize, Invocation<X>)> = invocations.filter(of_name).collect();
        if all.is_empty() {
            let problem = self.unknown(name);
            self.set_problem(problem);
        }
        for (number, invocation) in all {
            let Some(drives) = &invocation.drives else {
                self.set_problem(format!("the operation \"{name}\" is not a future"));
                continue;
            };
            self = self.add(Invocation {
                label: format!("{}{}", invocation.label, suffix(drive)),
                varies: invocation.varies || drive != Drive::Repolled,
                prepare: drives(drive),
                variant_of: Some(number),
                drive,
                ..invocation.clone()
            });
        }
        self
    }
}

impl<E: Ends> Object<Handles<E>> {
    /// Adds an operation that is a future, of the end whose handle it takes; see [`on`](Self::on) and [`op_async`](Self::op_async).
    pub fn on_async<H: 'static, A, R>(
        mut self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl AsyncFn(&mut H, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        let (uses, run) = (self.borrows::<H>(name), Arc::new(run));
        for arg in args {
            let (label, run) = (super::label(name, &arg), Arc::clone(&run));
            self = self.with_future(name, label, Some(uses), move |handles, thread, drive| {
                handles.with(uses.end, thread, |handle: &mut H| {
                    future::drive(run(handle, arg.clone()), drive)
                })
            });
        }
        self
    }

    /// Adds an operation that is a future, without arguments; otherwise like [`on_async`](Self::on_async).
    pub fn on0_async<H: 'static, R: Debug + Eq + Hash + 'static>(
        mut self,
        name: &str,
        run: impl AsyncFn(&mut H) -> R + Send + Sync + 'static,
    ) -> Self {
        let uses = self.borrows::<H>(name);
        self.with_future(
            name,
            name.to_owned(),
            Some(uses),
            move |handles, thread, drive| {
                handles.with(uses.end, thread, |handle: &mut H| {
                    future::drive(run(handle), drive)
                })
            },
        )
    }
}
