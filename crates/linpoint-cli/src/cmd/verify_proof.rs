//! `linpoint verify-proof`: check proofs of verdicts without any engine.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use linpoint::engine::{Budget, Limit};
use linpoint::format::{RecordedHistory, open_text};
use linpoint::proof::{Header, ProofError, ProofReader, Proven, Refusal, Specification, Verified};
use linpoint::{Error, ObjectType};
use serde_json::json;

use crate::args::VerifyProofArgs;
use crate::exit::Exit;
use crate::files::{Files, Output};
use crate::interrupt;
use crate::source::{TypeChoice, print_notes, type_of, with_methods, with_params};

pub(crate) fn run(args: &VerifyProofArgs) -> anyhow::Result<Exit> {
    args.limits.start_threads()?;
    let chosen = args.input.type_choice()?;
    let mut inputs = args.input.paths(chosen.as_ref());
    inputs.push(args.proof.clone());
    Files::reading(&inputs)?;
    let stop = interrupt::flag();
    let mut verifier = Verifier {
        args,
        chosen,
        reader: ProofReader::new(open_text(&args.proof)?),
        stop: Arc::clone(&stop),
        next: None,
        is_over: false,
    };
    let results = Arc::new(Mutex::new(Some(Results {
        out: Output::standard(),
        exit: Exit::default(),
        style: if args.json { Style::Json } else { Style::Text },
    })));
    interrupt::end_reading_on(stop, Arc::clone(&results), |mut results| {
        results.exit = results.exit.max(Exit::Undecided);
        results.finish()
    });
    let mut failed = None;
    args.input
        .read(args.limits.memory, args.limits.timeout, &mut |recorded| {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if let (None, false, Some(results)) = (&failed, verifier.is_over, results.as_mut()) {
                failed = verifier.take(recorded, results).err();
            }
        });
    let mut results = interrupt::all_is_read(&results);
    if let Some(error) = failed {
        return Err(error);
    }
    verifier.finish(&mut results)?;
    results.finish()
}

struct Verifier<'a> {
    args: &'a VerifyProofArgs,
    chosen: Option<TypeChoice>,
    reader: ProofReader<'static>,
    stop: Arc<AtomicBool>,
    /// The header that was read last, if the proof after it is of a later history.
    next: Option<Header>,
    /// Whether a proof was not accepted: where the next one begins is not known then.
    is_over: bool,
}

/// What is printed.
enum Style {
    Text,
    Json,
}

/// What was found so far.
struct Results {
    out: Output,
    exit: Exit,
    style: Style,
}

