"""A library by recipe, made once; each test gets a copy with a server on it."""

import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from desk import Desk, Load, run  # noqa: E402


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """The tiny library, made once."""
    folder = tmp_path_factory.mktemp("prepared") / "data"
    done = run("bench", "data", "make", "--recipe", "tiny", "--data", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def desk(prepared, tmp_path):
    """A copy of it for one test, served."""
    shutil.copytree(prepared, tmp_path / "data", ignore=shutil.ignore_patterns("prepared"))
    one = Desk(tmp_path / "data").start().log_in()
    yield one
    if one.process.poll() is None:
        one.kill()
    shutil.rmtree(tmp_path / "data")


@pytest.fixture
def load():
    return Load
