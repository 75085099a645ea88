#!/usr/bin/env python3
"""muxbench: measure any terminal multiplexer from the outside.

The harness owns a real PTY (default 120x40) that plays the outer terminal,
starts a multiplexer in it, and runs one small "inner" program per session
inside the multiplexer. The inner programs connect back over a Unix socket, so
the harness can tell each of them what to do (cat a file, echo, flood, spin,
fill the scrollback) without typing commands through the multiplexer.

Only the Python standard library is used. Linux only (reads /proc).
See README.md for how to describe a new multiplexer in a profile.
"""

import argparse
import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty

SELF = os.path.abspath(__file__)
HERE = os.path.dirname(SELF)
MARK = "MUXBENCH_ID"
CLK_TCK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
# Processes that carry our environment marker but are payload, not multiplexer.
PAYLOAD_EXES = {"sh", "dash", "bash", "zsh", "python3", "python", "cat", "sleep", "env"}


# ----------------------------------------------------------------- streams

def gen_stream(kind, size, seed=7):
    """Return about `size` bytes of one synthetic terminal stream (LF line ends)."""
    rnd = random.Random(seed)
    words = ["alpha", "server", "render", "commit", "branch", "token", "diff", "error",
             "warning", "compile", "session", "agent", "patch", "module", "stream"]
    out = []
    n = 0

    def add(s):
        nonlocal n
        b = s.encode("utf-8")
        out.append(b)
        n += len(b)

    if kind == "plain":
        i = 1
        while n < size:
            add("".join("%d\n" % k for k in range(i, i + 2000)))
            i += 2000
    elif kind == "sgr":
        block = []
        for _ in range(400):
            line = []
            col = 0
            while col < 112:
                w = rnd.choice(words)[:5]
                c = rnd.randrange(4)
                if c == 0:
                    line.append("\x1b[38;5;%dm%s" % (rnd.randrange(256), w))
                elif c == 1:
                    line.append("\x1b[38;2;%d;%d;%dm%s" % (rnd.randrange(256), rnd.randrange(256),
                                                           rnd.randrange(256), w))
                elif c == 2:
                    line.append("\x1b[1;4;3%d;4%dm%s\x1b[22;24m" % (rnd.randrange(8),
                                                                   rnd.randrange(8), w))
                else:
                    line.append("\x1b[0;9%dm%s" % (rnd.randrange(8), w))
                col += len(w)
            block.append("".join(line) + "\x1b[0m\n")
        text = "".join(block)
        while n < size:
            add(text)
    elif kind in ("ink", "ink2026"):
        # A React-style TUI: wipe the previous 30 lines upwards, write 30 new ones.
        sync = kind == "ink2026"
        spin = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
        frame = 0
        body = [" ".join(rnd.choice(words) for _ in range(14))[:100] for _ in range(64)]
        add("\n" * 30)
        while n < size:
            s = []
            if sync:
                s.append("\x1b[?2026h")
            s.append("\x1b[2K\x1b[1A" * 29 + "\x1b[2K\x1b[G")
            for r in range(29):
                if r == 0:
                    s.append("\x1b[36m%s\x1b[39m \x1b[1mWorking\x1b[22m \x1b[2m(%ds, esc to interrupt)\x1b[22m\n"
                             % (spin[frame % 10], frame // 60))
                elif r in (24, 26):
                    s.append("\x1b[2m" + "─" * 116 + "\x1b[22m\n")
                elif r == 25:
                    s.append("\x1b[2m│\x1b[22m > \x1b[7m \x1b[27m" + " " * 110 + "\x1b[2m│\x1b[22m\n")
                elif r % 3 == 1:
                    s.append("  \x1b[32m+ %4d\x1b[39m %s\n" % (frame + r, body[(frame // 6 + r) % 64]))
                else:
                    s.append("  \x1b[38;2;180;180;180m%s\x1b[39m\n" % body[(frame // 6 + r) % 64])
            s.append("  ? for shortcuts")
            if sync:
                s.append("\x1b[?2026l")
            add("".join(s))
            frame += 1
        add("\n")
    elif kind == "unicode":
        pool = ["漢字仮名交じり文", "한국어텍스트", "中文字符测试", "👩‍👩‍👧‍👦", "👨🏽‍💻", "🏳️‍🌈", "❤️", "☁️", "🇩🇪🇯🇵",
                "é" * 4, "à̖̗b̂ç", "नमस्ते", "สวัสดี", "ﾊﾝｶｸ", "→⇒∑", "naïve", "✅", "🚀🔥"]
        block = []
        for _ in range(400):
            line = []
            while sum(len(x) for x in line) < 70:
                line.append(rnd.choice(pool) + " ")
            block.append("".join(line) + "\n")
        text = "".join(block)
        while n < size:
            add(text)
    elif kind == "scrollregion":
        add("\x1b[2J\x1b[5;35r")
        i = 0
        while n < size:
            s = []
            for _ in range(20):
                s.append("\x1b[35;1H\nregion line %d %s" % (i, rnd.choice(words) * 8))
                i += 1
            for _ in range(5):
                s.append("\x1b[5;1H\x1bMreverse %d %s" % (i, rnd.choice(words) * 6))
                i += 1
            s.append("\x1b[10;1H\x1b[3L inserted\x1b[20;1H\x1b[3M deleted\x1b[3S\x1b[2T")
            add("".join(s))
        add("\x1b[r\x1b[40;1H\n")
    elif kind == "longlines":
        text = "".join(" ".join(rnd.choice(words) for _ in range(900))[:5000] + "\n"
                       for _ in range(200))
        while n < size:
            add(text)
    else:
        raise SystemExit("unknown stream kind " + kind)
    data = b"".join(out)
    return data


STREAMS = ["plain", "sgr", "ink", "ink2026", "unicode", "scrollregion", "longlines"]


def ensure_streams(folder, mb, kinds):
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for k in kinds:
        p = os.path.join(folder, "%s-%dm.bin" % (k, mb))
        if not os.path.exists(p) or os.path.getsize(p) < mb * 1000000:
            with open(p + ".tmp", "wb") as f:
                f.write(gen_stream(k, mb * 1000000))
            os.rename(p + ".tmp", p)
        paths[k] = p
    return paths


# ------------------------------------------------------------ inner program

def inner_main(sock_path, name):
    """Runs inside the multiplexer. Obeys one JSON command per line from the socket."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(sock_path)
    s.sendall((json.dumps({"hello": name, "pid": os.getpid()}) + "\n").encode())
    f = s.makefile("r")
    out = sys.stdout.buffer
    stop = threading.Event()
    worker = None
    # Typed bytes are echoed by the kernel, as under `cat`; nothing reads them line-wise.
    try:
        attrs = termios.tcgetattr(0)
        attrs[3] |= termios.ECHO
        attrs[3] &= ~(termios.ICANON)
        termios.tcsetattr(0, termios.TCSANOW, attrs)
    except termios.error:
        pass

    def drain_stdin():
        while True:
            try:
                if not os.read(0, 4096):
                    return
            except OSError:
                return

    threading.Thread(target=drain_stdin, daemon=True).start()

    def w(b):
        out.write(b)
        out.flush()

    def spin(hz, ink):
        i = 0
        frames = "|/-\\"
        if ink:
            w(b"\n" * 8)
        while not stop.is_set():
            if ink:
                w(("\x1b[2K\x1b[1A" * 7 + "\x1b[2K\x1b[G" + "".join(
                    "line %d tick %d %s\n" % (k, i, "x" * 40) for k in range(7))).encode())
            else:
                w(("\r%s working %d" % (frames[i % 4], i)).encode())
            i += 1
            stop.wait(1.0 / hz)

    def flood():
        line = b"".join(b"flooding line of lowercase text number %08d aaaa bbbb cccc dddd\r\n" % k
                        for k in range(400))
        while not stop.is_set():
            try:
                os.write(1, line)
            except OSError:
                return

    for raw in f:
        c = json.loads(raw)
        op = c["op"]
        if op == "cat":
            subprocess.run(["cat", c["file"]])
            w(c["sentinel"].encode())
        elif op == "print":
            w(c["text"].encode())
        elif op == "fill":
            rnd = random.Random(c.get("seed", 1))
            letters = "abcdefghij klmnop"
            for start in range(0, c["lines"], 500):
                w("".join("%6d %s\n" % (k, "".join(rnd.choice(letters) for _ in range(c["width"])))
                          for k in range(start, min(start + 500, c["lines"]))).encode())
        elif op in ("spin", "flood"):
            stop.clear()
            target, args = (spin, (c.get("hz", 10), c.get("ink", False))) if op == "spin" else (flood, ())
            worker = threading.Thread(target=target, args=args, daemon=True)
            worker.start()
        elif op == "flood_int":
            # Flood in the foreground until SIGINT (Ctrl-C typed in the outer terminal).
            stop.clear()
            worker = threading.Thread(target=flood, daemon=True)

            def on_int(_sig, _frm, wk=worker, text=c["sentinel"]):
                stop.set()
                wk.join(30)
                w(text.encode())

            signal.signal(signal.SIGINT, on_int)
            worker.start()
        elif op == "stop":
            stop.set()
            if worker:
                worker.join(2)
        elif op == "size":
            r = fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8)
            s.sendall((json.dumps({"size": struct.unpack("HHHH", r)[:2]}) + "\n").encode())
            continue
        elif op == "quit":
            return
        s.sendall((json.dumps({"done": op}) + "\n").encode())


# ------------------------------------------------------- outer terminal side

ESC_RE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"            # CSI
    rb"|\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, APC, PM, SOS
    rb"|\x1b[ -/]*[0-~]"                   # other ESC
    rb"|[\x00-\x08\x0b-\x1a\x1c-\x1f]")
PARTIAL_RE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]P_^X][^\x07\x1b]*\x1b?|[ -/]*)?$")


class Stripper:
    """Incremental removal of escape sequences, for small outputs."""

    def __init__(self):
        self.rest = b""

    def feed(self, data):
        data = self.rest + data
        m = PARTIAL_RE.search(data)
        if m and len(data) - m.start() < 8192:
            self.rest = data[m.start():]
            data = data[:m.start()]
        else:
            self.rest = b""
        return ESC_RE.sub(b"", data)


class Outer:
    """The outer terminal: a PTY with a child in it, drained by us."""

    def __init__(self, argv, cols, rows, env):
        self.cols, self.rows = cols, rows
        self.bytes = 0
        self.tail = b""
        self.answered = 0
        pid, fd = pty.fork()
        if pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, cols * 8, rows * 16))
                os.execvpe(argv[0], argv, env)
            except Exception as e:  # noqa
                sys.stderr.write("exec failed: %s\n" % e)
            os._exit(127)
        self.pid, self.fd = pid, fd
        os.set_blocking(fd, False)
        self.dead = False
        self.rate = None        # bytes per second this terminal can take; None = all it gets
        self._rate_t = 0.0

    def resize(self, cols, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, cols * 8, rows * 16))

    def write(self, b):
        view = memoryview(b)
        while view:
            try:
                k = os.write(self.fd, view)
                view = view[k:]
            except BlockingIOError:
                select.select([self.fd], [self.fd], [], 1)
            except OSError:
                self.dead = True
                return

    def read(self, timeout):
        """One read; returns b'' on timeout. Answers terminal queries seen in it."""
        if self.rate:
            wait = self._rate_t - time.monotonic()
            if wait > 0:
                time.sleep(min(wait, max(timeout, 0.001)))
                if wait > timeout:
                    return b""
        try:
            r, _, _ = select.select([self.fd], [], [], timeout)
        except OSError:
            self.dead = True
            return b""
        if not r:
            return b""
        try:
            d = os.read(self.fd, 65536)
        except BlockingIOError:
            return b""
        except OSError:
            self.dead = True
            return b""
        if not d:
            self.dead = True
            return b""
        self.bytes += len(d)
        if self.rate:
            self._rate_t = max(self._rate_t, time.monotonic() - 0.01) + len(d) / self.rate
        if b"\x1b" in d and self.answered < 500:
            self._answer(d)
        return d

    # Replies a plain modern terminal would give, so nothing waits for a time-out.
    def _answer(self, d):
        rep = []
        if b"\x1b[c" in d or b"\x1b[0c" in d:
            rep.append(b"\x1b[?62;22c")
        if b"\x1b[>c" in d or b"\x1b[>0c" in d:
            rep.append(b"\x1b[>1;100;0c")
        if b"\x1b[6n" in d:
            rep.append(b"\x1b[1;1R")
        if b"\x1b[5n" in d:
            rep.append(b"\x1b[0n")
        if b"\x1b[?u" in d:
            rep.append(b"\x1b[?0u")
        if b"\x1b]11;?" in d:
            rep.append(b"\x1b]11;rgb:0000/0000/0000\x1b\\")
        if b"\x1b]10;?" in d:
            rep.append(b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\")
        if b"\x1b[14t" in d:
            rep.append(b"\x1b[4;%d;%dt" % (self.rows * 16, self.cols * 8))
        if b"\x1b[16t" in d:
            rep.append(b"\x1b[6;16;8t")
        if b"\x1b[?2026$p" in d:
            rep.append(b"\x1b[?2026;2$y")
        if rep:
            self.answered += 1
            self.write(b"".join(rep))

    def drain(self, seconds, quiet=None):
        """Read for up to `seconds`; stop early after `quiet` seconds without output."""
        end = time.monotonic() + seconds
        last = time.monotonic()
        while not self.dead and time.monotonic() < end:
            d = self.read(0.05 if quiet is None else min(0.05, quiet))
            now = time.monotonic()
            if d:
                last = now
            elif quiet is not None and now - last >= quiet:
                return

    def wait_tokens(self, tokens, timeout):
        """Read until one of the tokens has been painted. True if seen."""
        toks = [t.encode() for t in tokens]
        end = time.monotonic() + timeout
        tail = b""
        while not self.dead and time.monotonic() < end:
            d = self.read(0.02)
            if d:
                tail = (tail + d)[-16384:]
            if tail:
                # Tokens start with ~ which the streams never use: cheap first test.
                if b"~" in tail[-8192:] or not d:
                    if any(t in tail for t in toks):
                        return True
                    plain = ESC_RE.sub(b"", tail)
                    if any(t in plain for t in toks):
                        return True
        return False

    def close(self):
        try:
            os.close(self.fd)
        except OSError:
            pass
        for sig in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, sig)
            except ProcessLookupError:
                break
            for _ in range(20):
                try:
                    p, _ = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:
                    return
                if p:
                    return
                time.sleep(0.02)


class Control:
    """Unix socket server to which inner programs connect."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "ctl.sock")
        self.srv = socket.socket(socket.AF_UNIX)
        self.srv.bind(self.path)
        self.srv.listen(64)
        self.srv.setblocking(False)
        self.conns = {}
        self.order = []
        self.buf = {}

    def poll(self, timeout=0.0):
        socks = [self.srv] + [c for c in self.conns.values() if c]
        r, _, _ = select.select(socks, [], [], timeout)
        got = []
        for s in r:
            if s is self.srv:
                c, _ = self.srv.accept()
                c.settimeout(5)
                line = c.makefile("r").readline()
                name = json.loads(line)["hello"]
                c.setblocking(False)
                self.conns[name] = c
                self.order.append(name)
                got.append((name, {"hello": name}))
            else:
                name = next(k for k, v in self.conns.items() if v is s)
                try:
                    d = s.recv(65536)
                except BlockingIOError:
                    continue
                except OSError:
                    d = b""
                if not d:
                    self.conns[name] = None
                    continue
                b = self.buf.get(name, b"") + d
                *lines, rest = b.split(b"\n")
                self.buf[name] = rest
                got += [(name, json.loads(x)) for x in lines if x]
        return got

    def send(self, name, **c):
        self.conns[name].sendall((json.dumps(c) + "\n").encode())

    def close(self):
        for c in self.conns.values():
            if c:
                try:
                    c.sendall(b'{"op":"quit"}\n')
                except OSError:
                    pass
                c.close()
        self.srv.close()


def tokens(n=6):
    """Sentinels that begin and end with ~ (a byte absent from all streams)."""
    al = "BCDFGHJKLMNPQRSTVWXZ"
    return ["~" + "".join(random.choice(al) for _ in range(10)) + "~" for _ in range(n)]


def sentinel_text(toks):
    return "\x1b[0m\x1b[r\x1b[2J\x1b[H" + "".join("\n  %s\n" % t for t in toks)


# ------------------------------------------------------------- process stats

def marked_pids(mark, payload=False):
    """PIDs that inherited our marker, without the payload programs."""
    found = []
    me = os.getpid()
    for d in os.listdir("/proc"):
        if not d.isdigit() or int(d) == me:
            continue
        try:
            with open("/proc/%s/environ" % d, "rb") as f:
                if mark.encode() not in f.read():
                    continue
            exe = os.path.basename(os.readlink("/proc/%s/exe" % d)).split(" ")[0]
        except OSError:
            continue
        base = re.sub(r"[\d.]+$", "", exe)
        if (base in PAYLOAD_EXES or exe in PAYLOAD_EXES) and not payload:
            continue
        found.append(int(d))
    return sorted(found)


def cpu_of(pids):
    t = 0.0
    for p in pids:
        try:
            with open("/proc/%d/stat" % p) as f:
                v = f.read().rsplit(")", 1)[1].split()
            t += (int(v[11]) + int(v[12])) / CLK_TCK
        except OSError:
            pass
    return t


def mem_of(pids):
    rss = pss = 0
    for p in pids:
        try:
            with open("/proc/%d/smaps_rollup" % p) as f:
                for line in f:
                    if line.startswith("Rss:"):
                        rss += int(line.split()[1])
                    elif line.startswith("Pss:"):
                        pss += int(line.split()[1])
        except OSError:
            pass
    return rss / 1024.0, pss / 1024.0


# ------------------------------------------------------------------ profiles

def fmt(x, ctx):
    if isinstance(x, list):
        return [fmt(i, ctx) for i in x]
    for k, v in ctx.items():
        x = x.replace("{%s}" % k, v)
    return x


def keys(s):
    """Key strings: C escapes such as \\x02 and \\r are understood."""
    return s.encode("utf-8").decode("unicode_escape").encode("latin-1")


class Bench:
    def __init__(self, prof, opts):
        self.prof = prof
        self.o = opts
        self.dir = tempfile.mkdtemp(prefix="mb-")
        self.name = "mb%d" % random.randrange(10 ** 8)
        self.mark = "%s=%s" % (MARK, self.name)
        self.ctl = Control(self.dir)
        self.n = 0
        self.outer = None
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("TMUX", "ZELLIJ", "STY", "SESSDECK"))}
        env.update({"TERM": "xterm-256color", "COLORTERM": "truecolor", MARK: self.name,
                    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh",
                    "HOME": self.dir, "XDG_RUNTIME_DIR": self.dir, "XDG_CONFIG_HOME": self.dir,
                    "XDG_DATA_HOME": self.dir, "XDG_CACHE_HOME": self.dir})
        env.update({k: fmt(v, self.ctx()) for k, v in prof.get("env", {}).items()})
        self.env = env
        for fn, text in prof.get("files", {}).items():
            p = os.path.join(self.dir, fn)
            os.makedirs(os.path.dirname(p), exist_ok=True)
            with open(p, "w") as f:
                f.write(fmt(text, self.ctx()))
            os.chmod(p, 0o755)

    def ctx(self, cmd=""):
        return {"cmd": cmd, "name": self.name, "dir": self.dir, "cols": str(self.o.cols),
                "rows": str(self.o.rows), "here": HERE}

    def script(self, body):
        self.n += 1
        p = os.path.join(self.dir, "s%d.sh" % self.n)
        with open(p, "w") as f:
            f.write("#!/bin/sh\n" + body + "\n")
        os.chmod(p, 0o755)
        return p

    def inner_cmd(self, name):
        return self.script('exec "%s" "%s" inner "%s" "%s"'
                           % (sys.executable, SELF, self.ctl.path, name))

    def prepare(self, cmd):
        for pre in self.prof.get("pre", []):
            subprocess.run(fmt(pre, self.ctx(cmd)), env=self.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)

    def start(self, cmd):
        self.outer = Outer(fmt(self.prof["start"], self.ctx(cmd)), self.o.cols, self.o.rows, self.env)

    def start_inner(self, name="s0"):
        cmd = self.inner_cmd(name)
        self.prepare(cmd)
        self.start(cmd)
        self.await_hello(name)
        self.after_start()

    def after_start(self):
        for k in self.prof.get("after_start_keys", []):
            self.outer.drain(0.3)
            self.outer.write(keys(k))
        if self.prof.get("after_start"):
            self.act(self.prof["after_start"])
        self.outer.drain(3, quiet=0.4)

    def await_hello(self, name, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            self.outer.read(0.01)
            for who, m in self.ctl.poll():
                if m.get("hello") == name:
                    return
            if self.outer.dead:
                break
        raise RuntimeError("session %s did not start (mux exited: %s)" % (name, self.outer.dead))

    def act(self, spec, cmd=""):
        """A step of a profile: {"run": argv} outside, or {"keys": text} typed."""
        for st in (spec if isinstance(spec, list) else [spec]):
            if "run" in st:
                p = subprocess.Popen(fmt(st["run"], self.ctx(cmd)), env=self.env,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
                end = time.monotonic() + 20
                while p.poll() is None and time.monotonic() < end:
                    self.outer.read(0.01)
                if p.poll() is None:
                    p.kill()
            if "keys" in st:
                self.outer.write(keys(fmt(st["keys"], self.ctx(cmd))))
            self.outer.drain(st.get("wait", 0.2))

    def new_session(self, name):
        self.act(self.prof["new"], self.inner_cmd(name))
        self.await_hello(name)
        self.outer.drain(0.15)

    def go_first(self):
        if "first" in self.prof:
            self.act(self.prof["first"])

    def tell(self, name, wait=True, timeout=60, **c):
        self.ctl.send(name, **c)
        if not wait:
            return
        end = time.monotonic() + timeout
        while time.monotonic() < end and not self.outer.dead:
            self.outer.read(0.005)
            for who, m in self.ctl.poll():
                if who == name and ("done" in m or "size" in m):
                    return m
        raise RuntimeError("no answer from %s to %s" % (name, c.get("op")))

    def pids(self):
        return marked_pids(self.mark)

    def close(self):
        try:
            self.ctl.close()
            if self.prof.get("kill"):
                subprocess.run(fmt(self.prof["kill"], self.ctx()), env=self.env, timeout=10,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        except Exception:
            pass
        if self.outer:
            self.outer.close()
        for sig in (signal.SIGTERM, signal.SIGKILL):
            left = marked_pids(self.mark, payload=True)
            for p in left:
                try:
                    os.kill(p, sig)
                except OSError:
                    pass
            if not left:
                break
            time.sleep(0.2)
        shutil.rmtree(self.dir, ignore_errors=True)


# --------------------------------------------------------------------- tests

def with_bench(prof, opts, fn):
    b = Bench(prof, opts)
    try:
        return fn(b)
    finally:
        b.close()


def t_start(prof, opts):
    """Milliseconds from spawn until the session's first line is on the outer screen."""
    xs = []
    for _ in range(opts.start_runs):
        def one(b):
            tk = tokens(3)
            cmd = b.script("printf '%s\\n' '" + "' '".join(tk) + "'\nexec sleep 1000")
            b.prepare(cmd)
            t0 = time.monotonic()
            b.start(cmd)
            ok = b.outer.wait_tokens(tk, 20)
            return (time.monotonic() - t0) * 1000 if ok else None
        x = with_bench(prof, opts, one)
        if x is not None:
            xs.append(x)
    if not xs:
        return {"error": "no first screen within 20 s"}
    return {"ms_median": round(statistics.median(xs), 1), "ms_max": round(max(xs), 1), "n": len(xs)}


def t_throughput(prof, opts):
    paths = ensure_streams(opts.streams, opts.mb, opts.kinds)
    res = {}
    for kind in opts.kinds:
        runs = []
        err = None
        for _ in range(opts.runs):
            def one(b):
                b.start_inner()
                tk = tokens()
                b.outer.bytes = 0
                pids = b.pids()
                c0 = cpu_of(pids)
                t0 = time.monotonic()
                b.tell("s0", wait=False, op="cat", file=paths[kind], sentinel=sentinel_text(tk))
                ok = b.outer.wait_tokens(tk, opts.timeout)
                t = time.monotonic() - t0
                return (t if ok else None, b.outer.bytes, cpu_of(b.pids()) - c0,
                        mem_of(b.pids())[0])
            try:
                t, nb, cpu, rss = with_bench(prof, opts, one)
            except RuntimeError as e:
                err = str(e)
                break
            if t is None:
                err = "timeout %ds" % opts.timeout
                break
            runs.append((t, nb, cpu, rss))
        size = os.path.getsize(paths[kind]) / 1e6
        if runs:
            t = statistics.median(r[0] for r in runs)
            res[kind] = {"s": round(t, 3), "mb_s": round(size / t, 1),
                         "spread": round(max(r[0] for r in runs) / min(r[0] for r in runs), 2),
                         "out_mb": round(statistics.median(r[1] for r in runs) / 1e6, 3),
                         "cpu_s": round(statistics.median(r[2] for r in runs), 2),
                         "rss_mb": round(statistics.median(r[3] for r in runs), 1)}
            if err:
                res[kind]["note"] = err
        else:
            res[kind] = {"error": err}
        say("   %s: %s" % (kind, res[kind]))
    return res


def latency_samples(b, n, gap=0.004):
    """Type one byte at a time and wait until that glyph is painted."""
    glyphs = b"QZJX#@&W"
    xs = []
    miss = 0
    b.outer.drain(1.0, quiet=0.2)
    end = time.monotonic() + 90
    for i in range(n):
        if time.monotonic() > end:
            break
        if i % 100 == 0:
            # Fresh lines, so that a glyph never lands on the same glyph.
            b.tell("s0", op="print", text="\x1b[2J\x1b[H")
            b.outer.drain(0.5, quiet=0.1)
        g = glyphs[i % len(glyphs):i % len(glyphs) + 1]
        st = Stripper()
        while b.outer.read(0):
            pass
        t0 = time.monotonic()
        b.outer.write(g)
        seen = False
        while time.monotonic() - t0 < 2.0 and not b.outer.dead:
            d = b.outer.read(0.5)
            if d and g in st.feed(d):
                seen = True
                break
        if seen:
            xs.append((time.monotonic() - t0) * 1000)
        else:
            miss += 1
        time.sleep(gap + random.random() * 0.012)
    if not xs:
        return {"error": "no echo seen"}
    xs.sort()
    return {"median_ms": round(statistics.median(xs), 3),
            "p99_ms": round(xs[min(len(xs) - 1, int(len(xs) * 0.99))], 3),
            "max_ms": round(xs[-1], 3), "n": len(xs), "missed": miss}


def t_latency(prof, opts):
    def one(b):
        b.start_inner()
        r = {"quiet": latency_samples(b, opts.samples)}
        say("   quiet: %s" % r["quiet"])
        if "new" in prof:
            b.new_session("f1")
            b.go_first()
            b.outer.drain(1, quiet=0.3)
            b.tell("f1", op="flood")
            time.sleep(0.2)
            r["background_flood"] = latency_samples(b, opts.samples)
            b.tell("f1", op="stop", wait=False)
            say("   flood: %s" % r["background_flood"])
        return r
    return with_bench(prof, opts, one)


def t_interrupt(prof, opts):
    """Ctrl-C while the visible session floods: ms until what it prints next is painted.
    Once with an outer terminal that takes all it gets, once with one that takes 2 MB/s."""
    res = {}
    for label, rate in (("fast_terminal", None), ("slow_terminal_2MBs", 2e6)):
        xs = []
        outb = []
        fail = None
        for _ in range(5):
            def one(b):
                b.start_inner()
                tk = tokens()
                b.outer.rate = rate
                b.tell("s0", op="flood_int", sentinel=sentinel_text(tk))
                n0 = b.outer.bytes
                b.outer.drain(2.0)
                rate_out = (b.outer.bytes - n0) / 2.0
                t0 = time.monotonic()
                b.outer.write(b"\x03")
                ok = b.outer.wait_tokens(tk, 30)
                return (time.monotonic() - t0) * 1000 if ok else None, rate_out
            x, o = with_bench(prof, opts, one)
            if x is None:
                fail = "not painted within 30 s"
                break
            xs.append(x)
            outb.append(o)
        if xs:
            res[label] = {"ms_median": round(statistics.median(xs), 1), "ms_max": round(max(xs), 1),
                          "out_mb_s": round(statistics.median(outb) / 1e6, 2), "n": len(xs)}
        if fail:
            res.setdefault(label, {})["error"] = fail
    return res


def t_many(prof, opts):
    """Idle CPU, spinner CPU and memory with several sessions."""
    if "new" not in prof:
        return {"error": "profile has no way to add sessions"}

    def one(b):
        b.start_inner()
        names = ["s%d" % i for i in range(1, opts.sessions)]
        for nme in names:
            b.new_session(nme)
        b.go_first()
        b.outer.drain(2, quiet=0.5)
        r = {"sessions": opts.sessions}
        rss, pss = mem_of(b.pids())
        r["mem_empty"] = {"rss_mb": round(rss, 1), "pss_mb": round(pss, 1), "procs": len(b.pids())}

        def cpu_window():
            pids = b.pids()
            c0, n0, t0 = cpu_of(pids), b.outer.bytes, time.monotonic()
            b.outer.drain(opts.idle_s)
            dt = time.monotonic() - t0
            return {"cpu_pct": round((cpu_of(pids) - c0) / dt * 100, 2),
                    "out_bytes_s": round((b.outer.bytes - n0) / dt)}
        r["idle"] = cpu_window()
        say("   idle: %s" % r["idle"])
        b.new_session("x0")     # one more, so that ten spin in the background
        b.go_first()
        spinners = names + ["x0"]
        for nme in spinners:
            b.tell(nme, op="spin", hz=10)
        b.outer.drain(1)
        r["spin_bg"] = cpu_window()
        say("   spin: %s" % r["spin_bg"])
        for nme in spinners:
            b.tell(nme, op="stop")
        for nme in spinners:
            b.tell(nme, op="spin", hz=10, ink=True)
        b.outer.drain(1)
        r["inkspin_bg"] = cpu_window()
        for nme in spinners:
            b.tell(nme, op="stop")
        for i, nme in enumerate(["s0"] + names):
            b.tell(nme, op="fill", lines=opts.fill, width=100, seed=i)
        b.outer.drain(3, quiet=1.0)
        rss, pss = mem_of(b.pids())
        r["mem_full"] = {"rss_mb": round(rss, 1), "pss_mb": round(pss, 1), "lines": opts.fill}
        say("   mem: %s -> %s" % (r["mem_empty"], r["mem_full"]))
        return r
    return with_bench(prof, opts, one)


def t_check(prof, opts):
    """Does the profile work at all? Shows the size the inner program sees."""
    def one(b):
        b.start_inner()
        r = {"inner_size": b.tell("s0", op="size")["size"], "mux_pids": len(b.pids())}
        if "new" in prof:
            b.new_session("s1")
            b.go_first()
            tk = tokens(2)
            b.tell("s0", op="print", text=sentinel_text(tk), wait=False)
            r["first_visible"] = b.outer.wait_tokens(tk, 5)
            tk = tokens(2)
            b.tell("s1", op="print", text=sentinel_text(tk), wait=False)
            r["second_hidden"] = not b.outer.wait_tokens(tk, 1)
        return r
    return with_bench(prof, opts, one)


TESTS = {"check": t_check, "start": t_start, "throughput": t_throughput,
         "latency": t_latency, "interrupt": t_interrupt, "many": t_many}


def say(s):
    sys.stderr.write(s + "\n")
    sys.stderr.flush()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="cmd", required=True)
    g = sub.add_parser("gen", help="write the test streams")
    g.add_argument("--out", default="/tmp/muxbench-streams")
    g.add_argument("--mb", type=int, default=50)
    g.add_argument("--kinds", nargs="+", default=STREAMS)
    i = sub.add_parser("inner")
    i.add_argument("sock")
    i.add_argument("name")
    r = sub.add_parser("run", help="run tests on profiles")
    r.add_argument("profiles", nargs="+", help="names from the profiles file")
    r.add_argument("--profiles-file", default=os.path.join(HERE, "profiles.json"))
    r.add_argument("--tests", nargs="+", default=["check", "start", "latency", "interrupt", "throughput", "many"],
                   choices=list(TESTS))
    r.add_argument("--out", help="append JSON results to this file")
    r.add_argument("--streams", default="/tmp/muxbench-streams")
    r.add_argument("--mb", type=int, default=50)
    r.add_argument("--kinds", nargs="+", default=STREAMS)
    r.add_argument("--runs", type=int, default=3)
    r.add_argument("--timeout", type=int, default=120)
    r.add_argument("--samples", type=int, default=500)
    r.add_argument("--start-runs", type=int, default=7)
    r.add_argument("--sessions", type=int, default=10)
    r.add_argument("--idle-s", type=float, default=20)
    r.add_argument("--fill", type=int, default=10500)
    r.add_argument("--cols", type=int, default=120)
    r.add_argument("--rows", type=int, default=40)
    a = ap.parse_args()
    if a.cmd == "gen":
        for k, p in ensure_streams(a.out, a.mb, a.kinds).items():
            print(k, p, os.path.getsize(p))
        return
    if a.cmd == "inner":
        inner_main(a.sock, a.name)
        return
    with open(a.profiles_file) as f:
        profs = json.load(f)
    for name in a.profiles:
        prof = profs[name]
        res = {"profile": name, "when": time.strftime("%Y-%m-%d %H:%M:%S"),
               "size": "%dx%d" % (a.cols, a.rows)}
        for t in a.tests:
            say("== %s: %s" % (name, t))
            try:
                res[t] = TESTS[t](prof, a)
            except Exception as e:  # one broken test must not lose the others
                res[t] = {"error": "%s: %s" % (type(e).__name__, e)}
            say("   %s" % json.dumps(res[t])[:600])
        print(json.dumps(res))
        sys.stdout.flush()
        if a.out:
            with open(a.out, "a") as f:
                f.write(json.dumps(res) + "\n")


if __name__ == "__main__":
    main()
