//! Finds, starts and asks the server.
