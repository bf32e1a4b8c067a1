//! `linpoint watch`: report violations while the history happens.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

#[cfg(feature = "mapping")]
use linpoint::format::{MappedStream, Mapping};
use linpoint::format::{StreamLine, snapshot_event, stream_line};
use linpoint::history::ONE_OPEN_CALL;
use linpoint::object::{ObjectType, RecordedCall, find_type};
use linpoint::online::Finding;
use linpoint::spec::Params;
use linpoint::{Call, Error, OnlineChecker, Value};

use super::lines::{AtEnd, Lines, Piece, Unit};
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::output::watch::{Printer, Totals};
#[cfg(feature = "mapping")]
use crate::source::mapping;
#[cfg(not(feature = "mapping"))]
use crate::source::no_mappings;
use crate::source::{TypeChoice, with_methods};

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Exit> {
    let input = match args.file.to_str() {
        Some("-") => "<stdin>".to_owned(),
        _ => args.file.display().to_string(),
    };
    #[cfg(feature = "mapping")]
    let mapping = args.map.as_deref().map(mapping).transpose()?;
    #[cfg(feature = "mapping")]
    let reader = reader_of(mapping.as_ref())?;
    #[cfg(not(feature = "mapping"))]
    let reader = match args.map {
        Some(_) => return Err(no_mappings().into()),
        None => Box::new(Plain),
    };
    let header = reader.header();
    let mut run = Run {
        reader,
        chosen: args.object.choice()?,
        watched: None,
        methods: HashMap::new(),
        line: 0,
        first_only: args.first,
        totals: Totals::default(),
        printer: Printer::new(args, &input, Output::standard()),
    };
    // Each history has one type from beginning to end; without a header, the one that the user names.
    if let Some(choice) = run.chosen.clone() {
        let object = choice.build()?;
        run.begin(choice, object)?;
    }
    if let Some(header) = header {
        run.take(header)?;
    }
    let at_end = if args.follow {
        AtEnd::Wait
    } else {
        AtEnd::Stop
    };
    let lines = Lines::open(&args.file, at_end).map_err(|error| error.in_file(&input))?;
    let stop = interrupt::flag();
    let mut exit = Exit::Linearizable;
    while !stop.load(Relaxed) {
        let read = match lines.next() {
            Ok(Piece::Nothing) => continue,
            Ok(Piece::End) => break,
            Ok(Piece::Whole(unit, bytes)) => run.take_all(unit, &bytes),
            Err(error) => Err(Error::unreadable(error.to_string()).into()),
        };
        match read {
            Ok(Next::Line) => {}
            Ok(Next::Nothing) => break,
            Err(error) => {
                // Any other error is one of writing the output.
                let error = error.downcast::<Error>()?.in_file(&input);
                run.printer.error(&error)?;
                exit = Exit::of_kind(error.kind());
                break;
            }
        }
    }
    if exit == Exit::Linearizable
        && let Some(doubt) = run.reader.doubt()
    {
        let doubt = doubt.in_file(&input);
        run.printer.error(&doubt)?;
        exit = Exit::of_kind(doubt.kind());
    }
    // After a usage error, or an error on the first line, nothing was watched: there is no summary.
    if exit == Exit::Usage || exit != Exit::Linearizable && run.line <= 1 {
        return Ok(run.totals.exit().max(exit));
    }
    Ok(run.finish()?.max(exit))
}

/// Reads the events of the input.
trait LineReader {
    /// What is known before the first line.
    fn header(&self) -> Option<StreamLine> {
        None
    }

    /// What one line or event says, if it says something.
    fn line(&mut self, unit: Unit, number: u64, text: &str) -> Result<Option<StreamLine>, Error>;

    /// Why what was read so far may be wrong, though no line is.
    fn doubt(&self) -> Option<Error> {
        None
    }
}

/// Reads JSON lines of events, and the events of snapshots.
struct Plain;

impl LineReader for Plain {
    fn line(&mut self, unit: Unit, _: u64, text: &str) -> Result<Option<StreamLine>, Error> {
        match unit {
            Unit::Line => stream_line(text),
            Unit::Event => snapshot_event(text),
        }
    }
}

#[cfg(feature = "mapping")]
impl LineReader for MappedStream<'_> {
    fn header(&self) -> Option<StreamLine> {
        Some(MappedStream::header(self))
    }

    fn line(&mut self, _: Unit, number: u64, text: &str) -> Result<Option<StreamLine>, Error> {
        MappedStream::line(self, number, text)
    }

    fn doubt(&self) -> Option<Error> {
        MappedStream::doubt(self)
    }
}

/// The reader of the input, by a mapping if there is one.
#[cfg(feature = "mapping")]
fn reader_of(mapping: Option<&Mapping>) -> Result<Box<dyn LineReader + '_>, Error> {
    Ok(match mapping {
        Some(mapping) => Box::new(mapping.stream().map_err(|error| error.in_file("--map"))?),
        None => Box::new(Plain),
    })
}

/// Whether to read further.
enum Next {
    Line,
    Nothing,
}

struct Run<'m> {
    reader: Box<dyn LineReader + 'm>,
    chosen: Option<TypeChoice>,
    watched: Option<(TypeChoice, OnlineChecker<ObjectType>)>,
    /// The names of methods, which the calls in the checker share.
    methods: HashMap<String, Arc<str>>,
    line: u64,
    first_only: bool,
    totals: Totals,
    printer: Printer,
}

