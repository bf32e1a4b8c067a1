//! Simple histories: two entries change once, from 0 to 1, and nothing else ever changes.
//!
//! An update that writes what its entry holds anyway cannot be noticed, so all that counts is, for each of the two entries,
//! the *first* update with 1, and the scans. Then a history is linearizable if and only if
//!
//! * no two scans return (0, 1) and (1, 0) (*no inversion*);
//! * no scan that begins after another one returned has a 0 where that had a 1 (*non-decreasing*);
//! * no scan returns 0 in an entry whose first update with 1 had finished before it began, nor 1 before that has begun, nor
//!   1 in one entry only although the first update of the *other* entry had finished before that of this one began
//!   (*appropriateness*).
//!
//! After Amram, Hayoun, Mizrahi and Weiss, *Polynomial-Time Verification and Testing of Implementations of the Snapshot Data
//! Structure* (DISC 2022), Theorem 10 and Lemma 14. Each condition is decided when a scan returns, from a state of constant
//! size and two bits for each open scan: [`Monitor`], a plain value that can be copied, compared and hashed.

/// One of the two entries that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first of them.
    First,
    /// The second.
    Second,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::First, Side::Second];

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// Scans that can be open at a time: each has a slot of its own below this while it is open.
pub const SLOTS: u32 = 64;

/// What happens, as far as it matters: which of nine things, as one of the lowest bits, and the slot of a scan above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimpleEvent(u16);

const UPDATE_CALLED: u16 = 0;
const UPDATE_RETURNED: u16 = 2;
const SCAN_CALLED: u16 = 4;
const SCAN_RETURNED: u16 = 5;
const SLOT: u16 = 9;

/// The events of scans.
const OF_SCANS: u16 = 0b11111 << SCAN_CALLED;

impl SimpleEvent {
    /// Anything that cannot matter: an update with 0, or of an entry that never changes.
    pub const OTHER: SimpleEvent = SimpleEvent(0);

    /// An update of this entry with 1 is called.
    pub fn update_called(side: Side) -> Self {
        SimpleEvent(1 << (UPDATE_CALLED + side as u16))
    }

    /// An update of this entry with 1 returns.
    pub fn update_returned(side: Side) -> Self {
        SimpleEvent(1 << (UPDATE_RETURNED + side as u16))
    }

    /// A scan is called; until it returns, no other one has its slot, which is below [`SLOTS`].
    pub fn scan_called(slot: u32) -> Self {
        debug_assert!(slot < SLOTS);
        SimpleEvent(1 << SCAN_CALLED | (slot as u16) << SLOT)
    }

    /// The scan in this slot returns, with 1 in these of the two entries.
    pub fn scan_returned(slot: u32, ones: [bool; 2]) -> Self {
        debug_assert!(slot < SLOTS);
        let result = u16::from(ones[0]) | u16::from(ones[1]) << 1;
        SimpleEvent(1 << (SCAN_RETURNED + result) | (slot as u16) << SLOT)
    }

    /// The event as an integer: for those who store many of them.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The slot of a scan as a bit; none for other events.
    fn slot_bit(self) -> u64 {
        u64::from(self.0 & OF_SCANS != 0) << (self.0 >> SLOT)
    }

    fn is_scan_called(self) -> bool {
        self.0 & 1 << SCAN_CALLED != 0
    }
}

/// How far the first update of an entry with 1 is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Progress {
    #[default]
    None,
    Open,
    Done,
}

/// What a scan returned that it cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// 0 in this entry, although an update of it with 1 had finished (appropriateness), or a scan that had returned 1 there
    /// (non-decreasing), before it began.
    Low(Side),
    /// 1 in this entry, although no update of it with 1 had begun (appropriateness).
    Future(Side),
    /// 1 in this entry only, although another scan returned 1 in the other one only (no inversion).
    Inversion(Side),
    /// 1 in this entry only, although the first update of the other one with 1 had finished before that of this one began
    /// (appropriateness).
    Order(Side),
}

impl Violation {
    /// What is wrong, in words, if the two entries that change have these numbers.
    pub fn sentence(self, first: usize, second: usize) -> String {
        let names = |side: Side| match side {
            Side::First => (first, second),
            Side::Second => (second, first),
        };
        match self {
            Violation::Low(side) => format!(
                "a scan returns 0 in entry {}, although before it began an update with 1 had finished or a scan had returned 1 there",
                names(side).0
            ),
            Violation::Future(side) => format!(
                "a scan returns 1 in entry {} before any update with 1 has begun",
                names(side).0
            ),
            Violation::Inversion(side) => {
                let (this, other) = names(side);
                format!(
                    "one scan returns 1 in entry {this} and 0 in entry {other}, another one 1 in entry {other} and 0 in entry {this}"
                )
            }
            Violation::Order(side) => {
                let (this, other) = names(side);
                format!(
                    "a scan returns 1 in entry {this} and 0 in entry {other}, although entry {other} had become 1 before the first update of entry {this} with 1 began"
                )
            }
        }
    }
}

