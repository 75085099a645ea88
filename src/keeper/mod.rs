//! Holds PTYs and children. Single-threaded, tiny, never needs an update.
