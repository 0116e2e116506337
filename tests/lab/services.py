"""Starts the services of a lab, each until it answers."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from layout import GPUS_PER_NODE, HOST_RELEASE, OBSERVER, Lab, LabError
from procs import is_alive, kill, left_over, pid_of, stop, wait_for

HERE = Path(__file__).resolve().parent
REST_VERSIONS = {"22.05": "v0.0.38", "24.11": "v0.0.42", "26.05": "v0.0.44"}


def start_munge(lab: Lab) -> None:
    if not lab.uses_munge:
        raise LabError(f"Slurm {lab.options.release} signs with its own key here, without munge")
    _remove_stale_pid(lab, "munged")
    folder = lab.path("munge")
    folder.mkdir(mode=0o755, exist_ok=True)
    shutil.chown(folder, "munge")
    key = folder / "munge.key"
    as_munge = ["setpriv", "--reuid", "munge", "--regid", "munge", "--init-groups"]
    if not key.exists():
        must([*as_munge, "mungekey", "-c", "-k", str(key)])
    shutil.chown(lab.path("run"), "slurm")
    files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log"}
    options = [f"--{option}={folder / name}" for option, name in files.items()]
    must([*as_munge, "munged", *options, f"--seed-file={folder / 'munged.seed'}", "--num-threads=2", "--force"])
    _link_pid_file(lab, "munged", folder / "munged.pid")


def start_database(lab: Lab, data: Path | None = None) -> None:
    """MariaDB on a socket of its own. What it holds is thrown away with the lab, so nothing waits for the disk."""
    run = lab.path("mysqlrun")
    run.mkdir(exist_ok=True)
    shutil.chown(run, "mysql")
    options = {
        "user": "mysql",
        "datadir": data or lab.path("mysql"),
        "socket": run / "mysqld.sock",
        "pid-file": run / "mysqld.pid",
        "innodb-buffer-pool-size": "64M",
        "innodb-log-file-size": "8M",
        "innodb-flush-log-at-trx-commit": 0,
        "innodb-lock-wait-timeout": 900,
        "innodb-flush-method": "nosync",
        "performance-schema": 0,
    }
    argv = ["mariadbd", "--no-defaults", *(f"--{key}={value}" for key, value in options.items())]
    (run / "mysqld.pid").unlink(missing_ok=True)
    _background(lab, "mariadbd", [*argv, "--skip-networking"])
    _wait_up(lab, "mariadbd", lambda: (run / "mysqld.pid").exists() and connects(run / "mysqld.sock"), 60)


def database_client(lab: Lab, statements: str) -> None:
    must(["mariadb", "--no-defaults", "-S", str(lab.path("mysqlrun", "mysqld.sock")), "-e", statements])


def start_dbd(lab: Lab) -> None:
    _remove_stale_pid(lab, "slurmdbd")
    env = {**os.environ, "MYSQL_UNIX_PORT": str(lab.path("mysqlrun", "mysqld.sock"))}
    must(lab.command(["slurmdbd"]), env=env)
    _wait_up(lab, "slurmdbd", lambda: listens(lab.ports.dbd), 30)


def start_controller(lab: Lab) -> None:
    _remove_stale_pid(lab, "slurmctld")
    log = lab.log_file("slurmctld")
    before = log.stat().st_size if log.exists() else 0
    must(lab.command(["slurmctld", "-f", str(lab.slurm_conf), *_tolerance(lab)]))

    def answers_or_died() -> bool:
        _raise_fatal(log, before)
        return controller_answers(lab)

    wait_for("slurmctld answers", 60, answers_or_died, pause=0.05)


# Lines of slurm.conf for a lab whose controller has a second one standing by.
STANDBY = ("SlurmctldHost=standby(127.0.0.2)", "CommunicationParameters=NoCtldInAddrAny", "SlurmctldTimeout=5")


def start_standby(lab: Lab) -> None:
    """The second controller, in a world where the machine is called `standby`. Requires: STANDBY among the lab's lines."""
    own = {"SlurmctldPidFile": lab.pid_file("standby"), "SlurmctldLogFile": lab.log_file("standby")}
    lines = lab.slurm_conf.read_text().splitlines()
    conf = lab.path("etc", "standby.conf")
    conf.write_text("\n".join(f"{k}={own[k]}" if (k := line.partition("=")[0]) in own else line for line in lines) + "\n")
    hosts = lab.path("etc", "standby.hosts")
    hosts.write_text(Path("/etc/hosts").read_text() + "\n127.0.0.2 standby\n")
    steps = f"mount --bind {hosts} /etc/hosts && hostname standby && exec slurmctld -f {conf}"
    must(["unshare", "--uts", "--mount", "sh", "-c", steps])
    wait_for("the standby answers", 20, lambda: "standby is UP" in lab.run(["scontrol", "ping"], check=False))


