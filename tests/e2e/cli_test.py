"""Manners of the command line, as SURFACE has them: help with examples, formats, exit codes, no colour, completion."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import unittest

from support import ROOT, mix_lab

COMMANDS = ["serve", "observe", "report", "top", "queue", "explain", "fabric", "ledger", "doctor", "replay", "completion"]
VIEWS = [["report"], ["queue"], ["fabric"], ["ledger", "show"], ["ledger", "verify"]]
ESCAPE = "\x1b"


class Manners(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.day = mix_lab()

    def run_fairlead(self, *argv: str, want: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = self.day.beside.run(*argv, want=None, env=env)
        self.assertEqual(done.returncode, want, f"fairlead {' '.join(argv)}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done

    def ask(self, *argv: str, want: int = 0) -> str:
        return self.run_fairlead(*argv, "--server", self.day.daemon.address, want=want).stdout

    def explained(self) -> list[list[str]]:
        return [*VIEWS, ["explain", self.day.number("account_limit")]]

    # --- help ---

    def test_every_command_is_in_the_help(self) -> None:
        said = self.run_fairlead("--help").stdout
        for command in COMMANDS:
            with self.subTest(command):
                self.assertRegex(said, rf"(?m)^\s+{command}\b")

    def test_every_help_shows_two_examples(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                said = self.run_fairlead(command, "--help").stdout
                examples = said.partition("examples:")[2].strip().splitlines()
                self.assertGreaterEqual(len([line for line in examples if "fairlead " in line]), 2, said)

    # --- formats ---

    def test_json_and_yaml_say_the_same(self) -> None:
        for view in self.explained():
            with self.subTest(" ".join(view)):
                self.assertIsInstance(json.loads(self.ask(*view, "-o", "json")), dict)
                self.assertRegex(self.ask(*view, "-o", "yaml"), r"(?m)^[\w\"]+:")

    def test_yaml_is_yaml(self) -> None:
        try:
            import yaml
        except ImportError:
            self.skipTest("this machine's python has no yaml module")
        for view in self.explained():
            with self.subTest(" ".join(view)):
                theirs, ours = yaml.safe_load(self.ask(*view, "-o", "yaml")), json.loads(self.ask(*view, "-o", "json"))
                self.assertEqual(set(theirs), set(ours))

    def test_csv_has_one_width(self) -> None:
        for view in self.explained():
            with self.subTest(" ".join(view)):
                rows = list(csv.reader(io.StringIO(self.ask(*view, "-o", "csv"))))
                self.assertGreater(len(rows), 1)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                without = list(csv.reader(io.StringIO(self.ask(*view, "-o", "csv", "--no-headers"))))
                self.assertEqual(len(without), len(rows) - 1)

    def test_names_are_one_a_line(self) -> None:
        names = self.ask("queue", "-o", "name").split()
        rows = json.loads(self.ask("queue", "-o", "json"))["waiting"]
        self.assertEqual(names, [row["workload"] for row in rows])

    def test_tables_show_each_waiting_job_with_its_blocker(self) -> None:
        rows = json.loads(self.ask("queue", "-o", "json"))["waiting"]
        for form in ("table", "wide"):
            lines = self.ask("queue", "-o", form).splitlines()
            for row in rows:
                with self.subTest(form, workload=row["workload"]):
                    line = next(line for line in lines if line.startswith(row["workload"] + " "))
                    self.assertIn(row["blockers"][0], line)

    def test_the_report_names_its_teams(self) -> None:
        said = self.ask("report")
        for team in ("research", "product", "vision", "ops"):
            self.assertIn(team, said.partition("Waits, from submission")[2].partition("Waiting:")[0])

    def test_no_colour_where_nobody_sees_it(self) -> None:
        for view in self.explained():
            self.assertNotIn(ESCAPE, self.ask(*view))

    def test_colour_on_a_terminal_unless_it_is_not_wanted(self) -> None:
        for value, colour in (("", True), ("1", False)):
            with self.subTest(NO_COLOR=value):
                self.assertEqual(ESCAPE + "[" in self.on_terminal("report", NO_COLOR=value), colour)

    def on_terminal(self, *argv: str, **env: str) -> str:
        beside = self.day.beside
        words = " ".join(beside.command(*argv, "--server", self.day.daemon.address))
        done = subprocess.run(
            ["script", "-qec", words, "/dev/null"], env={**beside.environment(), "TERM": "xterm-256color", **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.stdout

    def test_html_stands_alone(self) -> None:
        page = self.ask("report", "-o", "html")
        self.assertIn("<svg", page)
        self.assertNotRegex(page, r"""(?i)(src|href|action)\s*=\s*["']?\s*(https?:|//)""")
        self.assertNotRegex(page, r"(?i)url\(\s*['\"]?(https?:|//)|@import|<script[^>]+src")
        self.assertTrue(page.lstrip().lower().startswith("<!doctype html>"))

    # --- exit codes ---

    def test_exit_codes(self) -> None:
        nowhere = "unix:/nonexistent/fairlead.sock"
        rows = [
            ("good", 0, ["queue", "--server", self.day.daemon.address]),
            ("unknown command", 2, ["dance"]),
            ("no command", 2, []),
            ("unknown option", 2, ["report", "--dance"]),
            ("unknown format", 2, ["report", "-o", "pdf"]),
            ("bad time", 2, ["report", "--since", "yesterdayish", "--server", self.day.daemon.address]),
            ("no such workload", 2, ["explain", "999999", "--server", self.day.daemon.address]),
            ("no such code", 2, ["explain", "--code", "NO_SUCH"]),
            ("no daemon", 3, ["report", "--server", nowhere]),
            ("configuration refused", 5, ["serve", "--check", "--config", "/dev/null/x"]),
            ("history refused", 5, ["replay", str(ROOT / "LICENSE")]),
        ]
        for name, want, argv in rows:
            with self.subTest(name):
                done = self.run_fairlead(*argv, want=want)
                if want:
                    self.assertTrue(done.stderr.strip(), "it says why")
                    self.assertEqual(done.stdout if name != "no command" else "", "")

    def test_ledger_verify_and_doctor_are_well(self) -> None:
        self.ask("ledger", "verify")
        said = self.run_fairlead("doctor", "--server", self.day.daemon.address, "--prometheus", self.day.lab.prometheus_url).stdout
        self.assertNotRegex(said, r"(?m)\bbad\b")

    def test_doctor_finds_a_prometheus_that_is_none(self) -> None:
        self.run_fairlead("doctor", "--prometheus", "http://127.0.0.1:9", want=1)

    def test_a_closed_pipe_is_no_error(self) -> None:
        beside = self.day.beside
        words = " ".join(beside.command("fabric", "-o", "json", "--server", self.day.daemon.address))
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {words} | head -c 10"], env=beside.environment(), capture_output=True, text=True
        )
        self.assertEqual(done.stderr, "")

    def test_every_code_is_documented(self) -> None:
        codes = {code for row in json.loads(self.ask("queue", "-o", "json"))["waiting"] for code in row["blockers"]}
        for code in sorted(codes):
            with self.subTest(code):
                said = self.run_fairlead("explain", "--code", code).stdout
                self.assertIn("cure:", said)

    # --- completion ---

    def test_completion_scripts_load(self) -> None:
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            with self.subTest(shell):
                script = self.run_fairlead("completion", shell).stdout
                self.assertIn("fairlead", script)
                if shutil.which(shell):
                    path = self.day.beside.dir / f"completion.{shell}"
                    path.write_text(script)
                    done = subprocess.run([*check, path], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash_completes_commands(self) -> None:
        path = self.day.beside.dir / "completion.bash"
        path.write_text(self.run_fairlead("completion", "bash").stdout)
        probe = f"""
          source {path}
          function_name=$(complete -p fairlead | sed 's/.*-F \\([^ ]*\\).*/\\1/')
          COMP_WORDS=(fairlead rep) COMP_CWORD=1 COMP_LINE="fairlead rep" COMP_POINT=12
          $function_name fairlead rep fairlead
          printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", probe], env=self.day.beside.environment(), capture_output=True, text=True)
        words = [word.strip() for word in done.stdout.split()]
        self.assertIn("report", words, done.stderr)
        self.assertTrue(all(re.match("rep", word) for word in words), words)


if __name__ == "__main__":
    unittest.main()
