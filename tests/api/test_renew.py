"""Renewals: by barcode and id, refused, overridden."""

import pytest

from circulation import Circulation, errors_of, messages_of, new_id, place, unique

NOON = "2026-03-01T12:00:00Z"


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def lend(world, loan_date=NOON, patron=None, **item):
    thing, patron = world.item(**item), patron or world.patron()
    loan = world.check_out(thing, patron, loanDate=loan_date, api=world.api.at(loan_date)).expect(201)
    return thing, patron, loan


def renew(world, item, patron, moment="2026-03-10T12:00:00Z", api=None, **members):
    return (api or world.api).at(moment).post("/circulation/renew-by-barcode",
                                              {"itemBarcode": item["barcode"], "userBarcode": patron["barcode"],
                                               "servicePointId": world.desk, **members})


def codes(answer):
    return [e.get("code") for e in errors_of(answer)]


def renewer(world, *names):
    return world.api.user(permissions=["circulation.renew-by-barcode.post",
                                       *[f"circulation.override-{n}.post" for n in names]])


def test_a_renewal_moves_the_due_date(world):
    item, patron, loan = lend(world)
    answer = renew(world, item, patron)
    renewed = answer.expect(200)
    assert answer.headers["Location"] == f"/circulation/loans/{loan['id']}"
    assert renewed["dueDate"] == "2026-03-31T12:00:00.000Z"
    assert renewed["action"] == "renewed" and renewed["renewalCount"] == 1
    assert renewed["item"]["status"]["name"] == "Checked out" and renewed["borrower"]["barcode"]
    assert renewed["feesAndFines"] == {"amountRemainingToPay": 0}
    assert answer.statements <= 20
    history = world.api.get("/loan-storage/loan-history", query=f"loan.id=={loan['id']}").json["loansHistory"]
    assert [row["loan"]["action"] for row in history] == ["renewed", "checkedout"]


def test_ids_do_as_well(world):
    item, patron, _ = lend(world)
    body = {"itemId": item["id"], "userId": patron["id"]}
    assert world.api.at("2026-03-10T12:00:00Z").post("/circulation/renew-by-id", body).expect(200)["renewalCount"] == 1


def test_what_is_missing_is_told(world):
    item, patron, _ = lend(world)
    answer = world.api.post("/circulation/renew-by-barcode", {"userBarcode": "x"})
    assert codes(answer) == ["RENEWAL_REQUEST_ITEM_BARCODE_REQUIRED"]
    answer = world.api.post("/circulation/renew-by-id", {"itemId": item["id"]})
    assert messages_of(answer) == ["Renewal request must have a user ID"]
    assert codes(renew(world, {"barcode": "none"}, patron)) == ["ITEM_BARCODE_NOT_FOUND"]
    assert codes(renew(world, item, {"barcode": "none"})) == ["USER_NOT_FOUND"]
    assert codes(renew(world, item, world.patron())) == ["ITEM_CHECKED_OUT_TO_DIFFERENT_USER"]
    renew(world, world.item(), patron).expect(422)


def test_the_second_renewal_of_a_day_changes_nothing(world):
    item, patron, _ = lend(world)
    renew(world, item, patron).expect(200)
    error, = errors_of(renew(world, item, patron))
    assert error["message"] == "renewal would not change the due date"
    assert error["code"] == "RENEWAL_WOULD_NOT_CHANGE_DUE_DATE"
    assert error["overridableBlock"]["name"] == "renewalDueDateRequiredBlock"


def test_the_limit_counts_renewals(world):
    policy = world.new_loan_policy(renewalsPolicy={"numberAllowed": 1, "renewFromId": "CURRENT_DUE_DATE"})
    world.set_rules(loan=policy)
    item, patron, _ = lend(world)
    renew(world, item, patron).expect(200)
    error, = errors_of(renew(world, item, patron))
    assert (error["message"], error["code"]) == ("loan at maximum renewal number", "LOAN_RENEWAL_LIMIT_REACHED")
    assert error["overridableBlock"]["name"] == "renewalBlock"
    world.set_rules()


def test_a_policy_that_forbids_renewal_is_told_whole(world):
    policy = world.new_loan_policy(loanable=False, renewable=False, loansPolicy=None)
    item, patron, _ = lend(world)
    world.set_rules(loan=policy)
    assert codes(renew(world, item, patron)) == ["ITEM_NOT_LOANABLE", "LOAN_NOT_RENEWABLE"]
    world.set_rules()


