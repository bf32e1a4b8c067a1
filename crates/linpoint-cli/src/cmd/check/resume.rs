//! Goes on from the verdicts of an earlier run: the lines that it printed with `--jsonl`.

use std::collections::HashMap;
use std::path::Path;

use linpoint::format::open_text;
use linpoint::{EngineChoice, Error, Ties, Value};
use serde_json::{Value as Json, json};

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::output::Summary;

/// The verdicts of an earlier run.
pub(super) struct Resumed {
    path: String,
    /// What the run said of each input before its verdicts, by the name of the input.
    headers: HashMap<String, Json>,
    /// By what objects are called. What was undecided is not here: it is decided again.
    verdicts: HashMap<String, Exit>,
}

impl Resumed {
    /// What a run prints of an input before its verdicts: all that they depend on.
    pub(super) fn header(args: &CheckArgs, path: &Path, name: &str, specified: &str) -> Json {
        let engine = EngineChoice::NAMES.iter();
        let engine = engine.copied().find(|(_, engine)| *engine == args.engine);
        let bytes = path.metadata().ok().filter(std::fs::Metadata::is_file);
        json!({
            "schema": 2,
            "input": name,
            "bytes": bytes.map(|of| of.len()),
            "type": specified,
            "ties": args.input.ties.map(|ties| match ties {
                Ties::CallFirst => "call",
                Ties::ReturnFirst => "return",
            }),
            "engine": engine.map(|(name, _)| name),
            "depth_max": args.depth_max,
            "whole": args.whole,
        })
    }

    /// Reads the verdicts in a file. A line that was cut off says nothing.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let name = path.to_string_lossy().into_owned();
        let mut resumed = Resumed {
            path: name.clone(),
            headers: HashMap::new(),
            verdicts: HashMap::new(),
        };
        for line in std::io::BufRead::split(open_text(path)?, b'\n') {
            let line = line.map_err(|error| Error::unreadable(error.to_string()).in_file(&name))?;
            let Ok(line) = serde_json::from_slice::<Json>(&line) else {
                continue;
            };
            if let Some(input) = line["input"].as_str() {
                let input = input.to_owned();
                resumed.agree_with_earlier(&input, &line)?;
                resumed.headers.insert(input, line);
                continue;
            }
            let exit = match line["verdict"].as_str() {
                Some("linearizable") => Exit::Linearizable,
                Some("not linearizable") => Exit::Violation,
                _ => continue,
            };
            if let Some(history) = line["history"].as_str() {
                resumed.verdicts.insert(history.to_owned(), exit);
            }
        }
        match resumed.headers.is_empty() {
            true => {
                let reason = "it holds no verdicts on objects: --resume takes what `linpoint check --stream --jsonl` or --spill printed";
                Err(Error::usage(reason).in_file(&name))
            }
            false => Ok(resumed),
        }
    }

    fn agree_with_earlier(&self, input: &str, header: &Json) -> Result<(), Error> {
        match self.headers.contains_key(input) {
            true => self.agree(header),
            false => Ok(()),
        }
    }

    /// Refuses verdicts on another input, or with other options, than those of this header.
    pub(super) fn agree(&self, header: &Json) -> Result<(), Error> {
        let input = header["input"].as_str().unwrap_or_default();
        let Some(earlier) = self.headers.get(input) else {
            // That run ended before it came to this input.
            return Ok(());
        };
        let fields = header.as_object().into_iter().flatten();
        let mut changed = fields.filter(|(name, value)| earlier[name.as_str()] != **value);
        let Some((name, value)) = changed.next() else {
            return Ok(());
        };
        let reason = format!(
            "its verdicts on {input} are of another run: \"{name}\" was {} there and is {value} now",
            earlier[name.as_str()]
        );
        Err(Error::usage(reason).in_file(&self.path))
    }

    /// Counts the verdicts on the objects of an input.
    pub(super) fn count(&self, input: &str, summary: &mut Summary) {
        let prefix = format!("{input}, object ");
        let of_input = self.verdicts.iter();
        let of_input = of_input.filter(|(name, _)| name.starts_with(&prefix));
        of_input.for_each(|(_, &exit)| summary.count_verdict(exit));
    }

    /// Whether there is a verdict on this object of an input.
    pub(super) fn has(&self, input: &str, object: &Value) -> bool {
        self.verdicts
            .contains_key(&format!("{input}, object {object}"))
    }
}
