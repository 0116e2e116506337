"""What a scenario file says, as far as a real Slurm can be asked: the site, what happens, and the outcome without times.

The file is the one that the modelled Slurm runs (docs/howto/scenario.md). Of an outcome we keep what does not depend on
exact times: decisions, how many devices are in which column, and each workload with its state, reason and blockers.
player.py makes it happen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

HOUR = 40.0  # seconds that an hour of a file takes, where it does not say; chosen: an idle hold of 15 min is 10 s,
# which a step of several nodes does not take to start
RUNS = "1h"  # unless said
UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
DOING = {"busy": "busy", "quiet": "idle", "empty": "none", "stuck": "stuck"}  # as rank.sh calls it
DECISIONS = ("idle", "not idle", "lost", "vanished", "unseen", "seen again", "refused")


class Unplayable(Exception):
    """Why a file cannot be played on the lab: one sentence."""


class BadScenario(Exception):
    pass


def span(text: str) -> float:
    """Seconds of "1h30m"."""
    parts = re.findall(r"(\d+)([dhms])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise BadScenario(f"'{text}' is no span of time")
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def expand(hostlist: str) -> list[str]:
    """The names of "n[1-2,4],m"."""
    names: list[str] = []
    for head, ranges in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", hostlist):
        for one in ranges.split(",") if ranges else [""]:
            first, _, last = one.partition("-")
            names += [f"{head}{n:0{len(first)}}" for n in range(int(first), int(last or first) + 1)] if one else [head]
    return names


@dataclass(frozen=True)
class Happening:
    at: float  # seconds since the beginning
    words: tuple[str, ...]
    line: str


@dataclass
class Outcome:
    """What is compared. A workload is one line of text: its state and what can be asked of it."""

    decisions: Counter[str] = field(default_factory=Counter)
    devices: dict[str, int] = field(default_factory=dict)  # by column; those that are not zero
    workloads: dict[str, str] = field(default_factory=dict)

    def differences(self, found: Outcome) -> list[str]:
        out = []
        for name in sorted(self.decisions.keys() | found.decisions.keys()):
            said, is_ = self.decisions[name], found.decisions[name]
            if said != is_:
                out.append(f"decision '{name}': {said} times in the file, {is_} on the lab")
        if self.devices != self._without_strangers(found.devices):
            out.append(f"devices: {self.devices} in the file, {found.devices} on the lab")
        for name in sorted(self.workloads.keys() | found.workloads.keys()):
            said, is_ = self.workloads.get(name, "nothing"), found.workloads.get(name, "nothing")
            if said != is_ and not _only_shorter(said, is_):
                out.append(f"{name}: '{said}' in the file, '{is_}' on the lab")
        return out


    def _without_strangers(self, devices: dict[str, int]) -> dict[str, int]:
        """Where nothing of the file waits, what is free is of no use to the other files' jobs that do: stranded."""
        if any(text.startswith("waits") for text in self.workloads.values()):
            return devices
        free = devices.get("free", 0) + devices.get("stranded", 0)
        others = {column: count for column, count in devices.items() if column not in ("free", "stranded")}
        return others | ({"free": free} if free else {})


def _only_shorter(said: str, is_: str) -> bool:
    """A workload that the model still lists says nothing of how many runs it had."""
    return said == re.sub(r", \d+ runs$", "", is_) and said.startswith("over ")


@dataclass
class Block:
    happenings: list[Happening] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)


