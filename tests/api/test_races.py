"""Many desks at once: of what may happen once only, exactly one succeeds."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from circulation import Circulation, new_id, unique

CLIENTS = 50
REFUSALS = {"Item is already checked out", "Cannot check out item that already has an open loan",
            "Cannot have more than one open loan for the same item"}


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def at_once(calls):
    """Runs the calls together, as near to the same moment as threads come; their answers."""
    start = threading.Barrier(len(calls))

    def run(call):
        start.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(run, call) for call in calls]]


def statuses(answers):
    counts = {}
    for answer in answers:
        counts[answer.status] = counts.get(answer.status, 0) + 1
    return counts


def open_loans(world, query):
    return world.api.get("/loan-storage/loans",
                         query=f'({query}) and status.name=="Open"', limit=100).json


def test_fifty_desks_lend_one_item_once(world):
    item = world.item()
    patrons = [world.patron() for _ in range(CLIENTS)]
    answers = at_once([lambda p=p: world.check_out(item, p) for p in patrons])
    assert statuses(answers) == {201: 1, 422: CLIENTS - 1}
    refused = {e["message"] for a in answers if a.status == 422 for e in a.json["errors"]}
    assert refused <= REFUSALS
    assert open_loans(world, f"itemId=={item['id']}")["totalRecords"] == 1
    assert world.status_of(item) == "Checked out"


def test_an_item_limit_holds_at_two_desks_at_once(world):
    limit = 3
    policy = world.new_loan_policy(loans={"itemLimit": limit})
    world.set_rules(f"m {world.book} + g {world.staff}: {world.policies(loan=policy)}")
    patron = world.patron(patronGroup=world.staff)
    items = [world.item() for _ in range(4 * limit)]
    desks = [world.desk, world.other_desk]
    answers = at_once([lambda i=i, n=n: world.check_out(i, patron, servicePointId=desks[n % 2])
                       for n, i in enumerate(items)])
    world.set_rules()
    assert statuses(answers) == {201: limit, 422: len(items) - limit}
    assert open_loans(world, f"userId=={patron['id']}")["totalRecords"] == limit


def test_one_idempotency_key_lends_once_however_often_it_is_sent(world):
    item, patron = world.item(), world.patron()
    desk = world.api.with_headers({"x-octavo-idempotency-key": new_id()})
    answers = at_once([lambda: world.check_out(item, patron, api=desk) for _ in range(10)])
    lent = [a.json["id"] for a in answers if a.status == 201]
    # Those that came while the first was at work may be sent away, never lent again.
    assert lent and len(set(lent)) == 1
    assert all(a.status in (201, 409) for a in answers), statuses(answers)
    assert world.check_out(item, patron, api=desk).expect(201)["id"] == lent[0]
    assert open_loans(world, f"itemId=={item['id']}")["totalRecords"] == 1


def test_two_desks_take_one_item_back_once(world):
    item = world.item()
    loan = world.check_out(item, world.patron()).expect(201)
    answers = at_once([lambda: world.check_in(item) for _ in range(8)])
    assert statuses(answers) == {200: 8}
    closed = [a.json["loan"] for a in answers if a.json.get("loan")]
    assert [one["id"] for one in closed] == [loan["id"]]
    assert world.stored_loan(loan["id"])["status"]["name"] == "Closed"
    assert world.status_of(item) == "Available"


def test_a_loan_and_a_return_at_once_leave_item_and_loans_in_accord(world):
    for _ in range(5):
        item = world.item()
        first = world.check_out(item, world.patron()).expect(201)
        other = world.patron()
        at_once([lambda: world.check_in(item), lambda: world.check_out(item, other)])
        left = open_loans(world, f"itemId=={item['id']}")["loans"]
        assert world.status_of(item) == ("Checked out" if left else "Available")
        assert len(left) <= 1 and first["id"] not in [one["id"] for one in left]


def test_a_barcode_is_given_once(world):
    barcode, holding = unique("same"), world.item()["holdingsRecordId"]
    body = {"barcode": barcode, "holdingsRecordId": holding, "status": {"name": "Available"},
            "materialTypeId": world.book, "permanentLoanTypeId": world.can_circulate}
    answers = at_once([lambda: world.api.post("/item-storage/items", {"id": new_id(), **body})
                       for _ in range(10)])
    assert [a.status for a in answers].count(201) == 1
    found = world.api.get("/item-storage/items", query=f'barcode=="{barcode}"').json
    assert found["totalRecords"] == 1


def test_of_two_changes_of_one_version_one_is_refused(world):
    item = world.api.get(f"/item-storage/items/{world.item()['id']}").json
    answers = at_once([lambda n=n: world.api.put(f"/item-storage/items/{item['id']}",
                                                 {**item, "copyNumber": str(n)})
                       for n in range(8)])
    assert statuses(answers) == {204: 1, 409: 7}


def test_requests_placed_at_once_stand_in_a_row(world):
    item = world.item()
    world.check_out(item, world.patron()).expect(201)
    patrons = [world.patron() for _ in range(8)]

    def place(patron):
        return world.api.post("/circulation/requests", {
            "id": new_id(), "requestLevel": "Item", "requestType": "Hold",
            "requesterId": patron["id"], "requestDate": "2026-01-01T10:00:00Z",
            "itemId": item["id"], "instanceId": item["instanceId"],
            "holdingsRecordId": item["holdingsRecordId"],
            "fulfillmentPreference": "Hold Shelf", "pickupServicePointId": world.desk})

    answers = at_once([lambda p=p: place(p) for p in patrons])
    assert statuses(answers) == {201: 8}
    queue = world.api.get("/request-storage/requests", query=f"itemId=={item['id']}",
                          limit=100).json["requests"]
    assert sorted(one["position"] for one in queue) == list(range(1, 9))
