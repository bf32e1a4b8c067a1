//! Times of logs: integers, decimals and RFC 3339, kept exactly.
//!
//! Times with a unit become nanoseconds. A time that is more precise than that becomes the nanosecond before it where an
//! operation is called, and the one after it where an operation returns: intervals only grow, so an operation is never ordered
//! before another one because of a rounded digit.

use std::fmt;

use serde_json::value::RawValue;

use super::super::number;
use crate::error::did_you_mean;
use crate::value::Value;

/// The unit of times that are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl Unit {
    const ALL: [(&'static str, Unit); 4] = [
        ("ns", Unit::Nanoseconds),
        ("us", Unit::Microseconds),
        ("ms", Unit::Milliseconds),
        ("s", Unit::Seconds),
    ];

    /// The unit with this name.
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, unit)| unit).ok_or_else(|| {
            let meant = did_you_mean(name, Self::ALL.map(|(known, _)| known));
            format!("unknown unit of time {name:?}; {meant}known are ns, us, ms, s")
        })
    }

    /// How many digits after the point of such a time are nanoseconds.
    fn digits(self) -> usize {
        match self {
            Unit::Nanoseconds => 0,
            Unit::Microseconds => 3,
            Unit::Milliseconds => 6,
            Unit::Seconds => 9,
        }
    }
}

/// The scale of times. All times of a history have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Numbers of an unknown unit, as they are in the log.
    Plain,
    /// Nanoseconds.
    Nanoseconds,
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Plain => "a number without a unit",
            Scale::Nanoseconds => "a date",
        })
    }
}

/// A time between two integers, which are equal unless it is more precise than a nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) earliest: i64,
    pub(super) latest: i64,
    pub(super) scale: Scale,
}

impl Time {
    /// The time that is so much later.
    pub(super) fn after(self, length: Time) -> Result<Time, String> {
        self.moved(
            self.earliest.checked_add(length.earliest),
            self.latest.checked_add(length.latest),
        )
    }

    /// The time that is so much earlier.
    pub(super) fn before(self, length: Time) -> Result<Time, String> {
        self.moved(
            self.earliest.checked_sub(length.latest),
            self.latest.checked_sub(length.earliest),
        )
    }

    fn moved(self, earliest: Option<i64>, latest: Option<i64>) -> Result<Time, String> {
        let moved = earliest.zip(latest).map(|(earliest, latest)| Time {
            earliest,
            latest,
            ..self
        });
        moved.ok_or_else(|| "the time with its `duration` does not fit 64 bits".to_owned())
    }
}

/// The time that a recorded value stands for.
pub(super) fn parse(value: &Value, unit: Option<Unit>) -> Result<Time, String> {
    let text = match value {
        Value::Int(time) => return number(&time.to_string(), unit),
        Value::Number(text) => return number(text, unit),
        Value::Text(text) => text.trim(),
        other => return Err(format!("{other} is {}, not a time", other.kind_name())),
    };
    if is_number(text) {
        return number(&number::exact(text).to_string(), unit);
    }
    let (earliest, latest) = rfc3339(text).ok_or_else(|| {
        format!(
            "{text:?} is no time: times are numbers, or dates such as 2026-11-17T21:40:00.123456Z"
        )
    })??;
    Ok(Time {
        earliest,
        latest,
        scale: Scale::Nanoseconds,
    })
}

/// How far a clock may be off: `5ms`, in nanoseconds. It is rounded up.
pub(super) fn parse_skew(text: &str) -> Result<i64, String> {
    let skew = length_of_text(text)?;
    if skew.earliest < 0 {
        return Err(format!(
            "{text:?} is negative: clocks are off by at least 0"
        ));
    }
    Ok(skew.latest)
}

/// How long something took, between two lengths: a number, or text with a unit, such as `1.5ms`.
pub(super) fn parse_length(value: &Value, unit: Option<Unit>) -> Result<Time, String> {
    let length = match value {
        Value::Text(text) if !is_number(text.trim()) => length_of_text(text.trim())?,
        _ => parse(value, unit)?,
    };
    match length.earliest < 0 {
        true => Err(format!("{value} is negative: nothing takes less than 0")),
        false => Ok(length),
    }
}

