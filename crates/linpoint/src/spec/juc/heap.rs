//! The binary heap of `PriorityBlockingQueue`, move by move: its array order shows in iterators and `toString`.
//!
//! Follows `siftUpComparable`, `siftDownComparable`, `dequeue`, `removeAt` and `heapify` of OpenJDK 17.

/// Adds `x`.
pub(super) fn push(heap: &mut Vec<i64>, x: i64) {
    let last = heap.len();
    heap.push(x);
    sift_up(heap, last);
}

/// Removes the element at index `i`, which must exist.
pub(super) fn remove_at(heap: &mut Vec<i64>, i: usize) {
    heap.swap_remove(i);
    if let Some(&moved) = heap.get(i) {
        sift_down(heap, i);
        if heap[i] == moved {
            sift_up(heap, i);
        }
    }
}

/// Makes a heap of any array.
pub(super) fn heapify(array: &mut [i64]) {
    for i in (0..array.len() / 2).rev() {
        sift_down(array, i);
    }
}

fn sift_up(heap: &mut [i64], mut k: usize) {
    while k > 0 {
        let parent = (k - 1) / 2;
        if heap[k] >= heap[parent] {
            break;
        }
        heap.swap(k, parent);
        k = parent;
    }
}

fn sift_down(heap: &mut [i64], mut k: usize) {
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
