"""The ledger against sums of our own over what Slurm's accounting says.

Slurm states starts and ends in whole seconds, and the ledger's unit of time is the second, so both agree exactly: per
account and per job. The one exception is a run that was requeued. Slurm then tells when the job was put back in line,
which is when its nodes were done with it, and not when the run ended, which only accounting knows: SLACK seconds before.
"""

from __future__ import annotations

import re
import unittest
from collections import defaultdict
from dataclasses import dataclass

from support import HELD, Daemon, Site, eventually

ENDED = ("completed", "failed", "cancelled", "timeout", "preempted", "node_fail")
SLACK = 2  # seconds; measured: 0 or 1, with a busy machine's second on top
CLOSE = 3  # seconds; what a look at the GPUs may come late


@dataclass(frozen=True)
class Run:
    """One run of one job, as sacct has it."""

    job: str
    account: str
    user: str
    state: str
    gpus: int
    start: int
    end: int

    @property
    def gpu_seconds(self) -> int:
        return self.gpus * (self.end - self.start)

    @property
    def slack(self) -> int:
        return SLACK * self.gpus if self.state in ("REQUEUED", "PREEMPTED") else 0


def grouped(runs: list[Run], field: str) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        groups[getattr(run, field)].append(run)
    return groups


class Ledger(Site):
    options = {"nodes": 4}

    def runs(self) -> list[Run]:
        fields = "JobID,Account,User,State,Start,End,AllocTRES"
        argv = ["sacct", "-a", "-X", "-D", "-n", "-P", "-S", "now-1hour", "-o", fields]
        found = []
        for line in self.lab.run(["env", "SLURM_TIME_FORMAT=%s", *argv]).splitlines():
            job, account, user, state, start, end, tres = line.split("|")
            gpus = re.search(r"gres/gpu=(\d+)", tres)
            if gpus and start.isdigit():
                self.assertTrue(end.isdigit(), f"{line}: it has not ended")
                found.append(Run(job, account, user, state.split()[0], int(gpus[1]), int(start), int(end)))
        return found

    def held(self, daemon: Daemon, part: str) -> dict[str, int]:
        rows = daemon.get("/v1/report")[part]
        sums = {row["team" if part == "teams" else "name"]: sum(row["gpu_seconds"][c] for c in HELD) for row in rows}
        return {name: seconds for name, seconds in sums.items() if name and seconds}

    def work(self, daemon: Daemon) -> list[str]:
        """A bit of everything, and all of it ends."""
        gang = self.submit("alice", "-p", "h100", "-N2", "--gpus-per-node=8", "--wrap", "srun rank busy:8,exit")
        array = self.submit("bob", "-p", "a100", "-w", "n003", "--gpus-per-node=3", "--array=0-3%2", "--wrap", "rank busy:3,idle:3,exit")
        fails = self.submit("carol", "-p", "a100", "-w", "n003", "--gpus-per-node=1", "--wrap", "rank busy:4,fail")
        spot = self.submit("bob", "-p", "a100", "-w", "n004", "--gpus-per-node=8", "-q", "spot", "--requeue", "--wrap", "rank busy:8,exit")
        self.wait_known(daemon, spot, "running")  # Slurm tells of the current run alone: one between two looks is not seen
        self.wait_busy("n004")
        prod = self.submit("carol", "-p", "a100", "-w", "n004", "--gpus-per-node=8", "-q", "prod", "--wrap", "rank busy:2,exit")
        self.wait_state(gang, "COMPLETED")
        # these two once the gang is gone
        cancelled = self.submit("dave", "-p", "h100", "-w", "n001", "--gpus-per-node=8", "--wrap", "sleep infinity")
        again = self.submit("dave", "-p", "h100", "-w", "n002", "--gpus-per-node=5", "--requeue", "--wrap", "rank busy:5,exit")
        self.wait_state(cancelled, "RUNNING")
        self.wait_known(daemon, again, "running")
        self.wait_busy("n002")
        self.lab.run(["scontrol", "requeue", again])
        self.lab.run(["scancel", cancelled])
        return [gang, array, fails, spot, prod, cancelled, again]

    def wait_busy(self, node: str) -> None:
        eventually(f"a rank on {node}", 30, lambda: any(self.lab.path("gpu", node).iterdir()))

    def test_equals_our_own_sums(self) -> None:
        daemon = self.daemon()
        eventually("the fleet is known", 20, lambda: daemon.get("/v1/report")["gpus"] == 32)
        jobs = self.work(daemon)
        eventually("all have ended", 90, lambda: not self.lab.run(["squeue", "-h"]).strip())
        last = jobs[-1]
        eventually("the daemon knows", 20, lambda: daemon.get(f"/v1/workloads/{last}/explain")["state"] in ENDED)
        runs = eventually("sacct knows all ends", 30, self.runs)
        self.assertEqual({"FAILED", "CANCELLED", "REQUEUED", "PREEMPTED", "COMPLETED"} - {run.state for run in runs}, set())
        for part, field in (("teams", "account"), ("users", "user")):
            found = self.held(daemon, part)
            of_field = grouped(runs, field)
            with self.subTest(part):
                self.assertEqual(set(found), set(of_field))
                for name, theirs in of_field.items():
                    self.assert_equal_but_for_requeues(found[name], theirs, name)
        for job, theirs in grouped(runs, "job").items():
            with self.subTest(job=job):
                found = daemon.get(f"/v1/workloads/{job}/explain")
                self.assert_equal_but_for_requeues(sum(found["gpu_seconds"][c] for c in HELD), theirs, str(found))
        self.assert_adds_up(daemon)
        self.assert_lost(daemon, runs)

    def assert_equal_but_for_requeues(self, found: int, runs: list[Run], what: str) -> None:
        want = sum(run.gpu_seconds for run in runs)
        self.assertGreaterEqual(found, want, f"{what} against {runs}")
        self.assertLessEqual(found, want + sum(run.slack for run in runs), f"{what} against {runs}")

    def assert_lost(self, daemon: Daemon, runs: list[Run]) -> None:
        """What the preempted and the requeued run did is lost, and nothing else is."""
        thrown = sum(run.gpu_seconds for run in runs if run.state in ("PREEMPTED", "REQUEUED"))
        lost = daemon.get("/v1/report")["gpu_seconds"]["lost"]
        self.assertGreater(lost, 0)
        self.assertLessEqual(lost, thrown + sum(run.slack for run in runs))
        self.assertGreaterEqual(lost, thrown - CLOSE * (8 + 5))


if __name__ == "__main__":
    unittest.main()
