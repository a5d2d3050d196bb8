"""`diffpeaks cluster` does what DensityPeaks does, says what it did, and ends as it promises."""

import inspect
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import processes
import pytest
from clouds import general_position

from diffpeaks import DensityPeaks
from diffpeaks.cli import main
from diffpeaks.cli.parameters import PARAMETERS

X = general_position(0, 150)
COMMAND = "import sys; from diffpeaks.cli import main; sys.exit(main())"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", X)
    names = [f"p{i}" for i in range(len(X))]
    pd.DataFrame(X, columns=["x", "y"]).assign(name=names).to_csv("points.csv", index=False)
    return tmp_path


def check_results(found, model):
    assert found["label"].tolist() == model.labels_.tolist()
    density, delta = model.decision_graph()
    np.testing.assert_array_equal(found["density"], density)
    np.testing.assert_array_equal(found["delta"], delta)
    np.testing.assert_array_equal(found["probability"], model.probabilities_)


def read_csv(path):
    """Every number as Python reads its text, to the last bit."""
    return pd.read_csv(path, dtype=str).apply(
        lambda column: column if column.name == "name" else column.map(float)
    )


@pytest.mark.parametrize(
    ("output", "read"), [("out.csv", read_csv), ("out.parquet", pd.read_parquet), (None, read_csv)]
)
def test_labels_are_those_of_the_estimator(folder, capfdbinary, output, read):
    given = ["cluster", "points.csv", "--id", "name"]
    assert main(given + ([] if output is None else ["-o", output])) == 0
    if output is None:
        output = folder / "stdout.csv"
        output.write_bytes(capfdbinary.readouterr().out)
    found = read(output)
    assert found["name"].tolist() == [f"p{i}" for i in range(len(X))]
    check_results(found, DensityPeaks().fit(X))


def test_rows_are_numbered_where_there_is_no_id(folder):
    assert main(["cluster", "points.npy", "points.npy", "-o", "out.csv"]) == 0
    found = read_csv("out.csv")
    assert found["row"].tolist() == list(range(2 * len(X)))
    check_results(found, DensityPeaks().fit(np.concatenate([X, X])))


@pytest.mark.parametrize(
    ("options", "params"),
    [
        (["--n-clusters", "4"], {"n_clusters": 4}),
        (["--n_clusters=4", "--density", "fkd-asym"], {"n_clusters": 4, "density": "fkd-asym"}),
        (["--max-link", "0.4", "--noise", "assign"], {"max_link": 0.4, "noise": "assign"}),
        (["--min-prominence", "0.1", "--halo"], {"min_prominence": 0.1, "halo": True}),
        (["--n-neighbors", "9", "--min-cluster-size", "7"], {"n_neighbors": 9, "min_cluster_size": 7}),
        (["--metric", "cosine", "--search", "brute"], {"metric": "cosine", "search": "brute"}),
        (["--n-neighbors", "auto", "--n-jobs", "1", "--random-state", "3"], {"n_jobs": 1, "random_state": 3}),
    ],
)
def test_options_are_parameters(folder, options, params):
    assert main(["cluster", "points.npy", "-o", "out.npy", *options]) == 0
    assert np.load("out.npy").tolist() == DensityPeaks(**params).fit_predict(X).tolist()


def test_every_parameter_is_an_option():
    """But for arguments of metrics and for recipes, which hold many values, and for ways to tell progress."""
    assert {*PARAMETERS, "metric_params", "recipe", "verbose", "callback"} == set(
        inspect.signature(DensityPeaks).parameters
    )


def test_the_summary_tells_what_was_done(folder, capsys):
    given = ["cluster", "points.npy", "-o", "out.csv", "--save", "points.model", "--min-cluster-size", "5"]
    assert main(given) == 0
    model = DensityPeaks(min_cluster_size=5).fit(X)
    captured = capsys.readouterr()
    n_noise = np.count_nonzero(model.labels_ == -1)
    assert not captured.out
    for words in (
        "150 samples of 2 features, float64",
        f"{model.graph_.n_neighbors} for each sample, euclidean",
        "tree, recall 1, exact",
        f"a prominence of at least {model.cut_.min_prominence:.4g}, the default",
        f"isolated   {model.isolation_}",
        f"clusters   {model.n_clusters_}\n",
        f"noise      {n_noise} samples",
        "out.csv",
        "points.model",
    ):
        assert words in captured.err
    assert main([*given, "--json"]) == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    assert not captured.err
    assert (summary["n_samples"], summary["n_features"], summary["search"]) == (150, 2, "tree")
    assert (summary["n_clusters"], summary["n_noise"], summary["recall"]) == (model.n_clusters_, n_noise, 1)
    assert summary["cut"] == {
        "automatic": True,
        "n_clusters": None,
        "max_link": None,
        "min_prominence": model.cut_.min_prominence,
        "flow_weight": 0.0,
        "size_weight": model.cut_.size_weight,
    }
    assert summary["isolation"] == {"kind": model.isolation_.kind, "why": str(model.isolation_)}
    assert set(summary["seconds"]) == {"read", "fit", "write"}
    assert DensityPeaks.load("points.model").labels_.tolist() == model.labels_.tolist()


