"""Teams, users and classes of the lab, and the database that holds them.

Making them takes seconds (each call of sacctmgr a third of one), so it is done once per release: a small lab with
no nodes is seeded, stopped, and its database folder kept in the cache under a name made from all that went into
it. Every `up` starts from a copy. A folder gets its name only when it is whole, so that a half-made one is never
used.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import config
import ports
import services
from layout import OBSERVER, Lab, LabError, Ports, cache_dir

# A QOS may name another as its prey only when that one exists: hence the order.
CLASSES = [
    ["spot priority=10 preemptmode=requeue"],
    ["batch priority=100 preemptmode=requeue preempt=spot"],
    [
        "prod priority=1000 preempt=spot,batch",
        "small priority=100 maxtresperuser=gres/gpu=8",
        "capped priority=100 grptres=gres/gpu=16",
    ],
]

# In the form that `sacctmgr dump` writes; one call of `sacctmgr load` makes all of it.
ORGANISATION = f"""\
Cluster - 'lab':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'research':Description='research':Organization='acme':Fairshare=30
Account - 'product':Description='product':Organization='acme':Fairshare=70
Account - 'ops':Description='operations':Organization='acme':Fairshare=5
Parent - 'research'
Account - 'vision':Description='vision':Organization='acme':Fairshare=50:GrpTRES=gres/gpu=64
User - 'bob':DefaultAccount='research':Fairshare=10:DefaultQOS='spot':QOS='spot,batch,small,capped'
Parent - 'vision'
User - 'alice':DefaultAccount='vision':Fairshare=10:DefaultQOS='batch':QOS='spot,batch,prod,small,capped'
Parent - 'product'
User - 'carol':DefaultAccount='product':Fairshare=10:DefaultQOS='prod':QOS='spot,batch,prod,small,capped'
Parent - 'ops'
User - 'dave':DefaultAccount='ops':Fairshare=10:DefaultQOS='batch':QOS='spot,batch,prod,small,capped'
User - '{OBSERVER}':DefaultAccount='ops':Fairshare=1:DefaultQOS='spot':QOS='spot'
"""

GRANT = (
    "create database if not exists slurm_acct_db;"
    "create user if not exists slurm@localhost identified by 'slurm';"
    "grant all on slurm_acct_db.* to slurm@localhost;"
)


def place_database(lab: Lab) -> None:
    """Gives the lab its own copy of the seeded database."""
    new = lab.path("mysql.new")
    _copy(_seeded(lab), new)
    new.rename(lab.path("mysql"))


def _seeded(lab: Lab) -> Path:
    kept = cache_dir() / f"accounts-{lab.options.release}-{_fingerprint()}"
    with ports.locked(kept.name):
        if not kept.exists():
            _make(lab, kept)
            _forget_old(lab)
    os.utime(kept)
    return kept


def _forget_old(lab: Lab) -> None:
    """Databases of other fingerprints that nobody used for a week."""
    for other in cache_dir().glob(f"accounts-{lab.options.release}-*"):
        if other.is_dir() and time.time() - other.stat().st_mtime > 7 * 86400:
            shutil.rmtree(other, ignore_errors=True)


def _fingerprint() -> str:
    """Changes with the accounts, with how the database is started, and with MariaDB itself."""
    version = subprocess.run(["mariadbd", "--version"], capture_output=True, text=True, check=True).stdout
    sources = inspect.getsource(sys.modules[__name__]) + inspect.getsource(services.start_database)
    return hashlib.sha256((version + sources).encode()).hexdigest()[:12]


def _make(lab: Lab, kept: Path) -> None:
    print(f"lab: seeding the accounting database of Slurm {lab.options.release}, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="lab-seed.") as folder:
        small = _small_lab(lab, Path(folder))
        try:
            _start_and_seed(small)
            services.stop_everything(small, grace=10)  # MariaDB must have written all of it
            new = kept.with_suffix(".new")
            _copy(small.path("mysql"), new)
            new.rename(kept)
        finally:
            services.stop_everything(small, grace=1)
            ports.release(small.dir)


def _small_lab(lab: Lab, folder: Path) -> Lab:
    options = replace(lab.options, nodes=1, prometheus=False, conf=())
    small = Lab(folder, options, Ports.from_block(ports.reserve(folder, Ports.count(1))))
    config.prepare(small)
    return small


def _start_and_seed(lab: Lab) -> None:
    data = lab.path("mysql")
    data.mkdir()
    shutil.chown(data, "mysql")
    install = ["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={data}", "--skip-test-db"]
    services.must([*install, "--auth-root-authentication-method=socket"])
    if lab.uses_munge:
        services.start_munge(lab)
    services.start_database(lab)
    services.database_client(lab, GRANT)
    services.start_dbd(lab)
    services.start_controller(lab)  # makes the cluster known, and the GPU types that limits name
    _seed(lab)


def _seed(lab: Lab) -> None:
    for together in CLASSES:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda words: lab.run(["sacctmgr", "-iQ", "add", "qos", *words.split()]), together))
    file = lab.path("etc", "organisation.cfg")
    file.write_text(ORGANISATION)
    lab.run(["sacctmgr", "-iQ", "load", f"file={file}"])
    users = lab.run(["sacctmgr", "-nP", "show", "user", "format=user"])
    if OBSERVER not in users.split():
        raise LabError(f"sacctmgr load made only these users: {users.split()}")


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    services.must(["cp", "-a", "--reflink=auto", str(source), str(target)])
