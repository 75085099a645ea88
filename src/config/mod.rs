//! Settings, keys, themes, profile files: types, defaults, parsing.

pub(crate) mod colors;
pub(crate) mod keys;
pub(crate) mod nearest;
pub(crate) mod parse;
pub(crate) mod profiles;
pub(crate) mod set;
pub(crate) mod settings;
pub(crate) mod themes;
