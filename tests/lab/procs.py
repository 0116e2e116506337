"""Processes of a lab: pid files, whether one lives, and how it ends.

A pid is read from its file at the moment of use: newer daemons of Slurm restart themselves under a new pid. A
pid counts only while its process belongs to the lab, so a recycled number is never signalled.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from layout import Lab, LabError

# What a lab may start itself. A job's own processes are told by SLURM_JOB_ID in their environment.
DAEMONS = frozenset(
    "slurmctld slurmd slurmdbd slurmstepd slurmrestd slurmscriptd munged mariadbd prometheus python3".split()
)


def wait_for(what: str, seconds: float, ready: Callable[[], bool], pause: float = 0.03) -> None:
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise LabError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)


def is_alive(pid: int) -> bool:
    """Whether it runs; one that has ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def pid_of(lab: Lab, service: str) -> int | None:
    """The living process of a service, or None."""
    try:
        pid = int(lab.pid_file(service).read_text())
    except (OSError, ValueError):
        return None
    return pid if is_alive(pid) and belongs(pid, lab) else None


def belongs(pid: int, lab: Lab) -> bool:
    """Whether a process names the lab's folder in its command line, environment or open files."""
    needle = f"{lab.dir}/".encode()
    return any(needle in text for text in _traces(pid))


def is_job_process(pid: int, lab: Lab) -> bool:
    environment = _read(f"/proc/{pid}/environ")
    return b"\0SLURM_JOB_ID=" in b"\0" + environment and f"SLURM_CONF={lab.slurm_conf}\0".encode() in environment


def left_over(lab: Lab, but: Collection[int] = ()) -> list[int]:
    """Whatever of this lab still runs: daemons whose pid file is gone, steps, processes of its jobs."""
    return [pid for pid in _all_pids() if pid not in (os.getpid(), *but) and _is_ours(pid, lab)]


def stop(pids: Iterable[int], grace: float) -> None:
    """SIGTERM, and SIGKILL for what is still there after `grace` seconds."""
    living = send(pids, signal.SIGTERM)
    send(living, signal.SIGCONT)  # one that was paused hears it, too
    end = time.monotonic() + grace
    while living and time.monotonic() < end:
        time.sleep(0.02)
        living = [pid for pid in living if is_alive(pid)]
    kill(living)


def kill(pids: Iterable[int]) -> None:
    living = send(pids, signal.SIGKILL)
    wait_for("killed processes", 20, lambda: not any(is_alive(pid) for pid in living))


def send(pids: Iterable[int], number: signal.Signals) -> list[int]:
    """Returns those that got the signal."""
    reached = []
    for pid in pids:
        try:
            os.kill(pid, number)
            reached.append(pid)
        except ProcessLookupError:
            pass
    return reached


def _is_ours(pid: int, lab: Lab) -> bool:
    if is_job_process(pid, lab):
        return True
    name = _read(f"/proc/{pid}/comm").decode().strip()
    if name == "python3":  # only the exporter of this lab
        return b"exporter.py\0" in _read(f"/proc/{pid}/cmdline") and belongs(pid, lab)
    return name in DAEMONS and belongs(pid, lab)


def _traces(pid: int) -> Iterable[bytes]:
    yield _read(f"/proc/{pid}/cmdline")
    yield _read(f"/proc/{pid}/environ")
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            yield os.readlink(f"/proc/{pid}/fd/{number}").encode()
    except OSError:  # it ended, or closed one
        pass


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
