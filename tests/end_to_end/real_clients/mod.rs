//! The whole product with the real clients: keys in, screen out, and what the provider was asked.
//!
//! All tests of this module need the clients or their namespace; `tests/run --without-clients` skips them.

mod blocked;
mod brake;
mod guard;
mod installed;
mod launch;
mod lives;
mod namespace;
mod own;
mod screen;
mod stage;
mod state;

/// Each test once with every client.
macro_rules! with_both {
    ($($test:ident),* $(,)?) => {
        mod claude {
            $(#[test]
            fn $test() {
                super::$test(&crate::real_clients::stage::CLAUDE);
            })*
        }
        mod codex {
            $(#[test]
            fn $test() {
                super::$test(&crate::real_clients::stage::CODEX);
            })*
        }
    };
}
use with_both;
