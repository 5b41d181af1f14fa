"""mod-settings: entries and who may see them, locale, addresses. Source: spec/platform.md 5.2."""

import uuid


def entry(scope="s1", key=None, value="v", user=None):
    one = {"id": str(uuid.uuid4()), "scope": scope, "key": key or uuid.uuid4().hex, "value": value}
    return {**one, "userId": user} if user else one


def define(library, *names):
    """Rights that a front end's descriptor would define."""
    for name in names:
        library.post("/perms/permissions", {"permissionName": name, "displayName": name})


def person(library, *rights):
    define(library, *rights)
    return library.user(["mod-settings.entries.all", *rights])


def test_an_entry_is_written_read_changed_and_deleted(library):
    user = person(library, "mod-settings.global.read.s1", "mod-settings.global.write.s1")
    one = entry(value={"any": ["thing", 1, None]})
    assert user.post("/settings/entries", one).expect(204) == ""
    path = "/settings/entries/" + one["id"]
    assert user.get(path).expect(200) == one
    changed = {**one, "value": 5}
    user.put(path, changed).expect(204)
    listed = user.get("/settings/entries", query=f'scope=="s1" and key=="{one["key"]}"').expect(200)
    assert listed == {"items": [changed], "resultInfo": {"totalRecords": 1, "diagnostics": []}}
    assert user.put(path, {**one, "id": str(uuid.uuid4())}).expect(400) == "id mismatch"
    user.delete(path).expect(204)
    assert user.get(path).expect(404) == "Not Found"
    assert user.delete(path).expect(404) == "Not Found"


def test_a_second_entry_of_the_same_key_is_refused(library):
    user = person(library, "mod-settings.global.read.s1", "mod-settings.global.write.s1")
    one = entry()
    user.post("/settings/entries", one).expect(204)
    assert user.post("/settings/entries", {**one, "id": str(uuid.uuid4())}).expect(403) == "Forbidden"
    user.post("/settings/entries", {k: v for k, v in one.items() if k != "id"}).expect(400)


def test_rights_depend_on_scope_and_owner(library):
    owner = person(library, "mod-settings.owner.read.s2", "mod-settings.owner.write.s2")
    boss = person(library, "mod-settings.users.read.s2", "mod-settings.users.write.s2",
                  "mod-settings.global.read.s2", "mod-settings.global.write.s2")
    own, foreign = entry("s2", user=owner.user_id), entry("s2", user=boss.user_id)
    shared = entry("s2")
    owner.post("/settings/entries", own).expect(204)
    assert owner.post("/settings/entries", foreign).expect(403) == "Forbidden"
    assert owner.post("/settings/entries", shared).expect(403) == "Forbidden"
    boss.post("/settings/entries", foreign).expect(204)
    boss.post("/settings/entries", shared).expect(204)
    owner.get("/settings/entries/" + foreign["id"]).expect(404)
    owner.delete("/settings/entries/" + shared["id"]).expect(404)

    def seen(user):
        return {e["id"] for e in user.get("/settings/entries", limit=100).expect(200)["items"]}

    assert seen(owner) == {own["id"]}
    assert seen(boss) == {own["id"], foreign["id"], shared["id"]}


def test_without_any_right_the_list_is_forbidden(library):
    user = library.user(["mod-settings.entries.all"])
    assert user.get("/settings/entries").expect(403) == "Forbidden"


def test_nobody_takes_over_an_entry_of_another_scope(library):
    one = entry("s3")
    person(library, "mod-settings.global.write.s3").post("/settings/entries", one).expect(204)
    other = person(library, "mod-settings.global.write.s4", "mod-settings.global.read.s4")
    other.put("/settings/entries/" + one["id"], {**one, "scope": "s4"}).expect(404)


def test_a_scope_is_no_pattern(library):
    user = person(library, "mod-settings.global.read.a", "mod-settings.global.read.a_c",
                  "mod-settings.global.write.abc", "mod-settings.global.write.A")
    for scope in ["abc", "A"]:
        user.post("/settings/entries", entry(scope)).expect(204)
    assert user.get("/settings/entries").expect(200)["items"] == []


def test_an_upload_makes_and_changes(library):
    user = person(library, "mod-settings.global.read.s5", "mod-settings.global.write.s5")
    a, b = ({"scope": "s5", "key": k, "value": 1} for k in "ab")
    assert user.put("/settings/upload", [a]).expect(200) == {"inserted": 1, "updated": 0}
    assert user.put("/settings/upload", [{**a, "value": 2}, b]).expect(200) == {
        "inserted": 1, "updated": 1}
    user.put("/settings/upload", [entry("s5")]).expect(400)
    values = {e["key"]: e["value"]
              for e in user.get("/settings/entries", query="scope==s5").expect(200)["items"]}
    assert values == {"a": 2, "b": 1}


def test_the_locale_has_a_default_and_is_checked(library):
    assert library.get("/locale").expect(200) == {"locale": "en-US", "currency": "USD",
                                                  "timezone": "UTC"}
    mine = {"locale": "de-DE", "currency": "EUR", "timezone": "Europe/Berlin"}
    library.put("/locale", mine).expect(201)
    assert library.get("/locale").expect(200) == mine
    assert library.put("/locale", {"locale": "x", "currency": "y"}).expect(400) == "timezone missing"
    library.put("/locale", {**mine, "timezone": "Moon/Crater"}).expect(400)
    library.put("/locale", {**mine, "timezone": "UTC"}).expect(201)


def test_the_base_url_is_kept(library):
    library.put("/base-url", {"baseUrl": "https://library.example"}).expect(204)
    assert library.get("/base-url").expect(200) == {"baseUrl": "https://library.example"}


def test_addresses_of_the_tenant(library):
    one = library.post("/tenant-addresses", {"name": "Main", "address": "1 Street"}).expect(201)
    assert one["metadata"]["createdDate"]
    path = "/tenant-addresses/" + one["id"]
    library.put(path, {**one, "address": "2 Street"}).expect(204)
    assert library.get("/tenant-addresses").expect(200)["addresses"][0]["address"] == "2 Street"
    library.delete(path).expect(204)
    library.get(path).expect(404)
