"""A network of the tests' own, in which a node can be cut off from its database without a word."""

import ctypes
import os
import subprocess

from site_of_nodes import Node, octavo, postgres

CLONE_NEWNET = 0x40000000
NOBODY = "02:00:00:00:ff:ff"  # a frame sent there is dropped by whoever gets it

libc = ctypes.CDLL(None, use_errno=True)


def command(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


class Network:
    """This thread, and what it starts from now on, have no other network until the end."""

    def __init__(self):
        self.former = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self.places = []
        if libc.unshare(CLONE_NEWNET) != 0:
            reason = os.strerror(ctypes.get_errno())
            os.close(self.former)
            raise OSError(f"the kernel gives no network of one's own: {reason}")
        command("ip", "link", "set", "lo", "up")

    def place(self):
        one = Place(len(self.places) + 1)
        self.places.append(one)
        return one

    def close(self):
        for one in self.places:
            one.close()
        libc.setns(self.former, CLONE_NEWNET)
        os.close(self.former)


class Place:
    """A machine for one node: a cable to the clients, another one to the database."""

    def __init__(self, number):
        self.number = number
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        octavo.wait_until(self._is_apart)
        self.inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        command(*self.inside, "ip", "link", "set", "lo", "up")
        self._cable("front", 77)
        self._cable("back", 78)
        self.address = f"10.77.{number}.2"
        self.way_to_clients = f"10.77.{number}.1"
        self.way_to_database = f"10.78.{number}.1"
        self.mend()

    def _is_apart(self):
        own, other = (os.readlink(f"/proc/{who}/ns/net") for who in ("thread-self",
                                                                    self.holder.pid))
        return own != other

    def _mac(self, kind, end):
        return f"02:00:00:{kind:02x}:{self.number:02x}:{end:02x}"

    def _cable(self, name, kind):
        outer = f"{name}{self.number}"
        command("ip", "link", "add", outer, "address", self._mac(kind, 1), "type", "veth", "peer",
                "name", name, "address", self._mac(kind, 2), "netns", self.holder.pid)
        command("ip", "address", "add", f"10.{kind}.{self.number}.1/24", "dev", outer)
        command("ip", "link", "set", outer, "up")
        command(*self.inside, "ip", "address", "add", f"10.{kind}.{self.number}.2/24", "dev", name)
        command(*self.inside, "ip", "link", "set", name, "up")

    def _neighbours(self, mac_there, mac_here):
        """Where either end sends its packets on the way between node and database."""
        command(*self.inside, "ip", "neighbour", "replace", self.way_to_database, "lladdr",
                mac_there, "dev", "back", "nud", "permanent")
        command("ip", "neighbour", "replace", f"10.78.{self.number}.2", "lladdr", mac_here,
                "dev", f"back{self.number}", "nud", "permanent")

    def cut(self):
        """Packets get lost in both directions; nobody is told, and both links stay up."""
        self._neighbours(NOBODY, NOBODY)

    def cut_answers(self):
        """Only what the database sends gets lost."""
        self._neighbours(self._mac(78, 1), NOBODY)

    def mend(self):
        self._neighbours(self._mac(78, 1), self._mac(78, 2))

    def is_silent(self, port, within_s=1):
        """True if a call to the database hears nothing at all, and False if it is taken."""
        done = subprocess.run([*self.inside, "timeout", str(within_s), "bash", "-c",
                               f"exec 3<>/dev/tcp/{self.way_to_database}/{port}"],
                              capture_output=True, check=False)
        assert done.returncode in (0, 124), done.stderr
        return done.returncode == 124

    def close(self):
        self.holder.kill()
        self.holder.wait()


class NodeAt(Node):
    """A node in a place of its own."""

    def __init__(self, place, url):
        super().__init__(url)
        self.place = place
        self.before = place.inside
        self.options[self.options.index(f"--http.listen=127.0.0.1:{self.port}")] = \
            f"--http.listen={place.address}:{self.port}"
        self.admin = f"{place.address}:{postgres.free_port()}"

    def start(self):
        super().start()
        self.url = f"http://{self.place.address}:{self.port}"
        self.admin_url = f"http://{self.admin}"
        return self
