//! Collects the operations of one object after the other, and makes histories of them.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{EachObject, Row, RowOrder, not_in_one_piece};
use crate::engine::Stopwatch;
use crate::error::Error;
use crate::format::jsonl::About;
use crate::format::{ReadOptions, RecordedHistory};
use crate::history::{HistoryBuilder, OperationParts};
use crate::value::Value;

/// Makes the history of each object of an input that has each of them in one piece.
pub(super) struct Collector<'a> {
    input: Arc<str>,
    options: &'a ReadOptions,
    about: About,
    order: RowOrder,
    skip: &'a (dyn Fn(&Value) -> bool + Sync),
    /// The objects that are over.
    seen: HashSet<Value>,
    current: Option<Current>,
}

/// The object whose operations are being collected.
struct Current {
    object: Value,
    stopwatch: Stopwatch,
    state: State,
}

enum State {
    Collected(Box<HistoryBuilder>),
    /// The rest of its operations is passed over.
    Broken(Error),
    Skipped,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        input: &Arc<str>,
        options: &'a ReadOptions,
        about: About,
        skip: &'a (dyn Fn(&Value) -> bool + Sync),
    ) -> Self {
        Collector {
            input: Arc::clone(input),
            options,
            about,
            order: RowOrder::Times,
            skip,
            seen: HashSet::new(),
            current: None,
        }
    }

    /// The same collector, of operations whose times are these.
    pub(super) fn in_order(self, order: RowOrder) -> Self {
        Collector { order, ..self }
    }

    /// Takes the next operation. Hands the history of an object over when another one begins.
    pub(super) fn take(
        &mut self,
        row: Row,
        each: &mut EachObject<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let is_same = |current: &Current| current.object == row.object;
        let mut flow = ControlFlow::Continue(());
        if !self.current.as_ref().is_some_and(is_same) {
            if self.seen.contains(&row.object) {
                return Err(not_in_one_piece(&row.object, row.line));
            }
            flow = self.hand_over(each);
            self.begin(row.object.clone());
        }
        if let Some(current) = &mut self.current
            && let State::Collected(builder) = &mut current.state
            && let Err(error) = add(builder, row)
        {
            current.state = State::Broken(error);
        }
        Ok(flow)
    }

    fn begin(&mut self, object: Value) {
        let state = match (self.skip)(&object) {
            true => State::Skipped,
            false => State::Collected(Box::new(self.options.builder())),
        };
        self.current = Some(Current {
            object,
            stopwatch: Stopwatch::start(),
            state,
        });
    }

    fn hand_over(&mut self, each: &mut EachObject<'_>) -> ControlFlow<()> {
        let Some(current) = self.current.take() else {
            return ControlFlow::Continue(());
        };
        let Current {
            object,
            stopwatch,
            state,
        } = current;
        self.seen.insert(object.clone());
        let history = match state {
            State::Skipped => return ControlFlow::Continue(()),
            State::Broken(error) => Err(error),
            State::Collected(builder) => {
                let ties = self.options.ties.or(self.about.ties).unwrap_or_default();
                builder.finish(ties)
            }
        };
        let recorded = history.map(|history| RecordedHistory {
            history: match self.order {
                RowOrder::Times => history,
                RowOrder::Events => history.without_times(),
            }
            .with_clients(self.about.clients.clone()),
            object_type: self.about.clone().object_type(self.options),
            reading: stopwatch.elapsed(),
            ..RecordedHistory::default()
        });
        each(of_object(recorded, &self.input, object))
    }

    /// Hands the last object over.
    pub(super) fn finish(mut self, each: &mut EachObject<'_>) {
        // Nothing follows that could be left out.
        let _ = self.hand_over(each);
    }
}

fn add(builder: &mut HistoryBuilder, row: Row) -> Result<(), Error> {
    let parts = OperationParts {
        process: row.process.map(Into::into),
        object: row.object.into(),
        method: &row.method,
        argument: row.argument.into(),
        result: row.result.into(),
        called: row.called,
        returned: row.returned,
    };
    builder.operation_parts(row.line, parts)?;
    if let Some(hint) = row.hint {
        builder.hint(hint);
    }
    Ok(())
}

/// The history of an object of an input, or the error about it, with their names.
pub(in crate::format) fn of_object(
    recorded: Result<RecordedHistory, Error>,
    input: &Arc<str>,
    object: Value,
) -> Result<RecordedHistory, Error> {
    let mut named = RecordedHistory {
        input: Arc::clone(input),
        object: Some(object),
        ..RecordedHistory::default()
    };
    match recorded {
        Ok(recorded) => {
            named.history = recorded.history;
            named.object_type = recorded.object_type;
            named.reading = recorded.reading;
            Ok(named)
        }
        Err(error) => Err(error.in_file(&named.label())),
    }
}
