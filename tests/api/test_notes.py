"""Notes and note types, in the dialect of Spring. Source: spec/platform.md 6, 6.2."""

import uuid

import pytest


def new_id():
    return str(uuid.uuid4())


@pytest.fixture
def kind(library):
    return library.get("/note-types", query='name=="General note"').json["noteTypes"][0]["id"]


def note(kind, object_id=None, **members):
    links = [{"id": object_id or new_id(), "type": "user"}]
    return {"typeId": kind, "title": "T", "domain": "users", "links": links, **members}


def linked(library, object_id, **query):
    path = f"/note-links/domain/users/type/user/id/{object_id}"
    return library.get(path, **query).expect(200)


def test_every_library_has_one_type(library, kind):
    assert library.get("/note-types/" + kind).expect(200)["name"] == "General note"


def test_a_note_is_shown_with_its_type_and_author(library, kind):
    one = library.post("/notes", note(kind)).expect(201)
    got = library.get("/notes/" + one["id"]).expect(200)
    assert got["type"] == "General note" and got["popUpOnCheckOut"] is False
    assert got["metadata"]["createdByUsername"] == "diku_admin"
    assert library.get("/note-types/" + kind).json["usage"]["isAssigned"] is True


def test_notes_are_found_by_what_they_are_about(library, kind):
    about = new_id()
    one = library.post("/notes", note(kind, about, content="<p>Blue <strong>book</strong></p>"))
    one = one.expect(201)
    other = library.post("/notes", note(kind, title="A")).expect(201)
    assert [n["id"] for n in linked(library, about, status="assigned")["notes"]] == [one["id"]]
    rest = [n["id"] for n in linked(library, about, status="unassigned")["notes"]]
    assert other["id"] in rest and one["id"] not in rest
    every = linked(library, about, orderBy="title", order="desc")["notes"]
    assert every.index([n for n in every if n["id"] == one["id"]][0]) < every.index(
        [n for n in every if n["id"] == other["id"]][0])
    found = linked(library, about, status="assigned", search="BLUE book")
    assert found["totalRecords"] == 1
    assert linked(library, about, status="assigned", search="green")["totalRecords"] == 0
    assert linked(library, about, status="assigned", noteType="no such")["totalRecords"] == 0


def test_looking_for_the_notes_of_an_object_costs_the_same_with_many_notes(fresh_library):
    library = fresh_library
    kind = library.get("/note-types").json["noteTypes"][0]["id"]
    about = new_id()
    library.post("/notes", note(kind, about)).expect(201)
    for _ in range(60):
        library.post("/notes", note(kind)).expect(201)
    linked(library, about, status="assigned")
    assert library.last.cost("rows") < 12


def test_links_are_set_and_taken_away(library, kind):
    first, second = new_id(), new_id()
    one = library.post("/notes", note(kind, first)).expect(201)["id"]

    def put(about, status):
        path = "/note-links/type/user/id/" + about
        library.put(path, {"notes": [{"id": one, "status": status}]}).expect(204)

    put(second, "ASSIGNED")
    assert linked(library, second, status="assigned")["totalRecords"] == 1
    put(first, "UNASSIGNED")
    assert linked(library, first, status="assigned")["totalRecords"] == 0
    put(second, "UNASSIGNED")
    library.get("/notes/" + one).expect(404)


def test_a_note_about_nothing_any_more_goes(library, kind):
    one = library.post("/notes", note(kind)).expect(201)
    library.put("/notes/" + one["id"], {**one, "title": "New"}).expect(204)
    assert library.get("/notes/" + one["id"]).json["title"] == "New"
    library.put("/notes/" + one["id"], {**one, "links": []}).expect(204)
    library.get("/notes/" + one["id"]).expect(404)


@pytest.mark.parametrize("content, kept", [
    ('<p class="a" onclick="x()">Hi</p>', '<p class="a">Hi</p>'),
    ("a<script>alert(1)</script>b", "ab"),
    ('<a href="javascript:alert(1)">x</a>', "<a>x</a>"),
    ('<a href=" JAVA&#115;cript:x">x</a>', "<a>x</a>"),
    ('<a href="https://example.org/?a=1" target="_blank">x</a>',
     '<a href="https://example.org/?a=1" target="_blank">x</a>'),
    ("<p>one<p>two", "<p>one<p>two</p></p>"),
    ("<b>bold</b> & <i>more</i>", "bold &amp; more"),
    ("<img src=x onerror=y>1 < 2", "1 &lt; 2"),
    ("<!-- hidden --><em>seen</em></strong>", "<em>seen</em>"),
])
def test_content_keeps_what_an_editor_makes(library, kind, content, kept):
    assert library.post("/notes", note(kind, content=content)).expect(201)["content"] == kept


def test_what_is_wrong_is_told_in_springs_words(library, kind):
    def code(answer, status):
        body = answer.expect(status)
        assert body["total_records"] == 1
        return body["errors"][0]["code"]

    assert code(library.post("/notes", {}), 422) == "VALIDATION_ERROR"
    assert code(library.get("/notes", limit=0), 422) == "VALIDATION_ERROR"
    assert code(library.get("/notes", query="foo*"), 422) == "VALIDATION_ERROR"
    assert code(library.get("/notes/" + new_id()), 404) == "NOT_FOUND_ERROR"
    assert code(library.get("/notes/x"), 422) == "VALIDATION_ERROR"
    assert code(library.post("/notes", note(new_id())), 422) == "VALIDATION_ERROR"
    assert code(library.post("/note-types", {"name": "General note"}), 422) == "VALIDATION_ERROR"
    answer = library.call("POST", "/note-types", data=b"<x/>",
                          headers={"content-type": "application/xml"})
    assert answer.expect(415)["error"] == "Unsupported Media Type"


def test_a_type_in_use_stays(library, kind):
    library.post("/notes", note(kind)).expect(201)
    error = library.delete("/note-types/" + kind).expect(422)["errors"][0]
    assert "still referenced" in error["message"]


def test_the_number_of_types_has_a_limit_that_can_be_set(fresh_library):
    library = fresh_library
    setting = library.post("/configurations/entries", {
        "module": "NOTES", "configName": "note-type-limit", "code": "note.types.number.limit",
        "value": "1"}).expect(201)
    error = library.post("/note-types", {"name": "two"}).expect(422)["errors"][0]
    assert error["code"] == "NOTE_TYPES_LIMIT_REACHED"
    assert error["message"] == "Maximum number of note types allowed is 1"
    assert error["parameters"] == [{"key": "limit", "value": "1"}]
    library.delete("/configurations/entries/" + setting["id"]).expect(204)
    library.post("/note-types", {"name": "two"}).expect(201)
