"""Requests for items: placed, refused, changed, cancelled, deleted."""

import pytest

from circulation import Circulation, errors_of, messages_of, new_id, place, request_body


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


@pytest.fixture
def lent(world):
    """An item on loan."""
    item = world.item()
    item["loan"] = world.check_out(item, world.patron()).expect(201)
    return item


def cancel(world, request, **members):
    body = {name: value for name, value in request.items()
            if name not in ("item", "instance", "requester", "metadata", "pickupServicePoint", "loan")}
    body.update({"status": "Closed - Cancelled", "cancelledDate": "2026-02-01T10:00:00Z", **members})
    return world.api.put(f"/circulation/requests/{request['id']}", body)


def test_a_page_takes_an_item_from_the_shelf(world):
    item, patron = world.item(), world.patron()
    answer = place(world, item, patron, "Page", requestExpirationDate="2030-01-01T10:00:00Z")
    request = answer.expect(201)
    assert answer.headers["Location"] == f"/circulation/requests/{request['id']}"
    assert request["status"] == "Open - Not yet filled" and request["position"] == 1
    assert request["item"]["barcode"] == item["barcode"] and request["item"]["status"] == "Paged"
    assert request["instance"]["title"] and request["requester"]["barcode"] == patron["barcode"]
    assert request["pickupServicePoint"]["pickupLocation"] is True
    assert request["requestExpirationDate"] == "2030-01-01T23:59:59.000+00:00"
    assert world.status_of(item) == "Paged"
    stored = world.stored_request(request)
    assert stored["item"]["barcode"] == item["barcode"]
    assert stored["requester"]["lastName"] == patron["personal"]["lastName"]
    assert stored["searchIndex"]["pickupServicePointName"] == request["pickupServicePoint"]["name"]


def test_holds_line_up_for_an_item_on_loan(world, lent):
    first = place(world, lent, world.patron()).expect(201)
    second = place(world, lent, world.patron()).expect(201)
    assert (first["position"], second["position"]) == (1, 2)
    assert second["loan"]["dueDate"] == lent["loan"]["dueDate"]
    assert world.stored_loan(lent["loan"]["id"])["action"] == "holdrequested"


def test_the_old_spelling_and_form_are_understood(world, lent):
    body = request_body(world, lent, world.patron(), requestLevel=None, instanceId=None,
                        holdingsRecordId=None, fulfillmentPreference=None,
                        fulfilmentPreference="Hold Shelf", somethingElse=1)
    request = world.api.post("/circulation/requests", body).expect(201)
    assert request["requestLevel"] == "Item" and request["instanceId"] == lent["instanceId"]
    assert request["fulfillmentPreference"] == "Hold Shelf" and "fulfilmentPreference" not in request


def test_a_recall_shortens_the_loan_once(world):
    policy = world.new_loan_policy(requestManagement={"recalls": {
        "minimumGuaranteedLoanPeriod": {"duration": 14, "intervalId": "Days"},
        "recallReturnInterval": {"duration": 1, "intervalId": "Days"}}})
    world.set_rules(loan=policy)
    item = world.item()
    loan = world.check_out(item, world.patron(), loanDate="2026-03-01T12:00:00Z",
                           api=world.api.at("2026-03-01T12:00:00Z")).expect(201)
    request = place(world, item, world.patron(), "Recall", api=world.api.at("2026-03-02T12:00:00Z")).expect(201)
    assert request["loan"]["dueDate"] == "2026-03-15T12:00:00.000+00:00"
    stored = world.stored_loan(loan["id"])
    assert stored["action"] == "recallrequested" and stored["dueDateChangedByRecall"] is True
    place(world, item, world.patron(), "Recall", api=world.api.at("2026-03-03T12:00:00Z")).expect(201)
    assert world.stored_loan(loan["id"])["dueDate"] == "2026-03-15T12:00:00.000+00:00"
    world.set_rules()


