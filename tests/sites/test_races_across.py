"""The races of one house, run across two nodes: every call goes to the other node than the last."""

import os
import sys
import uuid

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "api"))

import test_races  # noqa: E402
import test_races_of_records  # noqa: E402
from circulation import Circulation  # noqa: E402
from site_of_nodes import octavo  # noqa: E402
from test_races_of_records import renewable  # noqa: E402,F401

# A right that is taken away is gone on the other node when it knows: test_news.py.
ON_ONE_NODE = {"test_a_right_that_was_taken_away_is_gone_with_the_answer"}

globals().update({name: test for module in (test_races, test_races_of_records)
                  for name, test in vars(module).items()
                  if name.startswith("test_") and callable(test) and name not in ON_ONE_NODE})


class News(Circulation):
    """Waits until every node knows policies and rules: that takes a moment, and is no race."""

    def set_rules(self, *lines, **fallback):
        self.wait_for_news()
        super().set_rules(*lines, **fallback)
        self.wait_for_news()

    def wait_for_news(self):
        wait_for_news(self.api)


def wait_for_news(library):
    """Until all nodes have heard what any of them was told so far: what is written last is heard
    last, and a group is kept in memory."""
    nodes = [octavo.Client(node, library.tenant, library.token) for node in library.server.nodes]
    group = nodes[0].post("/groups", {"group": uuid.uuid4().hex}).expect(201)
    path = f"/groups/{group['id']}"
    for writer in nodes:
        group["desc"] = uuid.uuid4().hex
        for reader in nodes:
            octavo.wait_until(lambda: reader.get(path).status == 200)
        writer.put(path, group).expect(204)
        for reader in nodes:
            octavo.wait_until(lambda: reader.get(path).json.get("desc") == group["desc"])
    nodes[0].delete(path).expect(204)


class Operator(octavo.Library):
    """Waits as well, for tenants that come and go."""

    def call(self, method, path, *more, **members):
        answer = super().call(method, path, *more, **members)
        if method != "GET":
            wait_for_tenants(self)
        return answer


def wait_for_tenants(operator):
    """Until all nodes have heard of those that came and went."""
    nodes = [octavo.Client(node, operator.tenant, operator.token) for node in operator.server.nodes]
    tenant = {"id": "n" + uuid.uuid4().hex[:10], "name": "news"}
    path = "/_/proxy/tenants/" + tenant["id"]
    nodes[0].post("/_/proxy/tenants", tenant).expect(201)
    for writer in nodes:
        for reader in nodes:
            octavo.wait_until(lambda: reader.get(path).status == 200)
        tenant["name"] = uuid.uuid4().hex
        writer.put(path, tenant).expect(200)
        for reader in nodes:
            octavo.wait_until(lambda: reader.get(path).json["name"] == tenant["name"])
    nodes[0].delete(path).expect(204)


@pytest.fixture(scope="module")
def world(library):
    return News(library)


@pytest.fixture(scope="module")
def server(site):
    return site


@pytest.fixture(scope="module")
def operator(site):
    return Operator(site, "diku").login()


@pytest.fixture
def make_library(site):
    def make(**members):
        made = octavo.new_library(site.nodes[0], **members)
        made.server = site
        wait_for_tenants(Operator(site, "diku").login())
        return made

    return make
