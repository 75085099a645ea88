#!/usr/bin/env python3
"""How long one run of `sessdeck hook` takes beside a process that does nothing, and how much memory it needs.

    cargo build --release
    python3 tests/bench/hook.py [--program target/release/sessdeck] [--runs 300] [--out FILE]

All kinds of runs take turns in one go: `true`, then one of each event, then `true` again. The transcript has 300 MB, the
folder of profiles 20 of 60 keywords each. Python's standard library and GNU time, Linux only. Nothing here runs as a test.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MEGABYTE = 1 << 20


def make_home(root):
    """A home with 20 profiles and the three transcripts."""
    profiles = root / "deck" / "config" / "profiles"
    profiles.mkdir(parents=True)
    (root / "repo" / ".git").mkdir(parents=True)
    for number in range(20):
        keywords = [f"word{number * 60 + n} extra" if n % 3 == 0 else f"word{number * 60 + n}" for n in range(60)]
        text = f'[[profile]]\nname = "p{number}"\nabout = "profile {number}"\nkeywords = {json.dumps(keywords)}\n'
        (profiles / f"p{number}.toml").write_text(text)
    row = {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "x" * 20_000}]}}
    row = (json.dumps(row) + "\n").encode()
    last = "".join(json.dumps(call(n, 200_000 + n)) + "\n" for n in range(3)).encode()
    result = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "y" * (12 * MEGABYTE)}]}}
    result = (json.dumps(result) + "\n").encode()
    with open(root / "large.jsonl", "wb") as file:
        for _ in range(300 * MEGABYTE // len(row)):
            file.write(row)
        file.write(last)
    shutil.copy(root / "large.jsonl", root / "behind.jsonl")
    with open(root / "behind.jsonl", "ab") as file:
        file.write(result)
    (root / "small.jsonl").write_bytes(last)


def call(number, tokens):
    usage = {"input_tokens": 10, "cache_read_input_tokens": tokens, "output_tokens": 5}
    return {"type": "assistant", "message": {"id": f"m{number}", "model": "claude-opus-5-5", "usage": usage}}


def events(root):
    def event(name, transcript="large", **more):
        common = {"session_id": "c1", "transcript_path": str(root / f"{transcript}.jsonl"), "cwd": str(root / "repo")}
        return json.dumps({"hook_event_name": name, **common, **more}).encode()

    passes = "please have a look at word61 and word62 in the code again"
    blocked = "please have a look at word121 and word122 and word124 in the code"
    prose = ("and so it goes on with one word after the other " * 30_000)[:MEGABYTE]
    bash = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    return {
        "prompt that passes": event("UserPromptSubmit", prompt=passes),
        "the same, small transcript": event("UserPromptSubmit", "small", prompt=passes),
        "the same, 12 MB behind the last call": event("UserPromptSubmit", "behind", prompt=passes),
        "prompt that is blocked": event("UserPromptSubmit", prompt=blocked),
        "prompt of 1 MB": event("UserPromptSubmit", prompt=prose),
        "before a tool": event("PreToolUse", **bash),
        "after a tool": event("PostToolUse", **bash),
        "start": event("SessionStart", source="startup"),
    }


def run(argv, stdin, environment):
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    process.stdin.write(stdin)
    process.stdin.close()
    process.stdout.read()
    process.wait()
    took = (time.perf_counter() - began) * 1000
    process.stdout.close()
    if process.returncode != 0:
        sys.exit(f"{argv} ended with {process.returncode}")
    return took


def memory(argv, stdin, environment):
    """The peak of resident memory in MB, as GNU time has it; a child of ours would inherit our own."""
    timed = ["/usr/bin/time", "-f", "%M", *argv]
    said = subprocess.run(timed, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, check=True)
    return int(said.stderr.split()[-1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/sessdeck")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--out", help="a file that gets the figures as a JSON line")
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    with tempfile.TemporaryDirectory(prefix="sessdeck-bench-") as folder:
        root = pathlib.Path(folder)
        make_home(root)
        environment = {
            "HOME": str(root),
            "PATH": "/usr/bin:/bin",
            "SESSDECK_HOME": str(root / "deck"),
            "SESSDECK_PROFILE": "p1",
        }
        kinds = {"a bare process (`true`)": (["true"], b"")}
        kinds.update({name: ([program, "hook", "claude"], stdin) for name, stdin in events(root).items()})
        took = {name: [] for name in kinds}
        peaks = {name: memory(*kind, environment) for name, kind in kinds.items()}
        for turn in range(given.runs + 5):
            for name, (argv, stdin) in kinds.items():
                milliseconds = run(argv, stdin, environment)
                # The first runs fill the caches.
                if turn >= 5:
                    took[name].append(milliseconds)
    base = statistics.median(took["a bare process (`true`)"])
    print("| whole process | median, ms | over `true` | p99 | peak MB |")
    print("| --- | --- | --- | --- | --- |")
    figures = {}
    for name, times in took.items():
        median = statistics.median(times)
        p99 = sorted(times)[int(len(times) * 0.99) - 1]
        figures[name] = {"median": round(median, 2), "over": round(median - base, 2), "p99": round(p99, 2), "mb": round(peaks[name], 1)}
        print(f"| {name} | {median:.2f} | {median - base:.2f} | {p99:.2f} | {peaks[name]:.1f} |")
    if given.out:
        with open(given.out, "a") as file:
            file.write(json.dumps({"bench": "hook", "runs": given.runs, "figures": figures}) + "\n")


if __name__ == "__main__":
    main()
