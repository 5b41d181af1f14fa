"""Loans: lists, actions of staff."""

import pytest

from circulation import Circulation, errors_of, messages_of, new_id, place, unique


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


@pytest.fixture
def lent(world):
    item, patron = world.item(), world.patron()
    item["loan"] = world.check_out(item, patron).expect(201)
    item["patron"] = patron
    return item


def act(world, item, route, **body):
    return world.api.post(f"/circulation/loans/{item['loan']['id']}/{route}", body)


def history(world, item):
    rows = world.api.get("/loan-storage/loan-history", query=f"loan.id=={item['loan']['id']}", limit=50).json
    return [row["loan"]["action"] for row in reversed(rows["loansHistory"])]


def test_a_long_list_is_shown_whole(world):
    patron = world.patron()
    for _ in range(60):
        world.check_out(world.item(), patron).expect(201)
    answer = world.api.get("/circulation/loans", query=f"(userId=={patron['id']}) and status.name==Open sortby dueDate",
                           limit=1000)
    loans = answer.expect(200)["loans"]
    assert len(loans) == answer.json["totalRecords"] == 60
    assert all(loan["item"]["title"] and loan["borrower"]["barcode"] and loan["feesAndFines"] for loan in loans)
    assert answer.statements <= 10


def test_an_id_that_is_none_finds_nothing(world):
    found = world.api.get("/circulation/loans", query="(userId==nobody and status.name<>Closed)", limit=1)
    assert found.expect(200) == {"loans": [], "totalRecords": 0}
    missing = new_id()
    answer = world.api.get(f"/circulation/loans/{missing}")
    assert answer.expect(404) == f'loan record with ID "{missing}" cannot be found'


def test_a_patron_claims_to_have_returned_it(world, lent):
    assert messages_of(act(world, lent, "claim-item-returned")) == [
        "Item claimed returned date is a required field"]
    act(world, lent, "claim-item-returned", itemClaimedReturnedDateTime="2026-05-01T10:00:00Z",
        comment="says so").expect(204)
    loan = world.stored_loan(lent["loan"]["id"])
    assert loan["action"] == "claimedReturned" and loan["actionComment"] == "says so"
    assert loan["claimedReturnedDate"] == "2026-05-01T10:00:00.000+00:00"
    assert loan["status"]["name"] == "Open" and loan["itemStatus"] == "Claimed returned"
    assert world.status_of(lent) == "Claimed returned"


def test_a_claimed_item_is_marked_missing(world, lent):
    assert messages_of(act(world, lent, "declare-claimed-returned-item-as-missing")) == [
        "Comment is a required field"]
    assert messages_of(act(world, lent, "declare-claimed-returned-item-as-missing", comment="c")) == [
        "Item is not Claimed returned"]
    act(world, lent, "claim-item-returned", itemClaimedReturnedDateTime="2026-05-01T10:00:00Z").expect(204)
    act(world, lent, "declare-claimed-returned-item-as-missing", comment="not there").expect(204)
    loan = world.stored_loan(lent["loan"]["id"])
    assert loan["status"]["name"] == "Closed" and loan["action"] == "markedMissing"
    assert world.status_of(lent) == "Missing"
    notes = world.api.get("/notes", query=f'title=="Claimed returned item marked missing"').json["notes"]
    types = world.api.get("/note-types").json["totalRecords"]
    assert bool(notes) == bool(types)
    assert messages_of(act(world, lent, "claim-item-returned", itemClaimedReturnedDateTime="2026-05-01T10:00:00Z")) == [
        "Loan is closed"]


def test_a_loss_without_fees_closes_the_loan(world, lent):
    assert messages_of(act(world, lent, "declare-item-lost")) == [
        "A service point is required for item to be declared lost"]
    act(world, lent, "declare-item-lost", servicePointId=world.desk, declaredLostDateTime="2026-05-01T10:00:00Z",
        comment="gone").expect(204)
    loan = world.stored_loan(lent["loan"]["id"])
    assert loan["status"]["name"] == "Closed" and loan["action"] == "closedLoan"
    assert loan["declaredLostDate"] == "2026-05-01T10:00:00.000+00:00"
    assert history(world, lent) == ["checkedout", "declaredLost", "closedLoan"]
    assert world.status_of(lent) == "Lost and paid"


def lost_policy(world, **members):
    return world.make("/lost-item-fees-policies", **{
        "name": unique("lost"), "chargeAmountItem": {"amount": 10.0, "chargeType": "anotherCost"},
        "lostItemProcessingFee": 5.0, "chargeAmountItemPatron": True, "chargeAmountItemSystem": True,
        "lostItemChargeFeeFine": {"duration": 2, "intervalId": "Days"}, "returnedLostItemProcessingFee": True,
        "replacedLostItemProcessingFee": True, "replacementProcessingFee": 0.0, "replacementAllowed": False,
        "lostItemReturned": "Charge", **members})


