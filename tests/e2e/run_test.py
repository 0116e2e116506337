"""`./run` shows what it should, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, eventually

SHOW = [sys.executable, "-B", str(ROOT / "tests" / "lab" / "show.py"), str(BUILD)]


class Run(unittest.TestCase):
    def start(self, *argv: str) -> subprocess.Popen[str]:
        """With a temporary folder of its own, so that what is left there is its own."""
        self.tmp = Path(tempfile.mkdtemp(prefix="run-test."))
        self.tmp.chmod(0o755)
        self.addCleanup(subprocess.run, ["rm", "-rf", self.tmp])
        self.log = self.tmp / "said"
        with self.log.open("w") as log:
            process = subprocess.Popen([*SHOW, *argv], env={**os.environ, "TMPDIR": str(self.tmp)}, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, text=True, start_new_session=True)  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def said(self) -> str:
        return self.log.read_text()

    def assert_nothing_is_left(self) -> None:
        self.assertEqual([path.name for path in self.tmp.iterdir()], ["said"])
        self.assertEqual(processes_naming(str(self.tmp)), [])

    def test_once_shows_all_and_ends(self) -> None:
        process = self.start("--once")
        self.assertEqual(process.wait(240), 0, self.said()[-3000:])
        for shown in ("$ fairlead report", "Idle holds now", "$ fairlead queue", "ASSOCIATION_LIMIT", "$ fairlead teams", "research", "$ fairlead compare", "adds up to the hardware",
                      "export FAIRLEAD_SERVER=unix:", "Console     http://127.0.0.1:"):  # fmt: skip
            self.assertIn(shown, self.said())
        self.assert_nothing_is_left()

    def test_interrupted(self) -> None:
        rows = [  # when, how it is told, its exit code
            (r"starting a lab", signal.SIGINT, 0),
            (r"fairlead serve runs", signal.SIGTERM, 143),
            (r"of 4 are seen|Ctrl-C stops", signal.SIGINT, 0),
        ]
        for when, number, want in rows:
            with self.subTest(when, signal=number.name):
                process = self.start("--nodes", "4")
                eventually(when, 120, lambda when=when: re.search(when, self.said()), pause=0.05)
                process.send_signal(number)
                self.assertEqual(process.wait(60), want, self.said()[-2000:])
                self.assert_nothing_is_left()

    def test_help_and_wrong_use(self) -> None:
        for argv, want in ((["--help"], 0), (["--dance"], 2), (["--nodes"], 2)):
            done = subprocess.run([ROOT / "run", *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(done.returncode, want, done.stderr)
            self.assertTrue(done.stdout or done.stderr)


def processes_naming(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found


if __name__ == "__main__":
    unittest.main()
