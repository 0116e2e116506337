"""The scenario files that the modelled Slurm runs, played on a real one: the outcomes are equal but for exact times."""

from __future__ import annotations

import functools
import shutil
import tempfile
import unittest
from pathlib import Path

from support import BUILD, ROOT, new_folder
from play import Played, play_all  # noqa: I001  (support knows where it is)
from scenario import Outcome, Scenario, Unplayable, read, read_truth

FILES = sorted((ROOT / "tests" / "scenarios").glob("*.txt"))


CHOSEN: set[str] = set()


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    """Only what -k left over is played."""
    for case in (case for suite in tests for case in suite):
        CHOSEN.add(case.id().rpartition(".test_")[2])
    return tests


@functools.cache
def played() -> dict[str, Played]:
    """All at once: most of their time is waiting."""
    folder = new_folder()
    try:
        return play_all(folder, BUILD, [read(path) for path in FILES if path.stem in CHOSEN])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


OUTCOME = """\
nodes n[1-2] 8 h100
at 1h report
----
       1h  lost        a              8 gpus  26400 gpu-seconds
       1h  columns                    useful 600  free 1800  of 2400 gpu-seconds
       1h  now                        held_idle 8  free 8  of 16 gpus
       1h  runs        a              8 gpus on n[1-2]  8 idle (stuck)  useful 600
       1h  waits       b              1x8  5m  ReqNodeNotAvail, Reserved: BEGIN_TIME by 60 s, CAPACITY by 8 devices
       1h  past        c              completed, 2 runs  useful 600
"""


class Comparing(unittest.TestCase):
    """That a difference is seen, and what is no difference."""

    def outcome(self, before: str = "", after: str = "") -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.txt")
            path.write_text(OUTCOME.replace(before, after))
            return read(path).blocks[0].outcome

    def test_what_differs_is_told(self) -> None:
        rows = [
            ("another decision", "lost        a", "vanished    a", 2),
            ("fewer devices lost", "8 gpus  26400", "4 gpus  26400", 2),
            ("devices in another column", "held_idle 8", "useful 8", 1),
            ("another node", "n[1-2]  8 idle", "n1  8 idle", 1),
            ("another kind of idleness", "(stuck)", "(no_process)", 1),
            ("another reason", "ReqNodeNotAvail", "Resources", 1),
            ("another blocker", "CAPACITY", "FRAGMENTED", 1),
            ("another shape", "1x8", "8  ", 1),
            ("one run fewer", "2 runs", "1 runs", 1),
            ("another workload", "past        c", "past        d", 2),
            ("times", "26400 gpu-seconds", "26401 gpu-seconds", 0),
            ("use", "useful 600", "useful 601", 0),
            ("spans", "by 60 s", "by 61 s", 0),
            ("what Slurm adds to its reason", ", Reserved", "", 0),
        ]
        for name, before, after, differences in rows:
            with self.subTest(name):
                self.assertEqual(len(self.outcome().differences(self.outcome(before, after))), differences)

    def test_a_rank_does_its_part_of_the_truth(self) -> None:
        scenario = Scenario("x", hour=60.0)
        truth = read_truth("runs 4h, busy, quiet from 1h, 8 empty from 2h, fails")
        self.assertEqual(truth.schedule(scenario, 0, 8), "busy:60.0,idle:60.0,none:120.0,fail")
        self.assertEqual(truth.schedule(scenario, 8, 8), "busy:60.0,idle:180.0,fail")
        with self.assertRaisesRegex(Unplayable, "a rank"):
            truth.schedule(scenario, 4, 8)


class OnRealSlurm(unittest.TestCase):
    maxDiff = None


def _test_of(name: str) -> None:
    def test(self: unittest.TestCase) -> None:
        result = played()[name]
        if result.skipped:
            self.skipTest(f"{name}: {result.skipped}")
        self.assertFalse(result.differences, "\n" + "\n".join(result.differences))

    setattr(OnRealSlurm, f"test_{name}", test)


for path in FILES:
    _test_of(path.stem)

if __name__ == "__main__":
    unittest.main()
