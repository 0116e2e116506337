"""One lab: where its files are, what it was asked to be, and how a command enters its Slurm.

Everything a lab writes is below one folder. What `up` was asked for is kept there in lab.json, so that every
later command needs the folder alone.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOST_RELEASE = "22.05"
RELEASES = (HOST_RELEASE, "24.11", "26.05")
GPUS_PER_NODE = 8
NODES_PER_LEAF = 4
LEAVES_PER_SPINE = 4
TEAM_USERS = ("alice", "bob", "carol", "dave")
OBSERVER = "fairlead"  # an ordinary account of Slurm: no admin level, submits nothing
USERS = (*TEAM_USERS, OBSERVER)
SOCKET_PATH_MAX = 107  # sun_path of Linux, without its final zero
PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class LabError(Exception):
    """What a person can act on; printed as one line, without a trace."""


class Skipped(LabError):
    """What is asked for cannot be had on this machine; exit code 77."""


@dataclass(frozen=True)
class Ports:
    controller: int
    dbd: int
    exporter: int
    prometheus: int
    rest: int
    first_node: int

    @staticmethod
    def count(nodes: int) -> int:
        return 5 + nodes

    @staticmethod
    def from_block(first: int) -> Ports:
        return Ports(*range(first, first + 6))


@dataclass(frozen=True)
class Options:
    nodes: int = 32
    release: str = HOST_RELEASE
    accounting: bool = True
    prometheus: bool = True
    scrape_seconds: int = 1
    min_job_age: int = 300
    h100: int | None = None  # so many of the nodes, the first ones; None: half of them
    conf: tuple[str, ...] = ()  # more lines of slurm.conf; the last of a key wins
    root: str | None = None  # root filesystem of another release; None: the host's own Slurm


@dataclass(frozen=True)
class Lab:
    dir: Path
    options: Options
    ports: Ports

    # --- what it is made of ---

    @property
    def node_names(self) -> list[str]:
        return [node_name(i) for i in range(1, self.options.nodes + 1)]

    @property
    def h100_nodes(self) -> int:
        """The first nodes, half of them rounded up unless it was asked otherwise, hold H100s; the rest A100s."""
        return (self.options.nodes + 1) // 2 if self.options.h100 is None else self.options.h100

    def gpu_type(self, number: int) -> str:
        return "h100" if number <= self.h100_nodes else "a100"

    @property
    def uses_munge(self) -> bool:
        return self.options.release == HOST_RELEASE

    # --- where it is ---

    def path(self, *parts: str) -> Path:
        return self.dir.joinpath(*parts)

    @property
    def slurm_conf(self) -> Path:
        return self.path("etc", "slurm.conf")

    def pid_file(self, service: str) -> Path:
        return self.path("run", f"{service}.pid")

    def log_file(self, service: str) -> Path:
        return self.path("log", f"{service}.log")

    @property
    def prometheus_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.prometheus}"

    @property
    def exporter_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.exporter}"

    # --- how a command enters it ---

    def environment(self) -> dict[str, str]:
        """What a client of this lab needs in its environment."""
        env = {
            "FAIRLEAD_LAB": str(self.dir),
            "SLURM_CONF": str(self.slurm_conf),
            "PATH": ":".join(str(self.path(folder)) for folder in self.client_folders),
        }
        if self.options.prometheus:
            env["FAIRLEAD_LAB_PROMETHEUS"] = self.prometheus_url
            env["FAIRLEAD_LAB_EXPORTER"] = self.exporter_url
        if self.options.root:
            env["FAIRLEAD_LAB_ROOT"] = self.options.root
        return env | self._rest_environment()

    def _rest_environment(self) -> dict[str, str]:
        try:
            return json.loads(self.path("rest", "environment.json").read_text())
        except FileNotFoundError:
            return {}

    @property
    def client_folders(self) -> list[str]:
        """What goes in front of the PATH: clients of another release, and `in` and `rank`."""
        return ["clients", "bin"] if self.options.root else ["bin"]

    def command(self, argv: list[str], user: str = "root") -> list[str]:
        return [str(self.path("bin", "in")), "-u", user, *argv]

    def run(
        self, argv: list[str], user: str = "root", timeout: float = 60, check: bool = True, stdin: str | None = None
    ) -> str:
        """The output of a command inside the lab. Fails with LabError, which shows what it said."""
        try:
            done = subprocess.run(
                self.command(argv, user),
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            raise LabError(f"{shlex.join(argv)}: no answer within {timeout:.0f} s") from None
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise LabError(f"{shlex.join(argv)}: exit {done.returncode}: {said}")
        return done.stdout

    # --- what is kept ---

    def save(self) -> None:
        kept = {"options": dataclasses.asdict(self.options), "ports": dataclasses.asdict(self.ports)}
        self.path("lab.json").write_text(json.dumps(kept, indent=1) + "\n")


def node_name(number: int) -> str:
    return f"n{number:03d}"


def load(directory: str | Path) -> Lab:
    folder = Path(directory).resolve()
    try:
        kept = json.loads((folder / "lab.json").read_text())
    except FileNotFoundError:
        raise LabError(f"{folder} is no lab: `lab up {directory}` makes one") from None
    options = Options(**{**kept["options"], "conf": tuple(kept["options"]["conf"])})
    return Lab(folder, options, Ports(**kept["ports"]))


def cache_dir() -> Path:
    """What is made once and shared by all labs of this user: roots, seeded databases, the list of ports."""
    base = os.environ.get("FAIRLEAD_LAB_CACHE")
    folder = Path(base) if base else Path.home() / ".cache" / "fairlead-lab"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
