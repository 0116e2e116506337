"""Where scenario files are played: a lab that fits the sites of several files, and daemons with their rules.

Each file has nodes, partitions, accounts and classes of its own. Slurm schedules there as the model does: first come first
served, no backfill, nodes in their order.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import life
from beside import Beside, Daemon
from layout import Options
from procs import wait_for
from scenario import Scenario, Unplayable, expand

REQUEUE_DELAY = 5  # seconds, the least that Slurm takes for cred_expire; a requeued job waits one more
GRACE_MIN = 10  # seconds, the least that is taken
STALE_MIN = 6  # seconds; chosen: a scrape and a look may both be late
USERS = ("alice", "bob", "carol", "dave")


def why_not(scenario: Scenario) -> str:
    """Why the lab cannot play it; empty where it can."""
    if scenario.never:
        return scenario.never
    try:
        scenario.models  # noqa: B018
        if scenario.happens("clock"):
            raise Unplayable("the clock of this machine is everybody's")
        if scenario.happens("nodes", "remove"):
            raise Unplayable("nodes of the lab neither come nor go")
        if scenario.happens("preempt"):
            raise Unplayable("only a better job preempts")
        if any(words[1] == "off" for words in scenario.lines("looks")):
            raise Unplayable("the lab has telemetry")
    except Unplayable as reason:
        return str(reason)
    return ""


class Stage:
    """One lab, and the files that are played on it at the same time."""

    def __init__(self, folder: Path, build: Path, scenarios: list[Scenario], interrupted: threading.Event) -> None:
        self.scenarios = scenarios
        self.interrupted = interrupted  # what is played here ends as soon as it is set
        self.nodes: dict[str, dict[str, str]] = {}
        kinds = [self._place(scenarios, kind, first) for kind, first in self._kinds(scenarios)]
        licences = [f"{own(s, words[1])}:{words[2]}" for s in scenarios for words in s.lines("licence")]
        conf = [
            "SchedulerType=sched/builtin",
            "PriorityType=priority/basic",
            "TopologyPlugin=topology/none",
            f"AuthInfo=socket={folder}/munge/munge.socket,cred_expire={REQUEUE_DELAY}",
            *([f"Licenses={','.join(licences)}"] if licences else []),
            *(self._partition(s, words) for s in scenarios for words in s.lines("partition")),
        ]
        self.lab = life.up(folder, Options(nodes=sum(kinds), h100=kinds[0], conf=tuple(conf)))
        self.beside = Beside(self.lab, build)
        self.watches: dict[Rules, Watch] = {}
        self.lock = threading.Lock()
        try:
            self.make_organisation()
        except BaseException:
            self.end()
            raise

    @staticmethod
    def _kinds(scenarios: list[Scenario]) -> list[tuple[str, int]]:
        first = sum(kind == "h100" for s in scenarios for kind in s.models.values())
        return [("h100", 0), ("a100", first)]

    def _place(self, scenarios: list[Scenario], kind: str, first: int) -> int:
        """Gives each node of that kind one of the lab's; returns how many."""
        number = first
        for scenario in scenarios:
            for name, model in scenario.models.items():
                if model == kind:
                    number += 1
                    self.nodes.setdefault(scenario.name, {})[name] = f"n{number:03d}"
        return number - first

    def _partition(self, scenario: Scenario, words: tuple[str, ...]) -> str:
        """In slurm.conf: one that scontrol makes does not outlive the controller."""
        nodes = ",".join(self.nodes[scenario.name][name] for name in expand(words[2]))
        limit = next((scenario.minutes(text) for text in after(words, "limit")), "UNLIMITED")
        return f"PartitionName={own(scenario, words[1])} Nodes={nodes} MaxTime={limit} DefMemPerCPU=1000 State=UP"

    def make_organisation(self) -> None:
        """Accounts and classes of all files at once: each call of sacctmgr takes a third of a second."""
        accounts = {own(s, name) for s in self.scenarios for name in accounts_of(s)}
        classes = {own(s, words[1]): words for s in self.scenarios for words in s.lines("qos")}
        self.accountant("add", "account", ",".join(sorted(accounts)))
        for s in self.scenarios:
            for words in s.lines("qos"):
                self.accountant("add", "qos", own(s, words[1]), *_class_limits(s, words))
            for words in s.lines("qos"):
                for prey in after(words, "preempts"):
                    names = ",".join(own(s, one) for one in prey.split(","))
                    self.accountant("modify", "qos", own(s, words[1]), "set", f"preempt={names}")
            for words in s.lines("account"):
                for number in after(words, "gpus"):
                    self.accountant("modify", "account", own(s, words[1]), "set", f"grptres=gres/gpu={number}")
        all_classes = ",".join(["normal", *classes])
        self.accountant("add", "user", ",".join(USERS), f"account={','.join(sorted(accounts))}", f"qos={all_classes}",
                        "defaultqos=normal")  # fmt: skip

    def accountant(self, *words: str) -> None:
        self.lab.run(["sacctmgr", "-iQ", *words])

    def watch(self, scenario: Scenario) -> Watch:
        """A daemon with the file's rules; files with the same rules share one, but for those that stop it."""
        rules = Rules(
            idle_hold_after=math.ceil(scenario.rule("idle_hold_after", "15m")),
            stale_after=max(STALE_MIN, math.ceil(scenario.rule("stale_after", "90s"))),
            grace=max(GRACE_MIN, math.ceil(scenario.rule("source_grace", "60s"))),
            alone=scenario.name if scenario.happens("we") else "",
        )
        with self.lock:
            if rules not in self.watches:
                self.watches[rules] = Watch(self.beside, f"watch{len(self.watches)}", rules)
            return self.watches[rules]

    def end(self) -> None:
        for watch in self.watches.values():
            watch.daemon.stop()
        life.down(self.lab, remove=True)


