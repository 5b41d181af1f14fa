"""A cluster that syncs, a prepared library in it, and sites of nodes on copies of that."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from site_of_nodes import Desk, Node, Site, octavo, postgres, run  # noqa: E402


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    octavo.add_logs(outcome.get_result())


@pytest.fixture(scope="session")
def cluster():
    one = postgres.Cluster().make()
    yield one
    one.close()


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """A tiny library as a data directory, with the lists of its items and patrons."""
    folder = tmp_path_factory.mktemp("prepared") / "data"
    done = run("bench", "data", "make", "--recipe", "tiny", "--data", folder)
    assert done.returncode == 0, done.stderr
    return folder / "inputs"


@pytest.fixture(scope="session")
def prepared(cluster, inputs):
    """Name of a database that has the tiny library: of this cluster, and of those made like it."""
    name = cluster.database("library")
    done = run("migrate", "--from", f"sqlite:{inputs.parent}", "--to", cluster.url(name))
    assert done.returncode == 0, done.stdout + done.stderr
    cluster.keep()
    return name


@pytest.fixture
def database(cluster, prepared):
    """Its copy, for one test."""
    name = cluster.copy_of(prepared)
    yield name
    cluster.drop(name)


@pytest.fixture
def nodes():
    """Starts nodes: nodes(url, 2). They must all end in order unless a test killed them."""
    started = []

    def start(url, count=2, options=()):
        some = [Node(url, options) for _ in range(count)]
        started.extend(some)
        for one in some:
            one.start()
        return some

    yield start
    for one in started:
        if one.process.returncode != -9:
            one.close()


@pytest.fixture
def desk(cluster, database, nodes, inputs):
    """A person logged in at the first of two nodes; desk.nodes are both."""
    both = nodes(cluster.url(database))
    one = Desk(both[0].url, inputs).log_in()
    one.nodes = both
    return one


@pytest.fixture(scope="module")
def site(cluster):
    """Two nodes on an empty database of their own, for the tests of one file."""
    url = cluster.url(cluster.database())
    both = [Node(url), Node(url)]
    both[0].make_tenant("diku")
    for one in both:
        one.start()
    yield Site(both)
    for one in both:
        one.close()


@pytest.fixture(scope="module")
def library(site):
    """A tenant of it with its administrator, whose calls go to either node in turn."""
    made = octavo.new_library(site.nodes[0])
    made.server = site
    return made
