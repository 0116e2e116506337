"""What Fairlead says of a believable day, against what was set up."""

from __future__ import annotations

import json
import re
import unittest
from typing import Any

from support import COLUMNS, HELD, Daemon, assert_adds_up, eventually, mix_lab

# Of each job that waits: a blocker that must be among its blockers, and whether it can start as it is at all.
WANT_BLOCKERS = {
    "array": ("ARRAY_LIMIT", False),
    "preempted": ("CAPACITY", False),
    "qos_user_limit": ("QOS_LIMIT", False),
    "qos_group_limit": ("QOS_LIMIT", False),
    "account_limit": ("ASSOCIATION_LIMIT", False),
    "dependency": ("DEPENDENCY", False),
    "dependency_never": ("DEPENDENCY_NEVER", True),
    "begin_time": ("BEGIN_TIME", False),
    "user_hold": ("HELD_BY_USER", False),
    "admin_hold": ("HELD_BY_ADMIN", False),
    "licence": ("LICENCES", False),
    "feature": ("FEATURES_NO_NODE", True),
    "own_reservation": ("RESERVATION", False),
    "maintenance": ("RESERVATION", False),
    "node_down": ("NODES_DOWN", False),
    "partition_down": ("PARTITION_DOWN", False),
    "partition_time": ("PARTITION_TIME_LIMIT", True),
    "partition_nodes": ("PARTITION_NODE_LIMIT", True),
    "fragmented": ("FRAGMENTED", False),
    "too_big": ("CAPACITY", False),
}

# job, code, then what the blocker states: limit, used, wanted, short by, and who holds most of it
WANT_NUMBERS = [
    ("qos_user_limit", "QOS_LIMIT", 8, 8, 4, 4, ["small"]),
    ("qos_group_limit", "QOS_LIMIT", 16, 16, 8, 8, ["capped"]),
    ("account_limit", "ASSOCIATION_LIMIT", 64, 40, 32, 8, ["gang_4x8"]),
    ("licence", "LICENCES", 4, 4, 2, 2, ["licence_holder"]),
    ("partition_time", "PARTITION_TIME_LIMIT", 1800, 0, 7200, 5400, []),
    ("partition_nodes", "PARTITION_NODE_LIMIT", 4, 0, 6, 2, []),
]


