"""Traces and metrics for a collector by OTLP over HTTP. Source: spec/interop.md 7.2, 7.3."""

import subprocess
import time
import uuid

import pytest
import requests

from octavo import Library, program, wait_until
from otlp import Collector
from postgres import free_port


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.close()


@pytest.fixture
def traced(own_server, collector):
    def start(*options):
        return own_server(f"--observability.otlp_endpoint={collector.url}",
                          "--observability.sample_percent=100", *options)
    return start


def metric(server, name):
    for line in requests.get(server.admin_url + "/metrics", timeout=10).text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def traceparent(sampled="01"):
    trace, span = uuid.uuid4().hex, uuid.uuid4().hex[:16]
    return trace, span, f"00-{trace}-{span}-{sampled}"


def test_spans_say_what_was_asked_of_whom_and_belong_to_the_callers_trace(traced, collector):
    server = traced()
    library = Library(server, "diku").login()
    trace, span, header = traceparent()
    library.with_headers({"traceparent": header, "tracestate": "other=t61rcWkgMzE"}).get(
        "/users", query='username=="x"').expect(200)
    wait_until(lambda: [s for s in collector.spans if s.trace_id == trace])
    mine = [s for s in collector.spans if s.trace_id == trace]
    root, = [s for s in mine if s.kind == 2]
    assert root.parent == span and root.name == "GET /users"
    assert {s.state for s in mine} == {"other=t61rcWkgMzE"}
    assert root.attributes["http.route"] == root.attributes["url.path"] == "/users"
    assert root.attributes["http.response.status_code"] == 200
    assert root.attributes["folio.module"] == "mod-users"
    assert root.attributes["folio.tenant"] == "diku" and root.status == 0
    assert root.resource["service.name"] == "octavo" and root.resource["process.pid"] > 1
    assert abs(root.end / 1e9 - time.time()) < 60
    # What it did inside: every span hangs below it, in its time.
    by_id = {s.id: s for s in mine}
    for one in mine:
        if one is not root:
            assert one.parent in by_id
            assert root.start - 10_000_000 <= one.start and one.end <= root.end + 10_000_000
    module, = [s for s in mine if s.kind == 1 and s.name == "mod-users" and s.parent == root.id]
    statements = [s for s in mine if s.kind == 3]
    assert any(s.parent == module.id and "$1" in s.attributes["db.query.text"]
               for s in statements)
    assert not any('"x"' in str(s.attributes) for s in statements)


def test_only_requests_worth_it_show_details(traced, collector):
    server = traced("--observability.detail_ms=10000")
    library = Library(server, "diku").login()
    library.get("/groups").expect(200)
    _, _, header = traceparent()
    library.with_headers({"traceparent": header}).get("/users").expect(200)
    wait_until(lambda: collector.roots("/users"))
    groups, = collector.roots("/groups")
    users, = collector.roots("/users")
    assert not [s for s in collector.spans if s.trace_id == groups.trace_id and s is not groups]
    assert [s for s in collector.spans if s.trace_id == users.trace_id and s is not users]
    assert groups.attributes["octavo.store_ms"] > 0  # says so much all the same


def test_a_bad_traceparent_begins_a_new_trace(traced, collector):
    server = traced()
    library = Library(server, "diku").login()
    for bad in ["00-" + "0" * 32 + "-" + "1" * 16 + "-01", "x", "00-" + "A" * 32 + "-" + "1" * 16 + "-01"]:
        library.with_headers({"traceparent": bad}).get("/groups").expect(200)
    wait_until(lambda: len(collector.roots("/groups")) == 3)
    assert all(s.parent == "" and s.trace_id != "0" * 32 for s in collector.roots("/groups"))
    assert len({s.trace_id for s in collector.roots("/groups")}) == 3


def test_the_caller_decides_whether_its_requests_are_sampled(own_server, collector):
    server = own_server(f"--observability.otlp_endpoint={collector.url}",
                        "--observability.sample_percent=0")
    library = Library(server, "diku").login()
    library.get("/groups").expect(200)
    _, _, unwanted = traceparent("00")
    library.with_headers({"traceparent": unwanted}).get("/groups").expect(200)
    trace, _, wanted = traceparent("01")
    library.with_headers({"traceparent": wanted}).get("/groups").expect(200)
    wait_until(lambda: collector.roots())
    assert [s.trace_id for s in collector.roots()] == [trace]


