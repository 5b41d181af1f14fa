"""Operation: figures of the process and its modules. Source: spec/native-api.md 2, spec/interop.md 7."""

import json
import re
import subprocess

import pytest
import requests

from circulation import Circulation
from octavo import Library, postgres, program, wait_until


def admin(server, path, method="GET", **more):
    return requests.request(method, server.admin_url + path, timeout=20, **more)


def ops(server, path):
    answer = admin(server, path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def metrics(server):
    """Samples by name with labels, after a check of the exposition's grammar."""
    samples, types = {}, {}
    for line in admin(server, "/metrics").text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} is there twice"
            types[name] = kind
            continue
        if line.startswith("# HELP "):
            continue
        found = re.fullmatch(r'([a-zA-Z_:][\w:]*)(\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})? (\S+)', line)
        assert found, line
        name = found.group(1)
        family = re.sub(r"_(bucket|sum|count)$", "", name)
        assert name in types or family in types, f"{name} has no type"
        samples[name + (found.group(2) or "")] = float(found.group(3))
    return samples


def module_named(answer, name):
    return next(m for m in answer["modules"] if m["name"] == name)


@pytest.fixture(scope="module")
def desk(library):
    return Circulation(library)


def test_the_deployment_says_what_runs_where_and_how_it_is_set(server):
    shown = ops(server, "/octavo/ops/deployment")
    process = shown["process"]
    assert process["pid"] == server.process.pid and process["cpus"] >= 1
    assert process["threads"] > 3 and process["tls"] is False
    assert "debug" in process["flags"] and process["build"].startswith("debug-")
    assert any(one.startswith("admin 127.0.0.1:") for one in process["listeners"])
    assert not any(one.endswith(":0") for one in process["listeners"])
    store = shown["store"]
    if postgres.is_wanted():
        assert store["kind"] == "postgres" and int(store["version"].split(".")[0]) >= 13
    else:
        assert store["kind"] == "sqlite" and store["settings"]["synchronous"] == "full"
    assert store["sizeBytes"] > 100_000 and store["rows"]["users"] >= 1
    options = {one["name"]: one for one in shown["options"]}
    assert options["login.rounds"] == {"name": "login.rounds", "value": "100",
                                       "default": "100000", "origin": "flag"}
    assert options["observability.level"]["origin"] == "default"
    module = next(m for m in shown["modules"] if m["id"].startswith("mod-users-1"))
    assert module["interfaces"]["users"] and module["routes"] > 5
    assert shown["host"]["cores"] >= 1 and shown["host"]["memoryBytes"] > 1 << 28


def test_secrets_are_masked_in_the_deployment(own_server):
    server = own_server("--gateway.admin_token=very-secret")
    assert "very-secret" not in admin(server, "/octavo/ops/deployment").text


def test_the_program_tells_its_deployment_without_a_server():
    done = subprocess.run([program(), "version", "--json"], capture_output=True, text=True,
                          timeout=20, check=True)
    shown = json.loads(done.stdout)
    assert set(shown) == {"process", "store", "options", "modules", "host"}
    assert shown["store"]["kind"] == "sqlite" and shown["process"]["listeners"] == []


def test_the_summary_says_how_the_process_does(server, operator):
    operator.get("/users").expect(200)
    shown = ops(server, "/octavo/ops/summary")
    assert shown["tenants"] >= 2 and shown["uptimeS"] >= 0 and shown["connections"] >= 1
    assert shown["requests"]["perS"] > 0 and shown["requests"]["p95Ms"] > 0
    assert 0 < shown["cpu"]["vcpu"] <= shown["cpu"]["limit"]
    assert shown["memory"]["rssBytes"] > 1 << 20
    assert shown["state"] in ("ok", "warn", "bad")
    assert (shown["state"] == "ok") == (shown["reasons"] == [])


def test_modules_of_a_check_out_are_charged_and_the_sums_are_the_process(own_server):
    server = own_server()
    desk = Circulation(Library(server, "diku").login())
    for _ in range(30):
        desk.check_out(desk.item(), desk.patron()).expect(201)
    shown = ops(server, "/octavo/ops/modules?window=120")
    assert shown["windowS"] == 120
    used = sum(m["cpuS"] for m in shown["modules"])
    assert used + shown["other"]["cpuS"] == pytest.approx(shown["process"]["cpuS"], rel=0.05)
    assert used > 0
    circulation = module_named(shown, "mod-circulation")
    assert circulation["requests"] >= 30 and circulation["errors"] == 0
    assert circulation["cpuS"] > 0 and circulation["bytesIn"] > 0 and circulation["bytesOut"] > 0
    assert circulation["wallS"]["handler"] > 0 and circulation["p50Ms"] > 0
    assert module_named(shown, "store")["cpuS"] > 0
    assert module_named(shown, "mod-notes")["cpuS"] == 0


