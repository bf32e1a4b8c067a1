//! The binary heap of `PriorityBlockingQueue`, with the same moves, since iterators and `toString` show the order of its array.
//!
//! Follows `siftUpComparable`, `siftDownComparable`, `dequeue`, `removeAt` and `heapify` of OpenJDK 17.

use super::Element;

/// Adds `x`, which must be comparable with the others, as these are with each other.
pub(super) fn push(heap: &mut Vec<Element>, x: Element) {
    let last = heap.len();
    heap.push(x);
    sift_up(heap, last);
}

/// Removes the element at index `i`, which must exist.
pub(super) fn remove_at(heap: &mut Vec<Element>, i: usize) {
    heap.swap_remove(i);
    if let Some(moved) = heap.get(i).cloned() {
        sift_down(heap, i);
        if heap[i] == moved {
            sift_up(heap, i);
        }
    }
}

/// Makes a heap of any array.
pub(super) fn heapify(array: &mut [Element]) {
    for i in (0..array.len() / 2).rev() {
        sift_down(array, i);
    }
}

fn sift_up(heap: &mut [Element], mut k: usize) {
    while k > 0 {
        let parent = (k - 1) / 2;
        if heap[k] >= heap[parent] {
            break;
        }
        heap.swap(k, parent);
        k = parent;
    }
}

fn sift_down(heap: &mut [Element], mut k: usize) {
    let half = heap.len() / 2;
    while k < half {
        let mut child = 2 * k + 1;
        if child + 1 < heap.len() && heap[child] > heap[child + 1] {
            child += 1;
        }
        if heap[k] <= heap[child] {
            break;
        }
        heap.swap(k, child);
        k = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Sampler;

    #[test]
    fn the_array_stays_a_heap_of_the_same_elements() {
        let is_heap = |heap: &[Element]| (1..heap.len()).all(|i| heap[(i - 1) / 2] <= heap[i]);
        let mut sampler = Sampler::new(7, None);
        let (mut heap, mut sorted) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            if heap.is_empty() || sampler.percent(52) {
                let x = Element::Int(sampler.below(20) as i64);
                push(&mut heap, x.clone());
                sorted.push(x);
            } else {
                let i = sampler.below(heap.len());
                let x = heap[i].clone();
                remove_at(&mut heap, i);
                sorted.remove(sorted.iter().position(|y| *y == x).unwrap());
            }
            assert!(is_heap(&heap), "{heap:?}");
            sorted.sort();
            let mut content = heap.clone();
            content.sort();
            assert_eq!(content, sorted);
        }
        let mut array = sorted;
        array.reverse();
        heapify(&mut array);
        assert!(is_heap(&array));
    }
}
