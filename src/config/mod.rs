//! Settings, keys, themes, profile files: types, defaults, parsing.
