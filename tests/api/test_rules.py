"""Circulation rules over HTTP: the text, its faults, which policies it picks."""

import pytest

from circulation import Circulation, new_id


@pytest.fixture(scope="module")
def world(library):
    return Circulation(library)


def put(world, text):
    return world.api.put("/circulation/rules", {"rulesAsText": text})


def test_the_text_comes_back_as_it_was_put(world):
    text = f"priority: last-line\nfallback-policy: {world.policies()}\n# end"
    put(world, text).expect(204)
    assert world.api.get("/circulation/rules").expect(200)["rulesAsText"] == text


def test_a_fault_is_told_with_its_place_and_the_old_rules_stay(world):
    world.set_rules()
    before = world.api.get("/circulation/rules").json["rulesAsText"]
    error = put(world, f"priority: last-line\nfallback-policy: {world.policies()}\nm\tx").expect(422)
    assert error == {"message": "Tabulator character is not allowed, use spaces instead.",
                     "line": 3, "column": 2}
    assert world.api.get("/circulation/rules").json["rulesAsText"] == before


def test_a_policy_that_does_not_exist_is_refused(world):
    unknown = new_id()
    error = put(world, f"priority: last-line\nfallback-policy: {world.policies()}\n"
                       f"m {world.book}: {world.policies(loan=unknown)}").expect(422)
    assert error["message"] == f"The policy {unknown} does not exist"
    assert error["line"] == 3


def test_a_body_that_is_no_json_is_refused_with_422(world):
    answer = world.api.call("PUT", "/circulation/rules", data=b"x",
                            headers={"content-type": "application/json"})
    assert "message" in answer.expect(422)


def apply(world, kind, **changes):
    query = {"item_type_id": world.book, "loan_type_id": world.can_circulate,
             "patron_type_id": world.students, "location_id": world.location, **changes}
    return world.api.get(f"/circulation/rules/{kind}", **query)


def test_the_heaviest_rule_picks_all_five_policies(world):
    special = world.new_loan_policy()
    world.set_rules(f"m {world.book} + g {world.students}: {world.policies(loan=special)}",
                    f"m {world.dvd}: {world.policies()}")
    answer = apply(world, "loan-policy").expect(200)
    assert answer == {"loanPolicyId": special,
                      "appliedRuleConditions": {"materialTypeMatch": True, "loanTypeMatch": False,
                                                "patronGroupMatch": True}}
    assert apply(world, "request-policy").json["requestPolicyId"] == world.request_policy
    assert apply(world, "notice-policy").json["noticePolicyId"] == world.notice_policy
    assert apply(world, "overdue-fine-policy").json["overdueFinePolicyId"] == world.overdue_policy
    assert apply(world, "lost-item-policy").json["lostItemPolicyId"] == world.lost_policy
    other = apply(world, "loan-policy", patron_type_id=world.staff).json
    assert other["loanPolicyId"] == world.loan_policy


def test_all_matches_come_best_first_and_the_fallback_last(world):
    special = world.new_loan_policy()
    world.set_rules(f"m {world.book}: {world.policies(loan=special)}",
                    f"t {world.reading_room}: {world.policies()}")
    matches = apply(world, "loan-policy-all").expect(200)["circulationRuleMatches"]
    assert [m["circulationRuleLine"] for m in matches] == [3, 2]
    assert [m["loanPolicyId"] for m in matches] == [special, world.loan_policy]


def test_library_campus_and_institution_follow_from_the_location(world):
    special = world.new_loan_policy()
    for letter, place in (("a", world.institution), ("b", world.campus), ("c", world.library_id)):
        world.set_rules(f"{letter} {place}: {world.policies(loan=special)}")
        assert apply(world, "loan-policy").json["loanPolicyId"] == special
        assert apply(world, "loan-policy", location_id=new_id()).json["loanPolicyId"] == world.loan_policy


def test_parameters_must_be_there_and_be_uuids(world):
    answer = world.api.get("/circulation/rules/loan-policy", item_type_id=world.book)
    assert answer.expect(400) == "required query parameter missing: loan_type_id"
    text = apply(world, "loan-policy", location_id="x").expect(400)
    assert text.startswith("invalid uuid format of location_id, expecting ") and text.endswith(" but it is x")


def test_a_change_counts_for_the_next_call(world):
    special = world.new_loan_policy()
    world.set_rules()
    assert apply(world, "loan-policy").json["loanPolicyId"] == world.loan_policy
    world.set_rules(loan=special)
    assert apply(world, "loan-policy").json["loanPolicyId"] == special
    assert world.api.last.statements <= 4  # the caller's rights; the table is in memory


def test_a_circulation_setting_of_a_known_name_is_replaced(world):
    post = lambda value: world.api.post("/circulation/settings", {"name": "x", "value": value})  # noqa: E731
    first = post({"a": 1}).expect(201)
    second = post({"a": 2}).expect(201)
    assert second["id"] == first["id"] and second["value"] == {"a": 2}
    assert world.api.get(f"/circulation/settings/{first['id']}").expect(200)["value"] == {"a": 2}
    listed = world.api.get("/circulation/settings", query="name==x").expect(200)
    assert listed["totalRecords"] == 1 and listed["circulationSettings"][0]["id"] == first["id"]
    world.api.delete(f"/circulation/settings/{first['id']}").expect(204)