def _raise_fatal(log: Path, since: int) -> None:
    """A daemon of Slurm may die after it left the foreground; its log says why."""
    said = log.read_bytes()[since:].decode(errors="replace") if log.exists() else ""
    for line in said.splitlines():
        if "fatal:" in line:
            raise LabError(f"{log.stem}: {line.partition('fatal:')[2].strip()}")


def _tolerance(lab: Lab) -> list[str]:
    """Usage is saved once a minute; from 26.05 on, a controller killed before that refuses to start without it."""
    young = lab.path("state", "job_state").exists() and not lab.path("state", "assoc_usage").exists()
    return ["-i"] if young else []


def controller_answers(lab: Lab) -> bool:
    try:
        return "is UP" in lab.run(["scontrol", "ping"], timeout=5, check=False)
    except LabError:
        return False


def start_node(lab: Lab, name: str) -> None:
    _remove_stale_pid(lab, f"slurmd.{name}")
    lab.path("spool", name).mkdir(exist_ok=True)
    must(lab.command(["slurmd", "-N", name, "-f", str(lab.slurm_conf)]))


def start_nodes(lab: Lab) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: start_node(lab, name), lab.node_names))


def wait_nodes_idle(lab: Lab) -> None:
    def all_idle() -> bool:
        idle = lab.run(["sinfo", "-h", "-N", "-p", "all", "-t", "idle", "-o", "%N"], check=False)
        return len(idle.split()) == lab.options.nodes

    wait_for("all nodes idle", 60, all_idle, pause=0.05)


def wait_nodes_registered(lab: Lab) -> None:
    """After a start of the controller. Before that it knows no GPU of theirs: Slurm 22.05 then starts a job on a node
    where others run, and gives it none."""

    def registered() -> bool:
        nodes = lab.run(["scontrol", "-o", "show", "nodes"], check=False).splitlines()
        unseen = [line.split()[0].partition("=")[2] for line in nodes if "SlurmdStartTime=None" in line]
        return bool(nodes) and not any(pid_of(lab, f"slurmd.{name}") for name in unseen)

    wait_for("all nodes registered", 60, registered, pause=0.1)


def wait_telemetry(lab: Lab) -> None:
    query = f"{lab.prometheus_url}/api/v1/query?query=count(DCGM_FI_DEV_GPU_UTIL)"

    def sampled() -> bool:
        with urllib.request.urlopen(query, timeout=5) as reply:
            result = json.load(reply)["data"]["result"]
        return bool(result) and int(result[0]["value"][1]) >= lab.options.nodes * GPUS_PER_NODE

    wait_for("samples of every GPU", 30, sampled, pause=0.1)


def start_exporter(lab: Lab) -> None:
    _background(lab, "exporter", [sys.executable, str(HERE / "exporter.py"), str(lab.dir)])
    _wait_up(lab, "exporter", lambda: listens(lab.ports.exporter), 20)


def start_prometheus(lab: Lab) -> None:
    options = {
        "config.file": lab.path("etc", "prometheus.json"),
        "storage.tsdb.path": lab.path("prometheus"),
        "storage.tsdb.retention.time": "2h",
        "web.listen-address": f"127.0.0.1:{lab.ports.prometheus}",
        "log.level": "warn",
    }
    argv = ["prometheus", *(f"--{key}={value}" for key, value in options.items())]
    _background(lab, "prometheus", [*argv, "--web.enable-lifecycle", "--web.enable-admin-api"])
    _wait_up(lab, "prometheus", lambda: answers(f"{lab.prometheus_url}/-/ready"), 30)


