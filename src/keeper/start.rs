//! Starts a program in a PTY of its own, or says why that cannot be.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::Access;
use rustix::process::{Pid, Resource, getrlimit};
use serde_bytes::ByteBuf;

use crate::protocol::keeper::Open;

/// What Linux lets one argument or variable be, its end included.
const LONGEST_STRING: usize = 32 * 4096;
/// What Linux lets all of them be together, however large the stack.
const LARGEST_LIST: u64 = 6 << 20;

/// Starts the program as leader of a session whose terminal is a new PTY.
///
/// # Errors
/// One sentence for the person: what is missing or refused, and where. Nothing is left behind.
pub(super) fn start(open: &Open, umask: u32) -> Result<(Pid, OwnedFd), String> {
    let dir = Path::new(OsStr::from_bytes(&open.dir));
    check_strings(open)?;
    if !dir.is_absolute() || !dir.is_dir() {
        return Err(format!("there is no folder `{}`", dir.display()));
    }
    let program = find(open, dir)?;
    check_interpreter(&program)?;

    let pty = native_pty_system()
        .openpty(PtySize {
            rows: open.size.rows.max(1),
            cols: open.size.cols.max(1),
            pixel_width: 0,
            pixel_height: 0,
        })
        .map_err(|error| format!("no PTY could be opened: {error:#}"))?;
    // Before the child is there: once it is, nothing may fail.
    let master = keep(&*pty.master)?;
    let child = pty
        .slave
        .spawn_command(command(open, dir, &program, umask))
        .map_err(|error| format!("`{}` could not be started: {error:#}", program.display()))?;
    child
        .process_id()
        .and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        .map(|pid| (pid, master))
        .ok_or_else(|| format!("`{}` has no process id", program.display()))
}

/// A descriptor of our own for the master, closed in every child.
fn keep(master: &dyn MasterPty) -> Result<OwnedFd, String> {
    let raw = master
        .as_raw_fd()
        .ok_or("the PTY has no descriptor".to_owned())?;
    #[expect(
        unsafe_code,
        reason = "portable-pty lends its descriptor as a number; `master` keeps it open while it is borrowed here"
    )]
    let borrowed = unsafe { BorrowedFd::borrow_raw(raw) };
    rustix::io::fcntl_dupfd_cloexec(borrowed, 3)
        .map_err(|error| format!("the PTY could not be kept: {error}"))
}

fn command(open: &Open, dir: &Path, program: &Path, umask: u32) -> CommandBuilder {
    let mut argv: Vec<OsString> = open.argv.iter().map(os_string).collect();
    // A bare name stays, since programs read their own name; a path is made whole, since portable-pty would look for
    // `bin/agent` on the PATH.
    if argv[0].as_bytes().contains(&b'/') {
        program.as_os_str().clone_into(&mut argv[0]);
    }
    let mut command = CommandBuilder::from_argv(argv);
    // What is left in spite of it: where no SHELL is given, portable-pty adds the user's.
    command.env_clear();
    for (name, value) in &open.env {
        command.env(os_string(name), os_string(value));
    }
    if wants_locale(open) {
        command.env("LC_CTYPE", "C.UTF-8");
    }
    command.cwd(dir);
    command.umask(Some(open.umask.unwrap_or(umask)));
    command
}

fn os_string(bytes: &ByteBuf) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

fn variable<'a>(open: &'a Open, name: &str) -> Option<&'a [u8]> {
    let (_, value) = open
        .env
        .iter()
        .rev()
        .find(|(given, _)| given.as_slice() == name.as_bytes())?;
    Some(value.as_slice()).filter(|value| !value.is_empty())
}

/// True where no locale was chosen, so that programs would write `_` for every glyph outside ASCII. `C` and `POSIX` are
/// what a bare environment says; `LC_ALL` and any other name are a choice.
fn wants_locale(open: &Open) -> bool {
    if variable(open, "LC_ALL").is_some() {
        return false;
    }
    let chosen = variable(open, "LC_CTYPE").or_else(|| variable(open, "LANG"));
    matches!(chosen, None | Some(b"C" | b"POSIX"))
}

/// The program's file, found as `execvp` would with the child's PATH and folder.
fn find(open: &Open, dir: &Path) -> Result<PathBuf, String> {
    let name = Path::new(OsStr::from_bytes(&open.argv[0]));
    let shown = name.display();
    if open.argv[0].contains(&b'/') {
        let path = dir.join(name);
        return if !path.exists() {
            Err(format!("there is no `{}`", path.display()))
        } else if runnable(&path) {
            Ok(path)
        } else {
            Err(format!("`{}` is not an executable file", path.display()))
        };
    }
    let path = variable(open, "PATH")
        .ok_or_else(|| format!("`{shown}` cannot be looked for: the session has no PATH"))?;
    let mut refused = None;
    for folder in std::env::split_paths(OsStr::from_bytes(path)) {
        let candidate = dir.join(folder).join(name);
        if runnable(&candidate) {
            return Ok(candidate);
        }
        if candidate.exists() {
            refused.get_or_insert(candidate);
        }
    }
    Err(match refused {
        Some(file) => format!("`{}` is not an executable file", file.display()),
        None => format!("there is no `{shown}` on the PATH of the session"),
    })
}