class Observed(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.day = mix_lab()
        cls.jobs = cls.day.told["jobs"]

    def explain(self, name: str) -> dict[str, Any]:
        return self.day.daemon.get(f"/v1/workloads/{self.waiting(name)['workload']}/explain")

    def waiting(self, name: str) -> dict[str, Any]:
        rows = self.day.daemon.get("/v1/queue")["waiting"]
        return next(row for row in rows if self.day.name_of(row["workload"]) == name)

    def test_every_idle_hold_is_of_its_kind_and_nothing_else_is_one(self) -> None:
        want = {name: job["expect"]["idle"] for name, job in self.jobs.items() if job["expect"]["idle"]}
        holds = self.day.daemon.get("/v1/report")["idle_holds"]
        self.assertEqual({self.day.name_of(row["workload"]): row["kind"] for row in holds}, want)
        for row in holds:
            job = self.jobs[self.day.name_of(row["workload"])]
            with self.subTest(row["workload"]):
                self.assertEqual((row["user"], row["gpus"]), (job["user"], job["gpus"]))

    def test_what_waits_is_what_waits_in_slurm(self) -> None:
        rows = self.day.daemon.get("/v1/queue")["waiting"]
        want = {name for name, job in self.jobs.items() if job["expect"]["waits"]}
        self.assertEqual({self.day.name_of(row["workload"]) for row in rows}, want)
        self.assertEqual(set(WANT_BLOCKERS), want)

    def test_the_schedulers_reason_is_one_of_ours(self) -> None:
        said = dict(
            line.split("|", 1)
            for line in self.day.lab.run(["squeue", "-h", "-t", "PD", "-o", "%F|%r"]).splitlines()
        )
        for row in self.day.daemon.get("/v1/queue")["waiting"]:
            with self.subTest(self.day.name_of(row["workload"])):
                self.assertTrue(row["scheduler_agrees"], row)
                words = said[row["workload"].partition("_")[0]].partition(",")[0]
                self.assertEqual(row["scheduler_reason"].partition(",")[0].replace("_", " "), words.replace("_", " "))

    def test_every_job_has_the_blocker_that_was_set_up(self) -> None:
        for name, (code, never) in WANT_BLOCKERS.items():
            with self.subTest(name):
                row = self.waiting(name)
                self.assertIn(code, row["blockers"])
                self.assertEqual(row["can_never_start"], never, row)
                found = self.explain(name)
                self.assertEqual([blocker["code"] for blocker in found["blockers"]], row["blockers"])
                self.assertEqual(found["can_never_start"], never)
                self.assertNotIn("UNEXPLAINED", row["blockers"])

    def test_limits_are_told_with_their_numbers_and_holders(self) -> None:
        for name, code, limit, used, wanted, short_by, holders in WANT_NUMBERS:
            with self.subTest(name):
                blocker = next(b for b in self.explain(name)["blockers"] if b["code"] == code)
                numbers = tuple(blocker[key] for key in ("limit", "used", "wanted", "short_by"))
                self.assertEqual(numbers, (limit, used, wanted, short_by), blocker)
                shown = [self.day.name_of(holder["workload"]) for holder in blocker["holders"]]
                self.assertEqual(shown[: len(holders)], holders)

    def test_the_columns_add_up_to_the_hardware(self) -> None:
        assert_adds_up(self, self.day.daemon, 256)

    def test_devices_by_column_are_the_labs(self) -> None:
        """Held: what Slurm says is in use, node by node. Down: a drained node and one that is down."""
        told = self.day.lab.run(["scontrol", "-d", "-o", "show", "node"])
        used = {node: int(count) for node, count in re.findall(r"NodeName=(\S+) .*GresUsed=gpu:\w+:(\d+)", told)}
        report = self.day.daemon.get("/v1/report")
        now = {column: sum(model["gpus"][column] for model in report["models"]) for column in COLUMNS}
        self.assertEqual(now["down"], 16)
        self.assertEqual(sum(now[column] for column in HELD), sum(used.values()))
        nodes = self.day.daemon.get("/v1/fabric")["nodes"]
        shown = {node["node"]: sum(node["gpus"][column] for column in HELD) for node in nodes}
        self.assertEqual(shown, used)
        self.assertEqual(sum(now.values()), 256)
        idle = sum(job["gpus"] for job in self.jobs.values() if job["expect"]["idle"])
        self.assertEqual((now["held_idle"], now["held_unmeasured"], now["lost"]), (idle, 0, 0))

    def test_a_held_gpu_without_a_page_is_unmeasured_and_never_idle(self) -> None:
        """n001 works, n014 is never touched; the exporters of both go away."""
        faults = self.day.lab.path("gpu", "faults.json")
        self.addCleanup(faults.unlink, missing_ok=True)
        daemon = Daemon(self.day.beside, "stale")
        self.addCleanup(daemon.stop)
        daemon.config.write_text(daemon.config.read_text().replace("idle_hold_after", "stale_after: 6s, idle_hold_after"))
        daemon.start()
        eventually("all is measured", 30, lambda: self.held(daemon) == (202, 0))
        faults.write_text(json.dumps({"n001": "down", "n014": "down"}))
        eventually("12 are unmeasured", 60, lambda: self.held(daemon) == (202, 12))
        assert_adds_up(self, daemon, 256)
        faults.unlink()
        eventually("all is measured again", 60, lambda: self.held(daemon) == (202, 0))
        assert_adds_up(self, daemon, 256)

    def held(self, daemon: Daemon) -> tuple[int, int]:
        models = daemon.get("/v1/report")["models"]
        held = sum(model["gpus"][column] for model in models for column in HELD)
        return held, sum(model["gpus"]["held_unmeasured"] for model in models)


if __name__ == "__main__":
    unittest.main()
