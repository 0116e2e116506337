"""The believable day on the other releases of Slurm, through the commands and through a bridge of that release.

A release is tried where its root filesystem was fetched before, or where FAIRLEAD_LAB_RELEASES names it ("24.11,26.05").
"""

from __future__ import annotations

import os
import re
import unittest

from mix_test import WANT_BLOCKERS
from support import MixLab, Skipped, assert_adds_up, cache_dir, eventually


class Release(unittest.TestCase):
    def check(self, release: str) -> None:
        wanted = re.split(r"[\s,]+", os.environ.get("FAIRLEAD_LAB_RELEASES", ""))
        if release not in wanted and not (cache_dir() / f"root-{release}").exists():
            self.skipTest(f"Slurm {release} was not fetched; FAIRLEAD_LAB_RELEASES={release} does (480 MB)")
        try:
            self.day = MixLab(self.addCleanup, release=release)
        except Skipped as why:
            self.skipTest(str(why))
        with self.subTest("through the bridge of the release"):
            self.day.settle()
            assert_adds_up(self, self.day.daemon, 256)
            self.assert_blockers(self.day.daemon.get("/v1/queue")["waiting"])
        with self.subTest("through the commands"):
            options = ["--local", "--via", "commands", "--prometheus", self.day.lab.prometheus_url]
            eventually("the scheduler agrees", 60, lambda: self.agrees(self.day.beside.json("queue", *options)["waiting"]))
            self.assert_blockers(self.day.beside.json("queue", *options)["waiting"])
            self.assertEqual(self.day.beside.json("report", *options)["gpus"], 256)

    def agrees(self, rows: list[dict]) -> bool:
        wrong = [row for row in rows if not row["scheduler_agrees"]]
        if wrong:
            raise AssertionError("; ".join(f"{row['workload']}: {row['blockers']} against {row['scheduler_reason']}" for row in wrong))
        return True

    def assert_blockers(self, rows: list[dict]) -> None:
        found = {self.day.name_of(row["workload"]): row for row in rows}
        for name, (code, never) in WANT_BLOCKERS.items():
            if name not in found:
                self.assertEqual(name, "preempted")  # a newer release puts it elsewhere
                continue
            with self.subTest(name):
                self.assertIn(code, found[name]["blockers"])
                self.assertEqual(found[name]["can_never_start"], never)

    def test_24_11(self) -> None:
        self.check("24.11")

    def test_26_05(self) -> None:
        self.check("26.05")


if __name__ == "__main__":
    unittest.main()
