//! Stress tests of which each thread has a program of its own: for objects that are several handles, each used by one thread.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use linpoint::report::{PageData, PageOptions, page_data};
use linpoint::spec::Params;
use linpoint::{Call, Checker, Error, History, Report, Spec};

use super::record::{Activity, PendingCall, Record};
use super::report::StressReport;
use super::workload::{MOST_ON_PAGE, Run, Workload, build, typed};
use super::{Random, Stress};
use crate::check::spec::type_name as name_of_spec;
use linpoint_record::Ticks;

/// Returns a stress test of threads with a program each. `threads` makes them for every run, with new handles: for channels, whose
/// ends are dropped, and for all else of which a thread has a part. The histories are checked against `spec`.
///
/// ```
/// use linpoint_test::specs::{Channel, ChannelOp as Op, ChannelRet as Ret};
/// use linpoint_test::stress::{Thread, stress_threads};
/// use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
///
/// stress_threads(Channel::unbounded(1, 1), || {
///     let (sender, receiver) = channel::<u32>();
///     let received = |receiver: &mut Receiver<u32>| match receiver.try_recv() {
///         Ok(message) => Ret::Received(message),
///         Err(TryRecvError::Empty) => Ret::Empty,
///         Err(TryRecvError::Disconnected) => Ret::Disconnected,
///     };
///     [
///         Thread::with(sender)
///             .call(Op::Send(7), |sender: &mut Sender<u32>| Ret::sent(sender.send(7)))
///             .drops::<Sender<u32>>(Op::DropSender, Ret::Done),
///         Thread::with(receiver).call(Op::TryRecv, received).call(Op::TryRecv, received),
///     ]
/// })
/// .runs(1_000)
/// .run();
/// ```
///
/// The numbers of threads and of operations are those of the programs. A step may poll a future, and drop it: any code can be one.
pub fn stress_threads<S, T>(
    spec: S,
    threads: impl Fn() -> T + Send + Sync + 'static,
) -> Stress<Programs<S>>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + Sync + 'static,
    T: IntoIterator<Item = Thread<S>>,
{
    let make = move || threads().into_iter().collect::<Vec<_>>();
    let shape: Vec<usize> = make().iter().map(|thread| thread.steps.len()).collect();
    let mut test = Stress::new(Programs {
        make: Arc::new(make),
        spec: Arc::new(spec),
        kept: shape.iter().map(|&steps| vec![true; steps]).collect(),
    });
    test.settings.threads = shape.len();
    test.settings.ops = shape.into_iter().max().unwrap_or(0);
    test
}

/// A handle, unless a step has consumed it.
type Handle = Option<Box<dyn Any + Send>>;

/// Runs an operation on a handle, once.
type RunStep<Ret> = Box<dyn FnOnce(&mut Handle) -> Ret + Send>;

/// An operation of a thread, and how it is done.
struct Step<S: Spec> {
    op: S::Op,
    run: RunStep<S::Ret>,
}

/// The handle of a thread and what it does with it, in this order; for [`stress_threads`].
pub struct Thread<S: Spec> {
    handle: Handle,
    steps: Vec<Step<S>>,
}

impl<S: Spec> fmt::Debug for Thread<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.steps.iter().map(|step| &step.op))
            .finish()
    }
}

impl<S: Spec<Op: 'static, Ret: Send + 'static>> Thread<S> {
    /// A thread with this handle, which it drops when the run is over unless a step does so.
    pub fn with<H: Send + 'static>(handle: H) -> Self {
        Thread {
            handle: Some(Box::new(handle)),
            steps: Vec::new(),
        }
    }

    /// Calls an operation by the handle.
    pub fn call<H: 'static>(
        self,
        op: S::Op,
        run: impl FnOnce(&mut H) -> S::Ret + Send + 'static,
    ) -> Self {
        self.step(op, |handle| {
            let handle = handle.as_mut().and_then(|handle| handle.downcast_mut());
            run(handle.unwrap_or_else(|| no_handle::<H>()))
        })
    }

    /// Calls an operation that takes the handle.
    pub fn consumes<H: 'static>(
        self,
        op: S::Op,
        run: impl FnOnce(H) -> S::Ret + Send + 'static,
    ) -> Self {
        self.step(op, |handle| {
            let handle = handle.take().and_then(|handle| handle.downcast().ok());
            run(*handle.unwrap_or_else(|| no_handle::<H>()))
        })
    }

    /// Drops the handle, which is an operation with this answer.
    pub fn drops<H: 'static>(self, op: S::Op, ret: S::Ret) -> Self {
        self.consumes(op, move |handle: H| {
            drop(handle);
            ret
        })
    }

    fn step(mut self, op: S::Op, run: impl FnOnce(&mut Handle) -> S::Ret + Send + 'static) -> Self {
        let run = Box::new(run);
        self.steps.push(Step { op, run });
        self
    }
}

