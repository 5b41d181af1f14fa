"""Items and instances as staff clients see them. Source: spec/inventory.md 5."""

import pytest

from test_inventory_storage import BOOK, CAN_CIRCULATE, DVD, FOLIO_SOURCE, TEXT, Stock, new_id


@pytest.fixture(scope="module")
def stock(library):
    return Stock(library)


@pytest.fixture
def holdings(stock):
    instance = stock.instance(title="A title", contributors=[
        {"name": "Author, A", "contributorNameTypeId": "2b94c631-fca9-4892-a730-03ee529ffe2a"}])
    return stock.holdings(instance, callNumber="PN2 .A6")


def body(holdings, **members):
    return {"holdingsRecordId": holdings["id"], "materialType": {"id": BOOK, "name": "ignored"},
            "permanentLoanType": {"id": CAN_CIRCULATE}, "status": {"name": "Available"},
            "title": "ignored", "callNumber": "ignored", "someThing": 1, **members}


def item(library, holdings, **members):
    return library.post("/inventory/items", body(holdings, **members)).expect(201)


# Items --------------------------------------------------------------------------------------------


def test_an_item_shows_title_and_names(library, stock, holdings):
    barcode = new_id()
    made = item(library, holdings, barcode=barcode)
    assert library.last.headers["location"] == "/inventory/items/" + made["id"]
    shown = library.get("/inventory/items/" + made["id"]).expect(200)
    assert shown == made
    assert shown["title"] == "A title" and shown["contributorNames"] == [{"name": "Author, A"}]
    assert shown["callNumber"] == "PN2 .A6"
    assert shown["materialType"] == {"id": BOOK, "name": "book"}
    assert shown["permanentLoanType"] == {"id": CAN_CIRCULATE, "name": "Can circulate"}
    assert shown["effectiveLocation"]["id"] == stock.main and shown["effectiveLocation"]["name"]
    assert "temporaryLoanType" not in shown and "materialTypeId" not in shown
    assert shown["isBoundWith"] is False and shown["boundWithTitles"] == []
    assert shown["tags"] == {"tagList": []}
    found = library.get("/inventory/items", query=f'barcode=="{barcode}"', limit=1000).expect(200)
    assert library.last.statements <= 5
    assert found["totalRecords"] == 1 and found["items"][0]["title"] == "A title"


def test_a_page_of_items_costs_as_much_as_one(library, stock, holdings):
    for n in range(30):
        item(library, holdings, copyNumber=str(n))
    query = f"holdingsRecordId=={holdings['id']}"
    library.get("/inventory/items", query=query, limit=2).expect(200)
    few = library.last.statements
    found = library.get("/inventory/items", query=query, limit=100).expect(200)
    assert len(found["items"]) == 30
    assert library.last.statements <= few


def test_long_lists_are_whole(library, stock):
    holdings = stock.holdings()
    items = [stock.item_body(holdings, id=new_id()) for _ in range(1203)]
    library.post("/item-storage/batch/synchronous", {"items": items}).expect(201)
    found = library.get("/inventory/items", query=f"holdingsRecordId=={holdings['id']}",
                        limit=2147483647).expect(200)
    assert found["totalRecords"] == 1203
    assert {i["id"] for i in found["items"]} == {i["id"] for i in items}
    assert all(i["title"] for i in found["items"])
    ids = library.get("/record-bulk/ids", recordType="HOLDING").expect(200)
    assert ids["totalRecords"] == len(ids["ids"])


def test_what_is_shown_can_be_put_back(library, holdings):
    made = item(library, holdings)
    changed = {**made, "materialType": {"id": DVD}, "copyNumber": "2"}
    library.put("/inventory/items/" + made["id"], changed).expect(204)
    shown = library.get("/inventory/items/" + made["id"]).expect(200)
    assert shown["materialType"]["name"] == "dvd" and shown["copyNumber"] == "2"
    library.put("/inventory/items/" + made["id"], changed).expect(409)
    library.put("/inventory/items/" + new_id(), changed).expect(404)


def test_an_item_needs_a_known_status(library, holdings):
    error = library.post("/inventory/items", body(holdings, status=None)).expect(422)["errors"][0]
    assert error["message"] == "Status is a required field"
    assert "type" not in error and "code" not in error
    error = library.post("/inventory/items",
                         body(holdings, status={"name": "Lent"})).expect(422)["errors"][0]
    assert error == {"message": "Undefined status specified",
                     "parameters": [{"key": "status.name", "value": "Lent"}]}


