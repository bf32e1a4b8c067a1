//! Parsing and printing of times, sizes and counts.

use std::time::Duration;

pub(crate) use linpoint::text::{show_bytes, show_duration};

/// `90`, `1.5s`, `250ms`, `5us`, `5m`, `2h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time, as in 250ms, 30s, 5m or 2h".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a number, as in 30s or 1.5m".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "out of range".to_owned())
}

/// `1000000`, `64K`, `512M`, `2G`, `2GiB`; the units are powers of 1024.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text);
    let unit = unit
        .trim_end_matches("iB")
        .trim_end_matches('B')
        .to_ascii_uppercase();
    let power = match unit.as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err("expected a size, as in 512M or 2G".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a size, as in 512M or 2G".to_owned())?;
    Ok((number * 1024f64.powi(power)) as u64)
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    (text[..end].trim(), &text[end..])
}

/// `1 operation`, `2 operations`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if what.ends_with('s') => format!("{count} {what}es"),
        _ => format!("{count} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_times_and_sizes() {
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(duration("1.5us"), Ok(Duration::from_nanos(1500)));
        assert_eq!(duration("3ns"), Ok(Duration::from_nanos(3)));
        assert!(duration("soon").is_err());
        assert!(duration("-1s").is_err());
        assert_eq!(bytes("2G"), Ok(2 << 30));
        assert_eq!(bytes("1.5KiB"), Ok(1536));
        assert!(bytes("2X").is_err());
        assert_eq!(show_bytes(3 << 30), "3.0 GiB");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(1, "history"), "1 history");
        let several = ["history", "process", "operation"].map(|what| counted(2, what));
        assert_eq!(several, ["2 histories", "2 processes", "2 operations"]);
        assert_eq!(counted(3, "further key"), "3 further keys");
    }
}
