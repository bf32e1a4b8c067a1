//! Times that are fractions, written as `1.5`, `15e-1` or `3/2`, compared exactly.

use std::cmp::Ordering;

/// A rational number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rational {
    numerator: i64,
    /// Above zero.
    denominator: u64,
}

impl Rational {
    /// The number that `text` stands for: an integer, a decimal such as `-1.5` or `1.7e+09`, or a fraction such as `3/2`. `None` if it
    /// is no number, or has more digits than 64 bits hold.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some((numerator, denominator)) = text.split_once('/') {
            return Some(Rational {
                numerator: numerator.parse().ok()?,
                denominator: denominator.parse().ok().filter(|&number| number > 0)?,
            });
        }
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()?;
        let places = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let power = places.unsigned_abs();
        Some(match places {
            _ if digits == 0 => Rational {
                numerator: 0,
                denominator: 1,
            },
            0.. => Rational {
                numerator: digits.checked_mul(10i64.checked_pow(power)?)?,
                denominator: 1,
            },
            ..0 => Rational {
                numerator: digits,
                denominator: 10u64.checked_pow(power)?,
            },
        })
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        // Products of 64 bits and 64 bits fit.
        let times = |a: i64, b: u64| i128::from(a) * i128::from(b);
        let (left, right) = (
            times(self.numerator, other.denominator),
            times(other.numerator, self.denominator),
        );
        left.cmp(&right)
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rational {}

/// Places in the order of times; equal times have the same place.
pub(super) struct Places(Vec<Rational>);

impl Places {
    pub(super) fn of(times: impl Iterator<Item = Rational>) -> Self {
        let mut times: Vec<Rational> = times.collect();
        times.sort_unstable();
        times.dedup();
        Places(times)
    }

    /// The place of the time that `text` stands for, if it is one of them.
    pub(super) fn of_text(&self, text: &str) -> Option<i64> {
        let place = self.0.binary_search(&Rational::parse(text)?).ok()?;
        i64::try_from(place).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Rational {
        Rational::parse(text).unwrap()
    }

    #[test]
    fn fractions_are_compared_exactly() {
        assert_eq!(number("1.5"), number("3/2"));
        assert_eq!(number("1.50"), number("6/4"));
        assert_eq!(number("-2"), number("-2.0"));
        assert!(number("1/3") > number("0.333333333333333333"));
        assert_eq!(number("1.5e3"), number("1500"));
        assert_eq!(number("-25E-1"), number("-5/2"));
        assert_eq!(number("0e99"), number("0.00"));
        // As C and awk print the time of a clock.
        assert!(number("1.700000000123456788e+09") < number("1700000000.123456789"));
        assert!(number("-0.5") < number("-0.499"));
        // Floating point cannot distinguish these.
        assert!(number("1700000000.123456788") < number("1700000000.123456789"));
        assert!(number("9007199254740992.1") < number("9007199254740992.2"));
        assert!(number("9223372036854775806/9223372036854775807") < number("1"));
    }

    #[test]
    fn what_cannot_be_held_is_no_number() {
        let wrong = [
            "",
            "x",
            "1.",
            ".",
            "1/0",
            "1/-2",
            "1.x",
            "1e",
            "1e3.5",
            "e3",
            "1e19",
            "1e-20",
            "1.5/2",
            "99999999999999999999",
            "0.12345678901234567891",
        ];
        for text in wrong {
            assert!(Rational::parse(text).is_none(), "{text}");
        }
    }
}
