"""`diffpeaks predict`, `score` and `info`, and the page that documents all commands."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from clouds import general_position
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from diffpeaks import DensityPeaks, plan
from diffpeaks.cli import COMMANDS, main
from diffpeaks.explorer import Explorer
from diffpeaks.files import FORMATS
from diffpeaks.metrics import bcubed_scores, pairwise_scores

ROOT = Path(__file__).parents[2]
PAGE, README = (ROOT / "docs" / "cli.md").read_text(), (ROOT / "README.md").read_text()
X = general_position(0, 120)
RUN = "import sys; from diffpeaks.cli import main; sys.exit(main())"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the documents name."""
    monkeypatch.chdir(tmp_path)
    ids = [f"s{i}" for i in range(len(X))]
    table = pd.DataFrame(X, columns=["x", "y"])
    table.assign(name=ids).to_csv("points.csv", index=False)
    for day in ("monday", "tuesday"):
        table.assign(name=ids).to_csv(f"{day}.csv", index=False)
    lists = pd.DataFrame({"id": ids, "embedding": list(X), "title": [f"about {name}" for name in ids]})
    lists.to_parquet("points.parquet")
    lists[:20].to_parquet("new.parquet")
    (tmp_path / "embeddings").mkdir()
    for number, rows in enumerate(np.array_split(X, 2)):
        np.save(f"embeddings/part-{number}.npy", rows)
    general_position(1, 100, 4).astype(np.float32).tofile("points.bin")
    truth = pd.DataFrame({"id": ids, "species": ["a", "b"] * 60, "other": 0})
    truth[::-1].to_csv("truth.csv", index=False)
    return tmp_path


def test_new_points_get_the_labels_of_the_model(folder, capsys):
    assert main(["cluster", "points.csv", "--id", "name", "-o", "out.csv", "--save", "m", "--halo"]) == 0
    model = DensityPeaks(halo=True).fit(X)
    new = general_position(5, 30)
    pd.DataFrame(new, columns=["x", "y"]).to_parquet("new.parquet")
    capsys.readouterr()
    assert main(["predict", "m", "new.parquet", "-o", "new.npy", "--json"]) == 0
    assert np.load("new.npy").tolist() == model.predict(new).tolist()
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_samples"], summary["output"]) == (30, "new.npy")
    assert summary["n_noise"] == np.count_nonzero(model.predict(new) == -1)
    np.save("new_points.npy", new)  # which has no names to compare
    assert main(["predict", "m", "new_points.npy", "-o", "new.csv"]) == 0
    assert pd.read_csv("new.csv")["label"].tolist() == model.predict(new).tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["m", "yx.csv"], "'y' .. 'x' (2 in all)|'m'|'x' .. 'y' (2 in all)|--columns"),
        (["m", "points.bin", "--width", "4"], "4 features|2 features"),
        (["points.csv", "points.csv"], "'points.csv'"),
        (["nope", "points.csv"], "diffpeaks: there is no file 'nope'\n"),
        ([".", "points.csv"], "'.' is a folder"),
        (["m", "points.csv", "--id", "name", "-o", "m"], "'m'|is an input"),
    ],
)
def test_other_points_than_those_of_the_model_are_refused(folder, capsys, given, words):
    assert main(["cluster", "points.csv", "--id", "name", "-o", "out.csv", "--save", "m"]) == 0
    pd.DataFrame(X, columns=["y", "x"]).to_csv("yx.csv", index=False)
    capsys.readouterr()
    assert main(["predict", *given]) == 2
    error = capsys.readouterr().err
    assert all(word in error for word in words.split("|")), error


LABELS, TRUTH = np.array([0, 0, 1, 1, -1, -1, 2]), np.array(list("aabbbac"))


