"""Several nodes on one PostgreSQL database, load for them, and what may stand between them."""

import collections
import csv
import datetime
import itertools
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "api")]

import octavo  # noqa: E402
import postgres  # noqa: E402

RECOVERY_S = 10


def run(*words, **more):
    return subprocess.run([octavo.program(), *map(str, words)], capture_output=True, text=True,
                          timeout=300, check=False, **more)


class Node(octavo.Server):
    """One process of a site, always at the same address, started as often as a test likes."""

    def __init__(self, url, options=()):
        self.port = postgres.free_port()
        super().__init__([f"--http.listen=127.0.0.1:{self.port}",
                          "--gateway.elsewhere=@elsewhere", *options], ["--database", url])

    def serves(self):
        try:
            return requests.get(self.admin_url + "/octavo/health/ready", timeout=5).ok
        except requests.exceptions.RequestException:
            return False

    def metrics(self):
        return requests.get(self.admin_url + "/octavo/metrics", timeout=30).text

    def requests(self, module):
        """How many of this module it has answered since it started."""
        name = f'octavo_module_requests_total{{module="{module}"}}'
        return sum(int(line.split()[-1]) for line in self.metrics().splitlines()
                   if line.startswith(name))


class Site:
    """Nodes as one: every call goes to the next of them."""

    def __init__(self, nodes):
        self.nodes = nodes
        self._turn = itertools.cycle(nodes)

    @property
    def url(self):
        return next(self._turn).url


