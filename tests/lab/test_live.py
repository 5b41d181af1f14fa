"""What a run shows on a terminal, and the keys it takes."""

import json
import os
import pty
import select
import subprocess
import time
import urllib.request

from conftest import bench, program, server_of
from test_run import long_window


class Terminal:
    def __init__(self, words):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([program(), "bench", *map(str, words)], stdin=slave,
                                        stdout=slave, stderr=slave)
        os.close(slave)
        self.text = ""

    def read(self, until=None, seconds=60):
        """Until the text has appeared, or the program has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    return self.process.wait()
            if until and until in self.text:
                return None
        raise AssertionError(f"{until} did not appear: {self.text[-500:]}")

    def press(self, keys):
        os.write(self.master, keys.encode())


def test_the_screen_shows_the_cell_and_its_figures_and_q_stops(lab):
    terminal = Terminal(lab.words(long_window(blocks=3)))
    terminal.read("  steady\r\n")
    terminal.read("p pause  n note  q stop")
    assert "cell 1 of 6" in terminal.text and "try/block1/small/main" in terminal.text
    assert "time left" in terminal.text and "vCPU" in terminal.text and "p95" in terminal.text
    terminal.press("q")
    assert terminal.read() == 2
    assert [c["state"] for c in lab.cells()].count("planned") >= 5


def test_a_note_is_typed_and_a_pause_goes_on(lab):
    terminal = Terminal(lab.words(long_window(), "--only", "small"))
    terminal.read("  steady\r\n")
    terminal.press("n")
    terminal.read("note: ")
    terminal.press("the lights went out\n")
    assert terminal.read() == 0
    texts = [a["text"] for a in lab.result()["annotations"] if a["source"] == "keyboard"]
    assert texts == ["the lights went out"]


def test_a_paused_run_waits_between_cells(lab):
    terminal = Terminal(lab.words(long_window()))
    terminal.read("  steady\r\n")
    terminal.press("p")
    terminal.read("paused; p goes on")
    states = [c["state"] for c in json.loads(
        next((lab.folder / "lab").glob("*/result.json")).read_text())["cells"]]
    assert states == ["done", "planned"]
    terminal.press("p")
    assert terminal.read() == 0
    assert [c["state"] for c in lab.cells()] == ["done", "done"]


def address_of(process):
    """The one that a run or a watch says it serves its page at."""
    for line in process.stdout:
        if line.startswith("http://"):
            return line.strip()
    raise AssertionError("no address was said")


def events_of(address, until):
    """Figures that the page is sent, up to the one for which `until` is true."""
    seen = []
    with urllib.request.urlopen(address + "events", timeout=60) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        for line in stream:
            if line.startswith(b"data: "):
                seen.append(json.loads(line[6:]))
                if until(seen[-1]):
                    return seen
    raise AssertionError(f"it never came: {seen[-1:]}")


def test_browsers_are_shown_the_run_each_second_until_it_ends(lab):
    process = lab.start(long_window(), "--only", "small", "--serve", "127.0.0.1:0")
    address = address_of(process)
    with urllib.request.urlopen(address, timeout=20) as page:
        assert b"EventSource" in page.read()
    steady = events_of(address, lambda now: now["phase"] == "steady" and now["of"])[-1]
    assert steady["cell"] == "try/block1/small/main" and steady["cells"] == 2
    assert steady["users"] == 3 and steady["perS"] > 0 and steady["serverRssBytes"] > 0
    assert {of["name"] for of in steady["of"]} <= {"check-in", "check-out"}
    assert all(0 < of["p50Ms"] <= of["p95Ms"] for of in steady["of"])
    assert any(note["kind"] == "start" for note in steady["notes"])
    assert events_of(address, lambda now: now["phase"] == "done")
    assert process.wait(timeout=60) == 0


def test_a_run_is_watched_from_another_terminal(lab):
    process = lab.start(long_window(), "--only", "small")
    server_of(process)
    watch = subprocess.run([program(), "bench", "watch", "--lab.dir", str(lab.folder / "lab")],
                           capture_output=True, text=True, timeout=120, check=False)
    process.communicate(timeout=120)
    assert watch.returncode == 0, watch.stderr
    assert "try/block1/small/main" in watch.stdout and "requests/s" in watch.stdout
    nobody = bench("watch", "--lab.dir", lab.folder / "lab")
    assert nobody.returncode == 3 and "no run is at work" in nobody.stderr
