#!/usr/bin/env python3
"""Serves web/dist and a made-up site, so that the console can be tried without a daemon.

  python3 web/mock/serve.py [--port 0] [--empty | --bare]

Prints its URL. --empty: a daemon that has seen nothing; --bare: a history without fleet and telemetry.
"""
import argparse
import json
import random
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

DIST = Path(__file__).resolve().parent.parent / "dist"
COLUMNS = ["useful", "held_idle", "held_unmeasured", "lost", "reserved", "free", "stranded", "down"]
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
HOUR = 3600
START = {"p50": None, "p90": None, "unknown": "it waits for something else first", "by_history": False, "scored": 0, "held_ppm": -1}


def ago(seconds: int) -> str:
    return (datetime.now(timezone.utc).replace(microsecond=0) - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def amounts(*values: int) -> dict:
    own = dict(zip(COLUMNS, values + (0,) * (8 - len(values))))
    return own | {"total": sum(own.values())}


def added(rows: list[dict]) -> dict:
    return {key: sum(row[key] for row in rows) for key in COLUMNS + ["total"]}


def row(name: str, gpu_seconds: dict, workloads: int, started: int, never: int, waits: tuple, asked: int, used: int) -> dict:
    return {"name": name, "team": name, "gpu_seconds": gpu_seconds, "workloads": workloads, "started": started, "never_started": never,
            "wait_us": dict(zip(("p50", "p90", "p99"), (w * 1_000_000 for w in waits))),
            "requested_gpu_seconds": asked * HOUR, "used_gpu_seconds": used * HOUR}


def waiting(number: int) -> dict:
    codes = [["ASSOCIATION_LIMIT", "CAPACITY", "PRIORITY"], ["FRAGMENTED", "PRIORITY"], ["CAPACITY"], ["SHAPE_NEVER"], ["NODES_DOWN", "TOPOLOGY_FRAGMENTED"],
             ["PRIORITY"], ["DEPENDENCY"], ["NOT_YET_EXAMINED"]][number % 8]
    texts = {"ASSOCIATION_LIMIT": "research holds 168 of 160 devices (GrpTRES gres/gpu), 24 more are asked for",
             "FRAGMENTED": "21 devices are free, 16 are asked for, but only 1 node has 8 together", "CAPACITY": "21 of 40 devices are free",
             "SHAPE_NEVER": "40 nodes are asked for, and partition all has 24", "NODES_DOWN": "2 of the 24 nodes that could take it are down or drained",
             "PRIORITY": "7 waiting jobs of its partition have a higher priority", "DEPENDENCY": "it waits for job 4198 to end well",
             "NOT_YET_EXAMINED": "it fits now; the scheduler has not come to it yet"}
    gang = ["16x8 h100", "2x8 h100", "5x8 h100", "40x8 h100", "4x8 h100", "1 a100", "1x4 a100", "1x2 a100"][number % 8]
    nodes, _, each = gang.split()[0].rpartition("x")
    return {"workload": str(4242 + number * 3), "team": ["research", "ads", "vision", "speech"][number % 4], "user": ["ana", "bo", "chris"][number % 3],
            "class": ["batch", "urgent", "batch", "low"][number % 4], "partition": "all", "gang": gang, "wait_us": (11_520 - number * 137) * 1_000_000,
            "gpus": int(nodes or 1) * int(each), "tasks": 12 if number == 5 else 1, "priority": 120_000 - number * 991, "blockers": codes, "message": texts[codes[0]],
            "verdict": ["defer", "reserve", "start", ""][number % 4], "start_p50": None if number % 4 == 3 else ago(-3600 * (number % 4)), "start_p90": None if number % 4 else ago(-9000),
            "can_never_start": codes[0] == "SHAPE_NEVER", "scheduler_reason": "Resources" if number % 2 else "Priority", "scheduler_agrees": number != 7}


def devices(number: int) -> list[dict]:
    chance = random.Random(number)
    state = ["useful", "useful", "useful", "useful", "held_idle", "held_unmeasured", "free", "stranded"]
    whole = chance.choice(["useful", "useful", None, None, "reserved"]) if number not in (7, 19) else "down"
    out = []
    for index in range(8):
        column = whole or chance.choice(state)
        held = column in ("useful", "held_idle", "held_unmeasured")
        out.append({"index": index, "model": "h100" if number <= 16 else "a100", "column": column, "workload": str(4100 + number) if held else "",
                    "look": {"useful": "active", "held_idle": "idle"}.get(column, "unknown"), "looked_at": ago(7) if held and column != "held_unmeasured" else None})
    return out


def node(number: int) -> dict:
    own = devices(number)
    gpus = {key: sum(d["column"] == key for d in own) for key in COLUMNS}
    down = gpus["down"] > 0
    return {"node": f"n{number:03}", "state": "idle+drain" if down else "mixed", "models": f"8x{own[0]['model']}", "leaf": f"leaf{(number - 1) // 8}",
            "reason": "bad fan" if down else "", "gpus": gpus, "gpus_total": 8, "cpus": 128, "cpus_used": 16 * (8 - gpus["free"] - gpus["stranded"]), "memory_mb": 2_048_000,
            "memory_used_mb": 800_000, "features": ["ib", "nvlink"], "seen": ago(4), "devices": own}


def all_nodes() -> list[dict]:
    return [node(n) for n in range(1, 25)]


def fabric() -> dict:
    nodes, leaves = all_nodes(), []
    for leaf in range(3):
        own = nodes[leaf * 8:leaf * 8 + 8]
        free = [n["gpus"]["free"] + n["gpus"]["stranded"] for n in own]
        leaves.append({"name": f"leaf{leaf}", "level": 0, "nodes": f"n[{leaf * 8 + 1:03}-{leaf * 8 + 8:03}]", "gpus_total": 64, "gpus_free": sum(free),
                       "nodes_whole_free": sum(f == 8 for f in free)})
    return {"apiVersion": "fairlead/v1", "kind": "Fabric", "site": "alpha", "as_of": ago(4), "nodes": nodes, "switches": leaves}


def models() -> list[dict]:
    out = []
    for model, seconds in (("h100", (9_800, 1_720, 610, 240, 300, 880, 420, 370)), ("a100", (2_400, 1_450, 90, 12, 0, 990, 160, 230))):
        own = [d for n in all_nodes() for d in n["devices"] if d["model"] == model]
        out.append({"model": model, "gpus": amounts(*(sum(d["column"] == c for d in own) for c in COLUMNS)), "gpu_seconds": amounts(*(s * HOUR for s in seconds))})
    return out


def report() -> dict:
    rows = [row("research", amounts(7_100 * HOUR, 1_900 * HOUR, 300 * HOUR, 200 * HOUR), 214, 180, 22, (340, 9_200, 30_100), 12_400, 8_800),
            row("ads", amounts(3_300 * HOUR, 210 * HOUR, 300 * HOUR, 52 * HOUR), 530, 521, 3, (45, 1_300, 5_200), 4_800, 3_700),
            row("vision", amounts(1_500 * HOUR, 1_010 * HOUR, 100 * HOUR), 88, 71, 9, (900, 12_000, 41_000), 3_900, 2_100),
            row("speech", amounts(300 * HOUR, 50 * HOUR), 31, 0, 6, (0, 0, 0), 0, 0)]
    classes = [row("batch", rows[0]["gpu_seconds"], 640, 570, 31, (410, 10_100, 39_000), 0, 0), row("urgent", rows[1]["gpu_seconds"], 120, 118, 0, (12, 240, 900), 0, 0),
               row("low", rows[3]["gpu_seconds"], 103, 84, 9, (3_000, 30_000, 80_000), 0, 0)]
    holds = [("9901", "vision", "bo", "never_used", 16, 61_000, 270), ("4198", "research", "ana", "no_process", 8, 18_500, 41), ("4201", "research", "chris", "used_then_idle", 4, 9_100, 10),
             ("4140", "ads", "bo", "stuck", 2, 4_000, 2), ("4109", "research", "ana", "never_used", 1, 2_100, 0)]
    rows_waiting = [waiting(n) for n in range(40)]
    columns = added([m["gpu_seconds"] for m in models()])
    return {"apiVersion": "fairlead/v1", "kind": "Report", "site": "alpha", "from": ago(7 * 86400), "to": ago(0), "fleet_known": True, "gpus": 192,
            "gpu_seconds": columns, "telemetry_coverage_ppm": 956_432, "useful_ppm": 620_000,
            "sentences": ["Of 19,672 GPU-hours 83.0 % were held and 62.0 % were seen to do useful work; telemetry covers 95.6 % of what was held.",
                          "31 GPUs are held and idle now, most of it by 9901 of team vision (never_used); 3170 GPU-hours were held idle in all.",
                          "40 workloads wait, most for ASSOCIATION_LIMIT; 13 GPUs are free, 8 more are free and stranded."],
            "models": models(), "teams": [{k: v for k, v in r.items() if k != "name"} for r in rows], "classes": classes, "users": rows, "partitions": classes,
            "idle_holds": [dict(zip(("workload", "team", "user", "kind", "gpus", "since", "gpu_seconds"), (*h[:5], ago(h[5]), h[6] * HOUR))) for h in holds],
            "waiting": rows_waiting, "waiting_more": 0,
            "fragmentation": {"free_gpus": 13, "stranded_gpus": 8, "fgd_ppm": 412_000,
                              "waiting_shapes": [{"gang": "16x8 h100", "partition": "all", "count": 5, "fits": 0, "enough": False}, {"gang": "2x8 h100", "partition": "all", "count": 5, "fits": 0, "enough": True},
                                                 {"gang": "1x4 a100", "partition": "all", "count": 4, "fits": 1, "enough": True}, {"gang": "1 a100", "partition": "all", "count": 3, "fits": 3, "enough": True}]},
            "ended": [{"state": "completed", "workloads": 702, "gpu_seconds": 11_200 * HOUR}, {"state": "failed", "workloads": 41, "gpu_seconds": 900 * HOUR},
                      {"state": "timeout", "workloads": 17, "gpu_seconds": 1_100 * HOUR}, {"state": "preempted", "workloads": 9, "gpu_seconds": 210 * HOUR}],
            "sources": [{"source": "scheduler", "ok": True, "known": True, "last_ok": ago(4), "unreadable": 0, "detail": ""},
                        {"source": "telemetry", "ok": True, "known": True, "last_ok": ago(11), "unreadable": 3, "detail": ""},
                        {"source": "accounting", "ok": False, "known": True, "last_ok": ago(3_700), "unreadable": 0, "detail": "sacct: connection refused by slurmdbd at db1:6819"}],
            "notes": ["accounting is not seen: sacct: connection refused by slurmdbd at db1:6819"]}


def bare(full: dict) -> dict:
    for m in full["models"]:
        m["gpus"] = amounts()
        m["gpu_seconds"] = amounts(0, 0, m["gpu_seconds"]["useful"], 0)
    for t in full["teams"] + full["classes"]:
        t["gpu_seconds"] = amounts(0, 0, t["gpu_seconds"]["total"])
    full["sentences"] = ["Of 12,200 GPU-hours 100.0 % were held; what of it was useful nobody measured.", "No idle hold was seen.", "40 workloads wait, most for ASSOCIATION_LIMIT."]
    full["sources"][1] = {"source": "telemetry", "ok": False, "known": False, "last_ok": None, "unreadable": 0, "detail": ""}
    return full | {"fleet_known": False, "gpus": 0, "gpu_seconds": added([m["gpu_seconds"] for m in full["models"]]), "telemetry_coverage_ppm": 0, "idle_holds": [],
                   "notes": ["no telemetry is configured: what is held cannot be measured", "the fleet is not known: there is no free, stranded or down, only what jobs held"]}


def empty() -> dict:
    return {"site": "alpha", "from": None, "to": ago(0), "fleet_known": False, "gpus": 0, "gpu_seconds": amounts(), "telemetry_coverage_ppm": 0, "useful_ppm": 0,
            "sentences": ["0 GPUs; nothing is booked yet.", "No idle hold was seen.", "Nothing waits."], "models": [], "teams": [], "classes": [], "users": [], "partitions": [],
            "idle_holds": [], "waiting": [], "waiting_more": 0, "fragmentation": {"free_gpus": 0, "stranded_gpus": 0, "fgd_ppm": -1, "waiting_shapes": []}, "ended": [],
            "sources": [{"source": s, "ok": False, "known": False, "last_ok": None, "unreadable": 0, "detail": ""} for s in ("scheduler", "telemetry", "accounting")],
            "notes": ["no telemetry is configured: what is held cannot be measured"]}


def blocker(code: str, **own) -> dict:
    return {"code": code, "object": "", "limit_name": "", "unit": "", "limit": 0, "used": 0, "wanted": 0, "short_by": 0, "message": "", "holders": [], "holders_more": 0,
            "waiting_cures": "unknown", "cured_at": None, "cure": ""} | own


def explanation(workload: str) -> dict | None:
    own = next((w for w in report()["waiting"] if w["workload"] == workload), None)
    base = {"workload": workload, "name": "llm-pretrain <b>&", "user": "ana", "team": "research", "class": "batch", "partition": "all", "state": "running", "wants": "4x8 h100, time limit 8h",
            "as_of": ago(4), "submitted": ago(70_000), "waiting_since": None, "started": ago(61_000), "ended": None, "wait_us": 0, "priority": 0, "ahead": 0, "can_never_start": False,
            "blockers": [], "scheduler_reason": "", "scheduler_agrees": True, "scheduler_start_estimate": None, "enough": "", "start": START | {"unknown": ""}, "nodes": "n[001-004]", "devices": 32, "epoch": 2,
            "gpu_seconds": {c: v for c, v in zip(COLUMNS, (380 * HOUR, 120 * HOUR, 20 * HOUR, 22 * HOUR, 0, 0, 0, 0))}, "idle_kind": "never_used", "idle_since": ago(9_000), "note": ""}
    if own is None:
        return base if workload.isdigit() and int(workload) < 10_000 else None
    holders = [{"workload": "4198", "team": "search", "user": "eve", "amount": 64, "ends": ago(-6_000), "idle": "none"},
               {"workload": "4201", "team": "search", "user": "eve", "amount": 16, "ends": ago(-9_000), "idle": "none"},
               {"workload": "9901", "team": "ads", "user": "bo", "amount": 16, "ends": None, "idle": "never_used"}]
    texts = {"ASSOCIATION_LIMIT": dict(object="account research", limit_name="GrpTRES gres/gpu", unit="devices", limit=160, used=168, wanted=24, short_by=32, holders=holders, holders_more=4,
                                       waiting_cures="yes", cured_at=ago(-11_000), cure="12 nodes instead of 16"),
             "CAPACITY": dict(object="partition all", unit="devices", limit=192, used=171, wanted=40, short_by=19, holders=holders[:2], waiting_cures="yes", cured_at=ago(-6_000), cure="2 nodes instead of 5"),
             "SHAPE_NEVER": dict(object="partition all", unit="nodes", limit=24, wanted=40, short_by=16, waiting_cures="never", cure="ask for 24 nodes or fewer"),
             "NODES_DOWN": dict(object="n[007,019]", unit="nodes", short_by=2, cure="bring nodes back, or ask for fewer"),
             "PRIORITY": dict(object="partition all", unit="jobs", short_by=7, waiting_cures="yes", cure="a smaller job that backfills")}
    message = own["message"]
    blockers = [blocker(code, **({"message": message if i == 0 else f"as the rule of {code} finds it"} | texts.get(code, {}))) for i, code in enumerate(own["blockers"])]
    return base | {"team": own["team"], "class": own["class"], "user": own["user"], "state": "pending", "wants": own["gang"] + ", time limit 8h", "submitted": ago(own["wait_us"] // 1_000_000),
                   "waiting_since": ago(own["wait_us"] // 1_000_000), "started": None, "wait_us": own["wait_us"], "priority": own["priority"], "ahead": 3,
                   "can_never_start": own["can_never_start"], "blockers": blockers, "scheduler_reason": own["scheduler_reason"], "scheduler_agrees": own["scheduler_agrees"],
                   "scheduler_start_estimate": ago(-12_000), "enough": "12x8 h100 instead of 16x8 h100, allow 2 switches: starts now",
                   "start": START | {"p50": ago(-11_400), "p90": ago(-26_000), "by_history": True, "scored": 180, "held_ppm": 888_000}, "nodes": "", "devices": 0, "epoch": 0, "gpu_seconds": {c: 0 for c in COLUMNS}, "idle_kind": "none", "idle_since": None}


def team(path: str, parent: str, own: int, used: int, limit: int | None, headroom: int, waiting: int, share: int, **more) -> dict:
    return {"team": path, "parent": parent, "depth": 0 if not parent else path.count("/") + 1, "device": "H100", "own_milli": own * 1000, "lend_milli": None,
            "borrow_milli": None if limit is None else (limit - own) * 1000, "limit_milli": None if limit is None else limit * 1000, "used_milli": used * 1000,
            "borrowed_milli": max(0, used - own) * 1000, "headroom_milli": headroom * 1000, "running": used // 8, "waiting": waiting, "waiting_milli": waiting * 16_000,
            "weight": 1, "usage_gpu_seconds": used * 61 * HOUR, "share_ppm": share, "window": "", "budget": "", "budget_used": "", "budget_used_ppm": None} | more


def teams(kind: str) -> dict:
    base = {"apiVersion": "fairlead/v1", "kind": "TeamList", "site": "alpha", "as_of": ago(4), "organisation": "", "version": "", "teams": [], "unassigned": [],
            "misconfigured": [], "notes": ["no organisation is known"]}
    if kind != "full":
        return base
    rows = [team("acme", "", 128, 118, 128, 10, 40, 1_000_000), team("product", "acme", 48, 62, 112, 10, 12, 540_000),
            team("product/ads", "product", 0, 30, None, 10, 4, 480_000), team("product/search", "product", 16, 32, None, 10, 8, 520_000),
            team("research", "acme", 80, 50, None, 10, 28, 460_000, window="mon..fri 08:00..20:00 Europe/Berlin", budget="5000 H100 h per 30d hard", budget_used_ppm=810_000)]
    nobodys = team("(unassigned)", "", 0, 6, None, 0, 2, 0, weight=0)
    return base | {"organisation": "acme", "version": "v7", "teams": [*rows, nobodys], "unassigned": [{"account": "guests", "running": 1, "waiting": 2, "gpus": 38}],
                   "misconfigured": [{"what": "account", "name": "reserch", "nearest": "research", "workloads": 3, "gpus": 24, "first": "4251",
                                      "hint": "no team claims account 'reserch': is 'research' meant, or a line of members missing?"}], "notes": []}


def suggestions(kind: str) -> dict:
    own = {"apiVersion": "fairlead/v1", "kind": "Comparison", "site": "alpha", "as_of": None if kind == "empty" else ago(4), "from": None, "organisation": "", "looks": 0,
           "not_foreseen": 0, "teams": [], "now": [], "next_cursor": 0, "note": "",
           "estimates": {"made": None, "told": 0, "asked": 0, "behind": 0, "started": 0, "by_p50_ppm": -1, "by_p90_ppm": -1, "at_once": 0, "at_once_ppm": -1, "not_told": 0,
                         "error_us": -1, "error_latest_us": -1}}
    if kind != "full":
        return own
    start = {"workload": "4248", "team": "vision", "class": "batch", "kind": "start", "since": ago(2_460), "tasks": 1, "gpus": 16, "nodes": "n[003-004]", "takes_back": ["4109"],
             "claimant": "", "rule": "", "lost_gpu_seconds": 0, "moves": []}
    room = start | {"workload": "4261", "kind": "make_room", "gpus": 4, "nodes": "n001", "takes_back": [], "lost_gpu_seconds": 5_400,
                    "moves": [{"workload": w, "from": "n001", "to": to, "gpus": g, "lost_gpu_seconds": 1_800 * g} for w, to, g in (("4199", "n002", 2), ("4203", "n005", 1))]}
    taken = start | {"workload": "4109", "team": "research", "kind": "take_back", "gpus": 8, "nodes": "", "takes_back": [], "claimant": "4248", "rule": "own", "lost_gpu_seconds": 16_800}
    rows = [{"team": name, "started": n, "sooner_us": s * 1_000_000, "sooner_most_us": 4 * s * 1_000_000, "sooner_gpu_seconds": n * s * 8, "with_victims": n // 9, "went_away": 2}
            for name, n, s in (("(all)", 214, 1_340), ("research", 120, 1_900), ("vision", 94, 620))]
    return own | {"organisation": "acme v7", "looks": 8_640, "not_foreseen": 17, "teams": rows, "now": [start, start | {"workload": "4257", "tasks": 12, "gpus": 12, "takes_back": []}, taken, room],
                  "estimates": {"made": ago(4), "told": 31, "asked": 40, "behind": 0, "started": 180, "by_p50_ppm": 511_000, "by_p90_ppm": 888_000, "at_once": 640, "at_once_ppm": 971_000,
                                "not_told": 9, "error_us": 1_260_000_000, "error_latest_us": 240_000_000}}


class Handler(BaseHTTPRequestHandler):
    kind = "full"
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status: int, kind: str, body: bytes):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'")
        self.end_headers()
        self.wfile.write(body)

    def json(self, value: dict | None):
        if value is None:
            problem = {"type": "about:blank", "title": "no such workload", "status": 404, "detail": "the scheduler does not know it, and neither do we"}
            self.answer(404, "application/problem+json", json.dumps(problem).encode())
        else:
            self.answer(200, "application/json", json.dumps(value).encode())

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for number in range(1_000_000):
                self.wfile.write(f"id: {number}\nevent: step\ndata: {{\"number\":{number}}}\n\n".encode())
                self.wfile.flush()
                time.sleep(5)
        except OSError:
            pass

    def do_GET(self):
        path = unquote(self.path.split("?")[0])
        full = self.kind == "full"
        if path == "/v1/sites":
            self.json({"apiVersion": "fairlead/v1", "kind": "SiteList", "sites": [{"site": "alpha"}]})
        elif path == "/v1/events":
            self.events()
        elif path == "/v1/report":
            self.json(report() if full else empty() if self.kind == "empty" else bare(report()))
        elif path == "/v1/queue":
            rows = [] if self.kind == "empty" else report()["waiting"]
            self.json({"site": "alpha", "as_of": None if self.kind == "empty" else ago(4), "waiting": rows, "waiting_more": 0})
        elif path == "/v1/teams":
            self.json(teams(self.kind))
        elif path == "/v1/suggestions":
            self.json(suggestions(self.kind))
        elif path == "/v1/fabric":
            self.json(fabric() if full else {"site": "alpha", "as_of": None, "nodes": [], "switches": []})
        elif path.startswith("/v1/workloads/") and path.endswith("/explain"):
            self.json(explanation(path.split("/")[3]))
        else:
            self.static(path)

    def static(self, path: str):
        file = (DIST / path.lstrip("/")).resolve() if path != "/" else DIST / "index.html"
        if not file.is_relative_to(DIST) or not file.is_file():
            self.answer(404, "text/plain", b"no such file\n")
        else:
            self.answer(200, TYPES.get(file.suffix, "application/octet-stream"), file.read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--empty", action="store_const", dest="kind", const="empty", default="full")
    parser.add_argument("--bare", action="store_const", dest="kind", const="bare")
    args = parser.parse_args()
    Handler.kind = args.kind
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