fn no_handle<H>() -> ! {
    panic!(
        "the thread has no handle of the type {}: it has another one, or a step before has taken it",
        type_name::<H>()
    )
}

type Make<S> = Arc<dyn Fn() -> Vec<Thread<S>> + Send + Sync>;

/// A program for each thread.
pub struct Programs<S: Spec> {
    make: Make<S>,
    spec: Arc<S>,
    /// Which steps of each thread are done.
    kept: Vec<Vec<bool>>,
}

impl<S: Spec> fmt::Debug for Programs<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listed().fmt(f)
    }
}

impl<S: Spec> Programs<S> {
    /// The operations of each thread.
    fn listed(&self) -> Vec<Vec<String>> {
        let threads = (self.make)().into_iter().zip(&self.kept);
        let kept = |(thread, kept): (Thread<S>, &Vec<bool>)| {
            let steps = thread.steps.into_iter().zip(kept);
            let steps = steps.filter(|(_, kept)| **kept);
            steps.map(|(step, _)| format!("{:?}", step.op)).collect()
        };
        threads.map(kept).collect()
    }

    fn without(&self, thread: usize, step: usize) -> Self {
        let mut programs = self.clone();
        programs.kept[thread][step] = false;
        programs
    }
}

// Not derived, since that would require `S: Clone`.
impl<S: Spec> Clone for Programs<S> {
    fn clone(&self) -> Self {
        Programs {
            make: Arc::clone(&self.make),
            spec: Arc::clone(&self.spec),
            kept: self.kept.clone(),
        }
    }
}

/// A thread in a run: only this thread locks it.
#[doc(hidden)]
pub struct Running<S: Spec> {
    handle: Handle,
    steps: std::vec::IntoIter<Step<S>>,
}

impl<S: Spec> fmt::Debug for Running<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl<S> Activity for Programs<S>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + Sync + 'static,
{
    type Object = Vec<Mutex<Running<S>>>;
    /// None after the end of a program that is shorter than others.
    type Op = Option<S::Op>;
    type Ret = Option<S::Ret>;

    fn make(&self) -> Self::Object {
        let threads = (self.make)().into_iter().zip(&self.kept);
        let running = |(thread, kept): (Thread<S>, &Vec<bool>)| {
            let steps = thread.steps.into_iter().zip(kept);
            let steps: Vec<_> = steps.filter(|(_, kept)| **kept).map(|(s, _)| s).collect();
            Mutex::new(Running {
                handle: thread.handle,
                steps: steps.into_iter(),
            })
        };
        threads.map(running).collect()
    }

    fn choose(&self, thread: usize, _: &mut Random) -> usize {
        thread
    }

    fn invoke(
        &self,
        thread: usize,
        object: &Self::Object,
        _: &mut Random,
        ticks: &Ticks,
        pending: &mut Option<PendingCall<Self::Op>>,
    ) -> Record<Self::Op, Self::Ret> {
        let mut running = object[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Running { handle, steps } = &mut *running;
        match steps.next() {
            Some(step) => Record::of(Some(step.op), ticks, pending, || Some((step.run)(handle))),
            None => Record {
                op: None,
                ret: None,
                called: 0,
                returned: 0,
            },
        }
    }

    fn name(&self, thread: usize) -> String {
        self.listed()[thread].join(", ")
    }

    fn blank(&self) -> Option<Record<Self::Op, Self::Ret>> {
        Some(Record {
            op: None,
            ret: None,
            called: 0,
            returned: 0,
        })
    }
}

/// The records of a run without those after the ends of programs.
fn done<O: Clone, R: Clone>(run: &[&[Record<Option<O>, Option<R>>]]) -> Vec<Vec<Record<O, R>>> {
    let records = |log: &&[Record<Option<O>, Option<R>>]| {
        let returned = log.iter().filter_map(|record| {
            Some(Record {
                op: record.op.clone()?,
                ret: record.ret.clone()?,
                called: record.called,
                returned: record.returned,
            })
        });
        returned.collect()
    };
    run.iter().map(records).collect()
}

fn slices<T>(logs: &[Vec<T>]) -> Vec<&[T]> {
    logs.iter().map(Vec::as_slice).collect()
}

impl<S> Workload for Programs<S>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + Sync + 'static,
{
    fn prepare(&mut self, threads: usize) -> Result<(), Error> {
        if threads != self.kept.len() {
            return Err(Error::usage(
                "the number of threads is that of their programs: remove `.threads(..)`",
            ));
        }
        Ok(())
    }

