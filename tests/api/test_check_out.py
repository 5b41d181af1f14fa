"""Check-out by barcode: what is lent, refused, overridden."""

import threading

import pytest

from circulation import Circulation, errors_of, messages_of, new_id


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def test_an_available_item_is_lent(world):
    item, patron = world.item(), world.patron()
    answer = world.check_out(item, patron, loanDate="2026-03-01T10:00:00Z", id=new_id())
    loan = answer.expect(201)
    assert answer.headers["Location"] == f"/circulation/loans/{loan['id']}"
    assert '"id" : "' in answer.text
    assert loan["status"] == {"name": "Open"} and loan["action"] == "checkedout"
    assert loan["userId"] == patron["id"] and loan["itemId"] == item["id"]
    assert loan["loanDate"] == "2026-03-01T10:00:00.000Z"
    assert loan["dueDate"] == "2026-03-22T10:00:00.000+00:00"
    assert loan["item"]["barcode"] == item["barcode"]
    assert loan["item"]["status"]["name"] == "Checked out"
    assert loan["borrower"]["barcode"] == patron["barcode"]
    assert loan["patronGroupAtCheckout"]["id"] == world.students
    assert loan["loanPolicyId"] == world.loan_policy and loan["loanPolicy"]["name"]
    assert loan["feesAndFines"] == {"amountRemainingToPay": 0}
    assert "itemStatus" not in loan and "patronGroupIdAtCheckout" not in loan
    assert world.status_of(item) == "Checked out"
    stored = world.stored_loan(loan["id"])
    assert stored["itemStatus"] == "Checked out"
    assert stored["itemEffectiveLocationIdAtCheckOut"] == world.location
    assert stored["overdueFinePolicyId"] == world.overdue_policy
    assert stored["lostItemPolicyId"] == world.lost_policy


def test_a_patron_action_session_records_the_check_out(world):
    item, patron = world.item(), world.patron()
    loan = world.check_out(item, patron).expect(201)
    sessions = world.api.get("/patron-action-session-storage/patron-action-sessions",
                             query=f"loanId=={loan['id']}").json["patronActionSessions"]
    assert [s["actionType"] for s in sessions] == ["Check-out"]


def test_barcodes_ignore_case(world):
    item, patron = world.item(), world.patron()
    item["barcode"], patron["barcode"] = item["barcode"].upper(), patron["barcode"].upper()
    world.check_out(item, patron).expect(201)


def test_an_item_on_loan_is_not_lent_twice(world):
    item = world.item()
    world.check_out(item, world.patron()).expect(201)
    errors = errors_of(world.check_out(item, world.patron()))
    assert errors[0]["message"] == "Item is already checked out"
    assert errors[0]["parameters"] == [{"key": "itemBarcode", "value": item["barcode"]}]
    assert errors[1]["code"] == "ITEM_HAS_OPEN_LOAN"


def test_unknown_barcodes_are_refused_together(world):
    answer = world.check_out({"barcode": "nothing"}, {"barcode": "nobody"})
    assert messages_of(answer) == ["Could not find user with matching barcode",
                                   "No item with barcode nothing could be found"]
    assert errors_of(answer)[0]["code"] == "USER_BARCODE_NOT_FOUND"


def test_a_service_point_is_needed(world):
    answer = world.check_out(world.item(), world.patron(), servicePointId=None)
    assert messages_of(answer) == ["Check out must be performed at a service point"]


@pytest.mark.parametrize("status", ["Declared lost", "Claimed returned", "Intellectual item", "Aged to lost"])
def test_some_statuses_forbid_lending(world, status):
    item = world.item(status=status)
    message, = messages_of(world.check_out(item, world.patron()))
    assert message.endswith(f"(Barcode: {item['barcode']}) has the item status {status} and cannot be checked out")


@pytest.mark.parametrize("status", ["Missing", "Withdrawn", "Paged", "On order", "Lost and paid"])
def test_other_statuses_do_not(world, status):
    world.check_out(world.item(status=status), world.patron()).expect(201)


