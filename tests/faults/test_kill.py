"""The process is shot under load: what it confirmed is there, nothing is there by half."""

import random
import shutil
import signal
import subprocess
import threading
import time

import pytest
import requests

from desk import ROUNDS, Desk, program


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_killed_server_has_lost_nothing_it_confirmed(desk, load, number):
    work = load(desk).wait()
    time.sleep(random.Random(number).uniform(0.5, 2.5))
    desk.kill()
    work.stop()
    assert work.wrong == []
    desk.start().log_in()
    work.must_be_kept()


def test_a_server_killed_again_and_again_comes_back(desk, load):
    for number in range(4):
        work = load(desk).wait()
        time.sleep(0.3)
        desk.kill()
        work.stop()
        if number < 3:
            desk.start()  # and is killed before anybody logs in
            desk.kill()
        desk.start().log_in()
        work.must_be_kept()
        for item, status in work.confirmed.items():
            if status == "Checked out" or item in work.unknown:
                desk.check_in(item)


def test_a_batch_in_the_middle_of_which_the_server_was_killed_is_not_there(desk):
    kind = desk.get("/instance-types", limit=1)["instanceTypes"][0]["id"]
    before = desk.get("/instance-storage/instances", limit=0)["totalRecords"]
    records = [{"title": f"Batch {number}", "source": "FOLIO", "instanceTypeId": kind}
               for number in range(10000)]
    posting = threading.Thread(target=post_and_forget, args=(desk, records))
    posting.start()
    while not desk.get("/instance-storage/instances", limit=1, query='title="batch"')["instances"]:
        pass
    desk.kill()
    posting.join()
    desk.start().log_in()
    assert desk.get("/instance-storage/instances", limit=0)["totalRecords"] == before
    desk.must_be_whole()


def post_and_forget(desk, records):
    with pytest.raises(requests.exceptions.RequestException):
        desk.post("/instance-storage/batch/synchronous", {"instances": records})


def test_a_server_killed_while_it_makes_its_first_library_serves_again(prepared, tmp_path):
    folder = tmp_path / "data"
    for wait in (0.3, 0.8, 1.4):
        maker = subprocess.Popen([program(), "bench", "data", "make", "--recipe", "tiny",
                                  "--data", str(folder)], stderr=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL)
        time.sleep(wait)
        maker.send_signal(signal.SIGKILL)
        maker.wait()
        if folder.exists():
            one = Desk(folder).start()
            assert one.terminate() == 0
            shutil.rmtree(folder)
