//! Counts the schedules of an order, and those that explain a history.
//!
//! Prefixes of schedules are counted by the operations that they contain, layer by layer. The counts are exact while layers
//! are small. A larger layer is thinned at random, such that every count keeps its expectation: an unbiased estimate, after
//! Knuth, *Estimating the Efficiency of Backtrack Programs* (1975), which follows a single prefix at a time. Merging equal
//! sets of operations, and following many, is ours.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::poset::{Down, Poset};
use super::runs::{AnyResult, Runs};
use crate::engine::{Budget, Limit, Ticker};
use crate::value::Interner;

/// A number of schedules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// The number.
    Exact(u128),
    /// An estimate.
    About {
        /// The logarithm of the number, to base 10.
        log10: f64,
        /// The standard error, as a part of the number. Zero if nothing but rounding separates the estimate from the number.
        error: f64,
    },
}

/// The most sets of operations in a layer that is counted exactly.
const MOST_SETS: usize = 1 << 16;

/// How an estimate is made.
#[derive(Clone, Copy, Debug)]
struct Sampling {
    /// A layer with more sets is thinned to about as many.
    kept: usize,
    /// The independent samples whose mean is the estimate.
    samples: u32,
}

const SAMPLING: Sampling = Sampling {
    kept: 1 << 10,
    samples: 32,
};

/// Counts the schedules of an order: exactly if they can be counted, else about.
///
/// ```
/// use linpoint::engine::Budget;
/// use linpoint::engine::hitting::{Count, Poset, schedule_count};
/// // Two operations of one thread beside one of another: it comes first, between them or last.
/// let poset = Poset::new(&[(0, 5, 0), (1, 2, 1), (3, 4, 1)]);
/// assert_eq!(schedule_count(&poset, &Budget::default()), Ok(Count::Exact(3)));
/// ```
pub fn schedule_count(poset: &Poset, budget: &Budget) -> Result<Count, Limit> {
    let mut ticker = Ticker::new(budget);
    match exact(poset, &mut AnyResult, &mut ticker)? {
        Some(count) => Ok(Count::Exact(count)),
        None => estimate(poset, SAMPLING, &mut ticker),
    }
}

/// Counts the schedules whose results all fit; `None` if a layer has too many sets, or the number too many digits.
pub(super) fn exact(
    poset: &Poset,
    runs: &mut dyn Runs,
    ticker: &mut Ticker<'_>,
) -> Result<Option<u128>, Limit> {
    let mut layer = Layer::of_nothing(1u128, runs);
    for _ in 0..poset.len() {
        match layer.longer(poset, runs, u128::checked_add, ticker)? {
            Some(longer) if longer.ways.len() <= MOST_SETS => layer = longer,
            _ => return Ok(None),
        }
    }
    Ok(layer.ways.into_iter().try_fold(0, u128::checked_add))
}

fn estimate(poset: &Poset, sampling: Sampling, ticker: &mut Ticker<'_>) -> Result<Count, Limit> {
    let mut logs = Vec::new();
    for seed in 0..sampling.samples {
        match sample(poset, sampling, u64::from(seed), ticker) {
            Ok(log10) => logs.push(log10),
            // Two samples are the least that tell an error.
            Err(limit) if logs.len() < 2 => return Err(limit),
            Err(_) => break,
        }
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let numbers: Vec<f64> = logs.iter().map(|log| 10f64.powf(log - most)).collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    Ok(Count::About {
        log10: most + mean.log10(),
        error: error / mean,
    })
}

/// Returns the logarithm of one sample of the number of schedules.
fn sample(
    poset: &Poset,
    sampling: Sampling,
    seed: u64,
    ticker: &mut Ticker<'_>,
) -> Result<f64, Limit> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut layer = Layer::of_nothing(1.0, &mut AnyResult);
    let mut log10 = 0.0;
    let plus = |a: f64, b: f64| Some(a + b);
    for _ in 0..poset.len() {
        let longer = layer.longer(poset, &mut AnyResult, plus, ticker)?;
        layer = longer.expect("bug: a sum of two floats is one");
        log10 += layer.normalize().log10();
        if layer.ways.len() > sampling.kept {
            layer = layer.thinned(sampling.kept, &mut rng);
        }
    }
    Ok(log10 + layer.ways.iter().sum::<f64>().log10())
}

/// The prefixes of one length, by the operations that they contain and the states that they lead to.
struct Layer<N> {
    sets: Interner<(Down, u32)>,
    /// By set: the number of prefixes.
    ways: Vec<N>,
}

impl<N: Copy> Layer<N> {
    /// The empty prefix.
    fn of_nothing(one: N, runs: &mut dyn Runs) -> Self {
        let mut sets = Interner::default();
        sets.intern((Down::default(), runs.start()));
        Layer {
            sets,
            ways: vec![one],
        }
    }

