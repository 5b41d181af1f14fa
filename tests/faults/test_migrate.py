"""Libraries move into another store whole: also when the move is shot, never when they differ."""

import signal
import sqlite3
import subprocess
import time

from desk import Desk, program, run


def place(folder):
    return f"sqlite:{folder}"


def migrate(source, target, *words):
    return run("migrate", "--from", place(source), "--to", place(target), *words)


def begin(source, target):
    return subprocess.Popen([program(), "migrate", "--from", place(source), "--to", place(target)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def documents(folder, tenant="diku"):
    """Every record of every table that has any, but for what counts places in the store."""
    with sqlite3.connect(f"file:{folder}/{tenant}.db?mode=ro", uri=True) as database:
        tables = [row[0] for row in database.execute("select name from octavo_table")]
        found = {table: sorted(database.execute(f'select id, doc from "{table}"'))
                 for table in tables if table != "octavo_relay"}
        return {table: rows for table, rows in found.items() if rows}


def test_a_copy_is_a_whole_library(prepared, tmp_path):
    done = migrate(prepared, tmp_path / "copy")
    assert done.returncode == 0, done.stderr
    assert "the same on both sides" in done.stdout and "NOT" not in done.stdout
    assert documents(tmp_path / "copy") == documents(prepared)
    served = Desk(tmp_path / "copy").start().log_in()
    served.inputs = Desk(prepared).inputs
    item, user = served.inputs("available.csv")[0], served.inputs("user_barcodes.csv")[0]
    assert served.check_out(item, user).status_code == 201
    assert served.terminate() == 0
    served.must_be_whole()


def size_of(folder):
    return sum(file.stat().st_size for file in folder.glob("diku.db*"))


def test_a_copy_that_was_shot_goes_on_where_it_stopped(prepared, tmp_path):
    target = tmp_path / "copy"
    for mib in (2, 8, 14):
        copying = begin(prepared, target)
        while size_of(target) < mib << 20 and copying.poll() is None:
            time.sleep(0.005)
        assert copying.poll() is None, "it ended before it was shot"
        copying.send_signal(signal.SIGKILL)
        copying.wait()
    done = migrate(prepared, target)
    assert done.returncode == 0, done.stderr
    assert documents(target) == documents(prepared)
    Desk(target).must_be_whole()


def test_a_target_that_differs_is_no_copy(prepared, tmp_path):
    copying = begin(prepared, tmp_path / "copy")
    changed = 0
    while not changed:
        assert copying.poll() is None, "it ended before anything could be changed"
        time.sleep(0.05)
        try:
            with sqlite3.connect(f"file:{tmp_path}/copy/diku.db?mode=rw", uri=True) as database:
                changed = database.execute("update groups set doc = doc || ' '").rowcount
        except sqlite3.OperationalError:
            continue  # not there yet
    copying.send_signal(signal.SIGKILL)
    copying.wait()
    done = migrate(prepared, tmp_path / "copy")
    assert done.returncode == 1
    assert "diku: groups: the contents differ" in done.stderr


def test_nothing_is_copied_over_what_is_there(prepared, tmp_path):
    assert migrate(prepared, tmp_path / "copy", "--tenant", "diku").returncode == 0
    again = migrate(prepared, tmp_path / "copy", "--tenant", "diku")
    assert again.returncode == 1
    assert "the target has data of diku already" in again.stderr
    everything = migrate(prepared, tmp_path / "copy")
    assert everything.returncode == 1 and "already" in everything.stderr


def test_one_tenant_joins_others(prepared, tmp_path):
    made = run("tenant", "create", "other", "--data", str(tmp_path / "site"), "--admin", "me:secret")
    assert made.returncode == 0, made.stderr
    done = run("migrate", "--from", place(prepared / "diku.db"), "--to", place(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    served = Desk(tmp_path / "site").start().log_in()
    assert served.get("/users", limit=0)["totalRecords"] == 501
    assert served.terminate() == 0


def test_a_server_and_a_move_do_not_share_a_folder(desk, tmp_path):
    done = migrate(desk.data, tmp_path / "copy")
    assert done.returncode == 1 and "Another process uses" in done.stderr
