"""The site itself changes: another controller, another configuration, other nodes, fewer GPUs."""

from __future__ import annotations

import re
import signal
import unittest
from typing import Any

from support import HELD, Daemon, Site, eventually, instant, life, services


class Changes(Site):
    def held(self, daemon: Daemon, job: str) -> int:
        seconds = daemon.get(f"/v1/workloads/{job}/explain")["gpu_seconds"]
        return sum(seconds[column] for column in HELD)

    def change(self, file: str, pattern: str, becomes: str) -> None:
        """Replaces the one line of etc/FILE that matches."""
        path = self.lab.path("etc", file)
        text, count = re.subn(f"(?m)^{pattern}$", becomes, path.read_text())
        self.assertEqual(count, 1, f"{pattern} in {path}")
        path.write_text(text)

    def restart(self, *nodes: str) -> None:
        life.stop_service(self.lab, "slurmctld")
        for node in nodes:
            life.stop_node(self.lab, node)
        services.start_controller(self.lab)
        for node in nodes:
            services.start_node(self.lab, node)
        services.wait_nodes_registered(self.lab)

    def gpus(self, daemon: Daemon) -> int:
        return daemon.get("/v1/report")["gpus"]

    def assert_books(self, daemon: Daemon, least: int, most: int) -> None:
        """Between the two numbers of GPUs at every second, and in balance."""
        report = daemon.get("/v1/report")
        seconds = int(instant(report["to"])) - int(instant(report["from"]))
        self.assertLessEqual(least * seconds, report["gpu_seconds"]["total"], report["gpu_seconds"])
        self.assertLessEqual(report["gpu_seconds"]["total"], most * seconds, report["gpu_seconds"])
        checked = daemon.run("ledger", "verify", want=None)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class FailOver(Changes):
    options = {"nodes": 2, "conf": services.STANDBY}

    def test_the_standby_takes_over(self) -> None:
        services.start_standby(self.lab)
        daemon = self.daemon()
        job = self.submit("alice", "-w", "n001", "--gpus-per-node=8", "--wrap", "rank busy")
        self.wait_known(daemon, job, "running")
        saved = self.lab.path("state", "job_state")
        before = saved.stat().st_mtime
        self.lab.run(["scontrol", "update", f"jobid={job}", "comment=save"])
        eventually("slurmctld has saved the job", 20, lambda: saved.stat().st_mtime > before)
        life.signal_service(self.lab, "slurmctld", signal.SIGKILL)
        eventually("the standby takes over", 60, lambda: "RUNNING" in self.lab.run(["squeue", "-h", "-j", job, "-o", "%T"]))
        took_over = instant(daemon.get("/v1/report")["to"])
        after = self.submit("bob", "-w", "n002", "--gpus-per-node=4", "--wrap", "rank busy")
        self.wait_known(daemon, after, "running", seconds=60)
        found = self.wait_known(daemon, job, "running")
        self.assertEqual(found["epoch"], 1, "the same run of the same workload")
        report = self.wait_source(daemon, "scheduler", ok=True)
        self.assertGreaterEqual(instant(report["last_ok"]), took_over)
        self.assert_adds_up(daemon)
        now = instant(daemon.get("/v1/report")["to"])
        self.assertGreaterEqual(self.held(daemon, job), 8 * (took_over - instant(found["started"])))
        self.assertLessEqual(self.held(daemon, job), 8 * (now + 5 - instant(found["started"])))


class Configuration(Changes):
    options = {"nodes": 3}

    def test_reconfigure(self) -> None:
        daemon = self.daemon()
        job = self.submit("alice", "-p", "short", "-t", "20", "--begin=now+1hour", "--gpus=1", "--wrap", "rank busy")
        self.wait_known(daemon, job, "pending")
        self.change("slurm.conf", "(PartitionName=short .*)MaxTime=00:30:00(.*)", r"\1MaxTime=00:10:00\2")
        self.lab.run(["scontrol", "reconfigure"])

        def codes() -> list[str]:
            return [blocker["code"] for blocker in daemon.get(f"/v1/workloads/{job}/explain")["blockers"]]

        eventually("the new limit blocks it", 60, lambda: "PARTITION_TIME_LIMIT" in codes())
        self.assert_adds_up(daemon)

    def test_gpus_disappear_and_a_node_leaves(self) -> None:
        daemon = self.daemon()
        job = self.submit("alice", "-w", "n001", "--gpus-per-node=8", "--wrap", "rank busy")
        self.wait_known(daemon, job, "running")
        self.assertEqual(self.gpus(daemon), 24)
        slurm_conf, gres_conf = (self.lab.path("etc", name).read_text() for name in ("slurm.conf", "gres.conf"))
        try:
            # n003 has four GPUs, and then none that anybody knows of
            self.change("slurm.conf", "(NodeName=n003 .*)gpu:a100:8(.*)", r"\1gpu:a100:4\2")
            self.restart("n003")
            eventually("four GPUs are gone", 60, lambda: self.gpus(daemon) == 20)
            self.assert_books(daemon, 20, 24)
            self.change("slurm.conf", "NodeName=n003 .*", "")
            self.change("slurm.conf", "(PartitionName=a100 .*)Nodes=n003(.*)", r"\1Nodes=n002\2")
            life.stop_node(self.lab, "n003")
            self.restart()
            eventually("the node is gone", 60, lambda: self.gpus(daemon) == 16)
            self.assert_books(daemon, 16, 24)
        finally:
            self.lab.path("etc", "slurm.conf").write_text(slurm_conf)
            self.lab.path("etc", "gres.conf").write_text(gres_conf)
            self.restart()
            services.start_node(self.lab, "n003") if not services.living(self.lab, ["slurmd.n003"]) else None
            services.wait_nodes_registered(self.lab)
        eventually("all are back", 60, lambda: self.gpus(daemon) == 24)
        self.assert_books(daemon, 16, 24)
        found = self.wait_known(daemon, job, "running")
        held, now = self.held(daemon, job), instant(daemon.get("/v1/report")["to"])
        self.assertAlmostEqual(held, 8 * (now - instant(found["started"])), delta=8 * 6)


if __name__ == "__main__":
    unittest.main()
