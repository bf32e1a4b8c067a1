//! Prints the histories of a batch in their order, each as soon as it and all before it are decided.

use std::sync::{Mutex, PoisonError};

use crate::output::Printer;
use crate::output::github::GithubReport;
use crate::results::Outcome;

/// The histories of a batch.
pub(super) struct InOrder<'p> {
    printing: Mutex<Printing<'p>>,
}

struct Printing<'p> {
    printer: &'p mut Printer,
    github: Option<&'p mut GithubReport>,
    /// What is decided so far, by the place in the batch.
    outcomes: Vec<Option<Outcome>>,
    /// The first one that was not printed.
    next: usize,
    printed: std::io::Result<()>,
}

impl<'p> InOrder<'p> {
    /// A batch of so many histories.
    pub(super) fn new(
        count: usize,
        printer: &'p mut Printer,
        github: Option<&'p mut GithubReport>,
    ) -> Self {
        let printing = Printing {
            printer,
            github,
            outcomes: (0..count).map(|_| None).collect(),
            next: 0,
            printed: Ok(()),
        };
        InOrder {
            printing: Mutex::new(printing),
        }
    }

    /// The history at this place is decided.
    pub(super) fn decided(&self, place: usize, outcome: Outcome) {
        let mut printing = self.printing.lock().unwrap_or_else(PoisonError::into_inner);
        if printing.printed.is_ok() {
            printing.printed = printing.printer.print_decided(&outcome);
        }
        printing.outcomes[place] = Some(outcome);
        printing.go_on();
    }

    /// What was decided, in the order of the batch, and whether all of it could be printed.
    pub(super) fn finish(self) -> (Vec<Outcome>, std::io::Result<()>) {
        let printing = self.printing.into_inner();
        let printing = printing.unwrap_or_else(PoisonError::into_inner);
        let decided = printing.outcomes.into_iter().flatten().collect();
        (decided, printing.printed)
    }
}

impl Printing<'_> {
    /// Prints what follows on what was printed.
    fn go_on(&mut self) {
        while let Some(Some(outcome)) = self.outcomes.get(self.next)
            && self.printed.is_ok()
        {
            self.printed = self.printer.print_in_order(outcome);
            if let Some(github) = &mut self.github
                && self.printed.is_ok()
            {
                self.printed = github.add(outcome, self.printer.out());
            }
            self.next += 1;
        }
    }
}
