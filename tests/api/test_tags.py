"""mod-tags: the vocabulary of tags, and what every collection in Spring's dialect does.

Source: spec/platform.md 6.1.
"""

import uuid

import pytest


def labels(library, **query):
    return [tag["label"] for tag in library.get("/tags", **query).expect(200)["tags"]]


def error(response, status):
    body = response.expect(status)
    assert body["total_records"] == 1
    return body["errors"][0]["code"], body["errors"][0]["message"]


def test_a_new_library_has_two_tags(fresh_library):
    assert labels(fresh_library) == ["important", "urgent"]


def test_a_tag_is_made_read_changed_and_deleted(library):
    answer = library.post("/tags", {"label": "rare", "description": "handle with care"})
    tag = answer.expect(201)
    assert answer.headers["location"] == f"/tags/{tag['id']}"
    assert tag["metadata"]["createdByUserId"]
    library.put(f"/tags/{tag['id']}", {**tag, "label": "rare book"}).expect(204)
    assert library.get(f"/tags/{tag['id']}").json["label"] == "rare book"
    library.delete(f"/tags/{tag['id']}").expect(204)
    assert error(library.get(f"/tags/{tag['id']}"), 404) == (
        "NOT_FOUND_ERROR", f"Tag with id [{tag['id']}] was not found")


def test_a_label_is_there_once_and_its_case_counts(library):
    library.post("/tags", {"label": "Maps"}).expect(201)
    other = library.post("/tags", {"label": "maps"}).expect(201)
    assert error(library.post("/tags", {"label": "Maps"}), 422) == (
        "VALIDATION_ERROR", "Key (label)=(Maps) already exists.")
    assert error(library.put(f"/tags/{other['id']}", {**other, "label": "Maps"}), 422)[0] == (
        "VALIDATION_ERROR")


def test_labels_are_found_while_one_types(library):
    for label in ("atlas", "atoll", "bay"):
        library.post("/tags", {"label": label}).expect(201)
    assert labels(library, query='label="AT*" sortby label') == ["atlas", "atoll"]


@pytest.mark.parametrize("ask", [
    lambda library: library.get("/tags", query="no query"),
    lambda library: library.get("/tags", limit=0),
    lambda library: library.get("/tags", limit="many"),
    lambda library: library.get("/tags", offset=-1),
    lambda library: library.get("/tags/1"),
    lambda library: library.delete("/tags/1"),
    lambda library: library.post("/tags", {}),
    lambda library: library.post("/tags"),
    lambda library: library.post("/tags", []),
    lambda library: library.post("/tags", {"label": None}),
    lambda library: library.post("/tags", {"label": "x" * 256}),
])
def test_what_is_wrong_is_told_in_springs_words(library, ask):
    assert error(ask(library), 422)[0] == "VALIDATION_ERROR"


@pytest.mark.parametrize("ask", [
    lambda library, path: library.get(path),
    lambda library, path: library.put(path, {"label": "ghost"}),
    lambda library, path: library.delete(path),
])
def test_an_unknown_tag_is_not_found(library, ask):
    assert error(ask(library, f"/tags/{uuid.uuid4()}"), 404)[0] == "NOT_FOUND_ERROR"


def test_only_who_may_read_tags_reads_them(library):
    library.user(["tags.item.post"]).get("/tags").expect(403)
    library.user(["tags.collection.get"]).get("/tags").expect(200)
