"""A real `octavo serve` for tests, and a library on it that is easy to talk to."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import postgres  # noqa: E402

ADMIN = ("diku_admin", "admin")


def program():
    return os.environ.get("OCTAVO", str(ROOT / "build" / "debug" / "octavo"))


class Server:
    """One process on free ports with a store of its own: a data directory, or a database when
    OCTAVO_TEST_DATABASE names a PostgreSQL cluster (tests/postgres.py)."""

    known = weakref.WeakSet()

    def __init__(self, options=(), store=None):
        self.known.add(self)
        self._folder = tempfile.TemporaryDirectory(prefix="octavo-test-")
        self.folder = pathlib.Path(self._folder.name)
        self.store = store or self._new_store()
        self._drops_store = store is None and self.store[0] == "--database"
        self.options = ["--login.rounds=100", "--test.hooks=on", *options]
        self.before = []  # what stands before the command
        self.admin = "127.0.0.1:0"
        self.process = None
        self.log = []

    def _new_store(self):
        """The words of a command line that say where the data are."""
        if not postgres.is_wanted():
            return ["--data", str(self.folder / "data")]
        return ["--database", postgres.new_database()]

    def make_tenant(self, name, admin=":".join(ADMIN), modules=None, reference=True):
        line = [program(), "tenant", "create", name, *self.store, "--admin", admin]
        line += ["--modules", ",".join(modules)] if modules else []
        line += ["--reference"] if reference else []
        done = subprocess.run(line + self.options, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr

    def start(self):
        self.process = subprocess.Popen(
            [*self.before, program(), "serve", *self.store, "--http.listen=127.0.0.1:0",
             f"--admin.listen={self.admin}", *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read_log, daemon=True).start()
        first = self.process.stdout.readline()
        found = re.search(r"at (https?://\S+:\d+)", first)
        assert found, f"the server did not start: {first} {''.join(self.log[-5:])}"
        self.url = found.group(1).replace("localhost", "127.0.0.1")
        second = self.process.stdout.readline()
        self.admin_url = "http://127.0.0.1:" + re.search(r"(\d+)$", second.strip()).group(1)
        return self

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode if self.process else None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        assert self.stop() == 0
        return self.start()

    def close(self):
        """A server that ends badly fails its tests: a leak, a crash, a sanitizer's complaint."""
        code = self.stop()
        assert code in (0, None), f"exit code {code}: {''.join(self.log[-60:])}"
        if self._drops_store:
            postgres.drop_database(self.store[1])
        self._folder.cleanup()


def add_logs(report):
    """To the account of a test that failed: the last words of every server that was at work."""
    for server in list(Server.known) if report.failed else []:
        if server.process and server.process.poll() != 0:
            report.sections.append((f"the log of {' '.join(server.store)}, {server.process.pid}",
                                    "".join(server.log[-40:])))


class Answer:
    def __init__(self, response):
        self.response = response
        self.status = response.status_code
        self.headers = response.headers
        self.text = response.text

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def body(self):
        is_json = self.headers.get("content-type", "").startswith("application/json")
        return self.json if is_json and self.text else self.text

    def cost(self, name):
        return int(self.headers[f"x-octavo-{name}"])

    @property
    def statements(self):
        return self.cost("statements")

    def expect(self, *statuses):
        """The body (parsed if JSON) when the status is one of these."""
        assert self.status in statuses, f"{self.status} instead of {statuses}: {self.text[:2000]}"
        return self.body

    def cookie(self, name):
        """Value and attributes (lower case) of a Set-Cookie header."""
        for line in self.response.raw.headers.getlist("set-cookie"):
            first, *rest = [part.strip() for part in line.split(";")]
            if first.startswith(name + "="):
                attributes = dict((p.split("=", 1) + [""])[:2] for p in rest)
                return first.split("=", 1)[1], {k.lower(): v for k, v in attributes.items()}
        raise AssertionError(f"no cookie {name} in {dict(self.headers)}")


