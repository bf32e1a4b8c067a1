//! The normal form: what a process whose link is broken can only do in vain, and rows that nobody will read.

use super::{At, Jayanti, Local, Shared, X};

impl Jayanti {
    /// A process whose link on `X` is broken can only fail to set it, so the rest of its push is dead; except that it may
    /// have validated `X` already and be about to store `SS`. Rows count only while `X` names them, or while their owner,
    /// linked, fills them.
    pub(super) fn forget(&self, shared: &mut Shared, locals: &mut [Local]) {
        if shared.x.phase < 2 {
            shared.x.proc_a = 0;
        }
        if shared.x.phase < 1 {
            shared.x.proc_b = 0;
        }
        for (p, my) in locals.iter_mut().enumerate() {
            self.normalize_local(p, shared, my);
        }
        for (p, my) in locals.iter_mut().enumerate() {
            let read = match my.at {
                At::SetA => self.form.entries,
                At::Gather => self.form.entries & ((1 << my.entry) - 1),
                _ => 0,
            };
            let row_a_counts = shared.x.phase == 2 && usize::from(shared.x.proc_a) == p;
            if !row_a_counts {
                shared.row_a[p] &= read;
            }
            let emptied = match my.at {
                At::SetB => self.form.entries,
                At::Empty => self.form.entries & ((1 << my.entry) - 1),
                _ => 0,
            };
            if !shared.row_b_counts(p) {
                shared.filled[p] &= emptied;
                shared.row_b[p] &= emptied;
            }
            shared.row_b[p] &= shared.filled[p];
        }
    }

    /// Whether an update that has found somebody to forward its value to will not, or nobody will notice.
    fn forwards_in_vain(&self, p: usize, shared: &Shared, my: &Local) -> bool {
        let will_see = my.at != At::Forward && shared.x_links >> p & 1 == 0;
        let fails = my.at != At::LinkB && shared.cell[p] != my.q + 1;
        let is_dead = !self.wrong_link && !shared.row_b_counts(usize::from(my.q));
        will_see || fails || is_dead || !self.form.keeps(p)
    }

    fn normalize_local(&self, p: usize, shared: &mut Shared, my: &mut Local) {
        let is_linked = shared.x_links >> p & 1 != 0;
        let ss_fails = !self.planted && shared.ss_links >> p & 1 == 0;
        match my.at {
            At::LinkB | At::Validate | At::Forward if self.forwards_in_vain(p, shared, my) => {
                *my = Local::given_up();
                shared.x_links &= !(1 << p);
            }
            At::Empty | At::SetB if !is_linked => go(my, At::LookB),
            At::Gather | At::SetA if !is_linked => go(my, At::LookA),
            At::TakeA | At::TakeB | At::LinkSs | At::ValidateSs | At::SetX if !is_linked => {
                *my = my.pushed();
            }
            At::ValidateSs if ss_fails => go(my, At::SetX),
            At::StoreSs if ss_fails && is_linked => go(my, At::SetX),
            At::StoreSs if ss_fails => *my = my.pushed(),
            _ => {}
        }
        let needs_no_link = matches!(
            my.at,
            At::Idle
                | At::Write
                | At::LinkX
                | At::Forward
                | At::Look
                | At::LookB
                | At::LookA
                | At::Result
        );
        if needs_no_link {
            shared.x_links &= !(1 << p);
        }
        if !matches!(my.at, At::ValidateSs | At::StoreSs) {
            shared.ss_links &= !(1 << p);
        }
        let is_given_up = my.at == At::Validate && shared.x_links >> p & 1 == 0;
        if !matches!(my.at, At::Validate | At::Forward) || is_given_up {
            shared.cell[p] = 0;
        }
        // Whoever is linked knows what X holds.
        let scans = !matches!(my.at, At::LinkB | At::Validate);
        if scans && shared.x_links >> p & 1 != 0 {
            my.x = shared.x;
        } else {
            my.x = X {
                toggle: my.x.toggle && my.at == At::StoreSs,
                ..X::default()
            };
        }
    }
}

/// Goes to a place in the same push and forgets all else.
fn go(my: &mut Local, at: At) {
    *my = Local {
        at,
        second: my.second,
        ..Local::default()
    };
}
