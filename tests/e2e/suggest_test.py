"""What the planner would do beside a real Slurm: suggested, kept, scored by what Slurm does, and asked before submitting."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from support import Daemon, Site, eventually

ACME = """\
org acme v1
lang 1
devices GPU { h100, a100 }
class prod  { rank 100 }
class batch { rank 10 }
team acme {
  own 16 GPU
  default class batch
  team ml     { own 8 GPU  members slurm account "vision" }
  team people { own 8 GPU  members slurm user "carol" }
}
"""


class Suggestions(Site):
    options = {"nodes": 2}

    def setUp(self) -> None:
        folder = self.beside.dir / f"org-{self._testMethodName}"
        folder.mkdir()
        (folder / "acme.policy").write_text(ACME)
        self.held = self.daemon(start=False)
        self.held.config.write_text(self.held.plain_config("20s") + f"organisation: {folder}\n")

    def whole(self, user: str, *argv: str) -> str:
        return self.submit(user, "-p", "all", "--gpus-per-node=8", *argv, "--wrap", "sleep 600")

    def full(self) -> tuple[Daemon, list[str]]:
        """Carol holds all 16 and owns 8."""
        daemon = self.held.start()
        jobs = [self.whole("carol", "-w", node) for node in ("n001", "n002")]
        for job in jobs:
            self.wait_known(daemon, job, "running")
        return daemon, jobs

    def suggestion(self, daemon: Daemon, job: str, kind: str) -> dict[str, Any]:
        def made() -> dict[str, Any] | None:
            rows = daemon.get("/v1/suggestions")["now"]
            return next((row for row in rows if row["workload"] == job and row["kind"] == kind), None)

        return eventually(f"{kind} of {job} is suggested", 30, made)

    def test_a_start_that_takes_back_is_suggested_and_scored(self) -> None:
        daemon, jobs = self.full()
        waits = self.whole("alice")
        start = self.suggestion(daemon, waits, "start")
        self.assertEqual((start["team"], start["gpus"], len(start["takes_back"])), ("ml", 8, 1))
        victim = start["takes_back"][0]
        self.assertIn(victim, jobs)
        taken = self.suggestion(daemon, victim, "take_back")
        self.assertEqual((taken["claimant"], taken["rule"]), (waits, "own"))

        told = daemon.get(f"/v1/workloads/{waits}/explain")
        self.assertEqual((told["policy"]["organisation"], told["policy"]["verdict"], told["policy"]["takes_back"]), ("acme v1", "start", [victim]))
        self.assertTrue(told["scheduler_agrees"])
        self.assertIn("by acme v1 it would start now on", daemon.run("explain", waits).stdout)
        self.assertEqual([row["verdict"] for row in daemon.get("/v1/queue")["waiting"]], ["start"])
        kinds = {d["kind"] for d in daemon.get("/v1/decisions")["decisions"]}
        self.assertLessEqual({"start_suggested", "take_back_suggested"}, kinds)
        self.assertEqual(self.lab.run(["squeue", "-h", "-j", victim, "-o", "%T"]).strip(), "RUNNING")  # nothing was done

        time.sleep(3)  # Slurm's starts are whole seconds
        self.lab.run(["scancel", victim])
        self.wait_known(daemon, waits, "running")
        score = daemon.get("/v1/suggestions")
        row = next(row for row in score["teams"] if row["team"] == "ml")
        self.assertEqual((row["started"], row["with_victims"]), (1, 1))
        self.assertGreater(row["sooner_us"], 0)
        text = daemon.run("compare").stdout
        self.assertIn("What acme v1 would have done, beside what happened", text)
        # what was kept is still there after a restart
        daemon.stop()
        daemon.start()
        self.assertEqual(daemon.get("/v1/suggestions")["teams"], score["teams"])

    def test_who_owns_nothing_waits_and_is_told_why(self) -> None:
        daemon, _ = self.full()
        waits = self.whole("dave")
        told = eventually("it is looked at", 30, lambda: (x := daemon.get(f"/v1/workloads/{waits}/explain"))["policy"]["verdict"] and x)
        self.assertEqual(told["policy"]["verdict"], "reserve")
        self.assertIn("too few devices are free", told["policy"]["because"])
        self.assertEqual(daemon.get("/v1/suggestions")["now"], [])

    def test_a_job_is_asked_about_before_it_is_submitted(self) -> None:
        daemon, jobs = self.full()
        script = self.beside.dir / "train.sbatch"
        script.write_text("#!/bin/bash\n#SBATCH -p all --gpus-per-node=8 -t 60\n#SBATCH -A vision\nsrun train\n")

        def asked(*argv: str) -> dict[str, Any]:
            done = daemon.run("simulate", str(script), "-o", "json", *argv)
            return dict(json.loads(done.stdout))

        known = daemon.get("/v1/workloads")["workloads"]
        told = asked("--user", "alice")
        self.assertEqual((told["team"], told["policy"]["verdict"], len(told["policy"]["takes_back"])), ("ml", "start", 1))
        self.assertIn("CAPACITY", [b["code"] for b in told["blockers"]])
        self.assertEqual(asked("--account", "ops", "--user", "dave")["policy"]["verdict"], "reserve")
        script.write_text("#SBATCH -N 9 -p all --gpus-per-node=8\n")
        self.assertTrue(asked()["can_never_start"])
        self.assertEqual([w["workload"] for w in daemon.get("/v1/workloads")["workloads"]], [w["workload"] for w in known])
        script.write_text("#!/bin/sh\n#SBATCH --nodes=many\n")
        done = daemon.run("simulate", str(script), want=5)
        self.assertIn(f"{script}:2:1: error: ", done.stderr)

    def test_a_start_is_foretold_and_scored(self) -> None:
        daemon = self.held.start()
        jobs = [self.whole("carol", "-t", "60", "-w", node) for node in ("n001", "n002")]
        for job in jobs:
            self.wait_known(daemon, job, "running")
        waits = self.whole("dave", "-t", "30")
        told = eventually("its start is told", 30, lambda: (x := daemon.get(f"/v1/workloads/{waits}/explain"))["start"]["p50"] and x)
        start = told["start"]
        self.assertEqual((start["unknown"], start["by_history"], start["held_ppm"]), ("", False, -1))
        ends = {h["ends"] for b in told["blockers"] if b["code"] == "CAPACITY" for h in b["holders"]}
        self.assertIn(start["p50"], ends, "by time limits alone it is the end of one of them")
        self.assertIn("estimated start", daemon.run("explain", waits).stdout)
        self.assertIn("start P50", daemon.run("queue", "-o", "wide").stdout)
        self.lab.run(["scancel", jobs[0]])
        self.wait_known(daemon, waits, "running")
        kept = daemon.get("/v1/suggestions")["estimates"]
        self.assertEqual((kept["started"], kept["by_p50_ppm"], kept["by_p90_ppm"]), (1, 1_000_000, 1_000_000))
        self.assertGreater(kept["error_us"], 3000_000_000, "it was told an hour")
        daemon.stop()
        daemon.start()
        self.assertEqual(daemon.get("/v1/suggestions")["estimates"]["started"], 1)

    def test_a_place_is_told(self) -> None:
        daemon = self.held.start()
        job = self.whole("carol", "-t", "60", "-w", "n001")
        self.wait_known(daemon, job, "running")
        script = self.beside.dir / "place.sbatch"
        script.write_text("#SBATCH -p all --gpus-per-node=4 -t 60 -A vision\n")
        told = json.loads(daemon.run("place", str(script), "--user", "alice", "-o", "json").stdout)
        self.assertEqual((told["team"], told["fits"], [n["node"] for n in told["nodes"]]), ("ml", True, ["n002"]))
        self.assertEqual(told["before"], {"devices": 8, "whole_nodes": 1, "loose": 0})
        self.assertEqual(told["options"][0]["left"], {"devices": 4, "whole_nodes": 0, "loose": 4})
        self.assertIn("As the next it would stand on n002", daemon.run("place", str(script)).stdout)
        self.assertIn("n002", daemon.run("place", str(script), "-o", "yaml").stdout)
        waits = self.submit("alice", "-p", "all", "-N", "2", "--gpus-per-node=8", "-t", "60", "--wrap", "sleep 600")
        text = eventually("what waits has a place", 30, lambda: (t := daemon.run("place", waits, want=None).stdout) and t)
        self.assertIn("It fits nowhere now", text)
        self.assertIn("CAPACITY", text)


if __name__ == "__main__":
    unittest.main()
