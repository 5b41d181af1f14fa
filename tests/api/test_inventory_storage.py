"""Instances, holdings records, items, locations and their reference data.
Source: spec/inventory.md 1-4."""

import json
import uuid

import pytest

from octavo import Library, wait_until

BOOK = "1a54b431-2e4f-452d-9cae-9cee66c9a892"
DVD = "5ee11d91-f7e8-481d-b079-65d708582ccc"
CAN_CIRCULATE = "2b94c631-fca9-4892-a730-03ee529ffe27"
TEXT = "6312d172-f0cf-40f6-b27d-9fa8feaf332f"
FOLIO_SOURCE = "f32d531e-df79-46b3-8932-cdd35f7a2264"
LC = "95467209-6d7b-468b-94df-0f5d7ad2747d"
DESK = "3a40852d-49fd-4df2-a1f9-6e2641a6e91f"


def new_id():
    return str(uuid.uuid4())


class Stock:
    """A building with two locations, and short ways to put things there."""

    def __init__(self, library):
        self.library = library
        name = uuid.uuid4().hex[:8]
        institution = self.post("/location-units/institutions", name=name, code=name)
        campus = self.post("/location-units/campuses", name=name, code=name,
                           institutionId=institution["id"])
        unit = self.post("/location-units/libraries", name=name, code=name,
                         campusId=campus["id"])
        self.units = {"institutionId": institution["id"], "campusId": campus["id"],
                      "libraryId": unit["id"]}
        self.main = self.location(name + " main")["id"]
        self.annex = self.location(name + " annex")["id"]

    def post(self, path, **body):
        return self.library.post(path, body).expect(201)

    def location(self, name, **members):
        return self.post("/locations", name=name, code=name, primaryServicePoint=DESK,
                         servicePointIds=[DESK], **{**self.units, **members})

    def instance(self, **members):
        return self.post("/instance-storage/instances",
                         **{"source": "FOLIO", "title": "A title", "instanceTypeId": TEXT,
                            **members})

    def holdings(self, instance=None, **members):
        instance = instance or self.instance()
        return self.post("/holdings-storage/holdings",
                         **{"instanceId": instance["id"], "sourceId": FOLIO_SOURCE,
                            "permanentLocationId": self.main, **members})

    def item_body(self, holdings, **members):
        return {"holdingsRecordId": holdings["id"], "materialTypeId": BOOK,
                "permanentLoanTypeId": CAN_CIRCULATE, "status": {"name": "Available"}, **members}

    def item(self, holdings=None, **members):
        return self.post("/item-storage/items",
                         **self.item_body(holdings or self.holdings(), **members))


@pytest.fixture(scope="module")
def stock(library):
    return Stock(library)


def get_item(library, item):
    return library.get("/item-storage/items/" + item["id"]).expect(200)


# Computed fields ----------------------------------------------------------------------------------


def test_a_new_item_gets_what_the_server_computes(library, stock):
    holdings = stock.holdings(callNumber="PN2 .A6", callNumberPrefix="Ref", callNumberTypeId=LC)
    item = stock.item(holdings, volume="v. 3", itemLevelCallNumberSuffix="CD",
                      status={"name": "Available", "date": "2001-01-01"})
    assert library.last.statements <= 7
    assert item["effectiveLocationId"] == stock.main
    assert item["effectiveCallNumberComponents"] == {
        "callNumber": "PN2 .A6", "prefix": "Ref", "suffix": "CD", "typeId": LC}
    assert item["effectiveShelvingOrder"] == "PN 12 A6 V 13 CD"
    assert item["order"] == 1 and item["_version"] == 1
    assert not item["status"]["date"].startswith("2001")
    assert item["hrid"].startswith("it0000000")
    assert library.last.headers["location"] == "/item-storage/items/" + item["id"]
    assert get_item(library, item) == item


def test_a_temporary_location_of_the_item_counts_first(library, stock):
    holdings = stock.holdings(temporaryLocationId=stock.annex)
    assert holdings["effectiveLocationId"] == stock.annex
    assert stock.item(holdings)["effectiveLocationId"] == stock.annex
    assert stock.item(holdings, permanentLocationId=stock.main)["effectiveLocationId"] == stock.main
    item = stock.item(holdings, permanentLocationId=stock.main, temporaryLocationId=stock.annex)
    assert item["effectiveLocationId"] == stock.annex


