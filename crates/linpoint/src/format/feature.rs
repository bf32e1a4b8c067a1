//! Decides which formats this build reads, and words the errors about the others.
//!
//! Each feature brings dependencies that not every user of the library wants to build. An input that needs a missing one is
//! refused with the name of the feature.

use super::Format;
use crate::error::Error;

/// The reason why a build without this feature refuses `what`.
pub(super) fn missing(feature: &str, what: &str) -> Error {
    Error::usage(format!(
        "this linpoint is built without {what}: build it with the feature `{feature}` (cargo's `--features {feature}`)"
    ))
}

impl Format {
    /// An error that names the missing feature of the crate, if this build does not read the format.
    ///
    /// ```
    /// use linpoint::format::Format;
    /// assert!(Format::Jsonl.require().is_ok());
    /// assert_eq!(Format::Parquet.require().is_ok(), cfg!(feature = "parquet"));
    /// ```
    pub fn require(self) -> Result<(), Error> {
        let (feature, is_enabled) = match self {
            Format::Edn | Format::JepsenLog | Format::PorcupineKv => ("edn", cfg!(feature = "edn")),
            Format::Parquet => ("parquet", cfg!(feature = "parquet")),
            Format::Jsonl
            | Format::JepsenJson
            | Format::Porcupine
            | Format::Violat
            | Format::Operations
            | Format::Snapshot => return Ok(()),
        };
        if is_enabled {
            return Ok(());
        }
        Err(missing(feature, self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_is_named() {
        assert_eq!(
            missing("archives", "gzip").to_string(),
            "this linpoint is built without gzip: build it with the feature `archives` (cargo's `--features archives`)"
        );
    }

    #[test]
    fn tests_read_all_formats() {
        for format in Format::ALL {
            format.require().unwrap();
        }
    }
}
