"""Experiment files are read strictly."""

import json

import pytest

from conftest import bench, experiment


@pytest.mark.parametrize("name", ["perf-893", "perf-920", "perf-932", "library-size"])
def test_built_in_experiments_pass_the_check_with_all_profiles(name):
    done = bench("check", name)
    assert done.returncode == 0, done.stderr
    assert "(full)" in done.stdout and "short" in done.stdout and "smoke" in done.stdout


def test_a_plan_lists_every_cell_once_and_turns_every_second_block_around():
    done = bench("plan", "perf-920", "--profile", "short")
    ids = [line.split()[1] for line in done.stdout.splitlines() if "/block" in line]
    assert len(ids) == len(set(ids)) == 12
    assert [i.split("/")[2] for i in ids[:6]] == ["without", "with", "with256",
                                                 "with256", "with", "without"]
    assert "expected time" in done.stdout


def test_the_full_experiment_takes_ten_hours():
    assert "expected time 10 h" in bench("plan", "perf-920").stdout


WRONG = {
    "experiment.titel": {"experiment": {"id": "x", "titel": "y"}},
    "surprise": {"surprise": 1},
    "design.blocks": {"design": {"blocks": 0}},
    "design.order": {"design": {"order": "any"}},
    "data.recipe": {"data": {"recipe": "middle"}},
    "load.few.users": {"load": {"few": {"users": "three"}}},
    "load.few: an open model": {"load": {"few": {"model": "open"}}},
    "run.main.workloads[0].lod": {"run": {"main": {"workloads": [{"lod": "few"}]}}},
    "run.main.workloads[0].load: there is no load \"many\"": {
        "run": {"main": {"workloads": [{"workload": "desk", "load": "many"}], "steady_s": 1}}},
    "run.main.steady_s": {"run": {"main": {"workloads": [{"workload": "desk", "load": "few"}]}}},
    "exactly one has \"baseline\": true": {
        "configuration": {"a": {"options": {"log.level": "warn"}}, "b": {}}},
    "configuration.b: does not differ from a": {
        "configuration": {"a": {"baseline": True}, "b": {}}},
    "configuration.a.memory_limit": {
        "configuration": {"a": {"baseline": True, "memory_limit": "2 GB"}}},
    "profile.short.design.block": {"profile": {"short": {"design": {"block": 1}}}},
    "profile.short.run.main.tills": {"profile": {"short": {"run": {"main": {"tills": {}}}}}},
    "target: either managed": {"target": {"managed": True, "url": "http://127.0.0.1:1"}},
    "workload.desk.file: nowhere.json": {"workload": {"desk": {"file": "nowhere.json"}}},
}


@pytest.mark.parametrize("path", WRONG)
def test_what_is_wrong_is_named_by_its_path(path, tmp_path):
    file = tmp_path / "experiment.json"
    file.write_text(json.dumps(experiment(**WRONG[path])))
    done = bench("check", file)
    assert done.returncode == 3
    assert path in done.stderr


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    file = tmp_path / "experiment.json"
    file.write_text(json.dumps(experiment(design={"blocks": -1, "ordre": "x"},
                                          sample={"interval_ms": 1})))
    errors = bench("check", file).stderr
    assert all(path in errors for path in ["design.blocks", "design.ordre", "sample.interval_ms"])


def test_a_profile_is_merged_key_by_key(tmp_path):
    file = tmp_path / "experiment.json"
    definition = experiment(profile={"long": {
        "design": {"blocks": 3},
        "run": {"*": {"steady_s": 9}, "main": {"warmup_s": 4, "desk": {"load": "many"}}},
        "load": {"many": {"users": 50, "ramp_s": 6}}}})
    file.write_text(json.dumps(definition))
    plain, long = bench("plan", file), bench("plan", file, "--profile=long")
    assert plain.stdout.count("/block") == 2 and long.stdout.count("/block") == 6
    first = next(line for line in long.stdout.splitlines() if "/block" in line).split()
    assert first[-2:] == ["6", "9"]  # the ramp-up is longer than the warm-up


def test_an_unknown_profile_names_the_known_ones():
    done = bench("plan", "perf-920", "--profile", "tiny")
    assert done.returncode == 3
    assert "there are: short, seed, smoke, verdict" in done.stderr


def test_list_names_plans_experiments_and_results(tmp_path):
    done = bench("list", "--lab.dir", tmp_path)
    assert done.returncode == 0
    assert "cico" in done.stdout and "perf-920  short seed smoke verdict" in done.stdout
    assert "none" in done.stdout


@pytest.mark.parametrize("command", ["run", "check", "plan", "list", "note", "selfcheck"])
def test_every_command_explains_itself(command):
    done = bench(command, "--help")
    assert done.returncode == 0 and f"octavo bench {command}" in done.stdout


def stepped(**load):
    return experiment(load={"few": {"model": "closed", "ramp_s": 0, **load}})


def test_a_load_in_steps_is_a_run_for_each_step(tmp_path):
    file = tmp_path / "experiment.json"
    file.write_text(json.dumps(stepped(steps=[1, 4, 16])))
    assert bench("check", file).returncode == 0
    ids = [line.split()[1] for line in bench("plan", file).stdout.splitlines() if "/block" in line]
    assert ids == [f"try/block1/{name}/main-{users}" for name in ("small", "large")
                   for users in (1, 4, 16)]


@pytest.mark.parametrize("load, what", [
    ({"steps": [4, 1]}, "must be a list of two or more rising numbers"),
    ({"steps": [3]}, "must be a list of two or more rising numbers"),
    ({"steps": [1, 2.5]}, "users are whole numbers"),
    ({"steps": [1, 2], "users": 3}, "stand in place of users or rate"),
])
def test_steps_that_make_no_sense_are_named(load, what, tmp_path):
    file = tmp_path / "experiment.json"
    file.write_text(json.dumps(stepped(**load)))
    done = bench("check", file)
    assert done.returncode == 3
    assert "load.few.steps" in done.stderr and what in done.stderr
