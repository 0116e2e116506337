"""The files of a lab before anything runs: its folders, its configuration, its commands.

The functions named after a file return its text and touch nothing; prepare() writes.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from itertools import groupby
from pathlib import Path

import root
from layout import GPUS_PER_NODE, HOST_RELEASE, LEAVES_PER_SPINE, NODES_PER_LEAF, USERS, Lab, node_name

HERE = Path(__file__).resolve().parent
CREDENTIAL_SECONDS = 15  # also what a requeued job waits before it may start again
CORES_PER_SOCKET = 32

# Passes follow each other quickly, so that a test sees an effect in a second and not in thirty.
SCHEDULER = ",".join(
    [
        "bf_interval=3",
        "bf_continue",
        "bf_max_job_test=1000",
        "sched_interval=3",
        "sched_min_interval=100000",  # microseconds
        "batch_sched_delay=0",
        "default_queue_depth=1000",
        "max_array_tasks=20000",
    ]
)


FOLDERS = ("bin", "dev", "etc", "gpu", "home", "log", "rest", "rootrun", "run", "spool", "state")
OWNED_BY_SLURM = ("log", "run", "spool", "state")


def prepare(lab: Lab) -> None:
    lab.dir.chmod(0o755)
    for name in FOLDERS:
        lab.path(name).mkdir()
    for name in OWNED_BY_SLURM:
        shutil.chown(lab.path(name), "slurm", "slurm")
    for gpu in range(GPUS_PER_NODE):  # Slurm counts a GPU when its file is a character device
        lab.path("dev", f"nvidia{gpu}").symlink_to("/dev/null")
    _write_configuration(lab)
    _write_commands(lab)


def make_places_of_users(lab: Lab) -> None:
    """A home for each user, and a folder for each node where any user's rank may say what it does."""
    for user in USERS:
        home = lab.path("home", user)
        home.mkdir(mode=0o755)
        shutil.chown(home, user, user)
    for name in lab.node_names:
        folder = lab.path("gpu", name)
        folder.mkdir()
        folder.chmod(0o777)


def _write_configuration(lab: Lab) -> None:
    _etc(lab, "slurm.conf", slurm_conf(lab))
    _etc(lab, "gres.conf", gres_conf(lab))
    _etc(lab, "topology.conf", topology_conf(lab))
    _secret(lab, "jwt.key", os.urandom(32))
    if lab.options.release != HOST_RELEASE:
        _etc(lab, "cgroup.conf", "CgroupPlugin=disabled\n")
        _secret(lab, "slurm.key", os.urandom(1024))
    if lab.options.accounting:
        _secret(lab, "slurmdbd.conf", slurmdbd_conf(lab).encode())
    if lab.options.prometheus:
        _etc(lab, "prometheus.json", prometheus_conf(lab))


def _write_commands(lab: Lab) -> None:
    """DIR/bin stands first in the PATH of users and jobs."""
    _program(lab.path("bin", "in"), root.enter_script(lab) if lab.options.root else enter_script(lab))
    shutil.copy(HERE / "rank.sh", lab.path("bin", "rank"))
    lab.path("bin", "rank").chmod(0o755)
    if lab.options.root:
        _write_clients(lab)


def _write_clients(lab: Lab) -> None:
    lab.path("clients").mkdir()
    for client in root.CLIENTS:
        _program(lab.path("clients", client), root.client_script(lab, client))
    lab.path("etc", "client").mkdir()
    plugins = f"PluginDir={lab.options.root}/{root.LIBRARIES}/slurm-wlm\n"
    _etc(lab, "client/slurm.conf", slurm_conf(lab) + plugins)
    for name in ("slurm", "slurmctld", "slurmdbd"):  # what /run is to daemons inside
        lab.path("rootrun", name).mkdir()
        shutil.chown(lab.path("rootrun", name), "root" if name == "slurm" else "slurm")


def enter_script(lab: Lab) -> str:
    """`in [-u USER] COMMAND...`: runs a command as USER with this lab's Slurm."""
    return f"""\
#!/bin/sh
user=root
if [ "$1" = -u ]; then user=$2; shift 2; fi
export SLURM_CONF={lab.slurm_conf} FAIRLEAD_LAB={lab.dir} PATH={lab.path("bin")}:$PATH
[ "$user" = root ] && exec "$@"
export HOME={lab.path("home")}/$user USER=$user LOGNAME=$user
cd "$HOME" && exec setpriv --reuid "$user" --regid "$user" --init-groups "$@"
"""


