"""The floor that check-outs are measured against: its statements are those of a check-out."""

import re

import floor
import octavo


def without_figures(text):
    """Sizes of documents and distances in time may move a little; kinds and order may not."""
    return re.sub(r"(doc:|now\+)\d+", r"\1", text)


def test_the_floor_runs_the_statements_that_a_check_out_runs(tmp_path):
    kept = (octavo.ROOT / "bench" / floor.kept_file()).read_text()
    now = floor.floor_text(tmp_path)
    assert without_figures(now) == without_figures(kept), \
        f"make bench/{floor.kept_file()} again, as tests/api/floor.py tells"
    sizes = [[int(n) for n in re.findall(r"doc:(\d+)", text)] for text in (kept, now)]
    assert all(abs(a - b) <= a // 10 for a, b in zip(*sizes)), sizes
