"""Files of faces, and generated points."""

import os

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refuses

from diffpeaks import DensityPeaks, KernelDiffusion, NaiveDensity
from diffpeaks.datasets import (
    faces,
    load_cdp,
    load_learn_to_cluster,
    make_faces,
    make_three_gaussians,
    unit_rows,
    write_faces,
)
from diffpeaks.metrics import pairwise_scores

X = np.random.RandomState(0).normal(size=(5, 3)).astype(np.float32)
LOADERS = {"learn": load_learn_to_cluster, "cdp": load_cdp}
LABELS = {"learn": "labels/part.meta", "cdp": "meta.txt"}
every_format = pytest.mark.parametrize("kind", LOADERS)


@pytest.fixture
def folder(tmp_path):
    """Both formats in one folder."""
    for inner in ("features", "labels"):
        (tmp_path / inner).mkdir()
    (tmp_path / "features/part.bin").write_bytes(X.astype("<f4").tobytes())
    for labels in LABELS.values():
        (tmp_path / labels).write_text("7\n-1\r\n 7\n9000000000\n0")
    (tmp_path / "list.txt").write_text("a/1.jpg\na/2.jpg\nb 1.jpg\nc.jpg\nd.jpg\n")
    return tmp_path


@every_format
def test_files_are_mapped(folder, kind):
    data = LOADERS[kind](folder, "part", n_features=3)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [7, -1, 7, 9_000_000_000, 0]
    assert (data.X.dtype, data.y.dtype, data.name) == (np.float32, np.int64, "part")
    assert isinstance(data.X, np.memmap)
    assert not data.X.flags.writeable


@every_format
def test_truncated_features(folder, kind):
    with refuses("part.bin|60 bytes|2.143 rows of 7 float32|(28 bytes)|n_features"):
        LOADERS[kind](folder, "part", n_features=7)
    with refuses("part.bin|60 bytes|0.059 rows of 256 float32|(1024 bytes)"):
        LOADERS[kind](str(folder), "part")
    (folder / "features/part.bin").write_bytes(b"")
    with refuses("part.bin|0 bytes|above 0"):
        LOADERS[kind](folder, "part", n_features=3)


@every_format
@pytest.mark.parametrize("bad", ["x", "", "1.5", "1 2"])
def test_lines_that_are_no_labels(folder, kind, bad):
    (folder / LABELS[kind]).write_text(f"1\n2\n{bad}\n4\n5\n")
    with refuses(f"{LABELS[kind]}', line 3|{bad!r}|an integer"):
        LOADERS[kind](folder, "part", n_features=3)


@every_format
def test_lengths_that_differ(folder, kind):
    (folder / LABELS[kind]).write_text("1\n2\n3\n")
    with refuses(f"{LABELS[kind]}|3 lines of labels|5 rows|n_features"):
        LOADERS[kind](folder, "part", n_features=3)
    (folder / LABELS[kind]).write_text("1\n2\n3\n4\n9223372036854775808\n")
    with refuses(f"{LABELS[kind]}|64 bits"):
        LOADERS[kind](folder, "part", n_features=3)


@every_format
def test_blank_lines_at_the_end(folder, kind):
    for path in (folder / LABELS[kind], folder / "list.txt"):
        path.write_text(path.read_text().rstrip() + "\n\n \r\n")
    assert LOADERS[kind](folder, "part", n_features=3).y.tolist() == [7, -1, 7, 9_000_000_000, 0]


def test_list_of_other_length(folder):
    (folder / "list.txt").write_text("a.jpg\n" * 6)
    with refuses("list.txt|6 lines of images|5 rows"):
        load_cdp(folder, "part", n_features=3)


@every_format
def test_missing_files_and_folders(folder, kind):
    with pytest.raises(FileNotFoundError, match=r"folder '.*/none' does not exist; .*features/part.bin"):
        LOADERS[kind](folder / "none", "part", n_features=3)
    with pytest.raises(FileNotFoundError, match=r"no file '.*features/other.bin'"):
        LOADERS[kind](folder, "other", n_features=3)
    (folder / LABELS[kind]).unlink()
    with pytest.raises(FileNotFoundError, match=rf"no file '.*{LABELS[kind]}'"):
        LOADERS[kind](folder, "part", n_features=3)
    if kind == "cdp":
        (folder / "list.txt").unlink()
        with pytest.raises(FileNotFoundError, match=r"no file '.*list.txt'"):
            load_cdp(folder, "part", n_features=3)


