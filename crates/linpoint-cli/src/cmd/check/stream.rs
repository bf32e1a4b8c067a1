//! Inputs that are not read whole: object by object, in the order of calls, or sorted first.
//!
//! The way is chosen for each input. One that fits into memory is read whole, unless an option asks for something else. A file is
//! looked at first, so that no verdict is given on a part of an object; of a standard input this cannot be known.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use linpoint::engine::Budget;
use linpoint::format::{
    Note, ObjectReading, ReadOptions, RecordedHistory, RowInput, RowsRead, Sorter, Survey,
    histories_at,
};
use linpoint::{EngineChoice, Error, ErrorKind, ObjectType, OnlineChecker, Value};

use super::online::Online;
use super::resume::Resumed;
use super::{Run, SharedRun, TypeChoice};
use crate::args::CheckArgs;
use crate::progress::{StreamProgress, Watcher};

/// The share of the memory that is left which sorting may take.
const SORTING_SHARE: u64 = 4;

/// Takes a history, or the reason why there is none.
type Add<'a> = dyn FnMut(Result<RecordedHistory, Error>) -> ControlFlow<()> + 'a;

/// How the inputs of a run are read.
pub(super) struct Streaming<'a> {
    args: &'a CheckArgs,
    options: &'a ReadOptions,
    run: &'a SharedRun,
    chosen: Option<TypeChoice>,
    resumed: Option<Resumed>,
    watcher: Watcher,
    progress: Arc<StreamProgress>,
}

/// How one input is read.
enum Way {
    Whole,
    ByObject,
    ByCall,
    Sorted,
}

impl<'a> Streaming<'a> {
    pub(super) fn new(
        args: &'a CheckArgs,
        options: &'a ReadOptions,
        run: &'a SharedRun,
    ) -> anyhow::Result<Self> {
        let resumed = args
            .large
            .resume
            .as_deref()
            .map(Resumed::read)
            .transpose()?;
        let mut shared = run.lock().unwrap_or_else(PoisonError::into_inner);
        let (chosen, watcher, progress) = match shared.as_mut() {
            Some(run) => {
                let watcher = run.watcher.clone();
                (run.chosen.clone(), watcher, Arc::clone(&run.progress))
            }
            None => (None, Watcher::new(), Arc::default()),
        };
        drop(shared);
        Ok(Streaming {
            args,
            options,
            run,
            chosen,
            resumed,
            watcher,
            progress,
        })
    }