@dataclass
class Scenario:
    name: str
    site: list[tuple[str, ...]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    hour: float = HOUR
    never: str = ""  # why the lab cannot play it

    def lines(self, *first: str) -> Iterable[tuple[str, ...]]:
        return (words for words in self.site if words[0] in first)

    @property
    def happenings(self) -> list[Happening]:
        return [one for block in self.blocks for one in block.happenings]

    def happens(self, *verbs: str) -> bool:
        return any(one.words[0] in verbs for one in self.happenings)

    def real(self, seconds: float) -> float:
        """How long a span of the file takes on the lab."""
        return seconds * self.hour / 3600

    def rule(self, name: str, default: str) -> float:
        """A span that is a rule, or the default of one, as long as it is on the lab."""
        said = [words[-1] for words in self.site if words[:-1] in ((name,), ("rule", name), ("model", name))]
        return self.real(span(said[-1] if said else default))

    def minutes(self, text: str) -> int:
        """Slurm counts limits in minutes."""
        return max(1, math.ceil(self.real(span(text)) / 60))

    @property
    def length(self) -> float:
        return self.real(max(one.at for one in self.happenings))

    @property
    def models(self) -> dict[str, str]:
        """The GPU model of each node of the site."""
        out = {}
        for words in self.lines("nodes"):
            if len(words) != 4 or words[2] != "8":
                raise Unplayable(f"a node of the lab has eight GPUs and says nothing else: {' '.join(words)}")
            out |= {name: words[3] for name in expand(words[1])}
        return out

    @property
    def needs_own_lab(self) -> bool:
        """What stops the controller or Prometheus is felt by everybody."""
        return self.happens("controller", "telemetry")


def read(path: Path) -> Scenario:
    scenario = Scenario(path.stem)
    block, in_outcome = Block(), False
    for line in path.read_text().splitlines():
        if in_outcome and line:
            _take_outcome(line, block.outcome)
            continue
        if in_outcome:
            scenario.blocks.append(block)
            block, in_outcome = Block(), False
        words = tuple(line.partition("#")[0].split())
        if line == "----":
            in_outcome = True
        elif words[:1] == ("at",):
            block.happenings.append(Happening(span(words[1]), words[2:], line))
        elif words[:1] == ("lab",):
            _take_lab_line(words[1:], scenario)
        elif words:
            scenario.site.append(words)
    scenario.blocks.append(block)
    scenario.blocks = [one for one in scenario.blocks if one.happenings]
    return scenario


def _take_lab_line(words: tuple[str, ...], scenario: Scenario) -> None:
    if words[0] == "hour":
        scenario.hour = span(words[1])
    else:
        scenario.never = " ".join(words[1:])


def _take_outcome(line: str, outcome: Outcome) -> None:
    """One line; columns are wide, so that two blanks or more part them."""
    _, verb, *rest = re.split(r"\s{2,}", line.strip())
    if verb == "columns" or (verb == "refused" and "clock" in rest[0]):
        return  # amounts of time
    if verb == "now":
        parts = [part.split() for part in rest]
        outcome.devices = {words[0]: int(words[1]) for words in parts if words[0] != "of"}
    elif verb in DECISIONS:
        # how many were idle at the first moment of an idle hold depends on when each was looked at
        more = (" gpu-seconds", " gpus") if "idle" in verb else (" gpu-seconds",)
        said = [word for word in rest if not word.endswith(more)]
        outcome.decisions[" ".join([verb, *said])] += 1
    elif rest[1].partition(",")[0] != "vanished":  # a decision tells that
        outcome.workloads[rest[0]] = _workload_text(verb, rest[1:])


def _workload_text(verb: str, rest: list[str]) -> str:
    if verb == "waits":
        reason, _, blockers = rest[-1].partition(": ")
        return waits_text(rest[0], reason, blockers.split(", "))
    if verb in ("ended", "past"):
        return f"over {rest[0]}"
    gpus, _, nodes = rest[0].partition(" gpus on ")
    return holds_text(verb, gpus, expand(nodes), next((word for word in rest if "idle (" in word), ""))


def holds_text(verb: str, gpus: object, nodes: list[str], idle: str) -> str:
    return f"{verb} with {gpus} gpus on {','.join(nodes)} {idle}".strip()


def waits_text(shape: str, reason: str, blockers: list[str]) -> str:
    """Spans that a blocker is short by are left out, and what the scheduler adds to its reason."""
    codes = sorted(re.sub(r" by \d+ s$", "", blocker) for blocker in blockers)
    return f"waits for {shape}: {reason.partition(',')[0]}; {', '.join(codes)}"


# --- what a job does ---


@dataclass(frozen=True)
class Truth:
    """What stands after the colon of a submission."""

    runs: float
    fails: bool
    phases: tuple[tuple[float, str, int], ...]  # from, doing, the first so many devices or 0 for all; ascending

    def schedule(self, scenario: Scenario, first_device: int, devices: int) -> str:
        """Of the rank that holds devices [first, first + devices), as rank.sh reads it."""
        starts = sorted({0.0, *(start for start, _, _ in self.phases if start < self.runs)})
        steps: list[tuple[float, str]] = []
        for start in starts:
            doing = {self._doing(start, device) for device in range(first_device, first_device + max(1, devices))}
            if len(doing) > 1:
                raise Unplayable("a rank of the lab does the same with all its GPUs")
            if not steps or steps[-1][1] != next(iter(doing)):
                steps.append((start, doing.pop()))
        ends = [start for start, _ in steps[1:]] + [self.runs]
        words = [f"{DOING[doing]}:{scenario.real(end - start):.1f}" for (start, doing), end in zip(steps, ends, strict=True)]
        return ",".join([*words, "fail" if self.fails else "exit"])

    def _doing(self, second: float, device: int) -> str:
        doing = "busy"
        for start, what, most in self.phases:
            if start <= second and (most == 0 or device < most):
                doing = what
        if doing not in DOING:
            raise Unplayable(f"a GPU of the lab cannot be {doing}")
        return doing


def read_truth(text: str) -> Truth:
    runs, fails, phases = span(RUNS), False, []
    for part in filter(None, (part.split() for part in text.split(","))):
        if part[0] == "runs":
            runs = span(part[1])
        elif part[0] == "fails":
            fails = True
        else:
            most = int(part.pop(0)) if part[0].isdigit() else 0
            phases.append((span(part[2]) if len(part) > 1 else 0.0, part[0], most))
    return Truth(runs, fails, tuple(phases))
