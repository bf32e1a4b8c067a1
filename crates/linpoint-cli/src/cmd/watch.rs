//! `linpoint watch`: report violations while the history happens.

use std::sync::atomic::Ordering::Relaxed;

use linpoint::Error;
use linpoint::format::{StreamLine, snapshot_event, stream_line};
use linpoint::object::{ObjectType, find_type};
use linpoint::online::{Notice, Watcher};
use linpoint::spec::Params;

use super::lines::{AtEnd, Lines, Piece, Unit};
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::output::watch::{Printer, Totals};
use crate::source::{TypeChoice, with_methods};

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Exit> {
    let chosen = args.object_type.as_deref().map(TypeChoice::parse);
    let input = match args.file.to_str() {
        Some("-") => "<stdin>".to_owned(),
        _ => args.file.display().to_string(),
    };
    let mut run = Run {
        chosen: chosen.transpose()?,
        watched: None,
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
    // After a usage error, or an error on the first line, nothing was watched: there is no summary.
    if exit == Exit::Usage || exit != Exit::Linearizable && run.line <= 1 {
        return Ok(run.totals.exit().max(exit));
    }
    Ok(run.finish()?.max(exit))
}

/// Whether to go on.
enum Next {
    Line,
    Nothing,
}

struct Run {
    chosen: Option<TypeChoice>,
    watched: Option<(TypeChoice, Watcher)>,
    line: u64,
    first_only: bool,
    totals: Totals,
    printer: Printer,
}

impl Run {
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
            let said = match unit {
                Unit::Line => stream_line(text),
                Unit::Event => snapshot_event(text),
            };
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
        let Some((choice, watcher)) = &mut self.watched else {
            let reason =
                "which type of object is this? No header tells; use --type (see `linpoint types`)";
            return Err(Error::usage(reason).at_line(self.line).into());
        };
        let notice = watcher
            .take(self.line, said)
            .map_err(|error| with_methods(error, choice))?;
        let Some(notice) = notice else {
            return Ok(Next::Line);
        };
        self.totals.count(&notice);
        self.printer.notice(self.line, &notice)?;
        Ok(match notice {
            Notice::Violation(_) if self.first_only => Next::Nothing,
            _ => Next::Line,
        })
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
                TypeChoice { name, params }
            }
        };
        let object = choice.build().map_err(|error| match &self.chosen {
            Some(_) => error,
            // A wrong type is a usage error if the command line names it, and a malformed input if the input does.
            None => Error::malformed(error.reason()).at_line(self.line),
        })?;
        let begun = self.begin(choice, object);
        Ok(begun.map_err(|error| error.at_line(self.line))?)
    }

    fn begin(&mut self, choice: TypeChoice, object: ObjectType) -> Result<(), Error> {
        let watcher = Watcher::new(object)
            .map_err(|error| Error::usage(format!("type {}: {}", choice.name, error.reason())))?;
        self.watched = Some((choice, watcher));
        Ok(())
    }

    /// A history ends.
    fn end(&mut self) -> std::io::Result<()> {
        let Some((_, watcher)) = self.watched.take() else {
            return Ok(());
        };
        for unsettled in watcher.unsettled() {
            let notice = Notice::CannotTell(unsettled);
            self.totals.count(&notice);
            self.printer.notice(self.line, &notice)?;
        }
        self.totals.add(&watcher);
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<Exit> {
        self.end()?;
        self.printer.finish(&self.totals)?;
        Ok(self.totals.exit())
    }
}
