//! The elimination: values that nothing lies on at the wrong time are taken away, until none is left or all are stuck.
//!
//! A value can go if each of its operations has a gap in its window in which no other value left is critical. Taking
//! values away only uncovers gaps, so the order does not matter (Lee and Mathur 2024, lemma 5.1).

use super::super::{Act, Lives, Log};
use super::least::Least;
use super::plan::Plan;
use super::reach::Reach;
use super::watch::Watch;

/// The values in the order in which they went. The others are stuck.
pub(super) fn peel(log: &Log<Act>, lives: &Lives) -> Vec<u32> {
    let plan = Plan::new(log, lives);
    let mut watch = (!plan.peeks.is_empty()).then(|| Watch::new(&plan));
    // Only peeks are found in two ways.
    let mut placed = vec![false; if watch.is_some() { plan.whose.len() } else { 0 }];
    let mut critical = Least::new(plan.critical);
    let mut reach = Reach::new(plan.ends);
    let mut missing = plan.windows;
    let mut order: Vec<u32> = Vec::new();
    let mut gone = 0;
    // Segments in which no value, and in which a single one is critical, not looked at yet.
    let (mut bare, mut single) = (Vec::new(), Vec::new());
    let mut hits = Vec::new();
    loop {
        critical.take(i32::from(watch.is_some()), |segment, count| {
            let list = if count == 0 { &mut bare } else { &mut single };
            list.push(segment as u32);
        });
        if let Some(segment) = bare.pop() {
            let begun = plan.begun[segment as usize] as usize;
            reach.take(0..begun, segment, &mut hits);
        } else if let (Some(segment), Some(watch)) = (single.pop(), &mut watch) {
            if !watch.take(segment, &mut hits) {
                bare.push(segment);
            }
        } else {
            return order;
        }
        for window in hits.drain(..) {
            if let Some(placed) = placed.get_mut(window as usize)
                && std::mem::replace(placed, true)
            {
                continue;
            }
            let value = plan.whose[window as usize];
            let missing = &mut missing[value as usize];
            *missing -= 1;
            if *missing == 0 {
                order.push(value);
            }
        }
        for &value in &order[gone..] {
            let Some((first, last)) = plan.spans[value as usize].ends() else {
                continue;
            };
            critical.lower(first, last);
            if let Some(watch) = &mut watch {
                watch.forget(value, first, last, &mut bare);
            }
        }
        gone = order.len();
    }
}
