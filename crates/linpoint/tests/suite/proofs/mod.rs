//! Proofs of verdicts: those that are made are accepted, and changed ones are refused unless they are still proofs.
//!
//! `LINPOINT_PROOFS` sets the number of random histories per type.

mod changes;
mod python;
mod reductions;

use std::sync::Mutex;
use std::time::Duration;

use linpoint::format::{ReadOptions, parse};
use linpoint::object::{ObjectType, ProofError, object_type};
use linpoint::proof::{ProofReader, Proven, Specification};
use linpoint::spec::Sampler;
use linpoint::{Checker, Config, EngineChoice, History, OpId, Partitioning, Report, Verdict};
use rayon::prelude::*;

use self::changes::mutated;
use self::reductions::refuted_part;
use crate::corpus::bundled_files;
use crate::differential::{any_small_history, expected, judge_shares, small_history};
use crate::recorded::{check, dump, type_of};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 200;

fn histories_per_type() -> u64 {
    let given = std::env::var("LINPOINT_PROOFS").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_PROOFS is a number")
    })
}

/// A report with its proof, as the lines of a file.
fn prove(object: &ObjectType, history: &History, checker: &Checker) -> (Report, Vec<String>) {
    prove_as(
        Specification::Own("a test".to_owned()),
        object,
        history,
        checker,
    )
}

fn prove_as(
    specification: Specification,
    object: &ObjectType,
    history: &History,
    checker: &Checker,
) -> (Report, Vec<String>) {
    let report = check(object, history, checker);
    let proof = object.prove("h", specification, history, &report, &checker.budget());
    let proof = proof.unwrap_or_else(|error| panic!("{error}\n{}", dump(history)));
    let mut file = Vec::new();
    proof.write(&mut file).expect("written to memory");
    let text = String::from_utf8(file).expect("UTF-8");
    (report, text.lines().map(str::to_owned).collect())
}

/// What the lines of a file prove about a history; the error is the reason of the refusal.
fn verify(object: &ObjectType, history: &History, lines: &[String]) -> Result<Proven, String> {
    let text = lines.join("\n");
    let mut reader = ProofReader::new(text.as_bytes());
    let header = reader.next_header().map_err(|refusal| refusal.reason)?;
    let header = header.ok_or("there is no header")?;
    let verified = match object.verify_proof(&mut reader, &header, history) {
        Ok(verified) => verified,
        Err(ProofError::Refused(refusal)) => return Err(refusal.reason),
        Err(ProofError::History(error)) => panic!("{error}"),
    };
    match reader.next_header() {
        Ok(None) => Ok(verified.verdict),
        Ok(Some(_)) => Err("another proof follows".to_owned()),
        Err(refusal) => Err(refusal.reason),
    }
}

fn proven(verdict: &Verdict) -> Option<Proven> {
    match verdict {
        Verdict::Linearizable(_) => Some(Proven::Linearizable),
        Verdict::Violation(_) => Some(Proven::NotLinearizable),
        Verdict::Undecided(_) => None,
    }
}

/// A checker for the history with this seed: all engines, splits and extents of cores take turns.
fn checker(seed: u64) -> Checker {
    let engines = EngineChoice::NAMES;
    let (_, engine) = engines[(seed / 3) as usize % engines.len()];
    let config = Config::default().with_engine(engine);
    Checker::new(match seed % 3 {
        0 => config,
        1 => config.with_partitioning(Partitioning::ByObject),
        _ => config.verdicts_only().with_all_parts(),
    })
}

/// A proof that is made is accepted, and shows the verdict.
#[test]
fn every_proof_is_accepted() {
    judge_shares(histories_per_type(), |variants, seed| {
        let callable = &variants[(seed / 2) as usize % variants.len()];
        let object = &callable.object;
        let history = match seed % 2 {
            0 => small_history(object, seed)?,
            _ => any_small_history(callable, seed)?,
        };
        let (report, lines) = prove(object, &history, &checker(seed));
        let found = verify(object, &history, &lines);
        let text = || format!("{}\n{}", dump(&history), lines.join("\n"));
        match proven(&report.verdict) {
            Some(verdict) => assert_eq!(found, Ok(verdict), "seed {seed}\n{}", text()),
            None => assert!(
                matches!(found, Ok(Proven::Nothing(_))),
                "{found:?}\n{}",
                text()
            ),
        }
        Some(expected(object, &history))
    });
}

/// The same for the bundled histories.
#[test]
fn the_corpus_is_proven() {
    let files = bundled_files();
    let histories: Vec<_> = files.iter().flat_map(|file| &file.histories).collect();
    let decided = histories.par_iter().filter(|recorded| {
        let object = type_of(recorded);
        let checker = Checker::new(Config::default().with_timeout(Duration::from_secs(20)));
        let (report, lines) = prove(&object, &recorded.history, &checker);
        let found = verify(&object, &recorded.history, &lines);
        match proven(&report.verdict) {
            None => false,
            Some(verdict) => {
                assert_eq!(found, Ok(verdict), "{}", recorded.label());
                true
            }
        }
    });
    let decided = decided.count();
    assert!(
        decided * 10 > histories.len() * 9,
        "{decided} of {}",
        histories.len()
    );
}

