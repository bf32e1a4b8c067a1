//! A single-writer snapshot of numbers: a cell for each process.

use linpoint_test::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// How a scan reads the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// Again and again, until no cell has changed since the previous time.
    DoubleCollect,
    /// Once. That is wrong: a scan can miss an update and see a later one.
    SingleCollect,
}

/// The snapshot. A cell holds the number of its updates in the upper half, and its value in the lower.
#[derive(Debug)]
pub(crate) struct Cells {
    cells: Vec<AtomicU64>,
    scan: Scan,
    /// Called between two reads of a scan; a stress test gives the processor to another thread here.
    between: fn(),
}

impl Cells {
    /// Cells that hold 0.
    pub(crate) fn new(cells: usize, scan: Scan, between: fn()) -> Self {
        Cells {
            cells: (0..cells).map(|_| AtomicU64::new(0)).collect(),
            scan,
            between,
        }
    }

    /// Stores a value into a cell. Only the process that the cell belongs to may call this.
    pub(crate) fn update(&self, cell: usize, value: u32) {
        let updates = self.cells[cell].load(SeqCst) >> 32;
        self.cells[cell].store((updates + 1) << 32 | u64::from(value), SeqCst);
    }

    /// The values of all cells at one moment.
    pub(crate) fn scan(&self) -> Vec<u32> {
        let mut last = self.collect();
        if self.scan == Scan::DoubleCollect {
            loop {
                let again = self.collect();
                if again == last {
                    break;
                }
                last = again;
            }
        }
        last.into_iter().map(|cell| cell as u32).collect()
    }

    fn collect(&self) -> Vec<u64> {
        let read = |cell: &AtomicU64| {
            (self.between)();
            cell.load(SeqCst)
        };
        self.cells.iter().map(read).collect()
    }
}
