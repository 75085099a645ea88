//! The real program in a terminal, with a home of its own: keys in, screen out.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read the clock for their patience and the environment for where the clients are"
)]

#[cfg(test)]
mod bad_input;
mod brake;
mod clients;
#[cfg(test)]
mod deck;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod echo;
mod emulator;
#[cfg(test)]
mod failing_open;
mod first_minute;
mod guard;
mod handoff;
#[cfg(test)]
mod harness;
mod home;
mod hook;
mod hooks;
#[cfg(test)]
mod inbox;
mod keys;
#[cfg(test)]
mod launch;
#[cfg(test)]
mod meter;
mod patience;
mod processes;
mod program;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod real_clients;
mod screen;
#[cfg(test)]
mod surviving;
mod svg;
mod terminal;