def test_barcodes_are_unique(library, holdings):
    barcode = new_id()
    item(library, holdings, barcode=barcode)
    text = f"Barcode must be unique, {barcode} is already assigned to another item"
    assert library.post("/inventory/items", body(holdings, barcode=barcode)).expect(400) == text
    other = item(library, holdings)
    assert library.put("/inventory/items/" + other["id"],
                       {**other, "barcode": barcode}).expect(400) == text


def test_hrid_and_claimed_returned_items_are_guarded(library, holdings):
    made = item(library, holdings, status={"name": "Claimed returned"})
    path = "/inventory/items/" + made["id"]
    error = library.put(path, {**made, "hrid": "x"}).expect(422)["errors"][0]
    assert error["message"] == "HRID can not be updated"
    error = library.put(path, {**made, "status": {"name": "Missing"}}).expect(422)["errors"][0]
    assert error["message"] == "Claimed returned item cannot be marked as missing"


def test_circulation_notes_are_signed(library, holdings):
    made = item(library, holdings, circulationNotes=[
        {"noteType": "Check in", "note": "look at the spine", "staffOnly": True}])
    note = made["circulationNotes"][0]
    assert note["id"] and note["date"] and note["source"]["personal"]["lastName"]
    later = library.at("2040-01-01T00:00:00Z")
    later.put("/inventory/items/" + made["id"], made).expect(204)
    again = library.get("/inventory/items/" + made["id"]).expect(200)
    assert again["circulationNotes"] == [note]


def test_an_item_is_patched(library, holdings):
    made = item(library, holdings, copyNumber="1", volume="v")
    path = "/inventory/items/" + made["id"]
    library.patch(path, {"_version": 1, "copyNumber": "2", "materialType": {"id": DVD}}).expect(204)
    shown = library.get(path).expect(200)
    assert (shown["copyNumber"], shown["volume"], shown["materialType"]["id"]) == ("2", "v", DVD)


@pytest.mark.parametrize("action, before, after", [
    ("mark-missing", "Available", "Missing"),
    ("mark-withdrawn", "Missing", "Withdrawn"),
    ("mark-in-process", "Checked out", "In process"),
    ("mark-in-process-non-requestable", "Available", "In process (non-requestable)"),
    ("mark-unknown", "Available", "Unknown"),
])
def test_items_are_marked(library, holdings, action, before, after):
    made = item(library, holdings, status={"name": before})
    shown = library.post(f"/inventory/items/{made['id']}/{action}").expect(200)
    assert shown["status"]["name"] == after and shown["title"] == "A title"
    assert library.get("/inventory/items/" + made["id"]).json["status"]["name"] == after


@pytest.mark.parametrize("action, status, name", [
    ("mark-missing", "Checked out", "Missing"),
    ("mark-unknown", "Unknown", "Unknown"),
    ("mark-withdrawn", "Checked out", "Withdrawn"),
])
def test_some_items_may_not_be_marked(library, holdings, action, status, name):
    made = item(library, holdings, status={"name": status})
    error = library.post(f"/inventory/items/{made['id']}/{action}").expect(422)["errors"][0]
    assert error == {"message": f"Item is not allowed to be marked as {name}",
                     "parameters": [{"key": "status.name", "value": status}]}


def test_a_request_waits_again_when_its_item_is_marked(library, holdings):
    made = item(library, holdings, status={"name": "Awaiting pickup"})
    request = library.post("/request-storage/requests", {
        "requestLevel": "Item", "requestType": "Hold", "requestDate": "2026-01-01T00:00:00Z",
        "requesterId": new_id(), "itemId": made["id"], "instanceId": holdings["instanceId"],
        "holdingsRecordId": holdings["id"], "fulfillmentPreference": "Hold Shelf",
        "status": "Open - Awaiting pickup", "position": 1}).expect(201)
    library.post(f"/inventory/items/{made['id']}/mark-withdrawn").expect(200)
    stored = library.get("/request-storage/requests/" + request["id"]).expect(200)
    assert stored["status"] == "Open - Not yet filled"


