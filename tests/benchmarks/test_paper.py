"""The experiments of the paper, on sets that need no files: they run, resume, and refuse bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
from clouds import general_position, rows_of

from diffpeaks import neighbor_graph
from diffpeaks.cli import main
from diffpeaks.datasets import UCI_NAMES
from diffpeaks_paper import benchmark_sets, cost, face_runs, published
from diffpeaks_paper.benchmark_tables import Results, benchmark_table
from diffpeaks_paper.definitions import (
    DENSITIES,
    DIFFUSION_DENSITIES,
    FACE_SETS,
    GRIDS,
    NORMALIZATIONS,
    PEAK_RULES,
    settings,
)
from diffpeaks_paper.face_baselines import BASELINES
from diffpeaks_paper.face_tables import face_table
from diffpeaks_paper.faces import ball_graph
from diffpeaks_paper.records import Records

ROOT = Path(__file__).parents[2]
N_FACES = 1000


@pytest.fixture(scope="module")
def iris():
    """All lines of iris on the paper's grid."""
    jobs = [job for job in benchmark_sets.jobs(["iris"]) if job["grid"] == "paper"]
    return [{**job, **benchmark_sets.run(job), "seconds": 0.0} for job in jobs]


def best(lines, density, rule, score):
    return max(line["best"][f"{rule}/{score}"]["f"] for line in lines if line["density"] == density)


@pytest.mark.parametrize("density", ["kd-asym", "fkd-asym"])
def test_setosa_against_the_rest_is_the_papers_cell(iris, density):
    """Unscaled, at 40% and 50% of the samples, there are two hills, and the paper's 74.6 / 80.0."""
    unscaled = [line for line in iris if line["normalization"] == "none"]
    published_cell = [published.BENCHMARK_SETS["table1"]["iris", s, density] for s in published.SCORES]
    assert published_cell == [74.6, 80.0]
    graph, y = benchmark_sets._graph("iris", "none", None)
    for share in (0.4, 0.5):
        at = [d for d in settings(density, GRIDS["paper"], graph) if d.n_neighbors == share * len(y)]
        cuts = {(rule, score): cut for rule, score, cut in benchmark_sets._cuts(at[0].fit(graph), graph, y)}
        found = [cuts["hills", score] for score in published.SCORES]
        assert [round(cut["f"], 1) for cut in found] == published_cell
        assert {cut["n_clusters"] for cut in found} == {2}
    assert best(unscaled, density, "max_link", "bcubed") >= 80.0


def test_no_rule_is_worse_than_no_cut(iris):
    for line in iris:
        for score in published.SCORES:
            hills = line["best"][f"hills/{score}"]["f"]
            assert all(
                line["best"][f"{rule}/{score}"]["f"] >= hills for rule in ("max_link", "min_prominence")
            )


def test_published_values_are_whole():
    for table in published.BENCHMARK_SETS.values():
        assert len(table) == len(UCI_NAMES) * len(published.SCORES) * len(DENSITIES)
        assert {key[0] for key in table} == set(UCI_NAMES)


def test_a_job_for_everything():
    assert len(benchmark_sets.jobs()) == 13 * len(NORMALIZATIONS) * len(GRIDS) * len(DENSITIES)
    graph = neighbor_graph(general_position(0, 100), 100)
    paper = {density: settings(density, GRIDS["paper"], graph) for density in DENSITIES}
    assert {density: len(found) for density, found in paper.items()} == {
        **{"naive": 10, "lc": 50, "kd-sym": 10, "fkd-sym": 10},
        **{"kd-asym": 5, "fkd-asym": 5},
    }
    assert [d.n_neighbors for d in paper["fkd-asym"]] == [10, 20, 30, 40, 50]


def test_tables_only_read(tmp_path, iris, capsys):
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in iris))
    for table in ("table1", "table4"):
        text = benchmark_table(Records(path), table)
        assert "| iris | F_P | 7" in text
        assert "49.5" in text  # one cluster
    assert main(["paper", "table1", "--read", "--results", str(path), "--output", str(tmp_path)]) == 2
    assert "of 468 results are not in" in capsys.readouterr().err


@pytest.mark.parametrize("rule", PEAK_RULES)
def test_every_rule_is_in_the_lines(iris, rule):
    assert all(f"{rule}/{score}" in line["best"] for line in iris for score in published.SCORES)


def test_balls_are_the_lists_closed_under_symmetry():
    graph = neighbor_graph(general_position(3, 80), 9)
    for radius in (0.3, 0.8, 5.0):
        balls = ball_graph(graph, radius)
        near = {
            (i, j)
            for i, row in enumerate(rows_of(graph))
            for j, d in zip(row, graph.distances[graph.indptr[i] :], strict=False)
            if d <= radius
        }
        pairs = {(i, j) for i, row in enumerate(rows_of(balls)) for j in row}
        assert pairs == near | {(j, i) for i, j in near}
        balls.check_symmetric()


@pytest.mark.parametrize("method", [*DENSITIES, *face_runs.OURS, *BASELINES])
def test_every_method_finds_the_faces(tmp_path_factory, method):
    work = str(tmp_path_factory.getbasetemp() / "graphs")
    job = {"set": "ms1m", "source": "generated", "n_samples": N_FACES, "method": method}
    found = face_runs.run(job, None, work)
    assert found["recall"] == 1
    floor = 50 if method in ("ARO", "Leiden") else 90
    assert found["bcubed"]["f"] > floor
    if method in DENSITIES:
        recall = found["curve"]["bcubed"]["recall"]
        assert recall == sorted(recall)


