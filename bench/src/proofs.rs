//! Proofs of verdicts: their size against the compressed history, and the time of their check against that of deciding.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use flate2::Compression;
use flate2::write::GzEncoder;
use linpoint::format::{ReadOptions, read, write_jsonl};
use linpoint::generate::Generator;
use linpoint::object::{ObjectType, guess_type};
use linpoint::proof::{ProofReader, Proven, Specification};
use linpoint::spec::Params;
use linpoint::{Checker, Config, History, Verdict, object_type};

/// As long as deciding one history, and proving it, may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Short work is repeated, and the shortest run counts.
const RUNS: usize = 3;
const SHORT: Duration = Duration::from_millis(100);
/// What is asked of proofs: at most so many times the compressed history, and the time of deciding.
const BAR: f64 = 3.0;
/// How many of the worst cases are listed.
const WORST: usize = 8;

/// The proof of one history.
struct Case {
    name: String,
    ops: usize,
    /// Seconds.
    deciding: f64,
    checking: f64,
    /// Bytes, compressed.
    history: usize,
    proof: usize,
}

impl Case {
    fn size(&self) -> f64 {
        self.proof as f64 / self.history as f64
    }

    fn time(&self) -> f64 {
        self.checking / self.deciding
    }
}

/// What came of one history.
enum Outcome {
    Proven(Case),
    /// The name, and why there is no proof.
    Unproven(String, String),
}

/// Histories with something in common.
struct Collection {
    name: String,
    outcomes: Vec<Outcome>,
}

pub fn run() -> anyhow::Result<()> {
    println!("## Proofs\n");
    println!(
        "Size: the compressed proof against the history as compressed JSON lines. Time: the check of the proof against deciding the history, \
         reduction and certificates included; short runs {RUNS} times, the shortest counts. Deciding and proving take at most {} s.\n",
        LIMIT.as_secs()
    );
    let mut collections = Vec::new();
    for root in [corpus(), data()] {
        let Ok(entries) = std::fs::read_dir(&root) else {
            continue;
        };
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
        paths.sort();
        for path in paths.into_iter().filter(|path| path.is_dir()) {
            collections.push(recorded(&root, path)?);
        }
    }
    collections.push(generated()?);
    println!("| histories | of them proven | size, median | above {BAR} | time, median | above {BAR} |");
    println!("|---|---|---|---|---|---|");
    collections.iter().for_each(print_medians);
    let all = Collection { name: "all".to_owned(), outcomes: collections.into_iter().flat_map(|collection| collection.outcomes).collect() };
    print_medians(&all);
    println!();
    print_worst("size", &all, Case::size);
    print_worst("time", &all, Case::time);
    for outcome in &all.outcomes {
        if let Outcome::Unproven(name, reason) = outcome {
            println!("- no proof of {name}: {reason}");
        }
    }
    println!();
    Ok(())
}

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus"))
}

/// The large collections, where they are at hand.
fn data() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    std::env::var_os("LINPOINT_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from)
}

/// The histories of a folder that can be read.
fn recorded(root: &std::path::Path, path: PathBuf) -> anyhow::Result<Collection> {
    let mut outcomes = Vec::new();
    let mut failed = None;
    read(&path, &ReadOptions::default(), |recorded| {
        let Ok(recorded) = recorded else { return };
        let named = recorded.object_type.clone();
        let named = named.or_else(|| Some((guess_type(&recorded.history)?.to_owned(), Params::new())));
        let (Some((name, params)), None) = (named, &failed) else { return };
        let Ok(object) = object_type(&name, &params) else { return };
        if object.validate(&recorded.history).is_err() {
            return;
        }
        let label = recorded.label();
        let label = label.strip_prefix(&*root.to_string_lossy()).unwrap_or(&label);
        match measure(label.trim_start_matches('/'), &name, &params, &object, &recorded.history) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => failed = Some(error),
        }
    });
    let last = |path: &std::path::Path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let name = format!("{}/{}", last(root), last(&path));
    failed.map_or(Ok(Collection { name, outcomes }), Err)
}