def test_items_follow_their_holdings_record(library, stock):
    holdings = stock.holdings(callNumber="A 1")
    items = [stock.item(holdings), stock.item(holdings, itemLevelCallNumber="B 2")]
    assert [i["order"] for i in items] == [1, 2]
    changed = {**holdings, "callNumber": "C 3", "callNumberPrefix": "Ref",
               "temporaryLocationId": stock.annex}
    library.put("/holdings-storage/holdings/" + holdings["id"], changed).expect(204)
    first, second = (get_item(library, i) for i in items)
    assert first["effectiveCallNumberComponents"] == {"callNumber": "C 3", "prefix": "Ref"}
    assert second["effectiveCallNumberComponents"] == {"callNumber": "B 2", "prefix": "Ref"}
    assert first["effectiveLocationId"] == stock.annex and first["_version"] == 2
    assert first["effectiveShelvingOrder"] == "C 3"


def test_a_change_that_does_not_reach_items_costs_nothing_more(library, stock):
    holdings = stock.holdings()
    for _ in range(3):
        stock.item(holdings)
    path = "/holdings-storage/holdings/" + holdings["id"]
    library.put(path, {**holdings, "shelvingTitle": "x"}).expect(204)
    assert library.last.statements <= 3


def test_the_status_date_changes_with_the_status_only(library, stock):
    item = stock.item()
    path = "/item-storage/items/" + item["id"]
    later = library.at("2040-01-01T00:00:00Z")
    item["status"]["date"] = "2001-01-01T00:00:00.000+00:00"
    later.put(path, item).expect(204)
    same = get_item(library, item)
    assert same["status"]["date"] != "2001-01-01T00:00:00.000+00:00"
    assert not same["status"]["date"].startswith("2040")
    same["status"] = {"name": "Missing"}
    later.put(path, same).expect(204)
    assert get_item(library, item)["status"]["date"] == "2040-01-01T00:00:00.000+00:00"


def test_a_put_without_order_keeps_it(library, stock):
    holdings = stock.holdings()
    stock.item(holdings)
    item = stock.item(holdings)
    del item["order"]
    library.put("/item-storage/items/" + item["id"], item).expect(204)
    assert get_item(library, item)["order"] == 2


def test_what_get_shows_can_be_put_back(library, stock):
    item = stock.item(stock.holdings(callNumber="X"))
    sent = {**get_item(library, item), "materialType": {"id": BOOK}, "holdingsRecord2": {"a": 1}}
    library.put("/item-storage/items/" + item["id"], sent).expect(204)
    stored = get_item(library, item)
    assert "materialType" not in stored and stored["effectiveShelvingOrder"] == "X"


def test_a_library_may_ask_that_equal_records_stay(fresh_library):
    stock = Stock(fresh_library)
    item = stock.item()
    path, setting = "/item-storage/items/" + item["id"], "/inventory-settings/"
    fresh_library.put(path, item).expect(204)
    item = get_item(fresh_library, item)
    assert item["_version"] == 2
    key = "inventory.optimize-updates.enabled"
    error = fresh_library.patch(setting + key, {"value": "true"}).expect(422)["errors"][0]
    assert error["message"] == "Setting value should be a boolean"
    fresh_library.patch(setting + key, {"value": True}).expect(204)
    assert fresh_library.patch(setting + "x", {"value": True}).expect(404) == (
        "Setting not found: x")
    fresh_library.put(path, item).expect(204)
    assert get_item(fresh_library, item) == item
    fresh_library.put(path, {**item, "copyNumber": "2"}).expect(204)
    assert get_item(fresh_library, item)["_version"] == 3


# Rules --------------------------------------------------------------------------------------------


def test_a_put_needs_the_stored_version(library, stock):
    item = stock.item()
    path = "/item-storage/items/" + item["id"]
    library.put(path, item).expect(204)
    text = library.put(path, item).expect(409)
    assert text == (f"ERROR: Cannot update record {item['id']} because it has been changed "
                    "(optimistic locking): Stored _version is 2, _version of request is 1 (23F09)")
    del item["_version"]
    library.put(path, item).expect(409)


def test_barcodes_are_unique_whatever_their_case(library, stock):
    barcode = uuid.uuid4().hex.upper()
    stock.item(barcode=barcode)
    error = library.post("/item-storage/items",
                         stock.item_body(stock.holdings(), barcode=barcode.lower())).expect(422)
    assert error["errors"][0]["message"] == (
        f"lower(jsonb ->> 'barcode'::text) value already exists in table item: {barcode.lower()}")
    found = library.get("/item-storage/items", query=f'barcode=="{barcode.lower()}"').expect(200)
    assert found["totalRecords"] == 1
    assert library.last.statements <= 2


def test_an_item_needs_its_holdings_record(library, stock):
    body = stock.item_body({"id": new_id()})
    error = library.post("/item-storage/items", body).expect(422)["errors"][0]
    assert error["message"] == "Holdings record does not exist"
    assert error["parameters"] == [{"key": "holdingsRecordId", "value": body["holdingsRecordId"]}]
    item = stock.item()
    text = library.put("/item-storage/items/" + item["id"],
                       {**item, "holdingsRecordId": body["holdingsRecordId"]}).expect(400)
    assert text == f"holdingsRecordId not found: {body['holdingsRecordId']}"


