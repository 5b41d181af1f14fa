"""Check-in by barcode: where items go, what closes, what is told."""

import pytest

from circulation import Circulation, errors_of, messages_of, new_id


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


@pytest.fixture
def lent(world):
    item, patron = world.item(), world.patron()
    loan = world.check_out(item, patron, loanDate="2026-04-25T10:00:00Z").expect(201)
    return item, patron, loan


def test_a_returned_item_closes_its_loan(world, lent):
    item, patron, loan = lent
    body = world.check_in(item, id=new_id()).expect(200)
    closed = body["loan"]
    assert closed["id"] == loan["id"] and closed["status"] == {"name": "Closed"}
    assert closed["action"] == "checkedin"
    assert closed["returnDate"] == "2026-05-01T10:00:00.000Z"
    assert closed["checkinServicePointId"] == world.desk and closed["checkinServicePoint"]["name"]
    assert closed["borrower"]["barcode"] == patron["barcode"]
    assert body["item"]["status"]["name"] == "Available" and body["inHouseUse"] is False
    assert body["staffSlipContext"]["item"]["barcode"] == item["barcode"]
    assert body["staffSlipContext"]["item"]["fromServicePoint"]
    assert "request" not in body["staffSlipContext"] and "currentDateTime" in body["staffSlipContext"]
    assert world.stored_loan(loan["id"])["itemStatus"] == "Available"
    record = world.api.get(f"/item-storage/items/{item['id']}").json
    assert record["status"]["name"] == "Available"
    assert record["lastCheckIn"]["servicePointId"] == world.desk


def test_the_history_of_a_loan_has_both_actions(world, lent):
    item, _, loan = lent
    world.check_in(item).expect(200)
    rows = world.api.get("/loan-storage/loan-history", query=f"loan.id=={loan['id']}").json["loansHistory"]
    assert sorted(r["loan"]["action"] for r in rows) == ["checkedin", "checkedout"]


def test_each_check_in_is_recorded(world, lent):
    item, _, _ = lent
    world.check_in(item).expect(200)
    record, = world.api.get("/check-in-storage/check-ins", query=f"itemId=={item['id']}").json["checkIns"]
    assert record["itemStatusPriorToCheckIn"] == "Checked out" and record["requestQueueSize"] == 0
    assert record["itemLocationId"] == world.location and record["servicePointId"] == world.desk


def test_an_item_without_loan_is_used_in_house_at_home(world):
    body = world.check_in(world.item()).expect(200)
    assert "loan" not in body and body["inHouseUse"] is True
    assert body["item"]["status"]["name"] == "Available"


def test_at_another_desk_it_goes_home(world):
    item = world.item()
    body = world.check_in(item, service_point=world.other_desk).expect(200)
    assert body["inHouseUse"] is False
    assert body["item"]["status"]["name"] == "In transit"
    assert body["item"]["inTransitDestinationServicePointId"] == world.desk
    assert body["item"]["inTransitDestinationServicePoint"]["id"] == world.desk
    assert body["staffSlipContext"]["item"]["toServicePoint"]
    home = world.check_in(item).expect(200)
    assert home["item"]["status"]["name"] == "Available"
    assert "inTransitDestinationServicePointId" not in home["item"]


@pytest.mark.parametrize("status", ["Missing", "Withdrawn", "Paged", "On order", "Unknown", "In process"])
def test_any_status_comes_back(world, status):
    assert world.check_in(world.item(status=status)).expect(200)["item"]["status"]["name"] == "Available"


