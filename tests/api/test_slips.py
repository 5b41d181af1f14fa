"""Slips, reports, ends of visits, forgotten loans."""

import json

import pytest

from circulation import Circulation, new_id, place, place_title
from octavo import wait_until


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def run_each_second(world, path):
    timers = world.api.get(f"/_/proxy/tenants/{world.api.tenant}/timers").expect(200)
    timer, = [t for t in timers if t["routingEntry"]["pathPattern"] == path]
    world.api.patch(f"/_/proxy/tenants/{world.api.tenant}/timers",
                    {"id": timer["id"], "routingEntry": {"unit": "second", "delay": "1"}}).expect(204)


def cancel(world, request):
    stored = world.stored_request(request)
    body = {**stored, "status": "Closed - Cancelled"}
    world.api.put(f"/circulation/requests/{request['id']}", body).expect(204)


def test_pages_are_fetched_where_their_items_live(world):
    point = world.service_point("pick")
    location = world.new_location(point)
    made = []
    for _ in range(3):
        item, patron = world.item(location=location), world.patron()
        made.append((place(world, item, patron, "Page", patronComments="hurry").expect(201), item, patron))
    place(world, world.item(), world.patron(), "Page").expect(201)
    answer = world.api.get(f"/circulation/pick-slips/{point}")
    found = answer.expect(200)
    assert found["totalRecords"] == len(found["pickSlips"]) == 3
    slips = {slip["request"]["requestID"]: slip for slip in found["pickSlips"]}
    request, item, patron = made[0]
    slip = slips[request["id"]]
    assert slip["item"]["barcode"] == item["barcode"] and slip["item"]["title"]
    assert slip["item"]["effectiveLocationPrimaryServicePointName"]
    assert slip["requester"]["barcode"] == patron["barcode"]
    assert slip["request"]["patronComments"] == "hurry" and slip["currentDateTime"]
    assert answer.statements <= 10


def test_an_empty_shelf_has_no_slips(world):
    assert world.api.get(f"/circulation/pick-slips/{new_id()}").expect(200) == {"pickSlips": [], "totalRecords": 0}


def test_holds_are_searched_only_where_the_library_wants(world):
    point = world.service_point("search")
    location = world.new_location(point)
    item = world.item(location=location)
    world.check_out(item, world.patron()).expect(201)
    request = place(world, item, world.patron()).expect(201)
    path = f"/circulation/search-slips/{point}"
    assert world.api.get(path).expect(200) == {"searchSlips": [], "totalRecords": 0}
    setting = world.api.post("/circulation/settings", {
        "name": "PRINT_HOLD_REQUESTS", "value": {"printHoldRequestsEnabled": True}}).expect(201)
    titles = world.api.post("/circulation/settings", {"name": "generalTlr", "value": {
        "titleLevelRequestsFeatureEnabled": True}}).expect(201)
    title = place_title(world, item["instanceId"], world.patron()).expect(201)
    slips = {slip["request"]["requestID"]: slip for slip in world.api.get(path).expect(200)["searchSlips"]}
    assert set(slips) == {request["id"], title["id"]}
    assert slips[request["id"]]["item"]["barcode"] == item["barcode"]
    assert slips[title["id"]]["item"]["title"] and "barcode" not in slips[title["id"]]["item"]
    for one in (setting, titles):
        world.api.delete(f"/circulation/settings/{one['id']}").expect(204)


def test_the_hold_shelf_is_cleared_of_what_nobody_fetches(world):
    point = world.service_point("clear")
    item = world.item()
    world.check_out(item, world.patron()).expect(201)
    request = place(world, item, world.patron(), pickupServicePointId=point).expect(201)
    world.check_in(item, point).expect(200)
    path = f"/circulation/requests-reports/hold-shelf-clearance/{point}"
    assert world.api.get(path).expect(200) == {"requests": [], "totalRecords": 0}
    cancel(world, request)
    assert world.status_of(item) == "Awaiting pickup"
    found = world.api.get(path).expect(200)
    assert [one["id"] for one in found["requests"]] == [request["id"]] and found["totalRecords"] == 1
    assert found["requests"][0]["item"]["barcode"] == item["barcode"]
    world.check_in(item).expect(200)
    assert world.api.get(path).expect(200)["totalRecords"] == 0


