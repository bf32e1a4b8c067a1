//! The normal form: skips steps that have no effect because a link is broken, and clears rows that no process will read.

use super::{At, Jayanti, Local, Shared, X};

impl Jayanti {
    /// A process whose link on `X` is broken will fail to set `X`, so the rest of its push has no effect, unless it has
    /// validated `X` already and is about to store `SS`. A row is read only while `X` names it, or while its owner is linked
    /// and fills it.
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

    /// Whether an update that is about to forward its value will not store it, or stores it where no process will read it.
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
        // X has not changed since a linked process read it.
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

/// Goes to a place in the same push and clears all other variables.
fn go(my: &mut Local, at: At) {
    *my = Local {
        at,
        second: my.second,
        ..Local::default()
    };
}