/// Long histories, of both verdicts.
fn generated() -> anyhow::Result<Collection> {
    let mut outcomes = Vec::new();
    let types = ["counter", "mutex", "register", "cas-register", "queue", "stack", "priority-queue", "set", "kv", "deque", "bank"];
    for name in types {
        let params = Params::new();
        let object = object_type(name, &params)?;
        for ops in [1_000, 100_000] {
            let generator = Generator { ops, seed: 1, ..Generator::default() };
            let correct = generator.linearizable(&object)?;
            outcomes.push(measure(&format!("{name}, {ops} operations"), name, &params, &object, &correct)?);
            let checker = Checker::new(Config::default().verdicts_only().with_timeout(LIMIT));
            if let Ok(wrong) = generator.violating(&object, &checker) {
                outcomes.push(measure(&format!("{name}, {ops} operations, one wrong"), name, &params, &object, &wrong)?);
            }
        }
    }
    Ok(Collection { name: "generated".to_owned(), outcomes })
}

fn measure(label: &str, name: &str, params: &Params, object: &ObjectType, history: &History) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    write_jsonl(history, Some((name, params)), &mut text)?;
    let checker = Checker::new(Config::default().with_timeout(LIMIT));
    let (deciding, report) = shortest(|| Ok(checker.check_recorded(object, history)?))?;
    let specification = Specification::Type { name: name.to_owned(), params: params.clone() };
    let proof = object.prove(label, specification, history, &report, &checker.budget())?;
    let mut file = Vec::new();
    proof.write(&mut file)?;
    let (checking, proven) = shortest(|| {
        let mut reader = ProofReader::new(&file[..]);
        let header = reader.next_header()?;
        let Some(header) = header else { anyhow::bail!("{label}: there is no proof") };
        Ok(object.verify_proof(&mut reader, &header, history)?.verdict)
    })?;
    if let Proven::Nothing(reason) = proven {
        return Ok(Outcome::Unproven(label.to_owned(), reason));
    }
    let is_violation = matches!(report.verdict, Verdict::Violation(_));
    ensure!((proven == Proven::NotLinearizable) == is_violation, "{label}: the proof shows another verdict");
    Ok(Outcome::Proven(Case {
        name: label.to_owned(),
        ops: history.len(),
        deciding,
        checking,
        history: compressed(&text)?,
        proof: compressed(&file)?,
    }))
}

/// The seconds that some work takes, and what it gives.
fn shortest<T>(work: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<(f64, T)> {
    let timed = || {
        let started = Instant::now();
        let done = work()?;
        anyhow::Ok((started.elapsed(), done))
    };
    let (mut best, mut done) = timed()?;
    for _ in 1..RUNS {
        if best < SHORT {
            let (time, again) = timed()?;
            (best, done) = (best.min(time), again);
        }
    }
    Ok((best.as_secs_f64(), done))
}

fn compressed(bytes: &[u8]) -> anyhow::Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

fn cases(collection: &Collection) -> Vec<&Case> {
    let outcomes = collection.outcomes.iter();
    outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Proven(case) => Some(case),
            Outcome::Unproven(..) => None,
        })
        .collect()
}

fn print_medians(collection: &Collection) {
    let cases = cases(collection);
    if cases.is_empty() {
        return;
    }
    let column = |ratio: fn(&Case) -> f64| {
        let mut ratios: Vec<f64> = cases.iter().map(|case| ratio(case)).collect();
        ratios.sort_by(f64::total_cmp);
        let above = ratios.iter().filter(|ratio| **ratio > BAR).count();
        format!("{:.2} | {above}", ratios[ratios.len() / 2])
    };
    let Collection { name, outcomes } = collection;
    println!("| {name} | {} of {} | {} | {} |", cases.len(), outcomes.len(), column(Case::size), column(Case::time));
}

fn print_worst(what: &str, collection: &Collection, ratio: fn(&Case) -> f64) {
    println!("Largest by {what}:\n");
    println!("| history | operations | history | proof | size | deciding | checking | time |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut cases = cases(collection);
    cases.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    for case in cases.into_iter().take(WORST) {
        println!(
            "| {} | {} | {} B | {} B | {:.2} | {:.2} ms | {:.2} ms | {:.2} |",
            case.name,
            case.ops,
            case.history,
            case.proof,
            case.size(),
            case.deciding * 1e3,
            case.checking * 1e3,
            case.time()
        );
    }
    println!();
}
