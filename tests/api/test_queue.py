"""Queues: shown, reordered, moved between; requests for titles."""

import threading

import pytest

from circulation import (Circulation, errors_of, messages_of, new_id, place, place_title, positions, request_body,
                         title_body)


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


@pytest.fixture
def titles(world):
    """Title-level requests are on."""
    setting = world.api.post("/circulation/settings", {"name": "generalTlr", "value": {
        "titleLevelRequestsFeatureEnabled": True, "tlrHoldShouldFollowCirculationRules": False}}).expect(201)
    yield
    world.api.delete(f"/circulation/settings/{setting['id']}").expect(204)


@pytest.fixture
def lent(world):
    item = world.item()
    item["loan"] = world.check_out(item, world.patron()).expect(201)
    return item


def copies(world, n, **members):
    instance = world.instance(contributors=[])
    return instance, [world.item(instance=instance, **members) for _ in range(n)]


def reorder(world, item, *requests, kind="item"):
    place_of = item["id"] if kind == "item" else item["instanceId"]
    entries = [{"id": one["id"], "newPosition": i + 1} for i, one in enumerate(requests)]
    return world.api.post(f"/circulation/requests/queue/{kind}/{place_of}/reorder", {"reorderedQueue": entries})


def move(world, request, item, **members):
    return world.api.post(f"/circulation/requests/{request['id']}/move", {"destinationItemId": item["id"], **members})


def test_a_queue_is_shown_in_its_order(world, lent):
    made = [place(world, lent, world.patron()).expect(201) for _ in range(3)]
    assert positions(world, lent) == [(one["id"], i + 1) for i, one in enumerate(made)]
    assert positions(world, {"id": new_id()}) == []


def test_a_queue_is_reordered(world, lent):
    a, b, c = [place(world, lent, world.patron()).expect(201) for _ in range(3)]
    found = reorder(world, lent, c, a, b).expect(200)
    assert [one["id"] for one in found["requests"]] == [c["id"], a["id"], b["id"]]
    assert positions(world, lent) == [(c["id"], 1), (a["id"], 2), (b["id"], 3)]


def test_a_reordering_must_name_all_and_count_from_one(world, lent):
    a, b = [place(world, lent, world.patron()).expect(201) for _ in range(2)]
    assert messages_of(reorder(world, lent, b)) == [
        "There is inconsistency between provided reordered queue and existing queue."]
    entries = [{"id": a["id"], "newPosition": 1}, {"id": b["id"], "newPosition": 3}]
    answer = world.api.post(f"/circulation/requests/queue/item/{lent['id']}/reorder", {"reorderedQueue": entries})
    assert messages_of(answer) == ["Positions must have sequential order."]
    assert positions(world, lent) == [(a["id"], 1), (b["id"], 2)]
    world.api.post(f"/circulation/requests/queue/item/{new_id()}/reorder", {"reorderedQueue": []}).expect(404)


def test_a_page_stays_first(world):
    item = world.item()
    page = place(world, item, world.patron(), "Page").expect(201)
    hold = place(world, item, world.patron()).expect(201)
    assert messages_of(reorder(world, item, hold, page)) == ["Page requests can not be displaced from position 1."]


def test_what_has_begun_stays_first(world, lent):
    a, b = [place(world, lent, world.patron()).expect(201) for _ in range(2)]
    world.check_in(lent).expect(200)
    assert messages_of(reorder(world, lent, b, a)) == [
        "Requests can not be displaced from position 1 when fulfillment begun."]


def test_the_queue_of_titles_is_closed_without_the_feature(world, lent):
    a = place(world, lent, world.patron()).expect(201)
    assert messages_of(reorder(world, lent, a, kind="instance")) == [
        "Refuse to reorder request queue, TLR feature status is DISABLED."]


def test_requests_at_once_get_places_of_their_own(world, lent):
    patrons = [world.patron() for _ in range(6)]
    answers = []

    def ask(patron):
        answers.append(place(world, lent, patron))

    threads = [threading.Thread(target=ask, args=(patron,)) for patron in patrons]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.expect(201)["position"] for answer in answers) == [1, 2, 3, 4, 5, 6]


def test_a_request_moves_to_another_copy(world):
    _, (first, second) = copies(world, 2)
    loan = world.check_out(second, world.patron()).expect(201)
    page = place(world, first, world.patron(), "Page").expect(201)
    moved = move(world, page, second, requestType="Recall").expect(200)
    assert moved["itemId"] == second["id"] and moved["requestType"] == "Recall" and moved["position"] == 1
    assert world.status_of(first) == "Available" and positions(world, first) == []
    assert world.stored_loan(loan["id"])["action"] == "recallrequested"
    assert world.stored_request(moved)["item"]["barcode"] == second["barcode"]