/// Watches a simple history, event by event.
///
/// ```
/// use linpoint::engine::monitor::snapshot::simple::{Monitor, Side, SimpleEvent, Violation};
/// let mut monitor = Monitor::default();
/// monitor.step(SimpleEvent::update_called(Side::First))?;
/// monitor.step(SimpleEvent::update_returned(Side::First))?;
/// monitor.step(SimpleEvent::scan_called(7))?;
/// let stale = monitor.step(SimpleEvent::scan_returned(7, [false, false]));
/// assert_eq!(stale, Err(Violation::Low(Side::First)));
/// # Ok::<(), Violation>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Monitor {
    /// The first update of each entry with 1.
    first: [Progress; 2],
    /// The entry whose first update had finished before that of the other began.
    ahead: Option<Side>,
    /// Whether some scan returned 1 in each entry.
    seen: [bool; 2],
    /// The entry in which some scan returned 1, with 0 in the other.
    alone: Option<Side>,
    /// The slots of open scans.
    open: u64,
    /// Of these, the ones that must return 1 in each entry.
    must: [u64; 2],
}

impl Monitor {
    /// Takes the next event; an error if the history is not linearizable from here on.
    pub fn step(&mut self, event: SimpleEvent) -> Result<(), Violation> {
        let bit = event.slot_bit();
        for side in Side::BOTH {
            let l = side as usize;
            if event == SimpleEvent::update_called(side) && self.first[l] == Progress::None {
                self.first[l] = Progress::Open;
                if self.first[side.other() as usize] == Progress::Done {
                    self.ahead = Some(side.other());
                }
            } else if event == SimpleEvent::update_returned(side) && self.first[l] == Progress::Open
            {
                self.first[l] = Progress::Done;
            }
        }
        if event.is_scan_called() {
            self.open |= bit;
            for l in 0..2 {
                let must = bit * u64::from(self.needs(l));
                self.must[l] = self.must[l] & !bit | must;
            }
        } else if bit != 0 {
            let result = (event.0 & OF_SCANS).trailing_zeros() - u32::from(SCAN_RETURNED);
            self.judge(bit, [result & 1 != 0, result & 2 != 0])?;
            self.open &= !bit;
            self.must = self.must.map(|must| must & !bit);
        }
        Ok(())
    }

    /// Whether a scan that begins now must return 1 in an entry.
    fn needs(&self, l: usize) -> bool {
        self.first[l] == Progress::Done || self.seen[l]
    }

    fn judge(&mut self, bit: u64, ones: [bool; 2]) -> Result<(), Violation> {
        for side in Side::BOTH {
            let l = side as usize;
            if !ones[l] && self.must[l] & bit != 0 {
                return Err(Violation::Low(side));
            }
            if ones[l] && self.first[l] == Progress::None {
                return Err(Violation::Future(side));
            }
            if ones[l] && !ones[1 - l] {
                if self.alone == Some(side.other()) {
                    return Err(Violation::Inversion(side));
                }
                if self.ahead == Some(side.other()) {
                    return Err(Violation::Order(side));
                }
                self.alone = Some(side);
            }
            self.seen[l] |= ones[l];
        }
        Ok(())
    }