    fn add(&mut self, set: (Down, u32), ways: N, plus: impl Fn(N, N) -> Option<N>) -> Option<()> {
        let number = self.sets.intern(set) as usize;
        match self.ways.get_mut(number) {
            Some(known) => *known = plus(*known, ways)?,
            None => self.ways.push(ways),
        }
        Some(())
    }

    /// Returns the prefixes with one more operation; `None` if a sum does not exist.
    fn longer(
        &self,
        poset: &Poset,
        runs: &mut dyn Runs,
        plus: impl Fn(N, N) -> Option<N>,
        ticker: &mut Ticker<'_>,
    ) -> Result<Option<Layer<N>>, Limit> {
        let mut longer = Layer {
            sets: Interner::default(),
            ways: Vec::new(),
        };
        let mut minimal = Vec::new();
        for ((done, states), &ways) in self.sets.items().iter().zip(&self.ways) {
            ticker.tick()?;
            done.minimal_outside(poset, &mut minimal);
            for &op in &minimal {
                let Some(next) = runs.step(*states, op) else {
                    continue;
                };
                if longer.add((done.with(op), next), ways, &plus).is_none() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(longer))
    }
}

impl Layer<f64> {
    /// Divides all numbers by their sum, and returns it.
    fn normalize(&mut self) -> f64 {
        let sum: f64 = self.ways.iter().sum();
        self.ways.iter_mut().for_each(|ways| *ways /= sum);
        sum
    }

    /// Keeps about `kept` of the sets, whose numbers add up to one. Each is kept with a probability that is proportional to
    /// its number, at most one, and then counts for as much more. One random number decides on all: the sets are laid end to
    /// end, each as long as its probability, and those are kept in which one of equally spaced points lies.
    fn thinned(self, kept: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut thinned = Layer {
            sets: Interner::default(),
            ways: Vec::new(),
        };
        let mut place = rng.random::<f64>();
        for (set, &ways) in self.sets.into_items().into_iter().zip(&self.ways) {
            let probability = (ways * kept as f64).min(1.0);
            place += probability;
            if place >= 1.0 {
                place -= 1.0;
                thinned.sets.intern(set);
                thinned.ways.push(ways / probability);
            }
        }
        thinned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn antichain(ops: u32) -> Poset {
        let ops: Vec<_> = (0..ops).map(|op| (op, 1000 + op, op)).collect();
        Poset::new(&ops)
    }

    #[test]
    fn an_antichain_has_all_permutations() {
        let budget = Budget::default();
        let count = |ops| schedule_count(&antichain(ops), &budget);
        assert_eq!(count(0), Ok(Count::Exact(1)));
        assert_eq!(count(10), Ok(Count::Exact(3_628_800)));
        // 20!, which is 2.43e18: the layers in the middle are too large.
        let Ok(Count::About { log10, error }) = count(20) else {
            panic!("20 operations that overlap are too many to count");
        };
        assert!(
            (log10 - 18.386_125).abs() < 0.02 && error < 0.02,
            "{log10} {error}"
        );
    }

    #[test]
    fn a_number_with_too_many_digits_is_rounded() {
        // 300 pairs of operations, each before the next pair.
        let pair = |i: u32| [(4 * i, 4 * i + 2, 0), (4 * i + 1, 4 * i + 3, 1)];
        let poset = Poset::new(&(0..300).flat_map(pair).collect::<Vec<_>>());
        let Ok(Count::About { log10, error }) = schedule_count(&poset, &Budget::default()) else {
            panic!("2^300 does not fit");
        };
        assert!((log10 - 300.0 * 2f64.log10()).abs() < 1e-6 && error < 1e-6);
    }

    #[test]
    fn estimates_agree_with_counts() {
        // Six threads with six operations each, and less overlap the farther apart they are.
        let op = |thread: u32, i: u32| {
            let call = 60 * i + 7 * thread;
            (call, call + 35 + thread, thread)
        };
        let ops = (0..6).flat_map(|thread| (0..6).map(move |i| op(thread, i)));
        let poset = Poset::new(&ops.collect::<Vec<_>>());
        let budget = Budget::default();
        let Ok(Count::Exact(number)) = schedule_count(&poset, &budget) else {
            panic!("few sets");
        };
        let sampling = Sampling {
            kept: 4,
            samples: 400,
        };
        let estimated = estimate(&poset, sampling, &mut Ticker::new(&budget)).unwrap();
        let Count::About { log10, error } = estimated else {
            panic!("an estimate");
        };
        let ratio = 10f64.powf(log10 - (number as f64).log10());
        assert!(error > 0.001 && error < 0.2, "{error}");
        assert!((ratio - 1.0).abs() < 4.0 * error, "{ratio} {error}");
    }
}
