//! Plain containers of integers, on which the orders of columnar logs are replayed instead of the specification.

use std::collections::{BinaryHeap, VecDeque};

use crate::engine::monitor::Act;

/// A container at some moment of a replay.
#[derive(Debug)]
pub(crate) enum Replayed<'a> {
    Queue(VecDeque<u32>),
    Stack(Vec<u32>),
    /// With the priority of each value; larger ones are served first.
    Heap(BinaryHeap<(u32, u32)>, &'a [u32]),
    /// Which values are there, and how many.
    Bag(Vec<bool>, usize),
}

impl Replayed<'_> {
    /// Lets an operation take effect. Returns whether it could.
    pub(crate) fn happens(&mut self, act: Act, value: u32) -> bool {
        match self {
            Replayed::Queue(queue) => match act {
                Act::Add => {
                    queue.push_back(value);
                    true
                }
                Act::Remove => queue.pop_front() == Some(value),
                Act::Peek => queue.front() == Some(&value),
                Act::Empty => queue.is_empty(),
            },
            Replayed::Stack(stack) => match act {
                Act::Add => {
                    stack.push(value);
                    true
                }
                Act::Remove => stack.pop() == Some(value),
                Act::Peek => stack.last() == Some(&value),
                Act::Empty => stack.is_empty(),
            },
            Replayed::Heap(heap, priorities) => {
                let urgency = (priorities[value as usize], value);
                match act {
                    Act::Add => {
                        heap.push(urgency);
                        true
                    }
                    Act::Remove => heap.pop() == Some(urgency),
                    Act::Peek => heap.peek() == Some(&urgency),
                    Act::Empty => heap.is_empty(),
                }
            }
            Replayed::Bag(there, count) => {
                let there = &mut there[value as usize];
                match act {
                    Act::Add => {
                        *count += 1;
                        !std::mem::replace(there, true)
                    }
                    Act::Remove => {
                        *count = count.wrapping_sub(1);
                        std::mem::replace(there, false)
                    }
                    Act::Peek => *there,
                    Act::Empty => *count == 0,
                }
            }
        }
    }
}