def test_inactive_and_expired_patrons_borrow_nothing(world):
    assert messages_of(world.check_out(world.item(), world.patron(active=False))) == [
        "Cannot check out to inactive user"]
    expired = world.patron(expirationDate="2020-01-01T00:00:00Z")
    assert messages_of(world.check_out(world.item(), expired)) == ["Cannot check out to inactive user"]


def proxy_of(world, sponsor, **members):
    proxy = world.patron()
    world.api.post("/proxiesfor", {"userId": sponsor["id"], "proxyUserId": proxy["id"], "status": "Active",
                                   **members}).expect(201)
    return proxy


def test_a_proxy_borrows_for_the_sponsor(world):
    sponsor = world.patron()
    proxy = proxy_of(world, sponsor)
    loan = world.check_out(world.item(), sponsor, proxyUserBarcode=proxy["barcode"]).expect(201)
    assert loan["proxyUserId"] == proxy["id"] and loan["userId"] == sponsor["id"]


def test_nobody_else_does(world):
    sponsor, stranger = world.patron(), world.patron()
    assert messages_of(world.check_out(world.item(), sponsor, proxyUserBarcode=stranger["barcode"])) == [
        "Cannot check out item via proxy when relationship is invalid"]
    error, = errors_of(world.check_out(world.item(), sponsor, proxyUserBarcode=sponsor["barcode"]))
    assert error["code"] == "USER_CANNOT_BE_PROXY_FOR_THEMSELVES"


def block(world, patron, **members):
    return world.api.post("/manualblocks", {"type": "Manual", "desc": "owes a book", "userId": patron["id"],
                                            "borrowing": True, "renewals": False, "requests": False,
                                            **members}).expect(201)


def test_a_manual_block_forbids_borrowing(world):
    patron = world.patron()
    block(world, patron)
    block(world, patron, desc="was rude", borrowing=False, requests=True)
    error, = errors_of(world.check_out(world.item(), patron))
    assert error["message"] == "Patron blocked from borrowing"
    assert error["code"] == "USER_IS_BLOCKED_MANUALLY"
    reason = error["parameters"][0]
    assert reason["key"] == "reason" and sorted(reason["value"].split(";")) == ["owes a book", "was rude"]
    assert error["overridableBlock"]["name"] == "patronBlock"


def test_blocks_of_other_actions_or_past_ones_do_not(world):
    patron = world.patron()
    block(world, patron, borrowing=False, renewals=True)
    block(world, patron, expirationDate="2020-01-01T00:00:00Z")
    world.check_out(world.item(), patron).expect(201)


def test_a_block_is_overridden_with_permission_and_comment(world):
    patron, item = world.patron(), world.item()
    block(world, patron)
    overrides = {"patronBlock": {}, "comment": "let go"}
    weak = world.override_user()
    error, = errors_of(world.check_out(item, patron, api=weak, overrideBlocks=overrides))
    assert error["code"] == "INSUFFICIENT_OVERRIDE_PERMISSIONS"
    assert error["overridableBlock"] == {"name": "patronBlock",
                                         "missingPermissions": ["circulation.override-patron-block.post"]}
    strong = world.override_user("patron-block")
    assert messages_of(world.check_out(item, patron, api=strong, overrideBlocks={"patronBlock": {}})) == [
        "Override should be performed with the comment specified"]
    loan = world.check_out(item, patron, api=strong, overrideBlocks=overrides).expect(201)
    assert loan["action"] == "checkedOutThroughOverride" and loan["actionComment"] == "let go"