def check_scores(found):
    alone = np.array([0, 0, 1, 1, 3, 4, 2])
    assert found["pairwise"] == pairwise_scores(TRUTH, LABELS)._asdict()
    assert found["bcubed"] == bcubed_scores(TRUTH, LABELS)._asdict()
    assert found["ami"] == pytest.approx(adjusted_mutual_info_score(TRUTH, alone))
    assert found["ari"] == pytest.approx(adjusted_rand_score(TRUTH, alone))
    assert (found["n_samples"], found["n_clusters"], found["n_noise"]) == (7, 3, 2)


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
@pytest.mark.parametrize("how", ["one file", "two files", "by id"])
def test_scores_are_those_of_the_functions(folder, capsys, kind, how):
    both = pd.DataFrame({"id": range(7), "label": LABELS, "truth": TRUTH})
    write = {"csv": lambda table, name: table.to_csv(name, index=False), "parquet": pd.DataFrame.to_parquet}
    if kind == "npy":
        np.save("labels.npy", LABELS)
        np.save("truth.npy", TRUTH)
        given = ["labels.npy", "truth.npy"]
    elif how == "one file":
        write[kind](both, f"both.{kind}")
        given = [f"both.{kind}", "--truth-column", "truth"]
    elif how == "two files":
        write[kind](both[["id", "label"]], f"labels.{kind}")
        write[kind](both[["truth"]], f"truth.{kind}")
        given = [f"labels.{kind}", f"truth.{kind}"]
    else:
        write[kind](both[["id", "label"]], f"labels.{kind}")
        write[kind](both[["truth", "id"]][::-1], f"truth.{kind}")
        given = [f"labels.{kind}", f"truth.{kind}", "--id", "id"]
    assert main(["score", *given, "--json"]) == 0
    check_scores(json.loads(capsys.readouterr().out))
    assert main(["score", *given]) == 0
    assert f"bcubed     F {bcubed_scores(TRUTH, LABELS).f:.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "truth", "options", "words"),
    [
        ("label\n1\n", None, [], "--truth-column"),
        ("label\n1\nx\n", "t\n1\n2\n", [], "'labels.csv': row 1, column 'label': 'x'"),
        ("label\n1\n1.5\n", "t\n1\n2\n", [], "row 1, column 'label': '1.5'"),
        ("label\n1\n", "t\n1\n2\n", [], "1 labels|2 values|--id"),
        ("label\n1\n", "t,u\n1,2\n", [], "'truth.csv'|2 columns, ['t', 'u']; name one with --truth-column"),
        (
            "label,i\n1,a\n",
            "t,i,u\n1,a,2\n",
            ["--id", "i"],
            "2 columns beside 'i', ['t', 'u']; name one|--truth",
        ),
        ("label,i\n1,a\n", "i\na\n", ["--id", "i"], "0 columns beside 'i'|--truth-column"),
        ("other\n1\n", "t\n1\n", [], "'labels.csv'|'label'|['other']"),
        ("label,i\n1,a\n", "t,i\n1,b\n", ["--id", "i", "--truth-column", "t"], "row 0, column 'i': 'a'"),
        ("label,i\n1,a\n", "t,i\n1,a\n1,a\n", ["--id", "i", "--truth-column", "t"], "'a' occurs twice"),
    ],
)
def test_labels_that_cannot_be_scored_are_refused(folder, capsys, labels, truth, options, words):
    (folder / "labels.csv").write_text(labels)
    if truth is not None:
        (folder / "truth.csv").write_text(truth)
    assert main(["score", "labels.csv", *([] if truth is None else ["truth.csv"]), *options]) == 2
    error = capsys.readouterr().err
    assert all(word in error for word in words.split("|")), error