def owner_of(world):
    return world.make("/owners", owner=unique("owner"), servicePointOwner=[{"value": world.desk, "label": "desk"}])


def test_a_loss_is_charged_by_policy(world):
    world.set_rules(lost=lost_policy(world))
    item, patron = world.item(), world.patron()
    item["loan"] = world.check_out(item, patron).expect(201)
    lost = {"servicePointId": world.desk, "declaredLostDateTime": "2026-05-01T10:00:00Z"}
    assert messages_of(act(world, item, "declare-item-lost", **lost)) == [
        "No fee/fine owner found for item's permanent location"]
    owner_of(world)
    act(world, item, "declare-item-lost", **lost).expect(204)
    assert messages_of(act(world, item, "declare-item-lost", **lost)) == ["The item is already declared lost"]
    loan = world.api.get(f"/circulation/loans/{item['loan']['id']}").expect(200)
    assert loan["status"]["name"] == "Open" and loan["action"] == "declaredLost"
    assert loan["feesAndFines"]["amountRemainingToPay"] == 15
    accounts = world.api.get("/accounts", query=f"loanId=={loan['id']}").json["accounts"]
    assert sorted((one["feeFineType"], one["amount"]) for one in accounts) == [
        ("Lost item fee", 10), ("Lost item processing fee", 5)]
    assert world.status_of(item) == "Declared lost"
    world.set_rules()


def test_an_actual_cost_is_recorded_for_later(world):
    owner_of(world)
    world.set_rules(lost=lost_policy(world, chargeAmountItem={"amount": 0.0, "chargeType": "actualCost"},
                                     lostItemProcessingFee=0.0))
    item, patron = world.item(), world.patron()
    item["loan"] = world.check_out(item, patron).expect(201)
    act(world, item, "declare-item-lost", servicePointId=world.desk,
        declaredLostDateTime="2026-05-01T10:00:00Z").expect(204)
    records = world.api.get("/actual-cost-record-storage/actual-cost-records",
                            query=f"loan.id=={item['loan']['id']}").json["actualCostRecords"]
    assert [one["status"] for one in records] == ["Open"]
    assert records[0]["expirationDate"] == "2026-05-03T10:00:00.000+00:00"
    assert world.stored_loan(item["loan"]["id"])["status"]["name"] == "Open"
    world.set_rules()


def test_staff_change_a_due_date(world, lent):
    error, = errors_of(act(world, lent, "change-due-date"))
    assert error["message"] == "A new due date is required in order to change the due date"
    assert error["parameters"] == [{"key": "dueDate", "value": None}]
    act(world, lent, "change-due-date", dueDate="2031-01-01T10:00:00+01:00").expect(204)
    loan = world.stored_loan(lent["loan"]["id"])
    assert loan["action"] == "dueDateChanged" and loan["dueDate"] == "2031-01-01T09:00:00.000+00:00"
    act(world, lent, "claim-item-returned", itemClaimedReturnedDateTime="2026-05-01T10:00:00Z").expect(204)
    error, = errors_of(act(world, lent, "change-due-date", dueDate="2031-01-01T10:00:00Z"))
    assert error["message"] == "item is Claimed returned"
    assert error["parameters"] == [{"key": "itemId", "value": lent["id"]}]


def test_a_change_of_the_due_date_forgets_a_recall_that_is_gone(world, lent):
    stored = world.stored_loan(lent["loan"]["id"])
    world.api.put(f"/loan-storage/loans/{stored['id']}", {**stored, "dueDateChangedByRecall": True}).expect(204)
    act(world, lent, "change-due-date", dueDate="2031-01-01T10:00:00Z").expect(204)
    assert "dueDateChangedByRecall" not in world.stored_loan(stored["id"])


def test_infos_are_added_to_a_loan(world, lent):
    assert messages_of(act(world, lent, "add-info", action="patronInfoAdded")) == [
        "An action of type patronInfoAdded or staffInfoAdded, with associated actionComment, "
        "required in order to add info"]
    act(world, lent, "add-info", action="staffInfoAdded", actionComment="fragile").expect(204)
    loan = world.stored_loan(lent["loan"]["id"])
    assert (loan["action"], loan["actionComment"]) == ("staffInfoAdded", "fragile")


