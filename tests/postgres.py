#!/usr/bin/env python3
"""A private PostgreSQL cluster for tests, run by a user without rights, gone afterwards.

    tests/postgres.py COMMAND...    runs the command with OCTAVO_TEST_DATABASE set to the cluster:
                                    unit and API tests then make their databases in it

Tests that hurt a database make clusters of their own: see Cluster.
"""

import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

SWITCH = "OCTAVO_TEST_DATABASE"
ROLE = "octavo"  # what Octavo needs in production too: may log in, owns its database
# The commands of a version stand beside each other; those in PATH may be a wrapper's.
HOMES = ["/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin"]
QUICK = {"fsync": "off", "full_page_writes": "off"}  # where no test asks what survives


def program(name):
    for home in HOMES:
        if os.access(f"{home}/{name}", os.X_OK):
            return f"{home}/{name}"
    found = shutil.which(name)
    assert found, f"{name} is missing: tools/packages check installs it"
    return found


def servant():
    """The user who runs the database: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise AssertionError("no user to run a database: neither postgres nor nobody exists")


# Below those that Linux gives to whoever connects: a server that was stopped finds its own again.
PORTS = range(20000, 32768)
taken = []  # a name for each that this process was given


def free_port():
    """For this process alone until it ends: other tests that run beside it see the name."""
    for port in random.sample(PORTS, len(PORTS)):
        name = socket.socket(socket.AF_UNIX)
        with socket.socket() as one:
            try:
                name.bind(f"\0octavo-test-port-{port}")
                one.bind(("", port))
            except OSError:
                name.close()
                continue
        taken.append(name)
        return port
    raise AssertionError("no port is free")


class Cluster:
    """One database server in a folder of its own, on 127.0.0.1 and on a socket in the folder."""

    def __init__(self, settings=None, port=None):
        self.user = servant()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="octavo-pg-"))
        self.data = self.folder / "data"
        self.port = port or free_port()
        self.settings = {"shared_buffers": "64MB", "max_connections": "200", "jit": "off",
                         "listen_addresses": "127.0.0.1", "port": self.port,
                         "unix_socket_directories": self.folder, "log_min_messages": "fatal",
                         "logging_collector": "off", **(settings or {})}
        self.process = None
        self.followers = []
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.folder.chmod(0o755)

    def as_servant(self):
        if not self.user:
            return {"cwd": self.folder}
        return {"cwd": self.folder, "user": self.user.pw_uid, "group": self.user.pw_gid,
                "extra_groups": []}

    def run(self, name, *words, **more):
        line = [program(name), *map(str, words)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120,
                              **self.as_servant(), **more)
        assert done.returncode == 0, f"{' '.join(line)}: {done.stdout}{done.stderr}"
        return done.stdout

    def make(self):
        """A new cluster. Its collation differs from C: nothing of ours may depend on it."""
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                 "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en", "--no-sync")
        self.start()
        self.sql(f"create role {ROLE} login createdb")
        return self

    def start(self):
        words = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [program("postgres"), "-D", str(self.data), *words],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "log", "ab"),
            start_new_session=True, **self.as_servant())
        self.wait_ready()
        return self

    def wait_ready(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            if subprocess.run([program("pg_isready"), "-q", "-h", str(self.folder), "-p",
                               str(self.port)], check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("the database did not come up: " + (self.folder / "log").read_text())

    def sql(self, text, database="postgres", role="postgres"):
        """Runs statements; rows as lines, columns separated by |."""
        return self.run("psql", "-h", self.folder, "-p", self.port, "-U", role, "-X", "-q", "-A",
                        "-t", "-v", "ON_ERROR_STOP=1", "-d", database, input=text).strip()

    def url(self, database="postgres", tcp=True, port=None):
        if tcp:
            return f"postgres://{ROLE}@127.0.0.1:{port or self.port}/{database}"
        return f"postgres://{ROLE}@/{database}?host={self.folder}&port={self.port}"

    def database(self, name=None):
        """Makes one that belongs to the role; its name."""
        name = name or "t" + uuid.uuid4().hex[:16]
        self.sql(f"create database {name}", role=ROLE)
        return name

    def copy_of(self, name):
        copy = "t" + uuid.uuid4().hex[:16]
        self.sql(f"create database {copy} template {name}", role=ROLE)
        return copy

    def drop(self, name):
        self.sql(f"drop database {name} with (force)")

    def admit(self, network):
        """Lets everybody of these addresses in, as those of this machine are."""
        with open(self.data / "pg_hba.conf", "a", encoding="utf-8") as rules:
            rules.write(f"host all all {network} trust\nhost replication all {network} trust\n")
        self.sql("select pg_reload_conf()")

    def keep(self):
        """Stops for a moment to put its files aside: others begin with them."""
        self.stop()
        self.run("cp", "-a", self.data, self.folder / "kept")
        self.start()

    def make_like(self, other):
        """A copy of another cluster as it was kept."""
        self.run("cp", "-a", other.folder / "kept", self.data)
        return self.start()

    def standby(self):
        """A second server that follows this one, running."""
        other = Cluster({**self.settings, "port": (port := free_port())}, port)
        self.followers.append(other)
        other.settings["unix_socket_directories"] = other.folder
        other.run("pg_basebackup", "-h", self.folder, "-p", self.port, "-U", "postgres",
                  "-D", other.data, "-R", "-X", "stream", "-c", "fast")
        return other.start()

    def promote(self):
        self.sql("select pg_promote()")

    def stop(self, mode=signal.SIGINT):
        """SIGINT ends sessions and writes everything down; SIGTERM waits for the sessions."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(mode)
            self.process.wait(60)

    def kill(self):
        """All its processes at once, as when the machine goes."""
        if self.process and self.process.poll() is None:
            for pid in self._processes():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
            # A new server refuses to start while the old one's memory is in use.
            (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _processes(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True,
                                  text=True, check=False).stdout.split()
        return [self.process.pid, *map(int, children)]

    def sleep(self):
        """It takes calls still, as the kernel does that for it, and answers none."""
        for pid in self._processes():
            os.kill(pid, signal.SIGSTOP)

    def wake(self):
        for pid in self._processes():
            os.kill(pid, signal.SIGCONT)

    def close(self):
        for other in self.followers:
            other.close()
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


# What tests on a common cluster need: a database each.


def is_wanted():
    return bool(os.environ.get(SWITCH))


def psql(url, text):
    done = subprocess.run([program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url],
                          input=text, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{text}: {done.stderr}"
    return done.stdout.strip()


def new_database():
    """The URL of a new database of the cluster."""
    cluster, name = os.environ[SWITCH], "t" + uuid.uuid4().hex[:16]
    psql(cluster, f"create database {name}")
    return urllib.parse.urlsplit(cluster)._replace(path="/" + name).geturl()


def drop_database(url, suffix=""):
    """Again for a while: the owner may not end the work of an autovacuum that is in it."""
    name = urllib.parse.urlsplit(url).path.strip("/") + suffix
    for chances in range(20, -1, -1):
        try:
            psql(os.environ[SWITCH], f"drop database {name} with (force)")
            return
        except AssertionError:
            if not chances:
                raise
            time.sleep(0.5)


def main(words):
    if not words:
        sys.exit(__doc__)
    # A stop by signal must not leave the cluster behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cluster = Cluster(QUICK)
    try:
        cluster.make()
        url = cluster.url(tcp=False)
        return subprocess.run(words, env={**os.environ, SWITCH: url}, check=False).returncode
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
