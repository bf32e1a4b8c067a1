//! The operations of a generated history, in the order of their calls.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use linpoint::format::Row;
use linpoint::generate::GeneratedEvent;
use linpoint::{Call, Error, Value};

/// Makes operations of events. An operation waits for the return of every one that was called before it.
#[derive(Default)]
pub(super) struct Rows {
    waiting: VecDeque<Waiting>,
    /// The number of the first of these, among all operations.
    first: u64,
    /// The operation of each process that is open, by number.
    open: HashMap<Value, u64>,
    methods: Vec<Arc<str>>,
    /// The number of events so far.
    now: i64,
}

struct Waiting {
    row: Row,
    is_over: bool,
}

impl Rows {
    /// Takes the next event. Gives to `each` the operations that need not wait any longer.
    pub(super) fn take(
        &mut self,
        event: GeneratedEvent,
        each: &mut dyn FnMut(&Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match event {
            GeneratedEvent::Call(process, call) => self.call(process, call),
            GeneratedEvent::Return(process, result) => {
                let now = self.now;
                if let Some(row) = self.end(&process) {
                    row.result = result;
                    row.returned = Some(now);
                }
                self.now += 1;
            }
            GeneratedEvent::Crash(process) => _ = self.end(&process),
        }
        while let Some(first) = self.waiting.front()
            && first.is_over
        {
            each(&first.row)?;
            self.waiting.pop_front();
            self.first += 1;
        }
        Ok(())
    }

    /// Gives to `each` what is left: operations that never returned, and those after them.
    pub(super) fn finish(
        self,
        each: &mut dyn FnMut(&Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.waiting
            .iter()
            .try_for_each(|waiting| each(&waiting.row))
    }

    fn call(&mut self, process: Value, call: Call) {
        let number = self.first + self.waiting.len() as u64;
        self.open.insert(process.clone(), number);
        let row = Row {
            object: call.object,
            process: Some(process),
            method: self.method(&call.method),
            argument: call.argument,
            result: Value::Nil,
            called: self.now,
            returned: None,
            hint: None,
            line: 0,
        };
        self.waiting.push_back(Waiting {
            row,
            is_over: false,
        });
        self.now += 1;
    }

    /// Ends the open operation of a process.
    fn end(&mut self, process: &Value) -> Option<&mut Row> {
        let number = self.open.remove(process)?;
        let waiting = &mut self.waiting[(number - self.first) as usize];
        waiting.is_over = true;
        Some(&mut waiting.row)
    }

    fn method(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.methods.iter().find(|known| ***known == *name) {
            return Arc::clone(known);
        }
        let method: Arc<str> = name.into();
        self.methods.push(Arc::clone(&method));
        method
    }
}
