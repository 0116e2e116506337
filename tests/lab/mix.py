#!/usr/bin/env python3
"""A believable day on a lab of 32 nodes: three teams at work, GPUs held for nothing, and jobs that wait.

  mix.py DIR            submits it; prints what each job is and what is expected of it, as JSON
  mix.py DIR --check    waits until every job is as expected, or says which are not

Where a job runs is named where an expectation depends on it. The H100 half is made so that 12 GPUs are free and
no node is; the A100 half so that spot work is there to be preempted.

What "expect" means: `reasons`: squeue's reason is one of these for a job that waits. `idle`: the kind of idle hold
that a running job is, null for one that works:

  no_process      its processes are gone, its allocation is not     never_used   nothing ran since its start
  used_then_idle  it worked and stopped                             stuck        100 % and nothing moves
  failed_peer     a rank died and the others spin
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from layout import Lab, LabError, load  # noqa: E402
from life import stop_node  # noqa: E402
from procs import wait_for  # noqa: E402

NODES = 32
FOREVER = "sleep infinity"
FULL = ("Resources", "Priority")  # the first of those that wait for room is told Resources, the others Priority


@dataclass(frozen=True)
class Job:
    name: str
    user: str
    ask: str  # options of sbatch
    script: str = "srun rank busy"
    reasons: tuple[str, ...] = ()  # empty: it runs
    idle: str | None = None
    gpus: int = 0
    ended: bool = False


WORKING = [
    Job("gang_8x8", "carol", "-p h100 -N8 --gpus-per-node=8 --switches=2 -w n[001-008]", gpus=64),
    Job("gang_4x8", "alice", "-p a100 -N4 --gpus-per-node=8 --switches=1 -w n[017-020]", gpus=32),
    Job("array", "alice", "-p h100 -N1 --gpus-per-node=1 -w n012 --array=0-11%4", "rank busy", ("JobArrayTaskLimit",), gpus=4),
    Job("het", "dave", "-p h100 -N1 --gpus-per-node=4 -w n011 : -p a100 -N1 --gpus-per-node=2 -w n027",
        "srun --het-group=0,1 rank busy", gpus=6),
    Job("small", "dave", "-p h100 -N1 --gpus-per-node=8 -q small -w n009", gpus=8),
    Job("capped", "bob", "-p a100 -N2 --gpus-per-node=8 -q capped -w n[025-026]", gpus=16),
    Job("starved", "bob", "-p a100 -N1 --gpus-per-node=2 -w n027", "rank light", gpus=2),
    Job("licence_holder", "dave", "-N1 -n1 -L sim:4 -w n027", FOREVER),
    Job("requeued", "dave", "-p a100 -N1 --gpus-per-node=8 -w n030 --requeue", gpus=8),
    Job("preempted", "bob", "-p a100 -N1 --gpus-per-node=8 -w n031 -q spot --requeue",
        reasons=("BeginTime", "None", *FULL), gpus=8),
]  # fmt: skip

IDLING = [
    Job("interactive", "bob", "-p a100 -N1 --gpus-per-node=2 -w n027", "rank busy:10,idle", idle="used_then_idle", gpus=2),
    Job("ranks_died", "alice", "-p h100 -N1 --gpus-per-node=4 -w n013", f"rank busy:8,die; {FOREVER}", idle="no_process", gpus=4),
    Job("never_touched", "dave", "-p h100 -N1 --gpus-per-node=4 -w n014", FOREVER, idle="never_used", gpus=4),
    Job("loaded_only", "carol", "-p h100 -N1 --gpus-per-node=4 -w n015", "rank idle", idle="never_used", gpus=4),
    Job("hung", "carol", "-p h100 -N1 --gpus-per-node=8 -w n010", "rank busy:6,stuck", idle="stuck", gpus=8),
    Job("failed_peer", "bob", "-p a100 -N4 --gpus-per-node=8 --switches=1 -w n[021-024] -q spot",
        "srun rank 2=busy:8,die busy:8,stuck", idle="failed_peer", gpus=32),
]  # fmt: skip

FAILED = Job("failed", "carol", "-N1 -n1", "exit 1", ended=True)
PREEMPTOR = Job("preemptor", "carol", "-p a100 -N1 --gpus-per-node=8 -q prod -w n031", gpus=8)

# {name} stands for the id of that job. Those that a limit holds come before those that lack room, as a pass stops
# telling reasons in a partition once a job lacked room there.
WAITING = [
    Job("qos_user_limit", "dave", "-p h100 -N1 --gpus-per-node=4 -q small", reasons=("QOSMaxGRESPerUser",), gpus=4),
    Job("qos_group_limit", "bob", "-p a100 -N1 --gpus-per-node=8 -q capped", reasons=("QOSGrpGRES",), gpus=8),
    Job("account_limit", "alice", "-p h100 -N4 --gpus-per-node=8", reasons=("AssocGrpGRES",), gpus=32),
    Job("dependency", "alice", "-N1 --gpus-per-node=1 -d afterok:{gang_4x8}", reasons=("Dependency",), gpus=1),
    Job("dependency_never", "carol", "-N1 --gpus-per-node=1 -d afterok:{failed}", reasons=("DependencyNeverSatisfied",), gpus=1),
    Job("begin_time", "carol", "-N1 --gpus-per-node=1 --begin=now+2hours", reasons=("BeginTime",), gpus=1),
    Job("user_hold", "carol", "-N1 --gpus-per-node=1 --hold", reasons=("JobHeldUser",), gpus=1),
    Job("admin_hold", "carol", "-N1 --gpus-per-node=1 --begin=now+60", reasons=("JobHeldAdmin",), gpus=1),
    Job("licence", "alice", "-N1 -n1 -L sim:2", reasons=("Licenses",)),
    Job("feature", "carol", "-N1 --gpus-per-node=1 -C nvl72", reasons=("BadConstraints",), gpus=1),
    Job("own_reservation", "dave", "-N1 --gpus-per-node=1 --reservation=demo", reasons=("Reservation",), gpus=1),
    Job("maintenance", "dave", "-p a100 -N1 --gpus-per-node=8 -w n029 -t 08:00:00",
        reasons=("ReqNodeNotAvail, Reserved for maintenance", "ReqNodeNotAvail"), gpus=8),
    Job("node_down", "dave", "-p a100 -N1 --gpus-per-node=1 -w n032", reasons=("ReqNodeNotAvail",), gpus=1),
    Job("partition_down", "carol", "-p maint -N1 --gpus-per-node=1", reasons=("PartitionDown",), gpus=1),
    Job("partition_time", "carol", "-p short -N1 --gpus-per-node=1 -t 02:00:00", reasons=("PartitionTimeLimit",), gpus=1),
    Job("partition_nodes", "carol", "-p short -N6 --gpus-per-node=8", reasons=("PartitionNodeLimit",), gpus=48),
    Job("fragmented", "carol", "-p h100 -N1 --gpus-per-node=8 -q batch", reasons=FULL, gpus=8),
    Job("too_big", "carol", "-p h100 -N12 --gpus-per-node=8 -q batch", reasons=FULL, gpus=96),
]  # fmt: skip


class Mix:
    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.ids: dict[str, int] = {}
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> None:
        options = [option.format(**self.ids) for option in job.ask.split()]
        common = ["--parsable", "-J", job.name, "-o", f"{job.name}-%j.out", "-t", "04:00:00"]
        argv = ["sbatch", *common, *_each_component(options, job.name), "--wrap", job.script]
        self.ids[job.name] = int(self.lab.run(argv, job.user).partition(";")[0])
        self.jobs.append(job)

    def root(self, *argv: str) -> None:
        self.lab.run(list(argv))

    def wait_state(self, name: str, state: str) -> None:
        def reached() -> bool:
            shown = self.lab.run(["squeue", "-h", "-t", "all", "-j", str(self.ids[name]), "-o", "%T"])
            return shown.split()[:1] == [state]

        wait_for(f"{name} is {state}", 20, reached, pause=0.1)

    def wait_rank(self, name: str, node: str) -> None:
        said = self.lab.path("gpu", node, "0")

        def runs() -> bool:
            return said.exists() and json.loads(said.read_text())["job"] == self.ids[name]

        wait_for(f"a rank of {name} on {node}", 20, runs, pause=0.1)

    def told(self) -> dict[str, object]:
        jobs = {
            job.name: {
                "job": self.ids[job.name],
                "user": job.user,
                "gpus": job.gpus,
                "expect": {"waits": bool(job.reasons), "reasons": job.reasons, "idle": job.idle, "ended": job.ended},
            }
            for job in self.jobs
        }
        return {"jobs": jobs, "nodes": {"n016": "drained", "n032": "down"}, "reservations": ["demo", "maint-n029"]}


def make(lab: Lab) -> dict[str, object]:
    """1. what is out of service   2. what runs   3. what is lost   4. what waits"""
    if lab.options.nodes != NODES or not lab.options.accounting:
        raise LabError(f"the mix needs a lab of {NODES} nodes with accounting")
    mix = Mix(lab)
    _take_out_of_service(mix)
    for job in [FAILED, *WORKING, *IDLING]:
        mix.submit(job)
    _lose_work(mix)
    _make_waiting(mix)
    return mix.told()


def _take_out_of_service(mix: Mix) -> None:
    stop_node(mix.lab, "n032")
    mix.root("scontrol", "update", "nodename=n032", "state=down", "reason=gpu 3 fell off the bus")
    mix.root("scontrol", "update", "nodename=n016", "state=drain", "reason=fan 2 fails, ticket 4711")
    demo = "reservation=demo starttime=now+3hours duration=60 users=dave nodes=n028"
    maintenance = "reservation=maint-n029 starttime=now+2hours duration=120 users=root flags=maint nodes=n029"
    for words in (demo, maintenance):
        mix.root("scontrol", "create", *words.split())


def _lose_work(mix: Mix) -> None:
    """One job loses its work to an operator, one to a job of a higher class."""
    for name, node in (("requeued", "n030"), ("preempted", "n031")):
        mix.wait_rank(name, node)  # Slurm 22.05 leaves a job COMPLETING for minutes when it is requeued while it starts
    mix.root("scontrol", "requeue", str(mix.ids["requeued"]))
    mix.submit(PREEMPTOR)


def _make_waiting(mix: Mix) -> None:
    mix.wait_state("failed", "FAILED")
    mix.wait_state("licence_holder", "RUNNING")
    for job in WAITING:
        if job.name == "feature":
            _submit_with_feature(mix, job, "nvl72")
        else:
            mix.submit(job)
    mix.root("scontrol", "hold", str(mix.ids["admin_hold"]))


def _submit_with_feature(mix: Mix, job: Job, feature: str) -> None:
    """Slurm refuses a feature that no node has; so one that is down has it at the time of the submission."""
    before = "a100,ib,rack8"

    def set_features(text: str) -> None:
        mix.root("scontrol", "update", "nodename=n032", f"availablefeatures={text}", f"activefeatures={text}")

    set_features(f"{before},{feature}")
    mix.submit(job)
    set_features(before)


def _each_component(options: list[str], name: str) -> list[str]:
    """Every component of a het job has its own name and time limit."""
    if ":" not in options:
        return options
    at = options.index(":")
    return [*options[: at + 1], "-J", name, "-t", "04:00:00", *options[at + 1 :]]


def check(lab: Lab, told: dict) -> list[str]:
    """Returns a line for each job that is not as expected."""
    rows: dict[int, list[tuple[str, str]]] = {}
    form = "%F|%T|%r"
    for line in lab.run(["squeue", "-h", "-t", "all", "-o", form]).splitlines():
        base, state, reason = line.split("|", 2)
        rows.setdefault(int(re.split(r"[_+]", base)[0]), []).append((state, reason))
    found = [_difference(name, job, rows.get(job["job"], [])) for name, job in told["jobs"].items()]
    return [line for line in found if line]


def _difference(name: str, job: dict, rows: list[tuple[str, str]]) -> str | None:
    expect = job["expect"]
    if expect["ended"]:
        good = all(state == "FAILED" for state, _ in rows)
    elif expect["waits"]:
        good = any(state == "PENDING" and reason.startswith(tuple(expect["reasons"])) for state, reason in rows)
    else:
        good = bool(rows) and all(state == "RUNNING" for state, _ in rows)
    return None if good else f"{name}: expected {expect}, found {rows}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", metavar="DIR", type=Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    lab = load(args.dir)
    kept = lab.path("mix.json")
    try:
        if args.check:
            return _wait_as_expected(lab, json.loads(kept.read_text()))
        told = json.dumps(make(lab), indent=1)
    except LabError as error:
        print(f"mix: {error}", file=sys.stderr)
        return 1
    kept.write_text(told + "\n")
    print(told)
    return 0


def _wait_as_expected(lab: Lab, told: dict) -> int:
    wrong: list[str] = []

    def settled() -> bool:
        wrong[:] = check(lab, told)
        return not wrong

    try:
        wait_for("every job as expected", 40, settled, pause=0.5)
    except LabError:
        print("\n".join(wrong))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