def slurm_conf(lab: Lab) -> str:
    parts = [_daemons(lab), _behaviour(lab), _nodes(lab), _partitions(lab), *lab.options.conf]
    if lab.options.accounting:
        parts.insert(2, _accounting(lab))
    return "\n".join(parts) + "\n"


def _daemons(lab: Lab) -> str:
    host = socket.gethostname().split(".")[0]
    return f"""\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={lab.ports.controller}
SlurmUser=slurm
SlurmdUser=root
{_authentication(lab)}
CredType=cred/{"munge" if lab.uses_munge else "slurm"}
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={lab.path("etc", "jwt.key")}
StateSaveLocation={lab.path("state")}
SlurmdSpoolDir={lab.path("spool")}/%n
SlurmctldPidFile={lab.pid_file("slurmctld")}
SlurmdPidFile={lab.path("run")}/slurmd.%n.pid
SlurmctldLogFile={lab.log_file("slurmctld")}
SlurmdLogFile={lab.path("log")}/slurmd.%n.log
SlurmctldDebug=info
SlurmdDebug=info
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides
SlurmctldTimeout=120
SlurmdTimeout=300
TreeWidth=65533
MessageTimeout=60
KillWait=5
UnkillableStepTimeout=300
InactiveLimit=0
ReturnToService=2"""


def _authentication(lab: Lab) -> str:
    if lab.uses_munge:
        return f"AuthType=auth/munge\nAuthInfo=socket={munge_socket(lab)},cred_expire={CREDENTIAL_SECONDS}"
    return f"AuthType=auth/slurm\nAuthInfo=use_client_ids,cred_expire={CREDENTIAL_SECONDS}"


def _behaviour(lab: Lab) -> str:
    return f"""\
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
TopologyPlugin=topology/tree
SchedulerType=sched/backfill
SchedulerParameters={SCHEDULER}
{_user_signal(lab)}
MaxArraySize=20001
MaxJobCount=50000
MinJobAge={lab.options.min_job_age}
PriorityType=priority/multifactor
PriorityWeightFairshare=100000
PriorityWeightQOS=10000
PriorityWeightAge=1000
PriorityDecayHalfLife=1-0
PriorityCalcPeriod=1
JobRequeue=1
Licenses=sim:4"""


def _user_signal(lab: Lab) -> str:
    """A job that asked for a signal gets it when it is preempted, too."""
    if lab.options.release == HOST_RELEASE:
        return "SlurmctldParameters=preempt_send_user_signal"
    return "PreemptParameters=send_user_signal"


def _accounting(lab: Lab) -> str:
    lines = [
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=127.0.0.1",
        f"AccountingStoragePort={lab.ports.dbd}",
        "AccountingStorageEnforce=associations,limits,qos",
        "AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:a100",
        "AccountingStoreFlags=job_comment",
        "PreemptType=preempt/qos",
        "PreemptMode=REQUEUE",
    ]
    if lab.uses_munge:  # connections to slurmdbd take the socket from here and not from AuthInfo
        lines.append(f"AccountingStoragePass={munge_socket(lab)}")
    return "\n".join(lines)


def _nodes(lab: Lab) -> str:
    """One line for the nodes of one GPU type below one leaf; a leaf is a rack."""
    host = socket.gethostname().split(".")[0]
    lines = []
    for (kind, leaf), numbers in groupby(range(1, lab.options.nodes + 1), lambda i: (lab.gpu_type(i), leaf_of(i))):
        group = list(numbers)
        ports = [lab.ports.first_node + i - 1 for i in (group[0], group[-1])]
        lines.append(
            f"NodeName={span(group[0], group[-1])} NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[0]}-{ports[1]}]"
            f" Sockets=2 CoresPerSocket={CORES_PER_SOCKET} ThreadsPerCore=1 RealMemory=512000"
            f" Gres=gpu:{kind}:{GPUS_PER_NODE} Feature={kind},ib,rack{leaf + 1} State=UNKNOWN"
        )
    return "\n".join(lines)


