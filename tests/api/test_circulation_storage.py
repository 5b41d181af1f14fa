"""Storage of circulation: loans and their history, requests and queues, policies, sessions."""

import uuid

import pytest

LOANS = "/loan-storage/loans"
HISTORY = "/loan-storage/loan-history"
REQUESTS = "/request-storage/requests"
POLICIES = "/loan-policy-storage/loan-policies"
SCHEDULES = "/fixed-due-date-schedule-storage/fixed-due-date-schedules"
NOTICES = "/patron-notice-policy-storage/patron-notice-policies"


def new_id():
    return str(uuid.uuid4())


def loan(**members):
    return {"id": new_id(), "userId": new_id(), "itemId": new_id(), "action": "checkedout",
            "loanDate": "2026-03-01T10:00:00Z", "dueDate": "2026-03-20T10:00:00Z",
            "status": {"name": "Open"}, **members}


def request(item=None, **members):
    return {"id": new_id(), "requestLevel": "Item", "requestType": "Hold",
            "requestDate": "2026-03-01T10:00:00Z", "requesterId": new_id(),
            "instanceId": new_id(), "holdingsRecordId": new_id(), "itemId": item or new_id(),
            "status": "Open - Not yet filled", "position": 1,
            "fulfillmentPreference": "Hold Shelf", **members}


def first_error(answer):
    return answer.expect(422)["errors"][0]


def history_of(library, loan_id):
    answer = library.get(HISTORY, query=f"loan.id=={loan_id}", limit=100).expect(200)
    return answer["loansHistory"]


# ----------------------------------------------------------------------------------------------
# Loans


def test_a_loan_keeps_the_text_of_its_dates(library):
    sent = loan(loanDate="2026-03-01T10:00:00+01:00")
    library.post(LOANS, sent).expect(201)
    stored = library.get(f"{LOANS}/{sent['id']}").expect(200)
    assert stored["loanDate"] == "2026-03-01T10:00:00+01:00"
    assert stored["dueDate"] == "2026-03-20T10:00:00.000+00:00"


def test_a_loan_without_status_is_open(library):
    sent = loan()
    del sent["status"]
    assert library.post(LOANS, sent).expect(201)["status"]["name"] == "Open"


def test_dates_that_are_none_are_refused(library):
    text = library.post(LOANS, loan(loanDate="soon", returnDate="later")).expect(400)
    assert text == ("loan date must be a date time (in RFC3339 format)\n"
                    "return date must be a date time (in RFC3339 format)")


def test_an_open_loan_has_a_user(library):
    sent = loan()
    del sent["userId"]
    assert first_error(library.post(LOANS, sent))["message"] == "Open loan must have a user ID"


def test_an_item_is_lent_once(library):
    sent = loan()
    library.post(LOANS, sent).expect(201)
    error = first_error(library.post(LOANS, loan(itemId=sent["itemId"])))
    assert error["message"] == "Cannot have more than one open loan for the same item"
    assert error["parameters"] == [{"key": "itemId", "value": sent["itemId"]}]
    sent["status"]["name"] = "Closed"
    library.put(f"{LOANS}/{sent['id']}", sent).expect(204)
    library.post(LOANS, loan(itemId=sent["itemId"])).expect(201)


def test_putting_an_unknown_loan_stores_it(library):
    sent = loan()
    library.put(f"{LOANS}/{sent['id']}", sent).expect(204)
    assert library.get(f"{LOANS}/{sent['id']}").expect(200)["itemId"] == sent["itemId"]


def test_each_change_of_a_loan_leaves_a_row_of_history(library):
    sent = loan()
    library.at("2026-03-01T10:00:00Z").post(LOANS, sent).expect(201)
    sent.update(action="renewed", actionComment="by phone")
    library.at("2026-03-02T10:00:00Z").put(f"{LOANS}/{sent['id']}", sent).expect(204)
    library.at("2026-03-03T10:00:00Z").delete(f"{LOANS}/{sent['id']}").expect(204)
    rows = history_of(library, sent["id"])
    assert [row["operation"] for row in rows] == ["D", "U", "I"]
    assert rows[1]["loan"]["actionComment"] == "by phone"
    assert rows[1]["loan"]["metadata"]["updatedByUserId"]
    assert rows[0]["createdDate"] == "2026-03-03T10:00:00.000+00:00"


def test_a_loan_costs_two_statements(library):
    answer = library.post(LOANS, loan())
    answer.expect(201)
    assert answer.statements == 2  # the row and its history


def test_anonymising_a_patron_leaves_open_loans_alone(library):
    user = new_id()
    closed = loan(userId=user, status={"name": "Closed"})
    still_open = loan(userId=user)
    library.post(LOANS, closed).expect(201)
    library.post(LOANS, still_open).expect(201)
    library.post(f"{LOANS}/anonymize/{user}").expect(204)
    assert "userId" not in library.get(f"{LOANS}/{closed['id']}").expect(200)
    assert all("userId" not in row["loan"] for row in history_of(library, closed["id"]))
    assert library.get(f"{LOANS}/{still_open['id']}").expect(200)["userId"] == user
    assert history_of(library, still_open["id"])[0]["loan"]["userId"] == user


