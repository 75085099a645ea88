//! The screen: state, update, view.