def _partitions(lab: Lab) -> str:
    first_half = span(1, lab.h100_nodes)
    common = "DefaultTime=01:00:00 DefMemPerCPU=1000"
    lines = [
        f"PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE {common} State=UP",
        f"PartitionName=h100 Nodes={first_half} MaxTime=INFINITE {common} State=UP",
        "PartitionName=short Nodes=ALL MaxTime=00:30:00 MaxNodes=4 DefaultTime=00:10:00 DefMemPerCPU=1000 State=UP",
        f"PartitionName=maint Nodes=ALL MaxTime=INFINITE {common} State=DOWN",
    ]
    if lab.options.nodes > lab.h100_nodes:
        second_half = span(lab.h100_nodes + 1, lab.options.nodes)
        lines.append(f"PartitionName=a100 Nodes={second_half} MaxTime=INFINITE {common} State=UP")
    return "\n".join(lines)


def gres_conf(lab: Lab) -> str:
    """Eight GPUs a node, four to a socket, linked closely within a socket."""
    lines = ["AutoDetect=off"]
    halves = [("h100", 1, lab.h100_nodes), ("a100", lab.h100_nodes + 1, lab.options.nodes)]
    for kind, first, last in halves:
        if first > last:
            continue
        for gpu in range(GPUS_PER_NODE):
            socket_number = gpu // 4
            cores = f"{socket_number * CORES_PER_SOCKET}-{(socket_number + 1) * CORES_PER_SOCKET - 1}"
            lines.append(
                f"NodeName={span(first, last)} Name=gpu Type={kind} File={lab.path('dev', f'nvidia{gpu}')}"
                f" Cores={cores} Links={_links(gpu)}"
            )
    return "\n".join(lines) + "\n"


def _links(gpu: int) -> str:
    to_other = [-1 if other == gpu else 4 if other // 4 == gpu // 4 else 1 for other in range(GPUS_PER_NODE)]
    return ",".join(map(str, to_other))


def topology_conf(lab: Lab) -> str:
    """Leaves of four nodes, spines of four leaves, one core above several spines."""
    leaves = leaf_of(lab.options.nodes) + 1
    spines = (leaves - 1) // LEAVES_PER_SPINE + 1
    lines = []
    for leaf in range(leaves):
        last = min((leaf + 1) * NODES_PER_LEAF, lab.options.nodes)
        lines.append(f"SwitchName=leaf{leaf} Nodes={span(leaf * NODES_PER_LEAF + 1, last)} LinkSpeed=400")
    for spine in range(spines):
        last = min((spine + 1) * LEAVES_PER_SPINE, leaves) - 1
        lines.append(f"SwitchName=spine{spine} Switches=leaf[{spine * LEAVES_PER_SPINE}-{last}]")
    if spines > 1:
        lines.append(f"SwitchName=core Switches=spine[0-{spines - 1}]")
    return "\n".join(lines) + "\n"


def slurmdbd_conf(lab: Lab) -> str:
    return f"""\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={lab.ports.dbd}
SlurmUser=slurm
{_authentication(lab)}
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key={lab.path("etc", "jwt.key")}
LogFile={lab.log_file("slurmdbd")}
PidFile={lab.pid_file("slurmdbd")}
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
"""


def prometheus_conf(lab: Lab) -> str:
    """JSON is YAML. The exporter tells the targets, one a node, as a site's discovery would."""
    every = f"{lab.options.scrape_seconds}s"
    job = {
        "job_name": "dcgm-exporter",
        "http_sd_configs": [{"url": f"{lab.exporter_url}/targets", "refresh_interval": "2s"}],
    }
    timing = {"scrape_interval": every, "scrape_timeout": every}
    return json.dumps({"global": timing, "scrape_configs": [job]}, indent=1)


def munge_socket(lab: Lab) -> Path:
    return lab.path("munge", "munge.socket")


def leaf_of(number: int) -> int:
    return (number - 1) // NODES_PER_LEAF


def span(first: int, last: int) -> str:
    if first == last:
        return node_name(first)
    return f"n[{first:03d}-{last:03d}]"


def _etc(lab: Lab, name: str, text: str) -> None:
    lab.path("etc", name).write_text(text)


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _secret(lab: Lab, name: str, content: bytes) -> None:
    path = lab.path("etc", name)
    path.touch(mode=0o600)
    path.write_bytes(content)
    shutil.chown(path, "slurm", "slurm")
