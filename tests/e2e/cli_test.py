"""Manners of the command line, as SURFACE has them: help with examples, formats, exit codes, no colour, completion."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import unittest

from support import ROOT, Beside, OwnPrometheus, Site, eventually, mix_lab

COMMANDS = ["serve", "observe", "report", "top", "queue", "teams", "explain", "simulate", "place", "fabric", "ledger", "doctor", "replay", "policy", "completion"]
VIEWS = [["report"], ["queue"], ["fabric"], ["ledger", "show"], ["ledger", "verify"]]
ESCAPE = "\x1b"


class Terminal:
    """A program on a pseudo-terminal of 30 lines of 100."""

    def __init__(self, beside: Beside, *argv: str, **env: str) -> None:
        self.ours, theirs = pty.openpty()
        self.resize(30, 100, told=False)
        self.said = ""
        self.process = subprocess.Popen(
            beside.command(*argv), stdin=theirs, stdout=theirs, stderr=theirs, cwd=beside.dir, start_new_session=True,
            env={**beside.environment(), "TERM": "xterm-256color", "COLORTERM": "", "NO_COLOR": "", **env},
        )  # fmt: skip
        self.theirs = theirs  # kept open: else its modes are gone with the program

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def resize(self, rows: int, columns: int, told: bool = True) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if told:
            self.process.send_signal(signal.SIGWINCH)

    def write(self, keys: bytes) -> None:
        os.write(self.ours, keys)

    def mode(self) -> int:
        return termios.tcgetattr(self.theirs)[3]

    def read(self, seconds: float) -> bool:
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        self.said += os.read(self.ours, 65536).decode(errors="replace")
        return True

    def until(self, word: str, forget: bool = False) -> str:
        """What was said up to the word, and for as long as more comes."""
        if forget:
            self.said = ""

        def there() -> bool:
            self.read(0.2)
            return word in self.said

        eventually(f"top shows {word!r}", 20, there, pause=0)
        return self.said

    def rest(self) -> str:
        while self.read(0.3):
            pass
        return self.said


class Manners(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.day = mix_lab()

    def run_fairlead(self, *argv: str, want: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = self.day.beside.run(*argv, want=None, env=env)
        self.assertEqual(done.returncode, want, f"fairlead {' '.join(argv)}: {done.stdout[-3000:]}{done.stderr[-500:]}")
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

    def test_names_do_not_drive_a_terminal(self) -> None:
        dump = self.day.beside.dir / "evil.psv"
        head = "JobID|User|Account|QOS|Partition|State|Submit|Eligible|Start|End|Timelimit|NNodes|ReqTRES|AllocTRES|NodeList"
        day, tres = "2026-01-01T0", "cpu=8,gres/gpu=8"
        row = ["7", "eve\x1b[31m\u009b1m\x07", "ads", "normal", "gpu", "COMPLETED", f"{day}0:00:00", f"{day}0:00:00", f"{day}1:00:00",
               f"{day}2:00:00", "02:00:00", "1", tres, tres, "n1"]  # fmt: skip
        dump.write_text(f"{head}\n{'|'.join(row)}\n")
        for form in ("table", "csv", "name", "json", "yaml"):
            with self.subTest(form), Terminal(self.day.beside, "replay", str(dump), "--by", "user", "-o", form, NO_COLOR="1") as shown:
                self.assertEqual(shown.process.wait(20), 0)
                said = shown.rest()
                self.assertIn("eve", said)
                for control in ("\x1b", "\x07", "\u009b"):
                    self.assertNotIn(control, said)
        piped = self.run_fairlead("replay", str(dump), "--by", "user", "-o", "csv").stdout
        self.assertIn("eve\x1b[31m", piped)

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
            ("unknown field", 2, ["queue", "--filter", "taem=x", "--server", self.day.daemon.address]),
            ("no time for the ledger", 2, ["ledger", "show", "--since", "nonsense", "--server", self.day.daemon.address]),
            ("no node", 2, ["fabric", "path", "n001", "nowhere", "--server", self.day.daemon.address]),
            ("no address", 2, ["serve", "--listen", "foo"]),
            ("no HTML of a queue", 2, ["queue", "-o", "html", "--server", self.day.daemon.address]),
            ("beyond this machine", 4, ["serve", "--listen", "0.0.0.0:7077"]),
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

    def test_wrong_use_is_told_in_one_form(self) -> None:
        rows = [
            ("a command", ["repot"], "unknown command 'repot'", "did you mean 'report'?"),
            ("an option", ["report", "--sicne", "7d"], "unknown option '--sicne' of report", "did you mean '--since'?"),
            ("a field", ["queue", "--sort", "wait_su", "--server", self.day.daemon.address], "no row has a field 'wait_su'", "did you mean 'wait_us'?"),
            ("a node", ["fabric", "path", "n001", "n0022", "--server", self.day.daemon.address], "no node is named 'n0022'", "did you mean 'n0"),
        ]  # fmt: skip
        for name, argv, sentence, hint in rows:
            with self.subTest(name):
                said = self.run_fairlead(*argv, want=2).stderr
                self.assertRegex(said, r"^fairlead: error: .*\n  help: .*\n$")
                self.assertIn(sentence, said)
                self.assertIn(hint, said)

    def test_what_may_not_be_done(self) -> None:
        folder = self.day.beside.dir / "closed"
        folder.mkdir(mode=0o700, exist_ok=True)
        secret = folder / "fairlead.yaml"
        secret.write_text("listen: unix:/x\n")
        port = ["--listen-http", "127.0.0.1:80", "--no-store", "--listen", f"unix:{self.day.beside.dir}/p.sock"]
        rows = [
            ("a configuration", ["serve", "--config", str(secret)]),
            ("a folder for the socket", ["serve", "--no-store", "--listen", f"unix:{folder}/x.sock"]),
            ("a folder for the store", ["serve", "--store", f"sqlite:{folder}/x.db"]),
            ("a history", ["replay", str(secret)]),
        ]
        if self.day.beside.user == "root":
            self.skipTest("root may do everything")
        if int(open("/proc/sys/net/ipv4/ip_unprivileged_port_start").read()) > 80:
            rows.append(("a port of root's", ["serve", *port]))
        for name, argv in rows:
            with self.subTest(name):
                self.run_fairlead(*argv, want=4)

    def test_a_daemon_that_may_not_be_asked(self) -> None:
        if self.day.beside.user == "root":
            self.skipTest("root may do everything")
        address = self.day.daemon.address
        done = subprocess.run(
            ["setpriv", "--reuid", "nobody", "--clear-groups", str(self.day.beside.program), "report", "--server", address],
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.assertEqual(done.returncode, 4, done.stderr)

    # --- serve --check ---

    def check(self, config: str, want: int, env: dict[str, str] | None = None) -> str:
        env = {"FAIRLEAD_SLURM_BRIDGE": "", **(env or {})}  # which the lab sets, else
        path = self.day.beside.dir / "check.yaml"
        path.write_text(config)
        return self.run_fairlead("serve", "--check", "--config", str(path), want=want, env=env).stderr

    def good_config(self) -> str:
        return f"store: sqlite:{self.day.beside.dir}/check.db\nlisten: unix:{self.day.beside.dir}/check.sock\n"

    def test_check_finds_what_a_start_would_miss(self) -> None:
        good, busy = self.good_config(), self.day.daemon.url.removeprefix("http://")
        rows = [
            ("all is well", 0, good, ""),
            ("no bridge", 3, good + "sites: [{slurm: {bridge: /nowhere/bridge}}]\n", "/nowhere/bridge"),
            ("a port in use", 3, good + f"listen_http: {busy}\n", busy),
            ("a port that is none", 5, good + "listen_http: 127.0.0.1:x\n", "127.0.0.1:x"),
            ("a URL that is none", 5, good + "sites: [{telemetry: {prometheus: nonsense}}]\n", "nonsense"),
            ("a store in no folder", 3, good.replace("sqlite:", "sqlite:/nowhere"), "/nowhere"),
            ("a slurm.conf that is not there", 5, good + "sites: [{slurm: {conf: /nowhere/slurm.conf}}]\n", "/nowhere/slurm.conf"),
            ("a token that is not there", 5, good + "sites: [{slurm: {via: rest, rest: 'unix:/x', rest_token_file: /nowhere/token}}]\n", "/nowhere/token"),
        ]  # fmt: skip
        for name, want, config, word in rows:
            with self.subTest(name):
                self.assertIn(word, self.check(config, want))
        self.assertFalse((self.day.beside.dir / "check.db").exists())
        self.assertFalse((self.day.beside.dir / "check.sock").exists())

    def test_nothing_listens_before_all_does(self) -> None:
        busy = self.day.daemon.url.removeprefix("http://")
        said = self.run_fairlead(
            "serve", "--no-store", "--listen", f"unix:{self.day.beside.dir}/half.sock", "--listen-http", busy, want=3
        ).stderr
        self.assertNotIn("listening on", said)
        self.assertIn(busy, said)

    # --- variables ---

    def test_variables_stand_between_options_and_the_file(self) -> None:
        wrong = self.check(self.good_config(), 5, {"FAIRLEAD_SLURM_VIA": "magic"})
        self.assertRegex(wrong, r"^FAIRLEAD_SLURM_VIA: error: 'via' cannot be 'magic'")
        self.assertIn("one of auto, bridge", wrong)
        config = self.good_config() + "sites: [{slurm: {bridge: /nowhere/file}}]\n"
        self.assertIn("/nowhere/variable", self.check(config, 3, {"FAIRLEAD_SLURM_BRIDGE": "/nowhere/variable"}))
        bad = {"FAIRLEAD_TELEMETRY_PROMETHEUS": "nonsense"}
        self.assertIn("FAIRLEAD_TELEMETRY_PROMETHEUS", self.run_fairlead("observe", want=5, env=bad).stderr)
        keys = self.run_fairlead("serve", "--keys").stdout
        for variable in ("FAIRLEAD_STORE", "FAIRLEAD_LISTEN_HTTP", "FAIRLEAD_SLURM_INTERVAL", "FAIRLEAD_EVIDENCE_STALE_AFTER"):
            self.assertIn(variable, keys)

    # --- choosing rows ---

    def test_filter_sort_and_limit_choose_rows(self) -> None:
        whole = json.loads(self.ask("queue", "-o", "json"))["waiting"]
        team = whole[0]["team"]
        chosen = json.loads(self.ask("queue", "--filter", f"team={team}", "-o", "json"))["waiting"]
        self.assertEqual([row["workload"] for row in chosen], [row["workload"] for row in whole if row["team"] == team])
        rest = json.loads(self.ask("queue", "--filter", f"team!={team}", "-o", "json"))["waiting"]
        self.assertEqual(len(chosen) + len(rest), len(whole))
        by_gpus = [int(row["gpus"]) for row in csv.DictReader(io.StringIO(self.ask("queue", "--sort", "gpus", "-o", "csv")))]
        self.assertEqual(by_gpus, sorted(by_gpus, reverse=True))
        self.assertEqual(len(self.ask("queue", "-n", "2", "-o", "name").split()), 2)
        for view in (["report"], ["report", "--by", "user"], ["report", "--by", "node"], ["fabric"], ["ledger", "show"]):
            with self.subTest(" ".join(view)):
                rows = list(csv.reader(io.StringIO(self.ask(*view, "--limit", "1", "-o", "csv", "--no-headers"))))
                self.assertEqual(len(rows), 1)

    def test_no_headers_means_none_in_text(self) -> None:
        for view, title in ((["queue"], "blockers"), (["fabric"], "memory GiB"), (["report", "--by", "team"], "P90 wait")):
            with self.subTest(" ".join(view)):
                self.assertIn(title, self.ask(*view))
                self.assertNotIn(title, self.ask(*view, "--no-headers"))

    # --- the fabric ---

    def test_the_report_by_node_is_the_fabric(self) -> None:
        rows = json.loads(self.ask("report", "--by", "node", "-o", "json"))["nodes"]
        self.assertEqual(len(rows), 32)
        self.assertEqual(sum(sum(row["gpus"].values()) for row in rows), 256)
        self.run_fairlead("report", "--by", "node", "--since", "1h", "--server", self.day.daemon.address, want=2)

    def test_a_path_goes_over_the_switches(self) -> None:
        path = json.loads(self.ask("fabric", "path", "n001", "n032", "-o", "json"))
        switches = json.loads(self.ask("fabric", "-o", "json"))["switches"]
        names = [stop["name"] for stop in path["stops"]]
        self.assertEqual((names[0], names[-1]), ("n001", "n032"))
        self.assertTrue(path["joined"])
        self.assertTrue(set(names[1:-1]) <= {switch["name"] for switch in switches})
        self.assertIn(" → ".join(names), self.ask("fabric", "path", "n001", "n032"))

    def test_a_diff_of_saved_views(self) -> None:
        before = json.loads(self.ask("fabric", "-o", "json"))
        before["nodes"][0]["features"] = ["old"]
        gone = {**before["nodes"][1], "node": "n999"}
        saved = self.day.beside.dir / "before.json"
        saved.write_text(json.dumps({**before, "nodes": [*before["nodes"], gone]}))
        diff = json.loads(self.ask("fabric", "diff", str(saved), "-o", "json"))["changes"]
        self.assertEqual([(c["node"], c["what"]) for c in diff], [(before["nodes"][0]["node"], "features"), ("n999", "node")])
        self.assertIn("No fact about a node changed", self.ask("fabric", "diff", "1s", "now"))

    def test_ledger_verify_and_doctor_are_well(self) -> None:
        self.ask("ledger", "verify")
        said = self.run_fairlead("doctor", "--server", self.day.daemon.address, "--prometheus", self.day.lab.prometheus_url).stdout
        self.assertNotRegex(said, r"(?m)\bbad\b")
        for word in ("lab: scheduler", "lab: telemetry", "lab: store", str(self.day.daemon.store), "answers on"):
            self.assertIn(word, said)

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

    # --- top ---

    def test_top_has_the_whole_screen_and_gives_it_back(self) -> None:
        for name, end in (("q", b"q"), ("Ctrl-C", signal.SIGINT), ("a kill", signal.SIGTERM)):
            with self.subTest(name), Terminal(self.day.beside, "top", "--server", self.day.daemon.address) as top:
                shown = top.until("Idle holds")
                self.assertIn("\x1b[?1049h", shown)
                self.assertIn("38;5;", shown)
                self.assertIn("research", shown)
                self.assertFalse(top.mode() & termios.ECHO)
                rows = shown.rpartition("\x1b[H")[2].count("\r\n")
                self.assertLess(rows, 30)
                top.resize(12, 50)
                narrow = top.until("\x1b[J", forget=True)
                self.assertLess(narrow.rpartition("\x1b[H")[2].count("\r\n"), 12)
                top.write(b"w")
                top.until("w [wait]", forget=True)
                if isinstance(end, bytes):
                    top.write(end)
                else:
                    top.process.send_signal(end)
                self.assertEqual(top.process.wait(10), 0)
                self.assertTrue(top.rest().endswith("\x1b[?25h\x1b[?1049l"))
                self.assertTrue(top.mode() & termios.ECHO)
                self.assertTrue(top.mode() & termios.ICANON)

    def test_top_without_colours_or_a_screen(self) -> None:
        with Terminal(self.day.beside, "top", "--server", self.day.daemon.address, TERM="vt100") as top:
            self.assertNotIn("38;5;", top.until("Idle holds"))
            top.write(b"q")
            self.assertEqual(top.process.wait(10), 0)
        done = subprocess.run(
            ["timeout", "2", *self.day.beside.command("top", "--server", self.day.daemon.address)],
            env=self.day.beside.environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.assertIn("Idle holds", done.stdout)
        self.assertNotIn(ESCAPE, done.stdout)

    def test_top_says_why_it_cannot_look(self) -> None:
        with Terminal(self.day.beside, "top", "--server", "unix:/nonexistent/fairlead.sock") as top:
            self.assertEqual(top.process.wait(10), 3)
            said = top.rest()
            self.assertIn("fairlead: error:", said.rpartition("\x1b[?1049l")[2])

    # --- observe ---

    def test_observe_cut_short_shows_what_it_saw(self) -> None:
        options = ["--for", "10m", "-o", "json", "--prometheus", self.day.lab.prometheus_url]
        with Terminal(self.day.beside, "observe", *options) as observe:
            first = re.search(r"looking: (\d+)s", observe.until("s of 10m"))
            assert first, observe.said
            observe.until(f"looking: {int(first[1]) + 3}s of 10m")
            observe.process.send_signal(signal.SIGINT)
            observe.until('"notes":')  # the last of it
            said = observe.rest()
            self.assertEqual(observe.process.wait(20), 0)
            report = json.loads(said[said.index("{") :])
        self.assertEqual(report["gpus"], 256)
        self.assertGreater(report["gpu_seconds"]["total"], 0)
        self.assertRegex(report["notes"][0], r"interrupted after \d+s of 10m")

    # --- completion and the manual ---

    def test_completion_hides_what_is_ours(self) -> None:
        path = self.day.beside.dir / "completion.bash"
        path.write_text(self.run_fairlead("completion", "bash").stdout)
        probe = f"source {path}; COMP_WORDS=(fairlead '') COMP_CWORD=1; _fairlead; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", probe], env=self.day.beside.environment(), capture_output=True, text=True)
        self.assertIn("report", done.stdout)
        self.assertNotIn("__", done.stdout)

    def test_every_command_has_a_page_that_groff_reads(self) -> None:
        if not shutil.which("groff"):
            self.skipTest("this machine has no groff")
        for command in ("", *COMMANDS):
            with self.subTest(command):
                page = self.run_fairlead("completion", "man", *([command] if command else [])).stdout
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], input=page, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("fairlead", done.stdout)

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


class EmptyPrometheus(Site):
    def test_a_prometheus_without_series_measures_nothing(self) -> None:
        """It is up, and it knows no GPU: what is held is unmeasured, never idle, and doctor says why."""
        empty = OwnPrometheus(self.addCleanup, [])
        daemon = self.daemon(start=False)
        daemon.config.write_text(daemon.plain_config("1s", prometheus=empty.url))
        daemon.start()
        job = self.submit("alice", "-w", "n001", "--gpus-per-node=8", "--wrap", "rank busy")
        self.wait_known(daemon, job, "running")
        row = self.wait_source(daemon, "telemetry", ok=False)
        self.assertIn("none of the GPU metrics", row["detail"])

        def held() -> dict[str, int] | None:
            seconds = daemon.get("/v1/report")["gpu_seconds"]
            return seconds if seconds["held_unmeasured"] >= 24 else None

        seconds = eventually("some of it is booked", 30, held)
        self.assertEqual((seconds["useful"], seconds["held_idle"]), (0, 0))
        report = daemon.get("/v1/report")
        self.assertEqual((report["telemetry_coverage_ppm"], report["idle_holds"]), (0, []))
        said = self.beside.run("doctor", "--server", daemon.address, "--prometheus", empty.url, want=1)
        for check in ("telemetry", "lab: telemetry"):
            self.assertRegex(said.stdout, rf"(?m)^{check} +bad .*none of the GPU metrics")
        self.assert_adds_up(daemon)


class FabricDiff(Site):
    def test_a_node_that_is_drained_is_in_the_diff(self) -> None:
        daemon = self.daemon()
        self.wait_source(daemon, "scheduler", ok=True)
        began = daemon.get("/v1/sites")["now"]
        self.lab.run(["scontrol", "update", "nodename=n002", "state=drain", "reason=fan"])
        try:

            def seen() -> list[str]:
                changes = json.loads(daemon.run("fabric", "diff", began, "now", "-o", "json").stdout)["changes"]
                return [c["after"] for c in changes if (c["node"], c["what"]) == ("n002", "service")]

            self.assertIn("drain", eventually("it is seen", 20, seen)[0])
        finally:
            self.lab.run(["scontrol", "update", "nodename=n002", "state=resume"])
        early = daemon.run("fabric", "diff", "100d", want=None)
        self.assertEqual(early.returncode, 5, early.stderr)
        self.assertIn("known since", early.stderr)


if __name__ == "__main__":
    unittest.main()
