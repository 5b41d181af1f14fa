"""Automated patron blocks: exact at once, counted from loans and accounts."""

import uuid

import pytest

CONDITIONS = {
    "charged out": "3d7c52dc-c732-4223-8bf8-e5917801386f",
    "lost": "72b67965-5b73-4840-bc0b-be8f3f6e047e",
    "overdue": "584fbd4f-6a34-4730-a6ca-73a6a6a9d845",
    "recalls": "e5b45031-a202-4abb-917b-e1df9346fe2c",
    "recall days": "08530ac4-07f2-48e6-9dda-a97bc2bf7053",
    "balance": "cf7a0d5f-a327-4ca1-aa9e-dc55ec006b8a",
}
NOW = "2026-03-10T12:00:00Z"


def new_id():
    return str(uuid.uuid4())


@pytest.fixture(scope="module")
def patrons(library):
    """Makes patrons of groups whose limits block everything."""
    for name, condition in CONDITIONS.items():
        path = f"/patron-block-conditions/{condition}"
        stored = library.get(path).expect(200)
        stored.update(blockBorrowing=True, blockRenewals=True, blockRequests=True, message=name)
        library.put(path, stored).expect(204)
    return library


def patron(library, **limits):
    group = library.post("/groups", {"group": new_id()}).expect(201)["id"]
    for name, value in limits.items():
        library.post("/patron-block-limits", {
            "id": new_id(), "patronGroupId": group, "value": value,
            "conditionId": CONDITIONS[name.replace("_", " ")]}).expect(201)
    user = {"id": new_id(), "username": new_id(), "active": True, "patronGroup": group,
            "personal": {"lastName": "Reader"}}
    return library.post("/users", user).expect(201)["id"]


def lend(library, user, **members):
    library.post("/loan-storage/loans", {
        "id": new_id(), "userId": user, "itemId": new_id(), "action": "checkedout",
        "loanDate": "2026-03-01T10:00:00Z", "dueDate": "2026-04-01T10:00:00Z",
        "status": {"name": "Open"}, "itemStatus": "Checked out", **members}).expect(201)


def owe(library, user, amount):
    library.post("/accounts", {
        "id": new_id(), "userId": user, "ownerId": new_id(), "feeFineId": new_id(),
        "amount": amount, "remaining": amount, "status": {"name": "Open"},
        "paymentStatus": {"name": "Outstanding"}}).expect(201)


def blocks(library, user):
    answer = library.at(NOW).get(f"/automated-patron-blocks/{user}").expect(200)
    return {one["message"]: tuple(one[f"block{action}"] for action in
                                  ("Borrowing", "Renewals", "Requests"))
            for one in answer["automatedPatronBlocks"]}


def test_a_reached_limit_blocks_borrowing_a_passed_one_everything(patrons):
    user = patron(patrons, charged_out=2)
    lend(patrons, user)
    assert blocks(patrons, user) == {}
    lend(patrons, user)
    assert blocks(patrons, user) == {"charged out": (True, False, False)}
    lend(patrons, user)
    assert blocks(patrons, user) == {"charged out": (True, True, True)}


def test_claimed_returned_items_do_not_count(patrons):
    user = patron(patrons, charged_out=1)
    lend(patrons, user, itemStatus="Claimed returned")
    assert blocks(patrons, user) == {}


def test_lost_items_count_when_they_pass_the_limit(patrons):
    user = patron(patrons, lost=1)
    lend(patrons, user, itemStatus="Declared lost")
    assert blocks(patrons, user) == {}
    lend(patrons, user, itemStatus="Aged to lost")
    assert blocks(patrons, user) == {"lost": (True, True, True)}


