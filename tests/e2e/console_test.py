#!/usr/bin/env python3
"""Loads the console in Chromium and looks whether the numbers of the API stand on its pages.

  FAIRLEAD_URL=http://127.0.0.1:7077 tests/e2e/console_test.py [--shots DIR]

Without FAIRLEAD_URL the made-up site of web/mock/serve.py is shown. Skipped, with exit code 77, where
there is no Chromium. --shots writes each page as PNG: light, dark, and 390 px wide.
"""
import argparse
import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe"]
SKIPPED = 77
SHOTS: Path | None = None


class Browser:
    """One page, driven over the two pipes of --remote-debugging-pipe."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="console-test-")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (theirs_in, theirs_out)]

        def wire():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([BROWSER, *FLAGS, f"--user-data-dir={self.profile}"], preexec_fn=wire, pass_fds=(3, 4),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (theirs_in, theirs_out, *high):
            os.close(fd)
        self.out, self.inp, self.rest = ours_out, ours_in, b""
        self.ids = itertools.count(1)
        self.session = None
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def call(self, method: str, **params) -> dict:
        own = next(self.ids)
        message = {"id": own, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == own:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def read(self) -> dict:
        while b"\0" not in self.rest:
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, event: dict):
        if event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "exception"))
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.problems.append(event["params"]["entry"]["text"])

    def js(self, expression: str):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def text(self) -> str:
        return self.js("document.body.innerText") or ""

    def wait(self, expression: str, seconds: float = 10) -> None:
        until = time.monotonic() + seconds
        while not self.js(expression):
            if time.monotonic() > until:
                raise AssertionError(f"not so after {seconds} s: {expression}\n{self.text()[:2000]}")
            time.sleep(0.05)

    def open(self, url: str, ready: str) -> str:
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait(ready)
        return self.text()

    def key(self, *keys: str):
        for key in keys:
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def look(self, width: int, height: int, scheme: str = "light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shot(self, name: str):
        if SHOTS:
            SHOTS.mkdir(parents=True, exist_ok=True)
            (SHOTS / f"{name}.png").write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        try:
            os.write(self.out, json.dumps({"id": next(self.ids), "method": "Browser.close"}).encode() + b"\0")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        for fd in (self.out, self.inp):
            os.close(fd)
        shutil.rmtree(self.profile, ignore_errors=True)


def thousands(n: float) -> str:
    return f"{int(n + 0.5):,}"


def gpu_hours(seconds: int) -> str:
    h = seconds / 3600
    return thousands(h) if h >= 1000 else f"{h:.1f}" if h >= 10 else f"{h:.2f}"


def report_numbers(report: dict) -> set[str]:
    """What the first screen must state of a report."""
    known = [c for c in report["gpu_seconds"] if c != "total" and (report["fleet_known"] or c not in ("free", "stranded", "down"))]
    wanted = {gpu_hours(report["gpu_seconds"][c]) for c in known} | set(report["sentences"]) | set(report["notes"])
    wanted |= {m["model"] or "gpu" for m in report["models"]} | {s["source"] for s in report["sources"]}
    wanted |= {h["workload"] for h in report["idle_holds"][:8]} | {w["workload"] for w in report["waiting"][:8]}
    return wanted | {t["team"] or "(none)" for t in report["teams"][:8]}


@unittest.skipUnless(BROWSER, "this machine has no Chromium (Debian: apt-get install chromium)")
class ConsoleTest(unittest.TestCase):
    url: str
    browser: Browser

    @classmethod
    def setUpClass(cls):
        cls.mock = None
        cls.url = os.environ.get("FAIRLEAD_URL", "").rstrip("/")
        if not cls.url:
            cls.mock = subprocess.Popen([sys.executable, ROOT / "web/mock/serve.py"], stdout=subprocess.PIPE, text=True)
            cls.url = cls.mock.stdout.readline().strip()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        if cls.mock:
            cls.mock.terminate()
            cls.mock.wait()
            cls.mock.stdout.close()

    def setUp(self):
        self.browser.problems.clear()
        self.browser.look(1280, 900)

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def stands_on(self, hash_path: str, ready: str, path: str, wanted_of):
        """The numbers of a live site move: what was asked before or after the page may stand on it."""
        for attempt in range(5):
            before = wanted_of(self.get(path))
            text = self.browser.open(f"{self.url}/{hash_path}", ready)
            flat = " ".join(text.split())
            missing = [{w for w in wanted if " ".join(w.split()) not in flat} for wanted in (before, wanted_of(self.get(path)))]
            if not all(missing):
                return text
            time.sleep(0.2 * attempt)
        self.fail(f"{path} states and {hash_path or 'the first page'} does not show: {sorted(min(missing, key=len))}\n{text[:3000]}")

    def no_problems(self):
        self.browser.js("1")
        self.assertEqual(self.browser.problems, [])

    def test_overview_states_the_report(self):
        self.stands_on("", "!!document.querySelector('.fold')", "/v1/report", report_numbers)
        widths = self.browser.js("[...document.querySelectorAll('svg.bar')].map(b => [...b.querySelectorAll('rect')].reduce((s, r) => s + parseFloat(r.getAttribute('width')), 0))")
        for width in widths:
            self.assertAlmostEqual(width, 100, 6)
        self.no_problems()

    def test_queue_states_what_waits(self):
        rows = self.get("/v1/queue")["waiting"]
        ready = "!!document.querySelector('main section')"
        self.stands_on("#/queue", ready, "/v1/queue", lambda q: {w["workload"] for w in q["waiting"][:50]} | {w["blockers"][0] for w in q["waiting"][:50] if w["blockers"]})
        if rows:
            self.browser.key("j", "Enter")
            self.browser.wait("!!document.querySelector('tr.below table')")
            self.browser.shot("queue-open")
            self.browser.key("Escape")
            self.browser.wait("!document.querySelector('tr.below')")
        self.no_problems()

    def test_search_filters_the_queue(self):
        rows = self.get("/v1/queue")["waiting"]
        if not rows:
            self.skipTest("nothing waits")
        self.browser.open(f"{self.url}/#/queue", "!!document.querySelector('tr[data-row]')")
        self.browser.key("/")
        for letter in f"team={rows[0]['team']}":
            self.browser.key(letter)
        self.browser.wait(f"[...document.querySelectorAll('tr[data-row] td:nth-child(2)')].every(td => td.textContent === {json.dumps(rows[0]['team'])})")
        self.browser.key("Escape")
        self.browser.wait("document.querySelector('#search').value === ''")

    def test_workload_states_its_blockers(self):
        rows = self.get("/v1/queue")["waiting"]
        if not rows:
            self.skipTest("nothing waits")
        name = rows[0]["workload"]
        quoted = urllib.request.quote(name, safe="")
        self.stands_on(f"#/workloads/{quoted}", "!!document.querySelector('h1')", f"/v1/workloads/{quoted}/explain",
                       lambda x: {name, x["user"]} | {b["code"] for b in x["blockers"]} | {b["cure"] for b in x["blockers"]})
        self.no_problems()

    def test_teams_state_who_owns_and_waits(self):
        def wanted(t: dict) -> set[str]:
            numbers = {thousands(r["own_milli"] / 1000) for r in t["teams"]} | {thousands(r["waiting"]) for r in t["teams"]}
            names = {r["team"].split("/")[-1] for r in t["teams"]} | {u["account"] or "(none)" for u in t["unassigned"]} | {m["hint"] for m in t["misconfigured"]}
            return numbers | names if t["organisation"] else {"No organisation is known"}

        self.stands_on("#/teams", "!!document.querySelector('main section')", "/v1/teams", wanted)
        self.browser.shot("teams")
        self.no_problems()

    def test_suggestions_state_what_would_be_done_and_what_came_of_it(self):
        def wanted(c: dict) -> set[str]:
            if not c["organisation"]:
                return {"No organisation is known"}
            names = {s["workload"] for s in c["now"]} | {s["nodes"] for s in c["now"]} | {s["claimant"] for s in c["now"]}
            e = c["estimates"]
            shares = {f"{e[k] / 10_000:.1f} %" for k in ("by_p50_ppm", "by_p90_ppm", "at_once_ppm") if e[k] >= 0}
            teams = c["teams"] if any(t["started"] + t["went_away"] for t in c["teams"]) else []
            return names | shares | {t["team"] for t in teams} | {gpu_hours(t["sooner_gpu_seconds"]) for t in teams}

        self.stands_on("#/suggestions", "!!document.querySelector('main section')", "/v1/suggestions", wanted)
        self.browser.shot("suggestions")
        for page in ("#/queue", "#/teams"):
            self.browser.open(f"{self.url}/{page}", "!!document.querySelector('main section')")
            if self.get("/v1/suggestions")["organisation"] and (page == "#/teams" or self.get("/v1/queue")["waiting"]):
                self.assertTrue(self.browser.js("!!document.querySelector('main a[href=\"#/suggestions\"]')"), page)
        self.no_problems()

    def test_queue_and_workload_state_starts(self):
        rows = self.get("/v1/queue")["waiting"]
        if not rows:
            self.skipTest("nothing waits")
        self.browser.open(f"{self.url}/#/queue", "!!document.querySelector('tr[data-row]')")
        starts = self.browser.js("[...document.querySelectorAll('tr[data-row]')].map(r => r.cells[8].textContent)")
        for row, start in zip(rows, starts):
            self.assertEqual(start == "-", row["start_p50"] is None, row["workload"])
        self.browser.open(f"{self.url}/#/workloads/{urllib.request.quote(rows[0]['workload'], safe='')}", "!!document.querySelector('h1')")
        self.assertRegex(self.browser.text(), "Estimated start: P50|Its start is not known: ")

    def test_fleet_shows_each_gpu(self):
        fabric = self.get("/v1/fabric")
        self.browser.open(f"{self.url}/#/fleet", "!!document.querySelector('main section')")
        cells = self.browser.js("document.querySelectorAll('.node rect').length")
        self.assertEqual(cells, sum(len(n["devices"]) for n in fabric["nodes"]))
        if cells:
            self.browser.key("j", "l")
            self.browser.wait("!!document.querySelector('aside')")
            self.browser.shot("fleet-chosen")
            self.browser.key("Escape")
            self.browser.wait("!document.querySelector('aside')")
        self.no_problems()

    def test_keys_lead_everywhere(self):
        self.browser.open(self.url, "!!document.querySelector('header')")
        for keys, want in (("gq", "#/queue"), ("gt", "#/teams"), ("gs", "#/suggestions"), ("gf", "#/fleet"), ("go", "#/")):
            self.browser.key(*keys)
            self.browser.wait(f"location.hash === '{want}'")
        self.browser.key("?")
        self.browser.wait("!!document.querySelector('.help')")
        self.browser.key("Escape")
        self.browser.wait("!document.querySelector('.help')")

    def test_says_that_it_is_live(self):
        self.browser.open(self.url, "/live|stale|not seen/.test(document.querySelector('.state').textContent)")

    def test_a_workload_that_is_not_known_is_said(self):
        text = self.browser.open(f"{self.url}/#/workloads/no-such-1", "!!document.querySelector('[role=alert]')")
        self.assertIn("overview", text.lower())

    def test_focus_tells_source_and_age(self):
        self.browser.open(self.url, "!!document.querySelector('.fold')")
        self.browser.js("document.querySelector('svg.bar.big, .state').focus()")
        self.browser.wait("/scheduler|live|stale|not seen/.test(document.querySelector('footer').textContent)")

    def test_every_page_fits_a_phone(self):
        for page, ready in (("", ".fold"), ("#/queue", "main section"), ("#/teams", "main section"), ("#/suggestions", "main section"), ("#/fleet", "main section")):
            self.browser.look(390, 844)
            self.browser.open(f"{self.url}/{page}", f"!!document.querySelector('{ready}')")
            self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), 390, page)

    def test_empty_and_bare_sites_say_what_is_missing(self):
        if not self.mock:
            self.skipTest("only of the made-up site")
        for kind, wanted in (("--empty", ["No accelerators are known", "no telemetry is configured", "Nothing waits."]), ("--bare", ["the fleet is not known", "Not measurable"])):
            site = subprocess.Popen([sys.executable, ROOT / "web/mock/serve.py", kind], stdout=subprocess.PIPE, text=True)
            try:
                text = self.browser.open(site.stdout.readline().strip(), "!!document.querySelector('.fold')")
                for words in wanted:
                    self.assertIn(words, text)
                self.browser.shot(f"overview{kind}")
            finally:
                site.kill()
                site.wait()
                site.stdout.close()
        self.browser.wait("/offline since/.test(document.querySelector('.state').textContent)", 30)
        self.assertIn("not known", self.browser.text(), "what was seen before stays")

    def test_shots(self):
        if not SHOTS:
            self.skipTest("--shots is not given")
        rows = self.get("/v1/queue")["waiting"]
        pages = {"overview": ("", ".fold"), "queue": ("#/queue", "main section"), "teams": ("#/teams", "main section"), "suggestions": ("#/suggestions", "main section"), "fleet": ("#/fleet", "main section")}
        if rows:
            pages["workload"] = (f"#/workloads/{urllib.request.quote(rows[0]['workload'], safe='')}", "h1")
        for name, (page, ready) in pages.items():
            for look, size in (("light", (1280, 900)), ("dark", (1280, 900)), ("390", (390, 1400))):
                self.browser.look(*size, scheme="dark" if look == "dark" else "light")
                self.browser.open(f"{self.url}/{page}", f"!!document.querySelector('{ready}')")
                self.browser.shot(f"{name}-{look}")


class LiveConsoleTest(ConsoleTest):
    """The same, of a daemon beside a real Slurm that works, with an organisation."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("a lab wants root")
        from support import suggesting

        cls.mock = None
        cls.url = suggesting().url.rstrip("/")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        from support import suggesting

        suggesting().stop()  # what comes later has the cores for itself
        suggesting.cache_clear()

    def test_there_is_something_to_show(self):
        self.assertEqual(self.get("/v1/teams")["organisation"], "acme")
        self.assertTrue(self.get("/v1/queue")["waiting"])


if __name__ == "__main__":
    if not BROWSER:
        print("SKIPPED: there is no Chromium on this machine (Debian: apt-get install chromium)")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots", type=Path)
    args, rest = parser.parse_known_args()
    SHOTS = args.shots
    unittest.main(argv=[sys.argv[0], *rest])
