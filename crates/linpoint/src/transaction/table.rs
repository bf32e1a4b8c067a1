//! Lists of different lengths, one after the other.

/// A table of rows of any length.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    /// Where each row begins, and where the last one ends.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            starts: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    /// Adds an item to the last row, which is not ended yet.
    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends the last row and begins a new one.
    pub(super) fn end_row(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// The items of the last row, which is not ended yet.
    pub(super) fn last_row(&mut self) -> &mut [T] {
        let start = *self.starts.last().unwrap_or(&0) as usize;
        &mut self.items[start..]
    }

    /// Shortens the last row, which is not ended yet, to its first `length` items.
    pub(super) fn shorten_last_row(&mut self, length: usize) {
        let start = *self.starts.last().unwrap_or(&0) as usize;
        self.items.truncate(start + length);
    }

    pub(super) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn row(&self, i: usize) -> &[T] {
        &self.items[self.range(i)]
    }

    /// Where the row is in [`items`](Self::items).
    pub(super) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }

    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

impl<T: Copy + Default> Table<T> {
    /// A table of so many rows, with these items of rows.
    pub(super) fn of(rows: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut starts = vec![0u32; rows + 2];
        for (row, _) in pairs.clone() {
            starts[row as usize + 2] += 1;
        }
        for i in 2..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut items = vec![T::default(); *starts.last().unwrap_or(&0) as usize];
        for (row, item) in pairs {
            let next = &mut starts[row as usize + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        starts.pop();
        Table { starts, items }
    }
}
