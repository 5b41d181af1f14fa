"""What a run does and what it refuses to believe."""

import json
import subprocess
import time

import pytest

from conftest import bench, ends, experiment, kill, program, server_of


def transactions(cell):
    return [m for m in cell["measures"] if m["kind"] == "transaction"]


def test_every_configuration_is_measured_on_fresh_data(lab):
    assert lab.run(experiment()).returncode == 0, lab.done.stdout + lab.done.stderr
    result = lab.result()
    assert [c["state"] for c in result["cells"]] == ["done", "done"]
    assert [c["configuration"] for c in result["cells"]] == ["small", "large"]
    for cell in result["cells"]:
        assert cell["windowS"] >= 0.9
        assert cell["loadFromS"] <= -0.2
        assert {m["name"] for m in transactions(cell)} <= {"check-in", "check-out"}
        assert all(check["isRight"] for check in cell["dataChecks"])
        names = {(s["group"], s["name"]) for s in cell["series"]}
        assert ("process", "cpu.user") in names and ("process", "memory.pss") in names
        assert ("driver", "cpu") in names
    kinds = [a["kind"] for a in result["annotations"]]
    assert kinds.count("reset") == kinds.count("start") == kinds.count("stop") == 2
    assert result["environment"]["data"]["checksum"]
    assert result["environment"]["host"]["cores"] >= 1


def test_configurations_are_given_to_the_server(lab):
    lab.run(experiment(configuration={
        "a": {"baseline": True, "options": {"log.level": "debug"}},
        "b": {"env": {"OCTAVO_LOG_FORMAT": "json"}}}))
    logs = sorted((lab.folder / "lab").glob("*/logs/*.log"))
    assert [log.name for log in logs] == ["001-a.log", "002-b.log"]
    assert '"level"' not in logs[0].read_text()
    assert all(line.startswith("{") for line in logs[1].read_text().splitlines())


def test_configurations_may_have_libraries_of_their_own(lab):
    assert lab.run(experiment(configuration={
        "tiny": {"baseline": True},
        "more": {"recipe": "small"}})).returncode == 0, lab.done.stdout + lab.done.stderr
    result = lab.result()
    assert [c["state"] for c in result["cells"]] == ["done", "done"]
    tiny, more = ({check["name"] for check in cell["dataChecks"]} for cell in result["cells"])
    assert any("the table 501" in name for name in tiny)  # users
    assert any("the table 5001" in name for name in more)
    resets = [a["text"] for a in result["annotations"] if a["kind"] == "reset"]
    assert len(set(resets)) == 2
    assert [c.get("recipe") for c in result["configurations"]] == [None, "small"]


def test_an_option_that_the_server_does_not_know_ends_the_run_with_its_words(lab):
    done = lab.run(experiment(configuration={
        "a": {"baseline": True, "options": {"memory.cash_mib": 1}}}))
    assert done.returncode == 3
    assert "memory.cash_mib" in done.stderr


def test_a_prepared_library_is_made_once_and_never_changed(lab, prepared_folder):
    lab.run(experiment(), "--only", "small")
    folder = next(prepared_folder.glob("tiny-1-*"))
    before = {f.name: f.read_bytes() for f in folder.glob("*.db")}
    assert "making" not in lab.run(experiment(), "--only", "small").stdout
    assert {f.name: f.read_bytes() for f in folder.glob("*.db")} == before


def test_a_changed_library_is_refused(lab, tmp_path):
    lab.data = tmp_path / "own"
    lab.run(experiment(), "--only", "small")
    with open(next(lab.data.glob("tiny-1-*/diku.db")), "r+b") as file:
        file.seek(5000)
        file.write(b"changed")
    done = lab.run(experiment(), "--only", "small")
    assert done.returncode == 3 and "was changed" in done.stderr


def test_only_the_chosen_cells_are_run(lab):
    assert lab.run(experiment(), "--only", "block1/large").returncode == 0
    assert [c["state"] for c in lab.cells()] == ["planned", "done"]


def test_the_baseline_alone_is_compared_with_nothing(lab):
    compare = [{"metric": "transaction.p50"}, {"metric": "cpu.total"}]
    assert lab.run(experiment(compare=compare), "--only", "small").returncode == 0
    report = next((lab.folder / "lab").glob("*/report.md")).read_text()
    assert "contradicts" not in report and "is empty" not in report
    assert "No configuration ran beside the baseline" in report


def test_a_cell_with_too_few_transactions_is_repeated_once_and_stays_invalid(lab):
    done = lab.run(experiment(design={"blocks": 1, "min_transactions": 100000}), "--only", "small")
    assert done.returncode == 2
    cells = [c for c in lab.cells() if c["configuration"] == "small"]
    assert [(c["attempt"], c["state"]) for c in cells] == [(1, "invalid"), (2, "invalid")]
    assert all("fewer than 100000" in c["reasons"][0] for c in cells)


def long_window(blocks=1):
    return experiment(
        design={"blocks": blocks, "min_transactions": 0},
        run={"main": {"workloads": [{"workload": "desk", "load": "few"}], "warmup_s": 0.2,
                      "steady_s": 3.0, "cooldown_s": 0.2}})


