"""Makes one scenario file happen on its part of a lab, and finds what came of it."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from typing import Any

import life
import scenario as files
import services
from layout import LabError
from procs import wait_for
from scenario import Block, Happening, Outcome, Scenario, Truth, Unplayable
from stage import USERS, Stage, after, own

SETTLE = 25.0  # seconds that the lab may lag behind a report
SAVED = 5.0  # seconds for which slurmctld keeps a change to itself
VERBS = {
    "idle_hold_opened": "idle",
    "idle_hold_closed": "not idle",
    "work_lost": "lost",
    "workload_vanished": "vanished",
    "source_lost": "unseen",
    "source_back": "seen again",
}


class Play:
    """One file on its part of a stage."""

    def __init__(self, stage: Stage, scenario: Scenario) -> None:
        self.lab = stage.lab
        self.stage = stage
        self.scenario = scenario
        self.node = stage.nodes[scenario.name]
        self.name_of_node = {there: here for here, there in self.node.items()}
        self.partitions = [words[1] for words in scenario.lines("partition")]
        self.users: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.names: dict[str, str] = {}  # by id; an id may be used again
        self.told = 0  # decisions that were taken up
        self.decisions: list[str] = []
        self.alone = len(stage.scenarios) == 1 or scenario.happens("we")  # what befalls a source is ours

    def run(self) -> list[str]:
        self.watch = self.stage.watch(self.scenario)
        self.told = len(self.watch.decisions())
        wrong: list[str] = []
        begun, late = time.monotonic(), 0.0
        for block in self.scenario.blocks:
            for one in block.happenings:
                due = begun + self.scenario.real(one.at) + late
                if self.stage.interrupted.wait(max(0.0, due - time.monotonic())):
                    raise Unplayable("interrupted")
                wrong += self.happen(one, block)
                late += max(0.0, time.monotonic() - due)
        for name in self.partitions:
            self.lab.run(["scancel", "-p", own(self.scenario, name)])
        return wrong

    def happen(self, one: Happening, block: Block) -> list[str]:
        verb, *words = one.words
        self.take_decisions()
        if verb == "report":
            return [f"{one.line}: {difference}" for difference in self.compare(block.outcome)]
        match verb:
            case "submit":
                self.before_submission(one)
                self.submit(words)
            case "drain" | "undrain" | "down" | "up":
                for name in self.real_nodes(words[0]):
                    self.change_node(verb, name, " ".join(words[1:]) or "asked")
            case "reserve":
                self.reserve(words)
            case "unreserve":
                self.scontrol("delete", f"reservationname={own(self.scenario, words[0])}")
            case "partition":
                self.scontrol("update", f"partitionname={own(self.scenario, words[0])}", f"state={words[1]}")
            case "cancel":
                self.lab.run(["scancel", self.ids[words[0]]])
            case "shrink":
                self.scontrol("update", f"jobid={self.ids[words[0]]}", f"numnodes={words[1]}")
            case "hold" | "release" | "suspend" | "resume" | "requeue":
                self.scontrol(verb, self.ids[words[0]])
            case _:
                self.change_world(verb, words[0])
        return []

    # --- the site ---

    def scontrol(self, *words: str) -> None:
        self.lab.run(["scontrol", *words])

    def real_nodes(self, hostlist: str) -> list[str]:
        return [self.node[name] for name in files.expand(hostlist)]

    def change_node(self, verb: str, name: str, reason: str) -> None:
        if verb == "drain":
            self.scontrol("update", f"nodename={name}", "state=drain", f"reason={reason}")
            return
        if verb == "down":
            life.fail_node(self.lab, name)
            self.scontrol("update", f"nodename={name}", "state=down", f"reason={reason}")
            return
        if verb == "up":
            services.start_node(self.lab, name)  # and with it the node returns
        else:
            self.scontrol("update", f"nodename={name}", "state=resume")

    def reserve(self, words: list[str]) -> None:
        start = next((self.scenario.real(files.span(t)) for t in after(tuple(words), "from")), 0.0)
        length = next((files.span(t) for t in after(tuple(words), "for")), 3600.0)
        end = start + self.scenario.real(length)
        flags = ["flags=maint"] if "maint" in words else []
        nodes = ",".join(self.real_nodes(words[1]))
        self.scontrol("create", f"reservationname={own(self.scenario, words[0])}", f"starttime=now+{start:.0f}",
                      f"endtime=now+{end:.0f}", f"nodes={nodes}", "users=root", *flags)  # fmt: skip

    # --- jobs ---

    def submit(self, words: list[str]) -> None:
        name, *options = words
        truth = files.read_truth("")
        if ":" in options:
            at = options.index(":")
            options, truth = options[:at], files.read_truth(" ".join(options[at + 1 :]))
        said = dict(option.partition("=")[::2] for option in options)
        user = self.users.setdefault(said.pop("--uid", "ana"), USERS[len(self.users) % len(USERS)])
        common = ["--parsable", "-J", name, "-o", "/dev/null", "--wrap", self.script(name, said, truth)]
        try:
            number = self.lab.run(["sbatch", *common, *self.options(said, truth)], user).strip()
        except LabError as refusal:
            why = str(refusal).partition("submission failed: ")[2]
            if not why:
                raise
            self.decisions.append(f"refused {name} {why}")
            return
        self.ids[name], self.names[number] = number, name

    def options(self, said: dict[str, str], truth: Truth) -> list[str]:
        """sbatch's options with the lab's names and lengths of time."""
        mine = {"--account": "main", "--qos": "normal", "--partition": self.partitions[0]} | said
        for key in ("--account", "--qos", "--partition", "--reservation", "--licenses"):
            if key in mine and mine[key] != "normal":
                mine[key] = own(self.scenario, mine[key])
        if "--time" in said:
            if truth.runs > files.span(said["--time"]):
                raise Unplayable("Slurm counts time limits in minutes")
            mine["--time"] = str(self.scenario.minutes(said["--time"]))
        if "--begin" in said:
            mine["--begin"] = f"now+{self.scenario.real(files.span(said['--begin'].partition('+')[2])):.0f}"
        if "--dependency" in said:
            kind, *others = said["--dependency"].split(":")
            mine["--dependency"] = ":".join([kind, *(self.ids[other] for other in others)])
        return [f"{key}={value}" if value else key for key, value in mine.items()]

    def script(self, name: str, said: dict[str, str], truth: Truth) -> str:
        nodes = int(said.get("--nodes", "1"))
        per_node = int(said.get("--gpus-per-node", said.get("--gpus", "1")).rpartition(":")[2])
        ranks = [truth.schedule(self.scenario, rank * per_node, per_node) for rank in range(nodes)]
        words = [f"{rank}={schedule}" for rank, schedule in enumerate(ranks[:-1]) if schedule != ranks[-1]]
        rank = " ".join(["rank", *words, ranks[-1]])
        gives_back = any(one.words[:2] == ("shrink", name) for one in self.scenario.happenings)
        end = "; true" if gives_back else ""  # it ends well, though some of its ranks were ended
        return f"if [ $SLURM_NNODES = 1 ]; then {rank}; else srun --no-kill {rank}{end}; fi"

    # --- the world ---

    def before_submission(self, one: Happening) -> None:
        """What is submitted right before a crash must be what slurmctld has not saved: so it saves now."""
        crashes = [other.at for other in self.scenario.happenings if other.words[:2] == ("controller", "crashes")]
        if not any(0 <= crash - one.at < SAVED for crash in crashes):
            return
        saved = self.lab.path("state", "job_state")

        def stamp() -> int:
            return saved.stat().st_mtime_ns if saved.exists() else 0

        before = stamp()
        account = own(self.scenario, "main")
        job = self.lab.run(["sbatch", "--parsable", "--hold", "-A", account, "-o", "/dev/null", "--wrap", "true"], "dave")
        self.lab.run(["scancel", job.strip()])
        wait_for("slurmctld has saved", 20, lambda: stamp() != before, pause=0.02)

    def change_world(self, verb: str, how: str) -> None:
        match verb, how:
            case "controller", "stops":
                life.stop_service(self.lab, "slurmctld")
            case "controller", "crashes":
                wait_for("what was submitted is seen to run", SAVED, self.all_run, pause=0.1)
                life.signal_service(self.lab, "slurmctld", signal.SIGKILL)
            case "controller", "starts":
                self.wait_source("scheduler", ok=False)
                services.start_controller(self.lab)
                services.wait_nodes_registered(self.lab)
                wait_for("nobody runs whom slurmctld does not know", 30, lambda: not life.orphans(self.lab))
                self.wait_source("scheduler", ok=True)
            case "telemetry", "away":
                life.stop_service(self.lab, "prometheus")
            case "telemetry", "back":
                self.wait_source("telemetry", ok=False)
                services.start_prometheus(self.lab)
            case "we", "stop":
                self.watch.stop()
            case "we", "start":
                self.watch.daemon.start()
            case _:
                raise Unplayable(f"'{verb} {how}' does not happen on the lab")

    def wait_source(self, source: str, ok: bool) -> None:
        def so() -> bool:
            rows = self.watch.daemon.get("/v1/report")["sources"]
            return any(row["source"] == source and row["ok"] == ok for row in rows)

        wait_for(f"{source} is {'' if ok else 'not '}seen", 60, so, pause=0.2)
        self.take_decisions()

    def all_run(self) -> bool:
        return {row["name"] for row in self.workloads() if row["state"] == "running"} >= self.ids.keys()

    # --- what is found ---

    def workloads(self) -> list[dict[str, Any]]:
        mine = {own(self.scenario, name) for name in self.partitions}
        rows = self.watch.daemon.get("/v1/workloads?limit=5000")["workloads"]
        return [row for row in rows if row["partition"] in mine and row["workload"].partition("_")[0] in self.names]

    def take_decisions(self) -> None:
        """Takes up what was decided since; now, because an id may soon be another job's."""
        if self.watch.daemon.process and self.watch.daemon.process.poll() is None:
            told = self.watch.decisions()
            self.decisions += [text for text in map(self.decision_text, told[self.told :]) if text]
            self.told = len(told)

    def decision_text(self, told: dict[str, Any]) -> str:
        verb = VERBS[told["kind"]]
        if not told["workload"]:
            return f"{verb} {told['reason'].partition(' ')[0]}" if self.alone else ""
        number, _, task = told["workload"].partition("_")
        if number not in self.names:
            return ""  # of another file
        words = [verb, self.names[number] + (f"_{task}" if task else "")]
        if told["devices"] and "idle" not in verb:
            words.append(f"{told['devices']} gpus")
        if told["idle_kind"] != "none":
            words.append(told["idle_kind"])
        if verb == "vanished":
            words.append("while it ran" if "(running)" in told["reason"] else "while it waited")
        return " ".join(words)

    def compare(self, want: Outcome) -> list[str]:
        """What differs where the lab comes nearest to it."""
        nearest = want.differences(self.found())

        def same() -> bool:
            nonlocal nearest
            nearest = min(nearest, want.differences(self.found()), key=len)
            return not nearest

        with suppress(LabError):
            wait_for("the outcome", SETTLE, same, pause=0.3)
        self.decisions.clear()
        return nearest

    def found(self) -> Outcome:
        self.take_decisions()
        outcome = Outcome()
        outcome.decisions.update(self.decisions)
        idle = {row["workload"]: row["gpus"] for row in self.watch.daemon.get("/v1/report")["idle_holds"]}
        for row in self.workloads():
            _, _, task = row["workload"].partition("_")
            name = row["name"] + (f"_{task}" if task else "")
            # a decision tells what vanished; the lab keeps accounting, and waits for what that says of it
            if row["state"] != "vanished":
                outcome.workloads[name] = self.workload_text(row, idle.get(row["workload"], 0))
        for node in self.watch.daemon.get("/v1/fabric")["nodes"]:
            if node["node"] in self.name_of_node:
                for column, count in node["gpus"].items():
                    if count and column != "total":
                        outcome.devices[column] = outcome.devices.get(column, 0) + count
        return outcome

    def workload_text(self, row: dict[str, Any], idle: int) -> str:
        state = row["state"]
        if state == "pending":
            why = self.watch.daemon.get(f"/v1/workloads/{row['workload']}/explain")
            return files.waits_text(row["gang"], why["scheduler_reason"], [_blocker_text(b) for b in why["blockers"]])
        if row["ended"]:
            return f"over {state}, {row['epoch']} runs"
        nodes = [self.name_of_node[name] for name in files.expand(row["nodes"])]
        kind = f"{idle} idle ({row['idle_kind']})" if row["idle_kind"] != "none" else ""
        return files.holds_text("runs" if state == "running" else state, row["gpus"], nodes, kind)


def _blocker_text(blocker: dict[str, Any]) -> str:
    """As the model's transcript writes it: one of a thing has no plural."""
    short_by, unit = blocker["short_by"], blocker["unit"]
    if short_by <= 0:
        return str(blocker["code"])
    return f"{blocker['code']} by {short_by} {unit.removesuffix('s') if short_by == 1 and unit != 's' else unit}"
