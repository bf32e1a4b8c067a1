//! Records a simulation: tasks on one thread, whose messages take simulated time, as in turmoil. A primary acknowledges a write before its
//! replica has it, and clients read from either.
//!
//! `cargo run -p linpoint-record --example simulation > history.jsonl`, and then `linpoint check history.jsonl`: a read is stale.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use linpoint_record::{Clock, Process, Recorder};

/// The simulated time, and the tasks that run in it.
#[derive(Default)]
struct World {
    now: Cell<u64>,
    tasks: RefCell<Vec<Pin<Box<dyn Future<Output = ()>>>>>,
}

impl World {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.tasks.borrow_mut().push(Box::pin(task));
    }

    /// Polls every task at every moment, which is slow and simple.
    fn run(&self, moments: u64) {
        let mut context = Context::from_waker(Waker::noop());
        for now in 0..moments {
            self.now.set(now);
            let mut tasks = self.tasks.take();
            tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
            // Those that tasks have spawned come last.
            tasks.append(&mut self.tasks.borrow_mut());
            self.tasks.replace(tasks);
        }
    }
}

async fn sleep(world: Rc<World>, moments: u64) {
    let end = world.now.get() + moments;
    std::future::poll_fn(|_| match world.now.get() >= end {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await
}

#[derive(Default)]
struct Servers {
    primary: Cell<u64>,
    replica: Cell<u64>,
}

async fn client(world: Rc<World>, servers: Rc<Servers>, mut process: Process, number: u64) {
    for round in 0..5 {
        let value = 10 * number + round;
        let write = process.call("write", value);
        sleep(world.clone(), 2).await;
        servers.primary.set(value);
        let (late, replicated) = (world.clone(), servers.clone());
        world.spawn(async move {
            sleep(late, 7).await;
            replicated.replica.set(value);
        });
        sleep(world.clone(), 1).await;
        write.returned(());

        let read = process.call("read", ());
        sleep(world.clone(), number).await;
        let from = if round % 2 == 0 {
            &servers.primary
        } else {
            &servers.replica
        };
        let seen = from.get();
        sleep(world.clone(), 1).await;
        read.returned(seen);
    }
}

fn main() -> std::io::Result<()> {
    let recorder = Recorder::in_memory(
        linpoint_record::Header::of("register").param("initial", 0),
        // The simulation runs on one thread: its order is the order of time.
        Clock::Counter,
    );
    let (world, servers) = (Rc::new(World::default()), Rc::new(Servers::default()));
    for number in 1..=3 {
        let task = client(world.clone(), servers.clone(), recorder.process(), number);
        world.spawn(task);
    }
    // Tasks that are not over by then are dropped, and what they had called is unknown.
    world.run(60);
    world.tasks.borrow_mut().clear();
    recorder.finish()?.write(std::io::stdout().lock())
}
