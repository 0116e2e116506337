#!/usr/bin/env python3
"""Runs the parts of the tests one after the other and sums them up; `./test` calls it.

A part is some commands with their output in build/test/PART.log. What it counts: cases of GoogleTest, tests of unittest,
and 1 for whatever else is one check. A part that breaks before it can count is one failure.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"
JOBS = str(os.cpu_count() or 2)
EXIT_SKIPPED = 77
PROPERTIES = "seed=1"  # the same draws each time, so that what failed here fails again; by hand they are new ones
UNITTEST_MAX_SECONDS = 1800  # chosen: thrice what the longest of them takes


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""  # why something was skipped

    def __add__(self, other: Count) -> Count:
        notes = "; ".join(note for note in (self.note, other.note) if note)
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped, notes)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def skipped(why: str) -> Count:
    return Count(skipped=1, note=why)


class Part:
    """Runs commands and keeps what they say."""

    def __init__(self, name: str, only: list[str]) -> None:
        self.name = name
        self.only = only
        self.log = LOGS / f"{name}.log"
        self.log.unlink(missing_ok=True)

    def run(self, *argv: str | Path, **options: Any) -> bool:
        return self.code(*argv, **options) == 0

    def code(self, *argv: str | Path, env: dict[str, str] | None = None, timeout: float = 3600) -> int:
        """The exit code, and what it says in the log."""
        with self.log.open("a") as log:
            print("$", *argv, file=log, flush=True)
            try:
                done = subprocess.run(
                    argv, cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=log,
                    stderr=subprocess.STDOUT, timeout=timeout,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                print(f"no end within {timeout:.0f} s", file=log)
                return 1
            except FileNotFoundError as missing:
                print(missing, file=log)
                return 1
        return done.returncode

    def check(self, *argv: str | Path, **options: Any) -> Count:
        """One check: the command ends well, or says that it must be left out."""
        code = self.code(*argv, **options)
        if code == EXIT_SKIPPED:
            return skipped(re.findall(r"(?mi)^skipped: (.*)$", self.log.read_text())[-1])
        return Count(passed=1) if code == 0 else Count(failed=1)

    def build(self, preset: str, *targets: str) -> bool:
        """Everything of a preset, or the targets alone."""
        chosen = [word for target in targets for word in ("--target", target)]
        return self.run("cmake", "--preset", preset) and self.run("cmake", "--build", "--preset", preset, *chosen)

    def ctest(self, preset: str, *options: str) -> Count:
        """Every case of every test program. A program that breaks before its results is one failure."""
        results = LOGS / f"{self.name}.results"
        shutil.rmtree(results, ignore_errors=True)
        argv = ["ctest", "--preset", preset, "-j", JOBS, "--timeout", "600", *options]
        drawn = os.environ.get("RC_PARAMS", PROPERTIES)
        good = self.run(*argv, env={"GTEST_OUTPUT": f"xml:{results}/", "RC_PARAMS": drawn})
        count = Count()
        for file in sorted(results.glob("*.xml")):
            count += count_gtest(file)
        if not good and count.failed == 0:
            count.failed = 1
        return count

    def unittest(self, *argv: str | Path) -> Count:
        """What unittest says at its end."""
        only = [word for chosen in self.only for word in ("-k", chosen)]
        good = self.run(sys.executable, "-B", "-W", "ignore::ResourceWarning", *argv, *only, timeout=UNITTEST_MAX_SECONDS)
        count = count_unittest(self.log.read_text(errors="replace"))
        if not good and count.failed == 0:
            count.failed = 1
        return count


def count_gtest(file: Path) -> Count:
    suites = ElementTree.parse(file).getroot()
    cases = suites.findall("./testsuite/testcase")
    failed = sum(case.find("failure") is not None for case in cases)
    left_out = sum(case.get("result") in ("skipped", "suppressed") or case.get("status") == "notrun" for case in cases)
    return Count(len(cases) - failed - left_out, failed, left_out)


def count_unittest(said: str) -> Count:
    """Subtests that fail are counted as failures, and what passed beside them is not."""
    count = Count()
    for ran, _, verdict in re.findall(r"^Ran (\d+) tests? in (.*)\n\n(.*)$", said, re.M):
        of = {word: int(number) for word, number in re.findall(r"(failures|errors|skipped)=(\d+)", verdict)}
        failed = of.get("failures", 0) + of.get("errors", 0)
        left_out = of.get("skipped", 0)
        count += Count(max(0, int(ran) - failed - left_out), failed, left_out)
    for reason in dict.fromkeys(re.findall(r"\.\.\. skipped '(.*)'$", said, re.M)):
        count.note = "; ".join(note for note in (count.note, reason) if note)
    return count


# --- the parts ---


def part_checks(part: Part) -> Count:
    """includes follow src/modules.txt, every header compiles alone"""
    return part.check("python3", "tools/check_includes.py", ".") + part.check("python3", "tools/check_headers")


def part_unit(part: Part) -> Count:
    """the tests beside the code, dev preset, and that the benchmarks build"""
    return part.ctest("dev") if part.build("dev") and part.build("dev", "benches") else Count(failed=1)


def part_gcc(part: Part) -> Count:
    """the pure modules built and tested by g++"""
    return part.ctest("gcc") if part.build("gcc") else Count(failed=1)


def part_asan(part: Part) -> Count:
    """the tests beside the code under address and undefined-behaviour sanitizers"""
    return part.ctest("asan") if part.build("asan") else Count(failed=1)


def part_tsan(part: Part) -> Count:
    """the tests beside the code under the thread sanitizer"""
    return part.ctest("tsan") if part.build("tsan") else Count(failed=1)


def part_web(part: Part) -> Count:
    """web/dist is what the console's sources build to, and its tests pass"""
    return part.check("web/check-dist")


