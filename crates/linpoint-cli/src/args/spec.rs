//! Arguments of `linpoint spec`.

use clap::{Args as ClapArgs, Subcommand};

use super::{ModelArgs, ReportArgs};

#[derive(Debug, ClapArgs)]
pub(crate) struct SpecArgs {
    #[command(subcommand)]
    pub(crate) action: SpecAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecAction {
    /// Write a specification to begin with to NAME.spec
    New(SpecNewArgs),
    /// Try a specification, and check the contracts on which verdicts rely
    #[command(after_help = SPEC_TEST_EXIT_CODES)]
    Test(SpecTestArgs),
}

const SPEC_TEST_EXIT_CODES: &str = "\
Exit codes:
  0   no contract is broken
  1   some contract is broken
  64  the request makes no sense
  65  the specification is wrong or fails
  66  the file cannot be read";

#[derive(Debug, ClapArgs)]
pub(crate) struct SpecNewArgs {
    /// The name of the object; the file is NAME.spec
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SpecTestArgs {
    /// The file, with parameters: `lease.spec`, `lease.spec:ttl=3`
    #[arg(
        value_name = "FILE",
        required_unless_present = "model_cmd",
        conflicts_with = "model_cmd"
    )]
    pub(crate) file: Option<String>,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) report: ReportArgs,
}
