#!/usr/bin/env python3
"""Tests of the lab itself, against real daemons:  python3 tests/lab/test_lab.py

Another release is tried when its root filesystem exists, or when FAIRLEAD_LAB_RELEASES names it ("24.11 26.05").
"""

from __future__ import annotations

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
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import exporter  # noqa: E402
import procs  # noqa: E402
from layout import Lab, LabError, Options, Ports, cache_dir, load  # noqa: E402

EXIT_SKIPPED = 77


def lab_command(*argv: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HERE / "lab", *argv], capture_output=True, text=True, timeout=timeout)


def must(*argv: str) -> str:
    done = lab_command(*argv)
    if done.returncode != 0:
        raise AssertionError(f"lab {' '.join(argv)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def new_folder(test: unittest.TestCase | type[unittest.TestCase]) -> str:
    folder = tempfile.mkdtemp(prefix="lab-test.")
    add = test.addClassCleanup if isinstance(test, type) else test.addCleanup
    add(shutil.rmtree, folder, ignore_errors=True)
    add(lab_command, "down", folder)
    return folder


def eventually(what: str, seconds: float, ready: Callable[[], bool]) -> None:
    procs.wait_for(what, seconds, ready, pause=0.1)


def query(lab: Lab, expression: str) -> dict[str, float]:
    """Value by host of an instant query."""
    words = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"{lab.prometheus_url}/api/v1/query?{words}", timeout=5) as reply:
        result = json.load(reply)["data"]["result"]
    return {row["metric"].get("Hostname", ""): float(row["value"][1]) for row in result}


