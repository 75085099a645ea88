//! Does a prompt belong to another profile? Rules: `cases/README.md`, copied to `tests/cases/README.md`.
