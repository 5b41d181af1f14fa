"""Fees and fines: accounts, what is done with them, policies, blocks."""

import uuid

import pytest

BLOCK = "/manualblocks"
AUTOMATIC = "9523cb96-e752-40c2-89da-60f3961a488d"


def new_id():
    return str(uuid.uuid4())


def account(amount=10.0, **members):
    return {"id": new_id(), "userId": new_id(), "ownerId": new_id(), "feeFineId": new_id(),
            "amount": amount, "remaining": amount, "status": {"name": "Open"},
            "paymentStatus": {"name": "Outstanding"}, **members}


def wish(amount=None, **members):
    body = {"notifyPatron": False, "servicePointId": new_id(), "userName": "Doe, Jane"}
    paid = {} if amount is None else {"amount": amount, "paymentMethod": "Cash"}
    return {**body, **paid, **members}


def charge(library, amount=10.0, **members):
    return library.post("/accounts", account(amount, **members)).expect(201)


def act(library, one, action, amount=None, **members):
    return library.post(f"/accounts/{one['id']}/{action}", wish(amount, **members))


def state(library, one):
    stored = library.get(f"/accounts/{one['id']}").expect(200)
    return stored["status"]["name"], stored["paymentStatus"]["name"], stored["remaining"]


def test_paying_in_parts_closes_with_the_last_cent(library):
    one = charge(library)
    first = act(library, one, "pay", "5.00").expect(201)
    assert (first["amount"], first["remainingAmount"]) == ("5.00", "5.00")
    assert first["feefineactions"][0]["typeAction"] == "Paid partially"
    assert state(library, one) == ("Open", "Paid partially", 5)
    act(library, one, "pay", "5.00").expect(201)
    assert state(library, one) == ("Closed", "Paid fully", 0)
    actions = library.get("/feefineactions", query=f"accountId=={one['id']}").json
    assert sorted(a["balance"] for a in actions["feefineactions"]) == [0, 5]


@pytest.mark.parametrize("amount, message", [
    ("10.01", "Requested amount exceeds remaining amount"),
    ("abc", "Invalid amount entered"),
    ("", "Invalid amount entered"),
    ("-1", "Amount must be positive"),
    ("0", "Amount must be positive"),
    ("0.004", "Amount must be positive"),
])
def test_amounts_that_cannot_be_paid_are_refused(library, amount, message):
    one = charge(library)
    refused = act(library, one, "pay", amount).expect(422)
    assert refused == {"accountId": one["id"], "amount": amount, "errorMessage": message}
    checked = library.post(f"/accounts/{one['id']}/check-pay", {"amount": amount}).expect(422)
    assert (checked["allowed"], checked["errorMessage"]) == (False, message)
    assert state(library, one) == ("Open", "Outstanding", 10)


def test_a_check_says_what_would_remain(library):
    one = charge(library)
    answer = library.post(f"/accounts/{one['id']}/check-waive", {"amount": "4"}).expect(200)
    assert answer == {"accountId": one["id"], "amount": "4.00", "allowed": True,
                      "remainingAmount": "6.00"}


def test_a_closed_account_takes_nothing(library):
    one = charge(library)
    act(library, one, "cancel").expect(201)
    assert state(library, one) == ("Closed", "Cancelled as error", 0)
    for action in ("pay", "waive", "transfer", "cancel"):
        refused = act(library, one, action, "1.00" if action != "cancel" else None).expect(422)
        assert refused["errorMessage"] == "Fee/fine is already closed"


def test_an_unknown_account_is_named(library):
    missing = new_id()
    answer = library.post(f"/accounts/{missing}/pay", wish("1.00")).expect(404)
    assert answer == f"Fee/fine ID {missing} not found"


def test_a_refund_makes_the_fee_owed_again(library):
    one = charge(library)
    act(library, one, "pay", "6.00").expect(201)
    act(library, one, "transfer", "4.00", paymentMethod="Bursar").expect(201)
    refund = act(library, one, "refund", "10.00").expect(201)
    shown = [(a["typeAction"], a["amountAction"], a["balance"], a["transactionInformation"])
             for a in refund["feefineactions"]]
    assert shown == [("Credited fully", 6, 0, "Refund to patron"),
                     ("Credited fully", 4, 0, "Refund to Bursar"),
                     ("Refunded fully", 6, 6, "Refunded to patron"),
                     ("Refunded fully", 4, 10, "Refunded to Bursar")]
    assert state(library, one) == ("Open", "Refunded fully", 10)
    again = act(library, one, "refund", "0.01").expect(422)
    assert again["errorMessage"] == ("Refund amount must be greater than zero and less than or "
                                     "equal to Selected amount")


