//! Proofs of verdicts that can be checked without any engine.
//!
//! A proof of *linearizable* is an order for each part. A proof of *not linearizable* is a reduction of one part and, after
//! some returns, a set that covers all configurations that are possible then; from the last set on, the check finds that
//! none is left. It asks [`Spec::step`](crate::spec::Spec::step) about every step, and the other methods of the specification
//! about the reduction. It imports histories and specifications only, and limits.
//!
//! A [`Checker`](crate::Checker::prove) makes proofs of its reports, [`Proof::write`] writes them as JSON lines, and a
//! [`ProofReader`] checks them. `docs/proofs.md` describes the file and why a proof that is accepted is right.
//!
//! ```
//! use linpoint::proof::{ProofReader, Proven};
//! use linpoint::spec::{Register, RegisterOp};
//! use linpoint::{Checker, TypedHistory, Value};
//!
//! let mut history = TypedHistory::new();
//! let write = history.call(0, RegisterOp::Write(1.into()));
//! history.ret(write, Value::Nil);
//! let read = history.call(1, RegisterOp::Read);
//! history.ret(read, Value::Nil);
//!
//! let register = Register { initial: Value::Nil, cas: false };
//! let checker = Checker::default();
//! let report = checker.check(&register, &history)?;
//! let proof = checker.prove("my register", &register, &history, &report)?;
//! let mut file = Vec::new();
//! proof.write(&mut file)?;
//!
//! let mut reader = ProofReader::new(&file[..]);
//! let header = reader.next_header()?.expect("one proof");
//! let verified = reader.verify(&header, &register, &history)?;
//! assert_eq!(verified.verdict, Proven::NotLinearizable);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod read;
pub(crate) mod reduction;
pub(crate) mod replay;
pub(crate) mod sets;
mod states;
mod write;

pub use check::{Proven, Verified};
pub use read::{ProofError, ProofReader, Refusal};

use std::fmt;

use crate::history::{NEVER, OpId, Partitioning, Ties, TypedHistory};
use crate::spec::Params;
use crate::value::Value;

/// The version of the format.
pub const VERSION: u64 = 2;

/// A proof of the verdict on one history.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What it is about.
    pub header: Header,
    /// The parts of the history that were looked at.
    pub parts: Vec<PartProof>,
}

/// What a proof is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name of the history, for readers only.
    pub history: String,
    /// The specification.
    pub specification: Specification,
    /// The rule for equal times that gives the order of the history; `None` where it has no times.
    pub ties: Option<Ties>,
    /// How many operations the history has.
    pub operations: usize,
    /// How it is split into parts.
    pub split: Partitioning,
    /// How many parts the proof has.
    pub parts: usize,
    /// The verdict on the whole history.
    pub verdict: Claim,
}

/// The specification that a proof is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specification {
    /// A built-in type with its parameters.
    Type {
        /// Its name.
        name: String,
        /// Its parameters.
        params: Params,
    },
    /// Another one, by the name that its author gave it.
    Own(String),
}

/// The verdict that a proof is said to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Some order explains every result.
    Linearizable,
    /// No order does.
    NotLinearizable,
    /// Nothing was decided.
    Undecided,
}

impl Claim {
    const ALL: [Claim; 3] = [
        Claim::Linearizable,
        Claim::NotLinearizable,
        Claim::Undecided,
    ];

    fn name(self) -> &'static str {
        match self {
            Claim::Linearizable => "linearizable",
            Claim::NotLinearizable => "not linearizable",
            Claim::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The proof of the verdict on one part.
#[derive(Clone, Debug)]
pub struct PartProof {
    /// Its position among the parts of the history, in the order of their first operations.
    pub number: usize,
    /// The object, for readers only.
    pub object: Value,
    /// The key, where the history is split by keys.
    pub key: Option<Value>,
    /// How many operations the part has.
    pub operations: usize,
    /// What shows the verdict.
    pub evidence: Evidence,
}

/// What shows the verdict on one part.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// An order that explains every result.
    Order(Vec<OpId>),
    /// An argument that there is none.
    Refutation(Refutation),
    /// Nothing.
    Missing {
        /// The verdict that is not shown.
        claim: Claim,
        /// Why there is no proof.
        reason: String,
    },
}

/// An argument that no order explains a part.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// The rank up to which the part is kept.
    pub cut: u32,
    /// The operations that are kept, in the order of their calls.
    pub kept: Vec<OpId>,
    /// Those of them that are treated as pending although they returned, in the order of their calls.
    pub relaxed: Vec<OpId>,
    /// The sets of configurations after some returns, a line for each.
    sets: Vec<u8>,
    /// How many lines these are.
    listed: usize,
}

impl Refutation {
    pub(crate) fn new(cut: u32, kept: Vec<OpId>, relaxed: Vec<OpId>) -> Self {
        Refutation {
            cut,
            kept,
            relaxed,
            sets: Vec::new(),
            listed: 0,
        }
    }
}

impl Proof {
    /// The parts whose verdicts are not shown, each with that verdict and the reason.
    pub fn missing(&self) -> impl Iterator<Item = (&PartProof, Claim, &str)> {
        self.parts.iter().filter_map(|part| match &part.evidence {
            Evidence::Missing { claim, reason } => Some((part, *claim, reason.as_str())),
            Evidence::Order(_) | Evidence::Refutation(_) => None,
        })
    }
}

/// An operation of a part: its number, and the ranks of its call and its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartOp {
    pub(crate) id: OpId,
    pub(crate) call: u32,
    /// [`NEVER`] if it is pending, or treated as if it were.
    pub(crate) ret: u32,
}

impl PartOp {
    /// What it does: the operation and its result, `None` while pending.
    fn action<O, R>(self, history: &TypedHistory<O, R>) -> (&O, Option<&R>) {
        let action = history.action(self.id);
        (
            &action.op,
            action.ret.as_ref().filter(|_| self.ret != NEVER),
        )
    }
}
