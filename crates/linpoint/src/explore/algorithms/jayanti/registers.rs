//! The registers of Jayanti's algorithm, and the accesses to them.

use crate::explore::snapshot::{Form, MOST_PROCESSES};
use crate::explore::{Bits, width};

/// The register `X`: the phase of the cycle, the scanners whose rows are used, and a toggle that each cycle flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct X {
    /// 0, 1 and 2 for the phases 1, 2 and 3 of the paper.
    pub(super) phase: u8,
    pub(super) proc_a: u8,
    pub(super) proc_b: u8,
    pub(super) toggle: bool,
}

/// The registers. A set of links holds the processes whose next store-conditional would succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    pub(super) a: u16,
    pub(super) x: X,
    pub(super) x_links: u16,
    pub(super) ss_toggle: bool,
    pub(super) ss: u16,
    pub(super) ss_links: u16,
    /// For each scanner, the entries that it read.
    pub(super) row_a: [u16; MOST_PROCESSES],
    /// For each scanner, the values that updaters forwarded to it, and in `filled` which updaters did.
    pub(super) row_b: [u16; MOST_PROCESSES],
    pub(super) filled: [u16; MOST_PROCESSES],
    /// For each updater, one more than the scanner in whose row it has linked its own entry; 0 for none. No other process
    /// links that entry.
    pub(super) cell: [u8; MOST_PROCESSES],
}

impl X {
    pub(super) fn layout<B: Bits>(&mut self, processes: usize, bits: &mut B) {
        bits.int(&mut self.phase, 2);
        bits.int(&mut self.proc_a, width(processes));
        bits.int(&mut self.proc_b, width(processes));
        bits.flag(&mut self.toggle);
    }
}

impl Shared {
    /// Reads `X` and links process `p` to it.
    pub(super) fn link_x(&mut self, p: usize) -> X {
        self.x_links |= 1 << p;
        self.x
    }

    /// Stores into `X` if process `p` is linked.
    pub(super) fn store_x(&mut self, p: usize, x: X) {
        if self.x_links >> p & 1 != 0 {
            self.x = x;
            self.x_links = 0;
        }
    }

    /// Whether the current cycle uses the values that were forwarded to scanner `p`.
    pub(super) fn row_b_counts(&self, p: usize) -> bool {
        self.x.phase >= 1 && usize::from(self.x.proc_b) == p
    }

    pub(super) fn layout<B: Bits>(&mut self, form: &Form, bits: &mut B) {
        let (n, entries) = (form.processes, form.entries);
        bits.subset(&mut self.a, entries);
        self.x.layout(n, bits);
        bits.set(&mut self.x_links, n as u32);
        bits.flag(&mut self.ss_toggle);
        bits.subset(&mut self.ss, entries);
        bits.set(&mut self.ss_links, n as u32);
        for p in 0..n {
            bits.subset(&mut self.row_a[p], entries);
            bits.subset(&mut self.row_b[p], entries);
            bits.subset(&mut self.filled[p], entries);
            bits.int(&mut self.cell[p], width(n + 1));
        }
    }
}