def test_a_hold_for_this_desk_waits_on_the_shelf(world, lent):
    item, _, _ = lent
    requester = world.patron(personal={"lastName": "Rowling", "firstName": "Jo"})
    request = world.request(item, requester)
    now = world.api.at("2026-05-01T10:00:00Z")
    body = world.check_in(item, api=now).expect(200)
    assert body["item"]["status"]["name"] == "Awaiting pickup"
    stored = world.stored_request(request)
    assert stored["status"] == "Open - Awaiting pickup" and stored["position"] == 1
    assert stored["holdShelfExpirationDate"] == "2026-05-04T23:59:59.000+00:00"
    slip = body["staffSlipContext"]
    assert slip["request"]["requestID"] == request["id"] and slip["request"]["servicePointPickup"]
    assert slip["requester"]["lastName"] == "Rowling"
    again = world.check_in(item, api=world.api.at("2026-05-02T10:00:00Z")).expect(200)
    assert again["item"]["status"]["name"] == "Awaiting pickup" and again["inHouseUse"] is False
    assert world.stored_request(request)["holdShelfExpirationDate"] == stored["holdShelfExpirationDate"]


def test_a_hold_for_another_desk_travels(world, lent):
    item, _, _ = lent
    request = world.request(item, world.patron(), pickupServicePointId=world.other_desk)
    body = world.check_in(item).expect(200)
    assert body["item"]["status"]["name"] == "In transit"
    assert body["item"]["inTransitDestinationServicePointId"] == world.other_desk
    stored = world.stored_request(request)
    assert stored["status"] == "Open - In transit" and "holdShelfExpirationDate" not in stored
    arrived = world.check_in(item, service_point=world.other_desk).expect(200)
    assert arrived["item"]["status"]["name"] == "Awaiting pickup"


def test_a_delivery_waits_to_be_delivered(world, lent):
    item, _, _ = lent
    kind = world.make("/addresstypes", addressType="t" + new_id())
    request = world.request(item, world.patron(), fulfillmentPreference="Delivery", pickupServicePointId=None,
                            deliveryAddressTypeId=kind)
    assert world.check_in(item).expect(200)["item"]["status"]["name"] == "Awaiting delivery"
    assert world.stored_request(request)["status"] == "Open - Awaiting delivery"


def test_a_request_without_pickup_place_stops_the_check_in(world):
    item = world.item()
    world.request(item, world.patron(), pickupServicePointId=None)
    assert messages_of(world.check_in(item)) == [
        "Failed to check in item due to the highest priority request missing a pickup service point"]
    assert world.status_of(item) == "Available"


def test_a_claimed_returned_item_needs_a_resolution(world, lent):
    item, _, loan = lent
    record = world.api.get(f"/item-storage/items/{item['id']}").json
    record["status"] = {"name": "Claimed returned"}
    world.api.put(f"/item-storage/items/{item['id']}", record).expect(204)
    error, = errors_of(world.check_in(item))
    assert error["message"] == "Item is claimed returned, a resolution is required to check in"
    assert error["parameters"] == [{"key": "claimedReturnedResolution", "value": None}]
    assert messages_of(world.check_in(item, claimedReturnedResolution="Eaten")) == [
        "Unrecognized value provided for property"]
    body = world.check_in(item, claimedReturnedResolution="Found by library").expect(200)
    assert body["loan"]["action"] == "checkedInFoundByLibrary"


def test_an_intellectual_item_never_comes_back(world):
    item = world.item(status="Intellectual item")
    message, = messages_of(world.check_in(item))
    assert message.endswith("has the item status Intellectual item and cannot be checked in")


def test_missing_members_are_refused(world):
    item = world.item()
    post = lambda **body: world.api.post("/circulation/check-in-by-barcode", body)  # noqa: E731
    date, desk, barcode = "2026-05-01T10:00:00Z", world.desk, item["barcode"]
    assert messages_of(post(servicePointId=desk, checkInDate=date)) == [
        "Checkin request must have an item barcode"]
    assert messages_of(post(itemBarcode=barcode, checkInDate=date)) == [
        "Checkin request must have a service point id"]
    assert messages_of(post(itemBarcode=barcode, servicePointId=desk)) == [
        "Checkin request must have an check in date"]
    error, = errors_of(post(itemBarcode="none", servicePointId=desk, checkInDate=date))
    assert error["message"] == "No item with barcode none exists"
    assert error["code"] == "ITEM_BARCODE_NOT_FOUND"


