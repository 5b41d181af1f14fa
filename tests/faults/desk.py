"""A library served by the real program that tests may treat badly, and load for it."""

import csv
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import uuid

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]

# More rounds: OCTAVO_FAULT_ROUNDS=100 pytest tests/faults
ROUNDS = int(os.environ.get("OCTAVO_FAULT_ROUNDS", "3"))
ROUNDS_ALL = 20  # from this many on all faults of the disk are tried, not a share of them
USERS = 20
HEADERS = {"x-okapi-tenant": "diku"}


def program():
    return os.environ.get("OCTAVO", str(ROOT / "build" / "debug" / "octavo"))


def run(*words):
    return subprocess.run([program(), *words], capture_output=True, text=True, timeout=300)


class Desk:
    """A server on a data directory, started and ended as often as a test likes."""

    def __init__(self, data, before=()):
        self.data = data
        self.before = list(before)  # words in front of the program: a name space of its own
        self.process = None
        self.log = []

    def start(self, *options):
        line = [*self.before, program(), "serve", "--data", str(self.data),
                "--http.listen=127.0.0.1:0", "--edge.listen=", "--admin.listen=", *options]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.reads_log = threading.Thread(target=self._read_log, args=(self.process.stderr,),
                                          daemon=True)
        self.reads_log.start()
        first = self.process.stdout.readline()
        found = re.search(r"at http://\S+:(\d+)", first)
        assert found, f"the server did not start: {first} {''.join(self.log[-5:])}"
        self.port = int(found.group(1))
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def _read_log(self, stream):
        for line in stream:
            self.log.append(line)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(40)

    def log_in(self):
        answer = requests.post(self.url + "/authn/login", headers=HEADERS, timeout=30,
                               json={"username": "diku_admin", "password": "admin"})
        assert answer.status_code == 201, answer.text
        self.headers = {**HEADERS, "x-okapi-token": answer.headers["x-okapi-token"]}
        return self

    def get(self, path, **query):
        answer = requests.get(self.url + path, params=query, headers=self.headers, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, body):
        return requests.post(self.url + path, json=body, headers=self.headers, timeout=30)

    def check_out(self, item, user):
        return self.post("/circulation/check-out-by-barcode",
                         {"itemBarcode": item, "userBarcode": user, "id": str(uuid.uuid4()),
                          "servicePointId": self.service_point()})

    def check_in(self, item):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return self.post("/circulation/check-in-by-barcode",
                         {"itemBarcode": item, "checkInDate": now,
                          "servicePointId": self.service_point()})

    def service_point(self):
        return self.inputs("service_point.csv")[0]

    def inputs(self, name):
        with open(pathlib.Path(self.data) / "inputs" / name, encoding="utf-8") as file:
            return [line[0] for line in csv.reader(file, delimiter=";")]

    def item(self, barcode):
        return self.get("/item-storage/items", query=f'barcode=="{barcode}"')["items"][0]

    def open_loans_of(self, item_id):
        return self.get("/loan-storage/loans",
                        query=f'itemId=={item_id} and status.name=="Open"')["loans"]

    def must_be_whole(self):
        """What holds at any time, holds; while the server runs or not."""
        done = run("bench", "data", "check", "--data", str(self.data))
        assert done.returncode == 0, done.stdout + done.stderr


class Load:
    """Workers that lend and take back, each its own items, and note what the server confirmed."""

    def __init__(self, desk, workers=USERS, disk_fails=False):
        items, users = desk.inputs("available.csv"), desk.inputs("user_barcodes.csv")
        self.desk = desk
        self.ends = threading.Event()
        self.confirmed = {}  # item: "Checked out" or "Available"
        self.loans = {}      # item: loan id of the last confirmed check-out
        self.unknown = set()  # items whose last call got no answer
        self.wrong = []      # answers that should not be
        self.answers = 0
        self.disk_fails = disk_fails
        self.refused = 0     # answers 5xx while the disk fails: nothing may have changed
        self.threads = [threading.Thread(target=self._work, args=(items[n::workers], users, n))
                        for n in range(workers)]
        for thread in self.threads:
            thread.start()

    def _work(self, items, users, number):
        place = 0
        while not self.ends.is_set():
            # Lent, returned, lent again: both kinds are in the log at any moment. The next time
            # round, an item is out.
            turn, kind = divmod(place, 3)
            item, is_out = items[turn % len(items)], turn // len(items) % 2
            call = self._lend if (kind + is_out) % 2 == 0 else self._take_back
            place += 1
            self.unknown.add(item)
            try:
                call(item, users[(number * 37 + place) % len(users)])
            except requests.exceptions.RequestException:
                return
            self.unknown.discard(item)
            self.answers += 1

    def _lend(self, item, user):
        answer = self.desk.check_out(item, user)
        if answer.status_code == 201:
            self.confirmed[item] = "Checked out"
            self.loans[item] = answer.json()["id"]
        else:
            self._note(answer, item)

    def _take_back(self, item, user):
        answer = self.desk.check_in(item)
        if answer.status_code == 200:
            self.confirmed[item] = "Available"
        else:
            self._note(answer, item)

    def _note(self, answer, item):
        if self.disk_fails and answer.status_code >= 500:
            self.refused += 1
            return
        # Its return was refused before.
        if self.disk_fails and answer.status_code == 422 and \
                self.confirmed.get(item) == "Checked out":
            return
        self.wrong.append(f"{answer.status_code} {answer.text[:300]}")

    def wait(self, answers=1, seconds=60):
        """Until so many more have come."""
        wanted, end = self.answers + answers, time.monotonic() + seconds
        while self.answers < wanted:
            assert time.monotonic() < end, "nobody is answered"
            time.sleep(0.01)
        return self

    def wait_for_end_of(self, process, seconds):
        """True if the process ended by itself; else all workers are stopped."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        self.stop()
        return process.poll() is not None

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        return self

    def must_be_kept(self):
        """Everything confirmed is there; what got no answer is there as a whole or not at all."""
        for item, status in self.confirmed.items():
            if item in self.unknown:
                continue
            record = self.desk.item(item)
            loans = self.desk.open_loans_of(record["id"])
            assert record["status"]["name"] == status, (item, record)
            assert [one["id"] for one in loans] == \
                ([self.loans[item]] if status == "Checked out" else []), item
        self.desk.must_be_whole()
