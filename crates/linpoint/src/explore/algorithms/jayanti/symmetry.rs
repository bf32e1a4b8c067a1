//! Exchanges two processes, whose numbers are only compared for equality.

use super::{Local, Shared, X};

fn rename(q: &mut u8, a: usize, b: usize) {
    if usize::from(*q) == a {
        *q = b as u8;
    } else if usize::from(*q) == b {
        *q = a as u8;
    }
}

fn rename_x(x: &mut X, a: usize, b: usize) {
    rename(&mut x.proc_a, a, b);
    rename(&mut x.proc_b, a, b);
}

impl Local {
    pub(super) fn rename(&mut self, a: usize, b: usize) {
        rename_x(&mut self.x, a, b);
        rename(&mut self.q, a, b);
    }
}

impl Shared {
    /// A number for what the registers hold about a process.
    pub(super) fn standing(&self, p: usize) -> u64 {
        let bit = |set: u16| u64::from(set >> p & 1);
        let is = |q: u8| u64::from(usize::from(q) == p);
        let flags = [
            bit(self.x_links),
            bit(self.ss_links),
            is(self.x.proc_a),
            is(self.x.proc_b),
        ];
        let rows = [self.row_a[p], self.row_b[p], self.filled[p]];
        let flags = flags.iter().fold(0, |all, flag| all << 1 | flag);
        rows.iter()
            .fold(flags, |all, &row| all << 16 | u64::from(row))
    }

    pub(super) fn exchange(&mut self, a: usize, b: usize) {
        let swap = |set: &mut u16| *set ^= ((*set >> a ^ *set >> b) & 1) * (1 << a | 1 << b);
        rename_x(&mut self.x, a, b);
        swap(&mut self.x_links);
        swap(&mut self.ss_links);
        for rows in [&mut self.row_a, &mut self.row_b, &mut self.filled] {
            rows.swap(a, b);
        }
        self.cell.swap(a, b);
        for cell in self.cell.iter_mut().filter(|cell| **cell != 0) {
            *cell -= 1;
            rename(cell, a, b);
            *cell += 1;
        }
    }
}