class WholeLab(unittest.TestCase):
    """One lab of 32 nodes for all of these."""

    folder: str
    lab: Lab

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = new_folder(cls)
        must("up", cls.folder)
        cls.lab = load(cls.folder)

    def query(self, expression: str) -> dict[str, float]:
        return query(self.lab, expression)

    def submit(self, user: str, *argv: str) -> str:
        return self.lab.run(["sbatch", "--parsable", *argv], user).strip()

    def state(self, job: str) -> str:
        return self.lab.run(["squeue", "-h", "-t", "all", "-j", job, "-o", "%T"]).strip()

    def test_all_nodes_are_idle_with_their_gpus(self) -> None:
        nodes = self.lab.run(["sinfo", "-h", "-N", "-p", "all", "-o", "%N %T %G"]).splitlines()
        self.assertEqual(len(nodes), 32)
        kinds = [re.sub(r"\(.*", "", line.split()[2]) for line in nodes]
        self.assertEqual(kinds, ["gpu:h100:8"] * 16 + ["gpu:a100:8"] * 16)

    def test_a_job_gets_gpus_with_an_index(self) -> None:
        job = self.submit("alice", "-p", "h100", "--gpus-per-node=4", "--wrap", "sleep 60")
        eventually("the job runs", 15, lambda: self.state(job) == "RUNNING")
        self.assertRegex(self.lab.run(["scontrol", "-d", "show", "job", job]), r"GRES=gpu:h100:4\(IDX:[0-7,-]+\)")
        self.lab.run(["scancel", job])

    def test_prometheus_has_every_metric_of_every_gpu(self) -> None:
        eventually("256 GPUs", 20, lambda: self.query("count(DCGM_FI_DEV_GPU_UTIL)").get("") == 256)
        for metric in exporter.METRICS:
            with self.subTest(metric.name):
                self.assertEqual(self.query(f"count({metric.name})"), {"": 256})

    def test_a_rank_shows_while_it_lives(self) -> None:
        job = self.submit("carol", "-p", "a100", "-N2", "--gpus-per-node=8", "--wrap", "srun rank 1=busy:4,die busy")
        hosts = "avg by (Hostname) (DCGM_FI_DEV_FB_USED) > 1000"
        eventually("two nodes at work", 20, lambda: len(self.query(hosts)) == 2)
        eventually("one of them dead", 20, lambda: len(self.query(hosts)) == 1)
        self.lab.run(["scancel", job])
        eventually("none left", 20, lambda: not self.query(hosts))

    def test_a_crash_of_the_controller_leaves_jobs_running(self) -> None:
        job = self.submit("bob", "--gpus-per-node=1", "--wrap", "sleep 60")
        eventually("the job runs", 15, lambda: self.state(job) == "RUNNING")
        changed, saved = time.time(), self.lab.path("state", "job_state")
        self.lab.run(["scontrol", "update", f"jobid={job}", "comment=save me"])
        eventually("slurmctld saves that", 15, lambda: saved.stat().st_mtime > changed)
        before = procs.pid_of(self.lab, "slurmctld")
        must("crash", self.folder)
        self.assertNotEqual(procs.pid_of(self.lab, "slurmctld"), before)
        self.assertEqual(self.state(job), "RUNNING")
        must("wait", self.folder)
        self.lab.run(["scancel", job])

    def test_parts_stop_and_start(self) -> None:
        for part in ("controller", "dbd", "munge", "exporter"):
            with self.subTest(part):
                for verb in ("stop", "start", "pause", "resume"):
                    must(f"{verb}-{part}", self.folder)
        must("wait", self.folder)
        self.assertEqual(len(self.lab.run(["sinfo", "-h", "-N", "-p", "all"]).splitlines()), 32)

    def test_a_paused_controller_is_silent(self) -> None:
        must("pause-controller", self.folder)
        with self.assertRaises(LabError):
            self.lab.run(["scontrol", "show", "licenses"], timeout=1)
        must("resume-controller", self.folder)
        self.lab.run(["scontrol", "show", "licenses"])

    def test_the_observer_looks_and_changes_nothing(self) -> None:
        self.lab.run(["squeue"], "fairlead")
        with self.assertRaisesRegex(LabError, "Invalid user id|Access/permission"):
            self.lab.run(["scontrol", "update", "nodename=n001", "state=drain", "reason=no"], "fairlead")

    def test_rest_answers_on_both_doors(self) -> None:
        must("rest", self.folder)
        self.addCleanup(self.lab.path("rest", "environment.json").unlink)
        env = load(self.folder).environment()
        ping = f"slurm/{env['FAIRLEAD_LAB_REST_VERSION']}/ping"
        local = ["curl", "-sf", "--unix-socket", env["FAIRLEAD_LAB_REST_SOCKET"], f"http://localhost/{ping}"]
        self.assertIn("pings", json.loads(subprocess.check_output(local)))
        user, token = env["FAIRLEAD_LAB_REST_USER"], env["FAIRLEAD_LAB_REST_TOKEN"]
        headers = {"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token}
        request = urllib.request.Request(f"{env['FAIRLEAD_LAB_REST']}/{ping}", headers=headers)
        with urllib.request.urlopen(request, timeout=5) as reply:
            self.assertIn("pings", json.load(reply))


class Mix(unittest.TestCase):
    def test_every_job_waits_runs_or_idles_as_expected(self) -> None:
        folder = new_folder(self)
        must("up", folder)
        told = json.loads(subprocess.check_output([HERE / "mix.py", folder]))
        self.assertGreater(len(told["jobs"]), 30)
        check = subprocess.run([HERE / "mix.py", folder, "--check"], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assert_telemetry(load(folder))

    def assert_telemetry(self, lab: Lab) -> None:
        rows = [  # what runs there, node, utilisation, tensor pipe above a third, GPUs with memory in use
            ("at work", "n001", 90, True, 8),
            ("hung", "n010", 100, False, 8),
            ("ranks died", "n013", 0, False, 0),
            ("never touched", "n014", 0, False, 0),
            ("loaded only", "n015", 0, False, 4),
            ("waits for a dead peer", "n021", 100, False, 8),
            ("the dead peer", "n023", 0, False, 0),
        ]
        util = query(lab, "avg by (Hostname) (DCGM_FI_DEV_GPU_UTIL)")
        tensor = query(lab, "avg by (Hostname) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)")
        held = query(lab, "sum by (Hostname) (DCGM_FI_DEV_FB_USED > bool 1000)")
        for name, node, want_util, want_tensor, want_held in rows:
            with self.subTest(name):
                self.assertAlmostEqual(util[node], want_util, delta=10)
                self.assertEqual((tensor[node] > 1 / 3, held[node]), (want_tensor, want_held))


class Lives(unittest.TestCase):
    def test_two_at_once_share_nothing(self) -> None:
        folders = [new_folder(self) for _ in range(2)]
        commands = [[str(HERE / "lab"), "up", folder, "--nodes", "4"] for folder in folders]
        for process in [subprocess.Popen(command, stderr=subprocess.PIPE) for command in commands]:
            _, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, said)
        first, second = (load(folder) for folder in folders)
        first.run(["scontrol", "update", "nodename=n001", "state=drain", "reason=mine"])
        must("down", folders[0])
        idle = second.run(["sinfo", "-h", "-N", "-p", "all", "-t", "idle", "-o", "%N"])
        self.assertEqual(idle.split(), second.node_names)

    def test_down_leaves_no_process(self) -> None:
        folder = new_folder(self)
        must("up", folder, "--nodes", "4")
        lab = load(folder)
        lab.run(["sbatch", "-N2", "--gpus-per-node=1", "--wrap", "trap '' TERM; srun rank busy; sleep 600"], "alice")
        eventually("a rank", 15, lambda: lab.path("gpu", "n002", "0").exists())
        must("pause-controller", folder)
        must("down", folder)
        self.assertEqual(processes_naming(folder), [])

    def test_an_interrupted_up_leaves_no_process(self) -> None:
        for number, after in ((signal.SIGINT, 0.4), (signal.SIGTERM, 0.8)):
            with self.subTest(number.name):
                folder = new_folder(self)
                process = subprocess.Popen([HERE / "lab", "up", folder], stderr=subprocess.DEVNULL)
                time.sleep(after)
                process.send_signal(number)
                self.assertNotEqual(process.wait(30), 0)
                self.assertEqual(processes_naming(folder), [])

    def test_a_failing_up_says_why_and_leaves_no_process(self) -> None:
        folder = new_folder(self)
        done = lab_command("up", folder, "--nodes", "2", "--no-accounting", "--conf", "SelectType=select/none_such")
        self.assertEqual(done.returncode, 1)
        self.assertIn("slurmctld", done.stderr)
        self.assertEqual(processes_naming(folder), [])

    def test_a_folder_with_something_else_is_left_alone(self) -> None:
        folder = new_folder(self)
        Path(folder, "thesis.tex").write_text("x")
        self.assertEqual(lab_command("up", folder).returncode, 1)
        self.assertTrue(Path(folder, "thesis.tex").exists())

    def test_a_release_that_cannot_be_had_is_skipped(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            no_way = Path(cache, "apt.conf")
            no_way.write_text('Acquire::http::Proxy "http://127.0.0.1:9"; Acquire::https::Proxy "http://127.0.0.1:9";')
            env = {**os.environ, "FAIRLEAD_LAB_CACHE": cache, "APT_CONFIG": str(no_way)}
            done = subprocess.run([HERE / "lab", "root", "24.11"], env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (EXIT_SKIPPED, ""))
        self.assertRegex(done.stdout, "^skipped: .*mirror")

    def test_other_releases(self) -> None:
        wanted = os.environ.get("FAIRLEAD_LAB_RELEASES", "").split()
        for release in ("24.11", "26.05"):
            with self.subTest(release):
                if release not in wanted and not (cache_dir() / f"root-{release}").exists():
                    continue
                folder = new_folder(self)
                done = lab_command("up", folder, "--nodes", "8", "--release", release, "--no-prometheus", timeout=300)
                if done.returncode == EXIT_SKIPPED:
                    self.skipTest(done.stdout)
                self.assertEqual(done.returncode, 0, done.stderr)
                lab = load(folder)
                self.assertIn(release, lab.run(["sinfo", "-V"]))
                lab.run(["srun", "-N2", "--gpus-per-node=2", "true"], "alice")
                must("crash", folder)
                must("down", folder)
                self.assertEqual(processes_naming(folder), [])


def processes_naming(folder: str) -> list[str]:
    lab = Lab(Path(folder), Options(), Ports.from_block(1))
    others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    found = [pid for pid in others if procs.is_alive(pid) and procs.belongs(pid, lab)]
    return [f"{pid} {Path(f'/proc/{pid}/cmdline').read_text()}" for pid in found]


@contextmanager
def fleet_of(nodes: int) -> Iterator[tuple[Lab, exporter.Fleet]]:
    """An exporter's pages without a lab around them."""
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), Options(nodes=nodes), Ports.from_block(20_000))
        for name in lab.node_names:
            lab.path("gpu", name).mkdir(parents=True)
        yield lab, exporter.Fleet(lab, now=1000.0)


