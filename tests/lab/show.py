#!/usr/bin/env python3
"""A lab at work with Fairlead beside it, until Ctrl-C:  show.py BUILD [--once] [--nodes N] [--release R]

BUILD is the build folder whose bin/ holds the programs. Everything lies below one new folder, which goes at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import life  # noqa: E402
import mix  # noqa: E402
from beside import Beside, Daemon  # noqa: E402
from layout import HOST_RELEASE, RELEASES, Lab, LabError, Options, Skipped  # noqa: E402

SHOW_WITHIN = 90  # seconds; chosen: the mix needs some 45 on two busy cores
IDLE_AFTER = "20s"
EXIT_SKIPPED = 77

# What the lab of another size does: it works, it idles, and two of its jobs wait.
SMALL_MIX = [
    mix.Job("working", "carol", "-N{half} --gpus-per-node=8", gpus=8),
    mix.Job("never_touched", "dave", "-N1 --gpus-per-node=4", mix.FOREVER, idle="never_used", gpus=4),
    mix.Job("user_hold", "alice", "-N1 --gpus-per-node=1 --hold", reasons=("JobHeldUser",), gpus=1),
    mix.Job("too_big", "bob", "-p h100 -N{h100} --gpus-per-node=8", reasons=mix.FULL, gpus=8),
]  # fmt: skip

started = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - started:3.0f} s] {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--nodes", type=int, default=mix.NODES)
    parser.add_argument("--release", choices=RELEASES, default=HOST_RELEASE)
    args = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))  # unwinds, and so cleans up
    folder = Path(tempfile.mkdtemp(prefix="fairlead-run."))
    folder.chmod(0o755)  # the lab has several users
    try:
        return show(args, folder)
    except Skipped as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return EXIT_SKIPPED
    except (LabError, OSError) as error:
        print(f"run: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0 if not args.once else 130
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        leave_nothing(folder)


def leave_nothing(folder: Path) -> None:
    for daemon in daemons:
        daemon.stop()
    if labs:
        say("stopping the lab")
    for lab in labs:
        life.down(lab, remove=True)
    shutil.rmtree(folder, ignore_errors=True)
    if labs:
        say("all is stopped, and the folder is gone")


labs: list[Lab] = []
daemons: list[Daemon] = []


def show(args: argparse.Namespace, folder: Path) -> int:
    """1. the lab   2. Fairlead beside it   3. work   4. what there is to see   5. until Ctrl-C"""
    say(f"starting a lab: Slurm {args.release}, {args.nodes} nodes of 8 GPUs, accounting, Prometheus")
    lab = life.up(folder / "lab", Options(nodes=args.nodes, release=args.release))
    labs.append(lab)
    beside = Beside(lab, args.build.resolve())
    daemon = Daemon(beside, idle_after=IDLE_AFTER, organisation=args.nodes == mix.NODES)
    daemons.append(daemon)
    daemon.start()
    say(f"fairlead serve runs as user {beside.user}; the console is at {daemon.url}/")
    told = mix.make(lab) if args.nodes == mix.NODES else small_mix(lab)
    say(f"{len(told['jobs'])} kinds of jobs are submitted: what works, what idles, and what waits")
    missing = wait_until_shown(daemon, told)
    print_views(daemon, told)
    print_further(daemon, lab)
    for line in missing:
        say(f"not as expected: {line}")
    if not args.once:
        say("Ctrl-C stops all of it")
        while daemon.process and daemon.process.poll() is None:
            time.sleep(0.5)
        raise LabError(f"fairlead serve has ended: {daemon.log.read_text()[-1000:]}")
    return 1 if missing else 0


def small_mix(lab: Lab) -> dict:
    jobs = mix.Mix(lab)
    size = {"half": max(1, lab.options.nodes // 2), "h100": lab.h100_nodes}
    for job in SMALL_MIX:
        jobs.ids.update(size)
        jobs.submit(job)
    return {"jobs": jobs.told()["jobs"]}


def wait_until_shown(daemon: Daemon, told: dict) -> list[str]:
    """Returns what is still not as expected when time is up."""
    end, last = time.monotonic() + SHOW_WITHIN, ""
    while True:
        missing = not_as_expected(told, daemon.get("/v1/report"))
        now = f"{len(told['jobs']) - len(missing)} of {len(told['jobs'])} are seen as what they are"
        if now != last:
            say(now)
        last = now
        if not missing or time.monotonic() > end:
            return missing
        time.sleep(1)


def not_as_expected(told: dict, report: dict) -> list[str]:
    """A line for each job that the report does not show as what the mix made it."""
    idle = {row["workload"]: row["kind"] for row in report["idle_holds"]}
    waiting = {row["workload"].partition("_")[0]: row for row in report["waiting"]}
    return [line for name, job in told["jobs"].items() if (line := difference(name, job, idle, waiting))]


def difference(name: str, job: dict, idle: dict, waiting: dict) -> str | None:
    number, expect = str(job["job"]), job["expect"]
    if expect["idle"]:
        found = idle.get(number)
        return None if found == expect["idle"] else f"{name} ({number}): {found}, not {expect['idle']}"
    if expect["waits"]:
        row = waiting.get(number)
        if not row or not row["blockers"]:
            return f"{name} ({number}): is not known to wait"
        if not row["scheduler_agrees"]:
            return f"{name} ({number}): {row['blockers']} against Slurm's {row['scheduler_reason']}"
    return None


def print_views(daemon: Daemon, told: dict) -> None:
    width = shutil.get_terminal_size((120, 40)).columns
    interesting = next((told["jobs"][name]["job"] for name in ("account_limit", "too_big") if name in told["jobs"]))
    views = [["report"], ["queue"], ["explain", str(interesting)]]
    if daemon.get("/v1/sites")["sites"][0]["organisation"]:
        views += [["teams"], ["place", str(interesting)], ["compare"]]
    for argv in (*views, ["ledger", "verify"]):
        print(f"\n$ fairlead {' '.join(argv)}\n{'─' * min(width, 100)}", flush=True)
        done = daemon.run(*argv)
        print(done.stdout, end="", flush=True)


def print_further(daemon: Daemon, lab: Lab) -> None:
    here = daemon.beside.dir
    print(f"""
To look further, in another terminal:

  export FAIRLEAD_SERVER={daemon.address}
  export PATH={here}:$PATH
  fairlead top --by team
  fairlead queue --all-blockers
  fairlead fabric tree
  fairlead report -o html > report.html
  fairlead simulate train.sbatch               # what would become of a job, before it is submitted
  eval "$({lab_command()} env {lab.dir})"      # squeue, sinfo, ... of this lab
  {lab_command()} in {lab.dir} -u alice sbatch -N1 --gpus-per-node=4 --wrap 'srun rank busy:60,idle'

Console     {daemon.url}/
Metrics     {daemon.url}/metrics
Prometheus  {lab.prometheus_url}
""", flush=True)  # fmt: skip


def lab_command() -> Path:
    return Path(__file__).resolve().parent / "lab"


if __name__ == "__main__":
    sys.exit(main())
