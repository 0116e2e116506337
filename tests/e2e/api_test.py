"""The daemon's HTTP: metrics that Prometheus takes, events that stream, problems that say what is wrong."""

from __future__ import annotations

import http.client
import json
import math
import re
import unittest
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from support import OwnPrometheus, Site, eventually, mix_lab, suggesting

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$')
KINDS = ("counter", "gauge", "histogram", "summary", "untyped")


def read_exposition(page: str) -> dict[str, dict[str, float]]:
    """Series of each family by its labels. Fails where the page is not the text format, version 0.0.4."""
    kinds: dict[str, str] = {}
    families: dict[str, dict[str, float]] = defaultdict(dict)
    closed: set[str] = set()
    last = ""
    assert page.endswith("\n")
    for line in page.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds, f"{name} has two types"
            assert kind in KINDS, line
            kinds[name] = kind
            continue
        assert not line.startswith("#") and line, f"{line!r}"
        found = SAMPLE.match(line)
        assert found, f"not a sample: {line!r}"
        name, labels, value = found[1], found[2] or "", float(found[3])
        family = re.sub("_(bucket|sum|count)$", "", name)
        family = family if kinds.get(family) == "histogram" else name
        assert family in kinds, f"{name} has no type"
        if family != last:
            assert family not in closed, f"{family} is not in one piece"
            closed.add(last)
            last = family
        assert name + labels not in families[family], f"twice: {line}"
        families[family][name + "{" + labels + "}"] = value
        if kinds[family] == "counter":
            assert value >= 0 and family.endswith("_total"), line
        assert not math.isnan(value), line
    return families


def check_histogram(series: dict[str, float]) -> None:
    """Buckets are cumulative, and the last of them is the count."""
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, value in series.items():
        if "_bucket{" in name:
            bound = re.search(r'le="([^"]+)"', name)
            assert bound, name
            groups[re.sub(r',?le="[^"]+"', "", name).replace("_bucket", "")].append((float(bound[1]), value))
    for rest, buckets in groups.items():
        buckets.sort()
        counts = [count for _, count in buckets]
        assert counts == sorted(counts), rest
        assert buckets[-1][0] == math.inf, rest
        head, tail = rest.split("{", 1)
        assert series[f"{head}_count{{{tail}"] == counts[-1], rest


KINDS_OF_JSON = {
    "string": str, "boolean": bool, "integer": int, "array": list, "object": dict, "null": type(None),
}  # fmt: skip


