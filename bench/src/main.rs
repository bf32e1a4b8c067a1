//! scratch
use linpoint::generate::Generator;
use linpoint::{Checker, Config, Verdict, object_type};
use std::time::{Duration, Instant};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let object = object_type(&a[1], &Default::default()).unwrap();
    let ops = a[2].parse().unwrap();
    let processes = a[3].parse().unwrap();
    let seed = a[4].parse().unwrap();
    let universe = a.get(5).and_then(|s| s.parse().ok());
    let h = Generator { ops, processes, seed, universe, ..Generator::default() }.linearizable(&*object).unwrap();
    let checker = Checker::new(Config::default().with_timeout(Duration::from_secs(60)).verdicts_only());
    let t = Instant::now();
    let r = object.check(&h, &checker, &checker.budget()).unwrap();
    let t = t.elapsed();
    let peak = std::fs::read_to_string("/proc/self/status").unwrap().lines().find(|l| l.starts_with("VmHWM")).unwrap().to_owned();
    println!("{a:?} {:?} {} {peak}", t, match r.verdict { Verdict::Linearizable(_) => "yes".to_owned(), Verdict::Violation(_) => "no".into(), Verdict::Undecided(u) => format!("{u:?}") });
}