    /// The same state in normal form: states with the same form accept the same continuations.
    ///
    /// What no scan can run into any more is forgotten. For products of the monitor with the states of an algorithm.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        self.must = self.must.map(|must| must & self.open);
        // Whether some scan may still return 0 in an entry of which later scans must return 1.
        let late = |side: Side| self.open & !self.must[side as usize] != 0;
        // A result (0, 1) contradicts (1, 0), which only those return that may have 0 in the second entry; and so on.
        self.alone = self.alone.filter(|&side| late(side));
        self.ahead = self.ahead.filter(|&side| late(side));
        for l in 0..2 {
            self.seen[l] &= self.first[l] != Progress::Done;
        }
        self
    }

    /// Lets no scan fail for what it must return, but those in `slots`: watching one scanner at a time takes fewer states,
    /// and finds the same violations if all scanners are watched in turn.
    pub fn watch_only(&mut self, slots: u64) {
        self.must = self.must.map(|must| must & slots);
    }

    /// Exchanges the scans in two slots.
    pub fn exchange(&mut self, a: u32, b: u32) {
        let both: u64 = 1 << a | 1 << b;
        for slots in std::iter::once(&mut self.open).chain(&mut self.must) {
            if (*slots & both).count_ones() == 1 {
                *slots ^= both;
            }
        }
    }

    /// The state in parts, for those who store many: a number below [`Self::CODES`], then sets of slots.
    pub fn parts(&self) -> (u16, [u64; 3]) {
        let side = |side: Option<Side>| side.map_or(0, |side| 1 + side as u16);
        let digits = [
            self.first[0] as u16,
            self.first[1] as u16,
            side(self.ahead),
            side(self.alone),
        ];
        let code = digits.iter().fold(0, |code, digit| code * 3 + digit);
        let seen = u16::from(self.seen[0]) | u16::from(self.seen[1]) << 1;
        (code * 4 + seen, [self.open, self.must[0], self.must[1]])
    }

    /// How many numbers [`Self::parts`] may have.
    pub const CODES: u16 = 3 * 3 * 3 * 3 * 4;

    /// The state with these [parts](Self::parts).
    pub fn from_parts(code: u16, [open, first, second]: [u64; 3]) -> Self {
        let progress =
            |digit: u16| [Progress::None, Progress::Open, Progress::Done][digit as usize];
        let side = |digit: u16| [None, Some(Side::First), Some(Side::Second)][digit as usize];
        let digit = |power: u16| code / 4 / power % 3;
        Monitor {
            first: [progress(digit(27)), progress(digit(9))],
            ahead: side(digit(3)),
            alone: side(digit(1)),
            seen: [code & 1 != 0, code & 2 != 0],
            open,
            must: [first, second],
        }
    }

    /// The slots of the open scans, as bits.
    pub fn open(&self) -> u64 {
        self.open
    }

    /// The events, as bits, that change anything or may be wrong while all open scans must return the same.
    fn alerts(&self) -> u16 {
        let mut alerts = 0;
        for side in Side::BOTH {
            match self.first[side as usize] {
                Progress::None => alerts |= SimpleEvent::update_called(side).0,
                Progress::Open => alerts |= SimpleEvent::update_returned(side).0,
                Progress::Done => {}
            }
        }
        for ones in [[false, false], [true, false], [false, true], [true, true]] {
            let mut after = *self;
            after.must = [0, 1].map(|l| u64::from(self.needs(l)));
            if after.judge(1, ones).is_err() || (after.seen, after.alone) != (self.seen, self.alone)
            {
                alerts |= SimpleEvent::scan_returned(0, ones).0;
            }
        }
        alerts
    }

    /// Whether all open scans must return what a scan must that begins now.
    fn is_settled(&self) -> bool {
        (0..2).all(|l| !self.needs(l) || self.open & !self.must[l] == 0)
    }
}

/// Events that are looked at together.
const CHUNK: usize = 256;

/// Decides a whole history whose scans use the slots below `slots`; the first event that cannot be explained, by its place, if
/// there is one.
///
/// The state changes at most eight times in any history, however long. Between these, once the scans are gone that began
/// before the last change, an event is either always fine or always worth a look, so most are merely passed over.
///
/// ```
/// use linpoint::engine::monitor::snapshot::simple::{Side, SimpleEvent, Violation, decide};
/// let events = [SimpleEvent::scan_called(0), SimpleEvent::scan_returned(0, [false, true])];
/// assert_eq!(decide(&events, 1), Err((1, Violation::Future(Side::Second))));
/// ```
pub fn decide(events: &[SimpleEvent], slots: u32) -> Result<(), (usize, Violation)> {
    let mut monitor = Monitor::default();
    let mut at = 0;
    while at < events.len() {
        if monitor.is_settled() {
            let quiet = quiet_events(&events[at..], monitor.alerts());
            let passed = &events[at..at + quiet];
            at += quiet;
            if at == events.len() {
                break;
            }
            monitor.open = open_after(monitor.open, passed, slots);
            for l in 0..2 {
                monitor.must[l] = monitor.open * u64::from(monitor.needs(l));
            }
        }
        monitor.step(events[at]).map_err(|wrong| (at, wrong))?;
        at += 1;
    }
    Ok(())
}

/// The slots of the scans that are open after some events, if those of `open` were before: the last event of a slot tells.
fn open_after(mut open: u64, passed: &[SimpleEvent], slots: u32) -> u64 {
    let mut unknown = u64::MAX >> (SLOTS - slots.clamp(1, SLOTS));
    for event in passed.iter().rev() {
        let bit = event.slot_bit() & unknown;
        unknown &= !bit;
        open = open & !bit | (bit * u64::from(event.is_scan_called()));
        if unknown == 0 {
            break;
        }
    }
    open
}

