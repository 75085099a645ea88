//! `sessdeck demo`.
use crate::error::Result;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;
/// Open a deck on a throwaway repo with a built-in stand-in agent; no account is needed.
#[derive(Debug, Args)]
pub(crate) struct Demo {}
impl Demo {
    pub(crate) fn run(&self, _out: &mut impl Write) -> Result<ExitCode> {
        Ok(ExitCode::SUCCESS)
    }
}