@pytest.mark.parametrize("members,message,code", [
    ({"requestLevel": "Title"}, 'Request level must be one of the following: "Item"',
     "REQUEST_LEVEL_IS_NOT_ALLOWED"),
    ({"fulfillmentPreference": "Mail"},
     'Fulfillment preference must be one of the following: "Hold Shelf", "Delivery"',
     "FULFILLMENT_PREFERENCE_IS_NOT_ALLOWED"),
    ({"instanceId": None}, "Cannot create a request with no instance ID", None),
    ({"itemId": None}, "Cannot create an item level request with no item ID", None),
    ({"holdingsRecordId": None}, "Cannot create a request with item ID but no holdings record ID", None),
    ({"requestDate": None}, "Cannot create a request with no requestDate", None),
    ({"instanceId": new_id()}, "Instance does not exist", None),
    ({"pickupServicePointId": None}, "Hold shelf fulfillment requests require a Pickup service point",
     "HOLD_SHELF_REQUESTS_REQUIRE_PICKUP_SERVICE_POINT"),
    ({"pickupServicePointId": new_id()}, "Pickup service point does not exist", None),
    ({"requesterId": new_id()}, "A valid user and patron group are required. User is null", None),
    ({"itemId": new_id()}, "Item does not exist", None),
    ({"proxyUserId": new_id()}, "proxyUserId is not valid", None),
])
def test_what_is_missing_or_wrong_is_told(world, lent, members, message, code):
    errors = errors_of(place(world, lent, world.patron(), **members))
    assert message in [e["message"] for e in errors]
    error = next(e for e in errors if e["message"] == message)
    assert error.get("code") == code and isinstance(error["parameters"], list)


def test_an_unknown_status_is_a_bad_request(world, lent):
    answer = place(world, lent, world.patron(), status="Open")
    assert answer.expect(400).startswith("Request status must be one of the following")


def test_a_service_point_without_pickup_is_refused(world, lent):
    point = world.service_point("no pickup", pickupLocation=False, holdShelfExpiryPeriod=None)
    error, = errors_of(place(world, lent, world.patron(), pickupServicePointId=point))
    assert error["code"] == "SERVICE_POINT_IS_NOT_PICKUP_LOCATION"


def test_inactive_patrons_request_nothing(world, lent):
    assert messages_of(place(world, lent, world.patron(active=False))) == ["Inactive users cannot make requests"]


def test_nobody_requests_an_item_twice_or_their_own_loan(world):
    item, borrower, patron = world.item(), world.patron(), world.patron()
    world.check_out(item, borrower).expect(201)
    place(world, item, patron).expect(201)
    assert [e["code"] for e in errors_of(place(world, item, patron))] == ["ITEM_ALREADY_REQUESTED"]
    assert [e["code"] for e in errors_of(place(world, item, borrower))] == [
        "REQUESTER_ALREADY_HAS_THIS_ITEM_ON_LOAN"]


def test_a_recall_of_an_overdue_loan_keeps_the_date_and_marks_it(world):
    item = world.item()
    loan = world.check_out(item, world.patron(), loanDate="2026-01-01T10:00:00Z").expect(201)
    place(world, item, world.patron(), "Recall", api=world.api.at("2026-03-02T12:00:00Z")).expect(201)
    stored = world.stored_loan(loan["id"])
    assert stored["dueDate"] == loan["dueDate"] and stored["dueDateChangedByRecall"] is True


@pytest.mark.parametrize("status,kind", [("Available", "Hold"), ("Available", "Recall"), ("Checked out", "Page"),
                                         ("Missing", "Recall"), ("Withdrawn", "Hold"), ("Declared lost", "Page")])
def test_the_status_of_the_item_limits_the_types(world, status, kind):
    error, = errors_of(place(world, world.item(status=status), world.patron(), kind))
    assert error["message"] == f"{kind} requests are not allowed for this patron and item combination"
    assert error["code"] == "REQUEST_NOT_ALLOWED_FOR_PATRON_ITEM_COMBINATION"


def test_the_request_policy_limits_types_and_places(world, lent):
    policy = world.make("/request-policy-storage/request-policies", name="rp" + new_id(),
                        requestTypes=["Hold"], allowedServicePoints={"Hold": [world.other_desk]})
    world.set_rules(request=policy)
    error, = errors_of(place(world, lent, world.patron(), "Recall"))
    assert error["code"] == "REQUEST_NOT_ALLOWED_FOR_PATRON_ITEM_COMBINATION"
    error, = errors_of(place(world, lent, world.patron(), "Hold"))
    assert error["code"] == "REQUEST_PICKUP_SERVICE_POINT_IS_NOT_ALLOWED"
    place(world, lent, world.patron(), pickupServicePointId=world.other_desk).expect(201)
    world.set_rules()


def test_blocks_are_overridden_with_permission(world, lent):
    patron = world.patron()
    world.api.post("/manualblocks", {"type": "Manual", "desc": "no", "userId": patron["id"], "borrowing": False,
                                     "renewals": False, "requests": True}).expect(201)
    error, = errors_of(place(world, lent, patron))
    assert (error["message"], error["code"]) == ("Patron blocked from requesting", "USER_IS_BLOCKED_MANUALLY")
    over = {"requestProcessingParameters": {"overrideBlocks": {"patronBlock": {}, "comment": "ok"}}}
    weak = world.api.user(permissions=["circulation.requests.item.post"])
    assert [e["code"] for e in errors_of(place(world, lent, patron, api=weak, **over))] == [
        "INSUFFICIENT_OVERRIDE_PERMISSIONS"]
    strong = world.api.user(permissions=["circulation.requests.item.post",
                                         "circulation.override-patron-block.post"])
    place(world, lent, patron, api=strong, **over).expect(201)