def test_a_server_that_is_killed_makes_its_cell_invalid_and_repeated(lab):
    process = lab.start(long_window(), "--only", "small")
    pid = server_of(process)
    lab.wait_for(lambda result: any(a["kind"] == "start" for a in result.get("annotations", [])))
    kill(pid)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    result = lab.result()
    cells = [c for c in result["cells"] if c["configuration"] == "small"]
    assert [(c["attempt"], c["state"]) for c in cells] == [(1, "invalid"), (2, "done")]
    assert any("killed by signal 9" in reason for reason in cells[0]["reasons"])
    assert any(a["kind"] == "crash" and a["cell"] == cells[0]["id"]
               for a in result["annotations"])


def test_a_killed_run_takes_its_server_along_and_goes_on_where_it_was(lab):
    process = lab.start(long_window(blocks=2))
    lab.wait_for(lambda result: result["cells"][0]["state"] == "done")
    pid = server_of(process)
    process.kill()
    process.communicate()
    assert ends(pid)
    before = lab.cells()
    assert [c["state"] for c in before].count("done") == 1
    done = lab.run(long_window(blocks=2), "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = lab.cells()
    assert [c["state"] for c in cells] == ["done"] * 4
    assert cells[0] == before[0]
    assert len(list((lab.folder / "lab").glob("*/result.json"))) == 1


def test_nothing_is_resumed_that_is_finished_or_another_experiment(lab):
    assert lab.run(experiment(), "--resume").returncode == 3
    lab.run(experiment(), "--only", "small")
    other = experiment(sample={"interval_ms": 200})
    done = lab.run(other, "--resume")
    assert done.returncode == 3 and "another experiment" in done.stderr
    assert lab.run(experiment(), "--resume").returncode == 0
    view = next((lab.folder / "lab").glob("*/live.json"))
    before = view.stat().st_mtime_ns
    done = lab.run(experiment(), "--resume")
    assert done.returncode == 3 and "finished" in done.stderr
    assert view.stat().st_mtime_ns == before  # it is not this run's


def test_an_interrupted_run_keeps_what_it_has(lab):
    process = lab.start(long_window(blocks=2))
    lab.wait_for(lambda result: result["cells"][0]["state"] == "done")
    process.terminate()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2, output
    states = [(c["state"], c.get("reasons", [])) for c in lab.cells()]
    assert states[0] == ("done", [])
    assert states[-1] == ("planned", ["the run was stopped"])
    assert lab.result()["wasStopped"]
    done = lab.run(long_window(blocks=2), "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(c["state"], len(c["parts"])) for c in lab.cells()] == [("done", 1)] * 4


def test_a_note_stands_in_the_result_with_its_time(lab):
    process = lab.start(long_window(), "--only", "small")
    server_of(process)
    left = bench("note", "a backup runs", "--lab.dir", lab.folder / "lab")
    assert left.returncode == 0, left.stderr
    process.communicate(timeout=120)
    notes = [a for a in lab.result()["annotations"] if a["source"] == "octavo bench note"]
    assert [n["text"] for n in notes] == ["a backup runs"]
    done = bench("note", "too late", "--lab.dir", lab.folder / "lab")
    assert done.returncode == 3 and "no run is at work" in done.stderr


def test_a_time_limit_leaves_the_rest_undone(lab):
    design = {"blocks": 3, "min_transactions": 0, "time_limit_s": 1}
    done = lab.run(experiment(design=design))
    assert done.returncode == 2
    states = [c["state"] for c in lab.cells()]
    assert states[0] == "done" and states[-1] == "planned"
    assert "time limit" in lab.cells()[-1]["reasons"][0]


@pytest.mark.parametrize("name, why", [
    ("perf-893", "workloads[1].repeat: needs data import (mod-data-import)"),
    ("perf-932", "workload.batch.verify: needs mod-rtac and edge-rtac")])
def test_what_cannot_be_run_is_refused_with_what_it_needs(name, why, tmp_path):
    done = bench("run", name, "--profile", "smoke", "--lab.dir", tmp_path)
    assert done.returncode == 3 and why in done.stderr
    assert why in bench("check", name).stdout
    assert not list(tmp_path.iterdir())


def test_the_arms_that_export_reach_the_collector_and_the_others_do_not(lab):
    definition = experiment(
        target={"managed": True, "otlp_sink": True},
        configuration={
            "off": {"baseline": True, "options": {"observability.level": "off"}},
            "on": {"options": {"observability.level": "full",
                               "observability.sample_percent": 100}}})
    assert lab.run(definition).returncode == 0, lab.done.stdout
    spans = [cell["processes"][1]["spans"] for cell in lab.cells()]
    assert spans[0] == 0 and spans[1] > 100


# -------------------------------------------------------------------------------------------------
# Servers that are not the lab's


def strange(stranger, folder, load=None):
    plan = {"name": "things", "loop": [{"transaction": "thing", "steps": [
        {"id": "get", "method": "GET", "path": "/things", "think_before":
            {"kind": "constant", "ms": 5},
         "assert": [{"kind": "json", "path": "$.totalRecords"}]}]}]}
    file = folder / "things.json"
    file.write_text(json.dumps(plan))
    return experiment(
        data={}, target={"url": stranger.url},
        configuration={"theirs": {"baseline": True}},
        workload={"desk": {"file": str(file)}},
        load={"few": load or {"model": "closed", "users": 2}})


def test_a_stranger_is_measured_without_any_call_of_our_own(lab, stranger):
    done = lab.run(strange(stranger, lab.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(stranger.paths) == {"/things"}
    assert list((lab.folder / "lab").glob("*/report.html"))
    cell = lab.cells()[0]
    assert transactions(cell)[0]["ok"]
    assert {s["group"] for s in cell["series"]} == {"driver", "host"}
    assert "deployment" not in cell and "processes" not in cell


def test_a_url_on_the_command_line_measures_the_baseline_only(lab, stranger):
    definition = strange(stranger, lab.folder)
    definition["target"] = {"managed": True}
    definition["data"] = {"recipe": "tiny"}
    definition["configuration"]["other"] = {"options": {"log.level": "warn"}}
    done = lab.run(definition, "--url", stranger.url)
    assert done.returncode == 0, done.stderr
    assert [c["configuration"] for c in lab.cells()] == ["theirs"]


def test_the_open_model_keeps_its_rate(lab, stranger):
    load = {"model": "open", "rate": 50, "arrival": "constant", "max_users": 20}
    assert lab.run(strange(stranger, lab.folder, load)).returncode == 0, lab.done.stdout
    cell = lab.cells()[0]
    assert cell["parts"][0]["model"] == "open" and cell["parts"][0]["rate"] == 50
    assert transactions(cell)[0]["service"]


def with_list(stranger, folder, lines, **marks):
    """Its plan takes a line of a list for each thing."""
    (folder / "things.csv").write_text("".join(f"thing-{i}\n" for i in range(lines)))
    definition = strange(stranger, folder)
    file = folder / "things.json"
    plan = json.loads(file.read_text())
    plan["data"] = [{"file": str(folder / "things.csv"), "columns": ["thing"], "share": "all",
                     "recycle": True, "stop_thread_at_end": True, **marks}]
    plan["loop"][0]["steps"][0]["path"] = "/things/${thing}"
    file.write_text(json.dumps(plan))
    return definition


def test_a_cell_that_runs_out_of_data_ends_at_once_and_is_invalid(lab, stranger):
    definition = with_list(stranger, lab.folder, 60)
    definition["run"]["main"]["steady_s"] = 60
    started = time.monotonic()
    done = lab.run(definition)
    assert done.returncode == 2 and time.monotonic() - started < 40
    cell, = lab.cells()  # a second attempt would end the same
    assert cell["state"] == "invalid"
    assert "things.csv (60 lines) was used up" in cell["reasons"][0]
    assert "take a larger recipe" in cell["reasons"][0]
    assert len(stranger.paths) == len(set(stranger.paths)) == 60
    assert (cell["lists"][0]["taken"], cell["lists"][0]["isUsedUp"]) == (60, True)
    report = next((lab.folder / "lab").glob("*/report.md")).read_text()
    assert "in 1 of 1 cells" in report


def test_a_list_that_may_be_used_again_is_noted_with_its_second(lab, stranger):
    done = lab.run(with_list(stranger, lab.folder, 5, single_use=False))
    assert done.returncode == 0, done.stdout
    cell, = lab.cells()
    assert cell["lists"][0]["taken"] > 5 and not cell["lists"][0].get("servesOnce")
    note, = [a for a in lab.result()["annotations"] if a["kind"] == "data"]
    assert "things.csv (5 lines) was begun again" in note["text"]
    assert note["at"] < lab.result()["endedAt"]


def test_cells_on_the_same_data_go_on_behind_the_lines_of_those_before(lab, stranger):
    definition = with_list(stranger, lab.folder, 5000)
    definition["design"] = {"blocks": 3, "min_transactions": 0}
    assert lab.run(definition).returncode == 0, lab.done.stdout
    assert len(stranger.paths) == len(set(stranger.paths)) > 6
    lists = [c["lists"][0] for c in lab.cells()]
    assert lists[2]["first"] == lists[0]["taken"] + lists[1]["taken"]


def test_a_dead_target_is_an_invalid_run(lab, stranger):
    definition = strange(stranger, lab.folder)
    definition["target"]["url"] = "http://127.0.0.1:1"
    definition["run"]["main"]["steady_s"] = 0.5
    assert lab.run(definition).returncode == 2


@pytest.mark.parametrize("words", [["run"], ["run", "perf-920", "--profil", "x"],
                                   ["run", "nothing-of-that-name"]])
def test_a_wrong_command_line_is_an_error(words):
    done = subprocess.run([program(), "bench", *words], capture_output=True, text=True)
    assert done.returncode == 3 and done.stderr