@pytest.mark.parametrize("n_features", [0, 2.5])
def test_no_number_of_features(folder, n_features):
    with refuses(f"n_features={n_features}|must be"):
        load_learn_to_cluster(folder, "part", n_features)


def test_unit_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("diffpeaks.datasets.face_files._BLOCK", 2)
    expected = np.array(
        [[v / sum(w**2 for w in row) ** 0.5 for v in row] for row in X.astype(float).tolist()]
    )
    units = unit_rows(X)
    assert units.dtype == np.float32
    np.testing.assert_allclose(units, expected, rtol=1e-6)
    np.testing.assert_allclose(unit_rows(X.astype(float)), expected, rtol=1e-15)
    np.testing.assert_allclose(unit_rows(np.array([[3, 4]])), [[0.6, 0.8]])
    on_disk = np.lib.format.open_memmap(tmp_path / "unit.npy", "w+", np.float32, X.shape)
    assert unit_rows(X, out=on_disk) is on_disk
    np.testing.assert_array_equal(on_disk, units)
    for value in (0, np.nan, np.inf):
        bad = X.copy()
        bad[3] = value
        with refuses("rows [3] (1 in all)|drop rows"):
            unit_rows(bad)


@pytest.mark.parametrize("block", [7, faces._BLOCK])
def test_written_faces_are_the_faces_made(tmp_path, monkeypatch, block):
    monkeypatch.setattr(faces, "_BLOCK", block)
    given = {"n_features": 16, "singleton_share": 0.1, "random_state": 5}
    write_faces(tmp_path, "part", 100, 12, **given)
    made, y = make_faces(100, 12, **given)
    assert made.tobytes() == (tmp_path / "features/part.bin").read_bytes()
    assert [int(line) for line in (tmp_path / "labels/part.meta").read_text().splitlines()] == y.tolist()
    loaded = load_learn_to_cluster(tmp_path, "part", 16)
    np.testing.assert_array_equal(loaded.X, made)
    np.testing.assert_array_equal(loaded.y, y)
    assert not np.array_equal(make_faces(100, 12, 16, 0.1, random_state=6)[0], made)


def test_an_interruption_leaves_the_old_faces(tmp_path, monkeypatch):
    write_faces(tmp_path, "part", 20, random_state=0)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_faces(tmp_path, "part", 30, random_state=1)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(FileNotFoundError, match=r"folder='.*none' does not exist; make it"):
        write_faces(tmp_path / "none", "part", 20)


