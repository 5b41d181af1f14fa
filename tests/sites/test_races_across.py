"""The races of one house, run across two nodes: every call goes to the other node than the last."""

import os
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "api"))

from circulation import Circulation  # noqa: E402
from test_races import (  # noqa: E402,F401
    test_a_barcode_is_given_once,
    test_a_loan_and_a_request_at_once_agree,
    test_a_loan_and_a_return_at_once_leave_item_and_loans_in_accord,
    test_a_patron_who_is_deleted_while_borrowing_leaves_no_loan_behind,
    test_an_item_limit_holds_at_two_desks_at_once,
    test_an_item_that_is_deleted_while_it_is_lent_is_lent_or_gone,
    test_fifty_desks_lend_one_item_once,
    test_numbers_given_at_once_are_all_different,
    test_of_two_changes_of_one_version_one_is_refused,
    test_one_idempotency_key_lends_once_however_often_it_is_sent,
    test_requests_placed_at_once_stand_in_a_row,
    test_two_desks_take_one_item_back_once,
)


class News(Circulation):
    """Waits until every node knows policies and rules: that takes a moment, and is no race."""

    def set_rules(self, *lines, **fallback):
        time.sleep(1)
        super().set_rules(*lines, **fallback)
        time.sleep(1)


@pytest.fixture(scope="module")
def world(library):
    return News(library)