/// A proof of one history is changed in every way that might turn a wrong argument into one that looks right. What is still
/// accepted must be a proof: the verdict is that of the reference, and so is the verdict on what is kept.
#[test]
fn changed_proofs_are_refused_or_still_proofs() {
    let counts = Mutex::new([0u64; 2]);
    judge_shares(histories_per_type(), |variants, seed| {
        let callable = &variants[(seed / 2) as usize % variants.len()];
        let object = &callable.object;
        let history = match seed % 2 {
            0 => small_history(object, seed)?,
            _ => any_small_history(callable, seed)?,
        };
        let (_, lines) = prove(object, &history, &Checker::default());
        let verdict = expected(object, &history);
        let mut sampler = Sampler::new(seed, None);
        for _ in 0..8 {
            let Some(changed) = mutated(&lines, &mut sampler) else {
                continue;
            };
            let found = verify(object, &history, &changed);
            let text = || {
                let (before, after) = (lines.join("\n"), changed.join("\n"));
                format!(
                    "seed {seed}\n{}\n{before}\nchanged\n{after}",
                    dump(&history)
                )
            };
            match &found {
                Ok(Proven::Linearizable) => assert!(verdict, "{}", text()),
                Ok(Proven::NotLinearizable) => {
                    assert!(!verdict, "{}", text());
                    let reduced =
                        refuted_part(object, &history, &changed).expect("a part is refuted");
                    assert!(!expected(object, &reduced), "{}", text());
                }
                Ok(Proven::Nothing(_)) | Err(_) => {}
            }
            let mut counts = counts.lock().expect("no thread failed");
            counts[usize::from(found.is_ok())] += 1;
        }
        Some(verdict)
    });
    let [refused, accepted] = counts.into_inner().expect("no thread failed");
    assert!(
        refused > 4 * accepted,
        "{refused} refused, {accepted} accepted"
    );
}

/// Whatever a file holds, it is refused or shows the right verdict.
#[test]
fn damaged_files_prove_nothing_wrong() {
    const BYTES: &[u8] = b"0123456789-[]{},:\"xnull\n";
    judge_shares(histories_per_type(), |variants, seed| {
        let object = &variants[seed as usize % variants.len()].object;
        let history = small_history(object, seed)?;
        let (_, lines) = prove(object, &history, &Checker::default());
        let verdict = expected(object, &history);
        let mut sampler = Sampler::new(seed, None);
        for _ in 0..8 {
            let mut text = lines.join("\n").into_bytes();
            for _ in 0..1 + sampler.below(3) {
                let at = sampler.below(text.len());
                match sampler.below(3) {
                    0 => text[at] = sampler.pick(BYTES),
                    1 => text.insert(at, sampler.pick(BYTES)),
                    _ => {
                        text.remove(at);
                    }
                }
            }
            let text = String::from_utf8(text).expect("proofs are ASCII here");
            let damaged: Vec<String> = text.lines().map(str::to_owned).collect();
            match verify(object, &history, &damaged) {
                Ok(Proven::Linearizable) => assert!(verdict, "seed {seed}\n{text}"),
                Ok(Proven::NotLinearizable) => assert!(!verdict, "seed {seed}\n{text}"),
                Ok(Proven::Nothing(_)) | Err(_) => {}
            }
        }
        Some(verdict)
    });
}

/// A check that makes no witnesses proves violations only, and says so.
#[test]
fn parts_without_witnesses_are_not_proven() {
    let text = br#"{"linpoint":1,"type":"register","params":{"initial":0}}
        {"object":"x","method":"read","ret":0,"call":0,"return":1}
        {"object":"y","method":"read","ret":1,"call":2,"return":3}"#;
    let recorded = parse(text, &ReadOptions::default()).remove(0);
    let history = recorded.expect("well formed").history;
    let object = object_type("register", &[("initial".to_owned(), 0.into())].into());
    let object = object.expect("a built-in type");
    let checker = Checker::new(Config::default().without_witnesses());
    let (_, lines) = prove(&object, &history, &checker);
    assert_eq!(
        verify(&object, &history, &lines),
        Ok(Proven::NotLinearizable)
    );
    let correct = history.with_result(OpId(1), &0.into());
    let (_, lines) = prove(&object, &correct, &checker);
    let found = verify(&object, &correct, &lines);
    assert_eq!(
        found,
        Ok(Proven::Nothing("the check made no witness".into()))
    );
}

/// A pending operation that need not have taken effect is covered by the configuration in which it did not.
#[test]
fn a_set_may_leave_out_what_another_configuration_covers() {
    let text = br#"{"linpoint":1,"type":"register","params":{"initial":0}}
        {"method":"write","arg":0,"call":0}
        {"method":"write","arg":2,"call":1,"return":8}
        {"method":"read","ret":0,"call":2,"return":3}
        {"method":"read","ret":2,"call":4,"return":5}
        {"method":"read","ret":1,"call":6,"return":7}"#;
    let recorded = parse(text, &ReadOptions::default()).remove(0);
    let recorded = recorded.expect("well formed");
    let object = type_of(&recorded);
    // Nothing is reduced, so that all sets are there.
    let checker = Checker::new(Config::default().verdicts_only());
    let (_, lines) = prove(&object, &recorded.history, &checker);
    let verify = |lines: &[String]| verify(&object, &recorded.history, lines);
    assert_eq!(verify(&lines), Ok(Proven::NotLinearizable));
    let at = lines
        .iter()
        .position(|line| line.starts_with("{\"return\":2"))
        .expect("a set");
    let (covered, covering) = ("[[0],0]", "[[],0]");
    assert!(
        lines[at].contains(covered) && lines[at].contains(covering),
        "{}",
        lines[at]
    );
    let with_set = |set: &str| {
        let mut lines = lines.clone();
        lines[at] = format!("{{\"return\":2,\"add\":[{set}]}}");
        lines
    };
    let without_covered = lines[at].replace(&format!("{covered},"), "");
    assert_ne!(without_covered, lines[at]);
    let mut fewer = lines.clone();
    fewer[at] = without_covered;
    assert_eq!(verify(&fewer), Ok(Proven::NotLinearizable));
    let refused = verify(&with_set(covered)).expect_err("a configuration is missing");
    assert!(refused.contains("missing"), "{refused}");
}
