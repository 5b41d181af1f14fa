"""The disk is full: writers are told, readers go on, nothing is stored by half, and with room again
everything works as before. The disk is a small one in memory, in a name space of its own."""

import os
import shutil
import subprocess

import pytest

from desk import Desk

ROOM_MIB = 2
SPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def has_name_spaces():
    try:
        return subprocess.run([*SPACE, "true"], capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


@pytest.fixture
def small_disk(prepared, tmp_path):
    """A desk whose data directory can grow by little; desk.path(x) is a file on its disk."""
    if not has_name_spaces():
        pytest.skip("a small disk needs user name spaces (unshare), which this machine forbids; "
                    "test_power_cut.py fills the disk in the fault layer everywhere")
    disk = tmp_path / "disk"
    disk.mkdir()
    size = sum(f.stat().st_size for f in prepared.rglob("*")
               if f.is_file() and "prepared" not in f.parts[-2:])
    script = (f"mount -t tmpfs -o size={(size >> 20) + 12 + ROOM_MIB}m tmpfs {disk} && "
              f"cp -r {prepared}/*.db {prepared}/inputs {disk}/ && "
              f"dd if=/dev/zero of={disk}/filler bs=1M count=10 2>/dev/null && "
              f'exec "$@"')
    one = Desk(disk, before=[*SPACE, "sh", "-c", script, "sh"])
    one.start()
    one.path = lambda name: f"/proc/{one.process.pid}/root{disk}/{name}"
    # The checks and the lists of inputs read the disk through the server's name space.
    one.data = one.path("")
    yield one.log_in()
    if one.process.poll() is None:
        one.kill()
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_a_full_disk_refuses_writes_and_nothing_else(small_disk, tmp_path):
    desk = small_disk
    items, users = desk.inputs("available.csv"), desk.inputs("user_barcodes.csv")
    lent, refused = [], []
    for n in range(3000):
        answer = desk.check_out(items[n % len(items)], users[n % len(users)])
        if answer.status_code == 201:
            lent.append(items[n])
        else:
            refused.append(answer)
            break
    assert lent and refused, "the disk never became full"
    assert refused[0].status_code in (500, 503, 507), refused[0].text

    # Readers do not notice; the refused item is untouched.
    assert desk.item(items[len(lent)])["status"]["name"] == "Available"
    assert desk.item(lent[0])["status"]["name"] == "Checked out"
    assert not desk.open_loans_of(desk.item(items[len(lent)])["id"])

    # Room again: the same process goes on.
    os.unlink(desk.path("filler"))
    assert desk.check_out(items[len(lent)], users[0]).status_code == 201
    for item in lent[::50]:
        assert len(desk.open_loans_of(desk.item(item)["id"])) == 1
    # SQLite follows links to the real path, which leads nowhere outside the name space: a copy.
    shutil.copytree(desk.path(""), tmp_path / "copy")
    assert desk.terminate() == 0
    desk.data = tmp_path / "copy"
    desk.must_be_whole()
