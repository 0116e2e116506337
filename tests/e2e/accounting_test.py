"""Slurm's accounting as a source: what ended while nobody looked is booked by what it says.

slurmctld forgets a job MinJobAge after its end (here five seconds; it looks once a minute). So a daemon that was down for
that long cannot learn from it what ended meanwhile.
"""

from __future__ import annotations

import re
import unittest
from collections import defaultdict
from typing import Any

from support import HELD, Daemon, Site, eventually, life, services


class Accounting(Site):
    options = {"nodes": 2, "min_job_age": 5}

    def sums(self) -> dict[str, int]:
        """GPU-seconds by account, of all runs, from sacct."""
        argv = ["sacct", "-a", "-X", "-D", "-n", "-P", "-S", "now-1hour", "-o", "Account,Start,End,AllocTRES"]
        found: dict[str, int] = defaultdict(int)
        for line in self.lab.run(["env", "SLURM_TIME_FORMAT=%s", *argv]).splitlines():
            account, start, end, tres = line.split("|")
            gpus = re.search(r"gres/gpu=(\d+)", tres)
            if gpus and start.isdigit():
                self.assertTrue(end.isdigit(), f"{line}: it has not ended")
                found[account] += int(gpus[1]) * (int(end) - int(start))
        return found

    def forget(self) -> None:
        self.lab.run(["sh", "-c", "squeue -h -o %A -t running | sort -u | xargs -r scancel; true"])
        eventually("slurmctld has forgotten all jobs", 150, lambda: not self.lab.run(["squeue", "-h", "-t", "all"]).strip(), 1)

    def booked(self, daemon: Daemon, before: dict[str, int]) -> None:
        """The ledger of a daemon that has been there since `before` equals sacct's sums."""

        def equal() -> bool:
            report = daemon.get("/v1/report")
            teams = {row["team"]: sum(row["gpu_seconds"][c] for c in HELD) for row in report["teams"]}
            want = {account: total - before.get(account, 0) for account, total in self.sums().items()}
            self.assertEqual({k: v for k, v in teams.items() if v}, {k: v for k, v in want.items() if v})
            return True

        eventually("the ledger equals sacct", 60, equal, 1)
        self.assert_adds_up(daemon)

    def work_unseen(self, daemon: Daemon) -> dict[str, str]:
        """Some jobs are seen to begin; then the daemon goes, and they end, and others begin and end."""
        jobs = {
            "seen": self.submit("alice", "-p", "h100", "--gpus-per-node=3", "--wrap", "sleep 600"),
            "requeued": self.submit("bob", "-p", "h100", "--gpus-per-node=2", "--requeue", "--wrap", "rank busy"),
        }
        for name in ("seen", "requeued"):
            self.wait_known(daemon, jobs[name], "running")
        eventually("it is seen at work", 30, lambda: daemon.get(f"/v1/workloads/{jobs['requeued']}/explain")["gpu_seconds"]["useful"])
        jobs["waits"] = self.submit("dave", "-p", "h100", "--gpus-per-node=8", "--wrap", "sleep 2; exit 3")
        self.wait_known(daemon, jobs["waits"], "pending")
        daemon.stop()
        self.lab.run(["scontrol", "requeue", jobs["requeued"]])
        self.lab.run(["scancel", jobs["seen"]])
        jobs["unseen"] = self.submit("carol", "-p", "a100", "-N1", "--gpus-per-node=5", "--wrap", "sleep 3")
        self.submit("carol", "-p", "a100", "--array=0-3%2", "--gpus-per-node=4", "--wrap", "sleep 2")
        self.wait_state(jobs["waits"], "FAILED", seconds=60)
        self.wait_state(jobs["requeued"], "RUNNING", seconds=60)
        argv = ["squeue", "-h", "-j", jobs["requeued"], "-o", "%M"]
        eventually("its second run has lasted", 20, lambda: self.lab.run(argv).strip() not in ("", "0:00", "0:01"))
        return jobs

    def ended(self, daemon: Daemon, job: str, state: str) -> dict[str, Any]:
        return self.wait_known(daemon, job, state, seconds=60)

    def look(self, daemon: Daemon, jobs: dict[str, str]) -> None:
        self.ended(daemon, jobs["seen"], "cancelled")
        failed = self.ended(daemon, jobs["waits"], "failed")
        self.assertEqual(failed["exit_code"], 3)
        self.assertEqual(failed["runs"][-1]["nodes"], "n001")
        self.assertGreater(failed["waited_us"], 0)
        self.assertGreater(sum(failed["gpu_seconds"].values()), 0)
        self.assertEqual(self.ended(daemon, jobs["unseen"], "completed")["exit_code"], 0)
        requeued = self.ended(daemon, jobs["requeued"], "cancelled")
        self.assertEqual([run["state"] for run in requeued["runs"]], ["requeued", "cancelled"])
        self.assertGreater(requeued["gpu_seconds"]["lost"], 0)
        text = daemon.run("explain", jobs["requeued"]).stdout
        self.assertIn("requeued", text)

    def start(self) -> tuple[Daemon, dict[str, int]]:
        before = self.sums()
        daemon = self.daemon()
        eventually("the fleet is known", 20, lambda: daemon.get("/v1/report")["gpus"] == 16)
        self.wait_source(daemon, "accounting", True)
        return daemon, before

    def test_what_ended_while_the_daemon_was_down(self) -> None:
        daemon, before = self.start()
        jobs = self.work_unseen(daemon)
        self.forget()
        daemon.start()
        self.wait_source(daemon, "accounting", True)
        self.wait_source(daemon, "scheduler", True)
        self.look(daemon, jobs)
        self.booked(daemon, before)
        daemon.stop()  # and told again after a restart, nothing is booked twice
        daemon.start()
        self.wait_source(daemon, "scheduler", True)
        self.booked(daemon, before)

    def test_slurmdbd_was_down_as_well(self) -> None:
        daemon, before = self.start()
        jobs = self.work_unseen(daemon)
        life.stop_service(self.lab, "slurmdbd")
        try:
            self.forget()
            daemon.start()
            self.wait_source(daemon, "scheduler", True)
            source = self.wait_source(daemon, "accounting", False)
            self.assertIn("sacct", source["detail"])
            told = self.ended(daemon, jobs["seen"], "vanished")
            self.assertIn("accounting has not told yet", told["note"])
            self.assert_adds_up(daemon)
        finally:
            services.start_dbd(self.lab)
        self.wait_source(daemon, "accounting", True, seconds=90)
        self.look(daemon, jobs)
        self.booked(daemon, before)

    def test_a_running_job_that_vanishes_is_settled_within_seconds(self) -> None:
        daemon, before = self.start()
        job = self.submit("alice", "-p", "h100", "--gpus-per-node=3", "--wrap", "sleep 600")
        self.wait_known(daemon, job, "running")
        daemon.process.send_signal(19)  # SIGSTOP: it looks away for as long as slurmctld remembers
        self.lab.run(["scancel", job])
        self.forget()
        daemon.process.send_signal(18)
        self.ended(daemon, job, "cancelled")
        self.booked(daemon, before)


if __name__ == "__main__":
    unittest.main()