@pytest.mark.parametrize("amounts, total, shares", [
    ((5, 5, 5), "10.00", [3.33, 3.33, 3.34]),
    ((1, 5, 9), "10.00", [1, 4.5, 4.5]),
    ((2, 3), "5.00", [2, 3]),
])
def test_a_bulk_payment_is_split(library, amounts, total, shares):
    several = [charge(library, float(amount)) for amount in amounts]
    ids = [one["id"] for one in several]
    answer = library.post("/accounts-bulk/pay", {**wish(total), "accountIds": ids}).expect(201)
    assert sorted(a["amountAction"] for a in answer["feefineactions"]) == shares
    assert answer["amount"] == total


def test_a_bulk_action_is_all_or_nothing(library):
    one = charge(library)
    ids = [one["id"], new_id()]
    library.post("/accounts-bulk/cancel",
                 {**wish(comments="x"), "accountIds": ids}).expect(404)
    assert state(library, one) == ("Open", "Outstanding", 10)


def test_two_who_pay_everything_at_once_pay_once(library):
    import concurrent.futures
    one = charge(library)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: act(library, one, "pay", "10.00").status, range(4)))
    assert sorted(answers) == [201, 422, 422, 422]


@pytest.mark.parametrize("path", ["/accounts/{id}/pay", "/accounts-bulk/pay"])
def test_a_payment_that_is_sent_twice_with_its_key_is_taken_once(library, path):
    one = charge(library)
    body = wish("4.00", **({"accountIds": [one["id"]]} if "bulk" in path else {}))
    keyed = library.with_headers({"x-octavo-idempotency-key": new_id()})
    first, again = (keyed.post(path.format(id=one["id"]), body) for _ in range(2))
    assert again.expect(201) == first.expect(201)
    assert again.headers["x-octavo-replayed"] == "true"
    assert state(library, one) == ("Open", "Paid partially", 6)


def test_automatic_types_belong_to_the_program(library):
    sent = {"id": AUTOMATIC, "feeFineType": "Mine", "automatic": False}
    for answer in (library.post("/feefines", sent), library.put(f"/feefines/{AUTOMATIC}", sent),
                   library.delete(f"/feefines/{AUTOMATIC}")):
        assert answer.expect(422)["errors"][0]["message"] == (
            "Attempt to change an automatic fee/fine type")


@pytest.mark.parametrize("path, code", [
    ("/overdue-fines-policies", "feesfines.policy.overdue.duplicate"),
    ("/lost-item-fees-policies", "feesfines.policy.lost.duplicate"),
])
def test_names_of_policies_are_their_own(library, path, code):
    sent = {"id": new_id(), "name": new_id()}
    library.post(path, sent).expect(201)
    refused = library.post(path, {**sent, "id": new_id()}).expect(422)
    assert refused["errors"][0]["code"] == code
    again = library.post(path, sent).expect(422)["errors"][0]
    assert again["message"].startswith("id value already exists in table ")


def test_policies_charge_no_negative_amounts(library):
    overdue = library.post("/overdue-fines-policies", {
        "name": new_id(), "overdueFine": {"quantity": -1, "intervalId": "day"}}).expect(422)
    assert overdue["errors"][0]["message"] == "Quantity must not be negative."
    lost = library.post("/lost-item-fees-policies",
                        {"name": new_id(), "lostItemProcessingFee": -1}).expect(422)
    assert lost["errors"][0]["message"] == "The value must greater than or equal to 0"


def test_a_manual_block_is_stored_and_found(library):
    user = new_id()
    block = library.post(BLOCK, {"userId": user, "desc": "owes a book", "borrowing": True})
    found = library.get(BLOCK, query=f"userId=={user}").expect(200)
    assert [one["id"] for one in found["manualblocks"]] == [block.expect(201)["id"]]
    missing = library.get(f"{BLOCK}/{new_id()}").expect(404)
    assert missing == "ManualblockObject does not exist"


