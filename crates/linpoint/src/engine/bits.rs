//! Sets of small numbers as words.

/// The positions of the set bits of a word, ascending.
#[inline]
pub(crate) fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then_some(word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(lowest)
    })
}
