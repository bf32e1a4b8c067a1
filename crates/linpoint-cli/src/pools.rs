//! Threads for histories that are decided at the same time.
//!
//! Each of them has threads of its own. A thread of a shared pool that waits for one part of its history would begin another
//! history meanwhile, and the time of the first one would run on.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use linpoint::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools of threads, kept from batch to batch.
#[derive(Default)]
pub(crate) struct Pools {
    pools: Vec<ThreadPool>,
    /// The number of threads of each pool.
    size: usize,
}

impl Pools {
    /// Returns the results of `work` for all items, in their order, with `threads` threads. Items are begun in their order,
    /// and each runs in a pool in which no other one runs at the time.
    pub(crate) fn map<T: Send, R: Send>(
        &mut self,
        threads: usize,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        let count = threads.min(items.len());
        if count <= 1 {
            // The pool that all share has nothing else to do.
            return Ok(items.into_iter().map(work).collect());
        }
        self.start(count, threads.div_ceil(count))?;
        let items: Vec<Mutex<Option<T>>> = items
            .into_iter()
            .map(|item| Mutex::new(Some(item)))
            .collect();
        let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work_on_all = || {
            while let Some(i) = Some(next.fetch_add(1, Relaxed)).filter(|&i| i < items.len()) {
                let item = items[i]
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                let result = item.map(&work);
                *results[i].lock().unwrap_or_else(PoisonError::into_inner) = result;
            }
        };
        in_each(&self.pools[..count], &work_on_all);
        let results = results.into_iter().filter_map(|result| {
            let result = result.into_inner();
            result.unwrap_or_else(PoisonError::into_inner)
        });
        Ok(results.collect())
    }

    /// Makes at least `count` pools of `size` threads.
    fn start(&mut self, count: usize, size: usize) -> Result<(), Error> {
        if self.size != size {
            self.pools.clear();
            self.size = size;
        }
        while self.pools.len() < count {
            let pool = ThreadPoolBuilder::new().num_threads(size).build();
            let failed = |error| Error::unreadable(format!("threads cannot be started: {error}"));
            self.pools.push(pool.map_err(failed)?);
        }
        Ok(())
    }
}

/// Runs `work` once in each pool, at the same time.
fn in_each(pools: &[ThreadPool], work: &(dyn Fn() + Sync)) {
    if let [pool, others @ ..] = pools {
        pool.in_place_scope(|scope| {
            scope.spawn(|_| work());
            in_each(others, work);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use rayon::prelude::*;

    use super::*;

    thread_local! {
        static IS_BUSY: Cell<bool> = const { Cell::new(false) };
    }

    /// Works on an item in parallel, and returns whether another item was being worked on by the same thread.
    fn is_nested(item: u64) -> bool {
        let is_nested = IS_BUSY.replace(true);
        (0..8u64).into_par_iter().for_each(|part| {
            std::thread::sleep(Duration::from_micros(100 * (item + part) % 700));
        });
        IS_BUSY.set(is_nested);
        is_nested
    }

    #[test]
    fn no_item_begins_while_its_thread_waits_for_another_one() {
        for (threads, items) in [(4, 40), (4, 3), (5, 2), (1, 4), (4, 1), (4, 0)] {
            let mut pools = Pools::default();
            for _ in 0..2 {
                let nested = pools.map(threads, (0..items).collect(), is_nested);
                assert_eq!(nested.unwrap(), vec![false; items as usize]);
            }
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        let squares = Pools::default().map(4, items, |item| item * item).unwrap();
        assert_eq!(
            squares,
            (0..100).map(|item| item * item).collect::<Vec<_>>()
        );
    }
}
