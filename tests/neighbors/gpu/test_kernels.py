"""The kernels of Triton, by its interpreter on the processor: what they mark, list and sum."""

import processes
import pytest

pytest.importorskip("triton")

# in a process of its own, because Triton asks once whether it interprets
CHECK = """
import os
os.environ["TRITON_INTERPRET"] = "1"
from types import SimpleNamespace
import numpy as np
import torch

torch.cuda.get_device_properties = lambda device: SimpleNamespace(multi_processor_count=3, major=8)
from diffpeaks.neighbors.contract import Measure
from diffpeaks.neighbors.gpu import best, ladder, marks, visits
from diffpeaks.neighbors.gpu.devices import FEW_FEATURES
from diffpeaks.neighbors.gpu.distances import measured, squared_distances
from diffpeaks.neighbors.gpu.ladder import DevicePoints, Rung
from diffpeaks.neighbors.gpu.marks import sample_rank
from diffpeaks.neighbors.gpu.table import Columns, Queries

N_POINTS, N_NEAREST = 8200, 4


def check(n_features, dtype, unit):
    random = np.random.default_rng(0)
    centers = 4 * random.normal(size=(10, n_features)).repeat(N_POINTS // 10, axis=0)
    X = random.normal(size=(N_POINTS, n_features)) + centers
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    points = DevicePoints(torch.from_numpy(X.astype(dtype)), Measure(2.0), torch.device("cpu"))
    assert points._marking().suits(N_NEAREST)
    if n_features > FEW_FEATURES:
        assert (points._table("halves").common_bias is not None) == unit
    queries = torch.from_numpy(X[::328].astype(dtype))
    listed, squares, beyond, _ = points._marking().proposed(Queries(queries), N_NEAREST, None)
    exact = squared_distances(queries, points.points, torch.arange(N_POINTS).expand(25, -1))
    exact = torch.cat([exact, torch.full((25, 1), torch.inf)], dim=1)  # of none
    assert (listed.sort(dim=1).values.diff(dim=1) > 0)[listed.sort(dim=1).values[:, 1:] < N_POINTS].all()
    assert (squares == exact.gather(1, listed.long())).all()
    assert (exact.scatter(1, listed.long(), torch.inf) >= beyond[:, None]).all()
    found = points._found(Rung("marks"), Queries(queries), N_NEAREST, torch.full((25,), torch.inf))
    nearest = exact.sort(dim=1, stable=True).indices[:, :N_NEAREST]
    assert (found.indices == nearest)[found.certain].all()
    assert found.certain.float().mean() > 0.9
    known = Queries(queries, torch.arange(0, N_POINTS, 328))
    again = points._found(Rung("marks", 4), known, N_NEAREST, found.farthest)
    assert again.certain.all() and (again.indices == nearest).all()


def check_beginning():  # a sample of the queries tells that marks are enough
    ladder._SAMPLE = 64
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(N_POINTS, 3)))
    points = DevicePoints(X, Measure(2.0), torch.device("cpu"))
    points._tables_for = lambda n_nearest: ["marks", "differences"]
    assert points._ladder(points.points, N_NEAREST)[0].table == "marks"


def check_pairs(n_features, unit):  # each pair is compared once, and marks either of them
    X = np.random.default_rng(0).normal(size=(264, n_features)).astype(np.float32)
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    points = DevicePoints(torch.from_numpy(X), Measure(2.0), torch.device("cpu"))
    marking = points._marking()
    # what a sample would tell, of which there is none among so few points
    columns = marking._table.columns
    marking._reached_by = lambda asked, n: columns.values(asked.rows).topk(8).values[:, -1].float()
    n_done = []
    listed = marking.listed(N_NEAREST, 1 << 30, n_done.append)
    assert sum(n_done) == len(X) and len(n_done) == 2
    some = torch.arange(0, len(X), 33)
    expected = marking.proposed(Queries(points.points[some], some), N_NEAREST, None)
    found = marking.proposed(Queries(points.points[some], some, listed.of(some)), N_NEAREST, None)
    assert (found.beyond == expected.beyond).all()
    for ours, theirs in zip(found[:2], expected[:2]):
        assert (ours.sort(dim=1).values == theirs.sort(dim=1).values).all()
    assert marking.listed(N_NEAREST, 1 << 10, n_done.append) is None


def check_ranks(n_values):  # values that are beaten in their pair are passed over where rows are long
    values = torch.from_numpy(np.random.default_rng(0).integers(0, 40, (7, n_values))).float()
    found = marks.values_of_ranks(values, 2, 9)
    expected = values.topk(10).values[:, [2, 9]]
    assert (found == expected).all() if n_values <= marks._MOST_RANKED else (found <= expected).all()


def check_best_columns():  # of whole numbers, whose products are exact
    random = np.random.default_rng(0)
    rows, columns = (torch.from_numpy(random.integers(-9, 9, (n, 40))).half() for n in (12, 512))
    bias = torch.from_numpy(random.integers(-99, 99, 512)).half()
    bias[300:] = -torch.inf
    values = rows.double() @ columns.double().T + bias.double()
    largest = values.max(dim=1, keepdim=True).values
    assert (values.gather(1, best.best_column(rows, Columns(columns, bias))[:, None]) == largest).all()
    lists = best.best_marked(rows, Columns(columns, bias), 3, 300).long()
    assert lists.shape == (12, 6)
    for row, listed in zip(values, lists):
        first = listed[listed < 300]
        assert len(first) >= 3 and len(set(first.tolist())) == len(first)
        others = np.setdiff1d(np.arange(300), first)
        assert len(first) == 6 or row[first].min() > row[others].max()


def check_first_of_lists(measure):  # ties by the number of the point, and no point comes last
    random = np.random.default_rng(0)
    lists = torch.from_numpy(np.stack([random.permutation(60) for _ in range(20)])).int()
    squares = torch.from_numpy(random.integers(0, 9, lists.shape) / 7) * 2.0 ** torch.arange(20)[:, None]
    squares[lists == 59] = torch.inf  # which stands for none
    nearest, distances, last = marks.nearest_listed(lists, squares, measure, 12)
    points, order = lists.sort(dim=1)
    all_squares = squares.gather(1, order)
    expected, order = measured(all_squares, measure, torch.float32).sort(dim=1, stable=True)
    assert (nearest == points.gather(1, order)[:, :12]).all() and (distances == expected[:, :12]).all()
    assert (last == all_squares.gather(1, order)[:, 11]).all()


def check_visits(n_features, unit):  # members of cells, compared with those who visit
    X = np.random.default_rng(0).normal(size=(300, n_features)).astype(np.float32)
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    points = DevicePoints(torch.from_numpy(X), Measure(2.0), torch.device("cpu"))
    visits._FEWEST_FIRST, visits._TIMES_WANTED = 2, 0
    cell_visits = visits.CellVisits(points, N_NEAREST)
    columns, cells = points.compared_columns(), cell_visits.cells
    assert columns.rows.dtype == torch.half
    which = torch.arange(3, 300, 4)
    visited = torch.stack([torch.randperm(len(cells.counts))[:3] for _ in which])
    visited[:70, 0] = 1  # more than a program takes at once
    found = cell_visits._joined(which, visited)
    products = columns.rows[which].float() @ columns.rows.float().T + columns.bias.float()
    expected = products.gather(1, cells.members[visited].view(len(which), -1)).view(found.shape)
    expected[~cells.is_member[visited]] = -torch.inf
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-5)
    every, some = visits.VisitRule(1e6, 1.0), which[:24]
    nearest, exact = cell_visits.found(some, every), points.found(points.points[some], N_NEAREST)
    assert (nearest.indices == exact.indices).all() and (nearest.distances == exact.distances).all()
    check_lists(cell_visits, which)


def check_lists(cell_visits, which):  # the kernels list what torch lists, in another order
    rule = visits.VisitRule(20.0, 1.0)
    known = cell_visits._known(which, rule.n_deviations)
    n_cells = len(cell_visits.cells.counts)
    assert ((known.cells < n_cells).sum(dim=1) >= 2).all()
    ranked = cell_visits.cells.ranking(1.0).values(cell_visits._columns.rows[which])
    assert (ranked.gather(1, known.cells[:, :2].clamp(max=n_cells)) >= ranked.topk(4).values[:, -1:]).all()
    reached = (known.last - 1e-3).float()
    lists, counts = cell_visits._listed_by_kernel(which, known, reached, rule)
    expected, n_expected = cell_visits._listed_plainly(which, known, reached, rule)
    assert (n_expected > known.points.shape[1]).any()
    # values of cells are halves in torch: some are visited on one side alone
    assert (counts == n_expected).double().mean() > 0.9
    for n, row, others in zip(n_expected, lists, expected):
        if n <= lists.shape[1] and counts[0] == n_expected[0]:
            same = np.intersect1d(row, others)
            assert len(same) >= 0.9 * len(np.unique(others))


check_ranks(50)
check_ranks(40_000)
check_best_columns()
check_first_of_lists(Measure(2.0))
check_first_of_lists(Measure(2.0, squared=True, factor=0.5, zero=0.6))
check_visits(20, False)
check_visits(70, True)
check_beginning()
check_pairs(20, False)
check_pairs(70, True)
for n_wanted in (2, 80, 20_000):  # too few of them in the sample: hardly ever
    drawn = np.random.default_rng(0).poisson(n_wanted / 16, 100_000)
    assert np.mean(drawn >= sample_rank(n_wanted)) <= 0.0075
    assert np.mean(drawn >= sample_rank(n_wanted) - 1) >= 0.005
check(3, np.float32, False)
check(8, np.float64, False)
check(20, np.float32, False)
check(37, np.float64, True)
check(70, np.float32, True)
"""


def test_marked_points_are_the_nearest():
    done = processes.run(CHECK)
    assert done.returncode == 0, done.stderr
