"""What the e2e tests share: labs with Fairlead beside them, and waiting for what is to come.

FAIRLEAD_BUILD names the build folder whose bin/ is tested (build/dev). Nothing here sleeps for a time and hopes: it waits
until something is so, or says after a deadline what was not.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "lab"))

import life  # noqa: E402
import mix  # noqa: E402
import services  # noqa: E402
import show  # noqa: E402
from beside import Beside, Daemon  # noqa: E402
from layout import Lab, LabError, Options, Skipped, cache_dir  # noqa: E402

__all__ = ["shutil", "Beside", "Daemon", "Lab", "LabError", "Options", "Skipped", "cache_dir", "life", "mix", "services", "show"]

BUILD = Path(os.environ.get("FAIRLEAD_BUILD", ROOT / "build" / "dev"))
COLUMNS = ("useful", "held_idle", "held_unmeasured", "lost", "reserved", "free", "stranded", "down")
HELD = COLUMNS[:4]
T = TypeVar("T")

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, and so stops the labs


def eventually(what: str, seconds: float, value: Callable[[], T], pause: float = 0.2) -> T:
    """The first true value. What fails meanwhile is taken for not yet so; the last failure is shown."""
    end, last = time.monotonic() + seconds, ""
    while True:
        try:
            if got := value():
                return got
        except (OSError, LabError, AssertionError, KeyError) as error:
            last = f": {error}"
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds:.0f} s{last}")
        time.sleep(pause)


def new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fairlead-e2e."))
    folder.chmod(0o755)  # a lab has several users
    return folder


def start_lab(clean_up: Callable[..., object], **options: Any) -> Beside:
    """A lab with Fairlead's programs in it. `clean_up` is addCleanup, addClassCleanup or atexit.register."""
    folder = new_folder()
    clean_up(shutil.rmtree, folder, ignore_errors=True)
    lab = life.up(folder / "lab", Options(**options))
    clean_up(life.down, lab, remove=True)
    return Beside(lab, BUILD)


class Site(unittest.TestCase):
    """A small lab for all tests of a class, and a daemon beside it for each test."""

    options: dict[str, Any] = {"nodes": 2}
    beside: Beside
    lab: Lab

    @classmethod
    def setUpClass(cls) -> None:
        cls.beside = start_lab(cls.addClassCleanup, **cls.options)
        cls.lab = cls.beside.lab

    def tearDown(self) -> None:
        """The next test finds the lab as this one did."""
        self.lab.path("gpu", "faults.json").unlink(missing_ok=True)
        self.lab.run(["sh", "-c", "squeue -h -o %A | sort -u | xargs -r scancel; true"])
        eventually("no job is left", 30, lambda: not self.lab.run(["squeue", "-h"]).strip())

    def daemon(self, name: str = "", start: bool = True, **options: Any) -> Daemon:
        daemon = Daemon(self.beside, name or self._testMethodName, **options)
        self.addCleanup(daemon.stop)
        return daemon.start() if start else daemon

    def submit(self, user: str, *argv: str) -> str:
        return self.lab.run(["sbatch", "--parsable", "-o", "/dev/null", *argv], user).strip().partition(";")[0]

    def wait_state(self, job: str, *states: str, seconds: float = 30) -> None:
        def reached() -> bool:
            return self.lab.run(["squeue", "-h", "-t", "all", "-j", job, "-o", "%T"]).strip() in states

        eventually(f"job {job} is {' or '.join(states)}", seconds, reached)

    def wait_known(self, daemon: Daemon, job: str, *states: str, seconds: float = 30) -> dict[str, Any]:
        """The daemon's explanation of the job once it is in one of the states."""

        def known() -> dict[str, Any] | None:
            found = daemon.get(f"/v1/workloads/{job}/explain")
            return found if found["state"] in states else None

        return eventually(f"the daemon knows {job} as {' or '.join(states)}", seconds, known)

    def wait_source(self, daemon: Daemon, source: str, ok: bool, seconds: float = 60) -> dict[str, Any]:
        def so() -> dict[str, Any] | None:
            row = source_of(daemon.get("/v1/report"), source)
            return row if row["known"] and row["ok"] == ok else None

        return eventually(f"source {source} is {'seen' if ok else 'not seen'}", seconds, so)

    def assert_adds_up(self, daemon: Daemon, gpus: int | None = None) -> dict[str, Any]:
        """Returns the report. Every GPU-second since the books opened is in exactly one column."""
        return assert_adds_up(self, daemon, gpus if gpus is not None else 8 * self.lab.options.nodes)