class Client:
    """Somebody who talks to a tenant: with a token, without one, with own headers."""

    def __init__(self, server, tenant=None, token=None, headers=None):
        self.server = server
        self.tenant = tenant
        self.token = token
        self.headers = dict(headers or {})
        self.user_id = None
        self.last = None

    def call(self, method, path, body=None, headers=None, data=None, **query):
        all_headers = {"x-okapi-tenant": self.tenant, "x-okapi-token": self.token}
        all_headers.update(self.headers)
        if body is not None:
            all_headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        all_headers.update(headers or {})
        all_headers = {k: v for k, v in all_headers.items() if v is not None}
        response = requests.request(method, self.server.url + path, params=query or None,
                                    data=data, headers=all_headers, timeout=60,
                                    allow_redirects=False)
        answer = Answer(response)  # threads may share a client: never return self.last
        self.last = answer
        return answer

    def get(self, path, **query):
        return self.call("GET", path, **query)

    def post(self, path, body=None, **query):
        return self.call("POST", path, body, **query)

    def put(self, path, body=None, **query):
        return self.call("PUT", path, body, **query)

    def patch(self, path, body=None, **query):
        return self.call("PATCH", path, body, **query)

    def delete(self, path, **query):
        return self.call("DELETE", path, **query)

    def at(self, moment):
        """The same caller at another time: "2026-03-01T12:00:00Z"."""
        other = self.with_headers({"x-octavo-now": moment})
        other.user_id = self.user_id
        return other

    def with_headers(self, headers):
        return type(self)._copy(self, headers=headers)

    def with_token(self, token):
        return type(self)._copy(self, token=token)

    @staticmethod
    def _copy(client, headers=None, token=Ellipsis):
        token = client.token if token is Ellipsis else token
        return Client(client.server, client.tenant, token, {**client.headers, **(headers or {})})


class Library(Client):
    """A tenant with its administrator logged in."""

    def login(self, username=ADMIN[0], password=ADMIN[1]):
        anybody = Client(self.server, self.tenant, None, self.headers)
        answer = anybody.post("/authn/login", {"username": username, "password": password})
        answer.expect(201)
        self.token = answer.headers["x-okapi-token"]
        return self

    @property
    def anybody(self):
        """A caller without token."""
        return Client(self.server, self.tenant)

    def user(self, permissions=(), password="secret", **members):
        """A new user with these permissions, logged in."""
        name = members.pop("username", "u" + uuid.uuid4().hex[:12])
        record = self.post("/users", {"id": str(uuid.uuid4()), "username": name, "active": True,
                                      "personal": {"lastName": name}, **members}).expect(201)
        self.post("/authn/credentials", {"userId": record["id"], "password": password}).expect(201)
        self.post("/perms/users", {"userId": record["id"],
                                   "permissions": list(permissions)}).expect(201)
        client = self.log_in(name, password)
        client.record = record
        return client

    def log_in(self, username, password="secret"):
        answer = self.anybody.post("/authn/login", {"username": username, "password": password})
        answer.expect(201)
        client = Client(self.server, self.tenant, answer.headers["x-okapi-token"])
        client.username = username
        client.user_id = self.get("/users", query=f'username=="{username}"').json["users"][0]["id"]
        return client


def new_library(server, modules=None, reference=True):
    """A new tenant of a running server, made as FOLIO's scripts do it, administrator included."""
    operator = Library(server, "diku").login()
    tenant = "t" + uuid.uuid4().hex[:12]
    operator.post("/_/proxy/tenants", {"id": tenant, "name": tenant}).expect(201)
    if modules is None:
        known = operator.get("/_/proxy/modules").json
        modules = [m["id"] for m in known if not m["id"].startswith("folio_")]
    first = [{"id": m, "action": "enable"} for m in modules
             if not m.startswith("mod-authtoken")]
    path = f"/_/proxy/tenants/{tenant}/install"
    operator.post(path, first,
                  tenantParameters=f"loadReference={str(reference).lower()}").expect(200)
    # Modules that require mod-authtoken bring it along: without it no token is needed.
    again = [{"id": "mod-authtoken", "action": "enable"}]
    if operator.get(f"/_/proxy/tenants/{tenant}/modules", filter="mod-authtoken").json:
        left = operator.post(path, [{"id": "mod-authtoken", "action": "disable"}]).expect(200)
        again += [{"id": m["id"], "action": "enable"} for m in left]
    setup = Library(server, tenant)
    make_administrator(setup)
    operator.post(path, again).expect(200)
    setup.operator = operator
    return grant_everything(setup.login())


def top_permissions(library):
    top = library.get("/perms/permissions", query="childOf == []", length=10000).expect(200)
    return [p["permissionName"] for p in top["permissions"]]


def grant_everything(library):
    """Also what modules define that came after the administrator."""
    user = library.get("/users", query=f"username=={ADMIN[0]}").expect(200)["users"][0]
    library.put(f"/perms/users/{user['id']}?indexField=userId",
                {"userId": user["id"], "permissions": top_permissions(library)}).expect(200)
    return library


def make_administrator(library):
    """While the tenant has no mod-authtoken, no token is needed (decision 11)."""
    record = library.post("/users", {"username": ADMIN[0], "active": True,
                                     "personal": {"lastName": "Administrator"}}).expect(201)
    library.post("/authn/credentials", {"username": ADMIN[0], "password": ADMIN[1]}).expect(201)
    library.post("/perms/users", {"userId": record["id"],
                                  "permissions": top_permissions(library)}).expect(201)


def wait_until(check, seconds=60):
    """For what happens behind the answer, such as timers. Who means a promise names its seconds;
    the others are long enough for the busiest machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
