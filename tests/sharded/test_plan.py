"""What a run in shards takes is predicted from the shape, and too low a limit is refused beforehand."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from diffpeaks.neighbors import ApproximateSearch
from diffpeaks.sharded import ShardedDensityPeaks, plan_shards
from diffpeaks.sharded.budget import Budget, bytes_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (5, 5),
        (np.int64(10**12), 10**12),
        ("4GB", 4 * 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("300mb", 3 * 10**8),
        ("77", 77),
    ],
)
def test_sizes_are_numbers_or_words(given, expected):
    assert bytes_of(given) == expected


@pytest.mark.parametrize("wrong", ["", "many", "4 G B", "-1GB", "0", 0, True, None, 1.5])
def test_other_sizes_are_refused(wrong):
    with pytest.raises(
        ValueError, match=r"is no number of bytes; use an integer above 1, or text like '4GB'"
    ):
        bytes_of(wrong)


def test_pieces_hang_on_the_data_alone():
    budgets = [Budget.of(limit, 10**6, 512, 10**6) for limit in (10**9, 4 * 10**9)]
    assert budgets[0].piece_bytes == budgets[1].piece_bytes
    assert budgets[0].room < budgets[1].room


def test_more_points_and_features_take_more_and_workers_take_less_time():
    small, large = (plan_shards(n, 64, memory_limit="8GB") for n in (10**6, 10**7))
    for name in ("driver_bytes", "disk_bytes", "moved_bytes", "hours"):
        assert getattr(large, name) > getattr(small, name)
    assert plan_shards(10**7, 64, n_workers=4, memory_limit="8GB").hours == pytest.approx(large.hours / 2)
    assert plan_shards(10**7, 256, memory_limit="8GB").hours > large.hours
    assert (plan_shards(10_000, 10).search, small.search) == ("exact", "approximate")


def test_files_of_a_run_are_as_large_as_planned(tmp_path):
    X, _ = make_blobs(20_000, 32, centers=20, cluster_std=5.0, random_state=0)
    X = X.astype(np.float32)
    search = ApproximateSearch(0.9)
    ShardedDensityPeaks(executor="serial", search=search, work_folder=tmp_path / "work").fit(X)
    found = sum(path.stat().st_size for path in (tmp_path / "work").rglob("*") if path.is_file())
    planned = plan_shards(*X.shape).disk_bytes
    assert planned / 2 < found < 2 * planned


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_samples": 0, "n_features": 2}, "n_samples"),
        ({"n_samples": 5, "n_features": 0}, "n_features"),
        ({"n_samples": 5, "n_features": 2, "n_workers": 0}, "n_workers"),
        ({"n_samples": 10**9, "n_features": 256, "memory_limit": "4GB"}, "too little"),
    ],
)
def test_shapes_and_limits_are_refused_by_name(params, message):
    with pytest.raises(ValueError, match=message):
        plan_shards(**params)