def test_items_of_a_holdings_record_include_those_bound_with_it(library, stock, holdings):
    own = item(library, holdings)
    other = stock.item()
    library.put("/inventory-storage/bound-withs", {"itemId": other["id"], "boundWithContents": [
        {"holdingsRecordId": holdings["id"]}]}).expect(204)
    path, query = "/inventory/items-by-holdings-id", f"holdingsRecordId=={holdings['id']}"

    def ids(**more):
        found = library.get(path, query=query, **more).expect(200)
        return {i["id"] for i in found["items"]}

    assert ids() == {own["id"], other["id"]}
    assert ids(relations="onlyBoundWiths") == {other["id"]}
    assert ids(relations="onlyBoundWithsSkipDirectlyLinkedItem") == {other["id"]}
    library.get(path, query="barcode==1").expect(400)
    sorted_by = library.get(path, query=query + " sortBy order").expect(200)["items"]
    assert [i["id"] for i in sorted_by] == [i["id"] for i in sorted(
        sorted_by, key=lambda i: (i.get("order", 1e9), i["id"]))] and len(sorted_by) == 2
    shown = library.get("/inventory/items/" + other["id"]).expect(200)
    assert shown["isBoundWith"] and len(shown["boundWithTitles"]) == 2
    assert shown["boundWithTitles"][0]["briefInstance"]["title"] == "A title"
    instance = library.get("/inventory/instances/" + holdings["instanceId"]).expect(200)
    assert instance["isBoundWith"] is True


def test_items_and_holdings_are_moved(library, stock, holdings):
    target = stock.holdings(callNumber="Z 9")
    made = item(library, holdings)
    unknown = new_id()
    answer = library.post("/inventory/items/move", {
        "toHoldingsRecordId": target["id"], "itemIds": [made["id"], unknown]}).expect(200)
    assert answer == {"nonUpdatedIds": [unknown]}
    shown = library.get("/inventory/items/" + made["id"]).expect(200)
    assert shown["effectiveCallNumberComponents"]["callNumber"] == "Z 9" and shown["order"] == 1
    answer = library.post("/inventory/holdings/move", {
        "toInstanceId": holdings["instanceId"], "holdingsRecordIds": [target["id"]]}).expect(200)
    assert answer == {"nonUpdatedIds": []}
    assert library.get("/inventory/items/" + made["id"]).json["title"] == "A title"
    errors = library.post("/inventory/items/move", {
        "toHoldingsRecordId": unknown, "itemIds": [made["id"]]}).expect(422)
    assert errors == {"errors": [f"Holding with id={unknown} not found"]}
    error = library.post("/inventory/items/move", {"itemIds": [made["id"]]}).expect(422)["errors"][0]
    assert error["message"] == "toHoldingsRecordId is a required field"


def test_items_of_tenants_are_the_own_ones(library, holdings):
    made = item(library, holdings)
    pairs = [{"tenantId": library.tenant, "itemId": made["id"]},
             {"tenantId": "elsewhere", "itemId": made["id"]}]
    answer = library.post("/inventory/tenant-items", {"tenantItemPairs": pairs}).expect(200)
    assert answer["totalRecords"] == 1
    assert answer["tenantItems"][0]["item"]["id"] == made["id"]
    assert answer["tenantItems"][0]["tenantId"] == library.tenant


def test_limits_must_be_numbers(library):
    assert library.get("/inventory/items", limit="x").expect(400) == (
        "limit and offset must be numeric when supplied")


# Instances ----------------------------------------------------------------------------------------


def instance(library, **members):
    return library.post("/inventory/instances", {
        "source": "FOLIO", "title": "A title", "instanceTypeId": TEXT, **members}).expect(201)


def test_an_instance_shows_its_links(library):
    before, after, parent = (instance(library, title=t) for t in ("Before", "After", "Series"))
    made = instance(library, precedingTitles=[{"precedingInstanceId": before["id"]},
                                              {"title": "Loose", "hrid": "h1"}],
                    succeedingTitles=[{"succeedingInstanceId": after["id"]}],
                    parentInstances=[{"superInstanceId": parent["id"],
                                      "instanceRelationshipTypeId":
                                          "30773a27-b485-4dab-aeb6-b8c04fa3cb17"}])
    assert library.last.headers["location"] == "/inventory/instances/" + made["id"]
    shown = library.get("/inventory/instances/" + made["id"]).expect(200)
    assert {t["title"] for t in shown["precedingTitles"]} == {"Before", "Loose"}
    assert shown["succeedingTitles"][0]["succeedingInstanceId"] == after["id"]
    assert shown["succeedingTitles"][0]["hrid"] == after["hrid"]
    assert shown["parentInstances"][0]["superInstanceId"] == parent["id"]
    assert shown["isBoundWith"] is False
    above = library.get("/inventory/instances/" + parent["id"]).expect(200)
    assert above["childInstances"][0]["subInstanceId"] == made["id"]

    shown["precedingTitles"] = [t for t in shown["precedingTitles"] if t["title"] == "Before"]
    kept = shown["precedingTitles"][0]["id"]
    shown["parentInstances"] = []
    library.put("/inventory/instances/" + made["id"], shown).expect(204)
    again = library.get("/inventory/instances/" + made["id"]).expect(200)
    assert [t["id"] for t in again["precedingTitles"]] == [kept]
    assert again["parentInstances"] == [] and len(again["succeedingTitles"]) == 1