def test_actions_on_unknown_loans_find_nothing(world):
    gone = {"loan": {"id": new_id()}}
    act(world, gone, "change-due-date", dueDate="2031-01-01T10:00:00Z").expect(404)
    act(world, gone, "add-info", action="staffInfoAdded", actionComment="x").expect(404)


def loan_body(world, item, patron, **members):
    body = {"id": new_id(), "itemId": item["id"], "userId": patron["id"], "loanDate": "2026-03-01T12:00:00Z",
            "dueDate": "2026-03-20T12:00:00Z", "status": {"name": "Open"}, "action": "checkedout",
            "checkoutServicePointId": world.desk, "unknownToUs": 1, **members}
    return {name: value for name, value in body.items() if value is not None}


def test_an_import_creates_loans(world):
    item, patron = world.item(), world.patron()
    answer = world.api.post("/circulation/loans", loan_body(world, item, patron))
    loan = answer.expect(201)
    assert answer.headers["Location"] == f"/circulation/loans/{loan['id']}"
    assert loan["dueDate"] == "2026-03-20T12:00:00.000+00:00" and loan["loanPolicyId"] == world.loan_policy
    assert loan["borrower"]["barcode"] == patron["barcode"] and world.status_of(item) == "Checked out"
    error, = errors_of(world.api.post("/circulation/loans", loan_body(world, item, world.patron())))
    assert error["message"] == "Item is already checked out"
    assert error["parameters"] == [{"key": "itemId", "value": item["id"]}]


@pytest.mark.parametrize("members,message", [
    ({"status": {"name": "Lost"}}, 'Loan status must be "Open" or "Closed"'),
    ({"userId": None}, "Open loan must have a user ID"),
    ({"checkoutServicePointId": new_id()}, "Check Out Service Point does not exist"),
    ({"proxyUserId": new_id()}, "proxyUserId is not valid"),
])
def test_imports_are_checked(world, members, message):
    assert messages_of(world.api.post("/circulation/loans", loan_body(world, world.item(), world.patron(), **members))) == [
        message]


def test_an_import_of_an_unknown_item_is_refused(world):
    gone = new_id()
    assert messages_of(world.api.post("/circulation/loans", loan_body(world, {"id": gone}, world.patron()))) == [
        f"No item with ID {gone} could be found"]


def test_a_replaced_loan_keeps_what_the_server_knows(world, lent):
    shown = world.api.get(f"/circulation/loans/{lent['loan']['id']}").expect(200)
    shown.update(dueDate="2031-02-01T10:00:00Z", action="dueDateChanged")
    world.api.put(f"/circulation/loans/{shown['id']}", shown).expect(204)
    stored = world.stored_loan(shown["id"])
    assert stored["dueDate"] == "2031-02-01T10:00:00.000+00:00" and stored["itemStatus"] == "Checked out"
    assert stored["patronGroupIdAtCheckout"] == world.students and "borrower" not in stored


def test_a_replaced_loan_that_is_closed_frees_its_item(world, lent):
    shown = world.api.get(f"/circulation/loans/{lent['loan']['id']}").expect(200)
    shown.update(status={"name": "Closed"}, action="checkedin", returnDate="2026-06-01T10:00:00Z")
    assert messages_of(world.api.put(f"/circulation/loans/{shown['id']}", shown)) == [
        "A Closed loan must have a Checkin Service Point"]
    shown["checkinServicePointId"] = world.desk
    world.api.put(f"/circulation/loans/{shown['id']}", shown).expect(204)
    assert world.status_of(lent) == "Available"


def test_a_closed_loan_hands_its_item_to_the_next_patron(world, lent):
    request = place(world, lent, world.patron()).expect(201)
    shown = world.api.get(f"/circulation/loans/{lent['loan']['id']}").expect(200)
    shown.update(status={"name": "Closed"}, action="checkedin", checkinServicePointId=world.desk)
    world.api.put(f"/circulation/loans/{shown['id']}", shown).expect(204)
    assert world.status_of(lent) == "Awaiting pickup"
    assert world.stored_request(request)["status"] == "Open - Awaiting pickup"


def test_a_put_of_an_unknown_loan_stores_it(world):
    item, patron = world.item(), world.patron()
    body = loan_body(world, item, patron)
    world.api.put(f"/circulation/loans/{body['id']}", body).expect(204)
    assert world.api.get(f"/circulation/loans/{body['id']}").expect(200)["status"]["name"] == "Open"


def test_loans_are_deleted(world, lent):
    path = f"/circulation/loans/{lent['loan']['id']}"
    world.api.delete(path).expect(204)
    world.api.get(path).expect(404)
    world.api.delete(path).expect(404)
