"""Fairlead beside a lab: its programs below the lab's folder, and `fairlead serve` as an ordinary user.

The programs are copied there, because neither that user nor a newer release's root sees the build folder. On the
host's own Slurm all runs as user `fairlead`. A newer release is entered as root, so there we are root, too; its
bridge is linked with that release's libslurm by tools/build_bridge.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from layout import OBSERVER, Lab, LabError
from procs import wait_for

SOURCE = Path(__file__).resolve().parents[2]
ORGANISATION = Path(__file__).resolve().parent / "organisation"
PROGRAMS = ("fairlead", "fairlead-slurm")


class Beside:
    """Where Fairlead is in a lab. Requires: the lab is up and has telemetry."""

    def __init__(self, lab: Lab, build: Path) -> None:
        self.lab = lab
        self.dir = lab.path("fairlead")
        self.build = build
        self.user = OBSERVER if lab.options.root is None else "root"
        self.dir.mkdir(exist_ok=True)
        shutil.chown(self.dir, self.user)
        self.program = self._place("fairlead")
        self.bridge = self._place("fairlead-slurm") if lab.options.root is None else self._bridge_of_release()

    def _place(self, name: str) -> Path:
        there = self.dir / name
        built = self.build / "bin" / name
        if not built.exists():
            raise LabError(f"{built} is not there: cmake --build builds it")
        if not there.exists():
            shutil.copy2(built, there)
        return there

    def _bridge_of_release(self) -> Path:
        """Enters the release's root and runs the bridge that was linked there."""
        linked, script = self.dir / "fairlead-slurm.linked", self.dir / "fairlead-slurm"
        if not linked.exists():
            argv = [SOURCE / "tools" / "build_bridge", str(self.lab.options.root), linked, self.build]
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode != 0:
                raise LabError(f"tools/build_bridge: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}")
            script.write_text(f'#!/bin/sh\nexec {self.lab.path("bin", "in")} {linked} "$@"\n')
            script.chmod(0o755)
        return script

    def environment(self) -> dict[str, str]:
        """Of this process, and the lab's. Says nothing of a daemon."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("FAIRLEAD_")}
        inside = self.lab.environment()
        return {**env, **inside, "PATH": f"{inside['PATH']}:{self.dir}:{env['PATH']}", "FAIRLEAD_SLURM_BRIDGE": str(self.bridge)}

    def command(self, *argv: str) -> list[str]:
        """`fairlead ARGV` as the user who looks."""
        words = [str(self.program), *argv]
        if self.user == "root":
            return words
        return ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups", "--no-new-privs", *words]

    def run(
        self, *argv: str, want: int | None = 0, env: dict[str, str] | None = None, timeout: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """Fails with LabError where the exit code is not `want`; None takes any."""
        done = subprocess.run(
            self.command(*argv), env={**self.environment(), **(env or {})}, cwd=self.dir, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip
        if want is not None and done.returncode != want:
            raise LabError(f"fairlead {' '.join(argv)}: exit {done.returncode}, not {want}: {done.stderr or done.stdout}")
        return done

    def json(self, *argv: str, **options: Any) -> dict[str, Any]:
        return json.loads(self.run(*argv, "-o", "json", **options).stdout)


class Daemon:
    """`fairlead serve` with a configuration, a store and a socket of its own, all below the lab's folder."""

    def __init__(
        self, beside: Beside, name: str = "main", config: str = "", idle_after: str = "20s", organisation: bool = False
    ) -> None:
        """`organisation`: that of the lab is given, so that it suggests."""
        self.beside = beside
        self.name = name
        self.socket = beside.dir / f"{name}.sock"
        self.store = beside.dir / f"{name}.db"
        self.log = beside.dir / f"{name}.log"
        self.config = beside.dir / f"{name}.yaml"
        self.config.write_text(config or self.plain_config(idle_after))
        if organisation:
            self.give_organisation()
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def plain_config(self, idle_after: str, prometheus: str = "", slurm: str = "{interval: 1s}") -> str:
        return f"""\
sites:
  - name: lab
    slurm: {slurm}
    telemetry: {{prometheus: "{prometheus or self.beside.lab.prometheus_url}", interval: 2s}}
    evidence: {{idle_hold_after: {idle_after}}}
store: sqlite:{self.store}
listen: unix:{self.socket}
listen_http: 127.0.0.1:0
"""

    def give_organisation(self) -> None:
        folder = self.beside.dir / "organisation"
        shutil.copytree(ORGANISATION, folder, dirs_exist_ok=True)
        with self.config.open("a") as config:
            print(f"organisation: {folder}", file=config)

    @property
    def address(self) -> str:
        return f"unix:{self.socket}"

    def start(self, *options: str) -> Daemon:
        """Returns once it listens. Fails with LabError and its last words."""
        begins = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.beside.command("serve", "--config", str(self.config), *options), env=self.beside.environment(),
                cwd=self.beside.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

        def listens() -> bool:
            said = self.log.read_text(errors="replace")[begins:]
            found = re.search(r"listening on (http://\S+)", said)
            if found:
                self.url = found[1]
            elif self.process and self.process.poll() is not None:
                raise LabError(f"fairlead serve: exit {self.process.returncode}: {said.strip()[-2000:]}")
            return bool(found)

        wait_for("fairlead serve listens", 30, listens)
        return self

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Returns its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise LabError(f"fairlead serve: did not end within 20 s of signal {number.name}") from None

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=20) as reply:
            return json.load(reply)

    def text(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=20) as reply:
            return reply.read().decode()

    def run(self, *argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.beside.run(*argv, "--server", self.address, **options)