def test_info_is_the_plan(folder, capsys):
    assert main(["info", "points.bin", "--width", "4", "--json", "--n-jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    fitted = DensityPeaks().fit(general_position(1, 100, 4).astype(np.float32))
    expected = plan(100, 4, fitted.density_estimator_.n_neighbors_, np.float32, 1)
    assert (found["n_samples"], found["n_features"], found["points_bytes"]) == (100, 4, 1600)
    assert found["n_neighbors"] == fitted.density_estimator_.n_neighbors_
    for name in ("search", "graph_bytes", "peak_bytes", "time"):
        assert found[name] == getattr(expected, name)
    assert found["search"] == fitted.graph_.search
    assert main(["info", "points.bin", "--width", "4"]) == 0
    assert "predicted for the neighbour search alone" in capsys.readouterr().out


def test_info_tells_what_a_device_has(folder, capsys, monkeypatch):
    assert main(["info", "points.bin", "--width", "4", "--device", "gpu"]) == 2
    assert "device='gpu' is unknown to torch" in capsys.readouterr().err
    monkeypatch.setattr("diffpeaks.cli.info.opened", lambda name: torch.device("cpu"))
    monkeypatch.setattr("diffpeaks.cli.info.free_bytes", lambda device: 3 << 30)
    assert main(["info", "points.bin", "--width", "4", "--device", "cuda"]) == 0
    told = capsys.readouterr().out
    assert "search     gpu" in told
    assert "points included; 3.0 GiB are free on cuda" in told


def test_info_says_where_it_cannot_predict(folder, capsys):
    assert main(["info", "points.bin", "--width", "4", "--metric", "manhattan"]) == 0
    assert "prediction none" in capsys.readouterr().out
    assert main(["info", "points.bin", "--width", "4", "--n-neighbors", "101"]) == 2
    assert "n_neighbors=101" in capsys.readouterr().err


def section(title):
    return re.search(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", PAGE, re.DOTALL | re.MULTILINE).group(1)


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*\b", text)) - {"-c", "-"}


def help_of(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    return capsys.readouterr().out


SECTIONS = {
    "cluster": ["diffpeaks cluster", "Parameters", "What is read"],
    "report": ["diffpeaks report", "Parameters", "What is read"],
    "explore": ["diffpeaks explore", "Parameters", "What is read"],
    "predict": ["diffpeaks predict", "What is read", "What is written"],
    "score": ["diffpeaks score"],
    "info": ["diffpeaks info", "What is read"],
}


@pytest.mark.parametrize("command", SECTIONS)
def test_every_option_is_documented(command, capsys):
    documented = set().union(*(options_in(section(title)) for title in SECTIONS[command]))
    offered = set(re.findall(r"^  .*?(--[a-z-]+)", help_of(command, capsys), re.MULTILINE))
    assert offered - {"--help", "--output"} <= documented


def test_every_documented_option_is_there(capsys):
    offered = set().union(*(options_in(help_of(command, capsys)) for command in SECTIONS))
    documented = set(re.findall(r"`(--[a-z-]+)`", PAGE))
    assert len(documented) > 20
    assert documented <= offered
    assert all(f"diffpeaks {command}" in PAGE for command in COMMANDS)


def test_every_format_is_documented():
    table = section("What is read")
    for name, format in FORMATS.items():
        assert f"`{name}`" in table
        assert all(f"`{suffix}`" in table for suffix in format.suffixes)


def test_exit_codes_are_documented_as_the_help_tells_them(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = re.findall(r"^  (\d+) +(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert [code for code, _ in told] == ["0", "1", "2", "130", "141"]
    assert all(f"| {code} | {meaning} |" in PAGE for code, meaning in told)


def commands_in(document):
    blocks = re.findall(r"```sh\n(.*?)```", document, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if "diffpeaks " in line]


@pytest.mark.parametrize("document", [PAGE, README], ids=["page", "readme"])
@pytest.mark.usefixtures("undrawn")
def test_commands_of_the_documents_run(folder, capsys, document, monkeypatch):
    monkeypatch.setattr(Explorer, "wait", Explorer.close)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    commands = commands_in(document)
    assert len(commands) >= 3
    for line in commands:
        if "|" in line:
            whole = f'diffpeaks() {{ {shlex.quote(sys.executable)} -c "{RUN}" "$@"; }}; {line}'
            assert subprocess.run(["bash", "-o", "pipefail", "-c", whole]).returncode == 0
        else:
            assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
