//! Between the server and the keeper; PTY masters travel beside it by `SCM_RIGHTS`.
