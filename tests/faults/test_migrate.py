"""Libraries move into another store whole: also when the move is shot, never when they differ."""

import resource
import shutil
import signal
import sqlite3
import subprocess

from desk import Desk, program, run


def place(folder):
    return f"sqlite:{folder}"


def migrate(source, target, *words):
    return run("migrate", "--from", place(source), "--to", place(target), *words)


def migrate_until(source, target, mib):
    """Shot by the system in the middle of the write that would make a file larger than this."""
    size = mib << 20
    done = subprocess.run([program(), "migrate", "--from", place(source), "--to", place(target)],
                          capture_output=True, text=True, timeout=300, preexec_fn=lambda: (
                              resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
                              resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))))
    assert done.returncode == -signal.SIGXFSZ, done.stdout + done.stderr


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


def test_a_library_with_half_a_batch_is_not_copied_before_that_is_taken_back(prepared, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(prepared, source, ignore=shutil.ignore_patterns("prepared"))
    with sqlite3.connect(source / "diku.db") as database:  # as a killed server leaves it
        database.execute("insert into octavo_turn values ('batch', 0, '[]')")
    refused = migrate(source, tmp_path / "refused")
    assert refused.returncode != 0 and "a batch of diku broke off" in refused.stderr, refused.stderr
    assert run("migrate", "--data", source).returncode == 0
    done = migrate(source, tmp_path / "copy")
    assert done.returncode == 0, done.stderr
    assert documents(tmp_path / "copy") == documents(prepared)


def test_a_copy_that_was_shot_goes_on_where_it_stopped(prepared, tmp_path):
    target = tmp_path / "copy"
    for mib in (2, 8, 14):
        migrate_until(prepared, target, mib)
    done = migrate(prepared, target)
    assert done.returncode == 0, done.stderr
    assert documents(target) == documents(prepared)
    Desk(target).must_be_whole()


def test_a_target_that_differs_is_no_copy(prepared, tmp_path):
    migrate_until(prepared, tmp_path / "copy", 14)
    with sqlite3.connect(tmp_path / "copy" / "diku.db") as database:
        assert database.execute("update groups set doc = doc || ' '").rowcount > 0
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
