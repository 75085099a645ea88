//! One dialect a file: launch line, hook JSON, transcript line, to and from the deck's words.
