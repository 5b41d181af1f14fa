"""Backups of a server that works: libraries come, get modules and go meanwhile. A copy is whole."""

import threading
import uuid

import pytest
import requests

from desk import Desk, run

MODULES = ["mod-users", "mod-permissions", "mod-notes", "mod-circulation-storage"]
# Of modules that tests look at: a permission that each defines.
DEFINED = {"mod-users": "users.item.get", "mod-notes": "notes.item.get",
           "mod-circulation-storage": "circulation-storage.loans.item.get"}


class Founder(threading.Thread):
    """Makes libraries and deletes them again, until it is told to end."""

    def __init__(self, desk):
        super().__init__()
        self.desk, self.ends, self.wrong = desk, threading.Event(), []

    def run(self):
        while not self.ends.is_set():
            name = "f" + uuid.uuid4().hex[:8]
            path = f"/_/proxy/tenants/{name}"
            self.note(self.desk.post("/_/proxy/tenants", {"id": name, "name": name}), 201)
            self.note(self.desk.post(path + "/install", [{"id": m, "action": "enable"} for m in MODULES]), 200)
            self.note(requests.delete(self.desk.url + path, headers=self.desk.headers, timeout=30), 204)

    def note(self, answer, status):
        if answer.status_code != status:
            self.wrong.append(f"{answer.status_code} {answer.text[:200]}")


def of(desk, library, path, **query):
    """What a library without mod-authtoken tells everybody on its machine."""
    answer = requests.get(desk.url + path, params=query, headers={"x-okapi-tenant": library}, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


def lacks(desk, library):
    """What modules of the library ought to have brought along."""
    modules = {m["id"].rsplit("-", 1)[0] for m in desk.get(f"/_/proxy/tenants/{library}/modules")}
    found = []
    if "mod-notes" in modules and not of(desk, library, "/note-types")["totalRecords"]:
        found.append("note types")
    if "mod-permissions" in modules:
        known = {p["permissionName"] for p in of(desk, library, "/perms/permissions", length=10000)["permissions"]}
        found += [name for module, name in DEFINED.items() if module in modules and name not in known]
    return found


@pytest.fixture
def founders(desk):
    some = [Founder(desk) for _ in range(2)]
    for one in some:
        one.start()
    yield some
    for one in some:
        one.ends.set()
        one.join()


def test_a_backup_has_every_library_whole(desk, founders, tmp_path):
    lent = desk.inputs("available.csv")[:8]
    for n, item in enumerate(lent):
        assert desk.check_out(item, desk.inputs("user_barcodes.csv")[n]).status_code == 201
        done = run("backup", "--data", str(desk.data), "--to", str(tmp_path / f"copy{n}"))
        assert done.returncode == 0, done.stderr
    for one in founders:
        one.ends.set()
        one.join()
        assert one.wrong == []
    for n, item in enumerate(lent):
        # Of a library that was deleted meanwhile there is the name only.
        copied = {file.stem for file in (tmp_path / f"copy{n}").glob("*.db")}
        copy = Desk(tmp_path / f"copy{n}").start().log_in()
        try:
            assert copy.item(item)["status"]["name"] == "Checked out"
            listed = {t["id"] for t in copy.get("/_/proxy/tenants") if t["id"].startswith("f")}
            assert {name: lacks(copy, name) for name in listed & copied} == \
                {name: [] for name in listed & copied}
            copy.must_be_whole()
        finally:
            assert copy.terminate() == 0


def test_of_two_backups_into_one_folder_one_is_refused(desk, tmp_path):
    copies = [threading.Thread(target=lambda: codes.append(
        run("backup", "--data", str(desk.data), "--to", str(tmp_path / "copy")).returncode)) for _ in range(2)]
    codes = []
    for one in copies:
        one.start()
    for one in copies:
        one.join()
    assert sorted(codes) == [0, 1]
    copy = Desk(tmp_path / "copy").start().log_in()
    copy.must_be_whole()
    assert copy.terminate() == 0


def test_a_library_that_is_not_there_is_no_backup(desk, tmp_path):
    done = run("backup", "--data", str(desk.data), "--tenant", "nobody", "--to", str(tmp_path / "copy"))
    assert done.returncode == 1 and "No such tenant nobody" in done.stderr


def test_what_a_crash_left_of_a_deleted_library_stops_no_upgrade(desk):
    """A library goes out of the list first, its data behind that."""
    assert desk.terminate() == 0
    (desk.data / "left.db").write_bytes((desk.data / "diku.db").read_bytes())
    done = run("migrate", "--data", str(desk.data))
    assert done.returncode == 0 and "diku: up to date" in done.stdout, done.stderr
    assert "left is no tenant" in done.stderr