def test_the_cost_is_measured_in_a_process_of_its_own(tmp_path):
    job = cost.jobs("ms1m", "generated", N_FACES)[-1]
    found = cost.run(job, None, str(tmp_path))
    assert found["entries"] == 80 * N_FACES
    assert found["density_seconds"] >= 0


@pytest.fixture
def drawn(tmp_path_factory, monkeypatch):
    """Draw a figure in a folder that all of them share; returns the size of its file."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.delenv("DIFFPEAKS_DATA", raising=False)
    output = tmp_path_factory.getbasetemp() / "figures"

    def draw(figure, *arguments):
        size = [] if figure == "figure1" else ["--samples", str(N_FACES)]
        given = ["paper", figure, "--output", str(output), *size, *arguments]
        assert main(given) == 0
        return (output / f"{figure}.png").stat().st_size

    return draw


@pytest.mark.parametrize("figure", ["figure1", "figure2", "figure3"])
def test_figures_are_drawn(drawn, figure):
    assert drawn(figure) > 10_000


def test_the_figure_of_the_cost_only_reads(drawn, tmp_path):
    path = tmp_path / "results.jsonl"
    jobs = cost.jobs("ms1m", "generated", N_FACES)
    lines = [
        {**job, "density_seconds": job["n_samples"] / 1e3, "kilobytes": job["n_samples"]} for job in jobs
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert drawn("figure4", "--read", "--results", str(path)) > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table1", "--data", "nowhere"], "the data folder 'nowhere' does not exist; correct --data"),
        (["table1", "--data", ""], "the data folder '' does not exist; correct --data"),
        (["table4", "--generated"], "--generated is for faces; table4 has none"),
        (["table3", "--samples", "10"], "--samples=10 must be at least 1000"),
        (["table1", "--samples", "5000"], "--samples is for faces; table1 has none"),
        (["table1", "--jobs", "0"], "--jobs=0 must be at least 1"),
    ],
)
def test_refusals_are_one_line(tmp_path, capsys, arguments, message):
    assert main(["paper", *arguments, "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("table", ["table1", "table4"])
def test_the_documents_hold_the_tables_of_the_results(table):
    records = Records(ROOT / "benchmarks" / "results" / "paper.jsonl")
    assert (ROOT / "docs" / "reproduction" / f"{table}.md").read_text() == benchmark_table(records, table)


@pytest.mark.parametrize(("table", "name"), [("table2", "emore_200k"), ("table3", "ms1m")])
def test_the_documents_hold_the_tables_of_faces(table, name):
    records = Records(ROOT / "benchmarks" / "results" / "paper.jsonl")
    expected = face_table(records, name, "generated", FACE_SETS[name].n_samples)
    assert (ROOT / "docs" / "reproduction" / f"{table}.md").read_text() == expected


@pytest.mark.parametrize("table", ["table1", "table4"])
def test_diffusion_passes_the_papers_best_in_every_row(table):
    """What docs/reproduction.md says, from the lines of the runs."""
    results = Results(Records(ROOT / "benchmarks" / "results" / "paper.jsonl"), table)
    assert results.names == list(UCI_NAMES)
    for name in UCI_NAMES:
        for score in published.SCORES:
            theirs = max(published.BENCHMARK_SETS[table][name, score, d] for d in DENSITIES)
            assert round(results.f(name, score, DIFFUSION_DENSITIES), 1) >= theirs


@pytest.fixture(scope="module")
def lines():
    """The results that docs/reproduction.md tells of."""
    return Records(ROOT / "benchmarks" / "results" / "paper.jsonl")


@pytest.mark.parametrize(
    ("score", "other", "told"),
    [
        ("pairwise", "naive", [1.1, 1.8]),
        ("pairwise", "lc", [1.5, 2.2]),
        ("bcubed", "naive", [0.2, 0.7]),
        ("bcubed", "lc", [0.6, 0.9]),
    ],
)
def test_the_recall_that_figure_2_is_said_to_show(lines, score, other, told):
    """At the same precision, from 98.5 to 99.8, by each density of the walk."""

    def recall(density):
        (line,) = lines.of(experiment=face_runs.METHODS, set="ms1m", method=density)
        curve = line["curve"][score]
        falling = np.minimum.accumulate(curve["precision"])
        return np.interp(np.linspace(98.5, 99.8, 14), falling[::-1], curve["recall"][::-1])

    more = np.array([recall(density) - recall(other) for density in DIFFUSION_DENSITIES])
    assert [round(float(bound), 1) for bound in (more.min(), more.max())] == told


def test_the_time_that_figure_4_is_said_to_show(lines):
    seconds = {
        density: np.array([line["density_seconds"] for line in lines.of(experiment="cost", density=density)])
        for density in ("kd-asym", "fkd-asym")
    }
    ratio = np.rint(seconds["kd-asym"] / seconds["fkd-asym"])
    assert (ratio.min(), ratio.max(), ratio[-1]) == (159, 436, 182)


def test_the_command_knows_its_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("diffpeaks ")
