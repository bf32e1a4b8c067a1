//! Packs columns into few bytes: numbers of variable length, compressed by DEFLATE and encoded in Base64.
//!
//! A page of a million operations opens fast because it is small, and because texts stay bytes until they are shown.
//! `page/data.js` reads this format.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::CompressionLevel;
use miniz_oxide::deflate::compress_to_vec;

use crate::text::shortened_to;

/// Texts by number, from 1 on; 0 means no text.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// The numbers of texts that were added by [`intern`](Self::intern).
    known: std::collections::HashMap<String, u32>,
}

/// Longer texts are cut after this many characters.
const LONGEST_TEXT: usize = 20_000;

impl Texts {
    /// Adds a text, which gets a new number.
    pub(crate) fn push(&mut self, text: &str) -> u32 {
        self.bytes
            .extend_from_slice(shortened_to(text, LONGEST_TEXT).as_bytes());
        self.ends.push(self.bytes.len());
        self.ends.len() as u32
    }

    /// Adds a text, unless it is known already, and returns its number.
    pub(crate) fn intern(&mut self, text: String) -> u32 {
        if let Some(&id) = self.known.get(&text) {
            return id;
        }
        let id = self.push(&text);
        self.known.insert(text, id);
        id
    }
}

/// A sequence of numbers, each in bytes of seven bits, the lowest bits first.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    bytes: Vec<u8>,
}

impl Packer {
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Adds numbers as differences from the number before. If all differences are equal, the difference is stored once.
    pub(crate) fn differences(&mut self, numbers: impl Iterator<Item = i64> + Clone) {
        let steps = numbers.clone().zip(numbers.clone().skip(1));
        let mut steps = steps.map(|(before, number)| number.wrapping_sub(before));
        if let (Some(first), Some(step)) = (numbers.clone().next(), steps.next())
            && steps.all(|other| other == step)
        {
            self.number(1);
            self.signed(first);
            self.signed(step);
            return;
        }
        self.number(0);
        let mut before = 0i64;
        for number in numbers {
            self.signed(number.wrapping_sub(before));
            before = number;
        }
    }

    /// Adds numbers of texts, of which many are 0. The others are stored as differences from the last one that is not 0.
    pub(crate) fn sparse(&mut self, numbers: &[u32]) {
        let mut before = 0;
        for &number in numbers {
            if number == 0 {
                self.number(0);
                continue;
            }
            self.number(zigzag(i64::from(number) - i64::from(before)) + 1);
            before = number;
        }
    }

    fn signed(&mut self, number: i64) {
        self.number(zigzag(number));
    }

    pub(crate) fn texts(&mut self, texts: &Texts) {
        self.number(texts.ends.len() as u64);
        let mut start = 0;
        for &end in &texts.ends {
            self.number((end - start) as u64);
            start = end;
        }
        self.bytes.extend_from_slice(&texts.bytes);
    }

    pub(crate) fn finish(self) -> String {
        let level = CompressionLevel::DefaultLevel as u8;
        STANDARD.encode(compress_to_vec(&self.bytes, level))
    }
}

/// Moves the sign of a number into the lowest bit.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads what [`Packer::differences`] wrote, as the page does.
    fn read_back(packer: Packer, count: i64) -> Vec<i64> {
        let bytes = STANDARD.decode(packer.finish()).expect("letters");
        let read = miniz_oxide::inflate::decompress_to_vec(&bytes).expect("compressed");
        let mut bytes = read.into_iter();
        let mut number = || {
            let (mut word, mut shift) = (0u64, 0);
            loop {
                let byte = bytes.next().expect("another byte");
                word |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return word;
                }
            }
        };
        let is_regular = number() == 1;
        let mut signed = || {
            let word = number();
            (word >> 1) as i64 ^ -((word & 1) as i64)
        };
        if is_regular {
            let (first, step) = (signed(), signed());
            return (0..count).map(|i| first + i * step).collect();
        }
        let mut before = 0i64;
        let next = |_| {
            before = before.wrapping_add(signed());
            before
        };
        let numbers = (0..count).map(next).collect();
        assert_eq!(bytes.next(), None);
        numbers
    }

    #[test]
    fn numbers_of_any_size_can_be_read_back() {
        let columns: [&[i64]; 6] = [
            &[0, 1, -1, 127, 128, -128, 1 << 40, i64::MAX, i64::MIN, 5],
            &[3, 5, 7, 9],
            &[4, 4, 4],
            &[7, 9],
            &[-7],
            &[],
        ];
        for numbers in columns {
            let mut packer = Packer::default();
            packer.differences(numbers.iter().copied());
            assert_eq!(read_back(packer, numbers.len() as i64), numbers);
        }
    }

    #[test]
    fn equal_texts_have_the_same_number() {
        let mut texts = Texts::default();
        assert_eq!(texts.intern("a".into()), 1);
        assert_eq!(texts.push("b"), 2);
        assert_eq!(texts.intern("a".into()), 1);
    }
}
