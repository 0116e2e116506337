#!/usr/bin/env python3
"""What a bridge costs slurmctld, and how soon it tells a change.

Fills a running lab with held jobs, changes one job a second, and compares slurmctld's own CPU time (utime +
stime of its process) with the bridge off and on. Each change puts a number into a job's comment; its latency
is the time from the end of `scontrol update` to the line with that number on the bridge's stdout.

  slurmctld_cost.py --conf LAB/etc/slurm.conf --pid-file LAB/run/slurmctld.pid -- build/dev/bin/fairlead-slurm

Run as root (it submits and cancels). The lab's jobs are cancelled at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Lab:
    def __init__(self, conf: str, prefix: list[str]) -> None:
        self.environment = {**os.environ, "SLURM_CONF": conf}
        self.prefix = prefix

    def run(self, *words: str) -> str:
        done = subprocess.run([*self.prefix, *words], env=self.environment, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def submit_held(self, count: int) -> list[str]:
        def one(_: int) -> str:
            return self.run("sbatch", "--parsable", "--hold", "-J", "cost", "-o", "/dev/null", "--gres=gpu:4", "--wrap", "true")

        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(one, range(count)))


class Stream:
    """Reads event lines and notes when each number was first seen in a comment."""

    def __init__(self, words: list[str], lab: Lab) -> None:
        self.seen: dict[str, float] = {}
        self.lines = 0
        self.ready = threading.Event()
        self.process = subprocess.Popen(words, env=lab.environment, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines += 1
            if '"poll_ended"' in line:
                self.ready.set()
            elif '"comment":"change ' in line:
                self.seen.setdefault(json.loads(line)["job"]["comment"], time.time())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def window(lab: Lab, pid: int, ids: list[str], seconds: int, changes: dict[str, float], interval: float) -> float:
    """Changes one job every `interval` and notes when; returns slurmctld's CPU in percent of a core."""
    label = f"change {time.time():.0f}"
    cpu, start = cpu_seconds(pid), time.time()
    for i in range(int(seconds / interval)):
        name = f"{label}.{i}"
        lab.run("scontrol", "update", f"jobid={ids[(i * 37) % len(ids)]}", f"comment={name}")
        changes[name] = time.time()
        time.sleep(max(0.0, start + (i + 1) * interval - time.time()))
    return 100 * (cpu_seconds(pid) - cpu) / (time.time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conf", required=True)
    parser.add_argument("--pid-file", required=True)
    parser.add_argument("--prefix", default="", help="put before each Slurm command, as a lab of another release wants")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=60, help="length of each window")
    parser.add_argument("--rounds", type=int, default=2, help="off and on, so many times")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between changes")
    parser.add_argument("--keep", action="store_true", help="leave the jobs, and use those there are")
    parser.add_argument("bridge", nargs="+")
    options = parser.parse_args()

    lab = Lab(options.conf, options.prefix.split())
    pid = int(Path(options.pid_file).read_text())
    ids = lab.run("squeue", "-h", "-n", "cost", "-o", "%A").split() if options.keep else []
    ids += lab.submit_held(options.jobs - len(ids))
    print(f"{len(ids)} held jobs, a change every {options.interval:g} s, windows of {options.seconds} s", flush=True)
    for _ in range(options.rounds):
        off = window(lab, pid, ids, options.seconds, {}, options.interval)
        stream = Stream([*lab.prefix, *options.bridge], lab)
        stream.ready.wait(30)
        changes: dict[str, float] = {}
        lines = stream.lines
        on = window(lab, pid, ids, options.seconds, changes, options.interval)
        time.sleep(6)
        stream.stop()
        late = sorted(stream.seen[name] - at for name, at in changes.items() if name in stream.seen)
        lost = len(changes) - len(late)
        p50, p99 = late[len(late) // 2], late[min(len(late) - 1, int(len(late) * 0.99))]
        print(f"slurmctld {off:.2f} % off, {on:.2f} % on: +{on - off:.2f} % of a core; "
              f"latency p50 {p50:.2f} p99 {p99:.2f} max {late[-1]:.2f} s; {lost} of {len(changes)} changes not seen "
              f"(overwritten or lost); {stream.lines - lines} lines", flush=True)
    if not options.keep:
        lab.run("scancel", "-n", "cost")


if __name__ == "__main__":
    main()
