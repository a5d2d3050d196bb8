"""Generated faces more like photographs: each parameter does what it says, and nothing by default."""

import numpy as np
import pytest
from refusals import refuses

from diffpeaks.datasets import LFW_LIKENESS, load_learn_to_cluster, make_faces, write_faces


def mean_cosine_of_pairs(X, y):
    """Over all pairs of images of one identity."""
    sums = np.zeros((y.max() + 1, X.shape[1]))
    np.add.at(sums, y, X.astype(float))
    sizes = np.bincount(y)
    return (np.sum(sums**2) - len(y)) / np.sum(sizes * (sizes - 1))


def test_rows_that_were_generated_before_stay_as_they_are():
    X, y = make_faces(500, 30, 32, 0.02, random_state=7)
    expected = [[0.2262, -0.1316, -0.1973], [0.0680, 0.1129, 0.0503], [0.0112, -0.1788, 0.0627]]
    np.testing.assert_allclose(X[[0, 250, 499], :3], expected, atol=6e-5)
    assert y[:12].tolist() == [18, 18, 18, 19, 10, 17, 6, 6, 17, 8, 8, 6]


def test_a_tail_of_sizes():
    """Sizes above s are as many as s^-1.5: ten times fewer at 4.6 times the size."""
    sizes = np.bincount(make_faces(400_000, 40_000, 8, size_tail=1.5, random_state=0)[1])
    assert len(sizes) == 40_000
    above = [np.sum(sizes > size) for size in (100, 464)]
    assert above[0] / above[1] == pytest.approx(10, rel=0.4)
    lognormal = np.bincount(make_faces(400_000, 40_000, 8, random_state=0)[1])
    assert sizes.max() > 10 * lognormal.max()
    assert np.median(sizes) < np.median(lognormal)


def test_directions_of_unequal_width():
    """With perfect images every row is a direction; squares along features fall by the ratio."""
    X, _ = make_faces(
        20_000, 20_000, 64, mean_cosine=1, direction_ratio=9, lookalike_cosine=0, random_state=0
    )
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-5)
    spread = np.mean(X.astype(float) ** 2, axis=0)
    assert spread[0] / spread[-1] == pytest.approx(9, rel=0.15)
    assert spread[0] / spread[31] == pytest.approx(9 ** (31 / 63), rel=0.15)


@pytest.mark.parametrize("pose_cosine", [0.3, 0.8])
def test_poses(pose_cosine):
    """What is beside the identity is the same for one pair in six, up to the part that is its own."""
    X, y = make_faces(
        6000, 20, 256, pose_cosine=pose_cosine, mean_cosine=0.6, lookalike_cosine=0, random_state=0
    )
    assert mean_cosine_of_pairs(X, y) == pytest.approx(0.6, abs=0.025)
    beside = []
    for identity in range(20):
        own = X[y == identity].astype(float)
        center = own.mean(axis=0) / np.linalg.norm(own.mean(axis=0))
        away = own - np.outer(own @ center, center)
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        beside.append((away @ away.T)[np.triu_indices(len(own), 1)])
    beside = np.concatenate(beside)
    alike = beside > pose_cosine / 2  # the others are around -pose_cosine / 6, for the mean was taken away
    assert alike.mean() == pytest.approx(1 / 6, abs=0.05)
    # the centre holds a sixth of each pose, and what is left of two images is a little less alike
    assert beside[alike].mean() == pytest.approx(pose_cosine, abs=0.1)


def test_images_of_someone_else():
    """With perfect images a row is the direction of its identity, or that of another."""
    right, y = make_faces(20_000, 200, 64, mean_cosine=1, random_state=0)
    wrong, same = make_faces(20_000, 200, 64, mean_cosine=1, wrong_share=0.1, random_state=0)
    np.testing.assert_array_equal(y, same)
    moved = np.abs(right - wrong).max(axis=1) > 1e-5
    assert moved.mean() == pytest.approx(0.1, abs=0.01)
    centers = np.zeros((200, 64))
    centers[y] = right
    np.testing.assert_allclose((wrong[moved] @ centers.T).max(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("cosine", [0.0, 0.5])
def test_how_alike_lookalikes_are(cosine):
    centers, _ = make_faces(200, 200, 2048, mean_cosine=1, lookalike_cosine=cosine, random_state=0)
    cosines = (centers @ centers.T)[np.triu_indices(200, 1)]
    alike = cosines > 0.2
    assert alike.mean() == pytest.approx(0.2 if cosine else 0, abs=0.02)
    if cosine:
        assert cosines[alike].mean() == pytest.approx(cosine, abs=0.01)


def test_likeness_in_a_file(tmp_path):
    """What is written is what is returned, over several blocks of rows."""
    given = {**LFW_LIKENESS, "n_features": 16, "random_state": 5}
    made, y = make_faces(40_000, 17_000, **given)
    write_faces(tmp_path, "alike", 40_000, 17_000, **given)
    loaded = load_learn_to_cluster(tmp_path, "alike", 16)
    np.testing.assert_array_equal(loaded.X, made)
    np.testing.assert_array_equal(loaded.y, y)
    assert np.mean(np.bincount(y)[y] == 1) == pytest.approx(0.31, abs=0.02)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size_tail": 0.9}, "size_tail=0.9|1 .. 100"),
        ({"size_tail": "long"}, "size_tail='long'|a number"),
        ({"direction_ratio": 0.5}, "direction_ratio=0.5|1 .. 1000000"),
        ({"direction_ratio": np.inf}, "direction_ratio=inf|1 .. 1000000"),
        ({"pose_cosine": -0.1}, "pose_cosine=-0.1|0 .. 1"),
        ({"wrong_share": 1.1}, "wrong_share=1.1|0 .. 1"),
        ({"lookalike_cosine": np.nan}, "lookalike_cosine=nan|0 .. 1"),
    ],
)
def test_likeness_that_cannot_be(tmp_path, given, words):
    with refuses(words):
        make_faces(100, **given)
    with refuses(words):
        write_faces(tmp_path, "part", 100, **given)
    assert not list(tmp_path.iterdir())
