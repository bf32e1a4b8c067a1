//! Clients that record what they do.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use linpoint_record::{Json, Operation, Process, Recorder};

/// How a request ended.
pub enum Answer<T> {
    Returned(T),
    /// It certainly did not take effect.
    Failed,
    /// It may have taken effect, or will.
    Unknown,
}

impl<T> Answer<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Answer::Returned(value) => Answer::Returned(change(value)),
            Answer::Failed => Answer::Failed,
            Answer::Unknown => Answer::Unknown,
        }
    }
}

impl<T: Json> Answer<T> {
    /// Records the end of an operation. Returns whether it returned.
    pub fn record(self, operation: Operation<'_>) -> Option<T> {
        match self {
            Answer::Returned(value) => {
                operation.returned(&value);
                return Some(value);
            }
            Answer::Failed => operation.failed(),
            Answer::Unknown => operation.unknown(),
        }
        None
    }
}

/// An error of a connection: whether the request can have reached the server.
pub fn lost<T>(_error: &io::Error, was_sent: bool) -> Answer<T> {
    match was_sent {
        true => Answer::Unknown,
        false => Answer::Failed,
    }
}

/// Starts a thread for each client, which makes one step after the other until the time is over.
pub fn start<C>(
    recorder: &Recorder,
    clients: Vec<C>,
    seed: u64,
    pause: Duration,
    end: Instant,
) -> Vec<JoinHandle<()>>
where
    C: FnMut(&mut Process, &mut Random) + Send + 'static,
{
    let start = |(number, mut step): (u64, C)| {
        let mut process = recorder.process();
        let mut random = Random::new(seed, number);
        thread::spawn(move || {
            while Instant::now() < end {
                step(&mut process, &mut random);
                thread::sleep(pause.mul_f64(random.fraction()));
            }
        })
    };
    (0..).zip(clients).map(start).collect()
}

/// Waits for clients. A request that is under way may take as long as its time-out.
pub fn join(clients: Vec<JoinHandle<()>>) -> anyhow::Result<()> {
    for client in clients {
        client
            .join()
            .map_err(|_| anyhow::anyhow!("a client panicked"))?;
    }
    Ok(())
}

/// Random numbers: splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, stream: u64) -> Self {
        Random(
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ stream.wrapping_mul(0xd1b5_4a32_d192_ed03),
        )
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.next() % (to - from))
    }
}