def test_cancelling_closes_the_queue_up(world, lent):
    first = place(world, lent, world.patron()).expect(201)
    second = place(world, lent, world.patron()).expect(201)
    third = place(world, lent, world.patron()).expect(201)
    cancel(world, first).expect(204)
    assert world.stored_request(first)["status"] == "Closed - Cancelled"
    assert "position" not in world.stored_request(first)
    assert [world.stored_request(one)["position"] for one in (second, third)] == [1, 2]
    assert [e["code"] for e in errors_of(cancel(world, first))] == ["REQUEST_ALREADY_CLOSED"]


def test_cancelling_a_page_puts_the_item_back(world):
    item = world.item()
    request = place(world, item, world.patron(), "Page").expect(201)
    cancel(world, request).expect(204)
    assert world.status_of(item) == "Available"


def test_the_item_knows_its_holdings_record(world, lent):
    request = place(world, lent, world.patron()).expect(201)
    cancel(world, request, holdingsRecordId="whatever").expect(204)
    assert world.stored_request(request)["holdingsRecordId"] == lent["holdingsRecordId"]


def test_a_stale_position_does_no_harm(world, lent):
    first = place(world, lent, world.patron()).expect(201)
    second = place(world, lent, world.patron()).expect(201)
    body = {**request_body(world, lent, {"id": second["requesterId"]}), "id": second["id"], "position": 1,
            "pickupServicePointId": world.other_desk}
    world.api.put(f"/circulation/requests/{second['id']}", body).expect(204)
    changed = world.stored_request(second)
    assert changed["position"] == 2 and changed["pickupServicePointId"] == world.other_desk
    assert world.stored_request(first)["position"] == 1


def test_comments_of_patrons_stay(world, lent):
    request = place(world, lent, world.patron(), patronComments="soon please").expect(201)
    body = request_body(world, lent, {"id": request["requesterId"]}, patronComments="never")
    error, = errors_of(world.api.put(f"/circulation/requests/{request['id']}", body))
    assert error["message"] == "Patron comments are not allowed to change"


def test_a_put_of_an_unknown_request_makes_it(world, lent):
    body = request_body(world, lent, world.patron())
    world.api.put(f"/circulation/requests/{body['id']}", body).expect(204)
    assert world.api.get(f"/circulation/requests/{body['id']}").expect(200)["position"] == 1


def test_deleting_closes_the_queue_up(world):
    item = world.item()
    page = place(world, item, world.patron(), "Page").expect(201)
    hold = place(world, item, world.patron()).expect(201)
    world.api.delete(f"/circulation/requests/{hold['id']}").expect(204)
    assert world.status_of(item) == "Paged"
    other = place(world, item, world.patron()).expect(201)
    world.api.delete(f"/circulation/requests/{page['id']}").expect(204)
    assert world.stored_request(other)["position"] == 1
    assert world.status_of(item) == "Paged"
    world.api.delete(f"/circulation/requests/{other['id']}").expect(204)
    assert world.status_of(item) == "Available"
    missing = world.api.get(f"/circulation/requests/{page['id']}")
    missing.expect(404)
    assert missing.text == f'requests record with ID "{page["id"]}" cannot be found'


def test_a_page_of_many_requests_costs_few_statements(world):
    patron = world.patron()
    for _ in range(12):
        item = world.item()
        place(world, item, patron, "Page").expect(201)
    answer = world.api.get("/circulation/requests", query=f'requesterId=={patron["id"]} and status=="Open*"',
                           limit=100)
    assert len(answer.expect(200)["requests"]) == 12
    assert all(one["item"]["barcode"] and one["instance"]["title"] for one in answer.json["requests"])
    assert answer.statements <= 10


def test_a_request_costs_few_statements(world):
    item = world.item()
    world.check_out(item, world.patron()).expect(201)
    place(world, item, world.patron()).expect(201)
    answer = place(world, item, world.patron())
    answer.expect(201)
    assert answer.statements <= 16 and answer.cost("round-trips") <= 10


def test_an_id_that_is_none_finds_nothing(world):
    found = world.api.get("/circulation/requests", query='(requesterId==nobody and status=="Open")', limit=1)
    assert found.expect(200) == {"requests": [], "totalRecords": 0}
