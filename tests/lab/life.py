"""How a lab comes up, goes down, and loses and regains its parts."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import accounts
import config
import ports
import root
import services
from layout import OBSERVER, SOCKET_PATH_MAX, USERS, Lab, LabError, Options, Ports, load
from procs import is_alive, pid_of, send

NODES_MAX = 999  # a name has three digits


def up(directory: Path, options: Options) -> Lab:
    """Brings up a lab, or leaves nothing running.

    1. a folder, free ports, configuration   2. telemetry, and what Slurm writes to, side by side
    3. the controller                        4. the nodes
    """
    folder = directory.resolve()
    if not 1 <= options.nodes <= NODES_MAX:
        raise LabError(f"--nodes {options.nodes}: from 1 to {NODES_MAX}")
    _check_machine(folder)
    _clear(folder)
    options = replace(options, root=root.ensure(options.release))
    lab = Lab(folder, options, Ports.from_block(ports.reserve(folder, Ports.count(options.nodes))))
    try:
        lab.save()
        config.prepare(lab)
        _make_users(options.root)
        config.make_places_of_users(lab)
        with ThreadPoolExecutor(2) as pool:
            telemetry = pool.submit(_start_telemetry, lab)
            _start_slurm(lab)
            telemetry.result()
    except BaseException:  # an interrupt, too
        if threading.current_thread() is threading.main_thread():  # no other may set them
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
        services.stop_everything(lab, grace=1)
        ports.release(folder)
        raise
    return lab


def down(lab: Lab, remove: bool) -> None:
    services.stop_everything(lab)
    ports.release(lab.dir)
    if remove:
        shutil.rmtree(lab.dir)


def crash(lab: Lab) -> None:
    """The controller dies as if its machine lost power, and starts again."""
    signal_service(lab, "slurmctld", signal.SIGKILL)
    services.wait_for("slurmctld ends", 10, lambda: not pid_of(lab, "slurmctld"))
    services.start_controller(lab)


def signal_service(lab: Lab, service: str, number: signal.Signals) -> None:
    pid = pid_of(lab, service)
    if not pid:
        raise LabError(f"{service} does not run")
    send([pid], number)


def stop_service(lab: Lab, service: str) -> None:
    pids = services.living(lab, [service])
    if not pids:
        raise LabError(f"{service} does not run")
    services.stop(pids, grace=20)


def stop_node(lab: Lab, node: str) -> None:
    stop_service(lab, f"slurmd.{node}")


def fail_node(lab: Lab, node: str) -> None:
    """As if its machine lost power: slurmd, and what runs there, end and report nothing."""
    pids = [pid for claim in claims(lab, node) for pid in _step_of(claim["pid"])]
    pids += services.living(lab, [f"slurmd.{node}"])
    send(pids, signal.SIGKILL)


def orphans(lab: Lab) -> list[int]:
    """Ranks that live and whose job slurmctld does not know."""
    known = set(lab.run(["squeue", "-h", "-t", "all", "-o", "%A"]).split())
    found = [claim for node in lab.node_names for claim in claims(lab, node)]
    return [claim["pid"] for claim in found if str(claim["job"]) not in known and is_alive(claim["pid"])]


def claims(lab: Lab, node: str) -> list[dict[str, int]]:
    """What the ranks on a node say of its GPUs."""
    found = []
    for file in lab.path("gpu", node).glob("[0-9]"):
        with contextlib.suppress(OSError, ValueError):  # it goes, or is being written
            found.append(json.loads(file.read_text()))
    return found


def _step_of(pid: int) -> list[int]:
    """A rank and what is above it up to slurmstepd, which comes first."""
    chain = []
    with contextlib.suppress(OSError, IndexError, ValueError):
        while pid > 1:
            name, fields = Path(f"/proc/{pid}/comm").read_text().strip(), Path(f"/proc/{pid}/stat").read_text()
            chain.insert(0, pid)
            if name == "slurmstepd":
                return chain
            pid = int(fields.rpartition(")")[2].split()[1])
    return chain[-1:]


def rest(lab: Lab) -> dict[str, str]:
    """Starts slurmrestd; returns what its clients need in their environment."""
    services.start_rest(lab)
    token = lab.run(["scontrol", "token", f"username={OBSERVER}", "lifespan=86400"]).strip().partition("=")[2]
    kept = {
        "FAIRLEAD_LAB_REST": f"http://127.0.0.1:{lab.ports.rest}",
        "FAIRLEAD_LAB_REST_SOCKET": str(services.rest_socket(lab)),
        "FAIRLEAD_LAB_REST_VERSION": services.REST_VERSIONS[lab.options.release],
        "FAIRLEAD_LAB_REST_USER": OBSERVER,
        "FAIRLEAD_LAB_REST_TOKEN": token,
    }
    lab.path("rest", "environment.json").write_text(json.dumps(kept))
    return kept


def _start_telemetry(lab: Lab) -> None:
    if lab.options.prometheus:
        services.start_exporter(lab)
        services.start_prometheus(lab)


def _start_slurm(lab: Lab) -> None:
    if lab.uses_munge:
        services.start_munge(lab)
    if lab.options.accounting:
        accounts.place_database(lab)
        services.start_database(lab)
        services.start_dbd(lab)
    services.start_controller(lab)
    services.start_nodes(lab)
    services.wait_nodes_idle(lab)


def _check_machine(folder: Path) -> None:
    if os.geteuid() != 0:
        raise LabError("a lab runs daemons under several users: run it as root")
    if len(str(folder / "rootrun/slurmctld/sack.socket")) > SOCKET_PATH_MAX:
        raise LabError(f"{folder}: too long for the sockets below it; take a shorter path")
    closed = [parent for parent in folder.parents if parent.exists() and not parent.stat().st_mode & 0o001]
    if closed:
        raise LabError(f"{closed[0]}: other users may not enter it, and a lab below it has several; go elsewhere")


def _clear(folder: Path) -> None:
    """Makes the folder empty if it holds nothing or a lab that is down."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    old = load(folder)
    if services.left_over(old):
        raise LabError(f"{folder}: a lab runs there; `lab down` it first")
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _make_users(inside: str | None) -> None:
    """On the machine itself, once, and likewise in the root: Slurm asks there who somebody is."""
    with ports.locked("users"):
        for user in USERS:
            try:
                pwd.getpwnam(user)
            except KeyError:
                services.must(["useradd", "--no-create-home", "--shell", "/bin/bash", user])
        if inside:
            root.make_users(inside)
