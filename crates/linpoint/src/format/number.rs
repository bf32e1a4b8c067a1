//! One form for each number, however it is written: `1000`, `1e3` and `1000.0` are the same value. Times are integers.

use crate::value::Value;

/// Numbers with more digits than this are written with an exponent.
const MOST_DIGITS: i64 = 400;

/// The number that the well-formed JSON number `text` stands for: an integer if it is one of 64 bits, and its exact decimal
/// digits otherwise.
pub(super) fn exact(text: &str) -> Value {
    if let Ok(integer) = text.parse() {
        return Value::Int(integer);
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = format!("{whole}{fraction}");
    let digits = all_digits.trim_start_matches('0').trim_end_matches('0');
    if digits.is_empty() {
        return Value::Int(0);
    }
    let zeros = all_digits.len() - all_digits.trim_end_matches('0').len();
    let exponent = exponent.parse::<i64>().ok().and_then(|exponent| {
        let shift = zeros as i64 - fraction.len() as i64;
        exponent.checked_add(shift)
    });
    let Some(exponent) = exponent else {
        // No two such numbers are told to be equal unless they are written alike.
        return Value::number(text);
    };
    let digits_before_point = exponent.saturating_add(digits.len() as i64);
    let (most, count) = (MOST_DIGITS, digits.len() as i64);
    let unsigned = match digits_before_point {
        before if before > most || before < -most || count > most => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{}", before.saturating_sub(1))
        }
        before if exponent >= 0 => format!("{digits}{}", "0".repeat((before - count) as usize)),
        before if before > 0 => {
            let (whole, fraction) = digits.split_at(before as usize);
            format!("{whole}.{fraction}")
        }
        before => format!("0.{}{digits}", "0".repeat(-before as usize)),
    };
    let text = format!("{sign}{unsigned}");
    text.parse()
        .map_or_else(|_| Value::number(text), Value::Int)
}

/// The time in the field `name` of a record; `None` if the record tells none.
pub(super) fn time(name: &str, recorded: Option<&Value>) -> Result<Option<i64>, String> {
    match recorded {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Int(time)) => Ok(Some(*time)),
        Some(other) => Err(no_time(name, &other.to_string())),
    }
}

/// Says that `text`, in the field `name`, is no time.
pub(super) fn no_time(name: &str, text: &str) -> String {
    let reason = format!("{name} must be a 64-bit integer, not {text}");
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match is_number && text.contains(['.', 'e', 'E']) {
        true => format!(
            "{reason}: times are integers, such as nanoseconds since the start of the run; multiply times in seconds by \
             1000000000 and round them down for calls, up for returns"
        ),
        false => reason,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_equal_however_they_are_written() {
        let cases: &[(&[&str], &str)] = &[
            (
                &["1000", "1e3", "1E+3", "1000.0", "0.1e4", "10000e-1"],
                "1000",
            ),
            (&["0", "-0", "0.00", "0e7", "-0e-9999999999999999999"], "0"),
            (&["1.5", "1.50", "15e-1", "0.15E1"], "1.5"),
            (&["-0.001", "-1e-3", "-0.0010"], "-0.001"),
            (
                &["9223372036854775807", "9223372036854775807.0"],
                "9223372036854775807",
            ),
            (
                &["9223372036854775808", "9223372036854775808.0"],
                "9223372036854775808",
            ),
            (&["1e1000", "10e999", "0.1e1001"], "1e1000"),
            (&["1.25e-1000", "125e-1002"], "1.25e-1000"),
            (&["1e99999999999999999999"], "1e99999999999999999999"),
        ];
        for (written, shown) in cases {
            for text in *written {
                assert_eq!(exact(text), exact(written[0]), "{text}");
                assert_eq!(exact(text).to_string(), *shown, "{text}");
            }
        }
        assert_eq!(exact("1e3"), Value::Int(1000));
        assert_ne!(exact("0.1"), exact("0.10000000000000000000000000000001"));
    }

    #[test]
    fn times_are_integers() {
        let time_of = |value: Value| time(":time", Some(&value));
        assert_eq!(time(":time", None), Ok(None));
        assert_eq!(time_of(Value::Nil), Ok(None));
        assert_eq!(time_of(exact("1e3")), Ok(Some(1000)));
        let fraction = time_of(exact("1.5")).unwrap_err();
        let start = ":time must be a 64-bit integer, not 1.5: times are integers, such as nano";
        assert!(fraction.starts_with(start), "{fraction}");
        let large = time_of(exact("9223372036854775808")).unwrap_err();
        assert_eq!(
            large,
            ":time must be a 64-bit integer, not 9223372036854775808"
        );
        let text = time_of("1.5".into()).unwrap_err();
        assert_eq!(text, ":time must be a 64-bit integer, not \"1.5\"");
    }

    proptest! {
        #[test]
        fn the_form_is_a_json_number_of_the_same_form(
            text in r"-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
        ) {
            let value = exact(&text);
            let shown = value.to_string();
            prop_assert!(serde_json::from_str::<serde_json::Number>(&shown).is_ok(), "{shown}");
            prop_assert_eq!(exact(&shown), value);
        }
    }
}
