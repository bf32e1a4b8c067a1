//! The normal form: clears what no process can use any more, and replaces sequence numbers by their ranks.
//!
//! Sequence numbers are only compared with each other and with the next one, so only their order matters; for an update, only
//! which views have a higher number. Ranks stay small, however many scans there were.
//!
//! A process that fills a register that is filled already will have no effect. This is certain only if no view is used
//! twice: otherwise the view may be initialised again in between.

use super::{At, Local, Riany, Shared};

/// The places at which a process uses the turn that it is linked to, before it begins to fill a view.
const TURNS: &[At] = &[
    At::ReadProposed,
    At::Advance,
    At::ReadNext,
    At::SetTurn,
    At::Version,
    At::SameTurn,
];

/// Whether a process at this place has chosen a view to fill.
fn has_view(at: At) -> bool {
    at >= At::Version
}

/// Whether a process at this place has read the sequence number of its view.
fn has_number(at: At) -> bool {
    (At::LinkSeq..=At::SetReg).contains(&at)
}

impl Riany {
    pub(super) fn forget(&self, shared: &mut Shared, locals: &mut [Local]) {
        for (p, my) in locals.iter_mut().enumerate() {
            if TURNS.contains(&my.at) && shared.turn_links >> p & 1 == 0 {
                self.again(p, shared, my);
            }
            if self.uses_views_once() {
                self.go_on(p, shared, my);
            }
            // No other process proposes a view of this one.
            if my.at == At::CheckOwn && !my.is_late && shared.proposed[p] == 0 {
                my.at = At::ReadTurn;
            }
            self.forget_links(p, shared, my);
            let view = usize::from(my.view);
            let is_filled = shared.filled[view] >> my.entry & 1 != 0;
            if has_view(my.at) && (shared.copied[p] != my.view + 1 || is_filled) {
                give_up_value(my);
            }
            self.choose(my);
        }
        for p in 0..locals.len() {
            if locals[p].second_view {
                exchange_views(p, shared, locals);
            }
        }
        for view in 0..2 * locals.len() {
            self.forget_view(view, shared, locals);
        }
        self.renumber(shared, locals);
        self.forget_low(shared, locals);
    }

    /// Makes the steps of a process whose outcome is certain.
    fn go_on(&self, p: usize, shared: &mut Shared, my: &mut Local) {
        let bit = 1u16 << p;
        loop {
            let (turn, view) = (usize::from(my.turn), usize::from(my.view));
            let is_linked = shared.view_links[view] & bit != 0;
            let is_filled = shared.filled[view] >> my.entry & 1 != 0;
            let is_withdrawn = 2 * my.turn + shared.proposed[turn] != my.view + 1;
            let is_turn_over = shared.turn_links & bit == 0;
            match my.at {
                At::LinkViewSeq | At::SameForSeq | At::SetViewSeq | At::ReadViewSeq
                    if shared.view_seq[view] != 0 =>
                {
                    (my.at, my.s) = (At::LinkSeq, shared.view_seq[view]);
                }
                At::SameForSeq => my.at = At::SetViewSeq,
                At::LinkSeq if shared.seq + 1 != my.s => self.fill(my),
                At::SameForCurr | At::SetSeq if shared.seq_links & bit == 0 => self.fill(my),
                At::SameForCurr => my.at = At::SetSeq,
                At::High | At::Low | At::LinkReg | At::SameForReg | At::SetReg if is_filled => {
                    self.next_register(my);
                }
                At::SameForReg | At::SetReg if !is_linked => self.next_register(my),
                At::SameForReg => my.at = At::SetReg,
                At::LinkProposed | At::SameTurnAgain
                    if (is_withdrawn || is_turn_over) && !self.planted =>
                {
                    self.count(p, shared, my);
                }
                At::Withdraw if shared.proposed_links[turn] & bit == 0 && !self.planted => {
                    self.count(p, shared, my);
                }
                At::Copy | At::SameForCopy if my.helped > 2 => {
                    self.again(p, shared, my);
                }
                _ => return,
            }
        }
    }

    fn forget_links(&self, p: usize, shared: &mut Shared, my: &mut Local) {
        let others = !(1 << p);
        let uses_turn =
            TURNS.contains(&my.at) || (At::LinkViewSeq..=At::SameTurnAgain).contains(&my.at);
        if !uses_turn {
            shared.turn_links &= others;
        }
        if !matches!(my.at, At::SameForCurr | At::SetSeq) {
            shared.seq_links &= others;
        }
        if !matches!(my.at, At::SameTurnAgain | At::Withdraw) {
            for links in &mut shared.proposed_links[..self.form.processes] {
                *links &= others;
            }
        }
        let stores = matches!(
            my.at,
            At::SameForSeq | At::SetViewSeq | At::SameForReg | At::SetReg
        );
        if !stores {
            shared.view_links[usize::from(my.view)] &= others;
        }
        if has_view(my.at) {
            my.fills = false;
            if !has_number(my.at) {
                my.s = 0;
            }
            if matches!(my.at, At::Copy | At::SameForCopy) {
                my.turn = 0;
            }
        }
    }