/// A length of time with its unit, in nanoseconds.
fn length_of_text(text: &str) -> Result<Time, String> {
    let wrong = || format!("{text:?} is no length of time, such as 5ms, 100us or 2s");
    let digits = text.find(char::is_alphabetic).ok_or_else(wrong)?;
    let (amount, unit) = text.split_at(digits);
    let unit = match unit {
        // As Go writes it; there are two letters that look like this.
        "\u{b5}s" | "\u{3bc}s" => Unit::Microseconds,
        _ => Unit::parse(unit)?,
    };
    let amount = amount.trim();
    if !is_number(amount) {
        return Err(wrong());
    }
    number(&number::exact(amount).to_string(), Some(unit))
}

/// Whether `text` is a number of JSON.
fn is_number(text: &str) -> bool {
    let begins = |c: char| c == '-' || c.is_ascii_digit();
    text.starts_with(begins) && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The time that a number in its normal form stands for.
fn number(text: &str, unit: Option<Unit>) -> Result<Time, String> {
    let too_large = || format!("the time {text} does not fit 64 bits of nanoseconds");
    let Some(unit) = unit else {
        let time = text.parse().map_err(|_| match text.contains('.') {
            true => format!(
                "the time {text} has a fraction: say the unit of times, such as unit = \"s\""
            ),
            false => format!("the time {text} does not fit 64 bits"),
        })?;
        return Ok(Time {
            earliest: time,
            latest: time,
            scale: Scale::Plain,
        });
    };
    if text.contains(['e', 'E']) {
        // Only numbers with hundreds of digits have an exponent in their normal form.
        return Err(too_large());
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let kept = &fraction[..fraction.len().min(unit.digits())];
    let is_exact = fraction.len() == kept.len();
    let padding = "0".repeat(unit.digits() - kept.len());
    // Towards zero; what was cut off has at least one digit that is not 0, since this is the normal form.
    let towards_zero: i64 = format!("{whole}{kept}{padding}")
        .parse()
        .map_err(|_| too_large())?;
    let away = match (is_exact, text.starts_with('-')) {
        (true, _) => Some(towards_zero),
        (false, true) => towards_zero.checked_sub(1),
        (false, false) => towards_zero.checked_add(1),
    };
    let away = away.ok_or_else(too_large)?;
    Ok(Time {
        earliest: towards_zero.min(away),
        latest: towards_zero.max(away),
        scale: Scale::Nanoseconds,
    })
}

/// The nanoseconds since 1970 of a date as in RFC 3339, from below and from above; `None` if this is no such date. A blank may stand in
/// place of the `T`, a comma in place of the point, and a date without an offset is one in UTC.
fn rfc3339(text: &str) -> Option<Result<(i64, i64), String>> {
    let digits = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range)?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(())?;
        part.parse().ok()
    };
    let bytes = text.as_bytes();
    let marks = [
        (4, b"-".as_slice()),
        (7, b"-"),
        (10, b"Tt "),
        (13, b":"),
        (16, b":"),
    ];
    let fits = |&(at, marks): &(usize, &[u8])| bytes.get(at).is_some_and(|b| marks.contains(b));
    marks.iter().all(fits).then_some(())?;
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
    let rest = &text[19..];
    let (fraction, offset) = match rest.strip_prefix(['.', ',']) {
        Some(after) => {
            let end = after
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(after.len());
            after.split_at(end)
        }
        None => ("0", rest),
    };
    let offset_minutes = match offset.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let at = text.len() - 5;
            let (hours, minutes) = (digits(at..at + 2)?, digits(at + 3..at + 5)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let minutes = hours * 60 + minutes;
            if *sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    let is_date = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    // 60 is a leap second.
    if !is_date || hour > 23 || minute > 59 || second > 60 || fraction.is_empty() {
        return None;
    }
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes)
        * 60
        + second;
    let nanoseconds = number(
        &number::exact(&format!("0.{fraction}")).to_string(),
        Some(Unit::Seconds),
    );
    Some(nanoseconds.and_then(|within| {
        let at = |nanoseconds: i64| seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds);
        at(within.earliest)
            .zip(at(within.latest))
            .ok_or_else(|| format!("{text:?} is out of range: dates are those from 1678 to 2261"))
    }))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March on, so that the leap day is the