def test_the_summary_tells_how_many_samples_stay_alone(folder, capsys):
    X = np.array([[0.0], [1.0], [2.0], [50.0], [90.0], [91.0]])
    np.save("line.npy", X)
    given = ["cluster", "line.npy", "-o", "out.npy", "--max-link", "3"]
    assert main(given) == 0
    assert "clusters   3 (1 of one sample)\n" in capsys.readouterr().err
    assert main([*given, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_clusters"], summary["n_singletons"], summary["n_noise"]) == (3, 1, 0)


def test_the_summary_is_json_where_a_bound_is_infinite(folder, capsys):
    assert main(["cluster", "points.npy", "-o", "out.npy", "--json", "--n-clusters", "3"]) == 0
    cut = json.loads(capsys.readouterr().out)["cut"]
    assert cut["max_link"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--n-clusters", "0"], ["n_clusters", "0"]),
        (["--n-clusters", "151"], ["n_clusters=151", "n_samples=150"]),
        (["--metric", "nowhere"], ["nowhere"]),
        (["--n-neighbors", "9", "--density", "lc"], ["n_neighbors=9", "'lc'"]),
        (["--json"], ["--json", "-o"]),
        (["-o", "points.npy"], ["'points.npy'", "is an input"]),
        (["-o", "nowhere/out.csv"], ["nowhere", "does not exist"]),
        (["--save", "points.npy"], ["'points.npy'", "is an input"]),
        (["-o", "same.csv", "--save", "same.csv"], ["'same.csv' is named twice", "-o", "--save"]),
        (["-o", "same.csv", "--save", "./same.csv"], ["'./same.csv' is named twice"]),
    ],
)
def test_refusals_are_one_line(folder, capsys, options, words):
    before = set(os.listdir())
    assert main(["cluster", "points.npy", *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert all(word in captured.err for word in words)
    assert not captured.out
    assert set(os.listdir()) == before


@pytest.mark.parametrize(
    "given",
    [["cluster"], ["nothing"], ["cluster", "points.npy", "--noise", "x"], ["cluster", "--n-clusters", "x"]],
)
def test_bad_usage_is_2(folder, given):
    with pytest.raises(SystemExit) as stopped:
        main(given)
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (MemoryError(), 1),
        (OSError(28, "No space left on device"), 1),
        (RuntimeError("the limit was not reached"), 1),
        (ValueError("bad"), 2),
    ],
)
def test_exit_codes_while_working(folder, monkeypatch, capsys, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr("os.fsync", fail)  # the last step before a file is renamed
    (folder / "out.csv").write_text("before")
    assert main(["cluster", "points.npy", "-o", "out.csv"]) == code
    assert capsys.readouterr().err.startswith("diffpeaks: ")
    assert (folder / "out.csv").read_text() == "before"
    assert set(os.listdir()) == {"points.npy", "points.csv", "out.csv"}


def test_an_interruption_from_the_keyboard(folder):
    """The run waits for more of its input, which a named pipe shows."""
    os.mkfifo("pipe.csv")
    with open("error", "w") as error:
        run = processes.Process(COMMAND, "cluster", "pipe.csv", "-o", "out.csv", stderr=error.fileno())
    with open("pipe.csv", "w") as pipe:
        pipe.write("a,b\n1,2\n")
        pipe.flush()
        os.kill(run.pid, signal.SIGINT)
        assert run.wait() == 130
    assert (folder / "error").read_text().startswith("diffpeaks: interrupted")
    assert not (folder / "out.csv").exists()


def test_standard_input_to_standard_output(folder):
    words = ["cluster", "-", "--format", "csv", "--id", "name", "--n-clusters", "3"]
    run = processes.run(COMMAND, *words, input=(folder / "points.csv").read_bytes())
    assert run.returncode == 0
    (folder / "out.csv").write_text(run.stdout)
    assert pd.read_csv("out.csv")["label"].tolist() == DensityPeaks(n_clusters=3).fit_predict(X).tolist()
    assert "150 samples of 2 features" in run.stderr


@pytest.mark.parametrize("error_goes_there_too", [False, True])
def test_a_reader_that_goes_away_ends_the_run_quietly(folder, error_goes_there_too):
    np.save("many.npy", np.random.RandomState(0).normal(size=(5000, 2)))
    reader, writer = os.pipe()
    os.close(reader)
    with open("error", "wb") as error:
        other = writer if error_goes_there_too else error.fileno()
        run = processes.Process(COMMAND, "cluster", "many.npy", stdout=writer, stderr=other)
    os.close(writer)
    assert run.wait() == 141
    assert not (folder / "error").read_bytes()


def test_the_help_imports_no_command_and_no_library():
    code = (
        "import sys; from diffpeaks.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "late = ('diffpeaks.cli.', 'diffpeaks.files', 'diffpeaks_paper', 'numpy', 'scipy', 'sklearn')\n"
        "assert not [name for name in sys.modules if name.startswith(late)]"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "130  interrupted" in run.stdout
