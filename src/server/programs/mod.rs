//! The programs in the sessions: the keeper that holds them, and their bytes in and out.

mod all;
mod draft;
mod keeper;
mod program;
#[cfg(test)]
mod tests;

pub(crate) use all::{Programs, environment};
pub(crate) use keeper::{Held, Keeper, Report, Start};
pub(crate) use program::{Input, Output, Program, Refused};
