//! Sorting by small numbers in linear time.

/// The items sorted by their group, a number below `groups`; those of a group keep their order. Also where each group ends.
pub(crate) fn counting_sort(
    items: impl Iterator<Item = u32> + Clone,
    groups: usize,
    group: impl Fn(u32) -> u32,
) -> (Vec<u32>, Vec<u32>) {
    // First the size of each group, then where it starts, then, as it is filled in, where it ends.
    let mut ends = vec![0u32; groups];
    for item in items.clone() {
        ends[group(item) as usize] += 1;
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut sorted = vec![0; sum as usize];
    for item in items {
        let end = &mut ends[group(item) as usize];
        sorted[*end as usize] = item;
        *end += 1;
    }
    (sorted, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_each_other_and_keep_their_order() {
        let (sorted, ends) = counting_sort([31, 12, 30, 11, 10].into_iter(), 4, |item| item / 10);
        assert_eq!(sorted, [12, 11, 10, 31, 30]);
        assert_eq!(ends, [0, 3, 3, 5]);
    }
}
