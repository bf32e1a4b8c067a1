//! The most memory that this process has during some work, as Linux reports it.

use std::fs;

/// Does the work; also returns the peak of the resident memory meanwhile in megabytes, or `None` where the system does not
/// tell.
pub(super) fn during<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    // Sets the recorded peak to the memory in use.
    let reset = fs::write("/proc/self/clear_refs", "5");
    let done = work();
    let peak = reset.ok().and_then(|()| {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        megabytes(&status)
    });
    (done, peak)
}

fn megabytes(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        let status = "VmPeak:\t  100 kB\nVmHWM:\t   4000 kB\nVmRSS:\t 10 kB\n";
        assert_eq!(megabytes(status), Some(4.096));
        assert_eq!(megabytes("VmRSS:\t 10 kB\n"), None);
    }
}
