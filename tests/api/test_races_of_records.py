"""Many writers at once: records and what they refer to, versions, numbers, queues, accounts."""

import pytest

from circulation import Circulation, new_id, place, positions, unique
from test_feesfines import account, state, wish
from test_queue import reorder
from test_races import at_once, statuses

ROUNDS = 6


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def is_stored(world, path, record_id):
    """By a list: one small record comes from memory, which on another node is a moment older."""
    return world.api.get(path, query=f"id=={record_id}").json["totalRecords"] == 1


# A record and what it refers to --------------------------------------------------------------------


def item_body(world, **members):
    return {"id": new_id(), "holdingsRecordId": members.pop("holding", None) or new_holding(world)[1],
            "status": {"name": "Available"}, "materialTypeId": world.book,
            "permanentLoanTypeId": world.can_circulate, **members}


def new_holding(world):
    path = "/holdings-storage/holdings"
    made = world.make(path, instanceId=world.instance(), sourceId=world.source,
                      permanentLocationId=world.location)
    return f"{path}/{made}", made


def item_of_holding(world):
    above, holding = new_holding(world)
    return above, "/item-storage/items", item_body(world, holding=holding)


def holding_of_instance(world):
    instance = world.instance()
    return (f"/instance-storage/instances/{instance}", "/holdings-storage/holdings",
            {"id": new_id(), "instanceId": instance, "sourceId": world.source,
             "permanentLocationId": world.location})


def item_of_material(world):
    kind = world.make("/material-types", name=unique("material"))
    return f"/material-types/{kind}", "/item-storage/items", item_body(world, materialTypeId=kind)


def item_with_code(world):
    """The code stands in a list."""
    kind = world.make("/statistical-code-types", name=unique("type"), source="local")
    code = world.make("/statistical-codes", code=unique("code"), name=unique("code"), source="local",
                      statisticalCodeTypeId=kind)
    return (f"/statistical-codes/{code}", "/item-storage/items",
            item_body(world, statisticalCodeIds=[code]))


def campus_of_institution(world):
    above = world.make("/location-units/institutions", name=unique("inst"), code=unique("I"))
    return (f"/location-units/institutions/{above}", "/location-units/campuses",
            {"id": new_id(), "name": unique("campus"), "code": unique("C"), "institutionId": above})


def user_of_group(world):
    group = world.make("/groups", group=unique("group"))
    return (f"/groups/{group}", "/users",
            {"id": new_id(), "username": unique("u"), "active": True, "patronGroup": group,
             "personal": {"lastName": "L"}})


def user_of_department(world):
    """The department stands in a list."""
    one = world.make("/departments", name=unique("dept"), code=unique("D"))
    return (f"/departments/{one}", "/users",
            {"id": new_id(), "username": unique("u"), "active": True, "departments": [one],
             "patronGroup": world.students, "personal": {"lastName": "L"}})


def note_of_type(world):
    kind = world.make("/note-types", name=unique("kind"))
    return (f"/note-types/{kind}", "/notes",
            {"id": new_id(), "typeId": kind, "title": "T", "domain": "users",
             "links": [{"id": new_id(), "type": "user"}]})


def policy_of_schedule(world):
    path = "/fixed-due-date-schedule-storage/fixed-due-date-schedules"
    one = world.make(path, name=unique("schedule"), schedules=[
        {"from": "2026-01-01T00:00:00Z", "to": "2026-06-01T00:00:00Z", "due": "2026-07-01T00:00:00Z"}])
    return (f"{path}/{one}", "/loan-policy-storage/loan-policies",
            {"id": new_id(), "name": unique("policy"), "loanable": True, "renewable": False,
             "loansPolicy": {"profileId": "Fixed", "fixedDueDateScheduleId": one,
                             "closedLibraryDueDateManagementId": "CURRENT_DUE_DATE_TIME"}})


@pytest.mark.parametrize("family", [
    item_of_holding, holding_of_instance, item_of_material, item_with_code, campus_of_institution,
    user_of_group, user_of_department, note_of_type, policy_of_schedule])
