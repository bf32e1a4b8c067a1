//! Observation files of the tests of an object.

use std::rc::Rc;

use crate::check::Test;
use crate::check::observations::Observations;
use crate::check::serial::Serial;
use crate::matrix::Matrix;
use crate::object::Object;
use crate::report::Failure;
use crate::report::explain;

/// The most differences between an observation file and the object that a report shows.
const MOST_DIFFERENCES: usize = 8;

/// Writes the observation file of a test, if the settings ask for it.
pub(super) fn write<X>(
    object: &Object<X>,
    matrix: &Matrix,
    program: &Rc<dyn Test>,
    serial: &Serial,
) -> Result<(), String> {
    match &object.settings.write_observations {
        Some(path) => {
            Observations::of(&**program, serial).write(&object.observation_file(path, matrix))
        }
        None => Ok(()),
    }
}

/// Compares the serial histories of a test with its observation file, if the settings ask for it. Returns a failure if there is
/// a difference.
pub(super) fn compare<X>(
    object: &Object<X>,
    matrix: &Matrix,
    program: &Rc<dyn Test>,
    serial: &Serial,
) -> Result<Option<Failure>, String> {
    let Some(path) = &object.settings.expect_observations else {
        return Ok(None);
    };
    let path = object.observation_file(path, matrix);
    let expected = Observations::read(&path)?
        .lines()
        .map_err(|why| format!("{}: {why}", path.display()))?;
    let now = Observations::of(&**program, serial).lines()?;
    if expected == now {
        return Ok(None);
    }
    let gone = expected
        .difference(&now)
        .map(|line| format!("no longer: {line}"));
    let new = now.difference(&expected).map(|line| format!("new: {line}"));
    let mut differences: Vec<String> = gone.chain(new).collect();
    let left_out = differences.len().saturating_sub(MOST_DIFFERENCES);
    if left_out > 0 {
        differences.truncate(MOST_DIFFERENCES);
        differences.push(format!("and {left_out} more"));
    }
    let path = path.display().to_string();
    Ok(Some(explain::changed(program, matrix, &path, differences)))
}