def claim(lab: Lab, node: str, gpu: int, activity: str, pid: int, started: int | None = None) -> None:
    if started is None:
        started = exporter._state_and_start(pid)[1]
    lab.path("gpu", node, str(gpu)).write_text(json.dumps({"activity": activity, "pid": pid, "started": started}))


def values(page: str, metric: str, gpu: int) -> list[str]:
    return re.findall(rf'^{metric}{{gpu="{gpu}",.*}} (.*)$', page, re.M)


class Pages(unittest.TestCase):
    def test_what_a_rank_does_shows(self) -> None:
        rows = [  # activity, util at least, tensor at least, watts at most, memory at least
            ("busy", 85, 0.4, 700, 60_000),
            ("light", 20, 0.02, 300, 20_000),
            ("idle", 0, 0, 130, 30_000),
            ("stuck", 100, 0, 150, 60_000),
        ]
        for activity, util, tensor, watts, memory in rows:
            with self.subTest(activity), fleet_of(1) as (lab, fleet):
                claim(lab, "n001", 3, activity, os.getpid())
                page = fleet.page("n001", False, 1010.0)
                self.assertGreaterEqual(float(values(page, "DCGM_FI_DEV_GPU_UTIL", 3)[0]), util)
                self.assertGreaterEqual(float(values(page, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 3)[0]), tensor)
                self.assertLessEqual(float(values(page, "DCGM_FI_DEV_POWER_USAGE", 3)[0]), watts)
                self.assertGreaterEqual(float(values(page, "DCGM_FI_DEV_FB_USED", 3)[0]), memory)
                self.assertLess(float(values(page, "DCGM_FI_DEV_FB_USED", 4)[0]), 10)

    def test_a_dead_or_recycled_pid_shows_nothing(self) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        for name, pid, started in (("dead", gone.pid, 1), ("recycled", os.getpid(), 1)):
            with self.subTest(name), fleet_of(1) as (lab, fleet):
                claim(lab, "n001", 0, "busy", pid, started)
                self.assertEqual(values(fleet.page("n001", False, 1010.0), "DCGM_FI_DEV_GPU_UTIL", 0), ["0"])

    def test_energy_is_power_over_time(self) -> None:
        with fleet_of(1) as (_, fleet):
            pages = [fleet.page("n001", False, now) for now in (1010, 1020)]
            before, after = (float(values(page, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 0)[0]) for page in pages)
            self.assertAlmostEqual((after - before) / 10_000, 72, delta=4)  # an idle H100, in watts

    def test_the_same_instant_gives_the_same_page(self) -> None:
        with fleet_of(1) as (lab, fleet):
            claim(lab, "n001", 0, "busy", os.getpid())
            self.assertEqual(fleet.page("n001", False, 1010.0), fleet.page("n001", False, 1010.0))

    def test_faults(self) -> None:
        util = "DCGM_FI_DEV_GPU_UTIL"
        rows = [
            ("nan", "nan", util, ["NaN"]),
            ("negative", "negative", util, ["-1"]),
            ("all missing", "missing", util, []),
            ("another one missing", {"fault": "missing", "metrics": ["DCGM_FI_DEV_FB_USED"]}, util, ["0"]),
            ("future", "future", util, [f"0 {(1010 + exporter.FUTURE_SECONDS) * 1000}"]),
            ("blank", "blank", util, [exporter.BLANK_INT]),
            ("xid", {"fault": "xid", "value": 79}, "DCGM_FI_DEV_XID_ERRORS", ["79"]),
        ]
        for name, fault, metric, want in rows:
            with self.subTest(name), fleet_of(2) as (lab, fleet):
                lab.path("gpu", "faults.json").write_text(json.dumps({"n001": {"2": fault}}))
                self.assertEqual(values(fleet.page("n001", False, 1010.0), metric, 2), want)
                self.assertEqual(len(values(fleet.page("n001", False, 1010.0), metric, 1)), 1)

    def test_faults_of_names(self) -> None:
        with fleet_of(2) as (lab, fleet):
            faults = lab.path("gpu", "faults.json")
            faults.write_text(json.dumps({"n001": {"0": "other-host"}, "n002": "lower-case"}))
            self.assertIn('Hostname="n002"', fleet.page("n001", False, 1010.0))
            self.assertNotIn('Hostname="', fleet.page("n002", False, 1010.0))
            faults.unlink()
            self.assertNotIn('Hostname="n002"', fleet.page("n001", False, 1010.0))

    def test_a_second_exporter_becomes_a_target(self) -> None:
        with fleet_of(2) as (lab, fleet):
            self.assertEqual(len(fleet.targets()), 2)
            lab.path("gpu", "faults.json").write_text(json.dumps({"n002": {"5": "second"}}))
            instances = [target["labels"]["instance"] for target in fleet.targets()]
            self.assertEqual(instances, ["n001:9400", "n002:9400", "n002:9401"])
            self.assertEqual(len(values(fleet.page("n002", True, 1010.0), "DCGM_FI_DEV_GPU_UTIL", 5)), 1)
            self.assertEqual(values(fleet.page("n002", True, 1010.0), "DCGM_FI_DEV_GPU_UTIL", 4), [])


if __name__ == "__main__":
    unittest.main()