def source_of(report: dict[str, Any], source: str) -> dict[str, Any]:
    return next(row for row in report["sources"] if row["source"] == source)


def instant(text: str) -> float:
    """Of RFC 3339, in seconds."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def whole_seconds(report: dict[str, Any]) -> int:
    """Between the whole seconds of its two ends: the ledger's unit of time."""
    return int(instant(report["to"])) - int(instant(report["from"]))


def assert_adds_up(test: unittest.TestCase, daemon: Daemon, gpus: int) -> dict[str, Any]:
    report = daemon.get("/v1/report")
    seconds = report["gpu_seconds"]
    test.assertEqual(report["gpus"], gpus)
    test.assertTrue(all(seconds[column] >= 0 for column in COLUMNS), seconds)
    test.assertEqual(sum(seconds[column] for column in COLUMNS), seconds["total"])
    test.assertEqual(seconds["total"], gpus * whole_seconds(report), f"{report['from']} to {report['to']}: {seconds}")
    for part, columns in (("models", COLUMNS), ("teams", HELD), ("users", HELD), ("classes", HELD)):
        for column in columns:
            total = sum(row["gpu_seconds"][column] for row in report[part])
            # each row is cut to whole seconds by itself, its largest column taking the rest
            test.assertAlmostEqual(total, seconds[column], delta=len(report[part]), msg=f"{part}: {column}")
    checked = daemon.run("ledger", "verify", "-o", "json", want=None)
    test.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
    test.assertTrue(json.loads(checked.stdout)["adds_up"])
    return report


class OwnPrometheus:
    """A Prometheus that scrapes what it is told to, or nothing."""

    def __init__(self, clean_up: Callable[..., object], scrape: list[dict[str, Any]]) -> None:
        self.folder = new_folder()
        clean_up(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": scrape}))
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                 "--web.listen-address=127.0.0.1:0"], stdout=log, stderr=log,
            )  # fmt: skip
        clean_up(self.process.wait)
        clean_up(self.process.terminate)
        self.url = f"http://{eventually('Prometheus listens', 20, self.address)}"

    def address(self) -> str | None:
        found = re.search(r"(?:Listening on|listening on|address=)\D*(127\.0\.0\.1:[1-9]\d*)", (self.folder / "log").read_text())
        if found:
            return found[1]
        said = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True).stdout
        found = re.search(rf"(127\.0\.0\.1:\d+).*pid={self.process.pid},", said)
        return found and found[1]


class MixLab:
    """The believable day, settled, with a daemon that has seen all of it."""

    def __init__(self, clean_up: Callable[..., object], **options: Any) -> None:
        self.beside = start_lab(clean_up, **options)
        self.lab = self.beside.lab
        self.daemon = Daemon(self.beside)
        clean_up(self.daemon.stop)
        self.daemon.start()
        self.told = mix.make(self.lab)
        self.lab.path("mix.json").write_text(json.dumps(self.told))

    def number(self, name: str) -> str:
        return str(self.told["jobs"][name]["job"])

    def name_of(self, workload: str) -> str:
        number = int(workload.partition("_")[0].partition("+")[0])
        return next(name for name, job in self.told["jobs"].items() if job["job"] == number)

    def missing(self) -> list[str]:
        return show.not_as_expected(self.told, self.daemon.get("/v1/report")) + mix.check(self.lab, self.told)

    def settle(self) -> None:
        def settled() -> bool:
            if missing := self.missing():
                raise AssertionError("; ".join(missing))
            return True

        eventually("every job is seen as what it is", 120, settled, pause=0.5)


@functools.cache
def suggesting() -> Daemon:
    """Beside the believable day, a daemon that knows the lab's organisation."""
    daemon = Daemon(mix_lab().beside, "suggesting", organisation=True)
    atexit.register(daemon.stop)
    daemon.start()
    eventually("it has looked for more than a second", 30, lambda: daemon.get("/v1/suggestions")["looks"] > 2)
    return daemon


@functools.cache
def mix_lab() -> MixLab:
    """One for all tests that change nothing in it."""
    made = MixLab(atexit.register)
    made.settle()
    return made