def test_anonymising_listed_loans_tells_what_was_done(library):
    closed = loan(status={"name": "Closed"})
    library.post(LOANS, closed).expect(201)
    answer = library.post("/anonymize-storage-loans", {"loanIds": [closed["id"], "no id"]})
    assert answer.expect(200) == {
        "anonymizedLoans": [closed["id"]],
        "notAnonymizedLoans": [{"reason": "invalidLoanIds", "loanIds": ["no id"]}]}
    refused = first_error(library.post("/anonymize-storage-loans", {"loanIds": ["x"]}))
    assert refused["message"] == "Please provide valid loanIds"


# ----------------------------------------------------------------------------------------------
# Requests


def test_the_old_spelling_is_understood(library):
    sent = request()
    sent["fulfilmentPreference"] = sent.pop("fulfillmentPreference")
    stored = library.post(REQUESTS, sent).expect(201)
    assert stored["fulfillmentPreference"] == "Hold Shelf"
    assert "fulfilmentPreference" not in stored


@pytest.mark.parametrize("changes, message", [
    ({"itemId": None}, "Item ID in item level request should not be absent"),
    ({"holdingsRecordId": None},
     "Holdings record ID in item level request should not be absent"),
    ({"requestLevel": "Title", "itemId": None},
     "Title level request must have both itemId and holdingsRecordId or neither"),
])
def test_a_request_names_what_its_level_needs(library, changes, message):
    sent = {k: v for k, v in {**request(), **changes}.items() if v is not None}
    assert first_error(library.post(REQUESTS, sent))["message"] == message


def test_two_requests_do_not_share_a_position(library):
    item = new_id()
    library.post(REQUESTS, request(item)).expect(201)
    error = first_error(library.post(REQUESTS, request(item)))
    assert error["message"] == (
        "Cannot have more than one request with the same position in the queue")
    assert error["parameters"] == [{"key": "itemId", "value": item},
                                   {"key": "position", "value": "1"}]


def test_a_closed_request_loses_its_position(library):
    sent = request()
    library.post(REQUESTS, sent).expect(201)
    sent["status"] = "Closed - Filled"
    library.put(f"{REQUESTS}/{sent['id']}", sent).expect(204)
    assert "position" not in library.get(f"{REQUESTS}/{sent['id']}").expect(200)


def test_a_cancelled_pickup_remembers_when(library):
    sent = request(status="Open - Awaiting pickup")
    library.post(REQUESTS, sent).expect(201)
    sent["status"] = "Closed - Cancelled"
    library.at("2026-03-05T10:00:00Z").put(f"{REQUESTS}/{sent['id']}", sent).expect(204)
    stored = library.get(f"{REQUESTS}/{sent['id']}").expect(200)
    assert stored["awaitingPickupRequestClosedDate"] == "2026-03-05T10:00:00.000+00:00"


def test_an_unknown_cancellation_reason_is_refused(library):
    sent = request(status="Closed - Cancelled", cancellationReasonId=new_id())
    error = first_error(library.put(f"{REQUESTS}/{sent['id']}", sent))
    assert error["code"] == "INVALID_CANCELLATION_REASON"


def test_a_batch_lets_requests_change_places(library):
    item = new_id()
    queue = [request(item, position=n) for n in (1, 2, 3)]
    for one in queue:
        library.post(REQUESTS, one).expect(201)
    for one, position in zip(queue, (3, 1, 2)):
        one["position"] = position
    library.post("/request-storage-batch/requests", {"requests": queue}).expect(201)
    stored = library.get(REQUESTS, query=f"itemId=={item} sortby position").json["requests"]
    assert [one["id"] for one in stored] == [queue[1]["id"], queue[2]["id"], queue[0]["id"]]
    assert [one["position"] for one in stored] == [1, 2, 3]


def test_a_batch_is_written_whole_or_not_at_all(library):
    item = new_id()
    first, second = request(item, position=1), request(item, position=2)
    for one in (first, second):
        library.post(REQUESTS, one).expect(201)
    first["position"], second["position"] = 3, 3
    first_error(library.post("/request-storage-batch/requests", {"requests": [first, second]}))
    assert library.get(f"{REQUESTS}/{first['id']}").json["position"] == 1


# ----------------------------------------------------------------------------------------------
# Policies


def policy(**members):
    return {"id": new_id(), "name": new_id(), "loanable": True, "renewable": True,
            "loansPolicy": {"profileId": "Rolling",
                            "period": {"duration": 3, "intervalId": "Weeks"}},
            "renewalsPolicy": {"unlimited": True, "differentPeriod": False}, **members}


def test_a_fixed_policy_needs_a_schedule(library):
    error = first_error(library.post(POLICIES, policy(loansPolicy={"profileId": "Fixed"})))
    assert error["message"] == (
        "Fixed due date cannot be null if loanable is true and profile is of type fixed")