def test_items_within_their_grace_period_are_not_overdue(patrons):
    policy = patrons.post("/loan-policy-storage/loan-policies", {
        "id": new_id(), "name": new_id(), "loanable": True, "renewable": False,
        "loansPolicy": {"profileId": "Rolling", "period": {"duration": 1, "intervalId": "Weeks"},
                        "gracePeriod": {"duration": 2, "intervalId": "Days"}}}).expect(201)
    user = patron(patrons, overdue=0)
    lend(patrons, user, dueDate="2026-03-09T12:00:00Z", loanPolicyId=policy["id"])
    assert blocks(patrons, user) == {}
    lend(patrons, user, dueDate="2026-03-09T12:00:00Z")
    assert blocks(patrons, user) == {"overdue": (True, True, True)}


def test_overdue_recalls_count_by_number_and_days(patrons):
    user = patron(patrons, recalls=0, recall_days=3)
    lend(patrons, user, dueDate="2026-03-07T12:00:00Z", dueDateChangedByRecall=True)
    assert blocks(patrons, user) == {"recalls": (True, True, True)}
    lend(patrons, user, dueDate="2026-03-07T11:00:00Z", dueDateChangedByRecall=True)
    assert set(blocks(patrons, user)) == {"recalls", "recall days"}


def test_what_is_owed_may_reach_the_limit(patrons):
    user = patron(patrons, balance=10.0)
    owe(patrons, user, 10.0)
    assert blocks(patrons, user) == {}
    owe(patrons, user, 0.01)
    assert blocks(patrons, user) == {"balance": (True, True, True)}


def test_blocks_cost_few_statements(patrons):
    free, limited = patron(patrons), patron(patrons, charged_out=1, balance=1.0)
    for user, most in ((free, 1), (limited, 3)):
        patrons.get(f"/automated-patron-blocks/{user}").expect(200)
        answer = patrons.get(f"/automated-patron-blocks/{user}")
        answer.expect(200)
        assert answer.statements <= most  # the user, the loans, the fees


def test_a_summary_shows_loans_and_fees(patrons):
    user = patron(patrons)
    patrons.get(f"/user-summary/{user}").expect(404)
    lend(patrons, user)
    owe(patrons, user, 5.0)
    summary = patrons.get(f"/user-summary/{user}").expect(200)
    assert summary["openLoans"][0]["itemLost"] is False
    assert summary["openFeesFines"][0]["balance"] == 5


def test_bad_ids_are_refused_and_unknown_users_free(patrons):
    assert patrons.get("/automated-patron-blocks/x").expect(400) == 'Invalid user UUID: "x"'
    assert blocks(patrons, new_id()) == {}


def test_a_condition_that_blocks_says_why(patrons):
    path = f"/patron-block-conditions/{CONDITIONS['lost']}"
    stored = patrons.get(path).expect(200)
    refused = patrons.put(path, {**stored, "message": ""}).expect(422)["errors"][0]
    assert refused["message"].startswith("Message to be displayed is a required field")
    silent = {**stored, "blockBorrowing": False, "blockRenewals": False, "blockRequests": False}
    refused = patrons.put(path, silent).expect(422)["errors"][0]
    assert refused["message"].startswith("One or more blocked actions must be selected")


@pytest.mark.parametrize("name, value, message", [
    ("lost", 1.5, "Must be blank or an integer from 0 to 999999"),
    ("lost", 1000000, "Must be blank or an integer from 0 to 999999"),
    ("balance", 1000000, "Must be blank or a number from 0.00 to 999999.99"),
])
def test_limits_have_bounds(patrons, name, value, message):
    sent = {"id": new_id(), "patronGroupId": new_id(), "conditionId": CONDITIONS[name],
            "value": value}
    assert patrons.post("/patron-block-limits", sent).expect(422)["errors"][0]["message"] == message


def test_events_are_taken_and_synchronisation_is_done_at_once(patrons):
    patrons.post("/automated-patron-blocks/handlers/item-checked-out",
                 {"userId": new_id(), "loanId": new_id()}).expect(204)
    job = patrons.post("/automated-patron-blocks/synchronization/job",
                       {"scope": "full"}).expect(201)
    path = f"/automated-patron-blocks/synchronization/job/{job['id']}"
    assert patrons.get(path).expect(200)["status"] == "done"
