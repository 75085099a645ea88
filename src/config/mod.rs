//! Settings, keys, themes, profile files: types, defaults, parsing.

pub(crate) mod colors;
pub(crate) mod dirs;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod nearest;
mod parse;
pub(crate) mod plain;
pub(crate) mod profiles;
pub(crate) mod repo;
pub(crate) mod set;
pub(crate) mod settings;
pub(crate) mod themes;
pub(crate) mod trust;