def test_a_date_before_the_loan_is_no_error(world, lent):
    item, _, _ = lent
    world.check_in(item, date="2020-01-01T01:00:00Z").expect(200)


def test_the_next_patron_may_borrow_after_the_return(world, lent):
    item, _, _ = lent
    world.check_in(item).expect(200)
    world.check_out(item, world.patron()).expect(201)


def test_a_later_request_moves_up_when_its_fulfilment_begins(world):
    item, patron = world.item(), world.patron()
    request = world.request(item, patron, position=1)
    second = world.request(item, world.patron(), position=2)
    world.check_in(item).expect(200)
    world.check_out(item, patron).expect(201)
    assert world.stored_request(request)["status"] == "Closed - Filled"
    assert world.stored_request(second)["position"] == 1


def owner_of(world):
    return world.make("/owners", owner="o" + new_id(),
                      servicePointOwner=[{"value": world.desk, "label": "desk"}])


def test_a_late_return_is_fined(world):
    owner = owner_of(world)
    policy = world.make("/overdue-fines-policies", name="f" + new_id(), countClosed=True, maxOverdueFine=50,
                        overdueFine={"quantity": 0.25, "intervalId": "day"})
    world.set_rules(overdue=policy)
    item, patron = world.item(), world.patron()
    loan = world.check_out(item, patron, loanDate="2026-03-01T10:00:00Z").expect(201)
    body = world.check_in(item, date="2026-03-24T11:00:00Z").expect(200)
    assert body["loan"]["feesAndFines"] == {"amountRemainingToPay": 0.75}
    account, = world.api.get("/accounts", query=f"loanId=={loan['id']}").json["accounts"]
    assert account["feeFineType"] == "Overdue fine" and account["ownerId"] == owner
    assert account["amount"] == 0.75 and account["status"]["name"] == "Open"
    world.set_rules()


def test_within_the_grace_period_nothing_is_owed(world):
    owner_of(world)
    fines = world.make("/overdue-fines-policies", name="f" + new_id(), countClosed=True,
                       overdueFine={"quantity": 0.1, "intervalId": "hour"})
    loans = world.new_loan_policy(loans={"gracePeriod": {"duration": 6, "intervalId": "Hours"}})
    world.set_rules(overdue=fines, loan=loans)
    item = world.item()
    world.check_out(item, world.patron(), loanDate="2026-03-01T10:00:00Z").expect(201)
    body = world.check_in(item, date="2026-03-22T15:00:00Z").expect(200)
    assert body["loan"]["feesAndFines"] == {"amountRemainingToPay": 0}
    world.set_rules()


def test_closed_hours_do_not_count_unless_the_policy_says_so(fresh_library):
    world = Circulation(fresh_library)
    owner_of(world)
    world.api.post("/calendar/calendars", {
        "name": "mornings", "startDate": "2026-01-01", "endDate": "2026-12-31", "assignments": [world.desk],
        "normalHours": [{"startDay": d, "startTime": "09:00", "endDay": d, "endTime": "12:00"}
                        for d in ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY")],
        "exceptions": []}).expect(201)
    policy = world.make("/overdue-fines-policies", name="f" + new_id(), countClosed=False,
                        overdueFine={"quantity": 1, "intervalId": "hour"})
    world.set_rules(overdue=policy)
    item = world.item()
    world.check_out(item, world.patron(), loanDate="2026-03-06T11:00:00Z").expect(201)
    # Due Friday 27 March 11:00, back Monday 10:30: one hour on Friday, one and a half on Monday.
    body = world.check_in(item, date="2026-03-30T10:30:00Z").expect(200)
    assert body["loan"]["feesAndFines"] == {"amountRemainingToPay": 3}


def test_a_check_in_costs_few_statements(world, lent):
    item, _, _ = lent
    world.request(item, world.patron())
    answer = world.check_in(item)
    answer.expect(200)
    assert answer.statements <= 14
    assert answer.cost("round-trips") <= 3
