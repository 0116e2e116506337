"""The organisation file on the command line: what is told where, exit codes, and that fmt writes what it says."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT

CASES = ROOT / "tests" / "policy"
KUEUE = """\
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: ClusterQueue
  metadata: {name: team-a}
  spec:
    cohort: ml
    queueingStrategy: BestEffortFIFO
    namespaceSelector: {}
    preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}
    fairSharing: {weight: 2}
    resourceGroups:
    - coveredResources: [cpu, nvidia.com/gpu]
      flavors:
      - name: h100
        resources:
        - {name: cpu, nominalQuota: "64"}
        - {name: nvidia.com/gpu, nominalQuota: 32, borrowingLimit: "8", lendingLimit: 16}
- {apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: lq, namespace: ml-a}, spec: {clusterQueue: team-a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team-b}
spec:
  cohortName: ml
  resourceGroups:
  - flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]
---
{kind: ResourceFlavor, metadata: {name: h100}, spec: {nodeLabels: {nvidia.com/gpu.product: H100}}}
---
{kind: WorkloadPriorityClass, metadata: {name: high}, value: 1000}
---
{kind: WorkloadPriorityClass, metadata: {name: low}, value: 10}
"""


class Policy(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="fairlead-policy.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "acme.policy"
        self.page = (CASES / "one_page.txt").read_text().split("----\n")[0]
        self.file.write_text(self.page)

    def policy(self, *argv: str, want: int = 0) -> subprocess.CompletedProcess[str]:
        argv = (str(BUILD / "bin" / "fairlead"), "policy", *argv)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, want, f"{argv}: {done.stdout}{done.stderr}")
        return done

    def test_a_good_folder_says_what_it_holds(self) -> None:
        done = self.policy("check", str(self.folder))
        self.assertRegex(done.stdout, r"^acme v7: 5 teams, 4 classes, 2 kinds of devices, 1 test; digest [0-9a-f]{16}\n$")
        self.assertEqual(done.stderr, "")

    def test_an_error_is_told_with_its_place_and_ends_with_1(self) -> None:
        self.file.write_text(self.page.replace("own     160 H100", "own     300 H100"))
        done = self.policy("check", str(self.file), want=1)
        self.assertIn(f"--> {self.file}:10:7", done.stderr)
        self.assertIn("error[E801]", done.stderr)
        self.assertEqual(done.stdout, "1 error, 0 warnings\n")
        view = json.loads(self.policy("check", str(self.file), "-o", "json", want=1).stdout)
        self.assertEqual((view["kind"], view["errors"], view["diagnostics"][0]["code"]), ("PolicyCheck", 1, "E801"))
        self.policy("explain", "research", str(self.file), want=5)

    def test_warnings_count_only_when_asked(self) -> None:
        self.policy("check", "--fleet", "512 H100", str(self.file))
        self.policy("check", "--strict", "--fleet", "512 H100", str(self.file), want=1)
        several = [self.policy("check", *fleet, str(self.file)) for fleet in (
            ("--fleet", "512 h100, 64 a100"), ("--fleet", "64 A100", "--fleet", "512 H100"))]  # fmt: skip
        self.assertEqual(several[0].stderr, several[1].stderr)
        self.policy("check", "--fleet", "512 h100, 64 H100", str(self.file), want=2)

    def test_fmt_writes_once_and_keeps_the_meaning(self) -> None:
        before = json.loads(self.policy("check", str(self.file), "-o", "json").stdout)["digest"]
        self.assertEqual(self.policy("fmt", "--check", str(self.folder), want=1).stdout, f"{self.file}\n")
        self.assertEqual(self.file.read_text(), self.page)
        self.assertEqual(self.policy("fmt", str(self.folder)).stdout, f"{self.file}\n")
        self.assertNotEqual(self.file.read_text(), self.page)
        self.assertEqual(self.policy("fmt", "--check", str(self.folder)).stdout, "")
        self.assertEqual(json.loads(self.policy("check", str(self.file), "-o", "json").stdout)["digest"], before)

    def test_fmt_leaves_a_broken_file_alone(self) -> None:
        self.file.write_text("team a { own 3 }\n")
        self.policy("fmt", str(self.folder), want=5)
        self.assertEqual(self.file.read_text(), "team a { own 3 }\n")

    def test_explain_shows_the_arithmetic(self) -> None:
        done = self.policy("explain", "product/search", str(self.folder), "--holds", "product/ads=100 H100")
        self.assertIn("headroom(product) = min(limit 224 - inner 100, headroom(acme) 156 + kept and not used 0) = 124", done.stdout)
        view = json.loads(self.policy("explain", "product", str(self.folder), "-o", "json").stdout)
        h100 = next(d for d in view["devices"] if d["device"] == "H100")
        self.assertEqual((h100["own_milli"], h100["kept_milli"], h100["limit_milli"]), (96000, 32000, 224000))
        self.assertIn("did you mean 'product'?", self.policy("explain", "prodct", str(self.folder), want=2).stderr)

    def test_explain_follows_the_calendar(self) -> None:
        for at, own in (("2026-06-01T10:00:00+02:00", 128000), ("2026-06-01T22:00:00+02:00", 160000)):
            view = json.loads(self.policy("explain", "research", str(self.folder), "--at", at, "-o", "json").stdout)
            self.assertEqual(next(d for d in view["devices"] if d["device"] == "H100")["own_milli"], own)

    def test_tests_are_run(self) -> None:
        done = self.policy("test", "-o", "wide", str(self.folder))
        self.assertIn("5m  preempt  r2 for p1, rule own", done.stdout)
        self.assertIn("1 passed, 0 failed, 0 not run", done.stdout)
        self.file.write_text(self.page.replace("expect  no preempt r1", "expect  preempt r1"))
        done = self.policy("test", str(self.folder), want=1)
        self.assertIn("error[E820]", done.stderr)
        self.assertIn("0 passed, 1 failed, 0 not run", done.stdout)
        self.file.write_text(self.page.replace("expect  preempt r2", "expect  reshape p1"))
        view = json.loads(self.policy("test", str(self.folder), "-o", "json", want=3).stdout)
        self.assertEqual((view["not_run"], view["tests"][0]["outcome"]), (1, "not_run"))

    def test_what_kueue_has_becomes_a_file(self) -> None:
        queues, folder = self.folder / "queues.yaml", self.folder / "kueue"
        queues.write_text(KUEUE)
        folder.mkdir()
        (folder / "kueue.policy").write_text(self.policy("import", "kueue", str(queues)).stdout)
        self.policy("check", str(folder))
        self.assertEqual(self.policy("fmt", "--check", str(folder)).stdout, "")
        team = json.loads(self.policy("explain", "ml/team-a", str(folder), "-o", "json").stdout)
        (h100,) = team["devices"]
        self.assertEqual((h100["device"], h100["own_milli"], h100["lend_milli"], h100["limit_milli"]), ("H100", 32000, 16000, 40000))
        self.assertEqual((team["weight"], team["members"]), (2, ['kubernetes namespace "ml-a"']))
        cohort = json.loads(self.policy("explain", "ml", str(folder), "-o", "json").stdout)
        self.assertEqual((cohort["devices"][0]["own_milli"], cohort["children"]), (48000, ["ml/team-a", "ml/team-b"]))
        text = (folder / "kueue.policy").read_text()
        self.assertRegex(text, r"class high +{ rank 1000 +preempts low }")
        self.assertIn("No counterpart: cpu 64 of h100, queueingStrategy: BestEffortFIFO", text)
        queues.write_text("kind: ClusterQueue\nspec: {}\n")
        self.assertIn(f"{queues}:1:1: error: this ClusterQueue has no name", self.policy("import", "kueue", str(queues), want=5).stderr)
        queues.write_text("a: [")
        self.assertIn("not YAML", self.policy("import", "kueue", str(queues), want=5).stderr)
        queues.write_text("kind: Pod\nmetadata: {name: x}\n")
        self.assertIn("kueue-none", self.policy("import", "kueue", str(queues), want=5).stderr)

    def test_members_of_a_table(self) -> None:
        file = self.folder / "tabled" / "acme.policy"
        file.parent.mkdir()
        file.write_text('org acme v1\nlang 1\nteam acme {\n  team a { members file "people.csv" }\n}\n')
        self.assertIn("error[E814]: the table `people.csv` cannot be read", self.policy("check", str(file), want=1).stderr)
        (file.parent / "people.csv").write_text("user;name\nana;Ana\n;nobody\n")
        self.assertIn("warning[W816]: this row has no user", self.policy("check", str(file)).stderr)
        view = json.loads(self.policy("explain", "a", str(file), "-o", "json").stdout)
        self.assertEqual(view["members"], ['file "people.csv", 1 member'])

    def test_diff_of_two_files(self) -> None:
        new = self.folder / "new.policy"
        new.write_text(self.page.replace("own     160 H100", "own     128 H100").replace("org acme v7", "org acme v8"))
        jobs = self.folder / "jobs.csv"
        jobs.write_text("workload,account,user\n1,research,ana\n")
        done = self.policy("diff", str(self.file), str(new), "--jobs", str(jobs))
        self.assertRegex(done.stdout, r"team research\n +during mon..fri .* own H100 128 +as outside\n +own H100 +160 +128\n")
        self.assertIn("0 of 1 workload would be", done.stdout)
        rows = self.policy("diff", str(self.file), str(new), "--jobs", str(jobs), "-o", "csv").stdout.splitlines()
        self.assertIn("team research,own H100,160,128,changed", rows)
        self.assertIn("Nothing changes", self.policy("diff", str(self.file), str(self.file), "--jobs", str(jobs)).stdout)
        new.write_text(self.page.replace("H100", "H10O"))
        self.policy("diff", str(self.file), str(new), want=5)

    def test_what_cannot_be_read_is_refused(self) -> None:
        self.policy("check", str(self.folder / "none.policy"), want=5)
        (self.folder / "empty").mkdir()
        self.assertIn("policy-none", self.policy("check", str(self.folder / "empty"), want=5).stderr)
        self.policy("check", "--fleet", "many H100", str(self.file), want=2)


if __name__ == "__main__":
    unittest.main()
