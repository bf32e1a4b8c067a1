//! The normal form that both algorithms share: clears what a scanner cannot use any more.
//!
//! Precondition: a change that a scanner will notice is already in `differs`, although the scanner has yet to read the
//! register.

use super::{At, Borrow, Local};
use crate::explore::snapshot::{Form, copy};

/// The parameters in which the two algorithms differ.
pub(super) struct Normal<'a, F> {
    pub(super) form: &'a Form,
    /// The place at which a round begins.
    pub(super) round: At,
    /// When views are borrowed.
    pub(super) borrow: Borrow,
    /// Whether it matters when a scanner reads a register for the first time; the arguments are variables, scanner and
    /// register.
    pub(super) first_matters: F,
}

impl<F: Fn(&[Local], usize, usize) -> bool> Normal<'_, F> {
    /// Brings scanners and the views in registers into normal form.
    pub(super) fn apply(&self, locals: &mut [Local], values: u16, views: &mut [u16]) {
        for (p, my) in locals.iter_mut().enumerate() {
            self.forget(p, my);
        }
        let live = self.live(locals);
        for (p, view) in views.iter_mut().enumerate().take(locals.len()) {
            if !self.is_borrowed(locals, live, p) {
                *view = 0;
            }
        }
        for p in 0..locals.len() {
            let is_live = live >> p & 1 != 0;
            if locals[p].updates && !is_live {
                (locals[p].b, locals[p].view) = (0, 0);
            }
            self.go_on(p, locals, values, is_live);
            let borrows = self.will_borrow(p, &locals[p]) != 0;
            if !is_live && borrows && locals[p].at != At::Shake {
                locals[p].go_to_write(0);
            }
        }
    }

    /// The registers whose views `p` may borrow in this round if they differ.
    fn lenders(&self, p: usize, my: &Local) -> u16 {
        let others = self.form.active & !(1 << p);
        let lenders = match self.borrow {
            Borrow::AfterOneChange => others,
            Borrow::AfterTwoChanges => others & my.moved,
        };
        match lenders & my.differs & !my.read_twice() {
            0 => lenders,
            // Those up to the first one that differs, in the order of reading.
            due => lenders & !my.read_twice() & (due ^ (due - 1)),
        }
    }

    /// The lenders that differ. If there is one, its view will be borrowed and this is the last round.
    fn will_borrow(&self, p: usize, my: &Local) -> u16 {
        match my.at {
            At::Shake | At::First | At::Second if !my.borrowed => {
                self.lenders(p, my) & my.differs & !my.read_twice()
            }
            _ => 0,
        }
    }

    /// The registers that `p` has read once and whose changes it will notice.
    pub(super) fn watched(&self, p: usize, my: &Local) -> u16 {
        let others = self.form.active & !(1 << p);
        let to_notice = others & my.read() & !my.read_twice() & !my.differs;
        match self.will_borrow(p, my) {
            _ if my.borrowed => 0,
            0 => to_notice,
            _ => to_notice & self.lenders(p, my),
        }
    }

    /// If a view will be borrowed, what is known about registers that cannot lend it is dead.
    fn forget(&self, p: usize, my: &mut Local) {
        my.forget(self.form);
        if self.will_borrow(p, my) != 0 {
            let lenders = self.lenders(p, my);
            my.moved &= lenders;
            my.differs &= lenders;
        }
    }

    /// The processes whose scans can affect a result: scans that are not part of an update, and those of updates whose view
    /// may be borrowed by such a scan. To borrow the view of an update, a scan must have noticed an *earlier* change of
    /// the same process. If it has none now, no open scan can get one before the update writes.
    fn live(&self, locals: &[Local]) -> u16 {
        if self.borrow == Borrow::AfterOneChange {
            return u16::MAX;
        }
        let set = |is_in: &dyn Fn(&Local) -> bool| {
            let members = locals.iter().enumerate().filter(|(_, my)| is_in(my));
            members.fold(0, |all, (p, _)| all | 1 << p)
        };
        let mut live: u16 = set(&|my| !my.updates);
        loop {
            let matter = locals
                .iter()
                .enumerate()
                .filter(|(p, _)| live >> p & 1 != 0);
            let lenders = matter.fold(0, |all, (_, my)| all | my.moved | my.differs);
            if lenders & !live == 0 {
                return live;
            }
            live |= lenders;
        }
    }

    /// Whether the view in the register of `p` will be borrowed.
    fn is_borrowed(&self, locals: &[Local], live: u16, p: usize) -> bool {
        locals
            .iter()
            .enumerate()
            .filter(|(i, _)| live >> i & 1 != 0)
            .any(|(i, my)| self.will_borrow(i, my) >> p & 1 != 0)
    }

    /// Makes the steps of `p` whose outcome is known, since other processes cannot observe when they are made.
    fn go_on(&self, p: usize, locals: &mut [Local], values: u16, is_live: bool) {
        let form = self.form;
        loop {
            let my = &locals[p];
            let (j, bit) = (usize::from(my.j), 1u16 << my.j);
            let is_private = form.is_private(p, my.j);
            let lenders = self.lenders(p, my);
            let borrows = self.will_borrow(p, my) != 0;
            match my.at {
                At::Shake if is_private => locals[p].next_register(form, At::First),
                At::First
                    if is_private
                        || my.differs & bit != 0
                        || borrows && lenders & bit == 0
                        || !(self.first_matters)(locals, p, j) =>
                {
                    locals[p].next_register(form, At::Second);
                }
                At::Second if my.borrowed => return,
                At::Second if borrows && lenders & bit == 0 => locals[p].j += 1,
                At::Second
                    if my.differs != 0 && !borrows && (is_private || my.differs & bit != 0) =>
                {
                    locals[p].next_register(form, At::Decide);
                    if locals[p].at == At::Decide {
                        locals[p].go_round(self.round);
                    }
                }
                At::Decide if my.differs != 0 && !my.borrowed => locals[p].go_round(self.round),
                // The last read of a scan that ends stays a step of its own.
                At::Second
                    if my.differs == 0
                        && is_private
                        && form.active >> (j + 1) & !(1 << p) >> (j + 1) != 0 =>
                {
                    let my = &mut locals[p];
                    if is_live && form.keeps(j) {
                        copy(values, my.j, &mut my.b);
                    }
                    my.j += 1;
                }
                _ => return,
            }
        }
    }
}
