//! Runs the fuzz targets on saved inputs: seeds, and every input that made a target fail.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::{Path, PathBuf};

use linpoint::spec::Sampler;

use crate::fuzz_bodies::{READERS, check_small, read_and_write, read_mapped};

fn saved(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let entries = std::fs::read_dir(folder.join(target)).unwrap();
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty(), "{target} has no saved inputs");
    files
}

/// A failure should name the file that shows it.
fn run(file: &Path, body: impl FnOnce(&[u8]) + std::panic::UnwindSafe) {
    let bytes = std::fs::read(file).unwrap();
    let outcome = std::panic::catch_unwind(move || body(&bytes));
    assert!(outcome.is_ok(), "{}", file.display());
}

#[test]
fn readers() {
    for (target, format) in READERS {
        for file in saved(target) {
            run(&file, |bytes| read_and_write(format, bytes));
        }
    }
}

#[test]
fn mappings() {
    for file in saved("parse_mapping") {
        run(&file, read_mapped);
    }
}

#[test]
fn small_checks() {
    for file in saved("check_small") {
        run(&file, check_small);
    }
}

/// Fuzzes without cargo-fuzz: saved inputs with a few bytes changed.
///
/// `LINPOINT_MUTATIONS` sets how many changed inputs each target gets.
#[test]
fn mutations() {
    let given = std::env::var("LINPOINT_MUTATIONS").ok();
    let rounds: u64 = given.map_or(300, |n| n.parse().unwrap());
    for (target, format) in READERS {
        let seeds: Vec<_> = saved(target)
            .iter()
            .map(|f| std::fs::read(f).unwrap())
            .collect();
        for round in 0..rounds {
            let bytes = mutated(&seeds, round);
            let outcome = std::panic::catch_unwind(|| read_and_write(format, &bytes));
            assert!(
                outcome.is_ok(),
                "{target}, round {round}: {:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
    let seeds: Vec<_> = saved("parse_mapping")
        .iter()
        .map(|f| std::fs::read(f).unwrap())
        .collect();
    for round in 0..rounds {
        let bytes = mutated(&seeds, round);
        let outcome = std::panic::catch_unwind(|| read_mapped(&bytes));
        let shown = String::from_utf8_lossy(&bytes);
        assert!(outcome.is_ok(), "parse_mapping, round {round}: {shown:?}");
    }
    for round in 0..rounds {
        let mut sampler = Sampler::new(round, None);
        let bytes: Vec<u8> = (0..30).map(|_| sampler.below(256) as u8).collect();
        let outcome = std::panic::catch_unwind(|| check_small(&bytes));
        assert!(outcome.is_ok(), "check_small: {bytes:?}");
    }
}

fn mutated(seeds: &[Vec<u8>], round: u64) -> Vec<u8> {
    let mut sampler = Sampler::new(round, None);
    let mut bytes = seeds[sampler.below(seeds.len())].clone();
    for _ in 0..=sampler.below(4) {
        let at = sampler.below(bytes.len() + 1);
        let end = (at + sampler.below(12)).min(bytes.len());
        match sampler.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let other = &seeds[sampler.below(seeds.len())];
                let from = sampler.below(other.len() + 1);
                let to = (from + sampler.below(60)).min(other.len());
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
            2 => {
                let marks = b"{}[]()\"\\#:,;-0123456789.eEnull\n\t \xc3\xff";
                bytes.insert(at, sampler.pick(marks));
            }
            3 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
    bytes
}
