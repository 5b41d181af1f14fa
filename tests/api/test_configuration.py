"""Entries of mod-configuration. Source: spec/platform.md 5.1, 8."""

import uuid


def entry(**members):
    return {"module": "M" + uuid.uuid4().hex[:8], "configName": "c", "value": "v", **members}


def test_an_entry_is_stored_found_changed_and_removed(library):
    one = library.post("/configurations/entries", entry(code="x")).expect(201)
    assert one["enabled"] is True
    assert library.last.headers["location"] == "/configurations/entries/" + one["id"]
    query = f"(module=={one['module']} and configName==c)"
    found = library.get("/configurations/entries", query=query).expect(200)
    assert [e["id"] for e in found["configs"]] == [one["id"]] and found["totalRecords"] == 1
    library.put("/configurations/entries/" + one["id"], {**one, "value": "w"}).expect(204)
    assert library.get("/configurations/entries/" + one["id"]).json["value"] == "w"
    library.delete("/configurations/entries/" + one["id"]).expect(204)
    library.get("/configurations/entries/" + one["id"]).expect(404)


def test_a_key_exists_once_for_the_library_and_once_for_each_user(library):
    one = entry(code="x")
    library.post("/configurations/entries", one).expect(201)
    error = library.post("/configurations/entries", one).expect(422)["errors"][0]
    assert error == {"message": "Cannot have more than one tenant or user record with the same "
                                "module, config name and code",
                     "module": one["module"], "configName": "c", "code": "x", "parameters": []}
    own = {**one, "userId": str(uuid.uuid4())}
    library.post("/configurations/entries", own).expect(201)
    error = library.post("/configurations/entries", own).expect(422)["errors"][0]
    assert error["userId"] == own["userId"]
    library.post("/configurations/entries", {**own, "userId": str(uuid.uuid4())}).expect(201)


def test_an_absent_code_is_a_key_too(library):
    one = entry()
    library.post("/configurations/entries", one).expect(201)
    library.post("/configurations/entries", one).expect(422)
    library.post("/configurations/entries", {**one, "code": "x"}).expect(201)


def test_what_is_switched_off_does_not_collide(library):
    one = entry(code="x")
    library.post("/configurations/entries", one).expect(201)
    off = library.post("/configurations/entries", {**one, "enabled": False}).expect(201)
    library.post("/configurations/entries", {**one, "enabled": False}).expect(201)
    library.put("/configurations/entries/" + off["id"], {**off, "enabled": True}).expect(422)


def test_entries_of_nobody_are_found_by_the_front_ends_query(library):
    one = library.post("/configurations/entries", entry()).expect(201)
    library.post("/configurations/entries",
                 entry(module=one["module"], userId=str(uuid.uuid4()))).expect(201)
    query = f'(module=={one["module"]} and configName==c NOT userId="" NOT code="")'
    found = library.get("/configurations/entries", query=query).expect(200)
    assert [e["id"] for e in found["configs"]] == [one["id"]]


def test_module_and_name_are_needed(library):
    errors = library.post("/configurations/entries", {"code": "x"}).expect(422)["errors"]
    assert {e["parameters"][0]["key"] for e in errors} == {"module", "configName"}


def test_changes_leave_a_history(library):
    one = library.post("/configurations/entries", entry()).expect(201)
    library.put("/configurations/entries/" + one["id"], {**one, "value": "w"}).expect(204)
    library.delete("/configurations/entries/" + one["id"]).expect(204)
    audits = library.get("/configurations/audit", limit=1000).expect(200)["audits"]
    mine = sorted(a["operation"] for a in audits if a["orig_id"] == one["id"])
    assert mine == ["D", "I", "U"]