def against_schema(schema: dict[str, Any], value: Any, document: dict[str, Any], at: str = "$") -> Iterator[str]:
    """What of the value is not as the schema says; members that it does not name count, too."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        failed = [list(against_schema(one, value, document, at)) for one in schema["anyOf"]]
        if all(failed):
            yield min(failed, key=len)[0]
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, KINDS_OF_JSON[kind]) and (kind == "boolean") == isinstance(value, bool) for kind in kinds):
        yield f"{at}: {value!r} is no {kinds}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from against_schema(schema["items"], item, document, f"{at}[{number}]")
    if isinstance(value, dict) and "properties" in schema:
        if set(value) != set(schema["properties"]):
            yield f"{at}: {sorted(set(value) ^ set(schema['properties']))} is there or in the schema alone"
        for key, item in value.items():
            if key in schema["properties"]:
                yield from against_schema(schema["properties"][key], item, document, f"{at}.{key}")


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.day = mix_lab()
        cls.daemon = suggesting()

    def request(self, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        url = urlsplit(self.daemon.url)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        got = reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        connection.close()
        return got

    def test_metrics_are_a_valid_exposition(self) -> None:
        status, headers, page = self.request("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["content-type"].startswith("text/plain; version=0.0.4"))
        families = read_exposition(page.decode())
        for name in ("fairlead_queue_wait_seconds", "fairlead_step_seconds"):
            check_histogram(families[name])
        self.assertNotIn("fairlead_step_seconds_count 0\n", page.decode())
        for name in ("gpu_seconds_total", "gpus", "idle_hold_gpus", "waiting_workloads", "source_age_seconds", "fragmentation_ratio"):
            self.assertTrue(families[f"fairlead_{name}"], name)
        self.assertEqual(sum(families["fairlead_gpus"].values()), 256)

    def test_metrics_are_the_report(self) -> None:
        report = self.daemon.get("/v1/report")
        idle = defaultdict(int)
        for row in report["idle_holds"]:
            idle[row["kind"]] += row["gpus"]
        series = read_exposition(self.daemon.text("/metrics"))["fairlead_idle_hold_gpus"]
        for kind, gpus in idle.items():
            name = next(name for name in series if f'kind="{kind}"' in name)
            self.assertEqual(series[name], gpus)

    def test_a_real_prometheus_scrapes_it(self) -> None:
        target = urlsplit(self.daemon.url).netloc
        job = {"job_name": "fairlead", "scrape_interval": "1s", "static_configs": [{"targets": [target]}]}
        prometheus = OwnPrometheus(self.addCleanup, [job])

        def up() -> bool:
            with urllib.request.urlopen(f"{prometheus.url}/api/v1/query?query=up", timeout=5) as reply:
                rows = json.load(reply)["data"]["result"]
            return [row["value"][1] for row in rows] == ["1"]

        eventually("up is 1", 20, up)

    def test_events_stream(self) -> None:
        url = urlsplit(self.daemon.url)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/events", headers={"Accept": "text/event-stream"})
        reply = connection.getresponse()
        self.assertTrue(reply.getheader("Content-Type", "").startswith("text/event-stream"))
        ids = []
        while len(ids) < 3:
            line = reply.readline().decode().strip()
            if line.startswith("id:"):
                ids.append(int(line.partition(":")[2]))
            if line.startswith("data:"):
                self.assertIsInstance(json.loads(line.partition(":")[2]), dict)
        self.assertEqual(ids, sorted(set(ids)))

    def test_what_is_wrong_is_a_problem_document(self) -> None:
        rows = [
            ("GET", "/v1/nothing", 404),
            ("GET", "/v1/workloads/999999/explain", 404),
            ("GET", "/v1/report?since=whenever", 400),
            ("GET", "/v1/report?sicne=7d", 400),
            ("GET", "/v1/queue?limit=many", 400),
            ("GET", "/v1/workloads?state=runing", 400),
            ("GET", "/v1/fabric/diff?from=100d", 404),
            ("GET", "/v1/report?site=elsewhere", 404),
            ("DELETE", "/v1/report", 405),
        ]
        for method, path, want in rows:
            with self.subTest(f"{method} {path}"):
                status, headers, body = self.request(method, path)
                self.assertEqual(status, want)
                self.assertEqual(headers["content-type"].partition(";")[0], "application/problem+json")
                problem = json.loads(body)
                self.assertEqual(problem["status"], want)
                for key in ("type", "title", "detail", "code"):
                    self.assertTrue(problem[key], key)

    def test_a_parameter_that_is_none_is_told_the_one_that_was_meant(self) -> None:
        rows = [("/v1/report?sicne=7d", "'since'"), ("/v1/workloads?state=runing", "'running'"), ("/v1/report?site=lba", "'lab'")]
        for path, meant in rows:
            with self.subTest(path):
                self.assertIn(f"did you mean {meant}?", json.loads(self.request("GET", path)[2])["detail"])

    def test_answers_are_as_the_openapi_document_says(self) -> None:
        document = self.daemon.get("/v1/openapi.json")
        self.assertEqual(document["openapi"], "3.1.0")
        label = self.day.number("account_limit")
        for path, item in document["paths"].items():
            (method, operation), *_ = item.items()
            content = operation["responses"]["200"]["content"]
            if "application/json" not in content or path == "/v1/openapi.json":
                continue
            with self.subTest(path):
                query = "?from=1s" if path.endswith("/diff") else ""
                if method == "post":
                    asked = urllib.request.Request(self.daemon.url + path, data=b'{"seq":0,"at":0,"job":{"partition":"all"}}')
                    with urllib.request.urlopen(asked, timeout=20) as reply:
                        answer = json.load(reply)
                else:
                    answer = self.daemon.get(path.replace("{label}", label) + query)
                self.assertEqual(list(against_schema(content["application/json"]["schema"], answer, document)), [])

    def test_a_job_that_makes_no_sense_is_refused(self) -> None:
        devices = '{"model":"h100","per_node":8,"total":8}'
        rows = [
            ("a negative amount", '{"devices":{"model":"h100","per_node":-1,"total":8}}', "devices.per_node"),
            ("too much", '{"nodes_min":2000000000,"devices":%s}' % devices, "nodes_min"),
            ("a limit beyond time", '{"time_limit_s":9000000000000000,"devices":%s}' % devices, "time_limit_s"),
            ("a text without end", '{"features":"%s"}' % ("a|" * 4000), "bytes"),
            ("a body without end", '{"features":"%s"}' % ("a|" * 100_000), "bytes"),
            ("a member of another name", '{"node_min":2}', "nodes_min"),
        ]
        for route in ("/v1/simulate", "/v1/place"):
            for name, request, word in rows:
                with self.subTest(route, row=name):
                    body = '{"seq":0,"at":0,"job":{"partition":"all","request":%s}}' % request
                    asked = urllib.request.Request(self.daemon.url + route, data=body.encode())
                    with self.assertRaises(urllib.error.HTTPError) as refused:
                        urllib.request.urlopen(asked, timeout=20)
                    answer = json.load(refused.exception)
                    self.assertIn((answer["status"], answer["code"]), [(400, "job-bad"), (400, "event-bad")], answer)
                    self.assertIn(word, answer["detail"])
        self.assertEqual(self.request("GET", "/healthz")[0], 200)

    def test_every_route_of_the_document_takes_its_parameters(self) -> None:
        for path, item in self.daemon.get("/v1/openapi.json")["paths"].items():
            for parameter in item.get("get", {"parameters": []})["parameters"]:
                if parameter["in"] != "query" or path == "/v1/fabric/diff":
                    continue
                words = {"since": "1h", "site": "lab", "limit": "3", "waiting": "3", "cursor": "0", "state": "running", "kind": "start"}
                where = path.replace("{label}", self.day.number("account_limit"))
                with self.subTest(path, parameter=parameter["name"]):
                    status = self.request("GET", f"{where}?{parameter['name']}={words.get(parameter['name'], 'x')}")[0]
                    self.assertEqual(status, 200)

    def test_an_etag_saves_the_body(self) -> None:
        for path in ("/", "/v1/sites"):
            with self.subTest(path):

                def unchanged(path: str = path) -> bool:
                    """A poll between the two requests changes what is asked for: then once more."""
                    _, headers, _ = self.request("GET", path)
                    status, _, body = self.request("GET", path, **{"If-None-Match": headers["etag"]})
                    return (status, body) == (304, b"")

                eventually("304", 20, unchanged)

    def test_health(self) -> None:
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.request("GET", path)[0], 200)

    def test_workloads_page_by_cursor(self) -> None:
        whole = self.daemon.get("/v1/workloads?limit=1000")["workloads"]
        seen, cursor = [], 0
        while True:
            page = self.daemon.get(f"/v1/workloads?limit=7&cursor={cursor}")
            seen += page["workloads"]
            if not page.get("next_cursor") and not page.get("next"):
                break
            cursor = page.get("next_cursor") or page["next"]
        self.assertEqual([w["workload"] for w in seen], [w["workload"] for w in whole])


class Counters(Site):
    def test_counters_never_go_back_across_a_requeue(self) -> None:
        daemon = self.daemon()
        job = self.submit("dave", "-w", "n001", "--gpus-per-node=8", "--requeue", "--wrap", "rank busy")
        self.wait_known(daemon, job, "running")
        last: dict[str, float] = {}

        def look() -> dict[str, float]:
            families = read_exposition(daemon.text("/metrics"))
            now = {name: value for family, rows in families.items() if family.endswith("_total") for name, value in rows.items()}
            for name, value in last.items():
                self.assertGreaterEqual(now.get(name, -1), value, name)
            last.update(now)
            return now

        def useful() -> float:
            return sum(value for name, value in look().items() if 'column="useful"' in name)

        eventually("some work is counted", 30, lambda: useful() > 16)
        self.lab.run(["scontrol", "requeue", job])
        eventually("it is counted as lost", 30, lambda: sum(v for n, v in look().items() if n.startswith("fairlead_lost_gpu_seconds_total")) > 0)
        self.wait_known(daemon, job, "running", seconds=60)
        before = useful()
        eventually("it counts on", 60, lambda: useful() >= before and daemon.get(f"/v1/workloads/{job}/explain")["gpu_seconds"]["useful"] > 0)


if __name__ == "__main__":
    unittest.main()