def test_an_item_that_is_not_loanable_is_lent_with_a_due_date_of_its_own(world):
    closed = world.new_loan_policy(loanable=False, renewable=False, loansPolicy=None)
    world.set_rules(f"m {world.dvd}: {world.policies(loan=closed)}")
    item, patron = world.item(materialTypeId=world.dvd), world.patron()
    error, = errors_of(world.check_out(item, patron))
    assert (error["message"], error["code"]) == ("Item is not loanable", "ITEM_NOT_LOANABLE")
    assert [p["key"] for p in error["parameters"]] == ["loanPolicyId", "loanPolicyName", "itemBarcode"]
    user = world.override_user("item-not-loanable-block")
    override = {"itemNotLoanableBlock": {}, "comment": "ok"}
    assert messages_of(world.check_out(item, patron, api=user, overrideBlocks=override)) == [
        "Override should be performed with due date specified"]
    override["itemNotLoanableBlock"] = {"dueDate": "2019-01-01T00:00:00Z"}
    assert messages_of(world.check_out(item, patron, api=user, overrideBlocks=override)) == [
        "Due date should be later than loan date"]
    override["itemNotLoanableBlock"] = {"dueDate": "2031-01-01T10:00:00Z"}
    loan = world.check_out(item, patron, api=user, overrideBlocks=override).expect(201)
    assert loan["dueDate"] == "2031-01-01T10:00:00.000+00:00"


def test_the_item_limit_counts_what_the_rule_names(world):
    limited = world.new_loan_policy(loans={"itemLimit": 1})
    world.set_rules(f"m {world.book} + g {world.students}: {world.policies(loan=limited)}")
    patron = world.patron()
    world.check_out(world.item(materialTypeId=world.dvd), patron).expect(201)
    world.check_out(world.item(), patron).expect(201)
    item = world.item()
    error, = errors_of(world.check_out(item, patron))
    assert error["code"] == "ITEM_LIMIT_PATRON_GROUP_MATERIAL_TYPE"
    assert error["message"] == ("Patron has reached maximum limit of 1 items for combination of patron group "
                                "and material type")
    assert error["overridableBlock"]["name"] == "itemLimitBlock"
    user = world.override_user("item-limit-block")
    world.check_out(item, patron, api=user,
                    overrideBlocks={"itemLimitBlock": {}, "comment": "one more"}).expect(201)
    world.set_rules(f"g {world.students}: {world.policies(loan=limited)}")
    world.check_out(world.item(), patron).expect(201)
    world.set_rules()


def test_a_request_of_another_patron_reserves_the_item(world):
    item, first, second = world.item(), world.patron(), world.patron()
    waiting = world.request(item, first, status="Open - Awaiting pickup")
    later = world.request(item, second, position=2)
    message, = messages_of(world.check_out(item, world.patron()))
    assert message.endswith("because it has been requested by another patron")
    world.check_out(item, first).expect(201)
    filled = world.stored_request(waiting)
    assert filled["status"] == "Closed - Filled" and "position" not in filled
    assert world.stored_request(later)["position"] == 1


def test_a_recall_that_waits_shortens_the_loan(world):
    policy = world.new_loan_policy(requestManagement={"recalls": {
        "recallReturnInterval": {"duration": 2, "intervalId": "Days"}}})
    world.set_rules(loan=policy)
    item, patron = world.item(), world.patron()
    world.request(item, patron, status="Open - Awaiting pickup")
    world.request(item, world.patron(), kind="Recall", position=2)
    now = world.api.at("2026-03-01T12:00:00Z")
    loan = world.check_out(item, patron, api=now, loanDate="2026-03-01T12:00:00Z").expect(201)
    assert loan["dueDateChangedByRecall"] is True
    assert loan["dueDate"] == "2026-03-03T12:00:00.000+00:00"
    world.set_rules()


def test_a_pending_hold_uses_the_alternate_period(world):
    policy = world.new_loan_policy(requestManagement={"holds": {
        "alternateCheckoutLoanPeriod": {"duration": 1, "intervalId": "Days"}}})
    world.set_rules(loan=policy)
    item, patron = world.item(), world.patron()
    world.request(item, patron, status="Open - Awaiting pickup")
    world.request(item, world.patron(), position=2)
    loan = world.check_out(item, patron, loanDate="2026-03-01T12:00:00Z").expect(201)
    assert loan["dueDate"] == "2026-03-02T12:00:00.000+00:00"
    world.set_rules()


def schedule(world, start, end, due):
    return world.make("/fixed-due-date-schedule-storage/fixed-due-date-schedules", name="s" + new_id(),
                      schedules=[{"from": start, "to": end, "due": due}])


