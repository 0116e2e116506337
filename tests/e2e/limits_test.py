"""Limits that the believable day has none of, each with the reason that Slurm itself gives: what was used until now, what one
job may promise, a reservation that is active, all components of a job, equal priorities."""

from __future__ import annotations

import unittest
from typing import Any

from support import Daemon, Site, eventually


class Limits(Site):
    options = {"nodes": 2, "min_job_age": 30}

    def limit(self, entity: str, name: str, limit: str, none: str) -> None:
        self.lab.run(["sacctmgr", "-i", "modify", entity, name, "set", limit])
        self.addCleanup(self.lab.run, ["sacctmgr", "-i", "modify", entity, name, "set", none])

    def agreed(self, daemon: Daemon, job: str, code: str, reason: str) -> dict[str, Any]:
        """The blocker, once Slurm says `reason` and it is one of ours."""

        def so() -> dict[str, Any] | None:
            found = daemon.get(f"/v1/workloads/{job}/explain")
            self.assertTrue(found["scheduler_reason"].startswith(reason), found["scheduler_reason"])
            self.assertTrue(found["scheduler_agrees"], found["blockers"])
            self.assertNotIn("UNEXPLAINED", [blocker["code"] for blocker in found["blockers"]])
            return next((blocker for blocker in found["blockers"] if blocker["code"] == code), None)

        return eventually(f"job {job} waits for {reason}, which is {code}", 60, so)

    def use(self, user: str, *argv: str) -> None:
        """16 GPUs for some seconds: more than one GPU-minute."""
        job = self.submit(user, "-p", "all", "-N2", "--gpus-per-node=8", *argv, "--wrap", "sleep 6")
        self.wait_state(job, "COMPLETED", seconds=60)

    def test_minutes_of_an_account(self) -> None:
        self.use("alice")
        self.limit("account", "vision", "GrpTRESMins=gres/gpu=1", "GrpTRESMins=gres/gpu=-1")
        daemon = self.daemon()
        job = self.submit("alice", "-p", "all", "--gpus-per-node=1", "--wrap", "sleep 600")
        blocker = self.agreed(daemon, job, "ASSOCIATION_LIMIT", "AssocGrpGRESMinutes")
        self.assertEqual((blocker["object"], blocker["limit_name"], blocker["limit"]), ("account vision", "GrpTRESMins gres/gpu", 1))
        self.assertGreaterEqual(blocker["used"], 1)
        self.assertIn("decays by half in 1d", blocker["message"])

    def test_wall_time_of_a_class(self) -> None:
        self.use("dave", "-q", "prod")
        self.limit("qos", "prod", "GrpWall=0", "GrpWall=-1")
        daemon = self.daemon()
        job = self.submit("dave", "-q", "prod", "-p", "all", "--gpus-per-node=1", "--wrap", "sleep 600")
        self.agreed(daemon, job, "QOS_LIMIT", "QOSGrpWall")

    def test_running_minutes_of_a_class(self) -> None:
        self.limit("qos", "spot", "GrpTRESRunMins=gres/gpu=100", "GrpTRESRunMins=gres/gpu=-1")
        daemon = self.daemon()
        job = self.submit("bob", "-q", "spot", "-p", "all", "-t", "60", "--gpus-per-node=2", "--wrap", "sleep 600")
        blocker = self.agreed(daemon, job, "QOS_LIMIT", "QOSGrpGRESRunMinutes")
        self.assertEqual((blocker["limit"], blocker["wanted"], blocker["short_by"]), (100, 120, 20))

    def test_a_maintenance_that_has_begun(self) -> None:
        self.lab.run(["scontrol", "create", "reservation", "ReservationName=fix", "StartTime=now", "Duration=60", "Users=root",
                      "Flags=MAINT,IGNORE_JOBS", "Nodes=n001"])  # fmt: skip
        self.addCleanup(self.lab.run, ["scontrol", "delete", "reservation", "fix"])
        daemon = self.daemon()
        job = self.submit("alice", "-p", "all", "-N2", "--gpus-per-node=8", "-t", "30", "--wrap", "sleep 600")
        blocker = self.agreed(daemon, job, "RESERVATION", "ReqNodeNotAvail")
        self.assertEqual((blocker["object"], blocker["holders"][0]["workload"], blocker["waiting_cures"]), ("n001", "fix", "yes"))
        codes = [b["code"] for b in daemon.get(f"/v1/workloads/{job}/explain")["blockers"]]
        self.assertNotIn("NODES_DOWN", codes)

    def test_all_components_of_a_job(self) -> None:
        daemon = self.daemon()
        holder = self.submit("carol", "-p", "all", "-w", "n001", "--gpus-per-node=8", "--wrap", "sleep 600")
        self.wait_known(daemon, holder, "running")
        job = self.submit("alice", "-p", "h100", "--gpus-per-node=2", ":", "-p", "a100", "-N1", "--gpus-per-node=4", "--wrap", "sleep 600")
        found = eventually("it is known", 30, lambda: daemon.get(f"/v1/workloads/{job}/explain"))
        self.assertEqual(len(found["wants"].split(" : ")), 2, found["wants"])
        self.assertIn("CAPACITY", [blocker["code"] for blocker in found["blockers"]])

    def test_equal_priorities_go_by_number(self) -> None:
        daemon = self.daemon()
        self.submit("carol", "-p", "all", "-N2", "--gpus-per-node=8", "--wrap", "sleep 600")
        first, second = (self.submit("root", "-p", "all", "-N2", "--gpus-per-node=8", "--wrap", "true") for _ in range(2))
        self.lab.run(["scontrol", "update", f"jobid={first},{second}", "priority=500"])

        def ahead(job: str) -> int:
            found = daemon.get(f"/v1/workloads/{job}/explain")
            self.assertEqual(found["priority"], 500)
            return found["ahead"]

        eventually("the second is behind the first", 30, lambda: (ahead(first), ahead(second)) == (0, 1))

    def test_one_of_two_dependencies_is_enough(self) -> None:
        daemon = self.daemon()
        running = self.submit("carol", "-p", "all", "-w", "n001", "--gpus-per-node=1", "--wrap", "sleep 600")
        failed = self.submit("carol", "-p", "all", "-w", "n001", "--gpus-per-node=1", "--wrap", "false")
        self.wait_state(failed, "FAILED", seconds=60)
        either = self.submit("alice", "-p", "all", "-d", f"afterok:{failed}?afterok:{running}", "--gpus-per-node=1", "--wrap", "true")
        blocker = self.agreed(daemon, either, "DEPENDENCY", "Dependency")
        self.assertNotEqual(blocker["waiting_cures"], "never")
        both = self.submit("alice", "-p", "all", "-d", f"afterok:{failed},afterok:{running}", "--gpus-per-node=1", "--wrap", "true")
        self.agreed(daemon, both, "DEPENDENCY_NEVER", "Dependency")

    def test_a_task_waits_for_the_task_of_its_number(self) -> None:
        daemon = self.daemon()
        first = self.submit("carol", "-p", "all", "--array=1-2", "--gpus-per-node=1", "--wrap", "sleep $((600 * (SLURM_ARRAY_TASK_ID - 1)))")
        then = self.submit("carol", "-p", "all", "--array=1-2", "-d", f"aftercorr:{first}", "--gpus-per-node=1", "--wrap", "sleep 600")
        self.wait_known(daemon, f"{then}_1", "running")
        blocker = self.agreed(daemon, f"{then}_2", "DEPENDENCY", "Dependency")
        self.assertIn(f"{first}_2", blocker["message"])

    def test_one_of_several_partitions(self) -> None:
        for node in ("n001", "n002"):
            self.submit("carol", "-p", "all", "-w", node, "--gpus-per-node=8", "--wrap", "sleep 600")
        daemon = self.daemon()
        job = self.submit("alice", "-p", "h100,a100", "--gpus-per-node=8", "--wrap", "sleep 600")
        blocker = self.agreed(daemon, job, "CAPACITY", "Resources")
        self.assertEqual(blocker["short_by"], 8)

    def test_what_one_job_may_not_ask_for_has_no_holders(self) -> None:
        self.limit("qos", "spot", "MaxTRESPerJob=gres/gpu=2", "MaxTRESPerJob=gres/gpu=-1")
        daemon = self.daemon()
        self.submit("bob", "-q", "spot", "-p", "all", "--gpus-per-node=2", "--wrap", "sleep 600")
        job = self.submit("bob", "-q", "spot", "-p", "all", "--gpus-per-node=4", "--wrap", "sleep 600")
        blocker = self.agreed(daemon, job, "QOS_JOB_LIMIT", "QOSMaxGRESPerJob")
        self.assertEqual((blocker["limit"], blocker["wanted"], blocker["holders"], blocker["waiting_cures"]), (2, 4, [], "never"))

    def test_a_feature_that_no_node_has_any_more(self) -> None:
        daemon = self.daemon()
        self.lab.run(["scontrol", "update", "nodename=n001", "availablefeatures=roce", "activefeatures=roce"])
        self.submit("carol", "-p", "all", "-w", "n001", "--gpus-per-node=8", "--wrap", "sleep 600")
        job = self.submit("alice", "-p", "all", "-C", "roce", "--gpus-per-node=1", "--wrap", "sleep 600")
        self.wait_known(daemon, job, "pending")
        self.lab.run(["scontrol", "update", "nodename=n001", "availablefeatures=", "activefeatures="])
        blocker = self.agreed(daemon, job, "FEATURES_NO_NODE", "BadConstraints")
        self.assertEqual(blocker["waiting_cures"], "never")

    def test_a_job_that_slurm_forgot_keeps_its_name_and_shape(self) -> None:
        daemon = self.daemon()
        job = self.submit("carol", "-p", "all", "-J", "brief", "--gpus-per-node=3", "--wrap", "sleep 4")
        self.wait_state(job, "COMPLETED", seconds=60)
        eventually("Slurm has forgotten it", 120, lambda: job not in self.lab.run(["squeue", "-h", "-t", "all", "-o", "%A"]).split())
        eventually("Fairlead, too", 30, lambda: job not in str([w["workload"] for w in daemon.get("/v1/workloads")["workloads"]]))
        found = daemon.get(f"/v1/workloads/{job}/explain")
        self.assertEqual((found["name"], found["state"]), ("brief", "completed"))
        self.assertIn("3", found["wants"])


if __name__ == "__main__":
    unittest.main()
