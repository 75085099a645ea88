//! The hot-todo inbox: one line an idea, in a file that anyone may edit.