def test_a_fixed_schedule_sets_the_due_date_or_refuses(world):
    dates = schedule(world, "2026-01-01T00:00:00Z", "2026-06-30T23:59:59Z", "2026-07-10T12:00:00Z")
    policy = world.new_loan_policy(loans={"profileId": "Fixed", "fixedDueDateScheduleId": dates,
                                          "period": None})
    world.set_rules(loan=policy)
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-03-01T12:00:00Z").expect(201)
    assert loan["dueDate"] == "2026-07-10T12:00:00.000+00:00"
    error, = errors_of(world.check_out(world.item(), world.patron(), loanDate="2026-08-01T12:00:00Z"))
    assert error["message"] == "loan date falls outside of the date ranges in the loan policy"
    assert [p["key"] for p in error["parameters"]] == ["loanPolicyId", "loanPolicyName"]
    world.set_rules()


def test_a_schedule_limits_a_rolling_loan(world):
    dates = schedule(world, "2026-01-01T00:00:00Z", "2026-03-05T23:59:59Z", "2026-03-11T12:00:00Z")
    world.set_rules(loan=world.new_loan_policy(loans={"fixedDueDateScheduleId": dates}))
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-03-01T12:00:00Z").expect(201)
    assert loan["dueDate"] == "2026-03-11T12:00:00.000+00:00"
    world.set_rules()


def test_the_end_of_the_account_ends_the_loan(world):
    patron = world.patron(expirationDate="2026-03-05T12:00:00Z")
    now = world.api.at("2026-03-01T12:00:00Z")
    loan = world.check_out(world.item(), patron, api=now, loanDate="2026-03-01T12:00:00Z").expect(201)
    assert loan["dueDate"] == "2026-03-05T12:00:00.000+00:00"
    assert loan["dueDateChangedByNearExpireUser"] is True


def test_due_dates_end_with_the_local_day_of_the_tenant(fresh_library):
    world = Circulation(fresh_library)
    world.api.post("/configurations/entries", {
        "module": "ORG", "configName": "localeSettings",
        "value": '{"locale":"en-US","timezone":"America/New_York","currency":"USD"}'}).expect(201)
    world.set_rules(loan=world.new_loan_policy(loans={
        "period": {"duration": 1, "intervalId": "Days"},
        "closedLibraryDueDateManagementId": "CURRENT_DUE_DATE"}))
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-03-07T20:00:00-05:00").expect(201)
    assert loan["dueDate"] == "2026-03-09T03:59:59.000+00:00"


def test_a_closed_sunday_moves_the_due_date(world):
    days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"]
    world.api.post("/calendar/calendars", {
        "name": "all year", "startDate": "2026-01-01", "endDate": "2026-12-31", "assignments": [world.desk],
        "normalHours": [{"startDay": d, "startTime": "09:00", "endDay": d, "endTime": "18:00"} for d in days],
        "exceptions": []}).expect(201)
    world.set_rules(loan=world.new_loan_policy(loans={
        "period": {"duration": 1, "intervalId": "Weeks"},
        "closedLibraryDueDateManagementId": "END_OF_THE_NEXT_OPEN_DAY"}))
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-06-28T10:00:00Z").expect(201)
    assert loan["dueDate"] == "2026-07-06T23:59:59.000+00:00"
    error, = errors_of(world.check_out(world.item(), world.patron(), servicePointId=world.other_desk,
                                       loanDate="2026-06-28T10:00:00Z"))
    assert error["code"] == "CALENDAR_OPEN_PERIODS_NOT_FOUND"
    world.set_rules()


def test_a_due_date_notice_is_planned(world):
    notice = {"name": "soon", "templateId": new_id(), "format": "Email", "frequency": "One time",
              "realTime": True, "sendOptions": {"sendHow": "Before", "sendWhen": "Due date",
                                                "sendBy": {"duration": 2, "intervalId": "Days"}}}
    policy = world.make("/patron-notice-policy-storage/patron-notice-policies", name="n" + new_id(),
                        active=True, loanNotices=[notice])
    world.set_rules(notice=policy)
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-03-01T12:00:00Z").expect(201)
    planned, = world.api.get("/scheduled-notice-storage/scheduled-notices",
                             query=f"loanId=={loan['id']}").json["scheduledNotices"]
    assert planned["nextRunTime"] == "2026-03-20T12:00:00.000+00:00"
    assert planned["triggeringEvent"] == "Due date"
    assert planned["noticeConfig"]["timing"] == "Before"
    world.set_rules()


