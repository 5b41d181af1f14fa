"""Many desks at once: of what may happen once only, exactly one succeeds."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from circulation import Circulation, new_id, place, positions, unique
from octavo import Client

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


def test_a_loan_and_a_request_at_once_agree(world):
    for _ in range(6):
        item, borrower, other = world.item(), world.patron(), world.patron()
        lent, asked = at_once([lambda: world.check_out(item, borrower),
                               lambda: place(world, item, other, "Page")])
        queue = positions(world, item)
        loans = open_loans(world, f"itemId=={item['id']}")["totalRecords"]
        # Whoever comes second is refused: a page asks for what is on the shelf, a paged item waits
        # for another patron.
        assert {lent.status, asked.status} == {201, 422}, (lent.text, asked.text)
        assert (loans, len(queue)) == ((1, 0) if lent.status == 201 else (0, 1))
        assert world.status_of(item) == ("Checked out" if loans else "Paged")


def test_a_patron_who_is_deleted_while_borrowing_leaves_no_loan_behind(world):
    for _ in range(8):
        item, patron = world.item(), world.patron()
        lent, deleted = at_once([lambda: world.check_out(item, patron),
                                 lambda: world.api.delete(f"/users/{patron['id']}")])
        there = world.api.get(f"/users/{patron['id']}").status == 200
        loans = open_loans(world, f"itemId=={item['id']}")["totalRecords"]
        assert there == (deleted.status != 204)
        assert loans == (1 if lent.status == 201 else 0)
        assert world.status_of(item) == ("Checked out" if loans else "Available")
        if lent.status != 201:
            assert lent.status == 422, lent.text


def test_an_item_that_is_deleted_while_it_is_lent_is_lent_or_gone(world):
    for _ in range(8):
        item, patron = world.item(), world.patron()
        lent, deleted = at_once([lambda: world.check_out(item, patron),
                                 lambda: world.api.delete(f"/item-storage/items/{item['id']}")])
        assert lent.status in (201, 422) and deleted.status in (204, 400), (lent.text, deleted.text)
        if lent.status == 422:
            assert open_loans(world, f"itemId=={item['id']}")["totalRecords"] == 0


def test_a_record_is_not_left_without_what_it_refers_to(world):
    for _ in range(8):
        location = world.new_location(world.desk)
        holding = world.item()["holdingsRecordId"]
        body = {"id": new_id(), "holdingsRecordId": holding, "status": {"name": "Available"},
                "materialTypeId": world.book, "permanentLoanTypeId": world.can_circulate,
                "permanentLocationId": location}
        made, deleted = at_once([lambda: world.api.post("/item-storage/items", body),
                                 lambda: world.api.delete(f"/locations/{location}")])
        assert sorted([made.status // 100, deleted.status // 100]) == [2, 4], (made.text, deleted.text)


def test_numbers_given_at_once_are_all_different(world):
    answers = at_once([lambda: world.api.post("/instance-storage/instances", {
        "title": "x", "source": "FOLIO", "instanceTypeId": world.instance_type}) for _ in range(20)])
    assert statuses(answers) == {201: 20}
    assert len({a.json["hrid"] for a in answers}) == 20


def test_rules_that_change_under_loans_choose_one_policy_or_the_other(world):
    policies = [world.new_loan_policy() for _ in range(2)]
    items = [world.item() for _ in range(16)]
    patrons = [world.patron() for _ in range(4)]

    def change():
        for n in range(12):
            world.put_rules(f"m {world.book}: {world.policies(loan=policies[n % 2])}")

    def lend(part):
        return [world.check_out(item, patrons[part]) for item in items[part::4]]

    world.set_rules(f"m {world.book}: {world.policies(loan=policies[0])}")
    answers = at_once([change, *[lambda n=n: lend(n) for n in range(4)]])
    for answer in [one for part in answers[1:] for one in part]:
        assert answer.expect(201)["loanPolicyId"] in policies
    # What was answered last counts from the answer on.
    world.wait_for_news()
    assert world.check_out(world.item(), patrons[0]).expect(201)["loanPolicyId"] == policies[1]
    world.set_rules()


def test_a_right_that_was_taken_away_is_gone_with_the_answer(world):
    user = world.api.user(["usergroups.collection.get"])
    grants = f"/perms/users/{user.user_id}/permissions"
    name = "usergroups.collection.get"
    taken, over, wrong = threading.Event(), threading.Event(), []

    def use():
        while not over.is_set():
            is_without = taken.is_set()
            status = user.with_headers({}).get("/groups", limit=0).status
            if status not in (200, 403) or (is_without and taken.is_set() and status != 403):
                wrong.append(status)

    def take_and_give():
        for _ in range(15):
            world.api.delete(f"{grants}/{name}", indexField="userId").expect(204)
            taken.set()
            user.with_headers({}).get("/groups", limit=0).expect(403)
            taken.clear()
            world.api.post(f"{grants}?indexField=userId", {"permissionName": name}).expect(200)
            user.with_headers({}).get("/groups", limit=0).expect(200)
        over.set()

    at_once([use, use, use, take_and_give])
    assert wrong == []


def test_a_library_deleted_under_load_goes_as_a_whole(server, operator, make_library):
    library = make_library(modules=["mod-users", "mod-login", "mod-permissions", "mod-authtoken"])
    over, wrong = threading.Event(), []

    def use(number):
        client, n = library.with_headers({}), 0
        while not over.is_set():
            n += 1
            answer = client.post("/users", {"username": f"u{number}-{n}"}) if n % 2 else \
                client.get("/users", limit=1)
            if answer.status not in (200, 201, 400, 404):
                wrong.append((answer.status, answer.text[:200]))

    def delete():
        time.sleep(0.3)
        operator.delete(f"/_/proxy/tenants/{library.tenant}").expect(204)
        time.sleep(0.1)
        over.set()

    at_once([*[lambda n=n: use(n) for n in range(6)], delete])
    assert wrong == []
    assert library.get("/users").expect(400) == f"No such Tenant {library.tenant}"
    # A library of the same name begins empty.
    operator.post("/_/proxy/tenants", {"id": library.tenant, "name": "again"}).expect(201)
    operator.post(f"/_/proxy/tenants/{library.tenant}/install",
                  [{"id": "mod-users", "action": "enable"}]).expect(200)
    assert Client(server, library.tenant).get("/users").expect(200)["totalRecords"] == 0
    operator.delete(f"/_/proxy/tenants/{library.tenant}").expect(204)


def test_one_library_is_made_once(operator):
    tenant = "r" + new_id().replace("-", "")[:10]
    answers = at_once([lambda: operator.with_headers({}).post("/_/proxy/tenants", {"id": tenant})
                       for _ in range(8)])
    assert statuses(answers) == {201: 1, 400: 7}
    operator.delete(f"/_/proxy/tenants/{tenant}").expect(204)


def test_two_installs_at_once_end_like_one(operator):
    tenant = "r" + new_id().replace("-", "")[:10]
    operator.post("/_/proxy/tenants", {"id": tenant, "name": tenant}).expect(201)
    wanted = [{"id": name, "action": "enable"} for name in ("mod-users", "mod-inventory-storage")]
    answers = at_once([lambda: operator.with_headers({}).post(
        f"/_/proxy/tenants/{tenant}/install", wanted, tenantParameters="loadReference=true")
        for _ in range(4)])
    assert statuses(answers) == {200: 4}, [a.text for a in answers]
    made = [one for a in answers for one in a.json if one["action"] == "enable"]
    assert len({one["id"] for one in made}) == len(made)  # each module was enabled by one of them
    enabled = [m["id"] for m in operator.get(f"/_/proxy/tenants/{tenant}/modules").json]
    assert len(set(enabled)) == len(enabled) and {one["id"] for one in made} <= set(enabled)
    operator.delete(f"/_/proxy/tenants/{tenant}").expect(204)