def test_a_record_is_made_or_what_it_refers_to_goes(world, family):
    for _ in range(ROUNDS):
        above, path, body = family(world)
        made, gone = at_once([lambda: world.api.post(path, body), lambda: world.api.delete(above)])
        assert sorted([made.status // 100, gone.status // 100]) == [2, 4], (made.text, gone.text)
        assert is_stored(world, path, body["id"]) == (made.status == 201)


def test_a_record_moves_or_its_new_place_goes(world):
    for _ in range(ROUNDS):
        above, holding = new_holding(world)
        item = world.item()
        stored = world.api.get(f"/item-storage/items/{item['id']}").expect(200)
        moved, gone = at_once([
            lambda: world.api.put(f"/item-storage/items/{item['id']}",
                                  {**stored, "holdingsRecordId": holding}),
            lambda: world.api.delete(above)])
        assert sorted([moved.status // 100, gone.status // 100]) == [2, 4], (moved.text, gone.text)


# Plain records ---------------------------------------------------------------------------------------


def test_a_name_is_given_once(world):
    for _ in range(ROUNDS):
        name = unique("group")
        answers = at_once([lambda: world.api.post("/groups", {"group": name}) for _ in range(6)])
        assert statuses(answers) == {201: 1, 422: 5}, [a.text for a in answers]


def test_two_records_do_not_take_one_name(world):
    for _ in range(ROUNDS):
        name, ids = unique("type"), [world.make("/material-types", name=unique("t")) for _ in range(4)]
        answers = at_once([lambda i=i: world.api.put(f"/material-types/{i}", {"id": i, "name": name})
                           for i in ids])
        assert [a.status for a in answers].count(204) == 1, [a.text for a in answers]
        found = world.api.get("/material-types", query=f'name=="{name}"').json
        assert found["totalRecords"] == 1


def test_what_is_deleted_is_not_written_again(world):
    for _ in range(ROUNDS):
        one = world.make("/loan-types", name=unique("loan type"))
        path = f"/loan-types/{one}"
        put, gone = at_once([lambda: world.api.put(path, {"id": one, "name": unique("renamed")}),
                             lambda: world.api.delete(path)])
        assert gone.status == 204 and put.status in (204, 404), (put.text, gone.text)
        assert not is_stored(world, "/loan-types", one)


def test_a_record_is_deleted_once(world):
    for _ in range(ROUNDS):
        path = f"/loan-types/{world.make('/loan-types', name=unique('loan type'))}"
        answers = at_once([lambda: world.api.delete(path) for _ in range(4)])
        assert statuses(answers) == {204: 1, 404: 3}


# Numbers, versions, batches --------------------------------------------------------------------------


def test_titles_and_copies_made_at_once_are_numbered_apart(world):
    def make():
        instance = world.api.post("/instance-storage/instances", {
            "title": "x", "source": "FOLIO", "instanceTypeId": world.instance_type}).expect(201)
        holding = world.api.post("/holdings-storage/holdings", {
            "instanceId": instance["id"], "sourceId": world.source,
            "permanentLocationId": world.location}).expect(201)
        item = world.api.post("/item-storage/items",
                              item_body(world, holding=holding["id"])).expect(201)
        return instance["hrid"], holding["hrid"], item["hrid"]

    made = at_once([make] * 12)
    assert [len(set(numbers)) for numbers in zip(*made)] == [12, 12, 12]


def test_copies_made_at_once_stand_in_a_row(world):
    holding = new_holding(world)[1]
    answers = at_once([lambda: world.api.post("/item-storage/items", item_body(world, holding=holding))
                       for _ in range(8)])
    assert sorted(a.expect(201)["order"] for a in answers) == list(range(1, 9))


def test_batches_in_opposite_order_do_not_stand_in_each_others_way(world):
    holding = new_holding(world)[1]
    made = [world.api.post("/item-storage/items", item_body(world, holding=holding)).expect(201)
            for _ in range(6)]
    path = "/item-storage/batch/synchronous?upsert=true"

    def write(number):
        records = [{**one, "copyNumber": str(number)} for one in made]
        return world.api.post(path, {"items": records[::-1] if number % 2 else records})

    answers = at_once([lambda n=n: write(n) for n in range(6)])
    # All name the same versions: one is stored, whole.
    assert statuses(answers) == {201: 1, 409: 5}, [a.text for a in answers]
    stored = world.api.get("/item-storage/items", query=f"holdingsRecordId=={holding}").json["items"]
    assert len({one["copyNumber"] for one in stored}) == 1
    assert {one["_version"] for one in stored} == {2}


@pytest.mark.parametrize("size", [6, 120])  # in one turn, in several
def test_a_new_batch_comes_once_whatever_its_order(world, size):
    holding = new_holding(world)[1]
    records = [item_body(world, holding=holding) for _ in range(size)]
    answers = at_once([lambda r=r: world.api.post("/item-storage/batch/synchronous", {"items": r})
                       for r in (records, records[::-1], records, records[::-1])])
    assert statuses(answers) == {201: 1, 422: 3}, [a.text for a in answers]


# Loans and queues ------------------------------------------------------------------------------------


def renew(world, item, patron):
    return world.api.post("/circulation/renew-by-barcode", {
        "itemBarcode": item["barcode"], "userBarcode": patron["barcode"], "servicePointId": world.desk})


@pytest.fixture(scope="module")
def renewable(world):
    """A loan that may be renewed three times, each time from its due date."""
    policy = world.new_loan_policy(renewalsPolicy={"numberAllowed": 3, "renewFromId": "CURRENT_DUE_DATE"})
    world.set_rules(loan=policy)

    def lend():
        item, patron = world.item(), world.patron()
        return item, patron, world.check_out(item, patron).expect(201)

    yield lend
    world.set_rules()


def test_a_loan_is_renewed_as_often_as_its_policy_says(world, renewable):
    item, patron, loan = renewable()
    answers = at_once([lambda: renew(world, item, patron) for _ in range(8)])
    assert statuses(answers) == {200: 3, 422: 5}, [a.text for a in answers]
    assert len({a.json["dueDate"] for a in answers if a.status == 200}) == 3
    stored = world.stored_loan(loan["id"])
    assert stored["renewalCount"] == 3
    rows = world.api.get("/loan-storage/loan-history", query=f"loan.id=={loan['id']}", limit=20).json
    assert rows["totalRecords"] == 4


def test_a_loan_is_renewed_before_its_return_or_not_at_all(world, renewable):
    for _ in range(ROUNDS):
        item, patron, loan = renewable()
        renewed, returned = at_once([lambda: renew(world, item, patron), lambda: world.check_in(item)])
        assert returned.status == 200 and renewed.status in (200, 422), renewed.text
        stored = world.stored_loan(loan["id"])
        assert stored["status"]["name"] == "Closed" and stored["action"] == "checkedin"
        assert stored.get("renewalCount", 0) == (1 if renewed.status == 200 else 0)
        assert world.status_of(item) == "Available"


def test_a_renewal_and_a_recall_agree(world, renewable):
    for _ in range(ROUNDS):
        item, patron, loan = renewable()
        renewed, recalled = at_once([lambda: renew(world, item, patron),
                                     lambda: place(world, item, world.patron(), "Recall")])
        assert recalled.status == 201 and renewed.status in (200, 422), (renewed.text, recalled.text)
        stored = world.stored_loan(loan["id"])
        assert stored["action"] == "recallrequested"
        assert stored.get("renewalCount", 0) == (1 if renewed.status == 200 else 0)


def test_a_queue_put_in_two_orders_while_the_item_returns_is_one_row(world):
    for _ in range(ROUNDS):
        item = world.item()
        world.check_out(item, world.patron()).expect(201)
        made = [place(world, item, world.patron()).expect(201) for _ in range(4)]
        answers = at_once([lambda: reorder(world, item, *made[::-1]),
                           lambda: reorder(world, item, *made[2:], *made[:2]),
                           lambda: world.check_in(item),
                           lambda: place(world, item, world.patron())])
        # An order that names too few, or displaces who is being served, is refused.
        assert [a.status for a in answers[2:]] == [200, 201], [a.text for a in answers]
        assert {a.status for a in answers[:2]} <= {200, 422}, [a.text for a in answers]
        queue = positions(world, item)
        assert [position for _, position in queue] == [1, 2, 3, 4, 5]
        assert {one["id"] for one in made} < {request for request, _ in queue}
        first = world.api.get(f"/request-storage/requests/{queue[0][0]}").json
        assert first["status"] == "Open - Awaiting pickup"


def test_requests_that_are_cancelled_at_once_leave_no_gap(world):
    item = world.item()
    world.check_out(item, world.patron()).expect(201)
    made = [place(world, item, world.patron()).expect(201) for _ in range(6)]
    answers = at_once([lambda r=r: world.api.delete(f"/circulation/requests/{r['id']}")
                       for r in made[::2]] + [lambda: place(world, item, world.patron())])
    assert statuses(answers) == {204: 3, 201: 1}, [a.text for a in answers]
    assert [position for _, position in positions(world, item)] == [1, 2, 3, 4]


# Fees ------------------------------------------------------------------------------------------------


def test_an_account_is_not_paid_beyond_its_amount(world):
    one = world.api.post("/accounts", account(10.0)).expect(201)
    answers = at_once([lambda: world.api.post(f"/accounts/{one['id']}/pay", wish("3.00"))
                       for _ in range(8)])
    assert statuses(answers) == {201: 3, 422: 5}, [a.text for a in answers]
    assert state(world.api, one) == ("Open", "Paid partially", 1)
    actions = world.api.get("/feefineactions", query=f"accountId=={one['id']}").json["feefineactions"]
    assert sorted(a["balance"] for a in actions) == [1, 4, 7]


def test_accounts_are_paid_together_in_any_order(world):
    made = [world.api.post("/accounts", account(10.0)).expect(201) for _ in range(3)]
    ids = [one["id"] for one in made]
    answers = at_once([lambda o=o: world.api.post("/accounts-bulk/pay", {**wish("6.00"), "accountIds": o})
                       for o in (ids, ids[::-1], ids[1:] + ids[:1], ids[::-1], ids, ids[::-1])])
    assert statuses(answers) == {201: 5, 422: 1}, [a.text for a in answers]
    assert [state(world.api, one)[2] for one in made] == [0, 0, 0]


def test_a_payment_and_a_cancellation_exclude_each_other(world):
    for _ in range(ROUNDS):
        one = world.api.post("/accounts", account(10.0)).expect(201)
        paid, cancelled = at_once([
            lambda: world.api.post(f"/accounts/{one['id']}/pay", wish("10.00")),
            lambda: world.api.post(f"/accounts/{one['id']}/cancel", wish(comments="x"))])
        assert sorted([paid.status, cancelled.status]) == [201, 422], (paid.text, cancelled.text)
        assert state(world.api, one)[2] == 0