def test_unknown_references_are_named(library, stock):
    body = stock.item_body(stock.holdings(), materialTypeId=new_id())
    error = library.post("/item-storage/items", body).expect(422)["errors"][0]
    assert error["message"] == (f"Cannot set item.materialtypeid = {body['materialTypeId']} "
                                "because it does not exist in material_type.id.")


def test_a_put_names_unknown_references_in_its_own_words(library, stock):
    item, unknown = stock.item(), new_id()
    text = library.put("/item-storage/items/" + item["id"],
                       {**item, "permanentLoanTypeId": unknown}).expect(400)
    assert text == (f"Cannot set item permanentLoanTypeId = {unknown} because it does not exist in "
                    "loan_type.id.")


def test_what_is_referenced_stays(library, stock):
    holdings = stock.holdings()
    stock.item(holdings)
    text = library.delete("/holdings-storage/holdings/" + holdings["id"]).expect(400)
    assert text.endswith("because id is still referenced from table item.")
    library.delete("/instance-storage/instances/" + holdings["instanceId"]).expect(400)
    assert library.delete("/material-types/" + BOOK).expect(400).endswith(
        "is still referenced from table item.")


def test_missing_members_are_named(library, stock):
    body = {"instanceId": stock.instance()["id"]}
    error = library.post("/holdings-storage/holdings", body).expect(422)["errors"][0]
    assert error["message"] == "must not be null"
    assert error["parameters"][0]["key"] == "permanentLocationId"


def test_only_newer_releases_ask_for_the_source_of_holdings(library, stock, own_server):
    body = {"instanceId": stock.instance()["id"], "permanentLocationId": stock.main}
    library.post("/holdings-storage/holdings", body).expect(201)
    newest = Library(own_server("--gateway.interfaces=latest"), "diku").login()
    error = newest.post("/holdings-storage/holdings", body).expect(422)["errors"][0]
    assert error["message"] == "must not be null"
    assert error["parameters"][0]["key"] == "sourceId"


def test_a_put_of_unknown_holdings_creates_them(library, stock):
    one = new_id()
    body = {"id": one, "instanceId": stock.instance()["id"], "sourceId": FOLIO_SOURCE,
            "permanentLocationId": stock.main}
    library.put("/holdings-storage/holdings/" + one, body).expect(204)
    assert library.get("/holdings-storage/holdings/" + one).expect(200)["hrid"].startswith("ho")


def test_lists_are_cleaned(library, stock):
    one = stock.instance(languages=["eng", "", " ", "eng"], tags={"tagList": ["a", "a", ""]},
                         administrativeNotes=["x", "x"])
    assert one["languages"] == ["eng"] and one["tags"] == {"tagList": ["a"]}
    assert one["administrativeNotes"] == ["x"]


def test_notes_have_a_limit(library, stock):
    body = {"source": "FOLIO", "title": "x", "instanceTypeId": TEXT,
            "notes": [{"note": "n" * 32001}]}
    error = library.post("/instance-storage/instances", body).expect(422)["errors"][0]
    assert error["message"] == "A note has exceeded the 32,000 character limit."
    assert error["parameters"][0]["key"] == "notes"
    body["notes"] = [{"note": "ü" * 32000}]
    library.post("/instance-storage/instances", body).expect(201)


def test_statistical_codes_must_exist_and_stay_while_used(library, stock):
    kind = stock.post("/statistical-code-types", name=new_id(), source="local")
    code = stock.post("/statistical-codes", code=new_id(), name=new_id(), source="local",
                      statisticalCodeTypeId=kind["id"])
    item = stock.item(statisticalCodeIds=[code["id"]])
    assert library.delete("/statistical-codes/" + code["id"]).expect(400).endswith(
        "because id is still referenced from table item.")
    unknown = new_id()
    body = stock.item_body(stock.holdings(), statisticalCodeIds=[unknown])
    assert unknown in library.post("/item-storage/items", body).expect(400, 422)
    library.delete("/item-storage/items/" + item["id"]).expect(204)
    library.delete("/statistical-codes/" + code["id"]).expect(204)


# hrid ---------------------------------------------------------------------------------------------


def test_hrids_count_and_stay(fresh_library):
    stock = Stock(fresh_library)
    assert [stock.instance()["hrid"] for _ in range(2)] == ["in00000000001", "in00000000002"]
    one = stock.instance(hrid="own1")
    text = fresh_library.put("/instance-storage/instances/" + one["id"],
                             {**one, "hrid": "other"}).expect(400)
    assert text == "The hrid field cannot be changed: new=other, old=own1"
    text = fresh_library.post("/instance-storage/instances",
                              {"source": "FOLIO", "title": "x", "instanceTypeId": TEXT,
                               "hrid": "OWN1"}).expect(400)
    assert text == "HRID value already exists in table instance: own1"


