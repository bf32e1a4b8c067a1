//! Data structures of the monitors.

mod min_tree;
mod pairing_heaps;
mod rank_bits;
mod stab_tree;
mod wide_tree;
mod xor_tree;

pub(crate) use min_tree::MinTree;
pub(crate) use pairing_heaps::{EMPTY, Heap, PairingHeaps};
pub(crate) use rank_bits::RankBits;
pub(crate) use stab_tree::StabTree;
pub(crate) use wide_tree::Leaves;
pub(crate) use xor_tree::XorTree;
