"""Free TCP ports for a lab, also when many labs start at once.

A port is taken when somebody listens on it (asked of the system) or when a lab that stands holds it, running or
not: a controller that is stopped for a test gets its port back. Ports come from below the range that the system
hands to outgoing connections, else a client could sit on one between our look and the daemon's start.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path

from layout import LabError, cache_dir

LOWEST = 10_000
TRIES = 200


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Holds a machine-wide lock of the labs; the system lets go of it when the process ends."""
    with open(cache_dir() / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def reserve(directory: Path, count: int) -> int:
    """Returns the first of `count` free ports in a row, held until release()."""
    with locked("ports"):
        held = _held()
        held.pop(str(directory), None)
        first = _free_block(count, held)
        held[str(directory)] = (first, count)
        _write(held)
        return first


def release(directory: Path) -> None:
    with locked("ports"):
        held = _held()
        held.pop(str(directory), None)
        _write(held)


def _list_file() -> Path:
    return cache_dir() / "ports.json"


def _held() -> dict[str, tuple[int, int]]:
    try:
        listed = json.loads(_list_file().read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {folder: (first, count) for folder, (first, count) in listed.items() if Path(folder).is_dir()}


def _write(held: dict[str, tuple[int, int]]) -> None:
    new = _list_file().with_suffix(".new")
    new.write_text(json.dumps(held))
    new.rename(_list_file())


def _free_block(count: int, held: dict[str, tuple[int, int]]) -> int:
    highest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0]) - count
    for _ in range(TRIES):
        first = random.randrange(LOWEST, highest)
        apart = all(first + count <= other or other + size <= first for other, size in held.values())
        if apart and all(_is_free(port) for port in range(first, first + count)):
            return first
    raise LabError(f"no {count} free ports in a row below {highest}; `lab down` labs that are no longer needed")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    with socket.socket() as probe:  # the daemons of Slurm listen on all addresses
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
