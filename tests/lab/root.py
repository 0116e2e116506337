"""Root filesystems that hold other releases of Slurm, made once from the mirror that this machine's apt uses.

A command enters one in a mount namespace of its own: the lab's folder, its /run and /proc are bound, then chroot.
Nothing stays mounted when the command ends, so any number of labs share one root, and removing it is safe.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import ports
from layout import HOST_RELEASE, PLAIN_PATH, USERS, Lab, LabError, Skipped, cache_dir

SUITES = {"24.11": "trixie", "26.05": "sid"}
PACKAGES = (
    "slurmctld slurmd slurmdbd slurmrestd slurm-client slurm-wlm-basic-plugins slurm-wlm-jwt-plugin"
    " slurm-wlm-mysql-plugin libslurm-dev munge procps"
).split()
CLIENTS = (
    "sacct sacctmgr salloc sattach sbatch scancel scontrol sdiag sinfo sprio squeue sreport srun sshare sstat strigger"
).split()
LIBRARIES = "usr/lib/x86_64-linux-gnu"
APT_HELPER = "/usr/lib/apt/apt-helper"


def ensure(release: str) -> str | None:
    """Returns the root of a release, made if need be; None for the host's own. Fails with Skipped."""
    if release == HOST_RELEASE:
        return None
    root = cache_dir() / f"root-{release}"
    with ports.locked(root.name):
        if not root.exists():
            _make(release, root)
    return str(root)


def make_users(root: str) -> None:
    """The same people with the same numbers as on the machine. Requires: they exist there."""
    known = Path(root, "etc/passwd").read_text()
    for user in (pwd.getpwnam(name) for name in USERS):
        if f"\n{user.pw_name}:" not in known:
            group, number = str(user.pw_gid), str(user.pw_uid)
            _run(["chroot", root, "groupadd", "-g", group, user.pw_name])
            _run(["chroot", root, "useradd", "-M", "-s", "/bin/bash", "-u", number, "-g", group, user.pw_name])


def enter_script(lab: Lab) -> str:
    """`in [-u USER] COMMAND...`; see config.enter_script."""
    root, home = lab.options.root, lab.path("home")
    return f"""\
#!/bin/sh
user=root home=/tmp
if [ "$1" = -u ]; then user=$2; shift 2; fi
if [ "$(id -u)" != 0 ]; then
  echo "lab: only root may enter the root filesystem of Slurm {lab.options.release}" >&2; exit 1
fi
[ "$user" = root ] || home={home}/$user
where=$home
case "$PWD/" in {lab.dir}/*) [ "$user" != root ] || where=$PWD ;; esac
export SLURM_CONF={lab.slurm_conf} FAIRLEAD_LAB={lab.dir} PATH={lab.path("bin")}:{PLAIN_PATH}
export HOME="$home" USER="$user" LOGNAME="$user" LC_ALL=C.UTF-8
exec unshare --mount --propagation private sh -c '
  user=$1 where=$2; shift 2
  mkdir -p {root}{lab.dir} && mount --bind {lab.dir} {root}{lab.dir} || exit 125
  mount --bind {lab.path("rootrun")} {root}/run && mount -t proc proc {root}/proc || exit 125
  [ "$user" = root ] && exec chroot {root} env -C "$where" "$@"
  exec chroot {root} setpriv --reuid "$user" --regid "$user" --init-groups env -C "$where" "$@"
' in "$user" "$where" "$@"
"""


def client_script(lab: Lab, client: str) -> str:
    """A client of the root's release under its plain name. Who is not root runs it by its own loader, from outside."""
    root = lab.options.root
    return f"""\
#!/bin/sh
[ "$(id -u)" = 0 ] && exec {lab.path("bin", "in")} {client} "$@"
if [ ! -x {root}/usr/bin/{client} ]; then
  echo "lab: {root}: only root may enter it; set FAIRLEAD_LAB_CACHE to a folder that others may enter" >&2; exit 1
fi
export SLURM_CONF={lab.path("etc", "client", "slurm.conf")}
export SLURM_SACK_SOCKET={lab.path("rootrun", "slurmctld", "sack.socket")}
libraries={root}/{LIBRARIES}:{root}/{LIBRARIES}/slurm-wlm
exec {root}/lib64/ld-linux-x86-64.so.2 --library-path $libraries {root}/usr/bin/{client} "$@"
"""


def _make(release: str, root: Path) -> None:
    suite, mirror = SUITES[release], _mirror()
    _check_reachable(f"{mirror}/dists/{suite}/InRelease", release)
    print(f"lab: making a root filesystem with Slurm {release} from {suite}, once", file=sys.stderr)
    new = root.with_name(root.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    _run(
        ["mmdebstrap", "--quiet", "--variant=minbase", '--aptopt=Acquire::Check-Valid-Until "false"']
        + [f"--include={','.join(PACKAGES)}", suite, str(new), mirror]
    )
    (new / "etc/hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename.split('.')[0]}\n")
    said = _run(["chroot", str(new), "slurmctld", "-V"]).split()  # "slurm-wlm 24.11.5"
    if not said[-1].startswith(release + "."):
        raise Skipped(f"{suite} of the package mirror holds Slurm {said[-1]}, not {release}")
    new.rename(root)


def _mirror() -> str:
    """Where the host's apt has Debian's main component from."""
    fields = "$(ORIGIN)|$(COMPONENT)|$(REPO_URI)"
    for line in _run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).splitlines():
        origin, component, uri = line.split("|")
        if (origin, component) == ("Debian", "main") and uri.rstrip("/").endswith("/debian"):
            return uri.rstrip("/")
    raise Skipped("apt knows no mirror of Debian here; `apt-get update` may tell it")


def _check_reachable(uri: str, release: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        quick = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15", "-o", "Acquire::https::Timeout=15"]
        argv = [APT_HELPER, *quick, "download-file", uri, f"{folder}/InRelease"]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Skipped(f"the package mirror cannot be reached, so there is no Slurm {release}")


def _run(argv: list[str]) -> str:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(f"{argv[0]}: exit {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout
