"""The parts of the sensitivity study that need no data from elsewhere."""

import sys
from pathlib import Path

import numpy as np
import pytest
from clouds import general_position

from diffpeaks import DensityPeaks
from diffpeaks_paper.records import Records

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "peers"))

import sensitivity  # noqa: E402
import sets  # noqa: E402
from scoring import noise_alone  # noqa: E402
from sensitivity_report import Study, draw, is_cliff, table  # noqa: E402

X = general_position(0, 120)
Y = np.arange(len(X)) % 3


def lines(agreement=100.0):
    """Of one set, all answers alike but those to fewer neighbours."""
    default = {"bcubed": 80.0, "ami": 70.0, "n_clusters": 3, "noise": 0.0}
    for job in sensitivity.jobs(["moons"]):
        n_answers = {"n_neighbors": 13, "link_share": 13, "min_prominence": 13}.get(job["changed"], 3)
        agreements = [100.0] * n_answers
        if job["changed"] == "n_neighbors":
            agreements[0] = agreement
        yield {**job, "default": default, "agreement": agreements, "bcubed": [80.0] * n_answers}


@pytest.mark.parametrize("system", ["diffpeaks", "HDBSCAN"])
def test_what_the_default_chose_gives_the_default_again(system):
    at_default = sensitivity.SYSTEMS[system](X)
    for knob, values in at_default.values.items():
        chosen = at_default.chosen(knob)
        tried = values(chosen)
        assert tried[len(tried) // 2] == pytest.approx(chosen)
        assert len(tried) % 2 == 1
        assert list(tried) == sorted(tried)
        np.testing.assert_array_equal(at_default.labels_with(knob, chosen), at_default.labels)


def test_knobs_are_set_and_the_default_comes_back():
    moons = sets.load("moons").X
    at_default = sensitivity.DiffPeaks(moons)
    fewer = at_default.labels_with("n_neighbors", 24)
    np.testing.assert_array_equal(fewer, DensityPeaks(n_neighbors=24).fit_predict(moons))
    assert not np.array_equal(at_default.labels_with("steps", 40), at_default.labels)
    model = DensityPeaks().fit(moons)
    assert model.density_estimator_.steps == at_default.chosen("steps")
    all_hills = at_default.labels_with("min_prominence", 0.0)
    np.testing.assert_array_equal(all_hills, model.recut(max_link=model.cut_.max_link))


def test_factors_go_by_a_few_percent_from_four_fifths_to_five_fourths():
    assert (sensitivity.FACTORS[0], sensitivity.FACTORS[-1]) == (pytest.approx(0.8), pytest.approx(1.25))
    assert np.all(sensitivity.FACTORS[1:] / sensitivity.FACTORS[:-1] < 1.04)


def test_agreement_is_with_the_other_answer_and_noise_is_alone():
    same = sensitivity.compared([0, 0, 1, 1], np.array([5, 5, -1, -1]), np.array([1, 1, -1, -1]))
    assert (same["agreement"], same["agreement_ami"], same["noise"]) == (100.0, 100.0, 50.0)
    assert same["bcubed"] < 100
    assert noise_alone([3, -1, 0, -1]).tolist() == [3, 4, 0, 5]


def test_a_line_has_a_value_for_each_answer(monkeypatch):
    monkeypatch.setattr(sensitivity, "load", lambda name, folder: (X, Y, name))
    for job in sensitivity.jobs(["moons"]):
        line = sensitivity.measure(job, None)
        lists = [value for value in line.values() if isinstance(value, list)]
        assert {len(values) for values in lists} == {len(line["values"])}
        if job["changed"] != sensitivity.SUBSAMPLES:
            assert line["agreement"][len(line["values"]) // 2] == 100.0


def test_draws_are_distinct_rows_and_always_the_same():
    first, again = sensitivity.draws(50), sensitivity.draws(50)
    for rows, same in zip(first, again, strict=True):
        assert len(set(rows)) == len(rows) == 40
        np.testing.assert_array_equal(rows, same)
    assert len({tuple(rows) for rows in first}) == sensitivity.N_DRAWS


def test_a_cliff_is_one_step_that_changes_much():
    assert is_cliff([100, 89.9, 89])
    assert not is_cliff([76, 85, 94, 100])


def test_the_table_weighs_fine_and_coarse_steps_alike():
    found = table(Study(list(lines(agreement=40.0))))
    assert "| diffpeaks | `n_neighbors` | 70.0 | 40 (moons) | +0.0 | moons |" in found
    assert "| HDBSCAN | `min_samples` | 100.0 | 100 (moons) | +0.0 | none |" in found


def test_the_figure_is_made_from_lines_alone(tmp_path):
    draw(Study(list(lines())), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_a_missing_line_is_named():
    with pytest.raises(SystemExit, match=r"no line of HDBSCAN on moons, min_samples; run sensitivity\.py"):
        table(Study([line for line in lines() if line["changed"] != "min_samples"]))


def test_the_guide_has_the_table_of_the_committed_lines():
    study = Study(Records(sensitivity.RESULTS).of(experiment=sensitivity.EXPERIMENT))
    assert study.sets == list(sensitivity.SETS)
    guide = (ROOT / "docs" / "choosing-nothing.md").read_text()
    rows = table(study).splitlines()[2:]
    assert len(rows) == len(study.columns)
    assert "\n".join(rows) in guide