def test_hrids_skip_loaded_numbers(fresh_library):
    stock = Stock(fresh_library)
    stock.instance(hrid="in00000000001")
    stock.instance(hrid="in00000000007")
    assert [stock.instance()["hrid"] for _ in range(2)] == ["in00000000008", "in00000000009"]


def test_hrid_settings_restart_the_counters(fresh_library):
    stock = Stock(fresh_library)
    stock.instance()
    settings = fresh_library.get("/hrid-settings-storage/hrid-settings").expect(200)
    assert settings["instances"] == {"prefix": "in", "startNumber": 1, "currentNumber": 1}
    assert settings["items"]["currentNumber"] == 0
    settings["instances"] = {"prefix": "t", "startNumber": 100}
    settings["commonRetainLeadingZeroes"] = False
    fresh_library.put("/hrid-settings-storage/hrid-settings", settings).expect(204)
    assert stock.instance()["hrid"] == "t100"
    settings = fresh_library.get("/hrid-settings-storage/hrid-settings").expect(200)
    assert settings["instances"]["currentNumber"] == 100


# Batches, PATCH, deletes by query -----------------------------------------------------------------


def test_a_batch_is_stored_whole_or_not_at_all(library, stock):
    holdings = stock.holdings()
    good = [stock.item_body(holdings, id=new_id()) for _ in range(3)]
    bad = stock.item_body({"id": new_id()}, id=new_id())
    path = "/item-storage/batch/synchronous"
    library.post(path, {"items": good[:2] + [bad]}).expect(422)
    library.get("/item-storage/items/" + good[0]["id"]).expect(404)
    assert library.post(path, {"items": good}).expect(201) == ""
    stored = [get_item(library, g) for g in good]
    assert [s["order"] for s in stored] == [1, 2, 3]
    assert len({s["hrid"] for s in stored}) == 3
    library.post(path, {"items": good[:1]}).expect(422)


def test_a_large_batch_is_stored_whole_or_not_at_all(library, stock):
    """It is written in turns."""
    holdings = stock.holdings()
    items = [stock.item_body(holdings, id=new_id()) for _ in range(130)]
    path = "/item-storage/batch/synchronous"
    of_them = {"query": f"holdingsRecordId=={holdings['id']} sortby order", "limit": 200}
    bad = stock.item_body({"id": new_id()}, id=new_id())
    library.post(path, {"items": items + [bad]}).expect(422)
    assert library.get("/item-storage/items", **of_them).expect(200)["items"] == []
    library.post(path, {"items": items}).expect(201)
    stored = library.get("/item-storage/items", **of_them).expect(200)["items"]
    assert [one["id"] for one in stored] == [one["id"] for one in items]
    assert [one["order"] for one in stored] == list(range(1, 131))
    assert len({one["hrid"] for one in stored}) == 130

    path += "?upsert=true"
    changed = [{**one, "copyNumber": "2"} for one in stored]
    stale = {**changed[-1], "_version": "7"}
    library.post(path, {"items": changed[:-1] + [stale]}).expect(409)
    assert library.get("/item-storage/items", **of_them).expect(200)["items"] == stored
    library.post(path, {"items": changed}).expect(201)
    after = library.get("/item-storage/items", **of_them).expect(200)["items"]
    assert {(one["copyNumber"], one["_version"]) for one in after} == {("2", 2)}


def test_items_moved_by_a_failed_batch_of_holdings_are_back(library, stock):
    """What changes with a record is taken back with it."""
    holdings = stock.holdings()
    item = stock.item(holdings)
    path = "/holdings-storage/batch/synchronous?upsert=true"
    other = {"instanceId": holdings["instanceId"], "sourceId": FOLIO_SOURCE,
             "permanentLocationId": stock.main}
    others = [{**other, "id": new_id()} for _ in range(60)]
    moved = {**holdings, "permanentLocationId": stock.annex}
    bad = {**other, "instanceId": new_id()}
    library.post(path, {"holdingsRecords": [moved] + others + [bad]}).expect(422)
    assert get_item(library, item) == item
    library.get("/holdings-storage/holdings/" + others[0]["id"]).expect(404)
    library.post(path, {"holdingsRecords": [moved] + others}).expect(201)
    assert get_item(library, item)["effectiveLocationId"] == stock.annex


