//! Acts: the loop, programs, screens, clients, watched files, store.

mod journal;
mod programs;
