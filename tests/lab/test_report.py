"""Reports of real runs: files, exit codes, comparison of two results."""

import csv
import json
import xml.etree.ElementTree as xml

import pytest

from conftest import bench, experiment

COMPARED = [{"metric": "check-out.p50"}, {"metric": "cpu.total"}]


def folder_of(lab):
    return sorted(path.parent for path in (lab.folder / "lab").glob("*/result.json"))[-1]


@pytest.fixture
def measured(lab):
    """A run of two small configurations, long enough for both kinds of transactions, with its
    report."""
    lab.run(experiment(compare=COMPARED, run={"main": {
        "workloads": [{"workload": "desk", "load": "few"}], "warmup_s": 0.2, "steady_s": 3.0,
        "cooldown_s": 0.2}},
                       kpi=[{"metric": "error_rate.transactions", "max": 0.5, "severity": "fail"}]))
    return lab


def test_a_run_ends_with_a_report_that_contradicts_nothing(measured):
    page = (folder_of(measured) / "report.html").read_text()

    assert measured.done.returncode == 0, measured.done.stdout + measured.done.stderr
    assert "report.html" in measured.done.stdout
    assert 'class="banner bad"' not in page
    assert "<script" not in page
    for section in ("overview", "summary", "results", "comparison", "resources", "database",
                    "errors", "infrastructure", "methodology"):
        assert f'<section id="{section}">' in page


def test_tables_hold_what_the_result_says(measured):
    folder = folder_of(measured)
    rows = list(csv.DictReader((folder / "tables" / "transactions.csv").open()))

    assert {row["transaction"] for row in rows} == {"check-out", "check-in"}
    for run in ("small", "large"):
        of = {(row["transaction"], row["metric"]): float(row["value"])
              for row in rows if row["run"] == run}
        window = sum(cell["windowS"] for cell in measured.cells() if cell["configuration"] == run)
        count = of["check-out", "transactions"]
        assert count > 0
        assert count / of["check-out", "throughput"] == pytest.approx(window, rel=1e-3)
        assert of["check-out", "min"] <= of["check-out", "median"] <= of["check-out", "max"]
    tests = xml.parse(folder / "junit.xml").getroot().findall("testcase")
    assert len([test for test in tests if test.get("classname") == "cell"]) == 2
    assert (folder / "timeline.csv").read_text().startswith("cell,second,")


def test_the_report_of_a_result_is_the_same_each_time(measured):
    folder = folder_of(measured)
    before = {name: (folder / name).read_bytes() for name in ("report.html", "report.md")}
    done = bench("report", folder.name, "--lab.dir", folder.parent)

    assert done.returncode == 0, done.stderr
    for name, text in before.items():
        assert (folder / name).read_bytes() == text
    assert folder.name in (folder.parent / "index.html").read_text()


def test_a_missed_threshold_is_exit_code_1(lab):
    done = lab.run(experiment(kpi=[{"metric": "transaction.p50", "max_ms": 0.001}]))

    assert done.returncode == 1, done.stdout + done.stderr
    assert 'verdict bad">missed' in (folder_of(lab) / "report.html").read_text()


def test_a_result_that_was_changed_by_hand_is_refuted(measured):
    folder = folder_of(measured)
    result = json.loads((folder / "result.json").read_text())
    for measure in result["cells"][0]["measures"]:
        measure.pop("ok", None)
    (folder / "result.json").write_text(json.dumps(result))
    done = bench("report", folder)

    assert done.returncode == 2
    assert "the seconds hold" in done.stderr
    assert 'class="banner bad"' in (folder / "report.html").read_text()


def test_two_results_are_compared(measured, tmp_path):
    first = folder_of(measured)
    measured.run(experiment(compare=COMPARED, workload={
        "desk": {"file": "workloads/cico.json", "think_scale": 0.03}}))
    second = folder_of(measured)
    done = bench("compare", first, second, "--configuration", "large", "--out", tmp_path / "both")

    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "check-out.p50" in done.stdout
    assert "warning: factor of think times differs: 0.02 and 0.03" in done.stdout
    assert second.name in (tmp_path / "both" / "report.html").read_text()
    done = bench("compare", first, second, "--configuration", "none")
    assert done.returncode == 3
    assert "has no configuration none" in done.stderr
    assert "both are the result" in bench("compare", first, first).stderr


@pytest.mark.parametrize("words", [["report"], ["compare", "a"], ["report", "--what"],
                                   ["report", "nowhere"], ["compare", "a", "b"]])
def test_a_wrong_command_line_says_what_is_wrong(words):
    done = bench(*words)

    assert done.returncode == 3
    assert done.stderr
