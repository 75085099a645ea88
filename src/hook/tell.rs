//! Tells the server what happened, on the session's own socket. Nobody waits for an answer.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::protocol::hook::Tell;

/// Sends one line. A server that is busy is waited for as long as `patience` says, one that takes no connection not at
/// all.
///
/// # Errors
/// The server did not take it. What it would have said is in files anyway.
pub(crate) fn tell(
    socket: &Path,
    tell: &Tell,
    patience: impl FnOnce() -> Duration,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(tell)?;
    line.push(b'\n');
    // A plain connect waits without end where a stuck server has a full queue.
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&stream, &SocketAddrUnix::new(socket)?)?;
    let mut stream = UnixStream::from(stream);
    let sent = match stream.write(&line) {
        Ok(sent) => sent,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(error) => return Err(error),
    };
    if sent < line.len() {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(patience().max(Duration::from_millis(1))))?;
        stream.write_all(&line[sent..])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn parked(size: usize) -> Tell {
        Tell::Parked {
            line: "x".repeat(size),
        }
    }

    #[test]
    fn a_line_arrives_whole_and_a_stuck_server_is_let_be() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        assert!(tell(&socket, &parked(1), || unreachable!()).is_err());

        let listener = UnixListener::bind(&socket).unwrap();
        tell(&socket, &parked(9), || unreachable!()).unwrap();
        let mut said = String::new();
        listener
            .accept()
            .unwrap()
            .0
            .read_to_string(&mut said)
            .unwrap();
        let told: Tell = serde_json::from_str(said.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(told, parked(9));

        // Nobody reads: more than the socket holds is given up.
        let patience = || Duration::from_millis(1);
        assert!(tell(&socket, &parked(8 << 20), patience).is_err());
        // Nobody accepts: a queue that is full is not waited for.
        let full = (0..100_000).any(|_| tell(&socket, &parked(1), || unreachable!()).is_err());
        assert!(full);
    }
}
