//! Packs states into bits: one layout function of an algorithm both packs and unpacks its variables.

/// Visits the variables of a state, one after the other, with the number of bits that each takes.
///
/// An algorithm writes its layout once, and it is used in both directions: to copy the variables into words, and to set
/// them from words. Invariant: a layout visits the same variables with the same widths, whatever values they have.
pub trait Bits {
    /// Visits a number below 2^`width`.
    fn number(&mut self, value: &mut u64, width: u32);

    /// Visits a small number below 2^`width`.
    fn int(&mut self, value: &mut u8, width: u32) {
        let mut number = u64::from(*value);
        self.number(&mut number, width);
        *value = number as u8;
    }

    /// Visits a set of numbers below `width`, as bits.
    fn set(&mut self, value: &mut u16, width: u32) {
        let mut number = u64::from(*value);
        self.number(&mut number, width);
        *value = number as u16;
    }

    /// Visits a subset of `within`, as bits: one bit for each member of `within`.
    fn subset(&mut self, value: &mut u16, within: u16) {
        assert!(
            *value & !within == 0,
            "a set has members outside its layout"
        );
        let members = || {
            let rest = |rest: &u16| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
            let all = std::iter::successors(Some(within).filter(|&all| all != 0), rest);
            all.map(u16::trailing_zeros).zip(0..)
        };
        let mut number = members().fold(0, |all, (member, place)| {
            all | u64::from(*value >> member & 1) << place
        });
        self.number(&mut number, within.count_ones());
        *value = members().fold(0, |all, (member, place)| {
            all | ((number >> place & 1) as u16) << member
        });
    }

    /// Visits a place in the program, declared by [`places!`](crate::places).
    fn place<P: Place>(&mut self, value: &mut P) {
        let mut number = value.number() as u64;
        self.number(&mut number, width(P::ALL.len()));
        *value = P::ALL[number as usize];
    }

    /// Visits a truth value.
    fn flag(&mut self, value: &mut bool) {
        let mut number = u64::from(*value);
        self.number(&mut number, 1);
        *value = number != 0;
    }
}

/// A place in a program: the value of the program counter of a process.
pub trait Place: Copy + 'static {
    /// All places of the program.
    const ALL: &'static [Self];
    /// The index of this place in `ALL`.
    fn number(self) -> usize;
}

/// Declares the places of a program as an enumeration that can be packed into bits. The first place is the default.
///
/// ```
/// linpoint::places! {
///     /// Where a process is.
///     pub enum At { Idle, Read, Write }
/// }
/// assert_eq!(At::default(), At::Idle);
/// ```
#[macro_export]
macro_rules! places {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $first:ident $(, $place:ident)* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        $vis enum $name { #[default] $first $(, $place)* }

        impl $crate::explore::Place for $name {
            const ALL: &'static [Self] = &[$name::$first $(, $name::$place)*];
            fn number(self) -> usize { self as usize }
        }
    };
}

/// The number of bits that the numbers below `count` need.
pub fn width(count: usize) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

/// Counts the bits of a layout.
#[derive(Debug, Default)]
pub(crate) struct Measure(pub(crate) u32);

impl Bits for Measure {
    fn number(&mut self, _: &mut u64, width: u32) {
        self.0 += width;
    }
}

/// Packs variables into words, which are zero at first.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    words: &'a mut [u64],
    at: u32,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(words: &'a mut [u64]) -> Self {
        words.fill(0);
        Writer { words, at: 0 }
    }
}

impl Bits for Writer<'_> {
    fn number(&mut self, value: &mut u64, width: u32) {
        // A value that is cut would make two different states equal, and the exploration would prove nothing.
        assert!(
            width >= 64 || *value >> width == 0,
            "{value} does not fit into {width} bits"
        );
        if width == 0 {
            return;
        }
        let (word, shift) = ((self.at / 64) as usize, self.at % 64);
        self.words[word] |= *value << shift;
        if shift + width > 64 {
            self.words[word + 1] |= *value >> (64 - shift);
        }
        self.at += width;
    }
}

/// Unpacks variables from words.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    words: &'a [u64],
    at: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Reader { words, at: 0 }
    }
}

impl Bits for Reader<'_> {
    fn number(&mut self, value: &mut u64, width: u32) {
        if width == 0 {
            *value = 0;
            return;
        }
        let (word, shift) = ((self.at / 64) as usize, self.at % 64);
        let mut bits = self.words[word] >> shift;
        if shift + width > 64 {
            bits |= self.words[word + 1] << (64 - shift);
        }
        *value = if width == 64 {
            bits
        } else {
            bits & ((1 << width) - 1)
        };
        self.at += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(state: &mut (u8, u64, u16, bool, u16), bits: &mut impl Bits) {
        bits.int(&mut state.0, 5);
        bits.number(&mut state.1, 64);
        bits.subset(&mut state.2, 0b1010_0100);
        bits.flag(&mut state.3);
        bits.set(&mut state.4, 9);
    }

    #[test]
    fn what_is_packed_is_unpacked_across_words() {
        let mut state = (29, 0xdead_beef_0123_4567, 0b1000_0100, true, 0b1_0101_0101);
        let mut measure = Measure::default();
        layout(&mut state, &mut measure);
        assert_eq!(measure.0, 5 + 64 + 3 + 1 + 9);
        let mut words = [u64::MAX; 2];
        layout(&mut state, &mut Writer::new(&mut words));
        let mut read = (0, 0, 0, false, 0);
        layout(&mut read, &mut Reader::new(&words));
        assert_eq!(read, state);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn nothing_is_cut() {
        Writer::new(&mut [0]).int(&mut 8, 3);
    }

    #[test]
    fn widths() {
        assert_eq!([1, 2, 3, 4, 5, 11].map(width), [0, 1, 2, 2, 3, 4]);
    }
}