def test_an_upserting_batch_compares_versions(library, stock):
    item = stock.item(status={"name": "Available"})
    path = "/item-storage/batch/synchronous?upsert=true"
    fresh = stock.item_body({"id": item["holdingsRecordId"]}, id=new_id(),
                            status={"name": "Missing", "date": "2020-02-02"})
    library.post(path, {"items": [fresh, {**item, "barcode": new_id()}]}).expect(201)
    assert get_item(library, fresh)["status"]["date"] == "2020-02-02T00:00:00.000+00:00"
    another = {**fresh, "id": new_id()}
    library.post(path, {"items": [another, item]}).expect(409)
    library.get("/item-storage/items/" + another["id"]).expect(404)
    text = library.post("/item-storage/batch/synchronous-unsafe", {"items": [item]}).expect(413)
    assert text.startswith("DB_ALLOW_SUPPRESS_OPTIMISTIC_LOCKING")


def test_instances_and_holdings_come_in_batches_too(library, stock):
    instance = {"id": new_id(), "source": "FOLIO", "title": "t", "instanceTypeId": TEXT}
    library.post("/instance-storage/batch/synchronous", {"instances": [instance]}).expect(201)
    error = library.post("/instance-storage/batch/synchronous",
                         {"instances": [instance]}).expect(422)["errors"][0]
    assert error["message"] == f"id value already exists in table instance: {instance['id']}"
    holdings = {"instanceId": instance["id"], "sourceId": FOLIO_SOURCE,
                "permanentLocationId": stock.main}
    library.post("/holdings-storage/batch/synchronous", {"holdingsRecords": [holdings]}).expect(201)


def test_the_older_batch_keeps_what_is_right(library):
    good = {"source": "FOLIO", "title": "t", "instanceTypeId": TEXT}
    answer = library.post("/instance-storage/batch/instances", {
        "instances": [good, {**good, "instanceTypeId": new_id()}], "totalRecords": 2}).expect(201)
    assert answer["totalRecords"] == 1 and answer["instances"][0]["hrid"]
    assert len(answer["errorMessages"]) == 1


def test_members_of_items_are_patched(library, stock):
    item = stock.item(copyNumber="1", volume="2")
    path = "/item-storage/items"
    change = {"id": item["id"], "_version": 1, "copyNumber": "c", "volume": None}
    library.patch(path, {"items": [change]}).expect(204)
    stored = get_item(library, item)
    assert stored["copyNumber"] == "c" and "volume" not in stored and stored["_version"] == 2
    library.patch(path, {"items": [change]}).expect(409)
    unknown = new_id()
    assert library.patch(path, {"items": [{"id": unknown, "copyNumber": "1"}]}).expect(404) == (
        f"Item not found in database: {unknown}")
    error = library.patch(path, {"items": [{"id": item["id"], "_version": 2,
                                            "status": None}]}).expect(422)["errors"][0]
    assert error["code"] == "field.required"
    assert library.patch(path, {"items": []}).expect(400) == (
        "Expected at least one item to update")


def test_members_of_instances_are_patched(library, stock):
    one = stock.instance(title="before", indexTitle="index")
    path = "/instance-storage/instances/" + one["id"]
    library.patch(path, {"id": one["id"], "title": "after"}).expect(409)
    library.patch(path, {"id": one["id"], "_version": 1, "title": "after"}).expect(204)
    stored = library.get(path).expect(200)
    assert stored["title"] == "after" and stored["indexTitle"] == "index"


def test_deletion_by_query_needs_a_query(library, stock):
    holdings = stock.holdings()
    stock.item(holdings)
    assert library.delete("/item-storage/items").expect(400) == (
        "Expected CQL but query parameter is empty")
    library.delete("/item-storage/items", query=f"holdingsRecordId=={holdings['id']}").expect(204)
    library.delete("/holdings-storage/holdings/" + holdings["id"]).expect(204)


def test_long_queries_go_through_retrieve(library, stock):
    items = [stock.item(barcode=new_id()) for _ in range(3)]
    query = "barcode==(" + " or ".join(f'"{i["barcode"]}"' for i in items) + ")"
    found = library.post("/item-storage/items/retrieve", {"query": query, "limit": 2}).expect(200)
    assert found["totalRecords"] == 3 and len(found["items"]) == 2


def test_records_are_found_through_their_parents(library, stock):
    instance = stock.instance()
    holdings = stock.holdings(instance)
    item = stock.item(holdings)
    for query in (f"instance.id=={instance['id']}", f"holdingsRecords.id=={holdings['id']}"):
        found = library.get("/item-storage/items", query=query).expect(200)
        assert [i["id"] for i in found["items"]] == [item["id"]]
    found = library.get("/instance-storage/instances", query=f"item.id=={item['id']}").expect(200)
    assert [i["id"] for i in found["instances"]] == [instance["id"]]


def test_ids_come_in_bulk(library, stock):
    one = stock.instance(title="bulk " + new_id())
    found = library.get("/record-bulk/ids", query=f'title=="{one["title"]}"').expect(200)
    assert found == {"ids": [{"id": one["id"]}], "totalRecords": 1}


