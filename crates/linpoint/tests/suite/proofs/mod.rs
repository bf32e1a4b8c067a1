//! Proofs of verdicts: those that are made are accepted, and changed ones are refused unless they are still proofs.
//!
//! `LINPOINT_PROOFS` sets the number of random histories per type.

mod changes;
mod python;
mod reductions;

use std::sync::Mutex;
use std::time::Duration;

use linpoint::format::{ReadOptions, parse};
use linpoint::generate::Generator;
use linpoint::object::{ObjectType, object_type};
use linpoint::proof::{ProofError, ProofReader, Proven, Specification};
use linpoint::spec::Sampler;
use linpoint::{Checker, Config, EngineChoice, History, OpId, Partitioning, Report, Verdict};
use rayon::prelude::*;

use self::changes::{mutated, with_sets};
use self::reductions::refuted_part;
use crate::calls::Callable;
use crate::corpus::bundled_files;
use crate::differential::{expected, history_in_turns, judge_shares, small_history};
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
    let mut verify_all = || {
        let header = reader.next_header()?;
        let header = header.ok_or_else(|| reader.refuse("there is no header"))?;
        let verified = object.verify_proof(&mut reader, &header, history)?;
        match reader.next_header()? {
            Some(_) => Err(reader.refuse("another proof follows").into()),
            None => Ok(verified.verdict),
        }
    };
    verify_all().map_err(|error| match error {
        ProofError::Refused(refusal) => refusal.reason,
        other => panic!("{other}"),
    })
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
        let (Callable { object, .. }, history) = history_in_turns(variants, seed)?;
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
    let histories = files.iter().flat_map(|file| &file.histories);
    // There are no proofs of why operations wait.
    let histories: Vec<_> = histories
        .filter(|recorded| !recorded.history.ends_stuck())
        .collect();
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
        let (Callable { object, .. }, history) = history_in_turns(variants, seed)?;
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
            let is_accepted = !matches!(found, Ok(Proven::Nothing(_)) | Err(_));
            let mut counts = counts.lock().expect("no thread failed");
            counts[usize::from(is_accepted)] += 1;
        }
        Some(verdict)
    });
    let [refused, accepted] = counts.into_inner().expect("no thread failed");
    let counted = format!("{refused} changed proofs refused, {accepted} still proofs");
    println!("{counted}");
    assert!(refused > 2 * accepted, "{counted}");
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

/// The sets that are listed must cover what follows, and have nothing else.
#[test]
fn listed_sets_must_cover_what_follows() {
    let text = br#"{"linpoint":1,"type":"register","params":{"initial":0}}
        {"method":"write","arg":0,"call":0}
        {"method":"write","arg":2,"call":1,"return":9}
        {"method":"read","ret":0,"call":2,"return":4}
        {"method":"read","ret":0,"call":3,"return":5}
        {"method":"read","ret":1,"call":6,"return":7}"#;
    let recorded = parse(text, &ReadOptions::default()).remove(0);
    let recorded = recorded.expect("well formed");
    let object = type_of(&recorded);
    // Nothing is reduced, so that all returns are there.
    let checker = Checker::new(Config::default().verdicts_only());
    let (_, lines) = prove(&object, &recorded.history, &checker);
    let verify = |sets: &[&str]| verify(&object, &recorded.history, &with_sets(&lines, sets));
    for sets in [
        &[][..],
        &[r#"{"return":2,"set":[[[3],0]]}"#],
        // The other read changes nothing, so it takes effect as soon as it can.
        &[r#"{"return":2,"set":[[[],0]]}"#],
        // A pending operation that need not have taken effect is covered by the configuration in which it did not.
        &[r#"{"return":2,"set":[[[],0],[[0],0]]}"#],
        &[
            r#"{"return":2,"set":[[[3],0]]}"#,
            r#"{"return":3,"set":[[[],0]]}"#,
        ],
        &[r#"{"return":4,"set":[]}"#],
    ] {
        assert_eq!(verify(sets), Ok(Proven::NotLinearizable), "{sets:?}");
    }
    for (sets, reason) in [
        (&[r#"{"return":2,"set":[]}"#][..], "is missing"),
        (&[r#"{"return":2,"set":[[[0],0]]}"#], "is missing"),
        (&[r#"{"return":2,"set":[[[1],0]]}"#], "is missing"),
        (&[r#"{"return":2,"set":[[[],1]]}"#], "does not follow"),
        (&[r#"{"return":2,"set":[[[2],0]]}"#], "not open"),
        (&[r#"{"return":2,"set":[[[3,3],0]]}"#], "listed twice"),
        (&[r#"{"return":2,"set":[[[]]]}"#], "a configuration is"),
        (&[r#"{"return":2}"#], "a list \"set\""),
        (&[r#"{"set":[]}"#], "\"return\" must be a number"),
        (&[r#"{"return":1,"set":[]}"#], "out of order"),
        (
            &[
                r#"{"return":3,"set":[[[],0]]}"#,
                r#"{"return":2,"set":[[[],0]]}"#,
            ],
            "out of order",
        ),
    ] {
        let refused = verify(sets).expect_err(reason);
        assert!(refused.contains(reason), "{sets:?}: {refused}");
    }
}

/// The sets of a long proof are a small part of it.
#[test]
fn few_sets_are_listed() {
    let object = object_type("counter", &Default::default()).expect("a built-in type");
    let generator = Generator {
        ops: 2000,
        ..Generator::default()
    };
    let history = generator.linearizable(&object).expect("generated");
    let last = OpId(history.len() as u32 - 1);
    let wrong = history.with_result(last, &(-5).into());
    let checker = Checker::new(Config::default().verdicts_only());
    let (report, lines) = prove(&object, &wrong, &checker);
    assert_eq!(proven(&report.verdict), Some(Proven::NotLinearizable));
    assert_eq!(verify(&object, &wrong, &lines), Ok(Proven::NotLinearizable));
    let sets = lines.iter().filter(|line| line.starts_with("{\"return\""));
    let (count, bytes) = sets.fold((0, 0), |(count, bytes), line| {
        (count + 1, bytes + line.len() + 1)
    });
    assert!(
        count > 10 && bytes <= 100 + 2 * 2000,
        "{count} sets in {bytes} bytes"
    );
}
