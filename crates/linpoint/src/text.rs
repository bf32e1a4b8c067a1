//! Texts for people: times, sizes, and values that are too long for a sentence.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::Duration;

/// Values in a sentence are cut after this many characters. The history has them in full.
const LONGEST_IN_SENTENCE: usize = 80;

/// A number of bytes with a unit: `3.0 GiB`, `12 bytes`.
pub fn show_bytes(bytes: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", bytes as f64 / *size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// A time with a unit: `1.5 s`, `20.0 ms`.
pub fn show_duration(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 0.001 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

/// Which history of an input this is, of which the name is its number, counted from 0: ` (4th history)`.
pub(crate) fn position_of_history(name: &str) -> String {
    let Ok(number) = name.parse::<u64>() else {
        return String::new();
    };
    let position = u128::from(number) + 1;
    let ending = match (position % 10, position % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!(" ({position}{ending} history)")
}

/// The text, cut if it is too long for a sentence.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match beginning(text, LONGEST_IN_SENTENCE) {
        None => text.into(),
        Some(beginning) => format!("{beginning}…").into(),
    }
}

/// The text, cut after `longest` characters if it is longer; then it ends with its length.
pub(crate) fn shortened_to(text: &str, longest: usize) -> Cow<'_, str> {
    match beginning(text, longest) {
        None => text.into(),
        Some(beginning) => format!("{beginning}… ({} characters)", text.chars().count()).into(),
    }
}

/// The debug form of a value, cut after `longest` characters if it is longer. No more than that is made of it.
pub(crate) fn debug_text<T: fmt::Debug>(value: &T, longest: usize) -> String {
    let mut text = Beginning {
        text: String::new(),
        left: longest,
    };
    // The only error is that the text is longer.
    match write!(text, "{value:?}") {
        Ok(()) => text.text,
        Err(fmt::Error) => text.text + "…",
    }
}

/// Takes so many more characters.
struct Beginning {
    text: String,
    left: usize,
}

impl fmt::Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        match beginning(more, self.left) {
            None => {
                self.left -= more.chars().count();
                self.text += more;
                Ok(())
            }
            Some(beginning) => {
                self.text += beginning;
                self.left = 0;
                Err(fmt::Error)
            }
        }
    }
}

/// The first `longest` characters of a text that has more.
fn beginning(text: &str, longest: usize) -> Option<&str> {
    let (end, _) = text.char_indices().nth(longest)?;
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_have_positions() {
        for (name, position) in [
            ("0", " (1st history)"),
            ("1", " (2nd history)"),
            ("2", " (3rd history)"),
            ("3", " (4th history)"),
            ("10", " (11th history)"),
            ("111", " (112th history)"),
            ("122", " (123rd history)"),
            ("other", ""),
        ] {
            assert_eq!(position_of_history(name), position);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened_to("äöü", 3), "äöü");
        assert_eq!(shortened_to("äöüß", 2), "äö… (4 characters)");
        assert_eq!(debug_text(&[1, 2], 6), "[1, 2]");
        assert_eq!(debug_text(&[1, 2], 5), "[1, 2…");
        assert_eq!(debug_text(&"äöü", 2), "\"ä…");
        let long = "ä".repeat(LONGEST_IN_SENTENCE);
        assert_eq!(shortened(&long), long);
        assert_eq!(shortened(&format!("{long}ö")), format!("{long}…"));
    }

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(show_bytes(3 << 30), "3.0 GiB");
        assert_eq!(show_bytes(1023), "1023 bytes");
        assert_eq!(show_duration(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(show_duration(Duration::from_micros(20)), "20 µs");
    }
}