def test_items_come_with_what_they_refer_to(library, stock):
    holdings = stock.holdings()
    for _ in range(3):
        stock.item(holdings, barcode=new_id())
    for _ in range(2):  # types and locations are in memory then
        found = library.get("/item-storage-dereferenced/items",
                            query=f"holdingsRecordId=={holdings['id']}").expect(200)
    assert library.last.statements <= 5
    first = found["dereferencedItems"][0]
    assert first["materialType"]["name"] == "book" and first["holdingsRecord"]["id"]
    assert first["instanceRecord"]["id"] == holdings["instanceId"]
    assert "materialTypeId" not in first


# Locations and service points ---------------------------------------------------------------------


def test_a_location_needs_its_service_points(library, stock):
    body = {"name": new_id(), "code": new_id(), "primaryServicePoint": DESK, **stock.units}
    for points, message in (
            ([], "A location must have at least one Service Point assigned."),
            ([DESK, DESK], "A Service Point can only appear once on a Location."),
            ([new_id()], "A Location's Primary Service point must be included as a Service Point.")):
        error = library.post("/locations", {**body, "servicePointIds": points}).expect(422)
        assert error["errors"][0]["message"] == message


def test_names_of_locations_fold(library, stock):
    name = "Säle " + new_id()
    stock.location(name)
    found = library.get("/locations", query=f'name=="{name.replace("ä", "A")}"').expect(200)
    assert found["totalRecords"] == 1


def test_shadow_records_are_hidden(library, stock):
    name = new_id()
    stock.location(name, isShadow=True)
    query = f"name=={name}"
    assert library.get("/locations", query=query).expect(200)["totalRecords"] == 0
    shown = library.get("/locations", query=query, includeShadowLocations="true").expect(200)
    assert shown["totalRecords"] == 1


def test_pickup_needs_a_hold_shelf_period(library):
    body = {"name": new_id(), "code": new_id(), "discoveryDisplayName": "x", "pickupLocation": True}
    error = library.post("/service-points", body).expect(422)["errors"][0]
    assert error["message"] == ("Hold shelf expiry period must be specified when service point can "
                                "be used for pickup.")
    body["holdShelfExpiryPeriod"] = {"duration": 3, "intervalId": "Weeks"}
    library.post("/service-points", body).expect(201)
    error = library.post("/service-points", {**body, "id": new_id()}).expect(422)["errors"][0]
    assert error["message"] == "Service Point Exists"
    error = library.post("/service-points", {**body, "name": new_id(), "code": new_id(),
                                             "pickupLocation": False}).expect(422)["errors"][0]
    assert error["message"].startswith("Hold shelf expiry period cannot be specified")


def test_reference_records_are_unique_without_case_and_accents(library):
    error = library.post("/material-types", {"name": "BOOK"}).expect(422)["errors"][0]
    assert error["message"] == ("lower(f_unaccent(jsonb ->> 'name'::text)) value already exists in "
                                "table material_type: book")


def test_system_call_number_types_stay(library):
    kind = library.get("/call-number-types/" + LC).expect(200)
    text = "System call number type couldn't be updated/deleted"
    assert library.put("/call-number-types/" + LC, kind).expect(400) == text
    assert library.delete("/call-number-types/" + LC).expect(400) == text


# Links --------------------------------------------------------------------------------------------


def test_bound_with_parts_follow_the_list(library, stock):
    item = stock.item()
    others = [stock.holdings()["id"] for _ in range(2)]
    path = "/inventory-storage/bound-withs"

    def parts():
        found = library.get("/inventory-storage/bound-with-parts",
                            query=f"itemId=={item['id']}").expect(200)
        return {p["holdingsRecordId"] for p in found["boundWithParts"]}

    def put(ids):
        return library.put(path, {"itemId": item["id"], "boundWithContents":
                                  [{"holdingsRecordId": i} for i in ids]})

    put(others).expect(204)
    assert parts() == {item["holdingsRecordId"], *others}
    put(others[:1]).expect(204)
    assert parts() == {item["holdingsRecordId"], others[0]}
    library.delete("/item-storage/items/" + item["id"]).expect(400)
    assert put([new_id()]).expect(422)["errors"][0]["code"] == "holding.not-found"
    put([]).expect(204)
    assert parts() == set()
    assert library.put(path, {"itemId": new_id(), "boundWithContents": []}).expect(422)[
        "errors"][0]["code"] == "item.not-found"


