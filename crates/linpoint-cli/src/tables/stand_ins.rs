//! The published tests of snapshots by name: what a name says, and generated histories to take their place.
//!
//! The files of Amram et al. (DISC 2022) are named `linearizable-N-OPS-Z` and `non_linearizable-N-OPS-Z`: `N` processes,
//! `OPS` operations, instance `Z`.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use linpoint::format::{Format, write};
use linpoint::generate::{SnapshotFault, SnapshotGenerator};
use linpoint::{Error, History};

/// The configurations of one table.
struct Configurations {
    name: &'static str,
    processes: [u32; 6],
    ops: [usize; 3],
}

const LINEARIZABLE: Configurations = Configurations {
    name: "linearizable",
    processes: [5, 8, 11, 14, 17, 20],
    ops: [100, 250, 500],
};

const NOT_LINEARIZABLE: Configurations = Configurations {
    name: "non_linearizable",
    processes: [3, 4, 5, 6, 8, 10],
    ops: [25, 50, 100],
};

/// What the name of a file says about its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) is_linearizable: bool,
    pub(super) processes: u32,
    pub(super) ops: u32,
}

impl Named {
    pub(super) fn of(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let is_linearizable = match parts.next()? {
            name if name == LINEARIZABLE.name => true,
            name if name == NOT_LINEARIZABLE.name => false,
            _ => return None,
        };
        let mut number = || parts.next()?.parse().ok();
        let (processes, ops, _instance) = (number()?, number()?, number()?);
        parts.next().is_none().then_some(Named {
            is_linearizable,
            processes,
            ops,
        })
    }
}

/// Writes this many histories of each published configuration into a folder, which must be new or empty, under the published
/// names. Those that are not linearizable have each kind of fault in turn.
pub(super) fn write_all(folder: &Path, count: u32) -> anyhow::Result<()> {
    let named = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(named)?;
    if fs::read_dir(folder).with_context(named)?.next().is_some() {
        bail!(
            "{}: the folder for generated histories is not empty",
            named()
        );
    }
    for table in [&LINEARIZABLE, &NOT_LINEARIZABLE] {
        for processes in table.processes {
            for ops in table.ops {
                for instance in 0..count {
                    let name = format!("{}-{processes}-{ops}-{instance}", table.name);
                    let history = generate(table, processes, ops, instance)?;
                    let file = File::create(folder.join(&name)).with_context(|| name.clone())?;
                    let mut out = BufWriter::new(file);
                    write(Format::Snapshot, &history, None, &mut out)?;
                    out.flush().with_context(|| name)?;
                }
            }
        }
    }
    Ok(())
}

fn generate(
    table: &Configurations,
    processes: u32,
    ops: usize,
    instance: u32,
) -> Result<History, Error> {
    let generator = SnapshotGenerator {
        ops,
        processes,
        seed: u64::from(instance),
        ..SnapshotGenerator::default()
    };
    if table.name == LINEARIZABLE.name {
        return generator.history();
    }
    // Three processes are too few for one of the faults; then the next one takes its place.
    let faults = SnapshotFault::NAMES.iter().cycle().skip(instance as usize);
    let mut made = faults.take(SnapshotFault::NAMES.len()).map(|&(_, fault)| {
        let with_fault = SnapshotGenerator {
            fault: Some(fault),
            ..generator.clone()
        };
        with_fault.history()
    });
    let first = made.next().unwrap_or_else(|| generator.history());
    made.fold(first, Result::or)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_written_once_and_nothing_is_overwritten() {
        let name = format!("linpoint-stand-ins-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        write_all(&folder, 1).expect("the folder is new");
        let files = fs::read_dir(&folder).expect("it was made");
        let names = files.map(|file| file.expect("readable").file_name());
        let known = names.filter(|name| Named::of(&name.to_string_lossy()).is_some());
        assert_eq!(known.count(), 2 * 6 * 3);
        let again = write_all(&folder, 1).expect_err("there are files");
        assert!(again.to_string().ends_with("is not empty"));
        fs::remove_dir_all(&folder).expect("it can be removed");
    }

    #[test]
    fn names_say_what_is_expected() {
        let named = |is_linearizable, processes, ops| {
            Some(Named {
                is_linearizable,
                processes,
                ops,
            })
        };
        assert_eq!(Named::of("linearizable-5-100-24"), named(true, 5, 100));
        assert_eq!(Named::of("non_linearizable-10-25-0"), named(false, 10, 25));
        for other in [
            "linearizable-5-100",
            "linearizable-5-100-1-2",
            "register-5-100-1",
            "",
        ] {
            assert_eq!(Named::of(other), None, "{other}");
        }
    }
}