def test_a_forced_policy_replaces_the_one_of_the_rules(world):
    policy = world.new_loan_policy(loans={"period": {"duration": 1, "intervalId": "Hours"}})
    loan = world.check_out(world.item(), world.patron(), loanDate="2026-03-01T12:00:00Z",
                           forceLoanPolicyId=policy).expect(201)
    assert loan["loanPolicyId"] == policy and loan["dueDate"] == "2026-03-01T13:00:00.000+00:00"


def test_a_dry_run_tells_the_policies_and_stores_nothing(world):
    item, patron = world.item(), world.patron()
    answer = world.api.post("/circulation/check-out-by-barcode-dry-run",
                            {"itemBarcode": item["barcode"], "userBarcode": patron["barcode"]})
    assert answer.expect(201) == {"loanPolicyId": world.loan_policy, "lostItemPolicyId": world.lost_policy,
                                  "overdueFinePolicyId": world.overdue_policy,
                                  "patronNoticePolicyId": world.notice_policy}
    assert world.status_of(item) == "Available"


def test_a_repeated_key_lends_once(world):
    item, patron = world.item(), world.patron()
    keyed = world.api.with_headers({"x-octavo-idempotency-key": new_id()})
    first = world.check_out(item, patron, api=keyed)
    again = world.check_out(item, patron, api=keyed)
    assert again.expect(201) == first.expect(201)
    assert again.headers["x-octavo-replayed"] == "true" and again.headers["Location"] == first.headers["Location"]
    error, = errors_of(world.check_out(world.item(), patron, api=keyed))
    assert error["code"] == "IDEMPOTENCY_KEY_REUSED"
    error, = errors_of(keyed.post("/circulation/check-out-by-barcode?another=query",
                                  {"itemBarcode": item["barcode"], "userBarcode": patron["barcode"],
                                   "servicePointId": world.desk}))
    assert error["code"] == "IDEMPOTENCY_KEY_REUSED"
    refused = world.api.with_headers({"x-octavo-idempotency-key": new_id()})
    before = world.check_out(item, patron, api=refused)
    assert world.check_out(item, patron, api=refused).text == before.text


def together(*calls):
    answers = [None] * len(calls)

    def run(i):
        answers[i] = calls[i]()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(a.status for a in answers)


def test_one_item_is_lent_once_however_many_ask(world):
    item = world.item()
    patrons = [world.patron() for _ in range(6)]
    assert together(*[lambda p=p: world.check_out(item, p) for p in patrons]) == [201] + [422] * 5


def test_two_desks_do_not_pass_the_item_limit(world):
    limited = world.new_loan_policy(loans={"itemLimit": 1})
    world.set_rules(f"m {world.book}: {world.policies(loan=limited)}")
    patron, items = world.patron(), [world.item() for _ in range(4)]
    assert together(*[lambda i=i: world.check_out(i, patron) for i in items]) == [201] + [422] * 3
    world.set_rules()


def test_a_check_out_costs_few_statements(world):
    notice = {"name": "soon", "templateId": new_id(), "format": "Email",
              "realTime": True, "sendOptions": {"sendHow": "Upon At", "sendWhen": "Due date"}}
    policy = world.make("/patron-notice-policy-storage/patron-notice-policies", name="n" + new_id(),
                        active=True, loanNotices=[notice])
    limited = world.new_loan_policy(loans={"itemLimit": 5})
    world.set_rules(f"m {world.book}: {world.policies(loan=limited, notice=policy)}")
    patron = world.patron()
    block(world, patron, borrowing=False)
    world.check_out(world.item(), patron).expect(201)
    item = world.item()
    world.request(item, patron, status="Open - Awaiting pickup")
    answer = world.check_out(item, patron)
    answer.expect(201)
    assert answer.statements <= 14
    assert answer.cost("round-trips") <= 3
    world.set_rules()
