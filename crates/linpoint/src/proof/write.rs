//! Writes proofs.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::{Claim, Evidence, Header, PartProof, Proof, Refutation, Specification, VERSION};
use crate::history::{OpId, Partitioning, Ties};

/// The most numbers on one line, so that lines stay short.
const NUMBERS_PER_LINE: usize = 1_000;

pub(super) fn ties_name(ties: Ties) -> &'static str {
    match ties {
        Ties::CallFirst => "invocation-first",
        Ties::ReturnFirst => "response-first",
    }
}

pub(super) fn split_name(split: Partitioning) -> &'static str {
    match split {
        Partitioning::ByKey => "keys",
        Partitioning::ByObject => "objects",
    }
}

impl Proof {
    /// Writes the proof as JSON lines. Several proofs may follow each other.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", header(&self.header))?;
        self.parts.iter().try_for_each(|part| write_part(part, out))
    }
}

fn header(header: &Header) -> Json {
    let mut line = json!({
        "linpoint-proof": VERSION,
        "history": header.history,
        "ties": header.ties.map(ties_name),
        "operations": header.operations,
        "split": split_name(header.split),
        "parts": header.parts,
        "verdict": header.verdict.name(),
    });
    match &header.specification {
        Specification::Own(name) => line["specification"] = json!(name),
        Specification::Type { name, params } => {
            let params = params
                .iter()
                .map(|(name, value)| (name.clone(), value.to_json()));
            line["type"] = json!(name);
            line["params"] = Json::Object(params.collect());
        }
    }
    line
}

fn write_part(part: &PartProof, out: &mut dyn Write) -> io::Result<()> {
    let mut line = json!({
        "part": part.number,
        "object": part.object.to_json(),
        "operations": part.operations,
    });
    if let Some(key) = &part.key {
        line["key"] = key.to_json();
    }
    match &part.evidence {
        Evidence::Missing { claim, reason } => {
            line["verdict"] = json!(claim.name());
            line["unproven"] = json!(reason);
            writeln!(out, "{line}")
        }
        Evidence::Order(order) => {
            line["verdict"] = json!(Claim::Linearizable.name());
            line["order"] = json!(order.len());
            writeln!(out, "{line}")?;
            write_numbers("order", order, out)
        }
        Evidence::Refutation(Refutation {
            cut,
            kept,
            relaxed,
            sets,
            listed,
        }) => {
            line["verdict"] = json!(Claim::NotLinearizable.name());
            line["cut"] = json!(cut);
            line["keep"] = json!(kept.len());
            line["relax"] = json!(relaxed.len());
            line["sets"] = json!(listed);
            writeln!(out, "{line}")?;
            write_numbers("keep", kept, out)?;
            write_numbers("relax", relaxed, out)?;
            out.write_all(sets)
        }
    }
}

/// Writes each number as its difference from the one before, the first from 0.
fn write_numbers(name: &str, ops: &[OpId], out: &mut dyn Write) -> io::Result<()> {
    let mut last = 0;
    for ops in ops.chunks(NUMBERS_PER_LINE) {
        write!(out, "{{\"{name}\":[")?;
        for (i, op) in ops.iter().enumerate() {
            let number = i64::from(op.0);
            let comma = if i == 0 { "" } else { "," };
            write!(out, "{comma}{}", number - last)?;
            last = number;
        }
        writeln!(out, "]}}")?;
    }
    Ok(())
}

impl Refutation {
    /// Lists the set after the return of `op`, if its line has at most so many bytes. Returns the length of the line. Each
    /// configuration is the open operations that took effect, and the state.
    pub(crate) fn list_set(
        &mut self,
        op: OpId,
        set: impl Iterator<Item = (Vec<OpId>, Json)>,
        most: usize,
    ) -> usize {
        let mut set: Vec<String> = set
            .map(|(taken, state)| {
                let taken: Vec<u32> = taken.into_iter().map(|op| op.0).collect();
                json!([taken, state]).to_string()
            })
            .collect();
        // Sets come in any order; files should not.
        set.sort_unstable();
        let line = format!("{{\"return\":{},\"set\":[{}]}}\n", op.0, set.join(","));
        if line.len() <= most {
            self.sets.extend_from_slice(line.as_bytes());
            self.listed += 1;
        }
        line.len()
    }
}