def test_a_short_window_forgets(server, operator):
    operator.get("/users").expect(200)
    long = ops(server, "/octavo/ops/modules?window=100000")
    assert long["windowS"] == 120
    assert module_named(long, "mod-users")["requests"] >= 1
    assert admin(server, "/octavo/ops/modules?window=x").status_code == 400


def test_metrics_can_be_read_by_prometheus(server, operator):
    operator.get("/users").expect(200)
    before = metrics(server)
    operator.get("/users").expect(200)
    samples = metrics(server)
    route = '{module="mod-users",method="GET",route="/users",status="2xx"'
    count = "http_server_requests_seconds_count" + route + "}"
    assert samples[count] == before[count] + 1
    buckets = [v for k, v in samples.items()
               if k.startswith("http_server_requests_seconds_bucket" + route)]
    assert buckets == sorted(buckets) and buckets[-1] == samples[count]
    assert samples["process_cpu_seconds_total"] > 0 and samples["process_open_fds"] > 3
    assert samples['octavo_module_cpu_seconds_total{module="okapi"}'] > 0
    assert samples['octavo_module_alloc_bytes{module="mod-users"}'] > 0
    assert samples['db_query_seconds_count{statement="select users"}'] > 0


def test_open_metrics_end_with_their_mark(server):
    answer = admin(server, "/metrics", headers={"accept": "application/openmetrics-text"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("\n# EOF\n")
    assert "# TYPE process_cpu_seconds counter\n" in answer.text


def test_statements_show_shapes_and_never_values(server, fresh_library):
    secret = "Zaphod-4711"
    admin(server, "/octavo/ops/statements", "DELETE")  # other tests leave more than one page holds
    fresh_library.get("/users", query=f'username=="{secret}" or barcode=="{secret}"').expect(200)
    answer = admin(server, "/octavo/ops/statements?limit=1000&order=max")
    assert secret.lower() not in answer.text.lower()
    shown = answer.json()["statements"]
    mine = next(s for s in shown if s.get("cql") == "(username==? or barcode==?)")
    assert mine["route"] == "/users" and "$1" in mine["shape"] and mine["calls"] >= 1
    assert mine["maxMs"] >= mine["meanMs"] > 0
    # PostgreSQL tells plans by its own means (auto_explain).
    assert ("lastPlan" in mine) != postgres.is_wanted()
    assert "users" in mine.get("lastPlan", "SEARCH users")
    assert [s["maxMs"] for s in shown] == sorted((s["maxMs"] for s in shown), reverse=True)
    assert len(ops(server, "/octavo/ops/statements?limit=1")["statements"]) == 1
    assert admin(server, "/octavo/ops/statements?order=size").status_code == 400


def test_statements_can_be_counted_anew(server, operator):
    operator.get("/users").expect(200)
    assert admin(server, "/octavo/ops/statements", "DELETE").status_code == 204
    assert not [s for s in ops(server, "/octavo/ops/statements?limit=1000")["statements"]
                if s["route"] == "/users"]


def test_a_slow_request_tells_where_its_time_went(server, operator):
    operator.get("/perms/permissions", length="10000", query="cql.allRecords=1").expect(200)
    shown = ops(server, "/octavo/ops/requests?minMs=0&limit=500")["requests"]
    for one in shown:
        assert one["ms"] + 1 >= sum(one["phases"].values())
        assert set(one) == {"at", "requestId", "tenant", "method", "route", "status", "ms",
                            "phases", "statements"}
    assert len(ops(server, "/octavo/ops/requests?minMs=0&limit=0")["requests"]) == 0


def test_switched_off_nothing_is_kept_of_requests(own_server):
    server = own_server("--observability.level=off")
    library = Library(server, "diku").login()
    library.get("/users").expect(200)
    assert not [k for k in metrics(server) if k.startswith(("octavo_module", "http_", "db_query"))]
    assert ops(server, "/octavo/ops/statements?limit=1000")["statements"] == []
    assert all(m["cpuS"] == 0 and m["requests"] == 0
               for m in ops(server, "/octavo/ops/modules")["modules"])


def test_a_listener_that_is_off_is_not_opened(tmp_path):
    process = subprocess.Popen([program(), "serve", "--data", str(tmp_path), "--http.listen=127.0.0.1:0",
                                "--admin.listen=off", "--edge.listen=OFF"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = process.stdout.readline()
    process.terminate()
    rest, log = process.communicate(timeout=40)
    assert "at http" in first and process.returncode == 0, log
    assert "listener" not in rest


def test_a_level_that_does_not_exist_is_refused():
    done = subprocess.run([program(), "serve", "--data", "/nonexistent/x",
                           "--observability.level=some"], capture_output=True, text=True)
    assert done.returncode == 1 and "observability.level" in done.stderr


def jobs_of(server, tenant):
    return {job["name"]: job for job in ops(server, "/octavo/ops/jobs")["jobs"]
            if job["tenant"] == tenant}


def test_jobs_run_pause_and_go_on_when_told(own_server):
    server = own_server()
    before = jobs_of(server, "diku")["expire-users"]
    assert before["lastRun"] is None and before["nextRun"] and before["paused"] is False
    assert before["schedule"].startswith("every ")

    def job(word, **more):
        return admin(server, f"/octavo/ops/jobs/expire-users/{word}", "POST", **more).status_code

    assert job("run") == 202
    wait_until(lambda: jobs_of(server, "diku")["expire-users"]["lastRun"])
    ran = jobs_of(server, "diku")["expire-users"]
    assert ran["lastResult"] == "ok" and ran["lastMs"] >= 0
    assert job("pause") == 202
    assert jobs_of(server, "diku")["expire-users"]["paused"] is True
    assert jobs_of(server, "diku")["expire-users"]["nextRun"] is None
    assert job("run") == 202  # once, by hand
    wait_until(lambda: jobs_of(server, "diku")["expire-users"]["lastRun"] > ran["lastRun"])
    assert job("resume") == 202
    assert jobs_of(server, "diku")["expire-users"]["nextRun"]
    assert admin(server, "/octavo/ops/jobs/no-such/run", "POST").status_code == 404


def test_a_paused_job_stays_paused_until_it_is_resumed(own_server):
    """Also when the program starts anew, and when the library gets other modules."""
    server = own_server()
    library = Library(server, "diku").login()

    def is_paused():
        job = jobs_of(server, "diku")["expire-users"]
        assert job["paused"] == (job["nextRun"] is None)
        return job["paused"]

    library.post("/octavo/ops/jobs/expire-users/pause").expect(202)
    server.restart()
    assert is_paused()
    for action in ("disable", "enable"):
        library.post("/_/proxy/tenants/diku/install", [{"id": "mod-tags", "action": action}]).expect(200)
        assert is_paused()
    library.post("/octavo/ops/jobs/expire-users/resume").expect(202)
    server.restart()
    assert not is_paused()


def test_a_library_manages_its_own_jobs_only(server, library):
    shown = library.get("/octavo/ops/jobs").expect(200)["jobs"]
    assert shown and {job["tenant"] for job in shown} == {library.tenant}
    library.post("/octavo/ops/jobs/expire-users/pause").expect(202)
    jobs = ops(server, "/octavo/ops/jobs")["jobs"]
    assert [j["tenant"] for j in jobs if j["name"] == "expire-users" and j["paused"]] == [
        library.tenant]


def test_the_log_level_can_be_changed_in_all_and_per_module(own_server):
    server = own_server("--log.level=error")
    library = Library(server, "diku").login()
    assert ops(server, "/octavo/ops/loglevel") == {"level": "error", "modules": {}}

    def lines(part):
        return [line for line in server.log if part in line]

    wanted = {"level": "error", "modules": {"mod-users": "info"}}
    answer = admin(server, "/octavo/ops/loglevel", "PUT", json=wanted)
    assert answer.status_code == 200 and answer.json() == wanted
    library.get("/users").expect(200)
    library.get("/groups").expect(200)
    library.get("/perms/permissions").expect(200)
    wait_until(lambda: lines("GET /users 200"))
    assert not lines("GET /perms/permissions 200")
    admin(server, "/octavo/ops/loglevel", "PUT", json={"level": "info"})
    library.get("/perms/permissions").expect(200)
    wait_until(lambda: lines("GET /perms/permissions 200"))
    for bad in ({"level": "loud"}, {"modules": {"mod-users": 5}}, [1]):
        assert admin(server, "/octavo/ops/loglevel", "PUT", json=bad).status_code == 400


def test_the_admin_listener_shows_the_outbox_of_the_library_it_is_asked_for(server):
    shown = admin(server, "/octavo/ops/outbox", headers={"x-okapi-tenant": "diku"})
    assert shown.status_code == 200 and shown.json()["kafka"] == "off"
    unknown = admin(server, "/octavo/ops/outbox", headers={"x-okapi-tenant": "nobody"})
    assert unknown.status_code == 400
    assert admin(server, "/octavo/ops/nonsense").status_code == 404
    assert admin(server, "/users", headers={"x-okapi-tenant": "diku"}).status_code == 404


@pytest.mark.parametrize("path", ["summary", "deployment", "modules", "statements", "requests",
                                  "jobs", "loglevel", "outbox"])
def test_figures_need_the_permission_to_see_them(server, library, path):
    path = "/octavo/ops/" + path
    assert library.anybody.get(path).status == 400  # no token
    assert library.user().get(path).status == 403
    viewer = library.user(["octavo.ops.view"])
    viewer.get(path).expect(200)
    assert viewer.delete("/octavo/ops/statements").status == 403


def test_pages_of_other_sites_cannot_operate(server):
    evil = {"origin": "https://evil.example"}
    assert admin(server, "/octavo/ops/statements", "DELETE", headers=evil).status_code == 403