def test_the_old_queue_closes_up_behind_a_move(world):
    _, (first, second) = copies(world, 2)
    for item in (first, second):
        world.check_out(item, world.patron()).expect(201)
    a, b = [place(world, first, world.patron()).expect(201) for _ in range(2)]
    c = place(world, second, world.patron()).expect(201)
    move(world, a, second).expect(200)
    assert positions(world, first) == [(b["id"], 1)]
    assert positions(world, second) == [(c["id"], 1), (a["id"], 2)]


def test_a_move_to_the_shelf_pages_the_copy(world):
    _, (first, second) = copies(world, 2)
    world.check_out(first, world.patron()).expect(201)
    hold = place(world, first, world.patron()).expect(201)
    assert move(world, hold, second).expect(200)["requestType"] == "Page"
    assert world.status_of(second) == "Paged"


def test_a_request_stays_with_its_title(world, lent):
    request = place(world, lent, world.patron()).expect(201)
    assert messages_of(move(world, request, world.item())) == [
        "Request can only be moved to an item with the same instance ID"]
    assert messages_of(move(world, request, {"id": new_id()})) == ["Item does not exist"]
    assert [e["code"] for e in errors_of(move(world, request, lent))] == ["MOVING_REQUEST_TO_THE_SAME_ITEM"]
    world.api.post(f"/circulation/requests/{new_id()}/move", {"destinationItemId": lent["id"]}).expect(404)


def test_a_page_for_a_title_takes_the_nearest_copy(world, titles):
    far = world.new_location(world.other_desk)
    instance = world.instance(contributors=[])
    away, here = world.item(instance=instance, location=far), world.item(instance=instance)
    request = place_title(world, instance, world.patron(), "Page").expect(201)
    assert request["itemId"] == here["id"] and world.status_of(here) == "Paged"
    assert world.status_of(away) == "Available"
    second = place_title(world, instance, world.patron(), "Page").expect(201)
    assert second["itemId"] == away["id"] and second["position"] == 2
    assert messages_of(place_title(world, instance, world.patron(), "Page")) == [
        "Cannot create page TLR for this instance ID - no pageable available items found"]


def test_a_hold_for_a_title_waits_for_any_copy(world, titles):
    instance, (item,) = copies(world, 1)
    error, = errors_of(place_title(world, instance, world.patron()))
    assert error["code"] == "HOLD_AND_RECALL_TLR_NOT_ALLOWED_PAGEABLE_AVAILABLE_ITEM_FOUND"
    world.check_out(item, world.patron()).expect(201)
    patron = world.patron()
    hold = place_title(world, instance, patron).expect(201)
    assert "itemId" not in hold and hold["instance"]["title"]
    assert [e["code"] for e in errors_of(place_title(world, instance, patron))] == ["INSTANCE_ALREADY_REQUESTED"]
    world.check_in(item).expect(200)
    bound = world.stored_request(hold)
    assert bound["status"] == "Open - Awaiting pickup" and bound["itemId"] == item["id"]


def test_a_recall_for_a_title_takes_the_loan_due_first(world, titles):
    instance, (late, soon) = copies(world, 2)
    world.check_out(late, world.patron(), loanDate="2030-05-01T12:00:00Z").expect(201)
    world.check_out(soon, world.patron(), loanDate="2030-03-01T12:00:00Z").expect(201)
    assert place_title(world, instance, world.patron(), "Recall").expect(201)["itemId"] == soon["id"]
    assert place_title(world, instance, world.patron(), "Recall").expect(201)["itemId"] == late["id"]
    nothing, _ = copies(world, 1, status="Withdrawn")
    assert messages_of(place_title(world, nothing, world.patron(), "Recall")) == [
        "Request has no loan or recallable item"]


def test_a_borrower_of_a_copy_needs_no_other(world, titles):
    instance, (item, _) = copies(world, 2)
    patron = world.patron()
    world.check_out(item, patron).expect(201)
    assert [e["code"] for e in errors_of(place_title(world, instance, patron, "Page"))] == [
        "REQUESTER_ALREADY_HAS_LOAN_FOR_ONE_OF_INSTANCES_ITEMS"]


