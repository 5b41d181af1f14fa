"""The races of one house, run across two nodes: every call goes to the other node than the last."""

import os
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "api"))

import test_races  # noqa: E402
import test_races_of_records  # noqa: E402
from circulation import Circulation  # noqa: E402
from site_of_nodes import octavo  # noqa: E402
from test_races_of_records import renewable  # noqa: E402,F401

NEWS_S = 1  # after so long every node knows

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
        time.sleep(NEWS_S)


class Operator(octavo.Library):
    """Waits as well, for tenants that come and go."""

    def call(self, method, path, *more, **members):
        answer = super().call(method, path, *more, **members)
        if method != "GET":
            time.sleep(NEWS_S)
        return answer


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
        time.sleep(NEWS_S)
        return made

    return make