def test_items_in_transit_are_reported_whatever_they_lack(world):
    item, patron = world.item(), world.patron()
    world.check_out(item, patron).expect(201)
    request = place(world, item, patron=world.patron(), pickupServicePointId=world.other_desk,
                    tags={"tagList": ["urgent"]}).expect(201)
    world.check_in(item).expect(200)
    bare = world.item(status="In transit", barcode=None)
    found = world.api.get("/inventory-reports/items-in-transit").expect(200)
    rows = {row["id"]: row for row in found["items"]}
    row = rows[item["id"]]
    assert row["barcode"] == item["barcode"] and row["status"]["name"] == "In transit"
    assert row["inTransitDestinationServicePointId"] == world.other_desk
    assert row["loan"]["checkInServicePoint"]["name"] and row["loan"]["checkInDateTime"]
    assert row["request"]["requestType"] == "Hold" and row["request"]["tags"] == ["urgent"]
    assert row["lastCheckIn"]["servicePoint"]["id"] == world.desk
    assert row["location"]["libraryName"] and row["request"]["requestPickupServicePointName"]
    assert "loan" not in rows[bare["id"]] and "request" not in rows[bare["id"]]
    assert found["totalRecords"] == len(found["items"])
    assert request["id"]


def sessions_of(world, patron):
    return world.api.get("/patron-action-session-storage/patron-action-sessions",
                         query=f"patronId=={patron['id']}").expect(200)["totalRecords"]


def test_a_visit_ends(world):
    item, patron = world.item(), world.patron()
    world.check_out(item, patron).expect(201)
    assert sessions_of(world, patron) == 1
    body = {"endSessions": [{"patronId": patron["id"], "actionType": "Check-in"}]}
    world.api.post("/circulation/end-patron-action-session", body).expect(204)
    assert sessions_of(world, patron) == 1
    body["endSessions"][0]["actionType"] = "Check-out"
    world.api.post("/circulation/end-patron-action-session", body).expect(204)
    assert sessions_of(world, patron) == 0
    body["endSessions"][0]["actionType"] = "Lunch"
    world.api.post("/circulation/end-patron-action-session", body).expect(422)


def test_an_idle_visit_ends_by_itself(world):
    patron = world.patron()
    world.check_out(world.item(), patron, api=world.api.at("2026-03-01T12:00:00Z")).expect(201)
    run_each_second(world, "/circulation/notice-session-expiration-by-timeout")
    wait_until(lambda: sessions_of(world, patron) == 0)


def returned_loan(world, patron):
    item = world.item()
    loan = world.check_out(item, patron).expect(201)
    world.check_in(item).expect(200)
    return loan


def test_closed_loans_forget_their_patron(world):
    patron = world.patron()
    loans = [returned_loan(world, patron) for _ in range(3)]
    still_out = world.check_out(world.item(), patron).expect(201)
    owner = world.make("/owners", owner="o" + new_id())
    fee = world.make("/feefines", feeFineType="t" + new_id(), ownerId=owner)
    world.api.post("/accounts", {"id": new_id(), "amount": 5, "remaining": 5, "status": {"name": "Open"},
                                 "paymentStatus": {"name": "Outstanding"}, "userId": patron["id"],
                                 "feeFineId": fee, "ownerId": owner, "loanId": loans[0]["id"]}).expect(201)
    found = world.api.post(f"/loan-anonymization/by-user/{patron['id']}").expect(200)
    assert sorted(found["anonymizedLoans"]) == sorted(one["id"] for one in loans[1:])
    error, = found["errors"]
    assert error["message"] == "haveAssociatedFeesAndFines"
    assert json.loads(error["parameters"][0]["value"]) == [loans[0]["id"]]
    assert "userId" not in world.stored_loan(loans[1]["id"])
    assert world.stored_loan(still_out["id"])["userId"] == patron["id"]
    history = world.api.get("/loan-storage/loan-history", query=f"loan.id=={loans[1]['id']}", limit=50).json
    assert all("userId" not in row["loan"] for row in history["loansHistory"])


def test_the_setting_forgets_after_its_time(world):
    patron = world.patron()
    loan = returned_loan(world, patron)
    value = {"closingType": {"loan": "interval", "feeFine": None}, "treatEnabled": False,
             "loan": {"duration": 1, "intervalId": "Days"}}
    setting = world.api.post("/circulation/settings", {"name": "loan_history", "value": value}).expect(201)
    old = returned_loan(world, world.patron())
    stored = world.stored_loan(old["id"])
    world.api.put(f"/loan-storage/loans/{old['id']}",
                  {**stored, "systemReturnDate": "2020-01-01T10:00:00Z"}).expect(204)
    run_each_second(world, "/circulation/scheduled-anonymize-processing")
    wait_until(lambda: "userId" not in world.stored_loan(old["id"]))
    assert world.stored_loan(loan["id"])["userId"] == patron["id"]
    value["closingType"]["loan"] = "immediately"
    world.api.put(f"/circulation/settings/{setting['id']}", {**setting, "value": value}).expect(204)
    wait_until(lambda: "userId" not in world.stored_loan(loan["id"]))
    world.api.delete(f"/circulation/settings/{setting['id']}").expect(204)
