//! The first line of a log: the type of the object, and how its clock relates to those of other logs.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::{Clock, Ticks, monotonic};
use crate::json::Json;

/// What a history says of itself: the type of its objects, with parameters.
///
/// ```
/// use linpoint_record::Header;
///
/// let header = Header::of("bounded-queue").param("capacity", 5);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Header {
    object_type: Option<String>,
    /// Names and values in JSON.
    params: Vec<(String, String)>,
}

impl Header {
    /// A history of a type of linpoint.
    pub fn of(object_type: &str) -> Self {
        Header {
            object_type: Some(object_type.to_owned()),
            params: Vec::new(),
        }
    }

    /// A history that names no type; `linpoint check --type` does.
    pub fn untyped() -> Self {
        Header::default()
    }

    /// A parameter of the type.
    pub fn param(mut self, name: &str, value: impl Json) -> Self {
        self.params.push((name.to_owned(), value.to_json()));
        self
    }

    /// The line, for a log with this clock.
    pub(crate) fn line(&self, ticks: &Ticks, clock: Clock) -> Vec<u8> {
        let mut line = b"{\"linpoint\":1".to_vec();
        if let Some(object_type) = &self.object_type {
            line.extend_from_slice(b",\"type\":");
            object_type.write_json(&mut line);
        }
        if !self.params.is_empty() {
            line.extend_from_slice(b",\"params\":{");
            for (place, (name, value)) in self.params.iter().enumerate() {
                if place > 0 {
                    line.push(b',');
                }
                name.write_json(&mut line);
                line.push(b':');
                line.extend_from_slice(value.as_bytes());
            }
            line.push(b'}');
        }
        if clock == Clock::Time {
            line.extend_from_slice(b",\"clock\":");
            line.extend_from_slice(Origin::of(ticks).to_json().as_bytes());
        }
        line.extend_from_slice(b"}\n");
        line
    }
}

impl From<&str> for Header {
    fn from(object_type: &str) -> Self {
        Header::of(object_type)
    }
}

/// Where the times of a log count from.
struct Origin {
    /// The time of day at time 0, in nanoseconds of Unix time, and how far this may be off: not as to what the time of day really is,
    /// which is the skew of the machine, but as to what its clock said.
    unix: i64,
    error: i64,
    /// What the monotonic clock of the machine said at time 0, and which clock this is. Logs of the same clock need no time of day.
    monotonic: Option<(i64, String)>,
}

impl Origin {
    fn of(ticks: &Ticks) -> Self {
        let before = monotonic();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let after = monotonic();
        let now = now.map_or(0, |now| now.as_nanos() as i64);
        Origin {
            unix: now - (before - ticks.started()),
            // The time of day was read at some moment between the two, and has nanoseconds at best.
            error: after - before + 1,
            monotonic: clock_name().map(|name| (ticks.started(), name)),
        }
    }

    fn to_json(&self) -> String {
        let (unix, error) = (self.unix, self.error);
        match &self.monotonic {
            Some((start, name)) => format!(
                "{{\"unix\":{unix},\"error\":{error},\"monotonic\":{start},\"machine\":{}}}",
                name.to_json()
            ),
            None => format!("{{\"unix\":{unix},\"error\":{error}}}"),
        }
    }
}

/// The name of the monotonic clock that this process reads: the boot of the machine and the namespace of its clock.
fn clock_name() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    Some(
        format!("{} {}", boot.trim(), namespace.display())
            .trim()
            .to_owned(),
    )
}