def test_an_alternate_schedule_needs_a_different_period(library):
    schedule = new_id()
    sent = policy(renewalsPolicy={"unlimited": True, "differentPeriod": False,
                                  "alternateFixedDueDateScheduleId": schedule})
    assert first_error(library.post(POLICIES, sent))["message"] == (
        f"Alternate fixed due date cannot be {schedule} if renewable is true, "
        "different period is false and profile is Rolling")


def test_a_schedule_ends_after_it_begins(library):
    bad = {"id": new_id(), "name": new_id(), "schedules": [
        {"from": "2026-03-01T00:00:00Z", "to": "2026-02-01T00:00:00Z",
         "due": "2026-04-01T00:00:00Z"}]}
    assert "Date range not valid" in first_error(library.post(SCHEDULES, bad))["message"]


def test_a_notice_about_what_happens_now_has_no_timing(library):
    notice = {"templateId": new_id(), "format": "Email", "realTime": True,
              "sendOptions": {"sendWhen": "Check out", "sendHow": "Before"}}
    sent = {"id": new_id(), "name": new_id(), "loanNotices": [notice]}
    error = first_error(library.post(NOTICES, sent))
    assert error["message"] == "This option is not valid for selected Triggering event"


def test_policies_that_the_rules_name_stay(library):
    text = library.get("/circulation-rules-storage").expect(200)["rulesAsText"].split()
    for letter, path, kind in (("l", POLICIES, "loan"), ("n", NOTICES, "notice"),
                               ("r", "/request-policy-storage/request-policies", "request")):
        named = text[text.index(letter, text.index("fallback-policy:")) + 1]
        answer = library.delete(f"{path}/{named}").expect(400)
        assert answer == f"Cannot delete in use {kind} policy"


def test_rules_are_one_record(library):
    before = library.get("/circulation-rules-storage").expect(200)
    library.put("/circulation-rules-storage", {"rulesAsText": before["rulesAsText"]}).expect(204)
    assert library.get("/circulation-rules-storage").json["id"] == before["id"]


def test_a_setting_sent_again_gets_the_new_value(library):
    path = "/circulation-settings-storage/circulation-settings"
    first = {"id": new_id(), "name": "noticesLimit", "value": {"value": "5"}}
    library.post(path, first).expect(201)
    library.post(path, {**first, "id": new_id(), "value": {"value": "7"}}).expect(201)
    stored = library.get(path, query='name=="noticesLimit"').json["circulationSettings"]
    assert [(one["id"], one["value"]) for one in stored] == [(first["id"], {"value": "7"})]


# ----------------------------------------------------------------------------------------------
# Sessions, locks, print events


def test_sessions_expire_by_their_newest_record(library):
    path = "/patron-action-session-storage/"
    old, busy = new_id(), new_id()
    for patron, hour in ((old, 8), (busy, 8), (busy, 12)):
        library.at(f"2026-03-01T{hour:02}:00:00Z").post(path + "patron-action-sessions", {
            "patronId": patron, "loanId": new_id(), "actionType": "Check-out"}).expect(201)
    answer = library.get(path + "expired-session-patron-ids", action_type="Check-out",
                         session_inactivity_time_limit="2026-03-01T10:00:00Z").expect(200)
    assert answer["expiredSessions"] == [{"patronId": old, "actionType": "Check-out"}]
    refused = first_error(library.get(path + "expired-session-patron-ids",
                                      session_inactivity_time_limit="yesterday"))
    assert refused["message"] == "Date cannot be parsed"


def test_a_lock_is_held_until_its_time_is_over(library):
    wish = {"userId": new_id(), "ttlMs": 2000}
    lock = library.at("2026-03-01T10:00:00Z").post("/check-out-lock-storage", wish).expect(201)
    refused = library.at("2026-03-01T10:00:01Z").post("/check-out-lock-storage", wish)
    assert refused.expect(503) == "Unable to acquire lock"
    later = library.at("2026-03-01T10:00:03Z").post("/check-out-lock-storage", wish).expect(201)
    assert later["id"] != lock["id"]
    listed = library.get("/check-out-lock-storage", userId=wish["userId"]).expect(200)
    assert [one["id"] for one in listed["checkoutLocks"]] == [later["id"]]


def test_printing_is_counted_on_the_request(library):
    sent = request()
    library.post(REQUESTS, sent).expect(201)
    event = {"requestIds": [sent["id"]], "requesterId": new_id(), "requesterName": "A, B",
             "printEventDate": "2026-03-01T10:00:00Z"}
    for _ in range(2):
        library.post("/print-events-storage/print-events-entry", event).expect(201)
    details = library.get(f"{REQUESTS}/{sent['id']}").json["printDetails"]
    assert (details["printCount"], details["isPrinted"]) == (2, True)
    status = library.post("/print-events-storage/print-events-status",
                          {"requestIds": [sent["id"], new_id()]}).expect(200)
    assert status["totalRecords"] == 1
    assert status["printEventsStatusResponses"][0]["count"] == 2
