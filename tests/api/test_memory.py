"""The memory budget: what it comes to, and what happens when memory is short. Source: decision 52."""

import pytest

from circulation import Circulation
from octavo import Library, wait_until
from test_ops import metrics, ops

MIB = 1 << 20


def test_the_budget_is_shown_as_it_came_out(server):
    memory = ops(server, "/octavo/ops/deployment")["memory"]
    assert memory["mode"] == "fixed"
    assert memory["pageCacheBytes"] == 32 * MIB
    assert memory["pageCacheBytes"] + memory["recordCacheBytes"] == 96 * MIB
    assert memory["traceBufferBytes"] == 0  # nothing is sent
    assert memory["shortBytes"] == pytest.approx(0.85 * memory["limitBytes"], rel=0.01)
    summary = ops(server, "/octavo/ops/summary")["memory"]
    assert summary["limitBytes"] == memory["limitBytes"]
    assert 0 < summary["usedBytes"] < summary["rssBytes"]


def test_a_share_of_the_limit_is_divided_the_same_way(own_server):
    server = own_server("--memory.mode=percent", "--memory.percent=40", "--memory.limit_mib=100",
                        "--observability.otlp_endpoint=http://127.0.0.1:9")
    memory = ops(server, "/octavo/ops/deployment")["memory"]
    assert memory["mode"] == "percent" and memory["limitBytes"] == 100 * MIB
    assert memory["traceBufferBytes"] == 10 * MIB  # at most a quarter
    assert memory["pageCacheBytes"] == 12 * MIB and memory["recordCacheBytes"] == 18 * MIB


def test_short_memory_takes_caches_and_no_answer(own_server):
    server = own_server("--memory.limit_mib=8")  # less than the program needs for itself
    desk = Circulation(Library(server, "diku").login())
    kept = [metrics(server)["octavo_store_record_cache_bytes"]]

    def work():
        """Circulation rules, policies, locations and permissions come from the caches."""
        loan = desk.check_out(desk.item(), desk.patron()).expect(201)
        assert loan["loanPolicyId"] and loan["dueDate"]
        shown = metrics(server)
        kept.append(shown["octavo_store_record_cache_bytes"])
        return shown

    wait_until(lambda: work()["octavo_memory_short"] == 1 and max(kept) > 50_000, seconds=30)
    # Given back at least once after a loan, and used anew by another.
    full = max(kept)
    wait_until(lambda: metrics(server)["octavo_store_record_cache_bytes"] < full / 4, seconds=30)
    shown = work()
    assert shown["octavo_store_record_cache_bytes"] > full / 2
    assert shown["octavo_memory_sheds_total"] >= 1
    assert shown["octavo_memory_shed_bytes_total"] >= 0
    summary = ops(server, "/octavo/ops/summary")
    assert summary["state"] == "warn"
    assert "memory is short: caches are given back" in summary["reasons"]