def test_a_page_of_instances_costs_a_few_statements(library):
    word = new_id()
    for _ in range(5):
        instance(library, title=word)
    found = library.get("/inventory/instances", query=f'title=="{word}"', limit=100).expect(200)
    assert found["totalRecords"] == 5 and found["instances"][0]["precedingTitles"] == []
    assert library.last.statements <= 6


def test_instances_are_checked(library):
    base = {"source": "FOLIO", "instanceTypeId": TEXT}
    assert library.post("/inventory/instances", base).expect(400) == (
        "Title must be provided for an instance")
    assert library.post("/inventory/instances", {
        **base, "title": "x", "deleted": True, "staffSuppress": False}).expect(400) == (
        "staffSuppress and discoverySuppress cannot be set to false if instance is marked as "
        "deleted")
    error = library.post("/inventory/instances", {
        **base, "title": "x", "precedingTitles": [{"hrid": "h"}]}).expect(422)["errors"][0]
    assert error["message"] == "Title is required for unconnected preceding/succeeding title"
    assert error["parameters"][0]["key"] == "precedingTitles.title"


def test_marc_controls_most_members(library):
    made = instance(library, source="MARC")
    path = "/inventory/instances/" + made["id"]
    library.put(path, {**made, "administrativeNotes": ["n"]}).expect(204)
    now = library.get(path).expect(200)
    error = library.put(path, {**now, "title": "other", "languages": ["eng"]}).expect(422)
    assert error["errors"][0]["message"] == (
        "Instance is controlled by MARC record, these fields are blocked and can not be updated: "
        "title,languages")
    fields = library.get("/inventory/config/instances/blocked-fields").expect(200)["blockedFields"]
    assert "title" in fields and "statusId" not in fields


def test_an_instance_is_set_for_deletion(library):
    made = instance(library)
    library.delete(f"/inventory/instances/{made['id']}/mark-deleted").expect(204)
    shown = library.get("/inventory/instances/" + made["id"]).expect(200)
    assert shown["staffSuppress"] and shown["discoverySuppress"] and shown["deleted"]
    assert library.get("/inventory/instances/" + new_id()).expect(404) == "Instance not found"


def test_a_batch_keeps_what_is_right(library):
    good = {"source": "FOLIO", "title": "x", "instanceTypeId": TEXT}
    answer = library.post("/inventory/instances/batch", {
        "instances": [good, {**good, "instanceTypeId": new_id()}], "totalRecords": 2}).expect(201)
    assert answer["totalRecords"] == 1 and len(answer["errorMessages"]) == 1
    library.post("/inventory/instances/batch", {
        "instances": [{"source": "FOLIO", "title": "x"}], "totalRecords": 1}).expect(500)


def test_holdings_of_marc_are_guarded(library, stock):
    marc = stock.holdings(sourceId="036ee84a-6afd-4c3c-9ad3-4a12ab875f59")
    path = "/inventory/holdings/" + marc["id"]
    library.put(path, {**marc, "callNumber": "new"}).expect(422)
    library.put(path, {**marc, "discoverySuppress": True}).expect(204)
    plain = stock.holdings()
    library.put("/inventory/holdings/" + plain["id"], {**plain, "callNumber": "new"}).expect(204)
    assert plain["sourceId"] == FOLIO_SOURCE


# ISBN ---------------------------------------------------------------------------------------------


def test_isbns_are_converted(library):
    def convert(to, **query):
        return library.get("/isbn/convertTo" + to, **query)

    assert convert("13", isbn="0-552-14235-2").expect(200) == {"isbn": "9780552142359"}
    assert convert("13", isbn="0-552-14235-2", hyphens="true").json == {"isbn": "978-0-552-14235-9"}
    assert convert("10", isbn="978-0-552-14235-9", hyphens="true").json == {"isbn": "0-552-14235-2"}
    assert convert("10", isbn="9780552142359").json == {"isbn": "0552142352"}
    assert convert("13", isbn="1").expect(400) == "ISBN value 1 is invalid"
    assert convert("13").expect(400) == "Isbn must be specified"
    assert convert("13", isbn="0552142352", hyphens="x").expect(400) == (
        "Hyphens must be true or false")
    assert library.get("/isbn/validator", isbn="0552142352").json == {"isValid": True}
    assert library.get("/isbn/validator", isbn13="0552142352").json == {"isValid": False}
    library.get("/isbn/validator", isbn13="1", isbn="2").expect(400)