def test_titles_before_and_after_are_replaced(library, stock):
    one, other = stock.instance(), stock.instance()
    path = "/preceding-succeeding-titles/instances/" + one["id"]
    library.put(path, {"precedingSucceedingTitles": [
        {"precedingInstanceId": one["id"], "succeedingInstanceId": other["id"]},
        {"succeedingInstanceId": one["id"], "title": "Earlier"}]}).expect(204)
    library.put(path, {"precedingSucceedingTitles": [
        {"succeedingInstanceId": one["id"], "title": "Only"}]}).expect(204)
    found = library.get("/preceding-succeeding-titles",
                        query=f"succeedingInstanceId=={one['id']}").expect(200)
    assert [t["title"] for t in found["precedingSucceedingTitles"]] == ["Only"]
    library.post("/preceding-succeeding-titles", {"title": "x"}).expect(422)
    library.put(path, {"precedingSucceedingTitles": [
        {"precedingInstanceId": other["id"]}]}).expect(422)


def test_the_marc_source_goes_with_its_instance(library, stock):
    one = stock.instance()
    path = f"/instance-storage/instances/{one['id']}/source-record/marc-json"
    library.get(path).expect(404)
    marc = {"leader": "x" * 24, "fields": [{"001": "1"}, {"245": {"ind1": "0"}}]}
    library.put(path, marc).expect(204)
    assert library.get(path).expect(200)["fields"] == marc["fields"]
    stored = library.get("/instance-storage/instances/" + one["id"]).expect(200)
    assert stored["sourceRecordFormat"] == "MARC-JSON"
    library.delete(path).expect(204)
    stored = library.get("/instance-storage/instances/" + one["id"]).expect(200)
    assert "sourceRecordFormat" not in stored


# Hierarchy ----------------------------------------------------------------------------------------


def stream(text):
    """Objects that stand one behind the other."""
    decoder, objects = json.JSONDecoder(), []
    while text:
        one, end = decoder.raw_decode(text)
        objects.append(one)
        text = text[end:].lstrip()
    return objects


def hierarchy(library, *ids, skip=False):
    answer = library.post("/inventory-hierarchy/items-and-holdings", {
        "instanceIds": list(ids), "skipSuppressedFromDiscoveryRecords": skip})
    assert answer.status == 200, answer.text
    return stream(answer.text)


def test_titles_come_with_holdings_and_items(library, stock):
    holdings = stock.holdings(
        callNumber="PN 1", callNumberTypeId=LC, temporaryLocationId=stock.annex,
        notes=[{"note": "seen"}, {"note": "hidden", "staffOnly": True}, {"note": "seen"}],
        electronicAccess=[{"uri": "u", "relationshipId": "f50c90c9-bae0-4add-9cd0-db9092dbc9dd"}])
    item = stock.item(holdings, barcode=new_id())
    unknown = new_id()
    for _ in range(2):  # types and locations are in memory then
        (title,) = hierarchy(library, holdings["instanceId"], unknown)
    assert library.last.statements <= 6
    assert title["instanceId"] == holdings["instanceId"] and title["modeOfIssuance"] == ""
    above, below = title["holdings"][0], title["items"][0]
    assert above["hrId"] == holdings["hrid"] and above["suppressFromDiscovery"] is False
    assert above["location"]["effectiveLocation"]["id"] == stock.annex
    assert above["location"]["effectiveLocation"]["campusName"]
    assert above["callNumber"] == {"callNumber": "PN 1", "typeId": LC,
                                   "typeName": "Library of Congress classification"}
    assert above["notes"] == [{"note": "seen"}]
    assert above["electronicAccess"][0]["name"] == "No information provided"
    assert below["barcode"] == item["barcode"] and below["status"] == "Available"
    assert below["materialType"] == "book" and below["permanentLoanType"] == "Can circulate"
    assert below["holdingsRecordId"] == holdings["id"]
    assert below["location"]["temporaryLocation"] == {}
    assert hierarchy(library, unknown) == []


def test_suppression_adds_up_downwards(library, stock):
    instance = stock.instance(discoverySuppress=True)
    hidden = stock.holdings(instance, discoverySuppress=True)
    shown = stock.holdings(instance)
    stock.item(hidden)
    stock.item(shown)
    stock.item(shown, discoverySuppress=True)
    (title,) = hierarchy(library, instance["id"])
    assert len(title["holdings"]) == 2 and len(title["items"]) == 3
    assert all(r["suppressFromDiscovery"] for r in title["holdings"] + title["items"])
    (title,) = hierarchy(library, instance["id"], skip=True)
    assert [h["id"] for h in title["holdings"]] == [shown["id"]] and len(title["items"]) == 1


def test_a_bound_item_is_listed_under_each_title(library, stock):
    item = stock.item()
    other = stock.holdings()
    library.put("/inventory-storage/bound-withs", {"itemId": item["id"], "boundWithContents": [
        {"holdingsRecordId": other["id"]}]}).expect(204)
    own = library.get("/holdings-storage/holdings/" + item["holdingsRecordId"]).json["instanceId"]
    first, second = hierarchy(library, own, other["instanceId"])
    assert [i["holdingsRecordId"] for i in first["items"]] == [item["holdingsRecordId"]]
    assert [i["holdingsRecordId"] for i in second["items"]] == [other["id"]]