@dataclass(frozen=True)
class Rules:
    """Of a daemon, in seconds."""

    idle_hold_after: int
    stale_after: int
    grace: int
    alone: str  # the one file that may stop it


class Watch:
    """`fairlead serve` with rules as long as a file's are on the lab."""

    def __init__(self, beside: Beside, name: str, rules: Rules) -> None:
        config = f"""\
sites:
  - name: lab
    slurm: {{interval: 1s}}
    telemetry: {{prometheus: "{beside.lab.prometheus_url}", interval: 1s}}
    evidence: {{idle_hold_after: {rules.idle_hold_after}s, stale_after: {rules.stale_after}s}}
    grace: {rules.grace}s
store: sqlite:{beside.dir / name}.db
listen: unix:{beside.dir / name}.sock
listen_http: 127.0.0.1:0
"""
        self.daemon = Daemon(beside, name, config=config).start()
        self.decisions_before: list[dict[str, Any]] = []  # of the processes before this one

        def sees_all() -> bool:
            return all(row["ok"] for row in self.daemon.get("/v1/report")["sources"] if row["source"] != "accounting")

        wait_for(f"{name} sees Slurm and Prometheus", 60, sees_all, pause=0.2)

    def decisions(self) -> list[dict[str, Any]]:
        """All, the oldest first."""
        return self.decisions_before + self.daemon.get("/v1/decisions?limit=1000")["decisions"][::-1]

    def stop(self) -> None:
        self.decisions_before = self.decisions()
        self.daemon.stop()


def own(scenario: Scenario, name: str) -> str:
    """A name of the file as it is in a lab that has several files."""
    return f"{scenario.name}_{name}".lower()


def after(words: tuple[str, ...], key: str) -> Iterator[str]:
    for name, value in zip(words, words[1:], strict=False):
        if name == key:
            yield value


def accounts_of(scenario: Scenario) -> set[str]:
    options = [word for one in scenario.happenings for word in one.words if word.startswith("--account=")]
    return {"main", *(o.partition("=")[2] for o in options), *(words[1] for words in scenario.lines("account"))}


def _class_limits(scenario: Scenario, words: tuple[str, ...]) -> list[str]:
    limits = [f"grptres=gres/gpu={number}" for number in after(words, "gpus")]
    limits += [f"maxtresperuser=gres/gpu={number}" for number in after(words, "gpus_per_user")]
    return [*limits, "preemptmode=requeue"]
