#!/usr/bin/env python3
"""dcgm-exporter of every node of a lab, in one process: /n001/metrics is what node n001's exporter would serve.

What a GPU shows follows from what a rank on it says it does (rank.sh), while that rank lives:

  activity  GPU_UTIL  tensor, DRAM  power, clock   memory    stands for
  busy      95        high          high           held      training
  light     30        low           a third        held      debugging, a starved input pipeline
  idle      0         0             idle           held      a notebook left open
  stuck     100       0             near idle      held      ranks that spin in a collective and wait for a dead peer
  (none)    0         0             idle           ~0        no process on the GPU, or a dead one

A stopped process (its job is suspended) holds what it held and computes nothing: idle.

A little noise, the same for the same instant. DIR/gpu/faults.json makes exporters lie, for as long as it says so:

  {"n001": "down",                    answers 503
   "n002": "empty",                   a page with nothing on it
   "n003": "lower-case",              label `hostname` in place of `Hostname`, as newer exporters write it
   "n004": {"0": "nan",               every gauge
            "1": "negative",
            "2": {"fault": "missing", "metrics": ["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"]},
            "3": "future",            samples five minutes ahead; Prometheus then refuses honest ones until that time
            "4": "other-host",        Hostname is the next node's
            "5": "second",            a second exporter (instance n004:9401) shows this GPU, too
            "6": "blank",             DCGM's own sentinels for "no value"
            "7": {"fault": "xid", "value": 79}}}

`metrics` narrows nan, negative, missing and blank to those names. A fault of node "*" is every node's.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
import time
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

from layout import GPUS_PER_NODE, Lab, load, node_name

DRIVER = "550.90.07"
FUTURE_SECONDS = 300
NOISE_SECONDS = 2  # how long a value stands still
BLANK_INT = "9223372036854775794"
BLANK_FLOAT = "140737488355328"


@dataclass(frozen=True)
class Metric:
    name: str
    kind: str
    help: str
    form: str = "%d"


METRICS = [
    Metric("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz)."),
    Metric("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C)."),
    Metric("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", "%.3f"),
    Metric("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Total energy consumption since boot (in mJ)."),
    Metric("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %)."),
    Metric("DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %)."),
    Metric("DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered."),
    Metric("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB)."),
    Metric("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB)."),
    Metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Ratio of time the graphics engine is active.", "%.6f"),
    Metric("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", "Ratio of cycles the tensor (HMMA) pipe is active.", "%.6f"),
    Metric("DCGM_FI_PROF_DRAM_ACTIVE", "gauge", "Ratio of cycles the memory interface is active.", "%.6f"),
]


@dataclass(frozen=True)
class Model:
    name: str
    memory_mib: int
    idle_watts: float
    max_watts: float
    idle_mhz: int
    max_mhz: int


MODELS = {
    "h100": Model("NVIDIA H100 80GB HBM3", 81_079, 71, 700, 345, 1980),
    "a100": Model("NVIDIA A100-SXM4-80GB", 81_152, 58, 400, 210, 1410),
}


@dataclass(frozen=True)
class Activity:
    """Percent of what the device can do, and how far each value strays."""

    util: float = 0
    copy: float = 0
    engine: float = 0
    tensor: float = 0
    dram: float = 0
    power: float = 0  # of the way from idle to the most
    clock: float = 0  # likewise
    memory: float = 0
    temp: float = 33  # degrees
    stray: float = 0.0  # of the value itself


ACTIVITIES = {
    "none": Activity(),
    "idle": Activity(memory=52, power=6, temp=36),
    "light": Activity(30, copy=12, engine=28, tensor=5, dram=7, power=27, clock=88, memory=34, temp=45, stray=0.2),
    "busy": Activity(95, copy=58, engine=94, tensor=56, dram=44, power=86, clock=92, memory=83, temp=64, stray=0.05),
    "stuck": Activity(100, engine=99.6, dram=0.2, power=9, clock=4, memory=83, temp=40),
}


@dataclass
class Gpu:
    node: str
    index: int
    model: Model
    energy_mj: float
    energy_at: float
    lock: threading.Lock = field(default_factory=threading.Lock)

    def labels(self, hostname: str, hostname_key: str) -> str:
        uuid = f"GPU-{UUID(bytes=hashlib.md5(f'{self.node}/{self.index}'.encode()).digest(), version=4)}"
        bus = f"00000000:{0x1A + 0x10 * self.index:02X}:00.0"
        return (
            f'gpu="{self.index}",UUID="{uuid}",pci_bus_id="{bus}",device="nvidia{self.index}",'
            f'modelName="{self.model.name}",{hostname_key}="{hostname}",DCGM_FI_DRIVER_VERSION="{DRIVER}"'
        )

    def consume(self, watts: float, now: float) -> float:
        """The energy counter after the time since the last look."""
        with self.lock:
            self.energy_mj += watts * 1000 * max(0.0, now - self.energy_at)
            self.energy_at = max(self.energy_at, now)
            return self.energy_mj


class Fleet:
    """All GPUs of the lab; page() is what an exporter would serve."""

    def __init__(self, lab: Lab, now: float) -> None:
        self.lab = lab
        self.gpus = {
            node_name(number): [self._gpu(number, index, now) for index in range(GPUS_PER_NODE)]
            for number in range(1, lab.options.nodes + 1)
        }
        self.faults = Faults(lab.path("gpu", "faults.json"))

    def _gpu(self, number: int, index: int, now: float) -> Gpu:
        since_boot = 1e9 * (1 + zlib.crc32(f"boot/{number}/{index}".encode()) % 1000)
        return Gpu(node_name(number), index, MODELS[self.lab.gpu_type(number)], since_boot, now)

    def targets(self) -> list[dict[str, Any]]:
        return [self._target(node, "", 9400) for node in self.gpus] + [
            self._target(node, "/second", 9401) for node in self.gpus if self.faults.has_second(node)
        ]

    def _target(self, node: str, path: str, port: int) -> dict[str, Any]:
        labels = {"__metrics_path__": f"/{node}{path}/metrics", "instance": f"{node}:{port}"}
        return {"targets": [f"127.0.0.1:{self.lab.ports.exporter}"], "labels": labels}

    def page(self, node: str, second: bool, now: float) -> str:
        page_fault = self.faults.of_page(node)
        if page_fault == "empty":
            return ""
        series: dict[str, list[str]] = {metric.name: [] for metric in METRICS}
        for gpu in self.gpus[node]:
            fault = self.faults.of_gpu(node, gpu.index)
            if not second or fault.kind == "second":
                self._add_gpu(series, gpu, fault, second, page_fault == "lower-case", now)
        return "".join(
            f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n" + "".join(series[metric.name])
            for metric in METRICS
            if series[metric.name]
        )

    def _add_gpu(
        self, series: dict[str, list[str]], gpu: Gpu, fault: Fault, second: bool, lower_case: bool, now: float
    ) -> None:
        values = readings(gpu, ACTIVITIES[self._activity(gpu)], second, now)
        hostname = fault.hostname(gpu.node)
        labels = gpu.labels(hostname, "hostname" if lower_case else "Hostname")
        stamp = f" {int((now + FUTURE_SECONDS) * 1000)}" if fault.kind == "future" else ""
        for metric in METRICS:
            value = fault.bend(metric, metric.form % values[metric.name])
            if value is not None:
                series[metric.name].append(f"{metric.name}{{{labels}}} {value}{stamp}\n")

    def _activity(self, gpu: Gpu) -> str:
        """What the rank on it says, if that rank lives."""
        try:
            claim = json.loads(self.lab.path("gpu", gpu.node, str(gpu.index)).read_text())
            state, started = _state_and_start(claim["pid"])
        except (OSError, ValueError, KeyError, IndexError):
            return "none"
        if state in "ZX" or started != claim["started"] or claim["activity"] not in ACTIVITIES:
            return "none"
        return "idle" if state == "T" else claim["activity"]


def readings(gpu: Gpu, activity: Activity, second: bool, now: float) -> dict[str, float]:
    def noisy(name: str, value: float, most: float) -> float:
        seed = f"{gpu.node}/{gpu.index}/{name}/{second}/{int(now // NOISE_SECONDS)}"
        swing = zlib.crc32(seed.encode()) / 0x7FFFFFFF - 1  # -1 .. 1
        return min(most, value * (1 + activity.stray * swing))

    model = gpu.model
    own = zlib.crc32(f"{gpu.node}/{gpu.index}".encode()) % 97 / 97  # what makes this one differ from its neighbours
    idle_watts = model.idle_watts + 3 * own
    watts = idle_watts + noisy("power", activity.power, 100) / 100 * (model.max_watts - idle_watts)
    mhz = model.idle_mhz + noisy("clock", activity.clock, 100) / 100 * (model.max_mhz - model.idle_mhz)
    used = 4 if not activity.memory else int(activity.memory / 100 * model.memory_mib - 400 * own)
    return {
        "DCGM_FI_DEV_SM_CLOCK": mhz,
        "DCGM_FI_DEV_GPU_TEMP": noisy("temp", activity.temp + 4 * own, 92),
        "DCGM_FI_DEV_POWER_USAGE": watts,
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": gpu.consume(watts, now),
        "DCGM_FI_DEV_GPU_UTIL": noisy("util", activity.util, 100),
        "DCGM_FI_DEV_MEM_COPY_UTIL": noisy("copy", activity.copy, 100),
        "DCGM_FI_DEV_XID_ERRORS": 0,
        "DCGM_FI_DEV_FB_FREE": model.memory_mib - used,
        "DCGM_FI_DEV_FB_USED": used,
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": noisy("engine", activity.engine, 100) / 100,
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": noisy("tensor", activity.tensor, 100) / 100,
        "DCGM_FI_PROF_DRAM_ACTIVE": noisy("dram", activity.dram, 100) / 100,
    }


@dataclass(frozen=True)
class Fault:
    kind: str = ""
    metrics: tuple[str, ...] = ()  # empty: all
    value: str = "79"

    def hostname(self, node: str) -> str:
        return node_name(int(node[1:]) + 1) if self.kind == "other-host" else node

    def bend(self, metric: Metric, value: str) -> str | None:
        """What the page says in place of `value`; None: nothing."""
        if self.kind == "xid" and metric.name == "DCGM_FI_DEV_XID_ERRORS":
            return self.value
        if self.metrics and metric.name not in self.metrics:
            return value
        match self.kind:
            case "nan":
                return "NaN" if metric.kind == "gauge" else value
            case "negative":
                return "-1" if metric.kind == "gauge" else value
            case "blank":
                return BLANK_INT if metric.form == "%d" else BLANK_FLOAT
            case "missing":
                return None
        return value


class Faults:
    """faults.json, read again when it changes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stamp = 0
        self._told: dict[str, Any] = {}

    def of_page(self, node: str) -> str:
        told = self._of_node(node)
        return told if isinstance(told, str) else ""

    def of_gpu(self, node: str, index: int) -> Fault:
        told = self._of_node(node)
        one: Any = told.get(str(index), told.get("*", "")) if isinstance(told, dict) else ""
        if isinstance(one, str):
            return Fault(one)
        return Fault(one.get("fault", ""), tuple(one.get("metrics", ())), str(one.get("value", "79")))

    def has_second(self, node: str) -> bool:
        return any(self.of_gpu(node, index).kind == "second" for index in range(GPUS_PER_NODE))

    def _of_node(self, node: str) -> Any:
        self._refresh()
        return self._told.get(node, self._told.get("*", {}))

    def _refresh(self) -> None:
        try:
            stamp = self._file.stat().st_mtime_ns
            if stamp != self._stamp:
                self._told, self._stamp = json.loads(self._file.read_text()), stamp
        except FileNotFoundError:
            self._told, self._stamp = {}, 0
        except ValueError:
            pass  # half written: the next look finds it whole


def _state_and_start(pid: int) -> tuple[str, int]:
    """State letter of a process, and when it started, which a recycled pid does not share."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[19])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # a scraper keeps its connection
    disable_nagle_algorithm = True
    fleet: Fleet

    def do_GET(self) -> None:
        if self.path == "/targets":
            self._reply(200, "application/json", json.dumps(self.fleet.targets()))
            return
        match = re.fullmatch(r"/(n\d+)(/second)?/metrics", self.path)
        if not match or match[1] not in self.fleet.gpus:
            self._reply(404, "text/plain", "try /targets\n")
        elif self.fleet.faults.of_page(match[1]) == "down":
            self._reply(503, "text/plain", "")
        else:
            page = self.fleet.page(match[1], bool(match[2]), time.time())
            self._reply(200, "text/plain; version=0.0.4; charset=utf-8", page)

    def _reply(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    lab = load(sys.argv[1])
    Handler.fleet = Fleet(lab, time.time())
    Server(("127.0.0.1", lab.ports.exporter), Handler).serve_forever()


if __name__ == "__main__":
    main()