    fn decide(&self, run: Run<'_, Self>, checker: &Checker) -> Result<Report, Error> {
        checker.check(&*self.spec, &typed(&slices(&done(run))))
    }

    fn history(
        &self,
        run: Run<'_, Self>,
        pending: &[(usize, &PendingCall<Self::Op>)],
    ) -> Result<History, Error> {
        let unfinished: Vec<(usize, PendingCall<S::Op>)> = pending
            .iter()
            .filter_map(|(thread, pending)| {
                let op = pending.op.clone()?;
                let called = pending.called;
                Some((*thread, PendingCall { op, called }))
            })
            .collect();
        let unfinished: Vec<_> = unfinished.iter().map(|(thread, p)| (*thread, p)).collect();
        let call = |op: &S::Op| Call::new(format!("{op:?}"), linpoint::Value::Nil);
        build(&slices(&done(run)), &unfinished, call, |ret| {
            format!("{ret:?}").into()
        })
    }

    fn object_type(&self) -> Option<(&str, &Params)> {
        None
    }

    fn page_data(
        &self,
        run: Run<'_, Self>,
        name: &str,
        report: &Report,
    ) -> Result<PageData, Error> {
        let options = PageOptions {
            name,
            object_type: name_of_spec::<S>(),
            most_ops: MOST_ON_PAGE,
        };
        Ok(page_data(
            options,
            &*self.spec,
            &typed(&slices(&done(run))),
            report,
        ))
    }
}

/// The smallest programs that were seen to fail; of [`Stress::check_smallest`].
#[derive(Clone, Debug)]
pub struct Smallest {
    /// The report of these programs.
    pub report: StressReport,
    /// The operations of each thread.
    pub programs: Vec<Vec<String>>,
}

impl fmt::Display for Smallest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, operations) in self.programs.iter().enumerate() {
            writeln!(f, "thread {thread}: {}", operations.join(", "))?;
        }
        self.report.fmt(f)
    }
}

impl<S> Stress<Programs<S>>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + Sync + 'static,
{
    /// Runs the test, as [`check`](Self::check) does. If it fails, steps are removed one after the other; what fails again within `each`
    /// is kept, until each step that is left has been tried. A failure of a program that was not seen within this time may be missed, so
    /// the programs need not be the smallest that can fail.
    pub fn check_smallest(self, each: Duration) -> Result<Smallest, Error> {
        let mut programs = self.workload.clone();
        let within = |workload: &Programs<S>, budget: Option<Duration>| Stress {
            workload: workload.clone(),
            settings: self.settings,
            runs: match workload.kept == self.workload.kept {
                true => self.runs,
                false => usize::MAX,
            },
            budget,
            seed: self.seed,
            config: self.config.clone(),
            folder: self.folder.clone(),
        };
        let mut smallest = within(&programs, self.budget).check()?;
        let steps: Vec<(usize, usize)> = (programs.kept.iter().enumerate())
            .flat_map(|(thread, kept)| (0..kept.len()).map(move |step| (thread, step)))
            .collect();
        let mut removed = !smallest.is_linearizable();
        while removed {
            removed = false;
            for &(thread, step) in &steps {
                if !programs.kept[thread][step] {
                    continue;
                }
                let candidate = programs.without(thread, step);
                let report = within(&candidate, Some(each)).check()?;
                if !report.is_linearizable() {
                    (smallest, programs, removed) = (report, candidate, true);
                }
            }
        }
        Ok(Smallest {
            report: smallest,
            programs: programs.listed(),
        })
    }
}
