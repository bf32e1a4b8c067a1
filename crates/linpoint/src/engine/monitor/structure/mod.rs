//! Data structures of the monitors, each in one or two plain arrays.

mod counting_sort;
mod min_tree;
mod pairing_heaps;
mod rank_bits;
mod stab_tree;
mod wide_tree;
mod xor_tree;

pub(super) use counting_sort::counting_sort;
pub(super) use min_tree::MinTree;
pub(super) use pairing_heaps::{EMPTY, Heap, PairingHeaps};
pub(super) use rank_bits::RankBits;
pub(super) use stab_tree::StabTree;
pub(super) use wide_tree::Leaves;
pub(super) use xor_tree::XorTree;