    /// Reads all inputs.
    pub(super) fn read(&self, add: &mut Add<'_>) -> anyhow::Result<()> {
        for file in &self.args.input.files {
            let paths = match self.args.large.are_given() {
                true => histories_at(file),
                false => vec![file.clone()],
            };
            // A directory without histories is an error of its reader.
            let paths = if paths.is_empty() {
                vec![file.clone()]
            } else {
                paths
            };
            for path in paths {
                match self.read_input(&path, add) {
                    Ok(()) => {}
                    Err(Failure::Input(error)) => {
                        if error.kind() == ErrorKind::Unsorted {
                            self.with_run(Run::retract);
                        }
                        _ = add(Err(error));
                    }
                    Err(Failure::Output(error)) => return Err(error),
                }
                if self.with_run(|run| run.is_stopped()).unwrap_or(true) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn with_run<T>(&self, work: impl FnOnce(&mut Run) -> T) -> Option<T> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.as_mut().map(work)
    }

    fn read_input(&self, path: &Path, add: &mut Add<'_>) -> Result<(), Failure> {
        let way = self.way(path)?;
        if let Way::Whole = way {
            let paths = [path.to_owned()];
            let mut add = |recorded| _ = add(recorded);
            self.args.input.read_files(&paths, self.options, &mut add);
            return Ok(());
        }
        self.progress.restart();
        let input = RowInput::open(path, self.options)?;
        let choice = self.choice(&input)?;
        let name = input.name().to_owned();
        let read = match way {
            Way::ByCall => {
                let online = Online::new(self.args, &input, &choice)?;
                let (read, exit) = self.progress.watch(&self.watcher, "checked", || {
                    online.run(input, &self.progress.read)
                })?;
                self.with_run(|run| run.summary.count_verdict(exit));
                read
            }
            _ => self.read_objects(input, path, &choice, &way, add)?,
        };
        if let Some(line) = read.truncated {
            eprintln!("linpoint: note: {name}: {}", Note::Truncated(line));
        }
        let is_over = |run: &mut Run| run.is_stopped() || run.limits.stop.load(Relaxed);
        if !self.with_run(is_over).unwrap_or(true) {
            let ops = self.progress.read.rows.load(Relaxed);
            super::refuse_few(ops, self.args.min_ops).map_err(|error| error.in_file(&name))?;
        }
        Ok(())
    }

    fn read_objects(
        &self,
        input: RowInput,
        path: &Path,
        choice: &TypeChoice,
        way: &Way,
        add: &mut Add<'_>,
    ) -> Result<RowsRead, Failure> {
        let name = input.name().to_owned();
        let header = Resumed::header(self.args, path, &name, &choice.specified());
        if let Some(resumed) = &self.resumed {
            resumed.agree(&header)?;
        }
        let all = self.args.all;
        let printed = self.with_run(|run| {
            if let Some(resumed) = &self.resumed {
                resumed.count(&name, &mut run.summary);
            }
            run.summary.are_objects = true;
            run.summary.stops_at_violation = !all;
            // The input holds the operations that are asked for, not each object.
            run.limits.min_ops = 0;
            run.printer.expect_objects();
            run.printer.print_json_line(&header)
        });
        printed.unwrap_or(Ok(())).map_err(anyhow::Error::from)?;
        let is_stopped = |run: &mut Run| {
            run.summary.is_stopped = run.is_stopped();
            run.summary.is_stopped
        };
        if self.with_run(is_stopped).unwrap_or(true) {
            return Ok(RowsRead::default());
        }
        let skip = |object: &Value| {
            let is_done = |resumed: &Resumed| resumed.has(&name, object);
            self.resumed.as_ref().is_some_and(is_done)
        };
        let reading = ObjectReading {
            skip: &skip,
            progress: &self.progress.read,
        };
        match (way, &self.args.large.spill) {
            (Way::Sorted, Some(folder)) => {
                let left = self.budget().memory_left().unwrap_or(1 << 30);
                let mut sorter = Sorter::new(folder, left / SORTING_SHARE);
                let sort = || {
                    let read = sorter.add_input(input, &self.progress.read)?;
                    Ok::<_, Error>((read, sorter.finish()?))
                };
                let (read, sorted) = self.progress.watch(&self.watcher, "sorted", sort)?;
                self.progress.restart();
                self.progress.watch(&self.watcher, "checked", || {
                    sorted.each_object(&name, self.options, reading, add)
                })?;
                Ok(read)
            }
            _ => Ok(self
                .progress
                .watch(&self.watcher, "checked", || input.each_object(reading, add))?),
        }
    }

    /// The type of all objects, which must be known before the first one is decided.
    fn choice(&self, input: &RowInput) -> Result<TypeChoice, Error> {
        let named = input.object_type();
        let choice = match (&self.chosen, &named) {
            (Some(chosen), Some((name, params))) => chosen.completed(name, params),
            (Some(chosen), None) => chosen.clone(),
            (None, Some((name, params))) => {
                let known = linpoint::object::find_type(name);
                let name = known.map_or(name.as_str(), |info| info.name);
                TypeChoice::built_in(name, params.clone())
            }
            (None, None) => {
                let reason =
                    "name the type with --type: objects are decided before all methods are known";
                return Err(Error::usage(reason).in_file(input.name()));
            }
        };
        choice.build().map_err(|error| match &self.chosen {
            Some(_) => error,
            None => Error::malformed(error.reason()).in_file(input.name()),
        })?;
        Ok(choice)
    }

    fn budget(&self) -> Budget {
        Budget::new(None, self.args.limits.memory)
    }

    fn way(&self, path: &Path) -> Result<Way, Error> {
        let asked = &self.args.large;
        if path == Path::new("-") || !path.is_file() {
            return Ok(match () {
                // It is not known how large it is, and it is read once only.
                () if asked.spill.is_some() => Way::Sorted,
                () if asked.are_given() => Way::ByObject,
                () => Way::Whole,
            });
        }
        let input = match RowInput::open(path, self.options) {
            Ok(input) => input,
            Err(error) if asked.are_given() => return Err(error),
            // Other formats are read whole.
            Err(_) => return Ok(Way::Whole),
        };
        let left = self.budget().memory_left().unwrap_or(u64::MAX);
        let estimate = input.estimate();
        let is_too_large = estimate.is_some_and(|bytes| bytes > left);
        if !asked.are_given() && !is_too_large {
            return Ok(Way::Whole);
        }
        let can_follow = self.can_follow(&input);
        let survey = self.progress.watch(&self.watcher, "looked at", || {
            input.survey(&self.progress.read)
        });
        let survey = match survey {
            // What is wrong with an input is said when it is read whole, unless that was not asked for.
            Err(_) if !asked.are_given() => return Ok(Way::Whole),
            survey => survey?,
        };
        let bytes_of_row = estimate.unwrap_or(0).checked_div(survey.rows).unwrap_or(0);
        let is_object_too_large = survey.largest.saturating_mul(bytes_of_row) > left;
        let can_follow = can_follow && survey.by_call && asked.resume.is_none();
        match survey {
            _ if is_object_too_large && can_follow => Ok(Way::ByCall),
            Survey {
                by_object: true, ..
            } => Ok(Way::ByObject),
            _ if asked.spill.is_some() => Ok(Way::Sorted),
            _ if can_follow => Ok(Way::ByCall),
            _ if !asked.are_given() => Ok(Way::Whole),
            _ => {
                let reason = "its objects are not in one piece each: sort it with `linpoint sort`, or with --spill DIR";
                Err(Error::unsorted(reason).in_file(&path.to_string_lossy()))
            }
        }
    }

    /// Whether a monitor follows objects of the type in the order of calls.
    fn can_follow(&self, input: &RowInput) -> bool {
        let is_auto = matches!(self.args.engine, EngineChoice::Auto | EngineChoice::Monitor);
        let object = self.choice(input).and_then(|choice| choice.build());
        let online = object.and_then(OnlineChecker::<ObjectType>::new);
        is_auto && self.evidence().is_none() && online.is_ok()
    }

    /// An option that asks for more than an input that is read in the order of calls can give.
    fn evidence(&self) -> Option<&'static str> {
        let args = self.args;
        let asked = [
            (args.witness.is_some(), "--witness"),
            (args.proof.is_some(), "--proof"),
            (args.html.is_some(), "--html"),
            (args.junit.is_some(), "--junit"),
            (args.github, "--github"),
            (args.edn, "--edn"),
            (args.brief, "--brief"),
            (args.report.json, "--json"),
        ];
        let asked = asked.into_iter().find(|(is_asked, _)| *is_asked);
        asked.map(|(_, option)| option)
    }
}

/// Why an input was not read to its end.
enum Failure {
    Input(Error),
    Output(anyhow::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Input(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast() {
            Ok(error) => Failure::Input(error),
            Err(error) => Failure::Output(error),
        }
    }
}