def test_headers_and_packing_are_those_of_the_options(traced, collector):
    server = traced("--observability.otlp_headers=api-key=s%20cret,x-other=1",
                    "--observability.otlp_compression=gzip")
    Library(server, "diku").login().get("/users").expect(200)
    wait_until(lambda: collector.roots("/users"))
    headers = {k.lower(): v for k, v in collector.headers[0].items()}
    assert headers["api-key"] == "s cret" and headers["x-other"] == "1"
    assert headers["content-type"] == "application/x-protobuf"
    assert headers["content-encoding"] == "gzip"
    shown = requests.get(server.admin_url + "/octavo/ops/deployment", timeout=10).text
    assert "cret" not in shown


def test_the_end_sends_what_is_there(traced, collector):
    server = traced()
    library = Library(server, "diku").login()
    for _ in range(20):
        library.get("/groups").expect(200)
    assert server.stop() == 0
    assert len(collector.roots("/groups")) == 20
    assert {"process.cpu.time", "octavo.module.cpu", "http.server.request.duration"} <= set(
        collector.metrics)


def test_a_busy_collector_is_asked_again_as_it_wishes(traced, collector):
    collector.answers = [(503, {"retry-after": "1"}), 429]
    server = traced()
    Library(server, "diku").login().get("/groups").expect(200)
    wait_until(lambda: collector.roots("/groups"))
    times = [at for at, path in collector.calls if path == "/v1/traces"]
    assert len(times) >= 3 and times[1] - times[0] > 0.9
    assert metric(server, "octavo_otlp_spans_dropped_total") == 0
    assert metric(server, "octavo_otlp_failures_total") == 2


def test_what_a_collector_refuses_is_dropped_and_counted(traced, collector):
    collector.answers = [400]
    server = traced()
    library = Library(server, "diku").login()
    library.get("/groups").expect(200)
    wait_until(lambda: metric(server, "octavo_otlp_spans_dropped_total") > 0)
    library.get("/users").expect(200)
    wait_until(lambda: collector.roots("/users"))
    assert not collector.roots("/groups")
    assert len(collector.calls) == 2  # 400 is no reason to try again


def test_spans_that_a_collector_leaves_out_are_counted(traced, collector):
    collector.rejected = 3
    server = traced()
    Library(server, "diku").login().get("/groups").expect(200)
    wait_until(lambda: metric(server, "octavo_otlp_spans_rejected_total") == 3)


def test_a_slow_or_missing_collector_slows_no_request(traced, collector):
    collector.delay = 30
    server = traced("--observability.trace_buffer_mib=1", "--observability.detail_ms=0")
    library = Library(server, "diku").login()
    session = requests.Session()
    # Each takes half a kilobyte and more: 3000 never fit.
    headers = {"x-okapi-tenant": "diku", "x-okapi-token": library.token,
               "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
               "tracestate": "vendor=" + "x" * 400}

    def ask():
        begun = time.monotonic()
        assert session.get(server.url + "/groups", headers=headers, timeout=20).status_code == 200
        return time.monotonic() - begun

    times = [ask() for _ in range(3000)]
    assert max(times) < 5  # the collector takes 30
    wait_until(lambda: metric(server, "octavo_otlp_spans_dropped_total") > 0)
    begun = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begun < 10


def test_a_collector_that_comes_later_gets_what_waited(own_server):
    port = free_port()
    server = own_server(f"--observability.otlp_endpoint=http://127.0.0.1:{port}",
                        "--observability.sample_percent=100")
    Library(server, "diku").login().get("/groups").expect(200)
    wait_until(lambda: metric(server, "octavo_otlp_up") == 0)
    second = Collector(port)
    try:
        wait_until(lambda: second.roots("/groups"))
        wait_until(lambda: metric(server, "octavo_otlp_up") == 1)
        assert metric(server, "octavo_otlp_spans_dropped_total") == 0
    finally:
        second.close()


@pytest.mark.parametrize("option", ["otlp_endpoint=localhost:4318", "otlp_headers=nonsense"])
def test_a_setting_that_cannot_work_is_refused(option, tmp_path):
    done = subprocess.run([program(), "serve", "--data", str(tmp_path / "data"),
                           "--observability.otlp_endpoint=http://127.0.0.1:1",
                           "--observability." + option], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1 and "observability.otlp" in done.stderr
