"""The disk fails under the whole program and twenty users: the power goes off at a named place of the
code or at an operation on a file, and takes all or some of what was not synced; reads, writes and
syncs fail; the disk is full. What was confirmed is there, what was refused is not (decision 41)."""

import itertools
import shutil
import subprocess
import time

import pytest

from desk import ROUNDS, ROUNDS_ALL, Desk, program

PLACES = ["group-begins", "member-begins", "member-released", "before-commit", "after-commit",
          "group-answered", "write.log", "sync.log"]
# Some of these happen only once the log is long.
CHECKPOINT_PLACES = ["before-copy", "after-copy", "write.database", "sync.database",
                     "before-restart", "after-restart"]
KEPT = ["all", "first", "some"]
CUTS = [f"cut:{place}:{5 + 11 * n}:{kept}"
        for n, (place, kept) in enumerate(itertools.product(PLACES, KEPT))]
CUTS += [f"cut:{place}:{1 if 'restart' in place else 2}:{kept}"
         for place, kept in itertools.product(CHECKPOINT_PLACES, KEPT)]
ERRORS = [f"error:{operation}:{nth}:{count}"
          for operation in ("read.database", "write.log", "sync.log", "write.database",
                            "sync.database")
          for nth, count in ((1, 1), (4, 6))]
ERRORS += ["error:read.log:20:20", "full:0", "full:200000"]
FAULTS_EXIT = 75


def share(faults):
    """Every n-th, so that a short run sees each kind; all of them in a long one."""
    return faults[::max(1, ROUNDS_ALL // ROUNDS)]


def wait_until(check, seconds=180):
    end = time.monotonic() + seconds
    while not check() and time.monotonic() < end:
        time.sleep(0.05)
    return check()


def test_there_are_fifty_faults():
    assert len(set(CUTS + ERRORS)) >= 50


@pytest.mark.parametrize("fault", share(CUTS))
def test_a_power_cut_loses_nothing_that_was_confirmed(desk, load, fault):
    assert desk.terminate() == 0
    desk.start("--test.faults=" + fault)  # the token of before is good
    work = load(desk)
    assert work.wait_for_end_of(desk.process, 180), f"{fault} was never met"
    assert desk.process.returncode == FAULTS_EXIT, desk.log[-5:]
    assert work.wrong == []
    desk.start().log_in()
    work.must_be_kept()


@pytest.mark.parametrize("fault", share(ERRORS))
def test_a_failing_disk_refuses_and_recovers(desk, load, fault):
    assert desk.terminate() == 0
    try:
        desk.start("--test.faults=" + fault)
    except AssertionError:
        desk.process.wait(60)
        desk.reads_log.join()
        assert "disk" in desk.log[-1], desk.log[-5:]  # it says why it does not start
    else:
        work = load(desk, disk_fails=True)
        met = wait_until(lambda: any("I/O error" in line or "disk is full" in line
                                     for line in desk.log))
        time.sleep(0.5)
        assert not work.wait_for_end_of(desk.process, 0) and met, f"{fault} was never met"
        assert work.wrong == []
        assert desk.terminate() == 0
        desk.start().log_in()
        work.must_be_kept()


# ---------------------------------------------------------------------------------------------
# Libraries that are made

def make_second(folder, *options):
    line = [program(), "tenant", "create", "second", "--data", str(folder), "--reference",
            "--modules", "mod-users,mod-permissions,mod-login,mod-authtoken", *options]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("number", range(3 if ROUNDS < ROUNDS_ALL else 24))
def test_a_power_cut_while_a_library_is_made_leaves_the_others_alone(prepared, tmp_path, number):
    folder = tmp_path / "data"
    shutil.copytree(prepared, folder, ignore=shutil.ignore_patterns("prepared"))
    nth = 1 + number * 9  # of some 240
    done = make_second(folder, f"--test.faults=cut:change:{nth}:{KEPT[number % 3]}")
    assert done.returncode == FAULTS_EXIT, done.stderr
    desk = Desk(folder).start().log_in()
    desk.must_be_whole()
    assert desk.terminate() == 0
    again = make_second(folder)  # goes on where it was cut
    assert again.returncode == 0, again.stderr
    shutil.rmtree(folder)