@given(data=st.data(), n_samples=st.integers(1, 300), share=st.floats(0, 1))
@example(data=None, n_samples=300, share=0.25)
def test_sizes_of_identities(data, n_samples, share):
    n_singletons = round(share * n_samples)
    least = n_singletons + (n_singletons < n_samples)
    most = n_samples if n_singletons < n_samples else n_singletons
    n_identities = None if data is None else data.draw(st.none() | st.integers(least, most))
    _, y = make_faces(n_samples, n_identities, 8, share, random_state=0)
    sizes = np.bincount(y)
    default = n_singletons + -(-(n_samples - n_singletons) // 68)
    assert len(sizes) == (default if n_identities is None else n_identities)
    assert sizes.sum() == n_samples
    assert sizes.min() == 1 or not n_singletons
    assert sizes.min() >= 1
    assert np.sum(sizes == 1) >= n_singletons


@pytest.mark.parametrize("mean_cosine", [0.3, 0.6, 0.8, 1])
def test_cosines_of_faces(mean_cosine):
    """Means over all pairs; at 0.3 the bound of the worst cosine adds 0.014."""
    faces, y = make_faces(20_000, 400, 64, mean_cosine=mean_cosine, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(faces.astype(float), axis=1), 1, atol=1e-6)
    sums, sizes = np.zeros((400, 64)), np.bincount(y)
    np.add.at(sums, y, faces.astype(float))
    n_pairs = np.sum(sizes * (sizes - 1))
    assert (np.sum(sums**2) - len(y)) / n_pairs == pytest.approx(mean_cosine, abs=0.02)
    between = (np.sum(sums.sum(axis=0) ** 2) - np.sum(sums**2)) / (len(y) ** 2 - np.sum(sizes**2))
    assert between == pytest.approx(mean_cosine * 0.19 / 10, abs=0.01)  # a tenth of the others look alike


def test_faces_are_like_those_of_ms1m():
    """A long tail of sizes, and poor images."""
    faces, y = make_faces(60_000, random_state=0)
    sizes = np.bincount(y)
    assert len(sizes) == 883  # 60,000 / 68
    assert np.log(sizes[sizes > 10]).std() == pytest.approx(0.8, abs=0.15)  # without the small ones of 1
    assert sizes.max() > 6 * sizes.mean()
    sums = np.zeros((len(sizes), 256))
    np.add.at(sums, y, faces.astype(float))
    cosine = np.sum(faces * (sums / np.linalg.norm(sums, axis=1, keepdims=True))[y], axis=1)[sizes[y] > 30]
    assert 0.002 < np.mean(cosine < 0.35) < 0.02


def test_lookalikes():
    """With perfect images every row is the direction of its identity; there are five groups."""
    centers, _ = make_faces(200, 200, 2048, mean_cosine=1, random_state=0)
    cosines = (centers @ centers.T)[np.triu_indices(200, 1)]
    alike = cosines > 0.1
    assert alike.mean() == pytest.approx(1 / 5, abs=0.02)
    assert cosines[alike].mean() == pytest.approx(0.19, abs=0.01)
    assert cosines[~alike].mean() == pytest.approx(0, abs=0.01)


def test_faces_can_be_told_apart(tmp_path):
    """From the mapped file to clusters."""
    write_faces(tmp_path, "easy", 2000, 40, mean_cosine=0.8, random_state=0)
    mapped, y, _ = load_learn_to_cluster(tmp_path, "easy")
    assert pairwise_scores(y, DensityPeaks(metric="cosine", max_link=0.5).fit_predict(mapped)).f > 0.95


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_samples": 0}, "n_samples=0|at least 1"),
        ({"n_samples": 2.5}, "n_samples=2.5|an integer"),
        ({"n_features": 7}, "n_features=7|at least 8"),
        ({"n_identities": 0}, "n_identities=0|at least 1"),
        ({"n_identities": 101}, "n_identities=101|1 .. 100|fewer identities"),
        ({"n_identities": 30, "singleton_share": 0.3}, "n_identities=30|at least 31"),
        ({"singleton_share": 1.1}, "singleton_share=1.1|0 .. 1"),
        ({"singleton_share": "all"}, "singleton_share='all'|a number"),
        ({"mean_cosine": 0.2}, "mean_cosine=0.2|0.3 .. 1"),
        ({"mean_cosine": np.nan}, "mean_cosine=nan|0.3 .. 1"),
    ],
)
def test_faces_that_cannot_be(tmp_path, given, words):
    with refuses(words):
        make_faces(**{"n_samples": 100, **given})
    with refuses(words):
        write_faces(tmp_path, "part", **{"n_samples": 100, **given})
    assert not list(tmp_path.iterdir())


def test_three_gaussians_have_their_moments():
    points, y = make_three_gaussians(200_000, random_state=0)
    centers, deviations, weights = [(0, 0), (2.2, 0), (0.6, 2.6)], [0.35, 0.7, 1], [0.5, 0.3, 0.2]
    for component in range(3):
        own = points[y == component]
        assert len(own) / len(y) == pytest.approx(weights[component], abs=0.005)
        np.testing.assert_allclose(own.mean(axis=0), centers[component], atol=0.02)
        np.testing.assert_allclose(np.cov(own.T), deviations[component] ** 2 * np.eye(2), atol=0.02)
    assert (points.dtype, y.dtype) == (np.float64, np.int64)
    with refuses("n_samples=0|at least 1"):
        make_three_gaussians(0)


def n_peaks(density, points, min_prominence=0.1):
    values = density.fit(points).density_
    return DensityPeaks(values, n_neighbors=50, min_prominence=min_prominence).fit(points).n_clusters_


@pytest.mark.parametrize("seed", range(5))
def test_one_peak_or_three(seed):
    """Figure 1 of the paper, at one radius; at a smaller one the naive density has three too."""
    points, _ = make_three_gaussians(random_state=seed)
    assert n_peaks(NaiveDensity(radius=1.25), points) == 1
    assert n_peaks(KernelDiffusion(radius=1.25, bandwidth=1.25**2, steps=1), points) == 3
    assert n_peaks(NaiveDensity(radius=0.6), points) == 3


def test_smaller_peaks():
    """What docs/reproduction.md says of all peaks, however little they stand out."""
    draws = [make_three_gaussians(random_state=seed)[0] for seed in range(8)]
    naive = [n_peaks(NaiveDensity(radius=1.25), points, 0.0) for points in draws]
    assert naive == [2, 1, 3, 3, 3, 1, 3, 1]
    walk = KernelDiffusion(radius=1.25, bandwidth=1.25**2, steps=1)
    assert {n_peaks(walk, points, 0.0) for points in draws} == {3, 4}
