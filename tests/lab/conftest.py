"""Runs of the performance lab on small experiments."""

import http.server
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program():
    return os.environ.get("OCTAVO", str(ROOT / "build" / "debug" / "octavo"))


def bench(*words, **options):
    return subprocess.run([program(), "bench", *map(str, words)], capture_output=True, text=True,
                          timeout=300, **options)


def experiment(**parts):
    """Two configurations of a small server, one short window each."""
    one = {
        "experiment": {"id": "try", "title": "A try", "question": "Does it work?"},
        "data": {"recipe": "tiny"},
        "target": {"managed": True},
        "configuration": {
            "small": {"options": {"memory.cache_mib": 64}, "baseline": True},
            "large": {"options": {"memory.cache_mib": 128}},
        },
        "workload": {"desk": {"file": "workloads/cico.json", "think_scale": 0.02}},
        "load": {"few": {"model": "closed", "users": 3}},
        "run": {"main": {"workloads": [{"workload": "desk", "load": "few"}], "warmup_s": 0.2,
                         "steady_s": 1.0, "cooldown_s": 0.2}},
        # On a machine that others keep busy a window may pass without one.
        "design": {"blocks": 1, "min_transactions": 0},
        "sample": {"interval_ms": 100},
    }
    for name, part in parts.items():
        one[name] = part
    return one


class Run:
    def __init__(self, folder, data):
        self.folder = folder
        self.data = data

    def words(self, definition, *more):
        file = self.folder / "experiment.json"
        file.write_text(json.dumps(definition))
        return ["run", file, "--lab.dir", self.folder / "lab", "--data-dir", self.data, "--force",
                *more]

    def run(self, definition, *more):
        self.done = bench(*self.words(definition, *more))
        return self.done

    def start(self, definition, *more):
        """In the background."""
        return subprocess.Popen([program(), "bench", *map(str, self.words(definition, *more))],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def result(self):
        files = sorted((self.folder / "lab").glob("*/result.json"))
        assert files, getattr(self, "done", None)
        return json.loads(files[-1].read_text())

    def cells(self):
        return self.result()["cells"]

    def wait_for(self, what):
        """Until the result says so; the value of `what`."""
        for _ in range(2400):
            files = list((self.folder / "lab").glob("*/result.json"))
            value = what(json.loads(files[0].read_text())) if files else None
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError("it never happened")


@pytest.fixture(scope="session")
def prepared_folder(tmp_path_factory):
    """Where libraries are kept between the tests."""
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def lab(tmp_path, prepared_folder):
    return Run(tmp_path, prepared_folder)


@pytest.fixture
def stranger():
    """A server that is not Octavo; it remembers what it was asked for."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one piece

        def do_GET(self):
            self.server.paths.append(self.path)
            body = b'{"totalRecords": 1}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.paths = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def children_of(pid):
    """Ids of the processes that it started."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            found.append(int(entry.name))
    return found


def server_of(process):
    """The server that a run started, once it is there."""
    for _ in range(2400):
        for pid in children_of(process.pid):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words:
                return pid
        time.sleep(0.05)
    raise AssertionError("no server was started")


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)


def ends(pid):
    """Whether the process ends soon (nobody may be there to bury it)."""
    for _ in range(600):
        try:
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False