/// How many events at the beginning are none of `alerts`.
fn quiet_events(events: &[SimpleEvent], alerts: u16) -> usize {
    let is_quiet =
        |chunk: &[SimpleEvent]| chunk.iter().fold(0, |all, event| all | event.0) & alerts == 0;
    let chunks = events.chunks(CHUNK).take_while(|chunk| is_quiet(chunk));
    let quiet: usize = chunks.map(<[SimpleEvent]>::len).sum();
    let rest = events[quiet..].iter();
    quiet + rest.take_while(|event| event.0 & alerts == 0).count()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn all_events(slots: u32) -> Vec<SimpleEvent> {
        let mut all = vec![SimpleEvent::OTHER];
        for side in Side::BOTH {
            all.extend([
                SimpleEvent::update_called(side),
                SimpleEvent::update_returned(side),
            ]);
        }
        for slot in 0..slots {
            all.push(SimpleEvent::scan_called(slot));
            for result in 0..4 {
                all.push(SimpleEvent::scan_returned(
                    slot,
                    [result & 1 != 0, result & 2 != 0],
                ));
            }
        }
        all
    }

    /// Whether an event can happen in a state: no slot is used twice, no update returns that was not called.
    fn can_happen(monitor: &Monitor, event: SimpleEvent) -> bool {
        let is_open = monitor.open & event.slot_bit() != 0;
        let returns = Side::BOTH.into_iter().any(|side| {
            event == SimpleEvent::update_returned(side)
                && monitor.first[side as usize] == Progress::None
        });
        !returns && (event.slot_bit() == 0 || is_open != event.is_scan_called())
    }

    /// All states that can be reached, with `form` applied to each, and what follows.
    fn reachable(form: fn(Monitor) -> Monitor) -> HashSet<Monitor> {
        let events = all_events(2);
        let mut found = HashSet::from([Monitor::default()]);
        let mut next = vec![Monitor::default()];
        while let Some(monitor) = next.pop() {
            for &event in events.iter().filter(|&&event| can_happen(&monitor, event)) {
                let mut after = monitor;
                if after.step(event).is_ok() && found.insert(form(after)) {
                    next.push(form(after));
                }
            }
        }
        found
    }

    #[test]
    fn states_can_be_taken_apart() {
        for monitor in reachable(|monitor| monitor) {
            let (code, slots) = monitor.parts();
            assert!(code < Monitor::CODES);
            assert_eq!(Monitor::from_parts(code, slots), monitor);
            let mut exchanged = monitor;
            exchanged.exchange(0, 1);
            let swapped = slots.map(|slots| slots >> 1 & 1 | (slots & 1) << 1);
            assert_eq!(exchanged.parts(), (code, swapped));
        }
    }

    #[test]
    fn the_normal_form_changes_no_verdict() {
        let events = all_events(2);
        let all = reachable(|monitor| monitor);
        let mut of_form: HashMap<Monitor, Vec<Option<Monitor>>> = HashMap::new();
        for monitor in &all {
            let after: Vec<Option<Monitor>> = events
                .iter()
                .filter(|&&event| can_happen(monitor, event))
                .map(|&event| {
                    let mut after = *monitor;
                    after.step(event).is_ok().then(|| after.normalized())
                })
                .collect();
            let known = of_form.entry(monitor.normalized()).or_insert(after.clone());
            assert_eq!(*known, after, "{monitor:?}");
        }
        let normal = reachable(Monitor::normalized);
        assert!(
            normal.len() < all.len(),
            "{} of {}",
            normal.len(),
            all.len()
        );
        assert_eq!(normal, of_form.into_keys().collect());
    }

    #[test]
    fn passing_over_quiet_events_changes_nothing() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let choices = all_events(3);
        let mut lengths = HashSet::new();
        for _ in 0..3000 {
            let mut monitor = Monitor::default();
            let (mut events, mut wrong) = (Vec::new(), None);
            // Mostly what cannot be wrong, so that histories get long.
            for at in 0..rng.random_range(0..2000) {
                let event = choices[rng.random_range(0..choices.len())];
                if !can_happen(&monitor, event) {
                    events.push(SimpleEvent::OTHER);
                    continue;
                }
                let mut after = monitor;
                match after.step(event) {
                    Err(violation) if rng.random_range(0..100) == 0 => {
                        events.push(event);
                        wrong = Some((at, violation));
                        break;
                    }
                    Err(_) => events.push(SimpleEvent::OTHER),
                    Ok(()) if event.0 & 0b11 != 0 && rng.random_range(0..50) != 0 => {
                        events.push(SimpleEvent::OTHER);
                    }
                    Ok(()) => {
                        monitor = after;
                        events.push(event);
                    }
                }
            }
            assert_eq!(decide(&events, 3), wrong.map_or(Ok(()), Err));
            lengths.insert((wrong.is_some(), events.len() > CHUNK));
        }
        assert_eq!(lengths.len(), 4);
    }
}