    /// Keeps one of the two values of an entry: the low one if the high one is too new for the view, else the high one.
    fn choose(&self, my: &mut Local) {
        let is_new = my.high_seq >= my.s;
        match my.at {
            At::Low if is_new => (my.high, my.high_seq) = (false, my.s),
            At::Low => (my.at, my.high_seq) = (At::LinkReg, 0),
            At::LinkReg | At::SameForReg | At::SetReg => {
                let value = if is_new { my.low } else { my.high };
                (my.high, my.high_seq, my.low) = (value, 0, false);
            }
            _ => {}
        }
    }

    /// Clears a view that is dead. A view is in use while its scan is open and while a process fills it; its number is in
    /// use until it is filled.
    fn forget_view(&self, view: usize, shared: &mut Shared, locals: &[Local]) {
        let owner = &locals[view / 2];
        let is_own = owner.is_late && view == Self::own_view(view / 2, owner);
        let is_known = |my: &Local| has_view(my.at) && usize::from(my.view) == view;
        if !is_own && !locals.iter().any(is_known) {
            shared.view_seq[view] = 0;
            shared.regs[view] = 0;
            shared.filled[view] = 0;
            shared.view_links[view] = 0;
        } else if self.uses_views_once() && shared.filled[view] == self.form.entries {
            shared.view_seq[view] = 1;
        }
    }

    /// The sequence numbers that will still be compared, each with the entries that it will be compared for.
    fn numbers<'a>(
        &'a self,
        shared: &'a Shared,
        locals: &'a [Local],
    ) -> impl Iterator<Item = (u16, u8)> + 'a {
        let to_fill = |view: usize| self.form.entries & !shared.filled[view];
        let of_views = (0..2 * locals.len())
            .filter(move |&view| !self.uses_views_once() || to_fill(view) != 0)
            .map(move |view| (to_fill(view), shared.view_seq[view]))
            .filter(|(_, number)| *number != 0);
        let of_locals = locals
            .iter()
            .enumerate()
            .filter(|(_, my)| has_number(my.at))
            .map(move |(p, my)| {
                let is_current = shared.copied[p] == my.view + 1;
                let entries = if is_current {
                    to_fill(my.view.into())
                } else {
                    0
                };
                (entries, my.s)
            });
        of_views.chain(of_locals)
    }

    /// Clears the low value of an entry, unless its high value is, or will be, too new for some view in use.
    fn forget_low(&self, shared: &mut Shared, locals: &[Local]) {
        for (p, my) in locals.iter().enumerate() {
            let is_read = self
                .numbers(shared, locals)
                .any(|(entries, number)| entries >> p & 1 != 0 && number <= shared.high_seq[p]);
            let was_moved = my.at == At::SetHigh && my.s != shared.high_seq[p];
            if !is_read && !was_moved {
                shared.low &= !(1 << p);
            }
        }
    }

    /// Replaces each sequence number by its rank: how many of the numbers in use are not above it.
    fn renumber(&self, shared: &mut Shared, locals: &mut [Local]) {
        let mut counts = 1u64 << shared.seq;
        for (_, number) in self.numbers(shared, locals) {
            counts |= 1 << number;
        }
        let rank = |number: u8| (counts & (u64::MAX >> (63 - number))).count_ones() as u8;
        let once = self.uses_views_once();
        for view in 0..2 * locals.len() {
            let is_filled = once && shared.filled[view] == self.form.entries;
            if shared.view_seq[view] != 0 && !is_filled {
                shared.view_seq[view] = rank(shared.view_seq[view]);
            }
        }
        for (p, my) in locals.iter_mut().enumerate() {
            if self.form.keeps(p) {
                shared.high_seq[p] = rank(shared.high_seq[p]);
            }
            if has_number(my.at) || matches!(my.at, At::MoveLow | At::SetHigh) {
                my.s = rank(my.s);
            }
            if my.at == At::Low {
                my.high_seq = my.s;
            }
        }
        shared.seq = rank(shared.seq);
    }
}

/// Clears the values that a process has read for a register. It will not store them, because the view was initialised again
/// or the register is filled already.
fn give_up_value(my: &mut Local) {
    if my.at == At::Low {
        my.at = At::LinkReg;
    }
    (my.high, my.high_seq, my.low) = (false, 0, false);
}

/// Swaps the two views of a process, which differ only in which one was used last.
fn exchange_views(p: usize, shared: &mut Shared, locals: &mut [Local]) {
    let (first, second) = (2 * p, 2 * p + 1);
    shared.view_seq.swap(first, second);
    shared.regs.swap(first, second);
    shared.filled.swap(first, second);
    shared.view_links.swap(first, second);
    if shared.proposed[p] != 0 {
        shared.proposed[p] = 3 - shared.proposed[p];
    }
    let exchange = |view: &mut u8| {
        if usize::from(*view) / 2 == p {
            *view ^= 1;
        }
    };
    for copied in shared.copied.iter_mut().filter(|copied| **copied != 0) {
        *copied -= 1;
        exchange(copied);
        *copied += 1;
    }
    for my in locals.iter_mut().filter(|my| has_view(my.at)) {
        exchange(&mut my.view);
    }
    locals[p].second_view = false;
}