fn runnable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// A script whose interpreter is missing. The system would say so only after portable-pty has closed the way back.
fn check_interpreter(program: &Path) -> Result<(), String> {
    let mut head = [0; 256];
    let Some(line) = File::open(program)
        .and_then(|mut file| file.read(&mut head))
        .ok()
        .and_then(|count| head[..count].strip_prefix(b"#!"))
    else {
        return Ok(());
    };
    let interpreter = line
        .split(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty())
        .map_or(Path::new(""), |word| Path::new(OsStr::from_bytes(word)));
    if interpreter.is_absolute() && !interpreter.exists() {
        return Err(format!(
            "`{}` is a script for `{}`, which does not exist",
            program.display(),
            interpreter.display()
        ));
    }
    Ok(())
}

/// What the system refuses at the last moment, where nobody could be told any more.
fn check_strings(open: &Open) -> Result<(), String> {
    if open.argv.first().is_none_or(|name| name.is_empty()) {
        return Err("no program was named".to_owned());
    }
    for (name, _) in &open.env {
        if name.is_empty() || name.contains(&b'=') {
            let name = String::from_utf8_lossy(name);
            return Err(format!("`{name}` is no name for a variable"));
        }
    }
    let names = open
        .env
        .iter()
        .map(|(name, value)| name.len() + 1 + value.len());
    let lengths = || {
        open.argv
            .iter()
            .map(|argument| argument.len())
            .chain(names.clone())
    };
    if lengths().any(|length| length >= LONGEST_STRING) {
        return Err(format!(
            "an argument or variable is longer than the {LONGEST_STRING} bytes that the system takes"
        ));
    }
    let strings = open
        .argv
        .iter()
        .chain(open.env.iter().flat_map(|(name, value)| [name, value]));
    if strings.chain([&open.dir]).any(|string| string.contains(&0)) {
        return Err("an argument, variable or folder holds a zero byte".to_owned());
    }
    let limit = getrlimit(Resource::Stack)
        .current
        .map_or(LARGEST_LIST, |stack| (stack / 4).min(LARGEST_LIST));
    // Each string costs its end and a pointer; a page is left for the program's own path.
    let total: usize = lengths().map(|length| length + 9).sum::<usize>() + 4096;
    if total as u64 > limit {
        return Err(format!(
            "arguments and environment take {total} bytes, the system allows {limit}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::keeper::Size;

    fn open(argv: &[&str], env: &[(&str, &str)], dir: &Path) -> Open {
        Open {
            session: 1,
            argv: argv.iter().map(|word| ByteBuf::from(*word)).collect(),
            env: env
                .iter()
                .map(|(name, value)| (ByteBuf::from(*name), ByteBuf::from(*value)))
                .collect(),
            dir: ByteBuf::from(dir.as_os_str().as_bytes()),
            size: Size { cols: 80, rows: 24 },
            umask: None,
        }
    }

    #[test]
    fn a_locale_is_given_only_where_none_was_chosen() {
        for (env, wanted) in [
            (&[][..], true),
            (&[("LANG", "")], true),
            (&[("LANG", "C")], true),
            (&[("LANG", "de_DE.UTF-8"), ("LC_CTYPE", "POSIX")], true),
            (&[("LANG", "de_DE.ISO-8859-1")], false),
            (&[("LC_CTYPE", "en_US.UTF-8")], false),
            (&[("LC_ALL", "C")], false),
        ] {
            assert_eq!(
                wants_locale(&open(&["x"], env, Path::new("/"))),
                wanted,
                "{env:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_started_is_named_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::write(root.join("plain"), "text").unwrap();
        std::fs::create_dir(root.join("folder")).unwrap();
        let script = root.join("script");
        std::fs::write(&script, "#! /no/such/lua -x\n").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let path = root.to_str().unwrap();
        let long = "x".repeat(LONGEST_STRING);
        let many = vec!["y".repeat(LONGEST_STRING - 1); 64];
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for (argv, env, at, said) in [
            (&[][..], &[][..], root, "no program was named"),
            (&[""], &[], root, "no program was named"),
            (&["agent"], &[], root, "the session has no PATH"),
            (
                &["agent"],
                &[("PATH", path)],
                root,
                "no `agent` on the PATH",
            ),
            (
                &["plain"],
                &[("PATH", path)],
                root,
                "plain` is not an executable file",
            ),
            (
                &["folder"],
                &[("PATH", path)],
                root,
                "folder` is not an executable file",
            ),
            (&["./agent"], &[], root, "there is no `"),
            (&["./plain"], &[], root, "plain` is not an executable file"),
            (&["./script"], &[], root, "a script for `/no/such/lua`"),
            (
                &["/bin/sh"],
                &[],
                &root.join("gone"),
                "there is no folder `",
            ),
            (
                &["/bin/sh"],
                &[],
                Path::new("relative"),
                "no folder `relative`",
            ),
            (&["/bin/sh", "a\0b"], &[], root, "a zero byte"),
            (&["/bin/sh"], &[("A=B", "")], root, "`A=B` is no name"),
            (
                &["/bin/sh", &long],
                &[],
                root,
                "longer than the 131072 bytes",
            ),
            (&many, &[], root, "the system allows"),
        ] {
            let error = start(&open(argv, env, at), 0o022).unwrap_err();
            assert!(error.contains(said), "`{error}` does not say `{said}`");
        }
    }
}
