//! The context meter: what a conversation holds now, from the rows of its transcript.
