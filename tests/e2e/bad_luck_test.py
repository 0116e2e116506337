"""Things go wrong around Fairlead, and nothing is counted twice, zeroed or lost.

What every test asks in the end: the columns add up to GPUs x seconds, `ledger verify` agrees, and what a job held over the
whole time is what it held.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pwd
import signal
import subprocess
import unittest
from pathlib import Path
from typing import Any

from support import HELD, Daemon, Site, eventually, instant, life, services, source_of

OUTAGE = 8  # seconds that an outage lasts at least; shorter than the grace of 60 s
KILLS = 5


class Outage(Site):
    def running(self, daemon: Daemon, *ask: str, user: str = "alice") -> str:
        """A job that the daemon has seen at work."""
        job = self.submit(user, *(ask or ("-w", "n001", "--gpus-per-node=8")), "--wrap", "rank busy")
        self.wait_known(daemon, job, "running")
        return job

    def held(self, daemon: Daemon, job: str) -> int:
        seconds = daemon.get(f"/v1/workloads/{job}/explain")["gpu_seconds"]
        return sum(seconds[column] for column in HELD)

    def assert_held_throughout(self, daemon: Daemon, job: str, gpus: int = 8) -> None:
        """From its start to its end, or to now: no second twice and none left out."""
        before = int(instant(daemon.get("/v1/report")["to"]))
        found = daemon.get(f"/v1/workloads/{job}/explain")
        after = int(instant(daemon.get("/v1/report")["to"]))
        if found["ended"]:
            before = after = int(instant(found["ended"]))
        held, start = sum(found["gpu_seconds"][column] for column in HELD), int(instant(found["started"]))
        self.assertGreaterEqual(held, gpus * (before - start), found)
        self.assertLessEqual(held, gpus * (after - start), found)

    def pass_seconds(self, daemon: Daemon, seconds: int = OUTAGE) -> None:
        """Until the daemon's own clock is so much further."""
        begun = instant(daemon.get("/v1/report")["to"])
        eventually(f"{seconds} s pass", seconds + 30, lambda: instant(daemon.get("/v1/report")["to"]) >= begun + seconds)

    # --- the scheduler ---

    def test_controller_down_at_start(self) -> None:
        life.stop_service(self.lab, "slurmctld")
        daemon = self.daemon()
        try:
            row = self.wait_source(daemon, "scheduler", ok=False)
            self.assertTrue(row["detail"], row)
            ready = daemon.beside.run("report", "--server", daemon.address, want=None)
            self.assertEqual(ready.returncode, 0, ready.stderr)
            report = daemon.get("/v1/report")
            self.assertEqual((report["fleet_known"], report["gpu_seconds"]["total"]), (False, 0))
        finally:
            services.start_controller(self.lab)
            services.wait_nodes_idle(self.lab)
        self.wait_source(daemon, "scheduler", ok=True)
        job = self.running(daemon)
        self.pass_seconds(daemon, 2)
        self.assert_held_throughout(daemon, job)
        self.assertEqual(daemon.run("ledger", "verify", want=None).returncode, 0)
        self.assertLess(0, self.assert_adds_up(daemon)["gpu_seconds"]["total"])

    def test_controller_down_in_the_middle(self) -> None:
        daemon = self.daemon()
        job = self.running(daemon)
        life.stop_service(self.lab, "slurmctld")
        try:
            self.wait_source(daemon, "scheduler", ok=False)
            self.pass_seconds(daemon)
            self.assert_adds_up(daemon)
            self.assert_held_throughout(daemon, job)
        finally:
            services.start_controller(self.lab)
        self.wait_source(daemon, "scheduler", ok=True)
        self.lab.run(["scancel", job])
        self.wait_known(daemon, job, "cancelled")
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def test_controller_stands_still(self) -> None:
        daemon = self.daemon()
        job = self.running(daemon)
        life.signal_service(self.lab, "slurmctld", signal.SIGSTOP)
        try:
            self.pass_seconds(daemon, 15)
            self.assert_adds_up(daemon)
        finally:
            life.signal_service(self.lab, "slurmctld", signal.SIGCONT)
        self.wait_source(daemon, "scheduler", ok=True)
        self.lab.run(["scancel", job])
        self.wait_known(daemon, job, "cancelled", seconds=60)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def test_a_lost_job_and_its_id_again(self) -> None:
        """slurmctld dies before it saved the youngest job, and gives its id to the next one."""
        daemon = self.daemon()
        old = self.running(daemon)
        saved = self.lab.path("state", "job_state")
        for _ in range(3):
            before = saved.stat().st_mtime
            self.lab.run(["scontrol", "update", f"jobid={old}", "comment=save"])
            eventually("slurmctld has just saved", 20, lambda: saved.stat().st_mtime > before, pause=0.02)
            lost = self.running(daemon, "-w", "n002", "--gpus-per-node=8", user="bob")
            life.crash(self.lab)
            services.wait_nodes_registered(self.lab)
            if lost not in self.lab.run(["squeue", "-h", "-t", "all", "-o", "%A"]).split():
                break
            self.lab.run(["scancel", lost])  # it was saved after all: once more
        else:
            self.skipTest("slurmctld saved each job before it died")
        eventually("the lost job is known to be gone", 60, lambda: self.is_gone(daemon, lost))
        again = self.submit("carol", "-w", "n002", "--gpus-per-node=4", "--wrap", "rank busy")
        self.assertEqual(again, lost)
        found = self.wait_known(daemon, again, "running")
        self.assertEqual((found["user"], found["devices"]), ("carol", 4))
        self.pass_seconds(daemon, 2)
        self.assert_held_throughout(daemon, again, gpus=4)
        self.assert_held_throughout(daemon, old)
        self.assert_adds_up(daemon)

    def is_gone(self, daemon: Daemon, job: str) -> bool:
        found = daemon.beside.run("explain", job, "--server", daemon.address, "-o", "json", want=None)
        return found.returncode != 0 or json.loads(found.stdout)["state"] not in ("running", "completing")

    def test_munge_down(self) -> None:
        daemon = self.daemon()
        job = self.running(daemon)
        life.stop_service(self.lab, "munged")
        try:
            self.pass_seconds(daemon)
            self.assert_adds_up(daemon)
        finally:
            services.start_munge(self.lab)
        eventually("the scheduler is seen again", 60, lambda: source_of(daemon.get("/v1/report"), "scheduler")["ok"])
        self.lab.run(["scancel", job])
        self.wait_known(daemon, job, "cancelled", seconds=60)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def test_dbd_down(self) -> None:
        """Limits are slurmctld's: they are known without slurmdbd, too."""
        daemon = self.daemon()
        job = self.running(daemon)
        life.stop_service(self.lab, "slurmdbd")
        try:
            self.pass_seconds(daemon)
            waits = self.submit("dave", "-q", "small", "-p", "all", "-N2", "--gpus-per-node=8", "--wrap", "true")
            found = self.wait_known(daemon, waits, "pending")
            self.assertTrue(source_of(daemon.get("/v1/report"), "scheduler")["ok"])
            self.assertIn("QOS", " ".join(blocker["code"] for blocker in found["blockers"]))
        finally:
            services.start_dbd(self.lab)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    # --- telemetry ---

    def columns_now(self, daemon: Daemon) -> dict[str, int]:
        models = daemon.get("/v1/report")["models"]
        return {column: sum(model["gpus"][column] for model in models) for column in (*HELD, "free")}

    def wait_columns(self, daemon: Daemon, what: str, **want: int) -> None:
        def so() -> bool:
            found = self.columns_now(daemon)
            if any(found[column] != number for column, number in want.items()):
                raise AssertionError(f"{found}")
            return True

        eventually(what, 60, so)

    def measured_daemon(self) -> Daemon:
        """One for which a look at a GPU counts for 6 s."""
        daemon = self.daemon(start=False)
        text = daemon.config.read_text()
        daemon.config.write_text(text.replace("idle_hold_after", "stale_after: 6s, idle_hold_after"))
        return daemon.start()

    def test_prometheus_down(self) -> None:
        daemon = self.measured_daemon()
        job = self.running(daemon)
        self.wait_columns(daemon, "it is seen at work", useful=8, held_unmeasured=0)
        life.stop_service(self.lab, "prometheus")
        try:
            self.wait_source(daemon, "telemetry", ok=False)
            self.wait_columns(daemon, "nothing can be measured", useful=0, held_idle=0, held_unmeasured=8)
            self.assert_adds_up(daemon)
        finally:
            services.start_prometheus(self.lab)
        self.wait_columns(daemon, "it is seen again", useful=8, held_unmeasured=0)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def test_exporters_that_lie(self) -> None:
        """A lie is never idleness: what cannot be believed is not measured, and the others are as they were."""
        daemon = self.measured_daemon()
        job = self.running(daemon, "-w", "n001", "--gpus-per-node=8")
        self.wait_columns(daemon, "it is seen at work", useful=8, held_unmeasured=0)
        rows: list[tuple[str, Any, dict[str, int]]] = [
            ("empty page", {"n001": "empty"}, {"held_unmeasured": 8}),
            ("answers 503", {"n001": "down"}, {"held_unmeasured": 8}),
            ("NaN", {"n001": {"0": "nan", "1": "nan"}}, {"useful": 6, "held_unmeasured": 2}),
            ("negative", {"n001": {"0": "negative"}}, {"useful": 7, "held_unmeasured": 1}),
            ("DCGM's blank values", {"n001": {"2": "blank"}}, {"useful": 7, "held_unmeasured": 1}),
            ("another host's name", {"n001": {"3": "other-host"}}, {"useful": 7, "held_unmeasured": 1}),
            ("lower-case label", {"n001": "lower-case"}, {"useful": 8}),
            ("a second exporter", {"n001": {"4": "second"}}, {"useful": 8}),
            ("an XID error", {"n001": {"5": {"fault": "xid", "value": 79}}}, {"useful": 8}),
        ]
        faults = self.lab.path("gpu", "faults.json")
        for name, fault, want in rows:
            with self.subTest(name):
                faults.write_text(json.dumps(fault))
                self.wait_columns(daemon, name, held_idle=0, free=8, **want)
                self.assert_adds_up(daemon)
            faults.unlink()
            self.wait_columns(daemon, f"after {name}", useful=8, held_unmeasured=0)
        self.assert_held_throughout(daemon, job)

    def test_samples_from_the_future(self) -> None:
        """Last in its lab: Prometheus refuses honest samples until that time has come."""
        lab = self.beside  # a lab of its own would cost more than this order
        daemon = self.measured_daemon()
        job = self.running(daemon, "-w", "n002", "--gpus-per-node=1")
        self.wait_columns(daemon, "it is seen at work", useful=1)
        lab.lab.path("gpu", "faults.json").write_text(json.dumps({"n002": {"0": "future"}}))
        self.wait_columns(daemon, "the future is not believed", useful=0, held_idle=0, held_unmeasured=1)
        self.assert_held_throughout(daemon, job, gpus=1)
        self.assert_adds_up(daemon)

    # --- ourselves ---

    def test_killed_and_started_again(self) -> None:
        daemon = self.daemon()
        job = self.running(daemon)
        opened = daemon.get("/v1/report")["from"]
        for _ in range(KILLS):
            before = self.held(daemon, job)
            assert daemon.process
            daemon.process.kill()
            daemon.process.wait()
            daemon.start()
            self.assertGreaterEqual(self.held(daemon, job) + 8, before, "what was told is still known")
            self.wait_source(daemon, "scheduler", ok=True)
            eventually("the job is known again", 30, lambda: self.held(daemon, job) > before)
            self.assert_held_throughout(daemon, job)
        report = self.assert_adds_up(daemon)
        self.assertEqual(report["from"], opened)

    def test_a_job_ends_while_nobody_looks(self) -> None:
        daemon = self.daemon()
        job = self.running(daemon)
        assert daemon.process
        daemon.process.kill()
        daemon.process.wait()
        self.lab.run(["scancel", job])
        eventually("it is gone", 30, lambda: not self.lab.run(["squeue", "-h"]).strip())
        daemon.start()
        self.wait_known(daemon, job, "cancelled")
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def test_two_daemons_on_one_store(self) -> None:
        daemon = self.daemon()
        self.wait_source(daemon, "scheduler", ok=True)
        other = self.daemon("second", start=False)
        other.config.write_text(other.config.read_text().replace(str(other.store), str(daemon.store)))
        done = self.beside.run("serve", "--config", str(other.config), want=None)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"(?i)lock|in use|another")
        self.assertIn(str(daemon.store), done.stderr)
        self.assert_adds_up(daemon)

    def test_two_daemons_on_one_socket(self) -> None:
        daemon = self.daemon()
        other = self.daemon("second", start=False)
        other.config.write_text(other.config.read_text().replace(str(other.socket), str(daemon.socket)))
        done = self.beside.run("serve", "--config", str(other.config), want=None)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(str(daemon.socket), done.stderr)
        self.assertTrue(daemon.run("report", "-o", "json").stdout)

    def test_disk_full(self) -> None:
        disk = self.beside.dir / "disk"
        disk.mkdir()
        options = f"size=24m,uid={self.uid()},mode=755"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        daemon = self.daemon(start=False)
        daemon.config.write_text(daemon.config.read_text().replace(str(daemon.store), f"{disk}/store.db"))
        daemon.start()
        self.addCleanup(daemon.stop)  # before the disk goes
        job = self.running(daemon)
        filler = disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        eventually("it is said", 60, lambda: daemon.get("/v1/sites")["sites"][0]["journal_problem"])
        self.assertEqual(daemon.beside.run("report", "--server", daemon.address, want=None).returncode, 0)
        filler.unlink()
        eventually("all is well", 60, lambda: not daemon.get("/v1/sites")["sites"][0]["journal_problem"])
        self.wait_source(daemon, "scheduler", ok=True)
        self.pass_seconds(daemon, 3)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.wait_source(daemon, "scheduler", ok=True)
        self.assert_held_throughout(daemon, job)
        self.assert_adds_up(daemon)

    def uid(self) -> int:
        return pwd.getpwnam(self.beside.user).pw_uid

    # --- bad input ---

    def test_stores_that_are_none_are_refused_and_not_changed(self) -> None:
        good = self.daemon("good")
        self.running(good)
        self.assertEqual(good.stop(), 0)
        whole = good.store.read_bytes()
        rows = [
            ("text", b"this is my thesis, and no database\n" * 200),
            ("half of a store", whole[: len(whole) // 2]),
            ("a store with a hole", whole[:4096] + bytes(4096) + whole[8192:]),
            ("another program's database", self.foreign_database()),
        ]
        for name, content in rows:
            with self.subTest(name):
                daemon = self.daemon(f"bad{len(content)}", start=False)
                daemon.store.write_bytes(content)
                os.chown(daemon.store, self.uid(), self.uid())
                done = self.beside.run("serve", "--config", str(daemon.config), want=None, timeout=30)
                self.assertIn(done.returncode, (3, 5), done.stderr)
                self.assertIn(str(daemon.store), done.stderr)
                self.assertEqual(digest(daemon.store), hashlib.sha256(content).hexdigest())

    def foreign_database(self) -> bytes:
        path = self.beside.dir / "foreign.db"
        subprocess.run(["sqlite3", path, "create table recipe(name); insert into recipe values('bread')"], check=True)
        return path.read_bytes()

    def test_wrong_slurm_conf(self) -> None:
        half = self.beside.dir / "half.conf"
        half.write_text(self.lab.slurm_conf.read_text()[:200])
        for name, path in (("not there", "/nowhere/slurm.conf"), ("half", str(half))):
            with self.subTest(name):
                done = self.beside.run("observe", "--conf", path, want=None)
                self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                self.assertRegex(done.stderr, r"\S")
                self.assertLess(len(done.stderr.splitlines()), 6, done.stderr)

    def test_configuration_errors_have_line_and_column(self) -> None:
        rows = [
            ("unknown key", "sites:\n  - name: a\n    slrum: {}\n", ":3:5", "slurm"),
            ("wrong type", "sites: 7\n", ":1:8", "list"),
            ("bad duration", "sites:\n  - telemetry: {interval: soon}\n", ":2:27", "duration"),
            ("twice", "store: sqlite:/a\nstore: sqlite:/b\n", ":2:1", "twice"),
            ("not YAML", "sites: [\n", ":2:1", "YAML"),
            ("a stage to come", "sites:\n  - stage: enforce\n", ":2:12", "suggest"),
            ("beyond loopback", "listen_http: 0.0.0.0:7077\n", ":1:14", "127.0.0.1"),
        ]
        for name, text, place, word in rows:
            with self.subTest(name):
                path = self.beside.dir / "bad.yaml"
                path.write_text(text)
                done = self.beside.run("serve", "--check", "--config", str(path), want=None)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn(f"bad.yaml{place}", done.stderr)
                self.assertIn(word, done.stderr)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    unittest.main()
