//! Where the observation files of an object are.

use std::path::{Path, PathBuf};

use super::Object;
use super::plan::Plan;
use crate::matrix::Matrix;

/// Names of files are at most this long, without the number of the test.
const LONGEST: usize = 120;

/// Whether a path is the file of a single test, and not a folder.
fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "xml")
}

/// A hash that is the same on every machine and in every version, since files are kept.
fn fnv1a(text: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

impl<X> Object<X> {
    /// Returns an error if the observation files cannot belong to the plan.
    pub(super) fn check_observation_paths(&self) -> Result<(), String> {
        let settings = &self.settings;
        let paths = [
            &settings.write_observations,
            &settings.expect_observations,
            &settings.from_observations,
        ];
        let mut paths = paths.into_iter().flatten();
        if self.spec.is_some() && paths.clone().next().is_some() {
            return Err("observation files belong to an object without a specification".to_owned());
        }
        let is_single = matches!(self.plans[..], [Plan::Matrix(_) | Plan::Replay(_)]);
        match paths.find(|path| is_file(path)) {
            Some(path) if !is_single => Err(format!(
                "{} is the observation file of a single matrix; several tests need a folder, whose name does not end in .xml",
                path.display()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the observation file of a test: the path itself, or a file in that folder.
    pub(crate) fn observation_file(&self, path: &Path, matrix: &Matrix) -> PathBuf {
        if is_file(path) {
            return path.to_owned();
        }
        let labels = |ops: &[usize]| -> Vec<&str> {
            ops.iter().map(|&op| &*self.invocations[op].label).collect()
        };
        let (init, last) = (labels(&matrix.init), labels(&matrix.last));
        let threads: Vec<_> = matrix.threads.iter().map(|ops| labels(ops)).collect();
        let number = fnv1a(&format!("{init:?} {threads:?} {last:?}"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let of_thread = |ops: &Vec<&str>| ops.join("-").replace(|c| c != '-' && !is_plain(c), "");
        let mut name = threads.iter().map(of_thread).collect::<Vec<_>>().join(".");
        name.truncate(LONGEST);
        path.join(format!("{name}.{:016x}.xml", number))
    }
}