def test_a_recall_or_hold_keeps_the_item_from_being_renewed(world):
    item, patron, _ = lend(world)
    place(world, item, world.patron(), "Recall").expect(201)
    assert "RENEWAL_BLOCKED_BY_RECALL" in codes(renew(world, item, patron))
    item, patron, _ = lend(world)
    place(world, item, world.patron()).expect(201)
    assert codes(renew(world, item, patron)) == ["RENEWAL_BLOCKED_BY_HOLD_REQUEST"]


def test_inactive_and_blocked_patrons_do_not_renew(world):
    item, patron, _ = lend(world)
    world.api.post("/manualblocks", {"type": "Manual", "desc": "owes", "userId": patron["id"], "borrowing": False,
                                     "renewals": True, "requests": False}).expect(201)
    assert codes(renew(world, item, patron)) == ["USER_IS_BLOCKED_MANUALLY"]
    strong = renewer(world, "patron-block")
    loan = renew(world, item, patron, api=strong,
                 overrideBlocks={"patronBlock": {}, "comment": "fine"}).expect(200)
    assert loan["action"] == "renewedThroughOverride" and loan["actionComment"] == "fine"
    item, patron, _ = lend(world)
    world.api.put(f"/users/{patron['id']}", {**patron, "active": False}).expect(204)
    assert codes(renew(world, item, patron)) == ["USER_IS_INACTIVE_OR_EXPIRED"]


@pytest.mark.parametrize("status,code", [("Declared lost", "ITEM_DECLARED_LOST_NOT_RENEWABLE"),
                                         ("Aged to lost", "ITEM_AGED_TO_LOST_NOT_RENEWABLE"),
                                         ("Claimed returned", "ITEM_CLAIMED_RETURNED_NOT_RENEWABLE")])
def test_lost_items_are_not_renewed(world, status, code):
    item, patron, _ = lend(world)
    stored = world.api.get(f"/item-storage/items/{item['id']}").json
    world.api.put(f"/item-storage/items/{item['id']}", {**stored, "status": {"name": status}}).expect(204)
    assert codes(renew(world, item, patron)) == [code]


def test_a_renewal_over_the_limit_needs_permission_and_comment(world):
    policy = world.new_loan_policy(renewalsPolicy={"numberAllowed": 0, "renewFromId": "CURRENT_DUE_DATE"})
    world.set_rules(loan=policy)
    item, patron, loan = lend(world)
    weak, strong = renewer(world), renewer(world, "renewal-block")
    over = {"renewalBlock": {}, "comment": "please"}
    assert codes(renew(world, item, patron, api=weak, overrideBlocks=over)) == ["INSUFFICIENT_OVERRIDE_PERMISSIONS"]
    assert codes(renew(world, item, patron, api=strong, overrideBlocks={"renewalBlock": {}})) == [
        "OVERRIDE_RENEWAL_COMMENT_REQUIRED"]
    renewed = renew(world, item, patron, api=strong, overrideBlocks=over).expect(200)
    assert renewed["action"] == "renewedThroughOverride" and renewed["actionComment"] == "please"
    assert renewed["dueDate"] == "2026-04-12T12:00:00.000Z"
    world.set_rules()


def test_where_no_date_follows_staff_give_one(world):
    policy = world.new_loan_policy(renewable=False)
    world.set_rules(loan=policy)
    item, patron, _ = lend(world)
    strong = renewer(world, "renewal-block")
    block = {"renewalDueDateRequiredBlock": {}, "comment": "ok"}
    error, = errors_of(renew(world, item, patron, api=strong, overrideBlocks=block))
    assert error["code"] == "OVERRIDE_RENEWAL_DUE_DATE_REQUIRED"
    assert error["parameters"] == [{"key": "dueDate", "value": "null"}]
    block["renewalDueDateRequiredBlock"] = {"dueDate": "2026-05-01T12:00:00Z"}
    assert renew(world, item, patron, api=strong,
                 overrideBlocks=block).expect(200)["dueDate"] == "2026-05-01T12:00:00.000Z"
    world.set_rules()


def test_what_needs_no_override_gets_none(world):
    item, patron, _ = lend(world)
    strong = renewer(world, "renewal-block")
    answer = renew(world, item, patron, api=strong, overrideBlocks={"renewalBlock": {}, "comment": "x"})
    assert codes(answer) == ["OVERRIDE_RENEWAL_NOT_ALLOWED_FOR_CURRENT_LOAN"]
