"""Fixtures: a server for all tests, a library of its own for each file."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import octavo  # noqa: E402


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    octavo.add_logs(outcome.get_result())


@pytest.fixture(scope="session")
def server():
    """The running program, with the tenant diku that has everything."""
    one = octavo.Server()
    one.make_tenant("diku")
    one.start()
    yield one
    one.close()


@pytest.fixture(scope="session")
def operator(server):
    """The administrator of diku, who may manage tenants."""
    return octavo.Library(server, "diku").login()


@pytest.fixture(scope="module")
def library(server):
    """A tenant for the tests of one file, with its administrator logged in."""
    return octavo.new_library(server)


@pytest.fixture
def make_library(server):
    """Makes tenants of few modules: make_library(modules=["mod-users"])."""
    return lambda **members: octavo.new_library(server, **members)


@pytest.fixture
def fresh_library(server):
    """A tenant for one test alone."""
    return octavo.new_library(server)


@pytest.fixture
def own_server():
    """Starts servers with options of their own: own_server("--x.y=z")."""
    servers = []

    def start(*options, tenant="diku"):
        one = octavo.Server(options=options)
        servers.append(one)
        one.make_tenant(tenant)
        return one.start()

    yield start
    for one in servers:
        one.close()