class Proxy:
    """Between a node and its database. Cuts connections when told, or around a COMMIT."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = set()
        self.listening = set()
        self.is_open = True
        self.cut_at_commit = None  # "before" or "after" the database has it; for one commit
        self.word = b"commit\0"    # where it cuts, if the test does not mean the COMMIT
        self.mark = b""            # of a transaction that carried these bytes
        self.is_last = False       # after that nothing comes through until it is mended
        self.victim = None         # is killed at the cut
        self.cuts = 0
        self.loses_news = False    # what PostgreSQL tells who listens
        self.quiet = set()         # connections where all gets lost
        self.lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.is_open:
                client.close()
                continue
            try:
                server = socket.create_connection(self.target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = (client, server)
            self.pairs.add(pair)
            for ends in (pair, pair[::-1]):
                threading.Thread(target=self._pass_on, args=(pair, *ends), daemon=True).start()

    def _pass_on(self, pair, source, target):
        carried = b""  # by the transaction so far
        try:
            while data := source.recv(65536):
                if self._loses(pair, source, data):
                    continue
                carried += data if source is pair[0] else b""
                cut = self.word in data and self.mark in carried and self._take_cut()
                carried = carried[carried.rfind(b"commit\0") + 1:]
                if cut != "before":
                    target.sendall(data)
                if cut:
                    # The answer to it is not passed on.
                    pair[0].close()
                    time.sleep(0.3)
                    break
        except OSError:
            pass
        self._close(pair)

    def lose_news(self):
        self.loses_news = True

    def silence_listeners(self):
        """Who listens now is heard no more, and hears nothing; new connections work."""
        self.quiet = set(self.listening)

    def _loses(self, pair, source, data):
        if source is pair[0] and b"listen octavo" in data:
            self.listening.add(pair)
        is_news = source is pair[1] and data[:1] == b"A" and b"octavo\0" in data
        loses = (self.loses_news and is_news) or pair in self.quiet
        self.lost += loses
        return loses

    def _take_cut(self):
        cut, self.cut_at_commit = self.cut_at_commit, None
        if cut and self.victim:
            self.victim.kill()
        self.cuts += cut is not None
        self.is_open = self.is_open and not (cut and self.is_last)
        return cut

    def _close(self, pair):
        self.pairs.discard(pair)
        for end in pair:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        """Every connection ends, and no new one comes through."""
        self.is_open = False
        for pair in list(self.pairs):
            self._close(pair)

    def mend(self):
        self.is_open, self.is_last = True, False

    def close(self):
        self.listener.close()
        self.cut()


class Locked:
    """Somebody's psql has something for itself, by a statement, as long as the test is in here."""

    def __init__(self, cluster, database, statement):
        self.process = subprocess.Popen(
            [postgres.program("psql"), "-X", "-q", "-d", cluster.url(database)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(f"begin; {statement}; select 1;\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate("rollback;\n", timeout=60)


def who_waits_for_a_lock(cluster):
    """The database's processes that do."""
    return cluster.sql("select pid from pg_stat_activity where wait_event_type = 'Lock'").split()


class Nginx:
    """The example of the documentation in front of these nodes."""

    FAIL_TIMEOUT_S = 1

    def __init__(self, nodes):
        self.nodes = nodes
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="octavo-nginx-"))
        self.port = postgres.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        text = (ROOT / "docs" / "examples" / "nginx.conf").read_text()
        for number, node in enumerate(nodes, 11):
            place = node.url.removeprefix("http://")
            assert text.count(f"192.0.2.{number}:9130") == 2
            text = text.replace(f"192.0.2.{number}:9130", place)
            text = text.replace(f"192\\.0\\.2\\.{number}:9130", re.escape(place))
        text, found = re.subn(r"fail_timeout=5s", f"fail_timeout={self.FAIL_TIMEOUT_S}s", text)
        assert found == len(nodes)
        text, found = re.subn(r"listen 80;", f"listen 127.0.0.1:{self.port};", text)
        assert found == 1
        config = self.folder / "nginx.conf"
        config.write_text(f"daemon off; pid {self.folder}/pid; error_log {self.folder}/error.log;\n"
                          + text)
        found = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([found, "-p", str(self.folder), "-c", str(config)],
                                        stderr=subprocess.PIPE, text=True)
        octavo.wait_until(self._listens)

    def _listens(self):
        assert self.process.poll() is None, self.process.stderr.read()
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def people(self, count, inputs):
        """So many or more, each with a token of their own, and two at least at each of the nodes:
        nginx goes by tokens. person.home is the node that serves them."""
        found, homes = [], collections.Counter()
        while len(found) < count or any(homes[node] < 2 for node in self.nodes):
            assert len(found) < count + 30, "a node gets nobody"
            person = Desk(self.nodes[0].url, inputs).log_in()
            person.url = self.url
            person.home = next(node for node in self.nodes if self._serves(node, person))
            homes[person.home] += 1
            found.append(person)
        return found

    def _serves(self, node, person):
        """Nobody else in the tests of sites asks for tags."""
        before = node.requests("mod-tags")
        person.get("/tags", limit=1)
        return node.requests("mod-tags") > before

    def wait_for(self, node, people):
        """Until it is asked again: nginx leaves a node alone for a while that it found away."""
        person = next(one for one in people if one.home is node)
        octavo.wait_until(lambda: self._serves(node, person))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


class Desk:
    """Where check-outs of the prepared library are done: a URL that may be a node's or nginx's."""

    tokens = set()

    def __init__(self, url, inputs):
        self.url = url
        self.inputs = inputs
        self.session = requests.Session()
        self.headers = {"x-okapi-tenant": "diku"}

    def log_in(self):
        """With a token that nobody else has: those of one second are the same, so everybody says
        that it is another one. Where a node does not believe that, the next second comes."""
        while (token := self._new_token()) in self.tokens:
            time.sleep(0.2)
        self.tokens.add(token)
        self.headers["x-okapi-token"] = token
        return self

    def _new_token(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        then = now - datetime.timedelta(hours=len(self.tokens))
        answer = self.session.post(self.url + "/authn/login", timeout=30,
                                   headers={**self.headers, "x-octavo-now": then.isoformat()},
                                   json={"username": "diku_admin", "password": "admin"})
        assert answer.status_code == 201, answer.text
        return answer.headers["x-okapi-token"]

    def beside(self, url=None):
        """The same person at another machine."""
        other = Desk(url or self.url, self.inputs)
        other.headers = self.headers
        return other

    def list(self, name):
        with open(self.inputs / name, encoding="utf-8") as file:
            return [line[0] for line in csv.reader(file, delimiter=";")]

    def get(self, path, **query):
        answer = self.session.get(self.url + path, params=query, headers=self.headers, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, body, **headers):
        return self.session.post(self.url + path, json=body, timeout=60,
                                 headers={**self.headers, **headers})

    def check_out(self, item, user, **headers):
        return self.post("/circulation/check-out-by-barcode",
                         {"itemBarcode": item, "userBarcode": user,
                          "servicePointId": self.list("service_point.csv")[0]}, **headers)

    def loans_of(self, barcode):
        item = self.get("/item-storage/items", query=f'barcode=="{barcode}"')["items"][0]
        return item, self.get("/loan-storage/loans", query=f'itemId=={item["id"]}',
                              limit=10)["loans"]


class Load:
    """Desks that lend one item after the other, and a log of what they were told."""

    def __init__(self, desks, pause_s=0):
        self.pause_s = pause_s
        items, self.users = desks[0].list("available.csv"), desks[0].list("user_barcodes.csv")
        self.ends = threading.Event()
        self.has_run_out = False  # of items: a test that asks too much of them
        self.lent = {}     # item: loan id that was confirmed
        self.refused = {}  # item: status and text of a 5xx
        self.silent = []   # items of calls without an answer
        self.wrong = []    # answers that should never be
        self.times = []    # when a loan was confirmed, and where
        self.longest_s = 0  # that anybody waited for an answer
        self.calls = [0] * len(desks)  # that came back, of each desk
        self.threads = [threading.Thread(target=self._work, args=(desk, items[n::len(desks)], n),
                                         daemon=True)
                        for n, desk in enumerate(desks)]
        for thread in self.threads:
            thread.start()

    def _work(self, desk, items, number):
        for place, item in enumerate(items):
            if self.ends.is_set():
                return
            # Who has few items left slows down: a fast machine does not run out of them.
            time.sleep(self.pause_s + (place / len(items)) ** 4)
            begun = time.monotonic()
            try:
                answer = desk.check_out(item, self.users[(number * 37 + place) % 400])
                self._note(item, answer, desk.url)
            except requests.exceptions.RequestException:
                self.silent.append(item)
                time.sleep(0.05)
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            self.calls[number] += 1
        self.has_run_out = True

    def _note(self, item, answer, url):
        if answer.status_code == 201:
            self.lent[item] = answer.json()["id"]
            self.times.append((time.monotonic(), url))
        elif answer.status_code in (500, 502, 503, 504):
            self.refused[item] = (answer.status_code, answer.text)
            time.sleep(0.05)
        else:
            self.wrong.append(f"{answer.status_code} {answer.text[:300]}")

    def wait(self, loans, seconds=60):
        """Until so many more are confirmed."""
        wanted = len(self.lent) + loans
        octavo.wait_until(lambda: len(self.lent) >= wanted or self.wrong, seconds)
        return self

    def wait_for_everybody(self):
        """Until each desk has an answer to what it asked after this moment."""
        before = list(self.calls)
        octavo.wait_until(lambda: all(now >= then + 2 for now, then in zip(self.calls, before)))
        return self

    def pause_after(self, moment, url=None):
        """Seconds from the moment to the next confirmed loan (at this place)."""
        return min((at for at, where in self.times if at > moment and url in (None, where)),
                   default=float("inf")) - moment

    def longest_pause_s(self, begin, end, url):
        """Between two loans confirmed at this place within that time."""
        times = sorted(at for at, where in self.times if where == url and begin < at < end)
        return max(b - a for a, b in zip([begin, *times], [*times, end]))

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        assert self.wrong == [] and not self.has_run_out
        return self

    def must_be_kept(self, desk):
        """Acknowledged: there, once. Not acknowledged: there as a whole, or not at all."""
        unclear = [*self.silent, *self.refused]
        for item in [*list(self.lent)[-300:], *unclear]:
            record, loans = desk.loans_of(item)
            assert record["status"]["name"] == ("Checked out" if loans else "Available"), item
            if item in self.lent:
                assert [loan["id"] for loan in loans] == [self.lent[item]], item
            elif "nothing was stored" in self.refused.get(item, ("", ""))[1]:
                assert loans == [], item
            assert len(loans) <= 1, item


class Titles:
    """People who catalogue one title after the other, each under a number that only the client
    knows: nothing in the program would notice if one was stored twice."""

    def __init__(self, desks, pause_s=0.05):
        self.kind = desks[0].get("/instance-types", limit=1)["instanceTypes"][0]["id"]
        self.pause_s = pause_s
        self.ends = threading.Event()
        self.told = {}  # number: status and text; None: no answer
        self.threads = [threading.Thread(target=self._work, args=(desk,), daemon=True) for desk in desks]
        for thread in self.threads:
            thread.start()

    def _work(self, desk):
        while not self.ends.is_set():
            number = uuid.uuid4().hex
            try:
                answer = desk.post("/instance-storage/instances", {
                    "title": number, "source": "FOLIO", "instanceTypeId": self.kind})
                self.told[number] = (answer.status_code, answer.text)
            except requests.exceptions.RequestException:
                self.told[number] = None
            time.sleep(self.pause_s)

    def confirmed(self):
        return [number for number, told in list(self.told.items()) if told and told[0] == 201]

    def wait(self, titles, seconds=60):
        wanted = len(self.confirmed()) + titles
        octavo.wait_until(lambda: len(self.confirmed()) >= wanted, seconds)
        return self

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        return self

    def must_be_kept(self, cluster, database):
        rows = cluster.sql("select cast(doc as json) ->> 'title' from octavo_diku.instance "
                           "where length(cast(doc as json) ->> 'title') = 32", database)
        stored = collections.Counter(rows.split())
        for number, told in self.told.items():
            if told and told[0] == 201:
                assert stored[number] == 1, (number, stored[number])
            elif told and "nothing was stored" in told[1]:
                assert stored[number] == 0, (number, told)
            else:
                assert told is None or told[0] in (502, 503, 504), told
                assert stored[number] <= 1, (number, told, stored[number])


def copy_out(url, folder):
    """The site's library as a data directory."""
    done = run("migrate", "--from", url, "--to", f"sqlite:{folder}")
    assert done.returncode == 0, done.stdout + done.stderr


def must_be_whole(url):
    with tempfile.TemporaryDirectory() as folder:
        copy_out(url, folder)
        done = run("bench", "data", "check", "--data", folder)
        assert done.returncode == 0, done.stdout + done.stderr
