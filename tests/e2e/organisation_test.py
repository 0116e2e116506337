"""The organisation beside a real Slurm: whose a job is, from its first sight on; teams; and a file made of what Slurm has."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import BUILD, Daemon, Site, eventually

ACME = """\
org acme v1
lang 1
devices H100 { h100, a100 }
class prod  { rank 100 }
class batch { rank 10 }
class spot  { rank 1 }
team acme {
  own 16 H100
  team ml {
    own     8 H100
    borrow  4 H100
    members slurm account "vision"
    team deep { members slurm user "alice" }
  }
  team people {
    members file "people.csv"
    default class batch
  }
}
"""


class Organisation(Site):
    options = {"nodes": 2}

    def setUp(self) -> None:
        self.folder = self.beside.dir / f"org-{self._testMethodName}"
        self.folder.mkdir()
        self.file = self.folder / "acme.policy"
        self.file.write_text(ACME)
        (self.folder / "people.csv").write_text("user,team,mail\ncarol,people,carol@x\n,people,nobody@x\n")

    def organised(self, **options: Any) -> Daemon:
        daemon = self.daemon(start=False, **options)
        daemon.config.write_text(daemon.plain_config("20s") + f"organisation: {self.folder}\n")
        self.addCleanup(daemon.stop)
        return daemon.start()

    def team_of(self, daemon: Daemon, job: str) -> tuple[str, str]:
        found = self.wait_known(daemon, job, "pending", "running")
        return found["team"], found["class"]

    def gpus(self, user: str, *argv: str, gpus: int = 2) -> str:
        return self.submit(user, "-p", "all", f"--gpus-per-node={gpus}", *argv, "--wrap", "sleep 600")

    def rows(self, daemon: Daemon) -> dict[str, dict[str, Any]]:
        return {row["team"]: row for row in daemon.get("/v1/teams")["teams"]}

    def test_a_job_belongs_where_the_file_says_and_stays_there(self) -> None:
        daemon = self.organised()
        jobs = [self.gpus("alice"), self.gpus("carol"), self.gpus("dave", "-q", "spot")]
        want = [("ml", "batch"), ("people", "prod"), ("(unassigned)", "spot")]
        self.assertEqual([self.team_of(daemon, job) for job in jobs], want)
        for job in jobs:
            self.wait_known(daemon, job, "running")

        def counted() -> bool:
            rows = self.rows(daemon)
            self.assertEqual({t: rows[t]["used_milli"] for t in ("acme", "ml", "people", "(unassigned)")},
                             {"acme": 6000, "ml": 2000, "people": 2000, "(unassigned)": 2000})  # fmt: skip
            return True

        eventually("the devices are counted", 20, counted)
        row = self.rows(daemon)["ml"]
        self.assertEqual((row["own_milli"], row["limit_milli"], row["headroom_milli"], row["running"]), (8000, 12000, 10000, 1))
        teams = daemon.get("/v1/teams")
        self.assertEqual([(u["account"], u["gpus"]) for u in teams["unassigned"]], [("ops", 2)])

        # another file: what was seen stays, what comes is its
        self.file.write_text(ACME.replace('"vision"', '"nobody"').replace("acme v1", "acme v2"))
        eventually("the new file is in force", 20, lambda: daemon.get("/v1/sites")["sites"][0]["organisation"] == "acme v2")
        later = self.gpus("alice")
        self.assertEqual(self.team_of(daemon, later), ("ml/deep", "batch"))
        self.lab.run(["scontrol", "requeue", jobs[0]])
        self.wait_known(daemon, jobs[0], "pending")
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.assertEqual([self.team_of(daemon, job) for job in jobs], want)
        self.assert_adds_up(daemon)

    def test_a_bad_file_changes_nothing_and_is_told(self) -> None:
        daemon = self.organised()
        self.file.write_text(ACME.replace("own     8 H100", "own     80 H100"))
        row = eventually("it is refused", 20, lambda: (s := daemon.get("/v1/sites")["sites"][0])["organisation_problem"] and s)
        self.assertEqual(row["organisation"], "acme v1")
        self.assertIn("E801", row["organisation_problem"])
        said = daemon.log.read_text()
        self.assertIn("error[E801]: the teams of `acme` own 80 H100 together", said)
        self.assertIn("what was in force before stays so", said)
        self.assertEqual(self.team_of(daemon, self.gpus("alice")), ("ml", "batch"))
        # A restart goes on with what the journal has; a signal reads anew.
        daemon.stop()
        daemon.start()
        self.assertEqual(daemon.get("/v1/sites")["sites"][0]["organisation"], "acme v1")
        self.file.write_text(ACME.replace("acme v1", "acme v3"))
        daemon.process.send_signal(signal.SIGHUP)
        eventually("it is read anew", 20, lambda: daemon.get("/v1/sites")["sites"][0]["organisation"] == "acme v3")
        self.assertEqual(daemon.get("/v1/sites")["sites"][0]["organisation_problem"], "")

    def test_serve_check_reads_it_and_a_first_start_refuses_a_bad_one(self) -> None:
        daemon = self.daemon(start=False)
        daemon.config.write_text(daemon.plain_config("20s") + f"organisation: {self.folder}\n")
        done = self.beside.run("serve", "--config", str(daemon.config), "--check")
        self.assertIn(f"org     {self.folder}", done.stdout)
        self.assertIn("warning[W816]: this row has no user, so it is left out", done.stderr)
        self.file.write_text(ACME.replace("own 16 H100", "own 16 H10O"))
        for argv in (("serve", "--config", str(daemon.config), "--check"), ("serve", "--config", str(daemon.config))):
            done = self.beside.run(*argv, want=5)
            self.assertIn("error[E802]", done.stderr)

    def test_misspelt_names_are_counted_as_such(self) -> None:
        self.file.write_text(ACME.replace('account "vision"', 'account "vison"').replace('user "alice"', 'user "nobody"'))
        daemon = self.organised()
        job = self.gpus("alice", gpus=8)
        second = self.gpus("alice", gpus=8)
        self.team_of(daemon, second)
        row = eventually("counted", 20, lambda: daemon.get("/v1/teams")["misconfigured"])[0]
        self.assertEqual((row["what"], row["name"], row["nearest"], row["first"]), ("account", "vision", "vison", job))
        self.assertEqual((row["workloads"], row["gpus"]), (2, 16))
        for argv in (("teams",), ("explain", second)):
            self.assertIn("no team claims account 'vision': is 'vison' meant", " ".join(daemon.run(*argv).stdout.split()))
        self.assertIn('fairlead_misconfigured_workloads{site="lab",what="account"} 2', daemon.text("/metrics"))

    def test_teams_on_the_command_line(self) -> None:
        daemon = self.organised()
        self.wait_known(daemon, self.gpus("alice"), "running")
        eventually("it is counted", 20, lambda: self.rows(daemon)["ml"]["used_milli"] == 2000)
        lines = daemon.run("teams").stdout.splitlines()
        self.assertRegex(lines[0], r"^acme v1, as of ")
        self.assertRegex(lines[2], r"^team +device +own +used +borrowed +headroom +running +waiting")
        self.assertTrue(any(re.match(r"^  ml +H100 +8 +2 +0 +10 +1 +0 ", line) for line in lines), lines)
        self.assertTrue(any(line.startswith("    deep ") for line in lines), lines)
        self.assertIn("lend", daemon.run("teams", "-o", "wide").stdout)
        rows = daemon.run("teams", "-o", "csv", "--filter", "team=ml").stdout.splitlines()
        self.assertEqual(len(rows), 2)
        self.assertTrue(rows[1].startswith("ml,acme,H100,8000,,4000,12000,2000,"))
        first = daemon.run("teams", "--sort", "used_milli", "-n", "1", "-o", "name").stdout
        self.assertEqual(first, "acme\n")
        local = json.loads(self.beside.run("teams", "--local", "--org", str(self.folder), "-o", "json").stdout)
        self.assertEqual((local["organisation"], local["version"]), ("acme", "v1"))
        without = self.beside.run("teams", "--local").stdout
        self.assertIn("no organisation is known", without)

    def test_a_file_made_of_what_slurm_has(self) -> None:
        """Numbers of accounts and QOS as sacctmgr states them: live, through the commands, and of its printed text."""
        outputs = {"live": self.beside.run("policy", "import", "slurm").stdout,
                   "commands": self.beside.run("policy", "import", "slurm", "--via", "commands").stdout}  # fmt: skip
        dumps = []
        for name, argv in (("assoc", ["show", "assoc", "tree"]), ("qos", ["show", "qos"])):
            for titles in ("-P", "-nP"):
                dump = self.beside.dir / f"{name}{titles}.txt"
                dump.write_text(self.lab.run(["sacctmgr", titles, *argv]))
                dumps.append(str(dump))
        outputs["dump"] = self.beside.run("policy", "import", "slurm", dumps[0], dumps[2], "--fleet", "16 h100").stdout
        outputs["dump without titles"] = self.beside.run("policy", "import", "slurm", dumps[1], dumps[3], "--fleet", "16 h100").stdout
        listed = self.lab.run(["sacctmgr", "-nP", "show", "assoc", "format=account,user,fairshare,grptres,parentname"])
        accounts = [line.split("|") for line in listed.splitlines() if line.split("|")[1] == ""]
        classes = [line.split("|") for line in self.lab.run(["sacctmgr", "-nP", "show", "qos", "format=name,priority,preempt"]).splitlines()]
        paths = {"root": ""}
        for account, _, _, _, parent in accounts:
            if account != "root":
                paths[account] = f"{paths[parent]}/{account}".lstrip("/")
        self.assertIn("research/vision", paths.values())
        for how, text in outputs.items():
            with self.subTest(how):
                self.compare(text, paths, accounts, classes)

    def compare(self, text: str, paths: dict[str, str], accounts: list[list[str]], classes: list[list[str]]) -> None:
        with tempfile.TemporaryDirectory(prefix="fairlead-import.") as folder:
            file = Path(folder) / "lab.policy"
            file.write_text(text)

            def policy(*argv: str) -> str:
                done = subprocess.run([str(BUILD / "bin" / "fairlead"), "policy", *argv], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, f"{argv}: {done.stdout}{done.stderr}{text}")
                return done.stdout

            policy("check", folder)
            self.assertEqual(policy("fmt", "--check", folder), "")
            for account, _, fairshare, grptres, _ in accounts:
                if account == "root":
                    continue
                team = json.loads(policy("explain", paths[account], folder, "-o", "json"))
                self.assertEqual(team["weight"], int(fairshare), account)
                limit = re.search(r"gres/gpu=(\d+)", grptres)
                (gpus,) = team["devices"]  # Slurm's limit counts every model
                self.assertEqual(gpus["limit_milli"], int(limit[1]) * 1000 if limit else None, account)
                self.assertEqual(team["members"], [f'slurm account "{account}"'])
            for name, priority, preempt in classes:
                line = next(line for line in text.splitlines() if re.match(rf"class {name}\b", line))
                self.assertRegex(line, rf"rank {priority}\b")
                found = re.search(r"preempts ([\w, ]+?)  ", line)
                self.assertEqual(sorted(found[1].split(", ")) if found else [], sorted(filter(None, preempt.split(","))), line)

    def test_a_diff_says_whose_work_would_be_anothers(self) -> None:
        daemon = self.organised()
        job = self.gpus("alice")
        self.team_of(daemon, job)
        new = self.beside.dir / "new"
        new.mkdir()
        (new / "people.csv").write_text("user\ncarol\n")
        (new / "acme.policy").write_text(ACME.replace('"vision"', '"nobody"').replace("own     8 H100", "own 6 H100"))
        argv = ("policy", "diff", str(self.folder), str(new))
        text = daemon.run(*argv).stdout
        self.assertRegex(text, r"own H100 +8 +6\n")
        self.assertIn("1 of 1 workload would be another team's or of another class", text)
        view = json.loads(daemon.run(*argv, "-o", "json").stdout)
        self.assertEqual([(m["workload"], m["team_before"], m["team_after"]) for m in view["moved"]], [(job, "ml", "ml/deep")])
        jobs = self.beside.dir / "jobs.csv"
        jobs.write_text("workload,account,user\n1,vision,bob\n2,x,carol\n")
        view = json.loads(self.beside.run(*argv, "--jobs", str(jobs), "-o", "json").stdout)
        self.assertEqual([(m["workload"], m["team_after"]) for m in view["moved"]], [("1", "(unassigned)")])


if __name__ == "__main__":
    unittest.main()
