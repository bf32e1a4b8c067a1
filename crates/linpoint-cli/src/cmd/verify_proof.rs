//! `linpoint verify-proof`: check proofs of verdicts without any engine.

use std::io::Write;

use linpoint::Error;
use linpoint::format::{RecordedHistory, open_text};
use linpoint::object::ProofError;
use linpoint::proof::{Header, ProofReader, Proven, Refusal, Specification, Verified};
use serde_json::json;

use crate::args::VerifyProofArgs;
use crate::exit::Exit;
use crate::files::{Files, Output};
use crate::source::{TypeChoice, print_notes, type_of, with_methods};

pub(crate) fn run(args: &VerifyProofArgs) -> anyhow::Result<Exit> {
    let mut inputs = args.input.files.clone();
    inputs.push(args.proof.clone());
    Files::reading(&inputs)?;
    let mut verifier = Verifier {
        args,
        chosen: args.input.type_choice()?,
        reader: ProofReader::new(open_text(&args.proof)?),
        out: Output::standard(),
        exit: Exit::default(),
        is_over: false,
    };
    let mut failed = None;
    args.input.read(None, &mut |recorded| {
        if failed.is_none() && !verifier.is_over {
            failed = verifier.take(recorded).err();
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    verifier.finish()
}

struct Verifier<'a> {
    args: &'a VerifyProofArgs,
    chosen: Option<TypeChoice>,
    reader: ProofReader<'static>,
    out: Output,
    exit: Exit,
    /// Whether a proof was refused: where the next one begins is not known then.
    is_over: bool,
}

impl Verifier<'_> {
    /// Checks the next proof on a history.
    fn take(&mut self, recorded: Result<RecordedHistory, Error>) -> anyhow::Result<()> {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            // `check` writes no proof of such a history.
            Err(error) => return self.skip(&error),
        };
        print_notes(&recorded);
        let label = recorded.label();
        let (header, verified) = match self.verify(&recorded) {
            Ok(verified) => verified,
            Err(ProofError::Refused(refusal)) => return self.refuse(Some(&label), &refusal),
            Err(ProofError::History(error)) => {
                self.is_over = true;
                return self.skip(&recorded.locate(error));
            }
        };
        let type_name = match &header.specification {
            Specification::Type { name, .. } | Specification::Own(name) => name,
        };
        let mut line = json!({
            "schema": 1,
            "history": label,
            "type": type_name,
            "operations": header.operations,
            "parts": verified.parts,
        });
        let text = match &verified.verdict {
            Proven::Nothing(reason) => {
                self.exit = self.exit.max(Exit::Undecided);
                line["proof"] = json!("missing");
                line["reason"] = json!(reason);
                format!("no proof was made: {reason}")
            }
            proven => {
                let verdict = match proven {
                    Proven::Linearizable => "linearizable",
                    _ => "not linearizable",
                };
                line["proof"] = json!("accepted");
                line["verdict"] = json!(verdict.replace(' ', "_"));
                line["largest_set"] = json!(verified.largest_set);
                format!("the proof is accepted: {verdict} as a {type_name}")
            }
        };
        self.print(&line, &format!("{label}: {text}"))
    }

    fn verify(&mut self, recorded: &RecordedHistory) -> Result<(Header, Verified), ProofError> {
        let Some(header) = self.reader.next_header()? else {
            let reason = "the file has no proof of this history";
            return Err(self.reader.refuse(reason).into());
        };
        let choice = self.type_in(&header, recorded)?;
        let object = choice.build().map_err(|error| {
            self.reader
                .refuse(format!("the type is not known: {}", error.reason()))
        })?;
        let history = &recorded.history;
        let verified = object.verify_proof(&mut self.reader, &header, history);
        match verified {
            Ok(verified) => Ok((header, verified)),
            Err(ProofError::History(error)) => Err(with_methods(error, &choice).into()),
            Err(refused) => Err(refused),
        }
    }

    /// The type that the header names, which must be that of the history where the user or the input names one.
    fn type_in(
        &self,
        header: &Header,
        recorded: &RecordedHistory,
    ) -> Result<TypeChoice, ProofError> {
        let Specification::Type { name, params } = &header.specification else {
            let reason = "the proof is about a specification that is not built in: the program that has it can check it";
            return Err(self.reader.refuse(reason).into());
        };
        let stated = match (&self.chosen, &recorded.object_type) {
            (None, None) => None,
            (chosen, _) => type_of(recorded, chosen.as_ref())?,
        };
        let stated = stated.map(|choice| choice.specification());
        match stated {
            Some(stated) if stated != header.specification => {
                let reason = format!(
                    "the proof is about {}, and the history is {}",
                    shown(&header.specification),
                    shown(&stated)
                );
                Err(self.reader.refuse(reason).into())
            }
            _ => Ok(TypeChoice {
                name: name.clone(),
                params: params.clone(),
            }),
        }
    }

    fn skip(&mut self, error: &Error) -> anyhow::Result<()> {
        self.out.flush()?;
        eprintln!("linpoint: {error}");
        self.exit = self.exit.max(Exit::of_kind(error.kind()));
        Ok(())
    }

    fn refuse(&mut self, history: Option<&str>, refusal: &Refusal) -> anyhow::Result<()> {
        self.is_over = true;
        self.exit = self.exit.max(Exit::Violation);
        let proof = self.args.proof.display().to_string();
        let line = json!({
            "schema": 1,
            "history": history,
            "proof": "refused",
            "line": refusal.line,
            "reason": refusal.reason,
        });
        let at = format!("{proof}:{}: {}", refusal.line, refusal.reason);
        let of = history.map_or(String::new(), |history| format!("{history}: "));
        self.print(&line, &format!("{of}the proof is refused: {at}"))
    }

    fn print(&mut self, line: &serde_json::Value, text: &str) -> anyhow::Result<()> {
        match self.args.json {
            true => writeln!(self.out, "{line}")?,
            false => writeln!(self.out, "{text}")?,
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Exit> {
        // A proof that is left over may be that of a history which could not be read.
        if !self.is_over && self.exit <= Exit::Undecided {
            match self.reader.next_header() {
                Ok(None) => {}
                Ok(Some(header)) => {
                    let reason = format!("{} has a proof here, but was not given", header.history);
                    let refusal = self.reader.refuse(reason);
                    self.refuse(None, &refusal)?;
                }
                Err(refusal) => self.refuse(None, &refusal)?,
            }
        }
        self.out.finish()?;
        Ok(self.exit)
    }
}

/// A type with its parameters, as users write it.
fn shown(specification: &Specification) -> String {
    match specification {
        Specification::Own(name) => name.clone(),
        Specification::Type { name, params } => {
            let params: Vec<_> = params
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            match params.is_empty() {
                true => name.clone(),
                false => format!("{name}:{}", params.join(",")),
            }
        }
    }
}
