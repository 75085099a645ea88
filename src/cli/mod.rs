//! The command line: one file a command.

use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    ExitCode::SUCCESS
}
