"""What a run shows on a terminal, and the keys it takes."""

import json
import os
import pty
import select
import subprocess
import time

from conftest import program
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