impl Verifier<'_> {
    /// Checks the next proof on a history.
    fn take(
        &mut self,
        recorded: Result<RecordedHistory, Error>,
        results: &mut Results,
    ) -> anyhow::Result<()> {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            // `check` writes no proof of such a history.
            Err(error) => return results.skip(&error),
        };
        self.reader.limit_to(self.budget());
        print_notes(&recorded);
        let label = recorded.label();
        let (header, verified) = match self.verify(&recorded) {
            Ok(verified) => verified,
            Err(error) => return self.not_accepted(&recorded, error, results),
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
                results.exit = results.exit.max(Exit::Undecided);
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
        results.print(&line, &format!("{}: {text}", recorded.title()))
    }

    /// Reports why the proof on a history was not accepted.
    fn not_accepted(
        &mut self,
        recorded: &RecordedHistory,
        error: ProofError,
        results: &mut Results,
    ) -> anyhow::Result<()> {
        self.is_over |= !matches!(error, ProofError::History(_));
        let label = recorded.label();
        match error {
            ProofError::Refused(refusal) => self.refuse(Some(&label), &refusal, results),
            ProofError::Limit(limit) => results.stop(&label, limit),
            ProofError::History(error) => results.skip(&recorded.locate(error)),
        }
    }

    /// A budget for one proof, starting now.
    fn budget(&self) -> Budget {
        let limits = &self.args.limits;
        Budget::new(limits.timeout, limits.memory).cancelled_by(Arc::clone(&self.stop))
    }

    fn verify(&mut self, recorded: &RecordedHistory) -> Result<(Header, Verified), ProofError> {
        let header = match self.next.take() {
            Some(header) => Some(header),
            None => self.reader.next_header()?,
        };
        let Some(header) = header else {
            if let Some(choice) = type_of(recorded, self.chosen.as_ref())? {
                validate(&choice.build_for(&recorded.history)?, &choice, recorded)?;
            }
            let reason = "the file has no proof of this history";
            return Err(self.reader.refuse(reason).into());
        };
        let choice = self.type_in(&header, recorded)?;
        let object = choice.build_for(&recorded.history).map_err(|error| {
            self.reader
                .refuse(format!("the type is not known: {}", error.reason()))
        })?;
        let running = choice.running(&self.budget());
        if let Err(error) = validate(&object, &choice, recorded) {
            self.next = Some(header);
            return Err(error.into());
        }
        let verified = object.verify_proof(&mut self.reader, &header, &recorded.history);
        self.is_over = verified.is_err();
        drop(running);
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
        let stated = match (&self.chosen, &recorded.object_type) {
            (None, None) => None,
            (chosen, _) => type_of(recorded, chosen.as_ref())?,
        };
        match (stated, &header.specification) {
            (Some(stated), about) if stated.specification() != *about => {
                let reason = format!(
                    "the proof is about {}, and the history is {}",
                    shown(about),
                    shown(&stated.specification())
                );
                Err(self.reader.refuse(reason).into())
            }
            (Some(stated), _) => Ok(stated),
            (None, Specification::Type { name, params }) => {
                Ok(TypeChoice::built_in(name, params.clone()))
            }
            (None, Specification::Own(name)) => {
                let reason = format!(
                    "the proof is about {name}, which is not built in: name its file with --spec, or check it with the program that has it"
                );
                Err(self.reader.refuse(reason).into())
            }
        }
    }

    fn refuse(
        &self,
        history: Option<&str>,
        refusal: &Refusal,
        results: &mut Results,
    ) -> anyhow::Result<()> {
        results.exit = results.exit.max(Exit::Violation);
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
        results.print(&line, &format!("{of}the proof is refused: {at}"))
    }

    /// Looks for what follows in the file after the proofs of all histories.
    fn finish(mut self, results: &mut Results) -> anyhow::Result<()> {
        // A proof that is left over may be that of a history which could not be read.
        if self.is_over || results.exit > Exit::Undecided || self.stop.load(Relaxed) {
            return Ok(());
        }
        let refusal = match self.reader.next_header() {
            Ok(None) => return Ok(()),
            Ok(Some(header)) => {
                let reason = format!("{} has a proof here, but was not given", header.history);
                self.reader.refuse(reason)
            }
            Err(ProofError::Refused(refusal)) => refusal,
            Err(ProofError::Limit(limit)) => {
                return results.stop(&self.args.proof.display().to_string(), limit);
            }
            Err(ProofError::History(error)) => return results.skip(&error),
        };
        self.refuse(None, &refusal, results)
    }
}

impl Results {
    fn skip(&mut self, error: &Error) -> anyhow::Result<()> {
        self.out.flush()?;
        eprintln!("linpoint: {error}");
        self.exit = self.exit.max(Exit::of_kind(error.kind()));
        Ok(())
    }

    /// Reports that a limit came before the end of a check.
    fn stop(&mut self, name: &str, limit: Limit) -> anyhow::Result<()> {
        self.exit = self.exit.max(Exit::Undecided);
        let line = json!({
            "schema": 1,
            "history": name,
            "proof": "unchecked",
            "reason": limit.to_string(),
        });
        self.print(&line, &format!("{name}: the proof is not checked: {limit}"))
    }

    fn print(&mut self, line: &serde_json::Value, text: &str) -> anyhow::Result<()> {
        match self.style {
            Style::Json => writeln!(self.out, "{line}")?,
            Style::Text => writeln!(self.out, "{text}")?,
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<Exit> {
        self.out.finish()?;
        Ok(self.exit)
    }
}

/// Returns why the object refuses a history, if it does. `check` writes no proof of such a history.
fn validate(
    object: &ObjectType,
    choice: &TypeChoice,
    recorded: &RecordedHistory,
) -> Result<(), Error> {
    let validated = object.validate(&recorded.history);
    validated.map_err(|error| with_methods(error, choice))
}

/// A type with its parameters, as users write it.
fn shown(specification: &Specification) -> String {
    match specification {
        Specification::Own(name) => name.clone(),
        Specification::Type { name, params } => with_params(name, params),
    }
}
