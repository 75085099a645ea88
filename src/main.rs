//! sessdeck: a terminal workspace that keeps coding-agent sessions on their topic.

mod agents;
mod cli;
mod client;
mod config;
mod deck;
mod error;
mod files;
mod hook;
mod keeper;
mod practice;
mod protocol;
mod server;
mod terminal;
mod ui;

fn main() -> std::process::ExitCode {
    cli::main()
}