def test_the_hierarchy_wants_whole_requests(library):
    path = "/inventory-hierarchy/items-and-holdings"
    library.post(path, {"instanceIds": [new_id()]}).expect(422)
    library.post(path, {"instanceIds": ["x"],
                        "skipSuppressedFromDiscoveryRecords": False}).expect(400)


# Feeds --------------------------------------------------------------------------------------------


def changed(library, **query):
    answer = library.get("/inventory-hierarchy/updated-instance-ids", **query)
    assert answer.status == 200, answer.text
    return {row["instanceId"]: row for row in stream(answer.text)}


def test_changed_titles_are_told_with_deleted_ones(fresh_library):
    early, late = (Stock(fresh_library) for _ in range(2))
    early.library = fresh_library.at("2030-01-01T00:00:00Z")
    late.library = fresh_library.at("2031-01-01T00:00:00Z")
    first, second = early.instance(), late.instance(discoverySuppress=True)
    gone = early.instance()
    fresh_library.at("2032-01-01T00:00:00Z").delete(
        "/instance-storage/instances/" + gone["id"]).expect(204)
    assert set(changed(fresh_library)) == {first["id"], gone["id"]}
    both = changed(fresh_library, skipSuppressedFromDiscoveryRecords="false")
    assert both[second["id"]]["suppressFromDiscovery"] == "true"
    assert both[second["id"]]["updatedDate"] == "2031-01-01T00:00:00.000Z"
    assert both[gone["id"]] == {"instanceId": gone["id"], "source": "FOLIO", "deleted": "true",
                                "updatedDate": "2032-01-01T00:00:00.000Z",
                                "suppressFromDiscovery": "false"}
    assert set(changed(fresh_library, deletedRecordSupport="false")) == {first["id"]}
    span = {"startDate": "2030-06-01T00:00:00Z", "endDate": "2031-06-01T00:00:00Z",
            "skipSuppressedFromDiscoveryRecords": "false"}
    assert set(changed(fresh_library, **span)) == {second["id"]}
    late.holdings(first)
    assert set(changed(fresh_library, **span)) == {second["id"]}
    assert set(changed(fresh_library, **span, onlyInstanceUpdateDate="false")) == {
        first["id"], second["id"]}
    assert changed(fresh_library, source="MARC") == {}
    fresh_library.get("/inventory-hierarchy/updated-instance-ids", startDate="x").expect(400)


def test_harvesters_get_enriched_titles(library, stock):
    holdings = stock.holdings(electronicAccess=[{"uri": "above"}])
    item = stock.item(holdings, electronicAccess=[{"uri": "own"}])
    answer = library.post("/oai-pmh-view/enrichedInstances", {
        "instanceIds": [holdings["instanceId"]], "skipSuppressedFromDiscoveryRecords": False})
    (title,) = stream(answer.text)
    assert title["instanceid"] == holdings["instanceId"]
    shown = title["itemsandholdingsfields"]["items"][0]
    assert shown["id"] == item["id"]
    assert [a["uri"] for a in shown["electronicAccess"]] == ["own", "above"]
    assert shown["location"]["location"]["institutionId"] == stock.units["institutionId"]


def test_views_hold_whole_records(library, stock):
    holdings = stock.holdings(stock.instance(title="view " + new_id()))
    item = stock.item(holdings)
    query = f"instance.id=={holdings['instanceId']}"
    found = library.get("/inventory-view/instances", query=query).expect(200)
    assert found["totalRecords"] == 1
    (one,) = found["instances"]
    assert one["holdingsRecords"] == [holdings] and one["items"] == [item]
    assert one["isBoundWith"] is False and one["instance"]["id"] == holdings["instanceId"]
    found = library.get("/inventory-view/instance-set", query=f"id=={holdings['instanceId']}",
                        limit=10, instance="true", items="true").expect(200)
    (one,) = found["instanceSets"]
    assert one["items"] == [item] and "holdingsRecords" not in one
    library.get("/inventory-view/instance-set").expect(400)


def test_jobs_publish_every_instance(library, stock):
    stock.instance()
    for path, body, number, done in (
            ("/instance-storage/reindex", {}, "published", "Ids published"),
            ("/instance-storage/instances/iteration", {"topicName": "inventory.x"},
             "messagesPublished", "Completed")):
        job = library.post(path, body).expect(200, 201)
        one = f"{path}/{job['id']}"
        wait_until(lambda: library.get(one).expect(200)["jobStatus"] == done)
        assert library.get(one).json[number] >= 1
        library.delete(one).expect(204)