def part_lab(part: Part) -> Count:
    """the lab itself"""
    if os.geteuid() != 0:
        return skipped("a lab wants root")
    return part.unittest("tests/lab/test_lab.py", "-v")


def part_e2e(part: Part) -> Count:
    """Fairlead on a real Slurm with a real Prometheus"""
    if os.geteuid() != 0:
        return skipped("a lab wants root")
    if not part.build("dev", "fairlead", "fairlead-slurm"):
        return Count(failed=1)
    count = part.unittest("-m", "unittest", "discover", "-v", "-s", "tests/e2e", "-t", "tests/e2e", "-p", "*_test.py")
    return count


DEFAULT = {"checks": part_checks, "unit": part_unit, "gcc": part_gcc, "web": part_web, "lab": part_lab, "e2e": part_e2e}
MORE = {"asan": part_asan, "tsan": part_tsan}
PARTS: dict[str, Callable[[Part], Count]] = {**DEFAULT, **MORE}


def main() -> int:
    parser = argparse.ArgumentParser(prog="test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--all", action="store_true", help="the sanitizers, too")
    parser.add_argument("--list", action="store_true", help="what the parts are")
    parser.add_argument("-k", metavar="WORD", action="append", default=[],
                        help="of the parts of Python, tests with this in their name; again for more")  # fmt: skip
    args = parser.parse_args()
    if args.list:
        print("\n".join(f"{name:8} {act.__doc__}" for name, act in PARTS.items()))
        return 0
    if unknown := [name for name in args.parts if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]}; there are {', '.join(PARTS)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    total = Count()
    for name in args.parts or (PARTS if args.all else DEFAULT):
        total += run_part(name, args.k)
    print(f"{total}")
    return 1 if total.failed else 0


def run_part(name: str, only: list[str]) -> Count:
    print(f"{name:8} ...", flush=True)
    began, part = time.monotonic(), Part(name, only)
    count = PARTS[name](part)
    print(f"{name:8} {count} in {time.monotonic() - began:.0f} s" + (f"  ({count.note})" if count.note else ""), flush=True)
    if count.failed:
        print(f"{name:8} log: {part.log}")
        show_end(part.log)
    return Count(count.passed, count.failed, count.skipped)


def show_end(log: Path, lines: int = 40) -> None:
    """What failed by name, and the last lines."""
    said = log.read_text(errors="replace")
    failed = re.findall(r"^(?:FAIL|ERROR): .*|^\[  FAILED  \] \w+\.\S+|^[\w/.-]+: error: .*", said, re.M)
    for line in [*dict.fromkeys(failed), *said.splitlines()[-lines:]]:
        print("    | " + line[:400])


if __name__ == "__main__":
    sys.exit(main())
