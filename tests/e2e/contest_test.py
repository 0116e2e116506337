"""Rules side by side on the command line: forms, exit codes, and that the line it prints gives the same digest."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BUILD

POLICY = """org acme v7
lang 1
class prod  { rank 50 preempts batch }
class batch { rank 10 }
team acme {
  own 16 H100
  team llm { own 8 H100
    members slurm account "llm"
    default class batch }
  team ads { own 8 H100
    members slurm account "ads"
    default class prod }
}
"""


def history() -> str:
    """llm floods both nodes from the beginning; ads comes a little later, now and then."""
    rows = ["job,user,team,class,submit,start,end,gpus,nodes,model,state,time_limit"]
    for i in range(40):
        rows.append(f"l{i},ana,llm,batch,{i * 60},{i * 900},{i * 900 + 1800},8,1,H100,completed,3600")
    for i in range(10):
        rows.append(f"a{i},bob,ads,prod,{600 + i * 2000},{900 + i * 2000},{1200 + i * 2000},4,1,H100,completed,600")
    return "\n".join(rows) + "\n"


class Contest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="fairlead-contest.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "jobs.csv").write_text(history())
        (self.folder / "acme.policy").write_text(POLICY)

    def run_it(self, *argv: str, want: int = 0) -> subprocess.CompletedProcess[str]:
        words = (str(BUILD / "bin" / "fairlead"), *argv)
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, want, f"{words}: {done.stdout}{done.stderr}")
        return done

    def contest(self, *argv: str, want: int = 0) -> subprocess.CompletedProcess[str]:
        return self.run_it("replay", "jobs.csv", "--org", ".", "--fleet", "2 x 8 H100", *argv, want=want)

    def test_all_rules_stand_side_by_side(self) -> None:
        view = json.loads(self.contest("-o", "json").stdout)
        self.assertEqual((view["apiVersion"], view["kind"], view["workloads"]), ("fairlead/v1", "Contest", 50))
        names = [r["rule"] for r in view["rules"]]
        for rule in ("native", "fifo", "easy", "conservative", "slurm-multifactor", "kueue", "fairlead"):
            self.assertIn(rule, names)
        rules = {r["rule"]: r for r in view["rules"]}
        for r in view["rules"]:
            self.assertEqual(r["all"]["workloads"], 50)
            self.assertEqual(sum(t["workloads"] for t in r["teams"]), 50)
        # ads owns a node: under FIFO it waits behind llm's flood, under ours it takes back what it lent.
        ads = {rule: next(t for t in rules[rule]["teams"] if t["name"] == "ads") for rule in names}
        self.assertLess(ads["fairlead"]["wait_us"]["mean"], ads["fifo"]["wait_us"]["mean"] // 10)
        self.assertLess(rules["fairlead"]["share_error_ppm"], rules["fifo"]["share_error_ppm"])
        self.assertIsNone(rules["native"]["fragmentation_ppm"])
        self.assertEqual(rules["native"]["all"]["wait_us"]["p50"] % 1_000_000, 0)

    def test_the_line_it_prints_gives_the_same_digest(self) -> None:
        for more in ((), ("--seeds", "3"), ("--against", "fifo,kueue")):
            first = json.loads(self.contest("-o", "json", *more).stdout)
            words = shlex.split(first["repeat"])
            self.assertEqual(words[0], "fairlead")
            again = json.loads(self.run_it(*words[1:], "-o", "json").stdout)
            self.assertEqual(again["digest"], first["digest"])
            self.assertEqual(again["rules"], first["rules"])

    def test_forms(self) -> None:
        text = self.contest("--against", "native,easy", "--seeds", "2").stdout
        for word in ("native", "easy", "fairlead", "By class", "By team", "Over 2 seeds", "digest", "again: fairlead replay jobs.csv"):
            self.assertIn(word, text)
        rows = list(csv.DictReader(io.StringIO(self.contest("--against", "easy", "-o", "csv").stdout)))
        self.assertEqual({r["rule"] for r in rows}, {"easy", "fairlead"})
        self.assertEqual({r["group"] for r in rows}, {"all", "class", "team"})
        quick = json.loads(self.contest("-o", "json", "--sort", "all.wait_us.mean:asc", "--filter", "all.evictions=0").stdout)["rules"]
        self.assertNotIn("fairlead", [r["rule"] for r in quick])
        waits = [r["all"]["wait_us"]["mean"] for r in quick]
        self.assertEqual(waits, sorted(waits))
        html = self.contest("-o", "html").stdout
        self.assertTrue(html.startswith("<!doctype html>"))
        self.assertIn("<polyline", html)
        self.assertIsNone(re.search(r"(src|href)=|https?://|<script", html))
        self.assertIn("apiVersion: fairlead/v1", self.contest("--against", "easy", "-o", "yaml").stdout)

    def test_without_an_organisation_each_account_is_a_team(self) -> None:
        view = json.loads(self.run_it("replay", "jobs.csv", "--against", "easy", "-o", "json").stdout)
        self.assertTrue(any("each account is a team" in n for n in view["notes"]))
        self.assertTrue(any("deduced" in n for n in view["notes"]))
        self.assertEqual({t["name"] for t in view["rules"][0]["teams"]}, {"llm", "ads"})

    def test_a_fleet_may_be_a_file(self) -> None:
        (self.folder / "fleet.csv").write_text("nodes,gpus,model\n2,8,H100\n")
        one = json.loads(self.contest("--against", "easy", "-o", "json").stdout)
        other = json.loads(self.run_it("replay", "jobs.csv", "--org", ".", "--fleet", "fleet.csv", "--against", "easy", "-o", "json").stdout)
        self.assertEqual(one["digest"], other["digest"])
        (self.folder / "fleet.yaml").write_text("- {nodes: 2, gpus: 8, model: H100}\n")
        third = json.loads(self.run_it("replay", "jobs.csv", "--org", ".", "--fleet", "fleet.yaml", "--against", "easy", "-o", "json").stdout)
        self.assertEqual(one["digest"], third["digest"])
        (self.folder / "fleet.yaml").write_text("- {nodes: 2,\n")
        broken = self.run_it("replay", "jobs.csv", "--fleet", "fleet.yaml", "--against", "easy", want=2)
        self.assertIn("fleet.yaml:", broken.stderr)

    def test_what_is_wrong_is_told_with_its_place_and_a_way_out(self) -> None:
        self.assertIn("slurm-multifactor", self.contest("--against", "slurm", want=2).stderr)
        self.assertIn("32 x 8 H100", self.run_it("replay", "jobs.csv", "--against", "easy", "--fleet", "many", want=2).stderr)
        self.assertIn("--by", self.contest("--by", "team", want=2).stderr)
        (self.folder / "acme.policy").write_text(POLICY.replace("own 8 H100", "own 800 H100"))
        self.assertIn("E801", self.contest(want=5).stderr)
        (self.folder / "waiting.csv").write_text("job,submit,start,end,gpus\na,0,,,4\n")
        self.assertIn("no job", self.run_it("replay", "waiting.csv", "--against", "easy", want=5).stderr)


if __name__ == "__main__":
    unittest.main()
