"""Items that age to lost: status, bill, settlement."""

import datetime
import time

import pytest

from circulation import Circulation, new_id


@pytest.fixture(scope="module")
def world(library):
    world = Circulation(library)
    world.owner = world.make("/owners", owner="o" + new_id(),
                             servicePointOwner=[{"value": world.desk, "label": "desk"}])
    run(world, "/circulation/scheduled-age-to-lost")
    run(world, "/circulation/scheduled-age-to-lost-fee-charging")
    return world


def policy_with(world, **members):
    """Ages a week after the due date."""
    policy = world.make("/lost-item-fees-policies", **{
        "name": "l" + new_id(), "itemAgedLostOverdue": {"duration": 1, "intervalId": "Weeks"},
        "chargeAmountItem": {"amount": 10, "chargeType": "anotherCost"}, "lostItemProcessingFee": 5,
        "chargeAmountItemSystem": True, "chargeAmountItemPatron": True, **members})
    world.set_rules(lost=policy)
    return policy


def lend(world, due_for=90):
    """Lends an item that is overdue for so many days."""
    item, patron = world.item(), world.patron()
    begun = datetime.datetime.utcnow() - datetime.timedelta(days=due_for + 21)
    loan = world.check_out(item, patron, loanDate=begun.isoformat(timespec="seconds") + "Z").expect(201)
    return item, loan


def run(world, path):
    """Lets a timer of FOLIO's run each second from here on."""
    timers = world.api.get(f"/_/proxy/tenants/{world.api.tenant}/timers").expect(200)
    timer, = [t for t in timers if t["routingEntry"]["pathPattern"] == path]
    world.api.patch(f"/_/proxy/tenants/{world.api.tenant}/timers",
                    {"id": timer["id"], "routingEntry": {"unit": "second", "delay": "1"}}).expect(204)


def age(world, item):
    assert until(lambda: world.status_of(item) == "Aged to lost")


def billed(world, loan):
    def has_been():
        billing = world.stored_loan(loan["id"]).get("agedToLostDelayedBilling", {})
        return billing.get("lostItemHasBeenBilled") is True
    return until(has_been)


def accounts_of(world, loan):
    found = world.api.get("/accounts", query=f"loanId=={loan['id']}").json["accounts"]
    return sorted(found, key=lambda a: a["amount"])


def until(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_an_overdue_item_ages_after_the_period_of_the_policy(world):
    policy_with(world, patronBilledAfterAgedLost={"duration": 2, "intervalId": "Days"})
    young, _ = lend(world, due_for=6)
    item, loan = lend(world)
    age(world, item)
    stored = world.stored_loan(loan["id"])
    assert stored["action"] == "itemAgedToLost" and stored["itemStatus"] == "Aged to lost"
    billing = stored["agedToLostDelayedBilling"]
    assert billing["lostItemHasBeenBilled"] is False
    aged, due = [datetime.datetime.fromisoformat(billing[n]) for n in ("agedToLostDate",
                                                                      "dateLostItemShouldBeBilled")]
    assert due - aged == datetime.timedelta(days=2)
    time.sleep(1.5)
    assert accounts_of(world, loan) == []
    assert world.status_of(young) == "Checked out"


def test_without_a_period_nothing_ages(world):
    policy_with(world, itemAgedLostOverdue=None)
    item, _ = lend(world)
    time.sleep(2.5)
    assert world.status_of(item) == "Checked out"


def test_the_bill_has_fee_and_processing_fee(world):
    policy_with(world)
    item, loan = lend(world)
    assert billed(world, loan)
    processing, fee = accounts_of(world, loan)
    assert (processing["feeFineType"], processing["amount"]) == ("Lost item processing fee", 5)
    assert (fee["feeFineType"], fee["amount"]) == ("Lost item fee", 10)
    stored = world.stored_loan(loan["id"])
    assert stored["action"] == "" and stored["status"]["name"] == "Open"
    time.sleep(1.5)
    assert len(accounts_of(world, loan)) == 2


def test_where_nothing_is_charged_the_loan_closes(world):
    policy_with(world, chargeAmountItem=None, lostItemProcessingFee=0)
    item, loan = lend(world)
    assert until(lambda: world.status_of(item) == "Lost and paid")
    stored = world.stored_loan(loan["id"])
    assert stored["status"]["name"] == "Closed" and stored["action"] == "closedLoan"


def test_paying_everything_closes_the_loan(world):
    policy_with(world)
    item, loan = lend(world)
    assert billed(world, loan)
    for account in accounts_of(world, loan):
        world.api.post(f"/accounts/{account['id']}/pay", {
            "amount": str(account["amount"]), "paymentMethod": "cash", "notifyPatron": False,
            "servicePointId": world.desk, "userName": "x"}).expect(201)
    assert until(lambda: world.status_of(item) == "Lost and paid")
    assert world.stored_loan(loan["id"])["status"]["name"] == "Closed"


def test_an_actual_cost_that_staff_cancel_closes_the_loan(world):
    policy_with(world, chargeAmountItem={"amount": 0, "chargeType": "actualCost"},
                lostItemProcessingFee=0)
    item, loan = lend(world)
    assert billed(world, loan)
    record, = world.api.get("/actual-cost-record-storage/actual-cost-records",
                            query=f"loan.id=={loan['id']}").json["actualCostRecords"]
    world.api.post("/actual-cost-fee-fine/cancel", {"actualCostRecordId": record["id"]}).expect(201)
    assert until(lambda: world.status_of(item) == "Lost and paid")
    assert world.stored_loan(loan["id"])["status"]["name"] == "Closed"


def test_an_item_that_comes_back_before_the_bill_is_not_billed(world):
    policy_with(world, patronBilledAfterAgedLost={"duration": 2, "intervalId": "Days"})
    item, loan = lend(world)
    age(world, item)
    body = world.check_in(item).expect(200)
    assert body["item"]["status"]["name"] == "Available"
    assert list(world.stored_loan(loan["id"])["agedToLostDelayedBilling"]) == ["agedToLostDate"]
    assert accounts_of(world, loan) == []


def test_a_lost_item_that_comes_back_cancels_its_fees(world):
    policy_with(world, returnedLostItemProcessingFee=True)
    item, loan = lend(world)
    assert billed(world, loan)
    world.check_in(item).expect(200)
    fees = accounts_of(world, loan)
    assert [a["status"]["name"] for a in fees] == ["Closed", "Closed"]
    assert {a["paymentStatus"]["name"] for a in fees} == {"Cancelled item returned"}


def test_a_loan_that_cannot_be_billed_does_not_stop_the_others(world):
    policy_with(world)
    nowhere = world.new_location(world.other_desk)  # nobody charges for that desk
    orphan = world.item(location=nowhere)
    first = world.check_out(orphan, world.patron(), loanDate="2026-03-01T10:00:00Z").expect(201)
    _, loan = lend(world)
    assert billed(world, loan)
    assert accounts_of(world, first) == [] and len(accounts_of(world, loan)) == 2