def rest_socket(lab: Lab) -> Path:
    return lab.path("rest", "rest.sock")


def start_rest(lab: Lab) -> None:
    """slurmrestd twice: on a socket for its own user and root, and on TCP for who has a token. Root it refuses to be."""
    shutil.chown(lab.path("rest"), OBSERVER)
    version = REST_VERSIONS[lab.options.release]
    if lab.options.release == HOST_RELEASE:
        plugins = ["-s", f"openapi/{version},openapi/db{version}"]
    else:
        plugins = ["-s", "slurmctld,slurmdbd", "-d", version]
    local = ["slurmrestd", "-a", "rest_auth/local", *plugins, f"unix:{rest_socket(lab)}"]
    tokens = ["env", "SLURM_JWT=daemon", "slurmrestd", "-a", "rest_auth/jwt", *plugins, f"127.0.0.1:{lab.ports.rest}"]
    stop(living(lab, ["slurmrestd-unix", "slurmrestd-tcp"]), grace=3)
    rest_socket(lab).unlink(missing_ok=True)
    _background(lab, "slurmrestd-unix", lab.command(local, OBSERVER))
    _background(lab, "slurmrestd-tcp", lab.command(tokens, OBSERVER))
    _wait_up(lab, "slurmrestd-unix", lambda: rest_socket(lab).exists() and connects(rest_socket(lab)), 20)
    _wait_up(lab, "slurmrestd-tcp", lambda: listens(lab.ports.rest), 20)


def stop_everything(lab: Lab, grace: float = 3) -> None:
    """Slurm before what it writes to; then whatever is left of this lab, jobs included."""
    nodes = [f"slurmd.{name}" for name in lab.node_names]
    for group in (["slurmrestd-unix", "slurmrestd-tcp", "standby", "slurmctld", *nodes, "prometheus", "exporter"], ["slurmdbd"]):
        stop(living(lab, group), grace)
    kill(left_over(lab, but=living(lab, ["mariadbd", "munged"])))
    stop(living(lab, ["mariadbd", "munged"]), grace)
    kill(left_over(lab))


def living(lab: Lab, services: list[str]) -> list[int]:
    return [pid for pid in (pid_of(lab, service) for service in services) if pid]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False


def _background(lab: Lab, service: str, argv: list[str]) -> None:
    """Starts a program that stays in the foreground, in a session of its own, with its pid in a file."""
    _remove_stale_pid(lab, service)
    with open(lab.log_file(service), "ab") as log:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=lab.dir, env=_env()
        )
    lab.pid_file(service).write_text(f"{process.pid}\n")


def _env() -> dict[str, str]:
    """A daemon under another user may not write in a TMPDIR of ours."""
    return {name: value for name, value in os.environ.items() if name != "TMPDIR"}


def _wait_up(lab: Lab, service: str, ready: Callable[[], bool], seconds: float) -> None:
    def up() -> bool:
        if ready():
            return True
        if lab.pid_file(service).exists() and not _runs(lab, service):
            raise LabError(f"{service} ended at once; the end of its log:\n{_tail(lab.log_file(service))}")
        return False

    wait_for(f"{service} is up", seconds, up)


def _runs(lab: Lab, service: str) -> bool:
    try:
        return is_alive(int(lab.pid_file(service).read_text()))
    except (OSError, ValueError):
        return True  # not written yet


def _tail(path: Path) -> str:
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-5:])
    except OSError:
        return "(none)"


def _remove_stale_pid(lab: Lab, service: str) -> None:
    """A killed daemon leaves its pid file; the next must not be mistaken for it."""
    if pid_of(lab, service):
        raise LabError(f"{service} already runs")
    lab.pid_file(service).unlink(missing_ok=True)


def _link_pid_file(lab: Lab, service: str, target: Path) -> None:
    link = lab.pid_file(service)
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def must(argv: list[str], env: dict[str, str] | None = None) -> None:
    """Runs it to its end. A file takes its output: a daemon's child would hold a pipe open."""
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env or _env(), timeout=120)
        if done.returncode != 0:
            said.seek(0)
            raise LabError(f"{shlex.join(argv[:6])}: exit {done.returncode}: {said.read().strip()}")