def test_the_queue_of_a_title_spans_its_copies(world, titles):
    instance, (first, second) = copies(world, 2)
    for item in (first, second):
        world.check_out(item, world.patron()).expect(201)
    a = place(world, first, world.patron()).expect(201)
    b = place_title(world, instance, world.patron()).expect(201)
    c = place(world, second, world.patron()).expect(201)
    assert [one["position"] for one in (a, b, c)] == [1, 2, 3]
    found = world.api.get(f"/circulation/requests/queue/instance/{instance}").expect(200)["requests"]
    assert [one["id"] for one in found] == [a["id"], b["id"], c["id"]]
    found = reorder(world, first, c, b, a, kind="instance").expect(200)["requests"]
    assert [one["position"] for one in found] == [1, 2, 3] and found[0]["id"] == c["id"]
    world.api.delete(f"/circulation/requests/{b['id']}").expect(204)
    assert [world.stored_request(one)["position"] for one in (c, a)] == [1, 2]


def test_a_hold_for_a_title_follows_the_rules_where_the_library_wants(world):
    setting = world.api.post("/circulation/settings", {"name": "generalTlr", "value": {
        "titleLevelRequestsFeatureEnabled": True, "tlrHoldShouldFollowCirculationRules": True}}).expect(201)
    policy = world.make("/request-policy-storage/request-policies", name="rp" + new_id(), requestTypes=["Page"])
    instance, (item,) = copies(world, 1)
    world.check_out(item, world.patron()).expect(201)
    world.set_rules(request=policy)
    error, = errors_of(place_title(world, instance, world.patron()))
    assert error["code"] == "REQUEST_NOT_ALLOWED_FOR_PATRON_TITLE_COMBINATION"
    world.set_rules()
    world.api.delete(f"/circulation/settings/{setting['id']}").expect(204)


def for_instance(world, instance, patron, **members):
    return world.api.post("/circulation/requests/instances", {
        "requestDate": "2026-01-01T10:00:00Z", "requesterId": patron["id"], "instanceId": instance,
        "pickupServicePointId": world.desk, **members})


def test_any_copy_will_do(world):
    instance, (lent, free) = copies(world, 2)
    world.check_out(lent, world.patron()).expect(201)
    request = for_instance(world, instance, world.patron()).expect(201)
    assert request["requestType"] == "Page" and request["itemId"] == free["id"]
    request = for_instance(world, instance, world.patron()).expect(201)
    assert request["requestType"] == "Recall" and request["itemId"] == lent["id"]


def test_a_title_without_copies_cannot_be_had(world, titles):
    instance = world.instance(contributors=[])
    assert for_instance(world, instance, world.patron()).expect(201)["requestType"] == "Hold"


def test_without_titles_there_must_be_copies(world):
    assert messages_of(for_instance(world, world.instance(contributors=[]), world.patron())) == [
        "There are no items for this instance"]
    _, (lost,) = copies(world, 1, status="Withdrawn")
    assert len(messages_of(for_instance(world, lost["instanceId"], world.patron()))) == 3


def allowed(world, **query):
    return world.api.get("/circulation/requests/allowed-service-points", **query)


def test_service_points_by_type(world, lent):
    patron = world.patron()
    found = allowed(world, operation="create", requesterId=patron["id"], itemId=lent["id"]).expect(200)
    assert set(found) == {"Hold", "Recall"}
    names = [point["name"] for point in found["Hold"]]
    assert names == sorted(names) and world.desk in [point["id"] for point in found["Hold"]]
    assert set(found["Hold"][0]) == {"id", "name"}
    policy = world.make("/request-policy-storage/request-policies", name="rp" + new_id(),
                        requestTypes=["Hold"], allowedServicePoints={"Hold": [world.other_desk]})
    world.set_rules(request=policy)
    found = allowed(world, operation="create", patronGroupId=world.students, itemId=lent["id"]).expect(200)
    assert {kind: [point["id"] for point in points] for kind, points in found.items()} == {"Hold": [world.other_desk]}
    world.set_rules()
    request = place(world, lent, patron).expect(201)
    assert set(allowed(world, operation="replace", requestId=request["id"]).expect(200)) == {"Hold"}
    free = world.item()
    assert set(allowed(world, operation="move", requestId=request["id"], itemId=free["id"]).expect(200)) == {"Page"}


def test_wrong_combinations_are_bad_requests(world, lent):
    assert allowed(world, operation="create", itemId=lent["id"]).expect(400) == "Invalid combination of query parameters"
    answer = allowed(world, operation="create", requesterId="nobody", itemId=lent["id"])
    assert answer.expect(400) == "Requester ID is not a valid UUID: nobody."
    allowed(world, operation="create", requesterId=new_id(), itemId=lent["id"]).expect(422)
