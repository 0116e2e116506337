#!/usr/bin/env python3
"""Plays scenario files on real Slurm, time-lapsed, with Fairlead beside it, and compares the outcomes.

  play.py BUILD FILE...      BUILD is the build folder whose bin/ holds the programs

All files that leave the controller and Prometheus alone share one lab, the others have one each. An hour of a file takes
40 seconds unless the file says `lab hour SPAN`. docs/howto/scenario.md
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import scenario as files  # noqa: E402
from player import Play  # noqa: E402
from scenario import Scenario, Unplayable  # noqa: E402
from stage import Stage, why_not  # noqa: E402

LABS_AT_ONCE = 3  # beside the shared one
APART = 1.5  # seconds between the beginnings of files that share a lab: all at once, a job takes ten to start


@dataclass
class Played:
    """What came of a file: nothing to say, differences, or why it was left out."""

    differences: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0


def play_one(stage: Stage, scenario: Scenario, after: float) -> Played:
    stage.interrupted.wait(after)
    began = time.monotonic()
    try:
        differences = Play(stage, scenario).run()
    except Unplayable as reason:
        return Played(skipped=str(reason))
    except Exception:  # of one file; the others go on
        differences = [traceback.format_exc()]
    return Played(differences, seconds=time.monotonic() - began)


def play_together(folder: Path, build: Path, scenarios: list[Scenario], interrupted: threading.Event) -> dict[str, Played]:
    stage = Stage(folder, build, scenarios, interrupted)
    longest_first = sorted(scenarios, key=lambda s: -s.length)
    try:
        with ThreadPoolExecutor(len(scenarios)) as pool:
            begun = {s.name: pool.submit(play_one, stage, s, i * APART) for i, s in enumerate(longest_first)}
            return {name: one.result() for name, one in begun.items()}
    finally:
        stage.end()


def play_all(folder: Path, build: Path, scenarios: list[Scenario]) -> dict[str, Played]:
    """Every file that can be played, on as many labs as it takes. An interrupt ends all that is played and its labs.

    Requires: other users may enter the folder.
    """
    interrupted = threading.Event()
    played = {s.name: Played(skipped=reason) for s in scenarios if (reason := why_not(s))}
    able = [s for s in scenarios if s.name not in played]
    together = [s for s in able if not s.needs_own_lab]
    groups = [together] * bool(together) + [[s] for s in able if s.needs_own_lab]

    def play(number: int) -> dict[str, Played]:
        return play_together(folder / f"lab{number}", build, groups[number], interrupted)

    with ThreadPoolExecutor(LABS_AT_ONCE + 1) as pool:
        try:
            for result in pool.map(play, range(len(groups))):
                played |= result
        except BaseException:
            for number in (signal.SIGINT, signal.SIGTERM):  # a second one must not leave a lab behind
                signal.signal(number, signal.SIG_IGN)
            interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise
    return played


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, and so stops the labs
    build, *paths = map(Path, sys.argv[1:])
    folder = Path(tempfile.mkdtemp(prefix="fairlead-play."))
    folder.chmod(0o755)
    try:
        played = play_all(folder, build.resolve(), [files.read(path) for path in paths])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, result in sorted(played.items()):
        came = f"{len(result.differences)} differences in {result.seconds:.0f} s"
        print(f"{name:32} {'skipped: ' + result.skipped if result.skipped else came}")
        print("".join(f"    {line}\n" for line in result.differences), end="")
    return 1 if any(result.differences for result in played.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