/// last day of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let days_before_month = (153 * months_since_march + 2) / 5;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    /// From 0000-03-01 to 1970-01-01.
    const DAYS_TO_1970: i64 = 719_468;
    365 * year + leap_days + days_before_month + day - 1 - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Result<(i64, i64), String> {
        parse(&text.into(), None).map(|time| (time.earliest, time.latest))
    }

    fn in_unit(text: &str, unit: Unit) -> Result<(i64, i64), String> {
        parse(&text.into(), Some(unit)).map(|time| (time.earliest, time.latest))
    }

    #[test]
    fn dates_are_nanoseconds() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999999999Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
            ("2026-11-17T21:40:00.123456789Z", 1_794_951_600_123_456_789),
            (
                "2026-11-17T23:40:00.123456789+02:00",
                1_794_951_600_123_456_789,
            ),
            ("2026-11-17 21:40:00.123456789", 1_794_951_600_123_456_789),
            ("2100-03-01T00:00:00Z", 4_107_542_400_000_000_000),
        ];
        for (text, time) in cases {
            assert_eq!(at(text), Ok((time, time)), "{text}");
        }
        let precise = at("1970-01-01T00:00:00.0000000015Z");
        assert_eq!(precise, Ok((1, 2)), "rounded outwards");
        for text in [
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01",
            "2026-01-01T00:00:00+0200",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00-02:60",
            "yesterday",
            "",
        ] {
            assert!(at(text).unwrap_err().contains("is no time"), "{text}");
        }
        assert!(
            at("9999-01-01T00:00:00Z")
                .unwrap_err()
                .contains("out of range")
        );
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(at("17"), Ok((17, 17)));
        let nanoseconds = "1794951600.123456789";
        let time = 1_794_951_600_123_456_789;
        assert_eq!(in_unit(nanoseconds, Unit::Seconds), Ok((time, time)));
        assert_eq!(in_unit("1.5", Unit::Nanoseconds), Ok((1, 2)));
        assert_eq!(in_unit("-1.5", Unit::Nanoseconds), Ok((-2, -1)));
        assert_eq!(
            in_unit("2e3", Unit::Milliseconds),
            Ok((2_000_000_000, 2_000_000_000))
        );
        assert_eq!(in_unit("-0.001", Unit::Milliseconds), Ok((-1000, -1000)));
        let reason = at("1.5").unwrap_err();
        assert!(reason.contains("say the unit of times"), "{reason}");
        for text in ["9223372036854775808", "1e30", "1e5000"] {
            assert!(
                in_unit(text, Unit::Nanoseconds)
                    .unwrap_err()
                    .contains("64 bits")
            );
        }
        assert_eq!(
            parse(&true.into(), None).unwrap_err(),
            "true is a truth value, not a time"
        );
    }

    #[test]
    fn skews_have_a_unit() {
        assert_eq!(parse_skew("5ms"), Ok(5_000_000));
        assert_eq!(parse_skew("0.5 us"), Ok(500));
        assert_eq!(parse_skew("0.1ns"), Ok(1), "rounded up");
        // The sign for micro, and the Greek letter.
        assert_eq!(parse_skew("12\u{b5}s"), Ok(12_000));
        assert_eq!(parse_skew("12\u{3bc}s"), Ok(12_000));
        for text in ["5", "ms", "-1ms", "5 minutes", "1e3ms"] {
            assert!(parse_skew(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn consecutive_days_are_consecutive(days in 0i64..100_000) {
            // Walks the calendar day by day from a random year on.
            let (mut year, mut month, mut day) = (1700 + days % 500, 1, 1);
            let first = days_since_1970(year, month, day);
            for passed in 0..800 {
                prop_assert_eq!(days_since_1970(year, month, day), first + passed);
                day += 1;
                if day > days_of_month(year, month) {
                    (day, month) = (1, month + 1);
                }
                if month > 12 {
                    (month, year) = (1, year + 1);
                }
            }
        }
    }
}