def test_accounts_are_listed_with_few_statements(library):
    user = new_id()
    for _ in range(3):
        charge(library, userId=user, itemId=new_id())
    library.get("/accounts", query=f"userId=={user}").expect(200)
    answer = library.get("/accounts", query=f"userId=={user}")
    assert answer.expect(200)["totalRecords"] == 3
    plain = library.get("/feefineactions", query=f"userId=={user}")
    plain.expect(200)
    assert answer.statements <= plain.statements + 2  # items and holdings of the whole page


# ----------------------------------------------------------------------------------------------
# Reports


def test_the_refund_report_shows_what_had_been_paid(library):
    one = charge(library)
    act(library.at("2026-03-01T10:00:00Z"), one, "pay", "10.00").expect(201)
    act(library.at("2026-03-02T14:05:00Z"), one, "refund", "4.00", paymentMethod="Overpaid",
        comments="STAFF : check \n PATRON : sorry").expect(201)
    wanted = {"startDate": "2026-03-02", "endDate": "2026-03-02",
              "feeFineOwners": [one["ownerId"]]}
    rows = library.post("/feefine-reports/refund", wanted).expect(200)["reportData"]
    assert len(rows) == 1
    assert (rows[0]["paidAmount"], rows[0]["refundAmount"]) == ("10.00", "4.00")
    assert (rows[0]["refundDate"], rows[0]["refundReason"]) == ("3/2/26 2:05 PM", "Overpaid")
    assert (rows[0]["staffInfo"], rows[0]["patronInfo"]) == ("check", "sorry")
    other = {**wanted, "startDate": "2026-03-03", "endDate": "2026-03-03"}
    assert library.post("/feefine-reports/refund", other).expect(200) == {"reportData": []}


def test_a_report_needs_days(library):
    answer = library.post("/feefine-reports/refund", {"startDate": "yesterday"}).expect(422)
    assert answer == "Invalid startDate or endDate parameter"


def test_the_cash_drawer_is_reconciled_by_source(library):
    desk = new_id()
    one = charge(library, feeFineOwner="Main", feeFineType="Damage")
    for who, amount in (("Doe, Jane", "3.00"), ("Roe, Max", "5.00"), ("Doe, Jane", "2.00")):
        act(library.at("2026-03-01T10:00:00Z"), one, "pay", amount, servicePointId=desk,
            userName=who).expect(201)
    path = "/feefine-reports/cash-drawer-reconciliation"
    report = library.post(path, {"startDate": "2026-03-01", "createdAt": desk}).expect(200)
    assert report["reportStats"]["bySource"] == [
        {"name": "Doe, Jane", "totalAmount": "5.00", "totalCount": "2"},
        {"name": "Roe, Max", "totalAmount": "5.00", "totalCount": "1"},
        {"name": "Source totals", "totalAmount": "10.00", "totalCount": "3"}]
    sources = library.post(path + "/sources", {"createdAt": desk}).expect(200)
    assert sources == {"sources": ["Doe, Jane", "Roe, Max"]}


def test_financial_transactions_are_told_in_detail(library):
    owner, desk = new_id(), new_id()
    one = charge(library, ownerId=owner, feeFineOwner="Main", feeFineType="Damage")
    act(library.at("2026-03-01T10:00:00Z"), one, "pay", "3.00", servicePointId=desk).expect(201)
    act(library.at("2026-03-01T11:00:00Z"), one, "waive", "7.00", servicePointId=desk,
        paymentMethod="Goodwill").expect(201)
    report = library.post("/feefine-reports/financial-transactions-detail", {
        "startDate": "2026-03-01", "endDate": "2026-03-01", "feeFineOwner": owner,
        "createdAt": [desk]}).expect(200)
    shown = [(row["action"], row["actionAmount"], row["paymentMethod"], row["waiveReason"])
             for row in report["reportData"]]
    assert shown == [("Payment", "3.00", "Cash", ""), ("Waive", "7.00", "", "Goodwill")]
    assert report["reportStats"]["byAction"][-1] == {
        "name": "Action totals", "totalAmount": "10.00", "totalCount": "2"}
    assert report["reportStats"]["byWaiveReason"][0]["name"] == "Goodwill"
