"""octavo load: records of files and of FOLIO's dumps come in; bad ones are named by line."""

import json
import subprocess
import uuid

import pytest

import octavo

FACULTY = "503a81cd-6c26-400f-b620-14c08943697c"


@pytest.fixture
def stopped(tmp_path):
    """A library whose server does not run; load(...) and then serve()."""
    server = octavo.Server()
    server.make_tenant("diku")

    def load(*words):
        return subprocess.run([octavo.program(), "load", *server.store, "--tenant", "diku",
                               *map(str, words)], capture_output=True, text=True, timeout=60)

    def serve():
        server.start()
        return octavo.Library(server, "diku").login()

    server.load, server.serve, server.file = load, serve, tmp_path / "records"
    yield server
    server.close()


def user(name, **members):
    return {"id": str(uuid.uuid4()), "username": name, "active": True, "patronGroup": FACULTY,
            "personal": {"lastName": name}, **members}


@pytest.mark.parametrize("form", ["array", "answer", "lines"])
def test_records_come_in_all_three_forms(stopped, form):
    records = [user(f"loaded{n}", barcode=f"L{n}") for n in range(250)]
    text = {"array": json.dumps(records, indent=1),
            "answer": json.dumps({"totalRecords": 250, "users": records}),
            "lines": "\n".join(map(json.dumps, records))}[form]
    stopped.file.write_text(text)
    done = stopped.load("--collection", "/users", stopped.file)
    assert done.returncode == 0, done.stderr
    assert "250 loaded, 0 refused" in done.stdout
    library = stopped.serve()
    assert library.get("/users", query="username=loaded*").json["totalRecords"] == 250
    found = library.get("/users/" + records[7]["id"]).expect(200)
    assert found["barcode"] == "L7" and found["metadata"]["createdDate"]


def test_a_bad_record_is_named_by_line_and_the_others_are_kept(stopped):
    records = [user(f"loaded{n}") for n in range(5)]
    records[2]["patronGroup"] = str(uuid.uuid4())
    lines = [json.dumps(r) for r in records]
    lines[4] = lines[4][:20]
    stopped.file.write_text("\n".join(lines))
    done = stopped.load("--collection", "/users", stopped.file)
    assert done.returncode == 1
    assert "3 loaded, 2 refused" in done.stdout
    assert f"{stopped.file}:3: " in done.stderr and f"{stopped.file}:5: " in done.stderr
    library = stopped.serve()
    assert library.get("/users", query="username=loaded*").json["totalRecords"] == 3


def test_computed_members_are_made_unless_records_come_as_they_are(stopped):
    made = {"id": str(uuid.uuid4()), "title": "Tides", "source": "FOLIO",
            "instanceTypeId": "6312d172-f0cf-40f6-b27d-9fa8feaf332f"}
    kept = {**made, "id": str(uuid.uuid4()), "hrid": "old1", "_version": 7,
            "metadata": {"createdDate": "2001-02-03T04:05:06.000+00:00"}}
    stopped.file.write_text(json.dumps([made]))
    assert stopped.load("--collection", "/instance-storage/instances", stopped.file).returncode == 0
    stopped.file.write_text(json.dumps([kept]))
    done = stopped.load("--collection", "/instance-storage/instances", stopped.file, "--as-is")
    assert done.returncode == 0, done.stderr
    library = stopped.serve()
    first = library.get("/instance-storage/instances/" + made["id"]).expect(200)
    assert first["hrid"].startswith("in") and first["_version"] == 1
    second = library.get("/instance-storage/instances/" + kept["id"]).expect(200)
    assert second == {**second, **kept}


DUMP = r"""--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
CREATE TABLE diku_mod_users.users (id uuid NOT NULL, jsonb jsonb NOT NULL);

COPY diku_mod_users.users (id, jsonb, creation_date, created_by, patrongroup) FROM stdin;
{user}	{{"id": "{user}", "username": "dumped", "active": true, "patronGroup": "{group}", "personal": {{"lastName": "Tab\\there \\\\ \\"quoted\\""}}, "metadata": {{"createdDate": "2001-02-03T04:05:06.000+00:00"}}}}	2001-02-03 04:05:06	\N	{group}
\.

COPY diku_mod_users.groups (id, jsonb, creation_date, created_by) FROM stdin;
{group}	{{"id": "{group}", "group": "dumped group"}}	\N	\N
\.

COPY diku_mod_users.rmb_internal (id, jsonb) FROM stdin;
1	{{"rmbVersion": "35"}}
\.

COPY diku_mod_none.things (id, jsonb) FROM stdin;
\.
"""


def test_a_dump_comes_in_whatever_the_order_of_its_tables(stopped):
    ids = {"user": str(uuid.uuid4()), "group": str(uuid.uuid4())}
    stopped.file.write_text(DUMP.format(**ids))
    done = stopped.load("--dump", stopped.file)
    assert done.returncode == 0, done.stderr
    assert "2 loaded, 0 refused, 1 of unknown tables" in done.stdout
    library = stopped.serve()
    found = library.get("/users/" + ids["user"]).expect(200)
    assert found["personal"]["lastName"] == 'Tab\there \\ "quoted"'
    assert found["metadata"]["createdDate"] == "2001-02-03T04:05:06.000+00:00"
    assert library.get("/users", query='username=="dumped"').json["totalRecords"] == 1
    assert library.get("/groups/" + ids["group"]).expect(200)["group"] == "dumped group"


def test_a_reference_to_nothing_in_a_dump_is_reported(stopped):
    ids = {"user": str(uuid.uuid4()), "group": str(uuid.uuid4())}
    text = DUMP.format(**ids).split("COPY diku_mod_users.groups")[0]
    stopped.file.write_text(text)
    done = stopped.load("--dump", stopped.file)
    assert done.returncode == 1
    assert "name a groups in patronGroup that does not exist" in done.stderr
