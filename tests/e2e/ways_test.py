"""One settled cluster read in three ways: through libslurm, through the commands, through slurmrestd."""

from __future__ import annotations

import re
import unittest
from typing import Any

from support import life, mix_lab

# Grows with time between the looks, or says when and how the look was made.
OF_TIME = {
    "from", "to", "as_of", "gpu_seconds", "wait_us", "since", "last_ok", "seen", "looked_at", "telemetry_coverage_ppm", "useful_ppm",
    "sentences", "sources", "notes", "ended", "cured_at", "ends", "scheduler_start_estimate", "requested_gpu_seconds", "used_gpu_seconds",
    "cpus_used", "memory_used_mb", "priority",
}  # fmt: skip

# What slurmrestd does not tell: limits come from slurmdbd there, and the tree of switches not at all.
NOT_OVER_REST = {"leaf", "switches"}


def settled(value: Any, but: set[str] = OF_TIME) -> Any:
    """Without what differs between two looks at the same cluster; groups in the order of their names."""
    if isinstance(value, dict):
        return {key: settled(inner, but) for key, inner in value.items() if key not in but}
    if isinstance(value, list):
        items = [settled(item, but) for item in value]
        named = [item for item in items if isinstance(item, dict) and ("name" in item or "team" in item)]
        return sorted(items, key=str) if items and len(named) == len(items) else items
    if isinstance(value, str):  # "in 3h59m at the latest", "gpus free until 2026-…"
        if "switches" in but:
            value = re.sub(r", under \d+ switch(es)?", "", value)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+[hms]\w*", "…", value)
    return value


class Ways(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls) -> None:
        cls.day = mix_lab()
        cls.options = {via: ["--local", "--via", via, "--prometheus", cls.day.lab.prometheus_url] for via in ("bridge", "commands")}
        rest = life.rest(cls.day.lab)
        cls.options["rest"] = ["--local", "--via", "rest", "--rest", f"unix:{rest['FAIRLEAD_LAB_REST_SOCKET']}",
                               "--prometheus", cls.day.lab.prometheus_url]  # fmt: skip

    def look(self, via: str, *argv: str) -> dict[str, Any]:
        return self.day.beside.json(*argv, *self.options[via])

    def assert_same(self, view: list[str], via: str, but: set[str]) -> None:
        ours, theirs = settled(self.look("bridge", *view), but), settled(self.look(via, *view), but)
        for key in ours:
            with self.subTest(f"{' '.join(view)} via {via}", part=key):
                self.assertEqual(theirs.get(key), ours[key])

    def test_the_report_is_the_same(self) -> None:
        for via in ("commands", "rest"):
            self.assert_same(["report"], via, OF_TIME)

    def test_the_queue_is_the_same(self) -> None:
        for via in ("commands", "rest"):
            self.assert_same(["queue"], via, OF_TIME)

    def test_the_fabric_is_the_same(self) -> None:
        self.assert_same(["fabric"], "commands", OF_TIME)
        self.assert_same(["fabric"], "rest", OF_TIME | NOT_OVER_REST)

    def test_explanations_are_the_same(self) -> None:
        for name in ("account_limit", "licence", "maintenance", "partition_nodes", "dependency_never", "gang_4x8"):
            self.assert_same(["explain", self.day.number(name)], "commands", OF_TIME)
            self.assert_same(["explain", self.day.number(name)], "rest", OF_TIME | NOT_OVER_REST)


if __name__ == "__main__":
    unittest.main()
