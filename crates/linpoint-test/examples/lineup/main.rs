//! The tables of the Line-Up paper, for the classes of its Table 1 in Rust:
//! `cargo run --release -p linpoint-test --example lineup [TABLE] [CLASS] [TESTS]`.
//!
//! | table | what it shows |
//! |---|---|
//! | `table-1` | the methods that were checked, and the operations that stand for them |
//! | `table-2` | what Line-Up finds, beside the published figures; the default |
//! | `comparisons` | sections 5.6 and 5.7: data races, conflict serializability, and store buffers, beside Line-Up |

#[allow(dead_code)] // Some of it is for the tests.
mod classes;
mod comparisons;
mod published;
mod table_2;

use classes::{SUBJECTS, Seed, Subject};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let table = args.next().unwrap_or_else(|| "table-2".to_owned());
    let class = args.next().unwrap_or_default();
    let tests = args.next().map(|tests| tests.parse()).transpose()?;
    let is_wanted = |subject: &&Subject| subject.class.contains(&class);
    let subjects: Vec<&Subject> = SUBJECTS.iter().filter(is_wanted).collect();
    match table.as_str() {
        "table-1" => print_table_1(),
        "table-2" => table_2::print(&subjects, tests.unwrap_or(100)),
        "comparisons" => comparisons::print(&subjects, tests.unwrap_or(10)),
        _ => return Err(format!("no table \"{table}\": table-1, table-2 or comparisons").into()),
    }
    Ok(())
}

fn print_table_1() {
    println!("| class | method: operation |");
    println!("|---|---|");
    for (class, methods) in published::TABLE_1 {
        let pairs = methods
            .iter()
            .map(|(method, op)| format!("{method}: `{op}`"));
        println!("| {class} | {} |", pairs.collect::<Vec<_>>().join(", "));
    }
}

fn cause(seed: Seed) -> String {
    match seed {
        Seed::Correct => "none".to_owned(),
        Seed::Mutant => "a mutation of ours".to_owned(),
        Seed::D2 => "D, second flaw".to_owned(),
        seed => format!("{seed:?}"),
    }
}
