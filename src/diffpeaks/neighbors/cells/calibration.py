"""How much a stated recall needs: calibrated on a sample of the very data, and measured there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diffpeaks.graph.rows import RaggedRows
from diffpeaks.neighbors.cells.costs import LISTED, PROJECTION, visit_cost
from diffpeaks.neighbors.cells.join import CellJoin, PlacedQueries
from diffpeaks.neighbors.cells.rules import CellDistances, CellFacts, Rule, share_bound
from diffpeaks.neighbors.cells.truth import MARGIN, RELAXED, Truth, drawn_points

_FIRST_PROBES: tuple[int, ...] = (4, 8)
_SPREAD_WEIGHTS: tuple[float, ...] = (0.5, 0.75)
_NOT_LISTED = 0.3  # of what may be missed: lost because coordinates mislead, the rest in cells not visited
_LISTED = (3, 8)  # for each neighbour: lengths of a shortlist that are tried
_WORTH_REFINING = 0.6  # of the cost: more coordinates are tried where they may bring it down to that


class Sampled(NamedTuple):
    """Some of the points as queries of a join, with their exact neighbours."""

    queries: PlacedQueries
    truth: Truth

    @classmethod
    def of(cls, join: CellJoin, counts: NDArray[np.int64], n_neighbors: int) -> Sampled:
        """Of points, of which so many lie where each lies."""
        which = drawn_points(counts)
        queries = join.queries(join.space.points).some(which)
        rows = join.nearest(queries, n_neighbors).indices.reshape(len(which), n_neighbors)
        return cls(queries, Truth.of(which, rows, counts))

    def placed_in(self, join: CellJoin) -> Sampled:
        """The same in another join of the same points."""
        return self._replace(queries=join.queries(join.space.points).some(self.truth.which))

    def halves(self) -> tuple[Sampled, Sampled]:
        """Every other query, and those between them."""
        places = np.arange(len(self.truth.which))
        parts = zip((places[::2], places[1::2]), self.truth.halves(), strict=True)
        fitted, unseen = (Sampled(self.queries.some(part), truth) for part, truth in parts)
        return fitted, unseen


class Ruled(Protocol):
    """A join that compares points by a rule, in memory (`RuledJoin`) or elsewhere."""

    n_neighbors: int
    n_points: int
    n_features: int
    n_listed_features: int  # of points on shortlists, zero where there are none

    @property
    def cells(self) -> CellFacts: ...
    def homes_of(self, points: NDArray[np.int32]) -> NDArray[np.int32]: ...
    def listed(self, queries: PlacedQueries, n_listed: int) -> NDArray[np.int32]: ...
    def found(self, queries: PlacedQueries, rule: Rule) -> RaggedRows: ...
    def found_by_each(self, queries: PlacedQueries, rules: Sequence[Rule]) -> Iterable[RaggedRows]: ...
    def limit(self, queries: PlacedQueries, rule: Rule) -> NDArray[np.float64]: ...


class CalibratedJoin:
    """A join that compares only as many points as a recall needs."""

    def __init__(self, ruled: Ruled, sample: Sampled, recall: float, earlier: Rule | None = None) -> None:
        """An `earlier` rule is that of the points before they were moved: only its kind is tried."""
        self._ruled, self._n_neighbors = ruled, ruled.n_neighbors
        fitted, unseen = sample.halves()
        self.rule = rule = self._cheapest_rule(fitted, recall + MARGIN * (1 - recall), earlier)
        self.recall, self.recall_error, self.reached = 0.0, 1.0, False
        if rule.n_probes == len(ruled.cells.sizes):
            return  # visiting all cells saves nothing, and not even that may be enough
        relaxed = [rule.relaxed(share) for share in RELAXED]
        for self.rule, rows in zip(relaxed, ruled.found_by_each(unseen.queries, relaxed), strict=True):
            found = rows.indices.reshape(len(unseen.truth.which), -1)
            self.recall, self.recall_error = unseen.truth.estimate(found)
            self.reached = self.recall - self.recall_error >= recall
            if self.reached:
                break

    def found(self, queries: PlacedQueries) -> RaggedRows:
        """The nearest points of those that the rule compares."""
        return self._ruled.found(queries, self.rule)

    def __str__(self) -> str:
        n_features, n_coordinates = self._ruled.n_features, self._ruled.cells.n_coordinates
        if not self._ruled.n_listed_features:
            return f"all {n_features} features"
        return f"lists of {self.rule.n_listed} by {n_coordinates} of {n_features} directions"

    def is_cheaper_than_exact(self) -> bool:
        """Whether the recall is reached, and for less than comparing all points."""
        comparing_all = self._ruled.n_points * visit_cost(self._ruled.n_features)
        return self.reached and self.rule.cost < comparing_all / 2

    def wants_more_coordinates(self) -> bool:
        """Whether these tell so little that shortlists are long: with more, they could be much shorter."""
        n_features, n_coordinates = self._ruled.n_listed_features, self._ruled.cells.n_coordinates
        if not n_features:
            return False
        listing = self.rule.n_listed * n_features * LISTED
        visiting = (self.rule.cost - listing) * visit_cost(2 * n_coordinates) / visit_cost(n_coordinates)
        projecting = 2 * n_coordinates * n_features * PROJECTION
        at_best = visiting + self._n_neighbors * n_features * LISTED + projecting
        return not self.reached or at_best < _WORTH_REFINING * self.rule.cost

    def _cheapest_rule(self, sample: Sampled, recall: float, earlier: Rule | None) -> Rule:
        places, n_listed = self._shortlist(sample, 1 - _NOT_LISTED * (1 - recall))
        homes, n_features = self._ruled.homes_of(sample.truth.neighbors), self._ruled.n_listed_features
        cells = CellDistances(
            self._ruled.cells, sample.queries.table, homes, places < n_listed, n_listed, n_features
        )
        rules = [cells.nearest_cells(recall)]
        probes, weights = _FIRST_PROBES, _SPREAD_WEIGHTS
        if earlier is not None:
            probes = (earlier.n_probes,) if earlier.n_reached else ()
            weights = (earlier.spread_weight,)
        for n_probes in probes if cells.is_worth_reaching(rules[0]) else ():
            limit = self._ruled.limit(sample.queries, Rule(n_listed, n_probes))
            for weight in weights:
                rules.extend(cells.cells_within(recall, n_probes, weight, limit))
        return min(rules, key=lambda rule: rule.cost)

    def _shortlist(self, sample: Sampled, share: float) -> tuple[NDArray[np.int64], int]:
        """Places of true neighbours in the order of coordinates, and how many hold that share of them."""
        if not self._ruled.n_listed_features:
            return np.zeros_like(sample.truth.neighbors, np.int64), self._n_neighbors
        for length in _LISTED:
            most = min(length * self._n_neighbors, self._ruled.n_points)
            places = sample.truth.places(self._ruled.listed(sample.queries, most))
            n_listed = int(share_bound(places, share)) + 1
            if n_listed <= most:
                break
        return places, max(self._n_neighbors, min(most, n_listed))