impl Run<'_> {
    fn take_all(&mut self, unit: Unit, bytes: &[u8]) -> anyhow::Result<Next> {
        self.printer.counts_in(unit.name());
        if unit == Unit::Event && self.watched.is_none() {
            let choice = TypeChoice::parse("snapshot")?;
            let object = choice.build()?;
            self.begin(choice, object)?;
        }
        let lines = bytes.strip_suffix(&[unit.end()]).unwrap_or(bytes);
        for line in lines.split(|&byte| byte == unit.end()) {
            self.line += 1;
            let text = std::str::from_utf8(line)
                .map_err(|_| Error::malformed("not UTF-8").at_line(self.line))?;
            let said = self.reader.line(unit, self.line, text);
            let said = said.map_err(|error| error.at_line(self.line))?;
            if let Some(said) = said
                && let Next::Nothing = self.take(said)?
            {
                return Ok(Next::Nothing);
            }
        }
        Ok(Next::Line)
    }

    fn take(&mut self, said: StreamLine) -> anyhow::Result<Next> {
        let said = match said {
            StreamLine::Header {
                object_type,
                params,
            } => {
                self.header(object_type, params)?;
                return Ok(Next::Line);
            }
            StreamLine::Note(_) => return Ok(Next::Line),
            said => said,
        };
        let Some(finding) = self.feed(said)? else {
            return Ok(Next::Line);
        };
        if let (Finding::Violation(_), Some(doubt)) = (&finding, self.reader.doubt()) {
            return Err(doubt.into());
        }
        self.totals.count(&finding);
        self.printer.finding(self.line, &finding)?;
        Ok(match finding {
            Finding::Violation(_) if self.first_only => Next::Nothing,
            _ => Next::Line,
        })
    }

    /// Gives one event to the checker. Errors name the line.
    fn feed(&mut self, event: StreamLine) -> Result<Option<Finding<ObjectType>>, Error> {
        let line = self.line;
        let Some((choice, checker)) = &mut self.watched else {
            let reason = "no header names the type of the object: name it with --type (see `linpoint types`)";
            return Err(Error::usage(reason).at_line(line));
        };
        let found = match event {
            StreamLine::Call { process, call } => refuse_overlap(checker, &process, &call)
                .and_then(|()| {
                    let call = RecordedCall {
                        object: call.object,
                        method: shared(&mut self.methods, call.method),
                        argument: call.argument,
                        line,
                    };
                    checker.call(process, call)
                }),
            StreamLine::Return {
                process,
                method,
                result,
            } => refuse_other_method(checker, &process, method.as_deref())
                .and_then(|()| checker.ret(process, result)),
            StreamLine::Fail { process } => checker.fail(process),
            StreamLine::Crash { process } => checker.crash(process).map(|()| None),
            // Neither headers nor notes are events.
            _ => Ok(None),
        };
        found.map_err(|error| with_methods(error.at_line(line), choice))
    }

    /// Another history begins.
    fn header(&mut self, object_type: Option<String>, params: Params) -> anyhow::Result<()> {
        self.end()?;
        let choice = match (&self.chosen, object_type) {
            (Some(chosen), name) => {
                chosen.completed(name.as_deref().unwrap_or(&chosen.name), &params)
            }
            (None, None) => return Ok(()),
            (None, Some(name)) => {
                let name = find_type(&name).map_or(name, |info| info.name.to_owned());
                TypeChoice::built_in(&name, params)
            }
        };
        let object = choice.build().map_err(|error| match &self.chosen {
            Some(_) => error,
            // A wrong type is a usage error if the command line names it, and a malformed input if the input does.
            None => self.locate(Error::malformed(error.reason())),
        })?;
        let begun = self.begin(choice, object);
        Ok(begun.map_err(|error| self.locate(error))?)
    }

    /// The error with the line of the header, unless a mapping is the header.
    fn locate(&self, error: Error) -> Error {
        match self.line {
            0 => error,
            line => error.at_line(line),
        }
    }

    fn begin(&mut self, choice: TypeChoice, object: ObjectType) -> Result<(), Error> {
        let checker = OnlineChecker::new(object)
            .map_err(|error| Error::usage(format!("{}: {}", choice.described(), error.reason())))?;
        self.watched = Some((choice, checker));
        Ok(())
    }

    /// A history ends.
    fn end(&mut self) -> std::io::Result<()> {
        let Some((_, checker)) = self.watched.take() else {
            return Ok(());
        };
        for unsettled in checker.unsettled() {
            let finding = Finding::CannotTell(unsettled);
            self.totals.count(&finding);
            self.printer.finding(self.line, &finding)?;
        }
        self.totals.add(&checker);
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<Exit> {
        self.end()?;
        self.printer.finish(&self.totals)?;
        Ok(self.totals.exit())
    }
}

/// A process has one call open at a time.
fn refuse_overlap(
    checker: &OnlineChecker<ObjectType>,
    process: &Value,
    call: &Call,
) -> Result<(), Error> {
    let Some(open) = checker.pending_call(process) else {
        return Ok(());
    };
    Err(Error::malformed(format!(
        "process {process} calls {:?} while its call of {:?} on line {} is still open: {ONE_OPEN_CALL}",
        call.method, open.method, open.line
    )))
}

/// A return that names a method must name the one that was called.
fn refuse_other_method(
    checker: &OnlineChecker<ObjectType>,
    process: &Value,
    method: Option<&str>,
) -> Result<(), Error> {
    match (method, checker.pending_call(process)) {
        (Some(method), Some(open)) if *method != *open.method => Err(Error::malformed(format!(
            "process {process} returns from {method:?} but had called {:?}",
            open.method
        ))),
        _ => Ok(()),
    }
}

/// Returns the shared copy of this name.
fn shared(names: &mut HashMap<String, Arc<str>>, name: String) -> Arc<str> {
    if let Some(shared) = names.get(&name) {
        return Arc::clone(shared);
    }
    let shared: Arc<str> = name.as_str().into();
    names.insert(name, Arc::clone(&shared));
    shared
}
